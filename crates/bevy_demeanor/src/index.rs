//! The list of the entities in a state, for states that change often. A change moves only an entry of the list.

use core::any::type_name;
use core::fmt;
use core::iter::Flatten;
use core::marker::PhantomData;

use bevy_ecs::entity::index_set::Iter;
use bevy_ecs::entity::{Entity, EntityIndexSet};
use bevy_ecs::query::{IterQueryData, QueryFilter, QueryItem, QueryManyUniqueIter, ROQueryItem};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Query, Res, SystemParam};
use bevy_ecs::world::{DeferredWorld, World};
use demeanor::{Owner, State};

use crate::states_meant::Which;

/// The entities that are in a state of type `S` as their machines' current state, as an ancestor of it, or in a
/// [region](demeanor::State::regions), if the plugin has [`with_index`](crate::StateMachinePlugin::with_index).
/// [`QueryInState`] iterates over their components.
///
/// Whenever systems run, the index agrees with the machines: it is updated at the sync point after the pass, before any of the
/// pass's commands is applied; a command updates it before the commands of its callbacks are applied. During a pass it does not
/// change. A machine whose current state has not been entered is in no index. Disabled entities are in it too; [`QueryInState`]
/// leaves them out, as a query does.
///
/// The entities are in the order in which they entered the state, except that the last one takes the place of an entity that
/// leaves. The order is the same on any number of threads.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component, Owner)]
/// struct Guard;
/// struct Chase;
/// impl MachineState<Guard> for Chase {}
///
/// #[derive(Resource, Default)]
/// struct Drums {
///     loudness: usize,
/// }
///
/// let mut app = App::new();
/// app.init_resource::<Drums>();
/// app.add_state_machine_with(StateMachinePlugin::<Guard>::new().with_index::<Chase>());
/// let beat = |chasing: Res<StateIndex<Chase>>, mut drums: ResMut<Drums>| drums.loudness = chasing.len();
/// app.add_systems(Update, beat.in_set(MachineSet::Exit));
/// app.world_mut().spawn((Guard, Machine::<Guard>::new(&Chase)));
/// app.update();
/// assert_eq!(app.world().resource::<Drums>().loudness, 1);
/// ```
#[derive(Resource)]
pub struct StateIndex<S: 'static> {
    entities: EntityIndexSet,
    owner: &'static str,
    of: PhantomData<fn() -> S>,
}

impl<S: 'static> StateIndex<S> {
    /// Returns how many entities are in the state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Returns whether no entity is in the state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Returns whether an entity is in the state.
    #[must_use]
    pub fn contains(&self, entity: Entity) -> bool {
        self.entities.contains(&entity)
    }

    /// Returns the entities. They are unique, so that [`Query::iter_many_unique_mut`] accepts them.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, Entity> {
        self.entities.iter()
    }
}

impl<'a, S: 'static> IntoIterator for &'a StateIndex<S> {
    type Item = &'a Entity;
    type IntoIter = Iter<'a, Entity>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<S: 'static> fmt::Debug for StateIndex<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateIndex<{}> ", type_name::<S>())?;
        f.debug_list().entries(self).finish()
    }
}

/// A query over the entities in a state of type `S`, by its [`StateIndex`]: see
/// [`with_index`](crate::StateMachinePlugin::with_index).
///
/// It is the equivalent of `Query<D, (F, With<InState<S>>)>` without a marker. It goes through the entities in the order of the
/// index, and looks up each of them. If no plugin has the index, the system fails with an error that says so.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component)]
/// struct Stamina(f32);
///
/// #[derive(Component, Owner)]
/// struct Guard;
/// struct Idle;
/// struct Chase;
/// impl MachineState<Guard> for Idle {}
/// impl MachineState<Guard> for Chase {}
///
/// fn tire(mut chasing: QueryInState<Chase, &mut Stamina>) {
///     for mut stamina in &mut chasing {
///         stamina.0 -= 1.0;
///     }
/// }
///
/// let mut app = App::new();
/// app.add_state_machine_with(StateMachinePlugin::<Guard>::new().with_index::<Chase>());
/// app.add_systems(Update, tire.in_set(MachineSet::Exit));
/// let guard = app.world_mut().spawn((Guard, Stamina(3.0), Machine::<Guard>::new(&Idle))).id();
/// app.update();
/// assert_eq!(app.world().get::<Stamina>(guard).unwrap().0, 3.0);
/// app.world_mut().commands().entity(guard).change_state(&Chase);
/// app.update();
/// assert_eq!(app.world().get::<Stamina>(guard).unwrap().0, 2.0);
/// ```
#[derive(SystemParam)]
pub struct QueryInState<'w, 's, S: 'static, D: IterQueryData + 'static, F: QueryFilter + 'static = ()> {
    #[system_param(
        validation_message = "nobody keeps an index for the state: StateMachinePlugin::with_index::<S>() is missing"
    )]
    index: Res<'w, StateIndex<S>>,
    query: Query<'w, 's, D, F>,
}

/// The entities in a state that match a query.
type InState<'a, 's, D, F> = Flatten<QueryManyUniqueIter<'a, 's, D, F, Iter<'a, Entity>>>;

impl<'s, S: 'static, D: IterQueryData, F: QueryFilter> QueryInState<'_, 's, S, D, F> {
    /// Returns all entities in the state, whether or not they match the query.
    #[must_use]
    pub fn index(&self) -> &StateIndex<S> {
        &self.index
    }

    /// Iterates over the entities in the state, read-only.
    pub fn iter(&self) -> impl Iterator<Item = ROQueryItem<'_, 's, D>> {
        self.query.iter_many_unique(&*self.index).flatten()
    }

    /// Iterates over the entities in the state.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = QueryItem<'_, 's, D>> {
        self.query.iter_many_unique_mut(&*self.index).flatten()
    }

    /// Returns the query's item for an entity; `None` if the entity is not in the state or does not match the query.
    #[must_use]
    pub fn get(&self, entity: Entity) -> Option<ROQueryItem<'_, 's, D>> {
        if self.index.contains(entity) { self.query.get(entity).ok() } else { None }
    }

    /// Returns the query's item for an entity; `None` if the entity is not in the state or does not match the query.
    #[must_use]
    pub fn get_mut(&mut self, entity: Entity) -> Option<QueryItem<'_, 's, D>> {
        if self.index.contains(entity) { self.query.get_mut(entity).ok() } else { None }
    }
}

impl<'a, 's, S: 'static, D: IterQueryData, F: QueryFilter> IntoIterator for &'a QueryInState<'_, 's, S, D, F> {
    type Item = ROQueryItem<'a, 's, D>;
    type IntoIter = InState<'a, 's, D::ReadOnly, F>;

    fn into_iter(self) -> Self::IntoIter {
        self.query.iter_many_unique(&*self.index).flatten()
    }
}

impl<'a, 's, S: 'static, D: IterQueryData, F: QueryFilter> IntoIterator for &'a mut QueryInState<'_, 's, S, D, F> {
    type Item = QueryItem<'a, 's, D>;
    type IntoIter = InState<'a, 's, D, F>;

    fn into_iter(self) -> Self::IntoIter {
        self.query.iter_many_unique_mut(&*self.index).flatten()
    }
}

impl<S: 'static, D: IterQueryData, F: QueryFilter> fmt::Debug for QueryInState<'_, '_, S, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueryInState<{}, {}>", type_name::<S>(), type_name::<D>())
    }
}

/// The functions that keep one index up to date.
#[derive(Clone)]
pub(crate) struct Index {
    /// The states of the index.
    pub(crate) of: Which,
    /// Applies additions and removals to the index, in this order.
    pub(crate) correct: fn(&mut DeferredWorld<'_>, &mut Vec<(Entity, bool)>),
    /// Creates the index for one type of owner. Like a marker, an index can belong to only one type of owner.
    pub(crate) claim: fn(&mut World),
}

impl Index {
    pub(crate) fn of<T: Owner, S: State<T>>() -> Self {
        Self::kept::<T, S>(Which::of::<T, S>())
    }

    /// Creates the index for the states with a name.
    pub(crate) fn named<T: Owner, S: 'static>(name: &str) -> Self {
        Self::kept::<T, S>(Which::Name(name.into()))
    }

    fn kept<T: Owner, S: 'static>(of: Which) -> Self {
        Self {
            of,
            correct: |world, changes| {
                if let Some(mut index) = world.get_resource_mut::<StateIndex<S>>() {
                    for (entity, is_in) in changes.drain(..) {
                        if is_in {
                            index.entities.insert(entity);
                        } else {
                            index.entities.swap_remove(&entity);
                        }
                    }
                }
                changes.clear();
            },
            claim: claim::<T, S>,
        }
    }
}

fn claim<T: Owner, S: 'static>(world: &mut World) {
    if let Some(StateIndex { owner, .. }) = world.get_resource::<StateIndex<S>>() {
        let (state, other) = (type_name::<S>(), type_name::<T>());
        assert!(*owner != other, "the index of {state} has been asked for twice, for {owner}");
        panic!("the index of {state} is kept for {owner} already; it cannot be kept for {other}, too");
    }
    world.insert_resource(StateIndex::<S> {
        entities: EntityIndexSet::new(),
        owner: type_name::<T>(),
        of: PhantomData,
    });
}
