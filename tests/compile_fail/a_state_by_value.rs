//! A state is named by reference: `StateMachine::new(&Idle)`.

use demeanor::{Owner, State, StateMachine};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;

impl State<Enemy> for Idle {}

fn main() {
    let _: StateMachine<Enemy> = StateMachine::new(Idle);
}
