//! All creatures with their machines: in one batch per kind, or with one machine per creature. Both give the same result.

use demeanor::definition::Definitions;
use demeanor::definition::{Definition, LoadError, Vocabulary};
use demeanor::{Batch, Key, StateMachine, StateRef};
use std::path::Path;

use super::creature::{Creature, Id, Side, Told};
use super::halls::Halls;
use super::world::{Deed, View, World};

/// One kind of creature: a machine of the file that gives its creatures a body.
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) definition: Definition<Creature>,
    pub(crate) side: Side,
    /// How common this kind is, relative to the other kinds.
    common: u32,
}

/// The first state of each kind.
const SPAWN: &str = "spawn";
/// The behavior that gives a creature its body.
const BODY: &str = "body";

/// Reads the kinds of creature from a file. The file's other machines are templates, and parts of the kinds.
///
/// # Errors
///
/// When the file cannot be read, or has mistakes.
pub(crate) fn read_kinds(file: &Path, vocabulary: &Vocabulary<Creature>) -> Result<Vec<Kind>, LoadError> {
    let definitions = Definitions::load(file, vocabulary)?;
    let has_body = |definition: &Definition<Creature>| {
        let outline = definition.outline();
        let spawn = outline.states().iter().find(|state| state.name() == SPAWN);
        spawn.is_some_and(|spawn| spawn.behaviors().any(|behavior| behavior == BODY))
    };
    let kinds = definitions.iter().filter(|(_, definition)| has_body(definition)).map(|(name, definition)| {
        // One creature is created to read its body from the file.
        let world = World::new(Halls::for_creatures(1));
        let mut first = Creature::new(0, [1.0; 2], 0);
        definition.machine().start(&mut first, &mut View::new(&world));
        let definition = definition.clone();
        Kind { name: name.to_owned(), definition, side: first.body.side, common: first.body.common }
    });
    Ok(kinds.collect())
}

/// Returns the kind of each creature. The first creature has the first kind, and common kinds are more frequent.
pub(crate) fn deal(kinds: &[Kind], creatures: usize) -> Vec<usize> {
    let hand = (0..kinds.len()).flat_map(|kind| vec![kind; kinds[kind].common as usize]);
    // `common` is at least 1, so this is only true if the file has no kinds.
    if kinds.iter().all(|kind| kind.common == 0) { vec![] } else { hand.cycle().take(creatures).collect() }
}

pub(crate) enum Crowd {
    Batches(Batches),
    Machines(Vec<(Creature, StateMachine<Creature>)>),
}

pub(crate) struct Batches {
    /// One batch per kind, because each kind has its own global state.
    batches: Vec<Batch<Creature>>,
    /// The kind and the key of each creature, by its id.
    places: Vec<(usize, Key)>,
}

impl Crowd {
    /// Starts the machines of all creatures. Each creature comes with its kind.
    pub(crate) fn new(
        creatures: Vec<(Creature, usize)>,
        kinds: &[Kind],
        is_batched: bool,
        view: &mut View<'_>,
    ) -> Self {
        if !is_batched {
            let started = creatures.into_iter().map(|(mut creature, kind)| {
                let mut machine = kinds[kind].definition.machine();
                machine.start(&mut creature, view);
                (creature, machine)
            });
            return Self::Machines(started.collect());
        }
        let mut batches: Vec<Batch<Creature>> = kinds.iter().map(|kind| kind.definition.batch()).collect();
        let places = creatures
            .into_iter()
            .map(|(creature, kind)| (kind, batches[kind].spawn(creature, kinds[kind].definition.initial(), view)));
        let places = places.collect();
        Self::Batches(Batches { batches, places })
    }

    /// Runs a tick of all creatures. Returns their actions on others; the actions of one creature are in order.
    pub(crate) fn update(&mut self, world: &World) -> Vec<(Id, Deed)> {
        match self {
            Self::Batches(Batches { batches, .. }) => {
                batches.iter_mut().flat_map(|batch| update(batch, world)).collect()
            }
            Self::Machines(machines) => {
                let mut view = View::new(world);
                for (creature, machine) in machines {
                    machine.update(creature, &mut view);
                }
                view.deeds
            }
        }
    }

    /// Sends a message to a creature. Returns whether a state handled it.
    pub(crate) fn send(&mut self, to: Id, told: &Told, view: &mut View<'_>) -> bool {
        match self {
            Self::Batches(Batches { batches, places }) => {
                let (kind, key) = places[to];
                batches[kind].send(key, told, view)
            }
            Self::Machines(machines) => {
                let (creature, machine) = &mut machines[to];
                machine.send(creature, told, view)
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Batches(Batches { places, .. }) => places.len(),
            Self::Machines(machines) => machines.len(),
        }
    }

    pub(crate) fn creature(&self, id: Id) -> &Creature {
        match self {
            Self::Batches(Batches { batches, places }) => {
                let (kind, key) = places[id];
                &batches[kind][key]
            }
            Self::Machines(machines) => &machines[id].0,
        }
    }

    pub(crate) fn creature_mut(&mut self, id: Id) -> &mut Creature {
        match self {
            Self::Batches(Batches { batches, places }) => {
                let (kind, key) = places[id];
                &mut batches[kind][key]
            }
            Self::Machines(machines) => &mut machines[id].0,
        }
    }

    /// Returns all creatures, in the order of their ids.
    pub(crate) fn creatures(&self) -> impl Iterator<Item = &Creature> {
        (0..self.len()).map(|id| self.creature(id))
    }

    /// Returns the innermost state of a creature.
    pub(crate) fn state(&self, id: Id) -> Option<&StateRef<Creature>> {
        match self {
            Self::Batches(Batches { batches, places }) => {
                let (kind, key) = places[id];
                batches[kind].state_of(key)
            }
            Self::Machines(machines) => machines[id].1.current(),
        }
    }
}

#[cfg(feature = "parallel")]
fn update(batch: &mut Batch<Creature>, world: &World) -> Vec<(Id, Deed)> {
    batch.par_update(|_chunk| View::new(world)).into_iter().flat_map(|view| view.deeds).collect()
}

#[cfg(not(feature = "parallel"))]
fn update(batch: &mut Batch<Creature>, world: &World) -> Vec<(Id, Deed)> {
    let mut view = View::new(world);
    batch.update(&mut view);
    view.deeds
}
