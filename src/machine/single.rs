//! One owner's machine while it runs: its seat, its ticks, and the queue of the requests that its callbacks make.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::{mem, ptr};

use super::observer::Observer;
use super::quiet::Quiet;
use super::regions::{Outer, RegionId, RegionPath, Tree, own};
use super::seat::{Rare, Seat, SeatLoan, Turn};
use super::settings::{MOST_CHANGES, Settings};
use super::waiting::{Awaited, Pending, Scope, Timer, Timers};
use crate::boxed::RareBox;
use crate::change::Cause;
use crate::fsm::{ActOnSeat, Fsm, Machines, Order, Request, View, time_or_zero};
use crate::owner::{Owner, now};
use crate::span::{due_after, opens_at};
use crate::state::{State, StateRef};

/// One owner's machine while it runs.
pub(crate) struct Single<'a, T: Owner> {
    /// The seat of the machine, or of the region whose callback is running.
    pub(crate) seat: &'a mut Seat<T>,
    /// The seats around that of the region; `None` outside of regions.
    pub(crate) outer: RareBox<Outer<T>>,
    /// `None` if they are the default.
    settings: Option<&'a Settings<T>>,
    pub(crate) requests: Requests<T>,
    /// The target of the change under way; `StateRef::NONE` when there is no change.
    pub(crate) target: StateRef<T>,
    /// Whether an `exit` or `suspend` is running.
    pub(crate) exiting: bool,
    /// Whether requests that were made before the `exit` or `suspend` are held back until it has returned.
    pub(crate) has_waiting: bool,
    /// How many calls that carry out requests within a callback are running, nested in each other.
    pub(crate) nested: u16,
    /// How many changes and messages to oneself the outermost callback has led to. The highest bit says whether a request of
    /// this callback to sleep was carried out. Both are in one number, so that one comparison finds out whether anything is
    /// left to do.
    pub(crate) count: u32,
    /// How many changes have been made since the machine began to run. This is a number rather than a flag, so that it and
    /// `count` are reset with one store.
    pub(crate) made: u32,
    /// How many of the active states, from the outermost, have stayed active since the innermost message that is being offered
    /// was sent, or since the innermost call within a callback began.
    pub(crate) kept: usize,
    /// The scope of the callback that is running: its state, or the machine.
    pub(crate) scope: Scope,
    /// Whether the seat may have changed, for example because an `exit` or a start has begun.
    pub(crate) is_touched: bool,
    /// Whether a guard has refused a change ([`HAS_REFUSED`]), and whether a change has been made in a region
    /// ([`HAS_CHANGED_INSIDE`]). This is one number, so that both are reset with one store.
    pub(crate) marks: u8,
    pub(crate) observer: Option<&'a mut dyn Observer<T>>,
    /// For how long the states have declared that they have nothing to do.
    pub(crate) quiet: Quiet,
    pub(crate) descent: Descent,
}

/// Whether the states of a path are being entered, and whether `Fsm::stay` ends this (rule 38).
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Descent {
    /// No path is being entered. A change that enters only one state need not set `Open`.
    None,
    Open,
    Stayed,
}

/// The bits of [`Single::marks`].
pub(crate) const HAS_REFUSED: u8 = 1;
pub(crate) const HAS_CHANGED_INSIDE: u8 = 2;

/// The highest bit of [`Single::count`].
pub(crate) const ASKED_TO_SLEEP: u32 = 1 << 31;

impl<'a, T: Owner> Single<'a, T> {
    #[inline]
    pub(crate) fn new(seat: &'a mut Seat<T>, settings: Option<&'a Settings<T>>) -> Self {
        Self {
            seat,
            outer: RareBox::NONE,
            settings,
            requests: Requests::new(),
            target: StateRef::NONE,
            exiting: false,
            has_waiting: false,
            nested: 0,
            count: 0,
            made: 0,
            kept: 0,
            scope: Scope::State(0),
            is_touched: false,
            marks: 0,
            observer: None,
            quiet: Quiet::NONE,
            descent: Descent::None,
        }
    }

    /// Creates a machine with an observer.
    #[inline]
    pub(crate) fn observed(
        seat: &'a mut Seat<T>,
        settings: Option<&'a Settings<T>>,
        observer: Option<&'a mut dyn Observer<T>>,
    ) -> Self {
        let mut single = Self::new(seat, settings);
        single.observer = observer;
        single
    }

    #[inline]
    pub(crate) fn settings(&self) -> &'a Settings<T> {
        self.settings.unwrap_or(Settings::DEFAULTS)
    }

    /// Returns the most changes and messages to oneself that one callback may lead to.
    #[inline]
    pub(crate) fn limit(&self) -> u32 {
        self.settings.map_or(MOST_CHANGES, Settings::limit)
    }

    /// Tells the observer that the active states of the machine have changed.
    #[inline]
    pub(crate) fn show(&mut self, cx: &mut T::Context<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.moved(&Tree::new(self.outer.as_deref(), self.seat), cx);
        }
    }

    /// Returns how many changes and messages to oneself the outermost callback has led to.
    #[inline]
    pub(crate) fn led_to(&self) -> u32 {
        self.count & !ASKED_TO_SLEEP
    }

    /// Creates the handle for a callback.
    #[inline]
    pub(crate) fn fsm(&mut self) -> Fsm<'_, T> {
        debug_assert!(self.seat.is_whole(), "a machine keeps what belongs to no state of it");
        Fsm::new(self, 0)
    }

    /// Drops all pending requests, and a request to sleep, after a panic or a cycle. A state whose stored number is dropped must
    /// be updated again, even if it has declared that it has nothing to do.
    pub(crate) fn forget_requests(&mut self) {
        self.quiet.keep(0);
        self.count &= !ASKED_TO_SLEEP;
        self.forget_sleep();
        self.requests = Requests::new();
    }
}

impl<T: Owner> Single<'_, T> {
    /// Calls `act` within a callback, and returns to the callback.
    fn within_callback(&mut self, act: &mut dyn FnMut(&mut Self)) {
        if self.outer.is_some() { self.within_region(act) } else { self.within_seat(act) }
    }

    /// Calls `act` within a callback of a state outside of regions, and returns to the callback.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that the call needs no further frame")]
    fn within_seat<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let now = WithinCallback::new(self);
        let result = act(now.single);
        now.end();
        result
    }

    /// Calls `act` within a callback of a state in a region, and returns to the callback. Each region around the state counts as
    /// one more nested call, because a change that opens regions takes more of the stack (rule 13).
    #[cold]
    fn within_region(&mut self, act: &mut dyn FnMut(&mut Self)) {
        let region = self.region_path();
        let regions = u16::try_from(self.level()).unwrap_or(u16::MAX);
        let mut inside = WithinRegion { now: Some(WithinCallback::new(self)), region };
        if let Some(now) = &mut inside.now {
            now.single.nested = now.single.nested.saturating_add(regions);
            act(now.single);
        }
        inside.end();
    }

    /// Carries out a request of a state in a region within the call of its callback.
    #[cold]
    fn execute_now_inside(
        &mut self,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let inside = self.asked_inside(request);
        let (request, mut is_done) = (inside.as_ref().unwrap_or(request), false);
        self.within_region(&mut |single| is_done = single.execute_now(order, request, owner, cx));
        is_done
    }

    /// Runs one tick (rule 4).
    pub(crate) fn tick(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.carry_out_waiting(owner, cx);
        self.tick_active(owner, cx);
    }

    /// Carries out what is due in the seat at the beginning of its tick.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a fiftieth of what a tick takes")]
    pub(super) fn carry_out_waiting(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.is_waiting() {
            self.carry_out_due(owner, cx);
        } else {
            self.seat.rest();
        }
    }

    /// Runs the part of a tick that follows the due timers: updates the global state, then the active states.
    #[inline]
    pub(crate) fn tick_active(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        let is_updated = self.settings.is_some() && self.tick_global(owner, cx);
        self.tick_states(is_updated, owner, cx);
    }

    /// Runs the tick of a machine that has to update only `state`, like most machines, and the global state, if there is one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a fifth of what a tick takes")]
    pub(crate) fn tick_lone(&mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.settings.is_some() {
            return self.tick_lone_beside_global(state, owner, cx);
        }
        self.tick_last(false, state, owner, cx);
    }

    /// Does the same as [`tick_lone`](Self::tick_lone) in a machine with settings. It is not inlined, because the caller would
    /// need more registers.
    #[inline(never)]
    fn tick_lone_beside_global(&mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        let is_updated = self.tick_global(owner, cx);
        // A change that a guard has refused may have opened regions, in which there is no state yet.
        if self.is_touched || self.seat.has_open_regions() {
            return self.tick_from(0, None, is_updated, owner, cx);
        }
        self.scope = Scope::State(0);
        self.tick_last(is_updated, state, owner, cx);
    }

    /// Updates the last state of a tick, and ends the tick.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a fifth of what a tick takes")]
    fn tick_last(&mut self, is_updated: bool, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        let is_updated = self.tick_state(state, owner, cx) || is_updated;
        self.settle_callback(owner, cx);
        self.end_tick(is_updated, owner, cx);
    }

    /// Runs the rest of a tick in which the states outside of a depth have been updated. The state at this depth has decided in
    /// its update to change to the state that is given. If none is given, it is updated here. `is_updated` says whether a state
    /// has already been updated in this tick.
    #[inline(never)]
    pub(crate) fn tick_from(
        &mut self,
        depth: usize,
        decided: Option<StateRef<T>>,
        mut is_updated: bool,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) {
        let mut next = Some(depth);
        if let Some(to) = decided {
            next = (depth < self.seat.ancestors().len()).then_some(depth + 1);
            (self.kept, self.scope) = (usize::MAX, Scope::state(depth));
            self.execute_change(Cause::Change, &to, owner, cx);
            self.settle_callback(owner, cx);
        }
        if let Some(depth) = next {
            is_updated |= self.tick_path::<false>(depth, owner, cx);
        }
        self.end_tick(is_updated, owner, cx);
    }

    /// Updates the global state, if there is one. Returns whether it was updated.
    #[inline]
    fn tick_global(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let Some(global) = self.settings().global.as_option() else { return false };
        self.scope = Scope::Machine;
        let is_updated = self.tick_state(&**global, owner, cx);
        self.settle_callback(owner, cx);
        is_updated
    }

    /// Updates the active states after the global state, and ends the tick.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that a tick needs no second frame for its callbacks")]
    fn tick_states(&mut self, mut is_updated: bool, owner: &mut T, cx: &mut T::Context<'_>) {
        is_updated |= self.tick_path::<false>(0, owner, cx);
        self.end_tick(is_updated, owner, cx);
    }

    /// Runs the tick of a machine without a global state that has only `state` to update, and its open regions.
    #[inline]
    pub(crate) fn tick_lone_with_regions(&mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        self.seat.rest();
        self.kept = usize::MAX;
        let mut is_updated = self.tick_state(state, owner, cx);
        self.settle_callback(owner, cx);
        if self.kept > 0 {
            is_updated |= self.tick_regions(owner, cx);
        }
        self.end_tick(is_updated, owner, cx);
    }

    /// Updates a state, unless it is passive. Returns whether it was updated.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that the result takes no time where the owner has no `after_update`")]
    fn tick_state(&mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let mut fsm = self.fsm();
        state.tick(owner, &mut fsm, cx);
        !fsm.is_unused()
    }

    /// Ends a tick: calls the owner's `after_update` if a state was updated in the tick (rule 35). Returns `false` if the owner is
    /// known to have only the provided method.
    #[inline]
    pub(crate) fn end_tick(&mut self, is_updated: bool, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if !is_updated {
            return true;
        }
        let fsm = self.fsm();
        owner.after_update(&fsm, cx);
        !fsm.is_unused()
    }

    /// Does what `entry_of` does for any machine. It is not inlined there, so that the usual case needs few registers.
    #[inline(never)]
    fn entry_in_path(&self, state: &dyn State<T>) -> (Option<usize>, f64) {
        self.view(0).entry_of_defined(state)
    }

    /// Runs the rest of a tick: updates the active states of the seat from `depth` on, then those in its regions. Returns whether
    /// a state was updated, or has declared that there is nothing to do.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that a tick needs no second frame for its callbacks")]
    pub(crate) fn tick_path<const IN_REGION: bool>(
        &mut self,
        mut depth: usize,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let mut is_updated = false;
        let level = if IN_REGION { self.level() } else { 0 };
        let mut kept = self.kept;
        if depth == 0 {
            self.kept = usize::MAX;
        }
        let mut were_open = self.seat.has_open_regions();
        while let Some(Turn { state, is_innermost, has_open_regions }) = self.seat.turn(depth) {
            were_open = has_open_regions;
            if IN_REGION {
                kept = kept.min(self.kept);
            }
            self.kept = usize::MAX;
            if !self.quiet.is_none() && self.quiet.has(depth, || state.revision(), || now::<T>(cx)) {
                is_updated = true;
            } else {
                self.scope = Scope::state(depth);
                is_updated |= if let Some(state) = state.as_singleton() {
                    self.tick_state(state, owner, cx)
                } else {
                    let state = state.clone();
                    self.tick_state(&*state, owner, cx)
                };
                self.settle_callback(owner, cx);
                if IN_REGION && self.level() != level {
                    return is_updated;
                }
            }
            if is_innermost {
                break;
            }
            depth += 1;
        }
        // A change in the last callback may have left the state whose regions were open.
        if were_open && self.seat.has_open_regions() && self.kept >= self.seat.depth() {
            is_updated |= self.tick_open_regions(owner, cx);
        }
        if IN_REGION && self.level() == level {
            // A callback that is still running may have lent the machine for this tick.
            self.kept = self.kept.min(kept);
        }
        is_updated
    }
}

/// Requests, first in, first out (rule 10).
///
/// The first two requests are stored inline, so they need no allocation. The others are behind a pointer. In this way,
/// creating and dropping an empty queue, which a machine does in every tick, costs almost nothing.
pub(crate) struct Requests<T: Owner> {
    first: Option<Request<T>>,
    /// `None` if `first` is `None`.
    second: Option<Request<T>>,
    /// The other requests. `None` if there are none.
    more: RareBox<More<T>>,
}

/// The requests that few machines have.
struct More<T: Owner> {
    /// The requests behind `first` and `second`.
    behind: VecDeque<Request<T>>,
    /// The requests that wait behind a message under way. For messages that are offered within each other, the requests behind
    /// the innermost one come last.
    set_aside: Vec<VecDeque<Request<T>>>,
}

impl<T: Owner> More<T> {
    fn is_empty(&self) -> bool {
        self.behind.is_empty() && self.set_aside.is_empty()
    }

    #[inline(never)]
    fn any(&self, is_one: &dyn Fn(&Request<T>) -> bool) -> bool {
        let is_in = |queue: &VecDeque<_>| queue.iter().any(is_one);
        is_in(&self.behind) || self.set_aside.iter().any(is_in)
    }
}

impl<T: Owner> Default for More<T> {
    fn default() -> Self {
        Self { behind: VecDeque::new(), set_aside: Vec::new() }
    }
}

impl<T: Owner> Requests<T> {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { first: None, second: None, more: RareBox::NONE }
    }

    /// Returns whether nothing is stored. A list of requests that were set aside counts as stored even if all of them have been
    /// withdrawn.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.more.is_none()
    }

    /// Returns how many requests there are. Requests that were set aside do not count.
    pub(crate) fn in_turn(&self) -> usize {
        let behind = self.more.as_ref().map_or(0, |more| more.behind.len());
        usize::from(self.first.is_some()) + usize::from(self.second.is_some()) + behind
    }

    /// Returns whether there are any requests, besides those to store a number.
    pub(crate) fn are_any(&self) -> bool {
        self.any(&|request| !request.is_note())
    }

    #[inline]
    pub(crate) fn push(&mut self, request: Request<T>) {
        if self.first.is_none() {
            self.first = Some(request);
        } else {
            self.push_behind(request);
        }
    }

    #[cold]
    fn push_behind(&mut self, request: Request<T>) {
        if self.second.is_none() {
            self.second = Some(request);
        } else {
            self.more.get_or_insert_default().behind.push_back(request);
        }
    }

    /// Takes out the first request if it is for a change to a singleton, like nearly all requests. The request then stays in
    /// registers. Copying it just after it was written, in pieces of another size, is the slowest part of a change.
    #[inline]
    pub(crate) fn pop_singleton(&mut self) -> Option<&'static dyn State<T>> {
        let Some(Request::ChangeSingleton(state)) = self.first else { return None };
        // A singleton needs no drop. `forget` saves the check for this.
        mem::forget(self.first.take());
        self.move_up();
        Some(state)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Request<T>> {
        // Checked first rather than taken: a take copies the entry even if it is `None`.
        self.first.as_ref()?;
        let request = self.first.take();
        self.move_up();
        request
    }

    /// Takes out all but the first `kept` requests. Requests that were set aside stay.
    #[cold]
    pub(crate) fn split_off(&mut self, kept: usize) -> VecDeque<Request<T>> {
        let mut behind = match &mut *self.more {
            None => VecDeque::new(),
            // `split_off` would allocate as much again.
            Some(more) if kept <= 2 => mem::take(&mut more.behind),
            Some(more) => more.behind.split_off(kept - 2),
        };
        for (nth, request) in [&mut self.first, &mut self.second].into_iter().enumerate().rev() {
            if let Some(request) = request.take_if(|_| nth >= kept) {
                behind.push_front(request);
            }
        }
        self.tidy();
        behind
    }

    /// Sets all requests aside until a message has been offered (rule 24). Returns whether there were any. Then
    /// [`take_back`](Self::take_back) must be called.
    #[inline]
    pub(crate) fn set_aside(&mut self) -> bool {
        let are_any = self.first.is_some();
        if are_any {
            let waiting = self.split_off(0);
            self.more.get_or_insert_default().set_aside.push(waiting);
        }
        are_any
    }

    /// Puts the list of requests that was set aside last in front of the other requests. Does nothing if they have been dropped
    /// meanwhile.
    #[cold]
    pub(crate) fn take_back(&mut self) {
        let Some(mut waiting) = self.more.as_mut().and_then(|more| more.set_aside.pop()) else { return };
        while let Some(request) = self.pop() {
            waiting.push_back(request);
        }
        self.first = waiting.pop_front();
        self.second = waiting.pop_front();
        if !waiting.is_empty() {
            self.more.get_or_insert_default().behind = waiting;
        }
        self.tidy();
    }

    fn tidy(&mut self) {
        if self.more.as_ref().is_some_and(|more| more.is_empty()) {
            self.more = RareBox::NONE;
        }
    }

    /// Takes out the requests for which `is_one` returns `true`, and returns them.
    fn withdraw(&mut self, is_one: &dyn Fn(&Request<T>) -> bool) -> Self {
        if self.any(is_one) { self.withdraw_each(&mut |request| is_one(request)) } else { Self::new() }
    }

    /// Does what [`withdraw`](Self::withdraw) does, and calls `is_one` exactly once for each request.
    fn withdraw_each(&mut self, is_one: &mut dyn FnMut(&Request<T>) -> bool) -> Self {
        let mut withdrawn = Self::new();
        if let Some(more) = &mut *self.more {
            for waiting in &mut more.set_aside {
                for request in mem::take(waiting) {
                    if is_one(&request) { withdrawn.push(request) } else { waiting.push_back(request) }
                }
            }
        }
        let mut left = Self::new();
        while let Some(request) = self.pop() {
            if is_one(&request) { &mut withdrawn } else { &mut left }.push(request);
        }
        if let Some(set_aside) = self.more.take().into_option().map(|more| more.set_aside) {
            left.more.get_or_insert_default().set_aside = set_aside;
        }
        *self = left;
        withdrawn
    }

    /// Takes out the requests for changes (rule 37).
    pub(crate) fn withdraw_changes(&mut self) {
        self.withdraw(&Request::is_change);
    }

    /// Takes out all requests, except those that store a number for a state (rule 37). Also withdraws a request to sleep whose
    /// turn in the queue has come, and which `count` has recorded. The caller withdraws it from the seats, too.
    pub(crate) fn withdraw_all(&mut self, count: &mut u32) {
        *count &= !ASKED_TO_SLEEP;
        self.withdraw(&|request| !request.is_note());
    }

    /// Takes out the timers for which `is_canceled` returns `true`, and returns them.
    fn cancel(
        &mut self,
        seat: &Seat<T>,
        of: Option<RegionId>,
        is_canceled: &mut dyn FnMut(&Pending<T>) -> bool,
    ) -> Self {
        self.withdraw_each(&mut |request| {
            let pending = own(request, of).and_then(|request| seat.pending_request(request));
            pending.is_some_and(|pending| is_canceled(&pending))
        })
    }

    fn len(&self) -> usize {
        let set_aside = self.more.as_ref().map_or(0, |more| more.set_aside.iter().map(VecDeque::len).sum());
        self.in_turn() + set_aside
    }

    #[inline]
    fn move_up(&mut self) {
        if self.second.is_some() {
            self.move_all_up();
        }
    }

    #[cold]
    fn move_all_up(&mut self) {
        mem::swap(&mut self.first, &mut self.second);
        if let Some(more) = &mut *self.more {
            self.second = more.behind.pop_front();
            self.tidy();
        }
    }
}

/// Timers in the queue, which wait to be set or carried out.
impl<T: Owner> Requests<T> {
    /// Takes out the timers of the states that a change leaves: all but the outermost `kept`. Returns these timers.
    pub(crate) fn end_timers(&mut self, kept: usize) -> Requests<T> {
        self.withdraw(&|request| request.ends_with(kept))
    }

    /// Takes out the timers of a region's states, all but the outermost `kept`. Returns these timers.
    pub(crate) fn end_in(&mut self, region: RegionId, kept: usize) -> Requests<T> {
        self.withdraw(&|request| match request {
            Request::InRegion(inside) => inside.is_of(region) && inside.request.ends_with(kept),
            _ => false,
        })
    }

    /// Moves the timers in the queue to `timers`, as the timers of a suspended path: their `due` is the number of seconds that
    /// remain. Drops the timers of states that had been left before.
    pub(crate) fn leave_timers(mut self, timers: &mut Timers<T>) {
        while let Some(request) = self.pop() {
            let request = match request {
                Request::InRegion(inside) => inside.into_inner().request,
                request => request,
            };
            let timer = match request {
                Request::After(after) => {
                    let after = after.into_inner();
                    // Negative seconds and NaN count as 0.
                    let due = due_after(after.seconds, 0.0).max(0.0);
                    Timer { due, scope: after.scope, then: after.then }
                }
                Request::Next(to) => {
                    timers.retain(|timer| timer.scope != Scope::Current);
                    Timer::next(to)
                }
                Request::Due(timer) => Timer { due: 0.0, ..timer.into_inner() },
                _ => continue,
            };
            let note = timer.note_key().and_then(|key| timers.iter_mut().find(|other| other.is_note(timer.scope, key)));
            if let Some(note) = note {
                *note = timer;
            } else if timer.scope != Scope::Left && (timer.due < f64::INFINITY || timer.then.is_note()) {
                // A timer of infinite seconds is never due.
                timers.push(timer);
            }
        }
    }

    /// Does what [`Fsm::asks_for_change`] says.
    pub(crate) fn ask_for_change(&self, is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        self.any(&|request| request.is_change_here(is_beside))
    }

    fn any(&self, is_one: &dyn Fn(&Request<T>) -> bool) -> bool {
        self.first.as_ref().is_some_and(is_one)
            || self.second.as_ref().is_some_and(is_one)
            || self.more.as_ref().is_some_and(|more| more.any(is_one))
    }
}

impl<T: Owner> Default for Requests<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The machine while a callback calls a method that carries out requests within the call. When the call ends, this restores the
/// target of the change around the callback, also after a panic, because the callback may catch the panic.
struct WithinCallback<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    target: StateRef<T>,
    made: u32,
    kept: usize,
    scope: Scope,
    exiting: bool,
    nested: u16,
    descent: Descent,
    /// Whether the callback is that of a state in a region. Then this value is in a [`WithinRegion`].
    is_inside: bool,
}

impl<'s, 'a, T: Owner> WithinCallback<'s, 'a, T> {
    fn new(single: &'s mut Single<'a, T>) -> Self {
        let target = mem::replace(&mut single.target, StateRef::NONE);
        let kept = mem::replace(&mut single.kept, usize::MAX);
        let descent = mem::replace(&mut single.descent, Descent::None);
        let (made, exiting, scope, nested) = (single.made, single.exiting, single.scope, single.nested);
        let is_inside = single.outer.is_some();
        Self { single, target, made, kept, scope, exiting, nested, descent, is_inside }
    }

    fn end(mut self) {
        self.go_back();
        mem::forget(self);
    }

    /// Notes that the region of the callback's state has been closed, so that the machine now works on a seat around this region.
    fn close(&mut self) {
        (self.made, self.kept, self.scope) = (!self.single.made, usize::MAX, Scope::Left);
    }

    /// Returns to the callback. A change made within the call cuts the change around the callback short, and may have left the
    /// callback's state.
    fn go_back(&mut self) {
        let Self { single, target, made, kept, scope, nested, descent, .. } = self;
        single.nested = *nested;
        let target = mem::replace(target, StateRef::NONE);
        (single.target, single.descent) =
            if single.made == *made { (target, *descent) } else { (StateRef::NONE, Descent::None) };
        single.scope = if scope.ends_with(single.kept) { Scope::Left } else { *scope };
        single.kept = single.kept.min(*kept);
    }
}

/// Runs only after a panic, which the callback may catch: [`end`](WithinCallback::end) forgets the value.
impl<T: Owner> Drop for WithinCallback<'_, '_, T> {
    fn drop(&mut self) {
        if !self.is_inside {
            self.single.move_to(&[]);
        }
        self.go_back();
        self.single.exiting = self.exiting;
        self.single.forget_requests();
    }
}

/// A [`WithinCallback`] of a callback of a state in a region. When the call ends, this also returns to the region's seat.
struct WithinRegion<'s, 'a, T: Owner> {
    /// `None` when the call has ended.
    now: Option<WithinCallback<'s, 'a, T>>,
    region: RegionPath,
}

impl<T: Owner> WithinRegion<'_, '_, T> {
    fn end(mut self) {
        if let Some(mut now) = self.now.take() {
            if !now.single.move_back(&self.region) {
                now.close();
            }
            now.end();
        }
    }
}

/// Runs before the `Drop` of [`WithinCallback`].
impl<T: Owner> Drop for WithinRegion<'_, '_, T> {
    fn drop(&mut self) {
        let Some(now) = &mut self.now else { return };
        if now.single.move_back(&self.region) {
            // The panic may have cut offers of messages short, so it is unknown which states of the region have been left.
            now.single.kept = 0;
        } else {
            now.close();
        }
    }
}

/// A seat that a callback has lent. Its `Drop`, which also runs after a panic, passes the seat's changes on to the machine.
struct Loan<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    /// The changes of the loan around this one.
    outer: Option<SeatLoan>,
}

impl<'s, 'a, T: Owner> Loan<'s, 'a, T> {
    fn begin(single: &'s mut Single<'a, T>) -> Self {
        let outer = single.seat.begin_loan(single.exiting);
        Self { single, outer }
    }
}

impl<T: Owner> Drop for Loan<'_, '_, T> {
    fn drop(&mut self) {
        let (made, kept) = self.single.seat.end_loan(self.outer.take());
        self.single.changed_while_lent(made, kept);
    }
}

impl<T: Owner> Machines<T> for Single<'_, T> {
    fn ask_singleton(&mut self, _: usize, to: &'static dyn State<T>) {
        self.requests.push(Request::ChangeSingleton(to));
    }

    fn ask(&mut self, _: usize, request: Request<T>) {
        let request = request.of(self.scope);
        if !self.exiting {
            self.seat.note(&request);
        }
        if self.outer.is_some() {
            let request = self.in_region(request);
            return self.requests.push(request);
        }
        self.requests.push(request);
    }

    /// Replaces a number at once, if no earlier request can end its state. This takes a fifth of the time of a request.
    fn wait(&mut self, _: usize, _: f64, awaited: Awaited<T>) -> bool {
        let Awaited::Note(note) = awaited else { return false };
        let scope = note.scope(self.scope);
        let is_early = !self.exiting && self.requests.is_empty();
        let seat = if scope == Scope::Machine { self.root() } else { &mut *self.seat };
        let Some(rare) = &mut *seat.rare else { return false };
        let is_replaced = is_early && rare.waiting.timers.note(scope, note);
        self.is_touched |= is_replaced;
        is_replaced
    }

    fn withdraw_changes(&mut self, _: usize) {
        if !self.exiting {
            self.requests.withdraw_changes();
        }
    }

    fn withdraw_all(&mut self, _: usize) {
        if !self.exiting {
            self.requests.withdraw_all(&mut self.count);
            self.forget_sleep();
        }
    }

    fn cancel(&mut self, _: usize, is_canceled: &mut dyn FnMut(&Pending<T>) -> bool) -> usize {
        if self.exiting {
            self.requests.push(Request::Cancel);
            return 0;
        }
        let mut places = Vec::new();
        self.seat.each_pending(&mut |nth, pending| {
            if is_canceled(&pending) {
                places.push(nth);
            }
        });
        let waiting = self.requests.cancel(self.seat, self.region_id(), is_canceled);
        let mut canceled = Timers::new();
        if let (Some(rare), false) = (&mut *self.seat.rare, places.is_empty()) {
            canceled = rare.waiting.timers.cancel(&places);
            self.is_touched = true;
        }
        canceled.len() + waiting.len()
    }

    fn stay(&mut self, _: usize) -> bool {
        if self.exiting {
            return false;
        }
        if self.descent == Descent::None {
            // If only one state is entered, its `enter` is the last one anyway.
            return !self.target.is_none() && self.target == self.seat.current;
        }
        self.descent = Descent::Stayed;
        if !self.target.is_none() {
            self.target = self.seat.current.clone();
        }
        true
    }

    fn execute_now(
        &mut self,
        _: usize,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if self.outer.is_some() {
            return self.execute_now_inside(order, request, owner, cx);
        }
        self.within_seat(|single| single.execute_now(order, request, owner, cx))
    }

    fn send_now(
        &mut self,
        _: usize,
        order: Order,
        owner: &mut T,
        message: &T::Message,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let mut is_handled = false;
        self.within_callback(&mut |single| is_handled = single.send_now(order, owner, message, cx));
        is_handled
    }

    fn seat(&self, _: usize) -> Option<&Seat<T>> {
        // The address of the seat is that of the machine's seat, even while the seat of a region is in its place.
        Some(self.seat)
    }

    fn lend(&mut self, _: usize, owner: &mut T, cx: &mut T::Context<'_>, act: ActOnSeat<'_, T>) {
        self.within_callback(&mut |single| {
            if !single.exiting {
                single.settle(owner, cx);
            }
            single.move_to(&[]);
            let loan = Loan::begin(single);
            act(owner, loan.single.seat, loan.single.settings(), cx);
        });
    }

    fn view(&self, _: usize) -> View<'_, T> {
        View { around: self.outer.as_ref().map(|outer| outer.as_around()), ..self.seat.view(&self.target) }
    }

    /// Mostly, `state` is the current state. For it, this takes a third of the time of a view.
    fn entry_of(&self, _: usize, state: &dyn State<T>) -> (Option<usize>, f64) {
        if ptr::addr_eq(&raw const *self.seat.current, state) {
            return (Some(self.seat.ancestors().len()), time_or_zero(self.seat.entered_at));
        }
        self.entry_in_path(state)
    }

    fn tree(&self, _: usize) -> Option<Tree<'_, T>> {
        Some(Tree::new(self.outer.as_deref(), self.seat))
    }

    fn noted(&self, _: usize, by: Scope, key: u32) -> Option<f64> {
        let outermost = self.outer.as_deref().filter(|_| by == Scope::Machine).map(Outer::outermost);
        outermost.unwrap_or(self.seat).noted(by, key)
    }

    fn look_back(&self, _: usize, look: &mut dyn FnMut(Option<&Rare<T>>)) {
        look(self.seat.rare.as_deref());
    }

    fn asks_for_change(&self, _: usize, is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        self.requests.ask_for_change(is_beside)
    }

    fn be_quiet(&mut self, _: usize, seconds: f64, revision: usize) {
        let Scope::State(depth) = self.scope else { return };
        let entered_at = time_or_zero(self.seat.view(&StateRef::NONE).entered_at(depth.into()));
        self.quiet.note(depth, opens_at(seconds, entered_at), revision);
    }

    fn global(&self) -> &StateRef<T> {
        &self.settings().global
    }

    fn has_requests(&self, _: usize) -> bool {
        // Requests made in an `exit` are refused, so they do not count.
        if self.exiting { self.has_waiting } else { self.requests.are_any() }
    }
}
