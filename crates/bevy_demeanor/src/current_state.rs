//! The name of a machine's current state: for scenes, saved games and inspectors, which do not know machines.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use bevy_app::App;
use bevy_ecs::change_detection::DetectChanges;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::Insert;
use bevy_ecs::observer::On;
use bevy_ecs::query::Allow;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent, ReflectComponentFns};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Commands, Query};
#[cfg(feature = "serialize")]
use bevy_ecs::world::EntityWorldMut;
use bevy_ecs::world::{Ref, World};
use bevy_reflect::{GetTypeRegistration, Reflect, TypePath};
use demeanor::{Owner, StateMachine, StateRef};
use log::warn;

#[cfg(feature = "serialize")]
use crate::book::SavedBy;
use crate::factory::Factory;
use crate::follow::Marked;
use crate::indexing;
use crate::machine::Machine;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;
use crate::queue;
use crate::reach::{reach, visit};

/// The name of the current state of an entity's machine, if the plugin has
/// [`with_current_state`](crate::StateMachinePlugin::with_current_state).
///
/// It follows the machine as a marker does, and can be reflected. The machine also follows the component:
///
/// | the entity on which a name is inserted or edited | effect |
/// |---|---|
/// | an entity without a machine, as from a scene | it gets a machine that is already in the state with this name: `enter` does not run |
/// | an entity whose machine has not been started, as from `#[require(Machine<Guard>)]` | the machine is set to this state; `enter` does not run |
/// | an entity whose machine runs, as in an inspector | the state is [forced](crate::MachineCommands::force_state): `can_exit` is not called, but `can_enter`, `exit` and `enter` are; if the name is empty, the machine is stopped |
///
/// An inserted name takes effect at once. A name that is edited in place takes effect before the next pass. The same holds for
/// a name that a scene writes over an entity whose machine runs, if scenes contain whole machines, by a
/// [book](crate::StateMachinePlugin::with_book): the machine may come after its name, and then replaces it. If the name is
/// unknown, or `can_enter` refuses, a warning is logged, and the name is corrected to the state of the machine. An entity
/// without a machine gets none for an unknown name. If the name of a composite state is forced, the change ends in a
/// child of it, whose name the component then gets.
///
/// While a state has open [regions](demeanor::State::regions), the component has the name of this state.
/// [`regions`](demeanor::StateMachine::regions) and [`active_states`](demeanor::StateMachine::active_states) of the machine give
/// the states in the regions, and so do [markers](crate::InState). If the name of a state in a region is inserted or edited in, the
/// change is forced in this region, and the component gets the name of the state with regions again.
///
/// The component contains only the current state. To save the rest of a machine (its stack, times and timers, and the states in
/// its regions), use a [book](crate::StateMachinePlugin::with_book). A machine that gets its state by the name alone has no states
/// in the regions of this state until a change enters them. The global state comes from the required machine, or from the
/// [factory](crate::StateMachinePlugin::with_factory).
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_demeanor::{CurrentState, Machine, StateMachinePlugin};
/// use bevy_demeanor::EntityOwner;
/// use bevy_ecs::prelude::*;
/// use bevy_reflect::TypePath;
/// use demeanor::{Owner, State};
///
/// #[derive(Component, TypePath)]
/// struct Enemy;
/// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
/// impl EntityOwner for Enemy {
///     type Body = ();
///     type Param = ();
/// }
/// struct Idle;
/// struct Chase;
/// impl State<Enemy> for Idle {}
/// impl State<Enemy> for Chase {}
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
#[type_path = "bevy_demeanor"]
pub struct CurrentState<T: Owner + TypePath> {
    /// Empty if there is no current state.
    name: String,
    #[reflect(default = "is_usual")]
    is_started: bool,
    /// The last known facts about the machine: the name, and whether it is started. If the name differs, it has been edited.
    #[reflect(ignore)]
    known: Option<(String, bool)>,
    #[reflect(ignore)]
    of: PhantomData<fn() -> T>,
}

fn is_usual() -> bool {
    true
}

impl<T: Owner + TypePath> CurrentState<T> {
    /// Creates the component with the name of the state that the entity's machine should be in.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_started: true, known: None, of: PhantomData }
    }

    /// Returns the state's name; empty if there is no current state.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the state has been entered.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.is_started
    }

    /// Returns the component for a machine.
    fn of(machine: &StateMachine<T>) -> Self {
        let (name, is_started) = (name_of(machine), machine.is_started());
        Self { known: Some((name.clone(), is_started)), is_started, ..Self::named(name) }
    }

    fn is_edited(&self) -> bool {
        self.known.as_ref().is_none_or(|(name, is_started)| *name != self.name || *is_started != self.is_started)
    }
}

fn name_of<T: Owner>(machine: &StateMachine<T>) -> String {
    machine.current().map_or_else(String::new, |state| state.name().into_owned())
}

impl<T: Owner + TypePath> fmt::Debug for CurrentState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentState").field(&self.name).finish()
    }
}

/// The states that have names, and the function that completes a machine in one of them.
#[derive(Resource)]
struct NamedStates<T: Owner> {
    states: Vec<StateRef<T>>,
    factory: Option<Factory<T>>,
}

pub(crate) fn register<T: EntityOwner + TypePath>(
    app: &mut App,
    states: Vec<StateRef<T>>,
    factory: Option<Factory<T>>,
) {
    let mut registration = CurrentState::<T>::get_type_registration();
    let usual = ReflectComponentFns::new::<CurrentState<T>>();
    registration.insert(ReflectComponent::new(ReflectComponentFns {
        // The component is inserted even if it exists, so that it takes effect at once.
        apply_or_insert_mapped: |entity, value, registry, _, _| {
            let usual = ReflectComponentFns::new::<CurrentState<T>>();
            // But if scenes contain whole machines, the machine in this state may be inserted next.
            #[cfg(feature = "serialize")]
            if is_loaded_whole::<T>(entity) {
                return (usual.apply)(entity.into(), value);
            }
            (usual.insert)(entity, value, registry);
        },
        ..usual
    }));
    app.init_resource::<AppTypeRegistry>();
    app.world().resource::<AppTypeRegistry>().write().overwrite_registration(registration);
    app.insert_resource(NamedStates { states, factory });
    app.add_observer(
        |named: On<Insert<CurrentState<T>>>,
         names: Query<&CurrentState<T>, Allow<Disabled>>,
         mut commands: Commands| {
            if names.get(named.entity).is_ok_and(CurrentState::is_edited) {
                apply_later::<T>(named.entity, false, &mut commands);
            }
        },
    );
}

/// Returns whether the scene that names the state of a running machine may also replace the machine.
#[cfg(feature = "serialize")]
fn is_loaded_whole<T: EntityOwner + TypePath>(entity: &EntityWorldMut<'_>) -> bool {
    entity.contains::<CurrentState<T>>()
        && entity.get::<Machine<T>>().is_some_and(|machine| machine.is_started())
        && entity.world().contains_resource::<SavedBy<T>>()
}

/// Applies the edits in place since the last run.
pub(crate) fn apply_edits<T: EntityOwner + TypePath>(
    names: Query<(Entity, Ref<CurrentState<T>>), Allow<Disabled>>,
    mut commands: Commands,
) {
    for (entity, name) in &names {
        if name.is_changed() && name.is_edited() {
            apply_later::<T>(entity, true, &mut commands);
        }
    }
}

/// `is_whole` is whether the entity already has all components that come with the name.
fn apply_later<T: EntityOwner + TypePath>(entity: Entity, is_whole: bool, commands: &mut Commands) {
    commands.queue(move |world: &mut World| apply::<T>(world, entity, is_whole));
}

/// Puts the machine into the named state.
fn apply<T: EntityOwner + TypePath>(world: &mut World, entity: Entity, is_whole: bool) -> bevy_ecs::error::Result {
    let Some(mut edited) = world.get_mut::<CurrentState<T>>(entity).filter(|name| name.is_edited()) else {
        return Ok(());
    };
    let (name, is_started) = (edited.name.clone(), edited.is_started);
    let before = edited.known.replace((name.clone(), is_started));
    let Some(NamedStates { states, factory }) = world.get_resource::<NamedStates<T>>() else { return Ok(()) };
    let state = states.iter().find(|state| state.name() == *name).cloned();
    let is_known = state.is_some() || name.is_empty();
    let factory = factory.clone();
    let machine = world.get::<Machine<T>>(entity);
    if !is_known && machine.is_none() && !is_whole {
        // A scene may insert a machine next. The next pass checks again.
        if let Some(mut edited) = world.get_mut::<CurrentState<T>>(entity) {
            edited.known = before;
        }
        return Ok(());
    }
    if !is_known {
        let end =
            machine.map_or_else(|| "is in no state".to_owned(), |machine| format!("stays in {}", in_words(machine)));
        let who = NamedEntity::of(entity, world);
        warn!("{who} {end}: there is no state {name:?} of {}", T::short_type_path());
    } else if machine.is_none() {
        let bare = state.map_or_else(StateMachine::idle, StateMachine::new);
        let mut complete = factory.map_or_else(|| bare.clone(), |factory| factory(bare.clone()));
        if is_started {
            complete.set_entered(0.0);
        }
        // The queue waits, so that no observer of a marker replaces the machine before its times are set.
        queue::carry_out_after(world, |world| {
            world.entity_mut(entity).insert(Machine::from(complete));
            if world.get::<Machine<T>>(entity).is_some_and(|machine| machine.is_started()) {
                count_as_entered::<T>(world, entity, is_started);
            }
        });
    } else if machine.is_some_and(Machine::is_to_be_started) {
        if let Some(mut machine) = world.get_mut::<Machine<T>>(entity) {
            match state {
                Some(state) if name_of(&machine) != name => machine.bypass().set_current(state),
                Some(_) => {}
                None => replace_by_idle(&mut machine),
            }
        }
        count_as_entered::<T>(world, entity, is_started);
        indexing::correct::<T>(&mut world.into(), [entity].into_iter());
        queue::put_in_for::<T>(world, entity, Box::new(Marked::<T>::new(entity)));
    } else if machine.is_some_and(|machine| name_of(machine) != name) {
        let mut is_refused = false;
        reach::<T>(world, entity, "an edit of CurrentState", |machine, owner, cx| {
            match state {
                Some(state) => _ = machine.force_state(owner, state, cx),
                None => machine.stop(owner, cx),
            }
            is_refused = machine.has_refused() && !machine.has_changed();
        })?;
        // The change to a composite state ends in its child.
        if let Some(machine) = world.get::<Machine<T>>(entity)
            && (is_refused || name_of(machine) != name && !machine.is_in_named(&name))
        {
            let (who, current, owner) = (NamedEntity::of(entity, world), in_words(machine), type_name::<T>());
            if is_refused {
                warn!("{who} stays in {current}: a can_enter has refused {name} of {owner}");
            } else {
                warn!("{who} is in {current}, not in {name} of {owner} as CurrentState says");
            }
        }
    } else if !is_started && !name.is_empty() {
        let who = NamedEntity::of(entity, world);
        warn!("{who} is in {name} of {} already: a state cannot be left without being exited", type_name::<T>());
    }
    // In any case, the name is corrected to the state of the machine, unless a callback has edited it in the meantime. A change
    // is in the queue already: another entry for the markers could show a later change before its turn.
    if world.get::<CurrentState<T>>(entity).is_some_and(|name| !name.is_edited()) {
        self::name::<T>(world, entity);
    }
    Ok(())
}

fn in_words<T: Owner>(machine: &Machine<T>) -> String {
    machine.current().map_or_else(|| "no state".to_owned(), |state| state.name().into_owned())
}

fn replace_by_idle<T: Owner>(machine: &mut Machine<T>) {
    let global = machine.global();
    machine.machine = StateMachine::idle().with_limit(machine.machine.limit());
    if let Some(global) = global {
        machine.machine.set_global(global);
    }
}

/// Sets the entry time of the state to now, by the owner's clock, or to 0 if the entity has no owner yet.
fn count_as_entered<T: EntityOwner>(world: &mut World, entity: Entity, is_started: bool) {
    if is_started
        && visit(world, entity, |machine: &mut Machine<T>, _, cx| machine.machine.set_entered(T::now(cx))).is_none()
        && let Some(mut machine) = world.get_mut::<Machine<T>>(entity)
    {
        machine.machine.set_entered(0.0);
    }
}

/// Writes the name of the machine's current state, unless there is an edit that has not been applied yet.
pub(crate) fn name<T: EntityOwner + TypePath>(world: &mut World, entity: Entity) {
    let Ok(mut named) = world.get_entity_mut(entity) else { return };
    let Some(machine) = named.get::<Machine<T>>() else {
        named.remove::<CurrentState<T>>();
        return;
    };
    let of = CurrentState::of(&machine.machine);
    match named.get_mut::<CurrentState<T>>() {
        Some(current) if current.is_edited() => apply_later::<T>(entity, false, &mut world.commands()),
        Some(mut current) if current.name != of.name || current.is_started != of.is_started => *current = of,
        Some(_) => {}
        None => _ = named.insert(of),
    }
    world.flush();
}
