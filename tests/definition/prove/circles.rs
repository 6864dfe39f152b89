//! States that lead to each other in every tick, or within one.

use std::fmt::Write as _;

use super::{assert_found, found, proof};

#[test]
fn states_that_lead_to_each_other_in_one_situation_are_found() {
    assert_found(
        "
        initial = 'rest'
        states.rest.exits = [{ to = 'fight', when = 'health > 20' }]
        #^ 22 flicker: states `rest` and `fight` lead to each other in every tick, with `health = 35` [rest time,health;0,35; rest>fight fight>rest rest>fight .. fight]
        states.fight.exits = [{ to = 'rest', when = 'health < 50' }]

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x and health > 3' }]
        #^ 19 flicker: states `a`, `b` and `c` lead to each other in every tick, with `health = 4`, `x = true` [a time,health,x;0,4,true; a>b b>c c>a .. a]
        states.b.exits = [{ to = 'c', when = 'health < 9' }]
        states.c.exits = [{ to = 'a', when = 'health != 5' }]

        initial = 'a'
        global = 'g'
        states.g.exits = [{ to = 'b', when = 'x' }]
        #^ 19 flicker: states `a` and `b` lead to each other in every tick, with `x = true` [a time,x;0,true; a>b b>a a>b .. a]
        states.a.exits = [{ to = 'c', when = 'y' }]
        states.b.exits = [{ to = 'a', when = 'x' }]
        states.c.final = true
        ",
    );
}

#[test]
fn states_that_lead_to_each_other_by_one_that_is_left_as_it_is_entered_are_found() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x' }]
        #^ 19 flicker: states `a` and `b` lead to each other in every tick, with `health = 0`, `x = true` [a time,health,x;0,0,true; a>b b>a a>b .. a]
        states.b.exits = [{ to = 'a', always = true, when = 'health < 50' }]

        # Where the parent leads out as it is entered, it is left before its child is tried.
        initial = 'a'
        states.a.exits = [{ to = 'p', when = 'x' }]
        states.p.initial = 'b'
        states.p.exits = [{ to = 'c', always = true, when = 'x' }]
        states.b.parent = 'p'
        states.b.exits = [{ to = 'a', when = 'y' }]
        #^ 19 never-taken: this exit is never taken: an earlier exit, such as the one of `p` to `c`, is taken whenever this condition holds [b time,x,y;0,true,true; b>c c]
        states.c.final = true
        ",
    );
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

#[test]
fn states_of_no_length_that_lead_to_each_other_are_an_error() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', always = true, when = 'x' }]
        #^ 19 endless-circle: states `a` and `b` lead to each other without end within one tick, with `x = true` [a time,x;0,true; a>b b>a a>b .. a]
        states.b.exits = [{ to = 'a', always = true, when = 'x' }]

        initial = 'a'
        states.a.exits = [{ to = 'a', always = true, when = 'x' }, { to = 'b', when = 'y' }]
        #^ 19 endless-circle: state `a` leads to itself without end within one tick, with `x = true` [a time,x;0,true; a>a a>a a>a .. a]
        states.b.final = true
        ",
    );
}

#[test]
fn states_that_lead_to_each_other_beside_a_circle_within_a_tick_are_found() {
    assert_found(
        "
        initial = 'a'
        global = 'g'
        states.g.exits = [{ to = 'b', when = 'x' }, { to = 'a' }]
        #^ 19 flicker: states `a` and `b` lead to each other in every tick, with `x = true` [a time,x;0,true; a>a a>a a>a .. b]
        states.a.exits = [{ to = 'a', always = true, when = 'x' }]
        #^ 19 endless-circle: state `a` leads to itself without end within one tick, with `x = true` [a time,x;0,true; a>a a>a a>a .. b]
        states.b = {}
        ",
    );
}
