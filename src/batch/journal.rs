//! A batch's journal: how a game sets it and reads it (rule 29).

use super::Batch;
use super::rows::journaling::Journaling;
use crate::journal::Journal;
use crate::owner::Owner;

impl<T: Owner> Batch<T> {
    /// Sets the journal to which all changes from now on are written, including refused ones. With `None`, no journal is
    /// written. Returns the journal that was written until now. A clone of the batch has no journal.
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
        let journaling = journal.map(|journal| Box::new(Journaling::new(journal)));
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
        // The caller may replace the journal by another one, in which the states have other symbols.
        journaling.forget_numbers();
        Some(&mut journaling.journal)
    }
}
