//! How a machine sets timers, carries out due timers, and sleeps.

use core::fmt;

use log::{debug, warn};

use crate::boxed::Boxed;
use crate::change::NameOf;
use crate::fsm::Request;
use crate::machine::single::Single;
use crate::machine::waiting::{After, NextWake, Scope, Then, Timer};
use crate::owner::{Label, Owner, now};
use crate::span::due_after;
use crate::state::StateRef;

impl<T: Owner> Single<'_, T> {
    /// Carries out the due timers at the beginning of a tick (rule 25). Wakes the machine if a timer is due, if its sleep is
    /// over (rule 26), or if the revision of its state has changed.
    #[inline(never)]
    pub(in crate::machine) fn carry_out_due(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        let now = now::<T>(cx);
        let is_outdated = self.seat.is_outdated();
        let Some(waiting) = self.seat.rare.as_mut().map(|rare| &mut rare.waiting) else { return };
        if waiting.clock.stands(now) {
            debug!(target: "demeanor", "{}: waits for a time, but its clock stands still at {now} s", Label(owner));
        }
        let is_woken = is_outdated || waiting.wakes_at().is_some_and(|at| at <= now);
        if waiting.timers.are_after(now) && !is_woken {
            return;
        }
        let due = waiting.timers.take_due(now);
        waiting.wake();
        self.is_touched = true;
        for timer in due {
            // The first request is carried out at once, so nothing can end the timer before.
            let is_first = self.requests.is_empty();
            let request = match timer {
                Timer { then: Then::Change(to), scope, .. } if is_first || scope == Scope::Current => {
                    Request::change(to)
                }
                timer => Request::Due(Boxed::new(timer)),
            };
            let request = self.inside(request);
            self.requests.push(request);
        }
        self.settle_callback(owner, cx);
    }

    pub(super) fn carry_out_timer(&mut self, timer: &Timer<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        match &timer.then {
            #[cfg(feature = "serde")]
            Then::Enter => self.enter_in_place(owner, cx),
            // A message is offered by `settle_messages`, a note is never due, and a repeating timer comes due as a message.
            Then::Send(_) | Then::Note(_) | Then::Repeat(..) => false,
            Then::Change(to) => self.execute(&Request::change(to.clone()), owner, cx),
            Then::Pop => self.execute(&self.inside(Request::Pop), owner, cx),
        }
    }

    /// Sets a timer that a callback has requested.
    #[inline]
    pub(super) fn set_timer(&mut self, after: &After<T>, owner: &T, cx: &T::Context<'_>) -> bool {
        let After { seconds, scope, ref then } = *after;
        if scope == Scope::Left {
            debug!(target: "demeanor", "{}: {then} after {seconds} s is dropped at once: its state has been left", Label(owner));
            return false;
        }
        let seconds = Self::seconds(seconds, then, owner, self.seat.current.as_option());
        let due = due_after(seconds, now::<T>(cx));
        if due < f64::INFINITY || then.is_note() {
            // A timer or note of the machine outlasts the region in which it was set.
            let seat = if scope == Scope::Machine { self.root() } else { &mut *self.seat };
            seat.rare_mut().waiting.set(Timer { due, scope, then: then.clone() });
            self.is_touched = true;
        }
        true
    }

    /// Notes the change for the next tick (rule 36).
    pub(super) fn set_next(&mut self, to: &StateRef<T>) -> bool {
        self.seat.rare_mut().waiting.set(Timer::next(to.clone()));
        self.is_touched = true;
        true
    }

    /// Returns the seconds of a timer or a sleep. Negative seconds and NaN count as 0, with a warning (rules 25, 26).
    pub(crate) fn seconds(seconds: f64, what: &dyn fmt::Display, owner: &T, current: Option<&StateRef<T>>) -> f64 {
        if seconds >= 0.0 {
            return seconds;
        }
        tell_no_time(seconds, what, owner, current);
        0.0
    }

    /// Carries out a request from outside. Returns whether this was done.
    pub(crate) fn execute_alone(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let is_done = self.execute(request, owner, cx);
        self.settle(owner, cx);
        self.end_callback(owner, cx);
        is_done
    }

    /// Puts the machine to sleep, if no change has been made since the callback requested it (rule 26).
    #[inline(never)]
    pub(super) fn fall_asleep(&mut self, owner: &T, cx: &T::Context<'_>) {
        if self.outer.is_some() || self.seat.has_open_regions() {
            return self.outside_regions(|single| single.fall_asleep_with_regions(owner, cx));
        }
        self.fall_asleep_if_wanted(owner, cx);
    }

    /// Puts the open regions and the seat around them to sleep, each if a callback has requested it.
    #[cold]
    fn fall_asleep_with_regions(&mut self, owner: &T, cx: &T::Context<'_>) {
        self.each_region(&mut |single, _| single.fall_asleep_with_regions(owner, cx));
        self.fall_asleep_if_wanted(owner, cx);
    }

    /// Puts the seat to sleep, if a callback has requested it.
    #[inline]
    fn fall_asleep_if_wanted(&mut self, owner: &T, cx: &T::Context<'_>) {
        let wanted = self.seat.rare.as_mut().and_then(|rare| rare.waiting.wanted.take());
        if let Some(seconds) = wanted {
            self.sleep_for(seconds, owner, cx);
        }
    }

    /// Puts the machine, with its open regions, to sleep for a number of seconds.
    pub(crate) fn sleep_all_for(&mut self, seconds: f64, owner: &T, cx: &T::Context<'_>) {
        self.sleep_for(seconds, owner, cx);
        if let Some(wakes_at) = self.seat.rare.as_ref().and_then(|rare| rare.waiting.wakes_at()) {
            self.seat.sleep_all_until(wakes_at);
        }
    }

    /// Puts the seat to sleep for a number of seconds.
    #[inline]
    fn sleep_for(&mut self, seconds: f64, owner: &T, cx: &T::Context<'_>) {
        let seconds = Self::seconds(seconds, &"sleep", owner, self.seat.current.as_option());
        self.seat.sleep_until(due_after(seconds, now::<T>(cx)));
        self.is_touched = true;
        let is_without_regions = self.outer.is_none() && self.seat.stamp().is_none();
        if is_without_regions && self.seat.next_own_wake(&self.settings().global) == NextWake::Never {
            tell_endless_sleep(owner, self.seat.current.as_option());
        }
    }

    /// Wakes the machine, if it is asleep and a state has handled a message.
    #[inline]
    pub(super) fn wake_if(&mut self, is_handled: bool) {
        if is_handled && self.seat.rare.is_some() {
            self.wake_seats();
        }
    }

    /// Wakes the states of the seat, and all states if the global state has handled the message.
    #[inline(never)]
    fn wake_seats(&mut self) {
        self.is_touched |= self.seat.wake();
        if self.scope == Scope::Machine {
            self.seat.regions_mut().for_each(|seat| seat.each(&mut |seat| _ = seat.wake()));
        }
    }
}

/// Logs that an owner has fallen asleep in a state and does not wake by itself (rule 26).
pub(crate) fn tell_endless_sleep<T: Owner>(owner: &T, current: Option<&StateRef<T>>) {
    debug!(target: "demeanor", "{}: sleeps in state {} until a message or `wake`", Label(owner), NameOf(current));
}

/// Warns about a timer or a sleep whose seconds are negative or NaN.
#[cold]
fn tell_no_time<T: Owner>(seconds: f64, what: &dyn fmt::Display, owner: &T, current: Option<&StateRef<T>>) {
    let (owner, state) = (Label(owner), NameOf(current));
    warn!(target: "demeanor", "{owner}: {what} after {seconds} s, asked for in state {state}, counts as 0 s");
}
