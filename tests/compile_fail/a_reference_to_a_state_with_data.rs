//! A state with data that is made at run time is handed over: `Box::new(Patrol { route })`. The docs of `change_state` say so;
//! the compiler can only say that a reference to it does not live long enough.

use demeanor::{Fsm, Owner, State};

struct Enemy {
    seen: Vec<u32>,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

#[derive(Clone)]
struct Patrol {
    route: Vec<u32>,
}

impl State<Enemy> for Patrol {}

struct Idle;

impl State<Enemy> for Idle {
    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
        let route = enemy.seen.clone();
        fsm.change_state(&Patrol { route });
    }
}

fn main() {}
