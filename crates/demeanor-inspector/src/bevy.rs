//! Machines on Bevy's entities: a plugin for the inspector, which shows the machines as a crowd.

use std::fmt;
use std::ops::Range;
use std::sync::Mutex;

use bevy_app::{App, First, Last, Plugin, PreUpdate, Update};
use bevy_demeanor::{EntityOwner, Machine, MachineCommands, MachineJournal, Machines};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::system::{Commands, Query, Res, ResMut};
use bevy_time::{Time, TimeSystems, Virtual};
use demeanor::{MachineReport, Owner, StateRef};
use serde::Serialize;

use crate::address::BindError;
use crate::command::{Command, CommandKind, Outcome};
use crate::crowd::{Count, Crowd, Data, count, label_of, state_among};
use crate::inspector::Inspector;

/// Serves the inspector's page. [`show_machines`](AppExtInspector::show_machines) adds machines to it.
///
/// If the inspector [allows commands](Inspector::allow_commands), the page can pause the game: then the virtual clock stands
/// still, so that nothing in `FixedUpdate` runs, no time passes in `Update`, and the machines of
/// [`obey_machines`](AppExtInspector::obey_machines) are not updated. A step is one frame in which all of them continue. For
/// other systems there is [`is_running`].
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_ecs::prelude::*;
/// use bevy_time::TimePlugin;
/// use demeanor::Owner;
/// use demeanor_inspector::bevy::{AppExtInspector, InspectorPlugin};
///
/// #[derive(Component)]
/// struct Guard;
/// impl Owner for Guard {
///     type Context<'a> = ();
///     type Message = ();
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, InspectorPlugin::bind("127.0.0.1:0")?));
/// app.show_machines::<Guard>("guards");
/// app.update();
/// # Ok::<(), demeanor_inspector::BindError>(())
/// ```
pub struct InspectorPlugin {
    /// Taken when the plugin is built.
    inspector: Mutex<Option<Inspector>>,
}

impl InspectorPlugin {
    /// Listens on an address that only this computer can reach. See [`Inspector::bind`].
    ///
    /// # Errors
    ///
    /// When the port is taken, or when other computers could reach the address.
    pub fn bind(address: impl std::net::ToSocketAddrs + fmt::Debug) -> Result<Self, BindError> {
        Inspector::bind(address).map(Self::new)
    }

    /// Creates the plugin from an existing inspector.
    #[must_use]
    pub fn new(inspector: Inspector) -> Self {
        Self { inspector: Mutex::new(Some(inspector)) }
    }
}

impl Plugin for InspectorPlugin {
    fn build(&self, app: &mut App) {
        let inspector = self.inspector.lock().map_or(None, |mut inspector| inspector.take());
        if let Some(inspector) = inspector {
            app.insert_resource(AppInspector(inspector));
            app.insert_resource(Pause { is_running: true, has_stopped_clock: false });
            app.add_systems(First, pause.before(TimeSystems));
        }
    }
}

/// The inspector of an app: use it for the address, for pausing, and to show other crowds than machines on entities.
#[derive(Resource, Debug)]
pub struct AppInspector(pub Inspector);

/// Whether the game runs in this frame, for the run condition [`is_running`].
#[derive(Resource, Debug)]
pub struct Pause {
    is_running: bool,
    /// Whether the page has stopped the clock. The game may have paused it, too.
    has_stopped_clock: bool,
}

fn pause(mut inspector: ResMut<AppInspector>, mut pause: ResMut<Pause>, clock: Option<ResMut<Time<Virtual>>>) {
    pause.is_running = inspector.0.should_update();
    let Some(mut clock) = clock else { return };
    if pause.is_running && pause.has_stopped_clock {
        clock.unpause();
        pause.has_stopped_clock = false;
    } else if !pause.is_running && !clock.is_paused() {
        clock.pause();
        pause.has_stopped_clock = true;
    }
}

/// A run condition: whether the game runs in this frame, or has been paused in the page.
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_ecs::schedule::IntoScheduleConfigs;
/// use demeanor_inspector::bevy::is_running;
///
/// fn rain() {}
///
/// App::new().add_systems(Update, rain.run_if(is_running));
/// ```
#[must_use]
pub fn is_running(pause: Option<Res<Pause>>) -> bool {
    pause.is_none_or(|pause| pause.is_running)
}

/// The inspector's methods for an [`App`]. No other type can implement this trait, so that it can get more methods.
pub trait AppExtInspector: sealed::Sealed {
    /// Shows all machines of `T` under a name, at the end of each update; and their journal, if the plugin for machines has one
    /// (`StateMachinePlugin::with_journal`).
    ///
    /// The time is [`Time`], as for machines that are updated in `Update`.
    fn show_machines<T: Owner + Component>(&mut self, name: &'static str) -> &mut Self;

    /// Like [`show_machines`](Self::show_machines), and also shows the owner that a page watches as data.
    fn show_machines_with_data<T: Owner + Component + Serialize>(&mut self, name: &'static str) -> &mut Self;

    /// Allows the page to change the states of the owners that are shown under this name, in `PreUpdate`. If the plugin for machines
    /// updates these owners in `Update` or in `FixedUpdate`, the page can also pause them.
    ///
    /// A state is found by name if it is active or previous in one of these machines. This works only if the inspector [allows
    /// commands](Inspector::allow_commands).
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use bevy_time::TimePlugin;
    /// use demeanor_inspector::Inspector;
    /// use demeanor_inspector::bevy::{AppExtInspector, InspectorPlugin};
    /// #[derive(Component)]
    /// struct Guard;
    /// impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
    /// impl EntityOwner for Guard { type Body = (); type Param = (); }
    ///
    /// let mut app = App::new();
    /// let inspector = Inspector::bind("127.0.0.1:0")?.allow_commands();
    /// app.add_plugins((TimePlugin, InspectorPlugin::new(inspector), StateMachinePlugin::<Guard>::new()));
    /// app.show_machines::<Guard>("guards").obey_machines::<Guard>("guards");
    /// app.update();
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    fn obey_machines<T: EntityOwner>(&mut self, name: &'static str) -> &mut Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for bevy_app::App {}
}

impl AppExtInspector for App {
    fn show_machines<T: Owner + Component>(&mut self, name: &'static str) -> &mut Self {
        show_machines::<T>(self, name, |_| None)
    }

    fn show_machines_with_data<T: Owner + Component + Serialize>(&mut self, name: &'static str) -> &mut Self {
        show_machines::<T>(self, name, |owner| Some(Data::new(owner)))
    }

    fn obey_machines<T: EntityOwner>(&mut self, name: &'static str) -> &mut Self {
        let obey = move |inspector: Option<ResMut<AppInspector>>,
                         machines: Query<(Entity, &'static T, &'static Machine<T>)>,
                         mut commands: Commands| {
            let Some(mut inspector) = inspector else { return };
            let entities = Entities { machines: &machines, seconds: 0.0, data: |_| None };
            inspector.0.obey_with(name, |command| entities.obey(command, &mut commands));
        };
        self.add_systems(PreUpdate, obey);
        // `FixedUpdate` does not run if the clock stands still.
        self.configure_sets(Update, Machines::<T>::SET.run_if(is_running))
    }
}

/// Shows all machines of `T` at the end of each update, with the data of an owner that `data` returns.
fn show_machines<'a, T: Owner + Component>(
    app: &'a mut App,
    name: &'static str,
    data: fn(&T) -> Option<Data>,
) -> &'a mut App {
    let show = move |inspector: Option<ResMut<AppInspector>>,
                     machines: Query<(Entity, &'static T, &'static Machine<T>)>,
                     journal: Option<Res<MachineJournal<T>>>,
                     time: Option<Res<Time>>| {
        let Some(mut inspector) = inspector else { return };
        let seconds = time.map_or(0.0, |time| time.elapsed().as_secs_f64());
        let entities = Entities { machines: &machines, seconds, data };
        match &journal {
            Some(journal) => inspector.0.show(name, &entities.with_journal(journal), &()),
            None => inspector.0.show(name, &entities, &()),
        }
    };
    app.add_systems(Last, show)
}

/// The machines of a query as a crowd.
struct Entities<'q, 'w, 's, T: Owner + Component> {
    machines: &'q Query<'w, 's, (Entity, &'static T, &'static Machine<T>)>,
    seconds: f64,
    data: fn(&T) -> Option<Data>,
}

impl<T: EntityOwner> Entities<'_, '_, '_, T> {
    fn obey(&self, command: &Command, commands: &mut Commands) -> Outcome {
        let Some(entity) = self.find(&command.owner) else { return Outcome::no_owner(command) };
        let mut entity = commands.entity(entity);
        let state = match command.kind.state().map(|name| self.state(name).ok_or(name)).transpose() {
            Ok(state) => state,
            Err(name) => return Outcome::no_state(name),
        };
        match (&command.kind, state) {
            (CommandKind::Change(_), Some(state)) => entity.change_state::<T>(state),
            (CommandKind::Force(_), Some(state)) => entity.force_state::<T>(state),
            (CommandKind::Push(_), Some(state)) => entity.push_state::<T>(state),
            (CommandKind::Pop, _) => entity.pop_state::<T>(),
            (CommandKind::Revert, _) => entity.revert_state::<T>(),
            (CommandKind::Change(_) | CommandKind::Force(_) | CommandKind::Push(_), None) => &mut entity,
        };
        Outcome::Done
    }

    fn state(&self, name: &str) -> Option<StateRef<T>> {
        self.machines
            .iter()
            .find_map(|(.., machine)| state_among(machine.active_states().chain(machine.previous()), name))
    }
}

impl<T: Owner + Component> Crowd for Entities<'_, '_, '_, T> {
    type Key = Entity;
    type Context<'a> = ();

    fn now(&self, (): &()) -> f64 {
        self.seconds
    }

    fn len(&self) -> usize {
        self.machines.iter().len()
    }

    fn awake(&self) -> Option<usize> {
        Some(self.machines.iter().filter(|(.., machine)| !machine.is_asleep()).count())
    }

    fn census(&self, (): &()) -> Vec<Count> {
        count(self.machines.iter().map(|(.., machine)| &**machine))
    }

    fn stays(&self, places: Range<usize>, (): &(), visit: &mut dyn FnMut(Entity, f64)) {
        let part = self.machines.iter().take(places.end).skip(places.start);
        part.for_each(|(entity, _, machine)| visit(entity, machine.time_in_state_at(self.seconds)));
    }

    fn label(&self, key: Entity) -> Option<String> {
        self.machines.get(key).ok().map(|(_, owner, _)| label_of(owner))
    }

    fn report(&self, key: Entity, (): &()) -> Option<MachineReport> {
        self.machines.get(key).ok().map(|(_, owner, machine)| machine.report(owner, self.seconds))
    }

    fn data(&self, key: Entity) -> Option<Data> {
        self.machines.get(key).ok().and_then(|(_, owner, _)| (self.data)(owner))
    }

    /// In Bevy's format: `12v3`.
    fn key_text(&self, key: Entity) -> String {
        key.to_string()
    }

    fn find(&self, text: &str) -> Option<Entity> {
        let index: u32 = text.split_once('v')?.0.parse().ok()?;
        let same = self.machines.iter().map(|(entity, ..)| entity).filter(|entity| entity.index_u32() == index);
        { same }.find(|entity| entity.to_string() == text)
    }
}
