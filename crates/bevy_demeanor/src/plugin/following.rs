//! The plugin's settings for followers of state changes.

use demeanor::State;

use crate::index::Index;
use crate::marker::{InSparseSet, InTable, Marker};
use crate::owner::EntityOwner;
use crate::plugin::StateMachinePlugin;
use crate::telling::Trigger;

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Gives the entities in a state of type `S` the component [`InState<S>`](crate::InState), stored in tables: for states
    /// that many systems iterate over and that seldom change.
    ///
    /// There can be at most 64 markers for one type of owner.
    #[must_use]
    pub fn with_marker<S: State<T>>(mut self) -> Self {
        self.markers.push(Marker::of::<T, S, InTable>());
        self
    }

    /// Gives the entities in a state of type `S` the component [`InState<S, InSparseSet>`](crate::InState), stored in a sparse
    /// set: a change does not move the entity. If no query needs it as a filter, [`with_index`](Self::with_index) does the same
    /// at less cost.
    #[must_use]
    pub fn with_sparse_marker<S: State<T>>(mut self) -> Self {
        self.markers.push(Marker::of::<T, S, InSparseSet>());
        self
    }

    /// Keeps a list of the entities in a state of type `S`, [`StateIndex<S>`](crate::StateIndex), for
    /// [`QueryInState<S, ..>`](crate::QueryInState): for states that change often, because a change moves no component.
    ///
    /// There can be at most 64 for one type of owner.
    #[must_use]
    pub fn with_index<S: State<T>>(mut self) -> Self {
        self.indexes.push(Index::of::<T, S>());
        self
    }

    /// Triggers [`Entered<S>`](crate::Entered) and [`Exited<S>`](crate::Exited) on the entities that enter and exit states
    /// of type `S`.
    #[must_use]
    pub fn with_triggers<S: State<T>>(mut self) -> Self {
        self.triggers.push(Trigger::of::<T, S>());
        self
    }

    /// Triggers [`StateChanged<T>`](crate::StateChanged) on the entities whose machine has changed state.
    #[must_use]
    pub fn with_change_events(mut self) -> Self {
        self.wants_events = true;
        self
    }

    /// Writes a message, [`StateChanged<T>`](crate::StateChanged), for each change of state.
    #[must_use]
    pub fn with_change_messages(mut self) -> Self {
        self.wants_messages = true;
        self
    }

    /// Keeps a [journal](crate::MachineJournal) of all changes, made or refused, with the last `entries` of them; with 0, it
    /// only counts.
    #[must_use]
    pub fn with_journal(mut self, entries: usize) -> Self {
        self.journal = Some(entries);
        self
    }
}
