//! A cast's journal (rule 29).

use alloc::boxed::Box;
use core::mem;

use super::members::Members;
use crate::journal::Journal;

impl<K, M, C> Members<K, M, C> {
    /// Sets the journal in which all later changes are recorded, made or refused. `None` ends the recording. Returns the
    /// journal that was set before.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Fsm, Journal, Owner, State, StateMachine, Telegram};
    ///
    /// type Town = Cast<&'static str, (), ()>;
    ///
    /// struct Miner;
    /// impl Owner for Miner { type Context<'a> = Town; type Message = Telegram<&'static str, ()>; }
    ///
    /// struct Dig;
    /// struct Drink;
    /// impl State<Miner> for Dig {
    ///     fn update(&self, _: &mut Miner, fsm: &mut Fsm<'_, Miner>, _: &mut Town) { fsm.change_state(&Drink); }
    /// }
    /// impl State<Miner> for Drink {}
    ///
    /// let mut town = Town::new(());
    /// town.set_journal(Some(Journal::new(1000)));
    /// town.add("Bob", Agent::new(Miner, StateMachine::new(&Dig)))?;
    /// town.update();
    ///
    /// let bob = town.journal().unwrap().of("Bob").next().unwrap();
    /// assert_eq!((bob.from, bob.to), (Some("Dig"), Some("Drink")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_journal(&mut self, journal: Option<Journal<K>>) -> Option<Journal<K>> {
        mem::replace(&mut self.journal, journal.map(Box::new)).map(|journal| *journal)
    }

    /// Returns the journal in which changes are recorded, if there is one.
    #[must_use]
    pub fn journal(&self) -> Option<&Journal<K>> {
        self.journal.as_deref()
    }

    /// Returns the journal mutably, for [clearing](Journal::clear) it, adding to it or replacing it.
    pub fn journal_mut(&mut self) -> Option<&mut Journal<K>> {
        self.journal.as_deref_mut()
    }
}
