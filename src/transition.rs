//! The one algorithm: how requests are carried out, and in which order a change calls what.
//!
//! It works on a [`Seat`](crate::seat::Seat), whoever keeps it. The rule numbers are those of `docs/semantics.md`.

#![expect(
    clippy::inline_always,
    reason = "so that a change to a singleton is compiled for itself: 25 ns rather than 31"
)]

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::{fmt, mem, slice};

use log::{Level, debug, error, log};

use crate::change::{Cause, Change, NameOf, Outcome, Refusal};
use crate::fsm::{NEVER, Request};
use crate::owner::{Label, Owner};
use crate::requests::Requests;
use crate::seat::{Path, path_to};
use crate::single::{ASKED_TO_SLEEP, Single};
use crate::state::{State, StateRef};
use crate::step::Step;
use crate::waiting::{After, NextWake, Scope, Then, Timer};

/// The most changes that one callback may lead to (rule 13).
const MOST_CHANGES: u32 = 64;

/// The deepest that states can be pushed over each other (rule 15).
pub(crate) const MOST_PUSHED: usize = 64;

/// Why nothing can be asked for in `exit` (rule 12).
pub(crate) const BEING_LEFT: &str = "the state is being left";

/// The steps of a change: of one owner's here, of many owners' at once in a batch.
pub(crate) trait Steps {
    /// Asks the guards. Returns whether there is anything left to do.
    fn admit(&mut self) -> bool;
    fn exit(&mut self);
    /// Makes the new state the current one, and tells of it.
    fn swap(&mut self);
    /// Enters, and tells that the change is complete.
    fn enter(&mut self);
}

/// The order in which a change does what, whoever changes (rules 5, 8). Returns whether the change was made.
#[inline(always)]
pub(crate) fn carry_out(change: &mut impl Steps) -> bool {
    if !change.admit() {
        return false;
    }
    change.exit();
    change.swap();
    change.enter();
    true
}

/// Why a request is not carried out, and how bad that is.
struct Misuse {
    level: Level,
    why: &'static str,
}

impl Misuse {
    /// A path of states without an end (rule 6).
    fn endless(why: &'static str) -> Self {
        Self { level: Level::Error, why }
    }
}

/// Rule 23.
impl From<&'static str> for Misuse {
    fn from(why: &'static str) -> Self {
        Self { level: Level::Warn, why }
    }
}

/// What one change leaves and enters.
struct Plan<'p, T: Owner> {
    cause: Cause,
    /// How many of the active states stay, from the outermost.
    kept: usize,
    /// What is entered, outermost first; nothing when a pop leads back to no state.
    entered: &'p [StateRef<T>],
}

/// The requests of a machine, one after the other.
impl<T: Owner> Single<'_, T> {
    /// Rule 11.
    pub(crate) fn execute_now(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.exiting {
            self.refused(request, owner, &BEING_LEFT.into());
            return false;
        }
        self.settle(owner, cx);
        let is_done = self.execute(request, owner, cx);
        self.settle(owner, cx);
        is_done
    }

    /// Rule 24.
    pub(crate) fn send_now(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        if self.exiting {
            self.refused(&"message to oneself", owner, &BEING_LEFT.into());
            return false;
        }
        self.settle(owner, cx);
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
    fn settle_all(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
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
    fn is_settled(&self) -> bool {
        self.requests.is_empty() && self.count == 0
    }

    /// Carries out one request. Returns whether it was done.
    pub(crate) fn execute(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match request {
            Request::ChangeSingleton(to) => self.execute_singleton(*to, owner, cx),
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
    fn execute_singleton(&mut self, to: &'static dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.count >= MOST_CHANGES / 2 || self.steps.is_some() || !self.requests.is_empty() || !to.is_flat() {
            return self.execute_other(&Request::Change(to.into()), owner, cx);
        }
        let Some(from) = self.seat.lone() else {
            return self.execute_other(&Request::Change(to.into()), owner, cx);
        };
        let made = self.made;
        // There is no other target to be dropped: whoever changes within a callback has taken it away.
        mem::forget(mem::replace(&mut self.target, to.into()));
        let is_made = carry_out(&mut LoneChange { single: self, from, to, owner, cx, made });
        mem::forget(mem::replace(&mut self.target, StateRef::NONE));
        is_made
    }

    #[inline(never)]
    fn execute_other(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
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
        self.execute_path(request, owner, cx)
    }

    /// As [`execute`](Self::execute), where there may be more than one state to enter.
    #[inline(never)]
    fn execute_path(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match self.find_path(request) {
            Ok((kept, path)) => self.change(&Plan { cause: request.cause(), kept, entered: &path }, owner, cx),
            Err(misuse) => {
                self.refused(request, owner, &misuse);
                false
            }
        }
    }

    #[inline(never)]
    fn change(&mut self, plan: &Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        OneChange::new(self, plan, owner, cx).carry_out()
    }

    /// The target of a change to a state without relatives, as most are: all that is active is left for it alone.
    #[inline]
    fn flat_target(&self, request: &Request<T>) -> Option<StateRef<T>> {
        let to = match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => to,
            Request::Revert => self.seat.previous.as_option()?,
            _ => return None,
        };
        to.is_flat().then(|| to.clone())
    }

    /// How many active states a request leaves alone, and what it enters.
    fn find_path(&self, request: &Request<T>) -> Result<(usize, Path<T>), Misuse> {
        let stack = self.seat.rare.as_ref().map_or(&[][..], |rare| &rare.stack);
        match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => self.route(to, to),
            Request::Revert => {
                let previous = self.seat.previous.as_option().ok_or("there is no previous state")?;
                self.route(previous, previous)
            }
            Request::Resume(composite) => self.route(self.last_active_in(composite), composite),
            Request::Push(_) if stack.len() == MOST_PUSHED => {
                Err("64 states are pushed over each other already".into())
            }
            Request::Push(over) => Ok((0, descent(over)?)),
            Request::Pop => {
                let suspended = stack.last().ok_or("the stack is empty")?;
                Ok((0, suspended.ancestors.iter().chain(suspended.current.as_option()).cloned().collect()))
            }
            Request::ChangeSingleton(_)
            | Request::Send(_)
            | Request::After(_)
            | Request::Due(_)
            | Request::Sleep(_) => Ok((0, Path::new())),
        }
    }

    /// The innermost descendant that is active in `composite`, or was last; itself, if none is remembered (rule 16).
    fn last_active_in<'r>(&'r self, composite: &'r StateRef<T>) -> &'r StateRef<T> {
        if !composite.keeps_history() {
            return composite;
        }
        if self.seat.is_in_state(&**composite) {
            return &self.seat.current;
        }
        self.seat.remembered(composite).unwrap_or(composite)
    }

    /// How many active states a change to `to` leaves alone, and what it enters. `left` is left if it is active, and all that
    /// is active below the deepest common ancestor (rules 6, 16).
    fn route(&self, to: &StateRef<T>, left: &StateRef<T>) -> Result<(usize, Path<T>), Misuse> {
        let mut path = descent(to)?;
        let above = path.iter().position(|state| state == left).unwrap_or(path.len());
        let shared = self.seat.path().zip(&path).take_while(|(active, entered)| active == entered).count();
        let kept = shared.min(above);
        path.drain(..kept);
        Ok((kept, path))
    }

    /// Rule 13. Whether one callback has led to as many changes as it may.
    #[inline]
    fn is_cycle(&mut self, request: &dyn fmt::Display, owner: &T) -> bool {
        let is_cycle = self.led_to() == MOST_CHANGES;
        if is_cycle {
            self.break_cycle(request, owner);
        }
        is_cycle
    }

    #[cold]
    fn break_cycle(&mut self, request: &dyn fmt::Display, owner: &T) {
        self.requests = Requests::new();
        self.count &= !ASKED_TO_SLEEP;
        let mut cycle: Vec<&StateRef<T>> = Vec::new();
        for state in self.seat.rare.iter().flat_map(|rare| &rare.trail) {
            if !cycle.contains(&state) {
                cycle.push(state);
            }
        }
        error!(
            target: "demeanor",
            "{}: {request} dropped in state {}: one callback has led to {MOST_CHANGES} changes, lately to {cycle:?}",
            Label(owner),
            NameOf(self.seat.current.as_option()),
        );
    }

    #[cold]
    fn refused(&self, request: &dyn fmt::Display, owner: &T, misuse: &Misuse) {
        let current = NameOf(self.seat.current.as_option());
        log!(target: "demeanor", misuse.level, "{}: {request} refused in state {current}: {}", Label(owner), misuse.why);
    }
}

/// A machine's life, ticks and messages.
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
        match descent(&current) {
            Ok(path) => {
                self.enter_from_nowhere(&path, owner, cx);
                self.settle(owner, cx);
                self.fall_asleep(owner, cx);
            }
            Err(misuse) => self.refused(&"start", owner, &misuse),
        }
    }

    /// Enters a path that no change leads to.
    fn enter_from_nowhere(&mut self, path: &[StateRef<T>], owner: &mut T, cx: &mut T::Context<'_>) {
        self.is_touched = true;
        self.seat.replace(0, path[0].clone(), now::<T>(cx));
        self.show(cx);
        self.enter_all(path, Cause::Change, owner, cx);
    }

    /// Enters the current state unless it has been entered, as a start does (rule 27).
    #[cfg(feature = "serde")]
    fn enter_in_place(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let current = self.seat.current.clone();
        if current.is_none() || self.seat.is_entered() {
            return true;
        }
        match descent(&current) {
            Ok(path) => {
                // For whoever notes what a tick has led to, it is a change.
                self.count += 1;
                self.made += 1;
                self.kept = 0;
                self.seat.note_change(0);
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
        let plan = Plan { cause: Cause::Change, kept: 0, entered: &[] };
        OneChange::new(self, &plan, owner, cx).exit();
        self.seat.replace(0, StateRef::NONE, NEVER);
        self.seat.note_change(0);
        self.show(cx);
        if let Some(rare) = &mut self.seat.rare {
            drop(mem::take(&mut rare.stack));
        }
    }

    /// Rule 4: one tick.
    pub(crate) fn tick(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.seat.is_waiting() {
            self.carry_out_due(owner, cx);
        }
        if let Some(global) = self.global.as_option() {
            self.scope = Scope::Machine;
            global.tick(owner, &mut self.fsm(), cx);
            self.settle_callback(owner, cx);
        }
        self.tick_path(0, owner, cx);
    }

    /// The tick of a machine with nothing but this one state to call, as most are. Returns whether it has changed state.
    #[inline]
    pub(crate) fn tick_lone(mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        state.tick(owner, &mut self.fsm(), cx);
        let mut has_changed = false;
        if !self.is_settled() {
            self.settle_callback(owner, cx);
            has_changed = self.made > 0;
        }
        // All requests are carried out, so nothing is left to drop. The compiler cannot know, and would look.
        mem::forget(self);
        has_changed
    }

    /// A tick's rest: the active path from `depth` on.
    #[inline]
    pub(crate) fn tick_path(&mut self, mut depth: usize, owner: &mut T, cx: &mut T::Context<'_>) {
        while let Some(state) = self.seat.at(depth).filter(|_| !self.seat.is_asleep()) {
            let was_innermost = depth + 1 == self.seat.depth();
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
        #[cfg(feature = "definition")]
        if let Some(rare) = &mut self.seat.rare {
            rare.waiting.end_turns();
        }
    }

    /// Rule 14: offers a message from outside. Returns whether it was handled.
    pub(crate) fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.offer(message, owner, cx, Self::settle_callback)
    }

    /// Rule 24: offers a message to oneself, which counts as a change does.
    fn offer_to_oneself(&mut self, message: &T::Message, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.is_cycle(&"message to oneself", owner) {
            return false;
        }
        self.count += 1;
        self.offer(message, owner, cx, Self::settle)
    }

    /// Offers a message to the active states outward, then to the global; after each, `settle` carries out what it asked for.
    fn offer(
        &mut self,
        message: &T::Message,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        settle: fn(&mut Self, &mut T, &mut T::Context<'_>),
    ) -> bool {
        let path: Path<T> = self.seat.path().cloned().collect();
        let kept_outside = mem::replace(&mut self.kept, path.len());
        let mut is_handled = false;
        for (depth, state) in path.iter().enumerate().rev() {
            if depth < self.kept && !is_handled {
                self.scope = Scope::state(depth);
                is_handled = state.on_message(owner, message, &mut self.fsm(), cx);
                self.wake_if(is_handled);
                settle(self, owner, cx);
            }
        }
        self.kept = self.kept.min(kept_outside);
        if let (false, Some(global)) = (is_handled, self.global.as_option()) {
            self.scope = Scope::Machine;
            is_handled = global.on_message(owner, message, &mut self.fsm(), cx);
            self.wake_if(is_handled);
            settle(self, owner, cx);
        }
        is_handled
    }
}

/// Waiting.
impl<T: Owner> Single<'_, T> {
    /// Carries out the timers that are due, at the beginning of a tick (rule 25).
    #[inline(never)]
    fn carry_out_due(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        let now = now::<T>(cx);
        let is_outdated = self.seat.is_outdated();
        let Some(waiting) = self.seat.rare.as_mut().map(|rare| &mut rare.waiting) else { return };
        if waiting.clock_stands(now) {
            debug!(target: "demeanor", "{}: waits for a clock that stands at {now} s", Label(owner));
        }
        let due = waiting.take_due(now);
        let is_woken = is_outdated || waiting.wakes_at().is_some_and(|at| at <= now);
        if due.is_empty() && !is_woken {
            return;
        }
        waiting.wake();
        self.is_touched = true;
        for timer in due {
            self.requests.push(Request::Due(Box::new(timer)));
        }
        self.settle_callback(owner, cx);
    }

    fn carry_out_timer(&mut self, timer: &Timer<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match &timer.then {
            #[cfg(feature = "definition")]
            Then::Turn => {
                self.seat.rare_mut().waiting.note_turn(timer.scope);
                true
            }
            #[cfg(feature = "serde")]
            Then::Enter => self.enter_in_place(owner, cx),
            // It is never due.
            #[cfg(feature = "definition")]
            Then::Note(_) => false,
            Then::Change(to) => self.execute(&Request::change(to.clone()), owner, cx),
            Then::Send(message) => {
                message.downcast_ref().is_some_and(|message| self.offer_to_oneself(message, owner, cx))
            }
        }
    }

    /// Sets a timer that a callback has asked for.
    fn set_timer(&mut self, after: &After<T>, owner: &T, cx: &T::Context<'_>) -> bool {
        let After { seconds, scope, ref then } = *after;
        if scope == Scope::Left {
            debug!(target: "demeanor", "{}: {then} after {seconds} s ends at once: its state has been left", Label(owner));
            return false;
        }
        let due = now::<T>(cx) + Self::seconds(seconds, then, owner);
        if due < f64::INFINITY || then.is_note() {
            self.seat.rare_mut().waiting.set(Timer { due, scope, then: then.clone() });
            self.is_touched = true;
        }
        true
    }

    /// Seconds that are no time count as none.
    pub(crate) fn seconds(seconds: f64, what: &dyn fmt::Display, owner: &T) -> f64 {
        if seconds >= 0.0 {
            return seconds;
        }
        debug!(target: "demeanor", "{}: {what} after {seconds} s is due at once", Label(owner));
        0.0
    }

    /// Carries out a request from outside. Returns whether it was done.
    pub(crate) fn execute_alone(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let is_done = self.execute_now(request, owner, cx);
        self.fall_asleep(owner, cx);
        is_done
    }

    /// Falls asleep, if the callback has asked for it and no change has come since (rule 26). The next callback has its own
    /// count of changes.
    fn fall_asleep(&mut self, owner: &T, cx: &T::Context<'_>) {
        if mem::take(&mut self.count) & ASKED_TO_SLEEP == 0 {
            // What a callback that has panicked wanted is still noted, and counts for nothing.
            return;
        }
        let wanted = self.seat.rare.as_mut().and_then(|rare| rare.waiting.take_wanted());
        if let Some(seconds) = wanted {
            self.sleep_for(seconds, owner, cx);
        }
    }

    /// Puts the machine to sleep for a number of seconds.
    pub(crate) fn sleep_for(&mut self, seconds: f64, owner: &T, cx: &T::Context<'_>) {
        let seconds = Self::seconds(seconds, &"sleep", owner);
        self.seat.sleep_until(now::<T>(cx) + seconds);
        self.is_touched = true;
        if self.seat.next_wake(self.global) == NextWake::Never {
            tell_endless_sleep(owner, self.seat.current.as_option());
        }
    }

    /// Wakes the machine, if it is asleep and a state has handled a message.
    fn wake_if(&mut self, is_handled: bool) {
        if is_handled && self.seat.wake() {
            self.is_touched = true;
        }
    }
}

/// One owner's change.
struct OneChange<'c, 'f, 'x, T: Owner> {
    single: &'c mut Single<'f, T>,
    plan: &'c Plan<'c, T>,
    owner: &'c mut T,
    cx: &'c mut T::Context<'x>,
    /// The state that was left; kept until the end, so that nothing is dropped in between.
    from: StateRef<T>,
}

impl<'c, 'f, 'x, T: Owner> OneChange<'c, 'f, 'x, T> {
    #[inline(always)]
    fn new(single: &'c mut Single<'f, T>, plan: &'c Plan<'c, T>, owner: &'c mut T, cx: &'c mut T::Context<'x>) -> Self {
        Self { single, plan, owner, cx, from: StateRef::NONE }
    }

    /// Makes the change. While it is under way, the machine knows where it leads to.
    #[inline(always)]
    fn carry_out(mut self) -> bool {
        self.single.target = self.plan.entered.last().cloned().unwrap_or(StateRef::NONE);
        let is_made = carry_out(&mut self);
        self.single.target = StateRef::NONE;
        is_made
    }
}

impl<T: Owner> Steps for OneChange<'_, '_, '_, T> {
    /// Asks the guards, unless the request does without (rules 8, 15, 24).
    #[inline(always)]
    fn admit(&mut self) -> bool {
        let Self { single, plan, owner, cx, .. } = self;
        if !matches!(plan.cause, Cause::Push | Cause::Force) {
            for depth in (plan.kept..single.seat.depth()).rev() {
                let Some(state) = single.seat.at(depth).cloned() else { break };
                if !state.can_exit(owner, &single.fsm(), cx) {
                    single.tell_refused(plan, Refusal::Exit(&state), owner, cx);
                    return false;
                }
            }
        }
        if plan.cause != Cause::Pop {
            for state in plan.entered {
                if !state.can_enter(owner, &single.fsm(), cx) {
                    single.tell_refused(plan, Refusal::Enter(state), owner, cx);
                    return false;
                }
            }
        }
        true
    }

    /// Exits, innermost first. Current and previous are both the state being left (rule 5).
    #[inline(always)]
    fn exit(&mut self) {
        let Self { single, plan, owner, cx, .. } = self;
        single.is_touched = true;
        if !single.seat.current.is_none() {
            single.seat.previous = single.seat.current.clone();
        }
        let asked_before = if single.requests.is_empty() { None } else { Some(mem::take(&mut single.requests)) };
        single.has_waiting = asked_before.is_some();
        single.exiting = true;
        for depth in (plan.kept..single.seat.depth()).rev() {
            let Some(state) = single.seat.at(depth).cloned() else { break };
            single.record(|| Step::Exited(state.clone()));
            if plan.cause == Cause::Push {
                state.suspend(owner, &mut single.fsm(), cx);
            } else {
                state.exit(owner, &mut single.fsm(), cx);
            }
            single.seat.remember(depth);
        }
        single.exiting = false;
        single.refuse_all(owner);
        if let Some(asked_before) = asked_before {
            single.requests = asked_before;
        }
    }

    /// Makes the first of the states to be entered the current one, and tells of the change.
    #[inline(always)]
    fn swap(&mut self) {
        let Self { single, plan, owner, cx, .. } = self;
        let now = now::<T>(cx);
        single.count += 1;
        single.made += 1;
        single.kept = single.kept.min(plan.kept);
        let first = plan.entered.first().cloned().unwrap_or(StateRef::NONE);
        let ended = if single.requests.is_empty() { Requests::new() } else { single.requests.end_timers(plan.kept) };
        self.from = match plan.cause {
            Cause::Push => single.seat.push(first, ended, now),
            Cause::Pop => single.seat.pop(first, now),
            _ => single.seat.replace(plan.kept, first, now),
        };
        single.seat.note_change(plan.kept);
        single.show(cx);
        let (from, to) = (&self.from, plan.entered.last());
        if single.led_to() > MOST_CHANGES / 2 {
            single.leave_trail(to);
        }
        single.record(|| Step::Changed { from: from.as_option().cloned(), to: to.cloned(), cause: plan.cause });
        tell(*owner, &Change::taken(from.as_option(), to, plan.cause), cx);
    }

    /// Enters, and tells the owner, unless a change made in an `enter` has taken the machine elsewhere.
    #[inline(always)]
    fn enter(&mut self) {
        let Self { single, plan, owner, cx, from } = self;
        if single.enter_all(plan.entered, plan.cause, owner, cx) {
            owner.after_change(&Change::taken(from.as_option(), plan.entered.last(), plan.cause), cx);
        }
    }
}

/// One owner's change from one flat singleton to another, where nothing else waits and nobody records it. The steps are those of
/// [`OneChange`], without what cannot happen here: 36 ns rather than 57. Random programs hold the two together, since each
/// takes now this way, now that.
struct LoneChange<'c, 'f, 'x, T: Owner> {
    single: &'c mut Single<'f, T>,
    from: &'static dyn State<T>,
    to: &'static dyn State<T>,
    owner: &'c mut T,
    cx: &'c mut T::Context<'x>,
    /// How many changes had been made before.
    made: u32,
}

impl<T: Owner> Steps for LoneChange<'_, '_, '_, T> {
    #[inline(always)]
    fn admit(&mut self) -> bool {
        let Self { single, from, to, owner, cx, .. } = self;
        if !from.can_exit(owner, &single.fsm(), cx) {
            tell_refused(*owner, *from, *to, true, cx);
            return false;
        }
        if !to.can_enter(owner, &single.fsm(), cx) {
            tell_refused(*owner, *from, *to, false, cx);
            return false;
        }
        true
    }

    #[inline(always)]
    fn exit(&mut self) {
        let Self { single, from, owner, cx, .. } = self;
        single.is_touched = true;
        single.seat.previous = (*from).into();
        single.has_waiting = false;
        single.exiting = true;
        from.exit(owner, &mut single.fsm(), cx);
        single.exiting = false;
        if !single.requests.is_empty() {
            single.refuse_all(owner);
        }
    }

    #[inline(always)]
    fn swap(&mut self) {
        let Self { single, from, to, owner, cx, .. } = self;
        let now = now::<T>(cx);
        single.count += 1;
        single.made += 1;
        single.kept = 0;
        single.seat.current = (*to).into();
        single.seat.entered_at = now;
        single.show(cx);
        let (from, to) = (StateRef::from(*from), StateRef::from(*to));
        tell(*owner, &Change::taken(Some(&from), Some(&to), Cause::Change), cx);
    }

    #[inline(always)]
    fn enter(&mut self) {
        let Self { single, from, to, owner, cx, made } = self;
        single.scope = Scope::State(0);
        to.enter(owner, &mut single.fsm(), cx);
        if single.made == *made + 1 {
            let (from, to) = (StateRef::from(*from), StateRef::from(*to));
            owner.after_change(&Change::taken(Some(&from), Some(&to), Cause::Change), cx);
        }
    }
}

#[cold]
fn tell_refused<T: Owner>(
    owner: &mut T,
    from: &'static dyn State<T>,
    to: &'static dyn State<T>,
    is_exit: bool,
    cx: &mut T::Context<'_>,
) {
    let (from, to) = (StateRef::from(from), StateRef::from(to));
    let refusal = if is_exit { Refusal::Exit(&from) } else { Refusal::Enter(&to) };
    let change = Change { from: Some(&from), to: Some(&to), cause: Cause::Change, outcome: Outcome::Refused(refusal) };
    tell(owner, &change, cx);
}

/// What the steps of a change have in common with a start, or do seldom.
impl<T: Owner> Single<'_, T> {
    /// Enters, outermost first, each being current while its `enter` runs; unless a change made in one of them has taken the
    /// machine elsewhere (rule 5). Returns whether all have been entered.
    #[inline(always)]
    fn enter_all(&mut self, path: &[StateRef<T>], cause: Cause, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let made = self.made;
        for (i, state) in path.iter().enumerate() {
            if i > 0 {
                let entered_at = if cause == Cause::Pop { self.seat.resumed_at(i) } else { None };
                self.seat.descend(state.clone(), entered_at.unwrap_or(self.seat.entered_at));
                self.show(cx);
            }
            self.record(|| Step::Entered(state.clone()));
            self.scope = Scope::state(self.seat.depth() - 1);
            if cause == Cause::Pop {
                state.resume(owner, &mut self.fsm(), cx);
            } else {
                state.enter(owner, &mut self.fsm(), cx);
            }
            if self.made != made {
                return false;
            }
        }
        true
    }

    /// Refuses what an `exit` has asked for (rule 12).
    fn refuse_all(&mut self, owner: &T) {
        while let Some(request) = self.requests.pop() {
            self.refused(&request, owner, &BEING_LEFT.into());
        }
    }

    #[cold]
    fn tell_refused(&self, plan: &Plan<'_, T>, refusal: Refusal<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) {
        let (from, to) = (self.seat.current.as_option(), plan.entered.last());
        tell(owner, &Change { from, to, cause: plan.cause, outcome: Outcome::Refused(refusal) }, cx);
    }

    /// Writes a step down, for whoever has them recorded.
    #[inline]
    fn record(&mut self, step: impl FnOnce() -> Step<T>) {
        if let Some(steps) = &mut self.steps {
            steps.push(step());
        }
    }

    /// Changes have been made while a callback had lent the seat: for that callback they are one change made at once.
    pub(crate) fn changed_while_lent(&mut self, made: u32, kept: usize) {
        if made == 0 {
            return;
        }
        self.is_touched = true;
        self.made += made;
        self.kept = self.kept.min(kept);
        self.count = MOST_CHANGES.min(self.count + 1);
        if self.count > MOST_CHANGES / 2 {
            let current = self.seat.current.clone();
            self.leave_trail(current.as_option());
        }
    }

    #[cold]
    fn leave_trail(&mut self, to: Option<&StateRef<T>>) {
        let is_first = self.led_to() == MOST_CHANGES / 2 + 1;
        let trail = &mut self.seat.rare_mut().trail;
        if is_first {
            trail.clear();
        }
        trail.extend(to.cloned());
    }
}

/// The time by the owner's clock. A clock that shows no number stands at 0.
#[inline]
pub(crate) fn now<T: Owner>(cx: &T::Context<'_>) -> f64 {
    let now = T::now(cx);
    if now.is_nan() { 0.0 } else { now }
}

/// Says in the log why a request is not carried out (rule 23).
#[cfg(feature = "std")]
#[cold]
pub(crate) fn log_misuse<T: Owner>(
    owner: &T,
    request: &dyn fmt::Display,
    current: Option<&StateRef<T>>,
    why: &'static str,
) {
    log::warn!(target: "demeanor", "{}: {request} refused in state {}: {why}", Label(owner), NameOf(current));
}

/// Says in the log that an owner has fallen asleep in a state and does not wake by itself (rule 26).
pub(crate) fn tell_endless_sleep<T: Owner>(owner: &T, current: Option<&StateRef<T>>) {
    debug!(target: "demeanor", "{}: sleeps in state {} until a message or `wake`", Label(owner), NameOf(current));
}

/// Tells the log and the owner of a change, made or refused (rules 8, 23).
#[inline]
pub(crate) fn tell<T: Owner>(owner: &mut T, change: &Change<'_, T>, cx: &mut T::Context<'_>) {
    log_change(owner, change);
    owner.on_change(change, cx);
}

#[inline]
pub(crate) fn log_change<T: Owner>(owner: &T, change: &Change<'_, T>) {
    debug!(target: "demeanor", "{}: {change}", Label(owner));
}

/// The path from the outermost ancestor of `to` down through the `initial()` children.
fn descent<T: Owner>(to: &StateRef<T>) -> Result<Path<T>, Misuse> {
    let mut path = path_to(to).map_err(Misuse::endless)?;
    let mut innermost = to.clone();
    while let Some(child) = innermost.initial() {
        if child.parent().as_ref() != Some(&innermost) {
            return Err("its initial() has another parent()".into());
        }
        if path.len() > 64 {
            return Err(Misuse::endless("its initial() states have no end"));
        }
        path.push(child.clone());
        innermost = child;
    }
    Ok(path)
}
