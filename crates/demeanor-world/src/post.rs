//! What a callback can ask of the world: mail, births, deaths, random numbers.

use std::fmt;

use demeanor::{IntoState, StateRef};
use oorandom::Rand64;
use rustc_hash::FxHashMap;

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::random;

/// The post office of a tick, lent to the context of the callbacks.
///
/// All that is asked of it takes effect after the tick, in an order that depends only on who asked for what.
pub struct Post<T: Citizen> {
    tick: u64,
    seed: u64,
    pub(crate) outbox: Vec<Mail<T::Message>>,
    pub(crate) born: Vec<(T, StateRef<T>)>,
    pub(crate) dead: Vec<u64>,
    /// By sender: the receivers of its mail of the last tick that do not exist.
    pub(crate) returned: FxHashMap<u64, Vec<u64>>,
}

impl<T: Citizen> Post<T> {
    pub(crate) fn new(seed: u64) -> Self {
        Self { tick: 0, seed, outbox: Vec::new(), born: Vec::new(), dead: Vec::new(), returned: FxHashMap::default() }
    }

    pub(crate) fn open(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// Sends a message, which arrives at the beginning of the next tick, wherever the receiver lives then.
    ///
    /// A citizen gets its messages sorted by sender, and those of one sender in the order in which they were sent. Messages to an
    /// id that no citizen has in the next tick are counted, and the sender can find out about them: see
    /// [`returned`](Self::returned).
    ///
    /// The sender must be the citizen of the callback, or a child that it has [spawned](Self::spawn). A citizen that lives
    /// elsewhere would be sending from two places at once.
    ///
    /// # Panics
    ///
    /// When the citizens of one thread send 2^32 messages in one tick.
    pub fn send(&mut self, sender: &T, receiver: u64, message: T::Message) {
        let number = u32::try_from(self.outbox.len()).expect("there are 2^32 messages from one thread in one tick");
        self.outbox.push(Mail { receiver, sender: sender.id(), number, return_to: 0, key: None, message });
    }

    /// Has a citizen born: it lives from the next tick on, which begins for it with `enter` of `state`.
    pub fn spawn(&mut self, child: T, state: impl IntoState<T>) {
        self.born.push((child, state.into_state()));
    }

    /// Removes the citizen of the callback after this tick. No callback runs for that. What it has sent in this tick is delivered.
    ///
    /// A citizen can only remove itself. If it names one that does not live on its thread, the run ends with an error.
    pub fn remove(&mut self, citizen: &T) {
        self.dead.push(citizen.id());
    }

    /// Returns the random numbers of a citizen in this tick: they depend on the world's seed, on the id, and on the tick.
    ///
    /// Each call begins at the first of them. Who draws in several callbacks of one tick wants [`random_for`](Self::random_for).
    #[must_use]
    pub fn random(&self, citizen: &T) -> Rand64 {
        self.random_for(citizen, 0)
    }

    /// Returns other random numbers of a citizen in this tick for each `purpose`.
    #[must_use]
    pub fn random_for(&self, citizen: &T, purpose: u64) -> Rand64 {
        random::random(self.seed, citizen.id(), self.tick, purpose)
    }

    /// Returns to whom the citizen wrote in the last tick in vain, as no citizen has that id: one entry for each message, sorted.
    #[must_use]
    pub fn returned(&self, sender: &T) -> &[u64] {
        self.returned.get(&sender.id()).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of this tick, counted from 0.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }
}

impl<T: Citizen> fmt::Debug for Post<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post").field("tick", &self.tick).finish_non_exhaustive()
    }
}
