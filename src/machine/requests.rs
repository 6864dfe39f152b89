//! The queue in which what a callback asks for waits until the callback has returned.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::mem;

use super::seat::Seat;
use super::single::ASKED_TO_SLEEP;
use super::waiting::{Scope, Timer, Timers};
use crate::fsm::Request;
use crate::owner::Owner;
use crate::span::due_after;
use crate::state::State;

/// Requests, first in, first out (rule 10).
///
/// Two lie here, more behind a pointer: so two allocate nothing, and none cost a machine next to nothing to make room for and
/// to drop, which it does in every tick.
pub(crate) struct Requests<T: Owner> {
    first: Option<Request<T>>,
    /// `None` if `first` is.
    second: Option<Request<T>>,
    /// `None` rather than empty.
    #[expect(clippy::box_collection, reason = "one word instead of four, and next to never made")]
    more: Option<Box<VecDeque<Request<T>>>>,
}

impl<T: Owner> Requests<T> {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { first: None, second: None, more: None }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub(crate) fn push(&mut self, request: Request<T>) {
        if self.first.is_none() {
            self.first = Some(request);
        } else {
            self.push_behind(request);
        }
    }

    #[cold]
    fn push_behind(&mut self, request: Request<T>) {
        if self.second.is_none() {
            self.second = Some(request);
        } else {
            self.more.get_or_insert_default().push_back(request);
        }
    }

    /// Takes the first request out if it is for a change to a singleton, as nearly all are. It then stays in registers: to
    /// copy an entry, in other pieces than it has just been written in, is what a processor waits for longest in a change.
    #[inline]
    pub(crate) fn pop_singleton(&mut self) -> Option<&'static dyn State<T>> {
        let Some(Request::ChangeSingleton(state)) = self.first else { return None };
        // Nothing is dropped with it. The compiler would look.
        mem::forget(self.first.take());
        self.move_up();
        Some(state)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Request<T>> {
        // Not taken to see whether there is any: that, too, is a copy.
        if self.is_empty() {
            return None;
        }
        let request = self.first.take();
        self.move_up();
        request
    }

    /// Takes out the requests of a kind, and returns them.
    pub(crate) fn withdraw(&mut self, is_one: impl Fn(&Request<T>) -> bool) -> Requests<T> {
        let mut withdrawn = Self::new();
        if !self.any(&is_one) {
            return withdrawn;
        }
        let mut left = Self::new();
        while let Some(request) = self.pop() {
            if is_one(&request) { &mut withdrawn } else { &mut left }.push(request);
        }
        *self = left;
        withdrawn
    }

    /// Takes out all that a callback of the machine in a seat has asked for, sleep that is counted already among it. Numbers that
    /// states keep stay.
    pub(crate) fn withdraw_all(&mut self, count: &mut u32, seat: &mut Seat<T>) {
        *count &= !ASKED_TO_SLEEP;
        if let Some(rare) = &mut seat.rare {
            rare.waiting.take_wanted();
        }
        self.withdraw(|request| !request.is_note());
    }

    #[inline]
    fn move_up(&mut self) {
        if self.second.is_some() {
            self.move_all_up();
        }
    }

    #[cold]
    fn move_all_up(&mut self) {
        self.first = self.second.take();
        if let Some(more) = &mut self.more {
            self.second = more.pop_front();
            if more.is_empty() {
                self.more = None;
            }
        }
    }
}

/// Timers that wait in the queue: to be set, or to be carried out.
impl<T: Owner> Requests<T> {
    /// Ends the requests of the states that a change leaves, all but the outermost `kept`. Returns them.
    pub(crate) fn end_timers(&mut self, kept: usize) -> Requests<T> {
        self.withdraw(|request| request.ends_with(kept))
    }

    /// Adds the timers of states that have not been left, each with what remains of it, in seconds.
    pub(crate) fn leave_timers(mut self, timers: &mut Timers<T>) {
        while let Some(request) = self.pop() {
            let timer = match request {
                Request::After(after) => {
                    let due = due_after(after.seconds, 0.0);
                    Timer { due, scope: after.scope, then: after.then }
                }
                Request::Due(timer) => Timer { due: 0.0, ..*timer },
                _ => continue,
            };
            // Seconds that are no time count as none, and infinite ones never end.
            let due = timer.due.max(0.0);
            if timer.scope != Scope::Left && (due < f64::INFINITY || timer.then.is_note()) {
                timers.push(Timer { due, ..timer });
            }
        }
    }

    /// Whether there is anything that may lead to a change: not timers to be set, nor sleep.
    pub(crate) fn ask_for_change(&self) -> bool {
        self.any(|request| !matches!(request, Request::After(_) | Request::Sleep(_)))
    }

    fn any(&self, is_one: impl Fn(&Request<T>) -> bool) -> bool {
        self.first.as_ref().is_some_and(&is_one)
            || self.second.as_ref().is_some_and(&is_one)
            || self.more.as_ref().is_some_and(|more| more.iter().any(is_one))
    }
}

impl<T: Owner> Default for Requests<T> {
    fn default() -> Self {
        Self::new()
    }
}
