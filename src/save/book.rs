//! `StateBook`: the names of the states in saved values.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::hash::Hasher;

use serde::Serialize;
use serde::de::DeserializeOwned;
#[cfg(feature = "std")]
use siphasher::sip::SipHasher13;

use super::error::BookError;
use crate::owner::Owner;
use crate::state::{Identity, IntoState, State, StateRef, short_name};

/// The states of one type of owner, by name, for saving and loading ([rule 27](crate::docs::semantics#rule-27)).
///
/// A saved value contains the names of states. The book says which name belongs to which state. Make one book for all
/// owners of a type, and use it for saving and for loading. The book must contain every state that an owner can be in.
/// If states are missing, saving or loading returns an error that lists them. Loading calls no callback. The time `now`, which
/// saving and loading need, is the time that [`Owner::now`] returns, in seconds.
///
/// The ancestors of a state are found through the state, so they may be missing. But an ancestor that [keeps its
/// history](State::keeps_history) must be in the book.
///
/// | the state is | write |
/// |---|---|
/// | a singleton | [`.with(&Idle)`](Self::with) |
/// | a singleton whose type was renamed, or one of several states of one type | [`.with_name("Hunt", &Chase)`](Self::with_name) |
/// | an `Arc` that owners share | `.with_name("north", north.clone())`, with the [`StateRef`] that is in use |
/// | an owned state, in a `Box` | [`.with_owned::<Patrol>()`](Self::with_owned) |
/// | a state of a definition | `.with_definition(&definition)` |
/// | a state whose name another state has, too | [`.within("bat", \|book\| book.with(&bat::Walk))`](Self::within) |
///
/// # Two states with one name
///
/// If a book has two states with the same name, [`check`](Self::check) returns an error, and so does each `save` and `load`.
/// Nothing panics, because the names of a definition come from a file. [`within`](Self::within) qualifies the names of several
/// states: `bat::Walk` is then saved as `bat/Walk`, and `crab::Walk` as `crab/Walk`.
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
    entries: BTreeMap<String, NamedState<T>>,
    /// The name under which each state is saved.
    by_identity: BTreeMap<Identity, String>,
    /// For each type of owned states, the name under which its states are saved.
    by_owned_type: BTreeMap<TypeId, String>,
    definitions: Vec<Box<dyn NamedStates<T>>>,
    on_missing: Option<Box<StandIn<T>>>,
    pub(super) messages: Option<Messages>,
    /// The text that `within` puts before the names that are added; empty outside of `within`.
    pub(crate) qualifier: String,
    /// The first mistake that was found while states were added.
    mistake: Option<BookError>,
}

type StandIn<T> = dyn Fn(&str) -> Missing<T> + Send + Sync;

/// The state or the type of owned states that has a name.
enum NamedState<T: Owner> {
    State(StateRef<T>),
    Owned(OwnedType<T>),
}

/// A type of owned states, and the functions that write and read the data of its states.
pub(super) struct OwnedType<T: Owner> {
    id: TypeId,
    pub(super) write: fn(&dyn State<T>) -> Result<String, String>,
    pub(super) read: fn(&str) -> Result<StateRef<T>, String>,
}

/// The functions that write and read the messages of timers.
pub(super) struct Messages {
    pub(super) write: fn(&dyn Any) -> Result<String, String>,
    pub(super) read: fn(&str) -> Result<Arc<dyn Any + Send + Sync>, String>,
}

/// States that have their names already: the states of a definition.
pub(crate) trait NamedStates<T: Owner>: Send + Sync {
    /// Returns the name of one of these states; `None` for any other state.
    fn name_of(&self, state: &StateRef<T>) -> Option<String>;
    /// Returns the state with a name.
    fn state(&self, name: &str) -> Option<StateRef<T>>;
    /// Returns all of these states, with their names.
    fn states(&self) -> Vec<(String, StateRef<T>)>;
    /// Hashes everything that decides which owners in these states may sleep.
    fn hash(&self, hasher: &mut dyn Hasher);
}

/// The replacement for a state whose name the book does not know. See [`StateBook::on_missing`].
#[derive(Clone, Debug)]
pub enum Missing<T: Owner> {
    /// No replacement: loading returns an error, which lists all such names.
    Refuse,
    /// This state. An owner whose current state is missing enters this state at the beginning of its next tick.
    Enter(StateRef<T>),
    /// This state, as if the owner had entered this state when it entered the missing one. No `enter` runs.
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
            definitions: Vec::new(),
            on_missing: None,
            messages: None,
            qualifier: String::new(),
            mistake: None,
        }
    }

    /// Adds a state by its [name](State::name).
    #[must_use]
    pub fn with(self, state: impl IntoState<T>) -> Self {
        let state = state.into_state();
        self.with_state(&state.name(), state.clone())
    }

    /// Adds a state with a name. A state may have several names: it is saved under the first name, and loaded under each of them.
    ///
    /// With a second name, old files can still be loaded after a state was renamed: `.with(&Chase).with_name("Hunt", &Chase)`.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>, state: impl IntoState<T>) -> Self {
        self.with_state(&name.into(), state.into_state())
    }

    /// Adds all owned states of type `S`, with the name of the type without its path. The data of each state is saved as text in
    /// [RON](https://docs.rs/ron), whatever the format of the file is. If owners of one batch share an owned state, they share it
    /// again after loading.
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

    /// Like [`with_owned`](Self::with_owned), with another name.
    #[must_use]
    pub fn with_owned_name<S: State<T> + Clone + Serialize + DeserializeOwned>(
        mut self,
        name: impl Into<String>,
    ) -> Self {
        let name = self.qualifier.clone() + name.into().as_str();
        let owned = OwnedType {
            id: TypeId::of::<S>(),
            write: |state| written(state.downcast_ref::<S>()),
            read: |data| Ok(StateRef::from(Box::new(read::<S>(data)?))),
        };
        if let Some(other) = self.by_owned_type.insert(owned.id, name.clone()) {
            self.mistake.get_or_insert(BookError::SameType { names: [other, name.clone()] });
        }
        self.add(name, NamedState::Owned(owned));
        self
    }

    /// Adds the states that `add` adds, with qualified names: each name begins with `name` and a slash. Calls can be nested, and
    /// `add` can use every method of the book: `within` affects only names.
    ///
    /// Files that were saved before the names were qualified have the short names. To load them, add each short name as a second
    /// name after the call: `.with_name("Walk", &bat::Walk)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateBook, StateMachine};
    ///
    /// pub struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// mod bat {
    ///     pub struct Walk;
    ///     pub struct Sleep;
    /// }
    /// mod crab {
    ///     pub struct Walk;
    /// }
    /// impl State<Enemy> for bat::Walk {}
    /// impl State<Enemy> for bat::Sleep {}
    /// impl State<Enemy> for crab::Walk {}
    ///
    /// let book = StateBook::<Enemy>::new()
    ///     .within("bat", |book| book.with(&bat::Walk).with(&bat::Sleep))
    ///     .within("crab", |book| book.with(&crab::Walk));
    /// let saved = serde_json::to_string(&StateMachine::new(&crab::Walk).save(&book, 0.0)?)?;
    /// assert!(saved.contains("crab/Walk"));
    /// assert!(book.load(serde_json::from_str(&saved)?, 0.0)?.is_in_state(&crab::Walk));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn within(mut self, name: &str, add: impl FnOnce(Self) -> Self) -> Self {
        let outer = self.qualifier.clone();
        self.qualifier += name;
        self.qualifier.push('/');
        Self { qualifier: outer, ..add(self) }
    }

    /// Adds states that have their names already.
    pub(crate) fn with_named_states(mut self, states: impl NamedStates<T> + 'static) -> Self {
        self.definitions.push(Box::new(states));
        self
    }

    /// Enables saving and loading the messages of timers, as text in RON. This is necessary if a state
    /// [sends a message later](crate::Fsm::send_after).
    #[must_use]
    pub fn with_messages(mut self) -> Self
    where
        T::Message: Serialize + DeserializeOwned + Send + Sync,
    {
        self.messages = Some(Messages {
            write: |message| written(message.downcast_ref::<T::Message>()),
            read: |data| Ok(Arc::new(read::<T::Message>(data)?)),
        });
        self
    }

    /// Sets a function that returns the replacement for a state whose name the book does not know. The function gets this name.
    /// Without such a function, loading returns an error.
    ///
    /// The function is called for the current and the previous states, for suspended states, for states in a history, and for the
    /// targets of timers. [`Missing::Enter`] runs `enter` only for a current state; in the other cases it is the same as
    /// [`Missing::Place`]. A history drops a missing state and does not use the replacement. The timers and the sleep of a
    /// missing state end.
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
    /// // The next version of the game has no state `Dance`.
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

    /// Checks that no two states of the book have the same name, and that no type of owned states was added twice. `save` and
    /// `load` check this, too. If the game calls `check` when it starts, a mistake is found before the player saves.
    ///
    /// # Errors
    ///
    /// When two states have the same name, or when a type of owned states was added twice.
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
    ///     "the book has two states named `Idle`: give one of them another name, with `with_name`, \
    ///      or add it in `within(\"kind\", ..)`, which makes its name `kind/Idle`",
    /// );
    /// ```
    pub fn check(&self) -> Result<(), BookError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        let mut names = BTreeSet::new();
        for definition in &self.definitions {
            for (name, state) in definition.states() {
                let is_another = match self.entries.get(&name) {
                    Some(NamedState::State(other)) => *other != state,
                    Some(NamedState::Owned(_)) => true,
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

    fn with_state(mut self, name: &str, state: StateRef<T>) -> Self {
        let name = self.qualifier.clone() + name;
        self.by_identity.entry(Identity::of(&*state)).or_insert_with(|| name.clone());
        self.add(name, NamedState::State(state));
        self
    }

    fn add(&mut self, name: String, entry: NamedState<T>) {
        let is_another = match (self.entries.get(&name), &entry) {
            (Some(NamedState::State(one)), NamedState::State(other)) => one != other,
            (other, _) => other.is_some(),
        };
        if is_another {
            self.mistake.get_or_insert(BookError::SameName { name });
        } else {
            self.entries.insert(name, entry);
        }
    }
}

/// Lookups for saving and loading: the name of a state, and the state with a name.
impl<T: Owner> StateBook<T> {
    /// Returns the name in the book or in a definition under which a state itself is saved. `None` for an owned state that the
    /// book knows only by its type, and for an unknown state.
    pub(super) fn name_of(&self, state: &StateRef<T>) -> Option<String> {
        if let Some(name) = self.by_identity.get(&Identity::of(&**state)) {
            return Some(name.clone());
        }
        self.definitions.iter().find_map(|definition| definition.name_of(state))
    }

    /// Returns whether a state of a definition is gone, and a reload has given its name to another state.
    pub(super) fn is_replaced(&self, state: &StateRef<T>) -> bool {
        let named = self.definitions.iter().find_map(|definition| definition.state(&definition.name_of(state)?));
        named.is_some_and(|named| named != *state)
    }

    /// Returns whether a state of a definition is gone, and no state has its name.
    pub(super) fn is_gone(&self, state: &StateRef<T>) -> bool {
        let mut definitions = self.definitions.iter();
        definitions.any(|definition| definition.name_of(state).is_some_and(|name| definition.state(&name).is_none()))
    }

    /// Returns the type of an owned state, and the name under which its states are saved.
    pub(super) fn owned_type_of(&self, state: &StateRef<T>) -> Option<(&str, &OwnedType<T>)> {
        // A shared state is not owned. A boxed state of size zero is not owned either (rule 17), but the book may have its type.
        let can_be_owned = state.is_owned() || size_of_val(&**state) == 0;
        let name = self.by_owned_type.get(&Identity::of(&**state).type_id).filter(|_| can_be_owned)?;
        match self.entries.get(name) {
            Some(NamedState::Owned(owned)) => Some((name, owned)),
            _ => None,
        }
    }

    /// Returns a name for a type of owned states: the name of the type, or else the name of an owned state of this type.
    #[cfg(feature = "std")]
    pub(crate) fn name_of_type(&self, id: TypeId) -> Option<&str> {
        let own = self.by_owned_type.get(&id).map(String::as_str);
        own.or_else(|| {
            self.entries.iter().find_map(|(name, entry)| match entry {
                NamedState::State(state) if state.is_owned() && Identity::of(&**state).type_id == id => {
                    Some(name.as_str())
                }
                _ => None,
            })
        })
    }

    /// Returns the type of owned states with this name, or the type of the owned state with this name. The method is public
    /// because the plugin for Bevy uses it, too.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    #[must_use]
    pub fn type_of_name(&self, name: &str) -> Option<TypeId> {
        match self.entries.get(name)? {
            NamedState::State(state) => state.is_owned().then(|| Identity::of(&**state).type_id),
            NamedState::Owned(owned) => Some(owned.id),
        }
    }

    /// Returns the state with a name. `None` if the name is unknown, or if it is the name of a type of owned states.
    pub(super) fn state_of(&self, name: &str) -> Option<StateRef<T>> {
        match self.entries.get(name) {
            Some(NamedState::State(state)) => return Some(state.clone()),
            Some(NamedState::Owned(_)) => return None,
            None => {}
        }
        self.definitions.iter().find_map(|definition| definition.state(name))
    }

    /// Returns the type of owned states with a name.
    pub(super) fn owned_type(&self, name: &str) -> Option<&OwnedType<T>> {
        match self.entries.get(name)? {
            NamedState::Owned(owned) => Some(owned),
            NamedState::State(_) => None,
        }
    }

    pub(super) fn stand_in(&self, name: &str) -> Missing<T> {
        self.on_missing.as_ref().map_or(Missing::Refuse, |stand_in| stand_in(name))
    }

    /// Returns a digest of the definitions in the book; 0 if there are none.
    #[cfg_attr(not(feature = "std"), expect(clippy::unused_self, reason = "there are no definitions"))]
    pub(crate) fn definitions_digest(&self) -> u64 {
        #[cfg(feature = "std")]
        if !self.definitions.is_empty() {
            let mut hasher = SipHasher13::new();
            self.definitions.iter().for_each(|definition| definition.hash(&mut hasher));
            return hasher.finish().max(1);
        }
        0
    }

    /// Returns whether a state comes from a definition in the book.
    pub(super) fn is_defined(&self, state: &StateRef<T>) -> bool {
        self.definitions.iter().any(|definition| definition.name_of(state).is_some())
    }
}

/// Writes a value as text. `None` stands for a value of another type, which is an error.
fn written(value: Option<&impl Serialize>) -> Result<String, String> {
    ron::to_string(value.ok_or("it is of another type")?).map_err(|error| error.to_string())
}

/// Reads a value from a text.
fn read<V: DeserializeOwned>(text: &str) -> Result<V, String> {
    ron::from_str(text).map_err(|error| error.to_string())
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
