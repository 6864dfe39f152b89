//! What a definition file says, checked: its states, how they are nested, and what leads from one to another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::expression::Expr;
use super::problem::{Findings, Problem, Problems, Source};
use super::words::{ValueKind, Words};
use super::{hierarchy, reach, read};

/// What a definition file says, checked, without the code that its words stand for: for tools, which draw and check it.
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
    pub(crate) initial: usize,
    pub(crate) global: Option<usize>,
    /// In the order of the file.
    pub(crate) states: Vec<StateOutline>,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) unchecked: Unchecked,
}

/// One state of an [`Outline`].
#[derive(Clone)]
pub struct StateOutline {
    pub(crate) name: String,
    /// Of the name, where the state is defined.
    pub(crate) span: Range<usize>,
    pub(crate) behaviour: Option<Spot>,
    /// Where its parameters stand.
    pub(crate) params: Option<Range<usize>>,
    pub(crate) script: Option<Spot>,
    pub(crate) enter_when: Option<When>,
    pub(crate) parent: Option<usize>,
    pub(crate) parent_span: Range<usize>,
    pub(crate) initial: Option<usize>,
    pub(crate) initial_span: Range<usize>,
    pub(crate) keeps_history: bool,
    pub(crate) is_final: bool,
    pub(crate) exits: Vec<ExitOutline>,
}

/// One exit of a [`StateOutline`].
#[derive(Clone)]
pub struct ExitOutline {
    pub(crate) to: usize,
    pub(crate) when: Option<When>,
    pub(crate) on: Option<Spot>,
    pub(crate) span: Range<usize>,
}

/// A text, and where it stands.
#[derive(Clone)]
pub(crate) struct Spot {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// A condition, or the script that answers it.
#[derive(Clone)]
pub(crate) enum When {
    Expr { expr: Expr, text: String },
    Script(Spot),
}

impl When {
    /// As it is written.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Expr { text, .. } => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Self::Script(script) => format!("script {}", script.text),
        }
    }
}

/// The words that could not be checked, for want of a vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unchecked {
    /// What conditions ask for, and as what they first use it.
    pub values: BTreeMap<String, ValueKind>,
    /// Of behaviours.
    pub behaviours: BTreeSet<String>,
    /// Of messages.
    pub messages: BTreeSet<String>,
}

impl Outline {
    /// Reads and checks a definition; `file` is its name in what is reported.
    ///
    /// Without words, what the game offers is not checked; [`unchecked`](Self::unchecked) lists what was taken on trust.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with it.
    pub fn parse(file: &str, text: &str, words: Option<&Words>) -> Result<Self, Problems> {
        let source = Arc::new(Source::new(file, text));
        let mut findings = Findings::new(Arc::clone(&source));
        let Some(mut outline) = read::read(&mut findings, words) else {
            return Err(findings.finish().err().unwrap_or_else(|| Problems::none(source)));
        };
        hierarchy::check(&mut outline, &mut findings);
        if findings.errors() == 0 {
            reach::check(&outline, &mut findings);
        }
        outline.warnings = findings.finish()?;
        Ok(outline)
    }

    /// As [`parse`](Self::parse), of bytes that may not be text.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with it; in bytes that are not UTF-8, that.
    pub fn from_bytes(file: &str, bytes: &[u8], words: Option<&Words>) -> Result<Self, Problems> {
        Self::parse(file, text_of(file, bytes)?, words)
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// Returns the place of the state that a machine begins in.
    #[must_use]
    pub fn initial(&self) -> usize {
        self.initial
    }

    /// Returns the place of the state that runs beside every other.
    #[must_use]
    pub fn global(&self) -> Option<usize> {
        self.global
    }

    /// Returns the states, in the order of the file.
    #[must_use]
    pub fn states(&self) -> &[StateOutline] {
        &self.states
    }

    /// Returns the state at a place.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    #[must_use]
    pub fn state(&self, place: usize) -> &StateOutline {
        &self.states[place]
    }

    /// Returns the doubts about the file, which works all the same.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Returns the words that could not be checked.
    #[must_use]
    pub fn unchecked(&self) -> &Unchecked {
        &self.unchecked
    }

    /// The states from the outermost around `place` to itself.
    pub(crate) fn path(&self, place: usize) -> Vec<usize> {
        let mut path = vec![place];
        while let Some(parent) = self.states[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// The states from `place` down through the initial children.
    pub(crate) fn descent(&self, place: usize) -> Vec<usize> {
        let mut path = vec![place];
        while let Some(child) = self.states[path[path.len() - 1]].initial {
            path.push(child);
        }
        path
    }
}

impl fmt::Debug for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.states.iter().map(|state| &state.name).collect();
        f.debug_struct("Outline").field("file", &self.source.name).field("states", &names).finish_non_exhaustive()
    }
}

impl StateOutline {
    /// Returns the state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of what it does.
    #[must_use]
    pub fn behaviour(&self) -> Option<&str> {
        self.behaviour.as_ref().map(|word| word.text.as_str())
    }

    /// Returns the place of the state around it.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// Returns the place of the child to go on to when it is entered.
    #[must_use]
    pub fn initial(&self) -> Option<usize> {
        self.initial
    }

    /// Returns the ways out, in the order in which they are tried.
    #[must_use]
    pub fn exits(&self) -> &[ExitOutline] {
        &self.exits
    }

    /// Returns its entry condition, as it is written.
    #[must_use]
    pub fn enter_when(&self) -> Option<String> {
        self.enter_when.as_ref().map(When::text)
    }

    /// Returns whether it is meant to have no way out.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Returns whether a machine remembers which descendant was active last.
    #[must_use]
    pub fn keeps_history(&self) -> bool {
        self.keeps_history
    }
}

impl ExitOutline {
    /// Returns the place of the state that it leads to.
    #[must_use]
    pub fn target(&self) -> usize {
        self.to
    }

    /// Returns its condition, as it is written.
    #[must_use]
    pub fn when(&self) -> Option<String> {
        self.when.as_ref().map(When::text)
    }

    /// Returns the message that it waits for.
    #[must_use]
    pub fn on(&self) -> Option<&str> {
        self.on.as_ref().map(|word| word.text.as_str())
    }

    /// Returns message and condition as the label of an arrow: `took_damage [health < 20]`.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.on(), self.when()) {
            (Some(on), Some(when)) => format!("{on} [{when}]"),
            (Some(on), None) => on.into(),
            (None, Some(when)) => when,
            (None, None) => String::new(),
        }
    }
}

/// The text of a file's bytes.
pub(crate) fn text_of<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Problems> {
    std::str::from_utf8(bytes).map_err(|error| {
        // What can be shown is the text up to there, and the line in which it ends.
        let shown = String::from_utf8_lossy(bytes);
        let at = error.valid_up_to();
        let length = char::REPLACEMENT_CHARACTER.len_utf8();
        Problems::one(Arc::new(Source::new(file, &shown)), at..at + length, super::fault::Fault::NotUtf8)
    })
}
