//! The current and previous state of an owner, with the data that belongs to them.
//!
//! A `StateMachine` consists of a seat and a global state. A `Batch` stores the seats of its owners as columns. It loads one
//! of them into a `Seat` when an owner does something that the columns do not cover.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use smallvec::SmallVec;

use super::regions::Regions;
#[cfg(feature = "std")]
use super::waiting::Then;
use super::waiting::{NextWake, Scope, Standstill, Timer, Timers, Waiting};
use crate::boxed::RareBox;
use crate::fsm::{NEVER, Request, View, time_or_zero};
use crate::owner::Owner;
use crate::state::{State, StateRef, same};

/// States from the outermost to the innermost. A path of more than four states allocates.
pub(crate) type Path<T> = SmallVec<[StateRef<T>; 4]>;

/// The current and previous state of one owner, with the data that belongs to them. A seat takes 48 bytes for every type of
/// owner. The data that few machines need is in a box, which is allocated when needed.
pub(crate) struct Seat<T: Owner> {
    /// `StateRef::NONE` when there is none.
    pub(crate) current: StateRef<T>,
    /// `StateRef::NONE` when there is none.
    pub(crate) previous: StateRef<T>,
    /// When the current state was entered, in seconds; `NEVER` if it has not been entered.
    pub(crate) entered_at: f64,
    pub(crate) rare: RareBox<Rare<T>>,
}

/// What a tick has to do in a seat.
pub(crate) enum Glance<T: Owner> {
    /// Only to update this state.
    Lone(&'static dyn State<T>),
    /// Nothing: the machine is asleep. It may have a global state, whose tick is not part of the seat's.
    Asleep,
    /// Anything.
    Any,
}

/// An active state whose turn it is in a tick.
pub(crate) struct Turn<'s, T: Owner> {
    pub(crate) state: &'s StateRef<T>,
    pub(crate) is_innermost: bool,
    /// Whether the seat has open regions.
    pub(crate) has_open_regions: bool,
}

/// The data that a machine needs if its states are nested or suspended, or if it waits. The fields that a tick reads come first,
/// side by side. In the order that the compiler would choose, a tick of one of a million machines with a timer takes 14 % longer.
#[repr(C)]
pub(crate) struct Rare<T: Owner> {
    /// The ancestors of the current state, outermost first.
    pub(crate) ancestors: Vec<StateRef<T>>,
    /// The open regions of the current state (rule 32). `None` if it has no regions, or if they have not been opened.
    pub(crate) regions: RareBox<Regions<T>>,
    pub(crate) waiting: Waiting<T>,
    /// When each ancestor was entered, in seconds.
    pub(crate) ancestors_entered_at: Vec<f64>,
    /// The changes of the seat since a callback lent it; `None` while the seat is not lent.
    pub(crate) lent: Option<SeatLoan>,
    /// For each composite state that keeps history, its descendant that was active last.
    pub(crate) history: Vec<(StateRef<T>, StateRef<T>)>,
    /// The latest changes and messages to oneself, recorded once a callback has led to suspiciously many.
    pub(crate) trail: Vec<Footprint<T>>,
    /// The suspended paths, oldest first. Nearly all owners have at most one, and a copy of it for a rollback allocates nothing.
    pub(crate) stack: SmallVec<[Suspended<T>; 1]>,
}

/// A change or a message to oneself, for the error about a cycle (rule 13).
pub(crate) struct Footprint<T: Owner> {
    /// How many changes and messages to oneself the callback had led to, this one included.
    pub(crate) count: u32,
    /// The words before the name of `state`: `change to` or `message in state`.
    pub(crate) deed: &'static str,
    /// `StateRef::NONE` for no state.
    pub(crate) state: StateRef<T>,
}

/// The changes of a seat while a callback lends it.
#[derive(Clone, Copy)]
pub(crate) struct SeatLoan {
    /// Whether the seat was lent in an `exit` or `suspend`, where it cannot change state (rule 12).
    pub(crate) is_being_left: bool,
    /// How many changes have been made.
    pub(crate) made: u32,
    /// How many of the active states, from the outermost, have stayed active through all of these changes.
    pub(crate) kept: usize,
}

/// A path of states on top of which another state was pushed. The time of these states is paused (rule 18).
///
/// The inline capacity of each list is enough for most paths, so that cloning a batch rarely allocates.
pub(crate) struct Suspended<T: Owner> {
    /// The states, outermost first; none if the machine was in no state.
    pub(crate) path: Path<T>,
    /// How long each state had been active, in seconds.
    pub(crate) times: SmallVec<[f64; 4]>,
    /// The timers of these states. `due` is the number of seconds that remain.
    pub(crate) timers: Timers<T>,
    /// The regions of the current state. The states that were active in each region are on top of the stack of the region's seat.
    pub(crate) regions: RareBox<Regions<T>>,
}

/// A suspended path that is being resumed, with its times and timers. Each state gets its time and its timers back when it is
/// active again. When the pop ends or is cut short, the other times and timers are dropped (rules 15, 25).
pub(crate) struct Resumption<T: Owner> {
    suspended: Suspended<T>,
    /// The clock's time at the pop, in seconds. From then on, the times of the path go on.
    now: f64,
    /// How many timers were running at the pop. In the list of timers, the timers of the path follow these, in the order in
    /// which they were set.
    running: usize,
}

impl<T: Owner> Resumption<T> {
    pub(crate) fn has_regions(&self) -> bool {
        self.suspended.regions.is_some()
    }

    /// Takes out the regions of the innermost state, when all states around them have been resumed.
    pub(crate) fn take_regions(&mut self) -> RareBox<Regions<T>> {
        self.suspended.regions.take()
    }
}

impl<T: Owner> Seat<T> {
    #[expect(clippy::needless_pass_by_value, reason = "callers have made the reference for this")]
    pub(crate) fn new(current: StateRef<T>) -> Self {
        let mut seat = Self::empty();
        seat.place(&current);
        seat
    }

    /// Creates the seat of an owner without a state.
    pub(crate) const fn empty() -> Self {
        Self { current: StateRef::NONE, previous: StateRef::NONE, entered_at: NEVER, rare: RareBox::NONE }
    }

    /// Empties the seat, but keeps its memory. Passes the states and messages that it held to `take`.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn empty_into(&mut self, mut take: impl FnMut(Then<T>)) {
        take(mem::replace(&mut self.current, StateRef::NONE).into());
        take(mem::replace(&mut self.previous, StateRef::NONE).into());
        self.entered_at = NEVER;
        if let Some(rare) = &mut *self.rare {
            rare.empty_into(&mut take);
        }
    }

    /// Sets the current state and its ancestors, without any callback. If the chain of parents is endless, the state is
    /// treated as one without a parent. States that stay active keep their time. The other states get the time of the current
    /// state. Wakes the machine, and ends the timers of states that are no longer active.
    pub(crate) fn place(&mut self, current: &StateRef<T>) {
        let mut path = Path::new();
        if !current.is_none() {
            match path_to(current) {
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
        if path.iter().any(|state| state.has_regions()) {
            self.place_regions(&path);
        } else {
            self.place_path(path);
        }
    }

    /// Makes a path, outermost first, the active one, as [`place`](Self::place) does. Its states have no open regions then.
    pub(crate) fn place_path(&mut self, mut path: Path<T>) {
        let current = path.last().cloned().unwrap_or(StateRef::NONE);
        // Dropped last: a state's `Drop` may panic (rule 22).
        let mut replaced = Vec::new();
        let mut ended = Timers::new();
        let mut closed = RareBox::NONE;
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
            closed = rare.regions.take();
        }
        let was_current = mem::replace(&mut self.current, current);
        drop((was_current, replaced, ended, closed));
    }

    #[inline(never)]
    pub(crate) fn rare_mut(&mut self) -> &mut Rare<T> {
        self.rare.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn ancestors(&self) -> &[StateRef<T>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.ancestors)
    }

    /// Returns when the active state at a depth was entered, in seconds.
    #[inline]
    pub(crate) fn entered_at(&self, depth: usize) -> f64 {
        let ancestors = self.rare.as_ref().and_then(|rare| rare.ancestors_entered_at.get(depth));
        ancestors.copied().unwrap_or(self.entered_at)
    }

    /// Returns whether only nested states have to be considered in a tick: no timers, no sleep and no regions.
    #[inline]
    pub(crate) fn is_nested(&self) -> bool {
        let has_more = |rare: &Rare<T>| rare.regions.is_some() || rare.waiting.is_waiting();
        self.rare.as_deref().is_some_and(|rare| !rare.ancestors.is_empty() && !has_more(rare))
    }

    /// Returns whether the current state has been entered, by a start or by a change.
    pub(crate) fn is_entered(&self) -> bool {
        !self.entered_at.is_nan()
    }

    /// Returns the current state, if it is a singleton and the seat has no rare data.
    #[inline]
    pub(crate) fn lone(&self) -> Option<&'static dyn State<T>> {
        if self.rare.is_none() { self.current.as_singleton() } else { None }
    }

    /// Finds out at the beginning of a tick whether it has as little to do in this seat as most ticks.
    #[inline]
    pub(crate) fn glance(&mut self, now: impl FnOnce() -> f64) -> Glance<T> {
        // The fastest checks come first.
        let lone = |state: Option<_>| state.map_or(Glance::Any, Glance::Lone);
        let Some(Rare { ancestors, regions, waiting, .. }) = self.rare.as_deref() else {
            return lone(self.current.as_singleton());
        };
        if regions.is_some() {
            return Glance::Any;
        }
        if waiting.is_asleep() {
            return if self.sleeps_on(now()) { Glance::Asleep } else { Glance::Any };
        }
        if !ancestors.is_empty() {
            return Glance::Any;
        }
        let state = self.current.as_singleton();
        lone(state.filter(|_| self.goes_on(now)))
    }

    /// Returns whether a machine without open regions is asleep and stays so at `now`, in seconds. If the clock stands still,
    /// returns `false`, as [`goes_on`](Self::goes_on) does.
    #[inline]
    fn sleeps_on(&mut self, now: f64) -> bool {
        let Some(Rare { waiting, .. }) = self.rare.as_deref_mut() else { return false };
        waiting.sleeps_on(now) && waiting.revision == self.current.revision()
    }

    /// Returns whether no timer is due at `now`, in seconds, in a machine that is awake. If there are timers and the clock stands
    /// still, returns `false`: a full tick counts for how long the clock stands still.
    #[inline(never)]
    fn goes_on(&mut self, now: impl FnOnce() -> f64) -> bool {
        match self.rare.as_deref_mut() {
            Some(Rare { waiting, .. }) if !waiting.timers.is_empty() => waiting.goes_on(now()),
            _ => {
                self.rest();
                true
            }
        }
    }

    /// Returns whether a change that keeps `kept` states leaves only the current state. `false` if regions are open or the seat is
    /// lent.
    #[inline]
    pub(super) fn leaves_one(&self, kept: usize) -> bool {
        let is_plain = |rare: &Rare<T>| kept == rare.ancestors.len() && rare.regions.is_none() && rare.lent.is_none();
        !self.current.is_none() && self.rare.as_deref().is_none_or(is_plain)
    }

    /// Returns whether exactly one state is active and the seat has no rare data.
    #[inline]
    pub(crate) fn is_lone(&self) -> bool {
        self.rare.is_none() && !self.current.is_none()
    }

    /// Returns how many states are active.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        if self.current.is_none() { 0 } else { self.ancestors().len() + 1 }
    }

    /// Returns the active state at a depth. The outermost state has depth 0.
    #[inline]
    pub(crate) fn at(&self, depth: usize) -> Option<&StateRef<T>> {
        let ancestors = self.ancestors();
        match ancestors.get(depth) {
            Some(ancestor) => Some(ancestor),
            None if depth == ancestors.len() => self.current.as_option(),
            None => None,
        }
    }

    /// Returns the active state at a depth, with the data that a tick of the seat needs. `None` if there is no such state, or if
    /// the seat is asleep.
    #[inline]
    pub(crate) fn turn(&self, depth: usize) -> Option<Turn<'_, T>> {
        let Some(rare) = &*self.rare else {
            let state = self.current.as_option().filter(|_| depth == 0)?;
            return Some(Turn { state, is_innermost: true, has_open_regions: false });
        };
        if rare.waiting.is_asleep() {
            return None;
        }
        let has_open_regions = rare.regions.is_some();
        match rare.ancestors.get(depth) {
            Some(state) => Some(Turn { state, is_innermost: false, has_open_regions }),
            None if depth == rare.ancestors.len() => {
                let state = self.current.as_option()?;
                Some(Turn { state, is_innermost: true, has_open_regions })
            }
            None => None,
        }
    }

    /// Returns the active states, outermost first.
    pub(crate) fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.ancestors().iter().chain(self.current.as_option())
    }

    /// Returns how many of the active states, from the outermost, are the same as in `path`.
    pub(crate) fn shared_with(&self, path: &[StateRef<T>]) -> usize {
        let mut shared = 0;
        while shared < path.len() && self.at(shared) == Some(&path[shared]) {
            shared += 1;
        }
        shared
    }

    pub(crate) fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        let is_here = self.path().any(|active| same(&**active, state));
        is_here || self.has_open_regions() && self.entry_of(state).is_some()
    }

    /// Records a request if it is one to sleep. The machine falls asleep when the callback has returned.
    #[inline]
    pub(crate) fn note(&mut self, request: &Request<T>) {
        if let Request::Sleep(seconds) = request {
            self.rare_mut().waiting.wanted = Some(*seconds);
        }
    }

    /// Returns whether the machine has timers or is asleep.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.waiting.is_waiting())
    }

    /// Returns the number that the state with the scope `by` stores under a key.
    pub(crate) fn noted(&self, by: Scope, key: u32) -> Option<f64> {
        self.rare.as_ref()?.waiting.timers.noted(by, key)
    }

    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.waiting.is_asleep())
    }

    /// Puts the machine to sleep until a time, in seconds. At infinity, it does not wake by itself.
    pub(crate) fn sleep_until(&mut self, wakes_at: f64) {
        let revision = self.current.revision();
        let waiting = &mut self.rare_mut().waiting;
        waiting.sleep_until(wakes_at);
        waiting.revision = revision;
    }

    /// Returns whether the machine is asleep and the revision of its innermost state has changed since it fell asleep.
    pub(crate) fn is_outdated(&self) -> bool {
        self.asleep_since().is_some_and(|revision| revision != self.current.revision())
    }

    /// Returns the revision of the innermost state when the machine fell asleep. `None` while it is awake.
    #[inline]
    pub(crate) fn asleep_since(&self) -> Option<usize> {
        let waiting = self.rare.as_ref().map(|rare| &rare.waiting).filter(|waiting| waiting.is_asleep());
        waiting.map(|waiting| waiting.revision)
    }

    /// Wakes the machine. Returns whether it was asleep.
    #[inline]
    pub(crate) fn wake(&mut self) -> bool {
        self.rare.as_mut().is_some_and(|rare| rare.waiting.wake())
    }

    /// Returns when a machine with this seat next has something to do.
    pub(crate) fn next_wake(&self, global: &StateRef<T>) -> NextWake {
        let regions = self.regions().map(|seat| seat.next_wake(&StateRef::NONE));
        regions.fold(self.next_own_wake(global), NextWake::sooner)
    }

    /// Returns when a machine next has something to do outside of the open regions of this seat.
    #[inline]
    pub(crate) fn next_own_wake(&self, global: &StateRef<T>) -> NextWake {
        let is_updating = |state: &StateRef<T>| !state.is_passive();
        let is_awake = !self.is_asleep() || self.is_outdated();
        let is_path_updating =
            || self.ancestors().iter().any(is_updating) || self.current.as_option().is_some_and(is_updating);
        if global.as_option().is_some_and(is_updating) || is_awake && is_path_updating() {
            return NextWake::EveryTick;
        }
        self.rare.as_ref().map_or(NextWake::Never, |rare| NextWake::of(rare.waiting.next()))
    }

    /// Returns the data for queries while a change to `target` is under way. Without a change, `target` is `StateRef::NONE`.
    pub(crate) fn view<'v>(&'v self, target: &'v StateRef<T>) -> View<'v, T> {
        View {
            current: &self.current,
            previous: &self.previous,
            target,
            ancestors: self.ancestors(),
            entered_at: self.entered_at,
            ancestors_entered_at: self.rare.as_ref().map_or(&[], |rare| &rare.ancestors_entered_at),
            around: None,
            regions: self.rare.as_ref().and_then(|rare| rare.regions.as_deref()),
        }
    }

    /// Makes `state`, a child of the current state, the current state, entered at `entered_at`, in seconds.
    pub(crate) fn descend(&mut self, state: StateRef<T>, entered_at: f64) {
        let parent = mem::replace(&mut self.current, state);
        let parent_entered_at = mem::replace(&mut self.entered_at, entered_at);
        let rare = self.rare_mut();
        rare.ancestors.push(parent);
        rare.ancestors_entered_at.push(parent_entered_at);
    }

    /// Replaces all active states but the outermost `kept` with `current`, entered at `at`, in seconds. Returns the old current
    /// state.
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

    /// Keeps the outermost `kept` states of a path that ended in `from` as ancestors. Wakes the machine, and ends the timers of
    /// the other states.
    fn keep(&mut self, kept: usize, from: &StateRef<T>, entered_at: f64) {
        let rare = self.rare_mut();
        if kept > rare.ancestors.len() {
            rare.ancestors.push(from.clone());
            rare.ancestors_entered_at.push(entered_at);
        }
        rare.ancestors_entered_at.truncate(kept);
        let ended = rare.waiting.change(kept);
        // There are open regions here only if an `exit` has lent the seat and regions were opened meanwhile.
        let closed = rare.regions.take();
        // Dropped last: the `Drop` of a state or message may panic (rule 22).
        rare.ancestors.truncate(kept);
        drop(ended);
        drop(closed);
    }

    /// Moves the active path to the stack, with its timers, and makes `first` the current state. `leave_timers` adds the timers
    /// that the states of the path have requested and that are not yet set. `now` is in seconds. Returns the old current state.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is passed in registers need not be written and waited for")]
    pub(crate) fn push(
        &mut self,
        first: StateRef<T>,
        leave_timers: &mut dyn FnMut(&mut Timers<T>),
        now: f64,
    ) -> StateRef<T> {
        let from = mem::replace(&mut self.current, first);
        let entered_at = mem::replace(&mut self.entered_at, now);
        self.rare_mut().push(&from, entered_at, leave_timers, now);
        from
    }

    /// Takes the top path off the stack and makes `first`, its outermost state, the current state. `now` is in seconds. Writes
    /// the path to `resumption`, with the times and timers that its other states get back when they are resumed, if there are
    /// any. Returns the old current state.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is passed in registers need not be written and waited for")]
    pub(crate) fn pop(&mut self, first: StateRef<T>, now: f64, resumption: &mut Option<Resumption<T>>) -> StateRef<T> {
        let from = mem::replace(&mut self.current, first);
        self.entered_at = now - self.rare_mut().pop(now, resumption).unwrap_or(NEVER);
        if let Some(resumption) = resumption.as_mut().filter(|_| !self.current.is_none()) {
            self.resume(resumption);
        }
        from
    }

    /// Gives the current state, which is being resumed, its time and its timers back.
    pub(crate) fn resume(&mut self, resumption: &mut Resumption<T>) {
        let Resumption { suspended: Suspended { times, timers, .. }, now, running } = resumption;
        let depth = self.ancestors().len();
        self.entered_at = *now - times[depth];
        let scope = Scope::state(depth);
        let is_whole = depth + 1 == times.len();
        let list = &mut self.rare_mut().waiting.timers;
        // Of two changes in the next tick, the one that was requested last counts.
        let takes_next = is_whole && !list.iter().any(|timer| timer.scope == Scope::Current);
        let is_of = |timer: &Timer<T>| timer.scope == scope || timer.scope == Scope::Current && takes_next;
        if !timers.iter().any(is_of) {
            return;
        }
        // The timers of the ancestors are back already. This inserts the timers of the current state among them, in the order in
        // which all of them were set. Timers that were set since the pop come last.
        let mut resumed = list.split_off(*running);
        let mut next = 0;
        for timer in timers {
            if is_of(timer) {
                list.push(Timer { due: *now + timer.due, ..timer.take() });
            } else if !timer.scope.ends_with(depth) && next < resumed.len() {
                list.push(resumed[next].take());
                next += 1;
            }
        }
        for timer in &mut resumed[next..] {
            list.push(timer.take());
        }
    }

    /// Records a state as the descendant of `composite` that was active last or, if `region` is given, that was active last in
    /// this region.
    pub(crate) fn remember_last(&mut self, composite: StateRef<T>, region: Option<usize>, last: StateRef<T>) {
        let history = &mut self.rare_mut().history;
        let is_in_region = |state| region.is_none() || region_in(state, &composite) == region;
        let known = history.iter().position(|(of, last)| *of == composite && is_in_region(last));
        if known.is_none() {
            history.retain(|(of, _)| !of.is_unreachable());
        }
        // The entries are in the order in which their composite states were last left.
        let removed = known.or((history.len() == MOST_REMEMBERED).then_some(0)).map(|at| history.remove(at));
        history.push((composite, last));
        // Dropped last: a state's `Drop` may panic (rule 22).
        drop(removed);
    }

    /// Counts a change that keeps the outermost `kept` active states, for the callback that has lent the seat.
    #[inline]
    pub(crate) fn note_change(&mut self, kept: usize) {
        if let Some(lent) = self.rare.as_mut().and_then(|rare| rare.lent.as_mut()) {
            lent.made += 1;
            lent.kept = lent.kept.min(kept);
        }
    }

    /// Returns whether a callback has lent the seat.
    pub(crate) fn is_lent(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.lent.is_some())
    }

    /// Returns whether the seat was lent in an `exit` or `suspend`.
    pub(crate) fn is_being_left(&self) -> bool {
        self.rare.as_ref().and_then(|rare| rare.lent).is_some_and(|lent| lent.is_being_left)
    }

    /// Begins a loan of the seat, and counts its changes from now on. Returns the loan around this one, if there is one.
    pub(crate) fn begin_loan(&mut self, is_being_left: bool) -> Option<SeatLoan> {
        let lent = SeatLoan { is_being_left: is_being_left || self.is_being_left(), made: 0, kept: usize::MAX };
        self.rare_mut().lent.replace(lent)
    }

    /// Ends a loan, and adds its changes to the loan around it. Returns how many changes were made, and how many of the active
    /// states, from the outermost, stayed active through all of them.
    pub(crate) fn end_loan(&mut self, outer: Option<SeatLoan>) -> (u32, usize) {
        // The callback may have replaced the seat with another one. This counts as a change that leaves all states.
        let lent = self.rare_mut().lent.take();
        let (made, kept) = lent.map_or((1, 0), |lent| (lent.made, lent.kept));
        let outer = outer.map(|outer| SeatLoan { made: outer.made + made, kept: outer.kept.min(kept), ..outer });
        self.rare_mut().lent = outer;
        self.tidy();
        (made, kept)
    }

    /// Frees the box of the rare data when nothing has been stored in it for many ticks on end. After that, the machine is as
    /// fast as one that never had any. A machine that sets timers again and again keeps its box, so that it does not allocate.
    #[inline]
    pub(crate) fn rest(&mut self) {
        let Some(rare) = &mut *self.rare else { return };
        if !rare.ancestors.is_empty() {
            // A seat with ancestors needs its data, so the other checks are skipped.
            rare.waiting.clock = Standstill::new();
        } else if rare.waiting.clock.rests(rare.is_plain()) {
            self.rare = RareBox::NONE;
        }
    }

    /// Frees the box of the rare data if nothing is stored in it.
    pub(crate) fn tidy(&mut self) {
        if self.rare.as_ref().is_some_and(|rare| rare.is_plain()) {
            self.rare = RareBox::NONE;
        }
    }

    /// Returns whether all stored data belongs to active or suspended states. This is true whenever code of the game runs. Debug
    /// builds check it before each callback and after each call. To keep this fast, only the ends of long lists are checked.
    pub(crate) fn is_whole(&self) -> bool {
        let Some(rare) = &*self.rare else { return true };
        let Rare { ancestors, ancestors_entered_at, stack, history, waiting, regions, .. } = &**rare;
        let has_path = !ancestors.iter().any(StateRef::is_none) && (ancestors.is_empty() || !self.current.is_none());
        let is_remembered = |(of, last): &(StateRef<T>, StateRef<T>)| !of.is_none() && !last.is_none();
        has_path
            && ancestors.len() == ancestors_entered_at.len()
            && are_of(newest(waiting.timers.entries()), self.depth(), true)
            // The seat of a suspended region has its path on its stack.
            && stack.len() <= MOST_PUSHED + usize::from(self.current.is_none())
            && regions.as_ref().is_none_or(|regions| !self.current.is_none() && regions.seats().all(Seat::is_whole))
            && stack.iter().rev().take(4).all(Suspended::is_whole)
            && history.len() <= MOST_REMEMBERED
            && history.iter().all(is_remembered)
    }
}

/// Returns the region of `composite` in which a state lies; `None` if it does not lie inside `composite`.
pub(crate) fn region_in<T: Owner>(state: &StateRef<T>, composite: &StateRef<T>) -> Option<usize> {
    let path = path_to(state).ok()?;
    let at = path.iter().position(|around| around == composite)?;
    path.get(at + 1).map(|child| child.region())
}

/// The most paths that can be suspended (rule 15).
pub(crate) const MOST_PUSHED: usize = 64;

/// The most composite states whose history a machine stores (rule 16).
pub(crate) const MOST_REMEMBERED: usize = 64;

/// The most ancestors that a state may have. A longer chain of parents is treated as endless.
pub(crate) const DEEPEST: usize = 64;

/// Returns the path from the outermost ancestor down to `state`. The error says why there is no such path.
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

/// Returns a path without its outermost `around` states.
pub(crate) fn behind<T: Owner>(path: &Path<T>, around: usize) -> Path<T> {
    let mut behind = Path::new();
    for state in &path[around..] {
        behind.push(state.clone());
    }
    behind
}

/// Returns the last timers of a list, at most 64.
fn newest<T: Owner>(timers: &[Timer<T>]) -> &[Timer<T>] {
    &timers[timers.len().saturating_sub(64)..]
}

/// Returns whether all timers belong to states of a path of `depth` states or, if `with_machine` is set, to the machine.
fn are_of<T: Owner>(timers: &[Timer<T>], depth: usize, with_machine: bool) -> bool {
    timers.iter().all(|timer| match timer.scope {
        Scope::State(_) => !timer.scope.ends_with(depth) || timer.is_gap(),
        Scope::Machine => with_machine,
        Scope::Current => true,
        Scope::Left => false,
    })
}

impl<T: Owner> Suspended<T> {
    /// Returns the time of the only state on the path, if there is only one, and it has neither timers nor regions.
    fn only_time(&self) -> Option<f64> {
        let [time] = self.times[..] else { return None };
        (self.timers.is_empty() && self.regions.is_none()).then_some(time)
    }

    fn is_whole(&self) -> bool {
        self.path.len() == self.times.len() && are_of(newest(&self.timers), self.path.len(), false)
    }
}

impl<T: Owner> Rare<T> {
    /// Moves the active path, whose innermost state is `from`, to the stack. See [`Seat::push`].
    fn push(&mut self, from: &StateRef<T>, entered_at: f64, leave_timers: &mut dyn FnMut(&mut Timers<T>), now: f64) {
        let Self { stack, ancestors, ancestors_entered_at, waiting, regions, .. } = self;
        // The path is filled when it is on the stack: a value that is moved right after it was written makes the processor wait.
        let top = stack.len();
        stack.push(Suspended {
            path: Path::new(),
            times: SmallVec::new(),
            timers: Timers::new(),
            regions: RareBox::NONE,
        });
        let Suspended { path, times, timers, .. } = &mut stack[top];
        waiting.change_into(0, timers);
        if !ancestors.is_empty() {
            path.extend(ancestors.drain(..));
            times.extend(ancestors_entered_at.drain(..).map(|at| now - time_or_zero(at)));
        }
        if !from.is_none() {
            path.push(from.clone());
            times.push(now - time_or_zero(entered_at));
        }
        for timer in &mut *timers {
            timer.due -= now;
        }
        let closed = regions.take();
        // `leave_timers` is called only when the path is on the stack: it drops timers of states that had been left before,
        // and a message's `Drop` may panic (rule 22).
        leave_timers(timers);
        drop(closed);
    }

    /// Takes the top path off the stack, and ends the timers of the active path. See [`Seat::pop`]. Returns the time of the path,
    /// if it is a single state that gets nothing else back, like nearly all paths. Such a path is not moved to `resumption`,
    /// because this would take longer.
    fn pop(&mut self, now: f64, resumption: &mut Option<Resumption<T>>) -> Option<f64> {
        self.ancestors_entered_at.clear();
        // Dropped last: a state's `Drop` may panic (rule 22).
        let mut left = Path::new();
        if !self.ancestors.is_empty() {
            left.extend(self.ancestors.drain(..));
        }
        let ended = self.waiting.change(0);
        let closed = self.regions.take();
        let time = self.stack.last().and_then(Suspended::only_time);
        if time.is_some() {
            self.stack.truncate(self.stack.len() - 1);
        } else {
            let running = self.waiting.timers.len();
            *resumption = self.stack.pop().map(|suspended| Resumption { suspended, now, running });
        }
        drop(left);
        drop(ended);
        drop(closed);
        time
    }

    /// Returns whether a seat can do without this data.
    #[inline]
    fn is_plain(&self) -> bool {
        self.regions.is_none() && self.is_plain_without_regions()
    }

    fn is_plain_without_regions(&self) -> bool {
        let Self { ancestors, ancestors_entered_at: _, stack, history, trail, waiting, regions: _, lent } = self;
        let has_states = || !(ancestors.is_empty() && stack.is_empty() && history.is_empty() && trail.is_empty());
        !has_states() && waiting.is_none() && lent.is_none()
    }
}

#[cfg(feature = "std")]
#[cold]
fn empty_regions<T: Owner>(regions: Regions<T>, take: &mut dyn FnMut(Then<T>)) {
    for mut seat in regions.into_seats() {
        seat.empty_into(&mut *take);
    }
}

#[cfg(feature = "std")]
impl<T: Owner> Rare<T> {
    /// Empties the rare data, but keeps its memory. Passes the states and messages that it held to `take`.
    pub(crate) fn empty_into(&mut self, take: &mut dyn FnMut(Then<T>)) {
        let Self { ancestors, ancestors_entered_at, stack, history, trail, waiting, regions, lent: _ } = self;
        ancestors_entered_at.clear();
        // Popped rather than drained: most lists are empty, and a drain takes longer to find that out.
        while let Some(state) = ancestors.pop().or_else(|| trail.pop().map(|footprint| footprint.state)) {
            take(state.into());
        }
        while let Some(Suspended { path, times: _, timers, regions }) = stack.pop() {
            if let Some(regions) = regions.into_option() {
                empty_regions(*regions, take);
            }
            for state in path {
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
        if let Some(regions) = regions.take().into_option() {
            empty_regions(*regions, take);
        }
    }

    /// Exchanges the data that does not follow from the current state: the stack and the history and, if `with_timers` is set,
    /// the timers and the sleep.
    #[inline(never)]
    pub(crate) fn swap_memory(&mut self, other: &mut Self, with_timers: bool) {
        mem::swap(&mut self.stack, &mut other.stack);
        mem::swap(&mut self.history, &mut other.history);
        if with_timers {
            self.waiting.swap(&mut other.waiting);
        }
    }

    /// Returns whether there is data that does not follow from the current state: a stack, a history or timers. A sleep without
    /// timers does not count.
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

/// Copies the rare data of a seat into the box of another seat. If there is nothing to copy, the box is emptied and kept.
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
        self.regions.clone_from(&source.regions);
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
            regions: RareBox::NONE,
            lent: None,
        }
    }
}

impl<T: Owner> Clone for Footprint<T> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), ..*self }
    }
}

impl<T: Owner> Clone for Suspended<T> {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            times: self.times.clone(),
            timers: self.timers.clone(),
            regions: self.regions.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.path.clone_from(&source.path);
        self.times.clone_from(&source.times);
        self.timers.clone_from(&source.timers);
        self.regions.clone_from(&source.regions);
    }
}
