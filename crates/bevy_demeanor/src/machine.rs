//! The component that is an entity's machine.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
#[cfg(feature = "reflect")]
use std::sync::Arc;

use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::DeferredWorld;
use demeanor::{IntoState, Owner, StateMachine, Step};
use log::warn;

use crate::named_entity::NamedEntity;
use crate::waiting::NextLook;

/// The state machine of an entity that has the component `T`.
///
/// It dereferences to [`StateMachine`], for queries; from outside, its state is changed by the methods of
/// [`MachineCommands`](crate::MachineCommands). A machine may be inserted, replaced and removed at any time, which calls
/// nothing. If its current state has not been entered yet, the next pass over its entity starts it before the first update.
///
/// `Changed<Machine<T>>` holds for the entities whose machine has made a change of state or was stopped, and for those with a
/// new one.
/// A clone of the entity is in the same state, with no callback.
///
/// A machine that has nothing to do, because it is asleep or in a passive state, costs a pass a look at two words until it
/// wakes or a timer is due ([`next_wake`](StateMachine::next_wake)). Its owner is not touched then, and does not count as
/// changed.
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
#[cfg_attr(feature = "serialize", derive(bevy_reflect::Reflect))]
#[cfg_attr(feature = "serialize", reflect(opaque, Clone, Debug, where T: bevy_reflect::TypePath))]
#[cfg_attr(feature = "serialize", type_path = "bevy_demeanor")]
#[component(clone_behavior = clone::<Self>(), on_add = warn_of_no_plugin::<T>, on_insert = on_insert::<T>, on_remove = on_remove::<T>)]
#[require(NextLook<T>)]
pub struct Machine<T: Owner> {
    pub(crate) machine: StateMachine<T>,
}

/// What the plugin does when a machine comes to an entity or leaves it.
#[derive(Resource)]
pub(crate) struct MachineHooks<T: Owner> {
    /// Is called when a machine was inserted or replaced.
    pub(crate) inserted: fn(DeferredWorld<'_>, Entity),
    /// Is called when a machine is about to be removed.
    pub(crate) removed: fn(DeferredWorld<'_>, Entity),
    /// Is called when the game has removed a marker.
    pub(crate) marker_removed: fn(DeferredWorld<'_>, Entity),
    pub(crate) of: PhantomData<fn() -> T>,
}

fn on_insert<T: Owner>(mut world: DeferredWorld<'_>, context: HookContext) {
    // No pass looks at a machine that is disabled or has no owner, so no pass may learn of it from the change tick.
    if let Some(mut next_look) = world.get_mut::<NextLook<T>>(context.entity) {
        next_look.bypass_change_detection().forget();
    }
    if let Some(MachineHooks { inserted, .. }) = world.get_resource::<MachineHooks<T>>() {
        inserted(world, context.entity);
    }
}

fn on_remove<T: Owner>(world: DeferredWorld<'_>, context: HookContext) {
    if let Some(MachineHooks { removed, .. }) = world.get_resource::<MachineHooks<T>>() {
        removed(world, context.entity);
    }
}

/// That a warning of a missing plugin has been logged.
#[derive(Resource)]
struct HasWarned<T>(PhantomData<fn() -> T>);

/// Logs a warning, once, when an entity is given a machine for whose owner there is no plugin.
fn warn_of_no_plugin<T: Owner>(mut world: DeferredWorld, context: HookContext) {
    if world.contains_resource::<MachineHooks<T>>() || world.contains_resource::<HasWarned<T>>() {
        return;
    }
    let owner = type_name::<T>();
    let entity = NamedEntity::of(context.entity, &world);
    warn!(
        "{entity} has a Machine<{owner}>, but nothing updates it yet: add_state_machine::<{owner}>() has not been called"
    );
    world.commands().insert_resource(HasWarned::<T>(PhantomData));
}

#[cfg(feature = "reflect")]
/// Completes the machines that the plugin makes.
pub(crate) type Factory<T> = Arc<dyn Fn(StateMachine<T>) -> StateMachine<T> + Send + Sync>;

impl<T: Owner> Machine<T> {
    /// Creates a machine whose first state is `initial`. The next pass enters it.
    pub fn new(initial: impl IntoState<T>) -> Self {
        StateMachine::new(initial).into()
    }

    /// Takes a machine whose current state is not to be entered: one put together from a saved game. If it was never
    /// entered, it counts as entered at 0 by the owner's clock; for another time, see [`StateMachine::set_entered`].
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::Machine;
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    /// struct Chase;
    /// impl State<Enemy> for Chase {}
    ///
    /// assert!(!Machine::<Enemy>::new(&Chase).is_started());
    /// assert!(Machine::<Enemy>::started(StateMachine::new(&Chase)).is_started());
    /// ```
    #[must_use]
    pub fn started(mut machine: StateMachine<T>) -> Self {
        if !machine.is_started() {
            machine.set_entered(0.0);
        }
        machine.into()
    }

    /// Gives the machine a state that runs beside every other.
    #[must_use]
    pub fn with_global(mut self, global: impl IntoState<T>) -> Self {
        self.machine.set_global(global);
        self
    }

    /// Wakes the machine. Returns whether it was asleep.
    ///
    /// Through a `Query<&mut Machine<T>>`, this makes `Changed<Machine<T>>` hold, as any write does, which is how the pass
    /// learns of it. The command [`wake`](crate::MachineCommands::wake) does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::Machine;
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    /// struct Guard;
    /// impl State<Enemy> for Guard {}
    ///
    /// let mut saved = StateMachine::new(&Guard);
    /// saved.sleep();
    /// let mut machine = Machine::<Enemy>::started(saved);
    /// assert!(machine.is_asleep());
    /// assert!(machine.wake());
    /// assert!(!machine.is_asleep());
    /// ```
    pub fn wake(&mut self) -> bool {
        self.machine.wake()
    }

    /// Returns whether a state of a name is active, as those from files have, current or around it.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::Machine;
    /// use demeanor::{Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// assert!(Machine::<Enemy>::new(&Idle).is_in_named("Idle"));
    /// ```
    #[must_use]
    pub fn is_in_named(&self, name: &str) -> bool {
        self.machine.path().any(|active| active.name() == name)
    }

    /// Returns the machine itself, for edits that the plugin does not see: no marker follows a change made here until the
    /// plugin sees the next one, and no event tells of it.
    ///
    /// A pass that skips the entity, because its machine had nothing to do, learns of the edit from the component's change tick:
    /// do not bypass Bevy's change detection as well.
    pub fn bypass(&mut self) -> &mut StateMachine<T> {
        &mut self.machine
    }

    /// Whether there is a current state, and it has not been entered.
    pub(crate) fn is_to_be_started(&self) -> bool {
        !self.is_started() && self.current().is_some()
    }

    /// Starts a machine whose current state has not been entered. Returns whether it has changed state.
    #[cold]
    pub(crate) fn start(&mut self, steps: Option<&mut Vec<Step<T>>>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let mut machine = self.machine.recording(steps);
        machine.start(owner, cx);
        let has_changed = machine.has_changed();
        if !self.machine.is_started() {
            // Refused. Counted as entered, so that the refusal is not logged again in each pass.
            self.machine.set_entered(T::now(cx));
        }
        has_changed
    }
}

/// Takes a machine as it is: the next pass enters its current state, unless that has been entered already.
impl<T: Owner> From<StateMachine<T>> for Machine<T> {
    fn from(machine: StateMachine<T>) -> Self {
        Self { machine }
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
        Self { machine: self.machine.clone() }
    }
}

impl<T: Owner> fmt::Debug for Machine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("machine", &self.machine).field("is_started", &self.is_started()).finish()
    }
}
