//! 200 guards patrol a yard, hear intruders, chase them, flee, are stunned, die and come back; and the game is saved and
//! loaded. The game is written twice, with the same result: with state machines, and with an enum and systems.

pub mod by_hand;
pub mod guards;
pub mod yard;
