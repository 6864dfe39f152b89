//! State machines that are not characters: a door with its lever, and the screens of a game.
//!
//! The door shows messages, a guard, nested states, and time in a state:
//!
//! ```text
//! Door
//! ├─ Shut        (initial)       lever: Opening
//! ├─ Moving                      lever: snaps back, whether it opens or closes
//! │  ├─ Opening                  after 2 seconds: Open
//! │  └─ Closing                  after 2 seconds: Shut
//! └─ Open                        lever: Closing, unless the doorway is blocked
//! ```
//!
//! The menu shows the stack: a screen waits while other screens are pushed onto it, and continues when they are popped.
//!
//! ```text
//! Screens
//! ├─ Title       (initial)       start: change to Playing; options: push Options
//! ├─ Playing                     pause: push Paused
//! ├─ Paused                      pause: pop; options: push Options; quit: pop and change to Title
//! └─ Options                     back: pop
//! ```
//!
//! ```text
//! cargo run --example door_and_menu
//! ```
//!
//! It prints each event, and its consequences below it:
//!
//! ```text
//! the lever is pulled
//!     the door grinds upward
//! ```

#[path = "command_line/mod.rs"]
mod command_line;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: door_and_menu";

fn main() -> ExitCode {
    env_logger::init();
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("door_and_menu", USAGE, parse(arguments), out, err, |(), out, _| {
        write!(out, "{}\n{}", door::play(), menu::play())
    })
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<()>, lexopt::Error> {
    match lexopt::Parser::from_args(arguments).next()? {
        None => Ok(Some(())),
        Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => Ok(None),
        Some(unexpected) => Err(unexpected.unexpected()),
    }
}

/// Prints an event.
fn happens(page: &mut String, what: &str) {
    page.push_str(what);
    page.push('\n');
}

/// Prints a consequence of the event.
fn note(page: &mut String, what: &str) {
    page.push_str("    ");
    happens(page, what);
}

mod door {
    use std::time::Duration;

    use demeanor::{Agent, Change, Fsm, GameTime, Owner, State, StateMachine, StateRef};

    use super::{happens, note};

    /// The time that the door takes to open or to close, in seconds.
    const TRAVEL: f64 = 2.0;

    struct Door {
        is_occupied: bool,
    }

    /// The context of the callbacks: the clock, and a page for the output.
    #[derive(Default)]
    struct Level {
        time: GameTime,
        page: String,
    }

    /// The message that the lever has been pulled.
    struct Lever;

    impl Owner for Door {
        type Context<'a> = Level;
        type Message = Lever;

        fn now(level: &Level) -> f64 {
            level.time.total().as_secs_f64()
        }

        fn on_change(&mut self, change: &Change<'_, Self>, level: &mut Level) {
            if !change.is_taken() {
                note(&mut level.page, &format!("({change})"));
            }
        }
    }

    struct Shut;

    impl State<Door> for Shut {
        fn enter(&self, _: &mut Door, _: &mut Fsm<'_, Door>, level: &mut Level) {
            note(&mut level.page, "the door is shut");
        }

        fn on_message(&self, _: &mut Door, _: &Lever, fsm: &mut Fsm<'_, Door>, _: &mut Level) -> bool {
            fsm.change_state(&Opening);
            true
        }
    }

    struct Open;

    impl State<Door> for Open {
        fn enter(&self, _: &mut Door, _: &mut Fsm<'_, Door>, level: &mut Level) {
            note(&mut level.page, "the door is open");
        }

        fn on_message(&self, _: &mut Door, _: &Lever, fsm: &mut Fsm<'_, Door>, _: &mut Level) -> bool {
            fsm.change_state(&Closing);
            true
        }
    }

    /// The parent of `Opening` and `Closing`, with the behavior that both have in common.
    struct Moving;

    impl State<Door> for Moving {
        fn enter(&self, _: &mut Door, _: &mut Fsm<'_, Door>, level: &mut Level) {
            note(&mut level.page, "chains rattle");
        }

        fn exit(&self, _: &mut Door, _: &mut Fsm<'_, Door>, level: &mut Level) {
            note(&mut level.page, "the chains are still");
        }

        fn on_message(&self, _: &mut Door, _: &Lever, _: &mut Fsm<'_, Door>, level: &mut Level) -> bool {
            note(&mut level.page, "the lever snaps back");
            true
        }
    }

    struct Opening;

    impl State<Door> for Opening {
        fn parent(&self) -> Option<StateRef<Door>> {
            Some((&Moving).into())
        }

        fn enter(&self, _: &mut Door, _: &mut Fsm<'_, Door>, level: &mut Level) {
            note(&mut level.page, "the door grinds upward");
        }

        fn update(&self, _: &mut Door, fsm: &mut Fsm<'_, Door>, level: &mut Level) {
            if fsm.time_in_state(level) >= TRAVEL {
                fsm.change_state(&Open);
            }
        }
    }

    struct Closing;

    impl State<Door> for Closing {
        fn parent(&self) -> Option<StateRef<Door>> {
            Some((&Moving).into())
        }

        fn can_enter(&self, door: &Door, _: &Fsm<'_, Door>, _: &Level) -> bool {
            !door.is_occupied
        }

        fn enter(&self, _: &mut Door, _: &mut Fsm<'_, Door>, level: &mut Level) {
            note(&mut level.page, "the door sinks");
        }

        fn update(&self, _: &mut Door, fsm: &mut Fsm<'_, Door>, level: &mut Level) {
            if fsm.time_in_state(level) >= TRAVEL {
                fsm.change_state(&Shut);
            }
        }
    }

    pub(crate) fn play() -> String {
        let mut level = Level::default();
        let mut door = Agent::new(Door { is_occupied: false }, StateMachine::new(&Shut));

        happens(&mut level.page, "THE DOOR");
        door.start(&mut level);
        pull_lever(&mut door, &mut level);
        wait(1, &mut door, &mut level);
        pull_lever(&mut door, &mut level);
        wait(1, &mut door, &mut level);
        happens(&mut level.page, "a goblin stops in the doorway");
        door.is_occupied = true;
        pull_lever(&mut door, &mut level);
        happens(&mut level.page, "the goblin goes on");
        door.is_occupied = false;
        pull_lever(&mut door, &mut level);
        wait(2, &mut door, &mut level);
        level.page
    }

    fn pull_lever(door: &mut Agent<Door>, level: &mut Level) {
        happens(&mut level.page, "the lever is pulled");
        door.send(&Lever, level);
    }

    fn wait(seconds: u64, door: &mut Agent<Door>, level: &mut Level) {
        for _ in 0..seconds {
            happens(&mut level.page, "a second goes by");
            level.time.advance(Duration::from_secs(1));
            door.update(level);
        }
    }
}

mod menu {
    use demeanor::{Agent, Fsm, Owner, State, StateMachine};

    use super::{happens, note};

    /// The data that the screens share.
    #[derive(Default)]
    struct Screens {
        score: u32,
    }

    #[derive(Clone, Copy, Debug)]
    enum Key {
        Start,
        Pause,
        Options,
        Back,
        Quit,
    }

    impl Owner for Screens {
        /// The page for the output.
        type Context<'a> = String;
        type Message = Key;
    }

    struct Title;

    impl State<Screens> for Title {
        fn enter(&self, _: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, "the title is shown");
        }

        fn on_message(&self, _: &mut Screens, key: &Key, fsm: &mut Fsm<'_, Screens>, _: &mut String) -> bool {
            match key {
                Key::Start => fsm.change_state(&Playing),
                Key::Options => fsm.push_state(&Options),
                _ => return false,
            }
            true
        }
    }

    struct Playing;

    impl State<Screens> for Playing {
        fn enter(&self, screens: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            screens.score = 0;
            note(page, "a new game begins");
        }

        fn update(&self, screens: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            screens.score += 10;
            note(page, &format!("score {}", screens.score));
        }

        // The defaults call `exit` and `enter`: a pause would end the game and begin another.
        fn suspend(&self, _: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, "the game stands still");
        }

        fn resume(&self, _: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, "the game goes on");
        }

        fn exit(&self, screens: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, &format!("the game ends with a score of {}", screens.score));
        }

        fn on_message(&self, _: &mut Screens, key: &Key, fsm: &mut Fsm<'_, Screens>, _: &mut String) -> bool {
            let is_mine = matches!(key, Key::Pause);
            if is_mine {
                fsm.push_state(&Paused);
            }
            is_mine
        }
    }

    struct Paused;

    impl State<Screens> for Paused {
        fn enter(&self, _: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, "\"paused\" is shown");
        }

        fn update(&self, _: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, "\"paused\" blinks");
        }

        fn on_message(&self, _: &mut Screens, key: &Key, fsm: &mut Fsm<'_, Screens>, _: &mut String) -> bool {
            match key {
                Key::Pause | Key::Back => fsm.pop_state(),
                Key::Options => fsm.push_state(&Options),
                Key::Quit => {
                    // Two requests, carried out in this order: the game is resumed, then it ends.
                    fsm.pop_state();
                    fsm.change_state(&Title);
                }
                Key::Start => return false,
            }
            true
        }
    }

    /// Works on top of any screen: it does not know which screen is below it.
    struct Options;

    impl State<Screens> for Options {
        fn enter(&self, _: &mut Screens, _: &mut Fsm<'_, Screens>, page: &mut String) {
            note(page, "the options are shown");
        }

        fn on_message(&self, _: &mut Screens, key: &Key, fsm: &mut Fsm<'_, Screens>, _: &mut String) -> bool {
            let is_mine = matches!(key, Key::Back);
            if is_mine {
                fsm.pop_state();
            }
            is_mine
        }
    }

    pub(crate) fn play() -> String {
        let mut page = String::from("THE MENU\n");
        let mut screens = Agent::new(Screens::default(), StateMachine::new(&Title));
        screens.start(&mut page);
        // `None` is a tick without a key.
        for key in [
            Some(Key::Options),
            Some(Key::Start),
            Some(Key::Back),
            Some(Key::Start),
            None,
            None,
            Some(Key::Pause),
            None,
            Some(Key::Options),
            Some(Key::Back),
            Some(Key::Pause),
            None,
            Some(Key::Pause),
            Some(Key::Quit),
        ] {
            if let Some(key) = key {
                happens(&mut page, &format!("{key:?} is pressed"));
                if !screens.send(&key, &mut page) {
                    note(&mut page, "nobody cares");
                }
            } else {
                happens(&mut page, "a tick");
                screens.update(&mut page);
            }
        }
        page
    }
}

#[cfg(test)]
#[path = "tests/door_and_menu.rs"]
mod tests;
