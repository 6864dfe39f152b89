//! A creature: its body, where it is, and what it knows of others.

use std::fmt;

use demeanor::Owner;
use oorandom::Rand64;
use schemars::JsonSchema;
use serde::Deserialize;

use super::halls::{Point, distance};
use super::world::{Deed, Sighting, View, World};

/// The number of a creature, from 0 on.
pub(crate) type Id = usize;

/// Who fights together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    #[default]
    Abbey,
    Brood,
}

/// What the file says of a kind, in the behavior `body`. Distances are in steps, times in seconds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) side: Side,
    /// How many of this kind there are, beside the numbers of the other kinds.
    #[serde(default = "one")]
    pub(crate) common: u32,
    pub(crate) health: f64,
    /// How much of each hit does no damage.
    #[serde(default)]
    pub(crate) armor: f64,
    /// The damage of an attack.
    pub(crate) power: f64,
    /// In steps per second.
    pub(crate) speed: f64,
    pub(crate) sight: f64,
    #[serde(default = "usual_hearing")]
    pub(crate) hearing: f64,
    /// How far its attack reaches.
    #[serde(default = "usual_reach")]
    pub(crate) reach: f64,
    pub(crate) courage: f64,
    /// How much damage at once it takes without flinching.
    #[serde(default = "usual_toughness")]
    pub(crate) toughness: f64,
    /// How long it needs to believe what it sees. Some are quicker than others.
    #[serde(default = "usual_reaction")]
    pub(crate) reaction: f64,
    /// How long one of its strides takes.
    #[serde(default = "usual_stride")]
    pub(crate) stride: f64,
    #[serde(default)]
    pub(crate) ammo: u32,
    /// How long it needs to get new ammo.
    #[serde(default = "usual_reload")]
    pub(crate) reload: f64,
}

fn one() -> u32 {
    1
}
fn usual_hearing() -> f64 {
    10.0
}
fn usual_reach() -> f64 {
    1.8
}
fn usual_toughness() -> f64 {
    4.0
}
fn usual_reaction() -> f64 {
    0.5
}
fn usual_stride() -> f64 {
    0.2
}
fn usual_reload() -> f64 {
    2.0
}

/// The body of who has not been given one by its file.
impl Default for Body {
    fn default() -> Self {
        Self {
            side: Side::default(),
            common: one(),
            health: 1.0,
            armor: 0.0,
            power: 0.0,
            speed: 0.0,
            sight: 0.0,
            hearing: 0.0,
            reach: 0.0,
            courage: 0.0,
            toughness: 0.0,
            reaction: usual_reaction(),
            stride: usual_stride(),
            ammo: 0,
            reload: usual_reload(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Creature {
    pub(crate) id: Id,
    pub(crate) body: Body,
    pub(crate) at: Point,
    /// Its post: where it began.
    pub(crate) home: Point,
    /// Where it is walking to.
    pub(crate) goal: Point,
    /// Where the last noise came from, or where the enemy was last seen.
    pub(crate) trail: Point,
    pub(crate) health: f64,
    /// Until when its wounds have been tended, in seconds.
    pub(crate) mended_at: f64,
    pub(crate) ammo: u32,
    /// What a shield or a posture adds to the armor.
    pub(crate) brace: f64,
    pub(crate) is_hidden: bool,
    /// Nothing is left of it.
    pub(crate) is_gone: bool,
    pub(crate) enemy: Option<Id>,
    /// The closest of its own side's dead.
    pub(crate) corpse: Option<Id>,
    pub(crate) enemies_near: u32,
    pub(crate) friends_near: u32,
    pub(crate) kills: u32,
    pub(crate) raised: u32,
    /// How slow it is beside the others of its kind.
    pub(crate) slowness: f64,
    /// Each creature has its own, so that it does the same in whatever order they are updated.
    dice: Rand64,
}

/// What a creature can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Told {
    /// It was hit, and lives, or was dead already.
    Hit {
        damage: f64,
        is_fire: bool,
    },
    /// The hit took the last of its health.
    Killed {
        damage: f64,
    },
    Noise {
        loudness: f64,
        distance: f64,
    },
    Dread {
        strength: f64,
        distance: f64,
    },
    /// Somebody raises the dead.
    Raise {
        distance: f64,
    },
    /// The bell of the abbey strikes the hour.
    Bell {
        tolls: u32,
    },
}

impl Told {
    /// The names of what can be told, as the file and the report have them.
    pub(crate) const NAMES: [&str; 6] = ["hit", "killed", "noise", "dread", "raise", "bell"];

    /// Which of the names is its own.
    pub(crate) fn index(&self) -> usize {
        match self {
            Self::Hit { .. } => 0,
            Self::Killed { .. } => 1,
            Self::Noise { .. } => 2,
            Self::Dread { .. } => 3,
            Self::Raise { .. } => 4,
            Self::Bell { .. } => 5,
        }
    }
}

impl Owner for Creature {
    type Context<'a> = View<'a>;
    type Message = Told;

    fn now(view: &View<'_>) -> f64 {
        view.world.seconds()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "creature {}", self.id)
    }
}

impl Creature {
    /// Creates a creature at a place. Its file gives it a body as soon as its machine is started.
    pub(crate) fn new(id: Id, at: Point, seed: u64) -> Self {
        let mut dice = Rand64::new(u128::from(seed) << 64 | id as u128);
        let slowness = 0.7 + 0.6 * dice.rand_float();
        Self {
            id,
            body: Body::default(),
            at,
            home: at,
            goal: at,
            trail: at,
            health: 1.0,
            mended_at: 0.0,
            ammo: 0,
            brace: 0.0,
            is_hidden: false,
            is_gone: false,
            enemy: None,
            corpse: None,
            enemies_near: 0,
            friends_near: 0,
            kills: 0,
            raised: 0,
            slowness,
            dice,
        }
    }

    /// Returns a number of at least 0 and less than 1.
    pub(crate) fn random(&mut self) -> f64 {
        self.dice.rand_float()
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.health > 0.0
    }

    /// What others see of it.
    pub(crate) fn sighting(&self, world: &World) -> Sighting {
        Sighting {
            at: self.at,
            hall: world.halls.hall_at(self.at),
            side: self.body.side,
            is_alive: self.is_alive(),
            is_hidden: self.is_hidden,
            is_gone: self.is_gone,
        }
    }

    /// Returns its enemy, as long as it can be seen.
    pub(crate) fn enemy_seen<'w>(&self, world: &'w World) -> Option<&'w Sighting> {
        let enemy = world.seen.get(self.enemy?)?;
        let is_seen = enemy.is_alive && !enemy.is_hidden && enemy.hall == world.halls.hall_at(self.at);
        (is_seen && distance(enemy.at, self.at) <= self.body.sight).then_some(enemy)
    }

    /// Returns how far the enemy is away. The distance to nobody is no number.
    pub(crate) fn enemy_distance(&self, world: &World) -> f64 {
        self.enemy_seen(world).map_or(f64::NAN, |enemy| distance(enemy.at, self.at))
    }

    /// Returns how far the corpse is away that it has seen last, while it lies there.
    pub(crate) fn corpse_distance(&self, world: &World) -> f64 {
        let corpse = self.corpse.and_then(|corpse| world.seen.get(corpse)).filter(|corpse| corpse.is_corpse());
        corpse.map_or(f64::NAN, |corpse| distance(corpse.at, self.at))
    }

    /// Looks around: who is the closest enemy, how many are near, and where there are dead.
    pub(crate) fn look(&mut self, world: &World) {
        const NEAR: f64 = 6.0;

        let hall = world.halls.hall_at(self.at);
        let (mut enemy, mut corpse) = ((f64::INFINITY, None), (f64::INFINITY, None));
        (self.enemies_near, self.friends_near) = (0, 0);
        for &id in world.in_hall(hall) {
            let other = &world.seen[id];
            let is_friend = other.side == self.body.side;
            let distance = distance(other.at, self.at);
            if id == self.id || other.is_hidden || other.is_gone || distance > self.body.sight {
                continue;
            }
            if !other.is_alive {
                if is_friend && distance < corpse.0 {
                    corpse = (distance, Some(id));
                }
            } else if is_friend {
                self.friends_near += u32::from(distance < NEAR);
            } else {
                self.enemies_near += u32::from(distance < NEAR);
                if distance < enemy.0 {
                    enemy = (distance, Some(id));
                }
            }
        }
        self.corpse = corpse.1;
        self.enemy = enemy.1;
        if let Some(enemy) = self.enemy {
            self.trail = world.seen[enemy].at;
        }
    }

    /// Walks toward a place, by so many steps at most. Returns whether a wall was in the way.
    pub(crate) fn walk(&mut self, to: Point, steps: f64, world: &World) -> bool {
        let (at, is_blocked) = world.halls.walk(self.at, to, steps);
        self.at = at;
        is_blocked
    }

    /// Does something to others, which happens when all have had their tick.
    pub(crate) fn act(&self, deed: Deed, view: &mut View<'_>) {
        view.deeds.push((self.id, deed));
    }
}
