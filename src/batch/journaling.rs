//! A batch's journal, and how what a chunk's owners have done gets there (rule 29).

use std::iter;

use super::Batch;
use super::key::Key;
use super::notes::{From, Noted, Notes, Run};
use super::panics::{Discarded, FirstPanic};
use super::states::States;
use crate::journal::{Journal, Symbol, Way};
use crate::owner::Owner;
use crate::state::StateRef;

impl<T: Owner> Batch<T> {
    /// Sets the journal to which all changes from now on are written, made or refused. With `None`, no journal is written.
    /// Returns the journal that was written until now. A clone of the batch has no journal.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Journal, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {
    ///     fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) { fsm.change_state(&Chase); }
    /// }
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Idle);
    /// batch.set_journal(Some(Journal::new(1000)));
    /// batch.update(&mut ());
    ///
    /// let journal = batch.set_journal(None).unwrap();
    /// assert_eq!(journal.entries().next().unwrap().to, Some("Chase"));
    /// assert!(batch.journal().is_none());
    /// ```
    pub fn set_journal(&mut self, journal: Option<Journal>) -> Option<Journal> {
        let journaling = journal.map(|journal| Box::new(Journaling { journal, symbols: Vec::new() }));
        std::mem::replace(&mut self.store.journaling, journaling).map(|journaling| journaling.journal)
    }

    /// Returns the journal that is being written, if there is one.
    #[must_use]
    pub fn journal(&self) -> Option<&Journal> {
        self.store.journaling.as_ref().map(|journaling| &journaling.journal)
    }

    /// Returns the journal that is being written, for [clearing](Journal::clear) it, adding to it or replacing it.
    pub fn journal_mut(&mut self) -> Option<&mut Journal> {
        let journaling = self.store.journaling.as_mut()?;
        // It may be exchanged for another one, which calls the states something else.
        journaling.forget_numbers();
        Some(&mut journaling.journal)
    }
}

/// A batch's journal.
pub(super) struct Journaling {
    journal: Journal<Key>,
    /// What the journal calls the states of a batch, by their numbers; `None` until it is looked up.
    symbols: Vec<Option<Symbol>>,
}

impl Journaling {
    /// Forgets which states have which numbers.
    pub(super) fn forget_numbers(&mut self) {
        self.symbols.clear();
    }

    /// Takes up what has been noted.
    pub(super) fn take_up<T: Owner>(
        &mut self,
        notes: &mut Notes<T>,
        states: &States<T>,
        discarded: &mut Discarded<T>,
        panic: &mut FirstPanic,
    ) {
        let Notes { list, runs, .. } = notes;
        let mut start = 0;
        for Run { end, at, from, refused_by } in runs.drain(..) {
            let changes = &list[start..end];
            start = end;
            let refused_by = refused_by.map(|(guard, state)| {
                let symbol = self.symbol(&state, states, panic);
                discarded.add(state);
                (guard, symbol)
            });
            let moment = self.journal.moment(at);
            match from {
                From::Bucket(bucket) => {
                    let from = self.symbol_of(bucket, states, panic);
                    for group in changes.chunk_by(|one, other| one.to == other.to && one.cause == other.cause) {
                        let Some(&Noted { to, cause, .. }) = group.first() else { continue };
                        let way = Way::new((from, self.symbol_of(to, states, panic)), cause, refused_by);
                        self.journal.record(way, moment, group.iter().map(Noted::change));
                    }
                }
                From::One { from, to } => {
                    let symbols = (self.symbol(&from, states, panic), self.symbol(&to, states, panic));
                    for change in changes {
                        let way = Way::new(symbols, change.cause, refused_by);
                        self.journal.record(way, moment, [change.change()].into_iter());
                    }
                    discarded.extend([from, to]);
                }
            }
        }
        list.clear();
    }

    fn symbol<T: Owner>(&mut self, state: &StateRef<T>, states: &States<T>, panic: &mut FirstPanic) -> Symbol {
        match states.bucket_of(state).filter(|&number| !states.get(number).is_owned) {
            Some(number) => self.symbol_of(number, states, panic),
            None => self.symbol_by_name(state, panic),
        }
    }

    fn symbol_of<T: Owner>(&mut self, number: u32, states: &States<T>, panic: &mut FirstPanic) -> Symbol {
        let place = number as usize;
        if let Some(Some(symbol)) = self.symbols.get(place) {
            return *symbol;
        }
        let symbol = match states.get(number).state().as_option() {
            Some(state) => self.symbol_by_name(state, panic),
            None => Symbol::NONE,
        };
        let missing = (place + 1).saturating_sub(self.symbols.len());
        self.symbols.extend(iter::repeat_n(None, missing));
        self.symbols[place] = Some(symbol);
        symbol
    }

    /// `name` is code of the game, which may panic.
    fn symbol_by_name<T: Owner>(&mut self, state: &StateRef<T>, panic: &mut FirstPanic) -> Symbol {
        panic.catch(|| self.journal.symbol(&state.name())).unwrap_or(Symbol::OTHER)
    }
}
