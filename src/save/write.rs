//! Turns a machine's seat into plain data.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::any::Any;

use super::book::StateBook;
use super::data::{SavedMore, SavedNote, SavedPath, SavedSeat, SavedState, SavedStates, SavedThen, SavedTimer};
use super::error::SaveError;
use super::seconds::Seconds;
use crate::machine::regions::Regions;
use crate::machine::seat::{Rare, Seat, Suspended};
use crate::machine::waiting::{Note, Scope, Then, Timer};
use crate::owner::Owner;
use crate::state::{Identity, StateRef};

/// Writes seats as plain data, in which a number stands for each state. [`finish`](Self::finish) returns the states, or an error.
/// The error lists all states that the book does not know; if it knows all states, `finish` returns the first other error.
pub(crate) struct Writer<'b, T: Owner> {
    pub(crate) book: &'b StateBook<T>,
    states: SavedStates,
    names: BTreeMap<String, u32>,
    numbers: BTreeMap<Identity, u32>,
    unknown: BTreeSet<String>,
    failed: Option<SaveError>,
}

impl<'b, T: Owner> Writer<'b, T> {
    pub(crate) fn new(book: &'b StateBook<T>) -> Result<Self, SaveError> {
        book.check()?;
        Ok(Self {
            book,
            states: Vec::new(),
            names: BTreeMap::new(),
            numbers: BTreeMap::new(),
            unknown: BTreeSet::new(),
            failed: None,
        })
    }

    /// Returns the states to which the numbers refer. Fails if a state or a message could not be written.
    pub(crate) fn finish(self) -> Result<SavedStates, SaveError> {
        if !self.unknown.is_empty() {
            return Err(SaveError::UnknownStates { names: self.unknown.into_iter().collect() });
        }
        self.failed.map_or(Ok(self.states), Err)
    }

    /// Returns the number of a state; 0 for no state.
    pub(crate) fn state(&mut self, state: &StateRef<T>) -> u32 {
        if state.is_none() {
            return 0;
        }
        let identity = Identity::of(&**state);
        if let Some(&number) = self.numbers.get(&identity) {
            return number;
        }
        let number = self.new_state(state);
        self.numbers.insert(identity, number);
        number
    }

    fn new_state(&mut self, state: &StateRef<T>) -> u32 {
        if let Some(name) = self.book.name_of(state) {
            return self.name(&name);
        }
        let Some((name, owned)) = self.book.owned_type_of(state) else {
            self.unknown.insert(state.name().into_owned());
            return 0;
        };
        match (owned.write)(&**state) {
            Ok(data) => {
                let name = self.name(name);
                self.add(SavedState::Owned { name, data })
            }
            Err(why) => {
                self.failed.get_or_insert(SaveError::OwnedState { name: name.to_owned(), why });
                0
            }
        }
    }

    /// Returns whether the book knows a state.
    #[cfg(feature = "std")]
    pub(crate) fn knows(&self, state: &StateRef<T>) -> bool {
        self.book.name_of(state).is_some() || self.book.owned_type_of(state).is_some()
    }

    /// Returns the number of a name. Adds the name if it is new.
    pub(crate) fn name(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = self.add(SavedState::Name(name.to_owned()));
        self.names.insert(name.to_owned(), number);
        number
    }

    fn add(&mut self, state: SavedState) -> u32 {
        self.states.push(state);
        u32::try_from(self.states.len()).expect("fewer than 2^32 states are in memory")
    }

    pub(crate) fn seat(&mut self, seat: &Seat<T>) -> SavedSeat {
        let rare = seat.rare.as_deref();
        let entered = |at: f64| (!at.is_nan()).then_some(Seconds(at));
        let ancestors_entered_at = rare.map_or(&[][..], |rare| &rare.ancestors_entered_at);
        let ancestors = seat.ancestors().iter().enumerate();
        SavedSeat {
            current: self.state(&seat.current),
            previous: self.state(&seat.previous),
            entered_at: entered(seat.entered_at),
            ancestors: ancestors
                .map(|(nth, state)| (self.ancestor(state), ancestors_entered_at.get(nth).and_then(|at| entered(*at))))
                .collect(),
            is_asleep: seat.is_asleep(),
            is_outdated: seat.is_outdated(),
            more: rare.map_or_else(SavedMore::default, |rare| self.more(rare)),
        }
    }

    /// Returns the number of an ancestor; 0 if the book does not know the ancestor. When the value is loaded, the ancestor is
    /// found through its descendant.
    pub(crate) fn ancestor(&mut self, state: &StateRef<T>) -> u32 {
        if self.book.name_of(state).is_some() || self.book.owned_type_of(state).is_some() {
            self.state(state)
        } else {
            0
        }
    }

    pub(crate) fn more(&mut self, rare: &Rare<T>) -> SavedMore {
        let book = self.book;
        // Loading forgets an entry with a state that is gone. If the book has no replacement for this state, loading even fails.
        let kept = rare.history.iter().filter(|(of, last)| !book.is_gone(of) && !book.is_gone(last));
        // Of several states with one name, that of the current file comes first, because the first one counts on loading.
        let is_replaced = |(of, last): &&(_, _)| book.is_replaced(of) || book.is_replaced(last);
        let (replaced, current): (Vec<_>, Vec<_>) = kept.partition(is_replaced);
        let mut history = Vec::new();
        for (of, last) in current.into_iter().chain(replaced) {
            let entry = (self.state(of), self.state(last));
            if !history.contains(&entry) {
                history.push(entry);
            }
        }
        SavedMore {
            stack: rare.stack.iter().map(|suspended| self.path(suspended)).collect(),
            history,
            timers: self.timers(rare.waiting.timers.iter(), rare.regions.as_deref()),
            wakes_at: rare.waiting.wakes_at().filter(|at| *at < f64::INFINITY).map(Seconds),
        }
    }

    fn path(&mut self, suspended: &Suspended<T>) -> SavedPath {
        let Suspended { path, times, timers, regions } = suspended;
        let (current, around) = path.split_last().unwrap_or((&StateRef::NONE, &[]));
        let mut states: Vec<_> = around.iter().map(|state| self.ancestor(state)).collect();
        states.push(self.state(current));
        let times = times.iter().copied().chain([0.0]).map(Seconds);
        let states = states.into_iter().zip(times).collect();
        SavedPath { states, timers: self.timers(timers.iter(), regions.as_deref()) }
    }

    /// Saves the timers of a path, and the regions of its innermost state as one more timer, which is never due.
    fn timers<'t>(
        &mut self,
        timers: impl Iterator<Item = &'t Timer<T>>,
        regions: Option<&Regions<T>>,
    ) -> Vec<SavedTimer> {
        let mut saved: Vec<_> = timers.map(|timer| self.timer(timer)).collect();
        if let Some(regions) = regions {
            let then = SavedThen::Regions(regions.seats().map(|seat| self.region(seat)).collect());
            saved.push(SavedTimer { due: Seconds(0.0), depth: None, then });
        }
        saved
    }

    fn region(&mut self, seat: &Seat<T>) -> u32 {
        let saved = self.seat(seat);
        self.add(SavedState::Region(Box::new(saved)))
    }

    fn timer(&mut self, Timer { due, scope, then }: &Timer<T>) -> SavedTimer {
        let depth = match scope {
            Scope::State(depth) => Some(*depth),
            Scope::Machine | Scope::Current | Scope::Left => None,
        };
        let then = match then {
            Then::Change(to) if *scope == Scope::Current => SavedThen::Next(self.state(to)),
            Then::Change(to) => SavedThen::Change(self.state(to)),
            Then::Send(message) => SavedThen::Send(self.message(&**message)),
            Then::Repeat(repeat, span) => {
                let message = self.message(&*repeat.message);
                SavedThen::Repeat { seconds: Seconds(repeat.seconds), span: Seconds(*span), message }
            }
            Then::Enter => SavedThen::Enter,
            Then::Pop => SavedThen::Pop,
            Then::Note(Note { key, number }) => {
                SavedThen::Note { of: SavedNote::of_key(*key), number: Seconds(*number) }
            }
        };
        SavedTimer { due: Seconds(*due), depth, then }
    }

    fn message(&mut self, message: &dyn Any) -> String {
        let written = match &self.book.messages {
            Some(messages) => (messages.write)(message).map_err(|why| SaveError::Message { why }),
            None => Err(SaveError::NoMessages),
        };
        written.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            String::new()
        })
    }
}
