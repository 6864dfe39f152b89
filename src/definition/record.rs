//! What is written down of a decision: each test and its answer, each exit and what came of it.
//!
//! A decision is made in the same way whether it is recorded or not. In a tick it is not, and costs nothing for it.

use crate::format::operand::Operand;

/// Takes down what a decision asks, while it is made.
pub(crate) trait Record {
    /// The test at `at` has been answered.
    #[inline]
    fn answered(&mut self, _tests: &[WrittenTest], _at: usize, _answered: Answered, _holds: bool) {}

    /// An exit that opens a number of seconds after the entry into its state is asked, after some time in that state.
    #[inline]
    fn waited(&mut self, _written: &str, _after: f64, _time: f64, _is_open: bool) {}

    /// An exit has been tried.
    #[inline]
    fn tried(&mut self, _trial: Trial) {}
}

/// Records nothing.
pub(crate) struct Unrecorded;

impl Record for Unrecorded {}

/// What came of trying one exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    Taken,
    /// It is not its state's turn.
    NotItsTurn,
    /// Its condition does not hold.
    NoCondition,
    /// It leads to a state, not the deciding one, that is active already.
    AlreadyThere,
    /// The active state at this depth is final, and the exit is not its own.
    Final(usize),
    /// The active state at this depth cannot be left.
    CannotExit(usize),
    /// The state at this index of the graph cannot be entered.
    CannotEnter(usize),
    /// The owner is on its way already: something else has asked for a change, or made one.
    Superseded,
}

/// What a test has read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answered {
    Flag(bool),
    /// The left and the right side of a comparison.
    Numbers(f64, f64),
    Drawn(f64),
    /// A random number, and the chance that it was compared with.
    DrawnFor(f64, f64),
    /// Of a message, where none has been sent.
    NoMessage,
    /// A script has been asked. What it has read is its own affair.
    Script,
}

/// How a test is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrittenTest {
    /// As in the file: `health < 20`.
    pub(crate) text: String,
    /// What the sides that are read are called. Empty where the text says it all.
    reads: [String; 2],
    /// Whether what is written holds when the test does not.
    pub(crate) is_inverted: bool,
}

impl WrittenTest {
    pub(crate) fn new(text: String) -> Self {
        Self { text, reads: Default::default(), is_inverted: false }
    }

    /// One side is read, or two that are compared. A number needs no name.
    pub(crate) fn reading(mut self, sides: &[&Operand]) -> Self {
        for (read, side) in self.reads.iter_mut().zip(sides) {
            if !matches!(side, Operand::Number(_)) {
                *read = side.to_string();
            }
        }
        self
    }

    /// Whether what is written holds.
    pub(crate) fn holds(&self, test_holds: bool) -> bool {
        test_holds != self.is_inverted
    }

    /// What has been read: `health = 35`.
    pub(crate) fn read(&self, answered: Answered) -> String {
        let named = |values: &[String]| {
            let sides = self.reads.iter().zip(values).filter(|(name, _)| !name.is_empty());
            sides.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        match answered {
            Answered::Flag(is) => named(&[is.to_string()]),
            Answered::Numbers(left, right) => named(&[left, right].map(|side| rounded(side).to_string())),
            Answered::Drawn(drawn) => format!("drew {drawn:.3}"),
            Answered::DrawnFor(drawn, chance) => format!("drew {drawn:.3}, at a chance of {chance:.3}"),
            Answered::NoMessage => "no message".into(),
            Answered::Script => String::new(),
        }
    }
}

/// To six places, without the zeros at the end.
pub(crate) fn rounded(number: f64) -> f64 {
    let rounded = (number * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { number }
}
