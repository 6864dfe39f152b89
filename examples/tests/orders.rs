//! The example `orders`, compared with a small engine of the kind from which such units are ported.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;

use crate as orders;
use broken::Broken;
use demeanor::Batch;
use orders::{
    CAMP, Command, Enemy, FULL_HEALTH, FULL_LOAD, Message, Mine, Order, RANGE, REST, Unit, WORK, WOUNDED, World,
};

mod broken;

const USAGE: &str = "usage: orders [--ticks N]";

/// The number of orders that are queued at once in a test, so that each is rejected or finishes at once within one callback.
/// Together with the changes that they lead to, they must be fewer than the changes and messages of one callback (rule 13).
const LONGEST_CHAIN: usize = 100;

/// A handler of the engine. It returns whether the order is rejected, or whether an `enter` is cut short.
type Handler = fn(&mut Soldier, &World, Message) -> bool;

/// A unit in an engine whose states are strings. Its fields and its log are those of [`Unit`].
struct Soldier {
    unit: Unit,
    state: &'static str,
    /// Set by `set_next_state`, and carried out when the handler has returned.
    next_state: Option<&'static str>,
    /// Carried out at the beginning of the next tick, unless the state changes before.
    next_turn: Option<&'static str>,
    /// When the timer of the state is due.
    timer: Option<f64>,
    /// The handlers, by the name of the state and the kind of the message.
    handlers: BTreeMap<(&'static str, &'static str), Handler>,
}

/// Returns the names of the states around and including a state, the outermost first: "a" and "a.b" for "a.b".
fn path(state: &'static str) -> Vec<&'static str> {
    if state.is_empty() {
        return vec![];
    }
    let dots = state.match_indices('.').map(|(dot, _)| &state[..dot]);
    dots.chain([state]).collect()
}

fn kind(message: Message) -> &'static str {
    match message {
        Message::Command(_) => "Command",
        Message::Begin(Order::Walk(_)) => "Order.Walk",
        Message::Begin(Order::Attack(_)) => "Order.Attack",
        Message::Begin(Order::Gather(_)) => "Order.Gather",
        Message::Begin(Order::Flee) => "Order.Flee",
        Message::Begin(Order::Brave(_)) => "Order.Brave",
        Message::Attacked(_) => "Attacked",
        Message::Died(_) => "Died",
        Message::Timer => "Timer",
    }
}

impl Soldier {
    fn new(place: i32, world: &World) -> Self {
        let mut soldier = Self {
            unit: Unit::new(place),
            state: "",
            next_state: Some("idle.pausing"),
            next_turn: None,
            timer: None,
            handlers: handlers(),
        };
        soldier.switch(world);
        soldier
    }

    fn handler(&self, kind: &'static str) -> Option<Handler> {
        let outward = path(self.state).into_iter().rev().chain([""]);
        outward.into_iter().find_map(|state| self.handlers.get(&(state, kind)).copied())
    }

    /// Calls the handler, and then carries out the next state. A handler can call this.
    fn process(&mut self, kind: &'static str, message: Message, world: &World) -> bool {
        let answer = self.handler(kind).is_some_and(|handler| handler(self, world, message));
        self.switch(world);
        answer
    }

    fn set_next_state(&mut self, state: &'static str) {
        self.next_state = Some(state);
    }

    fn switch(&mut self, world: &World) {
        while let Some(next) = self.next_state.take() {
            self.next_turn = None;
            let (from, to) = (path(self.state), path(next));
            let mut shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            if shared == to.len() {
                shared -= 1;
            }
            for &state in from[shared..].iter().rev() {
                self.timer = None;
                self.unit.log.push(format!("leaves {state}"));
            }
            for &state in &to[shared..] {
                self.state = state;
                self.unit.log.push(format!("enters {state}"));
                let enter = self.handlers.get(&(state, "enter")).copied();
                if enter.is_some_and(|enter| enter(self, world, Message::Timer)) {
                    break;
                }
            }
        }
    }

    fn tick(&mut self, world: &World) {
        if let Some(state) = self.next_turn.take() {
            self.set_next_state(state);
            self.switch(world);
        }
        if self.timer.is_some_and(|due| due <= world.now) {
            self.timer = None;
            self.process("Timer", Message::Timer, world);
        }
        self.process("Update", Message::Timer, world);
    }

    fn begin(&mut self, order: Order, world: &World) -> bool {
        self.unit.log.push(format!("begins {order:?}"));
        let message = Message::Begin(order);
        let is_rejected = self.process(kind(message), message, world);
        if is_rejected {
            self.unit.log.push(format!("rejects {order:?}"));
        }
        !is_rejected
    }

    fn push_order(&mut self, order: Order, world: &World) {
        self.unit.orders.push_back(order);
        if self.unit.orders.len() == 1 && !self.begin(order, world) {
            self.take_next_order(world);
        }
    }

    fn push_order_front(&mut self, order: Order, world: &World) {
        self.unit.orders.push_front(order);
        if !self.begin(order, world) {
            self.unit.orders.pop_front();
        }
    }

    fn replace_order(&mut self, order: Order, world: &World) {
        self.unit.orders = VecDeque::new();
        self.push_order(order, world);
    }

    fn finish_order(&mut self, world: &World) -> bool {
        if let Some(order) = self.unit.orders.front() {
            self.unit.log.push(format!("finished {order:?}"));
        }
        self.take_next_order(world)
    }

    fn take_next_order(&mut self, world: &World) -> bool {
        self.unit.orders.pop_front();
        let Some(&next) = self.unit.orders.front() else {
            self.set_next_state("idle.pausing");
            return false;
        };
        self.begin(next, world) || self.take_next_order(world)
    }

    fn distance_to(&self, place: i32) -> i32 {
        (place - self.unit.place).abs()
    }

    fn step(&mut self, to: i32, speed: i32) -> bool {
        let distance = self.distance_to(to);
        self.unit.place =
            if distance <= speed { to } else { self.unit.place + speed * (to - self.unit.place).signum() };
        self.unit.place == to
    }

    fn is_afraid(&self) -> bool {
        !self.unit.is_brave && self.unit.health < WOUNDED
    }

    /// Returns the place of the enemy or the mine of the current order, and whether the order is at its end.
    fn goal(&self, world: &World) -> (i32, bool) {
        match self.unit.orders[0] {
            Order::Attack(enemy) => (world.enemies[enemy].place, world.enemies[enemy].health <= 0),
            Order::Gather(mine) => (world.mines[mine].place, world.mines[mine].is_empty),
            Order::Walk(to) => (to, false),
            Order::Flee | Order::Brave(_) => (CAMP, false),
        }
    }

    fn hit(&mut self, by: usize, strikes_back: bool, world: &World) {
        self.unit.health -= 1;
        if self.unit.health <= 0 {
            self.unit.orders.clear();
            self.set_next_state("dead");
        } else if self.is_afraid() {
            self.push_order_front(Order::Flee, world);
        } else if strikes_back {
            self.push_order_front(Order::Attack(by), world);
        }
    }
}

fn strike_back(soldier: &mut Soldier, world: &World, message: Message) -> bool {
    let Message::Attacked(by) = message else { unreachable!() };
    soldier.hit(by, true, world);
    false
}

fn ignore(_: &mut Soldier, _: &World, _: Message) -> bool {
    false
}

#[expect(clippy::too_many_lines, reason = "a table of states is read from top to bottom")]
fn handlers() -> BTreeMap<(&'static str, &'static str), Handler> {
    let rows: &[((&str, &str), Handler)] = &[
        (("", "Command"), |soldier, world, message| {
            match message {
                Message::Command(Command::Push(order)) => soldier.push_order(order, world),
                Message::Command(Command::PushFront(order)) => soldier.push_order_front(order, world),
                Message::Command(Command::Replace(order)) => soldier.replace_order(order, world),
                _ => unreachable!(),
            }
            false
        }),
        (("", "Attacked"), |soldier, world, message| {
            let Message::Attacked(by) = message else { unreachable!() };
            soldier.hit(by, false, world);
            false
        }),
        (("", "Order.Walk"), |soldier, world, message| {
            if message == Message::Begin(Order::Walk(soldier.unit.place)) {
                soldier.finish_order(world);
            } else {
                soldier.set_next_state("walking");
            }
            false
        }),
        (("", "Order.Attack"), |soldier, world, _| {
            if soldier.goal(world).1 {
                return true;
            }
            soldier.set_next_state("combat.attacking");
            false
        }),
        (("", "Order.Gather"), |soldier, world, _| {
            if soldier.goal(world).1 && soldier.unit.load == 0 {
                return true;
            }
            soldier.set_next_state("gather.gathering");
            false
        }),
        (("", "Order.Flee"), |soldier, _, _| {
            if soldier.unit.place == CAMP {
                return true;
            }
            soldier.set_next_state("fleeing");
            false
        }),
        (("", "Order.Brave"), |soldier, world, message| {
            soldier.unit.is_brave = message == Message::Begin(Order::Brave(true));
            soldier.finish_order(world);
            false
        }),
        (("idle", "Attacked"), strike_back),
        (("idle.pausing", "enter"), |soldier, _, _| {
            soldier.next_turn = Some("idle.resting");
            false
        }),
        (("idle.resting", "enter"), |soldier, world, _| {
            soldier.timer = Some(world.now + REST);
            false
        }),
        (("idle.resting", "Timer"), |soldier, world, _| {
            soldier.timer = Some(world.now + REST);
            soldier.unit.health = FULL_HEALTH.min(soldier.unit.health + 1);
            false
        }),
        (("walking", "Update"), |soldier, world, _| {
            if soldier.step(soldier.goal(world).0, 1) {
                soldier.finish_order(world);
            }
            false
        }),
        (("combat", "Died"), |soldier, world, message| {
            let Message::Died(enemy) = message else { unreachable!() };
            if soldier.unit.orders[0] == Order::Attack(enemy) {
                soldier.finish_order(world);
            }
            false
        }),
        (("combat.approaching", "Update"), |soldier, world, _| {
            let (place, _) = soldier.goal(world);
            soldier.step(place, 1);
            if soldier.distance_to(place) <= RANGE {
                soldier.set_next_state("combat.attacking");
            }
            if soldier.is_afraid() {
                soldier.push_order_front(Order::Flee, world);
            }
            false
        }),
        (("combat.attacking", "enter"), |soldier, world, _| {
            let (place, is_over) = soldier.goal(world);
            if is_over {
                soldier.finish_order(world);
                return true;
            }
            if soldier.distance_to(place) > RANGE {
                soldier.set_next_state("combat.approaching");
                return true;
            }
            soldier.timer = Some(world.now + WORK);
            false
        }),
        (("combat.attacking", "Timer"), |soldier, world, _| {
            soldier.timer = Some(world.now + WORK);
            let (place, is_over) = soldier.goal(world);
            if soldier.distance_to(place) > RANGE {
                soldier.set_next_state("combat.approaching");
            } else if let Order::Attack(enemy) = soldier.unit.orders[0] {
                soldier.unit.log.push(format!("strikes {enemy}"));
                soldier.unit.strikes.push(enemy);
            }
            if is_over {
                soldier.finish_order(world);
            }
            false
        }),
        (("gather", "Attacked"), strike_back),
        (("gather.approaching", "Update"), |soldier, world, _| {
            if soldier.step(soldier.goal(world).0, 1) {
                soldier.set_next_state("gather.gathering");
            }
            false
        }),
        (("gather.gathering", "enter"), |soldier, world, _| {
            let (place, is_over) = soldier.goal(world);
            if soldier.unit.load == FULL_LOAD || is_over && soldier.unit.load > 0 {
                soldier.set_next_state("gather.returning");
                return true;
            }
            if is_over {
                soldier.finish_order(world);
                return true;
            }
            if place != soldier.unit.place {
                soldier.set_next_state("gather.approaching");
                return true;
            }
            soldier.timer = Some(world.now + WORK);
            false
        }),
        (("gather.gathering", "Timer"), |soldier, world, _| {
            soldier.timer = Some(world.now + WORK);
            let (_, is_over) = soldier.goal(world);
            soldier.unit.load += u32::from(!is_over);
            if is_over || soldier.unit.load == FULL_LOAD {
                soldier.set_next_state("gather.returning");
            }
            false
        }),
        (("gather.returning", "Update"), |soldier, world, _| {
            let (_, is_over) = soldier.goal(world);
            if soldier.step(CAMP, 1) {
                soldier.unit.log.push(format!("unloads {}", soldier.unit.load));
                soldier.unit.delivered += soldier.unit.load;
                soldier.unit.load = 0;
                soldier.set_next_state("gather.approaching");
                if is_over {
                    soldier.finish_order(world);
                }
            }
            false
        }),
        (("fleeing", "Update"), |soldier, world, _| {
            if soldier.step(CAMP, 2) {
                soldier.unit.health = FULL_HEALTH;
                soldier.finish_order(world);
            }
            false
        }),
        (("fleeing", "Order.Gather"), |_, _, _| true),
        (("fleeing", "Attacked"), |soldier, world, message| {
            let Message::Attacked(by) = message else { unreachable!() };
            if soldier.unit.health > 1 {
                soldier.unit.health -= 1;
            } else {
                soldier.hit(by, false, world);
            }
            false
        }),
        (("dead", "Command"), ignore),
        (("dead", "Attacked"), ignore),
    ];
    rows.iter().copied().collect()
}

/// One event of a script: a message to some unit, something that happens in the world, or a tick.
#[derive(Clone, Copy, Debug)]
enum Event {
    Send(usize, Message),
    /// The enemy goes to this place.
    Move(usize, i32),
    /// The enemy gets this much health. If it dies, the units are told of it only if the flag is set.
    Health(usize, i32, bool),
    /// The mine is empty, or not.
    Mine(usize, bool),
    Tick,
}

const UNITS: usize = 5;
const ENEMIES: usize = 3;
const MINES: usize = 2;

struct Dice(oorandom::Rand32);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0.rand_range(0..u32::try_from(end).unwrap()) as usize
    }

    fn place(&mut self) -> i32 {
        i32::try_from(self.below(16)).unwrap()
    }

    fn order(&mut self) -> Order {
        match self.below(8) {
            0 | 1 => Order::Walk(self.place()),
            2 | 3 => Order::Attack(self.below(ENEMIES)),
            4 | 5 => Order::Gather(self.below(MINES)),
            6 => Order::Flee,
            _ => Order::Brave(self.below(2) == 0),
        }
    }

    fn event(&mut self) -> Event {
        match self.below(40) {
            0..=2 => Event::Send(self.below(UNITS), Message::Command(Command::Push(self.order()))),
            3 => Event::Send(self.below(UNITS), Message::Command(Command::PushFront(self.order()))),
            4 => Event::Send(self.below(UNITS), Message::Command(Command::Replace(self.order()))),
            5..=7 => Event::Send(self.below(UNITS), Message::Attacked(self.below(ENEMIES))),
            8 => Event::Move(self.below(ENEMIES), self.place()),
            9 => Event::Health(self.below(ENEMIES), i32::try_from(self.below(3)).unwrap(), self.below(2) == 0),
            10 => Event::Mine(self.below(MINES), self.below(2) == 0),
            _ => Event::Tick,
        }
    }
}

fn world() -> World {
    World {
        now: 0.0,
        enemies: [5, 9, 13].map(|place| Enemy { place, health: 2 }).into(),
        mines: [4, 11].map(|place| Mine { place, is_empty: false }).into(),
    }
}

fn places() -> impl Iterator<Item = i32> {
    (0..UNITS).map(|unit| i32::try_from(unit * 3).unwrap())
}

/// Makes the changes of an event in the world. Returns the messages that it leads to.
fn happen(event: Event, world: &mut World) -> Vec<(usize, Message)> {
    match event {
        Event::Send(unit, message) => return vec![(unit, message)],
        Event::Move(enemy, place) => world.enemies[enemy].place = place,
        Event::Mine(mine, is_empty) => world.mines[mine].is_empty = is_empty,
        Event::Health(enemy, health, is_told) => {
            world.enemies[enemy].health = health;
            if health == 0 && is_told {
                return (0..UNITS).map(|unit| (unit, Message::Died(enemy))).collect();
            }
        }
        Event::Tick => world.now += 1.0,
    }
    vec![]
}

/// Returns the log of a unit since the last call, with its numbers.
fn report(unit: &mut Unit, state: &str) -> Vec<String> {
    let mut lines = std::mem::take(&mut unit.log);
    let Unit { place, health, load, delivered, is_brave, .. } = *unit;
    lines.push(format!("{state} at {place}, {health} {load} {delivered} {is_brave}, {:?}", unit.orders));
    lines.extend(std::mem::take(&mut unit.strikes).iter().map(|enemy| format!("struck {enemy}")));
    lines
}

/// The engines that a script runs on.
trait Engine {
    fn send(&mut self, unit: usize, message: Message, world: &mut World);
    fn tick(&mut self, world: &mut World);
    fn report(&mut self) -> Vec<Vec<String>>;
}

impl Engine for Vec<Soldier> {
    fn send(&mut self, unit: usize, message: Message, world: &mut World) {
        self[unit].process(kind(message), message, world);
    }

    fn tick(&mut self, world: &mut World) {
        for soldier in self {
            soldier.tick(world);
        }
    }

    fn report(&mut self) -> Vec<Vec<String>> {
        self.iter_mut().map(|soldier| report(&mut soldier.unit, soldier.state.rsplit('.').next().unwrap())).collect()
    }
}

impl Engine for Vec<demeanor::Agent<Unit>> {
    fn send(&mut self, unit: usize, message: Message, world: &mut World) {
        self[unit].send(&message, world);
    }

    fn tick(&mut self, world: &mut World) {
        for agent in self {
            agent.update(world);
        }
    }

    fn report(&mut self) -> Vec<Vec<String>> {
        let name = |agent: &demeanor::Agent<Unit>| agent.machine().current().unwrap().name().to_lowercase();
        self.iter_mut().map(|agent| (name(agent), agent)).map(|(name, agent)| report(agent, &name)).collect()
    }
}

/// A batch with the keys of its units.
struct Crowd(Batch<Unit>, Vec<demeanor::Key>);

impl Engine for Crowd {
    fn send(&mut self, unit: usize, message: Message, world: &mut World) {
        self.0.send(self.1[unit], &message, world);
    }

    fn tick(&mut self, world: &mut World) {
        self.0.update(world);
    }

    fn report(&mut self) -> Vec<Vec<String>> {
        let Self(batch, keys) = self;
        keys.iter()
            .map(|&key| {
                let name = batch.state_of(key).unwrap().name().to_lowercase();
                report(batch.get_mut(key).unwrap(), &name)
            })
            .collect()
    }
}

fn soldiers(world: &World) -> Vec<Soldier> {
    places().map(|place| Soldier::new(place, world)).collect()
}

fn agents(world: &mut World) -> Vec<demeanor::Agent<Unit>> {
    let agents = places().map(|place| demeanor::Agent::new(Unit::new(place), orders::machine()));
    agents
        .map(|mut agent| {
            agent.start(world);
            agent
        })
        .collect()
}

fn crowd(world: &mut World) -> Crowd {
    let mut batch = Batch::new();
    batch.set_global(orders::machine().global().expect("it has one"));
    let keys = agents(world).into_iter().map(|agent| {
        let (unit, machine) = agent.into_parts();
        batch.insert_machine(unit, machine).ok().unwrap()
    });
    let keys = keys.collect();
    Crowd(batch, keys)
}

fn carry_out(event: Event, engine: &mut dyn Engine, messages: &[(usize, Message)], world: &mut World) {
    for &(unit, message) in messages {
        engine.send(unit, message, world);
    }
    if matches!(event, Event::Tick) {
        engine.tick(world);
    }
}

/// Runs a script on all engines, and compares what they report after each event. Returns all lines.
fn compare(script: &[Event], what: &str) -> Vec<String> {
    let mut world = world();
    let mut soldiers = soldiers(&world);
    let mut agents = agents(&mut world);
    let mut crowd = crowd(&mut world);
    let mut lines = vec![];
    for (index, &event) in script.iter().enumerate() {
        let messages = happen(event, &mut world);
        for engine in [&mut soldiers as &mut dyn Engine, &mut agents, &mut crowd] {
            carry_out(event, engine, &messages, &mut world);
        }
        let expected = soldiers.report();
        assert_eq!(agents.report(), expected, "machines, {what}, event {index}: {event:?}");
        assert_eq!(crowd.report(), expected, "batch, {what}, event {index}: {event:?}");
        lines.extend(expected.into_iter().flatten());
    }
    lines
}

#[test]
fn units_fare_as_in_an_engine_whose_states_are_strings() {
    let mut lines = vec![];
    for seed in 0..250 {
        let mut dice = Dice(oorandom::Rand32::new(seed));
        let script: Vec<Event> = (0..400).map(|_| dice.event()).collect();
        lines.extend(compare(&script, &format!("seed {seed}")));
    }
    // The scripts lead to everything that a unit does.
    for part in [
        "enters idle.resting",
        "enters walking",
        "enters combat.approaching",
        "enters combat.attacking",
        "strikes",
        "enters gather.approaching",
        "enters gather.gathering",
        "enters gather.returning",
        "unloads 3",
        "enters fleeing",
        "rejects Gather",
        "rejects Attack",
        "rejects Flee",
        "finished Brave",
        "finished Flee",
        "finished Walk",
        "finished Attack",
        "finished Gather",
        "enters dead",
    ] {
        let count = lines.iter().filter(|line| line.contains(part)).count();
        assert!(count >= 30, "{part}: {count}");
    }
}

#[test]
fn a_long_queue_of_orders_is_taken_within_one_callback() {
    for order in [Order::Attack(0), Order::Brave(true), Order::Walk(0)] {
        let push = |order| Event::Send(0, Message::Command(Command::Push(order)));
        let mut script = vec![Event::Health(0, 0, false), push(Order::Walk(1)), push(Order::Walk(0))];
        script.extend((0..LONGEST_CHAIN).map(|_| push(order)));
        script.extend([push(Order::Walk(2)), Event::Tick, Event::Tick, Event::Tick]);
        let lines = compare(&script, "a long queue");
        assert!(lines.iter().filter(|line| **line == format!("begins {order:?}")).count() >= LONGEST_CHAIN);
        assert!(lines.contains(&"begins Walk(2)".to_owned()), "the last order is reached");
    }
}

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = orders::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn the_story_is_told_to_its_end() {
    let (code, printed, complaints) = run("");
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert_eq!(printed, include_str!("golden/orders.txt"));
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    assert_eq!(run("--bogus"), (2, String::new(), format!("orders: invalid option '--bogus'\n{USAGE}\n")));
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("--help"), (0, format!("{USAGE}\n"), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let mut err = vec![];
    assert_eq!(orders::answer([], &mut Broken(ErrorKind::BrokenPipe), &mut err), 0);
    assert_eq!(err, b"");
}
