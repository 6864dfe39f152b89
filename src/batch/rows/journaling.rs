//! Writes the notes about a chunk's owners to the batch's journal (rule 29).

use super::notes::{ChangeRun, From, NotedChange, Notes};
use crate::batch::known::key::Key;
use crate::batch::known::panics::{Discarded, FirstPanic};
use crate::batch::known::states::States;
use crate::journal::{Journal, Symbol, Way};
use crate::machine::seat::region_in;
use crate::owner::Owner;
use crate::state::StateRef;

/// A batch's journal.
pub(crate) struct Journaling<T: Owner> {
    pub(crate) journal: Journal<Key>,
    /// The symbols of the batch's states in the journal, by the number of the state; `None` until a symbol is looked up.
    symbols: Vec<Option<Symbol>>,
    /// [`write`](Self::write). It is reached only through this field, so that it is compiled only for games with a journal.
    write: fn(&mut Self, &mut Notes<T>, &States<T>, &mut Discarded<T>, &mut FirstPanic),
}

impl<T: Owner> Journaling<T> {
    pub(crate) const fn new(journal: Journal) -> Self {
        Self { journal, symbols: Vec::new(), write: Self::write }
    }

    /// Forgets the symbols of all state numbers.
    pub(crate) fn forget_numbers(&mut self) {
        self.symbols.clear();
    }

    /// Writes the noted changes to the journal.
    pub(crate) fn take_up(
        &mut self,
        notes: &mut Notes<T>,
        states: &States<T>,
        discarded: &mut Discarded<T>,
        panic: &mut FirstPanic,
    ) {
        (self.write)(self, notes, states, discarded, panic);
    }

    fn write(
        &mut self,
        notes: &mut Notes<T>,
        states: &States<T>,
        discarded: &mut Discarded<T>,
        panic: &mut FirstPanic,
    ) {
        let Notes { list, runs, .. } = notes;
        let mut start = 0;
        for ChangeRun { end, at, from, shortfall } in runs.drain(..) {
            let changes = &list[start..end];
            start = end;
            let region = match &from {
                From::One { from, to, within } if !within.is_none() => {
                    let state = to.as_option().unwrap_or(from);
                    let nth = panic.catch(|| region_in(state, within)).flatten().unwrap_or(0);
                    Some((self.symbol(within, None, states, panic), nth))
                }
                _ => None,
            };
            let shortfall = shortfall.map(|(shortfall, state)| {
                let symbol = self.symbol(&state, region, states, panic);
                discarded.add(state);
                (shortfall, symbol)
            });
            let moment = self.journal.moment(at);
            match from {
                From::Bucket(bucket) => {
                    let from = self.symbol_of(bucket, states, panic);
                    for group in changes.chunk_by(|one, other| one.to == other.to && one.cause == other.cause) {
                        let Some(&NotedChange { to, cause, .. }) = group.first() else { continue };
                        let way = Way::new((from, self.symbol_of(to, states, panic)), cause, shortfall);
                        self.journal.record(way, moment, group.iter().map(NotedChange::change));
                    }
                }
                From::One { from, to, within } => {
                    let symbols = [&from, &to].map(|state| self.symbol(state, region, states, panic)).into();
                    for change in changes {
                        let way = Way::new(symbols, change.cause, shortfall);
                        self.journal.record(way, moment, [change.change()].into_iter());
                    }
                    discarded.extend([from, to, within]);
                }
            }
        }
        list.clear();
    }

    /// Returns the symbol of a state. If a change was made in a region, `region` contains the symbol of the composite and the
    /// index of the region.
    fn symbol(
        &mut self,
        state: &StateRef<T>,
        region: Option<(Symbol, usize)>,
        states: &States<T>,
        panic: &mut FirstPanic,
    ) -> Symbol {
        if let (Some(region), Some(state)) = (region, state.as_option()) {
            return panic.catch(|| self.journal.symbol_in(region, &state.name())).unwrap_or(Symbol::OTHER);
        }
        match states.bucket_of(state).filter(|&number| !states.get(number).is_owned()) {
            Some(number) => self.symbol_of(number, states, panic),
            None => self.symbol_by_name(state, panic),
        }
    }

    fn symbol_of(&mut self, number: u32, states: &States<T>, panic: &mut FirstPanic) -> Symbol {
        let place = number as usize;
        if let Some(Some(symbol)) = self.symbols.get(place) {
            return *symbol;
        }
        let symbol = match states.get(number).state().as_option() {
            Some(state) => self.symbol_by_name(state, panic),
            None => Symbol::NONE,
        };
        // A name that has panicked may be known the next time.
        if panic.is_none() {
            if self.symbols.len() <= place {
                self.symbols.resize(place + 1, None);
            }
            self.symbols[place] = Some(symbol);
        }
        symbol
    }

    /// Returns the symbol of a state's name. `name` is code of the game and may panic.
    fn symbol_by_name(&mut self, state: &StateRef<T>, panic: &mut FirstPanic) -> Symbol {
        panic.catch(|| self.journal.symbol(&state.name())).unwrap_or(Symbol::OTHER)
    }
}
