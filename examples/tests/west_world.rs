//! West World prints the same as the book's programs. The tests compare golden traces for the book's constants, and use a model
//! without state machines for other constants.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;

use crate as west_world;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let arguments = arguments.split_whitespace().map(OsString::from);
    let code = west_world::answer(arguments, false, &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[track_caller]
fn assert_prints(arguments: &str, expected: &str) {
    let (code, printed, complaints) = run(arguments);
    assert_eq!((code, complaints.as_str()), (0, ""), "{arguments}");
    let first_difference = printed.lines().zip(expected.lines()).position(|(printed, expected)| printed != expected);
    if let Some(line) = first_difference {
        let from = line.saturating_sub(3);
        let near = |text: &str| text.lines().skip(from).take(8).collect::<Vec<_>>().join("\n");
        panic!("{arguments}: line {}:\n{}\n-- expected:\n{}", line + 1, near(&printed), near(expected));
    }
    assert!(printed == expected, "{arguments}: {} bytes printed, {} expected", printed.len(), expected.len());
}

#[test]
fn the_first_program_prints_its_golden_trace() {
    assert_prints("west-world-1 --ticks 30 --seed 1", include_str!("golden/WestWorld1-seed1-ticks30.txt"));
}

#[test]
fn the_program_with_a_woman_prints_its_golden_trace() {
    assert_prints("with-woman --ticks 30 --seed 1", include_str!("golden/WestWorldWithWoman-seed1-ticks30.txt"));
}

#[test]
fn the_program_with_messaging_prints_its_golden_trace() {
    let trace = include_str!("golden/WestWorldWithMessaging-seed1-ticks30.txt");
    assert_prints("with-messaging --ticks 30 --seed 1", trace);
    assert_prints("", trace);
}

#[test]
fn two_thousand_ticks_print_their_golden_trace() {
    assert_prints("--ticks 2000", include_str!("golden/WestWorldWithMessaging-seed1-ticks2000.txt"));
}

#[test]
fn no_ticks_print_nothing() {
    assert_prints("--ticks 0", "");
}

#[test]
fn other_constants_print_what_the_model_prints() {
    // Each of these lines must occur, or the constants do not vary enough.
    let mut odd = HashSet::from([
        "Msg is HiHoneyImHomeMessage not handled\n",
        "Goin' to the bank. Yes siree\nMiner Bob: Leavin' the bank\nMiner Bob: Boy, ah sure is thusty!",
        "Total savings now: 0\n",
        "Puttin' the stew on the table\nElsa: Walkin' to the can.",
    ]);
    let mut seed = 0;
    for comfort in 0..=8 {
        for pockets in 1..=5 {
            for thirst in 1..=8 {
                for tired in 0..=6 {
                    seed += 1;
                    let habits = model::Habits { comfort, pockets, thirst, tired };
                    let constants =
                        format!("--comfort {comfort} --pockets {pockets} --thirst {thirst} --tired {tired}");
                    let expected = model::with_messaging(habits, seed, 120);
                    assert_prints(&format!("{constants} --seed {seed} --ticks 120"), &expected);
                    odd.retain(|text| !expected.contains(text));
                    if seed % 5 == 0 {
                        let expected = model::west_world_1(habits, seed, 120);
                        assert_prints(&format!("west-world-1 {constants} --seed {seed} --ticks 120"), &expected);
                        let expected = model::with_woman(habits, seed, 120);
                        assert_prints(&format!("with-woman {constants} --seed {seed} --ticks 120"), &expected);
                    }
                }
            }
        }
    }
    assert!(odd.is_empty(), "never printed: {odd:?}");
}

#[test]
fn constants_without_sense_print_what_the_model_prints() {
    for constants in [[0, 0, 0, 0], [-3, -1, -1, -1], [1_000_000, 3, 5, 5], [5, 1_000_000, 5, 5], [5, 3, 1_000_000, 5]]
    {
        let [comfort, pockets, thirst, tired] = constants;
        let habits = model::Habits { comfort, pockets, thirst, tired };
        let options = format!("--comfort {comfort} --pockets {pockets} --thirst {thirst} --tired {tired} --ticks 500");
        assert_prints(&options, &model::with_messaging(habits, 1, 500));
        assert_prints(&format!("west-world-1 {options}"), &model::west_world_1(habits, 1, 500));
    }
}

#[test]
fn every_seed_prints_what_the_model_prints() {
    let habits = model::Habits { comfort: 5, pockets: 3, thirst: 5, tired: 5 };
    for seed in (0..30).chain([u64::MAX, 1 << 63]) {
        assert_prints(&format!("--seed {seed} --ticks 300"), &model::with_messaging(habits, seed, 300));
        assert_prints(&format!("with-woman --seed {seed} --ticks 300"), &model::with_woman(habits, seed, 300));
    }
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    for (arguments, complaint) in [
        ("--bogus", "invalid option '--bogus'"),
        ("-x", "invalid option '-x'"),
        ("west-world-2", r#"cannot parse argument "west-world-2": there is no such program"#),
        ("with-woman with-woman", r#"unexpected argument "with-woman""#),
        ("--ticks", "missing argument for option '--ticks'"),
        ("--ticks many", r#"cannot parse argument "many": invalid digit found in string"#),
        ("--seed -1", r#"cannot parse argument "-1": invalid digit found in string"#),
        ("--comfort 99999999999", r#"cannot parse argument "99999999999": number too large to fit in target type"#),
        ("--watch=no", "unexpected argument for option '--watch': \"no\""),
    ] {
        let (code, printed, complaints) = run(arguments);
        let usage = west_world::USAGE;
        assert_eq!((code, printed.as_str()), (2, ""), "{arguments}");
        assert_eq!(complaints, format!("west_world: {complaint}\n{usage}\n"), "{arguments}");
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("--help"), (0, format!("{}\n", west_world::USAGE), String::new()));
}

#[test]
fn a_terminal_shows_the_characters_in_their_colours() {
    let mut out = vec![];
    let arguments = ["--ticks", "15"].map(OsString::from);
    west_world::answer(arguments, true, &mut out, &mut vec![]);
    let printed = String::from_utf8(out).unwrap();
    assert!(
        printed
            .starts_with("\u{1b}[91mMiner Bob: All mah fatigue has drained away. Time to find more gold!\u{1b}[0m\n")
    );
    assert!(printed.ends_with("\u{1b}[92mElsa: Fussin' over food\u{1b}[0m\n"));
    assert!(printed.contains("\u{1b}[37m\u{1b}[41mMessage handled by Elsa at time: 11.2\u{1b}[0m\n"));
}

#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    struct Full(io::ErrorKind);
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut err = vec![];
    assert_eq!(west_world::answer([], false, &mut Full(io::ErrorKind::BrokenPipe), &mut err), 0);
    assert_eq!(err, b"");
    assert_eq!(west_world::answer([], false, &mut Full(io::ErrorKind::StorageFull), &mut err), 1);
    assert_eq!(err, b"west_world: no storage space\n");
}

/// The three programs as plain numbers and matches, with immediate changes, as in the book's C++.
mod model {
    use super::*;

    #[derive(Clone, Copy)]
    pub(crate) struct Habits {
        pub(crate) comfort: i32,
        pub(crate) pockets: i32,
        pub(crate) thirst: i32,
        pub(crate) tired: i32,
    }

    pub(crate) fn west_world_1(habits: Habits, seed: u64, ticks: u64) -> String {
        Model::new(1, habits, seed).run(ticks)
    }

    pub(crate) fn with_woman(habits: Habits, seed: u64, ticks: u64) -> String {
        Model::new(2, habits, seed).run(ticks)
    }

    pub(crate) fn with_messaging(habits: Habits, seed: u64, ticks: u64) -> String {
        Model::new(3, habits, seed).run(ticks)
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Bob {
        Home,
        Mine,
        Bank,
        Saloon,
        Stew,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Elsa {
        House,
        Bathroom,
        Cook,
    }

    const BOB: usize = 0;
    const ELSA: usize = 1;
    const HI_HONEY: usize = 0;
    const STEW_READY: usize = 1;

    struct Model {
        program: u8,
        habits: Habits,
        out: String,
        random: u64,
        milliseconds: u32,
        /// Due time, sender, receiver, message.
        queue: Vec<(f64, usize, usize, usize)>,
        bob: Bob,
        bob_before: Bob,
        location: &'static str,
        gold: i32,
        wealth: i32,
        thirst: i32,
        fatigue: i32,
        elsa: Elsa,
        elsa_before: Elsa,
        cooking: bool,
    }

    impl Model {
        fn new(program: u8, habits: Habits, seed: u64) -> Self {
            Self {
                program,
                habits,
                out: String::new(),
                random: seed,
                milliseconds: 0,
                queue: vec![],
                bob: Bob::Home,
                bob_before: Bob::Home,
                location: "shack",
                gold: 0,
                wealth: 0,
                thirst: 0,
                fatigue: 0,
                elsa: Elsa::House,
                elsa_before: Elsa::House,
                cooking: false,
            }
        }

        fn run(mut self, ticks: u64) -> String {
            for _ in 0..ticks {
                self.thirst += 1;
                self.update_bob();
                if self.program >= 2 {
                    self.update_elsa();
                }
                while let Some(&(due, _, to, message)) = self.queue.first().filter(|first| first.0 < self.now()) {
                    assert!(due > 0.0);
                    self.line(&format!(
                        "Queued telegram ready for dispatch: Sent to {}. Msg is {}",
                        name(to),
                        printed(message)
                    ));
                    self.deliver(to, message);
                    self.queue.remove(0);
                }
                self.milliseconds += 800;
            }
            self.out
        }

        fn now(&self) -> f64 {
            f64::from(self.milliseconds) * 0.001
        }

        fn time(&self) -> String {
            let (whole, tenth) = (self.milliseconds / 1000, self.milliseconds % 1000 / 100);
            if tenth == 0 { whole.to_string() } else { format!("{whole}.{tenth}") }
        }

        fn draw(&mut self) -> u32 {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.random / (1 << 32)) as u32
        }

        fn line(&mut self, line: &str) {
            writeln!(self.out, "{line}").unwrap();
        }

        fn bob(&mut self, what: &str) {
            self.line(&format!("Miner Bob: {what}"));
        }

        fn elsa(&mut self, what: &str) {
            self.line(&format!("Elsa: {what}"));
        }

        fn send(&mut self, from: usize, to: usize, message: usize) {
            let time = self.time();
            self.line(&format!(
                "Instant telegram dispatched at time: {time} by {} for {}. Msg is {}",
                name(from),
                name(to),
                printed(message)
            ));
            self.deliver(to, message);
        }

        fn send_later(&mut self, delay: f64, from: usize, to: usize, message: usize) {
            let due = self.now() + delay;
            let refuses = |&(other, sender, receiver, what): &(f64, usize, usize, usize)| {
                let is_same = (sender, receiver, what) == (from, to, message);
                other.total_cmp(&due).is_eq() || is_same && (other - due).abs() < 0.25
            };
            if !self.queue.iter().any(refuses) {
                self.queue.push((due, from, to, message));
                self.queue.sort_by(|a, b| a.0.total_cmp(&b.0));
            }
            let time = self.time();
            self.line(&format!(
                "Delayed telegram from {} recorded at time {time} for {}. Msg is {}",
                name(from),
                name(to),
                printed(message)
            ));
        }

        fn deliver(&mut self, to: usize, message: usize) {
            let is_handled = if to == BOB { self.tell_bob(message) } else { self.tell_elsa(message) };
            if !is_handled {
                assert_eq!(self.out.pop(), Some('\n'));
                self.line("Message not handled");
            }
        }

        fn change_bob(&mut self, to: Bob) {
            self.bob_before = self.bob;
            match self.bob {
                Bob::Mine => self.bob("Ah'm leavin' the goldmine with mah pockets full o' sweet gold"),
                Bob::Bank => self.bob("Leavin' the bank"),
                Bob::Home if self.program < 3 => self.bob("Leaving the house"),
                Bob::Home => {}
                Bob::Saloon => self.bob("Leaving the saloon, feelin' good"),
                Bob::Stew => self.bob("Thankya li'lle lady. Ah better get back to whatever ah wuz doin'"),
            }
            self.bob = to;
            match to {
                Bob::Mine if self.location != "goldmine" => {
                    self.bob("Walkin' to the goldmine");
                    self.location = "goldmine";
                }
                Bob::Bank if self.location != "bank" => {
                    self.bob("Goin' to the bank. Yes siree");
                    self.location = "bank";
                }
                Bob::Home if self.location != "shack" => {
                    self.bob("Walkin' home");
                    self.location = "shack";
                    if self.program == 3 {
                        self.send(BOB, ELSA, HI_HONEY);
                    }
                }
                Bob::Saloon if self.location != "saloon" => {
                    self.location = "saloon";
                    self.bob("Boy, ah sure is thusty! Walking to the saloon");
                }
                Bob::Stew => self.bob("Smells Reaaal goood Elsa!"),
                _ => {}
            }
        }

        fn update_bob(&mut self) {
            match self.bob {
                Bob::Mine => {
                    self.gold += 1;
                    self.fatigue += 1;
                    self.bob("Pickin' up a nugget");
                    if self.gold >= self.habits.pockets {
                        self.change_bob(Bob::Bank);
                    }
                    if self.thirst >= self.habits.thirst {
                        self.change_bob(Bob::Saloon);
                    }
                }
                Bob::Bank => {
                    self.wealth += self.gold;
                    if self.wealth < 0 {
                        self.wealth = 0;
                    }
                    self.gold = 0;
                    self.bob(&format!("Depositing gold. Total savings now: {}", self.wealth));
                    if self.wealth >= self.habits.comfort {
                        self.bob("WooHoo! Rich enough for now. Back home to mah li'lle lady");
                        self.change_bob(Bob::Home);
                    } else {
                        self.change_bob(Bob::Mine);
                    }
                }
                Bob::Home if self.fatigue > self.habits.tired => {
                    self.fatigue -= 1;
                    self.bob("ZZZZ... ");
                }
                Bob::Home => {
                    self.bob(if self.program == 3 {
                        "All mah fatigue has drained away. Time to find more gold!"
                    } else {
                        "What a God darn fantastic nap! Time to find more gold"
                    });
                    self.change_bob(Bob::Mine);
                }
                Bob::Saloon if self.program == 3 || self.thirst >= self.habits.thirst => {
                    self.thirst = 0;
                    self.wealth -= 2;
                    self.bob(if self.program == 1 {
                        "That's mighty fine sippin liquer"
                    } else {
                        "That's mighty fine sippin' liquer"
                    });
                    self.change_bob(Bob::Mine);
                }
                Bob::Saloon => self.line("ERROR!\nERROR!\nERROR!"),
                Bob::Stew => {
                    self.bob("Tastes real good too!");
                    self.change_bob(self.bob_before);
                }
            }
        }

        fn tell_bob(&mut self, message: usize) -> bool {
            let is_handled = self.bob == Bob::Home && message == STEW_READY;
            if is_handled {
                let time = self.time();
                self.line(&format!("Message handled by Miner Bob at time: {time}"));
                self.bob("Okay Hun, ahm a comin'!");
                self.change_bob(Bob::Stew);
            }
            is_handled
        }

        fn change_elsa(&mut self, to: Elsa) {
            self.elsa_before = self.elsa;
            match self.elsa {
                Elsa::House => {}
                Elsa::Bathroom => self.elsa("Leavin' the Jon"),
                Elsa::Cook => self.elsa("Puttin' the stew on the table"),
            }
            self.elsa = to;
            match to {
                Elsa::House if self.program == 3 => self.elsa("Time to do some more housework!"),
                Elsa::Bathroom => self.elsa("Walkin' to the can. Need to powda mah pretty li'lle nose"),
                Elsa::Cook if !self.cooking => {
                    self.elsa("Putting the stew in the oven");
                    self.send_later(1.5, ELSA, ELSA, STEW_READY);
                    self.cooking = true;
                }
                Elsa::House | Elsa::Cook => {}
            }
        }

        fn update_elsa(&mut self) {
            if self.draw() <= 429_496_729 && (self.program < 3 || self.elsa != Elsa::Bathroom) {
                self.change_elsa(Elsa::Bathroom);
            }
            match self.elsa {
                Elsa::House => {
                    let chore = self.draw() % 3;
                    self.elsa(["Moppin' the floor", "Washin' the dishes", "Makin' the bed"][chore as usize]);
                }
                Elsa::Bathroom => {
                    self.elsa("Ahhhhhh! Sweet relief!");
                    self.change_elsa(self.elsa_before);
                }
                Elsa::Cook => self.elsa("Fussin' over food"),
            }
        }

        fn tell_elsa(&mut self, message: usize) -> bool {
            let time = self.time();
            if self.elsa == Elsa::Cook && message == STEW_READY {
                self.line(&format!("Message received by Elsa at time: {time}"));
                self.elsa("StewReady! Lets eat");
                self.send(ELSA, BOB, STEW_READY);
                self.cooking = false;
                self.change_elsa(Elsa::House);
                true
            } else if message == HI_HONEY {
                self.line(&format!("Message handled by Elsa at time: {time}"));
                self.elsa("Hi honey. Let me make you some of mah fine country stew");
                self.change_elsa(Elsa::Cook);
                true
            } else {
                false
            }
        }
    }

    fn name(id: usize) -> &'static str {
        ["Miner Bob", "Elsa"][id]
    }

    fn printed(message: usize) -> &'static str {
        ["Not recognized!", "HiHoneyImHome"][message]
    }
}
