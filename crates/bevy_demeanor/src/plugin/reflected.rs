//! What scenes, saved games and inspectors find of machines, as it is asked for.

use std::sync::Arc;
#[cfg(feature = "serialize")]
use std::sync::RwLock;

#[cfg(feature = "serialize")]
use bevy_ecs::entity::MapEntities;
use bevy_ecs::schedule::IntoScheduleConfigs;
#[cfg(feature = "serialize")]
use bevy_ecs::schedule::common_conditions::any_with_component;
use bevy_reflect::TypePath;
#[cfg(feature = "serialize")]
use demeanor::{State, StateBook};
use demeanor::{StateMachine, StateRef};
#[cfg(feature = "serialize")]
use serde::{Serialize, de::DeserializeOwned};

use crate::current_state;
use crate::owner::EntityOwner;
use crate::plugin::StateMachinePlugin;
#[cfg(feature = "serialize")]
use crate::saved;
use crate::sets::{MachineSet, Machines};

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Gives the entities with a machine the component [`CurrentState<T>`](crate::CurrentState), which names their current
    /// state, and has machines follow what is inserted or edited there: those of `states`, by the states' names.
    ///
    /// See there for what that means for scenes and inspectors.
    #[must_use]
    pub fn with_current_state(mut self, states: impl IntoIterator<Item = StateRef<T>>) -> Self
    where
        T: TypePath,
    {
        let states: Vec<StateRef<T>> = states.into_iter().collect();
        self.name = Some(current_state::name::<T>);
        self.registrations.push(Box::new(move |plugin, app| {
            current_state::register(app, states.clone(), plugin.factory.clone());
            let edits = current_state::apply_edits::<T>.in_set(MachineSet::Update).before(Machines::<T>::SET);
            app.add_systems(plugin.schedule, edits);
        }));
        self
    }

    /// Has `complete` see to each machine that the plugin makes, from a [`CurrentState`](crate::CurrentState) or from a
    /// saved game: it is given the machine in its state, and returns it with all that is the game's, such as the global.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use bevy_reflect::TypePath;
    ///
    /// #[derive(Component, Owner, TypePath)]
    /// struct Guard;
    ///
    /// struct Patrol;
    /// struct Mortal;
    /// impl MachineState<Guard> for Patrol {}
    /// impl MachineState<Guard> for Mortal {}
    ///
    /// let mut app = App::new();
    /// app.add_state_machine_with(
    ///     StateMachinePlugin::<Guard>::new()
    ///         .with_current_state([(&Patrol).into()])
    ///         .with_factory(|machine| machine.with_global(&Mortal)),
    /// );
    /// let guard = app.world_mut().spawn((Guard, CurrentState::<Guard>::named("Patrol"))).id();
    /// app.update();
    /// assert_eq!(app.world().get::<Machine<Guard>>(guard).unwrap().global().unwrap().name(), "Mortal");
    /// ```
    #[must_use]
    pub fn with_factory(
        mut self,
        complete: impl Fn(StateMachine<T>) -> StateMachine<T> + Send + Sync + 'static,
    ) -> Self {
        self.factory = Some(Arc::new(complete));
        self
    }

    /// Has machines saved and loaded whole, wherever components are by reflection: in scenes, by crates that save games, over the
    /// network. `book` says which name is which state.
    ///
    /// `Machine<T>` is then a reflected component. Of it is saved what rule 27 says, which is all that is the machine's: its
    /// states with their times, the state before, stack and history, timers with their messages, its sleep, and whether it has
    /// been started; and by name its global too. If the global is not in the book, it is for the
    /// [factory](Self::with_factory) to give it; without one, nothing is saved, and the error says so. No callback runs on
    /// loading.
    ///
    /// A machine that is loaded takes the place of one that is there, as from `#[require(Machine<Guard>)]`. Its times go on from
    /// what they were in the last pass before it was saved: by what its owner's clock shows when both it and its owner are there.
    /// If the clock is then set to what it showed when the machine was saved, as by a scene that holds the clock too, they go by
    /// that. The clock that is noted is the one of one owner: clocks that differ from entity to entity are not supported.
    ///
    /// With the feature `asset`, the states of files are added to the book when a file is loaded; see
    /// `LoadedDefinitions::prepare`. `DefinedMachine<T>` is then a reflected component, too: of it is saved the path of the file.
    ///
    /// A clone, as in a scene that is never written, has the times of the original.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    /// use bevy_reflect::TypePath;
    /// use bevy_reflect::serde::{TypedReflectDeserializer, TypedReflectSerializer};
    /// use demeanor::StateBook;
    /// use serde::de::DeserializeSeed;
    ///
    /// #[derive(Component, Owner, TypePath)]
    /// struct Guard;
    ///
    /// struct Patrol;
    /// struct Alarm;
    /// struct Mortal;
    /// impl MachineState<Guard> for Patrol {}
    /// impl MachineState<Guard> for Alarm {}
    /// impl MachineState<Guard> for Mortal {}
    ///
    /// let mut app = App::new();
    /// app.add_state_machine_with(
    ///     StateMachinePlugin::<Guard>::new()
    ///         .with_book(StateBook::new().with(&Patrol).with(&Alarm).with(&Mortal)),
    /// );
    /// let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Patrol).with_global(&Mortal))).id();
    /// app.world_mut().commands().entity(guard).push_state(&Alarm);
    /// app.update();
    ///
    /// // What a scene does.
    /// let registry = app.world().resource::<AppTypeRegistry>().clone();
    /// let registry = registry.read();
    /// let machine = app.world().get::<Machine<Guard>>(guard).unwrap();
    /// let file = ron::to_string(&TypedReflectSerializer::new(machine, &registry))?;
    ///
    /// let registration = registry.get(std::any::TypeId::of::<Machine<Guard>>()).unwrap();
    /// let mut deserializer = ron::Deserializer::from_str(&file)?;
    /// let machine = TypedReflectDeserializer::new(registration, &registry).deserialize(&mut deserializer)?;
    /// let mut entity = app.world_mut().spawn(Guard);
    /// registration.data::<ReflectComponent>().unwrap().insert(&mut entity, &*machine, &registry);
    ///
    /// let machine = entity.get::<Machine<Guard>>().unwrap();
    /// assert!(machine.is_in_state(&Alarm));
    /// assert_eq!(machine.global().unwrap().name(), "Mortal");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "serialize")]
    #[must_use]
    pub fn with_book(mut self, book: StateBook<T>) -> Self
    where
        T: TypePath,
    {
        let book = Arc::new(RwLock::new(book));
        self.registrations.push(Box::new(move |plugin, app| {
            saved::register(app, saved::Book::new(book.clone(), plugin.factory.clone(), plugin.mapped.clone()));
            #[cfg(feature = "asset")]
            crate::asset::saved::register::<T>(app);
            app.add_systems(
                plugin.schedule,
                (
                    saved::settle_all::<T>
                        .run_if(any_with_component::<saved::JustLoaded<T>>)
                        .in_set(MachineSet::Update)
                        .before(Machines::<T>::SET),
                    saved::note_clock::<T>.in_set(MachineSet::Update).after(Machines::<T>::SET),
                ),
            );
        }));
        self
    }

    /// Has the entities mapped that are in the data of owned states of type `S`: a scene gives its entities other places, and
    /// what a book saves of an owned state is text to it. `S` is in the [book](Self::with_book) by
    /// [`with_owned`](StateBook::with_owned).
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::entity::MapEntities;
    /// use bevy_ecs::prelude::*;
    /// use demeanor::StateBook;
    /// use serde::{Deserialize, Serialize};
    /// #[derive(Component, Owner, bevy_reflect::TypePath)]
    /// struct Guard;
    ///
    /// #[derive(Clone, Serialize, Deserialize, MapEntities)]
    /// struct Chase {
    ///     #[entities]
    ///     whom: Entity,
    /// }
    /// impl MachineState<Guard> for Chase {}
    ///
    /// let plugin = StateMachinePlugin::<Guard>::new()
    ///     .with_book(StateBook::new().with_owned::<Chase>())
    ///     .with_mapped::<Chase>("Chase");
    /// # bevy_app::App::new().add_plugins(plugin);
    /// ```
    #[cfg(feature = "serialize")]
    #[must_use]
    pub fn with_mapped<S>(mut self, name: impl Into<String>) -> Self
    where
        S: State<T> + MapEntities + Serialize + DeserializeOwned,
    {
        self.mapped.push((name.into(), saved::map_data::<S>));
        self
    }
}
