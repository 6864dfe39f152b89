//! Reacts to the insertion, replacement and removal of machines on entities.
//!
//! These are component hooks, not observers: with an observer, Bevy would search for it whenever a marker is inserted or
//! removed, which was a seventh of the cost.

use core::marker::PhantomData;

use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::query::{Allow, With};
use bevy_ecs::world::{DeferredWorld, World};
use demeanor::Owner;

use crate::follow::{Followers, Marked};
use crate::indexing;
use crate::machine::{Machine, MachineHooks};
use crate::queue;

pub(crate) fn hooks<T: Owner>() -> MachineHooks<T> {
    MachineHooks { inserted: inserted::<T>, removed: removed::<T>, marker_removed: mark_later::<T>, of: PhantomData }
}

/// Does the same for the machines that exist already.
pub(crate) fn find_existing<T: Owner>(world: &mut World) {
    let mut machines = world.query_filtered::<Entity, (With<Machine<T>>, Allow<Disabled>)>();
    let entities: Vec<Entity> = machines.iter(world).collect();
    for entity in entities {
        inserted::<T>(world.into(), entity);
    }
    world.flush();
}

fn inserted<T: Owner>(mut world: DeferredWorld<'_>, entity: Entity) {
    #[cfg(feature = "serialize")]
    crate::saved::load::<T>(world.reborrow(), entity);
    indexing::correct::<T>(&mut world, [entity].into_iter());
    mark_later::<T>(world, entity);
}

fn removed<T: Owner>(mut world: DeferredWorld<'_>, entity: Entity) {
    indexing::forget::<T>(&mut world, entity);
    mark_later::<T>(world, entity);
}

/// Updates the markers from the machine, after the previous commands have been applied.
fn mark_later<T: Owner>(mut world: DeferredWorld<'_>, entity: Entity) {
    if world.get_resource::<Followers<T>>().is_some_and(Followers::is_marked) {
        let marked = Box::new(Marked::<T>::new(entity));
        world.commands().queue(move |world: &mut World| queue::put_in_for::<T>(world, entity, marked));
    }
}
