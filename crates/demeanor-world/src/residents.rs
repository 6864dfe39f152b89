//! The citizens that live on one worker.

use demeanor::{Batch, Key, LoadError, SaveError, StateBook, StateMachine, StateRef};
use rustc_hash::FxHashMap;

use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::mail::Mail;
use crate::parcel::Packed;

/// The citizens of one worker, of all its shards: one batch, and the keys by id.
pub(crate) struct Residents<T: Citizen> {
    pub(crate) batch: Batch<T>,
    keys: FxHashMap<u64, Option<Key>>,
    /// The citizens whose life begins in the next tick. Until then their keys are `None`.
    newborn: Vec<(T, StateMachine<T>)>,
}

impl<T: Citizen> Residents<T> {
    pub(crate) fn new(global: Option<&StateRef<T>>) -> Self {
        Self { batch: with_global(Batch::new(), global), keys: FxHashMap::default(), newborn: Vec::new() }
    }

    /// Returns whether a citizen lives here in the next tick.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.keys.contains_key(&id)
    }

    /// Finds a citizen that lives here in the next tick. Its key is `None` if it is newborn.
    pub(crate) fn find(&self, id: u64) -> Option<&Option<Key>> {
        self.keys.get(&id)
    }

    pub(crate) fn key(&self, id: u64) -> Option<Key> {
        *self.keys.get(&id)?
    }

    /// Checks that each citizen still has the id under which it is stored.
    pub(crate) fn check_ids(&self) -> Result<(), WorldError> {
        let is_found = |key, citizen: &T| self.key(citizen.id()) == Some(key);
        let other = self.batch.iter().find(|&(key, citizen)| !is_found(key, citizen));
        other.map_or(Ok(()), |(_, citizen)| Err(WorldError::OtherId { id: citizen.id() }))
    }

    /// Adds a citizen with its machine. Returns `false` if there already was a citizen with this id.
    pub(crate) fn insert(&mut self, citizen: T, machine: StateMachine<T>) -> bool {
        let id = citizen.id();
        let Ok(key) = self.batch.insert_machine(citizen, machine) else {
            unreachable!("all batches of a world have the same global")
        };
        self.keys.insert(id, Some(key)).is_none()
    }

    /// Adds a citizen whose life begins in the next tick. Returns `false` if there already was a citizen with this id.
    pub(crate) fn expect(&mut self, citizen: T, machine: StateMachine<T>) -> bool {
        let is_first = self.keys.insert(citizen.id(), None).is_none();
        self.newborn.push((citizen, machine));
        is_first
    }

    /// Removes a citizen. Returns `None` if it does not live here.
    pub(crate) fn remove(&mut self, id: u64) -> Option<(T, StateMachine<T>)> {
        let key = self.keys.remove(&id)??;
        self.batch.remove(key)
    }

    /// Begins the lives of the newborn citizens, in the order of their ids.
    pub(crate) fn begin_lives(&mut self, cx: &mut T::Context<'_>) -> u64 {
        let mut newborn = std::mem::take(&mut self.newborn);
        newborn.sort_unstable_by_key(|(citizen, _)| citizen.id());
        let count = newborn.len() as u64;
        for (citizen, machine) in newborn {
            let id = citizen.id();
            self.insert(citizen, machine);
            if let Some(key) = self.key(id) {
                self.batch.start(key, cx);
            }
        }
        count
    }

    /// Delivers sorted mail. Returns how many messages were handled by a state.
    pub(crate) fn deliver(&mut self, mail: &[Mail<T::Message>], cx: &mut T::Context<'_>) -> u64 {
        let keys = &self.keys;
        let mut last = (0, None);
        let messages = mail.iter().filter_map(|letter| {
            if let Some(key) = letter.key {
                return Some((key, &letter.message));
            }
            // Sorted mail has all messages to one receiver in a row.
            if last.1.is_none() || last.0 != letter.receiver {
                last = (letter.receiver, keys.get(&letter.receiver).copied().flatten());
            }
            Some((last.1?, &letter.message))
        });
        self.batch.send_each(messages, cx) as u64
    }

    /// Returns the newborn citizens, whose machines are not started.
    pub(crate) fn newborn(&self) -> impl Iterator<Item = (T, StateMachine<T>)> + '_ {
        self.newborn.iter().map(|(citizen, machine)| (citizen.clone(), machine.clone()))
    }

    pub(crate) fn len(&self) -> usize {
        self.batch.len()
    }
}

/// Serializes citizens as columns, in which the name of each state is written once.
pub(crate) fn pack<T: Citizen>(
    citizens: impl IntoIterator<Item = (T, StateMachine<T>)>,
    global: Option<&StateRef<T>>,
    book: &StateBook<T>,
    now: f64,
) -> Result<Packed<T>, SaveError> {
    let mut batch = with_global(Batch::new(), global);
    for (citizen, machine) in citizens {
        let Ok(_) = batch.insert_machine(citizen, machine) else {
            unreachable!("all batches of a world have the same global")
        };
    }
    Ok(Packed { now, citizens: batch.save(book, now)?.map_owners(T::clone) })
}

/// Reads the bytes that [`pack`] has written.
pub(crate) fn unpack<T: Citizen>(
    Packed { now, citizens }: Packed<T>,
    global: Option<&StateRef<T>>,
    book: &StateBook<T>,
) -> Result<Vec<(T, StateMachine<T>)>, LoadError> {
    let mut batch = with_global(Batch::load(citizens, book, now)?, global);
    Ok(batch.drain().map(|(_, citizen, machine)| (citizen, machine)).collect())
}

pub(crate) fn with_global<T: Citizen>(batch: Batch<T>, global: Option<&StateRef<T>>) -> Batch<T> {
    match global {
        Some(global) => batch.with_global(global.clone()),
        None => batch,
    }
}
