//! The lists of nodes in the slots of the wheel, in blocks of nodes.
//!
//! In a linked list of nodes, the processor must load a node before it knows the next one. With a million timers, each node is a
//! cache miss, and `advance` takes more than twice as long. With blocks, the processor can fetch the nodes of a block side by
//! side.

use super::pages::{NONE, Pages};

/// The number of nodes in a block. With its link, a block takes 128 bytes.
pub(super) const BLOCK: usize = FULL as usize;
const FULL: u32 = 31;
/// The number of blocks in a page.
const PAGE: usize = 32;

/// A list of nodes.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// The first block, or [`NONE`].
    block: u32,
    /// The number of nodes in the first block. The other blocks are full.
    len: u32,
}

impl List {
    /// The list without nodes. Its first block counts as full, so the first node gets a new block.
    pub(super) const EMPTY: Self = Self { block: NONE, len: FULL };
}

#[derive(Clone, Copy)]
struct WheelBlock {
    nodes: [u32; BLOCK],
    /// The next block in the list, or the next free one.
    next: u32,
}

pub(super) struct Blocks {
    pages: Pages<WheelBlock, PAGE>,
    /// The first free block. The free blocks form a list.
    free: u32,
}

impl Blocks {
    pub(super) const fn new() -> Self {
        Self { pages: Pages::new(), free: NONE }
    }

    pub(super) fn push(&mut self, list: &mut List, node: u32) {
        if list.len == FULL {
            *list = List { block: self.add(list.block), len: 0 };
        }
        self.pages[list.block].nodes[list.len as usize] = node;
        list.len += 1;
    }

    /// Takes the first block out of a list. Returns its nodes, and how many there are.
    pub(super) fn take(&mut self, list: &mut List) -> Option<([u32; BLOCK], usize)> {
        if list.block == NONE {
            return None;
        }
        let free = self.free;
        let block = &mut self.pages[list.block];
        let (nodes, len) = (block.nodes, list.len as usize);
        let next = std::mem::replace(&mut block.next, free);
        self.free = list.block;
        *list = List { block: next, ..List::EMPTY };
        Some((nodes, len))
    }

    /// Forgets all lists, and keeps the pages.
    pub(super) fn clear(&mut self) {
        self.pages.truncate(0);
        self.free = NONE;
    }

    /// Copies `source`, and reuses the existing memory.
    pub(super) fn copy_from(&mut self, source: &Self) {
        self.pages.copy_from(&source.pages);
        self.free = source.free;
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.shrink_to_fit();
    }

    fn add(&mut self, next: u32) -> u32 {
        let at = self.free;
        if at != NONE {
            self.free = std::mem::replace(&mut self.pages[at].next, next);
            return at;
        }
        self.pages.push(WheelBlock { nodes: [NONE; BLOCK], next })
    }
}
