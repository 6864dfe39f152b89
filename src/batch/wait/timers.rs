//! The running timers of a batch's owners, and the times at which sleeping owners wake by themselves.
//!
//! A timer takes one node of the wheel and, as a rule, no other memory: the scope of the state that set it, and the number of
//! its target, fit into the 32 bits that the wheel stores for its caller. An owner in an owned state has its timers in its
//! seat, and an owner with many timers has them beside its row. For these owners the wheel only stores when to look at them.

use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::waiter::{Until, Waiter};
use super::wheel::{Wheel, is_due};
use crate::batch::known::key::Key;
use crate::batch::known::panics::Discarded;
use crate::batch::known::states::States;
use crate::machine::waiting::{MOST_FEW, Note, Scope, Standstill, Then, Timer, Waiting};
use crate::owner::Owner;

pub(crate) struct Timers<T: Owner> {
    wheel: Wheel,
    kept: KeptTimers<T>,
    notes: FirstNotes,
    clock: Standstill,
    /// The indices of the owners whose timers are due.
    due: Vec<u32>,
}

/// The actions of timers that do not fit into 32 bits: messages, notes, and changes to states that are not singletons.
struct KeptTimers<T: Owner> {
    list: Vec<Option<Then<T>>>,
    free: Vec<u32>,
}

/// One number that a state of an owner has stored, by the owner's index. A number is never due, so the wheel need not know it.
/// Few owners have several numbers. Their other numbers are in the wheel.
struct FirstNotes {
    list: Vec<FirstNote>,
    count: usize,
}

/// A number that a state has stored. It takes 16 bytes, because a state with `every` reads one for each owner in each tick.
///
/// Threads can replace the number through a shared reference: each thread those of the owners that it updates. As for a place,
/// relaxed order is enough.
#[derive(Default)]
struct FirstNote {
    /// The bits of the number.
    number: AtomicU64,
    key: u32,
    /// `None` if there is no number.
    scope: Option<Scope>,
}

/// The meaning of the 32 bits that a node of the wheel stores for an owner.
#[derive(Clone, Copy)]
enum WheelEntry {
    /// A timer for a change to the state with this number.
    Change(Scope, u32),
    /// A timer whose action has this index in [`KeptTimers`].
    Kept(Scope, u32),
    /// The end of a sleep.
    Wake,
    /// The first due time of an owner whose timers are stored elsewhere.
    Look,
}

const NUMBER_BITS: u32 = 24;
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
/// Only numbers of states below this limit fit into an entry.
pub(crate) const MOST_NUMBERS: u32 = NUMBER;
const IS_KEPT: u32 = 1 << NUMBER_BITS;
const SCOPE_SHIFT: u32 = NUMBER_BITS + 1;
/// This value and the next four stand in the place of a depth. Depths are at most 64.
const LEFT: u32 = 123;
const CURRENT: u32 = 124;
const MACHINE: u32 = 125;
const WAKE: u32 = 126;
const LOOK: u32 = 127;

impl WheelEntry {
    fn bits(self) -> u32 {
        let scope = |scope| match scope {
            Scope::State(depth) => u32::from(depth) << SCOPE_SHIFT,
            Scope::Current => CURRENT << SCOPE_SHIFT,
            Scope::Machine => MACHINE << SCOPE_SHIFT,
            Scope::Left => LEFT << SCOPE_SHIFT,
        };
        match self {
            Self::Change(by, number) => scope(by) | number,
            Self::Kept(by, place) => scope(by) | IS_KEPT | place,
            Self::Wake => WAKE << SCOPE_SHIFT,
            Self::Look => LOOK << SCOPE_SHIFT,
        }
    }

    fn of(bits: u32) -> Self {
        let scope = match bits >> SCOPE_SHIFT {
            WAKE => return Self::Wake,
            LOOK => return Self::Look,
            LEFT => Scope::Left,
            CURRENT => Scope::Current,
            MACHINE => Scope::Machine,
            depth => Scope::state(depth as usize),
        };
        match bits & NUMBER {
            number if bits & IS_KEPT != 0 => Self::Kept(scope, number),
            number => Self::Change(scope, number),
        }
    }

    /// Returns the scope of the timer. `None` if the entry is no timer.
    fn scope(self) -> Option<Scope> {
        match self {
            Self::Change(scope, _) | Self::Kept(scope, _) => Some(scope),
            Self::Wake | Self::Look => None,
        }
    }

    /// Returns whether a change that leaves all but the outermost `kept` active states ends this entry.
    fn ends_with(self, kept: usize) -> bool {
        self.scope().is_none_or(|scope| scope.ends_with(kept))
    }
}

impl<T: Owner> Timers<T> {
    pub(crate) const fn new() -> Self {
        Self {
            wheel: Wheel::new(),
            kept: KeptTimers { list: Vec::new(), free: Vec::new() },
            notes: FirstNotes { list: Vec::new(), count: 0 },
            clock: Standstill::new(),
            due: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.wheel.is_empty() && self.notes.count == 0
    }

    /// Notes the time at the beginning of a tick, and logs a message if the clock stands still.
    pub(crate) fn note_clock(&mut self, now: f64) {
        if self.clock.stands(now) {
            log::debug!(target: "demeanor", "owners of a batch wait for a time, but their clock stands still at {now} s");
        }
    }

    /// Advances to the time `now`, in seconds, and reports the owners for which something is due.
    pub(crate) fn advance(&mut self, now: f64, mut report: impl FnMut(Key)) {
        advance(&mut self.wheel, now, &mut self.due);
        for &index in &self.due {
            report(Key::new(index, self.wheel.version(index)));
        }
    }

    /// Returns whether the timers of an owner are stored beside its row. The owner must not be in an owned state.
    pub(crate) fn are_beside(&self, key: Key) -> bool {
        let first = self.wheel.of(key.index()).next();
        first.is_some_and(|(_, bits)| matches!(WheelEntry::of(bits), WheelEntry::Look))
    }

    /// Returns whether the wheel may store another timer of an owner.
    pub(crate) fn has_room(&self, key: Key) -> bool {
        let is_noted = self.notes.scope(key).is_some();
        self.wheel.of(key.index()).take(MOST_FEW).count() + usize::from(is_noted) < MOST_FEW
    }

    /// Returns when an owner's first timer is due or the owner wakes by itself, in seconds.
    pub(crate) fn next(&self, key: Key) -> Option<f64> {
        self.wheel.next_due(key.index())
    }

    /// Returns whether anything is due for an owner at a time.
    pub(crate) fn is_due(&self, key: Key, now: f64) -> bool {
        self.next(key).is_some_and(|next| is_due(next, now))
    }

    /// Returns how an owner's due waits end at the time `now`, if the owner only wakes or makes one change.
    #[inline]
    pub(crate) fn plain(&self, key: Key, now: f64) -> Option<Until> {
        let mut plain = Until::Awake;
        for (_, bits) in self.wheel.of(key.index()).filter(|(due, _)| is_due(*due, now)) {
            match WheelEntry::of(bits) {
                WheelEntry::Wake => {}
                WheelEntry::Change(_, number) if plain == Until::Awake => plain = Until::Change(number),
                _ => return None,
            }
        }
        Some(plain)
    }

    /// Removes the due timers of an owner, and ends its sleep. Returns whether the owner has timers left. Call it only for an
    /// owner for which `plain` has returned a value: the method does not remove the actions of kept timers.
    pub(crate) fn take_plain(&mut self, key: Key, now: f64) -> bool {
        self.wheel
            .remove_if(key.index(), |at, bits| is_due(at, now) || matches!(WheelEntry::of(bits), WheelEntry::Wake));
        self.has(key)
    }

    /// Adds a wait to an owner. A change in the next tick replaces an earlier request for a change in that tick.
    pub(crate) fn wait(&mut self, Waiter { key, at, until, scope, .. }: Waiter, discarded: &mut Discarded<T>) {
        match until {
            Until::Awake => self.set(key, at, WheelEntry::Wake),
            Until::Change(number) => {
                if scope == Scope::Current {
                    self.remove_if(key, &|entry| entry.scope() == Some(Scope::Current), discarded);
                }
                self.set(key, at, WheelEntry::Change(scope, number));
            }
            Until::Note(note) => {
                if self.replace_first(key, scope, note) {
                    return;
                }
                if let Some(place) = self.place_of(key, scope, note.key) {
                    self.kept.list[place as usize] = Some(Then::Note(note));
                } else if !self.notes.add(key, scope, note) {
                    let place = self.kept.add(Then::Note(note));
                    self.set(key, at, WheelEntry::Kept(scope, place));
                }
            }
            Until::Never => {}
        }
    }

    /// Returns the number that a state of an owner has stored under `key`, unless the number is in the wheel.
    #[inline]
    pub(crate) fn first_noted(&self, owner: Key, by: Scope, key: u32) -> Option<f64> {
        self.notes.of(owner, by, key).map(FirstNote::number)
    }

    /// Replaces the number that a state of an owner has stored under the same key. Returns `false` if the state has stored none,
    /// or if the wheel has it.
    pub(crate) fn replace_first(&self, owner: Key, by: Scope, note: Note) -> bool {
        let replaced = self.notes.of(owner, by, note.key);
        replaced.map(|first| first.number.store(note.number.to_bits(), Ordering::Relaxed)).is_some()
    }

    /// Returns the number that a state of an owner has stored under `key` in the wheel.
    pub(crate) fn noted(&self, owner: Key, by: Scope, key: u32) -> Option<f64> {
        let place = self.place_of(owner, by, key)?;
        self.kept.list[place as usize].as_ref()?.note().map(|note| note.number)
    }

    /// Returns the index in [`KeptTimers`] of the number that a state of an owner has stored under `key`.
    fn place_of(&self, owner: Key, by: Scope, key: u32) -> Option<u32> {
        let is_of = |place: u32| {
            let note = self.kept.list[place as usize].as_ref().and_then(Then::note);
            note.is_some_and(|note| note.key == key)
        };
        let mut places = self.wheel.of(owner.index()).filter_map(|(_, bits)| match WheelEntry::of(bits) {
            WheelEntry::Kept(scope, place) if scope == by => Some(place),
            _ => None,
        });
        places.find(|&place| is_of(place))
    }

    /// Copies the waits of an owner to `waiting`.
    pub(crate) fn load(&self, key: Key, states: &States<T>, waiting: &mut Waiting<T>) {
        if let Some((scope, note)) = self.notes.get(key) {
            waiting.timers.push(Timer { due: f64::INFINITY, scope, then: Then::Note(note) });
        }
        for &(due, bits) in &oldest_first(&self.wheel, key.index()) {
            let (scope, then) = match WheelEntry::of(bits) {
                WheelEntry::Change(scope, number) => (scope, Then::Change(states.get(number).state().clone())),
                WheelEntry::Kept(scope, place) => (scope, self.kept.get(place)),
                WheelEntry::Wake => {
                    waiting.sleep_until(due);
                    continue;
                }
                WheelEntry::Look => continue,
            };
            waiting.timers.push(Timer { due, scope, then });
        }
    }

    /// Returns whether all timers that the wheel stores for an owner belong to the machine, or to states at depths below
    /// `depth`.
    pub(crate) fn are_of(&self, key: Key, depth: usize) -> bool {
        if self.notes.scope(key).is_some_and(|scope| scope.ends_with(depth)) {
            return false;
        }
        let mut entries = self.wheel.of(key.index()).take(64).map(|(_, bits)| WheelEntry::of(bits));
        entries.all(|entry| matches!(entry.scope(), None | Some(Scope::Current)) || !entry.ends_with(depth))
    }

    /// Replaces the entries of an owner in the wheel with the timers and the sleep of `waiting`. Takes the timers out of
    /// `waiting`, unless there are many. Returns whether the owner waits for anything; an endless sleep does not count.
    pub(crate) fn file(
        &mut self,
        key: Key,
        waiting: &mut Waiting<T>,
        states: &mut States<T>,
        discarded: &mut Discarded<T>,
    ) -> bool {
        if waiting.timers.is_many() {
            self.look_at(key, waiting.next(), discarded);
            return true;
        }
        self.forget(key, discarded);
        let wakes_at = waiting.wakes_at().filter(|at| at.is_finite());
        waiting.wake();
        if waiting.timers.is_empty() && wakes_at.is_none() {
            return false;
        }
        for Timer { due, scope, then } in waiting.timers.drain() {
            if then.note().is_some_and(|note| self.notes.add(key, scope, note)) {
                continue;
            }
            let number = match &then {
                Then::Change(to) if to.as_singleton().is_some() => states.number_of(to),
                _ => None,
            };
            let entry = match number.filter(|&number| number < MOST_NUMBERS) {
                Some(number) => WheelEntry::Change(scope, number),
                None => WheelEntry::Kept(scope, self.kept.add(then)),
            };
            self.set(key, due, entry);
        }
        if let Some(at) = wakes_at {
            self.set(key, at, WheelEntry::Wake);
        }
        true
    }

    /// Sets the time at which to look at an owner whose seat stores its timers, in seconds; infinity stands for never. Returns
    /// `false` for infinity.
    pub(crate) fn file_look(&mut self, key: Key, next: f64, discarded: &mut Discarded<T>) -> bool {
        let is_ever = next < f64::INFINITY;
        if is_ever {
            self.look_at(key, next, discarded);
        } else {
            self.forget(key, discarded);
        }
        is_ever
    }

    /// Replaces the entries of an owner in the wheel with one entry: the time at which to look at the owner.
    fn look_at(&mut self, key: Key, at: f64, discarded: &mut Discarded<T>) {
        let is_noted =
            |(due, bits): (f64, _)| due.to_bits() == at.to_bits() && matches!(WheelEntry::of(bits), WheelEntry::Look);
        if !self.wheel.of(key.index()).next().is_some_and(is_noted) {
            self.forget(key, discarded);
            self.set(key, at, WheelEntry::Look);
        }
    }

    /// Removes the timers that end when an owner leaves all but the outermost `kept` of its active states. Returns whether any
    /// timers are left.
    pub(crate) fn leave(&mut self, key: Key, kept: usize, discarded: &mut Discarded<T>) -> bool {
        self.notes.remove_if(key, |scope| scope.ends_with(kept));
        self.remove_if(key, &|entry| entry.ends_with(kept), discarded);
        self.has(key)
    }

    /// Removes all entries of an owner.
    pub(crate) fn forget(&mut self, key: Key, discarded: &mut Discarded<T>) {
        if !self.is_empty() {
            self.notes.remove_if(key, |_| true);
            self.remove_if(key, &|_| true, discarded);
        }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.wheel.shrink_to_fit();
        self.kept.list.shrink_to_fit();
        self.kept.free.shrink_to_fit();
        self.notes.shrink_to_fit();
        self.due.shrink_to_fit();
    }

    fn set(&mut self, key: Key, due: f64, entry: WheelEntry) {
        self.wheel.set((key.index(), key.version()), due, entry.bits());
    }

    /// Returns whether an owner has timers or stored numbers, or wakes by itself.
    fn has(&self, key: Key) -> bool {
        self.wheel.has(key.index()) || self.notes.scope(key).is_some()
    }

    fn remove_if(&mut self, key: Key, is_removed: &dyn Fn(WheelEntry) -> bool, discarded: &mut Discarded<T>) {
        let index = key.index();
        let Self { wheel, kept, .. } = self;
        if !wheel.has(index) {
            return;
        }
        wheel.remove_if(index, |_, bits| {
            let entry = WheelEntry::of(bits);
            let is_removed = is_removed(entry);
            if let (true, WheelEntry::Kept(_, place)) = (is_removed, entry) {
                kept.remove(place, discarded);
            }
            is_removed
        });
    }
}

impl FirstNote {
    #[inline]
    fn number(&self) -> f64 {
        f64::from_bits(self.number.load(Ordering::Relaxed))
    }
}

impl Clone for FirstNote {
    fn clone(&self) -> Self {
        Self { number: AtomicU64::new(self.number().to_bits()), ..*self }
    }
}

impl FirstNotes {
    /// Returns an owner's note, if a state with the scope `by` has made it under `key`.
    #[inline]
    fn of(&self, owner: Key, by: Scope, key: u32) -> Option<&FirstNote> {
        self.list.get(owner.index() as usize).filter(|first| first.scope == Some(by) && first.key == key)
    }

    /// Returns the scope of an owner's note.
    #[inline]
    fn scope(&self, key: Key) -> Option<Scope> {
        self.list.get(key.index() as usize)?.scope
    }

    fn get(&self, key: Key) -> Option<(Scope, Note)> {
        let first = self.list.get(key.index() as usize)?;
        Some((first.scope?, Note { key: first.key, number: first.number() }))
    }

    /// Adds a note, if the owner has none here. Returns whether it was added.
    fn add(&mut self, key: Key, by: Scope, note: Note) -> bool {
        let is_free = self.scope(key).is_none();
        if is_free {
            let index = key.index() as usize;
            self.list.resize_with(self.list.len().max(index + 1), FirstNote::default);
            let number = AtomicU64::new(note.number.to_bits());
            self.list[index] = FirstNote { number, key: note.key, scope: Some(by) };
            self.count += 1;
        }
        is_free
    }

    fn remove_if(&mut self, key: Key, is_removed: impl Fn(Scope) -> bool) {
        if self.scope(key).is_some_and(is_removed) {
            self.list[key.index() as usize].scope = None;
            self.count -= 1;
        }
    }

    fn shrink_to_fit(&mut self) {
        let used = self.list.iter().rposition(|first| first.scope.is_some()).map_or(0, |last| last + 1);
        self.list.truncate(used);
        self.list.shrink_to_fit();
    }
}

impl<T: Owner> KeptTimers<T> {
    fn add(&mut self, then: Then<T>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.list[place as usize] = Some(then);
            return place;
        }
        let place = u32::try_from(self.list.len()).ok().filter(|&place| place < MOST_NUMBERS);
        self.list.push(Some(then));
        place.expect("a batch has fewer than 2^24 timers for messages and for states that are no singletons")
    }

    fn get(&self, place: u32) -> Then<T> {
        self.list[place as usize].clone().expect("what a timer is for is kept as long as the timer runs")
    }

    fn remove(&mut self, place: u32, discarded: &mut Discarded<T>) {
        if let Some(then) = self.list[place as usize].take() {
            discarded.add(then);
        }
        self.free.push(place);
        if self.free.len() == self.list.len() {
            self.free.clear();
            self.list.clear();
        }
    }
}

impl<T: Owner> Timers<T> {
    /// Copies `source`, and reuses the existing memory.
    pub(crate) fn copy_from(&mut self, source: &Self) {
        self.wheel.clone_from(&source.wheel);
        self.kept.list.clone_from(&source.kept.list);
        self.kept.free.clone_from(&source.kept.free);
        self.notes.list.clone_from(&source.notes.list);
        self.notes.count = source.notes.count;
        self.clock = source.clock;
    }
}

/// Returns the timers of an owner, oldest first.
fn oldest_first(wheel: &Wheel, owner: u32) -> SmallVec<[(f64, u32); MOST_FEW]> {
    let mut timers: SmallVec<_> = wheel.of(owner).collect();
    timers.reverse();
    timers
}

/// Advances the wheel to the time `now`, in seconds, and lists the indices of the owners for which something is due.
fn advance(wheel: &mut Wheel, now: f64, due: &mut Vec<u32>) {
    due.clear();
    wheel.advance(now, due);
    // The order of the wheel depends on all timers that have ever been set. Sorting makes a loaded batch continue exactly as the
    // saved batch would.
    due.sort_unstable();
    due.dedup();
}

#[cfg(test)]
mod tests {
    use super::{MOST_NUMBERS, Timers, WheelEntry};
    use crate::batch::known::key::Key;
    use crate::batch::known::panics::Discarded;
    use crate::batch::wait::waiter::{Until, Waiter};
    use crate::machine::waiting::{Note, Scope};
    use crate::owner::Owner;

    struct Nobody;

    impl Owner for Nobody {
        type Context<'a> = ();
        type Message = ();
    }

    #[test]
    fn a_number_that_is_stored_again_replaces_the_one_in_the_wheel_though_a_place_beside_it_is_free() {
        let (mut timers, mut discarded) = (Timers::<Nobody>::new(), Discarded::new());
        let owner = Key::new(3, 1);
        for (depth, key, number, left) in [(1, 7, 1.0, 9), (0, 8, 2.0, 1), (0, 8, 3.0, 9)] {
            let (until, scope) = (Until::Note(Note { key, number }), Scope::state(depth));
            timers.wait(Waiter { key: owner, at: f64::INFINITY, until, scope, revision: 0 }, &mut discarded);
            assert!(timers.leave(owner, left, &mut discarded));
        }
        assert_eq!(timers.first_noted(owner, Scope::state(1), 7), None);
        assert_eq!(timers.first_noted(owner, Scope::state(0), 8), None);
        assert_eq!(timers.noted(owner, Scope::state(0), 8), Some(3.0));
        assert!(!timers.leave(owner, 0, &mut discarded));
        assert!(timers.is_empty());
    }

    #[test]
    fn a_node_of_the_wheel_means_what_was_set() {
        let scopes = [Scope::State(0), Scope::State(64), Scope::Machine, Scope::Current, Scope::Left];
        let numbers = [0, MOST_NUMBERS - 1];
        for (scope, number) in scopes.into_iter().flat_map(|scope| numbers.map(|number| (scope, number))) {
            let change = WheelEntry::of(WheelEntry::Change(scope, number).bits());
            assert!(matches!(change, WheelEntry::Change(of, to) if (of, to) == (scope, number)), "{scope:?}");
            let kept = WheelEntry::of(WheelEntry::Kept(scope, number).bits());
            assert!(matches!(kept, WheelEntry::Kept(of, place) if (of, place) == (scope, number)), "{scope:?}");
        }
        assert!(matches!(WheelEntry::of(WheelEntry::Wake.bits()), WheelEntry::Wake));
        assert!(matches!(WheelEntry::of(WheelEntry::Look.bits()), WheelEntry::Look));
    }
}
