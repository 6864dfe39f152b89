//! The town: its characters, their shared data, and the order of events in a tick.

use std::fmt;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use demeanor::{Cast, Dispatcher};

use super::bob::{self, Miner};
use super::elsa::{self, Wife};
use super::options::Options;
use super::page::{self, Page};
use super::random::Random;
use super::telegraph;

/// The length of a tick.
const TICK: Duration = Duration::from_millis(800);

/// The cast is the context of all callbacks: the characters, their telegrams, the clock, and the world.
pub(crate) type Town = Cast<Name, News, World>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Bob,
    Elsa,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bob => "Miner Bob",
            Self::Elsa => "Elsa",
        })
    }
}

/// The messages of the characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    HiHoneyImHome,
    StewReady,
}

/// One of the book's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    WestWorld1,
    WithWoman,
    WithMessaging,
}

/// The data that the characters share.
pub(crate) struct World {
    pub(crate) program: Program,
    pub(crate) random: Random,
    pub(crate) page: Page,
}

impl World {
    pub(crate) fn has_telegrams(&self) -> bool {
        self.program == Program::WithMessaging
    }

    pub(crate) fn say(&mut self, who: Name, what: &str) {
        let style = match who {
            Name::Bob => page::BOB,
            Name::Elsa => page::ELSA,
        };
        self.page.line(style, format_args!("{who}: {what}"));
    }
}

/// Runs the town for the given number of ticks, and prints the events.
pub(crate) fn run(options: &Options, is_colored: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut town = settle(options, is_colored);
    for _ in 0..options.ticks {
        town.update();
        telegraph::deliver_due(&mut town);
        out.write_all(town.world.page.take().as_bytes())?;
        if options.watch {
            out.flush()?;
            thread::sleep(TICK);
        }
        town.advance(TICK);
    }
    out.flush()
}

/// Creates the town. No machine is started, because the book's machines do not enter their first states.
fn settle(options: &Options, is_colored: bool) -> Town {
    let world = World { program: options.program, random: Random::new(options.seed), page: Page::new(is_colored) };
    let mut town = Town::new(world).with_dispatcher(Dispatcher::merging_within(telegraph::WINDOW));
    town.add(Name::Bob, bob::agent(Miner::new(options.habits))).expect("there is one Bob");
    if options.program != Program::WestWorld1 {
        town.add(Name::Elsa, elsa::agent(Wife::default())).expect("there is one Elsa");
    }
    town
}
