//! A callback borrows the owner and the message, so it can take nothing out of them.

use demeanor::{Fsm, Owner, State};

struct Guard {
    route: Vec<i32>,
}

enum Told {
    Walk { route: Vec<i32> },
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = Told;
}

#[derive(Clone)]
struct Patrol {
    route: Vec<i32>,
}

struct Rest;

impl State<Guard> for Patrol {}

impl State<Guard> for Rest {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut ()) {
        fsm.change_state(Box::new(Patrol { route: guard.route }));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, _: &mut ()) -> bool {
        match *told {
            Told::Walk { route } => guard.route = route,
        }
        true
    }
}

fn main() {}
