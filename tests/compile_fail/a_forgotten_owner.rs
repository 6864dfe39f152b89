//! `impl Owner for Enemy` has been forgotten.

use demeanor::{State, StateMachine};

struct Enemy;

struct Idle;

impl State<Enemy> for Idle {}

fn main() {
    let _: StateMachine<Enemy> = StateMachine::new(&Idle);
}
