//! Which entity's callback runs on this thread, for the log: the lines of a machine itself know its owner's value, not its entity.

use core::any::type_name;
use core::cell::Cell;
use core::fmt;

use bevy_ecs::entity::Entity;
use disqualified::ShortName;
use log::{LevelFilter, max_level};

thread_local! {
    // Without a destructor, so that a visit is one store.
    static VISITED: Cell<Entity> = const { Cell::new(Entity::PLACEHOLDER) };
}

/// Whether anything that a machine logs is looked at. Visits are for nothing else, and were 5 % of a pass.
pub(crate) fn is_wanted() -> bool {
    max_level() >= LevelFilter::Warn
}

/// From now on, callbacks of this entity run on this thread.
#[inline]
pub(crate) fn visit(entity: Entity) {
    VISITED.set(entity);
}

/// From now on, callbacks of no entity do.
pub(crate) fn leave() {
    VISITED.set(Entity::PLACEHOLDER);
}

/// Writes `Guard 4v0`.
pub(crate) fn write<T>(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", ShortName(type_name::<T>()))?;
    let entity = VISITED.get();
    if entity == Entity::PLACEHOLDER { Ok(()) } else { write!(f, " {entity}") }
}
