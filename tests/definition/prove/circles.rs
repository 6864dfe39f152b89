//! States that lead to each other in every tick, or within one.

use std::fmt::Write as _;

use demeanor::Owner;
use demeanor::definition::{Definition, Vocabulary};

use super::{found, proof};
use crate::reports::lines;

struct Runner;

impl Owner for Runner {
    type Context<'a> = ();
    type Message = ();
}

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
    for count in [9, 64] {
        let file = ring(count, |_| ", always = true, when = 'x'".into(), ", always = true, when = 'x'");
        let proof = proof(&file);
        let codes: Vec<_> = proof.findings().iter().map(|finding| finding.problem().code_name()).collect();
        assert_eq!(codes, ["endless-circle"], "{count}");
    }
}

#[test]
fn a_long_row_of_states_within_one_tick_is_no_circle() {
    for count in [64, 66] {
        let file = ring(count, |_| ", always = true, when = 'x'".into(), "");
        let (row, _) = file.rsplit_once("exits").unwrap();
        assert_eq!(found(&format!("{row}final = true\n")), [""; 0], "{count}");
    }
}

/// States `s0` to `s` with a number, of which each leads to the next at once, and the last one back after a second.
fn chain(changes: usize, condition: &str) -> String {
    ring(changes + 1, |_| format!(", always = true{condition}"), ", after = 1")
}

#[test]
fn more_changes_than_are_carried_out_at_once_are_an_error() {
    assert_eq!(lines(&chain(3999, "")), [""; 0]);
    let told = "a.toml:3:10: error: more than 4000 states follow one another within one tick: `s0`, `s1` and so on, to `s4000`: \
                after 4000 changes a character stays where it is: let one of the states last, without `always`";
    // The change to the first of them counts, too.
    assert_eq!(lines(&chain(4000, "")), [told]);
    // No exit leads to the first one.
    let begun = |changes| lines(&chain(changes, "").replace("to = 's0'", "to = 's3'"));
    assert_eq!(begun(4000), [""; 0]);
    assert_eq!(begun(4001).len(), 1);
    // Two chains with one end.
    let second = chain(4010, "") + "[states.other]\nentry = true\nexits = [{ to = 's2', always = true }]\n";
    assert_eq!(lines(&second).len(), 1, "{:?}", lines(&second));
    // Another exit may leave the chain.
    let may_leave = chain(4010, "")
        .replace("[{ to = 's33'", "[{ to = 'rest', always = true, when = 'x' }, { to = 's33'")
        + "[states.rest]\nexits = [{ to = 's0', after = 1 }]\n";
    assert_eq!(lines(&may_leave), [""; 0]);
}

/// The limit of the check is the limit of the machine (rule 13).
#[test]
fn a_chain_as_long_as_the_check_allows_comes_to_its_end() {
    for (changes, end) in [(3998, "s3998"), (4000, "s3999")] {
        let file = chain(changes, ", when = 'x'");
        let vocabulary = Vocabulary::<Runner>::new().flag("x", |_, ()| true);
        let definition = Definition::parse(&format!("{file}[states.rest]\nentry = true\n"), &vocabulary).unwrap();
        let mut machine = definition.machine();
        machine.change_state(&mut Runner, definition.state("s0").unwrap(), &mut ());
        assert_eq!(machine.current().unwrap().name(), end);
    }
}
