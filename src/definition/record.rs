//! The record of a decision: each test with its answer, and each exit with its result.
//!
//! A decision runs the same code whether it is recorded or not. Ticks use [`Unrecorded`], which costs nothing.

/// Receives each step of a decision while it is made.
pub(crate) trait Record {
    /// Called when the test `_tests[_at]` has been answered. `_holds` is the answer to the test, which is the opposite of the
    /// answer to the written condition if the test is inverted.
    #[inline]
    fn answered(&mut self, _tests: &[WrittenTest], _at: usize, _answered: Answered, _holds: bool) {}

    /// Called when an exit with a waiting time is tried. The exit opens `_after` seconds after the entry into its state, and the
    /// owner has been in this state for `_time` seconds.
    #[inline]
    fn waited(&mut self, _written: &str, _after: f64, _time: f64, _is_open: bool) {}

    /// Called when an exit is closed for `_left` more seconds because of its cooldown or its `at`.
    #[inline]
    fn closed(&mut self, _written: &str, _left: f64) {}

    /// Called with the score or weight of an exit that holds, before the exit has been tried.
    #[inline]
    fn ranked(&mut self, _rank: f64) {}

    /// Called when an exit has been tried.
    #[inline]
    fn tried(&mut self, _trial: Trial) {}

    /// Called when the `_nth` of the exits that were tried has been chosen and tried again.
    #[inline]
    fn tried_again(&mut self, _nth: usize, _trial: Trial) {}
}

/// Records nothing.
pub(crate) struct Unrecorded;

impl Record for Unrecorded {}

/// The result of trying one exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    Taken,
    /// The exit's state has an `every`, and its next turn has not come.
    NotItsTurn,
    /// The exit is not open yet, or its condition does not hold.
    NoCondition,
    /// The exit's condition holds, but another exit is chosen.
    NotChosen,
    /// The target is already active, and it is not the state in which the exit is written.
    AlreadyThere,
    /// There is no state to go back to, or too many states are suspended.
    Nowhere,
    /// The active state at this depth is final, and the exit is written in another state.
    Final(usize),
    /// The active state at this depth cannot be left.
    CannotExit(usize),
    /// The state at this index of the graph cannot be entered.
    CannotEnter(usize),
    /// The owner is already changing: something else has requested a change, or made one.
    Superseded,
}

/// The values that a test has read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answered {
    Flag(bool),
    /// The left and the right side of a comparison.
    Numbers(f64, f64),
    /// A random number.
    Drawn(f64),
    /// A random number, and the chance that it was compared with.
    DrawnFor(f64, f64),
    /// The test reads a field of a message, but no message has been sent.
    NoMessage,
    /// A script has answered. It is not known which values the script has read.
    Script,
}

/// The written form of a test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrittenTest {
    /// The text from the file: `health < 20`.
    pub(crate) text: String,
    /// The names of the values that are read, on the left and the right side of a comparison. A name is empty if the value need
    /// not be reported.
    pub(crate) reads: [String; 2],
    /// Whether the written condition holds if the test does not hold.
    pub(crate) is_inverted: bool,
}

impl WrittenTest {
    pub(crate) fn new(text: String) -> Self {
        Self { text, reads: Default::default(), is_inverted: false }
    }

    /// Whether the written condition holds, given the answer to the test.
    pub(crate) fn holds(&self, test_holds: bool) -> bool {
        test_holds != self.is_inverted
    }

    /// Returns the values that have been read, such as `health = 35`.
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

/// Rounds to six decimal places.
pub(crate) fn rounded(number: f64) -> f64 {
    let rounded = (number * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { number }
}
