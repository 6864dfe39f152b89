//! The ledger of a chunk: what each of its owners has done so far in the tick under way. Each question about one of them is
//! answered here.

use super::asked::Asked;
use super::entering::Entering;
use crate::batch::known::panics::FirstPanic;
use crate::batch::rows::individuals::{Individual, Individuals};
use crate::batch::rows::notes::Notes;
use crate::batch::rows::range::Rows;
use crate::owner::Owner;
use crate::state::{State, StateRef};

/// What one owner has done.
pub(crate) enum Entry<'e, T: Owner> {
    /// Nothing. All there is of it is its row.
    Blank,
    /// It has asked for one change, and for nothing else.
    Mover,
    /// It has asked to wait, and for nothing else.
    Waiter,
    /// It has done more than that, and finishes its tick by itself.
    Individual(&'e Individual<T>),
}

pub(crate) struct Ledger<'l, T: Owner> {
    pub(crate) asked: &'l mut Asked<T>,
    pub(crate) individuals: &'l mut Individuals<T>,
    /// Singletons that an owner has asked for, and that the batch does not know.
    pub(crate) unmet: &'l mut Vec<&'static dyn State<T>>,
    pub(crate) notes: &'l mut Notes<T>,
}

impl<T: Owner> Ledger<'_, T> {
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> Entry<'_, T> {
        if let Some(individual) = self.individuals.get(slot) {
            Entry::Individual(individual)
        } else if self.asked.mover_of(slot).is_some() {
            Entry::Mover
        } else if self.asked.waits.has(slot) {
            Entry::Waiter
        } else {
            Entry::Blank
        }
    }

    /// Whether the owners from a slot on have done nothing.
    pub(crate) fn is_blank_from(&self, slot: usize) -> bool {
        !self.individuals.has_unfinished() && self.asked.has_none_from(slot)
    }

    /// Whether a change that the owner at a slot has made at once has cut short the change under way.
    pub(crate) fn is_cut_short(&self, slot: usize) -> bool {
        self.individuals.get(slot).is_some_and(|individual| individual.made > 0)
    }

    /// The owner at a slot as an individual. If it has not been one, it takes over what is written down of it. `entering` is the
    /// step that it is in, if it is being changed.
    pub(crate) fn individual(
        &mut self,
        slot: usize,
        rows: &Rows<'_, T>,
        entering: Option<Entering<'_, T>>,
    ) -> &mut Individual<T> {
        let Self { asked, individuals, .. } = self;
        if individuals.get(slot).is_none() {
            let individual = individuals.add(slot);
            let mut kept = usize::MAX;
            if let Some(entering) = entering {
                kept = entering.kept;
                individual.load(rows);
                entering.enter_on(&mut individual.seat);
                individual.count = 1;
            }
            individual.ask_as(asked.supersede(slot), rows);
            for (request, scope) in asked.waits.take(slot, kept, rows.states) {
                individual.ask(request, scope);
            }
        }
        individuals.get_mut(slot).expect("it is one now")
    }

    /// Withdraws the changes that the owner at a slot has asked for.
    pub(crate) fn withdraw_changes(&mut self, slot: usize) {
        match self.individuals.get_mut(slot) {
            Some(individual) => individual.requests.withdraw_changes(),
            None => self.asked.withdraw_mover(slot),
        }
    }

    /// Withdraws all that the owner at a slot has asked for in the callback that is running.
    pub(crate) fn withdraw_all(&mut self, slot: usize) {
        match self.individuals.get_mut(slot) {
            Some(Individual { requests, count, seat, .. }) => requests.withdraw_all(count, seat),
            None => {
                self.asked.withdraw_mover(slot);
                self.asked.waits.withdraw(slot);
            }
        }
    }

    /// Leaves the owner at a slot in the state `from`, where it was, though its `exit` has run.
    pub(crate) fn stay(&mut self, slot: usize, rows: &Rows<'_, T>, from: &StateRef<T>) {
        let individual = self.individual(slot, rows, None);
        individual.load(rows);
        individual.seat.previous = from.clone();
        individual.is_touched = true;
    }

    /// Drops what the owner at a slot has asked for in a callback that has panicked.
    pub(crate) fn forget(&mut self, slot: usize, panic: &mut FirstPanic) {
        if !self.individuals.forget(slot, panic) {
            self.asked.forget(slot);
        }
    }
}
