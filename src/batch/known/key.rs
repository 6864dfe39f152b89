//! The keys of a batch.

use slotmap::{Key as _, KeyData};

slotmap::new_key_type! {
    /// The key of an owner in a [`Batch`](crate::Batch). It stays the same when the owner changes state.
    ///
    /// It is a [slotmap](https://docs.rs/slotmap/1) key. So a game can store its own data for each owner in slotmap's
    /// `SecondaryMap<Key, _>`. The key of a removed owner finds nothing. A new owner gets the same key only after the key's
    /// place has been used 2^31 times. Use a key only with the batch that has returned it: another batch may have an owner with
    /// the same key.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// use slotmap::SecondaryMap;
    ///
    /// let mut batch = Batch::new();
    /// let first = batch.insert(Enemy, &Idle);
    /// let mut names = SecondaryMap::new();
    /// names.insert(first, "Bob");
    /// assert_eq!(names[first], "Bob");
    ///
    /// batch.remove(first);
    /// let second = batch.insert(Enemy, &Idle);
    /// assert!(!batch.contains_key(first));
    /// assert!(batch.contains_key(second));
    /// ```
    pub struct Key;
}

impl Key {
    pub(crate) fn new(index: u32, version: u32) -> Self {
        KeyData::from_ffi(u64::from(version) << 32 | u64::from(index)).into()
    }

    /// Returns the index of the key. No two owners have the same index at the same time.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half of a key is its index")]
    pub(crate) fn index(self) -> u32 {
        self.data().as_ffi() as u32
    }
    /// Returns the version, which tells the key from earlier keys with the same index.
    pub(crate) fn version(self) -> u32 {
        (self.data().as_ffi() >> 32) as u32
    }
}
