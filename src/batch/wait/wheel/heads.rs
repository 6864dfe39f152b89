//! The first node of each owner's list of timers, and the owner's version, in pages. A page exists only if one of its owners
//! has a timer.

use super::pages::{NONE, OWNERS, Pages};

/// The number of owners in a page.
const PAGE: usize = 128;

/// How many pages are allocated together.
const PAGES: usize = 8;

pub(super) struct Heads {
    /// The entry of an owner is at the owner's index divided by [`PAGE`].
    directory: Vec<HeadEntry>,
    pages: Pages<[Head; PAGE], PAGES>,
    /// The first free page, or [`NONE`]. In a free page, `node` of the first head is the number of the next free page.
    free: u32,
}

/// The two fields are side by side, because code that needs one of them needs the other.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// The first node of an owner, or [`NONE`].
    pub(super) node: u32,
    /// The version, which distinguishes the owner from earlier owners with the same index.
    pub(super) version: u32,
}

const EMPTY: Head = Head { node: NONE, version: 0 };

#[derive(Clone, Copy)]
struct HeadEntry {
    /// The number of the page, if there is one.
    page: u32,
    /// The number of owners in the page that have a list. If it is 0, there is no page.
    owners: u32,
}

impl Heads {
    pub(super) const fn new() -> Self {
        Self { directory: Vec::new(), pages: Pages::new(), free: NONE }
    }

    /// Returns the first node of an owner, and the owner's version.
    pub(super) fn get(&self, owner: u32) -> Head {
        match self.directory.get(owner as usize / PAGE) {
            Some(entry) if entry.owners > 0 => self.pages[entry.page][owner as usize % PAGE],
            _ => EMPTY,
        }
    }

    /// Returns the head of an owner. If the head has no node, the caller must set one.
    ///
    /// # Panics
    ///
    /// When `owner` is not below 2^30.
    pub(super) fn entry(&mut self, owner: u32) -> &mut Head {
        assert!(owner < OWNERS, "capacity overflow");
        let nth = owner as usize / PAGE;
        if nth >= self.directory.len() {
            self.directory.resize(nth + 1, HeadEntry { page: NONE, owners: 0 });
        }
        let entry = &mut self.directory[nth];
        if entry.owners == 0 {
            entry.page = add_page(&mut self.pages, &mut self.free);
        }
        let head = &mut self.pages[entry.page][owner as usize % PAGE];
        entry.owners += u32::from(head.node == NONE);
        head
    }

    /// Removes the list of an owner that has one.
    pub(super) fn remove(&mut self, owner: u32) {
        let entry = &mut self.directory[owner as usize / PAGE];
        let page = &mut self.pages[entry.page];
        page[owner as usize % PAGE] = EMPTY;
        entry.owners -= 1;
        if entry.owners == 0 {
            page[0].node = self.free;
            self.free = entry.page;
        }
    }

    /// Iterates over the owners that have a list, in ascending order.
    pub(super) fn owners(&self) -> impl Iterator<Item = u32> {
        (0..OWNERS).step_by(PAGE).zip(&self.directory).filter(|(_, entry)| entry.owners > 0).flat_map(
            |(first, entry)| {
                let page = &self.pages[entry.page];
                (first..).zip(page.iter()).filter(|(_, head)| head.node != NONE).map(|(owner, _)| owner)
            },
        )
    }

    #[cfg(test)]
    pub(super) fn clear(&mut self) {
        self.directory.clear();
        self.pages.truncate(0);
        self.free = NONE;
    }

    /// Copies `source`, and reuses the existing memory.
    pub(super) fn copy_from(&mut self, source: &Self) {
        self.directory.clone_from(&source.directory);
        self.pages.copy_from(&source.pages);
        self.free = source.free;
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.directory.shrink_to_fit();
        self.pages.shrink_to_fit();
    }
}

/// Returns the number of a page without owners: a free page or a new one.
fn add_page(pages: &mut Pages<[Head; PAGE], PAGES>, free: &mut u32) -> u32 {
    let number = *free;
    if number == NONE {
        return pages.push([EMPTY; PAGE]);
    }
    let page = &mut pages[number];
    *free = page[0].node;
    page[0] = EMPTY;
    number
}
