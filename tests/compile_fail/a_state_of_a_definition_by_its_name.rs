//! A state of a definition is asked for by its name: `definition.state("chase")`. There may be none of that name.

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Owner};

struct Enemy;

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

fn main() {
    let definition = Definition::parse("", &Vocabulary::<Enemy>::new()).unwrap();
    let mut machine = definition.machine();
    machine.change_state(&mut Enemy, "chase", &mut ());
    let mut batch = Batch::new().with_global(definition.global());
    batch.insert(Enemy, definition.initial());
}
