//! The nodes of the wheel, one for each timer. A node never moves.

use super::pages::Pages;

/// Marks the end of an owner's list. The other bits are the owner's index.
pub(super) const END: u32 = 1 << 31;
/// The number of nodes in a page. A page has only four kilobytes, because most batches have few timers.
const PAGE: usize = 256;

#[derive(Clone, Copy)]
pub(super) struct WheelNode {
    /// When the timer is due, in seconds; not a number if the timer has been removed.
    pub(super) due: f64,
    /// The next node of the same owner. At the end of the list: the owner's index and [`END`].
    pub(super) next: u32,
    pub(super) what: u32,
}

impl WheelNode {
    /// Returns whether the timer has been removed.
    pub(super) fn is_dead(&self) -> bool {
        self.due.is_nan()
    }
}

pub(super) struct Nodes {
    /// The running, the dead and the free nodes.
    pub(super) pages: Pages<WheelNode, PAGE>,
    running: u32,
    dead: u32,
    /// The free nodes. They are not linked with each other, because the processor would have to load a free node before it knows
    /// the next one.
    free: Vec<u32>,
}

impl Nodes {
    pub(super) const fn new() -> Self {
        Self { pages: Pages::new(), running: 0, dead: 0, free: Vec::new() }
    }

    pub(super) fn len(&self) -> u32 {
        self.pages.len()
    }

    pub(super) fn running(&self) -> u32 {
        self.running
    }

    /// Returns how many nodes are dead and still in the list of a slot.
    pub(super) fn dead(&self) -> u32 {
        self.dead
    }

    pub(super) fn insert(&mut self, due: f64, next: u32, what: u32) -> u32 {
        let node = WheelNode { due, next, what };
        self.running += 1;
        let Some(at) = self.free.pop() else { return self.pages.push(node) };
        self.pages[at] = node;
        at
    }

    /// Ends a timer. Its node stays in the list of its slot.
    pub(super) fn kill(&mut self, at: u32) {
        self.pages[at].due = f64::NAN;
        self.running -= 1;
        self.dead += 1;
    }

    /// Frees a dead node. It must not be in a list any more.
    pub(super) fn free(&mut self, at: u32) {
        self.free.push(at);
        self.dead -= 1;
    }

    /// Frees all dead nodes. No dead node may be in a list any more. Afterwards, the free nodes are used in ascending order, and
    /// free nodes at the end are removed.
    pub(super) fn free_dead(&mut self) {
        self.dead = 0;
        self.free.clear();
        for at in (0..self.len()).rev() {
            if !self.pages[at].is_dead() {
                continue;
            }
            if at == self.len() - 1 {
                self.pages.truncate(at);
            } else {
                self.free.push(at);
            }
        }
    }

    /// Forgets all nodes, and keeps the pages.
    pub(super) fn clear(&mut self) {
        self.pages.truncate(0);
        self.free.clear();
        (self.running, self.dead) = (0, 0);
    }

    /// Copies `source`, and reuses the existing memory.
    pub(super) fn copy_from(&mut self, source: &Self) {
        self.pages.copy_from(&source.pages);
        self.free.clone_from(&source.free);
        (self.running, self.dead) = (source.running, source.dead);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.shrink_to_fit();
        self.free.shrink_to_fit();
    }
}
