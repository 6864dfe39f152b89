//! Machines in scenes and saved games: how [`Machine<T>`] is reflected, written and read.
//!
//! A machine is saved as plain data, by names, with the time of its clock. The deserializer has a registry of types but no
//! world. So the machine stays plain data, within a `Machine`, until it is inserted on an entity, where it is loaded. Once the
//! entity has its owner, the machine's times are moved to the owner's clock.

use core::any::{TypeId, type_name};
use core::marker::PhantomData;
#[cfg(feature = "asset")]
use core::mem;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use bevy_app::App;
use bevy_ecs::component::Component;
use bevy_ecs::entity::{ComponentCloneCtx, Entity, EntityHashMap, EntityMapper, MapEntities};
use bevy_ecs::lifecycle::Insert;
use bevy_ecs::observer::On;
use bevy_ecs::query::With;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent, ReflectComponentFns};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Commands, Local, ParamSet, Query, Res, SystemParamValidationError};
use bevy_ecs::world::{DeferredWorld, EntityWorldMut, World};
use bevy_reflect::serde::{
    DeserializeWithRegistry, ReflectDeserializeWithRegistry, ReflectSerializeWithRegistry, SerializeWithRegistry,
};
use bevy_reflect::{CreateTypeData, FromReflect, GetTypeRegistration, PartialReflect, TypePath, TypeRegistry};
#[cfg(feature = "asset")]
use demeanor::definition::Definition;
use demeanor::save::{LoadError, SavedMachine, SavedState};
use demeanor::{Owner, State, StateBook, StateMachine, StateRef};
use log::warn;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clock::{Clock, LastTime, Reading, read_clock};
use crate::context::{EntityContext, lend};
use crate::label;
use crate::machine::{Factory, Machine};
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;
use crate::reach::{Settle, visit};

/// Maps the entities in the data of an owned state, which is text, to another world. Returns `None` if the text cannot be read.
pub(crate) type MapData = fn(&str, &mut dyn EntityMapper) -> Option<String>;

/// The settings for saving machines of `T`.
pub(crate) struct Book<T: Owner> {
    states: Arc<RwLock<StateBook<T>>>,
    factory: Option<Factory<T>>,
    /// The mapping functions, by the names of the owned states' types.
    mapped: Vec<(String, MapData)>,
    last_time: LastTime<T>,
}

/// The book, as a resource of the world and in the type registry.
#[derive(Resource)]
pub(crate) struct SavedBy<T: Owner>(Arc<Book<T>>);

impl<T: Owner> Clone for SavedBy<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[cfg(feature = "asset")]
impl<T: Owner> SavedBy<T> {
    /// Adds the states of a definition; `name` comes before their names.
    pub(crate) fn add_definition(&self, name: &str, definition: &Definition<T>) {
        let mut states = self.0.states.write().unwrap_or_else(PoisonError::into_inner);
        *states = mem::take(&mut *states).with_definition_name(name, definition);
    }
}

/// The saved data of a machine.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    /// The global state, as a machine whose current state is the global.
    global: Option<SavedMachine>,
    machine: SavedMachine,
}

/// The state of a machine that has been read but not yet inserted on an entity.
struct Unloaded<T: Owner> {
    written: Written,
    book: Arc<Book<T>>,
}

impl<T: Owner> Clone for Unloaded<T> {
    fn clone(&self) -> Self {
        Self { written: self.written.clone(), book: self.book.clone() }
    }
}

impl<T: Owner> State<T> for Unloaded<T> {}

/// On an entity whose machine has been loaded, until a pass or command reaches the machine.
#[derive(Component)]
#[component(storage = "SparseSet")]
pub(crate) struct JustLoaded<T: Owner> {
    /// The time of the clock when the machine was saved.
    saved_at: f64,
    /// The time of the clock when the machine was loaded, to which its times have been moved. Before its owner exists, it is
    /// `None`, and the times are those of `saved_at`.
    loaded_at: Option<f64>,
    /// The time of Bevy's `Time` at loading. It may be the clock of an owner that does not exist yet or lacks a component of
    /// its body.
    time: Option<f64>,
    book: Arc<Book<T>>,
}

impl<T: Owner> Book<T> {
    pub(crate) fn new(
        states: Arc<RwLock<StateBook<T>>>,
        factory: Option<Factory<T>>,
        mapped: Vec<(String, MapData)>,
    ) -> Self {
        Self { states, factory, mapped, last_time: LastTime::new() }
    }

    fn states(&self) -> RwLockReadGuard<'_, StateBook<T>> {
        self.states.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, machine: &StateMachine<T>) -> Result<Written, String> {
        let states = &*self.states();
        let saved = machine.save(states, self.last_time.get());
        let machine_error = |error| format!("a machine of {} cannot be saved: {error}", type_name::<T>());
        let global = match machine.global().map(|global| StateMachine::new(global).save(states, 0.0)) {
            Some(Ok(global)) => Some(global),
            // The factory sets the global state.
            Some(Err(_)) if self.factory.is_some() => None,
            Some(Err(error)) => {
                return Err(format!(
                    "the global of a machine of {} cannot be saved: {error}; or give the plugin a factory, by `with_factory`",
                    type_name::<T>()
                ));
            }
            None => None,
        };
        Ok(Written { global, machine: saved.map_err(machine_error)? })
    }

    fn load(&self, written: &Written, now: f64) -> Result<StateMachine<T>, String> {
        let states = self.states();
        let load = |saved: &SavedMachine, now| {
            let loaded = states.load(saved.clone(), now);
            loaded.map_err(|error| format!("a machine of {} cannot be loaded: {}", type_name::<T>(), why(&error)))
        };
        let mut machine = load(&written.machine, now)?;
        if let Some(factory) = &self.factory {
            machine = factory(machine);
        }
        if let Some(global) = &written.global
            && let Some(global) = load(global, 0.0)?.current()
        {
            machine.set_global(global.clone());
        }
        Ok(machine)
    }

    /// Moves a machine's times from one time of the clock to another.
    fn move_times(&self, machine: &mut StateMachine<T>, from: f64, to: f64) {
        if from.to_bits() != to.to_bits()
            && let Err(error) = self.remake(machine, from, to, |_| {})
        {
            warn!("the times of a loaded machine of {} are wrong: {error}", type_name::<T>());
        }
    }

    /// Maps the entities in the data of a machine's owned states.
    fn map_entities(&self, machine: &mut StateMachine<T>, mapper: &mut dyn EntityMapper) {
        if self.mapped.is_empty() {
            return;
        }
        let mut map = |machine: &mut StateMachine<T>| {
            let remade = self.remake(machine, 0.0, 0.0, |states| map_states(states, &self.mapped, mapper));
            if let Err(error) = remade {
                warn!("a clone of a machine of {} has the entities of the original: {error}", type_name::<T>());
            }
        };
        map(machine);
        if let Some(global) = machine.global().filter(StateRef::is_owned) {
            let mut global = StateMachine::new(global);
            map(&mut global);
            if let Some(global) = global.current() {
                machine.set_global(global.clone());
            }
        }
    }

    /// Saves a machine, changes the data of its states, and loads it with the times moved from one time of the clock to another.
    fn remake(
        &self,
        machine: &mut StateMachine<T>,
        from: f64,
        to: f64,
        edit: impl FnOnce(&mut [SavedState]),
    ) -> Result<(), String> {
        let states = self.states();
        let mut saved = machine.save(&states, from).map_err(|error| error.to_string())?;
        edit(&mut saved.content.states);
        let mut made = states.load(saved, to).map_err(|error| error.to_string())?;
        made.set_limit(machine.limit());
        if let Some(global) = machine.global() {
            made.set_global(global);
        }
        *machine = made;
        Ok(())
    }
}

/// Returns why a machine cannot be loaded. The library's advice does not apply to states of files, whose names are given by the
/// plugin.
fn why(error: &LoadError) -> String {
    let LoadError::UnknownStates { names } = error else { return error.to_string() };
    let of_files: Vec<String> =
        names.iter().filter(|name| name.contains(".fsm.toml")).map(|name| format!("`{name}`")).collect();
    let state = if let [_] = *of_files { "the state" } else { "the states" };
    match of_files.len() {
        0 => error.to_string(),
        n if n == names.len() => format!(
            "the book does not know {state} {}: prepare the file first, with `LoadedDefinitions::prepare`",
            of_files.join(", ")
        ),
        _ => format!("{error}; for {}, prepare the file first, with `LoadedDefinitions::prepare`", of_files.join(", ")),
    }
}

impl<T: Owner> Machine<T> {
    fn unloaded(&self) -> Option<&Unloaded<T>> {
        self.current()?.downcast_ref()
    }
}

/// The machines of clones whose other components Bevy has not inserted yet, with the entities in their states mapped.
#[derive(Resource)]
struct MappedClones<T: Owner>(EntityHashMap<StateMachine<T>>);

/// Maps the entities in the states of a machine's clone.
///
/// Bevy maps the entities of a component when it clones the component, and does not know the clones of children at that time if
/// the children come later. So this runs when it has cloned all components, and the machine gets the result on its insertion.
pub(crate) fn map_clone<T: Owner>(machine: &Machine<T>, context: &mut ComponentCloneCtx<'_, '_>) {
    let Some(registry) = context.type_registry() else { return };
    let book = registry.read().get_type_data::<SavedBy<T>>(TypeId::of::<Machine<T>>()).cloned();
    let Some(SavedBy(book)) = book.filter(|book| !book.0.mapped.is_empty()) else { return };
    let (mut clone, target) = (machine.machine.clone(), context.target());
    context.queue_deferred(move |world, mapper| {
        book.map_entities(&mut clone, mapper);
        let clones = world.get_resource_or_insert_with(|| MappedClones(EntityHashMap::default()));
        clones.into_inner().0.insert(target, clone);
    });
}

/// Loads a machine that has been read, as soon as it is inserted on an entity.
pub(crate) fn load<T: Owner>(mut world: DeferredWorld, entity: Entity) {
    let mapped = world.get_resource_mut::<MappedClones<T>>().and_then(|mut clones| clones.0.remove(&entity));
    if let Some(mapped) = mapped
        && let Some(mut machine) = world.get_mut::<Machine<T>>(entity)
    {
        machine.machine = mapped;
    }
    let Some(unloaded) = world.get::<Machine<T>>(entity).and_then(Machine::unloaded).cloned() else {
        if world.get::<JustLoaded<T>>(entity).is_some() {
            // That component belongs to the previous machine.
            world.commands().entity(entity).try_remove::<JustLoaded<T>>();
        }
        return;
    };
    let Unloaded { written, book } = unloaded;
    let saved_at = written.machine.content.clock.0;
    let time = read_clock::<T>(&world).shown();
    match book.load(&written, saved_at) {
        Ok(loaded) => {
            if let Some(mut machine) = world.get_mut::<Machine<T>>(entity) {
                machine.machine = loaded;
            }
            world.commands().entity(entity).try_insert(JustLoaded { saved_at, loaded_at: None, time, book });
        }
        Err(error) => {
            // The same book has already read it without an error; only its entities can have changed since then.
            warn!("{} has no machine: {error}", NamedEntity::of(entity, &world));
            world.commands().entity(entity).try_remove::<Machine<T>>();
        }
    }
}

impl<T: Owner + TypePath> SerializeWithRegistry for Machine<T> {
    fn serialize<S: Serializer>(&self, serializer: S, registry: &TypeRegistry) -> Result<S::Ok, S::Error> {
        if let Some(unloaded) = self.unloaded() {
            return unloaded.written.serialize(serializer);
        }
        let book = book::<T>(registry).map_err(S::Error::custom)?;
        book.write(&self.machine).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de, T: Owner + TypePath> DeserializeWithRegistry<'de> for Machine<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D, registry: &TypeRegistry) -> Result<Self, D::Error> {
        let book = book::<T>(registry).map_err(D::Error::custom)?;
        let written = Written::deserialize(deserializer)?;
        // Deserialization fails for a machine that cannot be loaded, because the error can still be reported here.
        book.load(&written, 0.0).map_err(D::Error::custom)?;
        Ok(StateMachine::new(Box::new(Unloaded { written, book })).into())
    }
}

fn book<T: Owner + TypePath>(registry: &TypeRegistry) -> Result<Arc<Book<T>>, String> {
    let book = registry.get_type_data::<SavedBy<T>>(TypeId::of::<Machine<T>>());
    let missing = || format!("there is no book for {}: give the plugin one, by `with_book`", type_name::<T>());
    book.map(|book| book.0.clone()).ok_or_else(missing)
}

pub(crate) fn register<T: EntityOwner + TypePath>(app: &mut App, book: Book<T>) {
    let book = SavedBy(Arc::new(book));
    app.insert_resource(book.0.last_time.clone());
    app.insert_resource(Settle::<T> { settle: settle::<T>, of: PhantomData });
    let mut registration = Machine::<T>::get_type_registration();
    registration.insert(ReflectComponent::new(ReflectComponentFns {
        insert: |entity, value, _| insert::<T>(entity, value, None),
        // The machine is inserted even if the entity has one, such as the one from `#[require(..)]`, so that it is loaded.
        apply_or_insert_mapped: |entity, value, _, mapper, _| insert::<T>(entity, value, Some(mapper)),
        ..ReflectComponentFns::new::<Machine<T>>()
    }));
    registration.insert(<ReflectSerializeWithRegistry as CreateTypeData<Machine<T>>>::create_type_data(()));
    registration.insert(<ReflectDeserializeWithRegistry as CreateTypeData<Machine<T>>>::create_type_data(()));
    registration.insert(book.clone());
    app.init_resource::<AppTypeRegistry>();
    app.world().resource::<AppTypeRegistry>().write().overwrite_registration(registration);
    app.insert_resource(book);
    app.add_observer(|it: On<Insert<JustLoaded<T>>>, mut commands: Commands| {
        let entity = it.entity;
        commands.queue(move |world: &mut World| arrive::<T>(world, entity));
    });
    app.add_observer(|it: On<Insert<T>>, loaded: Query<(), With<JustLoaded<T>>>, mut commands: Commands| {
        let entity = it.entity;
        if loaded.contains(entity) {
            commands.queue(move |world: &mut World| arrive::<T>(world, entity));
        }
    });
}

fn insert<T: EntityOwner + TypePath>(
    entity: &mut EntityWorldMut,
    value: &dyn PartialReflect,
    mapper: Option<&mut dyn EntityMapper>,
) {
    let Some(mut machine) = Machine::<T>::from_reflect(value) else {
        let who = NamedEntity::of(entity.id(), entity.world());
        warn!("{who} is not given a machine of {}: the inserted value is not one", type_name::<T>());
        return;
    };
    if let Some(mapper) = mapper {
        match machine.machine.current_mut::<Unloaded<T>>() {
            Some(unloaded) => unloaded.map_entities(mapper),
            None => {
                if let Some(SavedBy(book)) = entity.world().get_resource().cloned() {
                    Book::map_entities(&book, &mut machine.machine, mapper);
                }
            }
        }
    }
    entity.insert(machine);
}

/// The mapping function for a type of owned states.
pub(crate) fn map_data<S: MapEntities + Serialize + DeserializeOwned>(
    data: &str,
    mapper: &mut dyn EntityMapper,
) -> Option<String> {
    let mut state: S = ron::from_str(data).ok()?;
    let mut mapper = mapper;
    state.map_entities(&mut mapper);
    ron::to_string(&state).ok()
}

impl<T: Owner> Unloaded<T> {
    fn map_entities(&mut self, mapper: &mut dyn EntityMapper) {
        let Written { global, machine } = &mut self.written;
        for saved in global.iter_mut().chain([machine]) {
            map_states(&mut saved.content.states, &self.book.mapped, mapper);
        }
    }
}

fn map_states(states: &mut [SavedState], types: &[(String, MapData)], mapper: &mut dyn EntityMapper) {
    for state in 0..states.len() {
        let SavedState::Owned { name, data } = &states[state] else { continue };
        let of = (*name as usize).checked_sub(1).and_then(|name| states.get(name));
        let found = types.iter().find(|(name, _)| matches!(of, Some(SavedState::Name(of)) if of == name));
        if let Some((_, map)) = found
            && let Some(mapped) = map(data, mapper)
            && let SavedState::Owned { data, .. } = &mut states[state]
        {
            *data = mapped;
        }
    }
}

/// Moves the times of a loaded machine to its owner's clock, if it has an owner by now.
fn arrive<T: EntityOwner>(world: &mut World, entity: Entity) {
    let Some(loaded) = world.get::<JustLoaded<T>>(entity) else { return };
    let (book, before) = (loaded.book.clone(), loaded.loaded_at.unwrap_or(loaded.saved_at));
    let now = visit(world, entity, |machine, _, cx| {
        let now = T::now(cx);
        book.move_times(&mut machine.machine, before, now);
        book.last_time.note(now);
        now
    });
    if let (Some(now), Some(mut loaded)) = (now, world.get_mut::<JustLoaded<T>>(entity)) {
        loaded.loaded_at = Some(now);
    }
}

/// Sets the times of loaded machines before a pass or command reaches them for the first time.
///
/// Since the loading, either the clock has advanced; or it was set to its time when the game was saved (as by a scene that
/// contains the clock, which comes after the entities) and has advanced from there. If the owner uses Bevy's `Time`, and this
/// has advanced once since then, its change tells which of the two happened. Otherwise the alternative with the shorter time is
/// used.
pub(crate) fn settle<T: EntityOwner>(world: &mut World, entity: Entity) {
    let Some(JustLoaded { saved_at, loaded_at, time, book }) =
        world.get_entity_mut(entity).ok().and_then(|mut entity| entity.take::<JustLoaded<T>>())
    else {
        return;
    };
    let clock = read_clock::<T>(world);
    let (time_now, time_before) = (clock.shown(), clock.shown_before());
    let settled = visit(world, entity, |machine, _, cx| {
        let now = T::now(cx);
        let by = loaded_at.unwrap_or(saved_at);
        // While the owner or a component of its body was missing, the owner's clock could not be read.
        let loaded_at = loaded_at.or_else(|| time.filter(|_| time_now == Some(now)));
        let since = |then: f64| if now >= then { now - then } else { f64::INFINITY };
        let has_gone_on = time_now == Some(now) && time_before.is_some() && time_before == time;
        let from = match loaded_at {
            Some(loaded_at) if has_gone_on => loaded_at,
            Some(loaded_at) if since(loaded_at) <= since(saved_at) && now >= loaded_at => loaded_at,
            Some(_) if now >= saved_at => saved_at,
            _ => now,
        };
        book.move_times(&mut machine.machine, by, from);
    });
    if settled.is_none()
        && let Ok(mut entity) = world.get_entity_mut(entity)
    {
        // The owner does not exist yet.
        entity.insert(JustLoaded { saved_at, loaded_at, time, book });
    }
}

/// Sets the times of all loaded machines before a pass.
pub(crate) fn settle_all<T: EntityOwner>(world: &mut World, mut entities: Local<Vec<Entity>>) {
    let mut loaded = world.query_filtered::<Entity, (With<JustLoaded<T>>, With<T>, With<Machine<T>>)>();
    entities.extend(loaded.iter(world));
    for entity in entities.drain(..) {
        settle::<T>(world, entity);
    }
}

/// Stores the time of the first owner's clock, for saving.
pub(crate) fn note_clock<T: EntityOwner>(
    mut machines: Query<(Entity, T::Body), (With<T>, With<Machine<T>>)>,
    param: Result<ParamSet<(T::Param,)>, SystemParamValidationError>,
    commands: Commands,
    clock: Clock,
    last_time: Res<LastTime<T>>,
) {
    // Without its parameter, the pass has not run either.
    let Ok(mut param) = param else { return };
    if let Some((entity, body)) = machines.iter_mut().next() {
        let mut cx = EntityContext::<T>::at(entity, body, param.p0(), commands, Reading::of(&clock));
        cx.visit(entity);
        last_time.note(lend(&mut cx, |cx| T::now(cx)));
        label::leave();
    }
}
