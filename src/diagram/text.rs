//! What is written in a diagram: lines without characters that a terminal or a page would act on.

use super::{DiagramState, Visits};
use crate::shown::shown;

/// A line of what is written in a state's box.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caption {
    /// The state's name.
    Name(String),
    /// One of the things that it does.
    Behavior(String),
    /// How often it is tried, or a part of the condition to enter it.
    Condition(String),
    /// What was seen of it.
    Seen(String),
}

impl Caption {
    /// Returns the line.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Name(text) | Self::Behavior(text) | Self::Condition(text) | Self::Seen(text) => text,
        }
    }
}

/// What is written in a state's box, or above the states in it.
pub(super) fn captions(state: &DiagramState) -> Vec<Caption> {
    let mut captions = vec![Caption::Name(escaped(&state.name))];
    captions.extend(state.behaviors.iter().map(|behavior| Caption::Behavior(escaped(behavior))));
    captions.extend(state.every.iter().map(|every| Caption::Condition(format!("every {every}"))));
    let when = state.enter_when.as_ref().map(|when| format!("if {}", escaped(when))).unwrap_or_default();
    captions.extend(wrapped(&when).into_iter().map(Caption::Condition));
    let seen = state.visits.iter().flat_map(Visits::lines);
    captions.extend(seen.map(Caption::Seen));
    captions
}

/// A text in one line, with control characters as escapes.
pub(super) fn escaped(text: &str) -> String {
    shown(text, usize::MAX).into_owned()
}

/// A label in lines, broken where a condition has its joints.
pub(super) fn wrapped(label: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in label.split(' ').filter(|word| !word.is_empty()) {
        // Broken before a joint only: a comparison stays in one piece.
        if matches!(word, "and" | "or") && line.len() > 14 {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.extend(Some(line).filter(|line| !line.is_empty()));
    lines
}
