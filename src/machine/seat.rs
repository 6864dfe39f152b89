//! Where an owner's current and previous state are kept, with all that goes with them.
//!
//! A `StateMachine` is a seat and a global. A `Batch` keeps its owners' seats as columns, and loads one when something out
//! of the ordinary happens to an owner.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use smallvec::SmallVec;

#[cfg(feature = "std")]
use super::waiting::Then;
use super::waiting::{NextWake, Scope, Timer, Timers, Waiting};
use crate::fsm::{NEVER, Request, View, time_or_zero};
use crate::owner::Owner;
use crate::state::{State, StateRef};

/// States from the outermost to the innermost. More than four deep, it allocates.
pub(crate) type Path<T> = SmallVec<[StateRef<T>; 4]>;

/// 48 bytes for each type of owner: the data that few machines need is in a box, which is made when it is needed.
pub(crate) struct Seat<T: Owner> {
    /// `StateRef::NONE` when there is none.
    pub(crate) current: StateRef<T>,
    /// `StateRef::NONE` when there is none.
    pub(crate) previous: StateRef<T>,
    /// When current was entered, in seconds; `NEVER` when it has not been.
    pub(crate) entered_at: f64,
    pub(crate) rare: Option<Box<Rare<T>>>,
}

/// The data that a machine needs if its states are nested or suspended, or if it waits.
pub(crate) struct Rare<T: Owner> {
    /// The states around current, outermost first.
    pub(crate) ancestors: Vec<StateRef<T>>,
    /// When each of them was entered.
    pub(crate) ancestors_entered_at: Vec<f64>,
    /// The suspended paths, the oldest first: nearly all owners have at most one.
    pub(crate) stack: SmallVec<[Suspended<T>; 1]>,
    /// For each composite state that keeps history, its descendant that was active last.
    pub(crate) history: Vec<(StateRef<T>, StateRef<T>)>,
    /// The states last changed to, once one callback has led to suspiciously many changes.
    pub(crate) trail: Vec<StateRef<T>>,
    pub(crate) waiting: Waiting<T>,
    /// While a callback lends the seat: what has happened to the seat since.
    pub(crate) lent: Option<SeatLoan>,
}

/// The changes of a seat while a callback lends it.
#[derive(Clone, Copy)]
pub(crate) struct SeatLoan {
    /// Whether it was lent in an `exit` or `suspend`, so that it may not change state (rule 12).
    pub(crate) is_being_left: bool,
    /// How many changes have been made.
    pub(crate) made: u32,
    /// How many of the active states, from the outermost, no change has left.
    pub(crate) kept: usize,
}

/// A suspended path: another state was pushed on top of it. Its time is paused (rule 18).
///
/// What most have of each list lies in it, so that a clone of a batch need not allocate.
pub(crate) struct Suspended<T: Owner> {
    pub(crate) current: StateRef<T>,
    /// How long current had been active, in seconds.
    pub(crate) time: f64,
    /// Each with how long it had been.
    pub(crate) ancestors: SmallVec<[(StateRef<T>, f64); 2]>,
    /// The timers of these states. Each has the seconds that remain of it.
    pub(crate) timers: Timers<T>,
}

/// A suspended path that is being resumed, with the times and timers that come back with its states. It belongs to the pop: when
/// the pop ends, or is cut short, the times and timers that have not come back are dropped (rules 15, 25).
pub(crate) struct Resumption<T: Owner> {
    suspended: Suspended<T>,
    /// By the clock at the swap, from which on the path's time goes on.
    now: f64,
    /// How many timers were running then. The timers of the path come behind these, in their order of asking.
    running: usize,
}

impl<T: Owner> Seat<T> {
    pub(crate) fn new(current: StateRef<T>) -> Self {
        let mut seat = Self::empty();
        seat.place(current);
        seat
    }

    /// The seat of an owner without a state.
    pub(crate) const fn empty() -> Self {
        Self { current: StateRef::NONE, previous: StateRef::NONE, entered_at: NEVER, rare: None }
    }

    /// Empties the seat, all but its room. Returns the states and messages that it held.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn empty_into(&mut self, mut take: impl FnMut(Then<T>)) {
        take(mem::replace(&mut self.current, StateRef::NONE).into());
        take(mem::replace(&mut self.previous, StateRef::NONE).into());
        self.entered_at = NEVER;
        if let Some(rare) = &mut self.rare {
            rare.empty_into(&mut take);
        }
    }

    /// Sets current, and with it the ancestors, without any callback. A parents' chain without an end is cut off. States that
    /// stay active keep their time, and those that come have that of current.
    pub(crate) fn place(&mut self, current: StateRef<T>) {
        let mut path = Path::new();
        if !current.is_none() {
            match path_to(&current) {
                Ok(found) => path = found,
                Err(endless) => {
                    log::error!(
                        target: "demeanor",
                        "a machine is set to {current}: {endless}, so that it is treated as a state without a parent"
                    );
                    path.push(current.clone());
                }
            }
        }
        // Dropped last: a state's `Drop` may panic (rule 22).
        let mut replaced = Vec::new();
        let mut ended = Timers::new();
        if path.len() > 1 || self.rare.is_some() {
            let entered_at = self.entered_at;
            let is_active = self.shared_with(&path);
            path.pop();
            self.note_change(0);
            let rare = self.rare_mut();
            let kept = is_active.min(rare.ancestors.len()).min(path.len());
            rare.ancestors_entered_at.truncate(kept);
            rare.ancestors_entered_at.resize(path.len(), entered_at);
            replaced = mem::replace(&mut rare.ancestors, path.to_vec());
            ended = rare.waiting.change(is_active);
        }
        let was_current = mem::replace(&mut self.current, current);
        drop((was_current, replaced, ended));
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Rare<T> {
        self.rare.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn ancestors(&self) -> &[StateRef<T>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.ancestors)
    }

    /// Whether current has been entered: by a start, or by a change.
    pub(crate) fn is_entered(&self) -> bool {
        !self.entered_at.is_nan()
    }

    /// Current, if it is a singleton and there is nothing rare about it.
    #[inline]
    pub(crate) fn lone(&self) -> Option<&'static dyn State<T>> {
        if self.rare.is_none() { self.current.as_singleton() } else { None }
    }

    /// Whether one state is active, and there is nothing rare about it.
    #[inline]
    pub(crate) fn is_lone(&self) -> bool {
        self.rare.is_none() && !self.current.is_none()
    }

    /// How many states are active.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        if self.current.is_none() { 0 } else { self.ancestors().len() + 1 }
    }

    /// The active state at a depth, 0 being the outermost.
    #[inline]
    pub(crate) fn at(&self, depth: usize) -> Option<&StateRef<T>> {
        let ancestors = self.ancestors();
        match ancestors.get(depth) {
            Some(ancestor) => Some(ancestor),
            None if depth == ancestors.len() => self.current.as_option(),
            None => None,
        }
    }

    /// The active states, outermost first.
    pub(crate) fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.ancestors().iter().chain(self.current.as_option())
    }

    /// How many of the active states, from the outermost, are the same as in `path`.
    pub(crate) fn shared_with(&self, path: &[StateRef<T>]) -> usize {
        let mut shared = 0;
        while shared < path.len() && self.at(shared) == Some(&path[shared]) {
            shared += 1;
        }
        shared
    }

    pub(crate) fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.view(&StateRef::NONE).depth_of(state).is_some()
    }

    /// Notes that the machine is to fall asleep, if it is asked to.
    #[inline]
    pub(crate) fn note(&mut self, request: &Request<T>) {
        if let Request::Sleep(seconds) = request {
            self.rare_mut().waiting.wanted = Some(*seconds);
        }
    }

    /// Whether it waits for the clock, or is asleep.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.waiting.is_waiting())
    }

    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.waiting.is_asleep())
    }

    /// Puts the machine to sleep until a time, in seconds; infinity is for ever.
    pub(crate) fn sleep_until(&mut self, wakes_at: f64) {
        let revision = self.current.revision();
        let waiting = &mut self.rare_mut().waiting;
        waiting.sleep_until(wakes_at);
        waiting.revision = revision;
    }

    /// Whether the machine is asleep, and the revision of the innermost state has changed since it fell asleep.
    pub(crate) fn is_outdated(&self) -> bool {
        let waiting = self.rare.as_ref().map(|rare| &rare.waiting).filter(|waiting| waiting.is_asleep());
        waiting.is_some_and(|waiting| waiting.revision != self.current.revision())
    }

    /// Wakes the machine. Returns whether it was asleep.
    #[inline]
    pub(crate) fn wake(&mut self) -> bool {
        self.rare.as_mut().is_some_and(|rare| rare.waiting.wake())
    }

    /// When a machine with this seat next has something to do.
    pub(crate) fn next_wake(&self, global: &StateRef<T>) -> NextWake {
        let is_updating = |state: &StateRef<T>| !state.is_passive();
        let is_awake = !self.is_asleep() || self.is_outdated();
        let is_path_updating =
            || self.ancestors().iter().any(is_updating) || self.current.as_option().is_some_and(is_updating);
        if global.as_option().is_some_and(is_updating) || is_awake && is_path_updating() {
            return NextWake::EveryTick;
        }
        let next = self.rare.as_ref().map_or(f64::INFINITY, |rare| rare.waiting.next());
        if next < f64::INFINITY { NextWake::At(next) } else { NextWake::Never }
    }

    /// What can be asked of the machine while a change to `target` is under way, if it is not `StateRef::NONE`.
    pub(crate) fn view<'v>(&'v self, target: &'v StateRef<T>) -> View<'v, T> {
        View {
            current: &self.current,
            previous: &self.previous,
            target,
            ancestors: self.ancestors(),
            entered_at: self.entered_at,
            ancestors_entered_at: self.rare.as_ref().map_or(&[], |rare| &rare.ancestors_entered_at),
        }
    }

    /// Makes `state`, a child of current, the current one.
    pub(crate) fn descend(&mut self, state: StateRef<T>, entered_at: f64) {
        let parent = mem::replace(&mut self.current, state);
        let parent_entered_at = mem::replace(&mut self.entered_at, entered_at);
        let rare = self.rare_mut();
        rare.ancestors.push(parent);
        rare.ancestors_entered_at.push(parent_entered_at);
    }

    /// Makes `current` the current state, entered at a time, below the outermost `kept` active states. Returns what was current.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is passed in registers need not be written and waited for")]
    pub(crate) fn replace(&mut self, kept: usize, current: StateRef<T>, at: f64) -> StateRef<T> {
        let from = mem::replace(&mut self.current, current);
        let entered_at = mem::replace(&mut self.entered_at, at);
        if kept > 0 || self.rare.is_some() {
            self.keep(kept, &from, entered_at);
        }
        from
    }

    /// Takes the outermost `kept` states of a path that ended in `from` for the ancestors.
    fn keep(&mut self, kept: usize, from: &StateRef<T>, entered_at: f64) {
        let rare = self.rare_mut();
        if kept > rare.ancestors.len() {
            rare.ancestors.push(from.clone());
            rare.ancestors_entered_at.push(entered_at);
        }
        rare.ancestors_entered_at.truncate(kept);
        let ended = rare.waiting.change(kept);
        // Last: a state's `Drop` may panic, and so may a message's (rule 22).
        rare.ancestors.truncate(kept);
        drop(ended);
    }

    /// Puts the active path on the stack, with its timers and those that it has asked for, and makes `first` the current state.
    /// Returns what was current.
    pub(crate) fn push(
        &mut self,
        first: StateRef<T>,
        leave_timers: impl FnOnce(&mut Timers<T>),
        now: f64,
    ) -> StateRef<T> {
        let from = mem::replace(&mut self.current, first);
        let entered_at = mem::replace(&mut self.entered_at, now);
        let rare = self.rare_mut();
        let mut suspended = Suspended {
            current: from.clone(),
            time: now - time_or_zero(entered_at),
            ancestors: SmallVec::new(),
            timers: rare.waiting.change(0),
        };
        // Most have no ancestors and no timers, which is quicker to find out than to collect.
        if !rare.ancestors.is_empty() {
            for (state, at) in rare.ancestors.drain(..).zip(&rare.ancestors_entered_at) {
                suspended.ancestors.push((state, now - time_or_zero(*at)));
            }
            rare.ancestors_entered_at.clear();
        }
        for timer in &mut suspended.timers {
            timer.due -= now;
        }
        rare.stack.push(suspended);
        // Once the path is there: it drops the timers of states that have been left, and a message's `Drop` may panic (rule 22).
        if let Some(suspended) = rare.stack.last_mut() {
            leave_timers(&mut suspended.timers);
        }
        from
    }

    /// Takes the path last pushed over off the stack, and makes `first`, its outermost state, the current one. Returns what was
    /// current, and what is to be resumed.
    pub(crate) fn pop(&mut self, first: StateRef<T>, now: f64) -> (StateRef<T>, Option<Resumption<T>>) {
        let rare = self.rare_mut();
        let suspended = rare.stack.pop();
        rare.ancestors_entered_at.clear();
        // Dropped last: a state's `Drop` may panic (rule 22).
        let left: Path<T> = rare.ancestors.drain(..).collect();
        let ended = rare.waiting.change(0);
        let running = rare.waiting.timers.len();
        let from = mem::replace(&mut self.current, first);
        self.entered_at = NEVER;
        let mut resumption = suspended.map(|suspended| Resumption { suspended, now, running });
        if let Some(resumption) = resumption.as_mut().filter(|_| !self.current.is_none()) {
            self.resume(resumption);
        }
        drop((left, ended));
        (from, resumption)
    }

    /// Gives current, which is being resumed, its time and its timers back.
    pub(crate) fn resume(&mut self, resumption: &mut Resumption<T>) {
        let Resumption { suspended: Suspended { time, ancestors, timers, .. }, now, running } = resumption;
        let depth = self.ancestors().len();
        self.entered_at = *now - ancestors.get(depth).map_or(*time, |(_, time)| *time);
        let scope = Scope::state(depth);
        if !timers.iter().any(|timer| timer.scope == scope) {
            return;
        }
        let list = &mut self.rare_mut().waiting.timers;
        // The timers of the ancestors have come back already. Some timers of current may have been set before them.
        let mut around: Vec<_> = if list.len() > *running { list.drain().collect() } else { Vec::new() };
        let mut resumed = around.split_off(around.len().min(*running)).into_iter();
        for timer in around {
            list.push(timer);
        }
        for timer in timers {
            if timer.scope == scope {
                list.push(Timer { due: *now + timer.due, ..timer.take() });
            } else if !timer.scope.ends_with(depth) {
                if let Some(timer) = resumed.next() {
                    list.push(timer);
                }
            }
        }
        for timer in resumed {
            list.push(timer);
        }
    }

    /// Remembers current as the descendant last active in the active state at `depth`, if that keeps history.
    #[inline]
    pub(crate) fn remember(&mut self, depth: usize) {
        if self.rare.is_some() {
            self.remember_in(depth);
        }
    }

    fn remember_in(&mut self, depth: usize) {
        let Some(composite) = self.ancestors().get(depth).cloned() else { return };
        if !composite.keeps_history() {
            return;
        }
        let last = self.current.clone();
        let history = &mut self.rare_mut().history;
        if let Some(at) = history.iter().position(|(of, _)| *of == composite) {
            // To the end: the first is the one that was left the longest ago.
            let of_composite = history.remove(at);
            history.push(of_composite);
        } else {
            history.retain(|(of, _)| !of.is_unreachable());
            if history.len() == MOST_REMEMBERED {
                history.remove(0);
            }
            history.push((composite, StateRef::NONE));
        }
        if let Some((_, remembered)) = history.last_mut() {
            *remembered = last;
        }
    }

    /// Notes, for the callback that has lent the seat, a change that leaves the outermost `kept` active states alone.
    #[inline]
    pub(crate) fn note_change(&mut self, kept: usize) {
        if let Some(lent) = self.rare.as_mut().and_then(|rare| rare.lent.as_mut()) {
            lent.made += 1;
            lent.kept = lent.kept.min(kept);
        }
    }

    /// Whether it was lent in an `exit` or `suspend`.
    pub(crate) fn is_being_left(&self) -> bool {
        self.rare.as_ref().and_then(|rare| rare.lent).is_some_and(|lent| lent.is_being_left)
    }

    /// Begins to note the changes of a seat that is lent. Returns the notes of the loan around this one.
    pub(crate) fn begin_loan(&mut self, is_being_left: bool) -> Option<SeatLoan> {
        let lent = SeatLoan { is_being_left: is_being_left || self.is_being_left(), made: 0, kept: usize::MAX };
        self.rare_mut().lent.replace(lent)
    }

    /// Ends a loan, and goes on with the one around it. Returns how many changes were made, and how many of the outermost
    /// active states none of them has left.
    pub(crate) fn end_loan(&mut self, outer: Option<SeatLoan>) -> (u32, usize) {
        // Another machine may have been put in its place.
        let lent = self.rare_mut().lent.take();
        let (made, kept) = lent.map_or((1, 0), |lent| (lent.made, lent.kept));
        let outer = outer.map(|outer| SeatLoan { made: outer.made + made, kept: outer.kept.min(kept), ..outer });
        self.rare_mut().lent = outer;
        if self.rare.as_ref().is_some_and(|rare| rare.is_plain()) {
            self.rare = None;
        }
        (made, kept)
    }

    /// Whether all that it keeps belongs to states that are active or suspended, as it is whenever code of the game runs. Debug
    /// builds ask this before each callback and after each call, so that of long lists only the end is looked at.
    pub(crate) fn is_whole(&self) -> bool {
        let Some(rare) = &self.rare else { return true };
        let Rare { ancestors, ancestors_entered_at, stack, history, waiting, .. } = &**rare;
        let has_path = !ancestors.iter().any(StateRef::is_none) && (ancestors.is_empty() || !self.current.is_none());
        let is_remembered = |(of, last): &(StateRef<T>, StateRef<T>)| !of.is_none() && !last.is_none();
        has_path
            && ancestors.len() == ancestors_entered_at.len()
            && are_of(waiting.timers.newest(), self.depth(), true)
            && stack.len() <= MOST_PUSHED
            && stack.iter().rev().take(4).all(Suspended::is_whole)
            && history.len() <= MOST_REMEMBERED
            && history.iter().all(is_remembered)
    }

    /// The descendant last active in `composite`, if any was.
    pub(crate) fn remembered(&self, composite: &StateRef<T>) -> Option<&StateRef<T>> {
        let rare = self.rare.as_ref()?;
        rare.history.iter().find_map(|(of, last)| (of == composite).then_some(last))
    }
}

/// How many paths can be suspended at most (rule 15).
pub(crate) const MOST_PUSHED: usize = 64;

/// The most composites that a machine remembers (rule 16).
pub(crate) const MOST_REMEMBERED: usize = 64;

/// The most parents that a state may have, one around the other. A longer chain is treated as endless.
pub(crate) const DEEPEST: usize = 64;

/// The path from the outermost ancestor down to `state`, which is the last. The error says why there is no such path.
pub(crate) fn path_to<T: Owner>(state: &StateRef<T>) -> Result<Path<T>, &'static str> {
    let mut path = Path::new();
    let mut next = Some(state.clone());
    while let Some(state) = next {
        if path.len() > DEEPEST {
            return Err("its chain of parents closes on itself or is longer than 64");
        }
        next = state.parent();
        path.push(state);
    }
    path.reverse();
    Ok(path)
}

/// Whether timers belong to states of a path of a depth, or to the machine, if it has any there.
fn are_of<'t, T: Owner>(mut timers: impl Iterator<Item = &'t Timer<T>>, depth: usize, with_machine: bool) -> bool {
    timers.all(|timer| match timer.scope {
        Scope::State(_) => !timer.scope.ends_with(depth),
        Scope::Machine => with_machine,
        Scope::Left => false,
    })
}

impl<T: Owner> Suspended<T> {
    fn is_whole(&self) -> bool {
        let depth = self.ancestors.len() + usize::from(!self.current.is_none());
        are_of(self.timers.iter().rev().take(64), depth, false)
    }
}

impl<T: Owner> Rare<T> {
    /// Whether a seat can do without it.
    fn is_plain(&self) -> bool {
        let Self { ancestors, ancestors_entered_at: _, stack, history, trail, waiting, lent } = self;
        let has_states = !(ancestors.is_empty() && stack.is_empty() && history.is_empty() && trail.is_empty());
        !has_states && waiting.is_none() && lent.is_none()
    }
}

#[cfg(feature = "std")]
impl<T: Owner> Rare<T> {
    /// Empties it, all but its room. Returns the states and messages that it held.
    pub(crate) fn empty_into(&mut self, take: &mut dyn FnMut(Then<T>)) {
        let Self { ancestors, ancestors_entered_at, stack, history, trail, waiting, lent: _ } = self;
        ancestors_entered_at.clear();
        // Popped rather than drained: of most there are none, which a drain takes longer to find out.
        while let Some(state) = ancestors.pop().or_else(|| trail.pop()) {
            take(state.into());
        }
        while let Some(Suspended { current, ancestors, timers, .. }) = stack.pop() {
            take(current.into());
            for (state, _) in ancestors {
                take(state.into());
            }
            for timer in timers {
                take(timer.then);
            }
        }
        while let Some((of, last)) = history.pop() {
            take(of.into());
            take(last.into());
        }
        waiting.empty_into(take);
    }

    /// Exchanges the data that does not follow from the current state: with the timers and the sleep, if `with_timers`.
    pub(crate) fn swap_memory(&mut self, other: &mut Self, with_timers: bool) {
        mem::swap(&mut self.stack, &mut other.stack);
        mem::swap(&mut self.history, &mut other.history);
        if with_timers {
            self.waiting.swap(&mut other.waiting);
        }
    }

    /// Whether there is anything in it that does not follow from the current state.
    pub(crate) fn is_memorable(&self) -> bool {
        !self.stack.is_empty() || !self.history.is_empty() || !self.waiting.timers.is_empty()
    }
}

impl<T: Owner> Clone for Seat<T> {
    fn clone(&self) -> Self {
        Self {
            current: self.current.clone(),
            previous: self.previous.clone(),
            entered_at: self.entered_at,
            rare: self.rare.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.current.clone_from(&source.current);
        self.previous.clone_from(&source.previous);
        self.entered_at = source.entered_at;
        clone_rare_from(&mut self.rare, source.rare.as_deref());
    }
}

/// Copies the rare data of a seat into the box of another one. If there is nothing to copy, the box is emptied and kept.
pub(crate) fn clone_rare_from<T: Owner>(rare: &mut Option<Box<Rare<T>>>, source: Option<&Rare<T>>) {
    match (rare, source) {
        (Some(rare), Some(source)) => rare.as_mut().clone_from(source),
        (Some(rare), None) => rare.as_mut().clone_from(&Rare::default()),
        (none, source) => *none = source.cloned().map(Box::new),
    }
}

impl<T: Owner> Clone for Rare<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        self.ancestors.clone_from(&source.ancestors);
        self.ancestors_entered_at.clone_from(&source.ancestors_entered_at);
        self.stack.clone_from(&source.stack);
        self.history.clone_from(&source.history);
        self.trail.clone_from(&source.trail);
        self.waiting.clone_from(&source.waiting);
        self.lent = None;
    }
}

impl<T: Owner> Default for Rare<T> {
    fn default() -> Self {
        Self {
            ancestors: Vec::new(),
            ancestors_entered_at: Vec::new(),
            stack: SmallVec::new(),
            history: Vec::new(),
            trail: Vec::new(),
            waiting: Waiting::new(),
            lent: None,
        }
    }
}

impl<T: Owner> Clone for Suspended<T> {
    fn clone(&self) -> Self {
        Self {
            current: self.current.clone(),
            time: self.time,
            ancestors: self.ancestors.clone(),
            timers: self.timers.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.current.clone_from(&source.current);
        self.time = source.time;
        self.ancestors.clone_from(&source.ancestors);
        self.timers.clone_from(&source.timers);
    }
}
