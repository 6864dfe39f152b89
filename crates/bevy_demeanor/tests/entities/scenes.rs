//! A machine's current state by name, through reflection, as scenes carry it.

use bevy_app::App;
use bevy_demeanor::{CurrentState, In, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::PartialReflect;

use crate::soldier::{Aim, Chase, Fight, Idle, Order, Patrol, Soldier, StateName, app, soldier, take_trace};

fn naming() -> StateMachinePlugin<Soldier> {
    let states = [(&Idle).into(), (&Patrol).into(), (&Chase).into(), (&Fight).into(), (&Aim).into()];
    StateMachinePlugin::new().with_marker::<Fight>().with_current_state(states)
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
    let mut saving = app(naming());
    let saved = saving.world_mut().spawn(soldier([Order::Change(StateName::Fight)])).id();
    saving.update();
    let reflection_of_it = reflection(&saving);
    let scene: Box<dyn PartialReflect> =
        reflection_of_it.reflect(saving.world().entity(saved)).expect("it is there").to_dynamic().unwrap();

    let mut loading = app(naming());
    let reflection = reflection(&loading);
    let registry = loading.world().resource::<AppTypeRegistry>().clone();
    let mut loaded = loading.world_mut().spawn(Soldier::default());
    reflection.insert(&mut loaded, &*scene, &registry.read());
    let loaded = loaded.id();
    loading.world_mut().flush();
    assert!(loading.world().get::<In<Fight>>(loaded).is_some());
    loading.update();
    assert_eq!(take_trace(&mut loading, loaded), ["update Fight", "update Aim"]);
}

#[test]
fn an_unknown_name_gives_no_machine() {
    let mut app = app(naming());
    let entity = app.world_mut().spawn((Soldier::default(), CurrentState::<Soldier>::named("Dance"))).id();
    app.update();
    assert!(app.world().get::<Machine<Soldier>>(entity).is_none());
}
