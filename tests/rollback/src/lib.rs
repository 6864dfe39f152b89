//! A small game of two players: units in a batch, and captains with one machine each. All of them have the same states.
//!
//! ```text
//! Unit
//! ├─ Post      (initial) keeps history
//! │  ├─ Watch  (initial) now and then: Nap, March, an `Errand`, or Post once more
//! │  └─ Nap              sleeps for a while, or until a message comes: Watch
//! ├─ March               by a timer: resumes Post; now and then: pushes Stumble, or alarms another
//! ├─ Stumble             by a message of its own after a while: pops
//! └─ Errand              owned, each with its own goal; by a timer: reverts
//! ```
//!
//! The actions of an owner follow from its own random numbers and the players' input. The alarmed units also depend on the
//! order in which the owners have their turns: this order must be rolled back, too.

use std::hash::{Hash, Hasher};
use std::mem;

use demeanor::{Batch, DigestHasher, Fsm, Key, Owner, State, StateMachine, StateRef};
use serde::{Deserialize, Serialize};

/// A player's input in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The direction of all marching units.
    pub step: i8,
    /// The unit to alarm, modulo the number of units.
    pub alarm: Option<u16>,
    /// The unit to replace by a new one, modulo the number of units.
    pub replaced: Option<u16>,
}

/// The whole game, which is copied and restored.
#[derive(Clone, Default)]
pub struct Game {
    tick: u32,
    units: Batch<Unit>,
    keys: Vec<Key>,
    captains: Vec<Captain>,
    field: Field,
    /// The number of units that have ever existed.
    numbers: u32,
}

/// An owner outside of the batch.
struct Captain {
    unit: Unit,
    machine: StateMachine<Unit>,
}

impl Clone for Captain {
    fn clone(&self) -> Self {
        Self { unit: self.unit.clone(), machine: self.machine.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.unit.clone_from(&source.unit);
        self.machine.clone_from(&source.machine);
    }
}

/// The context of the callbacks.
#[derive(Clone, Default)]
pub struct Field {
    /// The time in seconds.
    now: f64,
    step: i32,
    /// The units to alarm after all owners have had their turns.
    alarms: Vec<u32>,
    pub happened: Happened,
}

/// Counts of the events so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Hash)]
pub struct Happened {
    pub naps: u32,
    pub woken_by_alarm: u32,
    pub marches: u32,
    pub stumbles: u32,
    pub errands: u32,
    pub returns: u32,
}

#[derive(Clone, Hash)]
pub struct Unit {
    at: i32,
    alarms: u32,
    dice: u32,
}

#[derive(Clone, Copy)]
pub enum Told {
    Alarm,
    Rise,
}

impl Owner for Unit {
    type Context<'a> = Field;
    type Message = Told;

    fn now(field: &Field) -> f64 {
        field.now
    }
}

const TICKS_PER_SECOND: f64 = 60.0;

impl Game {
    /// Creates a game at its beginning.
    #[must_use]
    pub fn new(units: u32, captains: u32) -> Self {
        let mut game = Self::default();
        for _ in 0..units {
            let unit = game.recruit();
            let key = game.units.spawn(unit, &Post, &mut game.field);
            game.keys.push(key);
        }
        for _ in 0..captains {
            let (mut unit, mut machine) = (game.recruit(), StateMachine::new(&Post));
            machine.start(&mut unit, &mut game.field);
            game.captains.push(Captain { unit, machine });
        }
        game
    }

    #[must_use]
    pub fn happened(&self) -> Happened {
        self.field.happened
    }

    /// Advances the game by one tick.
    pub fn advance(&mut self, inputs: impl Iterator<Item = Input>) {
        self.tick += 1;
        self.field.now = f64::from(self.tick) / TICKS_PER_SECOND;
        self.field.step = 0;
        for Input { step, alarm, replaced } in inputs {
            self.field.step += i32::from(step);
            self.field.alarms.extend(alarm.map(u32::from));
            if let Some(nth) = replaced {
                let nth = usize::from(nth) % self.keys.len();
                self.units.remove(self.keys[nth]);
                let unit = self.recruit();
                self.keys[nth] = self.units.spawn(unit, &Post, &mut self.field);
            }
        }
        self.units.update(&mut self.field);
        for Captain { unit, machine } in &mut self.captains {
            machine.update(unit, &mut self.field);
        }
        let mut alarms = mem::take(&mut self.field.alarms);
        let many = self.keys.len() + self.captains.len();
        for nth in alarms.drain(..).map(|nth| nth as usize % many) {
            match self.keys.get(nth) {
                Some(&key) => self.units.send(key, &Told::Alarm, &mut self.field),
                None => {
                    let Captain { unit, machine } = &mut self.captains[nth - self.keys.len()];
                    machine.send(unit, &Told::Alarm, &mut self.field)
                }
            };
        }
        self.field.alarms = alarms;
    }

    /// Copies `source` to this game, and reuses its memory.
    pub fn keep(&mut self, source: &Self) {
        self.tick = source.tick;
        self.units.clone_from(&source.units);
        self.keys.clone_from(&source.keys);
        self.captains.clone_from(&source.captains);
        self.field.now = source.field.now;
        self.field.step = source.field.step;
        self.field.alarms.clone_from(&source.field.alarms);
        self.field.happened = source.field.happened;
        self.numbers = source.numbers;
    }

    /// Returns a checksum of the whole game.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hasher = DigestHasher::new();
        (self.tick, self.numbers, &self.field.alarms, self.field.happened).hash(&mut hasher);
        hasher.write_u64(self.units.digest(Hash::hash));
        for Captain { unit, machine } in &self.captains {
            unit.hash(&mut hasher);
            hasher.write_u64(machine.digest());
        }
        hasher.finish()
    }

    fn recruit(&mut self) -> Unit {
        self.numbers += 1;
        Unit { at: 0, alarms: 0, dice: self.numbers.wrapping_mul(0x9E37_79B9) }
    }
}

impl Unit {
    /// Returns a random number below `sides`.
    fn roll(&mut self, sides: u32) -> u32 {
        // The generator of Numerical Recipes, whose upper bits are the better ones.
        self.dice = self.dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.dice >> 8) % sides
    }

    /// Returns a random time of at most about two seconds.
    fn a_while(&mut self) -> f64 {
        f64::from(self.roll(120) + 1) / TICKS_PER_SECOND
    }
}

struct Post;
struct Watch;
struct Nap;
struct March;
struct Stumble;
#[derive(Clone)]
struct Errand {
    goal: i32,
}

impl State<Unit> for Post {
    fn initial(&self) -> Option<StateRef<Unit>> {
        Some((&Watch).into())
    }

    fn keeps_history(&self) -> bool {
        true
    }

    fn on_message(&self, unit: &mut Unit, told: &Told, fsm: &mut Fsm<'_, Unit>, field: &mut Field) -> bool {
        unit.alarms += 1;
        if matches!(told, Told::Alarm) && unit.roll(2) == 0 {
            field.happened.woken_by_alarm += u32::from(fsm.is_in_state(&Nap));
            fsm.change_state(&March);
        }
        true
    }
}

impl State<Unit> for Watch {
    fn parent(&self) -> Option<StateRef<Unit>> {
        Some((&Post).into())
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, _: &mut Field) {
        match unit.roll(200) {
            0..2 => fsm.change_state(&Nap),
            2..4 => fsm.change_state(&March),
            4 => fsm.change_state(Box::new(Errand { goal: unit.at / 2 })),
            5 => fsm.change_state(&Post),
            _ => {}
        }
    }
}

impl State<Unit> for Nap {
    fn parent(&self) -> Option<StateRef<Unit>> {
        Some((&Post).into())
    }

    fn enter(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, field: &mut Field) {
        field.happened.naps += 1;
        if unit.roll(8) == 0 {
            fsm.sleep();
        } else {
            fsm.sleep_for(unit.a_while());
        }
    }

    fn update(&self, _: &mut Unit, fsm: &mut Fsm<'_, Unit>, _: &mut Field) {
        fsm.change_state(&Watch);
    }
}

impl State<Unit> for March {
    fn enter(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, field: &mut Field) {
        field.happened.marches += 1;
        fsm.change_state_after(unit.a_while(), &Post);
    }

    /// The timer continues.
    fn resume(&self, _: &mut Unit, _: &mut Fsm<'_, Unit>, _: &mut Field) {}

    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, field: &mut Field) {
        unit.at = unit.at.wrapping_add(field.step);
        match unit.roll(60) {
            0 => fsm.push_state(&Stumble),
            1 => field.alarms.push(unit.roll(1000)),
            2 => fsm.resume_state(&Post),
            _ => {}
        }
    }
}

impl State<Unit> for Stumble {
    fn enter(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, field: &mut Field) {
        field.happened.stumbles += 1;
        fsm.send_after(unit.a_while(), Told::Rise);
    }

    fn on_message(&self, _: &mut Unit, told: &Told, fsm: &mut Fsm<'_, Unit>, _: &mut Field) -> bool {
        if matches!(told, Told::Rise) {
            fsm.pop_state();
        }
        true
    }
}

impl State<Unit> for Errand {
    fn enter(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, field: &mut Field) {
        field.happened.errands += 1;
        fsm.change_state_after(unit.a_while(), &March);
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, field: &mut Field) {
        unit.at += (self.goal - unit.at).signum();
        if unit.at == self.goal {
            field.happened.returns += 1;
            fsm.revert_state();
        }
    }
}
