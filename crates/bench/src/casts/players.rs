//! The members of a cast, and the same characters as agents in a `Vec`.

use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};

use crate::contender::{Contender, Entrant};
use crate::workload::Context;

/// The context of the agents. It is as empty as the cast's world.
struct Field;

type Match = Cast<u32, u64, ()>;

/// A player of 64 bytes, whose callbacks have the context `C`.
struct Player<C> {
    key: u32,
    rejoins: bool,
    numbers: [u64; 6],
    context: std::marker::PhantomData<fn(C)>,
}

impl<C> Default for Player<C> {
    fn default() -> Self {
        Self::new(0, false)
    }
}

impl<C> Player<C> {
    fn new(key: u32, rejoins: bool) -> Self {
        let numbers = [u64::from(key) + 1; 6];
        Self { key, rejoins, numbers, context: std::marker::PhantomData }
    }

    fn add(&mut self, to: usize, number: u64) {
        self.numbers[to] = self.numbers[to].wrapping_mul(3).wrapping_add(number);
    }

    fn checksum(&self) -> u64 {
        self.numbers.iter().fold(0, |sum, number| sum.wrapping_mul(5).wrapping_add(*number))
    }
}

impl Owner for Player<Field> {
    type Context<'a> = Field;
    type Message = Telegram<u32, u64>;
}

impl Owner for Player<Match> {
    type Context<'a> = Match;
    type Message = Telegram<u32, u64>;
}

/// The states of the players. There are three, so that calls go to different functions.
struct In<const STATE: usize>;

impl<const STATE: usize> State<Player<Field>> for In<STATE> {
    fn update(&self, player: &mut Player<Field>, _: &mut Fsm<'_, Player<Field>>, _: &mut Field) {
        player.add(STATE, 1);
    }

    fn on_message(
        &self,
        player: &mut Player<Field>,
        telegram: &Telegram<u32, u64>,
        _: &mut Fsm<'_, Player<Field>>,
        _: &mut Field,
    ) -> bool {
        player.add(STATE + 3, telegram.message);
        true
    }
}

impl<const STATE: usize> State<Player<Match>> for In<STATE> {
    fn update(&self, player: &mut Player<Match>, fsm: &mut Fsm<'_, Player<Match>>, game: &mut Match) {
        if player.rejoins {
            let key = player.key;
            game.rejoin(&key, player, fsm, |_| ()).expect("it is its own callback");
        }
        player.add(STATE, 1);
    }

    fn on_message(
        &self,
        player: &mut Player<Match>,
        telegram: &Telegram<u32, u64>,
        _: &mut Fsm<'_, Player<Match>>,
        _: &mut Match,
    ) -> bool {
        player.add(STATE + 3, telegram.message);
        true
    }
}

fn machine<T: Owner>(number: u32) -> StateMachine<T>
where
    In<0>: State<T>,
    In<1>: State<T>,
    In<2>: State<T>,
{
    match number % 3 {
        0 => StateMachine::new(&In::<0>),
        1 => StateMachine::new(&In::<1>),
        _ => StateMachine::new(&In::<2>),
    }
}

/// Returns the number of callbacks in a tick. Each member has one; if there are few members, each has many.
pub(super) fn calls(members: usize) -> usize {
    members * passes(members)
}

fn passes(members: usize) -> usize {
    (2_000 / members).max(1)
}

/// The kind of work in a tick.
#[derive(Clone, Copy)]
enum Tick {
    Update,
    Send,
}

struct Agents {
    list: Vec<Agent<Player<Field>>>,
    receivers: Vec<u32>,
    tick: Tick,
}

impl Contender for Agents {
    fn tick(&mut self, _: &Context) {
        for _ in 0..passes(self.list.len()) {
            match self.tick {
                Tick::Update => self.list.iter_mut().for_each(|agent| agent.update(&mut Field)),
                Tick::Send => {
                    for &receiver in &self.receivers {
                        self.list[receiver as usize].send(&Telegram::new(0, receiver, 7), &mut Field);
                    }
                }
            }
        }
    }

    fn checksum(&self) -> u64 {
        self.list.iter().fold(0, |sum, agent| sum.wrapping_add(agent.checksum()))
    }
}

struct Members {
    game: Match,
    receivers: Vec<u32>,
    tick: Tick,
}

impl Contender for Members {
    fn tick(&mut self, _: &Context) {
        for _ in 0..passes(self.receivers.len()) {
            match self.tick {
                Tick::Update => self.game.update(),
                Tick::Send => {
                    for &receiver in &self.receivers {
                        self.game.send(0, receiver, 7);
                    }
                }
            }
        }
    }

    fn checksum(&self) -> u64 {
        self.game.iter::<Player<Match>>().fold(0, |sum, (_, agent)| sum.wrapping_add(agent.checksum()))
    }
}

fn agents(members: usize, tick: Tick) -> Entrant {
    let agents = (0..members as u32).map(|n| Agent::new(Player::new(n, false), machine(n))).collect();
    Entrant { name: "agents", contender: Box::new(Agents { list: agents, receivers: scattered(members), tick }) }
}

fn cast(name: &'static str, members: usize, tick: Tick, rejoins: bool) -> Entrant {
    let mut game = Match::new(());
    for n in 0..members as u32 {
        let player = Player::<Match>::new(n, rejoins);
        game.add(n, Agent::new(player, machine(n))).expect("each number comes once");
    }
    Entrant { name, contender: Box::new(Members { game, receivers: scattered(members), tick }) }
}

/// Returns the numbers of all members, shuffled.
fn scattered(members: usize) -> Vec<u32> {
    let mut receivers: Vec<u32> = (0..members as u32).collect();
    fastrand::Rng::with_seed(1).shuffle(&mut receivers);
    receivers
}

pub(super) fn updates(members: usize) -> Vec<Entrant> {
    vec![agents(members, Tick::Update), cast("cast", members, Tick::Update, false)]
}

pub(super) fn sends(members: usize) -> Vec<Entrant> {
    vec![agents(members, Tick::Send), cast("cast", members, Tick::Send, false)]
}

pub(super) fn rejoins(members: usize) -> Vec<Entrant> {
    vec![cast("without", members, Tick::Update, false), cast("rejoin", members, Tick::Update, true)]
}
