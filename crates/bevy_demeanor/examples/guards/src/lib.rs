//! 200 guards patrol a yard, hear intruders, chase them, flee, are stunned, die and come back; and the game is saved and loaded.
//! It is there twice, with the same end: with state machines, and with an enum and systems.

pub mod by_hand;
pub mod guards;
pub mod yard;
