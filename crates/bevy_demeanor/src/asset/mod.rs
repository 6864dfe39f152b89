//! Machines from files that Bevy's asset server loads.
//!
//! The asset is the file, as text ([`DefinitionFile`]): it is the same for all owners. What an owner's plugin makes of it, with the
//! owner's vocabulary, is in [`LoadedDefinitions`]. [`DefinedMachine`] says which file an entity's machine is from.

mod begin;
mod file;
mod loaded;
mod machine;
mod reload;
mod report;

use bevy_app::{App, PostUpdate};
use bevy_asset::{AssetApp, AssetEventSystems, AssetServer, Assets};
use bevy_ecs::intern::Interned;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleLabel};
use demeanor::definition::Vocabulary;

pub use self::file::DefinitionFile;
pub use self::loaded::LoadedDefinitions;
pub use self::machine::DefinedMachine;

use self::begin::{Waiting, begin, is_anybody_to_begin};
use self::file::Loader;
use self::reload::reload;
use self::report::tell_failures;
use crate::owner::EntityOwner;
use crate::plugin::{MachineSet, Machines};

/// Has the machines of `T` begin and reloaded that are from files.
pub(crate) fn register<T: EntityOwner>(
    app: &mut App,
    schedule: Interned<dyn ScheduleLabel>,
    vocabulary: Vocabulary<T>,
) {
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
    // After the last pass of a frame and before the first of the next.
    app.add_systems(PostUpdate, reload::<T>.after(AssetEventSystems));
}
