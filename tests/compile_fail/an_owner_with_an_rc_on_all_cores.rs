//! A parallel tick moves owners to other threads.

use std::rc::Rc;

use demeanor::{Batch, Owner, State};

struct Enemy {
    name: Rc<str>,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;
impl State<Enemy> for Idle {}

fn main() {
    let mut enemies = Batch::new();
    enemies.insert(Enemy { name: "Bob".into() }, &Idle);
    enemies.par_update(|_chunk| ());
}
