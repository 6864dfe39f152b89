//! Which marker the plugin itself is removing on this thread: its hook does not put it back.

use core::cell::Cell;

use bevy_ecs::component::ComponentId;
use bevy_ecs::entity::Entity;

thread_local! {
    /// Whose marker is being removed because its machine is no longer in the state; all of its markers, if it is none.
    static REMOVING: Cell<(Entity, Option<ComponentId>)> = const { Cell::new((Entity::PLACEHOLDER, None)) };
}

/// Whether a marker goes because its entity's machine is no longer in the state.
pub(crate) fn is_removing(entity: Entity, marker: ComponentId) -> bool {
    let (of, removing) = REMOVING.get();
    of == entity && removing.is_none_or(|removing| removing == marker)
}

/// Notes what is being removed, until it is dropped.
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
