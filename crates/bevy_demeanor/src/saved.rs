//! Machines in scenes and saved games: how [`Machine<T>`] is reflected, written and read.
//!
//! A machine is saved as plain data, by names, with the time of its clock. The deserializer has a registry of types but no
//! world. So the machine stays plain data, within a `Machine`, until it is inserted on an entity, where it is loaded. Once the
//! entity has its owner, the machine's times are moved to the owner's clock.

use core::any::{TypeId, type_name};
use core::marker::PhantomData;
use std::sync::Arc;

use bevy_app::App;
use bevy_ecs::component::Component;
use bevy_ecs::entity::{Entity, EntityMapper};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::Insert;
use bevy_ecs::observer::On;
use bevy_ecs::query::{Allow, With};
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent, ReflectComponentFns};
use bevy_ecs::system::{Commands, Local, ParamSet, Query, Res, SystemParamValidationError};
use bevy_ecs::world::{DeferredWorld, EntityWorldMut, World};
use bevy_reflect::serde::{
    DeserializeWithRegistry, ReflectDeserializeWithRegistry, ReflectSerializeWithRegistry, SerializeWithRegistry,
};
use bevy_reflect::{CreateTypeData, FromReflect, GetTypeRegistration, PartialReflect, TypePath, TypeRegistry};
use demeanor::{Owner, State, StateMachine};
use log::warn;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::book::{Book, MappedClones, SavedBy, Written};
use crate::clock::{Clock, LastTime, Reading, read_clock};
use crate::context::{EntityContext, lend};
use crate::machine::Machine;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;
use crate::reach::{Settle, visit};

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

impl<T: Owner> Machine<T> {
    fn unloaded(&self) -> Option<&Unloaded<T>> {
        self.current()?.downcast_ref()
    }
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

impl<T: Owner> Unloaded<T> {
    fn map_entities(&mut self, mapper: &mut dyn EntityMapper) {
        let Written { global, machine } = &mut self.written;
        for saved in global.iter_mut().chain([machine]) {
            self.book.mapped.map(&mut saved.content, mapper);
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

/// A machine that is loaded while its entity is disabled is settled like the others, so that it does not go by the time at which the
/// entity is enabled.
type ToBeSettled<T> = (With<JustLoaded<T>>, With<T>, With<Machine<T>>, Allow<Disabled>);

/// Returns whether a loaded machine is to be settled.
pub(crate) fn is_to_be_settled<T: EntityOwner>(loaded: Query<(), ToBeSettled<T>>) -> bool {
    !loaded.is_empty()
}

/// Sets the times of all loaded machines before a pass.
pub(crate) fn settle_all<T: EntityOwner>(world: &mut World, mut entities: Local<Vec<Entity>>) {
    let mut loaded = world.query_filtered::<Entity, ToBeSettled<T>>();
    entities.extend(loaded.iter(world));
    for entity in entities.drain(..) {
        settle::<T>(world, entity);
    }
}

/// Stores the time of the first owner's clock, for saving. A disabled owner also counts: its machine can be saved, too.
pub(crate) fn note_clock<T: EntityOwner>(
    mut machines: Query<(Entity, T::Body), (With<T>, With<Machine<T>>, Allow<Disabled>)>,
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
    }
}
