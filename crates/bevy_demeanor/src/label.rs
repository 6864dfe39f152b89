//! Which entity's callback runs on this thread, for the log: the lines of a machine itself know its owner's value, not its entity.

use core::any::type_name;
use core::cell::Cell;
use core::fmt;

use bevy_ecs::entity::Entity;
use disqualified::ShortName;

thread_local! {
    // Without a destructor, so that a visit is one store.
    static VISITED: Cell<Entity> = const { Cell::new(Entity::PLACEHOLDER) };
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
