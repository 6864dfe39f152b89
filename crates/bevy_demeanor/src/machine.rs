//! The component that is an entity's machine.

use core::fmt;
use core::ops::Deref;

use bevy_ecs::component::Component;
use demeanor::{Owner, StateMachine, StateRef};

/// The state machine of an entity that has the component `T`.
///
/// It dereferences to [`StateMachine`], to be asked; what changes its state from outside are the verbs of
/// [`MachineCommands`](crate::MachineCommands). A machine may be inserted, replaced and removed at any time, which calls
/// nothing: one that was made by [`new`](Self::new) is started by the next pass over its entity, before its first update.
///
/// `Changed<Machine<T>>` holds for the entities whose machine has made a change of state, and those with a new one.
/// A clone of the entity is in the same state, with no callback.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::Machine;
/// use bevy_ecs::prelude::*;
/// use demeanor::{Owner, State};
///
/// #[derive(Component)]
/// struct Enemy;
/// impl Owner for Enemy {
///     type Context<'a> = ();
///     type Message = ();
/// }
/// struct Idle;
/// impl State<Enemy> for Idle {}
///
/// let mut world = World::new();
/// let enemy = world.spawn((Enemy, Machine::<Enemy>::new(&Idle))).id();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Idle));
/// ```
#[derive(Component)]
#[component(clone_behavior = clone::<Self>())]
pub struct Machine<T: Owner> {
    pub(crate) machine: StateMachine<T>,
    /// Whether `start` has been called.
    pub(crate) is_started: bool,
}

impl<T: Owner> Machine<T> {
    /// Creates a machine whose first state is `initial`. The next pass enters it.
    pub fn new(initial: impl Into<StateRef<T>>) -> Self {
        StateMachine::new(initial).into()
    }

    /// Takes a machine that has been started: one from a saved game, or from another entity. Nothing is entered.
    #[must_use]
    pub fn started(machine: StateMachine<T>) -> Self {
        Self { machine, is_started: true }
    }

    /// Returns whether the first state has been entered.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.is_started
    }

    /// Gives the machine a state that runs beside every other.
    #[must_use]
    pub fn with_global(mut self, global: impl Into<StateRef<T>>) -> Self {
        self.machine.set_global(global);
        self
    }

    /// Returns the machine itself, to be edited behind the plugin's back: no marker follows a change made here until the
    /// plugin sees the next one, and no event tells of it.
    pub fn bypass(&mut self) -> &mut StateMachine<T> {
        &mut self.machine
    }
}

/// Takes a machine whose current state the next pass enters.
impl<T: Owner> From<StateMachine<T>> for Machine<T> {
    fn from(machine: StateMachine<T>) -> Self {
        Self { machine, is_started: false }
    }
}

impl<T: Owner> Deref for Machine<T> {
    type Target = StateMachine<T>;

    fn deref(&self) -> &Self::Target {
        &self.machine
    }
}

impl<T: Owner> Clone for Machine<T> {
    fn clone(&self) -> Self {
        Self { machine: self.machine.clone(), is_started: self.is_started }
    }
}

impl<T: Owner> fmt::Debug for Machine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("machine", &self.machine).field("is_started", &self.is_started).finish()
    }
}
