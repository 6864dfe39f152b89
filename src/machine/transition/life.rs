//! How a machine starts and stops, and how it offers messages to its states.

use alloc::vec::Vec;
use core::mem;

use super::path::descent;
use super::{BEING_LEFT, OneChange, Plan, Steps as _};
use crate::change::{Cause, Change};
use crate::fsm::{NEVER, Order, Request, time_since};
use crate::machine::seat::Path;
use crate::machine::single::Single;
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
        if let Some(path) = self.path_to_start(owner) {
            self.record(|| Step::of(&Change::taken(None, path.last(), Cause::Start, 0.0), now::<T>(cx)));
            self.enter_from_nowhere(&path, owner, cx);
            self.settle(owner, cx);
            self.end_callback(owner, cx);
        }
    }

    /// Returns the path that a start enters. `None` if the start is refused.
    fn path_to_start(&self, owner: &T) -> Option<Path<T>> {
        let path = if self.seat.is_being_left() { Err(BEING_LEFT.into()) } else { descent(&self.seat.current) };
        path.map_err(|misuse| self.refused(&"start", owner, misuse)).ok()
    }

    /// Enters a path although no change leads to it: no guard is asked, and the owner is not told.
    pub(super) fn enter_from_nowhere(&mut self, path: &[StateRef<T>], owner: &mut T, cx: &mut T::Context<'_>) {
        self.is_touched = true;
        self.seat.note_change(0);
        self.seat.replace(0, path[0].clone(), now::<T>(cx));
        self.show(cx);
        // A start is no change, so it is not reported how far it has come (rule 1).
        let _ = self.enter_all((0, path), Cause::Change, &mut None, owner, cx);
    }

    /// Enters the current state as a start does, unless it has been entered (rule 27). Returns `false` if this is refused.
    #[cfg(feature = "serde")]
    pub(super) fn enter_in_place(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.seat.current.is_none() || self.seat.is_entered() {
            return true;
        }
        let Some(path) = self.path_to_start(owner) else { return false };
        // In the outcome of the tick, this entry counts as a change.
        self.count += 1;
        self.made += 1;
        self.kept = 0;
        self.enter_from_nowhere(&path, owner, cx);
        true
    }

    /// Exits the active path, innermost first. The machine then has no state (rule 1).
    pub(crate) fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.is_being_left() {
            self.refused(&"stop", owner, BEING_LEFT);
            return;
        }
        let current = self.seat.current.clone();
        let plan = Plan { cause: Cause::Stop, kept: 0, entered: &[] };
        OneChange::new(self, plan, (&current, &*current), &mut None, owner, cx).exit();
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
        let left = self.seat.replace(0, StateRef::NONE, NEVER);
        self.show(cx);
        drop((left, suspended));
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
        if self.is_cycle(|| "message to oneself", owner) {
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
    /// each callback, `settle` may carry out its requests. States that they leave are not offered the message.
    fn offer(
        &mut self,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        settle: fn(&mut Self, &mut T, &mut T::Context<'_>),
    ) -> bool {
        let mut offers = Offers::new(self);
        let mut offer = offers.begin();
        loop {
            let goes_on = offers.single.offer_on(&mut offer, message, owner, cx);
            settle(offers.single, owner, cx);
            if !goes_on {
                return offer.is_handled;
            }
        }
    }

    /// Carries out the requests in the queue, of which `first` is the first one. It is a message to oneself.
    ///
    /// After each state that declines a message, the requests of its callback are carried out, with the messages among them,
    /// before the message is offered to the next state. So any number of messages may be under way. They are in a list rather
    /// than on the stack.
    #[inline(never)]
    pub(super) fn settle_messages(&mut self, first: Request<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        let mut offers = Offers::new(self);
        let mut next = Some(first);
        let mut outer = Vec::new();
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
                UnderWay { request, offer: offers.begin(), has_waiting }
            } else if let Some(around) = outer.pop() {
                around
            } else {
                return;
            };
            while let Some(message) = under_way.request.message() {
                if !offers.single.offer_on(&mut under_way.offer, message, owner, cx) {
                    break;
                }
                if !offers.single.requests.is_empty() {
                    outer.push(under_way);
                    continue 'requests;
                }
            }
            offers.end(&under_way);
        }
    }

    /// Offers a message to the next state. Returns whether it is then to be offered to further states.
    #[inline(always)]
    fn offer_on(&mut self, offer: &mut Offer, message: &T::Message, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        // States that have been left meanwhile are skipped. The others are where they were when the message was sent.
        offer.left = offer.left.min(self.kept);
        let state = if let Some(depth) = offer.left.checked_sub(1) {
            offer.left = depth;
            self.scope = Scope::state(depth);
            self.seat.at(depth)
        } else if mem::take(&mut offer.is_for_global) {
            self.scope = Scope::Machine;
            self.settings.global.as_option()
        } else {
            None
        };
        let Some(state) = state else { return false };
        offer.is_handled = match state.as_singleton() {
            Some(state) => state.on_message(owner, message, &mut self.fsm(), cx),
            None => state.clone().on_message(owner, message, &mut self.fsm(), cx),
        };
        self.wake_if(offer.is_handled);
        !offer.is_handled && (offer.left > 0 || offer.is_for_global)
    }
}

/// To which states a message is still to be offered.
struct Offer {
    /// How many of the active states, from the outermost, it has not been offered to yet.
    left: usize,
    /// Whether it has not been offered to the global state yet, if there is one.
    is_for_global: bool,
    is_handled: bool,
    /// The value of `single.kept` before the offer began.
    kept_outside: usize,
}

/// A message to oneself that is being offered.
struct UnderWay<T: Owner> {
    request: Request<T>,
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
        Offer { left, is_for_global: !single.settings.global.is_none(), is_handled: false, kept_outside }
    }

    /// Ends the innermost offer.
    fn end(&mut self, under_way: &UnderWay<T>) {
        self.single.kept = self.single.kept.min(under_way.offer.kept_outside);
        if under_way.has_waiting {
            self.single.requests.take_back();
        }
    }
}

impl<T: Owner> Drop for Offers<'_, '_, T> {
    #[inline]
    fn drop(&mut self) {
        self.single.kept = self.single.kept.min(self.kept_outside);
    }
}
