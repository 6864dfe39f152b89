//! What the examples print, as a whole.

use std::ffi::OsString;

#[expect(dead_code, reason = "`main` is called by the example only")]
#[path = "../examples/door_and_menu.rs"]
mod door_and_menu;

#[expect(dead_code, reason = "`main` is called by the example only")]
#[path = "../examples/enemy.rs"]
mod enemy;

/// Runs an example on a command line. Returns the exit code, what it printed, and what it complained of.
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
}

#[test]
fn help_is_the_usage() {
    let usage = "usage: enemy [--seconds N] [--seed N]\n";
    assert_eq!(run!(enemy, "--help"), (0, usage.to_owned(), String::new()));
    assert_eq!(run!(door_and_menu, "-h"), (0, "usage: door_and_menu\n".to_owned(), String::new()));
}
