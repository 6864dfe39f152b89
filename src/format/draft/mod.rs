//! The second stage of reading a definition: the content of a file in its written form.
//!
//! Keys and types are checked against the format. Names are not resolved: the next stage checks whether the states exist and
//! whether the game offers the words. A part that is missing or mistaken is `None`, false or empty. If that is a mistake, it has
//! been reported.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use self::defined::DefinedWords;
use self::duration::DraftDuration;
use self::tree::{SpannedValue, TreeValue};
use super::action::WrittenActions;
use super::choose::{Choose, Rank};
use super::expression::When;
use super::leads::Leads;
use super::name::Name;
use super::outline::scopes::Placed;
use super::property::Property;

mod actions;
mod behaviors;
pub(crate) mod defined;
pub(crate) mod document;
pub(crate) mod duration;
mod foreign;
mod format;
mod grammar;
pub(crate) mod keys;
pub(crate) mod machines;
mod nested;
mod properties;
pub(crate) mod read;
mod relocate;
mod slips;
mod source_map;
pub(crate) mod statements;
mod syntax;
pub(crate) mod tree;

pub use format::schema;

/// The content of a file for one machine.
#[derive(Clone)]
pub(crate) struct Draft<'i> {
    /// Its name, if the machine has a table of its own.
    pub(crate) name: Option<Name>,
    /// The machine of the same file that this one names with `like`.
    pub(crate) like: Option<Name>,
    pub(crate) initial: Option<Name>,
    pub(crate) global: Option<Name>,
    pub(crate) ticks_per_second: Option<f64>,
    pub(crate) properties: Vec<Property<Box<When>, DraftDuration>>,
    /// The words that the file defines. All of its machines share them.
    pub(crate) defined: Arc<DefinedWords>,
    /// The states in the order of the file, after the states from another machine. Machines with the same state share it.
    pub(crate) states: Vec<Rc<DraftState<'i>>>,
}

/// The content of a file for one state.
#[derive(Clone)]
pub(crate) struct DraftState<'i> {
    pub(crate) name: Name,
    pub(crate) behaviors: Vec<DraftBehavior<'i>>,
    pub(crate) script: Option<Box<Name>>,
    pub(crate) every: Option<DraftDuration>,
    pub(crate) enter_when: Option<Box<When>>,
    pub(crate) parent: Option<Name>,
    pub(crate) initial: Option<Box<Name>>,
    /// Its regions. `None` if they have a mistake.
    pub(crate) regions: Option<Box<[DraftRegion]>>,
    /// The region of its parent in which it lies, if the file says so.
    pub(crate) region: Option<Box<RegionRef>>,
    pub(crate) keeps_history: bool,
    pub(crate) is_final: bool,
    pub(crate) is_entry: bool,
    /// The text for the people who read the file, on one line.
    pub(crate) note: Option<Box<str>>,
    /// The machine that runs while the state is active.
    pub(crate) machine: Option<Box<Name>>,
    /// The index of the state that runs the machine in which this state is written. `None` for the file's own machine.
    pub(crate) root: Option<usize>,
    /// The index of the state whose linked machine ends in this state.
    pub(crate) ends: Option<usize>,
    /// The number of ticks per second in the linked file in which this state is written, if that file has one.
    pub(crate) rate: Option<f64>,
    /// Where its name is written, if it is written in a linked file. Then mistakes in the state are reported at the link to
    /// that file.
    pub(crate) written: Option<WrittenElsewhere>,
    /// The messages that the state keeps from the states around it.
    pub(crate) ignores: Box<[Name]>,
    /// The actions that run when the state is entered. The field `exit` has the actions that run when the state is left.
    pub(crate) enter: WrittenActions,
    pub(crate) exit: WrittenActions,
    /// How it chooses among its exits, and where this is written.
    pub(crate) choose: Option<Box<(Choose, Range<usize>)>>,
    pub(crate) exits: Vec<DraftExit>,
}

impl DraftState<'_> {
    /// Returns the parts on which the place of the state depends.
    pub(crate) fn placed(&self) -> Placed<'_> {
        let parent = self.parent.as_ref().map(|parent| parent.text.as_str());
        Placed { name: &self.name.text, parent, root: self.root }
    }
}

/// The content of a file for one region of a state.
#[derive(Clone)]
pub(crate) struct DraftRegion {
    /// Its name, if it has one of its own.
    pub(crate) name: Option<Name>,
    pub(crate) initial: Name,
}

/// How a state says in which region of its parent it lies.
#[derive(Clone)]
pub(crate) enum RegionRef {
    /// By the position among the regions, counted from 0, and where this is written.
    Number(f64, Range<usize>),
    Name(Name),
}

/// A place in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenElsewhere {
    /// The path of the file, relative to the folder of the file that is read.
    pub(crate) file: Arc<Path>,
    pub(crate) span: Range<usize>,
}

/// The content of a file for one behavior of a state.
#[derive(Clone)]
pub(crate) struct DraftBehavior<'i> {
    pub(crate) name: Name,
    pub(crate) params: Option<Params<'i>>,
}

/// The content of a file for one exit.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that the file says or does not")]
pub(crate) struct DraftExit {
    /// The state that it names.
    pub(crate) to: Option<Name>,
    pub(crate) leads: Leads,
    pub(crate) after: Option<DraftDuration>,
    /// The value of the game that contains the time of the clock at which the exit opens.
    pub(crate) at: Option<Box<Name>>,
    pub(crate) when: Option<Box<When>>,
    pub(crate) on: Option<Name>,
    /// Whether it is the same exit as the one before it in the list, for another message.
    pub(crate) is_same: bool,
    /// Its `score` or `weight`, if its state chooses by it.
    pub(crate) rank: Option<Box<Rank>>,
    pub(crate) cooldown: Option<Box<DraftDuration>>,
    pub(crate) actions: WrittenActions,
    /// Where the value `true` is written.
    pub(crate) always: Option<Range<usize>>,
    pub(crate) restarts: bool,
    pub(crate) even_final: bool,
    /// Whether it has an `after`, an `at`, a `when` or an `on`, even if the value of this key has a mistake.
    pub(crate) has_condition: bool,
    /// The text for the people who read the file, on one line.
    pub(crate) note: Option<Box<str>>,
    pub(crate) span: Range<usize>,
}

/// The parameters of a behavior, as a table.
pub(crate) type Params<'i> = Rc<SpannedValue<'i>>;

/// Returns the type of a value, with its article.
pub(crate) fn type_of(value: &TreeValue<'_>) -> &'static str {
    match value {
        TreeValue::String(_) => "a string",
        TreeValue::Integer(_) => "a whole number",
        TreeValue::Float(_) => "a number",
        TreeValue::Boolean(_) => "true or false",
        TreeValue::Datetime(_) => "a date",
        TreeValue::Array(_) => "a list",
        TreeValue::Table(_) => "a table",
    }
}
