//! What a machine waits for: its timers (rule 25), and its sleep (rule 26).

mod timers;

use alloc::sync::Arc;
use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::{fmt, mem};

#[cfg(feature = "std")]
pub(crate) use self::timers::MOST_FEW;
use self::timers::TimerList;
pub(crate) use self::timers::Timers;
use crate::owner::Owner;
use crate::state::{State, StateRef};

/// When a machine next has something to do, for games that decide themselves which machines to update. See
/// [`StateMachine::next_wake`](crate::StateMachine::next_wake).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextWake {
    /// In every tick, because a state or the global state has to be updated.
    EveryTick,
    /// When [`Owner::now`] returns this number of seconds, or when a message or a change comes before. The tolerance of
    /// [rule 18](crate::docs::semantics#rule-18) is taken off: for a timer of 5 seconds that was set at 10, it is 14.999994.
    At(f64),
    /// Only when a message, a change or `wake` comes.
    Never,
}

/// How often definitions have been reloaded while machines were in their states.
static REVISION: AtomicUsize = AtomicUsize::new(0);

impl NextWake {
    /// Returns how often definitions have been reloaded in this program. A reload can change what the machines in its states do.
    /// So if a game stores a `NextWake` of a machine, it has to ask the machine again when this number has changed.
    ///
    /// A change of [`State::revision`] in a state of the game is not counted.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "definition")] {
    /// use demeanor::definition::{Definition, Vocabulary};
    /// use demeanor::{NextWake, Owner};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let file = |passive| format!("initial = 'rest'\nstates.rest.{passive}");
    /// let definition = Definition::parse(&file("final = true"), &Vocabulary::<Guard>::new())?;
    /// let before = NextWake::revision();
    /// definition.reload(&file("exits = [{ to = 'rest', after = 5 }]"))?;
    /// assert_ne!(NextWake::revision(), before);
    /// # }
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn revision() -> usize {
        REVISION.load(Ordering::Acquire)
    }

    /// Counts a reload that has changed what states do.
    pub(crate) fn note_exchange() {
        REVISION.fetch_add(1, Ordering::Release);
    }
}

/// How long a timer lasts at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Until the state at this depth is left, 0 being the outermost.
    State(u8),
    /// As long as the machine.
    Machine,
    /// The state that asks has been left already.
    Left,
}

impl Scope {
    /// That of the active state at a depth.
    #[inline]
    pub(crate) fn state(depth: usize) -> Self {
        // There are at most 65.
        Self::State(u8::try_from(depth).unwrap_or(u8::MAX))
    }

    /// The higher it is, the sooner it ends: a change ends the scopes from some rank on.
    fn rank(self) -> u16 {
        match self {
            Self::Machine => 0,
            Self::State(depth) => u16::from(depth) + 1,
            Self::Left => u16::MAX,
        }
    }

    /// Whether it ends with a change that leaves all but the outermost `kept` active states.
    #[inline]
    pub(crate) fn ends_with(self, kept: usize) -> bool {
        match self {
            Self::State(depth) => usize::from(depth) >= kept,
            Self::Machine => false,
            Self::Left => true,
        }
    }
}

/// What a timer asks for when it is due.
pub(crate) enum Then<T: Owner> {
    Change(StateRef<T>),
    /// A message, whose type is hidden: the bounds that a machine needs, to be cloned and sent to other threads, are asked of a
    /// message only where a timer is set.
    Send(Arc<dyn Any + Send + Sync>),
    /// Entering the current state, unless it has been entered: it replaces a state that a saved game names and the program does
    /// not have.
    #[cfg(feature = "serde")]
    Enter,
    /// Nothing: such a timer is never due, and keeps a number for as long as its state is active.
    Note(Note),
}

/// A number that a state keeps of an owner until the state is left, and over a push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Note {
    /// Which of the state's numbers it is.
    pub(crate) key: u32,
    pub(crate) number: f64,
}

impl<T: Owner> Then<T> {
    /// What it keeps, if it keeps a number.
    pub(crate) fn note(&self) -> Option<Note> {
        match self {
            Self::Note(note) => Some(*note),
            _ => None,
        }
    }

    /// Whether such a timer is set although it is never due.
    #[inline]
    pub(crate) fn is_note(&self) -> bool {
        matches!(self, Self::Note(_))
    }

    /// Whether there is anything to drop.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Self::Change(to) => to.is_held(),
            Self::Send(_) => true,
            Self::Note(_) => false,
            #[cfg(feature = "serde")]
            Self::Enter => false,
        }
    }
}

impl<T: Owner> From<StateRef<T>> for Then<T> {
    fn from(to: StateRef<T>) -> Self {
        Self::Change(to)
    }
}

impl<T: Owner> fmt::Display for Then<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change(to) => write!(f, "change to {to}"),
            Self::Send(_) => f.write_str("message to oneself"),
            #[cfg(feature = "serde")]
            Self::Enter => f.write_str("enter"),
            Self::Note(_) => f.write_str("note"),
        }
    }
}

impl<T: Owner> Clone for Then<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Change(to) => Self::Change(to.clone()),
            Self::Send(message) => Self::Send(message.clone()),
            #[cfg(feature = "serde")]
            Self::Enter => Self::Enter,
            Self::Note(note) => Self::Note(*note),
        }
    }
}

/// What a callback asks to wait for, of that which a batch can write down for many owners together.
pub(crate) enum Awaited<T: Owner> {
    /// The end of a sleep.
    Wake,
    /// A change to a singleton.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "without a batch, nobody reads it"))]
    Change(&'static dyn State<T>),
    /// Nothing: a number is kept.
    Note(Note),
}

/// A timer that a callback has asked for, not yet running.
pub(crate) struct After<T: Owner> {
    pub(crate) seconds: f64,
    pub(crate) scope: Scope,
    pub(crate) then: Then<T>,
}

/// A running timer.
pub(crate) struct Timer<T: Owner> {
    /// When it is due, in seconds by the owner's clock; under a push, how many seconds remain.
    pub(crate) due: f64,
    pub(crate) scope: Scope,
    pub(crate) then: Then<T>,
}

impl<T: Owner> Clone for Timer<T> {
    fn clone(&self) -> Self {
        Self { due: self.due, scope: self.scope, then: self.then.clone() }
    }
}

/// What one machine waits for.
pub(crate) struct Waiting<T: Owner> {
    /// The running timers.
    pub(crate) timers: TimerList<T>,
    /// When it wakes by itself, in seconds; `AWAKE` while it is not asleep.
    wakes_at: f64,
    /// The revision of the innermost state when it fell asleep.
    pub(crate) revision: usize,
    /// For how many seconds a callback has asked to sleep, once it has returned, if no change has come since.
    pub(crate) wanted: Option<f64>,
    pub(crate) clock: Standstill,
}

const AWAKE: f64 = f64::NEG_INFINITY;

impl<T: Owner> Waiting<T> {
    pub(crate) const fn new() -> Self {
        Self { timers: TimerList::new(), wakes_at: AWAKE, revision: 0, wanted: None, clock: Standstill::new() }
    }

    /// Whether a machine can do without it.
    pub(crate) fn is_none(&self) -> bool {
        !self.is_waiting() && self.wanted.is_none()
    }

    /// Whether it waits for the clock, or is asleep.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_asleep() || !self.timers.is_empty()
    }

    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        self.wakes_at > AWAKE
    }

    /// Puts the machine to sleep until a time, in seconds; infinity is for ever.
    pub(crate) fn sleep_until(&mut self, wakes_at: f64) {
        self.wakes_at = wakes_at.max(f64::MIN);
    }

    /// When it wakes by itself: infinity is never. `None` while it is awake.
    pub(crate) fn wakes_at(&self) -> Option<f64> {
        self.is_asleep().then_some(self.wakes_at)
    }

    /// Wakes it. Returns whether it was asleep.
    pub(crate) fn wake(&mut self) -> bool {
        mem::replace(&mut self.wakes_at, AWAKE) > AWAKE
    }

    /// A change leaves all but the outermost `kept` active states: it wakes the machine, and their timers end. Returns these.
    pub(crate) fn change(&mut self, kept: usize) -> Timers<T> {
        self.wanted = None;
        self.wake();
        self.timers.end(kept)
    }

    /// Begins to run a timer. A note replaces the state's note with the same key.
    pub(crate) fn set(&mut self, timer: Timer<T>) {
        if timer.then.note().is_some_and(|note| self.timers.note(timer.scope, note)) {
            return;
        }
        self.timers.push(timer);
    }

    /// When it next has to be looked at, in seconds: infinity is never.
    pub(crate) fn next(&self) -> f64 {
        self.wakes_at().unwrap_or(f64::INFINITY).min(self.timers.next())
    }

    /// Empties it, all but its room. Returns the states and messages that it held.
    #[cfg(feature = "std")]
    pub(crate) fn empty_into(&mut self, take: &mut dyn FnMut(Then<T>)) {
        self.timers.drain().for_each(|timer| take(timer.then));
        self.wanted = None;
        self.wake();
    }

    /// Exchanges the timers and the sleep.
    #[cfg(feature = "std")]
    pub(crate) fn swap(&mut self, other: &mut Self) {
        mem::swap(&mut self.timers, &mut other.timers);
        mem::swap(&mut self.wakes_at, &mut other.wakes_at);
    }
}

impl<T: Owner> Clone for Waiting<T> {
    fn clone(&self) -> Self {
        let Self { wakes_at, revision, clock, .. } = *self;
        Self { timers: self.timers.clone(), wakes_at, revision, clock, ..Self::new() }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut timers = mem::replace(&mut self.timers, TimerList::new());
        timers.clone_from(&source.timers);
        let Self { wakes_at, revision, clock, .. } = *source;
        *self = Self { timers, wakes_at, revision, clock, ..Self::new() };
    }
}

/// Finds out whether a clock stands still while a timer or a sleep waits for it.
#[derive(Clone, Copy)]
pub(crate) struct Standstill {
    now: f64,
    /// For how many ticks it has shown the same.
    ticks: u8,
}

/// A game may be paused for a while, and may update several times at one time.
const SUSPICIOUSLY_MANY: u8 = 100;

impl Standstill {
    pub(crate) const fn new() -> Self {
        Self { now: f64::NAN, ticks: 0 }
    }

    /// Notes the time that the clock shows in a tick. Returns `true` once, when the clock has stood still for suspiciously many ticks.
    pub(crate) fn stands(&mut self, now: f64) -> bool {
        if self.now.to_bits() != now.to_bits() {
            *self = Self { now, ticks: 0 };
        }
        self.ticks = self.ticks.saturating_add(1);
        self.ticks == SUSPICIOUSLY_MANY
    }
}
