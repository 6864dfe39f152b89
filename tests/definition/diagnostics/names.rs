//! Names that nobody knows, and many mistakes in one file.

use std::fmt::Write as _;

use demeanor::definition::Definition;

use super::{Mistake, assert_drawn, lines, problems, vocabulary};

const MISTAKES: &[Mistake] = &[
    (
        "an unknown state",
        r#"to = "attack""#,
        r#"to = "atack""#,
        r#"unknown-state

  × unknown state `atack`
   ╭─[grunt.toml:5:17]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "atack", when = "enemy_visible" }]
   ·                 ───┬───
   ·                    ╰── no state of this file
 6 │
   ╰────
  help: did you mean `attack`?
"#,
    ),
    (
        "an unknown behavior",
        r#"behaviour = "rest""#,
        r#"behaviour = "rust""#,
        r#"unknown-behaviour

  × unknown behavior `rust`
   ╭─[grunt.toml:4:13]
 3 │ [states.idle]
 4 │ behaviour = "rust"
   ·             ───┬──
   ·                ╰── no behavior that the game offers
 5 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
  help: did you mean `rest`?
"#,
    ),
    (
        "an unknown value",
        r#"when = "enemy_visible""#,
        r#"when = "enemy_visible and helth < 20""#,
        r#"unknown-value

  × unknown value `helth`
   ╭─[grunt.toml:5:53]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible and helth < 20" }]
   ·                                                     ──┬──
   ·                                                       ╰── no value that the game offers
 6 │
   ╰────
  help: did you mean `health`?
"#,
    ),
    (
        "an unknown message",
        r#"when = "enemy_visible""#,
        r#"on = "took_demage""#,
        r#"unknown-message

  × unknown message `took_demage`
   ╭─[grunt.toml:5:32]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", on = "took_demage" }]
   ·                                ──────┬──────
   ·                                      ╰── no message that the game offers
 6 │
   ╰────
  help: did you mean `took_damage`?
"#,
    ),
];

#[test]
fn unknown_names_are_drawn_with_what_was_meant() {
    assert_drawn(MISTAKES);
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_in_its_order() {
    let file = r#"
        initial = "idel"

        [states.idle]
        behaviour = "go_to"
        params = { target = "home", sped = 2 }
        exits = [
            { to = "atack", when = "helth < 20 and enemy_visble" },
            { to = "attack", when = "health <" },
            { when = "health < 10", on = "damage" },
        ]

        [states.attack]
        exit = []
        enter_when = "chance(0.5)"
    "#;
    assert_eq!(
        lines(file),
        [
            "grunt.toml:2:19: error: unknown state `idel`: did you mean `idle`?",
            "grunt.toml:6:29: error: parameter `target` of behavior `go_to` must be `cover` or `enemy`, not `home`",
            "grunt.toml:6:37: error: behavior `go_to` has no parameter `sped`: did you mean `speed`?",
            "grunt.toml:8:20: error: unknown state `atack`: did you mean `attack`?",
            "grunt.toml:8:37: error: unknown value `helth`: did you mean `health`?",
            "grunt.toml:8:52: error: unknown value `enemy_visble`: did you mean `enemy_visible`?",
            "grunt.toml:9:46: error: expected a value or a number to compare with",
            "grunt.toml:10:13: error: an exit has no `to`: name the state that the exit leads to: `to = \"..\"`",
            "grunt.toml:10:42: error: unknown message `damage`: the game offers `took_damage`",
            "grunt.toml:14:9: error: unknown key `exit` in a state: did you mean `exits`?",
            "grunt.toml:15:23: error: `chance` cannot be asked in `enter_when`: \
             put it into the `when` of the exits that lead here",
        ]
    );
}

#[test]
fn what_was_meant_is_told_where_it_can_be_guessed_and_what_there_is_where_not() {
    let told = |state: &str| {
        let mut lines = lines(&format!("initial = 'idle'\n[states.idle]\nfinal = true\n{state}\n"));
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0).split_once("error: ").unwrap().1.to_owned()
    };
    for (state, expected) in [
        ("behaviour = 'sleep'", "unknown behavior `sleep`: the game offers `go_to`, `rest`"),
        ("exits = [{ to = 'idle', on = 'noise' }]", "unknown message `noise`: the game offers `took_damage`"),
        ("enter_when = 'x > 3'", "unknown value `x`: the game offers `enemy_visible`, `health`"),
        ("enter_when = 'fals'", "unknown value `fals`: did you mean `false`?"),
        (
            "exits = [{ to = 'run away', when = 'health < 1' }]",
            "unknown state `run away`: define it: `[states.\"run away\"]`",
        ),
        ("exits = [{ ot = 'idle', when = 'health < 1' }]", "unknown key `ot` in an exit: did you mean `to`?"),
        (
            "enter_when = 'enemy visible'",
            "expected `and`, `or` or the end: write `and` or `or` between two conditions; a name has no spaces in it",
        ),
        (
            "enter_when = 'health < 20%'",
            "expected `and`, `or` or the end: write the number alone: `20`, or `0.2` where 1 is the whole",
        ),
        ("enter_when = 'health =< 20'", "expected `and`, `or` or the end: write `<=`"),
    ] {
        assert_eq!(told(state), expected);
    }
    assert_eq!(
        lines("inital = 'idle'\n[states.idle]\nfinal = true\n"),
        ["grunt.toml:1:1: error: unknown key `inital` in a machine: did you mean `initial`?"]
    );
}

#[test]
fn a_file_of_thousands_of_states_is_read_and_its_mistakes_are_counted() {
    let file = |to: &dyn Fn(usize) -> usize| {
        let mut file = String::from("initial = \"s0\"\n");
        for i in 0..2_000 {
            writeln!(file, "[states.s{i}]\nexits = [{{ to = \"s{}\", when = \"health < {i}\" }}]", to(i)).unwrap();
        }
        file
    };
    let definition = Definition::parse(&file(&|i| (i + 1) % 2_000), &vocabulary()).unwrap();
    assert_eq!(definition.states().len(), 2_000);
    assert_eq!(definition.warnings(), []);
    let problems = problems(&file(&|i| i + 20_000));
    // It is one report.
    assert_eq!((problems.iter().len(), problems.unlisted()), (1, 1999));
    let told = problems.iter().next().unwrap().to_string();
    assert_eq!(
        told,
        "unknown state `s20000` (and at least 199 more like this, in lines 5, 7, 9, 11, 13, 15 and so on)"
    );
}
