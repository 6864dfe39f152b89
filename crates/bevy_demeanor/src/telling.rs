//! Notifies triggers, observers and message readers of a machine's steps.

use std::sync::Arc;

use bevy_ecs::entity::Entity;
use bevy_ecs::message::Messages;
use bevy_ecs::world::World;
use demeanor::{Owner, State, StateRef, Step};

use crate::event::{Entered, Exited, StateChanged};
use crate::journal;
use crate::states_meant::Which;

/// The receivers of steps.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) triggers: Arc<[Trigger]>,
    pub(crate) wants_events: bool,
    pub(crate) wants_messages: bool,
    pub(crate) has_journal: bool,
}

/// The trigger for some states.
#[derive(Clone)]
pub(crate) struct Trigger {
    of: Which,
    entered: fn(&mut World, Entity),
    exited: fn(&mut World, Entity),
}

impl Trigger {
    pub(crate) fn of<T: Owner, S: State<T>>() -> Self {
        Self::told::<T, S>(Which::of::<T, S>())
    }

    pub(crate) fn named<T: Owner, S: 'static>(name: &str) -> Self {
        Self::told::<T, S>(Which::Name(name.into()))
    }

    fn told<T: Owner, S: 'static>(of: Which) -> Self {
        Self {
            of,
            entered: |world, entity| world.trigger(Entered::<S>::new::<T>(entity)),
            exited: |world, entity| world.trigger(Exited::<S>::new::<T>(entity)),
        }
    }

    fn trigger(event: fn(&mut World, Entity), entity: Entity, world: &mut World) {
        if world.get_entity(entity).is_ok() {
            event(world, entity);
            world.flush();
        }
    }
}

impl Told {
    /// Returns whether any observer or reader is notified.
    pub(crate) fn is_anybody(&self) -> bool {
        self.wants_events || self.wants_messages || self.has_journal || !self.triggers.is_empty()
    }

    /// Notifies the receivers of a step.
    pub(crate) fn tell<T: Owner>(&self, step: Step<T>, entity: Entity, world: &mut World) {
        if self.has_journal {
            journal::note(&step, entity, world);
        }
        match step {
            Step::Exited(state) => {
                for trigger in self.triggers_of(&state) {
                    Trigger::trigger(trigger.exited, entity, world);
                }
            }
            Step::Entered(state) => {
                for trigger in self.triggers_of(&state) {
                    Trigger::trigger(trigger.entered, entity, world);
                }
            }
            Step::Changed { from, to, cause, within, .. } => {
                let change = StateChanged { entity, from, to, cause, within };
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
            // Other steps, which the library may record in the future.
            _ => {}
        }
    }

    fn triggers_of<T: Owner>(&self, state: &StateRef<T>) -> impl Iterator<Item = &Trigger> {
        self.triggers.iter().filter(|trigger| trigger.of.is(state))
    }
}
