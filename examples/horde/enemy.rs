//! The enemy and its six states.
//!
//! In most ticks an enemy only walks, tires and loses patience. When its patience runs out, it looks around and may change
//! state. An enemy that rests in the dark sleeps until dawn, so that a tick visits only the others.

use demeanor::{Batch, Change, Fsm, Owner, State};
use oorandom::Rand32;

use super::world::{REACH, World};

#[derive(Clone, Debug)]
pub(crate) struct Enemy {
    position: [f32; 2],
    /// The distance that it walks in a tick.
    step: [f32; 2],
    /// From 0, exhausted, to 1, rested.
    strength: f32,
    /// The number of ticks until it looks around, at a pace of 1.
    patience: f32,
    /// Each enemy has its own generator, so that its random numbers do not depend on the order of the updates.
    dice: Rand32,
}

/// The context of the callbacks: the world, which all share, and a count of changes, which each chunk has for itself.
pub(crate) struct View<'a> {
    pub(crate) world: &'a World,
    pub(crate) changes: u64,
}

impl Owner for Enemy {
    type Context<'a> = View<'a>;
    type Message = ();

    /// Returns the time in ticks: the horde has no seconds.
    fn now(view: &View<'_>) -> f64 {
        view.world.tick.into()
    }

    fn on_change(&mut self, change: &Change<'_, Self>, view: &mut View<'_>) {
        view.changes += u64::from(change.is_taken());
    }
}

/// How far an enemy sees.
const SIGHT: f32 = 0.5;
/// How far the hero's sword reaches.
const SWORD: f32 = 0.12;
/// The strength that an enemy gains by resting for a tick.
const REST: f32 = 0.02;
/// The distances that an enemy walks and runs in a tick.
const STROLL: f32 = 0.004;
const RUN: f32 = 0.022;

impl Enemy {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Rand32::new(seed);
        // The sum of three random numbers: many enemies are in the middle of the plain, and few at its edges.
        let mut place = || REACH * (dice.rand_float() + dice.rand_float() + dice.rand_float() - 1.5) / 1.5;
        let position = [place(), place()];
        let strength = 0.5 + 0.5 * dice.rand_float();
        let patience = 8.0 * dice.rand_float();
        Self { position, step: [0.0; 2], strength, patience, dice }
    }

    fn walk(&mut self) {
        for (place, step) in self.position.iter_mut().zip(self.step) {
            *place = (*place + step).clamp(-REACH, REACH);
        }
    }

    /// Gains strength, or loses it if `gain` is negative.
    fn gain(&mut self, gain: f32) {
        self.strength = (self.strength + gain).clamp(0.0, 1.0);
    }

    /// Returns whether it is time to look around.
    fn is_impatient(&mut self, world: &World) -> bool {
        self.patience -= world.pace;
        self.patience <= 0.0
    }

    /// Looks around again after about this many ticks.
    fn wait(&mut self, ticks: f32) {
        self.patience = ticks * (0.5 + self.dice.rand_float());
    }

    fn chance(&mut self, of: f32) -> bool {
        self.dice.rand_float() < of
    }

    /// Returns the way to the hero and its length, if the hero is closer than `sight`.
    fn sees(&self, world: &World, sight: f32) -> Option<([f32; 2], f32)> {
        let hero = world.hero?;
        let way = [hero[0] - self.position[0], hero[1] - self.position[1]];
        let distance = length(way);
        (distance < sight).then_some((way, distance))
    }

    /// Turns along `way`, whose length is `distance`; backward if `speed` is negative.
    fn turn(&mut self, way: [f32; 2], distance: f32, speed: f32) {
        self.step = way.map(|way| way / distance.max(f32::EPSILON) * speed);
    }

    fn turn_anywhere(&mut self, speed: f32) {
        let way = [self.dice.rand_float() - 0.5, self.dice.rand_float() - 0.5];
        self.turn(way, length(way), speed);
    }
}

fn length([x, y]: [f32; 2]) -> f32 {
    (x * x + y * y).sqrt()
}

pub(crate) struct Rest;

impl State<Enemy> for Rest {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut View<'_>) {
        enemy.wait(8.0);
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        enemy.gain(REST);
        if enemy.is_impatient(view.world) {
            enemy.wait(8.0);
            if enemy.sees(view.world, SIGHT / 3.0).is_some() {
                fsm.change_state(&Flee);
            } else if let Some(ticks) = view.world.ticks_until_dawn() {
                enemy.gain(REST * f32::from(ticks));
                fsm.sleep_for(ticks.into());
            } else if enemy.strength >= 1.0 && enemy.chance(0.6 * view.world.light) {
                fsm.change_state(&Think);
            }
        }
    }
}

pub(crate) struct Idle;

impl State<Enemy> for Idle {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut View<'_>) {
        enemy.wait(40.0);
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        enemy.gain(-0.001);
        if enemy.is_impatient(view.world) {
            fsm.change_state(&Think);
        }
    }
}

pub(crate) struct Think;

impl State<Enemy> for Think {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut View<'_>) {
        enemy.wait(2.0);
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        if !enemy.is_impatient(view.world) {
            return;
        }
        if enemy.sees(view.world, SIGHT).is_some() {
            fsm.change_state(&Chase);
        } else if enemy.strength < 0.3 || enemy.chance(1.0 - view.world.light) {
            fsm.change_state(&Rest);
        } else if enemy.chance(enemy.strength) {
            fsm.change_state(&Wander);
        } else {
            fsm.change_state(&Idle);
        }
    }
}

pub(crate) struct Wander;

impl State<Enemy> for Wander {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut View<'_>) {
        enemy.turn_anywhere(STROLL);
        enemy.wait(6.0);
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        enemy.walk();
        enemy.gain(-0.004);
        if enemy.is_impatient(view.world) {
            enemy.wait(6.0);
            if enemy.sees(view.world, SIGHT).is_some() {
                fsm.change_state(&Chase);
            } else if enemy.chance(0.3 - 0.2 * view.world.light) {
                fsm.change_state(&Think);
            }
        }
    }
}

pub(crate) struct Chase;

impl State<Enemy> for Chase {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut View<'_>) {
        enemy.patience = 0.0;
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        enemy.walk();
        enemy.gain(-0.012);
        if enemy.is_impatient(view.world) {
            enemy.wait(3.0);
            match enemy.sees(view.world, 1.2 * SIGHT) {
                None => fsm.change_state(&Wander),
                Some((_, distance)) if distance < SWORD || enemy.strength < 0.2 => fsm.change_state(&Flee),
                Some((way, distance)) => enemy.turn(way, distance, RUN),
            }
        }
    }
}

pub(crate) struct Flee;

impl State<Enemy> for Flee {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        match enemy.sees(view.world, SIGHT) {
            Some((way, distance)) => enemy.turn(way, distance, -RUN),
            None => enemy.turn_anywhere(RUN),
        }
        enemy.wait(12.0);
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, view: &mut View<'_>) {
        enemy.walk();
        enemy.gain(-0.01);
        if enemy.is_impatient(view.world) {
            enemy.wait(6.0);
            if enemy.sees(view.world, SIGHT).is_none() {
                fsm.change_state(&Rest);
            }
        }
    }
}

/// The number of enemies in each state.
pub(crate) type Populations = [usize; 6];

/// The names of the states, in the order of [`Populations`].
pub(crate) const NAMES: [&str; 6] = ["Rest", "Idle", "Think", "Wander", "Chase", "Flee"];

pub(crate) fn populations(horde: &Batch<Enemy>) -> Populations {
    let states: [&dyn State<Enemy>; 6] = [&Rest, &Idle, &Think, &Wander, &Chase, &Flee];
    states.map(|state| horde.owners_in(state).len())
}
