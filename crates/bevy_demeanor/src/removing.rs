//! The marker that the plugin itself is removing on this thread: its hook does not restore it.

use core::cell::Cell;

use bevy_ecs::component::ComponentId;
use bevy_ecs::entity::Entity;

thread_local! {
    /// The entity, and the marker that is being removed because its machine has left the state; `None` for all markers of the
    /// entity.
    static REMOVING: Cell<(Entity, Option<ComponentId>)> = const { Cell::new((Entity::PLACEHOLDER, None)) };
}

/// Returns whether a marker is being removed because its entity's machine has left the state.
pub(crate) fn is_removing(entity: Entity, marker: ComponentId) -> bool {
    let (of, removing) = REMOVING.get();
    of == entity && removing.is_none_or(|removing| removing == marker)
}

/// Notes a removal until it is dropped.
pub(crate) struct Removing((Entity, Option<ComponentId>));

impl Removing {
    pub(crate) fn new(entity: Entity, marker: Option<ComponentId>) -> Self {
        Self(REMOVING.replace((entity, marker)))
    }
}

impl Drop for Removing {
    fn drop(&mut self) {
        REMOVING.set(self.0);
    }
}
