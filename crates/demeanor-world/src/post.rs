//! The post: the requests that a callback can make to the world, for mail, births and deaths; and random numbers.

use std::fmt;

use demeanor::{IntoState, StateRef};
use oorandom::Rand64;
use rustc_hash::FxHashMap;

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::random;

/// The post office of a tick, which is lent to the context of the callbacks.
///
/// All requests take effect after the tick, in an order that depends only on the requests and on the citizens that made them.
pub struct Post<T: Citizen> {
    tick: u64,
    seed: u64,
    pub(crate) outbox: Vec<Mail<T::Message>>,
    pub(crate) born: Vec<(T, StateRef<T>)>,
    pub(crate) dead: Vec<u64>,
    /// The receivers that do not exist, by the sender of the mail in the last tick.
    pub(crate) returned: FxHashMap<u64, Vec<u64>>,
}

impl<T: Citizen> Post<T> {
    pub(crate) fn new(seed: u64) -> Self {
        Self { tick: 0, seed, outbox: Vec::new(), born: Vec::new(), dead: Vec::new(), returned: FxHashMap::default() }
    }

    pub(crate) fn open(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// Sends a message. It arrives at the beginning of the next tick, wherever the receiver lives then.
    ///
    /// A citizen gets its messages sorted by sender, and the messages of one sender in the order in which they were sent.
    /// Messages to an id that no citizen has in the next tick are counted, and the sender can find out about them: see
    /// [`returned`](Self::returned).
    ///
    /// The sender must be the citizen of the callback, or a child that it has [spawned](Self::spawn). Otherwise a citizen that
    /// lives elsewhere would be sending from two places at the same time.
    ///
    /// # Panics
    ///
    /// When the citizens of one thread send 2^32 messages in one tick.
    pub fn send(&mut self, sender: &T, receiver: u64, message: T::Message) {
        let number = u32::try_from(self.outbox.len()).expect("there are 2^32 messages from one thread in one tick");
        self.outbox.push(Mail { receiver, sender: sender.id(), number, return_to: 0, key: None, message });
    }

    /// Creates a citizen. It lives from the next tick on, which begins for it with `enter` of `state`.
    ///
    /// The id of a citizen that ends can be used again from the next tick on; in the tick in which the citizen ends, only that
    /// citizen itself may spawn one with its id. If another citizen does, and lives on another thread, the run ends with an
    /// error.
    pub fn spawn(&mut self, child: T, state: impl IntoState<T>) {
        self.born.push((child, state.into_state()));
    }

    /// Removes the citizen of the callback after this tick. No callback runs for this. Its messages of this tick are delivered.
    ///
    /// A citizen can only remove itself. If it names a citizen that does not live on its thread, the run ends with an error.
    pub fn remove(&mut self, citizen: &T) {
        self.dead.push(citizen.id());
    }

    /// Returns the random numbers of a citizen in this tick: they depend on the world's seed, on the id, and on the tick.
    ///
    /// Each call starts again with the first number. For random numbers in several callbacks of a tick, use
    /// [`random_for`](Self::random_for).
    #[must_use]
    pub fn random(&self, citizen: &T) -> Rand64 {
        self.random_for(citizen, 0)
    }

    /// Like [`random`](Self::random), but with different numbers for each `purpose`.
    #[must_use]
    pub fn random_for(&self, citizen: &T, purpose: u64) -> Rand64 {
        random::random(self.seed, citizen.id(), self.tick, purpose)
    }

    /// Returns the receivers of the citizen's messages in the last tick that do not exist: one entry for each message, sorted.
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
