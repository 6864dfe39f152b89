//! Makes the definitions to prepare, and reloads those under running machines when a file is loaded again.

use bevy_asset::{AssetEvent, Assets};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::message::MessageReader;
use bevy_ecs::query::Allow;
use bevy_ecs::system::{Query, Res, ResMut};

use super::file::DefinitionFile;
use super::loaded::LoadedDefinitions;
use super::machine::DefinedMachine;
#[cfg(feature = "serialize")]
use crate::book::SavedBy;
use crate::owner::EntityOwner;

/// Makes and reloads definitions of the files that have been loaded. This runs in each frame, also while no time passes for the
/// machines.
pub(super) fn reload<T: EntityOwner>(
    mut events: MessageReader<AssetEvent<DefinitionFile>>,
    assets: Res<Assets<DefinitionFile>>,
    mut loaded: ResMut<LoadedDefinitions<T>>,
    defined: Query<&DefinedMachine<T>, Allow<Disabled>>,
    #[cfg(feature = "serialize")] book: Option<Res<SavedBy<T>>>,
) {
    let (mut is_new, mut is_removed) = (loaded.is_to_prepare(), false);
    if is_new {
        // Otherwise the systems that react to changes of this resource would run in each frame until the file is loaded.
        loaded.bypass_change_detection().make_prepared(&assets);
    }
    for event in events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                is_new |= assets.get(*id).is_some_and(|file| loaded.reload(*id, file));
            }
            AssetEvent::Removed { id } => {
                loaded.remove(*id);
                is_removed = true;
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    if is_new {
        #[cfg(feature = "serialize")]
        if let Some(book) = book {
            loaded.bypass_change_detection().enter_in(&book);
        }
    }
    if is_removed {
        loaded.forget_unused(&assets, defined.iter().map(|defined| defined.file().id()));
    }
}
