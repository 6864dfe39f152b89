//! A change from one state to a state beside it, like nearly all changes: in the seat of a machine, or in that of a region.

use core::mem::{self, ManuallyDrop};
use core::ops::Deref;

use super::{Steps, carry_out, tell_end};
use crate::change::{Cause, Change, End, Refusal};
use crate::fsm::{Fsm, time_since};
use crate::machine::seat::Seat;
use crate::machine::single::Single;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::state::{State, StateRef};

/// Carries out a change from one state to a state beside it: both have no parent, or the same parent. Their `kept` ancestors stay
/// active.
#[inline]
pub(in crate::machine) fn change_to_sibling<'a, T: Owner, S: ChangingState<T>>(
    mut at: impl ChangingSeat<'a, T>,
    (cause, kept): (Cause, usize),
    (from, to): (S, S),
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> bool {
    // The old target is `NONE`, so `forget` leaks nothing: a call within a callback takes the target away first.
    mem::forget(mem::replace(&mut at.single().target, to.to_ref()));
    let mut change = SiblingChange { at, cause, kept, from, to, owner, cx, made: 0, time_in_state: 0.0 };
    let is_made = carry_out(&mut change);
    S::drop_ref(mem::replace(&mut change.at.single().target, StateRef::NONE));
    is_made
}

/// One owner's change from one state to a state beside it, while the steps are not recorded. In a region, no other request is
/// pending. Its steps are those of [`OneChange`](super::OneChange), without the work that is not needed here: with its tick, a
/// change takes about 300 instructions rather than 400 between singletons, 820 rather than 1140 three states deep, and 920 rather
/// than 1190 between owned states. A single implementation of both, with a constant parameter, was also measured: it takes 370
/// between singletons. Tests with random programs check that both do the same.
struct SiblingChange<'c, 'x, T: Owner, S, A> {
    at: A,
    /// `Change` or `Revert`.
    cause: Cause,
    /// How many ancestors the states have. All of them stay active.
    kept: usize,
    from: S,
    to: S,
    owner: &'c mut T,
    cx: &'c mut T::Context<'x>,
    /// How many changes have been made in the seat: before the swap, those until the exit; then, also this one.
    made: u32,
    /// How many seconds the old state had been active. It is set when that state has been left.
    time_in_state: f64,
}

/// A state that a [`SiblingChange`] leaves or enters.
pub(in crate::machine) trait ChangingState<T: Owner> {
    fn state(&self) -> &dyn State<T>;
    fn as_ref(&self) -> impl Deref<Target = StateRef<T>>;
    fn to_ref(&self) -> StateRef<T>;
    fn drop_ref(reference: StateRef<T>);
}

/// Making a reference to a singleton costs nothing, and dropping it does nothing. `ManuallyDrop` and `forget` save the check
/// whether there is anything to drop.
impl<T: Owner> ChangingState<T> for &'static dyn State<T> {
    #[inline(always)]
    fn state(&self) -> &dyn State<T> {
        *self
    }

    #[inline(always)]
    fn as_ref(&self) -> impl Deref<Target = StateRef<T>> {
        ManuallyDrop::new(self.to_ref())
    }

    #[inline(always)]
    fn to_ref(&self) -> StateRef<T> {
        (*self).into()
    }

    #[inline(always)]
    fn drop_ref(reference: StateRef<T>) {
        mem::forget(reference);
    }
}

/// A reference to any state, with its trait object, because looking it up takes time.
impl<T: Owner> ChangingState<T> for (&StateRef<T>, &dyn State<T>) {
    #[inline(always)]
    fn state(&self) -> &dyn State<T> {
        self.1
    }

    #[inline(always)]
    fn as_ref(&self) -> impl Deref<Target = StateRef<T>> {
        self.0
    }

    #[inline(always)]
    fn to_ref(&self) -> StateRef<T> {
        self.0.clone()
    }

    #[inline(always)]
    fn drop_ref(reference: StateRef<T>) {
        drop(reference);
    }
}

/// The seat in which a [`SiblingChange`] is made.
pub(in crate::machine) trait ChangingSeat<'a, T: Owner> {
    /// Returns the machine, and the state in whose region the seat lies.
    fn single_within(&mut self) -> (&mut Single<'a, T>, Option<&StateRef<T>>);
    /// Notes that the seat may have changed.
    fn touch(&mut self);
    /// Returns whether the seat was that of a region, and the region has been closed.
    fn is_closed(&self) -> bool;
    /// Returns the seat, how many changes have been made in it, and how many of its states have stayed active. `None` if it has
    /// been closed.
    fn seat(&mut self) -> Option<(&mut Seat<T>, &mut u32, &mut usize)>;
    /// Creates the handle for a callback.
    fn fsm(&mut self) -> Fsm<'_, T>;
    /// Begins the `exit`. Returns how many requests wait until it has run.
    fn begin_exit(&mut self) -> usize;
    /// Ends the timers that wait in the queue, except those of the outermost `kept` states.
    fn end_timers(&mut self, kept: usize, cause: Cause);
    /// Ends a callback.
    fn end_callback(&mut self);
    /// Returns whether a callback has made a change in the seat, or has closed its region. `made` is the number of changes before
    /// the callback.
    fn has_changed(&mut self, made: u32) -> bool;
    /// Tells the callbacks and the observer around the change that it has been made.
    fn show(&mut self, cx: &mut T::Context<'_>);
    /// Forgets the declarations of the seat's states, except those of the outermost `kept` ones.
    fn end_quiet(&mut self, kept: usize);
    /// Calls `act` while the machine works on the seat.
    fn work<R>(&mut self, act: impl FnOnce(&mut Single<'a, T>) -> R) -> R;

    #[inline(always)]
    fn single(&mut self) -> &mut Single<'a, T> {
        self.single_within().0
    }
}

/// The seat of the machine itself.
impl<'a, T: Owner> ChangingSeat<'a, T> for &mut Single<'a, T> {
    #[inline(always)]
    fn single_within(&mut self) -> (&mut Single<'a, T>, Option<&StateRef<T>>) {
        (self, None)
    }

    #[inline(always)]
    fn touch(&mut self) {
        self.is_touched = true;
    }

    #[inline(always)]
    fn is_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn seat(&mut self) -> Option<(&mut Seat<T>, &mut u32, &mut usize)> {
        Some((self.seat, &mut self.made, &mut self.kept))
    }

    #[inline(always)]
    fn fsm(&mut self) -> Fsm<'_, T> {
        Single::fsm(self)
    }

    #[inline(always)]
    fn begin_exit(&mut self) -> usize {
        self.begin_exits()
    }

    #[inline(always)]
    fn end_timers(&mut self, kept: usize, cause: Cause) {
        if !self.requests.is_empty() {
            drop(Single::end_timers(self, kept, cause));
        }
    }

    #[inline(always)]
    fn end_callback(&mut self) {}

    #[inline(always)]
    fn has_changed(&mut self, made: u32) -> bool {
        self.made != made
    }

    #[inline(always)]
    fn show(&mut self, cx: &mut T::Context<'_>) {
        Single::show(self, cx);
    }

    #[inline(always)]
    fn end_quiet(&mut self, kept: usize) {
        self.quiet.keep(kept);
    }

    #[inline(always)]
    fn work<R>(&mut self, act: impl FnOnce(&mut Single<'a, T>) -> R) -> R {
        act(self)
    }
}

impl<'a, T: Owner, S: ChangingState<T>, A: ChangingSeat<'a, T>> Steps for SiblingChange<'_, '_, T, S, A> {
    #[inline]
    fn admit(&mut self) -> bool {
        let Self { at, cause, from, to, owner, cx, .. } = self;
        let fsm = at.fsm();
        let may_exit = from.state().can_exit(owner, &fsm, cx);
        if may_exit && to.state().can_enter(owner, &fsm, cx) {
            return true;
        }
        let (from, to) = (from.as_ref(), to.as_ref());
        let refusal = if may_exit { Refusal::Enter(&to) } else { Refusal::Exit(&from) };
        at.work(|single| single.tell_refused(refusal, Some(&to), *cause, owner, cx))
    }

    #[inline]
    fn exit(&mut self) {
        let Self { at, from, owner, cx, made: made_before, .. } = self;
        if let Some((seat, made, _)) = at.seat() {
            seat.previous = from.to_ref();
            *made_before = *made;
        }
        at.touch();
        let waiting = at.begin_exit();
        from.state().exit(owner, &mut at.fsm(), cx);
        at.end_callback();
        let single = at.single();
        single.exiting = false;
        if !single.requests.is_empty() {
            at.work(|single| single.refuse_behind(waiting, owner));
        }
    }

    #[inline]
    fn swap(&mut self) {
        let Self { at, from, to, owner, cx, .. } = self;
        let Some((seat, made, kept)) = at.seat() else { return };
        let now = now::<T>(cx);
        self.time_in_state = time_since(seat.entered_at, now);
        let is_displaced = *made != self.made;
        if self.kept > 0 && is_displaced {
            seat.place(&to.state().parent().unwrap_or(StateRef::NONE));
        }
        *made += 1;
        *kept = self.kept.min(*kept);
        self.made = *made;
        drop(seat.replace(self.kept, to.to_ref(), now));
        at.single().count += 1;
        at.end_timers(if is_displaced { 0 } else { self.kept }, self.cause);
        at.show(cx);
        let (from, to) = (from.as_ref(), to.as_ref());
        let (single, within) = at.single_within();
        let change = Change::taken(Some(&from), Some(&to), self.cause, self.time_in_state).within(within);
        single.tell(&change, now, owner, cx);
    }

    #[inline(always)]
    fn enter(&mut self) -> bool {
        let Self { at, cause, from, to, owner, cx, made, time_in_state, .. } = self;
        if at.is_closed() {
            return false;
        }
        at.single().scope = Scope::state(self.kept);
        at.end_quiet(self.kept);
        to.state().enter(owner, &mut at.fsm(), cx);
        at.end_callback();
        let has_changed = at.has_changed(*made);
        let (from, to) = (from.as_ref(), to.as_ref());
        let (single, within) = at.single_within();
        let change = Change::taken(Some(&from), Some(&to), *cause, *time_in_state).within(within);
        if has_changed {
            return tell_end(single.observer(), change, (End::Abandoned, &to), owner, cx);
        }
        owner.after_change(&change, cx);
        true
    }
}
