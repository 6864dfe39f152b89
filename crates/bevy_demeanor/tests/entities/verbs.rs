//! Changes from outside.

use bevy_app::App;
use bevy_demeanor::{Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use demeanor::{Fsm, Owner, State};

use crate::soldier::{Chase, Fight, Patrol, Saluted, Soldier, StateName, app, soldier, take_trace};

fn command(app: &mut App, entity: Entity, verbs: impl FnOnce(&mut EntityCommands<'_>)) -> Vec<String> {
    verbs(&mut app.world_mut().commands().entity(entity));
    app.world_mut().flush();
    take_trace(app, entity)
}

#[test]
fn a_verb_starts_a_new_machine_first() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    let trace = command(&mut app, entity, |soldier| {
        soldier.change_state(&Chase);
    });
    assert_eq!(trace, ["enter Idle", "exit Idle", "Idle -> Chase (change)", "enter Chase"]);
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Chase"]);
}

#[test]
fn every_verb_does_what_the_machines_does() {
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
            "exit Patrol",
            "Patrol -> Idle (revert)",
            "enter Idle"
        ]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.push_state(&Chase).pop_state::<Soldier>();
    });
    assert_eq!(
        trace,
        ["exit Idle", "Idle -> Chase (push)", "enter Chase", "exit Chase", "Chase -> Idle (pop)", "enter Idle"]
    );
    let trace = command(&mut app, entity, |soldier| {
        soldier.send::<Soldier>(StateName::Patrol);
    });
    assert_eq!(trace, ["Idle is told Patrol", "exit Idle", "Idle -> Patrol (change)", "enter Patrol"]);
    let trace = command(&mut app, entity, |soldier| {
        soldier.resume_state(&Fight);
    });
    assert_eq!(trace, ["exit Patrol", "Patrol -> Aim (resume)", "enter Fight", "enter Aim"]);
    let trace = command(&mut app, entity, |soldier| {
        soldier.stop_machine::<Soldier>();
    });
    assert_eq!(trace, ["exit Aim", "exit Fight"]);
    app.update();
    assert_eq!(take_trace(&mut app, entity), [] as [&str; 0]);
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().current().is_none());
}

#[test]
fn a_verbs_callbacks_know_their_entity_and_record_commands() {
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
fn a_verb_reaches_a_disabled_entity() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn((soldier([]), Disabled)).id();
    let trace = command(&mut app, entity, |soldier| {
        soldier.change_state(&Chase);
    });
    assert_eq!(trace, ["enter Idle", "exit Idle", "Idle -> Chase (change)", "enter Chase"]);
}

#[test]
fn a_verb_for_nobody_is_ignored() {
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
