//! A giant with phases, combos and a stagger, which turns toward a hero: several of its states are active at the same time.
//!
//! Read `boss.fsm.toml` first: it has the whole behavior of the giant. The program defines the words of the file, and plays the
//! hero.
//!
//! ```text
//! life (global) -> dead
//! sleep
//! fight
//!   phase   calm, angry, desperate
//!   arms    ready, slash, backhand, slam, kick, throw, stagger
//!   feet    turn, walk, stand
//! dead
//! ```
//!
//! ```text
//! cargo run --release --example boss --features definition
//! cargo run --release --example boss --features definition -- --duels 1000
//! ```
//!
//! The first command tells one duel; `--seed 7` is another one. The second command runs a thousand duels in one batch, and says
//! how they ended.
//!
//! Can the giant be staggered while it is dead? The property `no_stagger_when_dead` in the file says no, and the tool proves it,
//! with the words from `--words`:
//!
//! ```text
//! cd examples/boss
//! demeanor check boss.fsm.toml --vocabulary words.json --prove
//! demeanor graph boss.fsm.toml --vocabulary words.json --format svg --output boss.svg
//! ```
//!
//! The reason is that `dead` lies outside of `fight`: when it is entered, all three regions end. If `dead` were a phase of the
//! fight, the arms would go on, and the tool would show a run in which a dead giant staggers. A test tries both files. The second
//! command draws the giant.

#[path = "../command_line/mod.rs"]
mod command_line;

use std::env;
use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::mem;
use std::ops::Range;
use std::process::ExitCode;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Fsm, Owner, State, StateRef};
use oorandom::Rand64;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const USAGE: &str = "usage: boss [--seed N] [--duels N] [--words]";
/// The file with the giant.
pub(crate) const FILE: &str = include_str!("boss.fsm.toml");

const TICKS_PER_SECOND: u32 = 10;
const TICK: f64 = 0.1;
/// A duel that lasts longer is a draw.
const MOST_TICKS: u32 = 120 * TICKS_PER_SECOND;

fn seconds_at(tick: u32) -> f64 {
    f64::from(tick) / f64::from(TICKS_PER_SECOND)
}

/// The giant and its hero. Each duel has its own random numbers, so it is the same alone and among a thousand others.
pub(crate) struct Duel {
    health: f64,
    /// How many more blows it takes until the giant staggers, as a number of points.
    poise: f64,
    /// The part of each blow that does no damage.
    armor: f64,
    /// Whether the giant has raised its club.
    is_raised: bool,
    hero: Hero,
    dice: Rand64,
    /// What has happened since it was printed.
    news: Vec<String>,
}

/// The hero, as the giant sees him.
struct Hero {
    health: f64,
    /// How far he is from the giant, in steps.
    distance: f64,
    /// At which angle the giant sees him, in degrees: 0 is in front, and 180 is behind.
    bearing: f64,
    /// How many ticks it takes until he can strike again.
    rest: u32,
    /// Whether he has seen that the club is raised, and runs away.
    flees: bool,
}

/// What the giant is told.
pub(crate) enum Told {
    Hit,
}

impl Owner for Duel {
    /// The time, in seconds.
    type Context<'a> = f64;
    type Message = Told;

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

impl Duel {
    pub(crate) fn new(seed: u64) -> Self {
        let hero = Hero { health: 100.0, distance: 12.0, bearing: 30.0, rest: 0, flees: false };
        let dice = Rand64::new(seed.into());
        Self { health: 150.0, poise: 50.0, armor: 0.5, is_raised: false, hero, dice, news: Vec::new() }
    }

    /// Creates a duel in which the hero stands near, and the giant has no health and no poise left.
    #[cfg(test)]
    pub(crate) fn lost() -> Self {
        let mut duel = Self::new(0);
        (duel.health, duel.poise, duel.hero.distance) = (0.0, 0.0, 2.0);
        duel
    }

    fn tell(&mut self, news: impl Into<String>) {
        self.news.push(news.into());
    }

    fn end(&self) -> End {
        if self.health <= 0.0 {
            End::GiantFalls
        } else if self.hero.health <= 0.0 {
            End::HeroFalls
        } else {
            End::Draw
        }
    }

    /// Moves the hero, who strikes when he can. Returns what the giant is told.
    fn play_hero(&mut self) -> Option<Told> {
        let hero = &mut self.hero;
        if hero.flees && self.is_raised {
            hero.distance += 4.0 * TICK;
            return None;
        }
        hero.flees = false;
        hero.rest = hero.rest.saturating_sub(1);
        if hero.distance > 2.0 {
            hero.distance -= 3.0 * TICK;
            return None;
        }
        // He walks around the giant.
        hero.bearing += 45.0 * TICK;
        if hero.bearing > 180.0 {
            hero.bearing -= 360.0;
        }
        if hero.rest > 0 {
            return None;
        }
        hero.rest = 8;
        let (power, place) = if hero.bearing.abs() > 90.0 { (12.0, "in the back") } else { (8.0, "from the front") };
        let damage = power * (1.0 - self.armor);
        self.health -= damage;
        self.poise -= power;
        let left = self.health.max(0.0);
        self.tell(format!("The hero hits it {place}: {left} left."));
        Some(Told::Hit)
    }

    /// Hits the hero, if the giant reaches him.
    fn hit(&mut self, attack: &str, damage: f64, reaches: bool) {
        if reaches {
            self.hero.health -= damage;
            let left = self.hero.health.max(0.0);
            self.tell(format!("{attack} hits him: {left} left."));
        } else {
            self.tell(format!("{attack} misses."));
        }
    }

    fn is_in_front(&self) -> bool {
        self.hero.bearing.abs() <= 60.0
    }
}

/// Turns toward the hero.
#[derive(Deserialize, JsonSchema)]
struct Turn {
    /// Degrees per second.
    speed: f64,
}

impl State<Duel> for Turn {
    fn update(&self, duel: &mut Duel, _: &mut Fsm<'_, Duel>, _: &mut f64) {
        let most = self.speed * TICK;
        duel.hero.bearing -= duel.hero.bearing.clamp(-most, most);
    }
}

/// Walks straight ahead.
#[derive(Deserialize, JsonSchema)]
struct Walk {
    /// Steps per second.
    speed: f64,
}

impl State<Duel> for Walk {
    fn update(&self, duel: &mut Duel, _: &mut Fsm<'_, Duel>, _: &mut f64) {
        duel.hero.distance = (duel.hero.distance - self.speed * TICK).max(1.0);
    }
}

pub(crate) fn vocabulary() -> Vocabulary<Duel> {
    Vocabulary::new()
        .ticks_per_second(TICKS_PER_SECOND.into())
        .random(|duel: &mut Duel, _| duel.dice.rand_float())
        .value("health", |duel, _| duel.health)
        .field("poise", |duel, _| duel.poise, |duel, poise| duel.poise = poise)
        .value("distance", |duel, _| duel.hero.distance)
        .value("bearing", |duel, _| duel.hero.bearing)
        .message("hit", |told| matches!(told, Told::Hit))
        .behavior_with("turn", |turn: Turn| turn)
        .behavior_with("walk", |walk: Walk| walk)
        .action("wake", |duel, _| duel.tell("The giant wakes."))
        .action("approach", |duel, _| duel.tell("The giant comes closer."))
        .action("roar", |duel, _| duel.tell("The giant roars."))
        .action("stagger", |duel, _| duel.tell("The giant staggers."))
        .action("fall", |duel, _| duel.tell("The giant falls."))
        .action("raise", |duel, _| {
            duel.is_raised = true;
            duel.hero.flees = duel.dice.rand_float() < 0.6;
            duel.tell("The giant raises its club.");
        })
        .action("lower", |duel, _| duel.is_raised = false)
        .action_with("armor", |duel, armor, _| duel.armor = armor)
        .action_with("strike", |duel, damage, _| {
            duel.hit("The club", damage, duel.is_in_front() && duel.hero.distance <= 3.0);
        })
        .action_with("kick", |duel, damage, _| duel.hit("The kick", damage, duel.hero.distance <= 2.5))
        .action_with("slam", |duel, damage, _| duel.hit("The slam", damage, duel.hero.distance <= 4.0))
        .action_with("throw", |duel, damage, _| {
            let is_aimed = duel.dice.rand_float() < 0.5;
            duel.hit("The rock", damage, is_aimed && duel.is_in_front());
        })
}

fn main() -> ExitCode {
    env_logger::init();
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("boss", USAGE, parse(arguments), out, err, |options, out, _| play(options, out))
}

struct Options {
    seed: u64,
    /// The number of duels in a batch. Without it, one duel is told.
    duels: Option<u64>,
    /// Whether to print only the words that the file can use, for the tool.
    words: bool,
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    use lexopt::{Arg, Parser, ValueExt};

    let mut parser = Parser::from_args(arguments);
    let mut options = Options { seed: 4, duels: None, words: false };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("duels") => options.duels = Some(parser.value()?.parse()?),
            Arg::Long("words") => options.words = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}

fn play(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if options.words {
        return write!(out, "{}", vocabulary().export().to_json());
    }
    let definition = Definition::parse(FILE, &vocabulary()).map_err(io::Error::other)?;
    let Some(duels) = options.duels else {
        return write!(out, "{}", alone(&definition, options.seed).text);
    };
    let stories = together(&definition, options.seed..options.seed.saturating_add(duels));
    for end in [End::GiantFalls, End::HeroFalls, End::Draw] {
        let ended: Vec<f64> = stories.iter().filter(|story| story.end == end).map(|story| story.seconds).collect();
        let longest = ended.iter().copied().fold(0.0, f64::max);
        writeln!(out, "{:<17} {:>6}   the longest took {longest:5.1} s", end.to_string(), ended.len())?;
    }
    Ok(())
}

/// What happened in a duel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Story {
    pub(crate) text: String,
    pub(crate) end: End,
    seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    GiantFalls,
    HeroFalls,
    Draw,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GiantFalls => "the giant falls",
            Self::HeroFalls => "the hero falls",
            Self::Draw => "neither falls",
        })
    }
}

impl Story {
    fn new() -> Self {
        Self { text: String::new(), end: End::Draw, seconds: 0.0 }
    }

    /// Adds what has happened in a tick, with the states that are active after it.
    fn add<'s>(&mut self, seconds: f64, news: Vec<String>, end: End, states: impl Iterator<Item = &'s StateRef<Duel>>) {
        (self.seconds, self.end) = (seconds, end);
        // The states in the regions of `fight` say that it is active.
        let states = states.filter(|state| state.regions().is_empty()).map(ToString::to_string).collect::<Vec<_>>();
        for news in news {
            let _ = writeln!(self.text, "{seconds:5.1} s  {news:<42}  {}", states.join(", "));
        }
    }
}

/// Plays a duel that has a machine of its own.
pub(crate) fn alone(definition: &Definition<Duel>, seed: u64) -> Story {
    let (mut duel, mut machine, mut story) = (Duel::new(seed), definition.machine(), Story::new());
    machine.start(&mut duel, &mut 0.0);
    for tick in 1..=MOST_TICKS {
        let mut seconds = seconds_at(tick);
        if let Some(told) = duel.play_hero() {
            machine.send(&mut duel, &told, &mut seconds);
        }
        machine.update(&mut duel, &mut seconds);
        story.add(seconds, mem::take(&mut duel.news), duel.end(), machine.active_states());
        if story.end != End::Draw {
            break;
        }
    }
    story
}

/// Plays duels in one batch.
pub(crate) fn together(definition: &Definition<Duel>, seeds: Range<u64>) -> Vec<Story> {
    let mut batch = definition.batch();
    let mut duels: Vec<_> =
        seeds.map(|seed| (batch.spawn(Duel::new(seed), definition.initial(), &mut 0.0), Story::new())).collect();
    for tick in 1..=MOST_TICKS {
        let mut seconds = seconds_at(tick);
        for (key, _) in &duels {
            // A duel that is over is no longer in the batch.
            if let Some(told) = batch.get_mut(*key).and_then(Duel::play_hero) {
                batch.send(*key, &told, &mut seconds);
            }
        }
        batch.update(&mut seconds);
        for (key, story) in &mut duels {
            let Some(duel) = batch.get_mut(*key) else { continue };
            let news = mem::take(&mut duel.news);
            story.add(seconds, news, duel.end(), batch.active_states(*key).into_iter().flatten());
            if story.end != End::Draw {
                batch.remove(*key);
            }
        }
    }
    duels.into_iter().map(|(_, story)| story).collect()
}

#[cfg(test)]
#[path = "../tests/boss.rs"]
mod tests;
