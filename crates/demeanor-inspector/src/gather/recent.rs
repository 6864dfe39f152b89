//! The owners that were often refused, or that changed back and forth, in the last half minute, according to the journal.
//!
//! New entries are read in limited numbers, so that no tick takes long. In a large crowd, only some owners are followed: those
//! whose keys have a hash that ends in zeros. For them, almost every change is seen.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::time::{Duration, Instant};

use demeanor::Journal;
use demeanor::journal::{Entry, Guard};
use rustc_hash::FxBuildHasher;

use crate::crowd::Crowd;
use crate::picture::{FlickeringOwner, Recent, RefusedOwner, ViolatedProperty};

/// The number of entries whose owners are checked in a tick. Each takes about 5 ns.
const ENTRIES: usize = 4096;
/// The number of entries that are counted in a tick.
const MOST_ENTRIES: usize = 256;
/// The number of owners that are followed at the same time.
const MOST_OWNERS: usize = 2048;
/// Counts are forgotten after once to twice this time.
const HALF: Duration = Duration::from_secs(15);
/// The length of each list.
const MOST: usize = 12;

/// A state's name, by its number. 0 means no state.
type Name = u32;

pub(super) struct Recently<K> {
    /// The number of changes that the journal had recorded at the last call.
    written: Option<u64>,
    /// The bits of a key's hash that must be 0 for its owner to be followed.
    mask: u64,
    owners: HashMap<K, Counts, FxBuildHasher>,
    /// The counts of the previous half.
    before: HashMap<K, Counts, FxBuildHasher>,
    turn: Option<Instant>,
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, Name, FxBuildHasher>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// The number of its last change.
    newest: u64,
    /// The states of the last change: from and to.
    last: Option<(Name, Name)>,
    returns: u32,
    between: [Name; 2],
    refusals: u32,
    /// The last refusal: the target, the guard, and the state whose guard refused.
    refused: Option<(Name, Guard, Name)>,
}

impl<K: Copy + Eq + Hash> Recently<K> {
    pub(super) fn new() -> Self {
        Self {
            written: None,
            mask: 0,
            owners: HashMap::default(),
            before: HashMap::default(),
            turn: None,
            names: vec!["".into()],
            by_name: HashMap::default(),
        }
    }

    /// Reads the entries since the last tick; in the first call, the existing entries.
    pub(super) fn go_on(&mut self, journal: &Journal<K>, now: Instant) {
        if self.turn.is_none_or(|turn| turn <= now) {
            self.turn = Some(now + HALF);
            if self.owners.len() < MOST_OWNERS / 4 {
                self.mask >>= 1;
            }
            self.before = std::mem::take(&mut self.owners);
        }
        let written = journal.written();
        // A journal that has been cleared or replaced starts again.
        let seen = self.written.filter(|seen| *seen <= written).unwrap_or(0);
        self.written = Some(written);
        let new = usize::try_from(written - seen).unwrap_or(usize::MAX).min(ENTRIES);
        if new == 0 {
            return;
        }
        let mask = self.mask;
        let mut followed: Vec<_> =
            journal.entries().rev().take(new).filter(|entry| is_followed(mask, entry.owner)).collect();
        let has_too_many = followed.len() > MOST_ENTRIES || self.owners.len() > MOST_OWNERS;
        followed.truncate(MOST_ENTRIES);
        for (newest, entry) in (seen + 1..).zip(followed.iter().rev()) {
            self.note(entry, newest);
        }
        if has_too_many {
            self.mask = mask << 1 | 1;
            let mask = self.mask;
            self.owners.retain(|owner, _| is_followed(mask, *owner));
            self.before.retain(|owner, _| is_followed(mask, *owner));
        }
    }

    fn note(&mut self, entry: &Entry<'_, K>, newest: u64) {
        if entry.ended.is_some() {
            // The change itself has been counted.
            return;
        }
        let (from, to) = (self.name(entry.from), self.name(entry.to));
        let refused = entry.refused.map(|refused| (to, refused.guard, self.name(Some(refused.state))));
        let counts = self.owners.entry(entry.owner).or_default();
        counts.newest = newest;
        if refused.is_some() {
            counts.refusals += 1;
            counts.refused = refused;
            return;
        }
        if from != to && from != 0 && to != 0 && counts.last == Some((to, from)) {
            counts.returns += 1;
            counts.between = [to, from];
        }
        counts.last = Some((from, to));
    }

    fn name(&mut self, name: Option<&str>) -> Name {
        let Some(name) = name else { return 0 };
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let number = Name::try_from(self.names.len()).unwrap_or(0);
        self.names.push(name.into());
        self.by_name.insert(name.into(), number);
        number
    }

    /// Returns the owners that stand out.
    pub(super) fn picture<C: Crowd<Key = K> + ?Sized>(&self, crowd: &C, journal: &Journal<K>) -> Recent {
        let mut all = self.owners.clone();
        for (owner, before) in &self.before {
            let counts = all.entry(*owner).or_insert(Counts { returns: 0, refusals: 0, ..*before });
            counts.returns += before.returns;
            counts.refusals += before.refusals;
            counts.refused = counts.refused.or(before.refused);
            if counts.between == [0; 2] {
                counts.between = before.between;
            }
        }
        let name = |name: Name| self.names[name as usize].to_string();
        let label = |key| (crowd.key_text(key), crowd.label(key).unwrap_or_default());
        let refused = most(&all, |counts| counts.refusals).into_iter().filter_map(|(key, counts)| {
            let ((owner, label), (to, guard, state)) = (label(key), counts.refused?);
            let to = (to != 0).then(|| name(to));
            Some(RefusedOwner { owner, label, count: counts.refusals, to, guard: format!("{}.{guard}", name(state)) })
        });
        // Most states are left by going back once, so the first return does not count.
        let flickering = most(&all, |counts| counts.returns.saturating_sub(1)).into_iter().map(|(key, counts)| {
            let (owner, label) = label(key);
            FlickeringOwner { owner, label, count: counts.returns, between: counts.between.map(name) }
        });
        let violated = journal.violations().rev().take(MOST).map(|violation| {
            let (owner, label) = label(violation.owner);
            let (property, path) = (violation.property.to_string(), violation.path.to_string());
            ViolatedProperty { owner, label, seconds: violation.time, property, path }
        });
        Recent {
            one_in: self.mask + 1,
            refused: refused.collect(),
            flickering: flickering.collect(),
            violated: violated.collect(),
        }
    }
}

fn is_followed<K: Hash>(mask: u64, owner: K) -> bool {
    // The upper bits of this hash are the better ones.
    mask == 0 || FxBuildHasher.hash_one(owner).rotate_left(20) & mask == 0
}

/// Returns the owners with the highest numbers above 0; of equal ones, those that have changed last.
fn most<K: Copy>(all: &HashMap<K, Counts, FxBuildHasher>, number: impl Fn(&Counts) -> u32) -> Vec<(K, Counts)> {
    let mut owners: Vec<_> =
        all.iter().map(|(key, counts)| (*key, *counts)).filter(|(_, counts)| number(counts) > 0).collect();
    owners.sort_by_key(|(_, counts)| std::cmp::Reverse((number(counts), counts.newest)));
    owners.truncate(MOST);
    owners
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use demeanor::{Batch, Journal, Owner, State};

    use super::{HALF, MOST_OWNERS, Recently};

    struct Guard;

    impl Owner for Guard {
        type Context<'a> = ();
        type Message = ();
    }

    struct Idle;
    struct Chase;
    impl State<Guard> for Idle {}
    impl State<Guard> for Chase {}

    fn change_all(batch: &mut Batch<Guard>) {
        for key in batch.keys().collect::<Vec<_>>() {
            batch.change_state(key, &Chase, &mut ());
            batch.change_state(key, &Idle, &mut ());
        }
    }

    #[test]
    fn in_a_large_crowd_some_owners_are_followed_and_all_their_changes_are_seen() {
        let mut batch: Batch<Guard> = (0..200_000).map(|_| (Guard, &Idle)).collect();
        batch.set_journal(Some(Journal::new(10_000)));
        let mut recently = Recently::new();
        let now = Instant::now();
        for _ in 0..20 {
            let some: Vec<_> = batch.keys().step_by(97).collect();
            for key in some {
                batch.change_state(key, &Chase, &mut ());
                batch.change_state(key, &Idle, &mut ());
            }
            recently.go_on(batch.journal().unwrap(), now);
        }
        assert!(recently.owners.len() <= MOST_OWNERS, "{}", recently.owners.len());
        let picture = recently.picture(&batch, batch.journal().unwrap());
        assert!(picture.one_in > 1);
        let counts: Vec<_> = picture.flickering.iter().map(|owner| owner.count).collect();
        // The owners that were followed from the beginning were only partly counted while there were too many.
        assert!(counts.len() == 12 && counts.iter().all(|count| *count >= 25), "{counts:?}");
    }

    #[test]
    fn what_was_counted_is_forgotten_after_two_halves() {
        let mut batch: Batch<Guard> = (0..2).map(|_| (Guard, &Idle)).collect();
        batch.set_journal(Some(Journal::new(100)));
        change_all(&mut batch);
        change_all(&mut batch);
        let mut recently = Recently::new();
        let start = Instant::now();
        let counts = |recently: &Recently<_>, batch: &Batch<Guard>| {
            recently
                .picture(batch, batch.journal().unwrap())
                .flickering
                .iter()
                .map(|owner| owner.count)
                .collect::<Vec<_>>()
        };
        recently.go_on(batch.journal().unwrap(), start);
        assert_eq!(counts(&recently, &batch), [3, 3]);
        recently.go_on(batch.journal().unwrap(), start + HALF);
        assert_eq!(counts(&recently, &batch), [3, 3]);
        recently.go_on(batch.journal().unwrap(), start + 2 * HALF);
        assert_eq!(counts(&recently, &batch), [0; 0]);
    }
}
