//! States as components: the marker that entities in a state carry.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use bevy_ecs::component::{Component, ComponentId, Immutable, StorageType};
use bevy_ecs::entity::Entity;
use bevy_ecs::lifecycle::{ComponentHook, HookContext};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{DeferredWorld, EntityWorldMut, World};
use demeanor::{Owner, State};

use crate::machine::MachineHooks;
use crate::removing::is_removing;
use crate::states_meant::Which;

/// The component of the entities that are in a state of type `S`, if the plugin has
/// [`with_marker`](crate::StateMachinePlugin::with_marker). An entity is in all active states of its machine: in the current
/// state, in its ancestors, and in the states in its [regions](demeanor::State::regions).
///
/// Commands insert and remove it at the sync point after the pass in which the state changed. `K` is the storage of the
/// component, [`InTable`] or [`InSparseSet`]. If other code removes it from an entity that is in the state, it is inserted
/// again.
///
/// Its observers, `On<Add<InState<Chase>>>` and `On<Remove<InState<Chase>>>`, may do anything, like the observers of
/// [`StateChanged`](crate::StateChanged). No marker is inserted for a state that the machine has left again in the meantime.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::InState;
/// use bevy_ecs::prelude::{Commands, Entity, Query, With};
/// use bevy_ecs::prelude::Component;
/// struct Chase;
/// #[derive(Component)]
/// struct Stamina(f32);
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
    /// Only the plugin inserts and removes it, and it has no data to change.
    type Mutability = Immutable;

    fn on_remove() -> Option<ComponentHook> {
        Some(is_gone::<S, K>)
    }

    /// If a clone of the entity has a machine, it gets its own markers from this machine.
    fn clone_behavior() -> bevy_ecs::component::ComponentCloneBehavior {
        bevy_ecs::component::ComponentCloneBehavior::Ignore
    }
}

impl<S: 'static, K: MarkerStorage> fmt::Debug for InState<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InState<{}>", type_name::<S>())
    }
}

/// The storage of a marker: [`InTable`] or [`InSparseSet`].
pub trait MarkerStorage: 'static {
    /// Bevy's value for the storage.
    const STORAGE_TYPE: StorageType;
}

/// Markers in tables: iteration over the entities in a state is fastest, but a change of state moves all components of the
/// entity.
#[derive(Clone, Copy, Debug)]
pub struct InTable;

/// Markers in a sparse set: a change of state moves only the marker, but iteration over the entities in a state looks up each
/// entity.
#[derive(Clone, Copy, Debug)]
pub struct InSparseSet;

impl MarkerStorage for InTable {
    const STORAGE_TYPE: StorageType = StorageType::Table;
}

impl MarkerStorage for InSparseSet {
    const STORAGE_TYPE: StorageType = StorageType::SparseSet;
}

/// The functions that keep one marker up to date.
#[derive(Clone)]
pub(crate) struct Marker {
    /// The states of the marker.
    pub(crate) of: Which,
    pub(crate) insert: fn(&mut EntityWorldMut),
    /// Inserts the marker on all entities of the list that exist, starting with the last.
    pub(crate) insert_all: fn(&mut World, &mut Vec<Entity>),
    /// Reserves the marker for one type of owner: the machine of another owner on the same entity would contradict it. Returns
    /// the marker's id in the world.
    pub(crate) claim: fn(&mut World) -> ComponentId,
}

impl Marker {
    pub(crate) fn of<T: Owner, S: State<T>, K: MarkerStorage>() -> Self {
        Self::kept::<T, S, K>(Which::of::<T, S>())
    }

    /// Creates the marker for the states with a name.
    pub(crate) fn named<T: Owner, S: 'static, K: MarkerStorage>(name: &str) -> Self {
        Self::kept::<T, S, K>(Which::Name(name.into()))
    }

    fn kept<T: Owner, S: 'static, K: MarkerStorage>(of: Which) -> Self {
        Self {
            of,
            insert: |entity| {
                entity.insert(InState::<S, K>(PhantomData));
            },
            insert_all: |world, entities| {
                // Entities that are gone need no marker.
                _ = world
                    .try_insert_batch(entities.drain(..).rev().map(|entity| (entity, InState::<S, K>(PhantomData))));
            },
            claim: |world| {
                claim::<T, S, K>(world);
                world.register_component::<InState<S, K>>()
            },
        }
    }
}

/// The owner whose machines set the marker.
#[derive(Resource)]
pub(crate) struct KeptFor<S: 'static, K: MarkerStorage> {
    owner: &'static str,
    /// Updates the markers of an entity from its machine.
    restore: fn(DeferredWorld<'_>, Entity),
    of: PhantomData<fn() -> (S, K)>,
}

/// Restores a marker that other code has removed from an entity in the state.
fn is_gone<S: 'static, K: MarkerStorage>(world: DeferredWorld<'_>, context: HookContext) {
    if !is_removing(context.entity, context.component_id)
        && let Some(KeptFor { restore, .. }) = world.get_resource::<KeptFor<S, K>>()
    {
        restore(world, context.entity);
    }
}

/// Restores the markers that the game has removed from an entity.
fn restore<T: Owner>(world: DeferredWorld<'_>, entity: Entity) {
    if let Some(MachineHooks { marker_removed, .. }) = world.get_resource::<MachineHooks<T>>() {
        marker_removed(world, entity);
    }
}

fn claim<T: Owner, S: 'static, K: MarkerStorage>(world: &mut World) {
    if let Some(KeptFor { owner, .. }) = world.get_resource::<KeptFor<S, K>>() {
        let (state, other) = (type_name::<S>(), type_name::<T>());
        assert!(*owner != other, "the marker InState<{state}> has been asked for twice, for {owner}");
        panic!("the marker InState<{state}> is kept for {owner} already; it cannot be kept for {other}, too");
    }
    let owner = type_name::<T>();
    world.insert_resource(KeptFor::<S, K> { owner, restore: restore::<T>, of: PhantomData });
}
