//! An owned state is boxed as what it is: `Box::new(Patrol { .. })`, not as a `Box<dyn State<Enemy>>`.

use demeanor::{Owner, State, StateMachine};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

#[derive(Clone)]
struct Patrol {
    route: Vec<u32>,
}

impl State<Enemy> for Patrol {}

fn main() {
    let patrol: Box<dyn State<Enemy>> = Box::new(Patrol { route: vec![1] });
    let _: StateMachine<Enemy> = StateMachine::new(patrol);
}
