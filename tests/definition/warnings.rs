//! Warnings about files that work all the same: what is never taken, never reached, or no end.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::definition::{Outline, Problem, Words};

/// What a file of these states is warned of, a line each.
#[track_caller]
fn warnings(states: &str) -> Vec<String> {
    let file = format!("initial = \"a\"\n{states}\n");
    let outline = Outline::parse("a.toml", &file, None).expect("only warnings");
    outline.warnings().iter().map(Problem::located).collect()
}

/// A state `a` with exits, and those that they lead to.
fn exits(exits: &str) -> String {
    format!(
        "[states.a]\nexits = [{exits}]\n[states.b]\nexits = [{{ to = \"a\" }}]\n[states.c]\nexits = [{{ to = \"a\" }}]"
    )
}

#[test]
fn a_final_state_with_an_exit_of_its_own() {
    assert_eq!(
        warnings("[states.a]\nfinal = true\nexits = [{ to = \"a\", on = \"call\" }]"),
        ["a.toml:4:10: warning: state `a` is final, but has an exit of its own: remove the exit, or `final = true`"]
    );
}

#[test]
fn two_exits_of_one_condition() {
    let told = "warning: this exit is never taken: an earlier exit, to `b`, has the same condition: \
                remove one of them, or give it another `when`";
    for both in [
        "{ to = \"b\", when = \"x > 1 and near\" }, { to = \"c\", when = \"x>1 and near\" }",
        "{ to = \"b\", on = \"hit\", when = \"near\" }, { to = \"c\", on = \"hit\", when = \"near\" }",
        "{ to = \"b\", after = 1, when = \"near\" }, { to = \"c\", after = 2, when = \"near\" }",
        "{ to = \"b\", when = \"time_in_state > 2\" }, { to = \"c\", when = \"time_in_state > 2\" }",
    ] {
        let column = 10 + both.find(", { to = \"c\"").unwrap() + 2;
        assert_eq!(warnings(&exits(both)), [format!("a.toml:3:{column}: {told}")], "{both}");
    }
}

#[test]
fn two_exits_that_differ_in_what_they_ask_for_or_may_be_refused_are_right() {
    for both in [
        "{ to = \"b\", when = \"near\" }, { to = \"c\", when = \"far\" }",
        "{ to = \"b\", on = \"hit\", when = \"near\" }, { to = \"c\", on = \"push\", when = \"near\" }",
        "{ to = \"b\", after = 2, when = \"near\" }, { to = \"c\", after = 1, when = \"near\" }",
        "{ to = \"b\", after = \"1 s .. 3 s\", when = \"near\" }, { to = \"c\", after = \"1 s .. 2 s\", when = \"near\" }",
        "{ to = \"b\", when = \"chance(0.5)\" }, { to = \"c\", when = \"chance(0.5)\" }",
    ] {
        assert_eq!(warnings(&exits(both)), [""; 0], "{both}");
    }
    let refused = exits("{ to = \"b\", when = \"near\" }, { to = \"c\", when = \"near\" }")
        .replace("[states.b]", "[states.b]\nenter_when = \"ammo > 0\"");
    assert_eq!(warnings(&refused), [""; 0]);
}

#[test]
fn an_exit_behind_one_that_may_be_refused_or_lead_to_where_one_is_may_be_taken() {
    let of_a_state = "
        states.a.exits = [{ to = 'p' }, { to = 'c' }]
        states.p.initial = 'b'
        states.b.parent = 'p'
        states.b.exits = [{ to = 'a' }]
        states.c.exits = [{ to = 'a' }]
    ";
    let never = "this exit is never taken";
    let is_warned_of = |file: &str| warnings(file).iter().any(|warning| warning.contains(never));
    assert!(is_warned_of(of_a_state), "nothing refuses");
    for refusal in ["\nstates.b.enter_when = 'ammo > 0'", "\nstates.p.enter_when = 'ammo > 0'"] {
        assert!(!is_warned_of(&format!("{of_a_state}{refusal}")), "{refusal}");
    }
    for (exits, end) in [
        ("{ to = 'a' }, { to = 'b', when = 'near' }", ""),
        ("{ to = 'b', on = 'hit' }, { to = 'a', on = 'hit' }", ""),
        ("{ to = 'b', when = 'near' }, { to = 'b', when = 'near', restart = true }", ""),
        ("{ to = 'a', after = 2 }, { to = 'b', after = 4, even_final = true }", "final = true"),
    ] {
        let states = format!("[states.a]\n[states.b]\n{end}\n");
        let of_the_global = format!("global = 'g'\nstates.g.exits = [{exits}]\n{states}");
        assert!(!is_warned_of(&of_the_global), "{:?}", warnings(&of_the_global));
        let of_a_parent = format!(
            "states.p.initial = 'a'\nstates.p.exits = [{exits}]\n{}",
            states.replace("]\n", "]\nparent = 'p'\n")
        );
        assert!(!is_warned_of(&of_a_parent), "{:?}", warnings(&of_a_parent));
    }
}

#[test]
fn an_exit_behind_one_without_a_condition() {
    let told = "this exit is never taken: an earlier exit, to `b`, is always taken: put it earlier, or give the earlier exit a `when`";
    assert_eq!(
        warnings(&exits("{ to = \"b\", on = \"hit\" }, { to = \"c\", on = \"hit\", when = \"near\" }")),
        [format!("a.toml:3:36: warning: {told}")]
    );
    assert_eq!(
        warnings(&exits("{ to = \"b\" }, { to = \"c\", when = \"near\" }")),
        [format!("a.toml:3:24: warning: {told}")]
    );
    assert_eq!(
        warnings(&exits("{ to = \"b\", on = \"hit\" }, { to = \"c\", on = \"push\", when = \"near\" }")),
        [""; 0]
    );
}

#[test]
fn a_parent_without_an_initial_child_is_the_cause() {
    let told = "state `fight` has states in it, but no `initial`: an exit to it leads to none of them: \
                write `initial = \"aim\"`, or `entry = true` in those that the game's code changes to";
    let fight = "[states.a]\nexits = [{ to = \"fight\", when = \"near\" }]\n[states.fight]\nexits = [{ to = \"a\", when = \"far\" }]\n\
                 [states.aim]\nparent = \"fight\"\nexits = [{ to = \"shoot\", after = 1 }]\n\
                 [states.shoot]\nparent = \"fight\"\n";
    assert_eq!(warnings(fight), [format!("a.toml:4:9: warning: {told}")]);
    assert_eq!(warnings(&fight.replace("[states.fight]", "[states.fight]\ninitial = \"aim\"")), [""; 0]);
    assert_eq!(warnings(&fight.replace("to = \"fight\"", "to = \"aim\"")), [""; 0]);
}

#[test]
fn of_many_warnings_the_rest_are_counted() {
    let mut file = String::from("initial = \"a\"\n[states.a]\nfinal = true\n");
    for i in 0..1000 {
        writeln!(file, "[states.s{i}]\nfinal = true").unwrap();
    }
    let outline = Outline::parse("a.toml", &file, None).unwrap();
    assert_eq!((outline.warnings().len(), outline.unlisted_warnings()), (1, 999));
}

/// What a file of one state is told that is wrong.
#[track_caller]
fn errors(exit: &str) -> Vec<String> {
    let words = r#"{ "values": { "near": "flag" }, "messages": ["hit"], "behaviors": { "walk": null } }"#;
    let words = Words::from_json(words).unwrap();
    let file = format!("initial = \"a\"\n[states.a]\nbehavior = \"walk\"\nexits = [{{ to = \"a\", {exit} }}]\n");
    Outline::parse("a.toml", &file, Some(&words)).unwrap_err().iter().map(Problem::located).collect()
}

#[test]
fn a_word_of_the_game_stands_where_another_kind_of_word_does() {
    for (exit, expected) in [
        (
            "when = \"hit\"",
            "4:30: error: unknown value `hit`: `hit` is a message: an exit waits for it with `on = \"hit\"`",
        ),
        (
            "when = \"walk\"",
            "4:30: error: unknown value `walk`: `walk` is a behavior: a state does it with `behavior = \"walk\"`",
        ),
        ("when = \"not a\"", "4:34: error: unknown value `a`: `a` is a state: write `in(a)`"),
        (
            "on = \"near\"",
            "4:27: error: unknown message `near`: `near` is a value: an exit asks for it with `when = \"near\"`",
        ),
    ] {
        assert_eq!(errors(exit), [format!("a.toml:{expected}")]);
    }
}

#[test]
fn an_exit_with_always_behind_one_without_is_tried_as_its_state_is_entered() {
    let file = |first: &str| {
        format!(
            "initial = 'a'\n[states.a]\nexits = [{{ to = 'b'{first} }}, {{ to = 'c', always = true, when = 'x' }}]\n\
             [states.b]\nfinal = true\n[states.c]\nfinal = true\n"
        )
    };
    let codes = |text: &str| {
        let outline = demeanor::definition::Outline::parse("guard.toml", text, None).unwrap();
        outline.warnings().iter().map(demeanor::definition::Problem::code_name).collect::<Vec<_>>()
    };
    assert_eq!(codes(&file("")), [""; 0]);
    assert_eq!(codes(&file(", when = 'x'")), [""; 0]);
    assert_eq!(codes(&file(", always = true")), ["never-taken"]);
    assert_eq!(codes(&file(", always = true, when = 'x'")), ["never-taken"]);
}
