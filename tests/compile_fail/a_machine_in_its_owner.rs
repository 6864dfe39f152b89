//! A machine lives beside its owner, not in it: in an `Agent`, say.

use demeanor::{Owner, State, StateMachine};

struct Enemy {
    machine: StateMachine<Enemy>,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;

impl State<Enemy> for Idle {}

fn main() {
    let mut enemy = Enemy { machine: StateMachine::new(&Idle) };
    enemy.machine.update(&mut enemy, &mut ());
}
