//! The algorithm that carries out requests and changes state.
//!
//! It works on a [`Seat`](crate::machine::seat::Seat), whether a machine or a batch stores it. The rule numbers are those of
//! `docs/semantics.md`.

#![expect(
    clippy::inline_always,
    reason = "so that a change to a singleton is compiled for itself, and what a caller knows of a change is not found out again"
)]

mod life;
pub(crate) mod path;
pub(crate) mod regions;
pub(super) mod sibling;
mod wait;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::{fmt, slice};

use log::{error, log};

use self::path::Misuse;
use self::sibling::change_to_sibling;
pub(crate) use self::wait::tell_endless_sleep;
use super::observer::Observer;
use super::regions::{Branch, InRegion};
use super::seat::{Footprint, Resumption};
use super::single::{ASKED_TO_SLEEP, Descent, HAS_CHANGED_INSIDE, HAS_REFUSED, Requests, Single};
use super::step::Step;
use super::visit::Visit;
use super::waiting::Scope;
use crate::boxed::RareBox;
use crate::change::{Cause, Change, End, NameOf, Outcome, Refusal};
use crate::fsm::{Action, ChangeTo, Order, Request, time_since};
use crate::owner::{Label, Owner, now, tell};
use crate::state::{Place, State, StateRef};

/// The most calls within callbacks that may be nested in each other (rule 13). In a debug build, a call takes 1.0 kB (messages)
/// to 4.5 kB (changes between nested states of different parents) of the stack, not counting the callbacks: together at most
/// 1.4 MB of the 2 MB of a thread. A call that a state in a region makes counts as two, and takes at most 7.4 kB (changes that
/// open regions).
pub(crate) const MOST_NESTED_CALLS: u16 = 320;

/// The maximum number of changes and messages to oneself that the error about a cycle names: the last ones before the limit.
const MOST_NAMED: u16 = 32;

/// Why requests made in `exit` are refused (rule 12).
pub(crate) const BEING_LEFT: &str = "the state is being left";

/// Why `stay` is refused (rule 38).
const NOT_ENTERED: &str = "the state is not being entered";

/// The steps of a change. In this file, one owner changes; in a batch, many owners change at once.
pub(crate) trait Steps {
    /// Asks the guards. Returns whether the change goes on.
    fn admit(&mut self) -> bool;
    fn exit(&mut self);
    /// Makes the new state the current one, and reports the change.
    fn swap(&mut self);
    /// Runs `enter`, and reports that the change is complete. Returns `false` if the change was abandoned instead.
    fn enter(&mut self) -> bool;
}

/// Carries out a change of one owner or many, in the order of rules 5 and 8. Returns whether the change was made and not
/// abandoned.
#[inline(always)]
pub(crate) fn carry_out(change: &mut impl Steps) -> bool {
    if !change.admit() {
        return false;
    }
    change.exit();
    change.swap();
    change.enter()
}

/// Carrying out the requests of a machine, one after the other.
impl<T: Owner> Single<'_, T> {
    /// Carries out a request within the call of a callback (rule 11).
    pub(crate) fn execute_now(
        &mut self,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if self.exiting {
            self.refused(request, owner, BEING_LEFT);
            return false;
        }
        if !self.may_nest(request, owner) {
            return false;
        }
        if order == Order::Behind {
            self.settle(owner, cx);
        }
        let is_done = self.execute(request, owner, cx);
        self.settle(owner, cx);
        is_done
    }

    /// Offers a message to oneself within the call of a callback (rule 24).
    pub(crate) fn send_now(
        &mut self,
        order: Order,
        owner: &mut T,
        message: &T::Message,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if self.exiting {
            self.refused(&"message to oneself", owner, BEING_LEFT);
            return false;
        }
        if !self.may_nest(&"message to oneself", owner) {
            return false;
        }
        if order == Order::Behind {
            self.settle(owner, cx);
        }
        let is_handled = self.offer_to_oneself(order, message, owner, cx);
        self.settle(owner, cx);
        is_handled
    }

    /// Begins a call within a callback. Returns `false` if it is nested in more calls than allowed (rule 13); then drops all
    /// requests and logs an error. The caller restores the number of calls when the call ends.
    #[inline]
    fn may_nest(&mut self, request: &dyn fmt::Display, owner: &T) -> bool {
        let may_nest = self.nested < MOST_NESTED_CALLS;
        if may_nest {
            self.nested += 1;
        } else {
            self.break_cycle(request, owner);
        }
        may_nest
    }

    /// Carries out the requests, first in, first out, until none is left (rule 10).
    #[inline]
    pub(crate) fn settle(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if !self.requests.is_empty() {
            self.settle_all(owner, cx);
        }
    }

    #[inline(never)]
    fn settle_all(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        loop {
            if let Some(to) = self.requests.pop_singleton() {
                self.execute_singleton(to, owner, cx);
            } else if let Some(request) = self.requests.pop() {
                if request.message().is_some() {
                    return self.settle_messages(request, owner, cx);
                }
                self.execute(&request, owner, cx);
            } else {
                return;
            }
        }
    }

    /// Carries out the requests of the callback that has just returned, and resets the count of changes for the next one.
    #[inline]
    pub(crate) fn settle_callback(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        // If the callback has made no request and no change within the call, nothing is left to do.
        if !(self.requests.is_empty() && self.count == 0) {
            self.settle_all(owner, cx);
            self.end_callback(owner, cx);
        }
    }

    /// Puts the machine to sleep, if the callback has requested it, and resets the count of changes for the next callback.
    #[inline]
    fn end_callback(&mut self, owner: &T, cx: &T::Context<'_>) {
        if mem::take(&mut self.count) & ASKED_TO_SLEEP != 0 {
            self.fall_asleep(owner, cx);
        }
    }

    /// Carries out one request, except a message. Returns whether this was done.
    pub(crate) fn execute(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match request {
            request if self.outer.is_some() => self.execute_from_region(request, owner, cx),
            Request::ChangeSingleton(to) => self.execute_singleton(*to, owner, cx),
            Request::Change(to) => self.execute_change(Cause::Change, to, owner, cx),
            Request::Revert if !self.seat.previous.is_none() => {
                let to = self.seat.previous.clone();
                self.execute_change(Cause::Revert, &to, owner, cx)
            }
            Request::Ensure(to) if self.seat.is_in_state(&**to) => true,
            Request::After(after) => self.set_timer(after, owner, cx),
            Request::Next(to) => self.set_next(to),
            Request::Due(timer) => self.carry_out_timer(timer, owner, cx),
            Request::Sleep(_) => {
                // The machine falls asleep when all requests of the callback are carried out.
                self.count |= ASKED_TO_SLEEP;
                true
            }
            Request::Stay => {
                self.refused(request, owner, NOT_ENTERED);
                false
            }
            Request::InRegion(inside) => self.execute_inside(inside, owner, cx),
            request => self.execute_other(request, owner, cx),
        }
    }

    /// Carries out a request while the machine works on the seat of a region. A change to a state beside the region's current
    /// state is made in this seat. Any other request is carried out in the seat of the machine itself.
    #[cold]
    fn execute_from_region(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match request {
            Request::Change(to) | Request::Force(to) if self.is_beside_in_region(to) => {
                let (cause, kept) = (request.cause(), self.seat.ancestors().len());
                self.may_change(request, owner) && self.change(Plan::into_one(cause, kept, to), owner, cx)
            }
            _ => self.outside_regions(|single| single.execute(request, owner, cx)),
        }
    }

    /// Carries out a request that concerns the seat of a region (rule 32).
    #[cold]
    fn execute_inside(&mut self, inside: &InRegion<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let InRegion { at, request } = inside;
        let is_open = self.move_back(at);
        let is_done = match request {
            Request::Sleep(_) => {
                self.count |= ASKED_TO_SLEEP;
                true
            }
            Request::After(after) if is_open => self.set_timer(after, owner, cx),
            Request::Next(to) if is_open => self.set_next(to),
            Request::Due(timer) => self.carry_out_timer(timer, owner, cx),
            Request::After(_) | Request::Next(_) => false,
            request if is_open => self.execute_other(request, owner, cx),
            request => {
                self.refused(request, owner, "the region that it was requested for has been left");
                false
            }
        };
        self.move_to(&[]);
        is_done
    }

    /// Returns whether a cycle is suspected, so that its changes and messages are recorded.
    #[inline]
    fn is_suspicious(&self) -> bool {
        self.led_to() + u32::from(MOST_NAMED) > self.limit() || self.is_deep()
    }

    #[inline]
    fn is_deep(&self) -> bool {
        self.nested > MOST_NESTED_CALLS - MOST_NAMED
    }

    /// Carries out a change to a singleton, like nearly all changes.
    pub(super) fn execute_singleton(
        &mut self,
        to: &'static dyn State<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if let Some(from) = self.seat.lone() {
            if !self.must_record() && self.outer.is_none() && to.place(None) == Place::Outermost {
                return change_to_sibling(self, (Cause::Change, 0), (from, to), owner, cx);
            }
        }
        if self.seat.has_open_regions() {
            if let Some(is_made) = Visit::new(self, to.region()).change_beside(to, owner, cx) {
                return is_made;
            }
        }
        self.execute_change(Cause::Change, &to.into(), owner, cx)
    }

    /// Returns whether the next change must be recorded: because the steps are recorded, or because a cycle is suspected. Also
    /// returns `true` if a request to sleep has been carried out.
    #[inline]
    pub(super) fn must_record(&self) -> bool {
        let is_recorded = self.observer.as_ref().is_some_and(|observer| observer.sees_steps());
        // `count` is large if a request to sleep has been carried out.
        is_recorded || self.count + u32::from(MOST_NAMED) >= self.limit() || self.is_deep()
    }

    /// Carries out a change that was requested with `change_state` or `revert_state`, between any states. Callers with a singleton
    /// call [`execute_singleton`](Self::execute_singleton) instead, which is faster between flat states.
    #[inline(never)]
    pub(super) fn execute_change(
        &mut self,
        cause: Cause,
        to: &StateRef<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if self.outer.is_some() {
            return self.execute_from_region(&Request::to(cause, to), owner, cx);
        }
        let state = &**to;
        let kept = self.kept_beside(state);
        if let Some(kept) = kept.filter(|&kept| self.seat.leaves_one(kept) && !self.must_record()) {
            let from = self.seat.current.clone();
            return change_to_sibling(self, (cause, kept), ((&from, &*from), (to, state)), owner, cx);
        }
        self.execute_any((cause, to), kept, owner, cx)
    }

    /// Carries out a change of which `kept` states stay active if only `to` is entered; `None` if `to` is elsewhere.
    #[inline(never)]
    fn execute_any(
        &mut self,
        (cause, to): (Cause, &StateRef<T>),
        kept: Option<usize>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if !self.may_change(&ChangeTo(cause, to), owner) {
            return false;
        }
        match kept {
            Some(kept) => self.change(Plan::into_one(cause, kept, to), owner, cx),
            None => self.execute_path(&Request::to(cause, to), owner, cx),
        }
    }

    #[inline(never)]
    fn execute_other(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.outer.is_some() {
            return self.may_change(request, owner) && self.execute_path(request, owner, cx);
        }
        if !self.may_change(request, owner) {
            return false;
        }
        match self.near_target(request) {
            Some((kept, to)) => self.change(Plan::into_one(request.cause(), kept, &to), owner, cx),
            None => self.execute_path(request, owner, cx),
        }
    }

    /// Returns whether a request may lead to a change. If not, this is logged.
    #[inline]
    fn may_change(&mut self, request: &dyn fmt::Display, owner: &T) -> bool {
        if self.is_cycle(request, owner) {
            return false;
        }
        if self.root().is_being_left() {
            self.refused(request, owner, BEING_LEFT);
            return false;
        }
        true
    }

    /// Carries out a change that may enter several states.
    #[inline(never)]
    fn execute_path(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let region = self.region_path();
        let route = self.find_route(request);
        let is_made = match &route {
            Ok((kept, Branch { path, regions })) => {
                let (cause, action) = (request.cause(), request.action());
                self.change(Plan { cause, kept: *kept, entered: &path[*kept..], regions, action }, owner, cx)
            }
            Err(Misuse { level, why }) => {
                self.refused(request, owner, Misuse { level: *level, why: why.clone() });
                false
            }
        };
        self.move_back(&region);
        is_made
    }

    #[inline(never)]
    fn change(&mut self, plan: Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        // Until the change has ended, `Fsm::target` returns this state.
        self.target = plan.entered.last().cloned().unwrap_or(StateRef::NONE);
        // Not as a tuple: moving a value right after it was written makes the processor wait.
        let from = self.seat.current.clone();
        let composite = self.composite();
        let left = (&from, &*from);
        let is_made = carry_out(&mut OneChange::new(self, plan, left, composite.as_ref(), &mut None, owner, cx));
        self.target = StateRef::NONE;
        is_made
    }

    /// Returns whether one callback has led to as many changes and messages as allowed (rule 13). If so, drops all requests and
    /// logs an error.
    #[inline]
    fn is_cycle(&mut self, request: &dyn fmt::Display, owner: &T) -> bool {
        let is_cycle = self.led_to() >= self.limit();
        if is_cycle {
            self.break_cycle(request, owner);
        }
        is_cycle
    }

    /// Drops all requests. The callback can lead to nothing more, so that the calls around it end soon, and the error is logged
    /// once.
    #[cold]
    fn break_cycle(&mut self, request: &dyn fmt::Display, owner: &T) {
        self.forget_requests();
        let (led_to, is_told) = (self.count, self.count > self.limit());
        self.count = self.limit() + 1;
        if is_told {
            return;
        }
        let trail = self.root().rare.as_mut().map(|rare| mem::take(&mut rare.trail)).unwrap_or_default();
        let depth = match &*self.outer {
            _ if self.nested < MOST_NESTED_CALLS => "",
            None => ", 320 calls deep",
            Some(_) => ", nested as deep as calls in regions can be",
        };
        let mut cycle = Cycle { led_to, depth, steps: Vec::new() };
        for Footprint { deed, state, .. } in trail.iter().rev() {
            cycle.add(deed, &NameOf(state.as_option()));
        }
        cycle.log(&Label(owner), request, &NameOf(self.seat.current.as_option()));
    }

    fn refused(&self, request: &dyn fmt::Display, owner: &T, why: impl Into<Misuse>) {
        log_misuse(owner, request, self.seat.current.as_option(), why);
    }
}

/// The error about a cycle (rule 13).
struct Cycle {
    /// How many changes and messages to itself the callback has led to.
    led_to: u32,
    /// The words about the depth of the calls, if they are nested as deep as allowed.
    depth: &'static str,
    /// What was done last, in reverse order.
    steps: Vec<String>,
}

impl Cycle {
    fn add(&mut self, deed: &str, state: &dyn fmt::Display) {
        let step = format!("{deed} {state}");
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    fn log(mut self, owner: &dyn fmt::Display, request: &dyn fmt::Display, current: &dyn fmt::Display) {
        let Self { led_to, depth, steps } = &mut self;
        steps.reverse();
        error!(
            target: "demeanor",
            "{owner}: {request} dropped in state {current}: one callback has led to {led_to} changes and messages to \
             itself{depth}, most recently: {}",
            steps.join(", "),
        );
    }
}

/// Logs why a request is not carried out (rule 23).
#[cold]
pub(crate) fn log_misuse<T: Owner>(
    owner: &T,
    request: &dyn fmt::Display,
    current: Option<&StateRef<T>>,
    why: impl Into<Misuse>,
) {
    let (owner, current, Misuse { level, why }) = (Label(owner), NameOf(current), why.into());
    log!(target: "demeanor", level, "{owner}: {request} refused in state {current}: {why}");
}

/// Reports to the observer, the log and the owner that a change has ended early in a state, and that it is complete there if
/// `stay` has ended it. Returns whether it is complete (rule 38).
#[cold]
#[expect(clippy::needless_pass_by_value, reason = "a change that is taken need not be written to memory for this")]
pub(crate) fn tell_end<T: Owner>(
    observer: Option<&mut dyn Observer<T>>,
    change: Change<'_, T>,
    (end, state): (End, &StateRef<T>),
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> bool {
    let Change { from, to, cause, time_in_state, within, .. } = change;
    let ended = Change { from, to, cause, outcome: Outcome::ended(end, state), time_in_state, within };
    if let Some(observer) = observer {
        let now = now::<T>(cx);
        observer.changed(&ended, now, cx);
    }
    tell(owner, &ended, cx);
    let is_complete = end == End::Stayed;
    if is_complete {
        owner.after_change(&Change::taken(from, Some(state), cause, time_in_state).within(within), cx);
    }
    is_complete
}

/// The states that one change leaves and enters.
struct Plan<'p, T: Owner> {
    cause: Cause,
    /// How many of the active states, from the outermost, stay active.
    kept: usize,
    /// The states that are entered, outermost first; none when a pop leads back to no state.
    entered: &'p [StateRef<T>],
    /// The branches that are opened in the regions of the last entered state, if it has regions.
    regions: &'p [Branch<T>],
    /// What the change does between the exits and the enters (rule 40).
    action: Option<&'p Action<T>>,
}

impl<'p, T: Owner> Plan<'p, T> {
    /// Creates the plan of a change that enters one state and opens no regions.
    fn into_one(cause: Cause, kept: usize, to: &'p StateRef<T>) -> Self {
        Self { cause, kept, entered: slice::from_ref(to), regions: &[], action: None }
    }
}

/// One owner's change.
///
/// In release builds, each step is inlined into its caller and passes no reference to this value on, so that the compiler uses
/// what the caller knows about the change. In debug builds, only `enter` is inlined, which saves a stack frame for each nested
/// change: changes are nested only in `enter`.
struct OneChange<'c, 'f, 'x, T: Owner> {
    single: &'c mut Single<'f, T>,
    plan: Plan<'c, T>,
    owner: &'c mut T,
    cx: &'c mut T::Context<'x>,
    /// The current state before the change, if there is one. The caller keeps it, so that its `Drop` does not run during the
    /// change.
    from: Option<&'c StateRef<T>>,
    /// `from` as a trait object, if the change leaves it. It is looked up once, because a lookup takes time; a singleton needs no
    /// lookup.
    left: Option<&'c dyn State<T>>,
    /// How many seconds `from` had been active.
    time_in_state: f64,
    /// The path that a pop resumes.
    resumption: &'c mut Option<Resumption<T>>,
    /// Whether an `exit` or `suspend` has lent the machine, and the machine was set to another state meanwhile. Then the kept
    /// states may no longer be active.
    is_displaced: bool,
    /// How many regions lie around the seat. At another level, the region in which the change was made has been closed.
    level: usize,
    /// The composite in whose region the change is made; `None` outside of regions.
    within: Option<&'c StateRef<T>>,
}

impl<'c, 'f, 'x, T: Owner> OneChange<'c, 'f, 'x, T> {
    #[inline(always)]
    fn new(
        single: &'c mut Single<'f, T>,
        plan: Plan<'c, T>,
        (from, left): (&'c StateRef<T>, &'c dyn State<T>),
        within: Option<&'c StateRef<T>>,
        resumption: &'c mut Option<Resumption<T>>,
        owner: &'c mut T,
        cx: &'c mut T::Context<'x>,
    ) -> Self {
        let from = from.as_option();
        let left = (from.is_some() && plan.kept <= single.seat.ancestors().len()).then_some(left);
        let level = single.level();
        Self { single, plan, owner, cx, from, left, time_in_state: 0.0, resumption, is_displaced: false, level, within }
    }
}

impl<T: Owner> Steps for OneChange<'_, '_, '_, T> {
    /// Asks the guards that apply to the request (rules 8, 15, 24).
    #[inline]
    fn admit(&mut self) -> bool {
        let Self { single, plan, owner, cx, from, left, .. } = self;
        let (cause, to) = (plan.cause, plan.entered.last());
        if let (Some(from), Some(left), false) = (*from, left, matches!(cause, Cause::Push | Cause::Force)) {
            if single.seat.has_open_regions() {
                if let Some(state) = single.guard_of_regions(owner, cx) {
                    return single.tell_refused(Refusal::Exit(&state), to, cause, owner, cx);
                }
            }
            if !left.can_exit(owner, &single.fsm(), cx) {
                return single.tell_refused(Refusal::Exit(from), to, cause, owner, cx);
            }
            for depth in (plan.kept..single.seat.ancestors().len()).rev() {
                let state = single.seat.ancestors()[depth].clone();
                if !state.can_exit(owner, &single.fsm(), cx) {
                    return single.tell_refused(Refusal::Exit(&state), to, cause, owner, cx);
                }
            }
        }
        if cause != Cause::Pop {
            for state in plan.entered {
                if !state.can_enter(owner, &single.fsm(), cx) {
                    return single.tell_refused(Refusal::Enter(state), to, cause, owner, cx);
                }
            }
            if let Some(state) = single.guard_of_branches(plan.regions, owner, cx) {
                return single.tell_refused(Refusal::Enter(&state), to, cause, owner, cx);
            }
        }
        true
    }

    /// Runs the exits, innermost first. While they run, the current and the previous state are both the innermost state
    /// that is being left (rule 5).
    #[inline]
    fn exit(&mut self) {
        let Self { single, plan, owner, cx, from, left, .. } = self;
        if let Some(from) = *from {
            single.seat.previous = from.clone();
        }
        single.is_touched = true;
        let waiting = single.begin_exits();
        let made = single.made;
        let mut displaced = Vec::new();
        if let (Some(from), Some(left)) = (*from, *left) {
            if single.seat.has_open_regions() {
                single.leave_regions(plan.cause, &mut displaced, owner, cx);
            }
            single.leave((from, left), plan.cause, owner, cx);
            for depth in (plan.kept..single.seat.ancestors().len()).rev() {
                let Some(state) = single.seat.ancestors().get(depth).cloned() else { break };
                single.leave((&state, &*state), plan.cause, owner, cx);
                single.remember(depth);
            }
        }
        if let Some(action) = plan.action {
            action(owner, &single.fsm(), cx);
        }
        single.exiting = false;
        if !single.requests.is_empty() {
            single.refuse_behind(waiting, owner);
        }
        self.is_displaced = single.made != made;
        if self.is_displaced && !single.requests.is_empty() {
            drop(single.end_timers(0, plan.cause));
        }
        for region in displaced {
            single.requests.end_in(region, 0);
        }
    }

    /// Makes the first of the states to enter the current one, and reports the change.
    #[inline]
    fn swap(&mut self) {
        let Self { single, plan, owner, cx, from, within, level, .. } = self;
        if single.level() != *level {
            return;
        }
        let now = now::<T>(cx);
        single.count += 1;
        single.made += 1;
        single.kept = single.kept.min(plan.kept);
        if within.is_none() {
            single.seat.note_change(plan.kept);
        } else {
            let root = single.root();
            root.note_change(root.depth());
            single.marks |= HAS_CHANGED_INSIDE;
        }
        self.time_in_state = time_since(single.seat.entered_at, now);
        if self.is_displaced && plan.kept > 0 {
            let parent = plan.entered.first().and_then(|first| first.parent()).unwrap_or(StateRef::NONE);
            if within.is_some() { single.place_inside(&parent) } else { single.seat.place(&parent) }
        }
        let mut ended =
            if single.requests.is_empty() { Requests::new() } else { single.end_timers(plan.kept, plan.cause) };
        let mut closed = single.seat.take_regions();
        let first = plan.entered.first().cloned().unwrap_or(StateRef::NONE);
        match plan.cause {
            Cause::Push => {
                drop(single.seat.push(first, &mut |timers| mem::take(&mut ended).leave_timers(timers), now));
                single.seat.suspend_regions(closed.take(), &mut single.requests, now);
            }
            Cause::Pop => drop(single.seat.pop(first, now, self.resumption)),
            _ => drop(single.seat.replace(plan.kept, first, now)),
        }
        drop(closed);
        single.show(cx);
        let to = plan.entered.last();
        if single.is_suspicious() {
            single.leave_trail("change to", to.cloned().unwrap_or(StateRef::NONE));
        }
        let change = Change::taken(*from, to, plan.cause, self.time_in_state).within(*within);
        single.tell(&change, now, owner, cx);
    }

    /// Enters the states and tells the owner that the change is complete, or in which state it has ended instead.
    #[inline(always)]
    fn enter(&mut self) -> bool {
        let Self { single, plan, owner, cx, from, time_in_state, resumption, within, level, .. } = self;
        if single.level() != *level {
            return false;
        }
        let entered = single.enter_all((plan.kept, plan.entered), plan.regions, plan.cause, resumption, owner, cx);
        let (from, to, cause, time_in_state) = (*from, plan.entered.last(), plan.cause, *time_in_state);
        let within = *within;
        // Written out, because in debug builds a copy would make the frame of each nested change larger.
        let change = Change { from, to, cause, outcome: Outcome::Taken, time_in_state, within };
        match entered {
            Ok(()) => {
                owner.after_change(&change, cx);
                true
            }
            Err(ended) => tell_end(single.observer(), change, ended, owner, cx),
        }
    }
}

/// The parts of a change that both implementations of [`Steps`], a start or a stop use, and the parts that rarely run.
impl<T: Owner> Single<'_, T> {
    /// Calls the `exit` of a state or, before a push, its `suspend`.
    #[inline(always)]
    fn leave(
        &mut self,
        (of, state): (&StateRef<T>, &dyn State<T>),
        cause: Cause,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) {
        self.record(|| Step::Exited(of.clone()));
        if cause == Cause::Push {
            state.suspend(owner, &mut self.fsm(), cx);
        } else {
            state.exit(owner, &mut self.fsm(), cx);
        }
    }

    /// Enters the states of a path below the outermost `kept` active states, outermost first. Each is the current state while its
    /// `enter` runs. Stops if a change made in an `enter` has moved the machine elsewhere (rule 5), or if an `enter` calls `stay`
    /// (rule 38). Then returns the state in whose `enter` this happened.
    #[inline(always)]
    fn enter_all<'p>(
        &mut self,
        (kept, path): (usize, &'p [StateRef<T>]),
        regions: &'p [Branch<T>],
        cause: Cause,
        resumption: &mut Option<Resumption<T>>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> Result<(), (End, &'p StateRef<T>)> {
        let (made, level) = (self.made, self.level());
        self.quiet.keep(kept);
        self.descent = Descent::Open;
        for (i, state) in path.iter().enumerate() {
            if i > 0 {
                self.seat.descend(state.clone(), self.seat.entered_at);
                if let Some(resumption) = resumption {
                    self.seat.resume(resumption);
                }
                self.show(cx);
            }
            self.record(|| Step::Entered(state.clone()));
            self.scope = Scope::state(kept + i);
            if cause == Cause::Pop {
                state.resume(owner, &mut self.fsm(), cx);
            } else {
                state.enter(owner, &mut self.fsm(), cx);
            }
            if self.made != made || self.level() != level {
                return Err((End::Abandoned, state));
            }
            let resumes = |resumption: &Option<Resumption<T>>| resumption.as_ref().is_some_and(Resumption::has_regions);
            let is_last = i + 1 == path.len() && regions.is_empty() && !resumes(resumption);
            if self.descent == Descent::Stayed && !is_last {
                self.descent = Descent::None;
                return Err((End::Stayed, state));
            }
        }
        self.descent = Descent::None;
        let suspended = resumption.as_mut().map_or(RareBox::NONE, Resumption::take_regions);
        let has_regions = !regions.is_empty() || suspended.is_some();
        if has_regions && !self.open_regions(regions, suspended, owner, cx) {
            return path.last().map_or(Ok(()), |state| Err((End::Abandoned, state)));
        }
        Ok(())
    }

    /// Begins the exits of a change. Returns how many requests wait until the exits have run.
    #[inline]
    fn begin_exits(&mut self) -> usize {
        self.exiting = true;
        self.has_waiting = false;
        if self.requests.is_empty() { 0 } else { self.hold_back() }
    }

    #[inline(never)]
    fn hold_back(&mut self) -> usize {
        self.has_waiting = self.requests.are_any();
        self.requests.in_turn()
    }

    /// Refuses the requests of the exits, which are all but the first `waiting` ones (rule 12).
    #[inline(never)]
    fn refuse_behind(&mut self, waiting: usize, owner: &T) {
        if self.requests.in_turn() > waiting {
            for request in self.requests.split_off(waiting) {
                self.refused(&request, owner, BEING_LEFT);
            }
        }
    }

    /// Reports a change that was made or refused at `now`, in seconds, to the observer, then to the log, then to the owner.
    #[inline]
    fn tell(&mut self, change: &Change<'_, T>, now: f64, owner: &mut T, cx: &mut T::Context<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.changed(change, now, cx);
        }
        tell(owner, change, cx);
    }

    /// Reports a change that a guard has refused, as [`tell`](Self::tell) does. Returns `false`: the change is not made.
    #[cold]
    fn tell_refused(
        &mut self,
        refusal: Refusal<'_, T>,
        to: Option<&StateRef<T>>,
        cause: Cause,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        self.marks |= HAS_REFUSED;
        let from = self.seat.current.clone();
        let now = now::<T>(cx);
        let time_in_state = time_since(self.seat.entered_at, now);
        let outcome = Outcome::Refused(refusal);
        let change = Change { from: from.as_option(), to, cause, outcome, time_in_state, within: None };
        match self.composite() {
            None => self.tell(&change, now, owner, cx),
            Some(composite) => self.tell(&change.within(Some(&composite)), now, owner, cx),
        }
        false
    }

    fn observer(&mut self) -> Option<&mut dyn Observer<T>> {
        match &mut self.observer {
            Some(observer) => Some(&mut **observer),
            None => None,
        }
    }

    /// Reports a step to the observer, if it records steps.
    #[inline]
    fn record(&mut self, step: impl FnOnce() -> Step<T>) {
        if let Some(observer) = &mut self.observer {
            if observer.sees_steps() {
                observer.step(step());
            }
        }
    }

    /// Counts the changes that were made while a callback had lent the seat. Toward the limit of rule 13, they count as one
    /// change of this callback.
    pub(crate) fn changed_while_lent(&mut self, made: u32, kept: usize) {
        if made == 0 {
            return;
        }
        self.is_touched = true;
        self.quiet.keep(kept);
        self.made += made;
        self.kept = self.kept.min(kept);
        if self.led_to() < self.limit() {
            self.count += 1;
        }
        if self.is_suspicious() {
            let current = self.seat.current.clone();
            self.leave_trail("change to", current);
        }
    }

    /// Records a change or a message to oneself for the error about a cycle.
    #[cold]
    fn leave_trail(&mut self, deed: &'static str, state: StateRef<T>) {
        let count = self.led_to();
        let trail = &mut self.root().rare_mut().trail;
        // An earlier callback may have left a trail without reaching the limit.
        trail.retain(|footprint| footprint.count < count && footprint.count + u32::from(MOST_NAMED) > count);
        trail.push(Footprint { count, deed, state });
    }
}
