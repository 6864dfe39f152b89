//! The output of the example `enemy`.

use std::ffi::OsString;
use std::io::ErrorKind;

use crate as enemy;
use broken::Broken;

mod broken;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = enemy::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn the_enemy_idles_thinks_wanders_and_gives_chase() {
    assert_eq!(run(""), (0, include_str!("golden/enemy.txt").to_owned(), String::new()));
}

#[test]
fn the_enemy_goes_back_to_what_it_did_before_the_chase() {
    let (_, printed, _) = run("--seed 1");
    let mut states: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    states.dedup();
    assert_eq!(states, ["Idle", "Think", "Idle", "Wander", "Chase", "Wander", "Think", "Idle"]);
}

#[test]
fn the_enemy_ends_when_it_is_told_to() {
    let expected = " 0.0 s  Idle   |            E                           |\n \
                    0.5 s  Idle   |            E                           |\n \
                    1.0 s  Idle   |            E                           |\n";
    assert_eq!(run("--seconds 1 --seed 7"), (0, expected.to_owned(), String::new()));
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = "usage: enemy [--seconds N] [--seed N]\n";
    for (arguments, complaint) in [
        ("--bogus", "enemy: invalid option '--bogus'\n"),
        ("west", "enemy: unexpected argument \"west\"\n"),
        ("--seconds soon", "enemy: cannot parse argument \"soon\": invalid digit found in string\n"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("{complaint}{usage}")));
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("--help"), (0, "usage: enemy [--seconds N] [--seed N]\n".to_owned(), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let mut err = vec![];
    assert_eq!(enemy::answer([], &mut Broken(ErrorKind::BrokenPipe), &mut err), 0);
    assert_eq!(String::from_utf8(err).unwrap(), "");
}

#[test]
fn a_full_disk_is_an_error() {
    let mut err = vec![];
    assert_eq!(enemy::answer([], &mut Broken(ErrorKind::StorageFull), &mut err), 1);
    assert_eq!(String::from_utf8(err).unwrap(), "enemy: no storage space\n");
}
