//! States as components: the marker that entities in a state carry.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use bevy_ecs::component::{Component, Immutable, StorageType};
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{EntityRef, EntityWorldMut, World};
use demeanor::{Owner, State, StateMachine};

use crate::machine::{Machine, is_in_named};

/// Carried by the entities that are in a state of type `S`, current or an ancestor of it, if the plugin was asked for it by
/// [`with_marker`](crate::StateMachinePlugin::with_marker).
///
/// It is inserted and removed by commands, at the sync point after the pass in which the state changed. `K` is where
/// Bevy keeps it, [`InTable`] or [`InSparseSet`].
///
/// Its observers, `On<Add<InState<Chase>>>` and `On<Remove<InState<Chase>>>`, may do anything, as those of
/// [`StateChanged`](crate::StateChanged) may. No marker is given for a state that the machine has left again meanwhile.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::InState;
/// use bevy_ecs::prelude::{Commands, Entity, Query, With};
/// # use bevy_ecs::prelude::Component;
/// # struct Chase;
/// # #[derive(Component)]
/// # struct Stamina(f32);
///
/// fn tire(mut chasing: Query<&mut Stamina, With<InState<Chase>>>) {
///     for mut stamina in &mut chasing {
///         stamina.0 -= 1.0;
///     }
/// }
/// ```
pub struct InState<S: 'static, K: MarkerStorage = InTable>(PhantomData<fn() -> (S, K)>);

impl<S: 'static, K: MarkerStorage> Component for InState<S, K> {
    const STORAGE_TYPE: StorageType = K::STORAGE_TYPE;
    /// The plugin inserts and removes it; there is nothing in it to change.
    type Mutability = Immutable;

    /// A clone of the entity that has a machine gets its own marker from that.
    fn clone_behavior() -> bevy_ecs::component::ComponentCloneBehavior {
        bevy_ecs::component::ComponentCloneBehavior::Ignore
    }
}

impl<S: 'static, K: MarkerStorage> fmt::Debug for InState<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InState<{}>", type_name::<S>())
    }
}

/// Where Bevy keeps a marker: [`InTable`] or [`InSparseSet`].
pub trait MarkerStorage: 'static {
    /// Bevy's name for it.
    const STORAGE_TYPE: StorageType;
}

/// Markers in the tables: systems that go through the entities in a state are fastest, and a change of state moves all
/// components of its entity.
#[derive(Clone, Copy, Debug)]
pub struct InTable;

/// Markers in a sparse set: a change of state moves nothing but the marker, and systems that go through the entities in a
/// state look each up.
#[derive(Clone, Copy, Debug)]
pub struct InSparseSet;

impl MarkerStorage for InTable {
    const STORAGE_TYPE: StorageType = StorageType::Table;
}

impl MarkerStorage for InSparseSet {
    const STORAGE_TYPE: StorageType = StorageType::SparseSet;
}

/// How to keep one marker true.
pub(crate) struct Marker<T: Owner> {
    is_in: Arc<dyn Fn(&StateMachine<T>) -> bool + Send + Sync>,
    is_marked: fn(EntityRef<'_>) -> bool,
    mark: fn(&mut EntityWorldMut),
    unmark: fn(&mut EntityWorldMut),
    /// Takes the marker for owners of type `T`, of which there can be one: an entity's other machine would contradict it.
    pub(crate) claim: fn(&mut World),
}

impl<T: Owner> Marker<T> {
    pub(crate) fn of<S: State<T>, K: MarkerStorage>() -> Self {
        Self::kept::<S, K>(StateMachine::is_in::<S>)
    }

    /// The marker of the states of a name.
    pub(crate) fn named<S: 'static, K: MarkerStorage>(name: String) -> Self {
        Self::kept::<S, K>(move |machine| is_in_named(machine, &name))
    }

    fn kept<S: 'static, K: MarkerStorage>(is_in: impl Fn(&StateMachine<T>) -> bool + Send + Sync + 'static) -> Self {
        Self {
            is_in: Arc::new(is_in),
            is_marked: |entity| entity.contains::<InState<S, K>>(),
            mark: |entity| {
                entity.insert(InState::<S, K>(PhantomData));
            },
            unmark: |entity| {
                entity.remove::<InState<S, K>>();
            },
            claim: claim::<T, S, K>,
        }
    }

    /// Whether the entity's machine is in the marker's state.
    fn is_true(&self, entity: EntityRef<'_>) -> bool {
        entity.get::<Machine<T>>().is_some_and(|machine| machine.is_started() && (self.is_in)(machine))
    }
}

impl<T: Owner> Clone for Marker<T> {
    fn clone(&self) -> Self {
        Self { is_in: Arc::clone(&self.is_in), ..*self }
    }
}

/// Whose machines keep the marker.
#[derive(Resource)]
pub(crate) struct KeptFor<S: 'static, K: MarkerStorage> {
    owner: &'static str,
    of: PhantomData<fn() -> (S, K)>,
}

fn claim<T: Owner, S: 'static, K: MarkerStorage>(world: &mut World) {
    if let Some(kept) = world.get_resource::<KeptFor<S, K>>() {
        panic!(
            "the marker InState<{}> is kept for {} already; it cannot also tell of the machines of {}",
            type_name::<S>(),
            kept.owner,
            type_name::<T>()
        );
    }
    world.insert_resource(KeptFor::<S, K> { owner: type_name::<T>(), of: PhantomData });
}

/// Makes an entity's markers agree with its machine. What is no longer true goes first, so that no entity is ever seen in two
/// states of which it is in one.
///
/// An observer of one marker may do anything. So each is looked at afresh, and none is given for a state that the machine came to
/// be in meanwhile: that change has a place of its own in the queue.
pub(crate) fn mark<T: Owner>(world: &mut World, entity: Entity, markers: &[Marker<T>], is_in: &mut Vec<bool>) {
    let Ok(marked) = world.get_entity(entity) else { return };
    is_in.clear();
    is_in.extend(markers.iter().map(|marker| marker.is_true(marked)));
    for is_to_be_marked in [false, true] {
        for (marker, was_in) in markers.iter().zip(&*is_in) {
            if *was_in != is_to_be_marked {
                continue;
            }
            let Ok(marked) = world.get_entity(entity) else { return };
            if (marker.is_marked)(marked) == is_to_be_marked || marker.is_true(marked) != is_to_be_marked {
                continue;
            }
            let Ok(mut marked) = world.get_entity_mut(entity) else { return };
            (if is_to_be_marked { marker.mark } else { marker.unmark })(&mut marked);
        }
    }
}
