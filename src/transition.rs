//! The one algorithm: how requests are carried out, and in which order a change calls what.
//!
//! It works on a [`Seat`](crate::seat::Seat), whoever keeps it. The rule numbers are those of `docs/semantics.md`.

#![expect(
    clippy::inline_always,
    reason = "so that a change to a singleton is compiled for itself: 25 ns rather than 31"
)]

use alloc::vec::Vec;
use core::{mem, slice};

use log::{Level, debug, error, log};

use crate::fsm::Fsm;
use crate::owner::{Cause, Change, Label, NameOf, Outcome, Owner, Refusal};
use crate::request::{Request, Requests};
use crate::seat::{Path, Suspended, path_to};
use crate::state::{State, StateRef};
use crate::watched::Step;

/// The most changes that one callback may lead to (rule 13).
const MOST_CHANGES: u32 = 64;

/// The deepest that states can be pushed over each other (rule 15).
const MOST_PUSHED: usize = 64;

/// Why nothing can be asked for in `exit` (rule 12).
pub(crate) const BEING_LEFT: &str = "the state is being left";

/// The steps of a change: of one owner's here, of many owners' at once in a batch.
pub(crate) trait Steps {
    /// Asks the guards. Returns whether there is anything left to do.
    fn admit(&mut self) -> bool;
    fn exit(&mut self);
    /// Makes the new state the current one, and tells of it.
    fn swap(&mut self);
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
struct Fault {
    level: Level,
    why: &'static str,
}

impl Fault {
    /// A path of states without an end (rule 6).
    fn endless(why: &'static str) -> Self {
        Self { level: Level::Error, why }
    }
}

/// A misuse (rule 23).
impl From<&'static str> for Fault {
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

impl<T: Owner> Fsm<'_, T> {
    /// Rule 11.
    pub(crate) fn execute_now(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.exiting {
            self.misused(request, owner, BEING_LEFT);
            return false;
        }
        self.settle(owner, cx);
        let done = self.execute(request, owner, cx);
        self.settle(owner, cx);
        done
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
                self.execute_lone(state, owner, cx);
            } else if let Some(request) = self.requests.pop() {
                self.execute(&request, owner, cx);
            } else {
                break;
            }
        }
    }

    /// Carries out one request: guards, exits, swap, enters. Returns whether the change was made.
    pub(crate) fn execute(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        if self.changes == MOST_CHANGES {
            self.break_cycle(request, owner);
            return false;
        }
        let cause = request.cause();
        if let Some(to) = self.flat_target(request) {
            return self.change(&Plan { cause, kept: 0, entered: slice::from_ref(&to) }, owner, cx);
        }
        self.execute_path(request, owner, cx)
    }

    /// As [`execute`](Self::execute), of a change to a singleton: nearly all there are. The very same steps, compiled for
    /// themselves, take half as long.
    fn execute_lone(&mut self, state: &'static dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.changes == MOST_CHANGES || !state.is_flat() {
            self.execute(&Request::Change(state.into()), owner, cx);
            return;
        }
        let to = StateRef::from(state);
        let plan = Plan { cause: Cause::Change, kept: 0, entered: slice::from_ref(&to) };
        carry_out(&mut OneChange { fsm: self, plan: &plan, owner, cx });
    }

    /// As [`execute`](Self::execute), where there may be more than one state to enter.
    #[inline(never)]
    fn execute_path(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match self.find_path(request) {
            Ok((kept, path)) => self.change(&Plan { cause: request.cause(), kept, entered: &path }, owner, cx),
            Err(fault) => {
                self.refused(request, owner, &fault);
                false
            }
        }
    }

    #[inline(never)]
    fn change(&mut self, plan: &Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        carry_out(&mut OneChange { fsm: self, plan, owner, cx })
    }

    /// The target of a change to a state without relatives, as most are: all that is active is left for it alone.
    #[inline]
    fn flat_target(&self, request: &Request<T>) -> Option<StateRef<T>> {
        let to = match request {
            Request::Change(to) => to,
            Request::Revert => self.previous()?,
            Request::Push(_) | Request::Pop | Request::Resume(_) => return None,
        };
        to.is_flat().then(|| to.clone())
    }

    /// How many active states a request leaves alone, and what it enters.
    fn find_path(&self, request: &Request<T>) -> Result<(usize, Path<T>), Fault> {
        let stack = self.seat.rare.as_ref().map_or(&[][..], |rare| &rare.stack);
        match request {
            Request::Change(to) => self.route(to),
            Request::Revert => self.route(self.previous().ok_or("there is no previous state")?),
            Request::Resume(composite) => self.route(self.seat.remembered(composite).unwrap_or(composite)),
            Request::Push(_) if stack.len() == MOST_PUSHED => {
                Err("64 states are pushed over each other already".into())
            }
            Request::Push(over) => Ok((0, descent(over)?.1)),
            Request::Pop => {
                let suspended = stack.last().ok_or("nothing has been pushed over")?;
                Ok((0, suspended.ancestors.iter().chain(suspended.current.as_option()).cloned().collect()))
            }
        }
    }

    /// How many active states a change to `to` leaves alone, and what it enters (rule 6).
    fn route(&self, to: &StateRef<T>) -> Result<(usize, Path<T>), Fault> {
        let (above, mut path) = descent(to)?;
        // Up to the deepest common ancestor; but a target on the active path is itself left.
        let shared = self.seat.path().zip(&path).take_while(|(active, entered)| active == entered).count();
        let kept = shared.min(above);
        path.drain(..kept);
        Ok((kept, path))
    }

    /// Asks the guards, unless the verb does without (rules 8, 15).
    #[inline(always)]
    fn is_admitted(&self, plan: &Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let mut exited = (plan.kept..self.seat.depth()).rev().filter_map(|depth| self.seat.at(depth));
        let mut refusal = None;
        if plan.cause != Cause::Push {
            refusal = exited.find(|state| !state.can_exit(owner, cx)).map(Refusal::Exit);
        }
        if plan.cause != Cause::Pop && refusal.is_none() {
            refusal = plan.entered.iter().find(|state| !state.can_enter(owner, cx)).map(Refusal::Enter);
        }
        let Some(refusal) = refusal else { return true };
        let change = Change {
            from: self.current(),
            to: plan.entered.last(),
            cause: plan.cause,
            outcome: Outcome::Refused(refusal),
        };
        tell(owner, &change, cx);
        false
    }

    /// Exits, innermost first. Current and previous are both the state being left (rule 5).
    #[inline(always)]
    fn exit_all(&mut self, plan: &Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) {
        if !self.seat.current.is_none() {
            self.seat.previous = self.seat.current.clone();
        }
        let asked_before = if self.requests.is_empty() { None } else { Some(mem::take(&mut self.requests)) };
        self.exiting = true;
        for depth in (plan.kept..self.seat.depth()).rev() {
            let Some(state) = self.seat.at(depth).cloned() else { break };
            self.note(|| Step::Exited(state.clone()));
            if plan.cause == Cause::Push {
                state.suspend(owner, self, cx);
            } else {
                state.exit(owner, self, cx);
            }
            self.seat.remember(depth);
        }
        self.exiting = false;
        while let Some(request) = self.requests.pop() {
            self.misused(&request, owner, BEING_LEFT);
        }
        if let Some(asked_before) = asked_before {
            self.requests = asked_before;
        }
    }

    /// Makes the first of the states to be entered the current one, and tells of the change.
    #[inline(always)]
    fn swap(&mut self, plan: &Plan<'_, T>, owner: &mut T, cx: &mut T::Context<'_>) {
        self.changes += 1;
        self.made += 1;
        self.kept = self.kept.min(plan.kept);
        self.seat.entered_at = T::now(cx);
        let first = plan.entered.first().cloned().unwrap_or(StateRef::NONE);
        let from = match plan.cause {
            Cause::Push => {
                let rare = self.seat.rare_mut();
                let ancestors = mem::take(&mut rare.ancestors);
                let from = mem::replace(&mut self.seat.current, first);
                self.seat.rare_mut().stack.push(Suspended { current: from.clone(), ancestors });
                from
            }
            Cause::Pop => {
                self.seat.rare_mut().stack.pop();
                self.seat.replace(0, first)
            }
            Cause::Change | Cause::Revert | Cause::Resume => self.seat.replace(plan.kept, first),
        };
        let to = plan.entered.last();
        if self.changes > MOST_CHANGES / 2 {
            let trail = &mut self.seat.rare_mut().trail;
            if self.changes == MOST_CHANGES / 2 + 1 {
                trail.clear();
            }
            trail.extend(to.cloned());
        }
        self.note(|| Step::Changed { from: from.as_option().cloned(), to: to.cloned(), cause: plan.cause });
        let change = Change::taken(from.as_option(), to, plan.cause);
        tell(owner, &change, cx);
    }

    /// Writes a step down, for whoever watches.
    #[inline]
    fn note(&mut self, step: impl FnOnce() -> Step<T>) {
        if let Some(steps) = &mut self.steps {
            steps.push(step());
        }
    }

    /// Enters, outermost first, each being current while its `enter` runs; unless a change made in one of them has taken the
    /// machine elsewhere (rule 5).
    #[inline(always)]
    fn enter_all(&mut self, path: &[StateRef<T>], cause: Cause, owner: &mut T, cx: &mut T::Context<'_>) {
        let turn = self.changes;
        for (i, state) in path.iter().enumerate() {
            if i > 0 {
                self.seat.descend(state.clone());
            }
            self.note(|| Step::Entered(state.clone()));
            if cause == Cause::Pop {
                state.resume(owner, self, cx);
            } else {
                state.enter(owner, self, cx);
            }
            if self.changes != turn {
                return;
            }
        }
    }

    /// Rule 1: enters the active path, outermost first.
    pub(crate) fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        let path: Path<T> = self.seat.path().cloned().collect();
        let Some(outermost) = path.first() else { return };
        self.seat.replace(0, outermost.clone());
        self.enter_all(&path, Cause::Change, owner, cx);
        self.settle(owner, cx);
    }

    /// Rule 1: exits the active path, innermost first; the machine is then in no state.
    pub(crate) fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.exit_all(&Plan { cause: Cause::Change, kept: 0, entered: &[] }, owner, cx);
        self.seat.replace(0, StateRef::NONE);
        if let Some(rare) = &mut self.seat.rare {
            rare.stack.clear();
        }
    }

    /// Rule 4: one tick.
    pub(crate) fn tick(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if let Some(global) = self.global.as_option() {
            global.update(owner, self, cx);
            self.settle_callback(owner, cx);
        }
        self.tick_path(0, owner, cx);
    }

    /// The tick of a machine with nothing but this one state to call, as most are. Returns whether it has changed state.
    #[inline]
    pub(crate) fn tick_lone(mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        state.update(owner, &mut self, cx);
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
        while let Some(state) = self.seat.at(depth) {
            let was_innermost = depth + 1 == self.seat.depth();
            match state.as_singleton() {
                Some(state) => state.update(owner, self, cx),
                None => state.clone().update(owner, self, cx),
            }
            self.settle_callback(owner, cx);
            if was_innermost {
                break;
            }
            depth += 1;
        }
    }

    /// Rule 14: offers a message outward. Returns whether it was handled.
    pub(crate) fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        let path: Path<T> = self.seat.path().cloned().collect();
        self.kept = path.len();
        for (depth, state) in path.iter().enumerate().rev() {
            if depth >= self.kept {
                continue;
            }
            let is_handled = state.on_message(owner, message, self, cx);
            self.settle_callback(owner, cx);
            if is_handled {
                return true;
            }
        }
        let Some(global) = self.global.as_option() else { return false };
        let is_handled = global.on_message(owner, message, self, cx);
        self.settle_callback(owner, cx);
        is_handled
    }

    /// Carries out what the callback that has just returned asked for. The next one has its own count of changes.
    #[inline]
    pub(crate) fn settle_callback(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if !self.is_settled() {
            self.settle_all(owner, cx);
            self.changes = 0;
        }
    }

    /// Whether the callback that has just returned has asked for nothing, and changed nothing at once.
    #[inline]
    fn is_settled(&self) -> bool {
        self.requests.is_empty() && self.changes == 0
    }

    #[cold]
    pub(crate) fn misused(&self, request: &Request<T>, owner: &T, why: &'static str) {
        self.refused(request, owner, &why.into());
    }

    #[cold]
    fn refused(&self, request: &Request<T>, owner: &T, fault: &Fault) {
        let current = NameOf(self.current());
        log!(target: "demeanor", fault.level, "{}: {request} refused in state {current}: {}", Label(owner), fault.why);
    }

    /// Rule 13.
    #[cold]
    fn break_cycle(&mut self, request: &Request<T>, owner: &T) {
        self.requests = Requests::new();
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
            NameOf(self.current()),
        );
    }
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

/// One owner's change.
struct OneChange<'c, 'f, 'x, T: Owner> {
    fsm: &'c mut Fsm<'f, T>,
    plan: &'c Plan<'c, T>,
    owner: &'c mut T,
    cx: &'c mut T::Context<'x>,
}

impl<T: Owner> Steps for OneChange<'_, '_, '_, T> {
    #[inline(always)]
    fn admit(&mut self) -> bool {
        self.fsm.is_admitted(self.plan, self.owner, self.cx)
    }

    #[inline(always)]
    fn exit(&mut self) {
        self.fsm.exit_all(self.plan, self.owner, self.cx);
    }

    #[inline(always)]
    fn swap(&mut self) {
        self.fsm.swap(self.plan, self.owner, self.cx);
    }

    #[inline(always)]
    fn enter(&mut self) {
        self.fsm.enter_all(self.plan.entered, self.plan.cause, self.owner, self.cx);
    }
}

/// The path from the outermost ancestor of `to` down through the `initial()` children, and how many states of it are above
/// `to`.
fn descent<T: Owner>(to: &StateRef<T>) -> Result<(usize, Path<T>), Fault> {
    let mut path = path_to(to).map_err(Fault::endless)?;
    let above = path.len() - 1;
    let mut innermost = to.clone();
    while let Some(child) = innermost.initial() {
        if child.parent().as_ref() != Some(&innermost) {
            return Err("its initial() has another parent()".into());
        }
        if path.len() > 64 {
            return Err(Fault::endless("its initial() states have no end"));
        }
        path.push(child.clone());
        innermost = child;
    }
    Ok((above, path))
}
