//! The plugin's settings for scenes, saved games and inspectors.

#[cfg(feature = "serialize")]
use core::any::TypeId;
use std::sync::Arc;
#[cfg(feature = "serialize")]
use std::sync::RwLock;

#[cfg(feature = "serialize")]
use bevy_ecs::entity::MapEntities;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_reflect::TypePath;
#[cfg(feature = "serialize")]
use demeanor::{State, StateBook};
use demeanor::{StateMachine, StateRef};
#[cfg(feature = "serialize")]
use serde::{Serialize, de::DeserializeOwned};

#[cfg(feature = "serialize")]
use crate::book::{Book, map_data};
use crate::current_state;
use crate::owner::EntityOwner;
use crate::plugin::StateMachinePlugin;
#[cfg(feature = "serialize")]
use crate::saved;
use crate::sets::{MachineSet, Machines};

impl<T: EntityOwner> StateMachinePlugin<T> {
    /// Gives the entities with a machine the component [`CurrentState<T>`](crate::CurrentState), which names their current
    /// state. Machines also follow names that are inserted or edited there, if the states are in `states`.
    ///
    /// See [`CurrentState<T>`](crate::CurrentState) for the effect on scenes and inspectors.
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

    /// Lets `complete` finish each machine that the plugin creates, from a [`CurrentState`](crate::CurrentState) or from a
    /// saved game. It gets the machine in its state, and returns it with everything that the game adds, such as the global
    /// state.
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

    /// Saves and loads whole machines wherever components are saved by reflection: in scenes, by crates that save games, over
    /// the network. `book` contains the names of the states.
    ///
    /// `Machine<T>` is then a reflected component. The saved data are those of rule 27: the states with their times, the
    /// previous state, stack and history, timers with their messages, the sleep, and whether the machine has been started; the
    /// global state is saved by name. If the global state is not in the book, the [factory](Self::with_factory) must set it;
    /// without a factory, the machine is not saved, and an error says so. No callback runs during loading.
    ///
    /// A loaded machine replaces an existing one, such as the one from `#[require(Machine<Guard>)]`. Its times continue from
    /// the last tick before it was saved: they are moved to the time of its owner's clock when both the machine and its owner
    /// exist. If the clock is then set back to its time in the saved game, as by a scene that also contains the clock, the
    /// times follow this. Only the clock of one owner is saved: clocks that differ between entities are not supported.
    /// With the feature `asset`, the states of files are added to the book when a file is loaded; see
    /// `LoadedDefinitions::prepare`. `DefinedMachine<T>` is then a reflected component, too, which is saved as the path of the
    /// file.
    ///
    /// A clone, for example in a scene that is never written to a file, has the times of the original.
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
    /// // A scene does the same.
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
            saved::register(app, Book::new(book.clone(), plugin.factory.clone(), plugin.mapped.clone()));
            #[cfg(feature = "asset")]
            crate::asset::saved::register::<T>(app);
            // They are in no set, so that they also run while the game pauses the set of the pass.
            app.add_systems(
                plugin.schedule,
                (
                    saved::settle_all::<T>
                        .run_if(saved::is_to_be_settled::<T>)
                        .after(MachineSet::Enter)
                        .before(MachineSet::Update)
                        // It needs the whole world, but only settles machines of `T`.
                        .ambiguous_with_all(),
                    saved::note_clock::<T>.after(MachineSet::Update).before(MachineSet::Exit),
                ),
            );
        }));
        self
    }

    /// Maps the entities in the data of owned states of type `S`: a scene gives its entities new ids, and so does
    /// `clone_and_spawn`, which clones children, too, if it is told to. But a book saves an owned state as text. `S` must be in
    /// the [book](Self::with_book) with this name, by [`with_owned`](StateBook::with_owned); otherwise, a warning says so.
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
        self.mapped.states.push((name.into(), TypeId::of::<S>(), map_data::<S>));
        self
    }

    /// Maps the entities in the messages of timers, as [`with_mapped`](Self::with_mapped) does for owned states. The
    /// [book](Self::with_book) must save messages, by [`with_messages`](StateBook::with_messages).
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
    /// #[owner(message = Noise)]
    /// struct Guard;
    ///
    /// #[derive(Clone, Serialize, Deserialize, MapEntities)]
    /// struct Noise {
    ///     #[entities]
    ///     from: Entity,
    /// }
    ///
    /// let plugin =
    ///     StateMachinePlugin::<Guard>::new().with_book(StateBook::new().with_messages()).with_mapped_messages();
    /// # bevy_app::App::new().add_plugins(plugin);
    /// ```
    #[cfg(feature = "serialize")]
    #[must_use]
    pub fn with_mapped_messages(mut self) -> Self
    where
        T::Message: MapEntities + Serialize + DeserializeOwned,
    {
        self.mapped.messages = Some(map_data::<T::Message>);
        self
    }
}
