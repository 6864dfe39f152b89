//! The component that says which file an entity's machine is from.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

#[cfg(feature = "serialize")]
use bevy_asset::AssetServer;
use bevy_asset::{AsAssetId, AssetId, Handle};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::query::{Allow, With};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{DeferredWorld, World};
use demeanor::Owner;
use demeanor::definition::Definition;
use log::warn;

use super::file::DefinitionFile;
use crate::named_entity::NamedEntity;

/// Has an entity's machine come from a file.
///
/// The machine is inserted before the first pass after the file has been loaded, and that pass enters its initial state. An
/// entity that has a [`Machine<T>`](crate::Machine) already keeps it, as one from a saved game.
///
/// It is exchanged by inserting another one. Once the new file is loaded, the machine leaves its states, which calls `exit`, and
/// another one begins in the initial state of the new file; until then, it goes on. With the same file again, nothing happens.
/// Removed, the machine goes on, too: remove [`Machine<T>`](crate::Machine) as well.
///
/// If machines are saved whole, by a book, a scene has the path of the file, and the entity that is loaded waits for the file
/// again or runs on it. A file that the game has put together itself has no path: give the entity a `DefinedMachine` again.
///
/// The plugin must have been given a vocabulary, by [`with_definitions`](crate::StateMachinePlugin::with_definitions); see there
/// for a whole example.
#[derive(Component)]
#[cfg_attr(feature = "serialize", derive(bevy_reflect::Reflect))]
#[cfg_attr(feature = "serialize", reflect(opaque, Clone, Debug, where T: bevy_reflect::TypePath))]
#[cfg_attr(feature = "serialize", type_path = "bevy_demeanor")]
#[component(immutable, clone_behavior = clone::<Self>(), on_insert = begin_later::<T>)]
pub struct DefinedMachine<T: Owner> {
    file: Handle<DefinitionFile>,
    /// What a scene says of the file, until it is on an entity.
    #[cfg(feature = "serialize")]
    unloaded: Option<Unloaded>,
    of: PhantomData<fn() -> T>,
}

/// Which file a scene says that a machine is from.
#[cfg(feature = "serialize")]
#[derive(Clone)]
struct Unloaded {
    /// Of one that the game has put together itself, there is none.
    path: Option<String>,
}

impl<T: Owner> DefinedMachine<T> {
    /// Creates the component from the handle of a file, or of a machine in it.
    #[must_use]
    pub fn new(file: Handle<DefinitionFile>) -> Self {
        Self {
            file,
            #[cfg(feature = "serialize")]
            unloaded: None,
            of: PhantomData,
        }
    }

    /// As a scene has it, until it is on an entity.
    #[cfg(feature = "serialize")]
    pub(super) fn unloaded(path: Option<String>) -> Self {
        Self { unloaded: Some(Unloaded { path }), ..Self::new(Handle::default()) }
    }

    /// The path of the file, if it has one: a game may have put it together itself.
    #[cfg(feature = "serialize")]
    pub(super) fn path(&self) -> Option<String> {
        match &self.unloaded {
            Some(Unloaded { path }) => path.clone(),
            None => self.file.path().map(ToString::to_string),
        }
    }

    /// Returns the handle.
    #[must_use]
    pub fn file(&self) -> &Handle<DefinitionFile> {
        &self.file
    }
}

impl<T: Owner> From<Handle<DefinitionFile>> for DefinedMachine<T> {
    fn from(file: Handle<DefinitionFile>) -> Self {
        Self::new(file)
    }
}

impl<T: Owner> AsAssetId for DefinedMachine<T> {
    type Asset = DefinitionFile;

    fn as_asset_id(&self) -> AssetId<DefinitionFile> {
        self.file.id()
    }
}

impl<T: Owner> Clone for DefinedMachine<T> {
    fn clone(&self) -> Self {
        Self {
            #[cfg(feature = "serialize")]
            unloaded: self.unloaded.clone(),
            ..Self::new(self.file.clone())
        }
    }
}

impl<T: Owner> fmt::Debug for DefinedMachine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DefinedMachine").field(&self.file).finish()
    }
}

/// Who waits for a file.
#[derive(Resource)]
pub(super) struct Waiting<T: Owner> {
    /// Those whose file has not been looked for.
    pub(super) new: Vec<Entity>,
    pub(super) entities: Vec<Entity>,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> Waiting<T> {
    /// All who are there.
    pub(super) fn of_all(world: &mut World) -> Self {
        let mut all = world.query_filtered::<Entity, (With<DefinedMachine<T>>, Allow<Disabled>)>();
        Self { new: all.iter(world).collect(), entities: Vec::new(), of: PhantomData }
    }

    pub(super) fn push(&mut self, entity: Entity) {
        self.new.push(entity);
    }
}

fn begin_later<T: Owner>(mut world: DeferredWorld<'_>, context: HookContext) {
    #[cfg(feature = "serialize")]
    if let Some(Unloaded { path }) =
        world.get::<DefinedMachine<T>>(context.entity).and_then(|defined| defined.unloaded.clone())
    {
        let assets = world.get_resource::<AssetServer>();
        let loaded = assets.zip(path).map(|(assets, path)| DefinedMachine::<T>::new(assets.load(path)));
        let mut commands = world.commands();
        let mut entity = commands.entity(context.entity);
        match loaded {
            Some(loaded) => entity.try_insert(loaded),
            // The game that has put the file together gives the entity its handle.
            None => entity.try_remove::<DefinedMachine<T>>(),
        };
        return;
    }
    if let Some(mut waiting) = world.get_resource_mut::<Waiting<T>>() {
        waiting.push(context.entity);
    } else {
        let (entity, owner) = (NamedEntity::of(context.entity, &world), type_name::<T>());
        warn!(
            "{entity} has a DefinedMachine<{owner}>, but there is no vocabulary for it yet: \
             StateMachinePlugin::<{owner}>::with_definitions(..) has not been added"
        );
    }
}

/// Which definition an entity's machine has begun with.
#[derive(Component)]
#[component(clone_behavior = clone::<Self>())]
pub(super) struct Begun<T: Owner>(pub(super) Definition<T>);

impl<T: Owner> Clone for Begun<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
