//! Which machines are started, and when.

use bevy_app::App;
use bevy_demeanor::{EntityOwner, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::prelude::*;
use demeanor::{Fsm, Owner, State, StateMachine, StateRef};

use crate::faults::{lines_with, listen};
use crate::soldier::{Chase, Fight, Order, Patrol, Soldier, StateName, app, soldier, take_trace};

#[test]
fn a_machine_is_started_before_its_first_update() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    app.update();
    assert_eq!(
        take_trace(&mut app, entity),
        [
            "enter Idle",
            "update Idle",
            "exit Idle",
            "Idle -> Patrol (change)",
            "enter Patrol",
            "complete: Idle -> Patrol (change)"
        ]
    );
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Patrol"]);
}

#[test]
fn a_start_goes_on_down_to_the_innermost_initial_child() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Fight))).id();
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["enter Fight", "enter Aim", "update Fight", "update Aim"]);
}

#[test]
fn a_machine_that_was_started_elsewhere_is_not_started_again() {
    let mut app = app(StateMachinePlugin::new());
    let machine = Machine::started(StateMachine::new(&Chase));
    let entity = app.world_mut().spawn((Soldier::default(), machine)).id();
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Chase"]);
}

#[test]
fn a_machine_taken_from_another_entity_is_not_started_again() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    app.update();
    let machine: StateMachine<Soldier> = app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().bypass().clone();
    let heir = app.world_mut().spawn((Soldier::default(), Machine::from(machine))).id();
    app.update();
    assert_eq!(take_trace(&mut app, heir), ["update Patrol"]);
}

#[test]
fn a_machine_that_was_stopped_and_set_to_a_state_is_started_again() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    app.world_mut().commands().entity(entity).stop_machine::<Soldier>();
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["enter Idle", "update Idle", "exit Idle"]);
    app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().bypass().set_current(&Patrol);
    app.update();
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["enter Patrol", "update Patrol", "update Patrol"]);
}

#[test]
fn a_machine_that_changes_when_it_is_started_is_changed() {
    struct Rush;
    impl State<Soldier> for Rush {
        fn enter(&self, _: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
            fsm.change_state(&Chase);
        }
    }

    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Rush))).id();
    let changed = |app: &App| app.world().entity(entity).get_change_ticks::<Machine<Soldier>>().unwrap().changed;
    let before = changed(&app);
    app.update();
    assert_eq!(
        take_trace(&mut app, entity),
        ["Rush -> Chase (change)", "enter Chase", "complete: Rush -> Chase (change)", "update Chase"]
    );
    assert_ne!(changed(&app), before);
}

/// Makes errors, and counts its updates.
#[derive(Component, Default)]
struct Recruit(u32);
impl Owner for Recruit {
    type Context<'a> = ();
    type Message = ();
}
impl EntityOwner for Recruit {
    type Body = ();
    type Param = ();
}

/// A state whose initial state is not its child.
struct Mistaken;
struct Elsewhere;
impl State<Recruit> for Elsewhere {}
impl State<Recruit> for Mistaken {
    fn enter(&self, _: &mut Recruit, _: &mut Fsm<'_, Recruit>, (): &mut ()) {
        unreachable!("the start was refused");
    }

    fn update(&self, recruit: &mut Recruit, _: &mut Fsm<'_, Recruit>, (): &mut ()) {
        recruit.0 += 1;
    }

    fn initial(&self) -> Option<StateRef<Recruit>> {
        Some((&Elsewhere).into())
    }
}

#[test]
fn a_start_that_is_refused_is_logged_once_and_the_machine_updated() {
    listen();
    let mut app = App::new();
    app.add_plugins(StateMachinePlugin::<Recruit>::new());
    let entity = app.world_mut().spawn((Recruit(0), Machine::<Recruit>::new(&Mistaken))).id();
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(app.world().get::<Recruit>(entity).unwrap().0, 3);
    assert_eq!(
        lines_with("Recruit"),
        [
            "WARN: Recruit: start refused in state Mistaken: Elsewhere, the `initial` state of Mistaken, has another parent"
        ]
    );
}

#[test]
fn a_component_takes_no_more_room_than_the_machine_in_it() {
    assert_eq!(size_of::<Machine<Soldier>>(), size_of::<StateMachine<Soldier>>());
}
