//! The lines of text in a diagram, without characters that a terminal or a page would interpret.

use super::{DiagramState, Visits};
use crate::shown::shown;

/// A line of text in a state's box.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caption {
    /// The state's name.
    Name(String),
    /// One of the state's behaviors.
    Behavior(String),
    /// How often the state has a turn, or a part of the condition for entering it.
    Condition(String),
    /// A line of the note about the state in the file.
    Note(String),
    /// A line about the observed visits.
    Seen(String),
    /// How many states inside the state are not drawn.
    Folded(String),
}

impl Caption {
    /// Returns the line.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Name(text)
            | Self::Behavior(text)
            | Self::Condition(text)
            | Self::Note(text)
            | Self::Seen(text)
            | Self::Folded(text) => text,
        }
    }
}

/// Returns the lines of text in a state's box, or above its children.
pub(super) fn captions(state: &DiagramState) -> Vec<Caption> {
    let mut captions = vec![Caption::Name(escaped(&state.name))];
    captions.extend(state.behaviors.iter().map(|behavior| Caption::Behavior(escaped(behavior))));
    captions.extend(state.every.iter().map(|every| Caption::Condition(format!("every {every}"))));
    let when = state.enter_when.as_ref().map(|when| format!("if {}", escaped(when))).unwrap_or_default();
    captions.extend(wrapped(&when).into_iter().map(Caption::Condition));
    captions.extend(state.note.iter().flat_map(|note| in_lines(&escaped(note))).map(Caption::Note));
    let seen = state.visits.iter().flat_map(Visits::lines);
    captions.extend(seen.map(Caption::Seen));
    captions.extend(folded(state).map(Caption::Folded));
    captions
}

/// Returns how many states are in a folded state.
pub(super) fn folded(state: &DiagramState) -> Option<String> {
    match state.hidden {
        0 => None,
        1 => Some("1 state in it".to_owned()),
        hidden => Some(format!("{hidden} states in it")),
    }
}

/// Returns a text in one line, with control characters as escapes.
pub(super) fn escaped(text: &str) -> String {
    shown(text, usize::MAX).into_owned()
}

/// Splits a text into lines of about 30 bytes.
fn in_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.len() + word.len() < 30) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Splits a label into lines. A line longer than 14 bytes ends before the next `and`, `or`, `/` or parenthesis.
pub(super) fn wrapped(label: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in label.split(' ').filter(|word| !word.is_empty()) {
        // A line breaks only before these words and parentheses, so that each comparison stays on one line.
        if (matches!(word, "and" | "or" | "/") || word.starts_with('(')) && line.len() > 14 {
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
