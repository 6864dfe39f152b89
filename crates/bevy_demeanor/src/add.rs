//! `app.add_state_machine::<Guard>()`.

use bevy_app::App;

use crate::owner::EntityOwner;
use crate::plugin::StateMachinePlugin;

/// State machines for an [`App`]. No other type can implement this trait, so that it can get more methods.
pub trait AppExtMachines: sealed::Sealed {
    /// Updates the machines of the entities that have the component `T`, in `Update`.
    ///
    /// # Panics
    ///
    /// When a plugin for the same `T` has already been added.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Component, Owner)]
    /// struct Door;
    ///
    /// struct Open;
    /// struct Closed;
    /// impl MachineState<Door> for Closed {}
    /// impl MachineState<Door> for Open {
    ///     fn update(&self, _: &mut Door, fsm: &mut Fsm<'_, Door>, _: &mut Cx<'_, Door>) {
    ///         fsm.change_state(&Closed);
    ///     }
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_state_machine::<Door>();
    /// let door = app.world_mut().spawn((Door, Machine::<Door>::new(&Open))).id();
    /// app.update();
    /// assert!(app.world().get::<Machine<Door>>(door).unwrap().is_in_state(&Closed));
    /// ```
    fn add_state_machine<T: EntityOwner>(&mut self) -> &mut Self {
        self.add_state_machine_with(StateMachinePlugin::<T>::new())
    }

    /// Does the same as [`add_state_machine`](AppExtMachines::add_state_machine), with the settings of a plugin. It is the same
    /// as [`App::add_plugins`].
    ///
    /// # Panics
    ///
    /// When a plugin for the same `T` has already been added.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Component, Owner)]
    /// struct Door;
    /// struct Open;
    /// impl MachineState<Door> for Open {}
    ///
    /// App::new().add_state_machine_with(StateMachinePlugin::<Door>::new().in_schedule(FixedUpdate).with_marker::<Open>());
    /// ```
    fn add_state_machine_with<T: EntityOwner>(&mut self, plugin: StateMachinePlugin<T>) -> &mut Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for bevy_app::App {}
}

impl AppExtMachines for App {
    fn add_state_machine_with<T: EntityOwner>(&mut self, plugin: StateMachinePlugin<T>) -> &mut Self {
        self.add_plugins(plugin)
    }
}
