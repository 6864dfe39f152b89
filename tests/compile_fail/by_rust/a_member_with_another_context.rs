//! The context of a cast's members is the cast, and their messages are telegrams.

use demeanor::{Agent, Cast, Owner, State, StateMachine};

struct Enemy;
struct World;

impl Owner for Enemy {
    type Context<'a> = World;
    type Message = u8;
}

struct Idle;

impl State<Enemy> for Idle {}

fn main() {
    let mut cast = Cast::<u32, u8, World>::new(World);
    cast.add(1, Agent::new(Enemy, StateMachine::new(&Idle)));
}
