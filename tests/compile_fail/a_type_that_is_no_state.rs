//! `impl State<Enemy> for Idle` has been forgotten.

use demeanor::{Fsm, Owner, State, StateMachine};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;
struct Chase;

impl State<Enemy> for Chase {
    fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
        fsm.change_state(&Idle);
    }
}

fn main() {
    let machine: StateMachine<Enemy> = StateMachine::new(&Idle);
    assert!(machine.is_in_state(&Idle));
}
