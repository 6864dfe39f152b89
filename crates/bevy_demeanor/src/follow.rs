//! Followers, which are updated after the machines: indexes, markers, triggers, events and messages, as the plugin's settings
//! ask for.

use core::marker::PhantomData;
use core::mem;
use std::sync::{Arc, Mutex};
use std::vec;

use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use demeanor::{Owner, Step};

use crate::marking::Markers;
use crate::queue::Followed;
use crate::telling::Told;

/// The followers of the machines of `T`.
#[derive(Resource)]
pub(crate) struct Followers<T: Owner> {
    pub(crate) has_indexes: bool,
    pub(crate) has_markers: bool,
    /// Writes the name of the current state to the entity.
    pub(crate) name: Option<fn(&mut World, Entity)>,
    pub(crate) told: Told,
    pub(crate) spare: Spare,
    pub(crate) of: PhantomData<fn() -> T>,
}

/// Reusable memory for the entities of a log.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<(Entity, usize)>>>);

impl Spare {
    fn take(&self) -> Vec<(Entity, usize)> {
        self.0.lock().map_or_else(|_| Vec::new(), |mut room| mem::take(&mut *room))
    }

    fn put_back(&self, mut room: Vec<(Entity, usize)>) {
        room.clear();
        if let Ok(mut kept) = self.0.lock()
            && kept.capacity() < room.capacity()
        {
            *kept = room;
        }
    }
}

impl<T: Owner> Followers<T> {
    /// Returns whether there are any followers.
    pub(crate) fn is_anybody(&self) -> bool {
        self.has_indexes || self.is_queued()
    }

    /// Returns whether any observer or reader is notified of steps.
    pub(crate) fn is_told(&self) -> bool {
        self.told.is_anybody()
    }

    /// Returns whether entities have components that follow their state.
    pub(crate) fn is_marked(&self) -> bool {
        self.has_markers || self.name.is_some()
    }

    /// Returns whether any follower uses the queue.
    pub(crate) fn is_queued(&self) -> bool {
        self.is_told() || self.is_marked()
    }

    /// Updates the components of an entity that follow its machine.
    fn mark(&self, world: &mut World, entity: Entity, markers: Option<&mut Markers<T>>) {
        if let Some(markers) = markers {
            markers.mark(world, entity);
        }
        if let Some(name) = self.name {
            name(world, entity);
        }
    }
}

impl<T: Owner> Clone for Followers<T> {
    fn clone(&self) -> Self {
        Self { told: self.told.clone(), spare: self.spare.clone(), ..*self }
    }
}

/// The machines that have changed, in order, and their steps, if steps are recorded.
pub(crate) struct Log<T: Owner> {
    /// Each entity whose machine has changed, and the end of its steps.
    ends: Vec<(Entity, usize)>,
    steps: Vec<Step<T>>,
    wants_steps: bool,
    /// The entity whose machine is running.
    visited: Entity,
}

impl<T: Owner> Log<T> {
    /// Returns whether steps are recorded.
    pub(crate) fn wants_steps(&self) -> bool {
        self.wants_steps
    }

    /// Starts the log of a pass or a command.
    pub(crate) fn open(&mut self, wants_steps: bool) {
        self.close_if_open();
        self.wants_steps = wants_steps;
    }

    /// Ends a visit that was interrupted by a panic: the machine may have changed.
    pub(crate) fn close_if_open(&mut self) {
        if self.visited != Entity::PLACEHOLDER {
            self.close(true);
        }
    }

    /// Starts the visit to an entity. Its machine writes its steps to the returned vector.
    #[inline]
    pub(crate) fn visit(&mut self, entity: Entity) -> Option<&mut Vec<Step<T>>> {
        self.visited = entity;
        self.wants_steps.then_some(&mut self.steps)
    }

    /// Ends the visit to a machine that may have changed.
    #[inline]
    pub(crate) fn close(&mut self, has_changed: bool) {
        if has_changed || self.steps.len() > self.ends.last().map_or(0, |(_, end)| *end) {
            self.ends.push((self.visited, self.steps.len()));
        }
        self.visited = Entity::PLACEHOLDER;
    }

    /// Moves the entries of another log to the end of this one.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.close_if_open();
        other.close_if_open();
        let begin = self.steps.len();
        self.steps.append(&mut other.steps);
        self.ends.extend(other.ends.drain(..).map(|(entity, end)| (entity, begin + end)));
    }

    /// Takes the entries of the log; returns `None` if there are none.
    pub(crate) fn take(&mut self) -> Option<Self> {
        (!self.ends.is_empty()).then(|| mem::take(self))
    }

    /// Takes the entries of a pass, as [`take`](Self::take) does. The next pass reuses the memory of the previous one.
    pub(crate) fn take_of_pass(&mut self, spare: &Spare) -> Option<Self> {
        let taken = self.take()?;
        self.ends = spare.take();
        Some(taken)
    }

    /// Returns the memory of the entities for reuse.
    pub(crate) fn give_back(self, spare: &Spare) {
        spare.put_back(self.ends);
    }

    /// Returns the entities whose machines have changed.
    pub(crate) fn entities(&self) -> impl Iterator<Item = Entity> {
        self.ends.iter().map(|(entity, _)| *entity)
    }

    /// Returns how many machines have changed.
    pub(crate) fn machines(&self) -> usize {
        self.ends.len()
    }

    /// Returns the consequences of the changes, for the queue.
    pub(crate) fn followed(self) -> Box<dyn Followed> {
        Box::new(Steps { followers: None, ends: self.ends, marked: 0, begin: 0, rest: self.steps.into_iter(), told: 0 })
    }
}

impl<T: Owner> Default for Log<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), steps: Vec::new(), wants_steps: false, visited: Entity::PLACEHOLDER }
    }
}

/// The consequences of the steps of many machines. First all markers of their entities are updated, so that they are right for
/// every observer that runs next; then the events and messages follow, in the order of the steps. Nothing is triggered on an
/// entity that is gone.
struct Steps<T: Owner> {
    /// Taken from the world when this starts.
    followers: Option<Followers<T>>,
    ends: Vec<(Entity, usize)>,
    /// Number of entities whose markers have been updated.
    marked: usize,
    /// Index of the entity whose steps are being reported.
    begin: usize,
    rest: vec::IntoIter<Step<T>>,
    /// Number of steps that have been reported.
    told: usize,
}

impl<T: Owner> Steps<T> {
    /// Updates the markers of the remaining entities. If an observer panics, the next call continues after that entity.
    fn mark(&mut self, followers: &Followers<T>, world: &mut World) {
        let mut markers = if followers.has_markers { Markers::<T>::take(world) } else { None };
        match &mut markers {
            Some(markers) if followers.name.is_none() && !markers.is_observed(world) => {
                let entities = &self.ends[mem::replace(&mut self.marked, self.ends.len())..];
                markers.mark_all(world, entities.iter().map(|(entity, _)| *entity));
            }
            _ => {
                while let Some((entity, _)) = self.ends.get(self.marked) {
                    self.marked += 1;
                    followers.mark(world, *entity, markers.as_mut());
                }
            }
        }
        if let Some(markers) = markers {
            markers.put_back(world);
        }
    }
}

impl<T: Owner> Drop for Steps<T> {
    fn drop(&mut self) {
        if let Some(followers) = &self.followers {
            followers.spare.put_back(mem::take(&mut self.ends));
        }
    }
}

impl<T: Owner> Followed for Steps<T> {
    fn go_on(&mut self, world: &mut World) -> bool {
        if self.followers.is_none() {
            self.followers = world.get_resource::<Followers<T>>().cloned();
        }
        if self.marked < self.ends.len()
            && let Some(followers) = self.followers.take_if(|followers| followers.is_marked())
        {
            self.mark(&followers, world);
            self.followers = Some(followers);
            return true;
        }
        let Some(followers) = &self.followers else { return false };
        if !followers.is_told() {
            return false;
        }
        let Some(step) = self.rest.next() else { return false };
        while self.ends[self.begin].1 <= self.told {
            self.begin += 1;
        }
        self.told += 1;
        followers.told.tell(step, self.ends[self.begin].0, world);
        true
    }
}

/// A machine that was inserted, replaced or removed; the markers of its entity must be updated.
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
            let mut markers = Markers::<T>::take(world);
            followers.mark(world, self.entity, markers.as_mut());
            if let Some(markers) = markers {
                markers.put_back(world);
            }
        }
        false
    }
}
