//! Times are seconds: `pause.as_secs_f64()`.

use std::time::Duration;

use demeanor::{Fsm, Owner, State};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;

impl State<Enemy> for Idle {
    fn enter(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
        fsm.change_state_after(Duration::from_secs(2), &Idle);
    }
}

fn main() {}
