//! The words of conditions besides the game's values, and the kind of word at the cursor.

use std::ops::Range;

/// A word of conditions: its name, the text to insert, and its description.
pub(super) struct Word {
    pub(super) name: &'static str,
    pub(super) insert: &'static str,
    pub(super) shown: &'static str,
    pub(super) says: &'static str,
    /// Whether it gives a number, and not a condition.
    pub(super) is_number: bool,
}

/// All of them.
pub(super) const WORDS: [Word; 13] = [
    number(
        "time_in_state",
        "time_in_state",
        "time_in_state",
        "How many seconds the character has been in the state whose exit asks.",
    ),
    number(
        "time_in",
        "time_in(",
        "time_in(state)",
        "How many seconds a state has been active. While it is not, that is no number.",
    ),
    word("in", "in(", "in(state)", "Whether a state is active, or a state in it."),
    word("chance", "chance(", "chance(p)", "Holds with the chance `p`, from 0 to 1, each time that it is asked."),
    word(
        "chance_per_second",
        "chance_per_second(",
        "chance_per_second(p)",
        "Holds within a second with the chance `p`, from 0 to 1, however often it is asked.",
    ),
    number("min", "min(", "min(a, b)", "The smaller of two numbers."),
    number("max", "max(", "max(a, b)", "The larger of two numbers."),
    number("abs", "abs(", "abs(a)", "A number without its sign."),
    word("and", "and", "a and b", "Holds where both conditions hold. It binds closer than `or`."),
    word("or", "or", "a or b", "Holds where one of the conditions holds, or both."),
    word("not", "not", "not a", "Holds where the condition does not. It binds closest."),
    word("true", "true", "true", "Always holds."),
    word("false", "false", "false", "Never holds."),
];

const fn word(name: &'static str, insert: &'static str, shown: &'static str, says: &'static str) -> Word {
    Word { name, insert, shown, says, is_number: false }
}

const fn number(name: &'static str, insert: &'static str, shown: &'static str, says: &'static str) -> Word {
    Word { is_number: true, ..word(name, insert, shown, says) }
}

/// The kind of word at the end of an incomplete condition.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// A word; its first letters begin at this byte.
    Word(usize),
    /// A field of the message.
    Field(usize),
    /// The name of a state in `in(..)` or `time_in(..)`.
    State(usize),
}

/// Returns the kind of word at the end of `before`.
pub(super) fn asked(before: &str) -> Asked {
    if let Some(open) = before.rfind('(').filter(|open| !before[*open..].contains(')')) {
        let function = word_before(before[..open].trim_end());
        if matches!(&before[function.clone()], "in" | "time_in") {
            let inner = &before[open + 1..];
            return Asked::State(open + 1 + inner.len() - inner.trim_start().len());
        }
    }
    let word = word_before(before);
    match before[word.clone()].strip_prefix("message.") {
        Some(field) => Asked::Field(word.end - field.len()),
        None => Asked::Word(word.start),
    }
}

/// Returns the word around a byte of a text.
pub(super) fn word_at(text: &str, byte: usize) -> Range<usize> {
    let before = text.get(..byte).unwrap_or_default();
    let rest = text.get(byte..).unwrap_or_default();
    let behind = rest.find(|c| !continues(c)).unwrap_or(rest.len());
    word_before(before).start..before.len() + behind
}

fn word_before(text: &str) -> Range<usize> {
    text.len() - text.chars().rev().take_while(|c| continues(*c)).map(char::len_utf8).sum::<usize>()..text.len()
}

fn continues(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

#[cfg(test)]
mod tests {
    use demeanor::definition::Outline;

    use super::{Asked, WORDS, asked};

    #[test]
    fn what_is_being_written_is_found() {
        assert_eq!(asked(""), Asked::Word(0));
        assert_eq!(asked("health < 3 and ene"), Asked::Word(15));
        assert_eq!(asked("message.da"), Asked::Field(8));
        assert_eq!(asked("not in("), Asked::State(7));
        assert_eq!(asked("time_in( fi"), Asked::State(9));
        assert_eq!(asked("in('run to"), Asked::State(3));
        assert_eq!(asked("in(fight) and "), Asked::Word(14));
        assert_eq!(asked("max(a, b"), Asked::Word(7));
        assert_eq!(asked("contain(b"), Asked::Word(8));
    }

    #[test]
    fn every_word_is_one_of_the_grammar() {
        for word in &WORDS {
            let shown = word.shown.replace("state)", "s)").replace("(p)", "(0.5)");
            let is_number = ["time", "min", "max", "abs"].iter().any(|begin| shown.starts_with(begin));
            let condition = if is_number { format!("{shown} > 1") } else { shown };
            let file = format!("initial = 's'\nstates.s.exits = [{{ to = 's', after = 1, when = '{condition}' }}]\n");
            let read = Outline::parse("s.toml", &file, None);
            assert!(read.is_ok(), "{condition}: {read:?}");
            let unknown = read.unwrap().unchecked().values.keys().cloned().collect::<Vec<_>>();
            assert!(unknown.iter().all(|name| ["a", "b"].contains(&name.as_str())), "{condition}: {unknown:?}");
        }
    }
}
