//! The steps of one owner's change.

use core::borrow::Borrow;
use core::mem;
use core::ops::Deref;

use super::{BEING_LEFT, MOST_CHANGES, Plan, Steps, carry_out, tell};
use crate::change::{Cause, Change, Outcome, Refusal};
use crate::fsm::time_since;
use crate::machine::idle::Quiet;
use crate::machine::requests::Requests;
use crate::machine::seat::Resumption;
use crate::machine::single::Single;
use crate::machine::step::Step;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::state::{State, StateRef};

/// One owner's change.
pub(super) struct OneChange<'c, 'f, 'x, T: Owner> {
    single: &'c mut Single<'f, T>,
    plan: &'c Plan<'c, T>,
    owner: &'c mut T,
    cx: &'c mut T::Context<'x>,
    /// The state that was left; kept until the end, so that nothing is dropped in between.
    from: StateRef<T>,
    /// For how many seconds it had been active.
    time_in_state: f64,
    /// What a pop has yet to resume.
    resumption: Option<Resumption<T>>,
    /// Whether a callback that lent the machine has set it elsewhere meanwhile, so that what was to stay may be active no more.
    is_displaced: bool,
}

impl<'c, 'f, 'x, T: Owner> OneChange<'c, 'f, 'x, T> {
    #[inline(always)]
    pub(super) fn new(
        single: &'c mut Single<'f, T>,
        plan: &'c Plan<'c, T>,
        owner: &'c mut T,
        cx: &'c mut T::Context<'x>,
    ) -> Self {
        Self {
            single,
            plan,
            owner,
            cx,
            from: StateRef::NONE,
            time_in_state: 0.0,
            resumption: None,
            is_displaced: false,
        }
    }

    /// Makes the change. While it is under way, the machine knows where it leads to.
    #[inline(always)]
    pub(super) fn carry_out(mut self) -> bool {
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
                    single.tell_refused(Refusal::Exit(&state), plan.entered.last(), plan.cause, owner, cx);
                    return false;
                }
            }
        }
        if plan.cause != Cause::Pop {
            for state in plan.entered {
                if !state.can_enter(owner, &single.fsm(), cx) {
                    single.tell_refused(Refusal::Enter(state), plan.entered.last(), plan.cause, owner, cx);
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
        let made = single.made;
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
        self.is_displaced = single.made != made;
        single.refuse_all(owner);
        if let Some(asked_before) = asked_before {
            single.requests = asked_before;
            if self.is_displaced {
                single.requests.end_timers(0);
            }
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
        single.seat.note_change(plan.kept);
        self.time_in_state = time_since(single.seat.entered_at, now);
        let first = plan.entered.first().cloned().unwrap_or(StateRef::NONE);
        if self.is_displaced && plan.kept > 0 {
            single.seat.place(first.parent().unwrap_or(StateRef::NONE));
        }
        let ended = if single.requests.is_empty() { Requests::new() } else { single.requests.end_timers(plan.kept) };
        self.from = match plan.cause {
            Cause::Push => single.seat.push(first, |timers| ended.leave_timers(timers), now),
            Cause::Pop => {
                let (from, resumption) = single.seat.pop(first, now);
                self.resumption = resumption;
                from
            }
            _ => single.seat.replace(plan.kept, first, now),
        };
        single.show(cx);
        let (from, to) = (&self.from, plan.entered.last());
        if single.led_to() > MOST_CHANGES / 2 {
            single.leave_trail(to);
        }
        let (cause, time_in_state) = (plan.cause, self.time_in_state);
        single.record(|| {
            let (from, to) = (from.as_option().cloned(), to.cloned());
            Step::Changed { from, to, cause, time: now, time_in_state }
        });
        single.tell(&Change::taken(from.as_option(), to, plan.cause, self.time_in_state), now, owner, cx);
    }

    /// Enters, and tells the owner, unless a change made in an `enter` has taken the machine elsewhere.
    #[inline(always)]
    fn enter(&mut self) {
        let Self { single, plan, owner, cx, from, time_in_state, resumption, .. } = self;
        if single.enter_all(plan.entered, plan.cause, resumption, owner, cx) {
            let to = plan.entered.last();
            owner.after_change(&Change::taken(from.as_option(), to, plan.cause, *time_in_state), cx);
        }
    }
}

/// How a change refers to the states that it leaves and enters.
pub(super) trait Reference<T: Owner>: Clone + Deref<Target = dyn State<T>> + Into<StateRef<T>> {
    /// What stands for it where a `&StateRef` is wanted.
    type Lent<'r>: Borrow<StateRef<T>>
    where
        Self: 'r;

    fn lend(&self) -> Self::Lent<'_>;
}

/// A singleton, to which a reference costs nothing, not even to look whether there is anything to drop.
impl<T: Owner> Reference<T> for &'static dyn State<T> {
    type Lent<'r> = StateRef<T>;

    #[inline(always)]
    fn lend(&self) -> StateRef<T> {
        (*self).into()
    }
}

impl<T: Owner> Reference<T> for StateRef<T> {
    type Lent<'r> = &'r Self;

    #[inline(always)]
    fn lend(&self) -> &Self {
        self
    }
}

/// One owner's change from one flat state to another, where nothing else waits and nothing is recorded. The steps are those of
/// [`OneChange`], without what cannot happen here: 36 ns rather than 57 between singletons. Random programs hold the two
/// together, since each takes now this way, now that.
pub(super) struct LoneChange<'c, 'f, 'x, T: Owner, R> {
    pub(super) single: &'c mut Single<'f, T>,
    pub(super) from: R,
    pub(super) to: R,
    pub(super) owner: &'c mut T,
    pub(super) cx: &'c mut T::Context<'x>,
    /// How many changes had been made before.
    pub(super) made: u32,
    /// For how many seconds the state that is left had been active, once it has been left.
    pub(super) time_in_state: f64,
}

impl<T: Owner, R: Reference<T>> Steps for LoneChange<'_, '_, '_, T, R> {
    #[inline(always)]
    fn admit(&mut self) -> bool {
        let Self { single, from, to, owner, cx, .. } = self;
        if !from.can_exit(owner, &single.fsm(), cx) {
            let (from, to) = (from.lend(), to.lend());
            single.tell_refused(Refusal::Exit(from.borrow()), Some(to.borrow()), Cause::Change, owner, cx);
            return false;
        }
        if !to.can_enter(owner, &single.fsm(), cx) {
            let to = to.lend();
            single.tell_refused(Refusal::Enter(to.borrow()), Some(to.borrow()), Cause::Change, owner, cx);
            return false;
        }
        true
    }

    #[inline(always)]
    fn exit(&mut self) {
        let Self { single, from, owner, cx, .. } = self;
        single.is_touched = true;
        single.seat.previous = from.clone().into();
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
        self.time_in_state = time_since(single.seat.entered_at, now);
        single.seat.replace(0, to.clone().into(), now);
        single.show(cx);
        let (from, to) = (from.lend(), to.lend());
        let (from, to) = (Some(from.borrow()), Some(to.borrow()));
        single.tell(&Change::taken(from, to, Cause::Change, self.time_in_state), now, owner, cx);
    }

    #[inline(always)]
    fn enter(&mut self) {
        let Self { single, from, to, owner, cx, made, time_in_state } = self;
        single.scope = Scope::State(0);
        single.quiet = Quiet::NONE;
        to.enter(owner, &mut single.fsm(), cx);
        if single.made == *made + 1 {
            let (from, to) = (from.lend(), to.lend());
            owner.after_change(
                &Change::taken(Some(from.borrow()), Some(to.borrow()), Cause::Change, *time_in_state),
                cx,
            );
        }
    }
}

/// What the steps of a change have in common with a start, or do seldom.
impl<T: Owner> Single<'_, T> {
    /// Enters, outermost first, each being current while its `enter` runs; unless a change made in one of them has taken the
    /// machine elsewhere (rule 5). Returns whether all have been entered.
    #[inline(always)]
    pub(super) fn enter_all(
        &mut self,
        path: &[StateRef<T>],
        cause: Cause,
        resumption: &mut Option<Resumption<T>>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let made = self.made;
        self.quiet = Quiet::NONE;
        for (i, state) in path.iter().enumerate() {
            if i > 0 {
                self.seat.descend(state.clone(), self.seat.entered_at);
                if let Some(resumption) = resumption {
                    self.seat.resume(resumption);
                }
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
    pub(super) fn refuse_all(&mut self, owner: &T) {
        while let Some(request) = self.requests.pop() {
            self.refused(&request, owner, &BEING_LEFT.into());
        }
    }

    /// Tells the log, the owner and the observer of a change that has been made at a time.
    #[inline]
    fn tell(&mut self, change: &Change<'_, T>, now: f64, owner: &mut T, cx: &mut T::Context<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.changed(change, now, cx);
        }
        tell(owner, change, cx);
    }

    /// Tells them of a change that a guard has refused.
    #[cold]
    pub(super) fn tell_refused(
        &mut self,
        refusal: Refusal<'_, T>,
        to: Option<&StateRef<T>>,
        cause: Cause,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) {
        self.has_refused = true;
        let from = self.seat.current.clone();
        let now = now::<T>(cx);
        let time_in_state = time_since(self.seat.entered_at, now);
        self.record(|| {
            let (guard, state) = refusal.guard();
            let (from, by) = (from.as_option().cloned(), (guard, state.clone()));
            Step::Refused { from, to: to.cloned(), cause, by, time: now, time_in_state }
        });
        let outcome = Outcome::Refused(refusal);
        self.tell(&Change { from: from.as_option(), to, cause, outcome, time_in_state }, now, owner, cx);
    }

    /// Tells the observer of a step, if it sees steps.
    #[inline]
    pub(super) fn record(&mut self, step: impl FnOnce() -> Step<T>) {
        if let Some(observer) = &mut self.observer {
            if observer.sees_steps() {
                observer.step(step());
            }
        }
    }

    /// Changes have been made while a callback had lent the seat: for that callback they are one change made at once.
    pub(crate) fn changed_while_lent(&mut self, made: u32, kept: usize) {
        if made == 0 {
            return;
        }
        self.is_touched = true;
        self.quiet = Quiet::NONE;
        self.made += made;
        self.kept = self.kept.min(kept);
        self.count = MOST_CHANGES.min(self.count + 1);
        if self.count > MOST_CHANGES / 2 {
            let current = self.seat.current.clone();
            self.leave_trail(current.as_option());
        }
    }

    #[cold]
    pub(super) fn leave_trail(&mut self, to: Option<&StateRef<T>>) {
        let is_first = self.led_to() == MOST_CHANGES / 2 + 1;
        let trail = &mut self.seat.rare_mut().trail;
        if is_first {
            trail.clear();
        }
        trail.extend(to.cloned());
    }
}
