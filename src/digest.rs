//! The digest of a machine: a number that tells whether two machines are in equal states. A batch uses the same hash.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::fsm::View;
use crate::machine::regions::Regions;
use crate::machine::seat::{Rare, Seat, Suspended};
use crate::machine::state_machine::StateMachine;
use crate::machine::waiting::{Note, Then, Timer, Waiting};
use crate::owner::Owner;
use crate::state::StateRef;

impl<T: Owner> StateMachine<T> {
    /// Returns a digest of the machine: 64 bits. Two machines whose data is equal have the same digest. If their data differs,
    /// the digests are the same only with a chance of one in 2^64.
    ///
    /// It covers the same data as [`Batch::digest`](crate::Batch::digest) does for one machine, without the owner. It does not
    /// cover the global state, the data of an owned state, or the message of a timer.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{DigestHasher, Owner, State, StateMachine};
    /// use std::hash::{Hash, Hasher};
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
    /// let mut enemy = Enemy { health: 10 };
    /// let mut machine = StateMachine::new(&Idle);
    /// let kept = machine.clone();
    /// assert_eq!(machine.digest(), kept.digest());
    /// machine.change_state(&mut enemy, &Chase, &mut ());
    /// assert_ne!(machine.digest(), kept.digest());
    ///
    /// // With its owner, the same in every process:
    /// let mut hasher = DigestHasher::new();
    /// enemy.hash(&mut hasher);
    /// hasher.write_u64(machine.digest());
    /// let digest = hasher.finish();
    /// # assert_ne!(digest, machine.digest());
    /// ```
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hasher = DigestHasher::new();
        hasher.write_seat(self.seat());
        hasher.finish()
    }
}

/// A hasher whose result is the same in every process. [`Batch::digest`](crate::Batch::digest) passes one to its caller. A
/// game that needs a digest of more than a batch creates its own.
///
/// It is `SipHash` 1-3 (Aumasson and Bernstein) with a key that never changes. `usize` and `isize` count as 64 bits, but not as
/// the elements of a slice or a vector: [`Hash`](std::hash::Hash) writes these as they are in memory.
#[derive(Clone)]
pub struct DigestHasher(SipHasher13);

impl DigestHasher {
    /// Creates a hasher without any input.
    #[must_use]
    pub fn new() -> Self {
        Self(SipHasher13::new())
    }

    /// Writes all data of a machine that the digest covers.
    pub(crate) fn write_seat<T: Owner>(&mut self, seat: &Seat<T>) {
        self.write_u64(path_digest(seat.ancestors(), &seat.current));
        self.write_u64(name_digest(&seat.previous));
        self.write_view(&seat.view(&StateRef::NONE));
        self.write_rare(seat.rare.as_deref());
        self.write_waiting(seat.rare.as_ref().map_or(&Waiting::new(), |rare| &rare.waiting));
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

    /// Writes a time, in seconds. -0 and 0 are the same time.
    fn write_time(&mut self, at: f64) {
        self.write_u64((at + 0.0).to_bits());
    }

    /// Writes the times of a view. The names have been written before.
    pub(crate) fn write_view<T: Owner>(&mut self, view: &View<'_, T>) {
        let is_entered = !view.entered_at.is_nan();
        self.write_u8(is_entered.into());
        self.write_time(if is_entered { view.entered_at } else { 0.0 });
        for nth in 0..view.ancestors.len() {
            let at = view.ancestors_entered_at.get(nth).copied().filter(|at| !at.is_nan());
            self.write_time(at.unwrap_or(0.0));
        }
    }

    fn write_timers<'t, T: Owner>(&mut self, len: usize, timers: impl Iterator<Item = &'t Timer<T>>) {
        self.write_usize(len);
        let mut notes = 0_u64;
        for timer in timers {
            if timer.then.is_note() {
                // A sum does not depend on the order of the notes, which depends on where a batch stores them.
                let mut hasher = Self::new();
                hasher.write_timer(timer);
                notes = notes.wrapping_add(hasher.finish());
            } else {
                self.write_timer(timer);
            }
        }
        self.write_u64(notes);
    }

    fn write_timer<T: Owner>(&mut self, Timer { due, scope, then }: &Timer<T>) {
        self.write_time(*due);
        self.write_u16(scope.rank());
        match then {
            Then::Change(to) => self.write_name(to),
            Then::Send(_) => self.write_text("message"),
            Then::Pop => self.write_text("pop"),
            Then::Repeat(repeat, span) => {
                self.write_text("repeat");
                self.write_time(repeat.seconds);
                self.write_time(*span);
            }
            #[cfg(feature = "serde")]
            Then::Enter => self.write_text("enter"),
            Then::Note(Note { key, number }) => {
                self.write_text("note");
                self.write_u32(*key);
                self.write_time(*number);
            }
        }
    }

    pub(crate) fn write_waiting<T: Owner>(&mut self, waiting: &Waiting<T>) {
        self.write_timers(waiting.timers.len(), waiting.timers.iter());
        let wakes_at = waiting.wakes_at();
        self.write_u8(wakes_at.is_some().into());
        self.write_time(wakes_at.unwrap_or(0.0));
    }

    pub(crate) fn write_rare<T: Owner>(&mut self, rare: Option<&Rare<T>>) {
        let (stack, history) = rare.map_or((&[][..], &[][..]), |rare| (&rare.stack, &rare.history));
        self.write_usize(stack.len());
        for Suspended { path, times, timers, regions } in stack {
            self.write_usize(path.len());
            for (state, time) in path.iter().zip(times) {
                self.write_name(state);
                self.write_time(*time);
            }
            self.write_timers(timers.len(), timers.iter());
            self.write_regions(regions.as_deref());
        }
        self.write_usize(history.len());
        for (of, last) in history {
            self.write_name(of);
            self.write_name(last);
        }
        self.write_regions(rare.and_then(|rare| rare.regions.as_deref()));
    }

    fn write_regions<T: Owner>(&mut self, regions: Option<&Regions<T>>) {
        for seat in regions.into_iter().flat_map(Regions::seats) {
            self.write_text("region");
            self.write_seat(seat);
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

    // The default methods for the other signed types call the unsigned ones.
    fn write_isize(&mut self, number: isize) {
        self.write_i64(number as i64);
    }
}

impl Default for DigestHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DigestHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DigestHasher").field(&self.finish()).finish()
    }
}

pub(crate) fn name_digest<T: Owner>(state: &StateRef<T>) -> u64 {
    let mut hasher = DigestHasher::new();
    hasher.write_name(state);
    hasher.finish()
}

pub(crate) fn path_digest<T: Owner>(ancestors: &[StateRef<T>], current: &StateRef<T>) -> u64 {
    let mut hasher = DigestHasher::new();
    hasher.write_usize(ancestors.len());
    for state in ancestors.iter().chain([current]) {
        hasher.write_name(state);
    }
    hasher.finish()
}
