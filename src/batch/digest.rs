//! One number for all that a batch holds, to see whether two of them are the same.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher13;
use slotmap::Key as _;

use super::rows::Rows;
use super::{Batch, Key};
use crate::fsm::View;
use crate::owner::Owner;
use crate::seat::{Rare, Seat, Suspended};
use crate::state::StateRef;
#[cfg(feature = "definition")]
use crate::waiting::{Note, Noted};
use crate::waiting::{Then, Timer, Waiting};

impl<T: Owner> Batch<T> {
    /// Returns a digest of all owners and their machines: 64 bits that two batches have in common exactly when they hold the
    /// same, apart from a chance of one in 2^64.
    ///
    /// `owner` adds what counts of an owner, usually by [`Hash`](std::hash::Hash). The batch adds, for each key: the names of
    /// the active states, of the previous state, of those on the stack and of those that history remembers; when the active
    /// states were entered, and whether they were; the times on the stack; the timers, and whether the owner is asleep and until
    /// when. States of one name are the same state here. What an owned state or a timer's message holds is not looked at, and
    /// the global does not count.
    ///
    /// The digest depends on no address, on no order of rows, and not on the platform as long as that is little-endian: the
    /// two sides of a network game can compare theirs. It may change with a new version of this crate. `owner` is called once
    /// for each owner, in the order of [`iter`](Self::iter).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    /// use std::hash::Hash;
    ///
    /// #[derive(Clone, Hash)]
    /// struct Enemy { health: u32 }
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { health: 10 }, &Idle);
    /// let digest = |batch: &Batch<Enemy>| batch.digest(|enemy, hasher| enemy.hash(hasher));
    ///
    /// let mut twin = batch.clone();
    /// assert_eq!(digest(&batch), digest(&twin));
    ///
    /// twin.change_state(bob, &Chase, &mut ());
    /// assert_ne!(digest(&batch), digest(&twin));
    /// ```
    #[must_use]
    pub fn digest(&self, mut owner: impl FnMut(&T, &mut DigestHasher)) -> u64 {
        let store = &self.store;
        let names = Names::of(self);
        let nowhere = &StateRef::NONE;
        let nothing = Waiting::new();
        let mut loaded = Seat::empty();
        let mut sum = store.len() as u64;
        for &bucket in store.states.order() {
            let columns = &store.buckets[bucket as usize];
            let known = store.states.get(bucket);
            let rows = Rows::new(columns.noted(), 0..columns.len(), bucket, store.shared());
            for (slot, one) in columns.owners.iter().enumerate() {
                let mut hasher = DigestHasher::of(rows.key(slot));
                if let Some(seat) = columns.seats.get(slot) {
                    hasher.write_u64(path_digest(seat.ancestors(), &seat.current));
                    hasher.write_u64(name_digest(&seat.previous));
                    hasher.write_view(&seat.view(nowhere));
                    hasher.write_rare(seat.rare.as_deref());
                    hasher.write_waiting(seat.rare.as_ref().map_or(&nothing, |rare| &rare.waiting));
                } else {
                    hasher.write_u64(names.paths[bucket as usize]);
                    let previous = rows.previous_number(slot);
                    hasher.write_u64(
                        previous.map_or_else(
                            || name_digest(rows.previous(slot)),
                            |previous| names.states[previous as usize],
                        ),
                    );
                    hasher.write_view(&rows.view(slot, known.state(), nowhere));
                    hasher.write_rare(rows.rare(slot));
                    rows.load_waiting(slot, columns.is_asleep(slot), &mut loaded);
                    hasher.write_waiting(loaded.rare.as_ref().map_or(&nothing, |rare| &rare.waiting));
                    loaded = Seat::empty();
                }
                owner(one, &mut hasher);
                // A sum does not depend on the order of rows.
                sum = sum.wrapping_add(hasher.finish());
            }
        }
        sum
    }
}

/// What [`Batch::digest`] hands to its caller: a hasher whose result is the same in every process.
///
/// It is `SipHash` 1-3 (Aumasson and Bernstein) with a key that never changes. `usize` and `isize` count as 64 bits.
#[derive(Clone)]
pub struct DigestHasher(SipHasher13);

impl DigestHasher {
    fn new() -> Self {
        Self(SipHasher13::new())
    }

    fn of(key: Key) -> Self {
        let mut hasher = Self::new();
        hasher.write_u64(key.data().as_ffi());
        hasher
    }

    fn write_name(&mut self, state: &StateRef<impl Owner>) {
        let name = state.as_option().map(|state| state.name());
        self.write_u8(name.is_some().into());
        self.write_text(name.as_deref().unwrap_or_default());
    }

    fn write_text(&mut self, text: &str) {
        self.write_usize(text.len());
        self.write(text.as_bytes());
    }

    fn write_names<T: Owner>(&mut self, states: &[StateRef<T>]) {
        self.write_usize(states.len());
        for state in states {
            self.write_name(state);
        }
    }

    /// A time, in seconds. -0 and 0 are the same time.
    fn write_time(&mut self, at: f64) {
        self.write_u64((at + 0.0).to_bits());
    }

    /// The times; the names are written before.
    fn write_view<T: Owner>(&mut self, view: &View<'_, T>) {
        let is_entered = !view.entered_at.is_nan();
        self.write_u8(is_entered.into());
        self.write_time(if is_entered { view.entered_at } else { 0.0 });
        for nth in 0..view.ancestors.len() {
            let at = view.ancestors_entered_at.get(nth).copied().filter(|at| !at.is_nan());
            self.write_time(at.unwrap_or(0.0));
        }
    }

    fn write_timers<T: Owner>(&mut self, timers: &[Timer<T>]) {
        self.write_usize(timers.len());
        for Timer { due, then, .. } in timers {
            self.write_time(*due);
            match then {
                Then::Change(to) => self.write_name(to),
                Then::Send(_) => self.write_text("message"),
                #[cfg(feature = "definition")]
                Then::Turn => self.write_text("turn"),
                #[cfg(feature = "serde")]
                Then::Enter => self.write_text("enter"),
                #[cfg(feature = "definition")]
                Then::Note(Note { of, number }) => {
                    self.write_text("note");
                    let (kind, exit) = match of {
                        Noted::Luck(exit) => (0, *exit),
                        Noted::Seconds(exit) => (1, *exit),
                        Noted::Tried => (2, 0),
                        #[cfg(feature = "script")]
                        Noted::CutOffs => (3, 0),
                    };
                    self.write_u8(kind);
                    self.write_u16(exit);
                    self.write_time(*number);
                }
            }
        }
    }

    fn write_waiting<T: Owner>(&mut self, waiting: &Waiting<T>) {
        self.write_timers(&waiting.timers);
        let wakes_at = waiting.wakes_at();
        self.write_u8(wakes_at.is_some().into());
        self.write_time(wakes_at.unwrap_or(0.0));
    }

    fn write_rare<T: Owner>(&mut self, rare: Option<&Rare<T>>) {
        let (stack, history) = rare.map_or((&[][..], &[][..]), |rare| (&rare.stack, &rare.history));
        self.write_usize(stack.len());
        for Suspended { current, time, ancestors, ancestors_time, timers } in stack {
            self.write_name(current);
            self.write_names(ancestors);
            self.write_time(*time);
            for time in ancestors_time {
                self.write_time(*time);
            }
            self.write_timers(timers);
        }
        self.write_usize(history.len());
        for (of, last) in history {
            self.write_name(of);
            self.write_name(last);
        }
    }
}

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u8(&mut self, number: u8) {
        self.write(&[number]);
    }

    fn write_u16(&mut self, number: u16) {
        self.write(&number.to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.write(&number.to_le_bytes());
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    fn write_u128(&mut self, number: u128) {
        self.write(&number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    // The other signed ones are passed on to these.
    fn write_isize(&mut self, number: isize) {
        self.write_i64(number as i64);
    }
}

impl fmt::Debug for DigestHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DigestHasher").field(&self.finish()).finish()
    }
}

/// The digests of the known states' names, by number.
struct Names {
    states: Vec<u64>,
    paths: Vec<u64>,
}

impl Names {
    fn of<T: Owner>(batch: &Batch<T>) -> Self {
        let states = &batch.store.states;
        let known = || batch.store.numbers().map(|number| states.get(number));
        Self {
            states: known().map(|known| name_digest(known.state())).collect(),
            paths: known().map(|known| path_digest(&known.ancestors, known.state())).collect(),
        }
    }
}

fn name_digest<T: Owner>(state: &StateRef<T>) -> u64 {
    let mut hasher = DigestHasher::new();
    hasher.write_name(state);
    hasher.finish()
}

fn path_digest<T: Owner>(ancestors: &[StateRef<T>], current: &StateRef<T>) -> u64 {
    let mut hasher = DigestHasher::new();
    hasher.write_names(ancestors);
    hasher.write_name(current);
    hasher.finish()
}
