//! Shared states in which no owner is any more, until they are forgotten.
//!
//! A state whose bucket is empty may still be the previous state of some owner. To find out, all rows are looked through; so
//! this waits until enough has happened for it to cost next to nothing.

pub(crate) struct Unused {
    /// The numbers of states that may be unused, some of them more than once.
    pub(crate) candidates: Vec<u32>,
    /// By number, whether a state is unused; only while that is found out.
    pub(crate) marks: Vec<bool>,
    /// How many rows may be looked through for what has happened since the last time.
    credit: usize,
}

/// How many rows may be looked through for each state whose bucket has become empty.
const ROWS_PER_STATE: usize = 16;

impl Unused {
    pub(crate) const fn new() -> Self {
        Self { candidates: Vec::new(), marks: Vec::new(), credit: 0 }
    }

    /// As it was when it was saved.
    #[cfg(feature = "serde")]
    pub(crate) fn restored(candidates: Vec<u32>, credit: usize) -> Self {
        Self { candidates, marks: Vec::new(), credit }
    }

    #[cfg(feature = "serde")]
    pub(crate) fn credit(&self) -> usize {
        self.credit
    }

    pub(crate) fn add(&mut self, bucket: u32) {
        self.candidates.push(bucket);
        self.credit += ROWS_PER_STATE;
    }

    /// Whether all rows may be looked through now. Each tick, and each call for one owner, pays for a part of them.
    pub(crate) fn is_time(&mut self, rows: usize) -> bool {
        if self.candidates.is_empty() {
            return false;
        }
        self.credit += ROWS_PER_STATE;
        let is_time = self.credit >= rows;
        if is_time {
            self.credit = 0;
        }
        is_time
    }

    /// A tick has gone over all rows anyway.
    pub(crate) fn pay(&mut self, rows: usize) {
        if !self.candidates.is_empty() {
            self.credit += rows / 64;
        }
    }
}

/// The marks are of no use to a clone.
impl Clone for Unused {
    fn clone(&self) -> Self {
        Self { candidates: self.candidates.clone(), marks: Vec::new(), credit: self.credit }
    }

    fn clone_from(&mut self, source: &Self) {
        self.candidates.clone_from(&source.candidates);
        self.credit = source.credit;
    }
}
