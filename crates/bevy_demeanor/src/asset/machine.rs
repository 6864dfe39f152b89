//! The component that names the file of an entity's machine.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

#[cfg(feature = "serialize")]
use bevy_asset::AssetServer;
use bevy_asset::{AsAssetId, AssetId, Handle};
use bevy_ecs::component::Component;
use bevy_ecs::entity::{Entity, EntityIndexSet};
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

/// The file of an entity's machine.
///
/// The machine is inserted before the first pass after the file has been loaded, and that pass enters its initial state. If the
/// entity already has a [`Machine<T>`](crate::Machine), for example from a saved game, it keeps this machine.
///
/// To exchange the machine, insert another `DefinedMachine`. Once the new file is loaded, the machine leaves its states, which
/// calls `exit`, and another machine begins in the initial state of the new file; until then, the old one continues. Inserting
/// the same file again has no effect. If the component is removed, the machine also continues: remove
/// [`Machine<T>`](crate::Machine) as well.
///
/// If machines are saved whole, with a book, a scene contains the path of the file, and the loaded entity waits for the file
/// again or runs on it. A file that the game has created itself has no path: give the entity a `DefinedMachine` again.
///
/// The plugin needs a vocabulary, from [`with_definitions`](crate::StateMachinePlugin::with_definitions); see there for a
/// complete example.
#[derive(Component)]
#[cfg_attr(feature = "serialize", derive(bevy_reflect::Reflect))]
#[cfg_attr(feature = "serialize", reflect(opaque, Clone, Debug, where T: bevy_reflect::TypePath))]
#[cfg_attr(feature = "serialize", type_path = "bevy_demeanor")]
#[component(immutable, clone_behavior = clone::<Self>(), on_insert = begin_later::<T>, on_remove = wait_no_longer::<T>)]
pub struct DefinedMachine<T: Owner> {
    file: Handle<DefinitionFile>,
    /// The file's path from a scene, until the component is on an entity.
    #[cfg(feature = "serialize")]
    unloaded: Option<Unloaded>,
    of: PhantomData<fn() -> T>,
}

/// The file of a machine in a scene.
#[cfg(feature = "serialize")]
#[derive(Clone)]
struct Unloaded {
    /// `None` if the game has created the file itself.
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

    /// Creates the component from the data of a scene, until it is on an entity.
    #[cfg(feature = "serialize")]
    pub(super) fn unloaded(path: Option<String>) -> Self {
        Self { unloaded: Some(Unloaded { path }), ..Self::new(Handle::default()) }
    }

    /// Returns the path of the file. A file that the game has created itself has none.
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

/// The entities that wait for a file.
#[derive(Resource)]
pub(super) struct Waiting<T: Owner> {
    /// Entities whose file has not been checked yet.
    pub(super) new: EntityIndexSet,
    pub(super) entities: EntityIndexSet,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> Waiting<T> {
    /// Returns all entities with the component.
    pub(super) fn of_all(world: &mut World) -> Self {
        let mut all = world.query_filtered::<Entity, (With<DefinedMachine<T>>, Allow<Disabled>)>();
        Self { new: all.iter(world).collect(), entities: EntityIndexSet::new(), of: PhantomData }
    }

    pub(super) fn push(&mut self, entity: Entity) {
        self.new.insert(entity);
    }

    fn remove(&mut self, entity: Entity) {
        self.new.swap_remove(&entity);
        self.entities.swap_remove(&entity);
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
            // The game has created the file itself, and must give the entity the handle again.
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

fn wait_no_longer<T: Owner>(mut world: DeferredWorld<'_>, context: HookContext) {
    if let Some(mut waiting) = world.get_resource_mut::<Waiting<T>>() {
        waiting.remove(context.entity);
    }
}

/// The definition with which an entity's machine has begun.
#[derive(Component)]
#[component(clone_behavior = clone::<Self>())]
pub(super) struct Begun<T: Owner>(pub(super) Definition<T>);

impl<T: Owner> Clone for Begun<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
