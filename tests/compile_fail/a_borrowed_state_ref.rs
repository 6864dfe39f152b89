//! A `StateRef` is handed over: `fsm.change_state(back.clone())`. A query takes the state that it refers to:
//! `fsm.is_in_state(&*back)`.

use demeanor::{Fsm, Owner, State, StateRef};

struct Enemy {
    back: StateRef<Enemy>,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;

impl State<Enemy> for Idle {
    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
        if !fsm.is_in_state(&enemy.back) {
            fsm.change_state(&enemy.back);
        }
    }
}

fn main() {}
