//! The unit of a real-time strategy game, with a queue of orders: how to port an engine whose states are strings.
//!
//! ```text
//! Unit
//! ├─ Always   (global)                 the messages that no other state handles
//! ├─ Idle
//! │  ├─ Pausing            (initial)   in the next tick: Resting
//! │  └─ Resting                        heals
//! ├─ Walking                           arrived: the next order
//! ├─ Combat
//! │  ├─ Approaching                    in range: Attacking; wounded: an order to flee, before all others
//! │  └─ Attacking          (initial)   out of range: Approaching; the enemy is dead: the next order
//! ├─ Gather
//! │  ├─ Approaching                    arrived: Gathering
//! │  ├─ Gathering          (initial)   loaded: Returning
//! │  └─ Returning                      unloaded: Approaching
//! ├─ Fleeing                           in the camp: healed, and the next order
//! └─ Dead                  (passive)   ignores everything
//! ```
//!
//! In such an engine, `SetNextState` stores the name of a state, and the engine changes state when the handler has returned, so the
//! last call counts. To begin an order, the unit sends itself a message within the call. A handler can reject an order; then the
//! unit takes the next one at once. This is what to write here:
//!
//! | there | here |
//! |---|---|
//! | `SetNextState("COMBAT.ATTACKING")` | `fsm.replace_state(&combat::Attacking)` |
//! | `ProcessMessage({type: "Order.Attack"})` within a handler | `fsm.send_ahead(unit, &Message::Begin(order), world)` |
//! | `return {discardOrder: true}` | a field of the owner: `unit.has_rejected = true` |
//! | `return true` in an innermost `enter` that goes elsewhere | `return` behind `fsm.replace_state` or `unit.finish_order` |
//! | `StartTimer` with a repeat in `enter`, `StopTimer` in `leave` | `fsm.send_every` in `enter`; without a repeat `fsm.send_after` |
//! | a state for the next turn | `fsm.change_state_next(&Resting)` |
//! | a handler of an outer state | the `on_message` of the parent, or of the global state |
//!
//! `send_ahead` matters in the second line. With `send_now`, the requests made earlier would be carried out first, and the handler
//! of the order could not replace them.
//!
//! ```text
//! cargo run --example orders
//! cargo run --example orders -- --ticks 30
//! ```
//!
//! Each line of the output has the tick, the unit's place, and what happens. The player's commands and the enemy's hits have `--`
//! instead of the place:
//!
//! ```text
//!  13  --  enemy 0 hits the unit
//!  13   3  begins Flee
//!  13   3  leaves combat.attacking
//!  13   3  leaves combat
//!  13   3  enters fleeing
//! ```
//!
//! A test compares this unit, line by line, with a small engine of that kind.

#[path = "command_line/mod.rs"]
mod command_line;

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::mem;
use std::process::ExitCode;

use demeanor::{Agent, Fsm, Owner, State, StateMachine, StateRef};

const USAGE: &str = "usage: orders [--ticks N]";

/// The place where units unload and heal.
pub(crate) const CAMP: i32 = 0;
pub(crate) const FULL_HEALTH: i32 = 6;
/// A unit with less health flees, unless it is brave.
pub(crate) const WOUNDED: i32 = 3;
pub(crate) const FULL_LOAD: u32 = 3;
/// How far a unit can strike.
pub(crate) const RANGE: i32 = 2;
/// The time between two strikes, and between two pieces of ore, in ticks.
pub(crate) const WORK: f64 = 2.0;
/// The time in which a resting unit gains a point of health, in ticks.
pub(crate) const REST: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    Walk(i32),
    /// Attacks the enemy with this index.
    Attack(usize),
    /// Gathers ore from the mine with this index.
    Gather(usize),
    Flee,
    /// Makes the unit brave or not. This order is finished at once.
    Brave(bool),
}

/// What the player says about an order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    /// Carries out the order after all others.
    Push(Order),
    /// Carries out the order at once, and then goes on with the others.
    PushFront(Order),
    /// Carries out the order instead of all others.
    Replace(Order),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Message {
    Command(Command),
    /// The unit sends this to itself when it begins an order.
    Begin(Order),
    /// The enemy with this index has hit the unit.
    Attacked(usize),
    /// The enemy with this index has died.
    Died(usize),
    Timer,
}

pub(crate) struct Enemy {
    pub(crate) place: i32,
    pub(crate) health: i32,
}

pub(crate) struct Mine {
    pub(crate) place: i32,
    pub(crate) is_empty: bool,
}

/// The context of the callbacks. Units only read it; the game applies their strikes after the tick.
pub(crate) struct World {
    /// In ticks.
    pub(crate) now: f64,
    pub(crate) enemies: Vec<Enemy>,
    pub(crate) mines: Vec<Mine>,
}

pub(crate) struct Unit {
    pub(crate) place: i32,
    pub(crate) health: i32,
    pub(crate) is_brave: bool,
    pub(crate) load: u32,
    pub(crate) delivered: u32,
    /// The first one is being carried out.
    pub(crate) orders: VecDeque<Order>,
    /// Whether the handler of the last [`Message::Begin`] has rejected the order.
    has_rejected: bool,
    /// The enemies that the unit has struck in this tick.
    pub(crate) strikes: Vec<usize>,
    /// What has happened, for people and for tests.
    pub(crate) log: Vec<String>,
}

impl Owner for Unit {
    type Context<'a> = World;
    type Message = Message;

    fn now(world: &World) -> f64 {
        world.now
    }
}

type Handle<'a> = Fsm<'a, Unit>;

impl Unit {
    pub(crate) fn new(place: i32) -> Self {
        Self {
            place,
            health: FULL_HEALTH,
            is_brave: false,
            load: 0,
            delivered: 0,
            orders: VecDeque::new(),
            has_rejected: false,
            strikes: vec![],
            log: vec![],
        }
    }

    fn push_order(&mut self, order: Order, fsm: &mut Handle<'_>, world: &mut World) {
        self.orders.push_back(order);
        if self.orders.len() == 1 && !self.begin(order, fsm, world) {
            self.take_next_order(fsm, world);
        }
    }

    /// Interrupts the current order. If the new one is rejected, the current order goes on.
    fn push_order_front(&mut self, order: Order, fsm: &mut Handle<'_>, world: &mut World) {
        self.orders.push_front(order);
        if !self.begin(order, fsm, world) {
            self.orders.pop_front();
        }
    }

    fn replace_order(&mut self, order: Order, fsm: &mut Handle<'_>, world: &mut World) {
        self.orders.clear();
        self.push_order(order, fsm, world);
    }

    fn finish_order(&mut self, fsm: &mut Handle<'_>, world: &mut World) {
        if let Some(order) = self.orders.front() {
            self.log.push(format!("finished {order:?}"));
        }
        self.take_next_order(fsm, world);
    }

    /// Drops the first order, and begins the first of the others that is not rejected.
    fn take_next_order(&mut self, fsm: &mut Handle<'_>, world: &mut World) {
        loop {
            self.orders.pop_front();
            let Some(&next) = self.orders.front() else {
                fsm.replace_state(&idle::Pausing);
                return;
            };
            if self.begin(next, fsm, world) {
                return;
            }
        }
    }

    /// Lets the current state handle the order within the call. Returns whether it has accepted the order.
    fn begin(&mut self, order: Order, fsm: &mut Handle<'_>, world: &mut World) -> bool {
        self.log.push(format!("begins {order:?}"));
        fsm.send_ahead(self, &Message::Begin(order), world);
        let is_accepted = !mem::take(&mut self.has_rejected);
        if !is_accepted {
            self.log.push(format!("rejects {order:?}"));
        }
        is_accepted
    }

    fn is_afraid(&self) -> bool {
        self.health < WOUNDED && !self.is_brave
    }

    /// Returns the enemy that the unit has been ordered to attack.
    fn target(&self) -> Option<usize> {
        match self.orders.front() {
            Some(&Order::Attack(enemy)) => Some(enemy),
            _ => None,
        }
    }

    fn mine<'a>(&self, world: &'a World) -> Option<&'a Mine> {
        match self.orders.front() {
            Some(&Order::Gather(mine)) => world.mines.get(mine),
            _ => None,
        }
    }

    /// Goes toward a place. Returns whether the unit has reached it.
    fn step(&mut self, to: i32, speed: i32) -> bool {
        self.place += (to - self.place).clamp(-speed, speed);
        self.place == to
    }

    fn enters(&mut self, state: &str) {
        self.log.push(format!("enters {state}"));
    }

    fn leaves(&mut self, state: &str) {
        self.log.push(format!("leaves {state}"));
    }
}

/// The global state: it handles the messages that the current state and its parent do not handle.
struct Always;

impl State<Unit> for Always {
    fn on_message(&self, unit: &mut Unit, message: &Message, fsm: &mut Handle<'_>, world: &mut World) -> bool {
        match *message {
            Message::Command(Command::Push(order)) => unit.push_order(order, fsm, world),
            Message::Command(Command::PushFront(order)) => unit.push_order_front(order, fsm, world),
            Message::Command(Command::Replace(order)) => unit.replace_order(order, fsm, world),
            Message::Begin(order) => begin_order(unit, order, fsm, world),
            Message::Attacked(by) => attacked(unit, by, fsm, world, false),
            Message::Died(_) | Message::Timer => {}
        }
        true
    }

    fn is_passive(&self) -> bool {
        true
    }
}

/// Handles an order. To accept it, a handler requests a change, or finishes the order at once.
fn begin_order(unit: &mut Unit, order: Order, fsm: &mut Handle<'_>, world: &mut World) {
    match order {
        Order::Walk(to) if to == unit.place => unit.finish_order(fsm, world),
        Order::Walk(_) => fsm.replace_state(&Walking),
        Order::Attack(enemy) if world.enemies[enemy].health <= 0 => unit.has_rejected = true,
        Order::Attack(_) => fsm.replace_state(&combat::Attacking),
        Order::Gather(mine) if world.mines[mine].is_empty && unit.load == 0 => unit.has_rejected = true,
        Order::Gather(_) => fsm.replace_state(&gather::Gathering),
        Order::Flee if unit.place == CAMP => unit.has_rejected = true,
        Order::Flee => fsm.replace_state(&Fleeing),
        Order::Brave(is_brave) => {
            unit.is_brave = is_brave;
            unit.finish_order(fsm, world);
        }
    }
}

/// Reacts to a hit: the unit dies, flees, or strikes back.
fn attacked(unit: &mut Unit, by: usize, fsm: &mut Handle<'_>, world: &mut World, strikes_back: bool) {
    unit.health -= 1;
    if unit.health <= 0 {
        unit.orders.clear();
        fsm.replace_state(&Dead);
    } else if unit.is_afraid() {
        unit.push_order_front(Order::Flee, fsm, world);
    } else if strikes_back {
        unit.push_order_front(Order::Attack(by), fsm, world);
    }
}

mod idle {
    use super::{FULL_HEALTH, Handle, Message, REST, State, StateRef, Unit, World, attacked};

    pub(super) struct Idle;
    /// The unit may get another order in this tick. So the game does not yet show it as idle.
    pub(super) struct Pausing;
    pub(super) struct Resting;

    impl State<Unit> for Idle {
        fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.enters("idle");
        }

        fn on_message(&self, unit: &mut Unit, message: &Message, fsm: &mut Handle<'_>, world: &mut World) -> bool {
            if let Message::Attacked(by) = *message {
                attacked(unit, by, fsm, world, true);
                return true;
            }
            false
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("idle");
        }

        fn initial(&self) -> Option<StateRef<Unit>> {
            Some((&Pausing).into())
        }
    }

    impl State<Unit> for Pausing {
        fn enter(&self, unit: &mut Unit, fsm: &mut Handle<'_>, _: &mut World) {
            unit.enters("idle.pausing");
            fsm.change_state_next(&Resting);
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("idle.pausing");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Idle).into())
        }
    }

    impl State<Unit> for Resting {
        fn enter(&self, unit: &mut Unit, fsm: &mut Handle<'_>, _: &mut World) {
            unit.enters("idle.resting");
            fsm.send_every(REST, Message::Timer);
        }

        fn on_message(&self, unit: &mut Unit, message: &Message, _: &mut Handle<'_>, _: &mut World) -> bool {
            if *message != Message::Timer {
                return false;
            }
            unit.health = FULL_HEALTH.min(unit.health + 1);
            true
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("idle.resting");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Idle).into())
        }
    }
}

struct Walking;

impl State<Unit> for Walking {
    fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
        unit.enters("walking");
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
        let Some(&Order::Walk(to)) = unit.orders.front() else { return };
        if unit.step(to, 1) {
            unit.finish_order(fsm, world);
        }
    }

    fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
        unit.leaves("walking");
    }
}

mod combat {
    use super::{Handle, Message, Order, RANGE, State, StateRef, Unit, WORK, World};

    pub(super) struct Combat;
    pub(super) struct Approaching;
    pub(super) struct Attacking;

    impl State<Unit> for Combat {
        fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.enters("combat");
        }

        fn on_message(&self, unit: &mut Unit, message: &Message, fsm: &mut Handle<'_>, world: &mut World) -> bool {
            if let Message::Died(enemy) = *message {
                if unit.target() == Some(enemy) {
                    unit.finish_order(fsm, world);
                }
                return true;
            }
            false
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("combat");
        }

        fn initial(&self) -> Option<StateRef<Unit>> {
            Some((&Attacking).into())
        }
    }

    impl State<Unit> for Approaching {
        fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.enters("combat.approaching");
        }

        fn update(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
            let Some(enemy) = unit.target() else { return };
            let goal = world.enemies[enemy].place;
            unit.step(goal, 1);
            if (goal - unit.place).abs() <= RANGE {
                fsm.replace_state(&Attacking);
            }
            // If the unit flees, this replaces the change above: `Attacking` is not entered.
            if unit.is_afraid() {
                unit.push_order_front(Order::Flee, fsm, world);
            }
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("combat.approaching");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Combat).into())
        }
    }

    impl State<Unit> for Attacking {
        fn enter(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
            unit.enters("combat.attacking");
            let Some(enemy) = unit.target() else { return };
            if world.enemies[enemy].health <= 0 {
                unit.finish_order(fsm, world);
            } else if (world.enemies[enemy].place - unit.place).abs() > RANGE {
                fsm.replace_state(&Approaching);
            } else {
                fsm.send_every(WORK, Message::Timer);
            }
        }

        fn on_message(&self, unit: &mut Unit, message: &Message, fsm: &mut Handle<'_>, world: &mut World) -> bool {
            if *message != Message::Timer {
                return false;
            }
            let Some(enemy) = unit.target() else { return true };
            if (world.enemies[enemy].place - unit.place).abs() > RANGE {
                fsm.replace_state(&Approaching);
            } else {
                unit.log.push(format!("strikes {enemy}"));
                unit.strikes.push(enemy);
            }
            // The next order replaces the change to `Approaching`, if there is one.
            if world.enemies[enemy].health <= 0 {
                unit.finish_order(fsm, world);
            }
            true
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("combat.attacking");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Combat).into())
        }
    }
}

mod gather {
    use super::{CAMP, FULL_LOAD, Handle, Message, State, StateRef, Unit, WORK, World, attacked, mem};

    pub(super) struct Gather;
    pub(super) struct Approaching;
    pub(super) struct Gathering;
    pub(super) struct Returning;

    impl State<Unit> for Gather {
        fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.enters("gather");
        }

        fn on_message(&self, unit: &mut Unit, message: &Message, fsm: &mut Handle<'_>, world: &mut World) -> bool {
            if let Message::Attacked(by) = *message {
                attacked(unit, by, fsm, world, true);
                return true;
            }
            false
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("gather");
        }

        fn initial(&self) -> Option<StateRef<Unit>> {
            Some((&Gathering).into())
        }
    }

    impl State<Unit> for Approaching {
        fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.enters("gather.approaching");
        }

        fn update(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
            let Some(mine) = unit.mine(world) else { return };
            if unit.step(mine.place, 1) {
                fsm.replace_state(&Gathering);
            }
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("gather.approaching");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Gather).into())
        }
    }

    impl State<Unit> for Gathering {
        fn enter(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
            unit.enters("gather.gathering");
            let Some(mine) = unit.mine(world) else { return };
            if unit.load == FULL_LOAD || mine.is_empty && unit.load > 0 {
                fsm.replace_state(&Returning);
            } else if mine.is_empty {
                unit.finish_order(fsm, world);
            } else if mine.place != unit.place {
                fsm.replace_state(&Approaching);
            } else {
                fsm.send_every(WORK, Message::Timer);
            }
        }

        fn on_message(&self, unit: &mut Unit, message: &Message, fsm: &mut Handle<'_>, world: &mut World) -> bool {
            if *message != Message::Timer {
                return false;
            }
            let Some(mine) = unit.mine(world) else { return true };
            if !mine.is_empty {
                unit.load += 1;
            }
            if unit.load == FULL_LOAD || mine.is_empty {
                fsm.replace_state(&Returning);
            }
            true
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("gather.gathering");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Gather).into())
        }
    }

    impl State<Unit> for Returning {
        fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.enters("gather.returning");
        }

        fn update(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
            let Some(mine) = unit.mine(world) else { return };
            if !unit.step(CAMP, 1) {
                return;
            }
            unit.log.push(format!("unloads {}", unit.load));
            unit.delivered += mem::take(&mut unit.load);
            fsm.replace_state(&Approaching);
            // The handler of the next order replaces the change to `Approaching`, unless it rejects the order.
            if mine.is_empty {
                unit.finish_order(fsm, world);
            }
        }

        fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
            unit.leaves("gather.returning");
        }

        fn parent(&self) -> Option<StateRef<Unit>> {
            Some((&Gather).into())
        }
    }
}

struct Fleeing;

impl State<Unit> for Fleeing {
    fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
        unit.enters("fleeing");
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Handle<'_>, world: &mut World) {
        if unit.step(CAMP, 2) {
            unit.health = FULL_HEALTH;
            unit.finish_order(fsm, world);
        }
    }

    fn on_message(&self, unit: &mut Unit, message: &Message, _: &mut Handle<'_>, _: &mut World) -> bool {
        match message {
            // Nobody goes back to work in a panic. The state is still active when the next order begins.
            Message::Begin(Order::Gather(_)) => unit.has_rejected = true,
            Message::Attacked(_) if unit.health > 1 => unit.health -= 1,
            _ => return false,
        }
        true
    }

    fn exit(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
        unit.leaves("fleeing");
    }
}

struct Dead;

impl State<Unit> for Dead {
    fn enter(&self, unit: &mut Unit, _: &mut Handle<'_>, _: &mut World) {
        unit.enters("dead");
    }

    fn on_message(&self, _: &mut Unit, _: &Message, _: &mut Handle<'_>, _: &mut World) -> bool {
        true
    }

    fn is_passive(&self) -> bool {
        true
    }
}

/// Returns the machine of a unit.
pub(crate) fn machine() -> StateMachine<Unit> {
    StateMachine::new(&idle::Idle).with_global(&Always)
}

fn main() -> ExitCode {
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("orders", USAGE, parse(arguments), out, err, |&ticks, out, _| tell(ticks, out))
}

/// Parses the arguments, without the program's name. Returns the number of ticks, or `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<u32>, lexopt::Error> {
    use lexopt::{Arg, Parser, ValueExt};

    let mut parser = Parser::from_args(arguments);
    let mut ticks = 60;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("ticks") => ticks = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(ticks))
}

/// Plays a short story: a unit gathers ore, is attacked, strikes back, flees, and goes on with its orders.
fn tell(ticks: u32, out: &mut dyn Write) -> io::Result<()> {
    let mut world = World {
        now: 0.0,
        enemies: vec![Enemy { place: 7, health: 3 }, Enemy { place: 9, health: 0 }],
        mines: vec![Mine { place: 5, is_empty: false }],
    };
    let mut unit = Agent::new(Unit::new(2), machine());
    unit.start(&mut world);
    for tick in 0..=ticks {
        world.now = f64::from(tick);
        if tick == 2 {
            for order in [Order::Gather(0), Order::Attack(1), Order::Brave(true), Order::Walk(6)] {
                let command = Command::Push(order);
                writeln!(out, "{tick:>3}  --  the player says {command:?}")?;
                unit.send(&Message::Command(command), &mut world);
            }
        }
        let command = match tick {
            46 => Some(Command::PushFront(Order::Walk(1))),
            52 => Some(Command::Replace(Order::Walk(2))),
            _ => None,
        };
        if let Some(command) = command {
            writeln!(out, "{tick:>3}  --  the player says {command:?}")?;
            unit.send(&Message::Command(command), &mut world);
        }
        if matches!(tick, 8 | 11 | 12 | 13) && world.enemies[0].health > 0 {
            writeln!(out, "{tick:>3}  --  enemy 0 hits the unit")?;
            unit.send(&Message::Attacked(0), &mut world);
        }
        if tick == 38 {
            writeln!(out, "{tick:>3}  --  the mine is empty")?;
            world.mines[0].is_empty = true;
        }
        unit.update(&mut world);
        for enemy in mem::take(&mut unit.strikes) {
            world.enemies[enemy].health -= 1;
            if world.enemies[enemy].health == 0 {
                unit.send(&Message::Died(enemy), &mut world);
            }
        }
        for line in mem::take(&mut unit.log) {
            writeln!(out, "{tick:>3}  {:>2}  {line}", unit.place)?;
        }
    }
    writeln!(out, "The unit has delivered {} pieces of ore, and has {} health.", unit.delivered, unit.health)
}

#[cfg(test)]
#[path = "tests/orders.rs"]
mod tests;
