//! What is proved of definitions over all situations: each fault is found, and shown; what is right is not found fault with.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::definition::{Finding, Outline, Proof};

fn proof(file: &str) -> Proof {
    Proof::of(&Outline::parse_all("guard.toml", file, None).unwrap())
}

/// The findings of a file: line, code, what it says, and the changes that the witness leads to.
fn found(file: &str) -> Vec<String> {
    proof(file).findings().iter().map(said).collect()
}

fn said(finding: &Finding) -> String {
    let problem = finding.problem();
    let mut said = format!("{} {}: {problem}", problem.line(), problem.code_name());
    if let Some(witness) = finding.witness() {
        let table = witness.to_csv().replace('\n', ";");
        let changes: Vec<_> =
            witness.changes().iter().map(|change| format!(" {}>{}", change.from, change.to)).collect();
        let changes = if changes.len() > 3 { changes[..3].concat() + " .." } else { changes.concat() };
        write!(said, " [{} {table}{changes} {}]", witness.from().unwrap_or("-"), witness.end()).unwrap();
    }
    said
}

#[test]
fn a_condition_whose_parts_exclude_each_other_is_found() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health < 20 and x and health > 50' }, { to = 'c', when = 'x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 contradiction: this condition never holds [a time,health,x;0,0,false; a]",
            "5 unreachable: state `b` can never be reached [a time;0; a]",
        ]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and (health < 2 and health >= 2 or y)' }]
        [states.b]
        final = true
    ";
    assert_eq!(found(file), ["4 contradiction: a part of this condition never holds: `health < 2 and health >= 2`",]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'ammo < armor and ammo > armor' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
    ";
    assert_eq!(found(file), ["4 contradiction: this condition never holds [a time;0; a]",]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health * 2 > 10 and health <= 5' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
    ";
    assert_eq!(found(file), ["4 contradiction: this condition never holds [a time,health,x;0,6,false; a]",]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'in(b) and not in(b)' }, { to = 'b', when = 'time_in_state > 3 and time_in_state < 2' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 contradiction: this condition never holds [a time,x;0,false; a]",
            "4 contradiction: this condition never holds [a time,x;0,false; a]",
        ]
    );
}

#[test]
fn an_entry_condition_that_never_holds_is_found() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x' }, { to = 'c', when = 'not x' }]
        [states.b]
        enter_when = 'health > 30 and health < 20'
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "5 unreachable: state `b` can never be reached [a time,x;0,true; a]",
            "6 guard-never-holds: state `b` can never be entered: its `enter_when` never holds [a time,health,x;0,0,true; a]",
        ]
    );
}

#[test]
fn an_exit_that_is_never_taken_is_found_with_the_one_before_it() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health < 20' }, { to = 'c', when = 'health < 10 and x' }, { to = 'c', when = 'x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,health,x;0,0,true; a>b b]",
        ]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health < 20' }, { to = 'b', when = 'health >= 10' }, { to = 'c', when = 'health == 15 or health > 30' }, { to = 'c' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,health;0,31; a>b b]",
        ]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', on = 'hit', when = 'message.damage > 3' }, { to = 'c', on = 'hit', when = 'message.damage > 5' }, { to = 'c', on = 'fall' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,message;0,hit(damage=6); a>b b]",
        ]
    );
    let file = "
        initial = 'p'
        [states.p]
        initial = 'a'
        exits = [{ to = 'b', after = 5 }]
        [states.a]
        parent = 'p'
        exits = [{ to = 'c', after = 10 }, { to = 'c', when = 'x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "8 never-taken: this exit is never taken: an earlier exit of `p`, to `b`, is taken whenever this condition holds [a time,x;0,false;10,; a>b b]",
        ]
    );
    let file = "
        initial = 'a'
        global = 'g'
        [states.g]
        exits = [{ to = 'b', when = 'health <= 0' }]
        [states.a]
        exits = [{ to = 'c', when = 'health < 0' }, { to = 'c', when = 'x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "7 never-taken: this exit is never taken: an earlier exit of `g`, to `b`, is taken whenever this condition holds [a time,health;0,-1; a>b b]",
        ]
    );
}

#[test]
fn an_exit_whose_target_cannot_be_entered_then_is_found() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health < 20' }, { to = 'b', when = 'x' }]
        [states.b]
        enter_when = 'health > 30'
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 never-taken: this exit is never taken: `b` cannot be entered while its condition holds [a time,health;0,0; a]",
        ]
    );
}

#[test]
fn an_exit_that_leads_nowhere_else_is_found() {
    let file = "
        initial = 'p'
        [states.p]
        initial = 'a'
        exits = [{ to = 'a', when = 'x' }, { to = 'b', when = 'y' }]
        [states.a]
        parent = 'p'
        [states.b]
        final = true
    ";
    assert_eq!(
        found(file),
        ["5 never-taken: this exit is never taken: `a` is active already wherever it is tried [a time,x;0,true; a]",]
    );
    let file = "
        initial = 'p'
        [states.p]
        initial = 'a'
        exits = [{ to = 'b', when = 'x' }]
        [states.a]
        parent = 'p'
        final = true
        [states.b]
        final = true
        [states.c]
        entry = true
        exits = [{ to = 'b', when = 'y' }]
    ";
    assert_eq!(
        found(file),
        ["5 never-taken: this exit is never taken: `a` is final, and the exit is not its own [a time,x;0,true; a]",]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'in(c)' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
        [states.c]
        entry = true
        exits = [{ to = 'b', when = 'y' }]
    ";
    assert_eq!(
        found(file),
        ["4 never-taken: this exit is never taken: its condition does not hold while `a` is active [a time;0; a]",]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', always = true, when = 'x' }, { to = 'c', always = true, when = 'not x' }, { to = 'c', when = 'y' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 never-taken: this exit is never taken: an earlier exit, such as the one to `b`, is taken whenever this condition holds [a time,x,y;0,true,true; a>b b]",
        ]
    );
}

#[test]
fn a_state_that_no_situation_reaches_is_found() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x' }, { to = 'c', when = 'x and y' }]
        [states.b]
        final = true
        [states.c]
        exits = [{ to = 'd', when = 'x' }]
        [states.d]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,x,y;0,true,true; a>b b]",
            "7 unreachable: state `c` can never be reached [a time,x,y;0,true,true; a>b b]",
            "9 unreachable: state `d` can never be reached [- time; a]",
        ]
    );
}

#[test]
fn states_that_lead_to_each_other_in_one_situation_are_found() {
    let file = "
        initial = 'rest'
        [states.rest]
        exits = [{ to = 'fight', when = 'health > 20' }]
        [states.fight]
        exits = [{ to = 'rest', when = 'health < 50' }]
    ";
    assert_eq!(
        found(file),
        [
            "4 flicker: states `rest` and `fight` lead to each other in every tick, with `health = 35` [rest time,health;0,35; rest>fight fight>rest rest>fight .. fight]",
        ]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and health > 3' }]
        [states.b]
        exits = [{ to = 'c', when = 'health < 9' }]
        [states.c]
        exits = [{ to = 'a', when = 'health != 5' }]
    ";
    assert_eq!(
        found(file),
        [
            "4 flicker: states `a`, `b` and `c` lead to each other in every tick, with `health = 4`, `x = true` [a time,health,x;0,4,true; a>b b>c c>a .. a]",
        ]
    );
    let file = "
        initial = 'a'
        global = 'g'
        [states.g]
        exits = [{ to = 'b', when = 'x' }]
        [states.a]
        exits = [{ to = 'c', when = 'y' }]
        [states.b]
        exits = [{ to = 'a', when = 'x' }]
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "5 flicker: states `a` and `b` lead to each other in every tick, with `x = true` [a time,x;0,true; a>b b>a a>b .. a]",
        ]
    );
}

#[test]
fn states_that_lead_to_each_other_by_one_that_is_left_as_it_is_entered_are_found() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x' }]
        [states.b]
        exits = [{ to = 'a', always = true, when = 'health < 50' }]
    ";
    assert_eq!(
        found(file),
        [
            "4 flicker: states `a` and `b` lead to each other in every tick, with `health = 0`, `x = true` [a time,health,x;0,0,true; a>b b>a a>b .. a]",
        ]
    );
    // Where the parent leads out as it is entered, it is left before its child is tried.
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'p', when = 'x' }]
        [states.p]
        initial = 'b'
        exits = [{ to = 'c', always = true, when = 'x' }]
        [states.b]
        parent = 'p'
        exits = [{ to = 'a', when = 'y' }]
        [states.c]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "10 never-taken: this exit is never taken: an earlier exit, such as the one of `p` to `c`, is taken whenever this condition holds [b time,x,y;0,true,true; b>c c]"
        ]
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
    for (count, expected) in [(9, circle), (64, circle), (100, &["too-many-changes", "flicker"])] {
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
    assert_eq!(found(&row(80, "")), [format!("{said} [s0 time,x;0,true; s0>s1 s1>s2 s2>s3 .. s79]")]);
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
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', always = true, when = 'x' }]
        [states.b]
        exits = [{ to = 'a', always = true, when = 'x' }]
    ";
    assert_eq!(
        found(file),
        [
            "4 endless-circle: states `a` and `b` lead to each other without end within one tick, with `x = true` [a time,x;0,true; a>b b>a a>b .. a]",
        ]
    );
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'a', always = true, when = 'x' }, { to = 'b', when = 'y' }]
        [states.b]
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "4 endless-circle: state `a` leads to itself without end within one tick, with `x = true` [a time,x;0,true; a>a a>a a>a .. a]",
        ]
    );
}

#[test]
fn states_that_lead_to_each_other_beside_a_circle_within_a_tick_are_found() {
    let file = "
        initial = 'a'
        global = 'g'
        [states.g]
        exits = [{ to = 'b', when = 'x' }, { to = 'a' }]
        [states.a]
        exits = [{ to = 'a', always = true, when = 'x' }]
        [states.b]
    ";
    assert_eq!(
        found(file),
        [
            "5 flicker: states `a` and `b` lead to each other in every tick, with `x = true` [a time,x;0,true; a>a a>a a>a .. b]",
            "7 endless-circle: state `a` leads to itself without end within one tick, with `x = true` [a time,x;0,true; a>a a>a a>a .. b]",
        ]
    );
}

#[test]
fn a_state_that_cannot_be_left_any_more_is_found() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and time_in_state < 3' }]
        [states.b]
        final = true
    ";
    assert_eq!(found(file), ["3 no-way-out: state `a` has no way out after 3 s in it [a time,x;0,false; a]",]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and not x' }]
        [states.b]
        entry = true
        final = true
    ";
    assert_eq!(
        found(file),
        [
            "3 no-way-out: state `a` has no way out [a time,x;0,false; a]",
            "4 contradiction: this condition never holds [a time,x;0,true; a]",
        ]
    );
    let file = "
        initial = 'p'
        [states.p]
        initial = 'a'
        exits = [{ to = 'c', when = 'x and time_in(p) <= 2' }]
        [states.a]
        parent = 'p'
        exits = [{ to = 'b', when = 'y and time_in_state < 1' }]
        [states.b]
        parent = 'p'
        exits = [{ to = 'a', when = 'x' }]
        [states.c]
        final = true
    ";
    assert_eq!(found(file), ["6 no-way-out: state `a` has no way out after 2 s in it [a time,x,y;0,false,false; a]",]);
}

#[test]
fn what_is_right_is_not_found_fault_with() {
    let file = "
        initial = 'rest'
        [states.rest]
        exits = [{ to = 'fight', when = 'health > 50' }]
        [states.fight]
        exits = [{ to = 'rest', when = 'health < 20' }]
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', after = 1 }]
        [states.b]
        exits = [{ to = 'a', after = 1 }]
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'd < 5' }, { to = 'b', when = 'd >= 5' }, { to = 'c' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'chance(0.5)' }, { to = 'c', when = 'chance(0.5)' }]
        [states.b]
        exits = [{ to = 'a', when = 'chance(0.5)' }]
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'ammo < armor' }, { to = 'c', when = 'ammo < 5 and x' }]
        [states.b]
        exits = [{ to = 'a', when = 'ammo < armor' }]
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
}

#[test]
fn what_may_be_either_is_not_found_fault_with() {
    let file = "
        initial = 'a'
        [states.a]
        every = 1
        exits = [{ to = 'b', when = 'x' }]
        [states.b]
        every = 2
        exits = [{ to = 'a', when = 'x' }]
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'p'
        [states.p]
        every = 1
        initial = 'a'
        exits = [{ to = 'b', when = 'x' }]
        [states.a]
        parent = 'p'
        exits = [{ to = 'c', when = 'x and y' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b',after = '1 s .. 4 s' }, { to = 'c', after = 2, when = 'x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b',after = 'patience' }, { to = 'c', after = 200 }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x' }, { to = 'c', always = true, when = 'x and y' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        behavior={name = 'walk',then = 'c' }
        exits = [{ to = 'b', when = 'time_in_state < 1 and x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when={script = 'low.rhai' }}, { to = 'c', when = 'x' }]
        [states.b]
        exits = [{ to = 'a', when={script = 'low.rhai' }}]
        [states.c]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
}

#[test]
fn what_may_be_either_is_said_once() {
    let file = "
        initial = 'a'
        [states.a]
        behavior = 'walk'
        exits = [
            { to = 'b', when = 'ammo < armor and chance(0.5)' },
            { to = 'b', when = 'ammo < armor or ammo < armor' },
            { to = 'b', after = '1 s .. 2 s', when = { script = 'low.rhai' } },
        ]
        [states.b]
        final = true
    ";
    assert_eq!(
        proof(file).notes(),
        [
            "not decided: `ammo < armor`",
            "not decided: chances, results of scripts, durations that are random or values of the game",
            "assumed: behaviors request changes only to states that their parameters name",
        ]
    );
    assert!(proof("initial = 'a'\n[states.a]\nfinal = true\n").notes().is_empty());
}

#[test]
fn what_is_so_only_while_no_behavior_refuses_a_change_is_assumed() {
    let assumed = |file: &str| -> Vec<_> {
        let proof = proof(file);
        let said = |finding: &Finding| (finding.problem().code_name().to_owned(), finding.is_assumed());
        proof.findings().iter().map(said).collect()
    };
    let file = |behavior: &str| {
        format!(
            "
            initial = 'a'
            [states.a]
            {behavior}
            exits = [{{ to = 'b', when = 'x' }}, {{ to = 'c', when = 'x' }}, {{ to = 'b', when = 'y and not y' }}]
            [states.b]
            exits = [{{ to = 'a', when = 'x' }}]
            [states.c]
            exits = [{{ to = 'a', when = 'x' }}]
            "
        )
    };
    let found = |is_assumed: bool| {
        let found = [("flicker", is_assumed), ("never-taken", is_assumed), ("contradiction", false)];
        let found = found.into_iter().chain([("unreachable", is_assumed)]);
        found.map(|(code, is_assumed)| (code.to_owned(), is_assumed)).collect::<Vec<_>>()
    };
    assert_eq!(assumed(&file("")), found(false));
    assert_eq!(assumed(&file("behavior = 'walk'")), found(true));
}

#[test]
fn what_one_machine_has_from_another_it_may_leave_unused() {
    let file = "
        [machines.imp]
        initial = 'stand'
        [machines.imp.states.stand]
        exits = [{ to = 'chase', when = 'seen' }, { to = 'chase', on = 'noise' }]
        [machines.imp.states.chase]
        exits = [{ to = 'stand', when = 'not seen' }, { to = 'stand', when = 'tired and not seen' }]
        [machines.baron]
        like = 'imp'
        [machines.baron.states.stand]
        exits = [{ to = 'stand', after = 1 }]
    ";
    assert_eq!(
        found(file),
        [
            "7 never-taken: this exit is never taken: an earlier exit, to `stand`, is taken whenever this condition holds \
          [chase time,seen,tired;0,false,true; chase>stand stand]"
        ]
    );
}

#[test]
fn a_linked_machine_is_proved_in_the_state_that_runs_it() {
    let file = "
        [machines.guard]
        initial = 'patrol'
        [machines.guard.states.patrol]
        machine = 'round'
        exits = [{ to = 'rest', on = 'done' }, { to = 'rest', when = 'tired' }]
        [machines.guard.states.rest]
        exits = [{ to = 'patrol', after = 10, when = 'not tired' }]
        [machines.round]
        initial = 'walk'
        [machines.round.states.walk]
        exits = [{ to = 'home', when = 'tired' }, { to = 'home', after = 9 }]
        [machines.round.states.home]
        final = true
    ";
    assert_eq!(found(file), [""; 0]);
}

/// A machine of so many states, each with four exits.
fn large(count: usize) -> String {
    let mut file = String::from("initial = 's0'\n");
    for i in 0..count {
        let to = |by: usize, and: usize| (i * by + and) % count;
        let value = |of: usize| format!("v{}", (i + of) % 20);
        write!(
            file,
            "[states.s{i}]\nexits = [\n\
             {{ to = 's{}', when = '{} > {} and f{} and not f{}' }},\n\
             {{ to = 's{}', when = '{} < {} or {} == {}' }},\n\
             {{ to = 's{}', on = 'hit', when = 'message.damage > {} and {} != 3' }},\n\
             {{ to = 's{}', after = {}, when = 'time_in_state > {} or f{}' }},\n]\n",
            to(1, 1),
            value(0),
            i % 7,
            i % 5,
            i % 3 + 5,
            to(7, 3),
            value(3),
            i % 11,
            value(5),
            i % 4,
            to(13, 5),
            i % 9,
            value(7),
            to(3, 11),
            i % 6 + 1,
            i % 8,
            i % 5
        )
        .unwrap();
    }
    file
}

#[test]
fn a_thousand_states_take_a_bounded_number_of_steps() {
    let outlines = Outline::parse_all("large.toml", &large(1000), None).unwrap();
    let proof = Proof::of(&outlines);
    assert!(proof.steps() < 5_000_000, "{}", proof.steps());
    assert_eq!(proof.notes(), ["not all circles of states that lead to each other were looked at"]);
    assert!(!proof.findings().is_empty());
}

#[test]
fn what_there_is_too_much_of_is_not_looked_at_and_that_is_said() {
    // Each of nine is in one of eight holes, and no two are in one.
    let mut all = Vec::new();
    for i in 0..9 {
        let holes: Vec<_> = (0..8).map(|hole| format!("v{i}_{hole}")).collect();
        all.push(format!("({})", holes.join(" or ")));
        for (other, hole) in (0..i).flat_map(|other| (0..8).map(move |hole| (other, hole))) {
            all.push(format!("not (v{i}_{hole} and v{other}_{hole})"));
        }
    }
    let when = all.join(" and ");
    let file =
        format!("initial = 'a'\n[states.a]\nexits = [{{ to = 'b', when = '{when}' }}]\n[states.b]\nfinal = true\n");
    let proof = proof(&file);
    assert!(proof.steps() < 10_000_000, "{}", proof.steps());
    assert_eq!(proof.notes(), ["not looked at in all situations: a -> b"]);
    assert!(proof.findings().is_empty());
}
