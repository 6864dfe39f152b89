//! What is missing for machines to do anything, said once in the log.

use core::any::type_name;
use core::marker::PhantomData;

use bevy_ecs::archetype::Archetypes;
use bevy_ecs::component::{ComponentId, Components};
use bevy_ecs::entity::{Entities, Entity, EntityHashSet};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::name::Name;
use bevy_ecs::query::{Added, Allow, QueryData, QueryState, With, Without};
use bevy_ecs::system::{Local, Query};
use bevy_ecs::world::{FromWorld, World};
use log::warn;

#[cfg(feature = "asset")]
use crate::asset::machine::DefinedMachine;
use crate::machine::Machine;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;
use crate::waiting::{NextLook, forget};

/// Who waits for the file that the machine is from.
#[cfg(feature = "asset")]
type NotWaiting<T> = Without<DefinedMachine<T>>;
/// There are no files.
#[cfg(not(feature = "asset"))]
type NotWaiting<T> = Without<Machine<T>>;

/// The components that the states of `T` are given of their entity, and that must be there.
pub(crate) struct BodyParts<T> {
    parts: Vec<ComponentId>,
    of: PhantomData<fn() -> T>,
}

impl<T: EntityOwner> FromWorld for BodyParts<T> {
    fn from_world(world: &mut World) -> Self {
        let body = QueryState::<T::Body>::new(world);
        Self { parts: body.component_access().required().iter().collect(), of: PhantomData }
    }
}

impl<T: EntityOwner> BodyParts<T> {
    /// Says what an entity lacks; the whole body, where Bevy does not tell the names of components, or one of several is enough.
    pub(crate) fn lacking(&self, has: impl Fn(ComponentId) -> bool, components: &Components) -> String {
        let lacking = self.parts.iter().filter(|part| !has(**part));
        let names: Option<Vec<String>> = lacking
            .map(|part| {
                let name = components.get_name(*part)?.to_string();
                (!name.starts_with('<')).then_some(name)
            })
            .collect();
        let owner = type_name::<T>();
        match names.as_deref() {
            None | Some([]) => {
                format!("lacks a component that the states of {owner} are given, of {}", type_name::<T::Body>())
            }
            Some([name]) => format!("lacks a component that the states of {owner} are given, {name}"),
            Some(names) => format!("lacks components that the states of {owner} are given, {}", names.join(" and ")),
        }
    }
}

/// Logs a warning for each entity that has a machine and no owner for it, or not all that the owner's states are given; once until
/// it has it. And for the entities that have come with an owner and without a machine.
///
/// Machines that have all their components again are asked again: meanwhile, no pass has learned from their change ticks whether they were written to.
#[expect(clippy::too_many_arguments, reason = "it is a system")]
pub(crate) fn warn_of_what_is_missing<T: EntityOwner>(
    orphans: Query<(Entity, Option<&Name>), (With<Machine<T>>, Without<T>)>,
    owners: Query<(Entity, Option<&Name>), (With<Machine<T>>, With<T>)>,
    complete: Query<<T::Body as QueryData>::ReadOnly, (With<Machine<T>>, With<T>)>,
    idlers: Query<(Entity, Option<&Name>), (Added<T>, Without<Machine<T>>, NotWaiting<T>)>,
    mut next_looks: Query<&mut NextLook<T>, Allow<Disabled>>,
    mut warned_orphans: Local<EntityHashSet>,
    mut warned_owners: Local<EntityHashSet>,
    parts: Local<BodyParts<T>>,
    (entities, archetypes, components): (&Entities, &Archetypes, &Components),
) {
    let owner = type_name::<T>();
    if !warned_orphans.is_empty() {
        warned_orphans.retain(|entity| {
            let is_orphan = orphans.contains(*entity);
            if !is_orphan {
                forget(*entity, &mut next_looks);
            }
            is_orphan
        });
    }
    for (entity, name) in &orphans {
        if warned_orphans.insert(entity) {
            let entity = NamedEntity { entity, name };
            warn!("{entity} has a Machine<{owner}>, but no {owner}: its machine does nothing");
        }
    }
    if !warned_owners.is_empty() {
        warned_owners.retain(|entity| {
            let is_incomplete = owners.contains(*entity) && !complete.contains(*entity);
            if !is_incomplete {
                forget(*entity, &mut next_looks);
            }
            is_incomplete
        });
    }
    // Without looking at each entity, as long as all have everything.
    if complete.iter().size_hint().1 != owners.iter().size_hint().1 {
        for (entity, name) in &owners {
            if !complete.contains(entity) && warned_owners.insert(entity) {
                let location = entities.get_spawned(entity).ok();
                let archetype = location.and_then(|location| archetypes.get(location.archetype_id));
                let has = |part| archetype.is_some_and(|archetype| archetype.contains(part));
                let lacks = parts.lacking(has, components);
                let entity = NamedEntity { entity, name };
                warn!("{entity} {lacks}: its machine does nothing");
            }
        }
    }
    // Bevy's order is that of the archetypes.
    if let Some((entity, name)) = idlers.iter().min_by_key(|(entity, _)| entity.index_u32()) {
        let entity = NamedEntity { entity, name };
        let others = match idlers.iter().count() {
            1 => String::new(),
            count => format!(", as {} others", count - 1),
        };
        warn!("{entity} has a {owner}, but no Machine<{owner}>{others}: it has no state");
    }
}
