//! Clones of entities with machines.

use bevy_app::App;
use bevy_demeanor::{Machine, MachineCommands};
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::ReflectComponent;
use bevy_ecs::relationship::RelationshipHookMode;
use bevy_reflect::PartialReflect;

use crate::guard::{Clock, Follow, Guard, app, by_book};

/// Returns a guard with a child, and the child. The guard has followed itself, a stranger and its child, and is told to follow
/// its child again when it is done.
fn guard_with_a_child(app: &mut App) -> (Entity, Entity, Entity) {
    let guard = app.world_mut().spawn(Guard::default()).id();
    let (child, stranger) = (app.world_mut().spawn(ChildOf(guard)).id(), app.world_mut().spawn_empty().id());
    app.update();
    let follow = |whom| Box::new(Follow { whom });
    let mut commands = app.world_mut().commands();
    let mut commands = commands.entity(guard);
    commands.change_state::<Guard>(follow(guard)).change_state::<Guard>(follow(stranger));
    commands.change_state::<Guard>(follow(child)).push_state::<Guard>(follow(stranger));
    commands.push_state::<Guard>(follow(child)).change_state_after::<Guard>(5.0, follow(guard));
    app.world_mut().flush();
    (guard, child, stranger)
}

fn whom(app: &App, guard: Entity) -> Entity {
    let machine = app.world().get::<Machine<Guard>>(guard).unwrap();
    machine.current().unwrap().downcast_ref::<Follow>().unwrap().whom
}

/// Returns whom a guard follows, first now, then after one pop and another, and at last when its timer is due.
fn followed(app: &mut App, guard: Entity) -> Vec<Entity> {
    let mut followed = vec![whom(app, guard)];
    for _ in 0..2 {
        app.world_mut().commands().entity(guard).pop_state::<Guard>();
        app.world_mut().flush();
        followed.push(whom(app, guard));
    }
    app.world_mut().resource_mut::<Clock>().0 += 5.0;
    app.update();
    followed.push(whom(app, guard));
    followed
}

#[test]
fn a_clone_follows_its_own_child_if_that_is_cloned_too_and_otherwise_the_same_entities() {
    for is_child_known_first in [false, true] {
        for is_linked in [false, true] {
            let mut app = App::new();
            if is_child_known_first {
                // The components of an entity are cloned in the order in which the world has registered them.
                app.world_mut().register_component::<Children>();
            }
            app.init_resource::<Clock>().register_type::<Guard>().add_plugins(by_book());
            let (guard, child, stranger) = guard_with_a_child(&mut app);
            let clone = app
                .world_mut()
                .entity_mut(guard)
                .clone_and_spawn_with_opt_out(move |builder| _ = builder.linked_cloning(is_linked));
            let cloned_child = app.world().get::<Children>(clone).and_then(|children| children.first().copied());
            assert_eq!(cloned_child.is_some(), is_linked);
            let of_clone = cloned_child.unwrap_or(child);
            assert_eq!(followed(&mut app, clone), [of_clone, stranger, of_clone, clone], "{is_child_known_first}");
            // The timer of the original has been due in the same pass.
            assert_eq!(whom(&app, guard), guard);
            let pops = followed(&mut app, guard);
            assert_eq!(pops[1..3], [stranger, child]);
        }
    }
}

#[test]
fn a_clone_has_been_in_its_states_for_as_long_as_the_original() {
    let mut app = app(by_book());
    app.insert_resource(Clock(0.1));
    let (guard, ..) = guard_with_a_child(&mut app);
    app.insert_resource(Clock(0.7));
    let clone = app.world_mut().entity_mut(guard).clone_and_spawn();
    let report =
        |guard| format!("{:?}", app.world().get::<Machine<Guard>>(guard).unwrap().report(&Guard::default(), 0.7));
    assert_eq!(report(clone), report(guard));
}

#[test]
fn a_scene_in_memory_maps_the_entities_in_owned_states() {
    let mut app = app(by_book());
    let (guard, child, stranger) = guard_with_a_child(&mut app);
    let (new, new_child) = (app.world_mut().spawn_empty().id(), app.world_mut().spawn_empty().id());
    let machine = app.world().get::<Machine<Guard>>(guard).unwrap().reflect_clone().unwrap();
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let reflect = registry.get_type_data::<ReflectComponent>(std::any::TypeId::of::<Machine<Guard>>()).unwrap();
    let mut map: EntityHashMap<Entity> = [(guard, new), (child, new_child)].into_iter().collect();
    map.insert(stranger, stranger);
    let mut entity = app.world_mut().entity_mut(new);
    entity.insert(Guard::default());
    reflect.apply_or_insert_mapped(
        &mut entity,
        machine.as_partial_reflect(),
        &registry,
        &mut map,
        RelationshipHookMode::Skip,
    );
    assert_eq!(followed(&mut app, new), [new_child, stranger, new_child, new]);
}
