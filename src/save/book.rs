//! Which name is which state.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::any::{Any, TypeId, type_name};
use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::BookError;
#[cfg(feature = "definition")]
use crate::definition::Definition;
use crate::owner::Owner;
use crate::state::{Identity, IntoState, State, StateRef, short_name};

/// Which name is which state: what saving and loading go by ([rule 27](crate::docs::semantics#rule-27)).
///
/// A saved value names its states, and a book says which name is which state: one book for all owners of a type, made once,
/// and the same for saving and for loading. A book names every state that an owner can be in; what it does not know is an error
/// that lists all that is missing. The states around those are found by them: they need to be in the book only if they keep
/// history, or so that their own times are saved.
///
/// | the state is | write |
/// |---|---|
/// | a singleton | [`.with(&Idle)`](Self::with) |
/// | one whose type has been renamed since, or one of several of a type | [`.with_name("Hunt", &Chase)`](Self::with_name) |
/// | an `Arc` that owners share | `.with_name("north", north.clone())`, with the [`StateRef`] that is in use |
/// | an owner's own, a `Box` | [`.with_owned::<Patrol>()`](Self::with_owned) |
/// | from a definition | `.with_definition(&definition)` |
///
/// # Two states of one name
///
/// A book that says two things of one name is refused: [`check`](Self::check) says so at once, and else each `save` and `load`.
/// It does not panic, because the names of a definition come from a file.
///
/// # Examples
///
/// ```
/// use demeanor::{Fsm, Owner, State, StateBook, StateMachine};
///
/// struct Enemy;
/// impl Owner for Enemy { type Context<'a> = f64; type Message = (); fn now(seconds: &f64) -> f64 { *seconds } }
///
/// struct Idle;
/// struct Chase;
/// impl State<Enemy> for Idle {}
/// impl State<Enemy> for Chase {}
///
/// let book = StateBook::<Enemy>::new().with(&Idle).with_name("Hunt", &Chase);
///
/// let mut machine = StateMachine::new(&Idle);
/// machine.change_state(&mut Enemy, &Chase, &mut 100.0);
/// let saved = serde_json::to_string(&machine.save(&book, 103.0)?)?;
/// assert!(saved.contains("Hunt"));
///
/// // Another day, when the clock starts at 0.
/// let machine = book.load(serde_json::from_str(&saved)?, 0.0)?;
/// assert!(machine.is_in_state(&Chase));
/// assert_eq!(machine.time_in_state(&0.0), 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StateBook<T: Owner> {
    pub(super) entries: BTreeMap<String, Entry<T>>,
    /// Under which name a state is saved.
    pub(super) by_identity: BTreeMap<Identity, String>,
    /// Likewise the owned states of a type.
    pub(super) by_owned_type: BTreeMap<TypeId, String>,
    #[cfg(feature = "definition")]
    pub(super) definitions: alloc::vec::Vec<Defined<T>>,
    pub(super) on_missing: Option<Box<StandIn<T>>>,
    pub(super) messages: Option<Messages>,
    mistake: Option<BookError>,
}

pub(super) type StandIn<T> = dyn Fn(&str) -> Missing<T> + Send + Sync;

/// What a name stands for.
pub(super) enum Entry<T: Owner> {
    State(StateRef<T>),
    Owned(OwnedType<T>),
}

/// A type of owned states, and how its data is written and read.
pub(super) struct OwnedType<T: Owner> {
    pub(super) id: TypeId,
    pub(super) write: fn(&dyn State<T>) -> Result<String, String>,
    pub(super) read: fn(&str) -> Result<StateRef<T>, String>,
}

/// How timers' messages are written and read.
pub(super) struct Messages {
    pub(super) write: fn(&dyn Any) -> Result<String, String>,
    pub(super) read: fn(&str) -> Result<Arc<dyn Any + Send + Sync>, String>,
}

#[cfg(feature = "definition")]
pub(super) struct Defined<T: Owner> {
    /// What stands before its states' names.
    pub(super) prefix: String,
    pub(super) definition: Definition<T>,
}

/// What stands in for a state whose name the book does not know. See [`StateBook::on_missing`].
#[derive(Clone, Debug)]
pub enum Missing<T: Owner> {
    /// Nothing: it is not loaded, and the error lists all such names.
    Refuse,
    /// This state. Whoever was in the one that is gone enters it at the beginning of the next tick.
    Enter(StateRef<T>),
    /// This state, as if it had been entered when the one that is gone was.
    Place(StateRef<T>),
}

impl<T: Owner> StateBook<T> {
    /// Creates a book without states.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            by_identity: BTreeMap::new(),
            by_owned_type: BTreeMap::new(),
            #[cfg(feature = "definition")]
            definitions: alloc::vec::Vec::new(),
            on_missing: None,
            messages: None,
            mistake: None,
        }
    }

    /// Adds a state by its [name](State::name).
    #[must_use]
    pub fn with(self, state: impl IntoState<T>) -> Self {
        let state = state.into_state();
        let name = state.name().into_owned();
        self.with_state(name, state)
    }

    /// Adds a state by a name. It may have several: it is saved under the one given first, and loaded under each.
    ///
    /// So a state that has been renamed is still found in old files: `.with(&Chase).with_name("Hunt", &Chase)`.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>, state: impl IntoState<T>) -> Self {
        self.with_state(name.into(), state.into_state())
    }

    /// Adds the owned states of a type, by the type's name without its path. Their data is saved, in
    /// [RON](https://docs.rs/ron), whatever the format of the file. A state that several machines or owners of one batch share
    /// is shared again once it is loaded.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateBook, StateMachine};
    /// use serde::{Deserialize, Serialize};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Patrol { route: Vec<(i32, i32)> }
    /// impl State<Guard> for Patrol {}
    ///
    /// let book = StateBook::<Guard>::new().with_owned::<Patrol>();
    /// let saved = StateMachine::new(Box::new(Patrol { route: vec![(0, 9)] })).save(&book, 0.0)?;
    /// let machine = book.load(saved, 0.0)?;
    /// assert_eq!(machine.current().unwrap().downcast_ref::<Patrol>().unwrap().route, [(0, 9)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_owned<S: State<T> + Clone + Serialize + DeserializeOwned>(self) -> Self {
        self.with_owned_name::<S>(short_name(type_name::<S>()))
    }

    /// As [`with_owned`](Self::with_owned), by a name.
    #[must_use]
    pub fn with_owned_name<S: State<T> + Clone + Serialize + DeserializeOwned>(
        mut self,
        name: impl Into<String>,
    ) -> Self {
        let name = name.into();
        let owned = OwnedType {
            id: TypeId::of::<S>(),
            write: |state| {
                let state = state.downcast_ref::<S>().ok_or("it is of another type")?;
                ron::to_string(state).map_err(|error| error.to_string())
            },
            read: |data| {
                let state: S = ron::from_str(data).map_err(|error| error.to_string())?;
                Ok(StateRef::from(Box::new(state)))
            },
        };
        if let Some(other) = self.by_owned_type.insert(owned.id, name.clone()) {
            self.mistake.get_or_insert(BookError::SameType { names: [other, name.clone()] });
        }
        self.add(name, Entry::Owned(owned));
        self
    }

    /// Adds the states of a definition, by their names in the file. If it is reloaded, the book knows its new states.
    ///
    /// Where two definitions have states of one name, [`with_definition_name`](Self::with_definition_name) tells them apart.
    #[cfg(feature = "definition")]
    #[must_use]
    pub fn with_definition(mut self, definition: &Definition<T>) -> Self {
        self.definitions.push(Defined { prefix: String::new(), definition: definition.clone() });
        self
    }

    /// As [`with_definition`](Self::with_definition), with a name of the definition before those of its states:
    /// `guard/wander`.
    #[cfg(feature = "definition")]
    #[must_use]
    pub fn with_definition_name(mut self, name: &str, definition: &Definition<T>) -> Self {
        self.definitions.push(Defined { prefix: name.to_string() + "/", definition: definition.clone() });
        self
    }

    /// Has timers' messages saved, in RON, as [`with_owned`](Self::with_owned) does the data of states. Needed only where a
    /// timer is to [send](crate::Fsm::send_after) one.
    #[must_use]
    pub fn with_messages(mut self) -> Self
    where
        T::Message: Serialize + DeserializeOwned + Send + Sync,
    {
        self.messages = Some(Messages {
            write: |message| {
                let message = message.downcast_ref::<T::Message>().ok_or("it is of another type")?;
                ron::to_string(message).map_err(|error| error.to_string())
            },
            read: |data| {
                let message: T::Message = ron::from_str(data).map_err(|error| error.to_string())?;
                Ok(Arc::new(message))
            },
        });
        self
    }

    /// Says what stands in for a state whose name the book does not know. Without this, loading it is refused.
    ///
    /// It is asked for the states that somebody is in, was in before, was pushed over in, or has a timer for. To
    /// [enter](Missing::Enter) counts for those that somebody is in; elsewhere the state just takes the other's place.
    /// What a history remembers of a state that is gone is forgotten. Timers and the sleep of the state that is gone end.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Missing, Owner, State, StateBook, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Enemy { is_ready: bool }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Dance;
    /// struct Idle;
    /// impl State<Enemy> for Dance {}
    /// impl State<Enemy> for Idle {
    ///     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         enemy.is_ready = true;
    ///     }
    /// }
    ///
    /// let saved = StateMachine::new(&Dance).save(&StateBook::<Enemy>::new().with(&Dance), 0.0)?;
    ///
    /// // The next version of the game does without `Dance`.
    /// let book = StateBook::<Enemy>::new().with(&Idle);
    /// let error = book.load(saved.clone(), 0.0).unwrap_err();
    /// assert!(error.to_string().starts_with("the book does not know the state `Dance`"));
    ///
    /// let book = book.on_missing(|_| Missing::Enter((&Idle).into()));
    /// let mut machine = book.load(saved, 0.0)?;
    /// let mut enemy = Enemy::default();
    /// machine.update(&mut enemy, &mut ());
    /// assert!(machine.is_in_state(&Idle) && enemy.is_ready);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_missing(mut self, stand_in: impl Fn(&str) -> Missing<T> + Send + Sync + 'static) -> Self {
        self.on_missing = Some(Box::new(stand_in));
        self
    }

    /// Returns whether the book says two things of one name. So do `save` and `load`; a game that asks here hears of it before
    /// anything is lost.
    ///
    /// # Errors
    ///
    /// When it does.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateBook};
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let book = StateBook::<Enemy>::new().with(&Idle).with_name("Idle", &Chase);
    /// assert_eq!(
    ///     book.check().unwrap_err().to_string(),
    ///     "the book has two states named `Idle`: give one of them another name, with `with_name`",
    /// );
    /// ```
    pub fn check(&self) -> Result<(), BookError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        #[cfg(feature = "definition")]
        self.check_definitions()?;
        Ok(())
    }

    #[cfg(feature = "definition")]
    fn check_definitions(&self) -> Result<(), BookError> {
        let mut names = alloc::collections::BTreeSet::new();
        for Defined { prefix, definition } in &self.definitions {
            for state in definition.states() {
                let name = alloc::format!("{prefix}{state}");
                let is_another = match self.entries.get(&name) {
                    Some(Entry::State(other)) => *other != state,
                    Some(Entry::Owned(_)) => true,
                    None => false,
                };
                if is_another || names.contains(&name) {
                    return Err(BookError::SameName { name });
                }
                names.insert(name);
            }
        }
        Ok(())
    }

    fn with_state(mut self, name: String, state: StateRef<T>) -> Self {
        self.by_identity.entry(Identity::of(&*state)).or_insert_with(|| name.clone());
        self.add(name, Entry::State(state));
        self
    }

    fn add(&mut self, name: String, entry: Entry<T>) {
        let is_another = match (self.entries.get(&name), &entry) {
            (Some(Entry::State(one)), Entry::State(other)) => one != other,
            (other, _) => other.is_some(),
        };
        if is_another {
            self.mistake.get_or_insert(BookError::SameName { name });
        } else {
            self.entries.insert(name, entry);
        }
    }
}

impl<T: Owner> Default for StateBook<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Owner> fmt::Debug for StateBook<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.entries.keys().map(String::as_str);
        f.debug_struct("StateBook").field("names", &names.collect::<alloc::vec::Vec<_>>()).finish_non_exhaustive()
    }
}
