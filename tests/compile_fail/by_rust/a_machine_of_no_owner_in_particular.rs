//! A state of several types of owner: `StateMachine::<Orc>::new(&Burn)`.

use demeanor::{Owner, State, StateMachine};

struct Orc;
struct Wagon;

impl Owner for Orc {
    type Context<'a> = ();
    type Message = ();
}

impl Owner for Wagon {
    type Context<'a> = ();
    type Message = ();
}

struct Burn;

impl<T: Owner> State<T> for Burn {}

fn main() {
    let machine = StateMachine::new(&Burn);
}
