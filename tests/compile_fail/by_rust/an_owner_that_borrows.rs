//! What an owner would borrow is in the context.

use demeanor::Owner;

struct Enemy<'m> {
    map: &'m [u32],
}

impl<'m> Owner for Enemy<'m> {
    type Context<'a> = ();
    type Message = ();
}

fn main() {}
