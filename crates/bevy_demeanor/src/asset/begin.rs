//! Starts machines after their files have been loaded.

use core::mem;

use bevy_asset::Assets;
use bevy_ecs::change_detection::{DetectChanges, DetectChangesMut};
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::query::{Allow, Has};
use bevy_ecs::system::{Commands, Query, Res, ResMut};
use bevy_ecs::world::World;
use demeanor::Owner;
use demeanor::definition::Definition;

use super::file::DefinitionFile;
use super::loaded::LoadedDefinitions;
use super::machine::{Begun, DefinedMachine, Waiting};
#[cfg(feature = "serialize")]
use crate::book::SavedBy;
use crate::machine::Machine;
use crate::owner::EntityOwner;
use crate::reach::reach;

/// Returns whether a machine may be ready to start.
pub(super) fn is_anybody_to_begin<T: Owner>(
    waiting: Res<Waiting<T>>,
    assets: Res<Assets<DefinitionFile>>,
    loaded: Res<LoadedDefinitions<T>>,
) -> bool {
    let has_news = assets.is_changed() || loaded.is_changed();
    !waiting.new.is_empty() || !waiting.entities.is_empty() && has_news
}

/// Starts the machines whose files have been loaded.
pub(super) fn begin<T: EntityOwner>(
    mut waiting: ResMut<Waiting<T>>,
    assets: Res<Assets<DefinitionFile>>,
    mut loaded: ResMut<LoadedDefinitions<T>>,
    entities: Query<(&DefinedMachine<T>, Has<Machine<T>>, Option<&Begun<T>>), Allow<Disabled>>,
    mut commands: Commands,
    #[cfg(feature = "serialize")] book: Option<Res<SavedBy<T>>>,
) {
    // Otherwise the systems that react to changes of this resource would run in each frame.
    let loaded = loaded.bypass_change_detection();
    let new = mem::take(&mut waiting.new);
    waiting.entities.extend(new);
    let (mut machines, mut adopted, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
    waiting.entities.retain(|&entity| {
        let Ok((defined, has_machine, begun)) = entities.get(entity) else {
            // A component of the game disables the entity.
            hidden.push(entity);
            return false;
        };
        let id = defined.file().id();
        let Some(file) = assets.get(id) else { return true };
        let Some(definition) = loaded.make(id, file) else { return true };
        match begun {
            _ if !has_machine => {
                machines.push((entity, (Machine::from(definition.machine()), Begun(definition.clone()))));
            }
            None => adopted.push((entity, Begun(definition.clone()))),
            Some(Begun(before)) if before == definition => {}
            Some(_) => exchange(entity, definition.clone(), &mut commands),
        }
        false
    });
    waiting.new.extend(hidden);
    #[cfg(feature = "serialize")]
    if let Some(book) = book {
        loaded.enter_in(&book);
    }
    // Inserted together, because many entities may wait for one file.
    if !machines.is_empty() {
        commands.try_insert_batch(machines);
    }
    if !adopted.is_empty() {
        commands.try_insert_batch(adopted);
    }
}

/// Makes the machine leave its states, and replaces it by another one.
fn exchange<T: EntityOwner>(entity: Entity, definition: Definition<T>, commands: &mut Commands) {
    commands.queue(move |world: &mut World| -> bevy_ecs::error::Result {
        // A command would start the machine first.
        if world.get::<Machine<T>>(entity).is_some_and(|machine| machine.is_started()) {
            reach::<T>(world, entity, "an exchange of its definition", |machine, owner, cx| machine.stop(owner, cx))?;
        }
        // An observer may have done anything, such as despawn the entity.
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.insert((Machine::from(definition.machine()), Begun(definition)));
        }
        Ok(())
    });
}
