//! What owners that act in bulk ask to wait for: sleep, and changes after a while. Nothing of it moves a row at once, so it is
//! written down, and done for all of them when the tick is over.

use super::key::Key;
use super::states::States;
use crate::fsm::Request;
use crate::owner::Owner;
use crate::waiting::{Scope, Then};

/// What the owner at a slot asks for.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Wait {
    pub(super) slot: usize,
    pub(super) seconds: f64,
    pub(super) until: Until,
    /// Of the state whose callback asks.
    pub(super) scope: Scope,
}

/// How a wait ends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Until {
    /// The owner sleeps, and wakes.
    Awake,
    /// It changes to the singleton of a number.
    Change(u32),
    /// It is not waited for after all.
    Never,
}

impl Wait {
    /// The request as a machine would have it.
    pub(super) fn request<T: Owner>(self, states: &States<T>) -> Request<T> {
        match self.until {
            Until::Change(number) => Request::after(self.seconds, Then::Change(states.get(number).state().clone())),
            Until::Awake | Until::Never => Request::Sleep(self.seconds),
        }
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
    list: Vec<Wait>,
    /// Where those begin whose callbacks may still go on: by ascending slot, each owner's in the order of asking.
    open_from: usize,
}

impl Waits {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), open_from: 0 }
    }

    /// Begins with callbacks of which nobody's request is here yet.
    pub(super) fn open(&mut self) {
        self.open_from = self.list.len();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a request, unless an owner behind that one has asked for something already. Of several requests to sleep the last
    /// one counts.
    pub(super) fn add(&mut self, wait: Wait) -> bool {
        let open = &mut self.list[self.open_from..];
        if open.last().is_some_and(|last| last.slot > wait.slot) {
            return false;
        }
        if wait.until == Until::Awake {
            let own = open.iter_mut().rev().take_while(|earlier| earlier.slot == wait.slot);
            own.filter(|earlier| earlier.until == Until::Awake).for_each(|earlier| earlier.until = Until::Never);
        }
        self.list.push(wait);
        true
    }

    /// Whether the owner at a slot has asked for anything in a callback that may still go on.
    #[inline]
    pub(super) fn has(&self, slot: usize) -> bool {
        self.list[self.open_from..].last().is_some_and(|last| last.slot >= slot) && !self.of(slot).is_empty()
    }

    /// Whether the owners from a slot on have asked for nothing in callbacks that may still go on.
    #[cfg(feature = "definition")]
    pub(super) fn has_none_from(&self, slot: usize) -> bool {
        self.list[self.open_from..].last().is_none_or(|last| last.slot < slot)
    }

    fn of(&self, slot: usize) -> std::ops::Range<usize> {
        let open = &self.list[self.open_from..];
        let first = open.partition_point(|wait| wait.slot < slot);
        let count = open[first..].iter().take_while(|wait| wait.slot == slot).count();
        self.open_from + first..self.open_from + first + count
    }

    /// Takes out what the owner at a slot has asked for in a callback that may still go on, in the order of asking.
    pub(super) fn take(&mut self, slot: usize) -> impl Iterator<Item = Wait> {
        let range = self.of(slot);
        self.list[range].iter_mut().filter(|wait| wait.until != Until::Never).map(|wait| {
            let taken = *wait;
            // To move those behind it up would take time for each of them.
            wait.until = Until::Never;
            taken
        })
    }

    /// Drops what the owner at a slot has asked for in a callback that has panicked.
    pub(super) fn forget(&mut self, slot: usize) {
        self.take(slot).for_each(drop);
    }

    /// Takes all out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Wait> {
        self.open_from = 0;
        self.list.drain(..).filter(|wait| wait.until != Until::Never)
    }
}
