//! Saves a batch as columns of plain data.

use std::mem;

use super::data::{BatchContent, SavedBatch, SavedBucket, SavedRow};
use super::keys::next_keys;
use crate::batch::known::key::Place;
use crate::batch::known::states::NOWHERE;
use crate::batch::rows::store::Store;
use crate::batch::{Batch, Key};
use crate::machine::seat::Seat;
use crate::owner::{Owner, clock_time};
use crate::save::{SaveError, Saved, SavedMore, Seconds, StateBook, Writer};

impl<T: Owner> Batch<T> {
    /// Saves the batch: its owners, its keys, and everything that decides what happens next
    /// ([rule 27](crate::docs::semantics#rule-27)). The global state is not saved. `now` is the time that its clock shows, in
    /// seconds; use 0 if there is no clock.
    ///
    /// The returned value contains references to the owners, so that they are not copied.
    ///
    /// # Errors
    ///
    /// - When the book does not contain a state that an owner is in or was in, or a singleton that an owner of the batch
    ///   has ever requested. The error lists all missing states.
    /// - When the book does not say how to save the message of a timer.
    /// - When the data of a state or of a message cannot be written.
    /// - When the book has two states with the same name.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State, StateBook};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Enemy { health: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let book = StateBook::<Enemy>::new().with(&Idle).with(&Chase);
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { health: 7 }, &Idle);
    /// batch.change_state(bob, &Chase, &mut ());
    /// let file = serde_json::to_string(&batch.save(&book, 0.0)?)?;
    ///
    /// let mut batch = Batch::load(serde_json::from_str(&file)?, &book, 0.0)?;
    /// assert_eq!(batch[bob].health, 7);
    /// assert!(batch.is_in_state(bob, &Chase));
    /// assert!(batch.revert_state(bob, &mut ()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, book: &StateBook<T>, now: f64) -> Result<SavedBatch<&T>, SaveError> {
        let store = &self.store;
        let mut writer = Writer::new(book)?;
        let needed = store.needed_states();
        let mut forgotten = Vec::new();
        let mut buckets = Vec::with_capacity(store.buckets.len());
        for number in store.numbers() {
            let state = store.state_number(number, needed[number as usize], &mut writer);
            if state == 0 && number != NOWHERE {
                forgotten.push(number);
            }
            buckets.push(store.saved_bucket(number, state, &mut writer));
        }
        let states = writer.finish()?;
        let order = store.states.order().iter().copied();
        let order: Vec<_> = order.filter(|number| forgotten.binary_search(number).is_err()).collect();
        // The numbers that are free already come last, because the last number is given out next.
        let mut is_free = vec![false; buckets.len()];
        store.states.free().iter().for_each(|number| is_free[*number as usize] = true);
        forgotten.retain(|number| !is_free[*number as usize]);
        forgotten.extend(store.states.free());
        Ok(Saved::new(BatchContent {
            clock: Seconds(clock_time(now)),
            definitions: book.definitions_digest(),
            states,
            has_clock: store.has_clock,
            buckets,
            order,
            free: forgotten,
            next_keys: next_keys(&store.places),
            unused: store.states.unused.candidates.clone(),
            unused_credit: store.states.unused.credit as u64,
        }))
    }
}

impl<T: Owner> Store<T> {
    /// Returns, by number, whether a state is some owner's current or previous state.
    fn needed_states(&self) -> Vec<bool> {
        let mut needed: Vec<_> = self.buckets.iter().map(|columns| !columns.is_empty()).collect();
        for previous in self.buckets.iter().flat_map(|columns| &columns.tags).filter_map(|tag| tag.previous()) {
            needed[previous as usize] = true;
        }
        needed
    }

    /// Returns the saved number of a bucket's state, or of the name of its type; 0 for a state that can be forgotten.
    fn state_number(&self, number: u32, is_needed: bool, writer: &mut Writer<'_, T>) -> u32 {
        let known = self.states.get(number);
        if known.is_owned() {
            let name = self.states.owned_type(number).and_then(|of| writer.book.name_of_type(of));
            return name.map_or(0, |name| writer.name(name));
        }
        // A shared state may be forgotten at any time, unless it is in use.
        let is_forgotten = known.is_transient && !is_needed && !writer.knows(known.state());
        if is_forgotten { 0 } else { writer.state(known.state()) }
    }

    fn saved_bucket(&self, number: u32, state: u32, writer: &mut Writer<'_, T>) -> SavedBucket<&T> {
        let (known, columns) = (self.states.get(number), &self.buckets[number as usize]);
        let has_columns = !known.has_seats;
        // Seats contain the data that these columns would have.
        let tags = if has_columns { &columns.tags[..] } else { &[] };
        let seconds =
            |times: &[f64]| if has_columns { times.iter().copied().map(Seconds).collect() } else { Vec::new() };
        let ancestors = if state != 0 { &known.ancestors[..] } else { &[] };
        let has_rows = has_columns && !(self.extras.is_empty() && self.timers.is_empty());
        SavedBucket {
            state,
            is_of_owned: known.is_owned() && state != 0,
            ancestors: ancestors.iter().map(|ancestor| writer.ancestor(ancestor)).collect(),
            asleep: u32::try_from(columns.asleep).unwrap_or(u32::MAX),
            is_outdated: has_columns && columns.asleep > 0 && columns.revision != known.state().revision(),
            owners: columns.owners.iter().collect(),
            indices: columns.tags.iter().map(|tag| tag.key.index()).collect(),
            versions: columns.tags.iter().map(|tag| Key::version(tag.key)).collect(),
            previous: tags.iter().map(|tag| tag.previous().map_or(0, |number| number + 1)).collect(),
            is_entered: tags.iter().map(|tag| tag.is_entered()).collect(),
            entered_at: seconds(&columns.times.current),
            ancestors_entered_at: seconds(&columns.times.ancestors),
            seats: columns.seats.iter().map(|seat| writer.seat(seat)).collect(),
            rows: if has_rows { self.saved_rows(number, writer) } else { Vec::new() },
        }
    }

    /// Collects the data that only some rows of a bucket have.
    fn saved_rows(&self, number: u32, writer: &mut Writer<'_, T>) -> Vec<SavedRow> {
        let columns = &self.buckets[number as usize];
        let mut seat = Seat::empty();
        let mut saved = Vec::new();
        for (slot, tag) in columns.tags.iter().enumerate() {
            if !tag.has_more() && !self.extras.contains_key(tag.key) {
                continue;
            }
            self.row(Place::new(number, slot)).copy(0, &mut seat);
            let previous = if tag.previous().is_some() { 0 } else { writer.state(&seat.previous) };
            let more = seat.rare.as_ref().map_or_else(SavedMore::default, |rare| writer.more(rare));
            drop(mem::replace(&mut seat, Seat::empty()));
            if previous != 0 || more != SavedMore::default() {
                saved.push(SavedRow { row: u32::try_from(slot).unwrap_or(u32::MAX), previous, more });
            }
        }
        saved
    }
}
