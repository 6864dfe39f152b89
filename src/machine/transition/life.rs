//! How a machine starts and stops, and how it offers messages to its states.

use core::mem;

use smallvec::SmallVec;

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
    /// After each state to which a message is offered, the whole queue is carried out, with the messages in it. So before a
    /// message is offered to the next state, any number of other messages may have to be. These offers are in a list rather
    /// than on the stack.
    #[inline(never)]
    pub(super) fn settle_messages(&mut self, first: Request<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        let mut offers = Offers::new(self);
        let mut under_way: SmallVec<[(Offer<'_, T>, Request<T>); 1]> = SmallVec::new();
        let mut next = Some(first);
        loop {
            if let Some(request) = next.take().or_else(|| offers.single.requests.pop()) {
                if request.message().is_none() {
                    offers.single.execute(&request, owner, cx);
                    continue;
                }
                if !offers.single.count_message(owner) {
                    continue;
                }
                under_way.push((offers.begin(), request));
            }
            // This is the message that was just taken out of the queue or, if the queue is empty, the last one that goes on.
            let Some((offer, request)) = under_way.last_mut() else { return };
            let Some(message) = request.message() else { return };
            if !offers.single.offer_on(offer, message, owner, cx) {
                offers.end(offer);
                under_way.pop();
            }
        }
    }

    /// Offers a message to the next state. Returns whether it is then to be offered to further states.
    #[inline(always)]
    fn offer_on(
        &mut self,
        offer: &mut Offer<'_, T>,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        // States that have been left meanwhile are skipped.
        offer.left = offer.left.min(self.kept);
        let state = if let Some(depth) = offer.left.checked_sub(1) {
            offer.left = depth;
            self.scope = Scope::state(depth);
            &offer.path[depth]
        } else if let Some(global) = offer.global.take() {
            self.scope = Scope::Machine;
            global
        } else {
            return false;
        };
        offer.is_handled = state.on_message(owner, message, &mut self.fsm(), cx);
        self.wake_if(offer.is_handled);
        !offer.is_handled && (offer.left > 0 || offer.global.is_some())
    }
}

/// A message that is being offered to the states that were active when it was sent.
struct Offer<'a, T: Owner> {
    path: Path<T>,
    /// How many states of the path, from the outermost, it has not been offered to yet.
    left: usize,
    /// The global state, if the message has not been offered to it yet.
    global: Option<&'a StateRef<T>>,
    is_handled: bool,
    /// The value of `single.kept` before the offer began.
    kept_outside: usize,
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
    fn begin(&mut self) -> Offer<'a, T> {
        let Self { single, kept_outside: least } = self;
        let mut path = Path::new();
        while let Some(state) = single.seat.at(path.len()) {
            path.push(state.clone());
        }
        let kept_outside = mem::replace(&mut single.kept, path.len());
        *least = kept_outside.min(*least);
        Offer { left: path.len(), path, global: single.settings.global.as_option(), is_handled: false, kept_outside }
    }

    /// Ends the innermost offer.
    fn end(&mut self, offer: &Offer<'_, T>) {
        self.single.kept = self.single.kept.min(offer.kept_outside);
    }
}

impl<T: Owner> Drop for Offers<'_, '_, T> {
    #[inline]
    fn drop(&mut self) {
        self.single.kept = self.single.kept.min(self.kept_outside);
    }
}
