//! `is_in_state` says whether a machine is in a state.

use demeanor::{Owner, State, StateMachine};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;

impl State<Enemy> for Idle {}

fn main() {
    let machine = StateMachine::new(&Idle);
    assert!(machine.current() == &Idle);
    assert!(machine.current().unwrap() == &Idle);
    assert!(machine.current() == Some(&Idle));
    match machine.current().unwrap() {
        Idle => {}
        _ => unreachable!(),
    }
}
