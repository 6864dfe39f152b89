//! A machine's life: start, stop, ticks and messages.

use core::mem;

use super::change::OneChange;
use super::{BEING_LEFT, Plan, Steps as _, descent};
use crate::change::Cause;
use crate::fsm::{NEVER, time_since};
use crate::machine::seat::Path;
use crate::machine::single::Single;
use crate::machine::step::Step;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::state::{State, StateRef};

impl<T: Owner> Single<'_, T> {
    /// Rule 1: enters the active path, outermost first, and goes on down to the innermost initial child.
    pub(crate) fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        let current = self.seat.current.clone();
        if current.is_none() {
            return;
        }
        if self.seat.is_entered() {
            self.refused(&"start", owner, &"it has been entered already".into());
            return;
        }
        if self.seat.is_being_left() {
            self.refused(&"start", owner, &BEING_LEFT.into());
            return;
        }
        match descent(&current) {
            Ok(path) => {
                self.record(|| {
                    let (to, time) = (path.last().cloned(), now::<T>(cx));
                    Step::Changed { from: None, to, cause: Cause::Start, time, time_in_state: 0.0 }
                });
                self.enter_from_nowhere(&path, owner, cx);
                self.settle(owner, cx);
                self.fall_asleep(owner, cx);
            }
            Err(misuse) => self.refused(&"start", owner, &misuse),
        }
    }

    /// Enters a path that no change leads to.
    pub(super) fn enter_from_nowhere(&mut self, path: &[StateRef<T>], owner: &mut T, cx: &mut T::Context<'_>) {
        self.is_touched = true;
        self.seat.note_change(0);
        self.seat.replace(0, path[0].clone(), now::<T>(cx));
        self.show(cx);
        self.enter_all(path, Cause::Change, &mut None, owner, cx);
    }

    /// Enters the current state unless it has been entered, as a start does (rule 27).
    #[cfg(feature = "serde")]
    pub(super) fn enter_in_place(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let current = self.seat.current.clone();
        if current.is_none() || self.seat.is_entered() {
            return true;
        }
        if self.seat.is_being_left() {
            self.refused(&"start", owner, &BEING_LEFT.into());
            return false;
        }
        match descent(&current) {
            Ok(path) => {
                // In the outcome of the tick, it counts as a change.
                self.count += 1;
                self.made += 1;
                self.kept = 0;
                self.enter_from_nowhere(&path, owner, cx);
                true
            }
            Err(misuse) => {
                self.refused(&"start", owner, &misuse);
                false
            }
        }
    }

    /// Rule 1: exits the active path, innermost first; the machine is then in no state.
    pub(crate) fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.is_being_left() {
            self.refused(&"stop", owner, &BEING_LEFT.into());
            return;
        }
        let current = self.seat.current.clone();
        let plan = Plan { cause: Cause::Stop, kept: 0, entered: &[] };
        OneChange::new(self, &plan, owner, cx).exit();
        if let Some(current) = current.as_option() {
            let entered_at = self.seat.entered_at;
            self.record(|| {
                let (from, time) = (Some(current.clone()), now::<T>(cx));
                let time_in_state = time_since(entered_at, time);
                Step::Changed { from, to: None, cause: Cause::Stop, time, time_in_state }
            });
        }
        self.seat.note_change(0);
        // Dropped last: a state's `Drop` may panic (rule 22).
        let suspended = self.seat.rare.as_mut().map(|rare| mem::take(&mut rare.stack));
        let left = self.seat.replace(0, StateRef::NONE, NEVER);
        self.show(cx);
        drop((left, suspended));
    }

    /// Rule 4: one tick.
    pub(crate) fn tick(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.is_waiting() {
            self.carry_out_due(owner, cx);
        }
        self.tick_active(owner, cx);
    }

    /// A tick's rest, after what was due: the global, then the active path.
    #[inline]
    pub(crate) fn tick_active(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if let Some(global) = self.global.as_option() {
            self.scope = Scope::Machine;
            global.tick(owner, &mut self.fsm(), cx);
            self.settle_callback(owner, cx);
        }
        self.tick_path(0, owner, cx);
    }

    /// The tick of a machine with nothing but this one state to call, as most are.
    #[inline]
    pub(crate) fn tick_lone(&mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        state.tick(owner, &mut self.fsm(), cx);
        if !self.is_settled() {
            self.settle_callback(owner, cx);
        }
    }

    /// A tick's rest: the active path from `depth` on.
    #[inline]
    pub(crate) fn tick_path(&mut self, mut depth: usize, owner: &mut T, cx: &mut T::Context<'_>) {
        while let Some(state) = self.seat.at(depth).filter(|_| !self.seat.is_asleep()) {
            let was_innermost = depth + 1 == self.seat.depth();
            if self.quiet.has(depth, state, || now::<T>(cx)) {
                if was_innermost {
                    break;
                }
                depth += 1;
                continue;
            }
            self.scope = Scope::state(depth);
            match state.as_singleton() {
                Some(state) => state.tick(owner, &mut self.fsm(), cx),
                None => state.clone().tick(owner, &mut self.fsm(), cx),
            }
            self.settle_callback(owner, cx);
            if was_innermost {
                break;
            }
            depth += 1;
        }
    }

    /// Rule 14: offers a message from outside. Returns whether it was handled.
    pub(crate) fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.offer(message, owner, cx, Self::settle_callback)
    }

    /// Rule 24: offers a message to oneself, which counts as a change does.
    pub(super) fn offer_to_oneself(&mut self, message: &T::Message, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.is_cycle(&"message to oneself", owner) {
            return false;
        }
        self.count += 1;
        self.offer(message, owner, cx, Self::settle)
    }

    /// Offers a message to the active states outward, then to the global; after each, `settle` carries out what it asked for.
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

/// A message that is being offered. What is left meanwhile has been left for the one around it, too, even if a callback panics.
struct Offering<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    kept_outside: usize,
}

impl<T: Owner> Drop for Offering<'_, '_, T> {
    fn drop(&mut self) {
        self.single.kept = self.single.kept.min(self.kept_outside);
    }
}
