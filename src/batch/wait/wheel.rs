//! A hierarchical timing wheel (Varghese and Lauck, 1987), which reports the owners whose timers are due. It also has a list of
//! each owner's timers.
//!
//! When a timer comes due, the caller decides what happens, and removes the timer.

mod blocks;
mod heads;
mod levels;
mod nodes;
mod pages;
#[cfg(test)]
mod tests;

use std::{iter, mem};

use self::blocks::{BLOCK, Blocks, List};
use self::heads::{Head, Heads};
use self::levels::{LEVELS, Levels};
use self::nodes::{END, Nodes};
use self::pages::NONE;

/// The running timers of all owners.
///
/// An owner is identified by a `u32` (the index of its key). A version distinguishes it from earlier owners with the same
/// index. The action of a timer is a `u32`, too, which only the caller understands.
///
/// Each timer is a node in two lists. One is the list of its owner's timers. The other is the list of its slot in the wheel, or
/// the list `near`. Removing a timer takes it out of its owner's list. In the other list it stays as a dead node, until that
/// list is walked or there are too many dead nodes.
///
/// An owner's list is walked for each of its timers that is due, so the caller sets only a few timers for each owner.
///
/// A running timer takes 28.1 bytes: 16 for its node, 4.1 in the list of its slot, 8 for the head of its owner's list.
pub(crate) struct Wheel {
    nodes: Nodes,
    heads: Heads,
    /// The timers that are due in a later tick of the wheel.
    levels: Levels,
    blocks: Blocks,
    /// The timers that are due in the wheel's current tick or before: no other timer can be due now.
    near: List,
    /// The wheel's current tick.
    tick: u64,
}

/// How far the number of dead nodes may exceed half the number of all nodes. For fewer dead nodes, a visit to
/// all nodes costs more than it saves.
const SPARE: u32 = 1024;

impl Wheel {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Nodes::new(),
            heads: Heads::new(),
            levels: Levels::new(),
            blocks: Blocks::new(),
            near: List::EMPTY,
            tick: 0,
        }
    }

    /// Returns how many timers are running, including those that are due and have not been removed.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.nodes.running() as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.running() == 0
    }

    /// Starts a timer that is due at the time `due`, in seconds. This time may be in the past. A timer that is due at infinity
    /// never comes due.
    ///
    /// # Panics
    ///
    /// When there are 2^30 - 1 nodes, or when `owner` is not below 2^30.
    pub(crate) fn set(&mut self, (owner, version): (u32, u32), due: f64, what: u32) {
        debug_assert!(!due.is_nan(), "the due time of a timer is not a number");
        let due = if due.is_nan() { f64::NEG_INFINITY } else { due };
        let head = self.heads.entry(owner);
        let next = if head.node == NONE { owner | END } else { head.node };
        let node = self.nodes.insert(due, next, what);
        *head = Head { node, version };
        self.file(node, due);
    }

    /// Returns the version of an owner that has a timer.
    pub(crate) fn version(&self, owner: u32) -> u32 {
        self.heads.get(owner).version
    }

    pub(crate) fn has(&self, owner: u32) -> bool {
        self.heads.get(owner).node != NONE
    }

    /// Iterates over the timers of an owner, newest first: when each is due, and its action.
    pub(crate) fn of(&self, owner: u32) -> impl Iterator<Item = (f64, u32)> {
        let mut link = self.heads.get(owner).node;
        iter::from_fn(move || {
            if link >= NONE {
                return None;
            }
            let node = &self.nodes.pages[link];
            link = node.next;
            Some((node.due, node.what))
        })
    }

    /// Returns when the first of an owner's timers is due, in seconds.
    pub(crate) fn next_due(&self, owner: u32) -> Option<f64> {
        self.of(owner).map(|(due, _)| due).reduce(f64::min)
    }

    /// Removes the timers of an owner for which `is_removed` returns `true`. `is_removed` gets the due time and the action of
    /// each timer, newest first.
    pub(crate) fn remove_if(&mut self, owner: u32, mut is_removed: impl FnMut(f64, u32) -> bool) {
        let mut kept = NONE;
        let mut link = self.heads.get(owner).node;
        while link < NONE {
            let at = link;
            let node = &self.nodes.pages[at];
            link = node.next;
            if !is_removed(node.due, node.what) {
                kept = at;
                continue;
            }
            self.nodes.kill(at);
            if kept != NONE {
                self.nodes.pages[kept].next = link;
            } else if link < NONE {
                self.heads.entry(owner).node = link;
            } else {
                self.heads.remove(owner);
            }
        }
        if self.is_empty() {
            self.forget_nodes();
        } else if self.nodes.dead() > self.nodes.len() / 2 + SPARE {
            self.rebuild();
        }
    }

    /// Moves the wheel forward or back to the time `now`, in seconds. For each timer that is due, appends its owner to `due`.
    ///
    /// The order of the owners depends only on the calls that have been made. A due timer runs until it is removed, so the next
    /// call reports its owner again. At a time that is not a number, nothing is due.
    pub(crate) fn advance(&mut self, now: f64, due: &mut Vec<u32>) {
        if now.is_nan() {
            return;
        }
        let last = self.tick;
        self.tick = levels::tick(now);
        if self.is_empty() {
            return;
        }
        if self.tick < last {
            self.rebuild();
        }
        let near = mem::replace(&mut self.near, List::EMPTY);
        self.sort(near, now, due);
        if self.tick > last {
            // The loop goes from the lowest level to the highest: the nodes of a passed slot go to slots of lower levels that
            // have not been passed yet.
            for level in 0..LEVELS {
                while let Some(list) = self.levels.take_passed(level, last, self.tick) {
                    self.sort(list, now, due);
                }
            }
        }
    }

    /// Removes all timers, and keeps the memory.
    #[cfg(test)]
    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.forget_nodes();
    }

    /// Frees memory that the running timers do not need.
    pub(crate) fn shrink_to_fit(&mut self) {
        let mut fit = Self { tick: self.tick, ..Self::new() };
        let mut timers = Vec::new();
        for owner in self.heads.owners() {
            timers.extend(self.of(owner));
            for (due, what) in timers.drain(..).rev() {
                fit.set((owner, self.version(owner)), due, what);
            }
        }
        fit.nodes.shrink_to_fit();
        fit.blocks.shrink_to_fit();
        fit.heads.shrink_to_fit();
        *self = fit;
    }

    /// Puts a node into the list where it belongs at the current tick.
    fn file(&mut self, at: u32, due: f64) {
        let tick = levels::tick(due);
        let list = if tick <= self.tick { &mut self.near } else { self.levels.list(tick, self.tick) };
        self.blocks.push(list, at);
    }

    /// Puts the nodes of a list into the lists where they belong at the current tick, and reports the owners of the nodes that
    /// are due.
    fn sort(&mut self, mut list: List, now: f64, owners: &mut Vec<u32>) {
        while let Some((nodes, len)) = self.blocks.take(&mut list) {
            // All due times are read first, so that the processor can fetch several nodes at the same time.
            let mut dues = [0.0; BLOCK];
            for (due, &at) in dues.iter_mut().zip(&nodes[..len]) {
                *due = self.nodes.pages[at].due;
            }
            for (&at, due) in nodes[..len].iter().zip(dues) {
                if due.is_nan() {
                    self.nodes.free(at);
                    continue;
                }
                self.file(at, due);
                if is_due(due, now) {
                    self.report(at, owners);
                }
            }
        }
    }

    /// Reports the owner of a node. The last node of an owner's list contains the owner.
    fn report(&self, at: u32, owners: &mut Vec<u32>) {
        let mut link = at;
        while link < NONE {
            link = self.nodes.pages[link].next;
        }
        owners.push(link & !END);
    }

    /// Files all running timers again, and frees all dead nodes. Visits the nodes in the order of memory, not along the lists.
    fn rebuild(&mut self) {
        self.forget_lists();
        self.nodes.free_dead();
        for at in 0..self.nodes.len() {
            let node = &self.nodes.pages[at];
            if !node.is_dead() {
                let due = node.due;
                self.file(at, due);
            }
        }
    }

    /// Frees all nodes at once. No owner may have a timer.
    fn forget_nodes(&mut self) {
        self.forget_lists();
        self.nodes.clear();
    }

    fn forget_lists(&mut self) {
        self.levels.clear();
        self.blocks.clear();
        self.near = List::EMPTY;
    }
}

/// Returns whether a timer is due. A timer at infinity is never due, not even at the time infinity.
pub(crate) fn is_due(due: f64, now: f64) -> bool {
    due <= now && due != f64::INFINITY
}

impl Clone for Wheel {
    fn clone(&self) -> Self {
        let mut clone = Self::new();
        clone.clone_from(self);
        clone
    }

    /// Allocates nothing if the memory of `self` is large enough.
    fn clone_from(&mut self, source: &Self) {
        self.nodes.copy_from(&source.nodes);
        self.heads.copy_from(&source.heads);
        self.levels.copy_from(&source.levels);
        self.blocks.copy_from(&source.blocks);
        self.near = source.near;
        self.tick = source.tick;
    }
}
