//! Changes from outside, by commands.

use bevy_app::App;
use bevy_demeanor::{Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use demeanor::{Fsm, Owner, State};

use crate::soldier::{Chase, Fight, Patrol, Saluted, Soldier, Stagger, StateName, app, soldier, take_trace};

fn command(app: &mut App, entity: Entity, give: impl FnOnce(&mut EntityCommands<'_>)) -> Vec<String> {
    give(&mut app.world_mut().commands().entity(entity));
    app.world_mut().flush();
    take_trace(app, entity)
}

#[test]
fn a_command_starts_a_new_machine_first() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    let trace = command(&mut app, entity, |soldier| {
        soldier.change_state(&Chase);
    });
    assert_eq!(
        trace,
        ["enter Idle", "exit Idle", "Idle -> Chase (change)", "enter Chase", "complete: Idle -> Chase (change)"]
    );
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Chase"]);
}

#[test]
fn every_command_does_what_the_machines_method_does() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    take_trace(&mut app, entity);
    let trace = command(&mut app, entity, |soldier| {
        soldier.change_state(&Patrol).revert_state::<Soldier>();
    });
    assert_eq!(
        trace,
        [
            "exit Idle",
            "Idle -> Patrol (change)",
            "enter Patrol",
            "complete: Idle -> Patrol (change)",
            "exit Patrol",
            "Patrol -> Idle (revert)",
            "enter Idle",
            "complete: Patrol -> Idle (revert)"
        ]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.push_state(&Chase).pop_state::<Soldier>();
    });
    assert_eq!(
        trace,
        [
            "exit Idle",
            "Idle -> Chase (push)",
            "enter Chase",
            "complete: Idle -> Chase (push)",
            "exit Chase",
            "Chase -> Idle (pop)",
            "enter Idle",
            "complete: Chase -> Idle (pop)"
        ]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.send::<Soldier>(StateName::Patrol);
    });
    assert_eq!(
        trace,
        [
            "Idle is told Patrol",
            "exit Idle",
            "Idle -> Patrol (change)",
            "enter Patrol",
            "complete: Idle -> Patrol (change)"
        ]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.resume_state(&Fight);
    });
    assert_eq!(
        trace,
        ["exit Patrol", "Patrol -> Aim (resume)", "enter Fight", "enter Aim", "complete: Patrol -> Aim (resume)"]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.stop_machine::<Soldier>();
    });
    assert_eq!(trace, ["exit Aim", "exit Fight"]);
    let trace = command(&mut app, entity, |soldier| {
        soldier.ensure_state(&Chase).ensure_state(&Chase);
    });
    assert_eq!(trace, ["(no state) -> Chase (change)", "enter Chase", "complete: (no state) -> Chase (change)"]);
    let trace = command(&mut app, entity, |soldier| {
        soldier.change_state(&Stagger).change_state(&Patrol).force_state(&Patrol);
    });
    assert_eq!(
        trace,
        [
            "exit Chase",
            "Chase -> Stagger (change)",
            "enter Stagger",
            "complete: Chase -> Stagger (change)",
            "Stagger -> Patrol (change), refused by Stagger.can_exit",
            "exit Stagger",
            "Stagger -> Patrol (force)",
            "enter Patrol",
            "complete: Stagger -> Patrol (force)"
        ]
    );
}

#[test]
fn a_stopped_machine_is_not_started_again() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    let trace = command(&mut app, entity, |soldier| {
        soldier.stop_machine::<Soldier>();
    });
    assert_eq!(trace, ["enter Idle", "exit Idle"]);
    app.update();
    assert_eq!(take_trace(&mut app, entity), [] as [&str; 0]);
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().current().is_none());
}

#[test]
fn ensure_state_is_a_change_unless_the_state_is_active_as_an_ancestor_too() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    take_trace(&mut app, entity);
    let trace = command(&mut app, entity, |soldier| {
        soldier.ensure_state(&Fight);
    });
    assert_eq!(
        trace,
        ["exit Idle", "Idle -> Aim (change)", "enter Fight", "enter Aim", "complete: Idle -> Aim (change)"]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.ensure_state(&Fight).ensure_state(StateName::Aim.state());
    });
    assert_eq!(trace, [] as [&str; 0]);
}

#[test]
fn force_state_still_asks_can_enter() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Fight))).id();
    app.update();
    take_trace(&mut app, entity);
    let trace = command(&mut app, entity, |soldier| {
        soldier.force_state(&Stagger);
    });
    assert_eq!(trace, ["Aim -> Stagger (force), refused by Stagger.can_enter"]);
}

#[test]
fn a_command_marks_the_machine_as_changed_only_if_its_state_is() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Fight))).id();
    app.update();
    let mut is_changed = |give: fn(&mut EntityCommands<'_>)| {
        app.world_mut().increment_change_tick();
        let before = app.world_mut().increment_change_tick();
        command(&mut app, entity, give);
        let now = app.world_mut().increment_change_tick();
        let ticks = app.world().entity(entity).get_change_ticks::<Machine<Soldier>>().unwrap();
        ticks.is_changed(before, now)
    };
    let refused = is_changed(|soldier| {
        soldier.change_state(&Stagger);
    });
    let ensured = is_changed(|soldier| {
        soldier.ensure_state(&Fight);
    });
    let changed = is_changed(|soldier| {
        soldier.change_state(&Patrol);
    });
    let told = is_changed(|soldier| {
        soldier.send::<Soldier>(StateName::Chase);
    });
    let stopped = is_changed(|soldier| {
        soldier.stop_machine::<Soldier>();
    });
    assert_eq!([refused, ensured, changed, told, stopped], [false, false, true, true, true]);
}

#[test]
fn a_commands_callbacks_know_their_entity_and_record_commands() {
    struct Salute;
    impl State<Soldier> for Salute {
        fn enter(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, cx: &mut <Soldier as Owner>::Context<'_>) {
            cx.this().insert(Saluted);
        }
    }

    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    command(&mut app, entity, |soldier| {
        soldier.change_state(&Salute);
    });
    assert!(app.world().get::<Saluted>(entity).is_some());
}

#[test]
fn a_command_reaches_a_disabled_entity() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn((soldier([]), Disabled)).id();
    let trace = command(&mut app, entity, |soldier| {
        soldier.change_state(&Chase);
    });
    assert_eq!(
        trace,
        ["enter Idle", "exit Idle", "Idle -> Chase (change)", "enter Chase", "complete: Idle -> Chase (change)"]
    );
}

#[test]
fn a_command_for_nobody_is_ignored() {
    let mut app = app(StateMachinePlugin::new());
    let dead = app.world_mut().spawn(soldier([])).id();
    app.world_mut().despawn(dead);
    let civilian = app.world_mut().spawn(Soldier::default()).id();
    let orphan = app.world_mut().spawn(Machine::<Soldier>::new(&Patrol)).id();
    for entity in [dead, civilian, orphan] {
        let mut commands = app.world_mut().commands();
        commands
            .entity(entity)
            .change_state(&Chase)
            .revert_state::<Soldier>()
            .send::<Soldier>(StateName::Patrol)
            .stop_machine::<Soldier>();
        app.world_mut().flush();
    }
    assert!(app.world().get::<Machine<Soldier>>(orphan).unwrap().is_in_state(&Patrol));
    assert_eq!(take_trace(&mut app, civilian), [] as [&str; 0]);
}

#[test]
fn with_machine_calls_a_function_with_the_machine_and_its_owner_as_one_command() {
    let mut app = app(StateMachinePlugin::new().with_change_events());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    take_trace(&mut app, entity);
    app.world_mut().commands().entity(entity).with_machine(|machine, soldier: &mut Soldier, cx| {
        let is_changed = machine.change_state(soldier, &Chase, cx);
        soldier.trace.push(format!("changed: {is_changed}"));
    });
    app.world_mut().flush();
    let trace = take_trace(&mut app, entity);
    assert_eq!(trace[trace.len() - 2..], ["complete: Idle -> Chase (change)", "changed: true"]);
}
