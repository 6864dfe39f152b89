//! Keeps the indexes up to date.

use core::marker::PhantomData;
use core::mem;
use std::panic::resume_unwind;

use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{DeferredWorld, World};
use demeanor::Owner;

use crate::despite_panics::for_each_despite_panics;
use crate::index::Index;
use crate::machine::Machine;
use crate::states_meant::{StateBits, StatesMeant, numbers};

/// The indexes of the machines of `T`.
#[derive(Resource)]
pub(crate) struct Indexes<T: Owner>(Option<Box<Kept<T>>>);

struct Kept<T: Owner> {
    meant: StatesMeant,
    /// Each index, with the additions and removals to apply to it.
    indexes: Vec<(Index, Vec<(Entity, bool)>)>,
    /// The indexes that each entity is in, by the entity's number. A list is faster than a component: the lookup takes less
    /// time, and a change of archetype does not move the entry.
    listed: Vec<StateBits>,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> Indexes<T> {
    /// # Panics
    ///
    /// When there are too many indexes, or when an index already belongs to another owner.
    pub(crate) fn new(world: &mut World, indexes: &[Index]) -> Self {
        let meant = StatesMeant::new::<T>(indexes.iter().map(|index| index.of.clone()), "indexes");
        for index in indexes {
            (index.claim)(world);
        }
        let indexes = indexes.iter().map(|index| (index.clone(), Vec::new())).collect();
        Self(Some(Box::new(Kept { meant, indexes, listed: Vec::new(), of: PhantomData })))
    }
}

/// Updates the indexes for the machines of some entities.
pub(crate) fn correct<T: Owner>(world: &mut DeferredWorld<'_>, entities: impl Iterator<Item = Entity>) {
    correct_by::<T>(world, entities, |meant, world, entity| {
        // After a panic, an entity of the log may be gone, and another one may have its number.
        let entity = world.get_entity(entity).ok()?;
        Some(entity.get::<Machine<T>>().map_or(0, |machine| meant.of(machine)))
    });
}

/// Removes an entity from the indexes.
pub(crate) fn forget<T: Owner>(world: &mut DeferredWorld<'_>, entity: Entity) {
    correct_by::<T>(world, [entity].into_iter(), |_, _, _| Some(0));
}

fn correct_by<T: Owner>(
    world: &mut DeferredWorld<'_>,
    entities: impl Iterator<Item = Entity>,
    is_in: impl Fn(&StatesMeant, &DeferredWorld<'_>, Entity) -> Option<StateBits>,
) {
    // No code that runs before it is put back looks for it.
    let Some(mut kept) = world.get_resource_mut::<Indexes<T>>().and_then(|mut indexes| indexes.0.take()) else {
        return;
    };
    // `State::name` may panic.
    let panic = for_each_despite_panics(entities, |entity| {
        if let Some(is_in) = is_in(&kept.meant, world, entity) {
            kept.note(entity, is_in);
        }
    });
    for (index, changes) in &mut kept.indexes {
        if !changes.is_empty() {
            (index.correct)(world, changes);
        }
    }
    if let Some(mut indexes) = world.get_resource_mut::<Indexes<T>>() {
        indexes.0 = Some(kept);
    }
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

impl<T: Owner> Kept<T> {
    #[inline]
    fn note(&mut self, entity: Entity, is_in: StateBits) {
        let number = entity.index_u32() as usize;
        if number >= self.listed.len() {
            if is_in == 0 {
                return;
            }
            self.listed.resize(number + 1, 0);
        }
        let was_in = mem::replace(&mut self.listed[number], is_in);
        for number in numbers(was_in ^ is_in) {
            self.indexes[number].1.push((entity, is_in & 1 << number != 0));
        }
    }
}
