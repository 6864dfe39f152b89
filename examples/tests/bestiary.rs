//! The output of the example `bestiary`.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate as bestiary;
use bestiary::crowd::read_kinds;
use bestiary::game::Game;
use bestiary::report::checksum;
use bestiary::words::vocabulary;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = bestiary::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Returns the output without the last line, which contains the speed.
#[track_caller]
fn tables(arguments: &str) -> String {
    let (code, printed, complaints) = run(arguments);
    assert_eq!((code, complaints.as_str()), (0, ""));
    let (tables, speed) = printed.trim_end().rsplit_once('\n').unwrap();
    assert!(speed.ends_with(" ticks per second"), "{speed}");
    format!("{tables}\n")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bestiary")
}

fn file() -> PathBuf {
    folder().join("bestiary.fsm.toml")
}

fn game(creatures: usize, seed: u64, is_batched: bool) -> Game {
    Game::new(read_kinds(&file(), &vocabulary()).unwrap(), creatures, seed, is_batched)
}

/// Returns a changed copy of the file and its scripts, in a folder for one test.
fn changed(name: &str, change: impl FnOnce(String) -> String) -> PathBuf {
    let copy = env::current_exe().unwrap().with_extension("files").join(name);
    fs::create_dir_all(&copy).unwrap();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rhai") {
            fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
    }
    let copy = copy.join("bestiary.fsm.toml");
    fs::write(&copy, change(fs::read_to_string(file()).unwrap())).unwrap();
    copy
}

#[test]
fn the_bestiary_prints_what_has_become_of_each_kind() {
    assert_eq!(tables("--creatures 300 --ticks 1800 --seed 1"), include_str!("golden/bestiary.txt"));
}

#[test]
fn the_bestiary_does_the_same_in_batches_and_with_a_machine_for_each_creature() {
    for seed in [2, 3] {
        let (mut batches, mut machines) = (game(200, seed, true), game(200, seed, false));
        for tick in 1..=600 {
            batches.tick();
            machines.tick();
            assert_eq!(checksum(&batches), checksum(&machines), "seed {seed}, tick {tick}");
        }
    }
    let arguments = "--creatures 100 --ticks 300 --seed 4";
    assert_eq!(tables(arguments), tables(&format!("{arguments} --machines")));
}

#[test]
fn another_seed_is_another_fight() {
    let checksums: BTreeSet<u64> = (0..4)
        .map(|seed| {
            let mut game = game(60, seed, true);
            (0..60).for_each(|_| game.tick());
            checksum(&game)
        })
        .collect();
    assert_eq!(checksums.len(), 4);
}

#[test]
fn nothing_is_to_be_warned_of_in_the_bestiary() {
    let kinds = read_kinds(&file(), &vocabulary()).unwrap();
    let names: Vec<_> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let expected = [
        "warden",
        "slinger",
        "gargoyle",
        "censer",
        "gravewright",
        "mudling",
        "spitjaw",
        "lurker",
        "ram beetle",
        "broodmother",
    ];
    assert_eq!(names, expected);
    for kind in &kinds {
        assert_eq!(kind.definition.warnings(), [], "{}", kind.name);
    }
}

#[test]
fn the_words_for_the_tool_are_those_of_the_program() {
    let (code, words, complaints) = run("--words");
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert!(words == include_str!("../bestiary/words.json"), "write words.json again, with --words");
}

/// The code does not know this kind.
#[test]
fn a_new_kind_needs_nothing_but_the_file() {
    let file = changed("hound", |text| {
        text + r#"
            [machines.hound]
            like = "vermin"
            [machines.hound.states.spawn]
            behavior = { name = "body", side = "abbey", common = 2, health = 30, power = 5, speed = 6, sight = 20, courage = 50 }
        "#
    });
    let printed = tables(&format!("{} --creatures 44 --ticks 10", file.display()));
    assert!(printed.starts_with("44 creatures of 11 kinds"), "{printed}");
    let hound: Vec<_> = printed.lines().filter(|line| line.starts_with("hound")).take(1).collect();
    assert_eq!(hound[0].split_whitespace().collect::<Vec<_>>(), ["hound", "abbey", "2", "2", "0", "0", "0", "0"]);
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_what_is_wrong() {
    let (code, printed, complaints) = run("nowhere/bestiary.fsm.toml");
    assert_eq!((code, printed.as_str()), (1, ""));
    assert!(complaints.starts_with("bestiary: nowhere/bestiary.fsm.toml"), "{complaints}");

    let file = changed("wrong", |text| text.replacen("enemy_visible", "enemy_visibel", 1));
    let (code, printed, complaints) = run(&file.display().to_string());
    assert_eq!((code, printed.as_str()), (1, ""));
    assert!(complaints.contains("unknown value `enemy_visibel`: did you mean `enemy_visible`?"), "{complaints}");
}

#[test]
fn nobody_and_no_time_make_tables_too() {
    assert!(tables("--creatures 0 --ticks 5").starts_with("0 creatures of 10 kinds"));
    assert!(tables("--creatures 10 --ticks 0").starts_with("10 creatures of 10 kinds"));
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = bestiary::USAGE;
    for (arguments, complaint) in [
        ("--bogus", "invalid option '--bogus'"),
        ("--ticks soon", "cannot parse argument \"soon\": invalid digit found in string"),
        #[cfg(not(feature = "watch"))]
        ("--watch", "--watch needs `--features watch`"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("bestiary: {complaint}\n{usage}\n")));
    }
    assert_eq!(run("--help"), (0, format!("{usage}\n"), String::new()));
}
