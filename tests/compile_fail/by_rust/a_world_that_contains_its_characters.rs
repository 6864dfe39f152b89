//! The characters are beside their context: `struct Game { enemies: Batch<Enemy>, world: World }`.

use demeanor::{Batch, Owner};

struct Enemy;

struct World {
    enemies: Batch<Enemy>,
}

impl Owner for Enemy {
    type Context<'a> = World;
    type Message = ();
}

fn main() {
    let mut world = World { enemies: Batch::new() };
    world.enemies.update(&mut world);
}
