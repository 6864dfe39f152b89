//! States as components.

use bevy_app::App;
use bevy_demeanor::{InSparseSet, InState, Machine, MachineCommands, StateIndex, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use demeanor::StateMachine;

use crate::soldier::{Aim, Alarm, Chase, Fight, Idle, Officer, Order, Patrol, Soldier, StateName, Watch, app, soldier};

fn marked(app: &App, entity: Entity) -> String {
    let entity = app.world().entity(entity);
    let mut marked = Vec::new();
    if entity.contains::<InState<Idle>>() {
        marked.push("Idle");
    }
    if entity.contains::<InState<Patrol>>() {
        marked.push("Patrol");
    }
    if entity.contains::<InState<Chase, InSparseSet>>() {
        marked.push("Chase");
    }
    if entity.contains::<InState<Fight>>() {
        marked.push("Fight");
    }
    if entity.contains::<InState<Aim>>() {
        marked.push("Aim");
    }
    marked.join(" ")
}

fn marking() -> StateMachinePlugin<Soldier> {
    StateMachinePlugin::new()
        .with_marker::<Idle>()
        .with_marker::<Patrol>()
        .with_sparse_marker::<Chase>()
        .with_marker::<Fight>()
        .with_marker::<Aim>()
}

#[test]
fn markers_follow_every_change_and_ancestors_too() {
    let mut app = app(marking());
    let entity = app
        .world_mut()
        .spawn(soldier([
            Order::Nothing,
            Order::Change(StateName::Patrol),
            Order::Change(StateName::Chase),
            Order::Change(StateName::Fight),
            // Both Fight and Aim are updated: the first order belongs to Fight.
            Order::Nothing,
            Order::Push(StateName::Idle),
            Order::Pop,
        ]))
        .id();
    let mut seen = vec![marked(&app, entity)];
    for _ in 0..6 {
        app.update();
        seen.push(marked(&app, entity));
    }
    assert_eq!(seen, ["", "Idle", "Patrol", "Chase", "Fight Aim", "Idle", "Fight Aim"]);
}

#[test]
fn several_changes_in_one_tick_leave_the_marker_of_the_last() {
    let mut app = app(marking());
    let entity = app.world_mut().spawn(soldier([Order::ChangeTwice(StateName::Patrol, StateName::Chase)])).id();
    app.update();
    assert_eq!(marked(&app, entity), "Chase");
}

#[test]
fn a_state_that_has_not_asked_has_no_marker() {
    let mut app = app(StateMachinePlugin::new().with_marker::<Patrol>());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    assert_eq!(marked(&app, entity), "");
}

#[test]
fn markers_agree_with_machines_that_come_are_replaced_and_go() {
    let mut app = app(marking());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Patrol))).id();
    assert_eq!(marked(&app, entity), "", "it is not yet entered");
    app.update();
    assert_eq!(marked(&app, entity), "Patrol");
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::started(StateMachine::new(&Aim)));
    assert_eq!(marked(&app, entity), "Fight Aim");
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::new(&Idle));
    assert_eq!(marked(&app, entity), "");
    app.update();
    assert_eq!(marked(&app, entity), "Idle");
    app.world_mut().entity_mut(entity).remove::<Machine<Soldier>>();
    assert_eq!(marked(&app, entity), "");
}

#[test]
fn a_plugin_that_is_added_later_finds_the_machines_that_exist() {
    let mut app = App::new();
    app.init_resource::<Alarm>().init_resource::<Watch>();
    let started = || Machine::<Soldier>::started(StateMachine::new(&Chase));
    let [chasing, disabled] = [(); 2].map(|()| app.world_mut().spawn((Soldier::default(), started())).id());
    app.world_mut().entity_mut(disabled).insert(Disabled);
    app.add_plugins(marking().with_index::<Chase>());
    for entity in [chasing, disabled] {
        assert_eq!(marked(&app, entity), "Chase");
        assert!(app.world().resource::<StateIndex<Chase>>().contains(entity));
    }
}

#[test]
fn a_command_moves_the_marker_at_once() {
    let mut app = app(marking());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.world_mut().commands().entity(entity).change_state(&Chase);
    app.world_mut().flush();
    assert_eq!(marked(&app, entity), "Chase");
    app.world_mut().commands().entity(entity).stop_machine::<Soldier>();
    app.world_mut().flush();
    assert_eq!(marked(&app, entity), "");
}

#[test]
fn the_old_marker_goes_before_the_new_one_comes_and_one_that_stays_is_left_alone() {
    #[derive(Resource, Default)]
    struct Inserted(Vec<&'static str>);

    let mut app = app(marking());
    app.init_resource::<Inserted>();
    app.add_observer(
        |patrol: On<Insert<InState<Patrol>>>, idle: Query<(), With<InState<Idle>>>, mut inserted: ResMut<Inserted>| {
            inserted.0.push(if idle.contains(patrol.entity) { "both" } else { "Patrol" });
        },
    );
    let orders = [Order::Nothing, Order::Change(StateName::Patrol), Order::Change(StateName::Patrol)];
    app.world_mut().spawn(soldier(orders));
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(app.world().resource::<Inserted>().0, ["Patrol"]);
}

#[test]
fn a_sparse_marker_lies_in_a_sparse_set() {
    use bevy_ecs::component::StorageType;

    let mut world = World::new();
    let storage = |world: &World, id| world.components().get_info(id).expect("it is registered").storage_type();
    let table = world.register_component::<InState<Patrol>>();
    let sparse = world.register_component::<InState<Patrol, InSparseSet>>();
    assert_eq!(storage(&world, table), StorageType::Table);
    assert_eq!(storage(&world, sparse), StorageType::SparseSet);
}

#[test]
fn a_clone_of_an_entity_is_marked_like_it() {
    #[derive(Component, Clone)]
    struct Helmet;

    let mut app = app(marking());
    let entity = app.world_mut().spawn((soldier([Order::Change(StateName::Patrol)]), Helmet)).id();
    app.update();
    let clone = app.world_mut().entity_mut(entity).clone_and_spawn();
    app.world_mut().flush();
    assert_eq!(marked(&app, clone), "Patrol");
    assert!(app.world().get::<Machine<Soldier>>(clone).unwrap().is_started());
}

#[test]
#[should_panic(expected = "is kept for")]
fn one_marker_cannot_tell_of_two_owners() {
    let mut app = app(StateMachinePlugin::new().with_marker::<Idle>());
    app.add_plugins(StateMachinePlugin::<Officer>::new().with_marker::<Idle>());
}

#[test]
#[should_panic(expected = "has been asked for twice, for")]
fn one_marker_cannot_be_asked_for_twice() {
    let _ = app(marking().with_marker::<Idle>());
}

#[test]
fn a_marker_that_somebody_else_removes_is_there_again() {
    let mut app = app(marking());
    let orders = [Order::Change(StateName::Fight), Order::Nothing, Order::Change(StateName::Chase)];
    let entity = app.world_mut().spawn(soldier(orders)).id();
    app.update();
    app.world_mut().entity_mut(entity).remove::<InState<Fight>>();
    assert_eq!(marked(&app, entity), "Fight Aim");
    app.world_mut().commands().entity(entity).remove::<(InState<Fight>, InState<Aim>)>();
    app.update();
    assert_eq!(marked(&app, entity), "Chase");
    app.world_mut().entity_mut(entity).remove::<InState<Chase, InSparseSet>>();
    assert_eq!(marked(&app, entity), "Chase");
    // Clearing the entity removes the marker, too.
    app.world_mut().entity_mut(entity).clear();
    assert_eq!(marked(&app, entity), "");
    app.world_mut().entity_mut(entity).insert(soldier([]));
    app.update();
    app.world_mut().despawn(entity);
    app.update();
}

#[test]
fn an_observer_that_removes_each_marker_that_comes_comes_to_an_end() {
    let mut app = app(marking());
    app.add_observer(|it: On<Add<InState<Patrol>>>, mut commands: Commands| {
        commands.entity(it.entity).remove::<InState<Patrol>>();
    });
    let entity = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    app.update();
    app.update();
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().is_in_state(&Patrol));
}
