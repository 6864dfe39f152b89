//! Machines on Bevy's entities: a plugin with an inspector, and their machines as a crowd.

use std::fmt;
use std::ops::Range;
use std::sync::Mutex;

use bevy_app::{App, Last, Plugin};
use bevy_demeanor::{Machine, MachineJournal};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Query, Res, ResMut};
use bevy_time::Time;
use demeanor::{MachineReport, Owner};

use crate::address::BindError;
use crate::crowd::{Count, Crowd, count, label_of};
use crate::inspector::Inspector;

/// Serves the inspector's page. [`show_machines`](AppExtInspector::show_machines) says what is on it.
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

    /// Takes an inspector that is there.
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
        }
    }
}

/// The inspector of an app: for its address, for pausing, and to show other crowds than machines on entities.
#[derive(Resource, Debug)]
pub struct AppInspector(pub Inspector);

/// What the inspector adds to an [`App`].
pub trait AppExtInspector {
    /// Shows all machines of `T` under a name, at the end of each update; and their journal, if the plugin for machines writes one
    /// (`StateMachinePlugin::with_journal`).
    ///
    /// The time is that of [`Time`], as it is for machines updated in `Update`.
    fn show_machines<T: Owner + Component>(&mut self, name: &'static str) -> &mut Self;
}

impl AppExtInspector for App {
    fn show_machines<T: Owner + Component>(&mut self, name: &'static str) -> &mut Self {
        let show = move |inspector: Option<ResMut<AppInspector>>,
                         machines: Query<(Entity, &'static T, &'static Machine<T>)>,
                         journal: Option<Res<MachineJournal<T>>>,
                         time: Option<Res<Time>>| {
            let Some(mut inspector) = inspector else { return };
            let seconds = time.map_or(0.0, |time| time.elapsed().as_secs_f64());
            let entities = Entities { machines: &machines, seconds };
            match &journal {
                Some(journal) => inspector.0.show(name, &entities.with_journal(journal), &()),
                None => inspector.0.show(name, &entities, &()),
            }
        };
        self.add_systems(Last, show)
    }
}

/// The machines of a query as a crowd.
struct Entities<'q, 'w, 's, T: Owner + Component> {
    machines: &'q Query<'w, 's, (Entity, &'static T, &'static Machine<T>)>,
    seconds: f64,
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

    /// As Bevy writes it: `12v3`.
    fn key_text(&self, key: Entity) -> String {
        key.to_string()
    }

    fn find(&self, text: &str) -> Option<Entity> {
        let index: u32 = text.split_once('v')?.0.parse().ok()?;
        let same = self.machines.iter().map(|(entity, ..)| entity).filter(|entity| entity.index_u32() == index);
        { same }.find(|entity| entity.to_string() == text)
    }
}
