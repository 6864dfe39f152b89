//! A state is shared by all owners and all threads: what changes belongs into the owner.

use std::cell::Cell;

use demeanor::{Owner, State};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Wander {
    steps: Cell<u32>,
}

impl State<Enemy> for Wander {}

fn main() {}
