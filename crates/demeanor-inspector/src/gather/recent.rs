//! Whom the last entries of a journal show as refused often, or as changing back and forth.

use std::collections::HashMap;
use std::hash::Hash;

use demeanor::Journal;

use crate::crowd::Crowd;
use crate::picture::{FlickeringOwner, Recent, RefusedOwner};

/// How many entries are looked at for one picture. One takes about 50 ns.
const ENTRIES: usize = 8192;
/// How many seconds back.
const SECONDS: f64 = 30.0;
/// How many owners each list has.
const MOST: usize = 12;

struct Seen<'j> {
    /// How many entries are newer than its newest.
    newer: usize,
    /// The next change of this owner: we go backward.
    next: Option<(Option<&'j str>, Option<&'j str>)>,
    returns: u32,
    between: [&'j str; 2],
    refusals: u32,
    refused: Option<(Option<&'j str>, String)>,
}

pub(super) fn look<K, C>(crowd: &C, journal: &Journal<K>) -> Recent
where
    K: Copy + Eq + Hash,
    C: Crowd<Key = K> + ?Sized,
{
    let newest = journal.entries().next_back().map_or(0.0, |entry| entry.time);
    let mut seen: HashMap<K, Seen<'_>> = HashMap::new();
    let (mut entries, mut seconds) = (0, 0.0_f64);
    for entry in journal.entries().rev().take(ENTRIES).take_while(|entry| newest - entry.time <= SECONDS) {
        let newer = entries;
        entries += 1;
        seconds = seconds.max(newest - entry.time);
        let owner = seen.entry(entry.owner).or_insert(Seen {
            newer,
            next: None,
            returns: 0,
            between: [""; 2],
            refusals: 0,
            refused: None,
        });
        if let Some(refused) = entry.refused {
            owner.refusals += 1;
            owner.refused.get_or_insert_with(|| (entry.to, refused.to_string()));
            continue;
        }
        if let (Some(from), Some(to)) = (entry.from, entry.to)
            && from != to
            && owner.next == Some((Some(to), Some(from)))
        {
            owner.returns += 1;
            owner.between = [from, to];
        }
        owner.next = Some((entry.from, entry.to));
    }
    let name = |key| (crowd.key_text(key), crowd.label(key).unwrap_or_default());
    let refused = most(&seen, |seen| seen.refusals).into_iter().map(|(key, seen)| {
        let (owner, label) = name(key);
        let (to, guard) = seen.refused.clone().unwrap_or_default();
        RefusedOwner { owner, label, count: seen.refusals, to: to.map(str::to_owned), guard }
    });
    // Once there and back is how most states are left.
    let flickering = most(&seen, |seen| seen.returns.saturating_sub(1)).into_iter().map(|(key, seen)| {
        let (owner, label) = name(key);
        FlickeringOwner { owner, label, count: seen.returns, between: seen.between.map(str::to_owned) }
    });
    Recent { entries, seconds, refused: refused.collect(), flickering: flickering.collect() }
}

/// Those of whom a number is highest, and not 0; of equal ones those with the newest entry.
fn most<'s, 'j, K: Copy>(seen: &'s HashMap<K, Seen<'j>>, number: impl Fn(&Seen<'j>) -> u32) -> Vec<(K, &'s Seen<'j>)> {
    let mut owners: Vec<_> = seen.iter().map(|(key, seen)| (*key, seen)).filter(|(_, seen)| number(seen) > 0).collect();
    owners.sort_by_key(|(_, seen)| (std::cmp::Reverse(number(seen)), seen.newer));
    owners.truncate(MOST);
    owners
}
