//! A vector in pages. It grows by one page at a time, and no element moves.

use std::ops::{Index, IndexMut};

/// The indices of owners are below this limit.
pub(super) const OWNERS: u32 = 1 << 30;

/// The index that stands for no element. All indices of elements are below it.
pub(super) const NONE: u32 = OWNERS - 1;

pub(super) struct Pages<E, const PAGE: usize> {
    pages: Vec<Box<[E; PAGE]>>,
    /// The number of elements in use. The pages after them are kept.
    len: u32,
}

impl<E: Copy, const PAGE: usize> Pages<E, PAGE> {
    pub(super) const fn new() -> Self {
        Self { pages: Vec::new(), len: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Adds an element and returns its index.
    pub(super) fn push(&mut self, element: E) -> u32 {
        let at = self.len;
        assert!(at < NONE, "capacity overflow");
        if at as usize == self.pages.len() * PAGE {
            self.pages.push(Box::new([element; PAGE]));
        }
        self.len += 1;
        self[at] = element;
        at
    }

    pub(super) fn truncate(&mut self, len: u32) {
        self.len = self.len.min(len);
    }

    /// Copies `source`, reuses the existing pages, and keeps the existing pages that the copy does not need.
    pub(super) fn copy_from(&mut self, source: &Self) {
        let used = &source.pages[..source.used()];
        for (page, from) in self.pages.iter_mut().zip(used) {
            page.copy_from_slice(&**from);
        }
        self.pages.extend(used.iter().skip(self.pages.len()).cloned());
        self.len = source.len;
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.truncate(self.used());
        self.pages.shrink_to_fit();
    }

    /// Returns how many pages are in use.
    fn used(&self) -> usize {
        (self.len as usize).div_ceil(PAGE)
    }
}

impl<E, const PAGE: usize> Index<u32> for Pages<E, PAGE> {
    type Output = E;

    fn index(&self, at: u32) -> &E {
        &self.pages[at as usize / PAGE][at as usize % PAGE]
    }
}

impl<E, const PAGE: usize> IndexMut<u32> for Pages<E, PAGE> {
    fn index_mut(&mut self, at: u32) -> &mut E {
        &mut self.pages[at as usize / PAGE][at as usize % PAGE]
    }
}
