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
        let changes: Vec<_> = witness.changes().iter().map(|change| format!(" {}>{}", change.from, change.to)).collect();
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
    println!("@@{}@@{}", 0, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and (health < 2 and health >= 2 or y)' }]
        [states.b]
        final = true
    ";
    println!("@@{}@@{}", 1, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'ammo < armor and ammo > armor' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
    ";
    println!("@@{}@@{}", 2, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health * 2 > 10 and health <= 5' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
    ";
    println!("@@{}@@{}", 3, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'in(b) and not in(b)' }, { to = 'b', when = 'time_in_state > 3 and time_in_state < 2' }, { to = 'b', when = 'x' }]
        [states.b]
        final = true
    ";
    println!("@@{}@@{}", 4, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 5, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 6, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'health < 20' }, { to = 'b', when = 'health >= 10' }, { to = 'c', when = 'health == 15 or health > 30' }, { to = 'c' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 7, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', on = 'hit', when = 'message.damage > 3' }, { to = 'c', on = 'hit', when = 'message.damage > 5' }, { to = 'c', on = 'fall' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 8, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 9, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 10, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 11, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 12, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 13, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 14, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', always = true, when = 'x' }, { to = 'c', always = true, when = 'not x' }, { to = 'c', when = 'y' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 15, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 16, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 17, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and health > 3' }]
        [states.b]
        exits = [{ to = 'c', when = 'health < 9' }]
        [states.c]
        exits = [{ to = 'a', when = 'health != 5' }]
    ";
    println!("@@{}@@{}", 18, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 19, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 20, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'a', always = true, when = 'x' }, { to = 'b', when = 'y' }]
        [states.b]
        final = true
    ";
    println!("@@{}@@{}", 21, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 22, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x and not x' }]
        [states.b]
        entry = true
        final = true
    ";
    println!("@@{}@@{}", 23, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 24, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 25, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', after = 1 }]
        [states.b]
        exits = [{ to = 'a', after = 1 }]
    ";
    println!("@@{}@@{}", 26, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'd < 5' }, { to = 'b', when = 'd >= 5' }, { to = 'c' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 27, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'chance(0.5)' }, { to = 'c', when = 'chance(0.5)' }]
        [states.b]
        exits = [{ to = 'a', when = 'chance(0.5)' }]
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 28, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'ammo < armor' }, { to = 'c', when = 'ammo < 5 and x' }]
        [states.b]
        exits = [{ to = 'a', when = 'ammo < armor' }]
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 29, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        every = 1
        exits = [{ to = 'b', when = 'x' }]
        [states.b]
        every = 2
        exits = [{ to = 'a', when = 'x' }]
    ";
    println!("@@{}@@{}", 30, serde_json::to_string(&found(file)).unwrap());
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
    println!("@@{}@@{}", 31, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b',after = '1 s .. 4 s' }, { to = 'c', after = 2, when = 'x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 32, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b',after = 'patience' }, { to = 'c', after = 200 }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 33, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'x' }, { to = 'c', always = true, when = 'x and y' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 34, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        behavior={name = 'walk',then = 'c' }
        exits = [{ to = 'b', when = 'x and not x' }, { to = 'b', when = 'time_in_state < 1 and x' }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 35, serde_json::to_string(&found(file)).unwrap());
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when={script = 'low.rhai' }}, { to = 'c', when = 'x' }]
        [states.b]
        exits = [{ to = 'a', when={script = 'low.rhai' }}]
        [states.c]
        final = true
    ";
    println!("@@{}@@{}", 36, serde_json::to_string(&found(file)).unwrap());
}

