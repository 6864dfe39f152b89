//! A machine's current state by name: for scenes, saved games and inspectors, which know nothing of machines.

use core::fmt;
use core::marker::PhantomData;

use bevy_app::App;
use bevy_ecs::component::Component;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::Insert;
use bevy_ecs::observer::On;
use bevy_ecs::query::{Allow, Without};
use bevy_ecs::reflect::ReflectComponent;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Commands, Query, Res};
use bevy_ecs::world::EntityWorldMut;
use bevy_reflect::{Reflect, TypePath};
use demeanor::{Owner, StateMachine, StateRef};
use log::warn;

use crate::machine::Machine;
use crate::owner::EntityOwner;

/// The name of the current state of an entity's machine, if the plugin was asked for it by
/// [`with_current_state`](crate::StateMachinePlugin::with_current_state).
///
/// It follows the machine as a marker does, and can be reflected. An entity that has it and no machine, from a scene, is given a
/// machine that is in the state of that name already: nothing is entered. For an unknown name the entity gets no machine, and a
/// warning is logged.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_demeanor::{CurrentState, Machine, StateMachinePlugin};
/// # use bevy_demeanor::EntityOwner;
/// use bevy_ecs::prelude::*;
/// # use bevy_reflect::TypePath;
/// # use demeanor::{Owner, State};
/// #
/// # #[derive(Component, TypePath)]
/// # struct Enemy;
/// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
/// # impl EntityOwner for Enemy {
/// #     type Body = ();
/// #     type Param = ();
/// # }
/// # struct Idle;
/// # struct Chase;
/// # impl State<Enemy> for Idle {}
/// # impl State<Enemy> for Chase {}
///
/// let mut app = App::new();
/// app.add_plugins(StateMachinePlugin::<Enemy>::new().with_current_state([(&Idle).into(), (&Chase).into()]));
///
/// let saved = app.world_mut().spawn((Enemy, CurrentState::<Enemy>::named("Chase"))).id();
/// app.update();
/// assert!(app.world().get::<Machine<Enemy>>(saved).unwrap().is_in_state(&Chase));
///
/// let new = app.world_mut().spawn((Enemy, Machine::<Enemy>::new(&Idle))).id();
/// app.update();
/// assert_eq!(app.world().get::<CurrentState<Enemy>>(new).unwrap().name(), "Idle");
/// ```
#[derive(Component, Reflect)]
#[reflect(Component)]
pub struct CurrentState<T: Owner + TypePath> {
    /// Empty when there is no current state.
    name: String,
    #[reflect(ignore)]
    of: PhantomData<fn() -> T>,
}

impl<T: Owner + TypePath> CurrentState<T> {
    /// Names the state in which an entity's machine is to be.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), of: PhantomData }
    }

    /// Returns the state's name; empty when there is no current state.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<T: Owner + TypePath> fmt::Debug for CurrentState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentState").field(&self.name).finish()
    }
}

/// The states that can be named.
#[derive(Resource)]
struct Named<T: Owner>(Vec<StateRef<T>>);

pub(crate) fn register<T: EntityOwner + TypePath>(app: &mut App, states: Vec<StateRef<T>>) {
    app.register_type::<CurrentState<T>>();
    app.insert_resource(Named(states));
    app.add_observer(restore::<T>);
}

/// Gives an entity that has a state's name and no machine the machine.
fn restore<T: EntityOwner + TypePath>(
    named: On<Insert<CurrentState<T>>>,
    lost: Query<&CurrentState<T>, (Without<Machine<T>>, Allow<Disabled>)>,
    states: Res<Named<T>>,
    mut commands: Commands,
) {
    let Ok(CurrentState { name, .. }) = lost.get(named.entity) else { return };
    let machine = match states.0.iter().find(|state| state.name() == *name) {
        Some(state) => StateMachine::new(state.clone()),
        None if name.is_empty() => StateMachine::idle(),
        None => {
            let owner = T::short_type_path();
            warn!("entity {} is in no state: there is no state {name:?} of {owner}", named.entity);
            return;
        }
    };
    commands.entity(named.entity).insert(Machine::started(machine));
}

/// Makes the name agree with the entity's machine.
pub(crate) fn name<T: EntityOwner + TypePath>(entity: &mut EntityWorldMut) {
    let Some(machine) = entity.get::<Machine<T>>() else {
        entity.remove::<CurrentState<T>>();
        return;
    };
    let name = machine.current().map_or_else(String::new, |state| state.name().into_owned());
    match entity.get_mut::<CurrentState<T>>() {
        Some(mut current) if current.name != name => current.name = name,
        Some(_) => {}
        None => {
            entity.insert(CurrentState::<T>::named(name));
        }
    }
}
