//! What a callback borrows is borrowed for the call only, so neither the owner nor the context can keep a reference to it.

use demeanor::{Fsm, Owner, State};

struct Guard {
    name: String,
    target: &'static str,
}

struct World<'w> {
    thief: &'w str,
    seen: Vec<&'w str>,
}

impl Owner for Guard {
    type Context<'a> = World<'a>;
    type Message = ();
}

struct Patrol;

impl State<Guard> for Patrol {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, world: &mut World<'_>) {
        guard.target = world.thief;
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, world: &mut World<'_>) {
        world.seen.push(&guard.name);
    }
}

fn main() {}
