//! Markers, indexes and triggers for states that are distinguished by names instead of types, such as states from files.

use crate::index::Index;
use crate::marker::{InSparseSet, InTable, Marker};
use crate::owner::EntityOwner;
use crate::plugin::StateMachinePlugin;
use crate::telling::Trigger;

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Gives the entities in a state with this name the component [`InState<S>`](crate::InState), stored in tables. `S` is a
    /// type of the game that represents the name.
    ///
    /// The name is compared with [`State::name`](demeanor::State::name): for a state from a file, this is the name of its
    /// table, such as `fight.aim`. States with this name in all files count.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use demeanor::State;
    ///
    /// #[derive(Component, Owner)]
    /// struct Guard;
    ///
    /// // States of one type, distinguished by their names like states from a file.
    /// struct Named(&'static str);
    /// impl State<Guard> for Named {
    ///     fn name(&self) -> std::borrow::Cow<'_, str> {
    ///         self.0.into()
    ///     }
    /// }
    /// static PATROL: Named = Named("patrol");
    /// static CHASE: Named = Named("chase");
    ///
    /// /// The marker type for the state `chase`.
    /// struct Chase;
    ///
    /// let mut app = App::new();
    /// app.add_state_machine_with(StateMachinePlugin::<Guard>::new().with_marker_named::<Chase>("chase"));
    /// let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&PATROL))).id();
    /// app.update();
    /// assert!(!app.world().entity(guard).contains::<InState<Chase>>());
    /// app.world_mut().commands().entity(guard).change_state(&CHASE);
    /// app.update();
    /// assert!(app.world().entity(guard).contains::<InState<Chase>>());
    /// ```
    #[must_use]
    pub fn with_marker_named<S: 'static>(mut self, name: impl AsRef<str>) -> Self {
        self.markers.push(Marker::named::<T, S, InTable>(name.as_ref()));
        self
    }

    /// Like [`with_marker_named`](Self::with_marker_named), with the component [`InState<S, InSparseSet>`](crate::InState),
    /// stored in a sparse set.
    #[must_use]
    pub fn with_sparse_marker_named<S: 'static>(mut self, name: impl AsRef<str>) -> Self {
        self.markers.push(Marker::named::<T, S, InSparseSet>(name.as_ref()));
        self
    }

    /// Keeps a list of the entities in a state with this name, as [`with_index`](Self::with_index) does for a type. `S` is a
    /// type of the game that represents the name.
    #[must_use]
    pub fn with_index_named<S: 'static>(mut self, name: impl AsRef<str>) -> Self {
        self.indexes.push(Index::named::<T, S>(name.as_ref()));
        self
    }

    /// Triggers [`Entered<S>`](crate::Entered) and [`Exited<S>`](crate::Exited) on the entities that enter and exit states with
    /// this name. `S` is a type of the game that represents the name.
    #[must_use]
    pub fn with_triggers_named<S: 'static>(mut self, name: impl AsRef<str>) -> Self {
        self.triggers.push(Trigger::named::<T, S>(name.as_ref()));
        self
    }
}
