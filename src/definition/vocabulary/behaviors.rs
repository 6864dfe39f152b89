//! Behaviors: states in the game's code that states of a file can use, with or without parameters.

use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IntoDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Vocabulary;
use crate::definition::named::FileStates;
use crate::format::draft::Params;
use crate::format::draft::tree::into_parsed;
use crate::owner::Owner;
use crate::state::{IntoState, State, StateRef};

impl<T: Owner> Vocabulary<T> {
    /// Adds a state of the game as a behavior. A state of a file with this behavior has the callbacks and guards of `state`.
    ///
    /// The `parent` and `initial` of `state` are not used, because the file says how its states are nested.
    #[must_use]
    pub fn behavior(self, name: impl Into<String>, state: impl IntoState<T>) -> Self {
        self.stand_in(name, None, state)
    }

    /// Adds a behavior with parameters. `make` is called once for each state of a file that has this behavior. It gets the
    /// parameters from the file and returns a state of the game.
    #[must_use]
    pub fn behavior_with<P, S, F>(self, name: impl Into<String>, make: F) -> Self
    where
        P: DeserializeOwned + JsonSchema,
        S: State<T>,
        F: Fn(P) -> S + Send + Sync + 'static,
    {
        self.behavior_with_states(name, move |params: P, _: &FileStates<T>| make(params))
    }

    /// Like [`behavior_with`](Self::behavior_with), for a behavior that has the name of a state as a parameter. This parameter
    /// has the type [`StateName`](crate::definition::StateName). `make` also gets the states of the file, and finds the named
    /// state among them. If the file has no such state, this is an error in the file.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::{Definition, FileState, StateName, Vocabulary};
    /// use demeanor::{Fsm, Owner, State};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Params {
    ///     then: StateName,
    /// }
    ///
    /// struct Leap(FileState<Guard>);
    /// impl State<Guard> for Leap {
    ///     fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, (): &mut ()) {
    ///         if let Some(then) = self.0.state() {
    ///             fsm.change_state(then);
    ///         }
    ///     }
    /// }
    ///
    /// let vocabulary = Vocabulary::new().behavior_with_states("leap", |params: Params, states| {
    ///     Leap(states.get(&params.then).expect("it has been checked"))
    /// });
    /// let file = "
    ///     initial = 'leap'
    ///     states.leap.behavior = { name = 'leap', then = 'rest' }
    ///     states.rest.entry = true
    ///     states.rest.final = true
    /// ";
    /// let mut machine = Definition::parse(file, &vocabulary)?.machine();
    /// machine.update(&mut Guard, &mut ());
    /// assert_eq!(machine.current().unwrap().name(), "rest");
    ///
    /// let problems = Definition::parse(&file.replace("then = 'rest'", "then = 'rets'"), &vocabulary).unwrap_err();
    /// assert!(problems.to_string().ends_with("unknown state `rets`: did you mean `rest`?"), "{problems}");
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn behavior_with_states<P, S, F>(self, name: impl Into<String>, make: F) -> Self
    where
        P: DeserializeOwned + JsonSchema,
        S: State<T>,
        F: Fn(P, &FileStates<T>) -> S + Send + Sync + 'static,
    {
        let make = move |params: Option<Params<'_>>, states: &FileStates<T>| {
            let params = params.map(|params| into_parsed(Rc::unwrap_or_clone(params)));
            let params = params.unwrap_or_else(|| Spanned::new(0..0, DeValue::Table(DeTable::new())));
            P::deserialize(params.into_deserializer()).map(|params| StateRef::from(Arc::new(make(params, states))))
        };
        let schema = schemars::schema_for!(P).to_value();
        self.with_behavior(name.into(), Some(schema), Arc::new(make))
    }

    /// The same as [`behavior`](Self::behavior), in British spelling.
    #[must_use]
    pub fn behaviour(self, name: impl Into<String>, state: impl IntoState<T>) -> Self {
        self.behavior(name, state)
    }

    /// The same as [`behavior_with`](Self::behavior_with), in British spelling.
    #[must_use]
    pub fn behaviour_with<P, S, F>(self, name: impl Into<String>, make: F) -> Self
    where
        P: DeserializeOwned + JsonSchema,
        S: State<T>,
        F: Fn(P) -> S + Send + Sync + 'static,
    {
        self.behavior_with(name, make)
    }
}
