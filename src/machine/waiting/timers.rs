//! The running timers of one machine. If there are many, an index finds the timers that are due or that end with a state, so
//! that the other timers need not be visited.

use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use smallvec::SmallVec;

use super::{Note, Scope, Then, Timer};
use crate::owner::Owner;
use crate::span::{DueTime, due_again, rounded};
use crate::state::StateRef;

/// Timers that have been taken out of a list.
pub(crate) type Timers<T> = SmallVec<[Timer<T>; 1]>;

/// Up to this many timers, a search through the list is faster than an index.
pub(crate) const MOST_FEW: usize = 16;

/// The running timers of one machine, in the order in which they were set.
pub(crate) struct TimerList<T: Owner> {
    /// The timers. There may be gaps if there is an index.
    list: Vec<Timer<T>>,
    /// Present if there are more than [`MOST_FEW`] timers.
    index: Option<Box<Index>>,
    /// A time before which no timer is due, in seconds. A tick before this time does not look at the timers.
    none_before: f64,
}

impl<T: Owner> TimerList<T> {
    pub(crate) const fn new() -> Self {
        Self { list: Vec::new(), index: None, none_before: f64::INFINITY }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.index.as_ref().map_or(self.list.len(), |index| index.running)
    }

    /// Returns whether there are more than [`MOST_FEW`] timers.
    #[cfg(feature = "std")]
    pub(crate) fn is_many(&self) -> bool {
        self.index.is_some()
    }

    /// Returns the timers in the order in which they were set.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Timer<T>> {
        self.list.iter().filter(|timer| !timer.is_gap())
    }

    /// Returns the timers with their positions, in the order in which they were set.
    pub(crate) fn enumerate(&self) -> impl Iterator<Item = (usize, &Timer<T>)> {
        self.list.iter().enumerate().filter(|(_, timer)| !timer.is_gap())
    }

    /// Returns the timers in the order in which they were set. There may be gaps.
    pub(crate) fn entries(&self) -> &[Timer<T>] {
        &self.list
    }

    /// Adds a timer at the end.
    pub(crate) fn push(&mut self, timer: Timer<T>) {
        self.none_before = self.none_before.min(timer.due);
        self.list.push(timer);
        if let (Some(index), Some(timer)) = (&mut self.index, self.list.last()) {
            index.add(self.list.len() - 1, timer.due, timer.scope, timer.note_key());
        } else if self.list.len() > MOST_FEW {
            self.index();
        }
    }

    /// Takes out the timers that end with a change that keeps only the outermost `kept` active states, in the order in which
    /// they were set. With `usize::MAX`, only the change for the next tick ends.
    pub(crate) fn end(&mut self, kept: usize) -> Timers<T> {
        if self.list.is_empty() {
            return Timers::new();
        }
        match &mut self.index {
            None => self.take_if(&|timer| timer.scope.ends_with(kept), &Timer::take),
            Some(index) => {
                let ended = index.end(kept);
                self.take(ended, &Timer::take)
            }
        }
    }

    /// Takes out the timers at these positions, in this order. It visits the other timers as well.
    pub(crate) fn cancel(&mut self, places: &[usize]) -> Timers<T> {
        let mut canceled = Timers::new();
        for &nth in places {
            canceled.push(self.list[nth].take());
        }
        self.compact();
        canceled
    }

    /// Takes out the due timers, earliest first. Timers that are due at the same time keep the order in which they were set. A
    /// repeating timer stays in its place, is due again later, and returns the message that it sends now.
    pub(crate) fn take_due(&mut self, now: f64) -> Timers<T> {
        if let Some(index) = &mut self.index {
            let due = index.take_due(now);
            return self.take(due, &|timer| timer.come_due(now));
        }
        if self.are_after(now) {
            return Timers::new();
        }
        let mut due = self.take_if(&|timer| timer.due <= now, &|timer| timer.come_due(now));
        if due.len() < 2 {
            return due;
        }
        let mut order = Vec::with_capacity(due.len());
        for (nth, timer) in due.iter().enumerate() {
            order.push(DueTime { at: timer.due, nth });
        }
        let mut sorted = Timers::with_capacity(due.len());
        for nth in earliest_first(order) {
            sorted.push(due[nth].take());
        }
        sorted
    }

    /// Returns whether no timer is due.
    #[inline]
    pub(crate) fn are_after(&mut self, now: f64) -> bool {
        now < self.none_before || self.is_next_after(now)
    }

    fn is_next_after(&mut self, now: f64) -> bool {
        self.none_before = self.next();
        now < self.none_before
    }

    /// Returns when the first timer is due, in seconds; infinity if none will be due.
    pub(crate) fn next(&self) -> f64 {
        match &self.index {
            None => self.list.iter().fold(f64::INFINITY, |next, timer| next.min(timer.due)),
            Some(index) => index.next(),
        }
    }

    /// Returns the number in a state's note.
    pub(crate) fn noted(&self, by: Scope, key: u32) -> Option<f64> {
        let nth = self.position(by, key)?;
        self.list[nth].then.note().map(|note| note.number)
    }

    /// Replaces a state's note with the same key. Returns whether there was one.
    pub(crate) fn note(&mut self, by: Scope, note: Note) -> bool {
        let nth = self.position(by, note.key);
        if let Some(nth) = nth {
            self.list[nth].then = Then::Note(note);
        }
        nth.is_some()
    }

    /// Takes out the timers behind the first `count` ones.
    pub(crate) fn split_off(&mut self, count: usize) -> Timers<T> {
        let mut behind = Timers::new();
        if self.len() > count {
            if self.index.is_some() {
                self.compact();
            }
            for timer in &mut self.list[count..] {
                behind.push(timer.take());
            }
            self.list.truncate(count);
            if self.index.is_some() {
                self.compact();
            }
        }
        behind
    }

    /// Takes out all timers, and keeps the memory of the list.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Timer<T>> {
        self.index = None;
        self.list.drain(..).filter(|timer| !timer.is_gap())
    }

    fn position(&self, by: Scope, key: u32) -> Option<usize> {
        match &self.index {
            None => self.list.iter().position(|timer| timer.is_note(by, key)),
            Some(index) => index.note(by.rank(), key).ok().map(|at| index.notes[at].1),
        }
    }

    /// Calls `take` for each timer of a list without an index for which `is_taken` returns `true`, and removes the timers in
    /// whose place `take` leaves a gap.
    fn take_if(&mut self, is_taken: &dyn Fn(&Timer<T>) -> bool, take: &dyn Fn(&mut Timer<T>) -> Timer<T>) -> Timers<T> {
        let mut taken = Timers::new();
        self.list.retain_mut(|timer| {
            if !is_taken(timer) {
                return true;
            }
            taken.push(take(timer));
            !timer.is_gap()
        });
        taken
    }

    /// Calls `take` for the timers at these positions, which are no longer in the index. If `take` leaves no gap in a timer's
    /// place, the timer there is added to the index again. Gaps stay in the list until it is compacted.
    fn take(&mut self, places: Vec<usize>, take: &dyn Fn(&mut Timer<T>) -> Timer<T>) -> Timers<T> {
        let mut taken = Timers::with_capacity(places.len());
        for nth in places {
            let timer = &mut self.list[nth];
            taken.push(take(timer));
            if let Some(index) = self.index.as_mut().filter(|_| !timer.is_gap()) {
                index.add(nth, timer.due, timer.scope, None);
            }
        }
        let running = self.len();
        // The list is compacted only when more than half of it is gaps, or when few timers are left. So the cost for each timer
        // that is taken out is constant on average.
        if running <= MOST_FEW || running < self.list.len() / 2 {
            self.compact();
        }
        taken
    }

    /// Removes the gaps from the list.
    fn compact(&mut self) {
        self.list.retain(|timer| !timer.is_gap());
        self.list.shrink_to(2 * self.list.len());
        self.index = None;
        if self.list.len() > MOST_FEW {
            self.index();
        }
    }

    /// Builds the index of a list without gaps.
    fn index(&mut self) {
        let mut index = Index::default();
        for (nth, timer) in self.list.iter().enumerate() {
            index.add(nth, timer.due, timer.scope, timer.note_key());
        }
        self.index = Some(Box::new(index));
    }
}

impl<T: Owner> Timer<T> {
    /// Takes the timer out of a list, and leaves a gap.
    pub(crate) fn take(&mut self) -> Self {
        Self { then: core::mem::replace(&mut self.then, Then::Change(StateRef::NONE)), ..*self }
    }

    /// Takes a timer that is due at the time `now` out of a list, and leaves a gap. A repeating timer stays, is due again later,
    /// and returns the message that it sends now (rule 39).
    fn come_due(&mut self, now: f64) -> Self {
        let Then::Repeat(repeat, span) = &mut self.then else { return self.take() };
        let sent = Self { then: Then::Send(repeat.message.clone()), ..*self };
        (self.due, *span) = due_again((self.due, *span), repeat.seconds, now);
        sent
    }

    pub(crate) fn is_gap(&self) -> bool {
        matches!(&self.then, Then::Change(to) if to.is_none())
    }

    /// Returns whether the timer is the note that a state of this scope has stored under this key.
    pub(crate) fn is_note(&self, by: Scope, key: u32) -> bool {
        self.scope == by && self.note_key() == Some(key)
    }

    /// Returns the key of the note, if the timer is a note.
    pub(crate) fn note_key(&self) -> Option<u32> {
        self.then.note().map(|note| note.key)
    }
}

impl<T: Owner> Clone for TimerList<T> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), index: self.index.clone(), none_before: self.none_before }
    }

    fn clone_from(&mut self, source: &Self) {
        self.list.clone_from(&source.list);
        self.index.clone_from(&source.index);
        self.none_before = source.none_before;
    }
}

/// Returns the positions of due times, earliest first. Times that differ only by rounding errors are in ascending order of
/// position. The function sorts due times rather than timers, so that it is compiled once for all types of owners.
fn earliest_first(mut order: Vec<DueTime<usize>>) -> Vec<usize> {
    order.sort_unstable_by_key(|due| DueTime { at: rounded(due.at), ..*due });
    order.into_iter().map(|due| due.nth).collect()
}

/// The positions of a list's timers, by due time, scope and note. The index does not depend on the type of the owner, so it is
/// compiled once.
#[derive(Default)]
struct Index {
    /// The timers other than notes, by scope, in ascending order of rank: scopes that end first come last. No heap is empty.
    scopes: Vec<OfScope>,
    /// The rank of each note's scope and its key, in ascending order, with the note's position.
    notes: Vec<((u16, u32), usize)>,
    /// How many timers are running.
    running: usize,
}

/// The timers of one scope.
struct OfScope {
    rank: u16,
    /// The due times and positions of the timers, with the earliest on top.
    dues: BinaryHeap<Reverse<DueTime<usize>>>,
}

impl Index {
    /// Adds the timer at position `nth`. `note` is the key of the note if the timer is one: a note is never due.
    fn add(&mut self, nth: usize, due: f64, scope: Scope, note: Option<u32>) {
        let rank = scope.rank();
        self.running += 1;
        if let Some(key) = note {
            if let Err(at) = self.note(rank, key) {
                return self.notes.insert(at, ((rank, key), nth));
            }
        }
        let at = self.scopes.partition_point(|scope| scope.rank < rank);
        if self.scopes.get(at).is_none_or(|scope| scope.rank != rank) {
            self.scopes.insert(at, OfScope { rank, dues: BinaryHeap::new() });
        }
        self.scopes[at].dues.push(Reverse(DueTime { at: due, nth }));
    }

    /// Returns where a note is in `notes`; as an error, where it would be.
    fn note(&self, rank: u16, key: u32) -> Result<usize, usize> {
        self.notes.binary_search_by_key(&(rank, key), |(note, _)| *note)
    }

    /// Removes the timers that end with a change that keeps only the outermost `kept` active states. Returns their positions, in
    /// ascending order.
    fn end(&mut self, kept: usize) -> Vec<usize> {
        let mut ended = Vec::new();
        let rank = if kept == usize::MAX { Scope::Current } else { Scope::state(kept) }.rank();
        let kept = self.notes.partition_point(|((by, _), _)| *by < rank);
        ended.extend(self.notes.drain(kept..).map(|(_, nth)| nth));
        while self.scopes.last().is_some_and(|scope| scope.rank >= rank) {
            let dues = self.scopes.pop().into_iter().flat_map(|scope| scope.dues);
            ended.extend(dues.map(|Reverse(due)| due.nth));
        }
        ended.sort_unstable();
        self.running -= ended.len();
        ended
    }

    /// Removes the timers that are due. Returns their positions, earliest first.
    fn take_due(&mut self, now: f64) -> Vec<usize> {
        let mut order = Vec::new();
        for scope in &mut self.scopes {
            while scope.dues.peek().is_some_and(|Reverse(first)| first.at <= now) {
                order.extend(scope.dues.pop().map(|Reverse(due)| due));
            }
        }
        if order.is_empty() {
            return Vec::new();
        }
        self.scopes.retain(|scope| !scope.dues.is_empty());
        self.running -= order.len();
        earliest_first(order)
    }

    fn next(&self) -> f64 {
        let first = self.scopes.iter().filter_map(|scope| scope.dues.peek());
        first.fold(f64::INFINITY, |next, Reverse(due)| next.min(due.at))
    }
}

impl Clone for Index {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Reuses the memory of the heaps.
    fn clone_from(&mut self, source: &Self) {
        self.scopes.clone_from(&source.scopes);
        self.notes.clone_from(&source.notes);
        self.running = source.running;
    }
}

impl Clone for OfScope {
    fn clone(&self) -> Self {
        Self { rank: self.rank, dues: self.dues.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.rank = source.rank;
        self.dues.clone_from(&source.dues);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MOST_FEW, TimerList};
    use crate::machine::waiting::{Scope, Then, Timer};
    use crate::owner::Owner;
    use crate::span::{due_again, rounded};
    use crate::state::State;
    use alloc::sync::Arc;

    struct Nobody;

    impl Owner for Nobody {
        type Context<'a> = ();
        type Message = ();
    }

    struct Idle;

    impl State<Nobody> for Idle {}

    #[derive(Clone, Debug)]
    enum Step {
        Push(Vec<(u8, u8)>),
        /// A repeating timer, with its scope and its period in seconds.
        Repeat(u8, u8),
        End(usize),
        TakeDue(u8),
        /// Cancels the timers whose due times can be divided by this number.
        Cancel(u8),
        Note(u8, u32, u8),
        Clone,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let scopes = || 0..6_u8;
        let step = prop_oneof![
            6 => prop::collection::vec((scopes(), 0..60_u8), 0..12).prop_map(Step::Push),
            3 => (scopes(), 0..60_u8).prop_map(|(scope, seconds)| Step::Repeat(scope, seconds)),
            2 => (0..6_usize).prop_map(Step::End),
            1 => (2..9_u8).prop_map(Step::Cancel),
            3 => (0..60_u8).prop_map(Step::TakeDue),
            3 => (scopes(), 0..4_u32, 0..9_u8).prop_map(|(scope, key, number)| Step::Note(scope, key, number)),
            1 => Just(Step::Clone),
        ];
        prop::collection::vec(step, 0..60)
    }

    /// Returns the scope with a number. Number 5 is the machine's scope.
    fn scope(number: u8) -> Scope {
        if number == 5 { Scope::Machine } else { Scope::State(number) }
    }

    /// Returns the data of a timer that a test can compare.
    fn shown(timer: &Timer<Nobody>) -> (f64, Scope, String) {
        if let Some(note) = timer.then.note() {
            return (timer.due, timer.scope, format!("{note:?}"));
        }
        (timer.due, timer.scope, timer.then.to_string())
    }

    fn take(plain: &mut Vec<Timer<Nobody>>, is_taken: impl Fn(&Timer<Nobody>) -> bool) -> Vec<(f64, Scope, String)> {
        let taken = plain.iter().filter(|timer| is_taken(timer)).map(shown).collect();
        plain.retain(|timer| !is_taken(timer));
        taken
    }

    proptest! {
        /// Compares the list with a plain list that visits each timer for every operation.
        #[test]
        fn a_list_does_with_many_timers_what_it_does_with_few(steps in steps()) {
            let (mut list, mut plain) = (TimerList::<Nobody>::new(), Vec::<Timer<Nobody>>::new());
            for step in steps {
                match step {
                    Step::Push(timers) => for (of, due) in timers {
                        let timer = Timer { due: due.into(), scope: scope(of), then: Then::Change((&Idle).into()) };
                        list.push(timer.clone());
                        plain.push(timer);
                    },
                    Step::Repeat(of, seconds) => {
                        let then = Then::repeating(seconds.into(), seconds.into(), Arc::new(()));
                        let timer = Timer { due: seconds.into(), scope: scope(of), then };
                        list.push(timer.clone());
                        plain.push(timer);
                    }
                    Step::Cancel(divisor) => {
                        let is_one = |timer: &Timer<Nobody>| timer.due % f64::from(divisor) == 0.0;
                        let places: Vec<_> =
                            list.enumerate().filter(|(_, timer)| is_one(timer)).map(|(nth, _)| nth).collect();
                        let canceled: Vec<_> = list.cancel(&places).iter().map(shown).collect();
                        prop_assert_eq!(canceled, take(&mut plain, is_one));
                    }
                    Step::End(kept) => {
                        let ended: Vec<_> = list.end(kept).iter().map(shown).collect();
                        prop_assert_eq!(ended, take(&mut plain, |timer| timer.scope.ends_with(kept)));
                    }
                    Step::TakeDue(now) => {
                        let due: Vec<_> = list.take_due(now.into()).iter().map(shown).collect();
                        let now = f64::from(now);
                        let is_due = |timer: &Timer<Nobody>| timer.due <= now;
                        let mut expected: Vec<_> = plain.iter().filter(|timer| is_due(timer)).map(|timer| {
                            let (due, scope, then) = shown(timer);
                            (due, scope, then.split(" every").next().unwrap_or_default().to_owned())
                        }).collect();
                        plain.retain(|timer| !is_due(timer) || matches!(timer.then, Then::Repeat(..)));
                        for timer in plain.iter_mut().filter(|timer| is_due(timer)) {
                            if let Then::Repeat(repeat, span) = &mut timer.then {
                                (timer.due, *span) = due_again((timer.due, *span), repeat.seconds, now);
                            }
                        }
                        expected.sort_by(|one, other| rounded(one.0).total_cmp(&rounded(other.0)));
                        prop_assert_eq!(due, expected);
                    }
                    Step::Note(by, key, number) => {
                        let note = super::Note { key, number: number.into() };
                        let kept = plain.iter_mut().find(|timer| {
                            timer.scope == scope(by) && timer.then.note().is_some_and(|kept| kept.key == note.key)
                        });
                        prop_assert_eq!(list.note(scope(by), note), kept.is_some());
                        if let Some(kept) = kept {
                            kept.then = Then::Note(note);
                        } else {
                            let timer = Timer { due: f64::INFINITY, scope: scope(by), then: Then::Note(note) };
                            list.push(timer.clone());
                            plain.push(timer);
                        }
                    }
                    Step::Clone => {
                        let mut clone = TimerList::new();
                        clone.clone_from(&list);
                        list = clone.clone();
                    }
                }
                prop_assert_eq!(list.iter().map(shown).collect::<Vec<_>>(), plain.iter().map(shown).collect::<Vec<_>>());
                prop_assert_eq!((list.len(), list.is_empty()), (plain.len(), plain.is_empty()));
                prop_assert_eq!(list.index.is_some(), plain.len() > MOST_FEW);
                let next = plain.iter().fold(f64::INFINITY, |next, timer| next.min(timer.due));
                prop_assert!(list.next().total_cmp(&next).is_eq());
                for (number, key) in (0..6).flat_map(|number| (0..4).map(move |key| (number, key))) {
                    let by = scope(number);
                    let mut notes = plain.iter().filter(|timer| timer.scope == by).filter_map(|timer| timer.then.note());
                    let number = notes.find(|note| note.key == key).map(|note| note.number);
                    prop_assert_eq!(list.noted(by, key), number);
                }
            }
        }
    }

    #[test]
    fn a_list_that_has_had_many_timers_gives_their_room_back() {
        let mut list = TimerList::<Nobody>::new();
        for due in 0..100_000 {
            list.push(Timer { due: due.into(), scope: Scope::Machine, then: Then::Change((&Idle).into()) });
        }
        for due in 0..99_999 {
            assert_eq!(list.take_due(due.into()).len(), 1);
        }
        assert!(list.index.is_none() && list.list.capacity() <= 2 * MOST_FEW, "{}", list.list.capacity());
    }
}
