//! An owned state has to be `Clone`, for a machine's clone has one of its own once it is edited.

use demeanor::{Owner, State, StateMachine};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Patrol {
    route: Vec<u32>,
}

impl State<Enemy> for Patrol {}

fn main() {
    let _: StateMachine<Enemy> = StateMachine::new(Box::new(Patrol { route: vec![1] }));
}
