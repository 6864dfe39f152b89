//! `Closed` is a door's state, not an enemy's.

use demeanor::{Fsm, Owner, State};

struct Enemy;
struct Door;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

impl Owner for Door {
    type Context<'a> = ();
    type Message = ();
}

struct Closed;
struct Idle;

impl State<Door> for Closed {}

impl State<Enemy> for Idle {
    fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
        fsm.change_state(&Closed);
    }
}

fn main() {}
