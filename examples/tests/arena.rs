//! The output of the example `arena`.

use std::ffi::OsString;
use std::io::ErrorKind;

use crate as arena;
use demeanor::definition::Definition;

use broken::Broken;

mod broken;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = arena::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Only a part of the output is compared, because it depends on the system's sines.
#[test]
fn the_arena_counts_as_many_deaths_as_there_are_dead() {
    let (code, printed, complaints) = run("");
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

#[test]
fn the_arena_counts_no_death_that_a_guard_has_refused() {
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
    let usage = "usage: arena [--watch]\n";
    for (arguments, complaint) in [
        ("--bogus", "arena: invalid option '--bogus'\n"),
        ("west", "arena: unexpected argument \"west\"\n"),
        #[cfg(not(feature = "watch"))]
        ("--watch", "arena: --watch needs `--features watch`\n"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("{complaint}{usage}")));
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("--help"), (0, "usage: arena [--watch]\n".to_owned(), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let mut err = vec![];
    assert_eq!(arena::answer([], &mut Broken(ErrorKind::BrokenPipe), &mut err), 0);
    assert_eq!(String::from_utf8(err).unwrap(), "");
}

#[test]
fn a_full_disk_is_an_error() {
    let mut err = vec![];
    assert_eq!(arena::answer([], &mut Broken(ErrorKind::StorageFull), &mut err), 1);
    assert_eq!(String::from_utf8(err).unwrap(), "arena: no storage space\n");
}
