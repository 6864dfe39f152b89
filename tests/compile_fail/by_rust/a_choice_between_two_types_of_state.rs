//! One variable for states of two types is a `StateRef`.

use demeanor::{Fsm, Owner, State};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Rest;
struct Chase;

impl State<Enemy> for Chase {}

impl State<Enemy> for Rest {
    fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
        let next = if fsm.previous().is_none() { &Chase } else { &Rest };
        fsm.change_state(next);
    }
}

fn main() {}
