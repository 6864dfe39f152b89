//! A guard who walks up and down, and chases a thief who comes too close.

use demeanor::{Fsm, Owner, State, StateMachine};

/// The owner of the machine: a character with states.
struct Guard {
    place: i32,
    step: i32,
}

/// The context: the data that each callback gets besides the guard.
struct World {
    thief: i32,
}

impl Owner for Guard {
    type Context<'a> = World;
    type Message = (); // guards get no messages
}

struct Patrol;
struct Chase;

impl State<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        guard.place += guard.step;
        if guard.place == 0 || guard.place == 6 {
            guard.step = -guard.step;
        }
        if (world.thief - guard.place).abs() <= 4 {
            fsm.change_state(&Chase);
        }
    }
}

impl State<Guard> for Chase {
    fn enter(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut World) {
        println!("Halt!");
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        let way = world.thief - guard.place;
        guard.place += way.signum();
        if way.abs() > 4 {
            fsm.revert_state(); // back to the previous state
        }
    }

    fn exit(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut World) {
        println!("It must have been the wind.");
    }
}

fn main() {
    let mut world = World { thief: 14 };
    let mut guard = Guard { place: 0, step: 1 };
    let mut machine = StateMachine::new(&Patrol);
    machine.start(&mut guard, &mut world);
    for tick in 1..=8 {
        world.thief += if tick <= 4 { -2 } else { 2 };
        machine.update(&mut guard, &mut world);
        let state = machine.current().unwrap().name();
        println!("tick {tick}: the guard is at {}, the thief at {:2}: {state}", guard.place, world.thief);
    }
}
