//! `StateMachine::new` takes the state alone, and `Agent::new` takes the owner and a machine.

use demeanor::{Agent, Owner, State, StateMachine};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;

impl State<Enemy> for Idle {}

fn main() {
    let _: StateMachine<Enemy> = StateMachine::new(Enemy, &Idle);
    let _ = Agent::new(Enemy, &Idle);
}
