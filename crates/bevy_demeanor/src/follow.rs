//! What follows the machines' steps: markers, triggers, events and messages, for those who have asked.

use core::any::{Any, TypeId};
use core::marker::PhantomData;
use core::mem;
use std::sync::Arc;
use std::vec;

use bevy_ecs::entity::Entity;
use bevy_ecs::message::Messages;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use demeanor::{Owner, State, StateRef, Step};

use crate::event::{Entered, Exited, StateChanged};
use crate::marker::{Marker, mark};
use crate::queue::Followed;

/// Who wants to know of the steps of machines of `T`.
#[derive(Resource)]
pub(crate) struct Followers<T: Owner> {
    pub(crate) markers: Vec<Marker<T>>,
    /// Writes the name of the current state on the entity.
    pub(crate) name: Option<fn(&mut World, Entity)>,
    pub(crate) triggers: Vec<Trigger>,
    pub(crate) wants_events: bool,
    pub(crate) wants_messages: bool,
}

/// Who wants to know of some states.
#[derive(Clone)]
pub(crate) struct Trigger {
    of: Which,
    entered: fn(&mut World, Entity),
    exited: fn(&mut World, Entity),
}

/// Which states are meant.
#[derive(Clone)]
enum Which {
    /// Those of a type.
    Type(TypeId),
    /// Those of a name.
    Name(Arc<str>),
}

impl Which {
    fn is<T: Owner>(&self, state: &StateRef<T>) -> bool {
        match self {
            Self::Type(id) => Any::type_id(state.as_any()) == *id,
            Self::Name(name) => state.name() == **name,
        }
    }
}

impl Trigger {
    pub(crate) fn of<T: Owner, S: State<T>>() -> Self {
        Self::told::<T, S>(Which::Type(TypeId::of::<S>()))
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

impl<T: Owner> Followers<T> {
    /// Whether anything has to be written down.
    pub(crate) fn is_anybody(&self) -> bool {
        self.is_told() || self.is_marked()
    }

    /// Whether anybody is told of steps.
    fn is_told(&self) -> bool {
        self.wants_events || self.wants_messages || !self.triggers.is_empty()
    }

    /// Whether entities carry anything that tells of their state.
    pub(crate) fn is_marked(&self) -> bool {
        self.name.is_some() || !self.markers.is_empty()
    }

    /// Makes what an entity carries agree with its machine.
    fn mark(&self, world: &mut World, entity: Entity, is_in: &mut Vec<bool>) {
        mark(world, entity, &self.markers, is_in);
        if let Some(name) = self.name {
            name(world, entity);
        }
    }
}

impl<T: Owner> Default for Followers<T> {
    fn default() -> Self {
        Self { markers: Vec::new(), name: None, triggers: Vec::new(), wants_events: false, wants_messages: false }
    }
}

impl<T: Owner> Clone for Followers<T> {
    fn clone(&self) -> Self {
        Self { markers: self.markers.clone(), triggers: self.triggers.clone(), ..*self }
    }
}

/// The steps of many machines, as they ran.
pub(crate) struct Log<T: Owner> {
    /// For each entity that made any, where its steps end.
    ends: Vec<(Entity, usize)>,
    steps: Vec<Step<T>>,
    /// Whose machine is running.
    visited: Entity,
}

impl<T: Owner> Log<T> {
    /// Opens the log at an entity, whose machine writes its steps into what is returned.
    pub(crate) fn visit(&mut self, entity: Entity) -> &mut Vec<Step<T>> {
        self.visited = entity;
        &mut self.steps
    }

    /// Closes the log at the entity visited.
    pub(crate) fn close(&mut self) {
        let begin = self.ends.last().map_or(0, |(_, end)| *end);
        if self.steps.len() > begin {
            self.ends.push((self.visited, self.steps.len()));
        }
    }

    /// Puts what another log holds behind what this one does, and empties that one.
    pub(crate) fn append(&mut self, other: &mut Self) {
        let begin = self.steps.len();
        self.steps.append(&mut other.steps);
        self.ends.extend(other.ends.drain(..).map(|(entity, end)| (entity, begin + end)));
    }

    /// Takes what the log holds; `None` when that is nothing.
    pub(crate) fn take(&mut self) -> Option<Self> {
        (!self.ends.is_empty()).then(|| mem::take(self))
    }

    /// How many machines made steps.
    pub(crate) fn machines(&self) -> usize {
        self.ends.len()
    }

    /// Returns what the log's steps lead to, for the queue.
    pub(crate) fn followed(self) -> Box<dyn Followed> {
        Box::new(Steps {
            followers: None,
            ends: self.ends,
            marked: 0,
            is_in: Vec::new(),
            begin: 0,
            rest: self.steps.into_iter(),
            told: 0,
        })
    }
}

/// What many machines' steps lead to: first all markers of their entities, so that they are true for whoever is told next; then
/// the events and messages, in the order in which things happened. Nothing is triggered on an entity that is no more.
struct Steps<T: Owner> {
    /// Taken from the world at the beginning.
    followers: Option<Followers<T>>,
    ends: Vec<(Entity, usize)>,
    /// How many of the entities have been marked.
    marked: usize,
    /// Room for [`mark`].
    is_in: Vec<bool>,
    /// At which of the entities the telling is.
    begin: usize,
    rest: vec::IntoIter<Step<T>>,
    /// How many of the steps have been told.
    told: usize,
}

impl<T: Owner> Followed for Steps<T> {
    fn go_on(&mut self, world: &mut World) -> bool {
        if self.followers.is_none() {
            self.followers = world.get_resource::<Followers<T>>().cloned();
        }
        let Some(followers) = &self.followers else { return false };
        if followers.is_marked() && self.marked < self.ends.len() {
            let (entity, _) = self.ends[self.marked];
            self.marked += 1;
            followers.mark(world, entity, &mut self.is_in);
            return true;
        }
        if !followers.is_told() {
            return false;
        }
        let Some(step) = self.rest.next() else { return false };
        while self.ends[self.begin].1 <= self.told {
            self.begin += 1;
        }
        self.told += 1;
        followers.tell(step, self.ends[self.begin].0, world);
        true
    }
}

/// A machine that was inserted, replaced or removed, with whom its entity's markers are to agree.
pub(crate) struct Marked<T: Owner> {
    entity: Entity,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> Marked<T> {
    pub(crate) fn new(entity: Entity) -> Self {
        Self { entity, of: PhantomData }
    }
}

impl<T: Owner> Followed for Marked<T> {
    fn go_on(&mut self, world: &mut World) -> bool {
        if let Some(followers) = world.get_resource::<Followers<T>>().cloned() {
            followers.mark(world, self.entity, &mut Vec::new());
        }
        false
    }
}

impl<T: Owner> Default for Log<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), steps: Vec::new(), visited: Entity::PLACEHOLDER }
    }
}

impl<T: Owner> Followers<T> {
    fn tell(&self, step: Step<T>, entity: Entity, world: &mut World) {
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

    fn triggers_of(&self, state: &StateRef<T>) -> impl Iterator<Item = &Trigger> {
        self.triggers.iter().filter(|trigger| trigger.of.is(state))
    }
}
