//! What is added to an app: the pass, the sets around it, and what follows the changes.

use core::any::type_name;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use bevy_app::{App, Plugin, Update};
use bevy_ecs::entity::Entity;
#[cfg(feature = "serialize")]
use bevy_ecs::entity::MapEntities;
use bevy_ecs::intern::Interned;
use bevy_ecs::lifecycle::{Insert, Remove};
use bevy_ecs::observer::On;
use bevy_ecs::schedule::ScheduleConfigs;
#[cfg(feature = "serialize")]
use bevy_ecs::schedule::common_conditions::any_with_component;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleLabel, SystemSet};
use bevy_ecs::system::{Commands, ScheduleSystem};
use bevy_ecs::world::World;
#[cfg(feature = "reflect")]
use bevy_reflect::TypePath;
#[cfg(feature = "serialize")]
use demeanor::StateBook;
use demeanor::{Owner, State};
#[cfg(feature = "reflect")]
use demeanor::{StateMachine, StateRef};
#[cfg(feature = "serialize")]
use serde::{Serialize, de::DeserializeOwned};
#[cfg(feature = "reflect")]
use std::sync::Arc;
#[cfg(feature = "serialize")]
use std::sync::RwLock;

use crate::clock::ClockOf;
#[cfg(feature = "reflect")]
use crate::current_state::{self, Factory};
use crate::event::StateChanged;
use crate::follow::{Followers, Marked, Trigger};
use crate::machine::Machine;
use crate::marker::{InSparseSet, InTable, Marker};
use crate::missing::warn_of_what_is_missing;
use crate::owner::{EntityOwner, ParallelOwner};
use crate::queue;
#[cfg(feature = "serialize")]
use crate::saved;
use crate::update::{parallel_pass, pass};
use crate::waiting::watch_who_comes_back;

/// The parts of a tick, in this order. Commands given in one are applied before the next.
///
/// | set | what is there | what to add |
/// |---|---|---|
/// | `Enter` | nothing of the plugin's | what the states are to find: senses, timers, orders. A `change_state` or `send` given here is carried out before this tick's updates |
/// | `Update` | the pass over the machines, [`Machines<T>`] | systems over `With<InState<Patrol>>`, which run beside the pass where they touch other things |
/// | `Exit` | nothing of the plugin's | what reacts to this tick's changes: markers are true, messages can be read, observers have run |
///
/// The sets are shared by all owners' plugins in a schedule. To pause machines, give a set a run condition: on this one it also
/// pauses the user's systems in it, on [`Machines<T>`] only the pass.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineSet {
    /// Before the machines are updated.
    Enter,
    /// In which the machines are updated.
    Update,
    /// After the machines were updated, and all that follows their changes.
    Exit,
}

/// The pass over the machines of `T`, a set within [`MachineSet::Update`]: to order it, or to give it a run condition.
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_demeanor::Machines;
/// use bevy_ecs::prelude::*;
/// # use demeanor::Owner;
/// # #[derive(Component)]
/// # struct Legs;
/// # #[derive(Component)]
/// # struct Weapon;
/// # impl Owner for Legs { type Context<'a> = (); type Message = (); }
/// # impl Owner for Weapon { type Context<'a> = (); type Message = (); }
/// #[derive(Resource)]
/// struct IsPaused(bool);
///
/// let mut app = App::new();
/// app.configure_sets(Update, Machines::<Legs>::SET.before(Machines::<Weapon>::SET));
/// app.configure_sets(Update, Machines::<Weapon>::SET.run_if(|paused: Res<IsPaused>| !paused.0));
/// ```
pub struct Machines<T: Owner>(PhantomData<fn() -> T>);

impl<T: Owner> Machines<T> {
    /// The set.
    pub const SET: Self = Self(PhantomData);
}

impl<T: Owner> SystemSet for Machines<T> {
    fn dyn_clone(&self) -> Box<dyn SystemSet> {
        Box::new(Self::SET)
    }
}

impl<T: Owner> fmt::Debug for Machines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Machines<{}>", type_name::<T>())
    }
}

impl<T: Owner> PartialEq for Machines<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T: Owner> Eq for Machines<T> {}

impl<T: Owner> Hash for Machines<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Updates the machines of the entities that have the component `T`.
///
/// By itself it updates them in `Update`, one after the other, and does nothing else. What is asked for here costs something
/// at each change of state; what is not asked for costs nothing.
///
/// The pass takes no exclusive access to the world. It runs beside every system that leaves `T`, `Machine<T>` and what
/// [`T::Param`](EntityOwner::Param) takes alone.
///
/// # Panics
///
/// [`App::add_plugins`] panics when a plugin for the same `T` was added already, when two plugins are asked for the same
/// marker, and when [`T::Param`](EntityOwner::Param) has a `MessageReader`.
///
/// # Examples
///
/// ```
/// use bevy_app::{App, FixedUpdate};
/// use bevy_demeanor::{EntityOwner, InState, Machine, StateMachinePlugin};
/// use bevy_ecs::prelude::{Commands, Component, With};
/// use demeanor::{Fsm, Owner, State};
///
/// #[derive(Component)]
/// struct Enemy {
///     patience: u32,
/// }
///
/// impl Owner for Enemy {
///     type Context<'a> = ();
///     type Message = ();
/// }
///
/// impl EntityOwner for Enemy {
///     type Body = ();
///     type Param = ();
/// }
///
/// struct Idle;
/// struct Patrol;
///
/// impl State<Enemy> for Idle {
///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
///         enemy.patience -= 1;
///         if enemy.patience == 0 {
///             fsm.change_state(&Patrol);
///         }
///     }
/// }
/// impl State<Enemy> for Patrol {}
///
/// let mut app = App::new();
/// app.add_plugins(StateMachinePlugin::<Enemy>::new().with_marker::<Patrol>());
/// app.world_mut().spawn((Enemy { patience: 2 }, Machine::<Enemy>::new(&Idle)));
///
/// app.update();
/// let mut patrolling = app.world_mut().query_filtered::<&Enemy, With<InState<Patrol>>>();
/// assert_eq!(patrolling.iter(app.world()).count(), 0);
/// app.update();
/// assert_eq!(patrolling.iter(app.world()).count(), 1);
/// ```
pub struct StateMachinePlugin<T: EntityOwner> {
    pub(crate) schedule: Interned<dyn ScheduleLabel>,
    pass: fn() -> ScheduleConfigs<ScheduleSystem>,
    pub(crate) followers: Followers<T>,
    /// Completes the machines that the plugin makes.
    #[cfg(feature = "reflect")]
    factory: Option<Factory<T>>,
    /// How entities in the data of owned states are mapped, by the names of the states.
    #[cfg(feature = "serialize")]
    mapped: Vec<(String, saved::MapData)>,
    /// What else is to be added to the app.
    pub(crate) registrations: Vec<Box<dyn Fn(&Self, &mut App) + Send + Sync>>,
}

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Creates a plugin that updates machines in `Update`, one after the other.
    #[must_use]
    pub fn new() -> Self {
        Self {
            schedule: Update.intern(),
            pass: pass::<T>,
            followers: Followers::default(),
            #[cfg(feature = "reflect")]
            factory: None,
            #[cfg(feature = "serialize")]
            mapped: Vec::new(),
            registrations: Vec::new(),
        }
    }

    /// Updates machines in another schedule, such as `FixedUpdate`.
    #[must_use]
    pub fn in_schedule(mut self, schedule: impl ScheduleLabel) -> Self {
        self.schedule = schedule.intern();
        self
    }

    /// Updates machines on all of Bevy's compute threads. Worth it when a pass takes more than some tens of microseconds.
    ///
    /// What happens is the same on any number of threads: callbacks, commands, events and messages are in the same order. Only
    /// the ids of the entities that `commands.spawn` reserves during the pass depend on which thread is first, since all take
    /// them from the one place that Bevy has. [`spawn_later`](crate::EntityContext::spawn_later) spawns with the same ids.
    #[must_use]
    pub fn in_parallel(mut self) -> Self
    where
        T: ParallelOwner,
    {
        self.pass = parallel_pass::<T>;
        self
    }

    /// Gives the entities in a state of type `S` the component [`InState<S>`](crate::InState), kept in tables.
    #[must_use]
    pub fn with_marker<S: State<T>>(mut self) -> Self {
        self.followers.markers.push(Marker::of::<S, InTable>());
        self
    }

    /// Gives the entities in a state of type `S` the component [`InState<S, InSparseSet>`](crate::InState), kept in a sparse set: for
    /// states that change often.
    #[must_use]
    pub fn with_sparse_marker<S: State<T>>(mut self) -> Self {
        self.followers.markers.push(Marker::of::<S, InSparseSet>());
        self
    }

    /// Gives the entities with a machine the component [`CurrentState<T>`](crate::CurrentState), which names their current
    /// state, and has machines follow what is inserted or edited there: those of `states`, by the states' names.
    ///
    /// See there for what that means for scenes and inspectors.
    #[cfg(feature = "reflect")]
    #[must_use]
    pub fn with_current_state(mut self, states: impl IntoIterator<Item = StateRef<T>>) -> Self
    where
        T: TypePath,
    {
        let states: Vec<StateRef<T>> = states.into_iter().collect();
        self.followers.name = Some(current_state::name::<T>);
        self.registrations.push(Box::new(move |plugin, app| {
            current_state::register(app, states.clone(), plugin.factory.clone());
            let edits = current_state::apply_edits::<T>.in_set(MachineSet::Update).before(Machines::<T>::SET);
            app.add_systems(plugin.schedule, edits);
        }));
        self
    }

    /// Has `complete` see to each machine that the plugin makes, from a [`CurrentState`](crate::CurrentState) or from a
    /// saved game: it is given the machine in its state, and returns it with all that is the game's, such as the global.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use bevy_reflect::TypePath;
    ///
    /// #[derive(Component, Owner, TypePath)]
    /// struct Guard;
    ///
    /// struct Patrol;
    /// struct Mortal;
    /// impl MachineState<Guard> for Patrol {}
    /// impl MachineState<Guard> for Mortal {}
    ///
    /// let mut app = App::new();
    /// app.add_state_machine_with(
    ///     StateMachinePlugin::<Guard>::new()
    ///         .with_current_state([(&Patrol).into()])
    ///         .with_factory(|machine| machine.with_global(&Mortal)),
    /// );
    /// let guard = app.world_mut().spawn((Guard, CurrentState::<Guard>::named("Patrol"))).id();
    /// app.update();
    /// assert_eq!(app.world().get::<Machine<Guard>>(guard).unwrap().global().unwrap().name(), "Mortal");
    /// ```
    #[cfg(feature = "reflect")]
    #[must_use]
    pub fn with_factory(
        mut self,
        complete: impl Fn(StateMachine<T>) -> StateMachine<T> + Send + Sync + 'static,
    ) -> Self {
        self.factory = Some(Arc::new(complete));
        self
    }

    /// Has machines saved and loaded whole, wherever components are by reflection: in scenes, by crates that save games, over the
    /// network. `book` says which name is which state.
    ///
    /// `Machine<T>` is then a reflected component. Of it is saved what rule 27 says, which is all that is the machine's: its
    /// states with their times, the state before, stack and history, timers with their messages, its sleep, and whether it has
    /// been started; and by name its global too. If the global is not in the book, it is for the
    /// [factory](Self::with_factory) to give it; without one, nothing is saved, and the error says so. No callback runs on
    /// loading.
    ///
    /// A machine that is loaded takes the place of one that is there, as from `#[require(Machine<Guard>)]`. Its times go on from
    /// what they were in the last pass before it was saved: by what its owner's clock shows when both it and its owner are there.
    /// If the clock is then set to what it showed when the machine was saved, as by a scene that holds the clock too, they go by
    /// that. The clock that is noted is the one of one owner: clocks that differ from entity to entity are not supported.
    ///
    /// With the feature `asset`, the states of files are added to the book when a file is loaded; see
    /// `LoadedDefinitions::prepare`.
    ///
    /// A clone, as in a scene that is never written, has the times of the original.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use bevy_reflect::TypePath;
    /// use bevy_reflect::serde::{TypedReflectDeserializer, TypedReflectSerializer};
    /// use demeanor::StateBook;
    /// use serde::de::DeserializeSeed;
    ///
    /// #[derive(Component, Owner, TypePath)]
    /// struct Guard;
    ///
    /// struct Patrol;
    /// struct Alarm;
    /// struct Mortal;
    /// impl MachineState<Guard> for Patrol {}
    /// impl MachineState<Guard> for Alarm {}
    /// impl MachineState<Guard> for Mortal {}
    ///
    /// let mut app = App::new();
    /// app.add_state_machine_with(
    ///     StateMachinePlugin::<Guard>::new()
    ///         .with_book(StateBook::new().with(&Patrol).with(&Alarm).with(&Mortal)),
    /// );
    /// let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Patrol).with_global(&Mortal))).id();
    /// app.world_mut().commands().entity(guard).push_state(&Alarm);
    /// app.update();
    ///
    /// // What a scene does.
    /// let registry = app.world().resource::<AppTypeRegistry>().clone();
    /// let registry = registry.read();
    /// let machine = app.world().get::<Machine<Guard>>(guard).unwrap();
    /// let file = ron::to_string(&TypedReflectSerializer::new(machine, &registry))?;
    ///
    /// let registration = registry.get(std::any::TypeId::of::<Machine<Guard>>()).unwrap();
    /// let mut deserializer = ron::Deserializer::from_str(&file)?;
    /// let machine = TypedReflectDeserializer::new(registration, &registry).deserialize(&mut deserializer)?;
    /// let mut entity = app.world_mut().spawn(Guard);
    /// registration.data::<ReflectComponent>().unwrap().insert(&mut entity, &*machine, &registry);
    ///
    /// let machine = entity.get::<Machine<Guard>>().unwrap();
    /// assert!(machine.is_in_state(&Alarm));
    /// assert_eq!(machine.global().unwrap().name(), "Mortal");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "serialize")]
    #[must_use]
    pub fn with_book(mut self, book: StateBook<T>) -> Self
    where
        T: TypePath,
    {
        let book = Arc::new(RwLock::new(book));
        self.registrations.push(Box::new(move |plugin, app| {
            saved::register(app, saved::Book::new(book.clone(), plugin.factory.clone(), plugin.mapped.clone()));
            app.add_systems(
                plugin.schedule,
                (
                    saved::settle_all::<T>
                        .run_if(any_with_component::<saved::JustLoaded<T>>)
                        .in_set(MachineSet::Update)
                        .before(Machines::<T>::SET),
                    saved::note_clock::<T>.in_set(MachineSet::Update).after(Machines::<T>::SET),
                ),
            );
        }));
        self
    }

    /// Has the entities mapped that are in the data of owned states of type `S`: a scene gives its entities other places, and
    /// what a book saves of an owned state is text to it. `S` is in the [book](Self::with_book) by
    /// [`with_owned`](StateBook::with_owned).
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::entity::MapEntities;
    /// use bevy_ecs::prelude::*;
    /// use demeanor::StateBook;
    /// use serde::{Deserialize, Serialize};
    /// # #[derive(Component, Owner, bevy_reflect::TypePath)]
    /// # struct Guard;
    ///
    /// #[derive(Clone, Serialize, Deserialize, MapEntities)]
    /// struct Chase {
    ///     #[entities]
    ///     whom: Entity,
    /// }
    /// impl MachineState<Guard> for Chase {}
    ///
    /// let plugin = StateMachinePlugin::<Guard>::new()
    ///     .with_book(StateBook::new().with_owned::<Chase>())
    ///     .with_mapped::<Chase>("Chase");
    /// # bevy_app::App::new().add_plugins(plugin);
    /// ```
    #[cfg(feature = "serialize")]
    #[must_use]
    pub fn with_mapped<S>(mut self, name: impl Into<String>) -> Self
    where
        S: State<T> + MapEntities + Serialize + DeserializeOwned,
    {
        self.mapped.push((name.into(), saved::map_data::<S>));
        self
    }

    /// Triggers [`Entered<S>`](crate::Entered) and [`Exited<S>`](crate::Exited) on the entities that enter and exit states
    /// of type `S`.
    #[must_use]
    pub fn with_triggers<S: State<T>>(mut self) -> Self {
        self.followers.triggers.push(Trigger::of::<T, S>());
        self
    }

    /// Triggers [`StateChanged<T>`] on the entities whose machine has changed state.
    #[must_use]
    pub fn with_change_events(mut self) -> Self {
        self.followers.wants_events = true;
        self
    }

    /// Writes a message, [`StateChanged<T>`], for each change of state.
    #[must_use]
    pub fn with_change_messages(mut self) -> Self {
        self.followers.wants_messages = true;
        self
    }
}

impl<T: EntityOwner> Default for StateMachinePlugin<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: EntityOwner> Plugin for StateMachinePlugin<T> {
    fn build(&self, app: &mut App) {
        refuse_message_readers::<T>();
        app.configure_sets(self.schedule, (MachineSet::Enter, MachineSet::Update, MachineSet::Exit).chain());
        app.configure_sets(self.schedule, Machines::<T>::SET.in_set(MachineSet::Update));
        let pass = (warn_of_what_is_missing::<T>, (self.pass)()).chain();
        app.add_systems(self.schedule, pass.in_set(Machines::<T>::SET));
        app.insert_resource(ClockOf::<T>::schedule(self.schedule));
        watch_who_comes_back::<T>(app);
        for marker in &self.followers.markers {
            (marker.claim)(app.world_mut());
        }
        if self.followers.is_marked() {
            app.add_observer(|inserted: On<Insert<Machine<T>>>, mut commands: Commands| {
                mark_later::<T>(inserted.entity, &mut commands);
            });
            app.add_observer(|removed: On<Remove<Machine<T>>>, mut commands: Commands| {
                mark_later::<T>(removed.entity, &mut commands);
            });
        }
        if self.followers.wants_messages {
            app.add_message::<StateChanged<T>>();
        }
        app.insert_resource(self.followers.clone());
        for register in &self.registrations {
            register(self, app);
        }
    }
}

/// A reader knows which messages have been read, not by whom. In a struct that derives `SystemParam`, it cannot be seen.
fn refuse_message_readers<T: EntityOwner>() {
    let (param, owner) = (type_name::<T::Param>(), type_name::<T>());
    assert!(
        !param.contains("::MessageReader<") && !param.contains("::MessageMutator<"),
        "the Param of {owner} has a MessageReader: the first entity would read all messages, and the others none. Read them in a \
         system in MachineSet::Enter, and send them on: Machines::<{owner}>::broadcast(..) or send_to(..)"
    );
}

/// Makes the markers agree with a machine that was inserted, replaced or removed.
fn mark_later<T: EntityOwner>(entity: Entity, commands: &mut Commands) {
    commands.queue(move |world: &mut World| queue::put_in_for::<T>(world, entity, Box::new(Marked::<T>::new(entity))));
}
