//! The events and messages about state changes, for observers and message readers.

use core::any::{TypeId, type_name};
use core::fmt;
use core::marker::PhantomData;

use bevy_ecs::entity::Entity;
use bevy_ecs::event::EntityEvent;
use bevy_ecs::message::Message;
use demeanor::{Cause, Owner, StateRef};

/// An entity's machine has changed state.
///
/// With [`with_change_events`](crate::StateMachinePlugin::with_change_events), it is triggered on the entity; with
/// [`with_change_messages`](crate::StateMachinePlugin::with_change_messages), it is written as a message. Both happen at the
/// sync point after the pass, once for each change that a callback led to, in the order of the changes. The start of a machine
/// is a change from no state, with [`Cause::Start`]; `stop_machine` is a change to no state, with [`Cause::Stop`].
///
/// An observer may do anything. Its commands are carried out when it has returned; the events of their changes come after all
/// events that were recorded before. So when an observer runs, the machine may already be in another state than the one that
/// was entered.
///
/// # Examples
///
/// An observer that despawns, and one that changes the state:
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component, Owner)]
/// struct Bomb;
///
/// struct Ticking;
/// struct Lit;
/// struct Exploding;
/// impl MachineState<Bomb> for Ticking {}
/// impl MachineState<Bomb> for Lit {}
/// impl MachineState<Bomb> for Exploding {}
///
/// #[derive(Resource, Default)]
/// struct Log(Vec<String>);
///
/// let mut app = App::new();
/// app.init_resource::<Log>();
/// app.add_state_machine_with(
///     StateMachinePlugin::<Bomb>::new().with_change_events().with_triggers::<Lit>().with_triggers::<Exploding>(),
/// );
/// app.add_observer(|it: On<Entered<Lit>>, mut commands: Commands| {
///     commands.entity(it.entity).change_state(&Exploding);
/// });
/// app.add_observer(|it: On<Entered<Exploding>>, mut commands: Commands| commands.entity(it.entity).despawn());
/// app.add_observer(|it: On<StateChanged<Bomb>>, mut log: ResMut<Log>| {
///     log.0.push(it.to.as_ref().unwrap().name().into_owned());
/// });
/// let bomb = app.world_mut().spawn((Bomb, Machine::<Bomb>::new(&Ticking))).id();
/// app.world_mut().commands().entity(bomb).change_state(&Lit);
/// app.update();
/// assert_eq!(app.world().resource::<Log>().0, ["Ticking", "Lit", "Exploding"]);
/// assert!(app.world().get_entity(bomb).is_err());
/// ```
#[derive(EntityEvent, Message)]
#[non_exhaustive]
pub struct StateChanged<T: Owner> {
    /// The entity of the machine.
    pub entity: Entity,
    /// The state that was left; `None` if there was none, as at the start.
    pub from: Option<StateRef<T>>,
    /// The state that was entered; `None` if the machine was stopped, or if a pop has led to no state.
    pub to: Option<StateRef<T>>,
    /// The cause of the change.
    pub cause: Cause,
    /// The state in one of whose [regions](demeanor::State::regions) the change was made; `None` for a change of the machine's
    /// own current state. Then `from` and `to` are the innermost states of this region, whose index is their
    /// [`region`](demeanor::State::region). A change that opens regions is one change, to the state whose regions they are.
    pub within: Option<StateRef<T>>,
}

impl<T: Owner> Clone for StateChanged<T> {
    fn clone(&self) -> Self {
        let Self { entity, from, to, cause, within } = self;
        Self { entity: *entity, from: from.clone(), to: to.clone(), cause: *cause, within: within.clone() }
    }
}

/// The same format as in the library's log: `Idle -> Chase (change)`, or `Walk -> Run in Combat (change)` for a change in a
/// region.
impl<T: Owner> fmt::Debug for StateChanged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |state: &Option<StateRef<T>>| {
            state.as_ref().map_or_else(|| "(no state)".to_owned(), |state| state.name().into_owned())
        };
        write!(f, "{}: {} -> {}", self.entity, name(&self.from), name(&self.to))?;
        if let Some(composite) = &self.within {
            write!(f, " in {composite}")?;
        }
        write!(f, " ({})", self.cause)
    }
}

/// The entity is now in a state of type `S`: `enter` or `resume` has run.
///
/// With [`with_triggers`](crate::StateMachinePlugin::with_triggers), it is triggered on the entity, at the sync point after the
/// pass. Ancestors, and the states in regions, are entered and exited like other states.
#[derive(EntityEvent)]
#[non_exhaustive]
pub struct Entered<S: 'static> {
    /// The entity of the machine.
    pub entity: Entity,
    owner: WhoseMachine,
    state: PhantomData<fn() -> S>,
}

/// The entity has left a state of type `S`: `exit` or `suspend` has run.
///
/// Triggered like [`Entered`].
#[derive(EntityEvent)]
#[non_exhaustive]
pub struct Exited<S: 'static> {
    /// The entity of the machine.
    pub entity: Entity,
    owner: WhoseMachine,
    state: PhantomData<fn() -> S>,
}

/// The type of a machine's owner.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WhoseMachine(TypeId);

impl WhoseMachine {
    fn of<T: Owner>() -> Self {
        Self(TypeId::of::<T>())
    }
}

impl<S: 'static> Entered<S> {
    pub(crate) fn new<T: Owner>(entity: Entity) -> Self {
        Self { entity, owner: WhoseMachine::of::<T>(), state: PhantomData }
    }

    /// Returns whether the owner of the machine is `T`. This is useful for a state of several owners.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// #[derive(Component, Owner)]
    /// struct Legs;
    /// struct Rest;
    ///
    /// fn sit_down(told: On<Entered<Rest>>) {
    ///     if told.is_of::<Legs>() {
    ///         println!("the legs of {} rest", told.entity);
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn is_of<T: Owner>(&self) -> bool {
        self.owner == WhoseMachine::of::<T>()
    }
}

impl<S: 'static> Exited<S> {
    pub(crate) fn new<T: Owner>(entity: Entity) -> Self {
        Self { entity, owner: WhoseMachine::of::<T>(), state: PhantomData }
    }

    /// Returns whether the owner of the machine is `T`. This is useful for a state of several owners.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// #[derive(Component, Owner)]
    /// struct Legs;
    /// struct Rest;
    ///
    /// fn get_up(told: On<Exited<Rest>>) {
    ///     if told.is_of::<Legs>() {
    ///         println!("the legs of {} move", told.entity);
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn is_of<T: Owner>(&self) -> bool {
        self.owner == WhoseMachine::of::<T>()
    }
}

impl<S: 'static> fmt::Debug for Entered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entered {}", self.entity, type_name::<S>())
    }
}

impl<S: 'static> fmt::Debug for Exited<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} exited {}", self.entity, type_name::<S>())
    }
}
