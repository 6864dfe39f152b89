//! Carries out the timers and the ends of sleeps that are due at the beginning of a tick.
//!
//! Nearly all owners for which something is due only wake, or change from one state to another. They do so here, before any
//! owner is updated: the rows of sleeping owners move to the awake part of their bucket, which brings them side by side, and
//! the owners that change do so in bulk. An owner for which anything else is due is ticked alone, when its chunk has its turn.

use std::hint;

use smallvec::SmallVec;

use super::Batch;
use super::chunk::pass::Pass;
use super::known::key::{Key, Place, Places, SharedPlace};
use super::known::panics::FirstPanic;
use super::known::slots::CHUNK;
use super::rows::chunk::PassPart;
use super::rows::store::Store;
use super::wait::waiter::Until;
use crate::owner::{Owner, now};
use crate::state::{Kind, Mover};

/// The number of owners whose data is read ahead together, so that the processor waits for all of it at once. With more owners,
/// the first data would have left the cache before it is used.
const TOGETHER: usize = 64;

impl<T: Owner> Batch<T> {
    /// Wakes the owners for which only waking is due, and changes the owners for which only one change is due. Notes the owners
    /// for which anything else is due, so that their chunks tick them alone.
    pub(crate) fn carry_out_due(&mut self, part: PassPart, cx: &mut T::Context<'_>) {
        let Self { store, pass, .. } = self;
        store.find_due(now::<T>(cx), part);
        let mut panic = FirstPanic::new();
        for nth in 0..store.states.order().len() {
            let Some(&bucket) = store.states.order().get(nth) else { break };
            // This goes on after a panic, because the timers of these changes have already been removed.
            store.change_due(bucket, pass, &mut panic, cx);
        }
        store.settle_all();
        store.note_due();
        if !panic.is_none() {
            store.forget_due();
            store.settle_sleepers();
            store.tidy(&mut panic);
            panic.resume();
        }
    }
}

impl<T: Owner> Store<T> {
    /// Finds the owners in `part` for which something is due at the time `now`, in seconds. Wakes the owners that only wake or
    /// change, and puts the keys of the others into `due`.
    fn find_due(&mut self, now: f64, part: PassPart) {
        let mut due = std::mem::take(&mut self.due);
        if part.k == 0 {
            // All parts of a tick have the same time, so only the first part notes the clock.
            self.timers.note_clock(now);
        }
        self.timers.advance(now, |key| {
            if part.has(key) {
                due.push(key);
            }
        });
        let mut kept = 0;
        for start in (0..due.len()).step_by(TOGETHER) {
            let end = due.len().min(start + TOGETHER);
            hint::black_box(self.look_ahead(&due[start..end]));
            self.plain.clear();
            for at in start..end {
                let key = due[at];
                if !self.take_plain(key, now) {
                    due[kept] = key;
                    kept += 1;
                }
            }
            self.wake_plain();
        }
        due.truncate(kept);
        self.due = due;
    }

    /// Reads some of the data that waking these owners will read, so that it is in the cache by then. The owners themselves are
    /// not read. Each loop reads only data whose places are known, so that the processor fetches much of it at a time.
    fn look_ahead(&self, keys: &[Key]) -> u64 {
        let mut read = 0;
        for place in places_of(keys, &self.places) {
            let columns = &self.buckets[place.bucket as usize];
            read ^= columns.times.current.get(place.slot()).map_or(0, |at| at.to_bits());
            read ^= columns.tags.get(place.slot()).and_then(|tag| tag.previous()).map_or(0, u64::from);
        }
        for &key in keys {
            read ^= self.timers.next(key).map_or(0, f64::to_bits);
        }
        read
    }

    /// Checks whether an owner only wakes or changes from one state to another. If so, removes its due timers, adds it to
    /// `plain`, and returns `true`.
    fn take_plain(&mut self, key: Key, now: f64) -> bool {
        let Some(place) = self.places.get(key).map(SharedPlace::get) else { return false };
        let known = self.states.get(place.bucket);
        if !known.is_bulk {
            return false;
        }
        let target = match self.timers.plain(key, now) {
            Some(Until::Awake) => None,
            Some(Until::Change(number)) if self.states.get(number).is_bulk => Some(number),
            _ => return false,
        };
        let waits = self.timers.take_plain(key, now);
        self.buckets[place.bucket as usize].tags[place.slot()].set_has_timers(waits);
        self.plain.push((key, target));
        true
    }

    /// Wakes the owners that only wake or change. This short loop does nothing else, so that the processor fetches the data of
    /// several owners at a time.
    fn wake_plain(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        for &(key, target) in &plain {
            let Some(place) = self.places.get(key).map(SharedPlace::get) else { continue };
            let columns = &mut self.buckets[place.bucket as usize];
            let slot = columns.set_asleep(place, false, &self.places);
            columns.changes_due.extend(target.map(|target| (slot, target)));
        }
        for place in plain.iter().filter_map(|&(key, _)| self.places.get(key)).map(SharedPlace::get) {
            self.buckets[place.bucket as usize].finish_exchanges();
        }
        self.plain = plain;
    }

    /// Makes the changes that are due for the owners of a bucket, in bulk.
    fn change_due(&mut self, bucket: u32, pass: &mut Pass<T>, panic: &mut FirstPanic, cx: &mut T::Context<'_>) {
        let mut changes = std::mem::take(&mut self.buckets[bucket as usize].changes_due);
        changes.sort_unstable();
        let mut rest = &changes[..];
        while let Some(&(first, _)) = rest.first() {
            let first = first as usize;
            let (together, behind) = rest.split_at(rest.partition_point(|(slot, _)| (*slot as usize) < first + CHUNK));
            let movers = together.iter().map(|&(slot, target)| Mover::new(slot as usize - first, Kind::Change, target));
            pass.change_all(movers, &mut self.chunk(bucket, first, CHUNK, PassPart::ALL), cx);
            let outcome = &mut pass.outcome;
            self.take_up(bucket, first, outcome);
            self.discarded.drop_many(&mut outcome.panic);
            panic.keep_other(&mut outcome.panic);
            rest = behind;
        }
        self.move_marked(bucket);
        changes.clear();
        self.buckets[bucket as usize].changes_due = changes;
    }

    /// Notes, in each bucket, the rows of the owners for which anything else is due.
    fn note_due(&mut self) {
        let Self { places, buckets, due, .. } = self;
        if due.is_empty() {
            return;
        }
        for place in due.iter().filter_map(|&key| places.get(key)).map(SharedPlace::get) {
            buckets[place.bucket as usize].due.push(place.slot);
        }
        for columns in buckets {
            columns.due.sort_unstable();
        }
    }
}

/// Returns the places of the owners that are still in the batch.
fn places_of(keys: &[Key], places: &Places) -> SmallVec<[Place; TOGETHER]> {
    keys.iter().filter_map(|&key| places.get(key)).map(SharedPlace::get).collect()
}
