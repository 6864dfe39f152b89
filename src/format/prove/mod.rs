//! Proves over all situations what a machine of a file can do and what it cannot.
//!
//! Conditions compare values with constants, so that the values fall into finitely many [`cells`]. What a condition asks is
//! read as a [`claim`] of a situation, a [`solver`] looks for a situation in which one holds, and a [`machine`] says which
//! exits are tried in which order. On these stand the questions: [`conditions`] that never hold, what is [`reach`]ed, exits
//! that are [`never`] taken, states that [`flicker`], states with [`no_way_out`]. What is found is shown by a [`witness`],
//! which a real machine plays: see [`Stage`](witness::Stage).

mod cells;
mod claim;
mod conditions;
mod flicker;
mod machine;
mod never;
mod no_way_out;
mod proof;
mod reach;
mod reading;
mod solver;
mod step;
mod telling;
pub(crate) mod witness;

pub use proof::{Finding, Proof};
pub use witness::{Witness, WitnessChange, WitnessRow, WitnessValue};
