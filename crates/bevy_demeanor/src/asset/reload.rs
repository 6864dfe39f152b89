//! Reloads the definitions under running machines when a file is loaded again.

use bevy_asset::{AssetEvent, Assets};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::message::MessageReader;
use bevy_ecs::query::Allow;
use bevy_ecs::system::{Query, Res, ResMut};

use super::file::DefinitionFile;
use super::loaded::LoadedDefinitions;
use super::machine::DefinedMachine;
use crate::owner::EntityOwner;
#[cfg(feature = "serialize")]
use crate::saved::SavedBy;

/// Reloads the definitions of the files that have been loaded.
pub(super) fn reload<T: EntityOwner>(
    mut events: MessageReader<AssetEvent<DefinitionFile>>,
    assets: Res<Assets<DefinitionFile>>,
    mut loaded: ResMut<LoadedDefinitions<T>>,
    defined: Query<&DefinedMachine<T>, Allow<Disabled>>,
    #[cfg(feature = "serialize")] book: Option<Res<SavedBy<T>>>,
) {
    let (mut is_reloaded, mut is_removed) = (false, false);
    for event in events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                is_reloaded |= assets.get(*id).is_some_and(|file| loaded.reload(file));
            }
            AssetEvent::Removed { id } => {
                loaded.remove(*id);
                is_removed = true;
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    if is_reloaded {
        #[cfg(feature = "serialize")]
        if let Some(book) = book {
            loaded.enter_in(&book);
        }
    }
    if is_removed {
        loaded.forget_unused(&assets, defined.iter().map(|defined| defined.file().id()));
    }
}
