//! Waiting, rules 25 and 26: timers are a list, and each tick checks whether a sleeping machine's time has come.

use super::corner::Corner;
use super::program::{Id, Verb};
use super::{Machine, Request, Stay, Then, Timer, time};

impl<W: Copy> Machine<W> {
    /// Puts the machine to sleep (rule 26).
    pub(crate) fn sleep(&mut self, seconds: f64, now: f64) {
        self.corners.insert(Corner::Slept);
        self.sleeps_until = Some(due_after(time(seconds), now));
    }

    /// Wakes the machine (rule 26).
    pub(crate) fn wake(&mut self, corner: Corner) -> bool {
        let was_asleep = self.sleeps_until.take().is_some();
        if was_asleep {
            self.corners.insert(corner);
        }
        was_asleep
    }

    /// Wakes the machine after the active states have changed, and ends the timers of states that are no longer active (rules
    /// 25, 26). Drops the change for the next tick (rule 36).
    pub(super) fn leave_timers(&mut self) {
        self.wake(Corner::WokeByAChange);
        if self.wanted.take().is_some() {
            self.corners.insert(Corner::SleepVoid);
        }
        let stays = self.stays.clone();
        let goes_on = |timer: &Timer<W>| timer.of.is_none_or(|(state, stay)| stays.get(&state) == Some(&stay));
        let before = (self.timers.len(), self.requests.len());
        self.timers.retain(goes_on);
        let here = self.at.clone();
        self.requests.retain(|(at, request)| match request {
            Request::Verb(verb) => !(matches!(verb, Verb::ChangeNext(_)) && at.starts_with(&here)),
            Request::Tell(_) => true,
            Request::After(timer) | Request::Due(timer) => goes_on(timer) || !at.starts_with(&here),
        });
        if self.next.take().is_some() {
            self.corners.insert(Corner::NextDropped);
        }
        if self.timers.len() < before.0 {
            self.corners.insert(Corner::EndedWithItsState);
        } else if self.timers.iter().any(|timer| timer.of.is_some()) {
            self.corners.insert(Corner::OutlivedItsChild);
        }
        if self.requests.len() < before.1 {
            self.corners.insert(Corner::EndedInTheQueue);
        }
    }

    /// Rule 36: takes out the change for the next tick that was requested last, also one whose turn in the queue has not come.
    pub(super) fn suspend_next(&mut self) -> Option<Id> {
        let in_line = self.requests.iter().rev().find_map(|(at, request)| match request {
            Request::Verb(Verb::ChangeNext(to)) if *at == self.at => Some(*to),
            _ => None,
        });
        let next = in_line.or(self.next);
        self.next = None;
        if next.is_some() {
            self.corners.insert(Corner::NextStoodStill);
        }
        next
    }

    /// Returns the current stay in an active state.
    pub(super) fn stay(&mut self, state: Id) -> Stay {
        *self.stays.entry(state).or_insert_with(|| {
            self.last_stay += 1;
            self.last_stay
        })
    }

    /// Sets a timer (rule 25).
    pub(super) fn set_timer(&mut self, timer: Timer<W>, now: f64) {
        if timer.of.is_some_and(|(state, stay)| self.stays.get(&state) != Some(&stay)) {
            self.corners.insert(Corner::AskedForTooLate);
        } else if timer.due < f64::INFINITY {
            self.timers.push(Timer { due: due_after(timer.due, now), ..timer });
        }
    }

    /// Rule 39: removes the timers that are due at the time `now`, except those that repeat, which are due again.
    pub(super) fn repeat_timers(&mut self, now: f64, is_here: impl Fn(&Timer<W>) -> bool) {
        let Self { timers, corners, .. } = self;
        timers.retain(|timer| timer.due > now || timer.every.is_some() || !is_here(timer));
        for timer in timers.iter_mut().filter(|timer| timer.due <= now && is_here(timer)) {
            let (every, last) = timer.every.expect("the others have been removed");
            corners.insert(Corner::Repeated);
            // As a timer of more periods that was set at the same time; in the next tick if the clock cannot show a period. The
            // tolerance is at most a second, so at most two more periods than the clock shows have passed.
            let began = timer.due - due_after(last, 0.0);
            let passed = ((now - began) / every).floor().max((last / every).round());
            let mut spans = (1..4).map(|more| (passed + f64::from(more)) * every);
            let next = spans.find(|span| began + due_after(*span, 0.0) > now);
            if next.is_some_and(|next| next > last + every) {
                corners.insert(Corner::RepeatsLeftOut);
            }
            timer.due = next.map_or(now, |next| began + due_after(next, 0.0));
            timer.every = Some((every, next.unwrap_or(last)));
        }
    }

    /// Rule 39: ends the timers that do one thing. Returns whether there were any.
    pub(crate) fn cancel(&mut self, path: &[Id], is_one: impl Fn(&Then<W>) -> bool) -> bool {
        if self.leaving {
            self.corners.insert(Corner::CanceledInExit);
            return false;
        }
        let before = (self.timers.len(), self.requests.len());
        let stays = self.stays.clone();
        let here = self.at.clone();
        let is_active = |timer: &Timer<W>| {
            timer.of.map_or(here.is_empty(), |(state, stay)| path.contains(&state) && stays.get(&state) == Some(&stay))
        };
        // During a pop, the timers of states that are still to be resumed are not active.
        self.timers.retain(|timer| !(is_one(&timer.then) && is_active(timer)));
        self.requests.retain(|(at, request)| match request {
            Request::Verb(Verb::ChangeNext(to)) => *at != here || !is_one(&Then::Change(*to)),
            Request::Verb(_) | Request::Tell(_) => true,
            Request::After(timer) | Request::Due(timer) => !(is_one(&timer.then) && is_active(timer)),
        });
        // Rule 36.
        let next = self.next.take_if(|to| is_one(&Then::Change(*to)));
        if next.is_some() {
            self.corners.insert(Corner::NextCanceled);
        }
        if self.timers.len() < before.0 {
            self.corners.insert(Corner::Canceled);
        }
        if self.requests.len() < before.1 {
            self.corners.insert(Corner::CanceledInTheQueue);
        }
        next.is_some() || (self.timers.len(), self.requests.len()) != before
    }

    /// Rule 25: takes out the timers of the active states, with the seconds that remain: first the running ones, then the
    /// requested ones.
    pub(super) fn suspend_timers(&mut self, path: &[Id], now: f64) -> Vec<Timer<W>> {
        let stays = self.stays.clone();
        let is_suspended = |timer: &Timer<W>| {
            timer.of.is_some_and(|(state, stay)| path.contains(&state) && stays.get(&state) == Some(&stay))
        };
        let (suspended, left): (Vec<_>, Vec<_>) = self.timers.iter().copied().partition(is_suspended);
        self.timers = left;
        let running = suspended.iter().map(|timer| Timer { due: timer.due - now, ..*timer });
        let is_timer = |request: &Request<W>| match request {
            Request::Verb(_) | Request::Tell(_) => false,
            Request::After(timer) | Request::Due(timer) => is_suspended(timer),
        };
        let in_line: Vec<_> = self.requests.iter().map(|(_, request)| *request).filter(is_timer).collect();
        self.requests.retain(|(_, request)| !is_timer(request));
        if !suspended.is_empty() {
            self.corners.insert(Corner::StoodStill);
        }
        if !in_line.is_empty() {
            self.corners.insert(Corner::StoodStillInTheQueue);
        }
        let in_line = in_line.into_iter().map(|request| match request {
            Request::After(timer) => Timer { due: due_after(timer.due, 0.0).max(0.0), ..timer },
            Request::Due(timer) => Timer { due: 0.0, ..timer },
            Request::Verb(_) | Request::Tell(_) => unreachable!("it is no timer"),
        });
        // A timer of infinite seconds is never set.
        running.chain(in_line.filter(|timer| timer.due < f64::INFINITY)).collect()
    }
}

/// Returns the due time with the tolerance of rule 18 subtracted.
pub(super) fn due_after(seconds: f64, now: f64) -> f64 {
    now + (seconds - (1e-6 + 1e-6 * seconds).min(1.0)).max(0.0)
}
