//! The nation has the same last line and the same picture on any number of processes.

use std::fs;
use std::process::Command;

/// Runs the nation for a short time. Returns its last line and its picture.
fn run(args: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("nation.svg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nation"));
    command.args(["--villagers", "600", "--villages", "16", "--days", "150", "--picture"]).arg(&picture).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), fs::read_to_string(picture).unwrap())
}

#[test]
fn the_nation_is_the_same_on_any_number_of_processes_and_threads() {
    let alone = run(&[]);
    assert!(alone.0.starts_with("day 150: "), "{}", alone.0);
    assert!(alone.1.starts_with("<svg"), "{}", alone.1);
    for args in [&["-w", "3"][..], &["--local", "2"], &["--local", "3", "-w", "2"]] {
        assert_eq!(run(args), alone, "{args:?}");
    }
}

#[test]
fn a_damaged_checkpoint_is_refused_and_one_that_is_whole_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let nation = |days: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nation"));
        command.args(["--villagers", "60", "--villages", "8", "--days", days, "--checkpoints"]).arg(folder.path());
        command.args(args).output().unwrap()
    };
    assert!(nation("100", &[]).status.success());
    let manifest = folder.path().join("tick-000000000100/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let with = |text: &str| {
        fs::write(&manifest, text).unwrap();
        let output = nation("110", &["--resume"]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let changed = "the file has changed since it was written: its digest is different";
    let expected = format!("error: cannot resume: {}: {changed}\n", manifest.display());
    let damaged = with(&text.replace("\"ticks\": 100", "\"ticks\": 108"));
    assert_eq!(damaged, (Some(1), expected, String::new()));
    let alone = Command::new(env!("CARGO_BIN_EXE_nation"))
        .args(["--villagers", "60", "--villages", "8", "--days", "110"])
        .output()
        .unwrap();
    let (code, _, said) = with(&text);
    assert_eq!((code, said), (Some(0), String::from_utf8(alone.stdout).unwrap()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_picture_that_cannot_be_written_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_nation"))
        .args(["--villagers", "60", "--villages", "8", "--days", "2", "--picture", "/dev/full"])
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    // On a slow machine it may have printed its progress before.
    assert!(error.ends_with("error: /dev/full: No space left on device (os error 28)\n"), "{error}");
}

#[test]
fn what_is_wrong_is_said() {
    let error = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_nation")).args(args).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(error(&["--days", "many"]), "error: --days many: invalid digit found in string\n");
    assert_eq!(error(&["--villages", "3"]), "error: --villages 3: there are 8 regions, each with a village at least\n",);
    assert_eq!(error(&["--bogus"]), "error: invalid option '--bogus'\n");
    assert_eq!(error(&["--picture"]), "error: missing argument for option '--picture'\n");
    assert_eq!(error(&["--local", "0"]), "error: a world needs at least 1 process\n");
    assert_eq!(error(&["--days", "0"]), "error: the world runs for 0 ticks: it needs at least 1\n");
}
