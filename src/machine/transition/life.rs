//! How a machine starts and stops, and how it offers messages to its states.

use core::mem;

use super::path::descent;
use super::{BEING_LEFT, OneChange, Plan, Steps as _};
use crate::change::{Cause, Change};
use crate::fsm::{NEVER, time_since};
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
        let _ = self.enter_all(path, Cause::Change, &mut None, owner, cx);
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
        OneChange::new(self, &plan, owner, cx).exit();
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

    /// Offers a message that the owner sends to itself (rule 24). The message counts toward the limit on changes.
    pub(super) fn offer_to_oneself(&mut self, message: &T::Message, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.is_cycle(&"message to oneself", owner) {
            return false;
        }
        self.count += 1;
        self.offer(message, owner, cx, Self::settle)
    }

    /// Offers a message to the active states, innermost first, then to the global state, until one of them handles it. After
    /// each callback, `settle` carries out its requests. States that they leave are not offered the message.
    pub(super) fn offer(
        &mut self,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        settle: fn(&mut Self, &mut T, &mut T::Context<'_>),
    ) -> bool {
        let mut path = Path::new();
        while let Some(state) = self.seat.at(path.len()) {
            path.push(state.clone());
        }
        let mut is_handled = false;
        let offering = Offering { kept_outside: mem::replace(&mut self.kept, path.len()), single: self };
        for (depth, state) in path.iter().enumerate().rev() {
            let single = &mut *offering.single;
            if depth < single.kept && !is_handled {
                single.scope = Scope::state(depth);
                is_handled = state.on_message(owner, message, &mut single.fsm(), cx);
                single.wake_if(is_handled);
                settle(single, owner, cx);
            }
        }
        drop(offering);
        if let (false, Some(global)) = (is_handled, self.global.as_option()) {
            self.scope = Scope::Machine;
            is_handled = global.on_message(owner, message, &mut self.fsm(), cx);
            self.wake_if(is_handled);
            settle(self, owner, cx);
        }
        is_handled
    }
}

/// A message that is being offered to the active states. A callback can send another message within the call, so these values
/// can be nested. Meanwhile, `single.kept` is the number of states that have stayed active since the offer began. `Drop`,
/// which also runs after a panic in a callback, passes this number on to the outer message.
struct Offering<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    /// The value of `single.kept` before the offer began.
    kept_outside: usize,
}

impl<T: Owner> Drop for Offering<'_, '_, T> {
    fn drop(&mut self) {
        self.single.kept = self.single.kept.min(self.kept_outside);
    }
}
