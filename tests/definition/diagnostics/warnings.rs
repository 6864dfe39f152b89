//! What works all the same, but is hardly meant.

use demeanor::definition::{Outline, ValueKind};

use super::warnings;

#[test]
fn a_state_that_nothing_leads_to_is_warned_of() {
    let file = "initial = \"idle\"\n[states.idle]\nfinal = true\n[states.lost]\nexits = [{ to = \"idle\" }]\n";
    assert_eq!(
        warnings(file),
        [
            "grunt.toml:4:9: warning: state `lost` can never be reached: let an exit lead to it, remove it, or write `entry = true` if the game's code changes to it"
        ]
    );
}

#[test]
fn a_state_that_nothing_leads_out_of_is_warned_of_unless_it_is_final() {
    let file = |more: &str| format!("initial = \"idle\"\n[states.idle]\n{more}");
    assert_eq!(
        warnings(&file("")),
        ["grunt.toml:2:9: warning: state `idle` has no way out: \
          give it an exit, or write `final = true` if it is meant to be the end"]
    );
    assert_eq!(warnings(&file("final = true\n")), [""; 0]);
}

#[test]
fn the_exits_of_a_parent_and_of_the_global_state_are_ways_out() {
    let file = r#"
        initial = "fight"
        global = "always"
        [states.always]
        exits = [{ to = "dead", when = "health <= 0" }]
        [states.fight]
        initial = "aim"
        exits = [{ to = "rest", when = "not enemy_visible" }]
        [states.aim]
        parent = "fight"
        [states.rest]
        [states.dead]
        final = true
    "#;
    assert_eq!(warnings(file), [""; 0]);
}

#[test]
fn an_exit_behind_one_that_is_always_taken_is_warned_of() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\" }, { to = \"b\", when = \"enemy_visible\" }]\n\
                [states.b]\nexits = [{ to = \"a\" }]\n";
    assert_eq!(
        warnings(file),
        ["grunt.toml:3:24: warning: this exit is never taken: an earlier exit, to `b`, is always taken: \
          put it earlier, or give the earlier exit a `when`"]
    );
}

#[test]
fn without_a_vocabulary_what_could_not_be_checked_is_listed() {
    let file = r#"
        initial = "idle"
        [states.idle]
        behaviour = "sleep"
        exits = [{ to = "attack", when = "stamina > 3 and near", on = "alarm" }]
        [states.attack]
        exits = [{ to = "idel" }]
    "#;
    let problems = Outline::parse("grunt.toml", file, None).unwrap_err();
    assert_eq!(problems.to_string(), "grunt.toml:7:25: error: unknown state `idel`: did you mean `idle`?");
    let outline = Outline::parse("grunt.toml", &file.replace("idel", "idle"), None).unwrap();
    let unchecked = outline.unchecked();
    assert_eq!(
        Vec::from_iter(&unchecked.values),
        [(&"near".to_owned(), &ValueKind::Flag), (&"stamina".to_owned(), &ValueKind::Number)]
    );
    assert_eq!(Vec::from_iter(&unchecked.behaviors), ["sleep"]);
    assert_eq!(Vec::from_iter(&unchecked.messages), ["alarm"]);
}

#[test]
fn an_exit_that_opens_after_another_one_is_always_taken_is_warned_of() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\", after = 2 }, { to = \"c\", after = 2.5 }]\n\
                [states.b]\nexits = [{ to = \"a\" }]\n[states.c]\nexits = [{ to = \"a\" }]\n";
    assert_eq!(
        warnings(file),
        ["grunt.toml:3:35: warning: this exit is never taken: an earlier exit, to `b`, is always taken after 2 s: \
          give it a shorter `after`, or give the earlier exit a `when`"]
    );
}

#[test]
fn exits_that_open_before_another_one_or_under_a_condition_are_not_warned_of() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\", after = 3 }, { to = \"b\", after = 2.5 }, \
                { to = \"b\", when = \"enemy_visible\" }, { to = \"b\", on = \"took_damage\", after = 9 }, \
                { to = \"a\", after = 1 }]\n[states.b]\nevery = 0.1\nexits = [{ to = \"a\", after = 1 }]\n";
    assert_eq!(warnings(file), [""; 0]);
}
