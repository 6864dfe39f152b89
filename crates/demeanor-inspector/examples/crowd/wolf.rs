//! The wolves, whose machine is in a file.

use std::fmt;

use demeanor::Owner;
use demeanor::definition::{Definition, LoadError, Vocabulary};
use oorandom::Rand32;

pub(crate) struct Wolf {
    number: u32,
    hunger: f64,
    distance: f64,
    dice: Rand32,
}

impl Wolf {
    pub(crate) fn new(number: u32) -> Self {
        let mut dice = Rand32::new(number.into());
        Self { number, hunger: f64::from(dice.rand_float()) * 100.0, distance: 100.0, dice }
    }

    pub(crate) fn live(&mut self) {
        self.hunger = (self.hunger + 0.08 + f64::from(self.dice.rand_float()) * 0.04) % 110.0;
        self.distance = (self.distance + f64::from(self.dice.rand_float() - 0.5) * 6.0).clamp(0.0, 100.0);
    }
}

impl Owner for Wolf {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wolf {}", self.number)
    }
}

/// The file is reloaded when it is saved.
pub(crate) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crowd/wolf.fsm.toml");

pub(crate) fn definition() -> Result<Definition<Wolf>, LoadError> {
    let vocabulary = Vocabulary::new()
        .value("hunger", |wolf: &Wolf, _| wolf.hunger)
        .value("distance", |wolf: &Wolf, _| wolf.distance);
    Definition::load(FILE, &vocabulary)
}
