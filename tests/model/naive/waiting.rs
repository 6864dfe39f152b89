//! Waiting, rules 25 and 26: timers are a list, and whoever sleeps is asked in each tick whether the time has come.

use super::{Model, Outcome, Request, Stay, Timer, time};
use crate::corner::Corner;
use crate::program::{Id, Verb, Wake};

impl Model {
    /// Rule 26.
    pub(super) fn sleep(&mut self, seconds: f64) {
        self.corners.insert(Corner::Slept);
        self.sleeps_until = Some(due_after(time(seconds), self.now_exact()));
    }

    /// Rule 26.
    pub(super) fn wake(&mut self, corner: Corner) -> bool {
        let was_asleep = self.sleeps_until.take().is_some();
        if was_asleep {
            self.corners.insert(corner);
        }
        was_asleep
    }

    /// Rule 26.
    pub(super) fn next_wake(&self) -> Wake {
        let is_updated = |state: &Id| !self.program.states[usize::from(*state)].is_passive;
        let is_awake = self.sleeps_until.is_none();
        if self.global.iter().any(is_updated) || is_awake && self.path(self.current).iter().any(is_updated) {
            return Wake::EveryTick;
        }
        let next = self.timers.iter().map(|timer| timer.due).chain(self.sleeps_until).fold(f64::INFINITY, f64::min);
        if next < f64::INFINITY { Wake::At(next) } else { Wake::Never }
    }

    /// The active states have changed: it wakes, and the timers of those that are no longer active end (rules 25, 26).
    pub(super) fn leave_timers(&mut self) {
        self.wake(Corner::WokeByAChange);
        if self.wanted.take().is_some() {
            self.corners.insert(Corner::SleepVoid);
        }
        let stays = self.stays.clone();
        let goes_on = |timer: &Timer| timer.of.is_none_or(|(state, stay)| stays.get(&state) == Some(&stay));
        let before = (self.timers.len(), self.requests.len());
        self.timers.retain(goes_on);
        self.requests.retain(|request| match request {
            Request::Verb(_) => true,
            Request::After(timer) | Request::Due(timer) => goes_on(timer),
        });
        if self.timers.len() < before.0 {
            self.corners.insert(Corner::EndedWithItsState);
        } else if self.timers.iter().any(|timer| timer.of.is_some()) {
            self.corners.insert(Corner::OutlivedItsChild);
        }
        if self.requests.len() < before.1 {
            self.corners.insert(Corner::EndedInTheQueue);
        }
    }

    /// The stay that an active state is in.
    pub(super) fn stay(&mut self, state: Id) -> Stay {
        *self.stays.entry(state).or_insert_with(|| {
            self.last_stay += 1;
            self.last_stay
        })
    }

    /// Rule 25: what is due is asked for, the earliest first. Any of it wakes the machine (rule 26).
    pub(super) fn carry_out_due(&mut self) -> Outcome<()> {
        let now = self.now_exact();
        let (mut due, left): (Vec<_>, Vec<_>) = self.timers.iter().partition(|timer| timer.due <= now);
        self.timers = left;
        due.sort_by(|a, b| a.due.total_cmp(&b.due));
        if !due.is_empty() {
            self.wake(Corner::WokeByATimer);
        }
        if self.sleeps_until.is_some_and(|until| until <= now) {
            self.wake(Corner::WokeByTheClock);
        }
        if due.len() > 1 {
            self.corners.insert(Corner::DueTogether);
        }
        self.requests.extend(due.into_iter().map(Request::Due));
        self.settle()
    }

    /// Rule 25.
    pub(super) fn set_timer(&mut self, timer: Timer) {
        if timer.of.is_some_and(|(state, stay)| self.stays.get(&state) != Some(&stay)) {
            self.corners.insert(Corner::AskedForTooLate);
        } else if timer.due < f64::INFINITY {
            self.timers.push(Timer { due: due_after(timer.due, self.now_exact()), ..timer });
        }
    }

    /// Rule 25.
    pub(super) fn carry_out_timer(&mut self, timer: &Timer) -> Outcome<bool> {
        self.corners.insert(if timer.then == Verb::Send { Corner::DueMessage } else { Corner::DueChange });
        if timer.of.is_none() {
            self.corners.insert(Corner::OfTheMachine);
        }
        let done = self.carry_out(Request::Verb(timer.then))?;
        if !done && timer.then != Verb::Send {
            self.corners.insert(Corner::DueRefused);
        }
        Ok(done)
    }

    /// Rule 25: takes the timers of the active states, with what remains of each; those that run, then those in the line.
    pub(super) fn suspend_timers(&mut self) -> Vec<Timer> {
        let stays = self.stays.clone();
        let is_suspended = |timer: &Timer| timer.of.is_some_and(|(state, stay)| stays.get(&state) == Some(&stay));
        let (suspended, left): (Vec<_>, Vec<_>) = self.timers.iter().copied().partition(is_suspended);
        self.timers = left;
        let now = self.now_exact();
        let running = suspended.iter().map(|timer| Timer { due: timer.due - now, ..*timer });
        let (in_line, left): (Vec<_>, Vec<_>) = self.requests.iter().copied().partition(|request| match request {
            Request::Verb(_) => false,
            Request::After(timer) | Request::Due(timer) => is_suspended(timer),
        });
        self.requests = left.into();
        if !suspended.is_empty() {
            self.corners.insert(Corner::StoodStill);
        }
        if !in_line.is_empty() {
            self.corners.insert(Corner::StoodStillInTheQueue);
        }
        let in_line = in_line.into_iter().map(|request| match request {
            Request::After(timer) => Timer { due: due_after(timer.due, 0.0).max(0.0), ..timer },
            Request::Due(timer) => Timer { due: 0.0, ..timer },
            Request::Verb(_) => unreachable!("it is no timer"),
        });
        running.chain(in_line).collect()
    }
}

/// Rule 18: no more than this may be missing of so many seconds.
pub(super) fn due_after(seconds: f64, now: f64) -> f64 {
    now + (seconds - (1e-6 + 1e-6 * seconds).min(1.0)).max(0.0)
}
