//! Machines from files that a designer edits.
//!
//! A file says which states there are, what each state does, and under which conditions an owner changes from one state
//! to another. The file uses words for values, behaviors and messages. The game defines these words in code, in a
//! [`Vocabulary`]. A [`Definition`] is made from the file and the vocabulary, and serves any number of owners. Its states are
//! ordinary states, for a [`StateMachine`] and for a batch, and can be mixed with states that are written in Rust.
//!
//! ```toml
//! initial = "wander"
//!
//! [states.wander]
//! behavior = "wander"
//! exits = [{ to = "attack", when = "enemy_visible and health > 20" }]
//!
//! [states.attack]
//! behavior = "go_to"
//! params = { target = "enemy", speed = 2.0 }
//! enter_when = "ammo > 0"
//! exits = [
//!     { to = "run to cover", on = "took_damage", when = "health < 50" },
//!     { to = "wander", when = "not enemy_visible and time_in_state > 2.5" },
//! ]
//!
//! [states."run to cover"]
//! behavior = "go_to"
//! params = { target = "cover", speed = 3.0 }
//! exits = [{ to = "wander", when = "time_in_state > 10 or chance(0.01)" }]
//! ```
//!
//! [A page of these docs](crate::docs::definitions) describes the format for designers; [`schema`] is its JSON Schema
//! for editors.

// This layer is above `format`, `machine` and `batch`. `format` reads files and finds mistakes in them. This layer runs the
// result for owners.

mod action;
mod block;
mod build;
mod choice;
mod closures;
mod compile;
mod condition;
mod coverage;
mod decide;
mod defined;
mod definitions;
mod explain;
mod formula;
mod graph;
mod handle;
mod moment;
mod named;
mod opening;
mod properties;
mod record;
mod replay;
mod rest;
mod saved;
#[cfg(feature = "script")]
mod script;
mod several;
mod values;
mod vocabulary;
#[cfg(feature = "watch")]
mod watch;

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use log::{info, warn};

pub use crate::format::choose::Choose;
pub use crate::format::cursor::{Cursor, CursorPart};
pub use crate::format::draft::schema;
pub use crate::format::duration::Duration;
pub use crate::format::files::Files;
pub use crate::format::leads::Leads;
pub use crate::format::outline::mention::{Meaning, Mention};
pub use crate::format::outline::{ExitOutline, Outline, StateId, StateOutline, Unchecked};
pub use crate::format::problems::load_error::LoadError;
pub use crate::format::problems::problem::{Problem, Problems};
pub use crate::format::prove::{
    ExitRun, ExitRuns, Finding, Proof, PropertyAnswer, PropertyProof, UntakenExit, Witness, WitnessChange, WitnessRow,
    WitnessValue,
};
#[cfg(feature = "script")]
pub use crate::format::script::budget::ScriptBudget;
pub use crate::format::survey::{Key, Survey};
pub use crate::format::words::{ValueKind, Words};
pub use coverage::{Coverage, ExitSeen};
pub use definitions::Definitions;
pub use explain::{Answer, ExitReport, Question, Verdict};
pub use graph::DefinedState;
pub use named::{FileState, FileStates, StateName};
pub use properties::PropertyWatch;
pub use vocabulary::Vocabulary;
#[cfg(feature = "watch")]
pub use watch::Watch;

use crate::batch::Batch;
use crate::format::beside::FilesBeside;
use crate::format::outline::Checked;
use crate::format::outline::check::check;
use crate::format::problems::findings::Findings;
use crate::format::problems::mistake::Mistake;
use crate::format::source::Source;
use crate::format::text::text_at;
use crate::machine::state_machine::StateMachine;
use crate::machine::waiting::NextWake;
use crate::owner::Owner;
use crate::state::StateRef;
use build::Built;
use graph::{Graph, SharedGraph};

/// A machine from a file: its states, what they do, and the exits between them.
///
/// One definition serves any number of owners. This type is a handle: a clone of it is a handle to the same definition. Machines
/// that are in states of the definition continue after all handles have been dropped.
///
/// # Order of calls
///
/// In a tick, the behavior of a state runs first, then its script. Then the exits of the state are tried, in the order of the
/// file: the first one that is open, whose condition holds and that no guard refuses is taken. [A page](crate::docs::definitions)
/// describes what a file can contain. Numbers without a unit are seconds by [`Owner::now`].
///
/// No mistake in a file panics: [`parse`](Self::parse), [`load`](Self::load) and [`reload`](Self::reload) return an error
/// that lists all mistakes. A panic in a behavior, or in a function of the [`Vocabulary`], reaches the caller, as one in a
/// callback does ([rule 22](crate::docs::semantics#rule-22)).
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Definition, Vocabulary};
/// use demeanor::{Fsm, GameTime, Owner, State};
/// use std::time::Duration;
///
/// struct Door;
///
/// impl Owner for Door {
///     type Context<'a> = GameTime;
///     type Message = &'static str;
///
///     fn now(time: &GameTime) -> f64 {
///         time.total().as_secs_f64()
///     }
/// }
///
/// let vocabulary = Vocabulary::<Door>::new().message("push", |told| *told == "push");
/// let definition = Definition::parse(
///     r#"
///         initial = "closed"
///
///         [states.closed]
///         exits = [{ to = "open", on = "push" }]
///
///         [states.open]
///         exits = [{ to = "closed", when = "time_in_state >= 3" }]
///     "#,
///     &vocabulary,
/// )?;
///
/// let (mut door, mut time) = (Door, GameTime::new());
/// let mut machine = definition.machine();
/// machine.start(&mut door, &mut time);
/// assert!(machine.send(&mut door, &"push", &mut time));
/// assert_eq!(machine.current().unwrap().name(), "open");
/// for _ in 0..3 {
///     time.advance(Duration::from_secs(1));
///     machine.update(&mut door, &mut time);
/// }
/// assert_eq!(machine.current(), definition.state("closed").as_ref());
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
pub struct Definition<T: Owner> {
    inner: Arc<Inner<T>>,
}

struct Inner<T: Owner> {
    shared: Arc<SharedGraph<T>>,
    vocabulary: Vocabulary<T>,
    loaded: Mutex<Loaded<T>>,
}

/// The file as it was last loaded without an error.
struct Loaded<T: Owner> {
    outline: Outline,
    /// Where the scripts and the linked files are: in a folder, or in files that the game has read.
    beside: Option<FilesBeside>,
    /// The states, by id. The graph refers to its states weakly, so they are kept here.
    states: Vec<StateRef<T>>,
    by_name: HashMap<String, StateId>,
}

/// The parts of a definition that replace the loaded ones on a reload.
struct Rebuilt<T: Owner> {
    /// The graph from which the new one was built.
    before: Arc<Graph<T>>,
    beside: Option<FilesBeside>,
    graph: Graph<T>,
    built: Built<T>,
}

impl<T: Owner> Loaded<T> {
    fn new(Built { outline, states, .. }: Built<T>, beside: Option<FilesBeside>, shared: &Arc<SharedGraph<T>>) -> Self {
        let by_name = outline.states().iter().map(|state| (state.name().to_owned(), state.id())).collect();
        Self { outline, beside, states: states.iter().map(|fixed| fixed.state(shared)).collect(), by_name }
    }
}

/// The name of a definition's text in reports and in the log, if the game has not given it a name.
const NAMELESS: &str = "definition";

impl<T: Owner> Definition<T> {
    /// Makes a definition from the text of a file. If the file has several machines, the definition is that of the first one;
    /// [`Definitions`] has all of them.
    ///
    /// Warnings do not stop the definition from working. They are logged, and [`warnings`](Self::warnings) lists them.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them.
    pub fn parse(text: &str, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        Self::new(NAMELESS, None, text, vocabulary)
    }

    /// Like [`parse`](Self::parse). `file` is the name of the text in reports and in the log.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them.
    pub fn parse_named(file: &str, text: &str, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        Self::new(file, None, text, vocabulary)
    }

    /// Makes a definition from a file. Scripts and linked files are looked for in the folder of the file. If the file has several
    /// machines, the definition is that of the first one; [`Definitions::load`] has all of them.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or when it has mistakes. The error then lists all of them.
    pub fn load(path: impl AsRef<Path>, vocabulary: &Vocabulary<T>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let text = text_at(path)?;
        Ok(Self::new(&path.display().to_string(), FilesBeside::file(path), &text, vocabulary)?)
    }

    fn new(file: &str, beside: Option<FilesBeside>, text: &str, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        let library = vocabulary.library(text, beside.as_ref());
        let checked = check(file, text, &library, Some(&vocabulary.words))?;
        let definition = Self::of(first(checked), beside, vocabulary)?;
        warn_of(&definition.outline());
        Ok(definition)
    }

    /// Creates the definition of a machine that has been checked.
    fn of(checked: Checked<'_>, beside: Option<FilesBeside>, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        let (graph, built) = build::build(checked, vocabulary, beside.as_ref(), None)?;
        let shared = Arc::new(SharedGraph::new(graph));
        built.set_link(&shared);
        let loaded = Mutex::new(Loaded::new(built, beside, &shared));
        Ok(Self { inner: Arc::new(Inner { shared, vocabulary: vocabulary.clone(), loaded }) })
    }

    /// Reloads the definition, while machines run on it.
    ///
    /// Each owner stays in the state with the same name, and no callback is called. From then on, the new text decides what the
    /// states do and which exits they have. If an owner's state is missing in the new text, the owner changes to the initial
    /// state in its next update. This is an ordinary change, and it is logged. While a guard refuses the change, the owner stays
    /// in its state, which is logged once. If a state is nested differently than before, its owners enter it again in the same
    /// way. A machine keeps the global state that it was given, even if the new text names another one.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them, and nothing is changed.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard { health: f64 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new().value("health", |guard: &Guard, _| guard.health);
    /// let file = |limit: u32| format!(r#"
    ///     initial = "stand"
    ///     states.stand.exits = [{{ to = "flee", when = "health < {limit}" }}]
    ///     states.flee.final = true
    /// "#);
    /// let definition = Definition::parse(&file(20), &vocabulary)?;
    /// let mut guard = Guard { health: 30.0 };
    /// let mut machine = definition.machine();
    /// machine.update(&mut guard, &mut ());
    /// assert_eq!(machine.current().unwrap().name(), "stand");
    ///
    /// assert!(definition.reload("initial = 7").is_err());
    /// definition.reload(&file(50))?;
    /// machine.update(&mut guard, &mut ());
    /// assert_eq!(machine.current().unwrap().name(), "flee");
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn reload(&self, text: &str) -> Result<(), Problems> {
        let beside = self.loaded().beside.clone();
        warn_of(&self.reload_silently(text, beside.as_ref())?);
        info!("{} was reloaded", self.outline().file());
        Ok(())
    }

    /// Reloads the definition. The outline that it returns contains the warnings, which the caller must log.
    fn reload_silently(&self, text: &str, beside: Option<&FilesBeside>) -> Result<Outline, Problems> {
        let (file, machine) = {
            let loaded = self.loaded();
            (loaded.outline.file().to_owned(), loaded.outline.machine().map(ToOwned::to_owned))
        };
        let library = self.inner.vocabulary.library(text, beside);
        loop {
            let checked = check(&file, text, &library, Some(&self.inner.vocabulary.words))?;
            let checked = match &machine {
                None => first(checked),
                Some(name) => named(checked, name, &file, text)?,
            };
            let rebuilt = self.rebuild(checked, beside.cloned())?;
            let outline = rebuilt.built.outline.clone();
            // If another thread has reloaded the definition in the meantime, the next pass builds from that graph.
            if self.replace(rebuilt) {
                return Ok(outline);
            }
        }
    }

    /// Whether the definition, or one of its states, is in use elsewhere.
    fn is_in_use(&self) -> bool {
        let has_states = || self.loaded().states.iter().any(|state| !state.is_unreachable());
        let has_gone = || self.inner.shared.load().nodes.iter().any(|node| node.gone.is_some() && node.fixed.is_held());
        Arc::strong_count(&self.inner) > 1 || has_states() || has_gone()
    }

    /// Builds the replacement for the loaded definition. It calls code of the game, which may use the definition, so it must
    /// not hold the lock.
    fn rebuild(&self, checked: Checked<'_>, beside: Option<FilesBeside>) -> Result<Rebuilt<T>, Problems> {
        let inner = &*self.inner;
        let before = inner.shared.load();
        let (graph, built) = build::build(checked, &inner.vocabulary, beside.as_ref(), Some(&before))?;
        Ok(Rebuilt { before, beside, graph, built })
    }

    /// Puts the replacement in place. Returns false, and changes nothing, if the graph from which it was built has been
    /// replaced.
    fn replace(&self, rebuilt: Rebuilt<T>) -> bool {
        let inner = &*self.inner;
        let Rebuilt { before, beside, graph, built } = rebuilt;
        let mut loaded = self.loaded();
        if !Arc::ptr_eq(&before, &inner.shared.load()) {
            return false;
        }
        built.set_link(&inner.shared);
        let old_graph = inner.shared.swap(graph);
        let old = mem::replace(&mut *loaded, Loaded::new(built, beside, &inner.shared));
        drop(loaded);
        NextWake::note_exchange();
        // The old parts contain values of the game, whose `drop` may use the definition. So they are dropped without the lock.
        drop((old, old_graph, before));
        true
    }

    /// Like [`reload`](Self::reload), but reads the text from a file. Scripts and linked files are looked for in the same folder
    /// as before, even if this file is in another folder.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or when it has mistakes. The error then lists all of them, and nothing is changed.
    pub fn reload_from(&self, path: impl AsRef<Path>) -> Result<(), LoadError> {
        Ok(self.reload(&text_at(path.as_ref())?)?)
    }

    /// Creates a machine in the initial state, with the global state, if there is one. It calls no callbacks:
    /// [`start`](StateMachine::start) enters the state.
    #[must_use]
    pub fn machine(&self) -> StateMachine<T> {
        self.machine_in(self.initial())
    }

    fn machine_in(&self, state: StateRef<T>) -> StateMachine<T> {
        let machine = StateMachine::new(state);
        match self.global() {
            Some(global) => machine.with_global(global),
            None => machine,
        }
    }

    /// Creates an empty batch with the global state, if there is one. Insert owners in the state [`initial`](Self::initial).
    ///
    /// A batch that was created in another way, for example with a capacity or from a saved game, has no global state, so it does
    /// not try the exits of the global state. Set this state with [`Batch::set_global`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard { health: f64 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new().value("health", |guard: &Guard, _| guard.health);
    /// let file = "
    ///     initial = 'stand'
    ///     global = 'always'
    ///     states.always.exits = [{ to = 'dead', when = 'health <= 0' }]
    ///     states.stand.entry = true
    ///     states.dead.final = true
    /// ";
    /// let definition = Definition::parse(file, &vocabulary)?;
    ///
    /// let mut guards = definition.batch();
    /// let bob = guards.spawn(Guard { health: 0.0 }, definition.initial(), &mut ());
    /// guards.update(&mut ());
    /// assert_eq!(guards.state_of(bob), definition.state("dead").as_ref());
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn batch(&self) -> Batch<T> {
        let batch = Batch::new();
        match self.global() {
            Some(global) => batch.with_global(global),
            None => batch,
        }
    }

    /// Returns the state in which a machine begins: the initial state of the file or, if it has an `initial` of its own, the
    /// descendant to which this leads.
    #[must_use]
    pub fn initial(&self) -> StateRef<T> {
        let graph = self.inner.shared.load();
        let mut initial = graph.initial;
        while let Some(child) = graph.nodes[initial].fixed.initial {
            initial = child;
        }
        graph.state(initial, &self.inner.shared)
    }

    /// Returns the global state, which runs beside every other state. `None` if the file has none. The machines and batches that
    /// [`machine`](Self::machine) and [`batch`](Self::batch) create already have the global state.
    #[must_use]
    pub fn global(&self) -> Option<StateRef<T>> {
        let graph = self.inner.shared.load();
        graph.global.map(|global| graph.state(global, &self.inner.shared))
    }

    /// Returns the state with this name, so that code can change to it. `None` if the file has no such state.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<StateRef<T>> {
        let loaded = self.loaded();
        loaded.by_name.get(name).map(|id| loaded.states[id.index()].clone())
    }

    /// Returns all states, in the order of the file.
    #[must_use]
    pub fn states(&self) -> Vec<StateRef<T>> {
        self.loaded().states.clone()
    }

    /// Returns the contents of the file, for tools.
    #[must_use]
    pub fn outline(&self) -> Outline {
        self.loaded().outline.clone()
    }

    /// Returns the warnings about the file, as it was last loaded.
    #[must_use]
    pub fn warnings(&self) -> Vec<Problem> {
        self.loaded().outline.warnings.to_vec()
    }

    /// Checks all situations that the machine can get into: see [`Proof`]. If the file has several machines,
    /// [`Definitions::prove`] checks all of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard { health: f64 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new().value("health", |guard: &Guard, _| guard.health);
    /// let file = "
    ///     initial = 'stand'
    ///     states.stand.exits = [{ to = 'rest', when = 'health < 50' }, { to = 'flee', when = 'health < 20' }]
    ///     states.rest.final = true
    ///     states.flee.final = true
    /// ";
    /// let proof = Definition::parse(file, &vocabulary)?.prove();
    /// let codes: Vec<_> = proof.findings().iter().map(|finding| finding.problem().code_name()).collect();
    /// assert_eq!(codes, ["never-taken", "unreachable"]);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn prove(&self) -> Proof {
        Proof::of(&[self.outline()])
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded<T>> {
        self.inner.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the first machine of a file.
fn first(checked: Vec<Checked<'_>>) -> Checked<'_> {
    checked.into_iter().next().expect("a file without a mistake has a machine")
}

/// Returns the machine with a name.
fn named<'i>(checked: Vec<Checked<'i>>, name: &str, file: &str, text: &str) -> Result<Checked<'i>, Problems> {
    { checked }.into_iter().find(|checked| checked.outline.machine() == Some(name)).ok_or_else(|| {
        let mut findings = Findings::new(Arc::new(Source::new(file, text)));
        let message = format!("the file has no machine `{name}` any more");
        findings.add(Mistake::error("unknown-machine", 0..0, message).label("was loaded from this file"));
        findings.into_problems()
    })
}

fn warn_of(outline: &Outline) {
    for warning in outline.warnings() {
        warn!("{}", warning.located());
    }
}

/// A definition is equal to its clones, and to no other definition.
impl<T: Owner> PartialEq for Definition<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl<T: Owner> Eq for Definition<T> {}

impl<T: Owner> Clone for Definition<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T: Owner> fmt::Debug for Definition<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.loaded().outline).finish()
    }
}
