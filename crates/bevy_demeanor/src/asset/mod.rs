//! Machines from files that Bevy's asset server loads.
//!
//! The asset is the text of the file ([`DefinitionFile`]), which is the same for all owners. [`LoadedDefinitions`] has the
//! definitions that an owner's plugin creates from it, with the owner's vocabulary. [`DefinedMachine`] names the file of an
//! entity's machine.

mod begin;
mod file;
mod loaded;
pub(crate) mod machine;
mod reload;
mod report;
#[cfg(feature = "serialize")]
pub(crate) mod saved;

use bevy_app::{App, PostUpdate};
use bevy_asset::{AssetApp, AssetEventSystems, AssetServer, Assets};
use bevy_ecs::intern::Interned;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleLabel};
use demeanor::definition::Vocabulary;

pub use self::file::DefinitionFile;
pub use self::loaded::LoadedDefinitions;
pub use self::machine::DefinedMachine;

use self::begin::{begin, is_anybody_to_begin};
use self::file::Loader;
use self::machine::Waiting;
use self::reload::reload;
use self::report::tell_failures;
use crate::owner::EntityOwner;
use crate::plugin::StateMachinePlugin;
use crate::sets::{MachineSet, Machines};

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Creates machines from files that Bevy's asset server loads, for the entities with a
    /// [`DefinedMachine<T>`](crate::DefinedMachine). `vocabulary` contains the words that a file can use for `T`.
    ///
    /// # Panics
    ///
    /// [`App::add_plugins`] panics if Bevy's `AssetPlugin` has not been added before.
    ///
    /// # Examples
    ///
    /// A door whose machine comes from a file. In a game, the file would be `assets/door.fsm.toml`, and its handle
    /// `asset_server.load("door.fsm.toml")`.
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_asset::{AssetPlugin, Assets};
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use demeanor::definition::{Files, Vocabulary};
    ///
    /// #[derive(Component, Owner)]
    /// #[owner(message = Push)]
    /// struct Door {
    ///     is_locked: bool,
    /// }
    /// struct Push;
    ///
    /// let vocabulary = Vocabulary::<Door>::new()
    ///     .flag("locked", |door: &Door, _| door.is_locked)
    ///     .message("push", |_: &Push| true);
    ///
    /// /// The marker type for the state `open`.
    /// struct Open;
    ///
    /// let mut app = App::new();
    /// app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()));
    /// app.add_state_machine_with(
    ///     StateMachinePlugin::<Door>::new().with_definitions(vocabulary).with_marker_named::<Open>("open"),
    /// );
    /// let file = Files::new("door.fsm.toml", "
    ///     initial = 'closed'
    ///     states.closed.exits = [{ to = 'open', on = 'push', when = 'not locked' }]
    ///     states.open.exits = [{ to = 'closed', on = 'push' }]
    /// ");
    /// let file = app.world_mut().resource_mut::<Assets<DefinitionFile>>().add(DefinitionFile::new(file));
    /// let door = app.world_mut().spawn((Door { is_locked: false }, DefinedMachine::<Door>::new(file))).id();
    /// app.update();
    /// assert_eq!(app.world().get::<Machine<Door>>(door).unwrap().current().unwrap().name(), "closed");
    /// app.world_mut().commands().entity(door).send::<Door>(Push);
    /// app.update();
    /// assert!(app.world().entity(door).contains::<InState<Open>>());
    /// ```
    #[must_use]
    pub fn with_definitions(mut self, vocabulary: Vocabulary<T>) -> Self {
        self.registrations.push(Box::new(move |plugin, app| register(app, plugin.schedule, vocabulary.clone())));
        self
    }
}

/// Adds the systems that start and reload the machines of `T` from files.
fn register<T: EntityOwner>(app: &mut App, schedule: Interned<dyn ScheduleLabel>, vocabulary: Vocabulary<T>) {
    assert!(
        app.world().contains_resource::<AssetServer>(),
        "there is no AssetServer to load definitions: add Bevy's AssetPlugin before the state machines"
    );
    if !app.world().contains_resource::<Assets<DefinitionFile>>() {
        app.init_asset::<DefinitionFile>().register_asset_loader(Loader);
        app.add_systems(PostUpdate, tell_failures.after(AssetEventSystems));
    }
    let waiting = Waiting::<T>::of_all(app.world_mut());
    app.insert_resource(waiting).insert_resource(LoadedDefinitions::new(vocabulary));
    app.add_systems(
        schedule,
        begin::<T>.run_if(is_anybody_to_begin::<T>).in_set(MachineSet::Update).before(Machines::<T>::SET),
    );
    // After the last pass of a frame and before the first pass of the next.
    app.add_systems(PostUpdate, reload::<T>.after(AssetEventSystems));
}
