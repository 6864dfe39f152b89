//! The numbers of singletons, found by their references: quicker than by what they are.

use std::hash::{Hash, Hasher};
use std::ptr;

use crate::owner::Owner;
use crate::state::State;

/// A cache. A type's vtable has several addresses, so that there may be several entries for one state; a wrong number there
/// cannot be, since singletons keep theirs.
pub(crate) struct Numbers<T: Owner>(Box<[NumberedState<T>; SIZE]>);

struct NumberedState<T: Owner> {
    state: Option<&'static dyn State<T>>,
    index: u32,
}

const SIZE: usize = 256;

impl<T: Owner> Numbers<T> {
    pub(crate) fn new() -> Self {
        Self(Box::new([const { NumberedState { state: None, index: 0 } }; SIZE]))
    }

    #[inline]
    pub(crate) fn get(&self, state: &'static dyn State<T>) -> Option<u32> {
        let number = &self.0[CacheEntry::of(state)];
        number.state.is_some_and(|known| ptr::eq(known, state)).then_some(number.index)
    }

    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|number| number.state = None);
    }

    pub(crate) fn set(&mut self, state: &'static dyn State<T>, index: u32) {
        self.0[CacheEntry::of(state)] = NumberedState { state: Some(state), index };
    }
}

/// Finds the entry of a reference in the cache. Both words of it count, since all singletons without a size may share an
/// address.
struct CacheEntry(u64);

impl CacheEntry {
    #[inline]
    fn of<T: Owner>(state: &'static dyn State<T>) -> usize {
        let mut entry = Self(0);
        ptr::from_ref(state).hash(&mut entry);
        // Knuth's multiplicative hash: every bit of the words counts in the highest eight.
        let [.., highest] = entry.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        highest.into()
    }
}

impl Hasher for CacheEntry {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.0 = self.0.rotate_left(32) ^ word as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
