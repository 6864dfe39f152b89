//! What is right, or may be either.

use demeanor::definition::Finding;

use super::{assert_found, proof};

#[test]
fn what_is_right_is_not_found_fault_with() {
    assert_found(
        "
        initial = 'rest'
        states.rest.exits = [{ to = 'fight', when = 'health > 50' }]
        states.fight.exits = [{ to = 'rest', when = 'health < 20' }]

        initial = 'a'
        states.a.exits = [{ to = 'b', after = 1 }]
        states.b.exits = [{ to = 'a', after = 1 }]

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'd < 5' }, { to = 'b', when = 'd >= 5' }, { to = 'c' }]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'chance(0.5)' }, { to = 'c', when = 'chance(0.5)' }]
        states.b.exits = [{ to = 'a', when = 'chance(0.5)' }]
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'ammo < armor' }, { to = 'c', when = 'ammo < 5 and x' }]
        states.b.exits = [{ to = 'a', when = 'ammo < armor' }]
        states.c.final = true
        ",
    );
}

#[test]
fn what_may_be_either_is_not_found_fault_with() {
    assert_found(
        "
        initial = 'a'
        states.a.every = 1
        states.a.exits = [{ to = 'b', when = 'x' }]
        states.b.every = 2
        states.b.exits = [{ to = 'a', when = 'x' }]

        initial = 'p'
        states.p.every = 1
        states.p.initial = 'a'
        states.p.exits = [{ to = 'b', when = 'x' }]
        states.a.parent = 'p'
        states.a.exits = [{ to = 'c', when = 'x and y' }]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', after = '1 s .. 4 s' }, { to = 'c', after = 2, when = 'x' }]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', after = 'patience' }, { to = 'c', after = 200 }]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x' }, { to = 'c', always = true, when = 'x and y' }]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.behavior = { name = 'walk', then = 'c' }
        states.a.exits = [{ to = 'b', when = 'time_in_state < 1 and x' }]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = { script = 'low.rhai' }}, { to = 'c', when = 'x' }]
        states.b.exits = [{ to = 'a', when = { script = 'low.rhai' }}]
        states.c.final = true
        ",
    );
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
