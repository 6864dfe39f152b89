//! The component that contains an entity's machine.

use core::any::{TypeId, type_name};
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use bevy_ecs::component::Component;
use bevy_ecs::entity::{ComponentCloneCtx, Entity, SourceComponent};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::Commands;
use bevy_ecs::world::{DeferredWorld, World};
use demeanor::{IntoState, Owner, StateMachine, Step};
use log::warn;

#[cfg(feature = "serialize")]
use crate::book::SavedBy;
use crate::named_entity::NamedEntity;
use crate::waiting::{NextLook, visit_next};

/// The state machine of an entity that has the component `T`.
///
/// It dereferences to [`StateMachine`], for queries. To change its state from outside, use the methods of
/// [`MachineCommands`](crate::MachineCommands). A machine can be inserted, replaced and removed at any time; this calls no
/// callback. If its current state has not been entered yet, the next pass over its entity starts it before the first update.
///
/// `Changed<Machine<T>>` matches the entities whose machine has changed state or was stopped, and entities with a new machine. After
/// a panic in a callback, it matches the machine in any case. For `Changed<T>`, see [`OwnerChanges`](crate::OwnerChanges).
/// A clone of the entity is in the same state; no callback runs. With the plugin's `with_mapped`, the entities in its owned
/// states are mapped as Bevy maps the components of the clone.
///
/// A machine that has nothing to do, because it is asleep or in a passive state, costs a pass two memory reads until it wakes
/// or a timer is due ([`next_wake`](StateMachine::next_wake)). During this time its owner is not touched, and does not count as
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
#[component(clone_behavior = Custom(clone_machine::<T>), on_add = warn_of_no_plugin::<T>, on_insert = on_insert::<T>, on_remove = on_remove::<T>)]
#[require(NextLook<T>)]
pub struct Machine<T: Owner> {
    pub(crate) machine: StateMachine<T>,
}

/// The functions that the plugin calls when a machine is inserted on an entity or removed from it.
#[derive(Resource)]
pub(crate) struct MachineHooks<T: Owner> {
    /// Called when a machine was inserted or replaced.
    pub(crate) inserted: fn(DeferredWorld<'_>, Entity),
    /// Called when a machine is about to be removed.
    pub(crate) removed: fn(DeferredWorld<'_>, Entity),
    /// Called when the game has removed a marker.
    pub(crate) marker_removed: fn(DeferredWorld<'_>, Entity),
    pub(crate) of: PhantomData<fn() -> T>,
}

fn on_insert<T: Owner>(mut world: DeferredWorld<'_>, context: HookContext) {
    // No pass visits a machine that is disabled or has no owner, so a pass might not notice this insertion by the change tick.
    visit_next::<T>(&mut world, context.entity);
    if let Some(MachineHooks { inserted, .. }) = world.get_resource::<MachineHooks<T>>() {
        inserted(world, context.entity);
    }
}

fn on_remove<T: Owner>(world: DeferredWorld<'_>, context: HookContext) {
    if let Some(MachineHooks { removed, .. }) = world.get_resource::<MachineHooks<T>>() {
        removed(world, context.entity);
    }
}

/// Clones the machine of an entity.
fn clone_machine<T: Owner>(source: &SourceComponent<'_>, context: &mut ComponentCloneCtx<'_, '_>) {
    let Some(machine) = source.read::<Machine<T>>() else { return };
    #[cfg(feature = "serialize")]
    {
        let registry = context.type_registry();
        let book = registry.and_then(|types| types.read().get_type_data(TypeId::of::<Machine<T>>()).cloned());
        if let Some(book) = book {
            SavedBy::<T>::map_clone(book, machine, context);
        }
    }
    context.write_target_component(machine.clone());
}

/// The types of owners for which a warning about a missing plugin has been logged.
#[derive(Resource, Default)]
struct Warned(Vec<TypeId>);

impl Warned {
    fn note(owner: TypeId, commands: &mut Commands) {
        commands.queue(move |world: &mut World| world.get_resource_or_init::<Self>().0.push(owner));
    }
}

/// Logs a warning, once, when an entity gets a machine and there is no plugin for its owner.
fn warn_of_no_plugin<T: Owner>(mut world: DeferredWorld, context: HookContext) {
    let is_warned = world.get_resource::<Warned>().is_some_and(|Warned(owners)| owners.contains(&TypeId::of::<T>()));
    if is_warned || world.contains_resource::<MachineHooks<T>>() {
        return;
    }
    let owner = type_name::<T>();
    let entity = NamedEntity::of(context.entity, &world);
    warn!(
        "{entity} has a Machine<{owner}>, but nothing updates it yet: add_state_machine::<{owner}>() has not been called"
    );
    Warned::note(TypeId::of::<T>(), &mut world.commands());
}

impl<T: Owner> Machine<T> {
    /// Creates a machine whose first state is `initial`. The next pass enters this state.
    pub fn new(initial: impl IntoState<T>) -> Self {
        StateMachine::new(initial).into()
    }

    /// Creates the component from a machine whose current state must not be entered again, for example from a saved game. If
    /// the state was never entered, its entry time is 0 by the owner's clock; for another time, see
    /// [`StateMachine::set_entered`].
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

    /// Adds a global state to the machine.
    #[must_use]
    pub fn with_global(mut self, global: impl IntoState<T>) -> Self {
        self.machine.set_global(global);
        self
    }

    /// Sets the most changes and messages to oneself that one callback may lead to. See [`StateMachine::set_limit`].
    #[must_use]
    pub fn with_limit(mut self, changes: u32) -> Self {
        self.machine.set_limit(changes);
        self
    }

    /// Wakes the machine. Returns whether it was asleep.
    ///
    /// Through a `Query<&mut Machine<T>>`, this marks `Machine<T>` as changed, as any write does, so that the pass notices it.
    /// The command [`wake`](crate::MachineCommands::wake) does not mark it.
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

    /// Returns whether a state with this name is active: the current state, one of its ancestors, or a state in a region. States
    /// from files have such names.
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
        self.machine.active_states().any(|active| active.name() == name)
    }

    /// Returns the machine itself, for edits that the plugin does not see: markers do not follow an edit until the machine's
    /// next change, and no event reports it.
    ///
    /// A pass that skips the entity, because its machine had nothing to do, notices the edit by the component's change tick: do
    /// not bypass Bevy's change detection as well.
    pub fn bypass(&mut self) -> &mut StateMachine<T> {
        &mut self.machine
    }

    /// Returns whether there is a current state that has not been entered.
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
            // The start was refused. The state counts as entered, so that the refusal is not logged again in each pass.
            self.machine.set_entered(T::now(cx));
        }
        has_changed
    }
}

/// Takes a machine as it is: the next pass enters its current state, unless it has been entered already.
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
