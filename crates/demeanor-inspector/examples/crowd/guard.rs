//! The guards: nested states, a stack, timers, sleep, and guards that refuse.

use std::fmt;

use demeanor::{Fsm, Owner, State, StateRef};
use oorandom::Rand32;

pub(crate) struct World {
    pub(crate) seconds: f64,
}

pub(crate) struct Guard {
    number: u32,
    stamina: f32,
    dice: Rand32,
}

impl Guard {
    pub(crate) fn new(number: u32) -> Self {
        let mut dice = Rand32::new(number.into());
        Self { number, stamina: dice.rand_float(), dice }
    }

    /// Returns whether an event happens in this tick that happens this many times per second, on average.
    fn happens(&mut self, times_a_second: f32) -> bool {
        self.dice.rand_float() < times_a_second / 50.0
    }

    fn spend(&mut self, stamina: f32) {
        self.stamina = (self.stamina - stamina / 50.0).clamp(0.0, 1.0);
    }
}

impl Owner for Guard {
    type Context<'a> = World;
    type Message = ();

    fn now(world: &World) -> f64 {
        world.seconds
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guard {}", self.number)
    }
}

/// Returns the share of guards in alarm. It changes with the time: there is an attack every half minute.
fn alarm(world: &World) -> f32 {
    if world.seconds % 30.0 < 8.0 { 0.5 } else { 0.02 }
}

pub(crate) struct Duty;
pub(crate) struct Patrol;
pub(crate) struct Look;
pub(crate) struct Combat;
pub(crate) struct Chase;
pub(crate) struct Attack;
pub(crate) struct Flee;
pub(crate) struct Rest;
pub(crate) struct Stunned;

impl State<Guard> for Duty {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        if guard.happens(alarm(world)) {
            fsm.change_state(&Chase);
        } else if guard.stamina < 0.2 && guard.happens(1.0) {
            fsm.change_state(&Rest);
        }
    }
}

impl State<Guard> for Patrol {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Duty).into())
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        guard.spend(0.02);
        if guard.happens(0.2) {
            fsm.change_state(&Look);
        }
    }
}

impl State<Guard> for Look {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Duty).into())
    }

    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        fsm.change_state_after((1.0 + 3.0 * guard.dice.rand_float()).into(), &Patrol);
    }
}

impl State<Guard> for Combat {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        guard.spend(0.1);
        if guard.stamina < 0.1 {
            fsm.change_state(&Flee);
        } else if guard.happens(0.05) {
            fsm.push_state(&Stunned);
        } else if fsm.time_in(&Combat, world).is_some_and(|seconds| seconds > 6.0) && guard.happens(0.5) {
            fsm.change_state(&Patrol);
        }
    }
}

impl State<Guard> for Chase {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Combat).into())
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        if guard.happens(1.5) {
            fsm.change_state(&Attack);
        }
    }
}

impl State<Guard> for Attack {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Combat).into())
    }

    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &World) -> bool {
        guard.stamina > 0.4
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        if guard.happens(1.0) {
            fsm.change_state(&Chase);
        }
    }
}

impl State<Guard> for Flee {
    fn can_exit(&self, _: &Guard, fsm: &Fsm<'_, Guard>, world: &World) -> bool {
        fsm.time_in_state(world) > 2.0
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        if guard.happens(0.8) {
            fsm.change_state(&Rest);
        }
    }
}

impl State<Guard> for Rest {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        let seconds = 4.0 + 10.0 * guard.dice.rand_float();
        guard.stamina = 1.0;
        fsm.change_state_after(seconds.into(), &Patrol);
        fsm.sleep();
    }
}

impl State<Guard> for Stunned {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        if fsm.time_in_state(world) > 2.0 && guard.happens(1.0) {
            fsm.pop_state();
        }
    }
}
