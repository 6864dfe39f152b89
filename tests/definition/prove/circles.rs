//! States that lead to each other in every tick, or within one.

use std::fmt::Write as _;

use super::{found, proof};
use crate::reports::lines;

/// States in a ring, each of which leads to the next one.
fn ring(count: usize, exit: impl Fn(usize) -> String, last: &str) -> String {
    let mut file = String::from("initial = 's0'\n");
    for i in 0..count {
        let exit = if i + 1 == count { format!("to = 's0'{last}") } else { format!("to = 's{}'{}", i + 1, exit(i)) };
        write!(file, "[states.s{i}]\nexits = [{{ {exit} }}]\n").unwrap();
    }
    file
}

#[test]
fn a_ring_of_any_length_in_one_situation_is_found() {
    for count in [2, 9, 32, 100] {
        let same = ring(count, |_| ", when = 'x'".into(), ", when = 'x'");
        let others = ring(count, |i| format!(", when = 'v{i} > {i}'"), ", when = 'x'");
        for file in [same, others] {
            let proof = proof(&file);
            let [finding] = proof.findings() else { panic!("{count}: {:?}", proof.findings()) };
            assert_eq!(finding.problem().code_name(), "flicker", "{count}");
            let witness = finding.witness().unwrap();
            assert!(witness.changes().len() > count && witness.changes()[count].to == "s1", "{count}");
            assert!(proof.notes().is_empty(), "{count}: {:?}", proof.notes());
        }
        // Where one of them lasts, it is no flicker.
        let lasts = ring(count, |_| ", when = 'x'".into(), ", after = 0.5, when = 'x'");
        assert_eq!(found(&lasts), [""; 0], "{count}");
        // Nor where they do not lead to each other in one situation.
        let apart = ring(count, |_| ", when = 'x'".into(), ", when = 'not x'");
        assert_eq!(found(&apart), [""; 0], "{count}");
    }
    let nine = ring(9, |_| ", when = 'x'".into(), ", when = 'x'");
    assert_eq!(
        proof(&nine).findings()[0].problem().to_string(),
        "states `s0`, `s1`, `s2`, `s3`, `s4`, `s5`, `s6`, `s7` and 1 more lead to each other in every tick, with `x = true`"
    );
}

#[test]
fn a_ring_of_any_length_within_one_tick_is_found() {
    let circle = &["endless-circle"][..];
    // A longer one is not gone round in one tick, but goes on in the next.
    for (count, expected) in [(9, circle), (64, circle), (70, &["too-many-changes", "flicker"])] {
        let file = ring(count, |_| ", always = true, when = 'x'".into(), ", always = true, when = 'x'");
        let proof = proof(&file);
        let codes: Vec<_> = proof.findings().iter().map(|finding| finding.problem().code_name()).collect();
        assert_eq!(codes, expected, "{count}");
    }
}

#[test]
fn more_states_in_a_row_than_a_machine_passes_at_once_are_found() {
    let row = |count: usize, entry: &str| {
        let file = ring(count, |_| ", always = true, when = 'x'".into(), "");
        let (row, _) = file.rsplit_once("exits").unwrap();
        format!("{row}final = true\n{entry}")
    };
    assert_eq!(found(&row(65, "")), [""; 0]);
    let said =
        "3 too-many-changes: more than 64 states follow one another within one tick, from `s0` on, with `x = true`";
    assert_eq!(found(&row(66, "")), [format!("{said} [s0 time,x;0,true; s0>s1 s1>s2 s2>s3 .. s65]")]);
    assert_eq!(found(&row(70, "")), [format!("{said} [s0 time,x;0,true; s0>s1 s1>s2 s2>s3 .. s69]")]);
    // The change that leads there is one of them.
    let entry = "[states.wait]\nentry = true\nexits = [{ to = 's0', when = 'y' }]\n";
    assert_eq!(found(&row(64, entry)), [""; 0]);
    assert_eq!(
        found(&row(65, entry)),
        [
            "134 too-many-changes: more than 64 states follow one another within one tick, from `wait` on, with `x = true`, `y = true` [wait time,x,y;0,true,true; wait>s0 s0>s1 s1>s2 .. s64]"
        ]
    );
}

/// States `s0` to `s` with a number, of which each leads to the next at once, and the last one back after a second.
fn chain(changes: usize, condition: &str) -> String {
    ring(changes + 1, |_| format!(", always = true{condition}"), ", after = 1")
}

#[test]
fn more_changes_than_are_carried_out_at_once_are_an_error() {
    assert_eq!(lines(&chain(63, "")), [""; 0]);
    let told = "a.toml:3:10: error: more than 64 states follow one another within one tick: `s0`, `s1` and so on, to `s64`: \
                after 64 changes a character stays where it is: let one of the states last, without `always`";
    // The change to the first of them counts, too.
    assert_eq!(lines(&chain(64, "")), [told]);
    // No exit leads to the first one.
    let begun = |changes| lines(&chain(changes, "").replace("to = 's0'", "to = 's3'"));
    assert_eq!(begun(64), [""; 0]);
    assert_eq!(begun(65).len(), 1);
    // Two chains with one end.
    let second = chain(80, "") + "[states.other]\nentry = true\nexits = [{ to = 's2', always = true }]\n";
    assert_eq!(lines(&second).len(), 1, "{:?}", lines(&second));
}

#[test]
fn a_chain_that_another_exit_may_leave_is_no_error_by_itself_but_is_proved() {
    let may_leave = chain(70, "").replace("[{ to = 's33'", "[{ to = 'rest', always = true, when = 'x' }, { to = 's33'")
        + "[states.rest]\nexits = [{ to = 's0', after = 1 }]\n";
    assert_eq!(lines(&may_leave), [""; 0]);
    let said = "more than 64 states follow one another within one tick, from `s0` on, with";
    let proved =
        |file: &str| found(file).iter().map(|line| line.split(": ").nth(1).unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(proved(&may_leave).len(), 1);
    assert!(proved(&may_leave)[0].starts_with(&format!("{said} `x = false` [")), "{:?}", proved(&may_leave));
    let asks = chain(70, ", when = 'x > 3'");
    assert!(proved(&asks)[0].starts_with(&format!("{said} `x = 4` [")), "{:?}", proved(&asks));
    // In no situation all of them lead on.
    let parted = asks.replace("'s40', always = true, when = 'x > 3'", "'s40', always = true, when = 'x < 3'");
    assert_eq!(proved(&parted), [""; 0]);
}
