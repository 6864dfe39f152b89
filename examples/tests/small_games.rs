//! The output of the small examples, compared as a whole.
#![expect(clippy::duplicate_mod, reason = "each example is a program of its own and includes what they share")]

use std::ffi::OsString;
use std::io::{self, Write};

#[cfg(feature = "definition")]
#[expect(dead_code, reason = "`main` is called by the example only")]
#[path = "../arena/main.rs"]
mod arena;

#[expect(dead_code, reason = "`main` is called by the example only")]
#[path = "../door_and_menu.rs"]
mod door_and_menu;

#[expect(dead_code, reason = "`main` is called by the example only")]
#[path = "../enemy.rs"]
mod enemy;

/// Runs an example with a command line. Returns the exit code, the output, and the error output.
macro_rules! run {
    ($example:ident, $arguments:expr) => {{
        let (mut out, mut err) = (vec![], vec![]);
        let arguments = $arguments.split_whitespace().map(OsString::from);
        let code = $example::answer(arguments, &mut out, &mut err);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }};
}

#[test]
fn the_enemy_idles_thinks_wanders_and_gives_chase() {
    assert_eq!(run!(enemy, ""), (0, include_str!("golden/enemy.txt").to_owned(), String::new()));
}

#[test]
fn the_enemy_goes_back_to_what_it_did_before_the_chase() {
    let (_, printed, _) = run!(enemy, "--seed 1");
    let mut states: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    states.dedup();
    assert_eq!(states, ["Idle", "Think", "Idle", "Wander", "Chase", "Wander", "Think", "Idle"]);
}

#[test]
fn the_enemy_ends_when_it_is_told_to() {
    let expected = " 0.0 s  Idle   |            E                           |\n \
                    0.5 s  Idle   |            E                           |\n \
                    1.0 s  Idle   |            E                           |\n";
    assert_eq!(run!(enemy, "--seconds 1 --seed 7"), (0, expected.to_owned(), String::new()));
}

#[test]
fn the_door_and_the_menu_print_what_comes_of_each_thing_that_happens() {
    assert_eq!(run!(door_and_menu, ""), (0, include_str!("golden/door_and_menu.txt").to_owned(), String::new()));
}

/// Only a part of the output is compared, because it depends on the system's sines.
#[cfg(feature = "definition")]
#[test]
fn the_arena_counts_as_many_deaths_as_there_are_dead() {
    let (code, printed, complaints) = run!(arena, "");
    assert_eq!((code, complaints.as_str()), (0, ""));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 7 * 2 + 2);
    let [.., grunts, snipers, sums] = lines[..] else { panic!("{printed}") };

    let dead_of = |census: &str| -> u32 {
        let states = census.split_once(": ").unwrap().1.split(", ");
        states.filter_map(|state| state.strip_prefix("dead ")).map(|count| count.parse::<u32>().unwrap()).sum()
    };
    let dead = dead_of(grunts) + dead_of(snipers);
    assert!(dead > 0, "{printed}");
    assert!(sums.ends_with(&format!(" damage, {dead} deaths")), "{printed}");
}

#[cfg(feature = "definition")]
#[test]
fn the_arena_counts_no_death_that_a_guard_has_refused() {
    use demeanor::definition::Definition;

    for (guard, deaths) in [("ammo > 100", 0), ("ammo > 0", 1)] {
        let file = format!(
            r#"
            initial = "patrol"
            states.patrol.exits = [{{ to = "dead", on = "hit" }}]
            states.dead = {{ enter_when = "{guard}", exits = [{{ to = "dead", on = "hit" }}] }}
            "#
        );
        let definition = Definition::parse(&file, &arena::vocabulary()).unwrap();
        let mut world = arena::Arena::new(definition.state("dead"));
        let (mut enemy, mut machine) = (arena::Enemy::new([0.0; 2], 1), definition.machine());
        // The second hit reaches a living enemy, or leads from a dead state to a dead state.
        for _ in 0..2 {
            machine.send(&mut enemy, &arena::Told::Hit(5.0), &mut world);
        }
        assert_eq!(world.deaths, deaths, "{guard}");
    }
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = "usage: enemy [--seconds N] [--seed N]\n";
    for (arguments, complaint) in [
        ("--bogus", "enemy: invalid option '--bogus'\n"),
        ("west", "enemy: unexpected argument \"west\"\n"),
        ("--seconds soon", "enemy: cannot parse argument \"soon\": invalid digit found in string\n"),
    ] {
        assert_eq!(run!(enemy, arguments), (2, String::new(), format!("{complaint}{usage}")));
    }

    let usage = "usage: door_and_menu\n";
    for (arguments, complaint) in [
        ("--bogus", "door_and_menu: invalid option '--bogus'\n"),
        ("--bogus=1", "door_and_menu: invalid option '--bogus'\n"),
        ("west", "door_and_menu: unexpected argument \"west\"\n"),
    ] {
        assert_eq!(run!(door_and_menu, arguments), (2, String::new(), format!("{complaint}{usage}")));
    }

    #[cfg(feature = "definition")]
    for (arguments, complaint) in [
        ("--bogus", "arena: invalid option '--bogus'\n"),
        ("west", "arena: unexpected argument \"west\"\n"),
        #[cfg(not(feature = "watch"))]
        ("--watch", "arena: --watch needs `--features watch`\n"),
    ] {
        let usage = "usage: arena [--watch]\n";
        assert_eq!(run!(arena, arguments), (2, String::new(), format!("{complaint}{usage}")));
    }
}

#[test]
fn help_is_the_usage() {
    let usage = "usage: enemy [--seconds N] [--seed N]\n";
    assert_eq!(run!(enemy, "--help"), (0, usage.to_owned(), String::new()));
    assert_eq!(run!(door_and_menu, "-h"), (0, "usage: door_and_menu\n".to_owned(), String::new()));
    #[cfg(feature = "definition")]
    assert_eq!(run!(arena, "--help"), (0, "usage: arena [--watch]\n".to_owned(), String::new()));
}

/// A writer that fails from the first line on.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    macro_rules! answer_to {
        ($example:ident, $reader:expr) => {{
            let mut err = vec![];
            let code = $example::answer([], &mut Broken($reader), &mut err);
            (code, String::from_utf8(err).unwrap())
        }};
    }
    let (closed, full) = (io::ErrorKind::BrokenPipe, io::ErrorKind::StorageFull);
    assert_eq!(answer_to!(enemy, closed), (0, String::new()));
    assert_eq!(answer_to!(enemy, full), (1, "enemy: no storage space\n".to_owned()));
    assert_eq!(answer_to!(door_and_menu, closed), (0, String::new()));
    assert_eq!(answer_to!(door_and_menu, full), (1, "door_and_menu: no storage space\n".to_owned()));
    #[cfg(feature = "definition")]
    {
        assert_eq!(answer_to!(arena, closed), (0, String::new()));
        assert_eq!(answer_to!(arena, full), (1, "arena: no storage space\n".to_owned()));
    }
}
