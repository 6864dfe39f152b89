//! The output of the example `flock`.

use std::ffi::OsString;
use std::io::ErrorKind;

use crate as flock;
use broken::Broken;

mod broken;

const USAGE: &str = "usage: flock [--birds N] [--ticks N]";

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = flock::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn a_bulk_update_ends_where_single_ones_do() {
    // The example itself compares the flocks; 1000 birds are some blocks and a remainder.
    let (code, printed, complaints) = run("--birds 1000 --ticks 40");
    assert_eq!((code, complaints.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = printed.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    let column = |number: usize| rows.iter().map(|row| row[number]).collect::<Vec<_>>();
    assert_eq!(column(0), ["1", "4", "16", "64"]);
    assert_eq!(column(4), ["14", "21", "38", "54"]);
}

#[test]
fn a_flock_of_nobody_flies() {
    assert_eq!(run("--birds 0 --ticks 1").0, 0);
    assert_eq!(run("--birds 3 --ticks 0").0, 0);
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    for (arguments, complaint) in [
        ("--bogus", "invalid option '--bogus'"),
        ("--birds many", "cannot parse argument \"many\": invalid digit found in string"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("flock: {complaint}\n{USAGE}\n")));
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("-h"), (0, format!("{USAGE}\n"), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let (arguments, mut err) = (["--birds", "1", "--ticks", "1"].map(OsString::from), vec![]);
    assert_eq!(flock::answer(arguments, &mut Broken(ErrorKind::BrokenPipe), &mut err), 0);
    assert_eq!(err, b"");
}
