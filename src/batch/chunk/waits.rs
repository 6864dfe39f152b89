//! The waits that owners request in bulk: sleeps, timers for changes, and the numbers that states store. A wait never moves a row
//! during the tick, so waits are collected, and begin for all owners at the end of the tick.

use std::iter;

use smallvec::SmallVec;

use crate::batch::known::slots::CHUNK;
use crate::batch::known::states::States;
use crate::batch::wait::waiter::Until;
use crate::fsm::Request;
use crate::machine::waiting::{MOST_FEW, Scope, Then};
use crate::owner::Owner;

/// A wait that the owner at a slot requests.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) slot: usize,
    pub(crate) seconds: f64,
    pub(crate) until: Until,
    /// The scope of the state whose callback requests the wait.
    pub(crate) scope: Scope,
    /// Whether the wait was requested in `enter`. A wait that was requested earlier may belong to a state that has been left
    /// since.
    pub(crate) is_entry: bool,
    /// The revision of the owner's state, for a sleep.
    pub(crate) revision: u32,
}

impl Wait {
    /// Returns the request in the form that a machine takes.
    pub(crate) fn request<T: Owner>(self, states: &States<T>) -> Request<T> {
        match self.until.then(states) {
            Some(Then::Change(to)) if self.scope == Scope::Current => Request::Next(to),
            Some(then) => Request::after(self.seconds, then),
            None => Request::Sleep(self.seconds),
        }
    }

    /// Returns whether a change has ended the wait. The change has left all active states but the outermost `kept`; `usize::MAX`
    /// stands for no change.
    fn is_over(&self, kept: usize) -> bool {
        let is_changed = kept < usize::MAX;
        is_changed && !self.is_entry && self.scope.ends_with(kept)
    }
}

/// The waits that the owners of a chunk request.
#[derive(Default)]
pub(crate) struct Waits {
    /// The waits in the order of the requests. Beside each wait is the position, counted from 1, of the wait before it of the
    /// same owner, or 0.
    list: Vec<(Wait, usize)>,
    /// By slot: the position, counted from 1, of the owner's last wait, or 0.
    last: Vec<usize>,
    /// The position of the first wait whose callback may still be running.
    open_from: usize,
    /// The highest slot among the waits from `open_from` on, if there are any.
    highest: usize,
}

impl Waits {
    /// Notes that all callbacks that have requested waits so far have returned.
    pub(crate) fn open(&mut self) {
        self.open_from = self.list.len();
        self.highest = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether no callback that has returned has requested a wait.
    pub(crate) fn are_open(&self) -> bool {
        self.open_from == 0
    }

    /// Adds a wait. If a callback requests several sleeps, the last one counts.
    pub(crate) fn add(&mut self, wait: Wait) {
        if wait.until == Until::Awake {
            self.end(wait.slot, self.open_from, |earlier| earlier.until == Until::Awake);
        }
        if self.last.len() <= wait.slot {
            self.last.resize(CHUNK.max(wait.slot + 1), 0);
        }
        self.highest = self.highest.max(wait.slot);
        self.list.push((wait, self.last[wait.slot]));
        self.last[wait.slot] = self.list.len();
    }

    /// Returns whether the owner at a slot has requested a wait in a callback that may still be running.
    #[inline]
    pub(crate) fn has(&self, slot: usize) -> bool {
        !self.has_none_from(slot) && self.places(slot).any(|at| at >= self.open_from)
    }

    /// Returns whether one of these waits is for more than to store a number.
    pub(crate) fn has_request(&self, slot: usize) -> bool {
        self.places(slot).any(|at| at >= self.open_from && !self.list[at].0.until.is_note())
    }

    /// Returns whether no owner from `slot` on has requested a wait in a callback that may still be running.
    #[inline]
    pub(crate) fn has_none_from(&self, slot: usize) -> bool {
        self.list.len() == self.open_from || self.highest < slot
    }

    /// Returns whether the owner at a slot has requested no wait in this tick.
    pub(crate) fn has_none(&self, slot: usize) -> bool {
        self.all_places(slot).next().is_none()
    }

    /// Returns whether the owner at a slot may request another wait here. An owner with many waits becomes an individual,
    /// because a look-up here walks through all waits of the owner.
    pub(crate) fn has_room(&self, slot: usize) -> bool {
        self.all_places(slot).take(MOST_FEW).count() < MOST_FEW
    }

    /// Iterates over the waits that the owner at a slot has requested in callbacks that have returned, the newest first.
    pub(crate) fn returned(&self, slot: usize) -> impl Iterator<Item = &Wait> {
        self.places(slot).filter(|at| *at < self.open_from).map(|at| &self.list[at].0)
    }

    /// Iterates over the positions of the waits of the owner at a slot, the newest first.
    fn places(&self, slot: usize) -> impl Iterator<Item = usize> {
        self.all_places(slot).filter(|&at| self.list[at].0.until != Until::Never)
    }

    /// Iterates over the same positions, including those of withdrawn waits.
    fn all_places(&self, slot: usize) -> impl Iterator<Item = usize> {
        let last = if self.list.is_empty() { 0 } else { self.last.get(slot).copied().unwrap_or(0) };
        iter::successors(last.checked_sub(1), |&at| self.list[at].1.checked_sub(1))
    }

    /// Withdraws the waits of the owner at a slot, from a position on, for which `is_ended` returns `true`.
    fn end(&mut self, slot: usize, from: usize, is_ended: impl Fn(&Wait) -> bool) {
        let mut next = self.last.get(slot).copied().unwrap_or(0);
        while let Some(at) = next.checked_sub(1).filter(|at| *at >= from) {
            let (wait, before) = &mut self.list[at];
            if is_ended(wait) {
                wait.until = Until::Never;
            }
            next = *before;
        }
    }

    /// Removes the waits of the owner at a slot, and returns them in the order of the requests, each with whether its callback has
    /// returned. Leaves out the waits of states that have been left: all but the outermost `kept` states that were active before.
    pub(crate) fn take(&mut self, slot: usize, kept: usize) -> SmallVec<[(Wait, bool); 4]> {
        let places = self.places(slot).map(|at| (self.list[at].0, at < self.open_from));
        let places = places.filter(|(wait, _)| !wait.is_over(kept));
        let mut taken: SmallVec<[_; 4]> = places.collect();
        taken.reverse();
        self.end(slot, 0, |_| true);
        taken
    }

    /// Withdraws the waits that the owner at a slot has requested in the callback that is running. Numbers that states store are
    /// not withdrawn.
    pub(crate) fn withdraw(&mut self, slot: usize) {
        self.end(slot, self.open_from, |wait| wait.until.note().is_none());
    }

    /// Withdraws the waits that the owner at a slot has requested in a callback that has panicked, and the numbers stored in it.
    pub(crate) fn forget(&mut self, slot: usize) {
        self.end(slot, self.open_from, |_| true);
    }

    /// Withdraws the waits of states that have been left since the request. `kept` returns how many active states, counted from
    /// the outermost, the owner at a slot has not left.
    pub(crate) fn end_left(&mut self, kept: impl Fn(usize) -> usize) {
        for (wait, _) in &mut self.list {
            if !wait.is_entry && wait.until != Until::Never && wait.is_over(kept(wait.slot)) {
                wait.until = Until::Never;
            }
        }
    }

    /// Returns whether the owner at a slot has requested a timer. Sleeps do not count, and neither do numbers, which are never
    /// due.
    pub(crate) fn comes_by_itself(&self, slot: usize) -> bool {
        let waits = self.places(slot).map(|at| &self.list[at].0);
        { waits }.any(|wait| wait.until != Until::Awake && !wait.until.is_note())
    }

    /// Iterates over all waits, in the order of the requests.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.list.iter().map(|(wait, _)| wait).filter(|wait| wait.until != Until::Never)
    }

    pub(crate) fn clear(&mut self) {
        for (wait, _) in self.list.drain(..) {
            self.last[wait.slot] = 0;
        }
        self.open();
    }
}
