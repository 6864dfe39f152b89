//! What can be wrong with a definition, in words: every message that a designer reads is written here.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// One mistake, before it is known where in the file it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Syntax {
        why: String,
        meant: Option<Meant>,
    },
    NotUtf8,
    Empty,
    UnknownKey {
        key: String,
        place: &'static str,
        known: &'static [&'static str],
        nearest: Option<String>,
    },
    WrongType {
        what: String,
        expected: &'static str,
        found: &'static str,
    },
    MissingKey {
        key: &'static str,
        place: String,
    },
    DuplicateState {
        name: String,
        first: Option<Range<usize>>,
    },
    DuplicateKey {
        key: String,
        first: Option<Range<usize>>,
    },
    BadStateName(String),
    UnknownState {
        name: String,
        nearest: Option<String>,
    },
    Unknown {
        kind: Word,
        name: String,
        nearest: Option<String>,
        /// What there is. Empty where one of it is near.
        offered: Vec<String>,
    },
    UnknownParameter {
        behaviour: String,
        name: String,
        nearest: Option<String>,
        takes_none: bool,
    },
    MissingParameter {
        behaviour: String,
        name: String,
    },
    ParameterType {
        behaviour: String,
        name: String,
        expected: String,
        found: String,
    },
    BadParameter {
        behaviour: String,
        why: String,
    },
    ParamsWithoutBehaviour,
    ParentCycle(Vec<String>),
    NestedTooDeep {
        state: String,
        most: usize,
    },
    InitialIsNotAChild {
        composite: String,
        child: String,
    },
    GlobalIsInitial(String),
    GlobalIsNested(String),
    ExitToGlobal(String),
    SpinsOnItself(String),
    Expected {
        expected: &'static str,
        hint: Option<&'static str>,
    },
    TooDeep {
        most: usize,
    },
    TooLong {
        most: usize,
    },
    Chained,
    NumberTooLarge,
    NumberAsFlag(String),
    FlagAsNumber(String),
    NothingToCompare,
    OutOfChance,
    NoRandomSource,
    NotInEntry(&'static str),
    #[cfg(feature = "script")]
    Script {
        file: String,
        why: String,
    },
    ScriptsAreOff,
    Unreachable(String),
    NoWayOut(String),
    NeverTaken {
        behind: String,
    },
}

/// What was probably meant by text that is not TOML.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meant {
    /// A text, without its quotes.
    Text(String),
    /// `yes` and its like.
    Flag(bool),
    /// The name of a state, without its quotes.
    Header(String),
}

/// What a word of the game stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Behaviour,
    Value,
    Message,
}

impl Word {
    fn name(self) -> &'static str {
        match self {
            Self::Behaviour => "behaviour",
            Self::Value => "value",
            Self::Message => "message",
        }
    }
}

impl Fault {
    /// Whether the definition works all the same.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::NoWayOut(_) | Self::NeverTaken { .. })
    }

    /// Whether it may only follow from text around it that could not be read.
    pub(crate) fn may_follow(&self) -> bool {
        matches!(
            self,
            Self::UnknownKey { .. }
                | Self::MissingKey { .. }
                | Self::DuplicateKey { .. }
                | Self::WrongType { .. }
                | Self::UnknownState { .. }
                | Self::SpinsOnItself(_)
                | Self::InitialIsNotAChild { .. }
        )
    }

    /// A short name for the kind of mistake, to look it up by.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "syntax",
            Self::NotUtf8 => "not-utf8",
            Self::Empty => "empty",
            Self::UnknownKey { .. } => "unknown-key",
            Self::WrongType { .. } => "wrong-type",
            Self::MissingKey { .. } => "missing-key",
            Self::DuplicateState { .. } => "duplicate-state",
            Self::DuplicateKey { .. } => "duplicate-key",
            Self::BadStateName(_) => "bad-name",
            Self::UnknownState { .. } => "unknown-state",
            Self::Unknown { kind, .. } => match kind {
                Word::Behaviour => "unknown-behaviour",
                Word::Value => "unknown-value",
                Word::Message => "unknown-message",
            },
            Self::UnknownParameter { .. } => "unknown-parameter",
            Self::MissingParameter { .. } => "missing-parameter",
            Self::ParameterType { .. } | Self::BadParameter { .. } => "parameter-type",
            Self::ParamsWithoutBehaviour => "params-without-behaviour",
            Self::ParentCycle(_) => "parent-cycle",
            Self::NestedTooDeep { .. } => "nested-too-deep",
            Self::InitialIsNotAChild { .. } => "initial-not-a-child",
            Self::GlobalIsInitial(_) | Self::GlobalIsNested(_) | Self::ExitToGlobal(_) => "global",
            Self::SpinsOnItself(_) => "spins",
            Self::Expected { .. } | Self::Chained | Self::NumberTooLarge => "condition",
            Self::TooDeep { .. } => "condition-too-deep",
            Self::TooLong { .. } => "condition-too-long",
            Self::NumberAsFlag(_) | Self::FlagAsNumber(_) | Self::NothingToCompare => "comparison",
            Self::OutOfChance | Self::NoRandomSource => "chance",
            Self::NotInEntry(_) => "entry-condition",
            #[cfg(feature = "script")]
            Self::Script { .. } => "script",
            Self::ScriptsAreOff => "script",
            Self::Unreachable(_) => "unreachable",
            Self::NoWayOut(_) => "no-way-out",
            Self::NeverTaken { .. } => "never-taken",
        }
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Syntax { meant: Some(Meant::Text(_)), .. } => "this is not TOML: a text stands in quotes".into(),
            Self::Syntax { why, .. } => format!("this is not TOML: {why}"),
            Self::NotUtf8 => "the file is not UTF-8 text".into(),
            Self::Empty => "the file is empty".into(),
            Self::UnknownKey { key, place, .. } => format!("unknown key `{key}` in {place}"),
            Self::WrongType { what, expected, found } => format!("{what} must be {expected}, not {found}"),
            Self::MissingKey { key, place } => format!("{place} has no `{key}`"),
            Self::DuplicateState { name, .. } => format!("state `{name}` is defined twice"),
            Self::DuplicateKey { key, .. } => format!("key `{key}` is given twice"),
            Self::BadStateName(name) => format!("`{name}` cannot be the name of a state"),
            Self::UnknownState { name, .. } => format!("unknown state `{name}`"),
            Self::Unknown { kind, name, .. } => format!("unknown {} `{name}`", kind.name()),
            Self::UnknownParameter { behaviour, name, .. } => {
                format!("behaviour `{behaviour}` has no parameter `{name}`")
            }
            Self::MissingParameter { behaviour, name } => format!("behaviour `{behaviour}` needs parameter `{name}`"),
            Self::ParameterType { behaviour, name, expected, found } => {
                format!("parameter `{name}` of behaviour `{behaviour}` must be {expected}, not {found}")
            }
            Self::BadParameter { behaviour, why } => format!("behaviour `{behaviour}` refuses its parameters: {why}"),
            Self::ParamsWithoutBehaviour => "`params` are given, but no behaviour to take them".into(),
            Self::ParentCycle(states) => format!("{} each other's parents", list(states)),
            Self::NestedTooDeep { state, most } => format!("state `{state}` is nested deeper than {most} states"),
            Self::InitialIsNotAChild { composite, child } => {
                format!("`{child}` is the initial state of `{composite}`, but not a child of it")
            }
            Self::GlobalIsInitial(name) => format!("state `{name}` is both the initial and the global state"),
            Self::GlobalIsNested(name) => format!("the global state `{name}` is nested"),
            Self::ExitToGlobal(name) => format!("state `{name}` is the global state: it cannot be changed to"),
            Self::SpinsOnItself(name) => format!("state `{name}` would leave for itself in every tick"),
            Self::Expected { expected, .. } => format!("expected {expected}"),
            Self::TooDeep { most } => format!("the condition is nested deeper than {most} parentheses and `not`s"),
            Self::TooLong { most } => format!("the condition asks more than {most} questions"),
            Self::Chained => "comparisons cannot be chained".into(),
            Self::NumberTooLarge => "the number is too large".into(),
            Self::NumberAsFlag(name) => format!("`{name}` is a number, which is neither true nor false"),
            Self::FlagAsNumber(name) => format!("`{name}` is true or false, not a number"),
            Self::NothingToCompare => "the comparison is always the same".into(),
            Self::OutOfChance => "a chance is a number from 0 to 1".into(),
            Self::NoRandomSource => "the game offers no random numbers to definitions".into(),
            Self::NotInEntry(word) => format!("`{word}` cannot be asked in `enter_when`"),
            #[cfg(feature = "script")]
            Self::Script { file, why } => format!("script `{file}`: {why}"),
            Self::ScriptsAreOff => "this game is built without scripts".into(),
            Self::Unreachable(name) => format!("state `{name}` can never be reached"),
            Self::NoWayOut(name) => format!("state `{name}` has no way out"),
            Self::NeverTaken { behind } => {
                format!("this exit is never taken: the one to `{behind}` before it always is")
            }
        }
    }

    /// What is said under the words that are underlined.
    pub(crate) fn label(&self) -> Cow<'static, str> {
        match self {
            Self::Syntax { .. } | Self::BadStateName(_) | Self::Expected { .. } => "here".into(),
            #[cfg(feature = "script")]
            Self::Script { .. } => "this script".into(),
            Self::NotUtf8 => "the first byte that is not".into(),
            Self::Empty => "nothing here".into(),
            Self::UnknownKey { .. } => "not a key of the format".into(),
            Self::WrongType { expected, .. } => format!("expected {expected}").into(),
            Self::MissingKey { key, .. } => format!("needs `{key}`").into(),
            Self::DuplicateState { .. } => "defined again here".into(),
            Self::DuplicateKey { .. } => "given again here".into(),
            Self::UnknownState { .. } => "no state of this file".into(),
            Self::Unknown { kind, .. } => format!("no {} that the game offers", kind.name()).into(),
            Self::UnknownParameter { .. } => "not a parameter".into(),
            Self::MissingParameter { name, .. } => format!("needs `{name}`").into(),
            Self::ParameterType { expected, .. } => format!("expected {expected}").into(),
            Self::BadParameter { .. } => "refused".into(),
            Self::ParamsWithoutBehaviour => "taken by nothing".into(),
            Self::ParentCycle(_) => "closes the circle".into(),
            Self::NestedTooDeep { .. } => "its parent".into(),
            Self::InitialIsNotAChild { composite, .. } => format!("its parent is not `{composite}`").into(),
            Self::GlobalIsInitial(_) | Self::GlobalIsNested(_) => "runs beside every other state".into(),
            Self::ExitToGlobal(_) => "runs beside every other state already".into(),
            Self::SpinsOnItself(_) => "to itself, with no condition".into(),
            Self::TooDeep { .. } => "too deep from here".into(),
            Self::TooLong { .. } => "too long".into(),
            Self::Chained => "a second comparison".into(),
            Self::NumberTooLarge => "too large".into(),
            Self::NumberAsFlag(_) => "a number".into(),
            Self::FlagAsNumber(_) => "true or false".into(),
            Self::NothingToCompare => "neither side is a value".into(),
            Self::OutOfChance => "not from 0 to 1".into(),
            Self::NoRandomSource => "needs random numbers".into(),
            Self::NotInEntry(_) => "unknown before the state is entered".into(),
            Self::ScriptsAreOff => "a script".into(),
            Self::Unreachable(_) => "nothing leads here".into(),
            Self::NoWayOut(_) => "nothing leads out".into(),
            Self::NeverTaken { .. } => "never taken".into(),
        }
    }

    /// Another place that it has to do with, and what is said there.
    pub(crate) fn elsewhere(&self) -> Option<(Range<usize>, &'static str)> {
        match self {
            Self::DuplicateState { first, .. } => Some((first.clone()?, "first defined here")),
            Self::DuplicateKey { first, .. } => Some((first.clone()?, "first given here")),
            _ => None,
        }
    }

    /// What to write instead, if that is known.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match self {
            Self::Syntax { meant: Some(Meant::Text(text)), .. } => format!("write `\"{text}\"`"),
            Self::Syntax { meant: Some(Meant::Flag(yes)), .. } => format!("write `{yes}`"),
            Self::Syntax { meant: Some(Meant::Header(name)), .. } => {
                format!("write a name with spaces in quotes: `[states.\"{name}\"]`")
            }
            Self::UnknownKey { nearest: Some(nearest), .. }
            | Self::UnknownState { nearest: Some(nearest), .. }
            | Self::Unknown { nearest: Some(nearest), .. }
            | Self::UnknownParameter { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownKey { known, .. } => format!("known keys: {}", known.join(", ")),
            Self::UnknownParameter { behaviour, takes_none: true, .. } => {
                format!("behaviour `{behaviour}` takes no parameters")
            }
            Self::NotUtf8 => "save the file as UTF-8".into(),
            Self::Empty => "a definition needs `initial = \"..\"` and at least one `[states.name]`".into(),
            Self::MissingKey { key: "initial", .. } => {
                "name the state that a machine begins in: `initial = \"..\"`".into()
            }
            Self::MissingKey { key: "states", .. } => "define a state: `[states.idle]`".into(),
            Self::MissingKey { key: "to", .. } => "name the state that the exit leads to: `to = \"..\"`".into(),
            Self::DuplicateState { .. } => "put both into one table, or rename one".into(),
            Self::BadStateName(_) => "a name has no spaces at its ends, no control characters, and is not empty".into(),
            Self::UnknownState { name, .. } if is_bare_key(name) => format!("define it: `[states.{name}]`"),
            Self::UnknownState { name, .. } => format!("define it: `[states.\"{name}\"]`"),
            Self::Unknown { offered, .. } if !offered.is_empty() => format!("the game offers {}", some_of(offered)),
            Self::ParamsWithoutBehaviour => "add `behaviour = \"..\"`".into(),
            Self::ParentCycle(_) => "one of them must have another parent, or none".into(),
            Self::InitialIsNotAChild { composite, child } => {
                format!("give `{child}` the key `parent = \"{composite}\"`")
            }
            Self::GlobalIsInitial(_) => "the global state is never entered: name another initial state".into(),
            Self::GlobalIsNested(_) => "remove its `parent` and `initial`, and take it as nobody's parent".into(),
            Self::SpinsOnItself(_) => "give the exit a `when`, or remove it".into(),
            Self::Expected { hint: Some(hint), .. } => (*hint).into(),
            Self::TooDeep { .. } | Self::TooLong { .. } => {
                "let the game offer the answer as one value, or split the state".into()
            }
            Self::Chained => "join them by `and`, as in `1 < health and health < 5`".into(),
            Self::NumberAsFlag(name) => format!("compare it, as in `{name} > 0`"),
            Self::FlagAsNumber(name) => format!("write `{name}` or `not {name}`"),
            Self::NothingToCompare => "name a value of the game on one side".into(),
            Self::NoRandomSource => "a programmer can add them with `Vocabulary::random`".into(),
            Self::NotInEntry(_) => "put it into the `when` of the exits that lead here".into(),
            Self::ScriptsAreOff => "a programmer can turn them on: the feature `script`".into(),
            Self::Unreachable(_) => "let an exit lead to it, or remove it".into(),
            Self::NoWayOut(_) => "give it an exit, or write `final = true` if it is meant to be the end".into(),
            Self::NeverTaken { .. } => "put it before, or give the other a `when`".into(),
            _ => return None,
        };
        Some(help)
    }
}

/// Whether TOML takes a name without quotes.
fn is_bare_key(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The first few of what there is.
fn some_of(names: &[String]) -> String {
    const MOST: usize = 12;
    let mut text = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        let _ = write!(text, " and {} more", names.len() - MOST);
    }
    text
}

/// "`a` and `b` are".
fn list(names: &[String]) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        let before = match i {
            0 => "",
            _ if i + 1 == names.len() => " and ",
            _ => ", ",
        };
        let _ = write!(text, "{before}`{name}`");
    }
    text.push_str(" are");
    text
}
