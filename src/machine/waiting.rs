//! What a machine waits for: its timers (rule 25), and its sleep (rule 26).

mod pending;
mod timers;

use alloc::sync::Arc;
use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::{fmt, mem};

pub use self::pending::Pending;
#[cfg(feature = "std")]
pub(crate) use self::timers::MOST_FEW;
use self::timers::TimerList;
pub(crate) use self::timers::Timers;
use crate::owner::Owner;
use crate::state::{State, StateRef};

/// When a machine next has something to do. It is for games that choose which machines they update. See
/// [`StateMachine::next_wake`](crate::StateMachine::next_wake).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextWake {
    /// In every tick, because an active state or the global state has to be updated; or in the next tick, because a change [has
    /// been requested](crate::Fsm::change_state_next) for it.
    EveryTick,
    /// When [`Owner::now`] returns this number of seconds or more, or when a message, a change or `wake` comes before. The
    /// tolerance of [rule 18](crate::docs::semantics#rule-18) has been subtracted: a timer of 5 seconds that was set at
    /// 10 seconds is due at 14.999994 seconds.
    At(f64),
    /// Only when a message, a change or `wake` comes.
    Never,
}

/// How often a definition has been reloaded in this program.
static REVISION: AtomicUsize = AtomicUsize::new(0);

impl NextWake {
    /// Returns how often a definition has been reloaded in this program. A reload can change what machines in the states of the
    /// definition do. So if a game stores a `NextWake` of a machine, it has to ask the machine again when this number has
    /// changed.
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

    /// Returns when a machine next has something to do, if its first timer or the end of its sleep is due at `next` seconds.
    pub(crate) fn of(next: f64) -> Self {
        match next {
            AT_ONCE => Self::EveryTick,
            f64::INFINITY => Self::Never,
            at => Self::At(at),
        }
    }

    /// Returns the sooner of two times.
    pub(crate) fn sooner(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(a), Self::At(b)) => Self::At(a.min(b)),
            (Self::EveryTick, _) | (_, Self::Never) => self,
            (_, Self::EveryTick) | (Self::Never, _) => other,
        }
    }

    /// Counts a reload of a definition, which can change what its states do.
    pub(crate) fn note_exchange() {
        REVISION.fetch_add(1, Ordering::Release);
    }
}

/// How long a timer can last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Until the state at this depth is left, 0 being the outermost.
    State(u8),
    /// As long as the machine exists.
    Machine,
    /// Until the next change. This is the scope of a change that is requested for the next tick (rule 36).
    Current,
    /// No longer, because the state that set the timer has already been left.
    Left,
}

impl Scope {
    /// Returns the scope of the active state at `depth`.
    #[inline]
    pub(crate) fn state(depth: usize) -> Self {
        // A path has at most 65 states.
        Self::State(u8::try_from(depth).unwrap_or(u8::MAX))
    }

    /// Returns the rank of the scope. A change ends all scopes whose rank is at least a certain number, so scopes with a higher
    /// rank do not outlast those with a lower rank.
    pub(crate) fn rank(self) -> u16 {
        match self {
            Self::Machine => 0,
            Self::State(depth) => u16::from(depth) + 1,
            Self::Current | Self::Left => u16::MAX,
        }
    }

    /// Returns whether the scope ends with a change that keeps only the outermost `kept` active states.
    #[inline]
    pub(crate) fn ends_with(self, kept: usize) -> bool {
        match self {
            Self::State(depth) => usize::from(depth) >= kept,
            Self::Machine => false,
            Self::Current | Self::Left => true,
        }
    }
}

/// What happens when a timer is due.
pub(crate) enum Then<T: Owner> {
    Change(StateRef<T>),
    /// The machine offers a message to its states. The type of the message is erased, so that a machine can be cloned and sent
    /// to other threads: only the methods that set such a timer require the bounds `Send` and `Sync` of `T::Message`.
    Send(Arc<dyn Any + Send + Sync>),
    /// The machine offers a message, as with `Send`, and the timer runs on (rule 39). The number says how many seconds after the
    /// timer's start the next message comes: a multiple of the period.
    Repeat(Arc<Repeat>, f64),
    /// The machine enters its current state, unless this state has been entered. Loading sets this timer if the current state
    /// replaces a state that a saved game names but the program no longer has.
    #[cfg(feature = "serde")]
    Enter,
    /// The current state is popped, as by [`Fsm::pop_state`](crate::Fsm::pop_state).
    Pop,
    /// Nothing happens, because a note is never due. It stores a number while its state is active.
    Note(Note),
}

/// A message that a timer sends again and again.
pub(crate) struct Repeat {
    /// The time from one message to the next, in seconds; never negative and never NaN.
    pub(crate) seconds: f64,
    pub(crate) message: Arc<dyn Any + Send + Sync>,
}

/// A number that a state stores about an owner until the state is left. A push suspends the state and does not end the note. A
/// note with the bit [`OF_MACHINE`](Self::OF_MACHINE) in its key does not end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Note {
    /// The key under which the state stores the number.
    pub(crate) key: u32,
    pub(crate) number: f64,
}

impl Note {
    /// A note whose key has this bit lasts as long as the machine.
    pub(crate) const OF_MACHINE: u32 = 1 << 31;

    /// Creates a note. All kinds of NaN are one number here, and so are both zeros: a saved file and a digest do not tell them apart.
    pub(crate) fn new(key: u32, number: f64) -> Self {
        Self { key, number: if number.is_nan() { f64::NAN } else { number + 0.0 } }
    }

    /// Returns the scope of the note if a callback with the scope `by` makes it.
    pub(crate) fn scope(self, by: Scope) -> Scope {
        if self.key & Self::OF_MACHINE == 0 { by } else { Scope::Machine }
    }
}

impl<T: Owner> Then<T> {
    /// Creates the action of a timer that sends a message again and again, `seconds` apart. `span` says how many seconds after the
    /// timer's start the next message comes. Negative numbers and NaN count as 0.
    pub(crate) fn repeating(seconds: f64, span: f64, message: Arc<dyn Any + Send + Sync>) -> Self {
        Self::Repeat(Arc::new(Repeat { seconds: seconds.max(0.0), message }), span.max(0.0))
    }

    /// Returns the note, if this is one.
    pub(crate) fn note(&self) -> Option<Note> {
        match self {
            Self::Note(note) => Some(*note),
            _ => None,
        }
    }

    /// Returns whether this is a note. A note is stored among the timers although it is never due.
    #[inline]
    pub(crate) fn is_note(&self) -> bool {
        matches!(self, Self::Note(_))
    }

    /// Returns whether the value holds a reference that must be dropped.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Self::Change(to) => to.is_held(),
            Self::Send(_) | Self::Repeat(..) => true,
            Self::Pop | Self::Note(_) => false,
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
            Self::Repeat(repeat, _) => write!(f, "message to oneself every {} s", repeat.seconds),
            #[cfg(feature = "serde")]
            Self::Enter => f.write_str("enter"),
            Self::Pop => f.write_str("pop"),
            Self::Note(_) => f.write_str("note"),
        }
    }
}

impl<T: Owner> Clone for Then<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Change(to) => Self::Change(to.clone()),
            Self::Send(message) => Self::Send(message.clone()),
            Self::Repeat(repeat, span) => Self::Repeat(repeat.clone(), *span),
            #[cfg(feature = "serde")]
            Self::Enter => Self::Enter,
            Self::Pop => Self::Pop,
            Self::Note(note) => Self::Note(*note),
        }
    }
}

/// The waits that a batch can record for many owners at once.
pub(crate) enum Awaited<T: Owner> {
    /// The end of a sleep.
    Wake,
    /// A change to a singleton.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only a batch reads it"))]
    Change(&'static dyn State<T>),
    /// A change to a singleton in the next tick.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only a batch reads it"))]
    Next(&'static dyn State<T>),
    /// A number to store. It is never due.
    Note(Note),
}

/// A timer that a callback has requested and that does not run yet.
pub(crate) struct After<T: Owner> {
    pub(crate) seconds: f64,
    pub(crate) scope: Scope,
    pub(crate) then: Then<T>,
}

/// When a change that is requested for the next tick is due, in seconds: before everything else (rule 36).
pub(crate) const AT_ONCE: f64 = f64::NEG_INFINITY;

/// A running timer.
pub(crate) struct Timer<T: Owner> {
    /// When it is due, in seconds by the owner's clock. In a suspended path: how many seconds remain.
    pub(crate) due: f64,
    pub(crate) scope: Scope,
    pub(crate) then: Then<T>,
}

impl<T: Owner> Timer<T> {
    /// Creates the timer of a change in the next tick (rule 36).
    pub(crate) fn next(to: StateRef<T>) -> Self {
        Self { due: AT_ONCE, scope: Scope::Current, then: Then::Change(to) }
    }
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
    /// When the machine wakes by itself, in seconds; `AWAKE` while it is not asleep.
    wakes_at: f64,
    /// The revision of the innermost state when the machine fell asleep.
    pub(crate) revision: usize,
    /// For how many seconds a callback has requested to sleep. `None` if none has, or if a change has been made since.
    pub(crate) wanted: Option<f64>,
    pub(crate) clock: Standstill,
}

const AWAKE: f64 = f64::NEG_INFINITY;

impl<T: Owner> Waiting<T> {
    pub(crate) const fn new() -> Self {
        Self { timers: TimerList::new(), wakes_at: AWAKE, revision: 0, wanted: None, clock: Standstill::new() }
    }

    /// Returns whether a machine can do without this data.
    pub(crate) fn is_none(&self) -> bool {
        !self.is_waiting() && self.wanted.is_none()
    }

    /// Returns whether the machine has timers or is asleep.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_asleep() || !self.timers.is_empty()
    }

    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        self.wakes_at > AWAKE
    }

    /// Returns whether the clock has advanced to `now`, in seconds, and no timer is due.
    #[inline]
    pub(crate) fn goes_on(&mut self, now: f64) -> bool {
        self.timers.are_after(now) && self.clock.advances(now)
    }

    /// Returns whether the clock has advanced to `now`, in seconds, the sleep is not over, and no timer is due.
    #[inline]
    pub(crate) fn sleeps_on(&mut self, now: f64) -> bool {
        now < self.wakes_at && self.goes_on(now)
    }

    /// Puts the machine to sleep until a time, in seconds. At infinity, it does not wake by itself.
    pub(crate) fn sleep_until(&mut self, wakes_at: f64) {
        self.wakes_at = wakes_at.max(f64::MIN);
    }

    /// Returns when the machine wakes by itself; infinity if it does not. `None` while it is awake.
    pub(crate) fn wakes_at(&self) -> Option<f64> {
        self.is_asleep().then_some(self.wakes_at)
    }

    /// Wakes the machine. Returns whether it was asleep.
    pub(crate) fn wake(&mut self) -> bool {
        mem::replace(&mut self.wakes_at, AWAKE) > AWAKE
    }

    /// Wakes the machine for a change that keeps the outermost `kept` active states. Ends and returns the timers of the other
    /// states.
    pub(crate) fn change(&mut self, kept: usize) -> Timers<T> {
        let mut ended = Timers::new();
        self.change_into(kept, &mut ended);
        ended
    }

    /// Does the same as [`change`](Self::change), and writes the timers that end to an empty list.
    #[inline]
    pub(crate) fn change_into(&mut self, kept: usize, ended: &mut Timers<T>) {
        self.wanted = None;
        self.wake();
        if !self.timers.is_empty() {
            *ended = self.timers.end(kept);
        }
    }

    /// Sets a timer. A note replaces the state's note with the same key, and a change in the next tick replaces the change that
    /// was requested for it before.
    pub(crate) fn set(&mut self, timer: Timer<T>) {
        if timer.then.note().is_some_and(|note| self.timers.note(timer.scope, note)) {
            return;
        }
        let replaced = if timer.scope == Scope::Current { self.timers.end(usize::MAX) } else { Timers::new() };
        self.timers.push(timer);
        // Dropped last: a state's `Drop` may panic (rule 22).
        drop(replaced);
    }

    /// Returns when the machine next has to be checked, in seconds; infinity if never.
    pub(crate) fn next(&self) -> f64 {
        self.wakes_at().unwrap_or(f64::INFINITY).min(self.timers.next())
    }

    /// Removes all timers, the sleep and the requested sleep, but keeps the memory. Passes the action of each timer to `take`.
    #[cfg(feature = "std")]
    pub(crate) fn empty_into(&mut self, take: &mut dyn FnMut(Then<T>)) {
        if !self.timers.is_empty() {
            self.timers.drain().for_each(|timer| take(timer.then));
        }
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

/// Detects a clock that stands still while a machine has timers or sleeps.
#[derive(Clone, Copy)]
pub(crate) struct Standstill {
    now: f64,
    /// For how many ticks the clock has shown this time, at most 255.
    ticks: u8,
}

/// The limit is high because a game may be paused for a while, and may run several updates while its clock shows the same time.
const SUSPICIOUSLY_MANY: u8 = 100;

impl Standstill {
    pub(crate) const fn new() -> Self {
        Self { now: f64::NAN, ticks: 0 }
    }

    /// Records the clock's time in a tick, if it differs from the time in the last tick. Returns whether it differs.
    #[inline]
    pub(crate) fn advances(&mut self, now: f64) -> bool {
        let advances = self.now.to_bits() != now.to_bits();
        if advances {
            *self = Self { now, ticks: 1 };
        }
        advances
    }

    /// Counts a tick in which the machine waits for nothing. `is_plain` says whether it has no other rare data either. Returns
    /// `true` after many such ticks on end.
    #[inline]
    pub(crate) fn rests(&mut self, is_plain: bool) -> bool {
        if !is_plain || !self.now.is_nan() {
            *self = Self::new();
        }
        self.ticks = self.ticks.saturating_add(1);
        self.ticks == u8::MAX
    }

    /// Records the clock's time in a tick. Returns `true` once, when the clock has stood still for suspiciously many ticks.
    pub(crate) fn stands(&mut self, now: f64) -> bool {
        if self.advances(now) {
            return false;
        }
        self.ticks = self.ticks.saturating_add(1);
        self.ticks == SUSPICIOUSLY_MANY
    }
}
