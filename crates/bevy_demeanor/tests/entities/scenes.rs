//! A machine's current state by name, through reflection, as scenes carry it.

use bevy_app::App;
use bevy_demeanor::{CurrentState, InState, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::PartialReflect;

use crate::faults::{lines_with, listen};
use crate::soldier::{Aim, Chase, Fight, Idle, Order, Patrol, Soldier, StateName, app, soldier, take_trace};

fn naming() -> StateMachinePlugin<Soldier> {
    let states = [(&Idle).into(), (&Patrol).into(), (&Chase).into(), (&Fight).into(), (&Aim).into()];
    StateMachinePlugin::new().with_current_state(states)
}

fn name_of(app: &App, entity: Entity) -> Option<&str> {
    app.world().get::<CurrentState<Soldier>>(entity).map(CurrentState::name)
}

fn reflection(app: &App) -> ReflectComponent {
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let registration = registry.get(std::any::TypeId::of::<CurrentState<Soldier>>()).expect("it is registered");
    registration.data::<ReflectComponent>().expect("it is reflected as a component").clone()
}

#[test]
fn the_name_follows_the_machine() {
    let mut app = app(naming());
    let orders = [Order::Change(StateName::Patrol), Order::Change(StateName::Fight)];
    let entity = app.world_mut().spawn(soldier(orders)).id();
    assert_eq!(name_of(&app, entity), Some("Idle"));
    app.update();
    assert_eq!(name_of(&app, entity), Some("Patrol"));
    app.update();
    assert_eq!(name_of(&app, entity), Some("Aim"));
    app.world_mut().commands().entity(entity).stop_machine::<Soldier>();
    app.world_mut().flush();
    assert_eq!(name_of(&app, entity), Some(""));
    app.world_mut().entity_mut(entity).remove::<Machine<Soldier>>();
    assert_eq!(name_of(&app, entity), None);
}

#[test]
fn a_state_that_was_saved_by_reflection_is_taken_up_again_without_a_callback() {
    let mut saving = app(naming().with_marker::<Fight>());
    let saved = saving.world_mut().spawn(soldier([Order::Change(StateName::Fight)])).id();
    saving.update();
    let reflection_of_it = reflection(&saving);
    let scene: Box<dyn PartialReflect> =
        reflection_of_it.reflect(saving.world().entity(saved)).expect("it is there").to_dynamic().unwrap();

    let mut loading = app(naming().with_marker::<Fight>());
    let reflection = reflection(&loading);
    let registry = loading.world().resource::<AppTypeRegistry>().clone();
    let mut loaded = loading.world_mut().spawn(Soldier::default());
    reflection.insert(&mut loaded, &*scene, &registry.read());
    let loaded = loaded.id();
    loading.world_mut().flush();
    assert!(loading.world().get::<InState<Fight>>(loaded).is_some());
    loading.update();
    assert_eq!(take_trace(&mut loading, loaded), ["update Fight", "update Aim"]);
}

#[test]
fn a_disabled_entity_is_given_its_machine_and_the_name_of_none_an_idle_one() {
    let mut app = app(naming());
    let asleep = (Soldier::default(), Disabled, CurrentState::<Soldier>::named("Chase"));
    let asleep = app.world_mut().spawn(asleep).id();
    let stopped = app.world_mut().spawn((Soldier::default(), CurrentState::<Soldier>::named(""))).id();
    app.world_mut().flush();
    assert!(app.world().get::<Machine<Soldier>>(asleep).unwrap().is_in_state(&Chase));
    assert!(app.world().get::<Machine<Soldier>>(stopped).unwrap().current().is_none());
}

#[test]
fn a_name_does_nothing_to_a_machine_that_is_there() {
    let mut app = app(naming());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    app.world_mut().entity_mut(entity).insert(CurrentState::<Soldier>::named("Chase"));
    app.update();
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().is_in_state(&Idle));
}

#[test]
fn the_name_is_changed_only_when_it_is_another() {
    let mut app = app(naming());
    let orders = [Order::Change(StateName::Chase), Order::Change(StateName::Chase), Order::Change(StateName::Idle)];
    let entity = app.world_mut().spawn(soldier(orders)).id();
    let mut ticks = Vec::new();
    for _ in 0..3 {
        app.update();
        ticks.push(app.world().entity(entity).get_change_ticks::<CurrentState<Soldier>>().unwrap().changed);
    }
    assert_eq!(ticks[0], ticks[1]);
    assert_ne!(ticks[1], ticks[2]);
}

#[test]
fn an_unknown_name_gives_no_machine_and_a_warning() {
    listen();
    let mut app = app(naming());
    let entity = app.world_mut().spawn((Soldier::default(), CurrentState::<Soldier>::named("Dance"))).id();
    app.update();
    assert!(app.world().get::<Machine<Soldier>>(entity).is_none());
    assert_eq!(
        lines_with("Dance"),
        [format!("WARN: entity {entity} is in no state: there is no state \"Dance\" of Soldier")]
    );
}
