//! The name of a machine's current state in scenes, by reflection.

use bevy_app::App;
use bevy_demeanor::{CurrentState, InState, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::{PartialReflect, ReflectMut};

use crate::faults::{lines_with, listen};
use crate::soldier::{
    Aim, Chase, Ears, Fight, Idle, Order, Patrol, Soldier, Stagger, StateName, app, soldier, take_trace,
};

fn naming() -> StateMachinePlugin<Soldier> {
    let states = [(&Idle).into(), (&Patrol).into(), (&Chase).into(), (&Fight).into(), (&Aim).into(), (&Stagger).into()];
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

/// Edits the name in place, as an inspector does.
fn edit(app: &mut App, entity: Entity, name: &str) {
    let reflection = reflection(app);
    let mut current = reflection.reflect_mut(app.world_mut().entity_mut(entity)).expect("it is there");
    let ReflectMut::Struct(fields) = current.reflect_mut() else { panic!("it is a struct") };
    fields.field_mut("name").expect("it is there").apply(&name.to_owned());
}

#[test]
fn the_name_of_a_composite_state_that_is_forced_ends_in_its_child_without_a_warning() {
    listen();
    let mut app = app(naming());
    let entity = app.world_mut().spawn((soldier([]), Name::new("Composer"))).id();
    app.update();
    for _ in 0..2 {
        take_trace(&mut app, entity);
        app.world_mut().entity_mut(entity).insert(CurrentState::<Soldier>::named("Fight"));
        assert_eq!(name_of(&app, entity), Some("Aim"));
        let trace = take_trace(&mut app, entity);
        assert_eq!(trace[trace.len() - 3..trace.len() - 1], ["enter Fight", "enter Aim"]);
    }
    assert_eq!(lines_with("Composer"), [""; 0]);
}

#[test]
fn an_edit_in_place_is_forced_before_the_next_pass() {
    let mut app = app(naming().with_marker::<Chase>());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    take_trace(&mut app, entity);
    edit(&mut app, entity, "Chase");
    app.update();
    assert_eq!(
        take_trace(&mut app, entity),
        ["exit Idle", "Idle -> Chase (force)", "enter Chase", "complete: Idle -> Chase (force)", "update Chase"]
    );
    assert_eq!(name_of(&app, entity), Some("Chase"));
    assert!(app.world().get::<InState<Chase>>(entity).is_some());
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Chase"], "it is done once");
}

#[test]
fn a_name_that_is_inserted_is_forced_at_once() {
    let mut app = app(naming());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    take_trace(&mut app, entity);
    app.world_mut().entity_mut(entity).insert(CurrentState::<Soldier>::named("Chase"));
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().is_in_state(&Chase));
    app.world_mut().entity_mut(entity).insert(CurrentState::<Soldier>::named("Chase"));
    assert_eq!(
        take_trace(&mut app, entity),
        ["exit Idle", "Idle -> Chase (force)", "enter Chase", "complete: Idle -> Chase (force)"]
    );
    app.world_mut().entity_mut(entity).insert(CurrentState::<Soldier>::named(""));
    assert_eq!(take_trace(&mut app, entity), ["exit Chase"]);
    assert_eq!(name_of(&app, entity), Some(""));
    app.world_mut().entity_mut(entity).insert(CurrentState::<Soldier>::named("Idle"));
    assert_eq!(
        take_trace(&mut app, entity),
        ["(no state) -> Idle (force)", "enter Idle", "complete: (no state) -> Idle (force)"]
    );
}

#[test]
fn an_edit_asks_no_can_exit_and_one_that_can_enter_refuses_is_corrected_with_a_warning() {
    listen();
    let mut app = app(naming());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Fight), Name::new("Fencer"))).id();
    app.update();
    edit(&mut app, entity, "Stagger");
    app.update();
    assert_eq!(name_of(&app, entity), Some("Aim"));
    let owner = std::any::type_name::<Soldier>();
    let refused = format!("WARN: entity {entity} (Fencer) stays in Aim: a can_enter has refused Stagger of {owner}");
    assert_eq!(lines_with("(Fencer)"), [&*refused]);
    edit(&mut app, entity, "Idle");
    app.update();
    edit(&mut app, entity, "Stagger");
    app.update();
    edit(&mut app, entity, "Patrol");
    app.update();
    assert_eq!(name_of(&app, entity), Some("Patrol"));
    assert_eq!(lines_with("(Fencer)"), [&*refused]);
}

#[test]
fn an_edit_to_an_unknown_name_is_corrected_with_a_warning() {
    listen();
    let mut app = app(naming());
    let entity = app.world_mut().spawn((soldier([]), Name::new("Waltzer"))).id();
    app.update();
    edit(&mut app, entity, "Waltz");
    app.update();
    assert_eq!(name_of(&app, entity), Some("Idle"));
    assert_eq!(
        lines_with("(Waltzer)"),
        [format!("WARN: entity {entity} (Waltzer) stays in Idle: there is no state \"Waltz\" of Soldier")]
    );
}

#[test]
fn an_edit_of_whether_a_state_was_entered_is_applied_or_corrected() {
    fn edit(app: &mut App, entity: Entity, is_started: bool) {
        let reflection = reflection(app);
        let mut current = reflection.reflect_mut(app.world_mut().entity_mut(entity)).expect("it is there");
        let ReflectMut::Struct(fields) = current.reflect_mut() else { panic!("it is a struct") };
        fields.field_mut("is_started").expect("it is there").apply(&is_started);
    }

    listen();
    let mut app = app(naming());
    let entity = app.world_mut().spawn((soldier([]), Name::new("Starter"))).id();
    edit(&mut app, entity, true);
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Idle"]);
    assert_eq!(lines_with("(Starter)"), [] as [&str; 0]);
    edit(&mut app, entity, false);
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Idle"]);
    assert_eq!(app.world().get::<CurrentState<Soldier>>(entity).map(CurrentState::is_started), Some(true));
    let owner = std::any::type_name::<Soldier>();
    assert_eq!(
        lines_with("(Starter)"),
        [format!(
            "WARN: entity {entity} (Starter) is in Idle of {owner} already: a state cannot be left without being exited"
        )]
    );
}

#[test]
fn an_edit_is_not_lost_when_the_machine_changes_before_it_is_applied() {
    let mut app = app(naming());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    take_trace(&mut app, entity);
    edit(&mut app, entity, "Chase");
    app.world_mut().commands().entity(entity).change_state::<Soldier>(&Patrol);
    app.world_mut().flush();
    assert_eq!(name_of(&app, entity), Some("Chase"));
    assert_eq!(
        take_trace(&mut app, entity),
        [
            "exit Idle",
            "Idle -> Patrol (change)",
            "enter Patrol",
            "complete: Idle -> Patrol (change)",
            "exit Patrol",
            "Patrol -> Chase (force)",
            "enter Chase",
            "complete: Patrol -> Chase (force)"
        ]
    );
}

#[test]
fn a_machine_that_has_not_been_started_is_put_in_the_state_that_is_named() {
    let mut app = app(naming());
    let global = || Machine::<Soldier>::new(&Idle).with_global(&Ears);
    let entered = app.world_mut().spawn((Soldier::default(), global(), CurrentState::<Soldier>::named("Fight"))).id();
    let same = app.world_mut().spawn((Soldier::default(), global(), CurrentState::<Soldier>::named("Idle"))).id();
    let stopped = app.world_mut().spawn((Soldier::default(), global(), CurrentState::<Soldier>::named(""))).id();
    app.update();
    assert_eq!(take_trace(&mut app, entered), ["update Fight"]);
    assert_eq!(take_trace(&mut app, same), ["update Idle"]);
    assert_eq!(take_trace(&mut app, stopped), [] as [&str; 0]);
    for entity in [entered, same, stopped] {
        assert_eq!(app.world().get::<Machine<Soldier>>(entity).unwrap().global().unwrap().name(), "Ears");
    }
}

#[test]
fn a_state_that_was_saved_before_it_was_entered_is_entered_once_it_is_loaded() {
    let mut saving = app(naming());
    let saved = saving.world_mut().spawn(soldier([])).id();
    assert_eq!(saving.world().get::<CurrentState<Soldier>>(saved).map(CurrentState::is_started), Some(false));
    let reflection_of_it = reflection(&saving);
    let scene: Box<dyn PartialReflect> =
        reflection_of_it.reflect(saving.world().entity(saved)).expect("it is there").to_dynamic().unwrap();
    let mut loading = app(naming());
    let registry = loading.world().resource::<AppTypeRegistry>().clone();
    let mut loaded = loading.world_mut().spawn(Soldier::default());
    reflection(&saving).insert(&mut loaded, &*scene, &registry.read());
    let loaded = loaded.id();
    loading.update();
    assert_eq!(take_trace(&mut loading, loaded), ["enter Idle", "update Idle"]);
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
        [format!("WARN: entity {entity} (unnamed) is in no state: there is no state \"Dance\" of Soldier")]
    );
}

#[test]
fn a_name_that_a_scene_has_wrong_beside_a_machine_is_corrected_in_whichever_order_they_come() {
    listen();
    let wrong = || CurrentState::<Soldier>::named("Idel");
    for comes_first in [true, false] {
        let mut app = app(naming());
        let entity = app.world_mut().spawn((Soldier::default(), Name::new(format!("copyist {comes_first}")))).id();
        let mut entity = app.world_mut().entity_mut(entity);
        if comes_first {
            entity.insert(wrong()).insert(Machine::<Soldier>::new(&Idle));
        } else {
            entity.insert(Machine::<Soldier>::new(&Idle)).insert(wrong());
        }
        let entity = entity.id();
        app.update();
        assert_eq!(name_of(&app, entity), Some("Idle"));
        assert_eq!(
            lines_with(&format!("copyist {comes_first}")),
            [format!(
                "WARN: entity {entity} (copyist {comes_first}) stays in Idle: there is no state \"Idel\" of Soldier"
            )]
        );
    }
}

#[test]
fn an_observer_of_the_name_may_despawn_the_entity() {
    let mut app = app(naming().with_change_messages());
    app.add_observer(|it: On<Insert<CurrentState<Soldier>>>, mut commands: Commands| {
        commands.entity(it.entity).despawn();
    });
    let new = app.world_mut().spawn(soldier([])).id();
    app.world_mut().flush();
    assert!(app.world().get_entity(new).is_err());
    let named = app.world_mut().spawn((Soldier::default(), CurrentState::<Soldier>::named("Chase"))).id();
    app.world_mut().flush();
    app.update();
    assert!(app.world().get_entity(named).is_err());
}
