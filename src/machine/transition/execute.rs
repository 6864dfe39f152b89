//! The requests of a machine, one after the other, and the path that each leads to.

use alloc::vec::Vec;
use core::{fmt, mem, slice};

use log::{error, log};

use super::change::{LoneChange, OneChange};
use super::{BEING_LEFT, MOST_CHANGES, Misuse, Plan, carry_out, descent};
use crate::change::NameOf;
use crate::fsm::{Order, Request};
use crate::machine::seat::{MOST_PUSHED, Path, Suspended};
use crate::machine::single::{ASKED_TO_SLEEP, Single};
use crate::owner::{Label, Owner};
use crate::state::{State, StateRef};

impl<T: Owner> Single<'_, T> {
    /// Rule 11.
    pub(crate) fn execute_now(
        &mut self,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if self.exiting {
            self.refused(request, owner, &BEING_LEFT.into());
            return false;
        }
        if order == Order::Behind {
            self.settle(owner, cx);
        }
        let is_done = self.execute(request, owner, cx);
        self.settle(owner, cx);
        is_done
    }

    /// Rule 24.
    pub(crate) fn send_now(
        &mut self,
        order: Order,
        owner: &mut T,
        message: &T::Message,
        cx: &mut T::Context<'_>,
    ) -> bool {
        if self.exiting {
            self.refused(&"message to oneself", owner, &BEING_LEFT.into());
            return false;
        }
        if order == Order::Behind {
            self.settle(owner, cx);
        }
        let is_handled = self.offer_to_oneself(message, owner, cx);
        self.settle(owner, cx);
        is_handled
    }

    /// Carries out the requests, first in, first out, until there are none (rule 10).
    #[inline]
    pub(crate) fn settle(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if !self.requests.is_empty() {
            self.settle_all(owner, cx);
        }
    }

    #[inline(never)]
    pub(super) fn settle_all(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        loop {
            if let Some(state) = self.requests.pop_singleton() {
                self.execute_singleton(state, owner, cx);
            } else if let Some(request) = self.requests.pop() {
                self.execute(&request, owner, cx);
            } else {
                return;
            }
        }
    }

    /// Carries out what the callback that has just returned asked for. The next one has its own count of changes.
    #[inline]
    pub(crate) fn settle_callback(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if !self.is_settled() {
            self.settle_all(owner, cx);
            self.fall_asleep(owner, cx);
        }
    }

    /// Whether the callback that has just returned has asked for nothing, and changed nothing at once.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.requests.is_empty() && self.count == 0
    }

    /// Carries out one request. Returns whether it was done.
    pub(crate) fn execute(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match request {
            Request::ChangeSingleton(to) => self.execute_singleton(*to, owner, cx),
            Request::Change(to) => self.execute_held(to, owner, cx),
            Request::Ensure(to) if self.seat.is_in_state(&**to) => true,
            Request::Send(message) => self.offer_to_oneself(message, owner, cx),
            Request::After(after) => self.set_timer(after, owner, cx),
            Request::Due(timer) => self.carry_out_timer(timer, owner, cx),
            Request::Sleep(_) => {
                // It falls asleep once the callback is settled.
                self.count |= ASKED_TO_SLEEP;
                true
            }
            request => self.execute_other(request, owner, cx),
        }
    }

    /// As [`execute`](Self::execute), of a change to a singleton: nearly all there are.
    pub(super) fn execute_singleton(
        &mut self,
        to: &'static dyn State<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let Some(from) = self.seat.lone().filter(|_| self.is_alone() && to.is_flat()) else {
            return self.execute_other(&Request::Change(to.into()), owner, cx);
        };
        let made = self.made;
        // No other target can be dropped here: a change within a callback takes the target away first.
        mem::forget(mem::replace(&mut self.target, to.into()));
        let is_made = carry_out(&mut LoneChange { single: self, from, to, owner, cx, made, time_in_state: 0.0 });
        mem::forget(mem::replace(&mut self.target, StateRef::NONE));
        is_made
    }

    /// As [`execute`](Self::execute), of a change to a state that is held.
    pub(super) fn execute_held(&mut self, to: &StateRef<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if !self.is_alone() || !self.seat.is_lone() || !to.is_flat() {
            return self.execute_other(&Request::Change(to.clone()), owner, cx);
        }
        let (from, to, made) = (self.seat.current.clone(), to.clone(), self.made);
        self.target = to.clone();
        let is_made = carry_out(&mut LoneChange { single: self, from, to, owner, cx, made, time_in_state: 0.0 });
        self.target = StateRef::NONE;
        is_made
    }

    /// Whether a change is the only request, is not one of suspiciously many, and is not recorded.
    #[inline]
    fn is_alone(&self) -> bool {
        let is_recorded = self.observer.as_ref().is_some_and(|observer| observer.sees_steps());
        self.count < MOST_CHANGES / 2 && !is_recorded && self.requests.is_empty()
    }

    #[inline(never)]
    pub(super) fn execute_other(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.is_cycle(request, owner) {
            return false;
        }
        if self.seat.is_being_left() {
            self.refused(request, owner, &BEING_LEFT.into());
            return false;
        }
        if let Some(to) = self.flat_target(request) {
            let plan = Plan { cause: request.cause(), kept: 0, entered: slice::from_ref(&to) };
            return self.change(&plan, owner, cx);
        }
        if let Some(to) = self.sibling_target(request) {
            let plan = Plan { cause: request.cause(), kept: self.seat.depth() - 1, entered: slice::from_ref(to) };
            return self.change(&plan, owner, cx);
        }
        self.execute_path(request, owner, cx)
    }

    /// As [`execute`](Self::execute), where there may be more than one state to enter.
    #[inline(never)]
    pub(super) fn execute_path(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match self.find_path(request) {
            Ok((kept, path)) => self.change(&Plan { cause: request.cause(), kept, entered: &path[kept..] }, owner, cx),
            Err(misuse) => {
                self.refused(request, owner, &misuse);
                false
            }
        }
    }

    #[inline(never)]
    pub(super) fn change(&mut self, plan: &Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        OneChange::new(self, plan, owner, cx).carry_out()
    }

    /// The only state that a request enters, if all that is active is left for it alone, as most requests do.
    #[inline]
    pub(super) fn flat_target(&self, request: &Request<T>) -> Option<StateRef<T>> {
        let stack = self.stack();
        let to = match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => to,
            Request::Revert => self.seat.previous.as_option()?,
            Request::Push(over) if stack.len() < MOST_PUSHED => over,
            Request::Pop => {
                let suspended = stack.last().filter(|suspended| suspended.ancestors.is_empty())?;
                return suspended.current.as_option().cloned();
            }
            _ => return None,
        };
        to.is_flat().then(|| to.clone())
    }

    /// The only state that a request enters, if it has no initial child and the same parent as the current state. It is what
    /// [`find_path`](Self::find_path) would find, which takes several times as long.
    #[inline]
    fn sibling_target<'r>(&self, request: &'r Request<T>) -> Option<&'r StateRef<T>> {
        let (Request::Change(to) | Request::Ensure(to) | Request::Force(to)) = request else { return None };
        let parent = self.seat.ancestors().last()?;
        (to.initial().is_none() && to.parent().as_ref() == Some(parent)).then_some(to)
    }

    fn stack(&self) -> &[Suspended<T>] {
        self.seat.rare.as_ref().map_or(&[], |rare| &rare.stack)
    }

    /// The path that a request leads to, and how many of its outermost states are active and left alone.
    pub(super) fn find_path(&self, request: &Request<T>) -> Result<(usize, Path<T>), Misuse> {
        let stack = self.stack();
        match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => self.route(to, to),
            Request::Revert => {
                let previous = self.seat.previous.as_option().ok_or("there is no previous state")?;
                self.route(previous, previous)
            }
            Request::Resume(composite) => self.route(self.last_active_in(composite), composite),
            Request::Push(_) if stack.len() == MOST_PUSHED => {
                Err("64 paths of states are already suspended on the stack".into())
            }
            Request::Push(over) => Ok((0, descent(over)?)),
            Request::Pop => {
                let suspended = stack.last().ok_or("the stack is empty")?;
                let mut path = Path::new();
                for (state, _) in &suspended.ancestors {
                    path.push(state.clone());
                }
                if !suspended.current.is_none() {
                    path.push(suspended.current.clone());
                }
                Ok((0, path))
            }
            Request::ChangeSingleton(_)
            | Request::Send(_)
            | Request::After(_)
            | Request::Due(_)
            | Request::Sleep(_) => Ok((0, Path::new())),
        }
    }

    /// The innermost descendant that is active in `composite`, or was last; itself, if none is remembered (rule 16).
    pub(super) fn last_active_in<'r>(&'r self, composite: &'r StateRef<T>) -> &'r StateRef<T> {
        if !composite.keeps_history() {
            return composite;
        }
        if self.seat.is_in_state(&**composite) {
            return &self.seat.current;
        }
        self.seat.remembered(composite).unwrap_or(composite)
    }

    /// The path that a change to `to` leads to, and how many of its outermost states are active and left alone. `left` is left if
    /// it is active, and all that is active below the deepest common ancestor (rules 6, 16).
    pub(super) fn route(&self, to: &StateRef<T>, left: &StateRef<T>) -> Result<(usize, Path<T>), Misuse> {
        let path = descent(to)?;
        let above = path.iter().position(|state| state == left).unwrap_or(path.len());
        Ok((self.seat.shared_with(&path).min(above), path))
    }

    /// Rule 13. Whether one callback has led to as many changes as it may.
    #[inline]
    pub(super) fn is_cycle(&mut self, request: &dyn fmt::Display, owner: &T) -> bool {
        let is_cycle = self.led_to() == MOST_CHANGES;
        if is_cycle {
            self.break_cycle(request, owner);
        }
        is_cycle
    }

    #[cold]
    pub(super) fn break_cycle(&mut self, request: &dyn fmt::Display, owner: &T) {
        self.forget_requests();
        let mut cycle: Vec<&StateRef<T>> = Vec::new();
        for state in self.seat.rare.iter().flat_map(|rare| &rare.trail) {
            if !cycle.contains(&state) {
                cycle.push(state);
            }
        }
        error!(
            target: "demeanor",
            "{}: {request} dropped in state {}: one callback has led to {MOST_CHANGES} changes, most recently to {cycle:?}",
            Label(owner),
            NameOf(self.seat.current.as_option()),
        );
    }

    #[cold]
    pub(super) fn refused(&self, request: &dyn fmt::Display, owner: &T, misuse: &Misuse) {
        let current = NameOf(self.seat.current.as_option());
        log!(target: "demeanor", misuse.level, "{}: {request} refused in state {current}: {}", Label(owner), misuse.why);
    }
}
