//! Witnesses: values over time that show a finding.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::claim::Quantity;
use super::solver::Situation;
use crate::format::outline::{ExitId, StateId};

/// Values over time that show a finding. `demeanor run` plays them: the machine begins in the state [`from`](Self::from),
/// which it has just entered. The machine is updated every [`tick`](Self::tick) seconds, starting at 0 seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    pub(crate) from: Option<String>,
    pub(crate) tick: f64,
    pub(crate) ticks: u32,
    pub(crate) rows: Vec<WitnessRow>,
    pub(crate) changes: Vec<WitnessChange>,
    pub(crate) end: String,
}

/// The name of the value that stands for random numbers, from 0 to 1. No value of a game has this name.
pub(crate) const CHANCE: &str = "chance";

/// A row of a [`Witness`]: values that are set at one time. They stay the same until a later row sets them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WitnessRow {
    /// The time, in seconds.
    pub time: f64,
    /// The values that are set, with their names.
    pub values: Vec<(String, WitnessValue)>,
    /// A message that is sent at this time, with its fields.
    pub message: Option<(String, Vec<(String, WitnessValue)>)>,
}

/// A value of a [`WitnessRow`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WitnessValue {
    /// A number. It may be NaN.
    Number(f64),
    /// True or false.
    Flag(bool),
}

/// A change that a [`Witness`] leads to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WitnessChange {
    /// The time of the change, in seconds.
    pub time: f64,
    /// The innermost state before the change.
    pub from: String,
    /// The innermost state after the change.
    pub to: String,
}

impl Witness {
    /// Returns the state in which the machine begins. `None` for its initial state.
    #[must_use]
    pub fn from(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Returns the length of a tick, in seconds.
    #[must_use]
    pub fn tick(&self) -> f64 {
        self.tick
    }

    /// Returns the time of the last tick, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        // Rounded, because three ticks of 0.1 seconds are 0.3 seconds, not slightly more.
        (self.tick * f64::from(self.ticks) * 1e9).round() / 1e9
    }

    /// Returns the rows, in the order of their times. A value that has not been set is 0 or false.
    #[must_use]
    pub fn rows(&self) -> &[WitnessRow] {
        &self.rows
    }

    /// Returns the changes that the machine made with these values.
    #[must_use]
    pub fn changes(&self) -> &[WitnessChange] {
        &self.changes
    }

    /// Whether the machine makes no change.
    pub(super) fn stays(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the state in which the machine ends.
    #[must_use]
    pub fn end(&self) -> &str {
        &self.end
    }

    /// Returns the name of the column in which a table has the values with this name: `value.time` and `value.message` for the
    /// values `time` and `message`, because the columns with these names are for the time and the message of a row.
    #[must_use]
    pub fn column(name: &str) -> Cow<'_, str> {
        if ["time", "message"].contains(&name) { format!("value.{name}").into() } else { name.into() }
    }

    /// Writes the rows as a table for `demeanor run --values`: CSV with a column `time`, a column for each value, and, if a
    /// message is sent, a column `message`.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::{Outline, Proof};
    ///
    /// let file = "
    ///     initial = 'rest'
    ///     states.rest.exits = [{ to = 'fight', when = 'health > 20' }]
    ///     states.fight.exits = [{ to = 'rest', when = 'health < 50' }]
    /// ";
    /// let outline = Outline::parse("guard.toml", file, None)?;
    /// let proof = Proof::of(&[outline]);
    /// let witness = proof.findings()[0].witness().unwrap();
    /// assert_eq!(witness.from(), Some("rest"));
    /// assert_eq!(witness.to_csv(), "time,health\n0,35\n");
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.rows.iter().flat_map(|row| &row.values) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let sends = self.rows.iter().any(|row| row.message.is_some());
        let mut csv = String::from("time");
        names.iter().map(|name| Self::column(name)).chain(sends.then_some("message".into())).for_each(|name| {
            let _ = write!(csv, ",{}", cell(&name));
        });
        for row in &self.rows {
            let _ = write!(csv, "\n{}", row.time);
            for name in &names {
                let value = row.values.iter().find(|(of, _)| of == name).map(|(_, value)| value.to_string());
                let _ = write!(csv, ",{}", value.unwrap_or_default());
            }
            if sends {
                let _ = write!(csv, ",{}", cell(&row.sent().unwrap_or_default()));
            }
        }
        csv.push('\n');
        csv
    }
}

/// Plays a machine with given values instead of the game's, and without behaviors and scripts, to show that a finding really
/// happens.
pub(crate) trait Stage {
    /// Plays rows on a machine that begins in the state `from`, or for `None` in its initial state. `tick` is the length of a
    /// tick in seconds. The machine is updated at 0 seconds and after each of `ticks` ticks. `None` if this is not possible.
    fn play(&self, from: Option<StateId>, rows: Vec<WitnessRow>, tick: f64, ticks: u32) -> Option<Witness>;

    /// Returns a machine that has not been started, and begins in its initial state.
    fn begin(&self) -> Box<dyn StageRun>;

    /// Returns the names of the values that are numbers.
    fn numbers(&self) -> Vec<String>;
}

/// A machine that is played tick by tick, as [`Stage::play`] does.
pub(crate) trait StageRun {
    /// Returns a copy of the machine in its current state.
    fn fork(&self) -> Box<dyn StageRun>;

    /// Sets the values of a row, sends its message, and updates the machine at this time, in seconds. The first tick also starts
    /// the machine. Each random number is the value [`CHANCE`] of the row. Returns whether the result is certain: it
    /// depends on no other random number, and the machine has not reached its limit for changes in one callback.
    fn tick(&mut self, row: &WitnessRow, time: f64) -> bool;

    /// Returns a value as it is now. A flag is 1 or 0.
    fn value(&self, name: &str) -> Option<f64>;

    /// Returns the active states, each with the time in it, in seconds.
    fn active(&self) -> Vec<(StateId, f64)>;

    /// Returns for each property with `within` how many seconds ago `from` held, if `reach` has not held since.
    fn waited(&self) -> Vec<Option<f64>>;

    /// Returns the names of the properties that the last tick has violated for the first time.
    fn violated(&self) -> &[String];

    /// Returns the exits that were taken in the last tick.
    fn taken(&self) -> Vec<ExitId>;
}

impl WitnessRow {
    /// Creates a row with the values of a situation. `message` is sent with the fields that the situation contains.
    pub(super) fn of(time: f64, situation: &Situation, message: Option<&str>) -> Self {
        let mut row = Self { time, values: Vec::new(), message: message.map(|name| (name.into(), Vec::new())) };
        for (quantity, number) in situation {
            let value =
                if quantity.is_flag() { WitnessValue::Flag(*number != 0.0) } else { WitnessValue::Number(*number) };
            match quantity {
                Quantity::Number(name) | Quantity::Flag(name) => row.values.push((name.to_string(), value)),
                Quantity::Field(of, name) | Quantity::FieldFlag(of, name) => {
                    if let Some((_, fields)) = row.message.as_mut().filter(|(message, _)| **message == **of) {
                        fields.push((name.to_string(), value));
                    }
                }
                Quantity::Clock(_) | Quantity::Together | Quantity::Open(_) | Quantity::OpenNumber(_) => {}
            }
        }
        row
    }

    /// Returns the message in the form that `demeanor run` reads: `hit(damage=40)`.
    #[must_use]
    pub fn sent(&self) -> Option<String> {
        let (name, fields) = self.message.as_ref()?;
        if fields.is_empty() {
            return Some(name.clone());
        }
        let fields: Vec<_> = fields.iter().map(|(field, value)| format!("{field}={value}")).collect();
        Some(format!("{name}({})", fields.join(", ")))
    }
}

impl WitnessValue {
    /// Returns the number. For a flag, it is 1 or 0.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Flag(is) => f64::from(u8::from(is)),
        }
    }
}

/// The form of a value that `demeanor run` reads.
impl std::fmt::Display for WitnessValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(is) => is.fmt(f),
        }
    }
}

/// Returns a cell of a CSV table, in quotes if necessary.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}
