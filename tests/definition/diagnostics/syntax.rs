//! What is wrong with a file's text, keys and values.

use demeanor::definition::Outline;

use super::{Mistake, assert_drawn, assert_same, assert_told, drawn, lines};

const MISTAKES: &[Mistake] = &[
    (
        "text that is not toml",
        "[states.attack]",
        "[states.attack",
        r#"syntax

  × the header has no `]`
   ╭─[grunt.toml:7:15]
 6 │
 7 │ [states.attack
   ·               ▲
   ·               ╰── here
 8 │ exits = [{ to = "idle", when = "not enemy_visible" }]
   ╰────
  help: write `[states.attack]`
"#,
    ),
    (
        "a string without an end",
        r#"initial = "idle""#,
        r#"initial = "idle"#,
        r#"syntax

  × a quote is missing behind a text
   ╭─[grunt.toml:1:11]
 1 │ initial = "idle
   ·           ──┬──
   ·             ╰── has no end
 2 │
   ╰────
  help: write `"idle"`
"#,
    ),
    (
        "an unknown key",
        r#"behaviour = "rest""#,
        r#"behaviir = "rest""#,
        r#"unknown-key

  × unknown key `behaviir` in a state
   ╭─[grunt.toml:4:1]
 3 │ [states.idle]
 4 │ behaviir = "rest"
   · ────┬───
   ·     ╰── not a key of the format
 5 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
  help: did you mean `behavior`?
"#,
    ),
    (
        "a key given twice",
        r#"exits = [{ to = "attack", when = "enemy_visible" }]"#,
        r#"exits = [
    { to = "idle", when = "enemy_visible" },
    { to = "idle", when = "health < 20", to = "attack" },
]
behaviour = "rest""#,
        r#"duplicate-key

  × key `to` is given twice
   ╭─[grunt.toml:7:7]
 6 │     { to = "idle", when = "enemy_visible" },
 7 │     { to = "idle", when = "health < 20", to = "attack" },
   ·       ─┬                                 ─┬
   ·        │                                  ╰── given again here
   ·        ╰── first given here
 8 │ ]
   ╰────

duplicate-key

  × key `behaviour` is given twice
    ╭─[grunt.toml:4:1]
  3 │ [states.idle]
  4 │ behaviour = "rest"
    · ────┬────
    ·     ╰── first given here
  5 │ exits = [
  6 │     { to = "idle", when = "enemy_visible" },
  7 │     { to = "idle", when = "health < 20", to = "attack" },
  8 │ ]
  9 │ behaviour = "rest"
    · ────┬────
    ·     ╰── given again here
 10 │
    ╰────
"#,
    ),
    (
        "a key of a wrong type",
        r#"exits = [{ to = "attack", when = "enemy_visible" }]"#,
        r#"exits = "attack"
final = 1"#,
        r#"wrong-type

  × `exits` must be a list, not a string
   ╭─[grunt.toml:5:9]
 4 │ behaviour = "rest"
 5 │ exits = "attack"
   ·         ────┬───
   ·             ╰── expected a list
 6 │ final = 1
   ╰────
  help: write `[{ to = "attack" }]`

wrong-type

  × `final` must be true or false, not a whole number
   ╭─[grunt.toml:6:9]
 5 │ exits = "attack"
 6 │ final = 1
   ·         ┬
   ·         ╰── expected true or false
 7 │
   ╰────
"#,
    ),
    (
        "a condition with escapes",
        r#"when = "enemy_visible""#,
        r#"when = "\u0065nemy_visible and helth < 1""#,
        r#"unknown-value

  × unknown value `helth`
   ╭─[grunt.toml:5:58]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "\u0065nemy_visible and helth < 1" }]
   ·                                                          ──┬──
   ·                                                            ╰── no value that the game offers
 6 │
   ╰────
  help: did you mean `health`?
"#,
    ),
    (
        "a word that is itself written with escapes in a line that goes on",
        r#"when = "enemy_visible""#,
        r#"when = """\
    enemy_visible and \
    h\u0065lth < 1 and (\thelth < 2)""""#,
        r#"unknown-value

  × unknown value `helth`
   ╭─[grunt.toml:7:5]
 6 │     enemy_visible and \
 7 │     h\u0065lth < 1 and (\thelth < 2)""" }]
   ·     ─────┬────
   ·          ╰── no value that the game offers
 8 │
   ╰────
  help: did you mean `health`?

unknown-value

  × unknown value `helth`
   ╭─[grunt.toml:7:27]
 6 │     enemy_visible and \
 7 │     h\u0065lth < 1 and (\thelth < 2)""" }]
   ·                           ──┬──
   ·                             ╰── no value that the game offers
 8 │
   ╰────
  help: did you mean `health`?
"#,
    ),
];

#[test]
fn mistakes_in_the_text_are_drawn_with_what_to_write() {
    assert_drawn(MISTAKES);
}

#[test]
fn text_without_its_quotes() {
    assert_told(
        "initial = idle\n[states.idle]\nfinal = true\n",
        r#"syntax

  × a text stands in quotes
   ╭─[grunt.toml:1:11]
 1 │ initial = idle
   ·           ──┬─
   ·             ╰── here
 2 │ [states.idle]
   ╰────
  help: write `"idle"`
"#,
    );
    assert_eq!(
        lines("initial = 'a'\n[states.a]\nexits = [{ to = a, when = health < 3 }]\nfinal = yes\n[states.run away]\n"),
        [
            "grunt.toml:3:17: error: a text stands in quotes: write `\"a\"`",
            "grunt.toml:4:9: error: this is no value: write `true`",
            "grunt.toml:5:1: error: a name with spaces stands in quotes: write `[states.\"run away\"]`",
        ]
    );
}

#[test]
fn a_condition_that_the_file_breaks_off_in() {
    assert_told(
        "initial = \"a\"\n[states.a]\nexits = [{ to = \"a\", when = \"health <",
        r#"syntax

  × a quote is missing behind a text
   ╭─[grunt.toml:3:29]
 2 │ [states.a]
 3 │ exits = [{ to = "a", when = "health <
   ·                             ────┬────
   ·                                 ╰── has no end
   ╰────
  help: write `"health <"`
"#,
    );
}

/// A report handler would have to write more spaces than it can count.
#[test]
fn a_mistake_in_a_line_too_long_to_be_drawn_is_told_without_its_place_underlined() {
    let file = format!("{}initial = 'idel'\n[states.idle]\nfinal = true\n", " ".repeat(70_000));
    assert_told(&file, "unknown-state\n\n  × unknown state `idel`\n  help: did you mean `idle`?\n");
    assert_eq!(lines(&file), ["grunt.toml:1:70011: error: unknown state `idel`: did you mean `idle`?"]);
}

#[test]
fn an_empty_file() {
    assert_eq!(
        lines("  \n"),
        ["grunt.toml:1:1: error: the file is empty: \
          a definition needs `initial = \"..\"` and at least one `[states.name]`"]
    );
}

#[test]
fn a_file_without_states() {
    assert_eq!(
        lines("initial = \"idle\"\n"),
        [
            "grunt.toml:1:1: error: the file has no `states`: define a state: `[states.idle]`",
            "grunt.toml:1:11: error: unknown state `idle`: define it: `[states.idle]`",
        ]
    );
}

#[test]
fn bytes_that_are_not_utf8() {
    let problems = Outline::from_bytes("grunt.toml", b"initial = \"idle\"\n# caf\xe9\n", None).unwrap_err();
    assert_same(
        &drawn(&problems),
        r#"not-utf8

  × the file is not UTF-8 text
   ╭─[grunt.toml:2:6]
 1 │ initial = "idle"
 2 │ # caf�
   ·      ┬
   ·      ╰── the first byte that is not
   ╰────
  help: save the file as UTF-8
"#,
        "not UTF-8",
    );
}
