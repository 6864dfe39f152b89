//! How a machine starts and stops, and how it offers messages to its states.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use super::{BEING_LEFT, OneChange, Plan, Steps as _};
use crate::change::{Cause, Change};
use crate::fsm::{NEVER, Order, Request, time_since};
use crate::machine::regions::{Branch, RegionId};
use crate::machine::seat::{Resumption, Seat};
use crate::machine::single::{HAS_CHANGED_INSIDE, Single};
use crate::machine::step::Step;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::state::StateRef;

impl<T: Owner> Single<'_, T> {
    /// Enters the current state with its ancestors, outermost first, and then its `initial` children down to the innermost one
    /// (rule 1).
    pub(crate) fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.current.is_none() {
            return;
        }
        if self.seat.is_entered() {
            self.refused(&"start", owner, "it has been entered already");
            return;
        }
        if let Some(branch) = self.path_to_start(owner) {
            self.record(|| Step::of(&Change::taken(None, branch.path.last(), Cause::Start, 0.0), now::<T>(cx)));
            self.enter_from_nowhere(&branch, owner, cx);
            self.settle(owner, cx);
            self.end_callback(owner, cx);
        }
    }

    /// Returns the path that a start enters. `None` if the start is refused.
    fn path_to_start(&self, owner: &T) -> Option<Branch<T>> {
        let path = if self.seat.is_being_left() { Err(BEING_LEFT.into()) } else { self.opening(self.seat.placed()) };
        path.map_err(|misuse| self.refused(&"start", owner, misuse)).ok()
    }

    /// Enters a path although no change leads to it: no guard is asked, and the owner is not told.
    pub(super) fn enter_from_nowhere(&mut self, branch: &Branch<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        self.is_touched = true;
        self.seat.note_change(0);
        self.begin_branch(branch, cx);
        self.enter_branch(branch, Cause::Change, &mut None, owner, cx);
    }

    /// Makes the first state of a branch the current one.
    #[inline(never)]
    pub(super) fn begin_branch(&mut self, branch: &Branch<T>, cx: &mut T::Context<'_>) {
        self.seat.replace(0, branch.path[0].clone(), now::<T>(cx));
        self.show(cx);
    }

    /// Enters the states of a branch whose first state is current. This is no change, so the state in which it ends is not
    /// reported (rule 1).
    #[inline(never)]
    pub(super) fn enter_branch(
        &mut self,
        branch: &Branch<T>,
        cause: Cause,
        resumption: &mut Option<Resumption<T>>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) {
        let _ = self.enter_all((0, &branch.path), &branch.regions, cause, resumption, owner, cx);
    }

    /// Enters the current state as a start does, unless it has been entered (rule 27). Returns `false` if this is refused.
    #[cfg(feature = "serde")]
    pub(super) fn enter_in_place(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.seat.current.is_none() || self.seat.is_entered() {
            return true;
        }
        let Some(branch) = self.path_to_start(owner) else { return false };
        // In the outcome of the tick, this entry counts as a change.
        self.count += 1;
        self.made += 1;
        self.marks |= HAS_CHANGED_INSIDE;
        self.kept = 0;
        self.enter_from_nowhere(&branch, owner, cx);
        true
    }

    /// Exits the active path, innermost first. The machine then has no state (rule 1).
    pub(crate) fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.is_being_left() {
            self.refused(&"stop", owner, BEING_LEFT);
            return;
        }
        let current = self.seat.current.clone();
        let plan = Plan { cause: Cause::Stop, kept: 0, entered: &[], regions: &[], action: None };
        OneChange::new(self, plan, (&current, &*current), None, &mut None, owner, cx).exit();
        if let Some(current) = current.as_option() {
            let entered_at = self.seat.entered_at;
            self.record(|| {
                let now = now::<T>(cx);
                Step::of(&Change::taken(Some(current), None, Cause::Stop, time_since(entered_at, now)), now)
            });
        }
        self.seat.note_change(0);
        // The states are dropped last, because the `Drop` of a state may panic (rule 22).
        let suspended = self.seat.rare.as_mut().map(|rare| mem::take(&mut rare.stack));
        let closed = self.seat.take_regions();
        let left = self.seat.replace(0, StateRef::NONE, NEVER);
        self.show(cx);
        drop((left, suspended, closed));
    }

    /// Offers a message from outside (rule 14). Returns whether it was handled.
    pub(crate) fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.offer(message, owner, cx, Self::settle_callback)
    }

    /// Offers a message that the owner sends to itself within the call (rule 24). The message counts toward the limit on changes.
    pub(super) fn offer_to_oneself(
        &mut self,
        order: Order,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let settle = match order {
            Order::Behind => Self::settle,
            // The requests that wait must not be carried out before the message is handled.
            Order::Ahead => |_: &mut Self, _: &mut T, _: &mut T::Context<'_>| {},
        };
        self.count_message(owner) && self.offer(message, owner, cx, settle)
    }

    /// Counts a message to oneself. Returns `false` if the limit has been reached.
    fn count_message(&mut self, owner: &T) -> bool {
        if self.is_cycle(&"message to oneself", owner) {
            return false;
        }
        self.count += 1;
        if self.is_suspicious() {
            let current = self.seat.current.clone();
            self.leave_trail("message in state", current);
        }
        true
    }

    /// Offers a message to the active states, innermost first, then to the global state, until one of them handles it. After
    /// each callback, `settle` may carry out its requests. States that these requests leave are not offered the message.
    fn offer(
        &mut self,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        settle: fn(&mut Self, &mut T, &mut T::Context<'_>),
    ) -> bool {
        if self.outer.is_some() {
            return self.outside_regions(|single| single.offer(message, owner, cx, settle));
        }
        let mut offers = Offers::new(self);
        let mut offer = offers.begin();
        let mut inside = InsideOffer::of(offers.single.seat);
        loop {
            let goes_on = offers.single.offer_on(&mut inside, &mut offer, message, owner, cx);
            settle(offers.single, owner, cx);
            if !goes_on {
                if let Some(inside) = &inside {
                    offers.single.end_inside(inside);
                }
                return offer.is_handled;
            }
        }
    }

    /// Carries out `first`, which is a message to oneself, and then the requests in the queue.
    ///
    /// After each state that declines a message, the requests of its callback are carried out, with the messages among them,
    /// before the message is offered to the next state. So any number of messages may be under way. They are in a list rather
    /// than on the stack.
    #[inline(never)]
    pub(super) fn settle_messages(&mut self, first: Request<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.outer.is_some() {
            return self.outside_regions(|single| single.settle_messages(first, owner, cx));
        }
        let mut offers = Offers::new(self);
        let mut next = Some(first);
        let mut outer: Option<Vec<_>> = None;
        'requests: loop {
            let mut under_way = if let Some(request) = next.take().or_else(|| offers.single.requests.pop()) {
                if request.message().is_none() {
                    offers.single.execute(&request, owner, cx);
                    continue;
                }
                if !offers.single.count_message(owner) {
                    continue;
                }
                let has_waiting = offers.single.requests.set_aside();
                // The message around this one may be offered in a region.
                offers.single.move_to(&[]);
                let inside = InsideOffer::of(offers.single.seat);
                UnderWay { request, inside, offer: offers.begin(), has_waiting }
            } else if let Some(around) = outer.as_mut().and_then(Vec::pop) {
                around
            } else {
                if outer.is_none() {
                    // `outer` has nothing to drop. `forget` saves the call.
                    mem::forget(outer);
                }
                return;
            };
            loop {
                let UnderWay { request, inside, offer, .. } = &mut under_way;
                let Some(message) = request.message() else { break };
                if !offers.single.offer_on(inside, offer, message, owner, cx) {
                    break;
                }
                if !offers.single.requests.is_empty() {
                    outer.get_or_insert_default().push(under_way);
                    continue 'requests;
                }
            }
            offers.end(&under_way);
        }
    }

    /// Offers a message to the next state. The states in open regions come first. Returns whether the message must then be
    /// offered to further states.
    #[inline(always)]
    fn offer_on(
        &mut self,
        inside: &mut Option<Box<InsideOffer>>,
        offer: &mut Offer,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if let Some(inside) = inside {
            if let Some(state) = self.next_in_regions(inside) {
                return self.offer_in_region(&state, inside, offer, message, owner, cx);
            }
        }
        // States that have been left meanwhile are skipped. The other states have the same depths as when the message was sent.
        offer.left = offer.left.min(self.kept);
        let state = if let Some(depth) = offer.left.checked_sub(1) {
            offer.left = depth;
            self.scope = Scope::state(depth);
            self.seat.at(depth)
        } else if mem::take(&mut offer.is_for_global) {
            self.scope = Scope::Machine;
            self.settings().global.as_option()
        } else {
            None
        };
        if let Some(state) = state {
            offer.is_handled = match state.as_singleton() {
                Some(state) => self.offer_to(&state.into(), message, owner, cx),
                None => self.offer_to(&state.clone(), message, owner, cx),
            };
        }
        let goes_on = !offer.is_handled && (offer.left > 0 || offer.is_for_global);
        if !goes_on && !offer.is_handled {
            owner.after_message(message, None, cx);
        }
        goes_on
    }

    /// Offers a message to a state. Tells the owner if the state handles it.
    #[inline(always)]
    fn offer_to(&mut self, state: &StateRef<T>, message: &T::Message, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let is_handled = state.on_message(owner, message, &mut self.fsm(), cx);
        self.wake_if(is_handled);
        if is_handled {
            owner.after_message(message, Some(state), cx);
        }
        is_handled
    }

    /// Ends an offer that may have ended in a region. Moves back to the seat of the machine.
    #[cold]
    fn end_inside(&mut self, inside: &InsideOffer) {
        let mut at = inside.at();
        for level in inside.levels.iter().rev() {
            if self.move_to(&at) {
                self.kept = self.kept.min(level.kept_outside);
            }
            at.pop();
        }
        self.move_to(&[]);
    }

    /// Offers a message to a state in a region, where [`next_in_regions`](Self::next_in_regions) has moved to.
    fn offer_in_region(
        &mut self,
        state: &StateRef<T>,
        inside: &mut InsideOffer,
        offer: &mut Offer,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let is_handled = self.offer_to(state, message, owner, cx);
        offer.is_handled |= is_handled;
        if is_handled {
            (offer.left, offer.is_for_global) = (0, false);
        }
        let goes_on = inside.goes_on(is_handled) || offer.left > 0 || offer.is_for_global;
        if !goes_on && !offer.is_handled {
            owner.after_message(message, None, cx);
        }
        goes_on
    }

    /// Returns the next state in a region to which a message is offered, and moves to the seat of this state. After the last one,
    /// moves back to the seat of the machine.
    ///
    /// In each region, the message is offered to the states that are active when the region's turn comes.
    fn next_in_regions(&mut self, inside: &mut InsideOffer) -> Option<StateRef<T>> {
        // Regions that have been closed meanwhile are skipped.
        self.move_to(&inside.at());
        let InsideOffer { regions, levels } = inside;
        levels.truncate(self.level());
        loop {
            let next = levels.last_mut().map_or(&mut *regions, |level| &mut level.regions);
            if let Some(id) = next.next(self.seat.stamp()) {
                self.enter_region(id.nth);
                let left = self.seat.depth();
                let kept_outside = mem::replace(&mut self.kept, left);
                let regions = RegionOffers::of(self.seat);
                levels.push(LevelOffer { id, regions, left, is_handled: false, kept_outside });
                continue;
            }
            let Some(level) = levels.last_mut() else { break };
            level.left = if level.is_handled { 0 } else { level.left.min(self.kept) };
            if let Some(depth) = level.left.checked_sub(1) {
                level.left = depth;
                self.scope = Scope::state(depth);
                return self.seat.at(depth).cloned();
            }
            self.kept = self.kept.min(level.kept_outside);
            self.leave_region();
            levels.pop();
        }
        None
    }
}

/// The states to which a message is still to be offered.
struct Offer {
    /// How many of the active states, from the outermost, have not been offered the message yet.
    left: usize,
    /// Whether the global state, if there is one, has not been offered the message yet.
    is_for_global: bool,
    is_handled: bool,
    /// The value of `single.kept` before the offer began.
    kept_outside: usize,
}

/// The states in regions to which a message is still to be offered.
struct InsideOffer {
    regions: RegionOffers,
    /// The regions around the state that was offered the message last, outermost first.
    levels: Vec<LevelOffer>,
}

impl InsideOffer {
    /// Creates the offer to the states in the open regions of a seat, if there are any.
    #[inline]
    fn of<T: Owner>(seat: &Seat<T>) -> Option<Box<Self>> {
        let new = || Box::new(Self { regions: RegionOffers::of(seat), levels: Vec::new() });
        seat.has_open_regions().then(new)
    }

    /// Returns the regions in which the message is being offered, outermost first.
    fn at(&self) -> Vec<RegionId> {
        self.levels.iter().map(|level| level.id).collect()
    }

    /// Notes whether a state has handled the message. Returns whether it is to be offered to further states in the regions.
    fn goes_on(&mut self, is_handled: bool) -> bool {
        let mut goes_on = self.regions.goes_on();
        for level in &mut self.levels {
            level.is_handled |= is_handled;
            goes_on |= level.regions.goes_on() || !level.is_handled && level.left > 0;
        }
        goes_on
    }
}

struct LevelOffer {
    id: RegionId,
    /// The regions inside this one.
    regions: RegionOffers,
    left: usize,
    is_handled: bool,
    kept_outside: usize,
}

/// The regions of one composite whose states have not been offered the message yet.
struct RegionOffers {
    stamp: Option<usize>,
    next: usize,
    count: usize,
}

impl RegionOffers {
    #[cold]
    fn of<T: Owner>(seat: &Seat<T>) -> Self {
        Self { stamp: seat.stamp(), next: 0, count: seat.regions().count() }
    }

    fn goes_on(&self) -> bool {
        self.next < self.count
    }

    /// Returns the next region. `None` if the regions have been closed, or opened again with another stamp.
    fn next(&mut self, stamp: Option<usize>) -> Option<RegionId> {
        let stamp = stamp.filter(|_| self.goes_on() && stamp == self.stamp)?;
        self.next += 1;
        Some(RegionId { stamp, nth: self.next - 1 })
    }
}

/// A message to oneself that is being offered.
struct UnderWay<T: Owner> {
    request: Request<T>,
    /// The regions whose states come first, if there are any.
    inside: Option<Box<InsideOffer>>,
    offer: Offer,
    /// Whether requests that wait behind the message are set aside.
    has_waiting: bool,
}

/// The machine while it offers messages, nested in each other. Meanwhile, `single.kept` is the number of states that have stayed
/// active since the innermost offer began. `Drop`, which also runs after a panic in a callback, passes this number on to the
/// message or the call around these offers.
struct Offers<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    /// The least of the values of `single.kept` before each offer.
    kept_outside: usize,
}

impl<'s, 'a, T: Owner> Offers<'s, 'a, T> {
    #[inline]
    fn new(single: &'s mut Single<'a, T>) -> Self {
        Self { single, kept_outside: usize::MAX }
    }

    #[inline(always)]
    fn begin(&mut self) -> Offer {
        let Self { single, kept_outside: least } = self;
        let left = single.seat.depth();
        let kept_outside = mem::replace(&mut single.kept, left);
        *least = kept_outside.min(*least);
        Offer { left, is_for_global: !single.settings().global.is_none(), is_handled: false, kept_outside }
    }

    /// Ends the innermost offer.
    fn end(&mut self, under_way: &UnderWay<T>) {
        if let Some(inside) = &under_way.inside {
            self.single.end_inside(inside);
        }
        self.single.kept = self.single.kept.min(under_way.offer.kept_outside);
        if under_way.has_waiting {
            self.single.requests.take_back();
        }
    }
}

impl<T: Owner> Drop for Offers<'_, '_, T> {
    #[inline]
    fn drop(&mut self) {
        // After a panic, the machine may still work on the seat of a region.
        self.single.move_to(&[]);
        self.single.kept = self.single.kept.min(self.kept_outside);
    }
}
