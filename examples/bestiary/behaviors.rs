//! The behaviors of the file, with their parameters.
//!
//! Speeds and powers in the file are factors: a pace of 1 is the creature's own speed, a share of 1 is its own power.

use demeanor::definition::{FileState, FileStates, StateName};
use demeanor::{Fsm, State};
use schemars::JsonSchema;
use serde::Deserialize;

use super::creature::{Body, Creature};
use super::halls::{Point, distance};
use super::world::{Deed, TICKS_PER_SECOND, View, World};

type Handle<'a> = Fsm<'a, Creature>;

fn one() -> f64 {
    1.0
}

/// Returns the number of steps that a creature walks in a tick.
fn steps(creature: &Creature, pace: f64) -> f64 {
    creature.body.speed * pace / f64::from(TICKS_PER_SECOND)
}

/// Gives the creature its body.
pub(crate) struct BeBorn(pub(crate) Body);

impl State<Creature> for BeBorn {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.body = self.0.clone();
        creature.health = creature.body.health;
        creature.ammo = creature.body.ammo;
    }
}

/// Looks around when the state is entered, and at each of the state's turns.
pub(crate) struct Look;

impl State<Creature> for Look {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        creature.look(view.world);
    }

    fn update(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        creature.look(view.world);
    }
}

/// The place to walk to.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Toward {
    /// Toward the enemy while it is visible, and then to the place where it was last seen.
    Enemy,
    /// Away from the enemy, or from the place where it was last seen.
    Away,
    /// To the left of the enemy.
    Around,
    /// To the place of the last noise, or to the place where the enemy was last seen.
    Trail,
    Home,
    /// To the closest corpse of its own side.
    Corpse,
    /// To a random place in this hall or a neighboring one.
    Anywhere,
}

impl Toward {
    /// Chooses the place when the state is entered.
    fn begin(self, creature: &mut Creature, world: &World) {
        if let Self::Anywhere = self {
            let around: Vec<usize> = world.halls.around(world.halls.hall_at(creature.at)).collect();
            let nth = creature.random() * f64::from(u32::try_from(around.len()).unwrap_or(1));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most nine")]
            let hall = around[nth as usize];
            creature.goal = world.halls.place_in(hall, creature.random(), creature.random());
        } else {
            creature.goal = self.goal(creature, world);
        }
    }

    /// Returns the current place to walk to.
    fn goal(self, creature: &Creature, world: &World) -> Point {
        let enemy = creature.enemy_seen(world).map_or(creature.trail, |enemy| enemy.at);
        let [x, y] = [creature.at[0] - enemy[0], creature.at[1] - enemy[1]];
        match self {
            Self::Enemy => enemy,
            Self::Away => [creature.at[0] + x, creature.at[1] + y],
            Self::Around => [creature.at[0] + y, creature.at[1] - x],
            Self::Trail => creature.trail,
            Self::Home => creature.home,
            Self::Corpse => {
                creature.corpse.and_then(|corpse| world.seen.get(corpse)).map_or(creature.at, |seen| seen.at)
            }
            Self::Anywhere => creature.goal,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Way {
    toward: Toward,
    #[serde(default = "one")]
    pace: f64,
}

/// Walks in each tick.
pub(crate) struct Walk(pub(crate) Way);

impl State<Creature> for Walk {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        self.0.toward.begin(creature, view.world);
    }

    fn update(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        let Way { toward, pace } = self.0;
        creature.goal = toward.goal(creature, view.world);
        if creature.walk(creature.goal, steps(creature, pace), view.world) && matches!(toward, Toward::Anywhere) {
            // The way is blocked: this is far enough.
            creature.goal = creature.at;
        }
    }
}

/// Walks one stride when the state is entered, as far as the creature walks in the time of a stride.
pub(crate) struct Stride(pub(crate) Way);

impl State<Creature> for Stride {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        let Way { toward, pace } = self.0;
        toward.begin(creature, view.world);
        creature.walk(creature.goal, creature.body.speed * creature.body.stride * pace, view.world);
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct StrikeParams {
    #[serde(default = "one")]
    share: f64,
    /// How far the attack reaches. By default, the creature's own reach.
    reach: Option<f64>,
}

/// Hits the enemy when the state is entered, if it is close enough.
pub(crate) struct Strike(pub(crate) StrikeParams);

impl State<Creature> for Strike {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        let reach = self.0.reach.unwrap_or(creature.body.reach);
        if let Some(to) = creature.enemy.filter(|_| creature.enemy_distance(view.world) <= reach) {
            let luck = 0.75 + 0.5 * creature.random();
            creature.act(Deed::Blow { to, damage: creature.body.power * self.0.share * luck }, view);
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ShootParams {
    /// The share of the shots at the greatest distance that miss: 0 is none, 1 is all.
    spread: f64,
}

/// Shoots at the enemy when the state is entered.
pub(crate) struct Shoot(pub(crate) ShootParams);

impl State<Creature> for Shoot {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        creature.ammo = creature.ammo.saturating_sub(1);
        let misses = self.0.spread * creature.enemy_distance(view.world) / creature.body.reach;
        if let Some(to) = creature.enemy.filter(|_| misses.is_finite()) {
            if creature.random() >= misses {
                creature.act(Deed::Blow { to, damage: creature.body.power }, view);
            }
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct BlastParams {
    share: f64,
    radius: f64,
    #[serde(default)]
    is_fire: bool,
}

/// Hits all enemies nearby when the state is entered, and also corpses. Uses ammo, if the creature has any.
pub(crate) struct Blast(pub(crate) BlastParams);

impl State<Creature> for Blast {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        let BlastParams { share, radius, is_fire } = self.0;
        creature.ammo = creature.ammo.saturating_sub(1);
        creature.act(Deed::Blast { radius, damage: creature.body.power * share, is_fire }, view);
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChargeParams {
    pace: f64,
    meets_enemy: StateName,
    meets_wall: StateName,
}

/// Runs straight ahead, through the place where the enemy was, until an enemy or a wall is in the way.
pub(crate) struct Charge {
    pace: f64,
    meets_enemy: FileState<Creature>,
    meets_wall: FileState<Creature>,
}

impl Charge {
    pub(crate) fn new(params: &ChargeParams, states: &FileStates<Creature>) -> Self {
        let state = |name| states.get(name).expect("the names of states have been checked");
        Self { pace: params.pace, meets_enemy: state(&params.meets_enemy), meets_wall: state(&params.meets_wall) }
    }
}

impl State<Creature> for Charge {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        // A place far behind the enemy.
        let [x, y] = [creature.trail[0] - creature.at[0], creature.trail[1] - creature.at[1]];
        let far = 30.0 / distance(creature.trail, creature.at).max(0.01);
        creature.goal = [creature.at[0] + x * far, creature.at[1] + y * far];
    }

    fn update(&self, creature: &mut Creature, fsm: &mut Handle<'_>, view: &mut View<'_>) {
        let is_blocked = creature.walk(creature.goal, steps(creature, self.pace), view.world);
        creature.look(view.world);
        let ends = if creature.enemy_distance(view.world) < 1.5 {
            &self.meets_enemy
        } else if is_blocked {
            &self.meets_wall
        } else {
            return;
        };
        if let Some(state) = ends.state() {
            fsm.change_state(state);
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CryParams {
    loudness: f64,
}

/// Makes a noise when the state is entered.
pub(crate) struct Cry(pub(crate) CryParams);

impl State<Creature> for Cry {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        creature.act(Deed::Noise { loudness: self.0.loudness }, view);
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct FrightenParams {
    strength: f64,
    radius: f64,
}

/// Frightens the enemies nearby when the state is entered.
pub(crate) struct Frighten(pub(crate) FrightenParams);

impl State<Creature> for Frighten {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        let FrightenParams { strength, radius } = self.0;
        creature.act(Deed::Fright { strength, radius }, view);
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct BraceParams {
    armor: f64,
}

/// Has more or less armor as long as the state is active.
pub(crate) struct Brace(pub(crate) BraceParams);

impl State<Creature> for Brace {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.brace = self.0.armor;
    }

    fn exit(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.brace = 0.0;
    }
}

/// Is invisible as long as the state is active.
pub(crate) struct Hide;

impl State<Creature> for Hide {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.is_hidden = true;
    }

    fn exit(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.is_hidden = false;
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct MendParams {
    /// The health that it gains. If negative, it loses health, but never the last point.
    per_second: f64,
}

/// Gains health as time passes.
pub(crate) struct Mend(pub(crate) MendParams);

impl State<Creature> for Mend {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        creature.mended_at = view.world.seconds();
    }

    fn update(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        let seconds = view.world.seconds() - creature.mended_at;
        creature.mended_at = view.world.seconds();
        if creature.is_alive() {
            creature.health = (creature.health + self.0.per_second * seconds).clamp(1.0, creature.body.health);
        }
    }
}

/// Refills its ammo.
pub(crate) struct Reload;

impl State<Creature> for Reload {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.ammo = creature.body.ammo;
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RaiseParams {
    reach: f64,
}

/// Raises the closest corpse of its own side when the state is entered.
pub(crate) struct Raise(pub(crate) RaiseParams);

impl State<Creature> for Raise {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, view: &mut View<'_>) {
        creature.look(view.world);
        if let Some(corpse) = creature.corpse.filter(|_| creature.corpse_distance(view.world) <= self.0.reach) {
            creature.act(Deed::Raise { corpse }, view);
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReviveParams {
    /// The share of its full health.
    share: f64,
}

/// Comes back to life.
pub(crate) struct Revive(pub(crate) ReviveParams);

impl State<Creature> for Revive {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.health = creature.body.health * self.0.share;
        creature.ammo = creature.body.ammo;
        creature.raised += 1;
    }
}

/// Removes the corpse.
pub(crate) struct Vanish;

impl State<Creature> for Vanish {
    fn enter(&self, creature: &mut Creature, _: &mut Handle<'_>, _: &mut View<'_>) {
        creature.is_gone = true;
    }
}
