//! A state for many types of owner has no second implementation for one of them.

use demeanor::{Fsm, Owner, State};

struct Orc {
    health: f32,
}

impl Owner for Orc {
    type Context<'a> = ();
    type Message = ();
}

trait Flammable {
    fn scorch(&mut self);
}

impl Flammable for Orc {
    fn scorch(&mut self) {
        self.health -= 5.0;
    }
}

struct Burn;

impl<T: Owner + Flammable> State<T> for Burn {
    fn update(&self, owner: &mut T, _: &mut Fsm<'_, T>, _: &mut T::Context<'_>) {
        owner.scorch();
    }
}

impl State<Orc> for Burn {
    fn update(&self, orc: &mut Orc, _: &mut Fsm<'_, Orc>, _: &mut ()) {
        orc.health = 0.0;
    }
}

fn main() {}
