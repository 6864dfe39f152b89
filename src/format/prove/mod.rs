//! Proves what a machine of a file can and cannot do, over all situations.
//!
//! Conditions compare values with constants, so the values fall into finitely many [`cells`]. [`reading`] converts a condition
//! to a [`claim`] about a situation, a [`solver`] searches for a situation in which a claim holds, and a [`machine`] knows which
//! exits are tried in which order. If the machine has regions, [`configurations`] are the states that can be active together.
//! [`proof`] uses them to find [`conditions`] that never hold, [`reach`]able states and exits, exits that are [`never`] taken,
//! states that [`flicker`], and states with [`no_way_out`]. A [`witness`] shows a finding: a real machine plays it, see
//! [`Stage`](witness::Stage).

mod cells;
mod claim;
mod conditions;
mod configuration;
mod configurations;
mod exit_runs;
mod flicker;
mod in_time;
mod machine;
mod never;
mod no_way_out;
mod proof;
mod properties;
mod reach;
mod reading;
mod search;
mod solver;
mod step;
mod telling;
pub(crate) mod witness;

pub use exit_runs::{ExitRun, ExitRuns, UntakenExit};
pub use proof::{Finding, Proof, PropertyProof};
pub use properties::PropertyAnswer;
pub use witness::{Witness, WitnessChange, WitnessRow, WitnessValue};
