//! A context has a lifetime, even if it borrows nothing: `type Context<'a> = World;`.

use demeanor::Owner;

struct Enemy;
struct World;

impl Owner for Enemy {
    type Context = World;
    type Message = ();
}

fn main() {}
