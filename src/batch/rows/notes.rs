//! The changes of a chunk's owners, for the journal (rule 29). They are noted where they happen, and joined in the order of the
//! chunks.

use super::range::Rows;
use crate::batch::known::key::Key;
use crate::batch::known::states::NOWHERE;
use crate::change::{Cause, Change, Outcome, Refusal, Shortfall};
use crate::machine::observer::Observer;
use crate::owner::Owner;
use crate::state::{Mover, StateRef};

/// The changes of a chunk's owners, including refused ones, in the order in which they happened. Empty if there is no journal.
pub(crate) struct Notes<T: Owner> {
    pub(crate) list: Vec<NotedChange>,
    pub(crate) runs: Vec<ChangeRun<T>>,
}

/// One change of one owner.
#[derive(Clone, Copy)]
pub(crate) struct NotedChange {
    pub(crate) key: Key,
    /// The number of the target, unless the run has the target.
    pub(crate) to: u32,
    pub(crate) time_in_state: f32,
    pub(crate) cause: Cause,
}

/// The data that consecutive changes of a list share. A run begins where the run before ends, and goes up to `end`.
pub(crate) struct ChangeRun<T: Owner> {
    pub(crate) end: usize,
    pub(crate) at: f64,
    pub(crate) from: From<T>,
    /// Why these changes were not completed in their target, if they were not.
    pub(crate) shortfall: Option<(Shortfall, StateRef<T>)>,
}

/// The state from which the changes of a run lead. The run of a single change also has its target.
pub(crate) enum From<T: Owner> {
    Bucket(u32),
    One {
        from: StateRef<T>,
        to: StateRef<T>,
        /// The state in whose region the change was made; `StateRef::NONE` outside of regions.
        within: StateRef<T>,
    },
}

impl<T: Owner> Notes<T> {
    pub(crate) const fn new() -> Self {
        Self { list: Vec::new(), runs: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    #[cfg(feature = "parallel")]
    pub(crate) fn give_back(&mut self) {
        self.list.shrink_to(64);
        self.runs.shrink_to(64);
    }

    /// Notes that movers have changed. Call this only if there is a journal.
    pub(crate) fn note_all(&mut self, rows: &Rows<'_, T>, movers: &[Mover], at: f64) {
        if !movers.is_empty() {
            self.list.extend(movers.iter().map(|mover| NotedChange::of(rows, *mover, at)));
            self.end_run(rows, None, at);
        }
    }

    /// Notes that a mover has been refused. [`end_refused`](Self::end_refused) then adds the guard.
    #[inline]
    pub(crate) fn note(&mut self, rows: &Rows<'_, T>, mover: Mover, at: f64) {
        if rows.shared.has_journal {
            self.list.push(NotedChange::of(rows, mover, at));
        }
    }

    /// Notes which guard has refused the changes that were noted last.
    pub(crate) fn end_refused(&mut self, rows: &Rows<'_, T>, refusal: Refusal<'_, T>, at: f64) {
        if self.runs.last().map_or(0, |run| run.end) < self.list.len() {
            self.end_run(rows, Some(refusal), at);
        }
    }

    fn end_run(&mut self, rows: &Rows<'_, T>, refusal: Option<Refusal<'_, T>>, at: f64) {
        let from = From::Bucket(rows.bucket);
        let shortfall = refusal.and_then(|refusal| shortfall(&Outcome::Refused(refusal)));
        self.runs.push(ChangeRun { end: self.list.len(), at, from, shortfall });
    }

    /// Returns the observer of the owner at a slot, if there is a journal.
    #[inline]
    pub(crate) fn of(&mut self, rows: &Rows<'_, T>, slot: usize) -> Option<Noting<'_, T>> {
        if rows.shared.has_journal { Some(self.of_key(rows.key(slot))) } else { None }
    }

    pub(crate) fn of_key(&mut self, key: Key) -> Noting<'_, T> {
        Noting { notes: self, key }
    }
}

impl NotedChange {
    #[expect(clippy::cast_possible_truncation, reason = "a journal keeps seven digits of a time")]
    fn of<T: Owner>(rows: &Rows<'_, T>, mover: Mover, at: f64) -> Self {
        let slot = mover.slot();
        let time_in_state = rows.time_in_state(slot, at) as f32;
        Self { key: rows.key(slot), to: mover.target(), time_in_state, cause: mover.cause() }
    }

    /// Returns the owner that changed, and for how many seconds the state had been active.
    pub(crate) fn change(&self) -> (Key, f32) {
        (self.key, self.time_in_state)
    }
}

fn shortfall<T: Owner>(outcome: &Outcome<'_, T>) -> Option<(Shortfall, StateRef<T>)> {
    outcome.shortfall().map(|(shortfall, state)| (shortfall, state.clone()))
}

/// Notes the changes of one owner that is handled individually, on a seat.
pub(crate) struct Noting<'n, T: Owner> {
    notes: &'n mut Notes<T>,
    key: Key,
}

impl<T: Owner> Observer<T> for Noting<'_, T> {
    #[expect(clippy::cast_possible_truncation, reason = "a journal keeps seven digits of a time")]
    fn changed(&mut self, change: &Change<'_, T>, at: f64, _: &mut T::Context<'_>) {
        let Notes { list, runs, .. } = &mut *self.notes;
        let time_in_state = change.time_in_state as f32;
        list.push(NotedChange { key: self.key, to: NOWHERE, time_in_state, cause: change.cause });
        let state = |state: Option<&StateRef<T>>| state.cloned().unwrap_or(StateRef::NONE);
        let (from, to, within) = (state(change.from), state(change.to), state(change.within));
        let from = From::One { from, to, within };
        runs.push(ChangeRun { end: list.len(), at, from, shortfall: shortfall(&change.outcome) });
    }
}

/// Converts an observer to the form that a machine takes.
#[inline]
pub(crate) fn as_observer<'o, T: Owner>(noting: &'o mut Option<Noting<'_, T>>) -> Option<&'o mut dyn Observer<T>> {
    noting.as_mut().map(|noting| noting as _)
}
