//! What is told of a machine's steps: triggers, events and messages.

use core::any::{Any, TypeId};
use std::sync::Arc;

use bevy_ecs::entity::Entity;
use bevy_ecs::message::Messages;
use bevy_ecs::world::World;
use demeanor::{Owner, State, StateRef, Step};

use crate::event::{Entered, Exited, StateChanged};

/// Who is told of steps.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) triggers: Arc<[Trigger]>,
    pub(crate) wants_events: bool,
    pub(crate) wants_messages: bool,
}

/// Who wants to know of states of one type.
#[derive(Clone, Copy)]
pub(crate) struct Trigger {
    of: TypeId,
    entered: fn(&mut World, Entity),
    exited: fn(&mut World, Entity),
}

impl Trigger {
    pub(crate) fn of<T: Owner, S: State<T>>() -> Self {
        Self {
            of: TypeId::of::<S>(),
            entered: |world, entity| world.trigger(Entered::<S>::new::<T>(entity)),
            exited: |world, entity| world.trigger(Exited::<S>::new::<T>(entity)),
        }
    }
}

impl Told {
    /// Whether anybody is told of anything.
    pub(crate) fn is_anybody(&self) -> bool {
        self.wants_events || self.wants_messages || !self.triggers.is_empty()
    }

    /// Tells of a step.
    pub(crate) fn tell<T: Owner>(&self, step: Step<T>, entity: Entity, world: &mut World) {
        match step {
            Step::Exited(state) => {
                if let Some(trigger) = self.trigger_of(&state, entity, world) {
                    (trigger.exited)(world, entity);
                    world.flush();
                }
            }
            Step::Entered(state) => {
                if let Some(trigger) = self.trigger_of(&state, entity, world) {
                    (trigger.entered)(world, entity);
                    world.flush();
                }
            }
            Step::Changed { from, to, cause, .. } => {
                let change = StateChanged::new(entity, from, to, cause);
                if self.wants_messages
                    && let Some(mut messages) = world.get_resource_mut::<Messages<StateChanged<T>>>()
                {
                    messages.write(change.clone());
                }
                if self.wants_events && world.get_entity(entity).is_ok() {
                    world.trigger(change);
                    world.flush();
                }
            }
            // The core may come to write down more.
            _ => {}
        }
    }

    fn trigger_of<T: Owner>(&self, state: &StateRef<T>, entity: Entity, world: &World) -> Option<&Trigger> {
        let id = Any::type_id(state.as_any());
        let trigger = self.triggers.iter().find(|trigger| trigger.of == id)?;
        world.get_entity(entity).is_ok().then_some(trigger)
    }
}
