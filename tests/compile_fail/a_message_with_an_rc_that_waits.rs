//! A message that waits is kept by the machine, which can be moved to another thread.

use std::rc::Rc;

use demeanor::{Fsm, Owner, State};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = f64;
    type Message = Rc<str>;

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

struct Idle;
impl State<Enemy> for Idle {
    fn enter(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut f64) {
        fsm.send_after(1.0, "wake up".into());
    }
}

fn main() {}
