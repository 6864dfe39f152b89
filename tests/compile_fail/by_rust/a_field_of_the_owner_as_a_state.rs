//! A machine would keep the reference to the state, and the owner's field does not live that long.

use demeanor::{Fsm, Owner, State};

struct Guard {
    next: Patrol,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

#[derive(Clone)]
struct Patrol {
    route: Vec<i32>,
}

struct Rest;

impl State<Guard> for Patrol {}

impl State<Guard> for Rest {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut ()) {
        fsm.change_state(&guard.next);
    }
}

fn main() {}
