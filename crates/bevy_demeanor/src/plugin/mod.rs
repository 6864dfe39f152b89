//! The plugin: it adds the pass to an app, and everything that its settings ask for.

mod following;
mod hooks;
#[cfg(feature = "reflect")]
mod reflected;

use core::marker::PhantomData;

use bevy_app::{App, Plugin, Update};
use bevy_ecs::entity::Entity;
use bevy_ecs::intern::Interned;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleConfigs, ScheduleLabel};
use bevy_ecs::system::ScheduleSystem;
use bevy_ecs::world::World;

#[cfg(feature = "serialize")]
use crate::book::Mapped;
use crate::clock::{ClockOf, ClockOfCommands};
use crate::event::StateChanged;
#[cfg(feature = "reflect")]
use crate::factory::Factory;
use crate::follow::{Followers, Spare};
use crate::index::Index;
use crate::indexing::Indexes;
use crate::journal::MachineJournal;
use crate::label::{is_wanted, keep_names, note_names};
use crate::leaving::stop_discarded;
use crate::marker::Marker;
use crate::marking::Markers;
use crate::missing::warn_of_what_is_missing;
use crate::owner::{EntityOwner, ParallelOwner};
use crate::pass::{parallel_pass, pass};
use crate::readers::refuse_readers;
use crate::sets::{MachineSet, Machines};
use crate::telling::{Told, Trigger};
use crate::waiting::watch_who_comes_back;
use hooks::{find_existing, hooks};

/// Updates the machines of the entities that have the component `T`.
///
/// By default it updates them in `Update`, one after the other, and does nothing else. Each setting has a cost at each change
/// of state; settings that are not used cost nothing.
///
/// The pass does not need exclusive access to the world. It runs beside every system that does not access `T`, `Machine<T>` or
/// the data of [`T::Param`](EntityOwner::Param).
///
/// # Order of calls
///
/// The first pass after a machine was inserted starts it. For each entity, a pass then carries out the timers that are due, and
/// updates the global state and the active states, as [`StateMachine::update`](demeanor::StateMachine::update) does. At the sync
/// point after the pass come, in this order, the indexes, the commands of the callbacks, the markers, and then triggers, events
/// and messages. All times are in seconds.
///
/// # Panics
///
/// A panic in a callback reaches the caller of [`App::update`].
///
/// [`App::add_plugins`] panics if a plugin for the same `T` has already been added, if two plugins have the same marker or
/// index, if there are more than 64 of either, and if [`T::Param`](EntityOwner::Param) contains a `MessageReader`. If the
/// reader is hidden in a struct, the first pass panics.
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
    pub(crate) markers: Vec<Marker>,
    pub(crate) indexes: Vec<Index>,
    /// Writes the name of the current state to the entity.
    name: Option<fn(&mut World, Entity)>,
    pub(crate) triggers: Vec<Trigger>,
    wants_events: bool,
    wants_messages: bool,
    /// The number of entries that the journal keeps, if there is a journal.
    journal: Option<usize>,
    /// Completes the machines that the plugin creates.
    #[cfg(feature = "reflect")]
    factory: Option<Factory<T>>,
    #[cfg(feature = "serialize")]
    mapped: Mapped,
    /// Other functions that add parts to the app.
    pub(crate) registrations: Vec<Box<dyn Fn(&Self, &mut App) + Send + Sync>>,
}

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Creates a plugin that updates machines in `Update`, one after the other.
    #[must_use]
    pub fn new() -> Self {
        Self {
            schedule: Update.intern(),
            pass: pass::<T>,
            markers: Vec::new(),
            indexes: Vec::new(),
            name: None,
            triggers: Vec::new(),
            wants_events: false,
            wants_messages: false,
            journal: None,
            #[cfg(feature = "reflect")]
            factory: None,
            #[cfg(feature = "serialize")]
            mapped: Mapped::default(),
            registrations: Vec::new(),
        }
    }

    /// Updates machines in another schedule, such as `FixedUpdate`.
    ///
    /// If it is your own schedule and you insert it into `MainScheduleOrder` or `FixedMainScheduleOrder`, do so before you add this
    /// plugin, or in a plugin of an app that is run with `App::run`. Then commands use the clock of this schedule.
    #[must_use]
    pub fn in_schedule(mut self, schedule: impl ScheduleLabel) -> Self {
        self.schedule = schedule.intern();
        self
    }

    /// Calls `exit` of the active states before a machine is removed or replaced, or its entity despawned, as `stop_machine` does.
    /// Without this setting, no callback is called for that.
    ///
    /// `exit` gets the owner. So it is also called before the owner is removed alone, and the machine is then removed, too: if the
    /// entity gets another owner, it needs another machine. Without this setting, the machine stays, and continues when the entity
    /// has an owner again. An owner that is replaced by another value changes nothing.
    ///
    /// So a state can give back what lies outside its entity, such as a place in a queue. Commands for an entity that is being
    /// despawned come too late. To change its components in `exit`, use `try_remove` and `try_insert`: otherwise, Bevy logs a
    /// `remove`, and an `insert` is an error, for which Bevy's default error handler panics. Of a despawned entity, only messages
    /// report the stop, because no observer is called for an entity that is gone. A panic in `exit` reaches the code that despawns.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Resource)]
    /// struct FreeSeats(u32);
    ///
    /// #[derive(Component, Owner)]
    /// #[owner(param = ResMut<FreeSeats>)]
    /// struct Guest;
    ///
    /// struct Sit;
    /// impl MachineState<Guest> for Sit {
    ///     fn enter(&self, _: &mut Guest, _: &mut Fsm<'_, Guest>, cx: &mut Cx<'_, Guest>) {
    ///         cx.param.0 -= 1;
    ///     }
    ///
    ///     fn exit(&self, _: &mut Guest, _: &mut Fsm<'_, Guest>, cx: &mut Cx<'_, Guest>) {
    ///         cx.param.0 += 1;
    ///     }
    /// }
    ///
    /// let mut app = App::new();
    /// app.insert_resource(FreeSeats(10));
    /// app.add_state_machine_with(StateMachinePlugin::<Guest>::new().with_exit_on_removal());
    /// let guest = app.world_mut().spawn((Guest, Machine::<Guest>::new(&Sit))).id();
    /// app.update();
    /// assert_eq!(app.world().resource::<FreeSeats>().0, 9);
    /// app.world_mut().despawn(guest);
    /// assert_eq!(app.world().resource::<FreeSeats>().0, 10);
    /// ```
    #[must_use]
    pub fn with_exit_on_removal(mut self) -> Self {
        self.registrations.push(Box::new(|_, app| stop_discarded::<T>(app)));
        self
    }

    /// Updates machines on all of Bevy's compute threads, if this is faster. This is measured, first often and later in 8 of at
    /// least 264 passes: four on one thread and four on all. A pass over at most 1024 entities always runs on one thread.
    ///
    /// The result is the same on any number of threads: callbacks, commands, events and messages are in the same order. Only
    /// the ids of entities that `commands.spawn` reserves during the pass depend on the order of the threads, because all
    /// threads take them from the same source. [`spawn_later`](crate::EntityContext::spawn_later) spawns entities with the same
    /// ids.
    #[must_use]
    pub fn in_parallel(mut self) -> Self
    where
        T: ParallelOwner,
    {
        self.pass = parallel_pass::<T>;
        self
    }

    fn followers(&self) -> Followers<T> {
        Followers {
            has_indexes: !self.indexes.is_empty(),
            has_markers: !self.markers.is_empty(),
            name: self.name,
            told: Told {
                triggers: self.triggers.as_slice().into(),
                wants_events: self.wants_events,
                wants_messages: self.wants_messages,
                has_journal: self.journal.is_some(),
            },
            spare: Spare::default(),
            of: PhantomData,
        }
    }
}

impl<T: EntityOwner> Default for StateMachinePlugin<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: EntityOwner> Plugin for StateMachinePlugin<T> {
    fn build(&self, app: &mut App) {
        refuse_readers::<T>();
        app.configure_sets(self.schedule, (MachineSet::Enter, MachineSet::Update, MachineSet::Exit).chain());
        app.configure_sets(self.schedule, Machines::<T>::SET.in_set(MachineSet::Update));
        keep_names(app);
        let pass = (note_names::<T>.run_if(is_wanted), warn_of_what_is_missing::<T>, (self.pass)()).chain();
        app.add_systems(self.schedule, pass.in_set(Machines::<T>::SET));
        app.insert_resource(ClockOf::<T>::new(ClockOfCommands::in_schedule(self.schedule, app.world())));
        watch_who_comes_back::<T>(app);
        if !self.indexes.is_empty() {
            let indexes = Indexes::<T>::new(app.world_mut(), &self.indexes);
            app.insert_resource(indexes);
        }
        if !self.markers.is_empty() {
            let markers = Markers::<T>::new(app.world_mut(), &self.markers);
            app.insert_resource(markers);
        }
        let followers = self.followers();
        if self.wants_messages {
            app.add_message::<StateChanged<T>>();
        }
        if let Some(entries) = self.journal {
            app.insert_resource(MachineJournal::<T>::new(entries));
        }
        app.insert_resource(followers).insert_resource(hooks::<T>());
        for register in &self.registrations {
            register(self, app);
        }
        find_existing::<T>(app.world_mut());
    }

    /// Another plugin may have inserted the schedule into those that Bevy runs in the meantime.
    fn finish(&self, app: &mut App) {
        let kind = ClockOfCommands::in_schedule(self.schedule, app.world());
        if let Some(mut clock_of) = app.world_mut().get_resource_mut::<ClockOf<T>>() {
            clock_of.set_kind(kind);
        }
    }
}
