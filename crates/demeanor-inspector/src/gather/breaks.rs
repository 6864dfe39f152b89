//! Pauses the game at breakpoints, from what the journal has recorded since the last tick.

use std::collections::HashMap;

use demeanor::Journal;
use demeanor::journal::{Entry, Violation};

use crate::crowd::{Count, Crowd};
use crate::shared::{News, Shared, Stop, StopAt};

/// The largest number of changes in a tick that are compared with a breakpoint. Each takes about 5 ns.
const MOST_CHANGES: usize = 1 << 16;
/// The largest number of states whose parents are known.
const MOST_STATES: usize = 4096;

pub(super) struct Breaks<K> {
    /// The number of changes that the journal had recorded in the last tick.
    written: Option<u64>,
    /// The last violation in the last tick.
    violation: Option<Violation<K>>,
    /// By the name of a state: the names of the states around it, and then its own.
    paths: HashMap<String, Vec<String>>,
    /// Why the game has paused, while the server has not been told.
    untold: Option<Stop>,
}

impl<K: Copy + Eq> Breaks<K> {
    pub(super) fn new() -> Self {
        Self { written: None, violation: None, paths: HashMap::new(), untold: None }
    }

    /// Notes the parents of states.
    pub(super) fn note(&mut self, counts: &[Count]) {
        for Count { path, .. } in counts {
            let Some(name) = path.last() else { continue };
            if self.paths.len() < MOST_STATES && self.paths.get(name) != Some(path) {
                self.paths.insert(name.clone(), path.clone());
            }
        }
    }

    /// Pauses the game if something at which it should pause has happened since the last tick.
    pub(super) fn go_on<C>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>, journal: &Journal<K>, shared: &Shared)
    where
        C: Crowd<Key = K> + ?Sized,
    {
        if let Some(stop) = self.untold.take() {
            self.tell(stop, shared);
        }
        // If the server is busy, the next tick looks at the changes of this one, too.
        let Some(stops) = shared.stops(name) else { return };
        let is_first = self.written.is_none();
        let written = journal.written();
        // A journal that has been cleared or replaced starts again.
        let seen = self.written.replace(written).filter(|seen| *seen <= written).unwrap_or(written);
        let new = usize::try_from(written - seen).unwrap_or(usize::MAX).min(MOST_CHANGES);
        let last = journal.violations().next_back();
        let before = std::mem::replace(&mut self.violation, last.cloned());
        if stops.is_empty() || is_first {
            return;
        }
        let changes = || journal.entries().rev().take(new).filter(Entry::is_taken);
        let is_known = |entry: Entry<'_, K>| entry.to.is_none_or(|to| self.paths.contains_key(to));
        if !changes().all(is_known) {
            self.note(&crowd.census(cx));
        }
        let found = stops.iter().find_map(|stop| match stop {
            StopAt::State(state) => {
                first(changes().filter(|entry| self.enters(entry, state)).map(|entry| (entry.owner, entry.time)))
                    .map(|(owner, time, others)| (owner, format!("has entered {state} at {time:.2} s{}", and(others))))
            }
            StopAt::Property(property) => {
                let new = journal.violations().rev().take_while(|violation| Some(*violation) != before.as_ref());
                let new = new.filter(|violation| property.as_ref().is_none_or(|name| **name == *violation.property));
                first(new.map(|violation| (violation.owner, violation))).map(|(owner, violation, others)| {
                    let Violation { property, path, time, .. } = violation;
                    (owner, format!("violates {property} in {path} at {time:.2} s{}", and(others)))
                })
            }
        });
        let Some((owner, why)) = found else { return };
        let (key, label) = (crowd.key_text(owner), crowd.label(owner).unwrap_or_default());
        shared.pause(true);
        let stop = Stop { crowd: name.to_owned(), why: format!("{label} ({key}) {why}"), owner: key };
        self.tell(stop, shared);
    }

    /// Tells the server why the game has paused. If the server is busy, the next tick does.
    fn tell(&mut self, stop: Stop, shared: &Shared) {
        self.untold = shared.post(stop, |news: &mut News, stop| news.stop = Some(stop));
    }

    /// Returns whether a change leads into a state from outside, or from the state to itself.
    fn enters(&self, entry: &Entry<'_, K>, state: &str) -> bool {
        let is_in = |name: Option<&str>| {
            let around = name.and_then(|name| self.paths.get(name));
            name == Some(state) || around.is_some_and(|path| path.iter().any(|name| name == state))
        };
        is_in(entry.to) && (entry.to == Some(state) || !is_in(entry.from))
    }
}

/// Returns the oldest of some events, which come newest first, and the number of the others.
fn first<K, V>(events: impl Iterator<Item = (K, V)>) -> Option<(K, V, usize)> {
    let mut others = 0;
    let mut oldest = None;
    for event in events {
        others += usize::from(oldest.replace(event).is_some());
    }
    oldest.map(|(owner, what)| (owner, what, others))
}

/// Says how many others there are.
fn and(others: usize) -> String {
    if others == 0 { String::new() } else { format!(", and {others} more in this tick") }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use demeanor::{Batch, Owner, State};

    use super::{Breaks, Journal, StopAt};
    use crate::server::start;
    use crate::shared::Breakpoint;

    struct Guard;

    impl Owner for Guard {
        type Context<'a> = ();
        type Message = ();
    }

    struct Idle;
    struct Chase;
    impl State<Guard> for Idle {}
    impl State<Guard> for Chase {}

    #[test]
    fn a_busy_server_does_not_keep_a_breakpoint_from_pausing_the_game_and_hears_why_later() {
        let (shared, _thread) = start(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
        let mut batch: Batch<Guard> = [(Guard, &Idle)].into_iter().collect();
        batch.set_journal(Some(Journal::new(10)));
        let mut breaks = Breaks::new();
        let tick = |breaks: &mut Breaks<_>, batch: &Batch<Guard>| {
            breaks.go_on("guards", batch, &(), batch.journal().unwrap(), &shared);
        };
        tick(&mut breaks, &batch);
        shared.add_breakpoint(Breakpoint { crowd: "guards".into(), at: StopAt::State("Chase".into()) });
        let key = batch.keys().next().unwrap();
        batch.change_state(key, &Chase, &mut ());

        let is_reading_breakpoints = shared.breakpoints.lock().unwrap();
        tick(&mut breaks, &batch);
        assert!(shared.takes_tick());
        drop(is_reading_breakpoints);
        let is_reading_news = shared.news.lock().unwrap();
        tick(&mut breaks, &batch);
        assert!(!shared.takes_tick());
        assert!(breaks.untold.as_ref().unwrap().why.starts_with("Guard"), "{:?}", breaks.untold);
        drop(is_reading_news);
        // The server's thread may read its news now and then.
        (0..1000).for_each(|_| tick(&mut breaks, &batch));
        assert_eq!(breaks.untold, None);
    }
}
