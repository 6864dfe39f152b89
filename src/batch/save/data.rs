//! The saved form of a batch: columns of plain data. Each name is saved once, and the order of everything is kept.

use serde::{Deserialize, Serialize};

use crate::save::{Saved, SavedMore, SavedSeat, SavedStates, Seconds};

/// A saved [`Batch`](crate::Batch). `O` is the owner, or a reference to it when it is being saved. See
/// [`Batch::save`](crate::Batch::save).
pub type SavedBatch<O> = Saved<BatchContent<O>>;

/// The content of a saved batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BatchContent<O> {
    /// The time that the clock showed. All other times are by this clock.
    pub clock: Seconds,
    /// A digest of the definitions in the book; 0 if there are none.
    pub definitions: u64,
    /// The states.
    pub states: SavedStates,
    /// Whether times are kept. This begins when a state is first entered at a time other than 0.
    pub has_clock: bool,
    /// The owners by state. A bucket's number is its position in this list. The first bucket holds the owners without a state.
    pub buckets: Vec<SavedBucket<O>>,
    /// The numbers of the buckets, in the order in which they are updated.
    pub order: Vec<u32>,
    /// The numbers that are free for other states. The last one is given out next.
    pub free: Vec<u32>,
    /// The keys that the next owners get, in this order. After them, owners get new keys.
    pub next_keys: Vec<SavedKey>,
    /// The numbers of buckets whose states may be forgotten.
    pub unused: Vec<u32>,
    /// How many rows may be looked through to find out whether these states are in use.
    pub unused_credit: u64,
}

/// A key that a future owner gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedKey {
    /// The index of the key, counted from 1.
    pub index: u32,
    /// The version of the key, an odd number.
    pub version: u32,
}

/// The owners of one state, or of the owned states of one type, as columns. The rows keep their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedBucket<O> {
    /// The number of the state; 0 for no state.
    pub state: u32,
    /// Whether `state` is the name of a type of owned states, and each owner has a seat of its own.
    pub is_of_owned: bool,
    /// The ancestors of the state, outermost first. They are needed only for their times: the state itself knows its ancestors.
    pub ancestors: Vec<u32>,
    /// The number of sleeping owners. They have the first rows.
    pub asleep: u32,
    /// Whether the behavior of the state has been replaced since the sleeping owners fell asleep.
    pub is_outdated: bool,
    /// The owners.
    pub owners: Vec<O>,
    /// The indices of the owners' keys.
    pub indices: Vec<u32>,
    /// The versions of the owners' keys.
    pub versions: Vec<u32>,
    /// One more than the number of the bucket of the previous state; 0 if it is in `rows`.
    pub previous: Vec<u32>,
    /// Whether the state has been entered.
    pub is_entered: Vec<bool>,
    /// When the state was entered, if times are kept.
    pub entered_at: Vec<Seconds>,
    /// When the ancestors of the state were entered, row by row, if times are kept.
    pub ancestors_entered_at: Vec<Seconds>,
    /// The seat of each owner, if the owners are in owned states or in a state with regions. In this case, the columns from
    /// `previous` to `ancestors_entered_at` are empty, and so is `rows`.
    pub seats: Vec<SavedSeat>,
    /// The data that only some rows have.
    pub rows: Vec<SavedRow>,
}

/// The data that only some rows of a bucket have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedRow {
    /// The number of the row, counted from 0.
    pub row: u32,
    /// The previous state, if it has no bucket.
    pub previous: u32,
    /// All other data.
    pub more: SavedMore,
}

impl<O> Default for BatchContent<O> {
    fn default() -> Self {
        Self {
            clock: Seconds(0.0),
            definitions: 0,
            states: Vec::new(),
            has_clock: false,
            buckets: Vec::new(),
            order: Vec::new(),
            free: Vec::new(),
            next_keys: Vec::new(),
            unused: Vec::new(),
            unused_credit: 0,
        }
    }
}

impl<O> SavedBucket<O> {
    /// Splits the bucket into its owners and all other columns.
    pub(super) fn take_owners<P>(self) -> (Vec<O>, SavedBucket<P>) {
        let Self { state, is_of_owned, ancestors, asleep, is_outdated, owners, indices, versions, .. } = self;
        let Self { previous, is_entered, entered_at, ancestors_entered_at, seats, rows, .. } = self;
        let columns = SavedBucket {
            state,
            is_of_owned,
            ancestors,
            asleep,
            is_outdated,
            owners: Vec::new(),
            indices,
            versions,
            previous,
            is_entered,
            entered_at,
            ancestors_entered_at,
            seats,
            rows,
        };
        (owners, columns)
    }

    /// Creates the seat of an owner whose row has none. `of_row` is the additional data of the row, if it has any.
    pub(super) fn seat(&self, row: usize, of_row: Option<&SavedRow>) -> SavedSeat {
        // If no times were kept, all times were 0.
        let entered = |times: &[Seconds], nth: usize| {
            self.is_entered[row].then(|| times.get(nth).copied().unwrap_or(Seconds(0.0)))
        };
        let first = row * self.ancestors.len();
        let ancestors = (first..).zip(&self.ancestors);
        SavedSeat {
            current: self.state,
            previous: of_row.map_or(0, |of_row| of_row.previous),
            entered_at: entered(&self.entered_at, row),
            ancestors: ancestors.map(|(nth, state)| (*state, entered(&self.ancestors_entered_at, nth))).collect(),
            is_asleep: row < self.asleep as usize,
            is_outdated: self.is_outdated,
            more: of_row.map(|of_row| of_row.more.clone()).unwrap_or_default(),
        }
    }
}

impl<O> SavedBatch<O> {
    /// Replaces each owner. If `map` clones the references that [`Batch::save`](crate::Batch::save) returns, the batch can be
    /// loaded without a file. If an older program has saved owners of an older type, `map` converts them.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State, StateBook};
    /// #[derive(Clone)]
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let book = StateBook::<Enemy>::new().with(&Idle);
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// let saved = batch.save(&book, 0.0)?.map_owners(Enemy::clone);
    /// let twin = Batch::load(saved, &book, 0.0)?;
    /// assert!(twin.is_in_state(bob, &Idle));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn map_owners<P>(self, mut map: impl FnMut(O) -> P) -> SavedBatch<P> {
        let BatchContent { clock, definitions, states, has_clock, buckets, .. } = self.content;
        let BatchContent { order, free, next_keys, unused, unused_credit, .. } = self.content;
        let buckets = buckets.into_iter().map(|bucket| {
            let (owners, columns) = bucket.take_owners();
            SavedBucket { owners: owners.into_iter().map(&mut map).collect(), ..columns }
        });
        let buckets = buckets.collect();
        let content = BatchContent {
            clock,
            definitions,
            states,
            has_clock,
            buckets,
            order,
            free,
            next_keys,
            unused,
            unused_credit,
        };
        Saved { version: self.version, content }
    }
}
