//! The settings for saving machines: the names of the states, and how the entities in their data are mapped.

use core::any::{TypeId, type_name};
#[cfg(feature = "asset")]
use core::mem;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use bevy_ecs::entity::{ComponentCloneCtx, EntityHashMap, EntityMapper, MapEntities};
use bevy_ecs::resource::Resource;
#[cfg(feature = "asset")]
use demeanor::definition::Definition;
use demeanor::save::{LoadError, MachineContent, SavedMachine, SavedSeat, SavedState, SavedThen};
use demeanor::{Owner, StateBook, StateMachine, StateRef};
use log::warn;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::LastTime;
use crate::factory::Factory;

/// Maps the entities in the data of an owned state or a message, which is text, to another world. Returns `None` if the text
/// cannot be read.
pub(crate) type MapData = fn(&str, &mut dyn EntityMapper) -> Option<String>;

/// What maps the entities in the data of machines.
#[derive(Clone, Default)]
pub(crate) struct Mapped {
    /// The types of owned states, with their names and functions.
    pub(crate) states: Vec<(String, TypeId, MapData)>,
    /// The function for the messages of timers.
    pub(crate) messages: Option<MapData>,
}

/// The settings for saving machines of `T`.
pub(crate) struct Book<T: Owner> {
    states: Arc<RwLock<StateBook<T>>>,
    factory: Option<Factory<T>>,
    pub(crate) mapped: Mapped,
    pub(crate) last_time: LastTime<T>,
}

/// The book, as a resource of the world and in the type registry.
#[derive(Resource)]
pub(crate) struct SavedBy<T: Owner>(pub(crate) Arc<Book<T>>);

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

impl<T: Owner> SavedBy<T> {
    /// Maps the entities in the states of a machine's clone.
    ///
    /// Bevy maps the entities of a component when it clones the component, and does not know the clones of children at that time
    /// if the children come later. So this runs when it has cloned all components, and the machine gets the result on its
    /// insertion.
    pub(crate) fn map_clone(self, machine: &StateMachine<T>, context: &mut ComponentCloneCtx<'_, '_>) {
        let Self(book) = self;
        if book.mapped.is_empty() {
            return;
        }
        let (mut clone, target) = (machine.clone(), context.target());
        context.queue_deferred(move |world, mapper| {
            book.map_entities(&mut clone, mapper);
            let clones = world.get_resource_or_insert_with(|| MappedClones(EntityHashMap::default()));
            clones.into_inner().0.insert(target, clone);
        });
    }
}

/// The saved data of a machine.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The global state, as a machine whose current state is the global.
    pub(crate) global: Option<SavedMachine>,
    pub(crate) machine: SavedMachine,
}

/// The machines of clones whose other components Bevy has not inserted yet, with the entities in their states mapped.
#[derive(Resource)]
pub(crate) struct MappedClones<T: Owner>(pub(crate) EntityHashMap<StateMachine<T>>);

impl Mapped {
    fn is_empty(&self) -> bool {
        self.states.is_empty() && self.messages.is_none()
    }

    /// Maps the entities in the data of a machine.
    pub(crate) fn map(&self, machine: &mut MachineContent, mapper: &mut dyn EntityMapper) {
        map_states(&mut machine.states, &self.states, mapper);
        let Some(map) = self.messages else { return };
        let regions = machine.states.iter_mut().filter_map(|state| match state {
            SavedState::Region(seat) => Some(&mut **seat),
            _ => None,
        });
        for SavedSeat { more, .. } in regions.chain([&mut machine.machine]) {
            let suspended = more.stack.iter_mut().flat_map(|path| &mut path.timers);
            for timer in more.timers.iter_mut().chain(suspended) {
                if let SavedThen::Send(message) | SavedThen::Repeat { message, .. } = &mut timer.then
                    && let Some(mapped) = map(message, mapper)
                {
                    *message = mapped;
                }
            }
        }
    }
}

impl<T: Owner> Book<T> {
    pub(crate) fn new(states: Arc<RwLock<StateBook<T>>>, factory: Option<Factory<T>>, mapped: Mapped) -> Self {
        let known = states.read().unwrap_or_else(PoisonError::into_inner);
        for (name, ..) in mapped.states.iter().filter(|(name, of, _)| known.type_of_name(name) != Some(*of)) {
            let of = type_name::<T>();
            warn!("`with_mapped` maps no entities in `{name}` of {of}: the book does not know this type by this name");
        }
        drop(known);
        Self { states, factory, mapped, last_time: LastTime::new() }
    }

    fn states(&self) -> RwLockReadGuard<'_, StateBook<T>> {
        self.states.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self, machine: &StateMachine<T>) -> Result<Written, String> {
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

    pub(crate) fn load(&self, written: &Written, now: f64) -> Result<StateMachine<T>, String> {
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
    pub(crate) fn move_times(&self, machine: &mut StateMachine<T>, from: f64, to: f64) {
        if from.to_bits() != to.to_bits()
            && let Err(error) = self.remake(machine, from, to, |_| {})
        {
            warn!("the times of a loaded machine of {} are wrong: {error}", type_name::<T>());
        }
    }

    /// Maps the entities in the data of a machine.
    pub(crate) fn map_entities(&self, machine: &mut StateMachine<T>, mapper: &mut dyn EntityMapper) {
        if self.mapped.is_empty() {
            return;
        }
        let mut map = |machine: &mut StateMachine<T>| {
            let remade = self.remake(machine, 0.0, 0.0, |content| self.mapped.map(content, mapper));
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

    /// Saves a machine, changes its data, and loads it with the times moved from one time of the clock to another.
    fn remake(
        &self,
        machine: &mut StateMachine<T>,
        from: f64,
        to: f64,
        edit: impl FnOnce(&mut MachineContent),
    ) -> Result<(), String> {
        let states = self.states();
        let mut saved = machine.save(&states, from).map_err(|error| error.to_string())?;
        edit(&mut saved.content);
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

/// The mapping function for a type of owned states, or for messages.
pub(crate) fn map_data<S: MapEntities + Serialize + DeserializeOwned>(
    data: &str,
    mapper: &mut dyn EntityMapper,
) -> Option<String> {
    let mut state: S = ron::from_str(data).ok()?;
    let mut mapper = mapper;
    state.map_entities(&mut mapper);
    ron::to_string(&state).ok()
}

/// Maps the entities in the data of the owned states among these.
fn map_states(states: &mut [SavedState], types: &[(String, TypeId, MapData)], mapper: &mut dyn EntityMapper) {
    for state in 0..states.len() {
        let SavedState::Owned { name, data } = &states[state] else { continue };
        let of = (*name as usize).checked_sub(1).and_then(|name| states.get(name));
        let found = types.iter().find(|(name, ..)| matches!(of, Some(SavedState::Name(of)) if of == name));
        if let Some((.., map)) = found
            && let Some(mapped) = map(data, mapper)
            && let SavedState::Owned { data, .. } = &mut states[state]
        {
            *data = mapped;
        }
    }
}
