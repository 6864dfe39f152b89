//! The lists of nodes in the slots of the wheel, in blocks of nodes.
//!
//! A list that leads from node to node waits for one of them before it knows the next: with a million timers, each a miss of
//! the cache, that was ten times slower. Here the processor fetches all nodes of a block at once.

use super::nodes::NONE;

/// How many nodes a block has: with the link, 128 bytes.
pub(super) const BLOCK: usize = 31;
/// How many blocks a page has.
const PAGE: usize = 32;

/// A list of nodes.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// The first block, or [`NONE`].
    block: u32,
    /// How many nodes there are in it. The other blocks are full.
    len: u32,
}

impl List {
    /// Its first block counts as full, so the first node gets a new one.
    pub(super) const EMPTY: Self = Self { block: NONE, len: BLOCK as u32 };
}

#[derive(Clone, Copy)]
struct Block {
    nodes: [u32; BLOCK],
    /// The next block in the list, or the next free one.
    next: u32,
}

pub(super) struct Blocks {
    pages: Vec<Box<[Block; PAGE]>>,
    /// How many blocks are in use, be they free or not.
    len: u32,
    /// The first of the free ones, which are a list.
    free: u32,
}

impl Blocks {
    const UNUSED: Block = Block { nodes: [NONE; BLOCK], next: NONE };

    pub(super) const fn new() -> Self {
        Self { pages: Vec::new(), len: 0, free: NONE }
    }

    pub(super) fn push(&mut self, list: &mut List, node: u32) {
        if list.len as usize == BLOCK {
            *list = List { block: self.add(list.block), len: 0 };
        }
        self.block(list.block).nodes[list.len as usize] = node;
        list.len += 1;
    }

    /// Takes the first block out of a list: its nodes, and how many there are.
    pub(super) fn take(&mut self, list: &mut List) -> Option<([u32; BLOCK], usize)> {
        if list.block == NONE {
            return None;
        }
        let free = self.free;
        let block = self.block(list.block);
        let (nodes, len) = (block.nodes, list.len as usize);
        let next = std::mem::replace(&mut block.next, free);
        self.free = list.block;
        *list = List { block: next, ..List::EMPTY };
        Some((nodes, len))
    }

    /// Forgets all lists, and keeps the pages.
    pub(super) fn clear(&mut self) {
        (self.len, self.free) = (0, NONE);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.truncate(self.used_pages());
        self.pages.shrink_to_fit();
    }

    fn add(&mut self, next: u32) -> u32 {
        let at = self.free;
        if at != NONE {
            self.free = std::mem::replace(&mut self.block(at).next, next);
            return at;
        }
        let at = self.len;
        if at as usize == self.pages.len() * PAGE {
            self.pages.push(Box::new([Self::UNUSED; PAGE]));
        }
        self.len += 1;
        self.block(at).next = next;
        at
    }

    fn block(&mut self, at: u32) -> &mut Block {
        &mut self.pages[at as usize / PAGE][at as usize % PAGE]
    }

    fn used_pages(&self) -> usize {
        (self.len as usize).div_ceil(PAGE)
    }
}

impl Clone for Blocks {
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
        (self.len, self.free) = (source.len, source.free);
    }
}
