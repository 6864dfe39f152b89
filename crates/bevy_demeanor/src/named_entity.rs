//! An entity in the log.

use core::fmt;

use bevy_ecs::entity::Entity;
use bevy_ecs::name::Name;
use bevy_ecs::world::World;

/// An entity in the log: `entity 4v0 (Anna)`.
pub(crate) struct NamedEntity<'a> {
    pub(crate) entity: Entity,
    pub(crate) name: Option<&'a Name>,
}

impl<'a> NamedEntity<'a> {
    pub(crate) fn of(entity: Entity, world: &'a World) -> Self {
        Self { entity, name: world.get::<Name>(entity) }
    }
}

impl fmt::Display for NamedEntity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {} ({})", self.entity, self.name.map_or("unnamed", Name::as_str))
    }
}
