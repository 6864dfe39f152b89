//! All owners share a state, so what changes is in the owner.

use demeanor::{Fsm, Owner, State};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Wait {
    timer: f32,
}

impl State<Enemy> for Wait {
    fn update(&self, _: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
        self.timer -= 1.0;
    }
}

fn main() {}
