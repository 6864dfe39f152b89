//! The output of the example `replay`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate as replay;

/// Returns the path of a file for one test, beside the program that runs the tests.
fn report(name: &str) -> PathBuf {
    env::current_exe().unwrap().with_extension("files").join(name)
}

/// Runs the example with a report and a command line. Returns the exit code, the output, and the error output.
fn run(name: &str, arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let report = [OsString::from("--report"), report(name).into()];
    let code =
        replay::answer(report.into_iter().chain(arguments.split_whitespace().map(OsString::from)), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn the_second_run_comes_to_where_the_first_one_ended() {
    for seed in 0..20 {
        let name = format!("{seed}.ron");
        let (code, played, complaints) = run(&name, &format!("--seed {seed} --ticks 300 --guards 30"));
        assert_eq!((code, complaints.as_str()), (0, ""));
        let (_, seen, _) = run(&name, "--to 300");
        let guards = |text: &str| {
            let lines = text.lines().skip_while(|line| !line.starts_with("tick 400 of the game"));
            lines.take(31).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(guards(&played).len(), 31, "{played}");
        assert_eq!(guards(&seen), guards(&played), "with seed {seed}");
    }
}

#[test]
fn a_report_shows_who_is_in_which_state_at_a_tick() {
    let (_, played, _) = run("shown.ron", "--seed 3 --guards 5");
    let last = played.lines().last().unwrap();
    assert_eq!(last, format!("200 ticks with 99 actions: {}", report("shown.ron").display()));
    let expected = include_str!("golden/replay.txt");
    assert_eq!(run("shown.ron", "--to 57"), (0, expected.to_owned(), String::new()));
}

#[test]
fn a_report_that_cannot_be_read_is_an_error_that_says_why() {
    run("whole.ron", "--ticks 20");
    let text = fs::read_to_string(report("whole.ron")).unwrap();
    for (name, text, why) in [
        ("cut.ron", text[..text.len() / 2].to_owned(), "1:"),
        (
            "future.ron",
            text.replacen("version:1", "version:2", 1),
            "1:10-1:11: this is a replay of version 2, and this program knows version 1\n",
        ),
        (
            "strange.ron",
            text.replace("\"Patrol\"", "\"Dance\""),
            "the book does not know the state `Dance`: add each with `StateBook::with_name`, or say with `on_missing` \
             what replaces it\n",
        ),
    ] {
        fs::write(report(name), text).unwrap();
        refuses(name, why);
    }
    refuses("none.ron", "");
}

#[track_caller]
fn refuses(name: &str, why: &str) {
    let (code, printed, complaints) = run(name, "--to 3");
    assert_eq!((code, printed.as_str()), (1, ""));
    assert!(complaints.starts_with(&format!("replay: {}: {why}", report(name).display())), "{complaints}");
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = "usage: replay [--report FILE] [--to TICK | [--guards N] [--ticks N] [--seed N]]\n";
    for (arguments, complaint) in [
        ("--bogus", "replay: invalid option '--bogus'\n"),
        ("--to 3 --seed 4", "replay: with --to, the report says who was there and what was done\n"),
    ] {
        assert_eq!(run("wrong.ron", arguments), (2, String::new(), format!("{complaint}{usage}")));
    }
    assert_eq!(run("wrong.ron", "--help"), (0, usage.to_owned(), String::new()));
}
