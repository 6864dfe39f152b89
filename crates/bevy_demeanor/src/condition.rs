//! Run conditions: systems that run depending on the states of machines.

use core::any::type_name;

use bevy_ecs::query::{Changed, Or, With};
use bevy_ecs::system::{Local, Query, Res, SystemParam};
use demeanor::{Owner, State};
use log::warn;

use crate::index::StateIndex;
use crate::machine::Machine;
use crate::marker::{InSparseSet, InState, InTable, KeptFor};

/// Returns whether any entity is in a state of type `S`, by its marker or index: see
/// [`with_marker`](crate::StateMachinePlugin::with_marker) and [`with_index`](crate::StateMachinePlugin::with_index). It costs
/// almost nothing.
///
/// Without a marker or index it returns `false`, and a warning is logged once; see [`any_machine_in`].
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
/// #[derive(Component, Owner)]
/// struct Guard;
/// struct Chase;
/// impl MachineState<Guard> for Chase {}
///
/// #[derive(Resource, Default)]
/// struct Drums(u32);
///
/// let mut app = App::new();
/// app.init_resource::<Drums>();
/// app.add_state_machine_with(StateMachinePlugin::<Guard>::new().with_marker::<Chase>());
/// app.add_systems(Last, (|mut drums: ResMut<Drums>| drums.0 += 1).run_if(any_in_state::<Chase>));
/// app.update();
/// assert_eq!(app.world().resource::<Drums>().0, 0);
/// app.world_mut().spawn((Guard, Machine::<Guard>::new(&Chase)));
/// app.update();
/// assert_eq!(app.world().resource::<Drums>().0, 1);
/// ```
#[must_use]
pub fn any_in_state<S: 'static>(markers: MarkersOf<S>, mut has_warned: Local<bool>) -> bool {
    let MarkersOf { marked, in_table, in_sparse_set, index, enabled } = &markers;
    if in_table.is_none() && in_sparse_set.is_none() && index.is_none() && !*has_warned {
        *has_warned = true;
        let state = type_name::<S>();
        warn!(
            "any_in_state::<{state}> is always false: no plugin keeps the marker for this state. Ask for it by with_marker::<{state}>()"
        );
    }
    // For a state of several owners, there may be a marker of one and an index of another.
    !marked.is_empty() || index.iter().flat_map(|index| index.iter()).any(|entity| enabled.contains(*entity))
}

/// The markers of states of type `S`, or their index, for [`any_in_state`].
#[derive(SystemParam)]
pub struct MarkersOf<'w, 's, S: 'static> {
    marked: Query<'w, 's, (), Or<(With<InState<S>>, With<InState<S, InSparseSet>>)>>,
    in_table: Option<Res<'w, KeptFor<S, InTable>>>,
    in_sparse_set: Option<Res<'w, KeptFor<S, InSparseSet>>>,
    index: Option<Res<'w, StateIndex<S>>>,
    enabled: Query<'w, 's, ()>,
}

/// Returns whether any machine of `T` is in a state of type `S`; this can be the current state, one of its ancestors, or a state
/// in a region. It needs no marker, and checks the machines one by one until it finds one. Disabled entities do not count.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
/// #[derive(Component, Owner)]
/// struct Guard;
/// struct Chase;
/// impl MachineState<Guard> for Chase {}
/// fn play_drums() {}
///
/// App::new().add_state_machine::<Guard>().add_systems(Last, play_drums.run_if(any_machine_in::<Guard, Chase>));
/// ```
#[must_use]
pub fn any_machine_in<T: Owner, S: State<T>>(machines: Query<&Machine<T>>) -> bool {
    machines.iter().any(|machine| machine.is_in::<S>())
}

/// Returns whether there are machines of `T`, and all of them are in a state of type `S`. It checks the machines one by one
/// until it finds one that is not.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
/// #[derive(Component, Owner)]
/// struct Guard;
/// struct Dead;
/// impl MachineState<Guard> for Dead {}
/// fn win() {}
///
/// App::new().add_state_machine::<Guard>().add_systems(Last, win.run_if(every_machine_in::<Guard, Dead>));
/// ```
#[must_use]
pub fn every_machine_in<T: Owner, S: State<T>>(machines: Query<&Machine<T>>) -> bool {
    !machines.is_empty() && machines.iter().all(|machine| machine.is_in::<S>())
}

/// Returns whether any machine of `T` has changed state since the system last ran, or is new.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
/// #[derive(Component, Owner)]
/// struct Guard;
/// fn draw_map() {}
///
/// App::new().add_state_machine::<Guard>().add_systems(Last, draw_map.run_if(any_machine_changed::<Guard>));
/// ```
#[must_use]
pub fn any_machine_changed<T: Owner>(changed: Query<(), Changed<Machine<T>>>) -> bool {
    !changed.is_empty()
}
