//! The nodes of the wheel, one for each timer. A node never moves.

use super::pages::{NONE, Pages};

/// Marks the end of an owner's list. The other bits are the owner.
pub(super) const END: u32 = 1 << 31;
/// How many nodes a page has: four kilobytes, since most batches have few timers.
const PAGE: usize = 256;

#[derive(Clone, Copy)]
pub(super) struct WheelNode {
    /// When the timer is due, in seconds; not a number if the timer has been removed.
    pub(super) due: f64,
    /// The next node of the same owner; or, at the end of the list, that owner and [`END`]. Of a free node, the next free one.
    pub(super) next: u32,
    pub(super) what: u32,
}

impl WheelNode {
    /// Whether the timer has been removed.
    pub(super) fn is_dead(&self) -> bool {
        self.due.is_nan()
    }
}

pub(super) struct Nodes {
    /// The running ones, the dead ones and the free ones.
    pub(super) pages: Pages<WheelNode, PAGE>,
    running: u32,
    dead: u32,
    /// The first of the free ones, which are a list.
    free: u32,
}

impl Nodes {
    pub(super) const fn new() -> Self {
        Self { pages: Pages::new(), running: 0, dead: 0, free: NONE }
    }

    pub(super) fn len(&self) -> u32 {
        self.pages.len()
    }

    pub(super) fn running(&self) -> u32 {
        self.running
    }

    /// How many nodes are dead and still in the list of a slot.
    pub(super) fn dead(&self) -> u32 {
        self.dead
    }

    pub(super) fn insert(&mut self, due: f64, next: u32, what: u32) -> u32 {
        let node = WheelNode { due, next, what };
        self.running += 1;
        if self.free == NONE {
            return self.pages.push(node);
        }
        let at = self.free;
        self.free = self.pages[at].next;
        self.pages[at] = node;
        at
    }

    /// Ends a timer. Its node stays in the list of its slot.
    pub(super) fn kill(&mut self, at: u32) {
        self.pages[at].due = f64::NAN;
        self.running -= 1;
        self.dead += 1;
    }

    /// Frees a dead node that is in no list any more.
    pub(super) fn free(&mut self, at: u32) {
        self.pages[at].next = self.free;
        self.free = at;
        self.dead -= 1;
    }

    /// Frees all dead nodes, none of which is in a list any more. The free ones are in ascending order then, without the nodes
    /// at the end, which are no longer in use.
    pub(super) fn free_dead(&mut self) {
        self.dead = 0;
        self.free = NONE;
        for at in (0..self.len()).rev() {
            if !self.pages[at].is_dead() {
                continue;
            }
            if at == self.len() - 1 {
                self.pages.truncate(at);
            } else {
                self.pages[at].next = self.free;
                self.free = at;
            }
        }
    }

    /// Forgets all nodes, and keeps the pages.
    pub(super) fn clear(&mut self) {
        self.pages.truncate(0);
        (self.running, self.dead, self.free) = (0, 0, NONE);
    }

    /// Copies `source` into the room that there is.
    pub(super) fn copy_from(&mut self, source: &Self) {
        self.pages.copy_from(&source.pages);
        (self.running, self.dead, self.free) = (source.running, source.dead, source.free);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.shrink_to_fit();
    }
}
