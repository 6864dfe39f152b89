//! The output of the example `door_and_menu`.

use std::ffi::OsString;
use std::io::ErrorKind;

use crate as door_and_menu;
use broken::Broken;

mod broken;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = door_and_menu::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn the_door_and_the_menu_print_what_comes_of_each_thing_that_happens() {
    assert_eq!(run(""), (0, include_str!("golden/door_and_menu.txt").to_owned(), String::new()));
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = "usage: door_and_menu\n";
    for (arguments, complaint) in [
        ("--bogus", "door_and_menu: invalid option '--bogus'\n"),
        ("--bogus=1", "door_and_menu: invalid option '--bogus'\n"),
        ("west", "door_and_menu: unexpected argument \"west\"\n"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("{complaint}{usage}")));
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("-h"), (0, "usage: door_and_menu\n".to_owned(), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let mut err = vec![];
    assert_eq!(door_and_menu::answer([], &mut Broken(ErrorKind::BrokenPipe), &mut err), 0);
    assert_eq!(String::from_utf8(err).unwrap(), "");
}

#[test]
fn a_full_disk_is_an_error() {
    let mut err = vec![];
    assert_eq!(door_and_menu::answer([], &mut Broken(ErrorKind::StorageFull), &mut err), 1);
    assert_eq!(String::from_utf8(err).unwrap(), "door_and_menu: no storage space\n");
}
