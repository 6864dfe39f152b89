//! A guard only reads the machine: it returns whether the change may be made, and requests nothing.

use demeanor::{Fsm, Owner, State};

struct Enemy {
    arrows: u32,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Reload;
impl State<Enemy> for Reload {}

struct Shoot;
impl State<Enemy> for Shoot {
    fn can_enter(&self, enemy: &Enemy, fsm: &Fsm<'_, Enemy>, (): &()) -> bool {
        if enemy.arrows == 0 {
            fsm.change_state(&Reload);
        }
        enemy.arrows > 0
    }
}

fn main() {}
