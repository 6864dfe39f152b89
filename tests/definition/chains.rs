//! States of no length that lead on without end, or further than is carried out at once: found before the game runs.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::definition::{Outline, Proof};

use crate::commented::reported;

/// What is said of a file, a line each.
fn lines(file: &str) -> Vec<String> {
    reported(file, None)
}

/// What a proof finds, a line each.
#[track_caller]
fn proved(file: &str) -> Vec<String> {
    let outlines = Outline::parse_all("a.toml", file, None).expect("nothing is wrong by itself");
    Proof::of(&outlines).findings().iter().map(|finding| finding.problem().to_string()).collect()
}

/// States `s0` to `s` with a number, of which each leads to the next at once, and the last one back after a second.
fn chain(changes: usize, begin: &str, condition: &str) -> String {
    let mut file = format!("initial = '{begin}'\n[states.begin]\nexits = [{{ to = 's0', after = 1 }}]\n");
    for i in 0..changes {
        writeln!(file, "[states.s{i}]\nexits = [{{ to = 's{}', always = true{condition} }}]", i + 1).unwrap();
    }
    writeln!(file, "[states.s{changes}]\nexits = [{{ to = 'begin', after = 1 }}]").unwrap();
    file
}

#[test]
fn more_changes_than_are_carried_out_at_once_are_an_error() {
    assert_eq!(lines(&chain(63, "begin", "")), [""; 0]);
    let told = "a.toml:5:10: error: more than 64 states follow one another within one tick: `s0`, `s1` and so on, to `s64`: \
                after 64 changes a character stays where it is: let one of the states last, without `always`";
    // The change to the first of them counts, too.
    assert_eq!(lines(&chain(64, "begin", "")), [told]);
    // Nobody comes to it by an exit.
    let begun = |changes| {
        chain(changes, "s0", "")
            .replace("to = 's0'", "to = 's3'")
            .replace("[states.begin]", "[states.begin]\nentry = true")
    };
    assert_eq!(lines(&begun(64)), [""; 0]);
    assert_eq!(lines(&begun(65)).len(), 1);
}

#[test]
fn chains_with_one_end_are_told_once() {
    let file = chain(80, "begin", "") + "[states.other]\nentry = true\nexits = [{ to = 's2', always = true }]\n";
    assert_eq!(lines(&file).len(), 1, "{:?}", lines(&file));
}

#[test]
fn a_chain_that_another_exit_may_leave_is_no_error_by_itself() {
    let file = chain(70, "begin", "")
        .replace("exits = [{ to = 's33'", "exits = [{ to = 'begin', always = true, when = 'x' }, { to = 's33'");
    assert_eq!(lines(&file), [""; 0]);
    assert_eq!(
        proved(&file),
        ["more than 64 states follow one another within one tick, from `s0` on, with `x = false`"]
    );
}

#[test]
fn a_chain_in_some_situation_is_proved() {
    assert_eq!(
        proved(&chain(70, "begin", ", when = 'x > 3'")),
        ["more than 64 states follow one another within one tick, from `s0` on, with `x = 4`"]
    );
    assert_eq!(proved(&chain(60, "begin", ", when = 'x > 3'")), [""; 0]);
    // In no situation all of them lead on.
    let file = chain(70, "begin", ", when = 'x > 3'")
        .replace("'s40', always = true, when = 'x > 3'", "'s40', always = true, when = 'x < 3'");
    assert_eq!(proved(&file), [""; 0]);
}

const ENDS_AT_ONCE: &str = "
[machines.guard]
initial = 'patrol'
[machines.guard.states.patrol]
machine = 'round'
exits = [{ to = 'patrol', on = 'done' }]
[machines.round]
initial = 'home'
[machines.round.states.home]
final = true
";

#[test]
fn a_machine_that_ends_at_once_and_begins_again_is_a_circle() {
    assert_eq!(
        lines(ENDS_AT_ONCE),
        ["a.toml:6:10: error: state `patrol` is left as soon as it is entered, and entered again: \
          one exit of the circle needs a `when` that does not always hold"]
    );
    let asks = ENDS_AT_ONCE.replace("on = 'done'", "on = 'done', when = 'brave'");
    assert_eq!(proved(&asks), ["state `patrol.home` leads to itself without end within one tick, with `brave = true`"]);
    let lasts = ENDS_AT_ONCE.replace("'home'\n", "'walk'\nstates.walk.exits = [{ to = 'home', after = 1 }]\n");
    assert_eq!((lines(&lasts), proved(&lasts)), (vec![], vec![]));
}

/// Within a tick a value stays as it is: what leads on is no circle if the value leads out of it.
#[test]
fn a_circle_that_a_condition_leads_out_of_is_left_to_the_proof() {
    let file = "initial = 'plan'\n\
                states.plan.exits = [{ to = 'drive', always = true, when = 'x' }, { to = 'home', always = true }]\n\
                states.home.exits = [{ to = 'drive', always = true, when = 'not x' }, { to = 'plan', always = true }]\n\
                states.drive.exits = [{ to = 'plan', after = 1 }]\n";
    assert_eq!((lines(file), proved(file)), (vec![], vec![]));
    let endless = file.replace("'not x'", "'x'");
    assert_eq!(lines(&endless), [""; 0]);
    assert_eq!(
        proved(&endless),
        ["states `plan` and `home` lead to each other without end within one tick, with `x = false`"]
    );
}
