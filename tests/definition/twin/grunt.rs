//! The character, and what it can do in any of its states.

use demeanor::{Change, Fsm, Owner, State, StateRef};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Debug)]
pub(crate) struct Grunt {
    pub(crate) health: f64,
    pub(crate) ammo: f64,
    pub(crate) enemy_visible: bool,
    pub(crate) rng: u64,
    pub(crate) trace: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    Damage(u8),
    Alarm,
}

impl Owner for Grunt {
    /// The time in seconds.
    type Context<'a> = f64;
    type Message = Told;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut f64) {
        self.trace.push(change.to_string());
    }
}

impl Grunt {
    /// Whether luck will have it, `p` times in one.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.draw() < p
    }

    pub(crate) fn draw(&mut self) -> f64 {
        self.rng = self.rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.rng >> 32).unwrap()) / 4_294_967_296.0
    }

    fn tell(&mut self, line: impl Into<String>) {
        self.trace.push(line.into());
    }

    /// What happened, and what came of it.
    pub(crate) fn told<'a>(self, path: impl Iterator<Item = &'a StateRef<Self>>) -> Vec<String> {
        let path: Vec<_> = path.map(ToString::to_string).collect();
        let mut told = self.trace;
        told.push(format!("in {}: health {}, ammo {}, luck {}", path.join("/"), self.health, self.ammo, self.rng));
        told
    }
}

/// Goes somewhere, and feels what hits it.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Go {
    pub(crate) to: String,
    pub(crate) speed: f64,
}

impl State<Grunt> for Go {
    fn enter(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell(format!("sets out to {}", self.to));
    }

    fn update(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell(format!("goes to {} at {}", self.to, self.speed));
    }

    fn exit(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell(format!("stops going to {}", self.to));
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, _: &mut Fsm<'_, Grunt>, _: &mut f64) -> bool {
        if let Told::Damage(by) = told {
            grunt.health -= f64::from(*by);
        }
        false
    }
}

/// Speaks, and does nothing.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Speak {
    pub(crate) word: String,
}

impl State<Grunt> for Speak {
    fn enter(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell(format!("{}!", self.word));
    }

    fn update(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell(format!("{}..", self.word));
    }

    fn exit(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell(format!("no more {}", self.word));
    }
}

/// Fires at whoever is there. That ends a panic: a change that the behaviour asks for itself.
pub(crate) struct Fire;

impl State<Grunt> for Fire {
    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.tell("fires");
        grunt.ammo = (grunt.ammo - 1.0).max(0.0);
        if grunt.health < 5.0 && fsm.previous().is_some() {
            fsm.revert_state();
        }
    }

    fn on_message(&self, grunt: &mut Grunt, _: &Told, _: &mut Fsm<'_, Grunt>, _: &mut f64) -> bool {
        grunt.tell("hears nothing");
        false
    }
}

pub(crate) struct Heal;

impl State<Grunt> for Heal {
    fn update(&self, grunt: &mut Grunt, _: &mut Fsm<'_, Grunt>, _: &mut f64) {
        grunt.health += 7.0;
        grunt.tell(format!("heals to {}", grunt.health));
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, _: &mut Fsm<'_, Grunt>, _: &mut f64) -> bool {
        grunt.tell("sleeps on");
        matches!(told, Told::Damage(_))
    }
}
