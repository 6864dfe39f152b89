//! A creature: its body, its place, and its knowledge of others.

use std::fmt;

use demeanor::Owner;
use oorandom::Rand64;
use schemars::JsonSchema;
use serde::Deserialize;

use super::halls::{Point, distance};
use super::world::{Deed, Sighting, View, World};

/// The number of a creature, from 0 on.
pub(crate) type Id = usize;

/// The side of a creature. Creatures of one side fight together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    #[default]
    Abbey,
    Brood,
}

/// The properties of a kind of creature, from the behavior `body` in the file. Distances are in steps, times in seconds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) side: Side,
    /// How common this kind is, relative to the other kinds.
    #[serde(default = "one")]
    pub(crate) common: u32,
    pub(crate) health: f64,
    /// The part of each hit that does no damage.
    #[serde(default)]
    pub(crate) armor: f64,
    /// The damage of an attack.
    pub(crate) power: f64,
    /// The speed in steps per second.
    pub(crate) speed: f64,
    pub(crate) sight: f64,
    #[serde(default = "usual_hearing")]
    pub(crate) hearing: f64,
    /// The reach of its attack.
    #[serde(default = "usual_reach")]
    pub(crate) reach: f64,
    pub(crate) courage: f64,
    /// The largest damage of a hit that does not make it flinch.
    #[serde(default = "usual_toughness")]
    pub(crate) toughness: f64,
    /// The time that it needs to react to an enemy. Some creatures are quicker than others.
    #[serde(default = "usual_reaction")]
    pub(crate) reaction: f64,
    /// The time of one of its strides.
    #[serde(default = "usual_stride")]
    pub(crate) stride: f64,
    #[serde(default)]
    pub(crate) ammo: u32,
    /// The time that it needs to get new ammo.
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

/// The body of a creature that has not got one from its file yet.
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
    /// Its post: the place where it started.
    pub(crate) home: Point,
    /// The place to which it is walking.
    pub(crate) goal: Point,
    /// The place of the last noise, or the place where the enemy was last seen.
    pub(crate) trail: Point,
    pub(crate) health: f64,
    /// The time until which its wounds have been tended, in seconds.
    pub(crate) mended_at: f64,
    pub(crate) ammo: u32,
    /// The additional armor of a shield or a posture.
    pub(crate) brace: f64,
    pub(crate) is_hidden: bool,
    /// Whether its corpse is gone.
    pub(crate) is_gone: bool,
    pub(crate) enemy: Option<Id>,
    /// The closest corpse of its own side.
    pub(crate) corpse: Option<Id>,
    pub(crate) enemies_near: u32,
    pub(crate) friends_near: u32,
    pub(crate) kills: u32,
    pub(crate) raised: u32,
    /// How slow it is, relative to the others of its kind.
    pub(crate) slowness: f64,
    /// Each creature has its own generator, so that its random numbers do not depend on the order of the updates.
    dice: Rand64,
}

/// The messages of a creature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Told {
    /// It was hit, and still lives; or it was already dead.
    Hit {
        damage: f64,
        is_fire: bool,
    },
    /// The hit took the rest of its health.
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
    /// Another creature raises the dead.
    Raise {
        distance: f64,
    },
    /// The bell of the abbey strikes the hour.
    Bell {
        tolls: u32,
    },
}

impl Told {
    /// The names of the messages, for the file and the report.
    pub(crate) const NAMES: [&str; 6] = ["hit", "killed", "noise", "dread", "raise", "bell"];

    /// Returns the index of the message's name.
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
    /// Creates a creature at a place. It gets its body from the file when its machine is started.
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

    /// Returns a random number from 0 to 1, without 1.
    pub(crate) fn random(&mut self) -> f64 {
        self.dice.rand_float()
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.health > 0.0
    }

    /// Returns the data that other creatures see.
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

    /// Returns its enemy, while it is visible.
    pub(crate) fn enemy_seen<'w>(&self, world: &'w World) -> Option<&'w Sighting> {
        let enemy = world.seen.get(self.enemy?)?;
        let is_seen = enemy.is_alive && !enemy.is_hidden && enemy.hall == world.halls.hall_at(self.at);
        (is_seen && distance(enemy.at, self.at) <= self.body.sight).then_some(enemy)
    }

    /// Returns the distance to the enemy; NaN without an enemy.
    pub(crate) fn enemy_distance(&self, world: &World) -> f64 {
        self.enemy_seen(world).map_or(f64::NAN, |enemy| distance(enemy.at, self.at))
    }

    /// Returns the distance to the last corpse that it has seen, while the corpse is there.
    pub(crate) fn corpse_distance(&self, world: &World) -> f64 {
        let corpse = self.corpse.and_then(|corpse| world.seen.get(corpse)).filter(|corpse| corpse.is_corpse());
        corpse.map_or(f64::NAN, |corpse| distance(corpse.at, self.at))
    }

    /// Looks around for the closest enemy, the number of enemies nearby, and the closest corpse.
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

    /// Walks toward a place, at most `steps` steps. Returns whether a wall was in the way.
    pub(crate) fn walk(&mut self, to: Point, steps: f64, world: &World) -> bool {
        let (at, is_blocked) = world.halls.walk(self.at, to, steps);
        self.at = at;
        is_blocked
    }

    /// Adds an action on other creatures, which happens after the tick of all creatures.
    pub(crate) fn act(&self, deed: Deed, view: &mut View<'_>) {
        view.deeds.push((self.id, deed));
    }
}
