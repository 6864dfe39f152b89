//! What is saved of a batch: columns of plain data, names once, everything in its order.

use serde::{Deserialize, Serialize};

use crate::save::{Saved, SavedMore, SavedSeat, SavedStates, Seconds};

/// A saved [`Batch`](crate::Batch). `O` is the owner, or a reference to it when it is being saved. See
/// [`Batch::save`](crate::Batch::save).
pub type SavedBatch<O> = Saved<BatchContent<O>>;

/// What is saved of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BatchContent<O> {
    /// What the clock showed. All times are by this clock.
    pub clock: Seconds,
    /// A digest of what the definitions in the book say; 0 without any.
    pub definitions: u64,
    /// The states.
    pub states: SavedStates,
    /// Whether times are kept: since a state was entered at another time than 0.
    pub has_clock: bool,
    /// The owners by state. A bucket's number is its place here; the first is that of owners in no state.
    pub buckets: Vec<SavedBucket<O>>,
    /// The numbers of the buckets, in the order in which they are updated.
    pub order: Vec<u32>,
    /// The numbers that are free for other states; the last one is the next.
    pub free: Vec<u32>,
    /// The keys that the next owners get, in this order. Behind them come new ones.
    pub next_keys: Vec<SavedKey>,
    /// The numbers of buckets whose states may be forgotten.
    pub unused: Vec<u32>,
    /// How many rows may be looked through for these states.
    pub unused_credit: u64,
}

/// A key to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedKey {
    /// Its place among all keys, counted from 1.
    pub index: u32,
    /// Its version, an odd number.
    pub version: u32,
}

/// The owners of one state, or of the owned states of one type, as columns. Rows are in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedBucket<O> {
    /// The state's number; 0 of no state.
    pub state: u32,
    /// Whether `state` is the name of a type of owned states, and each owner has a seat of its own.
    pub is_of_owned: bool,
    /// The states around the state, outermost first. For their times: which they are is found by the state.
    pub ancestors: Vec<u32>,
    /// How many are asleep. They are the first.
    pub asleep: u32,
    /// Whether what the state does had been exchanged since they fell asleep.
    pub is_outdated: bool,
    /// The owners.
    pub owners: Vec<O>,
    /// The places of their keys.
    pub indices: Vec<u32>,
    /// The versions of their keys.
    pub versions: Vec<u32>,
    /// One more than the number of the bucket of the previous state; 0 if it is in `rows`.
    pub previous: Vec<u32>,
    /// Whether the state has been entered.
    pub is_entered: Vec<bool>,
    /// When it was, if times are kept.
    pub entered_at: Vec<Seconds>,
    /// Likewise for the states around it, row by row.
    pub ancestors_entered_at: Vec<Seconds>,
    /// Each owner's seat, if they are in owned states. Then the columns from `previous` on are empty.
    pub seats: Vec<SavedSeat>,
    /// What only some rows have.
    pub rows: Vec<SavedRow>,
}

/// What only some rows of a bucket have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedRow {
    /// Which row, counted from 0.
    pub row: u32,
    /// The previous state, if it has no bucket.
    pub previous: u32,
    /// The rest.
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
    /// Takes the owners out.
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

    /// The seat of an owner that has none in its row. `of_row` is what only some rows have.
    pub(super) fn seat(&self, row: usize, of_row: Option<&SavedRow>) -> SavedSeat {
        // If no times were kept, all were 0.
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
