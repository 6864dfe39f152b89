//! What the character can do in any of its states.

use demeanor::{Fsm, State};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::{Guard, Told};

/// Goes somewhere, and feels what hits it.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Go {
    pub(crate) to: String,
    pub(crate) speed: f64,
}

impl State<Guard> for Go {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("sets out to {}", self.to));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("goes to {} at {}", self.to, self.speed));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("stops going to {}", self.to));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        if let Told::Hit { damage, .. } = told {
            guard.health -= damage;
        }
        false
    }
}

/// Speaks, and does nothing.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Speak {
    pub(crate) word: String,
}

impl State<Guard> for Speak {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("{}!", self.word));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("{}..", self.word));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("no more {}", self.word));
    }
}

/// Fires at whoever is there. That ends a panic: a change that the behaviour asks for itself.
pub(crate) struct Fire;

impl State<Guard> for Fire {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note("fires");
        guard.ammo = (guard.ammo - 1.0).max(0.0);
        if guard.health < 5.0 && fsm.previous().is_some() {
            fsm.revert_state();
        }
    }

    fn on_message(&self, guard: &mut Guard, _: &Told, _: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        guard.note("hears nothing");
        false
    }
}

pub(crate) struct Heal;

impl State<Guard> for Heal {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.health += 7.0;
        guard.note(format!("heals to {}", guard.health));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        guard.note("sleeps on");
        matches!(told, Told::Hit { .. })
    }
}
