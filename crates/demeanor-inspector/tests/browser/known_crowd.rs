//! A game with known content for the browser's test. It ticks when its standard input gets a line that says so.
//!
//! ```text
//! tick 3
//! eat
//! howl
//! starve
//! quit
//! ```
//!
//! `howl` sends a message from the first wolf to both. `eat` and `starve` set the hunger of the wolves to 10 and to 95.
//!
//! Its first argument is the address. The second one can be the file of the wolves, which is reloaded when it is saved. It prints the address of the page, and after each input line what it has done.

use std::error::Error;
use std::fmt;
use std::io::stdin;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use demeanor::definition::{Definition, PropertyWatch, Vocabulary, Watch};
use demeanor::journal::MessageLog;
use demeanor::{Batch, Fsm, Journal, Key, Owner, State, StateRef};
use demeanor_inspector::{Crowd, Inspector};
use serde::Serialize;

/// A soldier. The first three of ten are tired.
struct Soldier {
    number: u32,
}

impl Owner for Soldier {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "soldier <{}>", self.number)
    }
}

struct Camp;
struct Wait;
struct Sleep;
struct March;

/// A soldier who comes back to the camp does not get further than this.
impl State<Soldier> for Camp {
    fn enter(&self, _: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut f64) {
        if fsm.previous().is_some() {
            fsm.stay();
        }
    }
}

impl State<Soldier> for Wait {
    fn parent(&self) -> Option<StateRef<Soldier>> {
        Some((&Camp).into())
    }

    fn update(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut f64) {
        if soldier.number < 3 {
            fsm.change_state(&Sleep);
        } else {
            fsm.change_state(&March);
        }
    }
}

impl State<Soldier> for Sleep {
    fn parent(&self) -> Option<StateRef<Soldier>> {
        Some((&Camp).into())
    }

    fn enter(&self, _: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut f64) {
        fsm.change_state_after(60.0, &March);
        fsm.sleep();
    }
}

/// Only soldiers with an even number march.
impl State<Soldier> for March {
    fn can_enter(&self, soldier: &Soldier, _: &Fsm<'_, Soldier>, _: &f64) -> bool {
        soldier.number.is_multiple_of(2)
    }
}

#[derive(Serialize)]
struct Wolf {
    hunger: f64,
    #[serde(skip)]
    properties: PropertyWatch,
}

/// The context of the wolves.
struct Forest {
    seconds: f64,
    definition: Definition<Wolf>,
    messages: MessageLog<Key>,
    /// The wolf that has sent a message, and the one that gets it.
    to: Option<(Key, Key)>,
}

impl Owner for Wolf {
    type Context<'a> = Forest;
    type Message = &'static str;

    fn now(forest: &Forest) -> f64 {
        forest.seconds
    }

    fn after_message(&mut self, message: &&'static str, handled_by: Option<&StateRef<Self>>, forest: &mut Forest) {
        if let Some((from, to)) = forest.to {
            forest.messages.note(Some(from), to, message, handled_by, forest.seconds);
        }
    }
}

/// Writes the properties of the file that wolves violate into their journal.
fn check_properties(wolves: &mut Batch<Wolf>, forest: &mut Forest) {
    for key in wolves.keys().collect::<Vec<_>>() {
        let check = |wolf: &mut Wolf, fsm: &mut Fsm<'_, Wolf>, forest: &mut Forest| {
            let mut watch = std::mem::take(&mut wolf.properties);
            let violated = forest.definition.check_properties(&mut watch, wolf, fsm, forest);
            wolf.properties = watch;
            (violated, fsm.active_states().map(ToString::to_string).collect::<Vec<_>>())
        };
        let Some((violated, path)) = wolves.with(key, forest, check) else { continue };
        for property in violated {
            if let Some(journal) = wolves.journal_mut() {
                journal.note_violation(key, &property, &path, forest.seconds);
            }
        }
    }
}

const FILE: &str = "
initial = 'roam'
states.roam.exits = [{ to = 'hunt', when = 'hunger > 60' }]
states.hunt.exits = [{ to = 'roam', when = 'hunger < 20' }]
";

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let mut inspector = Inspector::bind(&*address)?.allow_commands();
    println!("{}", inspector.url());

    let mut seconds = 0.0;
    let mut soldiers = Batch::new();
    soldiers.set_journal(Some(Journal::new(1000)));
    for number in 0..10 {
        soldiers.spawn(Soldier { number }, &Wait, &mut seconds);
    }
    let vocabulary = Vocabulary::new()
        .value("hunger", |wolf: &Wolf, _| wolf.hunger)
        .message("howl", |message: &&str| *message == "howl");
    let file = std::env::args().nth(2);
    let definition = match &file {
        Some(file) => Definition::load(file, &vocabulary)?,
        None => Definition::parse(FILE, &vocabulary)?,
    };
    let mut watch = file.map(|file| Watch::new(&definition, file)).transpose()?;
    let mut forest = Forest { seconds, definition: definition.clone(), messages: MessageLog::new(100), to: None };
    let mut wolves = Batch::new();
    wolves.set_journal(Some(Journal::new(1000)));
    for hunger in [35.0, 65.0] {
        wolves.spawn(Wolf { hunger, properties: PropertyWatch::default() }, definition.initial(), &mut forest);
    }

    let (said, lines) = mpsc::channel();
    thread::spawn(move || stdin().lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    let mut ticks = 0;
    loop {
        // A request of the browser is handled within this time.
        match lines.recv_timeout(Duration::from_millis(5)) {
            Ok(line) => match line.split_once(' ').unwrap_or((&line, "")) {
                ("tick", count) => ticks += count.parse::<u32>()?,
                ("eat", _) => wolves.iter_mut().for_each(|(_, wolf)| wolf.hunger = 10.0),
                ("howl", _) => {
                    let keys: Vec<_> = wolves.keys().collect();
                    for to in &keys {
                        forest.to = keys.first().copied().zip(Some(*to));
                        wolves.send(*to, &"howl", &mut forest);
                    }
                }
                ("starve", _) => wolves.iter_mut().for_each(|(_, wolf)| wolf.hunger = 95.0),
                _ => return Ok(()),
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if let Some(Err(problems)) = watch.as_mut().map(Watch::poll) {
            eprintln!("{problems}");
        }
        inspector.obey("soldiers", &mut soldiers, &mut seconds);
        inspector.obey("wolves", &mut wolves, &mut forest);
        if ticks > 0 && inspector.should_update() {
            ticks -= 1;
            seconds += 1.0;
            soldiers.update(&mut seconds);
            forest.seconds = seconds;
            wolves.update(&mut forest);
            check_properties(&mut wolves, &mut forest);
            println!("{seconds}");
        }
        inspector.explain("wolves", &definition, &mut wolves, &mut forest);
        inspector.show("soldiers", &soldiers, &seconds);
        inspector.show(
            "wolves",
            &wolves.with_definition(&definition).with_data(|key| wolves.get(key)).with_messages(&forest.messages),
            &forest,
        );
    }
}
