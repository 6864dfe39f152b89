//! What owners that act in bulk ask to wait for: sleep, changes after a while, and the turns and numbers of states from files.
//! Nothing of it moves a row at once, so it is written down, and done for all of them when the tick is over.

use std::iter;

use smallvec::SmallVec;

use crate::batch::known::slots::CHUNK;
use crate::batch::known::states::States;
use crate::batch::wait::waiter::Until;
use crate::fsm::Request;
use crate::machine::waiting::{MOST_FEW, Scope};
use crate::owner::Owner;

/// What the owner at a slot asks for.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) slot: usize,
    pub(crate) seconds: f64,
    pub(crate) until: Until,
    /// The scope of the state whose callback asks.
    pub(crate) scope: Scope,
    /// Whether it asks when it is entered. What was asked for before may be of a state that has been left since.
    pub(crate) is_entry: bool,
}

impl Wait {
    /// The request as a machine would have it.
    fn request<T: Owner>(self, states: &States<T>) -> Request<T> {
        match self.until.then(states) {
            Some(then) => Request::after(self.seconds, then),
            None => Request::Sleep(self.seconds),
        }
    }

    /// Whether the state that asks has been left, where all but the outermost `kept` have been that were active before.
    fn is_over(&self, kept: usize) -> bool {
        !self.is_entry && self.scope.ends_with(kept)
    }
}

/// What the owners of a chunk ask for.
#[derive(Default)]
pub(crate) struct Waits {
    /// In the order of asking, each with the place of the one before it of the same owner, from 1 on, or 0.
    list: Vec<(Wait, usize)>,
    /// By slot: the place of what its owner has asked for last, from 1 on, or 0.
    last: Vec<usize>,
    /// The first one whose callback may still go on.
    open_from: usize,
    /// The highest slot among these, if there are any.
    highest: usize,
}

impl Waits {
    /// Begins with callbacks whose requests are not here yet.
    pub(crate) fn open(&mut self) {
        self.open_from = self.list.len();
        self.highest = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a request. Of several requests to sleep the last one counts.
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

    /// Whether the owner at a slot has asked for anything in a callback that may still go on.
    #[inline]
    pub(crate) fn has(&self, slot: usize) -> bool {
        !self.has_none_from(slot) && self.places(slot).any(|at| at >= self.open_from)
    }

    /// Whether the owners from a slot on have asked for nothing in callbacks that may still go on.
    #[inline]
    pub(crate) fn has_none_from(&self, slot: usize) -> bool {
        self.list.len() == self.open_from || self.highest < slot
    }

    /// Whether the owner at a slot may ask for more. An owner with many requests is handled by itself: here each is looked
    /// for among the others.
    pub(crate) fn has_room(&self, slot: usize) -> bool {
        self.all_places(slot).take(MOST_FEW).count() < MOST_FEW
    }

    /// What the owner at a slot has asked for in callbacks that have returned, the newest first.
    pub(crate) fn returned(&self, slot: usize) -> impl Iterator<Item = &Wait> {
        self.places(slot).filter(|at| *at < self.open_from).map(|at| &self.list[at].0)
    }

    /// The places of what the owner at a slot waits for, the newest first.
    fn places(&self, slot: usize) -> impl Iterator<Item = usize> {
        self.all_places(slot).filter(|&at| self.list[at].0.until != Until::Never)
    }

    /// Also of what it does not wait for after all.
    fn all_places(&self, slot: usize) -> impl Iterator<Item = usize> {
        let last = if self.list.is_empty() { 0 } else { self.last.get(slot).copied().unwrap_or(0) };
        iter::successors(last.checked_sub(1), |&at| self.list[at].1.checked_sub(1))
    }

    /// Ends what the owner at a slot has asked for from a place on.
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

    /// Takes out what the owner at a slot has asked for, as requests in the order of asking, with their scopes. Those of states are
    /// left out that have been left, all but the outermost `kept` that were active before.
    pub(crate) fn take<T: Owner>(
        &mut self,
        slot: usize,
        kept: usize,
        states: &States<T>,
    ) -> impl Iterator<Item = (Request<T>, Scope)> + use<T> {
        let places = self.places(slot).map(|at| self.list[at].0).filter(|wait| !wait.is_over(kept));
        let mut taken: SmallVec<[_; 4]> = places.map(|wait| (wait.request(states), wait.scope)).collect();
        taken.reverse();
        self.end(slot, 0, |_| true);
        taken.into_iter()
    }

    /// Drops what the owner at a slot has asked for in callbacks that may still go on. Numbers that states keep stay.
    pub(crate) fn withdraw(&mut self, slot: usize) {
        self.end(slot, self.open_from, |wait| wait.until.note().is_none());
    }

    /// Drops what the owner at a slot has asked for in a callback that has panicked.
    pub(crate) fn forget(&mut self, slot: usize) {
        self.end(slot, self.open_from, |_| true);
    }

    /// Leaves out what states have asked for that have been left since: `kept` says how many active states, from the outermost,
    /// an owner has stayed in.
    pub(crate) fn end_left(&mut self, kept: impl Fn(usize) -> usize) {
        for (wait, _) in &mut self.list {
            if !wait.is_entry && wait.until != Until::Never && wait.is_over(kept(wait.slot)) {
                wait.until = Until::Never;
            }
        }
    }

    /// Whether the owner of one of them waits for anything else that comes by itself.
    pub(crate) fn comes_by_itself(&self, slot: usize) -> bool {
        let waits = self.places(slot).map(|at| &self.list[at].0);
        { waits }.any(|wait| wait.until != Until::Awake && !wait.until.is_note())
    }

    /// All of them, in the order of asking.
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
