//! The words that a file may use: the game's values, behaviors, actions and messages, by name.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use self::by_name::ByName;
use super::closures::{ActionFn, MessageKind, Random, Setter, Value};
use super::named::FileStates;
use crate::format::beside::FilesBeside;
#[cfg(feature = "script")]
use crate::format::beside::script_text;
use crate::format::draft::Params;
use crate::format::expression::is_name;
use crate::format::library::Library;
use crate::format::words::{ValueKind, WordKind, Words};
use crate::owner::Owner;
use crate::state::{IntoState, StateRef};

mod behaviors;
pub(crate) mod by_name;
pub(crate) mod messages;
#[cfg(feature = "script")]
pub(crate) mod scripting;

/// The words that a definition may use for owners of type `T`: values, behaviors, actions and messages, registered by name.
///
/// The names of values and of message fields are written in conditions, so they must be words: letters, digits, `_` and `.`,
/// beginning with a letter or `_`. A word does not begin with `message.`, and it is not one of `and`, `or`, `not`, `true`,
/// `false`, `time_in_state`, `chance`.
///
/// Register each word once. If a word is registered twice, no definition can be loaded, because it is not clear which of the
/// two a file means. The error names the word (code `duplicate-word`). A value and a behavior may have the same name.
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Definition, Vocabulary};
/// use demeanor::{Fsm, Owner, State};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Default)]
/// struct Enemy {
///     health: f32,
///     x: f32,
///     sees_player: bool,
/// }
///
/// enum Told {
///     Hit,
/// }
///
/// impl Owner for Enemy {
///     type Context<'a> = ();
///     type Message = Told;
/// }
///
/// struct Rest;
/// impl State<Enemy> for Rest {}
///
/// /// A behavior with parameters: one type, many states of the file.
/// struct GoTo {
///     x: f32,
/// }
///
/// #[derive(Deserialize, JsonSchema)]
/// struct GoToParams {
///     x: f32,
/// }
///
/// impl State<Enemy> for GoTo {
///     fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
///         enemy.x += (self.x - enemy.x).clamp(-1.0, 1.0);
///     }
/// }
///
/// let vocabulary = Vocabulary::new()
///     .value("health", |enemy: &Enemy, _| enemy.health.into())
///     .flag("sees_player", |enemy: &Enemy, _| enemy.sees_player)
///     .behavior("rest", &Rest)
///     .behavior_with("go_to", |params: GoToParams| GoTo { x: params.x })
///     .message("hit", |told| matches!(told, Told::Hit));
///
/// let file = r#"
///     initial = "rest"
///
///     [states.rest]
///     behavior = "rest"
///     exits = [
///         { to = "run to cover", on = "hit" },
///         { to = "find quad damage", when = "sees_player and health > 50" },
///     ]
///
///     [states."find quad damage"]
///     behavior = "go_to"
///     params = { x = 9.0 }
///     exits = [{ to = "run to cover", when = "health < 20" }]
///
///     [states."run to cover"]
///     behavior = "go_to"
///     params = { x = -9.0 }
///     exits = [{ to = "rest", when = "not sees_player" }]
/// "#;
/// let definition = Definition::parse(file, &vocabulary)?;
///
/// let mut enemy = Enemy { health: 80.0, sees_player: true, ..Enemy::default() };
/// let mut machine = definition.machine();
/// machine.start(&mut enemy, &mut ());
/// machine.update(&mut enemy, &mut ());
/// machine.update(&mut enemy, &mut ());
/// assert_eq!(machine.current().unwrap().name(), "find quad damage");
/// assert_eq!(enemy.x, 1.0);
///
/// enemy.health = 10.0;
/// machine.update(&mut enemy, &mut ());
/// assert!(machine.is_in_state(&*definition.state("run to cover").unwrap()));
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
pub struct Vocabulary<T: Owner> {
    /// Everything that a file can know of the words, without the code behind them.
    pub(crate) words: Words,
    pub(crate) values: ByName<Value<T>>,
    behaviors: ByName<Make<T>>,
    messages: ByName<MessageKind<T>>,
    actions: ByName<ActionFn<T>>,
    /// The functions that write values for exits and scripts, by the name of the value. A flag is 1 or 0.
    pub(crate) setters: ByName<Setter<T>>,
    /// The fields of the messages.
    fields: messages::Fields<T>,
    /// Draws random numbers for conditions and durations.
    pub(crate) random: Option<Random<T>>,
    /// The words that have been registered more than once. If there are any, no definition can be loaded.
    pub(crate) repeated: BTreeSet<Repeated>,
    #[cfg(feature = "script")]
    pub(crate) scripts: scripting::Scripts,
}

/// A part of the vocabulary that has been registered more than once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Repeated {
    Word(WordKind, String),
    /// The text of a script, by the name of its file.
    #[cfg(feature = "script")]
    Script(String),
    Random,
}

/// Creates the state in code that implements a behavior, from the parameters in a file.
type Make<T> = Arc<dyn Fn(Option<Params<'_>>, &FileStates<T>) -> Result<StateRef<T>, toml::de::Error> + Send + Sync>;

impl<T: Owner> Vocabulary<T> {
    /// Creates a vocabulary without words.
    #[must_use]
    pub fn new() -> Self {
        Self {
            words: Words { scripts: cfg!(feature = "script"), ..Words::default() },
            values: ByName::new(),
            behaviors: ByName::new(),
            messages: ByName::new(),
            actions: ByName::new(),
            setters: ByName::new(),
            fields: ByName::new(),
            random: None,
            repeated: BTreeSet::new(),
            #[cfg(feature = "script")]
            scripts: scripting::Scripts::default(),
        }
    }

    /// Adds a number, such as `health`, for conditions: `health < 20`.
    ///
    /// If the number is NaN, every comparison with it is false.
    ///
    /// # Panics
    ///
    /// When `name` is not a word: see [`Vocabulary`].
    #[must_use]
    pub fn value<F>(self, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(&T, &T::Context<'_>) -> f64 + Send + Sync + 'static,
    {
        self.with_value(name.into(), Value::Number(Arc::new(read)))
    }

    /// Adds a value that is true or false, such as `enemy_visible`, for conditions: `not enemy_visible`.
    ///
    /// # Panics
    ///
    /// When `name` is not a word: see [`Vocabulary`].
    #[must_use]
    pub fn flag<F>(self, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(&T, &T::Context<'_>) -> bool + Send + Sync + 'static,
    {
        self.with_value(name.into(), Value::Flag(Arc::new(read)))
    }

    /// Adds a number like a [`value`](Self::value), which files may also write: exits with `set`, and scripts.
    ///
    /// # Panics
    ///
    /// When `name` is not a word: see [`Vocabulary`].
    #[must_use]
    pub fn field<G, S>(mut self, name: impl Into<String>, get: G, set: S) -> Self
    where
        G: Fn(&T, &T::Context<'_>) -> f64 + Send + Sync + 'static,
        S: Fn(&mut T, f64) + Send + Sync + 'static,
    {
        let name = name.into();
        self.add_setter(&name, Arc::new(set));
        self.value(name, get)
    }

    /// Adds a value that is true or false like a [`flag`](Self::flag), which files may also write: exits with `set`, and scripts.
    ///
    /// # Panics
    ///
    /// When `name` is not a word: see [`Vocabulary`].
    #[must_use]
    pub fn flag_field<G, S>(mut self, name: impl Into<String>, get: G, set: S) -> Self
    where
        G: Fn(&T, &T::Context<'_>) -> bool + Send + Sync + 'static,
        S: Fn(&mut T, bool) + Send + Sync + 'static,
    {
        let name = name.into();
        self.add_setter(&name, Arc::new(move |owner, number| set(owner, number != 0.0)));
        self.flag(name, get)
    }

    /// Adds an action: something that the game does at once when an exit with `do = ".."` is taken, or when a state that
    /// has the action in its list `enter` or `exit` is entered or left ([rule 40](crate::docs::semantics#rule-40)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    ///
    /// struct Dragon {
    ///     rage: f64,
    ///     sounds: Vec<&'static str>,
    ///     children: u32,
    /// }
    ///
    /// impl Owner for Dragon {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// let vocabulary = Vocabulary::new()
    ///     .field("rage", |dragon: &Dragon, ()| dragon.rage, |dragon, rage| dragon.rage = rage)
    ///     .action("roar", |dragon, ()| dragon.sounds.push("roar"))
    ///     .action_with("spawn", |dragon, count, ()| dragon.children += count as u32);
    /// let file = "
    ///     initial = 'rest'
    ///     states.rest.exits = [{ to = 'rage', when = 'rage > 9', do = ['roar', { spawn = 3 }], set = { rage = 'rage / 2' } }]
    ///     states.rage.enter = 'roar'
    ///     states.rage.final = true
    /// ";
    /// let mut machine = Definition::parse(file, &vocabulary)?.machine();
    /// let mut dragon = Dragon { rage: 10.0, sounds: Vec::new(), children: 0 };
    /// machine.update(&mut dragon, &mut ());
    /// assert_eq!((dragon.rage, dragon.sounds, dragon.children), (5.0, vec!["roar", "roar"], 3));
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn action<F>(self, name: impl Into<String>, act: F) -> Self
    where
        F: Fn(&mut T, &mut T::Context<'_>) + Send + Sync + 'static,
    {
        self.with_action(name.into(), None, Arc::new(move |owner, _, cx| act(owner, cx)))
    }

    /// Like [`action`](Self::action), for an action that gets a number: `do = { spawn = 3 }`.
    #[must_use]
    pub fn action_with<F>(self, name: impl Into<String>, act: F) -> Self
    where
        F: Fn(&mut T, f64, &mut T::Context<'_>) + Send + Sync + 'static,
    {
        self.with_action(name.into(), Some(ValueKind::Number), Arc::new(act))
    }

    /// Adds a behavior whose code is not available: `state` takes its place. The parameters in a file are checked against
    /// `schema`, a JSON Schema, and then ignored. With `None`, the behavior has no parameters.
    ///
    /// This is for tools, which know only the [`Words`] of a game.
    #[must_use]
    pub fn stand_in(
        self,
        name: impl Into<String>,
        schema: Option<serde_json::Value>,
        state: impl IntoState<T>,
    ) -> Self {
        let state = state.into_state();
        let make = move |_: Option<Params<'_>>, _: &FileStates<T>| Ok(state.clone());
        self.with_behavior(name.into(), schema, Arc::new(make))
    }

    /// Adds a kind of message, for exits with `on = ".."`. `is` returns whether a message is of this kind.
    #[must_use]
    pub fn message<F>(self, name: impl Into<String>, is: F) -> Self
    where
        F: Fn(&T::Message) -> bool + Send + Sync + 'static,
    {
        self.with_message(name.into(), Arc::new(is))
    }

    /// Sets how many times a second the game updates its owners, for durations in ticks such as `after = "10 ticks"`. If a file
    /// has its own `ticks_per_second`, the number in the file applies instead.
    ///
    /// # Panics
    ///
    /// When `rate` is not a finite number above 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let file = "
    ///     initial = 'aim'
    ///     states.aim.exits = [{ to = 'shoot', after = '7 ticks' }]
    ///     states.shoot.final = true
    /// ";
    /// assert!(Definition::parse(file, &Vocabulary::<Guard>::new()).is_err());
    /// let definition = Definition::parse(file, &Vocabulary::<Guard>::new().ticks_per_second(35.0))?;
    /// assert_eq!(definition.outline().states()[0].exits()[0].after().unwrap().seconds(), Some(0.2));
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn ticks_per_second(mut self, rate: f64) -> Self {
        assert!(rate.is_finite() && rate > 0.0, "a game cannot have {rate} ticks in a second");
        self.words.ticks_per_second = Some(rate);
        self
    }

    /// Adds random numbers, for conditions with `chance(0.1)` and for durations such as `2 s .. 4 s`. `draw` returns a number
    /// from 0 to below 1.
    ///
    /// Keep the random number generator in the owner. Then a run can be repeated, and the numbers of an owner do not depend on
    /// the other owners.
    #[must_use]
    pub fn random<F>(mut self, draw: F) -> Self
    where
        F: Fn(&mut T, &mut T::Context<'_>) -> f64 + Send + Sync + 'static,
    {
        if self.random.replace(Arc::new(draw)).is_some() {
            self.repeated.insert(Repeated::Random);
        }
        self.words.random = true;
        self
    }

    /// Adds a description of a word, which editors show to the person who writes a definition. `name` is the name of a value, a
    /// behavior or a message. For a field of a message, put the name of the message before it: `hit.damage`.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Vocabulary;
    /// struct Guard { health: f64 }
    /// impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new()
    ///     .value("health", |guard: &Guard, _| guard.health)
    ///     .describe("health", "From 0 to 100.");
    /// assert_eq!(vocabulary.export().descriptions["health"], "From 0 to 100.");
    /// ```
    #[must_use]
    pub fn describe(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.words.descriptions.insert(name.into(), text.into());
        self
    }

    /// Sets the range of a value: the least and the greatest number that it can be. A comparison that holds for no number in the
    /// range is then an error in the file, and a comparison that holds for all of them is a warning. The value may also be NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::{Definition, Vocabulary};
    /// use demeanor::Owner;
    /// struct Guard { hour: f64 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new().value("hour", |guard: &Guard, _| guard.hour).range("hour", 0.0..=24.0);
    /// let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', when = 'hour >= 25' }]\nstates.b.final = true\n";
    /// let problems = Definition::parse(file, &vocabulary).err().expect("no day has such an hour");
    /// assert_eq!(problems.iter().next().unwrap().to_string(), "`hour >= 25` never holds: `hour` is from 0 to 24");
    /// ```
    #[must_use]
    pub fn range(mut self, name: impl Into<String>, range: RangeInclusive<f64>) -> Self {
        self.words.ranges.insert(name.into(), range.into_inner());
        self
    }

    /// Returns the words without the code behind them, for tools.
    #[must_use]
    pub fn export(&self) -> Words {
        self.words.clone()
    }

    /// Returns the files that a definition's text links to, and its scripts.
    pub(crate) fn library(&self, text: &str, beside: Option<&FilesBeside>) -> Library<'static> {
        let library = Library::of(text, beside);
        #[cfg(not(feature = "script"))]
        let _ = self;
        #[cfg(feature = "script")]
        let library = {
            let (texts, beside) = (self.scripts.texts.clone(), beside.cloned());
            library.with_scripts(move |script| script_text(&texts, script, beside.as_ref()))
        };
        library
    }

    /// Adds a word to the map of its kind.
    fn with_word<W>(mut self, kind: WordKind, name: String, word: W, words: fn(&mut Self) -> &mut ByName<W>) -> Self {
        if words(&mut self).insert(name.clone(), word) {
            self.repeated.insert(Repeated::Word(kind, name));
        }
        self
    }

    fn with_action(mut self, name: String, argument: Option<ValueKind>, run: ActionFn<T>) -> Self {
        self.words.actions.insert(name.clone(), argument);
        self.with_word(WordKind::Action, name, run, |vocabulary| &mut vocabulary.actions)
    }

    fn with_behavior(mut self, name: String, schema: Option<serde_json::Value>, make: Make<T>) -> Self {
        self.words.behaviors.insert(name.clone(), schema);
        self.with_word(WordKind::Behaviour, name, make, |vocabulary| &mut vocabulary.behaviors)
    }

    fn with_message(mut self, name: String, is: MessageKind<T>) -> Self {
        self.words.messages.insert(name.clone());
        self.with_word(WordKind::Message, name, is, |vocabulary| &mut vocabulary.messages)
    }

    fn with_value(mut self, name: String, value: Value<T>) -> Self {
        let name = word(name);
        self.words.values.insert(name.clone(), value.kind());
        self.with_word(WordKind::Value, name, value, |vocabulary| &mut vocabulary.values)
    }

    fn add_setter(&mut self, value: &str, set: Setter<T>) {
        self.words.fields.insert(value.into());
        self.setters.insert(value.into(), set);
    }

    pub(crate) fn value_of(&self, name: &str) -> Option<Value<T>> {
        self.values.get(name).cloned()
    }

    pub(crate) fn message_of(&self, name: &str) -> Option<MessageKind<T>> {
        self.messages.get(name).cloned()
    }

    pub(crate) fn action_of(&self, name: &str) -> Option<ActionFn<T>> {
        self.actions.get(name).cloned()
    }

    /// Returns an action that writes a value.
    pub(crate) fn setter_of(&self, value: &str) -> Option<ActionFn<T>> {
        let set = Arc::clone(self.setters.get(value)?);
        Some(Arc::new(move |owner, number, _| set(owner, number)))
    }

    /// Creates the state in code that implements `behaviour`. `None` if there is no behavior with this name.
    pub(crate) fn make(
        &self,
        behaviour: &str,
        params: Option<Params<'_>>,
        states: &FileStates<T>,
    ) -> Option<Result<StateRef<T>, toml::de::Error>> {
        self.behaviors.get(behaviour).map(|make| make(params, states))
    }
}

/// Returns the name. Panics if it cannot be written in a condition.
#[track_caller]
pub(crate) fn word(name: String) -> String {
    assert!(is_name(&name), "`{name}` cannot be written in a condition: a value's name is a word");
    name
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(kind, name) => write!(f, "the {kind} `{name}`"),
            #[cfg(feature = "script")]
            Self::Script(file) => write!(f, "the script `{file}`"),
            Self::Random => f.write_str("random numbers"),
        }
    }
}

impl<T: Owner> Default for Vocabulary<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Owner> Clone for Vocabulary<T> {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
            values: self.values.clone(),
            behaviors: self.behaviors.clone(),
            messages: self.messages.clone(),
            actions: self.actions.clone(),
            setters: self.setters.clone(),
            fields: self.fields.clone(),
            random: self.random.clone(),
            repeated: self.repeated.clone(),
            #[cfg(feature = "script")]
            scripts: self.scripts.clone(),
        }
    }
}

impl<T: Owner> fmt::Debug for Vocabulary<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vocabulary").field(&self.words).finish()
    }
}
