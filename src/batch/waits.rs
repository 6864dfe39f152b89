//! What owners that act in bulk ask to wait for: sleep, changes after a while, and the turns and numbers of states from files.
//! Nothing of it moves a row at once, so it is written down, and done for all of them when the tick is over.

use std::iter;

use smallvec::SmallVec;

use super::key::Key;
use super::slots::CHUNK;
use super::states::States;
use crate::fsm::Request;
#[cfg(feature = "definition")]
use crate::machine::waiting::Note;
use crate::machine::waiting::{MOST_FEW, Scope, Then};
use crate::owner::Owner;

/// What the owner at a slot asks for.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub(super) slot: usize,
    pub(super) seconds: f64,
    pub(super) until: Until,
    /// Of the state whose callback asks.
    pub(super) scope: Scope,
    /// Whether it asks when it is entered. What was asked for before may be of a state that has been left since.
    pub(super) is_entry: bool,
}

/// How a wait ends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Until {
    /// The owner sleeps, and wakes.
    Awake,
    /// It changes to the singleton of a number.
    Change(u32),
    /// Not by itself: the state that asks keeps a number.
    #[cfg(feature = "definition")]
    Note(Note),
    /// It is not waited for after all.
    Never,
}

impl Until {
    /// What is kept, if a number is.
    #[cfg(feature = "definition")]
    pub(super) fn note(self) -> Option<Note> {
        if let Self::Note(note) = self { Some(note) } else { None }
    }

    /// What a timer asks for then. `None` for a sleep.
    pub(super) fn then<T: Owner>(self, states: &States<T>) -> Option<Then<T>> {
        match self {
            Self::Change(number) => Some(Then::Change(states.get(number).state().clone())),
            #[cfg(feature = "definition")]
            Self::Note(note) => Some(Then::Note(note)),
            Self::Awake | Self::Never => None,
        }
    }

    /// Whether it is set although it is never due.
    pub(super) fn is_note(self) -> bool {
        match self {
            #[cfg(feature = "definition")]
            Self::Note(_) => true,
            _ => false,
        }
    }
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

/// What an owner waits for once the tick is over.
#[derive(Clone, Copy)]
pub(super) struct Waiter {
    pub(super) key: Key,
    /// When that is, in seconds.
    pub(super) at: f64,
    pub(super) until: Until,
    /// Of the state that waits.
    pub(super) scope: Scope,
}

/// What the owners of a chunk ask for.
pub(super) struct Waits {
    /// In the order of asking, each with the place of the one before it of the same owner, from 1 on, or 0.
    list: Vec<(Wait, usize)>,
    /// By slot: the place of what its owner has asked for last, from 1 on, or 0.
    last: Vec<usize>,
    /// Where those begin whose callbacks may still go on.
    open_from: usize,
    /// The highest slot among these, if there are any.
    highest: usize,
}

impl Waits {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), last: Vec::new(), open_from: 0, highest: 0 }
    }

    /// Begins with callbacks of which nobody's request is here yet.
    pub(super) fn open(&mut self) {
        self.open_from = self.list.len();
        self.highest = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a request. Of several requests to sleep the last one counts.
    pub(super) fn add(&mut self, wait: Wait) {
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
    pub(super) fn has(&self, slot: usize) -> bool {
        !self.has_none_from(slot) && self.places(slot).any(|at| at >= self.open_from)
    }

    /// Whether the owners from a slot on have asked for nothing in callbacks that may still go on.
    #[inline]
    pub(super) fn has_none_from(&self, slot: usize) -> bool {
        self.list.len() == self.open_from || self.highest < slot
    }

    /// Whether the owner at a slot may ask for more. Who asks for many things does so by itself: here each is looked for among
    /// the others.
    pub(super) fn has_room(&self, slot: usize) -> bool {
        self.all_places(slot).take(MOST_FEW).count() < MOST_FEW
    }

    /// What the owner at a slot has asked for in callbacks that have returned, the newest first.
    #[cfg(feature = "definition")]
    pub(super) fn returned(&self, slot: usize) -> impl Iterator<Item = &Wait> {
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
    pub(super) fn take<T: Owner>(
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

    /// Drops what the owner at a slot has asked for in a callback that has panicked.
    pub(super) fn forget(&mut self, slot: usize) {
        self.end(slot, self.open_from, |_| true);
    }

    /// Leaves out what states have asked for that have been left since: `kept` says how many active states, from the outermost,
    /// an owner has stayed in.
    pub(super) fn end_left(&mut self, kept: impl Fn(usize) -> usize) {
        for (wait, _) in &mut self.list {
            if !wait.is_entry && wait.until != Until::Never && wait.is_over(kept(wait.slot)) {
                wait.until = Until::Never;
            }
        }
    }

    /// Whether the owner of one of them waits for anything else that comes by itself.
    pub(super) fn comes_by_itself(&self, slot: usize) -> bool {
        let waits = self.places(slot).map(|at| &self.list[at].0);
        { waits }.any(|wait| wait.until != Until::Awake && !wait.until.is_note())
    }

    /// All of them, in the order of asking.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.list.iter().map(|(wait, _)| wait).filter(|wait| wait.until != Until::Never)
    }

    pub(super) fn clear(&mut self) {
        for (wait, _) in self.list.drain(..) {
            self.last[wait.slot] = 0;
        }
        self.open();
    }
}
