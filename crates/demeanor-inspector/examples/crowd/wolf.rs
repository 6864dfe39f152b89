//! The wolves, whose machine is in a file.

use std::fmt;

use demeanor::Owner;
use demeanor::definition::{Definition, Problems, Vocabulary};
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

const FILE: &str = "
initial = 'roam'

[states.roam]
initial = 'wander'
exits = [{ to = 'hunt', when = 'hunger > 60' }]

[states.wander]
parent = 'roam'
exits = [{ to = 'sniff', after = 3.0 }]

[states.sniff]
parent = 'roam'
exits = [{ to = 'wander', after = 1.5 }]

[states.hunt]
initial = 'stalk'
exits = [{ to = 'sleep', when = 'hunger < 20' }]

[states.stalk]
parent = 'hunt'
exits = [{ to = 'pounce', when = 'distance < 20 and hunger > 70' }, { to = 'howl', after = 8.0 }]

[states.howl]
parent = 'hunt'
exits = [{ to = 'stalk', after = 2.0 }]

[states.pounce]
parent = 'hunt'
enter_when = 'distance < 15'
exits = [{ to = 'stalk', when = 'distance > 40' }, { to = 'sleep', after = 4.0 }]

[states.sleep]
exits = [{ to = 'roam', after = 10.0 }, { to = 'hunt', when = 'distance < 2' }]
";

pub(crate) fn definition() -> Result<Definition<Wolf>, Problems> {
    let vocabulary = Vocabulary::new()
        .value("hunger", |wolf: &Wolf, _| wolf.hunger)
        .value("distance", |wolf: &Wolf, _| wolf.distance);
    Definition::parse_named("wolf.toml", FILE, &vocabulary)
}
