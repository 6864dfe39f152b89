//! A guard and its five states.

use demeanor::{Fsm, Owner, State, StateBook};
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Guard {
    pub(crate) number: u32,
    /// The place in steps from the left end of the corridor.
    pub(crate) at: i32,
    /// The direction in which it walks: -1 is left, 1 is right.
    heading: i32,
    /// The number of steps until it is tired.
    strength: u32,
}

/// The context of the callbacks.
pub(crate) struct Corridor {
    pub(crate) tick: u64,
    /// The player's place.
    pub(crate) player: i32,
}

/// The message of a guard.
pub(crate) struct Whistle;

impl Owner for Guard {
    type Context<'a> = Corridor;
    type Message = Whistle;

    /// Returns the time in ticks.
    #[expect(clippy::cast_precision_loss, reason = "no game lasts that long")]
    fn now(corridor: &Corridor) -> f64 {
        corridor.tick as f64
    }
}

/// The length of the corridor, in steps.
pub(crate) const CORRIDOR: i32 = 60;
/// How far a guard sees.
const SIGHT: i32 = 5;
const MOST_STRENGTH: u32 = 40;

impl Guard {
    pub(crate) fn new(number: u32) -> Self {
        let at = i32::try_from(number * 17 % CORRIDOR.unsigned_abs()).unwrap_or(0);
        Self { number, at, heading: 1, strength: MOST_STRENGTH - number % 7 * 5 }
    }

    fn sees(&self, corridor: &Corridor) -> bool {
        (corridor.player - self.at).abs() <= SIGHT
    }

    fn walk(&mut self) {
        if !(0..CORRIDOR).contains(&(self.at + self.heading)) {
            self.heading = -self.heading;
        }
        self.at += self.heading;
        self.strength = self.strength.saturating_sub(1);
    }
}

pub(crate) fn book() -> StateBook<Guard> {
    StateBook::new().with(&Patrol).with(&Listen).with(&Chase).with(&Nap).with(&Stunned)
}

pub(crate) struct Patrol;
struct Listen;
struct Chase;
struct Nap;
pub(crate) struct Stunned;

impl State<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, corridor: &mut Corridor) {
        guard.walk();
        if guard.strength == 0 {
            fsm.change_state(&Nap);
        } else if guard.sees(corridor) {
            fsm.change_state(&Chase);
        }
    }

    fn on_message(&self, _: &mut Guard, _: &Whistle, fsm: &mut Fsm<'_, Guard>, _: &mut Corridor) -> bool {
        fsm.change_state(&Listen);
        true
    }
}

impl State<Guard> for Listen {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Corridor) {
        fsm.change_state_after(8.0, &Patrol);
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, corridor: &mut Corridor) {
        if guard.sees(corridor) {
            fsm.change_state(&Chase);
        }
    }
}

impl State<Guard> for Chase {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, corridor: &mut Corridor) {
        guard.heading = if corridor.player < guard.at { -1 } else { 1 };
        guard.walk();
        if guard.strength == 0 {
            fsm.change_state(&Nap);
        } else if !guard.sees(corridor) {
            fsm.change_state(&Listen);
        }
    }
}

impl State<Guard> for Nap {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Corridor) {
        guard.strength = MOST_STRENGTH;
        fsm.sleep_for(30.0);
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Corridor) {
        fsm.change_state(&Patrol);
    }
}

impl State<Guard> for Stunned {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Corridor) {
        fsm.change_state_after(12.0, &Patrol);
    }
}
