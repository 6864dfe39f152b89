//! Logs, once, which components are missing so that machines cannot run.

use core::any::type_name;
use core::iter;
use core::marker::PhantomData;

use bevy_ecs::archetype::Archetypes;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::{ComponentId, Components};
use bevy_ecs::entity::{Entities, Entity, EntityHashSet};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::name::Name;
use bevy_ecs::query::{Added, Allow, QueryData, QueryState, With, Without};
use bevy_ecs::system::{Local, Query, Res};
use bevy_ecs::world::{FromWorld, World};
use demeanor::{NextWake, Owner};
use log::warn;

#[cfg(feature = "asset")]
use crate::asset::machine::DefinedMachine;
use crate::clock::ClockOf;
use crate::machine::Machine;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;
use crate::waiting::NextLook;

/// The entities that wait for the file of their machine.
#[cfg(feature = "asset")]
type NotWaiting<T> = Without<DefinedMachine<T>>;
/// Without the feature `asset`, there are no files.
#[cfg(not(feature = "asset"))]
type NotWaiting<T> = Without<Machine<T>>;

/// The required components of the body of `T`.
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
    /// Returns the text of the components that an entity lacks. It names the whole body if Bevy does not know the names of
    /// components, or if one of several is enough.
    pub(crate) fn lacking(&self, has: &dyn Fn(ComponentId) -> bool, components: &Components) -> String {
        lacking(&self.parts, (type_name::<T>(), type_name::<T::Body>()), has, components)
    }
}

fn lacking(
    parts: &[ComponentId],
    (owner, body): (&str, &str),
    has: &dyn Fn(ComponentId) -> bool,
    components: &Components,
) -> String {
    let names: Option<Vec<String>> = parts
        .iter()
        .filter(|part| !has(**part))
        .map(|part| {
            let name = components.get_name(*part)?.to_string();
            (!name.starts_with('<')).then_some(name)
        })
        .collect();
    match names.as_deref() {
        None | Some([]) => format!("lacks a component that the states of {owner} are given, of {body}"),
        Some([name]) => format!("lacks a component that the states of {owner} are given, {name}"),
        Some(names) => format!("lacks components that the states of {owner} are given, {}", names.join(" and ")),
    }
}

/// Entities for which a warning has been logged.
#[derive(Default)]
pub(crate) struct Warned(EntityHashSet);

impl Warned {
    /// Calls `forget` for the entities that `lacks` no longer finds, and removes them.
    fn forget_mended(&mut self, lacks: &dyn Fn(Entity) -> bool, forget: &mut dyn FnMut(Entity)) {
        self.0.retain(|entity| {
            let is_lacking = lacks(*entity);
            if !is_lacking {
                forget(*entity);
            }
            is_lacking
        });
    }
}

fn warn_of_orphan(warned: &mut Warned, orphan: &NamedEntity<'_>, owner: &str) {
    if warned.0.insert(orphan.entity) {
        warn!("{orphan} has a Machine<{owner}>, but no {owner}: its machine does nothing");
    }
}

/// `next` returns the next of the idlers. An iterator as a trait object would be more to compile for each type of owner.
fn warn_of_idlers<'n>(next: &mut dyn FnMut() -> Option<(Entity, Option<&'n Name>)>, owner: &str) {
    let idlers: Vec<_> = iter::from_fn(next).map(|(entity, name)| NamedEntity { entity, name }).collect();
    // The order of the query is the order of the archetypes, so the smallest index is chosen.
    let Some(first) = idlers.iter().min_by_key(|idler| idler.entity.index_u32()) else { return };
    let others = match idlers.len() {
        1 => String::new(),
        count => format!(", as {} others", count - 1),
    };
    warn!("{first} has a {owner}, but no Machine<{owner}>{others}: it has no state");
}

/// How many passes lie between two searches for a machine that waits although its owner has no clock. A search visits all
/// machines.
const BETWEEN_LOOKS: u32 = 64;

/// Returns whether a machine waits for a time.
fn waits<T: Owner>(machine: &Machine<T>) -> bool {
    // A change in the next tick is always due.
    let is_timer = |due: Option<f64>| due.is_some_and(|due| due > f64::NEG_INFINITY);
    matches!(machine.next_wake(), NextWake::At(due) if is_timer(Some(due)))
        || machine.pending().iter().any(|pending| is_timer(pending.due()))
}

/// Logs a warning for each entity that has a machine but no owner, or not all components of the owner's body. The warning is
/// repeated only after the entity was complete. It also warns of new entities that have an owner but no machine, and of machines that
/// wait although their owner has no clock.
///
/// Machines whose entities are complete again are checked in the next pass: no pass has noticed by their change ticks whether
/// they were written to.
#[expect(clippy::too_many_arguments, reason = "it is a system")]
pub(crate) fn warn_of_what_is_missing<T: EntityOwner>(
    (orphans, owners, disabled): (
        Query<(Entity, Option<&Name>), (With<Machine<T>>, Without<T>)>,
        Query<(Entity, Option<&Name>), (With<Machine<T>>, With<T>)>,
        Query<(), (With<Machine<T>>, With<Disabled>)>,
    ),
    complete: Query<<T::Body as QueryData>::ReadOnly, (With<Machine<T>>, With<T>)>,
    idlers: Query<(Entity, Option<&Name>), (Added<T>, Without<Machine<T>>, NotWaiting<T>)>,
    mut next_looks: Query<&mut NextLook<T>, Allow<Disabled>>,
    mut warned_orphans: Local<Warned>,
    mut warned_owners: Local<Warned>,
    parts: Local<BodyParts<T>>,
    (entities, archetypes, components): (&Entities, &Archetypes, &Components),
    (machines, clock_of, mut passes): (Query<&Machine<T>, With<T>>, Res<ClockOf<T>>, Local<u32>),
) {
    let owner = type_name::<T>();
    if clock_of.is_there() == Some(false) && !clock_of.has_warned() {
        if *passes % BETWEEN_LOOKS == 0 && machines.iter().any(waits) {
            clock_of.warn_of_no_now();
        }
        *passes = passes.wrapping_add(1);
    }
    let mut forget = |entity| {
        if let Ok(mut next_look) = next_looks.get_mut(entity) {
            next_look.bypass_change_detection().forget();
        }
    };
    // Nothing is known of a disabled entity until it is enabled again.
    let lacks = |entity| disabled.contains(entity) || orphans.contains(entity);
    warned_orphans.forget_mended(&lacks, &mut forget);
    for (entity, name) in &orphans {
        warn_of_orphan(&mut warned_orphans, &NamedEntity { entity, name }, owner);
    }
    let lacks = |entity| disabled.contains(entity) || owners.contains(entity) && !complete.contains(entity);
    warned_owners.forget_mended(&lacks, &mut forget);
    // As long as all entities are complete, this does not visit each of them.
    if complete.iter().size_hint().1 != owners.iter().size_hint().1 {
        for (entity, name) in &owners {
            if !complete.contains(entity) && warned_owners.0.insert(entity) {
                let location = entities.get_spawned(entity).ok();
                let archetype = location.and_then(|location| archetypes.get(location.archetype_id));
                let has = |part| archetype.is_some_and(|archetype| archetype.contains(part));
                let lacks = parts.lacking(&has, components);
                let entity = NamedEntity { entity, name };
                warn!("{entity} {lacks}: its machine does nothing");
            }
        }
    }
    let mut idlers = idlers.iter();
    warn_of_idlers(&mut || idlers.next(), owner);
}
