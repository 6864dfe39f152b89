//! The nodes of the wheel, one for each timer, in pages: there is room for a page too many at most, and a node never moves.

use std::ops::{Index, IndexMut};

/// No node: above all of them.
pub(super) const NONE: u32 = END - 1;
/// Marks the end of an owner's list. The other bits are the owner.
pub(super) const END: u32 = 1 << 31;
/// In [`Node::next`], marks a node on the way to an owner that has been reported.
const MARK: u32 = 1 << 31;

/// How many nodes a page has: five kilobytes, since most batches have few timers.
const PAGE: usize = 256;

/// Twenty bytes, which a field of 64 bits would make 24.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// The lower and the upper half of the bits of the time.
    due: [u32; 2],
    /// The next node in the list of the slot, and a mark.
    next: u32,
    /// The next node of the same owner; or, at the end of the list, that owner and [`END`].
    pub(super) next_of_owner: u32,
    pub(super) what: u32,
}

impl Node {
    /// The upper half of some times that are not a number.
    const DEAD: u32 = u32::MAX;
    const UNUSED: Self = Self { due: [0, Self::DEAD], next: NONE, next_of_owner: NONE, what: 0 };

    #[expect(clippy::cast_possible_truncation, reason = "it is the lower half")]
    fn new(due: f64, next_of_owner: u32, what: u32) -> Self {
        let bits = due.to_bits();
        Self { due: [bits as u32, (bits >> 32) as u32], next: NONE, next_of_owner, what }
    }

    pub(super) fn due(&self) -> f64 {
        f64::from_bits(u64::from(self.due[1]) << 32 | u64::from(self.due[0]))
    }

    /// Whether the timer has been removed.
    pub(super) fn is_dead(&self) -> bool {
        self.due[1] == Self::DEAD
    }

    pub(super) fn next(&self) -> u32 {
        self.next & !MARK
    }

    /// Leaves the mark as it is.
    pub(super) fn set_next(&mut self, next: u32) {
        self.next = self.next & MARK | next;
    }

    pub(super) fn is_marked(&self) -> bool {
        self.next & MARK != 0
    }

    pub(super) fn mark(&mut self) {
        self.next |= MARK;
    }

    pub(super) fn unmark(&mut self) {
        self.next &= !MARK;
    }
}

pub(super) struct Nodes {
    pages: Vec<Box<[Node; PAGE]>>,
    /// How many nodes have been used at any time since the last rebuild: those that run, the dead ones and the free ones.
    len: u32,
    running: u32,
    dead: u32,
    /// The first of the free ones, which are a list.
    free: u32,
}

impl Nodes {
    pub(super) const fn new() -> Self {
        Self { pages: Vec::new(), len: 0, running: 0, dead: 0, free: NONE }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn running(&self) -> u32 {
        self.running
    }

    /// How many nodes are dead and not free: they are still in a list.
    pub(super) fn dead(&self) -> u32 {
        self.dead
    }

    pub(super) fn insert(&mut self, due: f64, next_of_owner: u32, what: u32) -> u32 {
        let at = if self.free == NONE { self.grow() } else { self.free };
        let node = &mut self[at];
        // That of a new one is `NONE`: nodes are added only while none is free.
        let free = node.next;
        *node = Node::new(due, next_of_owner, what);
        self.free = free;
        self.running += 1;
        at
    }

    fn grow(&mut self) -> u32 {
        assert!(self.len < NONE, "capacity overflow");
        if self.len as usize == self.pages.len() * PAGE {
            self.pages.push(Box::new([Node::UNUSED; PAGE]));
        }
        let at = self.len;
        self.len += 1;
        self[at] = Node::UNUSED;
        at
    }

    /// Ends a timer. Its node stays in the list that it is in.
    pub(super) fn kill(&mut self, at: u32) {
        self[at].due[1] = Node::DEAD;
        self.running -= 1;
        self.dead += 1;
    }

    /// Frees a dead node that is in no list any more.
    pub(super) fn free(&mut self, at: u32) {
        self[at].next = self.free;
        self.free = at;
        self.dead -= 1;
    }

    /// Empties the list of the free nodes, which [`free_last`](Self::free_last) then fills again.
    pub(super) fn free_none(&mut self) {
        self.free = NONE;
        self.dead = 0;
    }

    /// Frees a dead or free node; all nodes behind it have been looked at.
    pub(super) fn free_last(&mut self, at: u32) {
        if at == self.len - 1 {
            self.len = at;
        } else {
            self[at].next = self.free;
            self.free = at;
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self { pages: std::mem::take(&mut self.pages), ..Self::new() };
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.truncate(self.used_pages());
        self.pages.shrink_to_fit();
    }

    fn used_pages(&self) -> usize {
        (self.len as usize).div_ceil(PAGE)
    }
}

impl Index<u32> for Nodes {
    type Output = Node;

    fn index(&self, at: u32) -> &Node {
        &self.pages[at as usize / PAGE][at as usize % PAGE]
    }
}

impl IndexMut<u32> for Nodes {
    fn index_mut(&mut self, at: u32) -> &mut Node {
        &mut self.pages[at as usize / PAGE][at as usize % PAGE]
    }
}

impl Clone for Nodes {
    fn clone(&self) -> Self {
        let mut clone = Self::new();
        clone.clone_from(self);
        clone
    }

    /// Keeps the pages that the source does not use.
    fn clone_from(&mut self, source: &Self) {
        let used = &source.pages[..source.used_pages()];
        for (page, from) in self.pages.iter_mut().zip(used) {
            page.copy_from_slice(&**from);
        }
        self.pages.extend(used.iter().skip(self.pages.len()).cloned());
        let Self { pages: _, len, running, dead, free } = *source;
        (self.len, self.running, self.dead, self.free) = (len, running, dead, free);
    }
}
