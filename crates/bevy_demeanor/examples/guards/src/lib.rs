//! A stealth level without a window: 200 guards patrol a yard, hear intruders, chase them, flee, are stunned, die and come back;
//! cameras see intruders and raise alarms; the player sneaks along the walls. The game can be paused, saved and loaded, and the
//! file of the cameras can be edited while it runs. The game is written twice, with the same result: with state machines
//! (`level`), and with enums and systems (`by_hand`).

pub mod by_hand;
pub mod camera;
pub mod guards;
pub mod level;
pub mod player;
pub mod yard;
