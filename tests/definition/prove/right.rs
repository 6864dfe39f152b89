//! What is right, or may be either.

use demeanor::definition::Finding;

use super::proof;

#[test]
#[cfg_attr(not(feature = "script"), ignore = "needs the feature `script`")]
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
