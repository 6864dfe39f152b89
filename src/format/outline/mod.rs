//! The third stage of reading a definition: the checked content of a file. It has the states, their nesting, and their exits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::iter;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::action::{WrittenAction, WrittenActions};
use super::choose::{Choose, Rank};
use super::draft::defined::DefinedWords;
use super::draft::{Params, WrittenElsewhere};
use super::duration::Duration;
use super::expression::When;
use super::leads::Leads;
use super::name::Name;
use super::problems::Problem;
use super::property::Property;
use super::script_effects::ScriptEffects;
use super::source::Source;
use super::words::ValueKind;
use mention::{Meaning, Mention};
use scopes::Scopes;

mod actions;
pub(crate) mod check;
mod conditions;
mod durations;
pub(crate) mod effects;
pub(crate) mod hierarchy;
pub(crate) mod mention;
pub(crate) mod params;
mod reach;
mod regions;
pub(crate) mod resolve;
pub(crate) mod scopes;
#[cfg(feature = "script")]
mod scripts;
pub(crate) mod ways_out;

/// The checked content of a definition file, for tools that draw or check it. It does not contain the code of behaviors and
/// values.
///
/// The states are a tree: [`children`](Self::children) returns the states directly inside a state, and [`path`](Self::path)
/// returns a state with its ancestors.
///
/// # Examples
///
/// ```
/// use demeanor::definition::Outline;
///
/// let outline = Outline::parse(
///     "door.toml",
///     r#"
///         initial = "closed"
///         [states.closed]
///         exits = [{ to = "open", when = "pushed" }]
///         [states.open]
///         exits = [{ to = "closed", when = "time_in_state > 3" }]
///     "#,
///     None,
/// )?;
/// let closed = outline.state(outline.initial());
/// assert_eq!(closed.name(), "closed");
/// assert_eq!(closed.exits()[0].label(), "pushed");
/// assert_eq!(outline.state(closed.exits()[0].target()).name(), "open");
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
#[derive(Clone)]
pub struct Outline {
    pub(crate) source: Arc<Source>,
    /// The machine's name.
    pub(crate) machine: Option<String>,
    /// The machine that this one names with `like`.
    pub(crate) like: Option<Name>,
    pub(crate) initial: StateId,
    pub(crate) global: Option<StateId>,
    pub(crate) ticks_per_second: Option<f64>,
    pub(crate) properties: Arc<[Property]>,
    /// The ranges of values of the game, by name: the least and the greatest number.
    pub(crate) ranges: BTreeMap<String, (f64, f64)>,
    /// The states, by id. A machine with `like` shares the states that are equal in the other machine.
    pub(crate) states: Vec<Arc<StateOutline>>,
    /// The states without a parent.
    pub(crate) outermost: Vec<StateId>,
    /// The words that the file defines. All of its machines share them.
    pub(crate) defined: Arc<DefinedWords>,
    /// The warnings of the whole file. All of its machines share them.
    pub(crate) warnings: Arc<[Problem]>,
    /// How many more warnings there are than `warnings` lists.
    pub(crate) unlisted_warnings: usize,
    pub(crate) unchecked: Unchecked,
    /// The effects of the scripts of states, by the name of the script. Without the feature `script`, it is empty.
    pub(crate) scripts: BTreeMap<String, ScriptEffects>,
    /// For each state with a script, the states that the script means there by the names in its text, in the same order. In
    /// another state, the same script may mean other states.
    pub(crate) named_by_scripts: BTreeMap<StateId, Vec<Option<StateId>>>,
    /// The mentions outside of all states: those of the initial and the global state, and those in properties.
    pub(crate) named: Vec<Mention>,
    /// All mentions in the order of the file. They are collected on the first call of `mentions`.
    pub(crate) mentions: OnceLock<Vec<Mention>>,
}

/// A machine of a file that has been read and checked.
pub(crate) struct Checked<'i> {
    pub(crate) outline: Outline,
    /// The parameters of each state's behaviors, by id. They borrow the text, and only the next stage uses them.
    pub(crate) params: Vec<Rc<[Option<Params<'i>>]>>,
    /// What names of states mean, for scripts. `None` if the machine has none.
    pub(crate) scopes: Option<Scopes>,
}

/// The id of a state of an [`Outline`]. It is valid only for this outline.
///
/// Ids are in the order of the file, starting with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(usize);

/// One state of an [`Outline`].
#[derive(Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that the file says or does not")]
pub struct StateOutline {
    pub(crate) id: StateId,
    pub(crate) name: Name,
    pub(crate) behaviors: Vec<BehaviorOutline>,
    pub(crate) script: Option<Box<Name>>,
    pub(crate) every: Option<Box<Duration>>,
    pub(crate) enter_when: Option<Box<When>>,
    pub(crate) parent: Option<StateId>,
    /// Where the parent is named.
    pub(crate) parent_span: Range<usize>,
    pub(crate) initial: Option<StateId>,
    /// Where the initial child is named.
    pub(crate) initial_span: Range<usize>,
    pub(crate) regions: Box<[RegionOutline]>,
    /// The index of its region among those of its parent.
    pub(crate) region: usize,
    pub(crate) children: Vec<StateId>,
    pub(crate) keeps_history: bool,
    pub(crate) is_final: bool,
    pub(crate) is_entry: bool,
    /// The text for the people who read the file.
    pub(crate) note: Option<Box<str>>,
    /// The state whose linked machine ends in this state.
    pub(crate) ends: Option<StateId>,
    /// The machine that the state runs, as the file names it.
    pub(crate) machine: Option<Box<Name>>,
    /// Where the name inside the parent begins in the state's name.
    pub(crate) part: usize,
    /// Whether the state belongs to a machine that another state runs.
    pub(crate) is_linked: bool,
    /// Whether the state is written in a linked file.
    pub(crate) is_foreign: bool,
    /// Where the state's name is written in the linked file, if it is in one.
    pub(crate) written: Option<WrittenElsewhere>,
    pub(crate) ignores: Box<[Name]>,
    /// The actions that run when the state is entered. The field `exit` has the actions that run when the state is left.
    pub(crate) enter: WrittenActions,
    pub(crate) exit: WrittenActions,
    pub(crate) choose: Choose,
    pub(crate) exits: Vec<ExitOutline>,
    /// The places where the state names states and words of the game.
    pub(crate) mentions: Vec<Mention>,
}

/// One region of a [`StateOutline`].
#[derive(Clone, PartialEq)]
pub(crate) struct RegionOutline {
    /// Its name. Without a name of its own, it is the name of its initial state, as it is written.
    pub(crate) name: Name,
    /// Whether it has a name of its own.
    pub(crate) is_named: bool,
    pub(crate) initial: StateId,
    /// Where the initial state is named.
    pub(crate) span: Range<usize>,
}

/// One behavior of a [`StateOutline`].
#[derive(Clone, PartialEq)]
pub(crate) struct BehaviorOutline {
    pub(crate) name: Name,
    /// The range of its parameters.
    pub(crate) params: Option<Range<usize>>,
    /// The states that its parameters name.
    pub(crate) named: Vec<(String, StateId)>,
}

/// An exit of a state, by its index among the exits of this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExitId {
    pub(crate) of: StateId,
    pub(crate) nth: usize,
}

/// One exit of a [`StateOutline`].
#[derive(Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that the file says or does not")]
pub struct ExitOutline {
    /// The state that it names. The state of the exit itself, if it names none.
    pub(crate) to: StateId,
    pub(crate) leads: Leads,
    pub(crate) after: Option<Duration>,
    pub(crate) at: Option<Box<Name>>,
    pub(crate) when: Option<Box<When>>,
    pub(crate) on: Option<Name>,
    /// Whether it is the same exit as the one before it, for another message.
    pub(crate) is_same: bool,
    /// Its score or weight, if its state chooses by it.
    pub(crate) rank: Option<Box<Rank>>,
    pub(crate) cooldown: Option<Box<Duration>>,
    /// The actions that run when the exit is taken.
    pub(crate) actions: WrittenActions,
    pub(crate) is_always: bool,
    pub(crate) restarts: bool,
    pub(crate) even_final: bool,
    /// Whether it waits for the end of the machine that its state runs.
    pub(crate) is_done: bool,
    /// The text for the people who read the file.
    pub(crate) note: Option<Box<str>>,
    pub(crate) span: Range<usize>,
}

/// The words that could not be checked without a vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unchecked {
    /// The values in conditions. It is an error to use a value both as a number and as a flag.
    pub values: BTreeMap<String, ValueKind>,
    /// The behaviors.
    pub behaviors: BTreeSet<String>,
    /// The messages.
    pub messages: BTreeSet<String>,
    /// The actions, and whether each gets a number.
    pub actions: BTreeMap<String, Option<ValueKind>>,
    /// The values that exits set.
    pub fields: BTreeSet<String>,
    /// The fields of messages, by the name of the message.
    pub message_fields: BTreeMap<String, BTreeMap<String, ValueKind>>,
    /// The scripts that are not in the folder of the file. The game may offer their texts. This set is empty if the folder is
    /// not known.
    pub scripts: BTreeSet<String>,
    /// Whether there are durations in ticks although the file has no `ticks_per_second`.
    pub ticks: bool,
}

impl StateId {
    /// Creates the id of the `i`-th state of the file.
    pub(crate) fn new(i: usize) -> Self {
        Self(i)
    }

    /// Returns the state's index among [`Outline::states`], counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The same number as [`StateId::index`].
impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Outline {
    /// Returns the name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// Returns the machine's name, if the machine has a table of its own: `[machines.imp]`.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns the machine of the same file that this one is like: its name, and where this is written.
    #[must_use]
    pub fn like(&self) -> Option<(&str, Range<usize>)> {
        self.like.as_ref().map(|like| (like.text.as_str(), like.span.clone()))
    }

    /// Returns the state in which a machine begins.
    #[must_use]
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// Returns the state that runs beside every other state.
    #[must_use]
    pub fn global(&self) -> Option<StateId> {
        self.global
    }

    /// Returns how many times per second the game updates its characters, if the file says so.
    #[must_use]
    pub fn ticks_per_second(&self) -> Option<f64> {
        self.ticks_per_second
    }

    /// Returns the words that the file defines for its conditions, in `[constants]` and `[conditions]`: the name of each, and
    /// where it is written.
    pub fn defined_words(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.defined.places.iter().map(|(name, _)| (name.text.as_str(), name.span.clone()))
    }

    /// Whether the file defines a constant with this name, and not a condition.
    #[must_use]
    pub fn is_constant(&self, name: &str) -> bool {
        self.defined.is_constant(name)
    }

    /// Returns the states, in the order of the file. The states from the machine that this one is [like](Self::like) come
    /// first. States that are equal in both machines are shared.
    #[must_use]
    pub fn states(&self) -> &[Arc<StateOutline>] {
        &self.states
    }

    /// Returns a state.
    ///
    /// # Panics
    ///
    /// When the id belongs to another outline with more states.
    #[must_use]
    pub fn state(&self, id: StateId) -> &StateOutline {
        &self.states[id.0]
    }

    /// Returns the children of `parent`, in the order of the file. For `None`, returns the states without a parent.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Outline;
    ///
    /// let file = "initial = 'fight'\n[states.fight]\ninitial = 'aim'\n[states.aim]\nparent = 'fight'\n";
    /// let outline = Outline::parse("guard.toml", file, None)?;
    /// let [fight] = outline.children(None) else { panic!("one state is nested in none") };
    /// let [aim] = outline.children(*fight) else { panic!("one state is nested in `fight`") };
    /// assert_eq!(outline.state(*aim).name(), "aim");
    /// assert_eq!(outline.path(*aim), [*fight, *aim]);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn children(&self, parent: impl Into<Option<StateId>>) -> &[StateId] {
        match parent.into() {
            Some(parent) => &self.state(parent).children,
            None => &self.outermost,
        }
    }

    /// Returns the path of a state: its outermost ancestor first, and the state itself last.
    #[must_use]
    pub fn path(&self, id: StateId) -> Vec<StateId> {
        let mut path: Vec<_> = iter::successors(Some(id), |id| self.state(*id).parent).collect();
        path.reverse();
        path
    }

    /// Whether a state is `around`, or lies within it.
    pub(crate) fn is_within(&self, id: StateId, around: StateId) -> bool {
        iter::successors(Some(id), |id| self.state(*id).parent).any(|id| id == around)
    }

    /// Returns a state and its initial descendants, region by region. A change to the state enters these states, and the
    /// ancestors of the state that are not active yet.
    #[must_use]
    pub fn descent(&self, id: StateId) -> Vec<StateId> {
        let mut entered = Vec::new();
        self.enter(id, &[], &mut entered);
        entered
    }

    /// Returns the states that a change to a state enters if none of them is active: the path to the state, its initial
    /// descendants, and the initial states, with their initial descendants, of the other regions of the states around it. They
    /// are in the order in which they are entered.
    #[must_use]
    pub fn entered(&self, id: StateId) -> Vec<StateId> {
        let path = self.path(id);
        let mut entered = Vec::new();
        self.enter(path[0], &path[1..], &mut entered);
        entered
    }

    /// Whether both states lie in the same region of every state with regions that is around the first one. Then a change
    /// from it to the second one leaves the other regions alone.
    pub(crate) fn is_in_same_regions(&self, of: StateId, to: StateId) -> bool {
        let to: Vec<_> = self.regions_of(&self.path(to)).collect();
        self.regions_of(&self.path(of)).all(|region| to.contains(&region))
    }

    /// Returns the regions in which the innermost state of a path lies. Each is given by the state that has it, and its index.
    pub(crate) fn regions_of(&self, path: &[StateId]) -> impl Iterator<Item = (StateId, usize)> {
        path.windows(2)
            .map(|of| (of[0], self.state(of[1]).region))
            .filter(|(around, _)| !self.state(*around).regions.is_empty())
    }

    /// Whether a state lies in a final state. Then no exit of the state leads out of the final one, unless it has `even_final`.
    pub(crate) fn is_in_end(&self, id: StateId) -> bool {
        self.path(id).into_iter().any(|around| around != id && self.state(around).is_final)
    }

    /// Whether any state has regions.
    pub(crate) fn has_regions(&self) -> bool {
        self.states.iter().any(|state| !state.regions.is_empty())
    }

    /// Adds a state to `entered`, and the states inside it that are entered with it. `inside` is the path from this state to the
    /// target.
    pub(crate) fn enter(&self, id: StateId, inside: &[StateId], entered: &mut Vec<StateId>) {
        let state = self.state(id);
        entered.push(id);
        if state.regions.is_empty() {
            if let Some((child, inside)) = inside.split_first() {
                self.enter(*child, inside, entered);
            } else if let Some(initial) = state.initial {
                self.enter(initial, &[], entered);
            }
        }
        for (nth, region) in state.regions.iter().enumerate() {
            match inside.split_first().filter(|(child, _)| self.state(**child).region == nth) {
                Some((child, inside)) => self.enter(*child, inside, entered),
                None => self.enter(region.initial, &[], entered),
            }
        }
    }

    /// Returns where the file names a state: first the place of its definition, then the places where it is named, including
    /// any quotes around the name.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Outline;
    ///
    /// let file = "initial = 'aim'\n[states.aim]\nexits = [{ to = 'aim', when = 'time_in(aim) > 3' }]\n";
    /// let outline = Outline::parse("guard.toml", file, None)?;
    /// let uses: Vec<_> = outline.uses(outline.initial()).into_iter().map(|at| &file[at]).collect();
    /// assert_eq!(uses, ["aim", "'aim'", "'aim'", "aim"]);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn uses(&self, id: StateId) -> Vec<Range<usize>> {
        let named =
            self.mentions().iter().filter(|mention| *mention.meaning() == Meaning::State(id)).map(Mention::span);
        let defined = self.state(id).name.span.clone();
        // In the header of a state in the table of its parent, the parent may be defined and named at one place.
        let named = named.filter(|at| *at != defined);
        iter::once(defined.clone()).chain(named).collect()
    }

    /// Returns where the file names states and words of the game, in the order of the file. It leaves out the contents of
    /// linked files, and the names of tables; [`Survey::keys`](crate::definition::Survey::keys) returns the latter.
    #[must_use]
    pub fn mentions(&self) -> &[Mention] {
        self.mentions.get_or_init(|| {
            let in_states = self.states.iter().flat_map(|state| &state.mentions);
            let mut all: Vec<Mention> = self.named.iter().chain(in_states).cloned().collect();
            all.sort_by_key(|mention| mention.span.start);
            // A condition of `[conditions]` may be used in several places.
            all.dedup_by(|one, other| one.span == other.span && one.meaning == other.meaning);
            all
        })
    }

    /// Returns the scripts that the states and their conditions name, as paths relative to the folder of the file, or as the names
    /// under which the game offers them. They include those in linked files. A script that is named several times occurs several
    /// times.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Survey;
    ///
    /// let file = "initial = 'aim'\nstates.aim.script = 'aim.rhai'\n";
    /// let survey = Survey::of("guard.toml", file, None, &|_| None, None);
    /// assert_eq!(survey.outlines()[0].scripts().collect::<Vec<_>>(), ["aim.rhai"]);
    /// ```
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.states.iter().flat_map(|state| state.scripts()).map(|script| script.text.as_str())
    }

    /// Returns where the scripts of the file's own states name states, each with the path of the script relative to the folder.
    /// If several states have the same script, each of its names occurs once for each of them, because it may mean another state
    /// there. It leaves out names that are calculated or contain escapes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use demeanor::definition::Survey;
    ///
    /// let file = "initial = 'walk'\nstates.walk.script = 'walk.rhai'\nstates.look.final = true\n";
    /// let script = r#"fn update() { change_state("look"); }"#;
    /// let survey = Survey::of("guard.toml", file, Some(Path::new("")), &|_| Some(script.into()), None);
    /// let named: Vec<_> = survey.outlines()[0].mentions_in_scripts().collect();
    /// # if cfg!(feature = "script") {
    /// assert_eq!((named[0].0, &script[named[0].1.span()]), ("walk.rhai", "\"look\""));
    /// # }
    /// ```
    pub fn mentions_in_scripts(&self) -> impl Iterator<Item = (&str, Mention)> {
        self.states.iter().filter(|state| !state.is_foreign).flat_map(|state| {
            let script = state.script();
            let names = script.and_then(|script| self.scripts.get(script)).map_or(&[][..], |script| &script.named);
            let meant = self.named_by_scripts.get(&state.id).into_iter().flatten();
            names.iter().zip(meant).filter(|(name, _)| !name.span.is_empty()).filter_map(move |(name, id)| {
                let Name { text, span } = name.clone();
                Some((script?, Mention { name: text, span, meaning: Meaning::State((*id)?), condition: None }))
            })
        })
    }

    /// Returns the states to which the parts of a name refer, with the range of each part in the name: `fight.aim` has two
    /// parts. `None` if `name` is not a name of the state.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Outline;
    ///
    /// let file = "initial = 'fight'\n[states.fight]\ninitial = 'aim'\n[states.'fight.aim']\n";
    /// let outline = Outline::parse("guard.toml", file, None)?;
    /// let [fight, aim] = outline.descent(outline.initial())[..] else { panic!("`fight` goes on to `aim`") };
    /// assert_eq!(outline.parts_of_name(aim, "fight.aim"), Some(vec![(0..5, fight), (6..9, aim)]));
    /// assert_eq!(outline.parts_of_name(aim, "aim"), Some(vec![(0..3, aim)]));
    /// assert_eq!(outline.parts_of_name(aim, "hunt.aim"), None);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When the id belongs to another outline with more states.
    #[must_use]
    pub fn parts_of_name(&self, id: StateId, name: &str) -> Option<Vec<(Range<usize>, StateId)>> {
        let mut parts = Vec::new();
        let mut at = id;
        let mut rest = name;
        // The loop ends even if parents form a circle, because each pass makes the rest of the name shorter.
        loop {
            let before = rest.strip_suffix(self.state(at).part())?;
            parts.push((before.len()..rest.len(), at));
            if before.is_empty() {
                break;
            }
            rest = before.strip_suffix('.')?;
            at = self.state(at).parent?;
        }
        parts.reverse();
        Some(parts)
    }

    /// Returns the warnings about the file. A file with warnings still works.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Returns how many more warnings there are. At most 200 are listed for a file.
    #[must_use]
    pub fn unlisted_warnings(&self) -> usize {
        self.unlisted_warnings
    }

    /// Returns the words that could not be checked.
    #[must_use]
    pub fn unchecked(&self) -> &Unchecked {
        &self.unchecked
    }
}

impl fmt::Debug for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.states.iter().map(|state| state.name()).collect();
        f.debug_struct("Outline").field("file", &self.source.name).field("states", &names).finish_non_exhaustive()
    }
}

impl StateOutline {
    /// Returns the state's id in its outline.
    #[must_use]
    pub fn id(&self) -> StateId {
        self.id
    }

    /// Returns the state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name.text
    }

    /// Returns the names of the state's behaviors, in the order of the file.
    pub fn behaviors(&self) -> impl Iterator<Item = &str> {
        self.behaviors.iter().map(|behavior| behavior.name.text.as_str())
    }

    /// Returns the state's script, as a path relative to the folder of the file that was read, or the name under which the game
    /// offers it.
    #[must_use]
    pub fn script(&self) -> Option<&str> {
        self.script.as_ref().map(|script| script.text.as_str())
    }

    /// Returns the scripts of the state and of its conditions.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &Name> {
        self.script.as_deref().into_iter().chain(self.conditions().filter_map(When::script))
    }

    /// Returns the time between two turns of the state. `None` if it is updated in each tick.
    #[must_use]
    pub fn every(&self) -> Option<&Duration> {
        self.every.as_deref()
    }

    /// Returns the targets of the state's exits, and the states that its behaviors name.
    pub(crate) fn leads_to(&self) -> impl Iterator<Item = StateId> {
        let named = self.behaviors.iter().flat_map(|behavior| &behavior.named).map(|(_, id)| *id);
        self.exits.iter().map(|exit| exit.to).chain(named)
    }

    /// Returns all durations in the state.
    pub(crate) fn durations(&self) -> impl Iterator<Item = &Duration> {
        let of_exits = self.exits.iter().flat_map(|exit| exit.after().into_iter().chain(exit.cooldown()));
        self.every().into_iter().chain(of_exits)
    }

    /// Returns the conditions of its exits, and its entry condition.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &When> {
        self.exits.iter().filter_map(|exit| exit.when.as_deref()).chain(self.enter_when.as_deref())
    }

    /// Returns the parent of the state.
    #[must_use]
    pub fn parent(&self) -> Option<StateId> {
        self.parent
    }

    /// Returns the child that is entered with the state.
    #[must_use]
    pub fn initial(&self) -> Option<StateId> {
        self.initial
    }

    /// Returns the initial state of each of the state's regions. These children are entered with the state.
    #[must_use]
    pub fn regions(&self) -> impl ExactSizeIterator<Item = StateId> {
        self.regions.iter().map(|region| region.initial)
    }

    /// Returns the names of the state's regions, with the places where they are written. A region without a name of its own
    /// has the name of its initial state.
    #[must_use]
    pub fn region_names(&self) -> impl ExactSizeIterator<Item = (&str, Range<usize>)> {
        self.regions.iter().map(|region| (region.name.text.as_str(), region.name.span.clone()))
    }

    /// Returns the index of the state's region among the [regions](Self::regions) of its parent. 0 without regions.
    #[must_use]
    pub fn region(&self) -> usize {
        self.region
    }

    /// Returns whether the state has children.
    #[must_use]
    pub fn is_composite(&self) -> bool {
        !self.children.is_empty()
    }

    /// Returns the messages that the state keeps from the states around it and from the global state.
    pub fn ignores(&self) -> impl Iterator<Item = &str> {
        self.ignores.iter().map(|message| message.text.as_str())
    }

    /// Returns the actions that run when the state has been entered, as they are written: `roar`, or `spawn 3`.
    pub fn enter_actions(&self) -> impl Iterator<Item = String> {
        shown(&self.enter)
    }

    /// Returns the actions that run when the state is left, as they are written.
    pub fn exit_actions(&self) -> impl Iterator<Item = String> {
        shown(&self.exit)
    }

    /// Returns all actions of the state and its exits.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &WrittenAction> {
        let of_exits = self.exits.iter().map(|exit| &exit.actions);
        [&self.enter, &self.exit].into_iter().chain(of_exits).flatten().flat_map(|actions| actions.iter())
    }

    /// Returns how the state chooses among the exits whose conditions hold.
    #[must_use]
    pub fn choose(&self) -> Choose {
        self.choose
    }

    /// Returns the state's exits, in the order in which they are tried.
    #[must_use]
    pub fn exits(&self) -> &[ExitOutline] {
        &self.exits
    }

    /// Returns the state's entry condition, as it is written.
    #[must_use]
    pub fn enter_when(&self) -> Option<String> {
        self.enter_when.as_deref().map(When::text)
    }

    /// Returns whether the state is final: no exit of a parent or of the global state leads out of it, unless the exit has
    /// `even_final`.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Returns what the file notes about the state, on one line.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the machine that runs while the state is active, as the file names it. The states of this machine are
    /// [children](Outline::children) of this state.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_ref().map(|machine| machine.text.as_str())
    }

    /// Returns where the machine that the state runs is named, as a range in the file that was read. For a state in a linked
    /// file, this is the place of the link.
    #[must_use]
    pub fn machine_span(&self) -> Option<Range<usize>> {
        self.machine.as_ref().map(|machine| machine.span.clone())
    }

    /// Returns whether the state belongs to a machine that one of its ancestors runs.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// Returns the state's name inside its parent: the last part of its [name](Self::name).
    #[must_use]
    pub fn part(&self) -> &str {
        &self.name.text[self.part..]
    }

    /// Returns where the state's name is written first: the range of bytes, including any quotes around the name, and, if this
    /// is in a linked file, the path of that file relative to the folder of the file that was read.
    #[must_use]
    pub fn written(&self) -> (Option<&Path>, Range<usize>) {
        match &self.written {
            Some(WrittenElsewhere { file, span }) => (Some(file), span.clone()),
            None => (None, self.name.span.clone()),
        }
    }

    /// Returns whether the game's code changes to the state, according to the file.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.is_entry
    }

    /// Returns whether a machine remembers which descendant was active last.
    #[must_use]
    pub fn keeps_history(&self) -> bool {
        self.keeps_history
    }
}

impl ExitOutline {
    /// Returns the state to which the exit leads. For an exit that [names no state](Leads::is_named), this is the state in which
    /// the exit is written.
    #[must_use]
    pub fn target(&self) -> StateId {
        self.to
    }

    /// Returns how the exit leads to its target: whether it changes to it, pushes it, or goes back.
    #[must_use]
    pub fn leads(&self) -> Leads {
        self.leads
    }

    /// Returns where the exit is written, as a range of bytes in the file that was read. For an exit in a linked file, this is
    /// the place of the link.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns how long the exit waits after its state is entered. `None` if it does not wait.
    #[must_use]
    pub fn after(&self) -> Option<&Duration> {
        self.after.as_ref()
    }

    /// Returns the value with the time of the game's clock at which the exit opens.
    #[must_use]
    pub fn at(&self) -> Option<&str> {
        self.at.as_ref().map(|at| at.text.as_str())
    }

    /// Returns the exit's condition, as it is written.
    #[must_use]
    pub fn when(&self) -> Option<String> {
        self.when.as_deref().map(When::text)
    }

    /// Returns what the file notes about the exit, on one line.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the message that the exit waits for.
    #[must_use]
    pub fn on(&self) -> Option<&str> {
        self.on.as_ref().map(|name| name.text.as_str())
    }

    /// Returns the number by which the state [chooses](StateOutline::choose) the exit, as it is written: `score hunger * 2`, or
    /// `weight 3`.
    #[must_use]
    pub fn rank(&self) -> Option<String> {
        self.rank.as_ref().map(|rank| format!("{} {}", rank.by.key(), rank.operand))
    }

    /// Returns for how long after it was taken the exit is not taken again. `None` if it has no cooldown.
    #[must_use]
    pub fn cooldown(&self) -> Option<&Duration> {
        self.cooldown.as_deref()
    }

    /// Returns what the exit does when it is taken, as it is written: `roar`, `spawn 3`, `stamina = stamina - 20`.
    pub fn actions(&self) -> impl Iterator<Item = String> {
        shown(&self.actions)
    }

    /// Returns whether the exit is also tried when its state is entered.
    #[must_use]
    pub fn is_always(&self) -> bool {
        self.is_always
    }

    /// Returns whether the exit is taken even if its target is already active. This concerns exits of parents and of the global
    /// state.
    #[must_use]
    pub fn restarts(&self) -> bool {
        self.restarts
    }

    /// Returns whether the exit leads even out of final states. This concerns exits of parents and of the global state.
    #[must_use]
    pub fn even_final(&self) -> bool {
        self.even_final
    }

    /// Returns message, time and condition as the label of an arrow: `took_damage [health < 20]`, `after 2.5 s`. `push` or
    /// another way of [leading](Self::leads) comes first, and then `always`; its score or weight, its cooldown, `(restart)`
    /// and `(even final)` come after the condition; and what it [does](Self::actions), behind a `/`, comes last.
    #[must_use]
    pub fn label(&self) -> String {
        let at = self.at().map(|at| format!("at {at}"));
        let after = self.after().map(|after| format!("after {after}")).or(at);
        let always = self.is_always.then(|| "always".to_owned());
        let leads = Some(self.leads.to_string()).filter(|leads| !leads.is_empty());
        let begin: Vec<_> = leads.into_iter().chain(always).chain(self.on().map(str::to_owned)).chain(after).collect();
        let when = self.when().map(|when| if begin.is_empty() { when } else { format!("[{when}]") });
        let says = [
            self.rank(),
            self.cooldown().map(|cooldown| format!("cooldown {cooldown}")),
            self.restarts.then(|| "restart".to_owned()),
            self.even_final.then(|| "even final".to_owned()),
        ];
        let says = says.into_iter().flatten().map(|says| format!("({says})"));
        let actions: Vec<_> = self.actions().collect();
        let actions = (!actions.is_empty()).then(|| format!("/ {}", actions.join(", ")));
        begin.into_iter().chain(when).chain(says).chain(actions).collect::<Vec<_>>().join(" ")
    }

    /// Returns the time, in seconds after the entry into its state, from which on the exit is taken in every tick in which it
    /// is tried and its target can be entered. `None` if there is no such time.
    pub(crate) fn is_always_from(&self) -> Option<f64> {
        let is_plain = self.leads == Leads::To && self.cooldown.is_none() && self.at.is_none();
        let is_always = self.on.is_none() && is_plain && self.when.as_deref().is_none_or(When::is_always);
        if is_always { self.after.as_ref().map_or(Some(0.0), Duration::most) } else { None }
    }

    /// Whether the exit is taken as soon as its state is entered or its state's machine ends, whenever its target can be
    /// entered.
    pub(crate) fn leads_at_once(&self) -> bool {
        let is_plain = self.leads == Leads::To && self.cooldown.is_none() && self.at.is_none();
        let is_at_once = (self.is_always || self.is_done) && is_plain;
        let is_open = self.after.as_ref().is_none_or(|after| after.most() == Some(0.0));
        is_at_once && is_open && self.when.as_deref().is_none_or(When::is_always)
    }

    /// Returns the earliest time at which it opens, in seconds after the entry into its state.
    pub(crate) fn opens_at(&self) -> f64 {
        self.after.as_ref().map_or(0.0, Duration::least)
    }
}

fn shown(actions: &WrittenActions) -> impl Iterator<Item = String> {
    actions.iter().flat_map(|actions| actions.iter()).map(ToString::to_string)
}
