//! The data that all creatures share during a tick: the time, the halls, and the places of the creatures. It does not change
//! before the end of the tick.

use super::creature::{Id, Side};
use super::halls::{Halls, Point};

/// How many times per second the game updates its creatures.
pub(crate) const TICKS_PER_SECOND: u32 = 30;

pub(crate) struct World {
    pub(crate) tick: u32,
    pub(crate) halls: Halls,
    /// All creatures by id, as they were at the beginning of the tick.
    pub(crate) seen: Vec<Sighting>,
    /// The ids of the creatures in each hall.
    in_halls: Vec<Vec<Id>>,
}

/// The data of a creature that others see.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) at: Point,
    pub(crate) hall: usize,
    pub(crate) side: Side,
    pub(crate) is_alive: bool,
    pub(crate) is_hidden: bool,
    /// Whether its corpse is gone.
    pub(crate) is_gone: bool,
}

impl Sighting {
    pub(crate) fn is_corpse(&self) -> bool {
        !self.is_alive && !self.is_gone
    }
}

/// An action of a creature on others. It happens after the tick of all creatures, in the order of the acting creatures' ids; so
/// it does not depend on the order of the updates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Deed {
    Blow {
        to: Id,
        damage: f64,
    },
    /// Hits all enemies within a radius, and corpses.
    Blast {
        radius: f64,
        damage: f64,
        is_fire: bool,
    },
    Noise {
        loudness: f64,
    },
    Fright {
        strength: f64,
        radius: f64,
    },
    Raise {
        corpse: Id,
    },
}

/// The context of the callbacks.
pub(crate) struct View<'w> {
    pub(crate) world: &'w World,
    /// The actions of the creatures that are updated with this context.
    pub(crate) deeds: Vec<(Id, Deed)>,
}

impl<'w> View<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        Self { world, deeds: vec![] }
    }
}

impl World {
    pub(crate) fn new(halls: Halls) -> Self {
        Self { tick: 0, halls, seen: vec![], in_halls: vec![vec![]; halls.count()] }
    }

    pub(crate) fn seconds(&self) -> f64 {
        f64::from(self.tick) / f64::from(TICKS_PER_SECOND)
    }

    /// Returns the ids of the creatures in a hall, in order.
    pub(crate) fn in_hall(&self, hall: usize) -> &[Id] {
        &self.in_halls[hall]
    }

    /// Stores the data of all creatures, in the order of their ids.
    pub(crate) fn see(&mut self, seen: Vec<Sighting>) {
        self.in_halls.iter_mut().for_each(Vec::clear);
        for (id, sighting) in seen.iter().enumerate().filter(|(_, sighting)| !sighting.is_gone) {
            self.in_halls[sighting.hall].push(id);
        }
        self.seen = seen;
    }
}
