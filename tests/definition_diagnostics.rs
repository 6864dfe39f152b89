//! What a designer is shown of a mistake: the whole text, as the tool draws it.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::Owner;
use demeanor::definition::{Definition, Outline, Problem, Problems, ValueKind, Vocabulary};
use demeanor::{GameTime, State};
use miette::{GraphicalReportHandler, GraphicalTheme};
use schemars::JsonSchema;
use serde::Deserialize;

struct Grunt {
    health: f64,
    enemy_visible: bool,
}

impl Owner for Grunt {
    type Context<'a> = GameTime;
    type Message = &'static str;
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Cover,
    Enemy,
}

#[derive(Deserialize, JsonSchema)]
struct GoToParams {
    target: Target,
    #[serde(default)]
    speed: f32,
    #[serde(default)]
    tries: u8,
}

struct GoTo;
impl State<Grunt> for GoTo {}
struct Rest;
impl State<Grunt> for Rest {}

fn vocabulary() -> Vocabulary<Grunt> {
    Vocabulary::new()
        .value("health", |grunt: &Grunt, _| grunt.health)
        .flag("enemy_visible", |grunt: &Grunt, _| grunt.enemy_visible)
        .behaviour("rest", &Rest)
        .behaviour_with("go_to", |params: GoToParams| {
            let _ = (params.target as u8, params.speed, params.tries);
            GoTo
        })
        .message("took_damage", |told| *told == "damage")
}

fn drawn(problems: &Problems) -> String {
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    let mut text = String::new();
    for problem in problems {
        handler.render_report(&mut text, problem).unwrap();
        writeln!(text).unwrap();
    }
    text
}

#[track_caller]
fn problems(file: &str) -> Problems {
    Definition::parse_named("grunt.toml", file, &vocabulary()).expect_err("the file is wrong")
}

/// Compares what a file is told with what it should be, both without what is at the ends of lines.
#[track_caller]
fn assert_told(file: &str, expected: &str) {
    assert_same(&drawn(&problems(file)), expected);
}

#[track_caller]
fn assert_same(told: &str, expected: &str) {
    let trimmed = |text: &str| text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let (told, expected) = (trimmed(told), trimmed(expected));
    assert!(told == expected, "told:\n{told}\n\nexpected:\n{expected}");
}

/// What a file that works all the same is warned of, a line each.
#[track_caller]
fn warnings(file: &str) -> Vec<String> {
    let definition = Definition::parse_named("grunt.toml", file, &vocabulary()).expect("only warnings");
    definition.warnings().iter().map(Problem::located).collect()
}

/// What a file is told, a line each.
#[track_caller]
fn lines(file: &str) -> Vec<String> {
    problems(file).iter().map(Problem::located).collect()
}

#[test]
fn text_that_is_not_toml() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
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
fn a_string_without_an_end() {
    assert_told(
        r#"initial = "idle

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
fn an_unknown_key() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviir = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn an_unknown_state() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "atack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn an_unknown_behaviour() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rust"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn an_unknown_value() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible and helth < 20" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn an_unknown_message() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", on = "took_demage" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn an_unknown_parameter() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "cover", sped = 2.0 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"unknown-parameter

  × behavior `go_to` has no parameter `sped`
   ╭─[grunt.toml:5:30]
 4 │ behaviour = "go_to"
 5 │ params = { target = "cover", sped = 2.0 }
   ·                              ──┬─
   ·                                ╰── not a parameter
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
  help: did you mean `speed`?
"#,
    );
}

#[test]
fn a_parameter_where_none_is_taken() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
params = { hours = 2 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"unknown-parameter

  × behavior `rest` has no parameter `hours`
   ╭─[grunt.toml:5:12]
 4 │ behaviour = "rest"
 5 │ params = { hours = 2 }
   ·            ──┬──
   ·              ╰── not a parameter
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
  help: behavior `rest` takes no parameters
"#,
    );
}

#[test]
fn a_parameter_of_a_wrong_type() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "cover", speed = "fast" }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parameter-type

  × parameter `speed` of behavior `go_to` must be a number, not a string
   ╭─[grunt.toml:5:38]
 4 │ behaviour = "go_to"
 5 │ params = { target = "cover", speed = "fast" }
   ·                                      ───┬──
   ·                                         ╰── expected a number
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_parameter_that_is_none_of_the_words() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "home" }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parameter-type

  × parameter `target` of behavior `go_to` must be `cover` or `enemy`, not `home`
   ╭─[grunt.toml:5:21]
 4 │ behaviour = "go_to"
 5 │ params = { target = "home" }
   ·                     ───┬──
   ·                        ╰── expected `cover` or `enemy`
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_parameter_that_only_the_behaviour_refuses() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "cover", tries = 1000 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parameter-type

  × behavior `go_to` refuses its parameters: invalid value: integer `1000`, expected u8
   ╭─[grunt.toml:5:38]
 4 │ behaviour = "go_to"
 5 │ params = { target = "cover", tries = 1000 }
   ·                                      ──┬─
   ·                                        ╰── refused
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_missing_parameter() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { speed = 1 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"missing-parameter

  × behavior `go_to` needs parameter `target`
   ╭─[grunt.toml:5:10]
 4 │ behaviour = "go_to"
 5 │ params = { speed = 1 }
   ·          ──────┬──────
   ·                ╰── needs `target`
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_state_defined_twice() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]

[states.idle]
final = true
"#,
        r#"duplicate-state

  × state `idle` is defined twice
   ╭─[grunt.toml:3:9]
 2 │
 3 │ [states.idle]
   ·         ──┬─
   ·           ╰── first defined here
 4 │ behaviour = "rest"
   ╰────
    ╭─[grunt.toml:10:9]
  9 │
 10 │ [states.idle]
    ·         ──┬─
    ·           ╰── defined again here
 11 │ final = true
    ╰────
  help: put both into one table, or rename one
"#,
    );
}

#[test]
fn a_state_defined_twice_far_apart() {
    let between = "# nothing\n".repeat(20);
    assert_told(
        &format!(
            "initial = 'run to cover'\n[states.'run to cover']\nfinal = true\n{between}[states.'run to cover']\nfinal = true\n"
        ),
        r"duplicate-state

  × state `run to cover` is defined twice
   ╭─[grunt.toml:2:9]
 1 │ initial = 'run to cover'
 2 │ [states.'run to cover']
   ·         ───────┬──────
   ·                ╰── first defined here
 3 │ final = true
   ╰────
    ╭─[grunt.toml:24:9]
 23 │ # nothing
 24 │ [states.'run to cover']
    ·         ───────┬──────
    ·                ╰── defined again here
 25 │ final = true
    ╰────
  help: put both into one table, or rename one
",
    );
}

#[test]
fn a_key_given_twice() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [
    { to = "idle", when = "enemy_visible" },
    { to = "idle", when = "health < 20", to = "attack" },
]
behaviour = "rest"

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn a_missing_initial_state() {
    assert_told(
        r#"
[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"missing-key

  × the file has no `initial`
   ╭─[grunt.toml:1:1]
 1 │
   · ▲
   · ╰── needs `initial`
 2 │ [states.idle]
 3 │ behaviour = "rest"
   ╰────
  help: name the state that a machine begins in: `initial = ".."`
"#,
    );
}

#[test]
fn an_unknown_initial_state() {
    assert_told(
        r#"initial = "idel"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"unknown-state

  × unknown state `idel`
   ╭─[grunt.toml:1:11]
 1 │ initial = "idel"
   ·           ───┬──
   ·              ╰── no state of this file
 2 │
   ╰────
  help: did you mean `idle`?
"#,
    );
}

#[test]
fn parents_in_a_circle() {
    assert_told(
        r#"initial = "idle"

[states.idle]
parent = "attack"
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
parent = "idle"
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parent-cycle

  × `idle` and `attack` are each other's parents
   ╭─[grunt.toml:4:10]
 3 │ [states.idle]
 4 │ parent = "attack"
   ·          ────┬───
   ·              ╰── closes the circle
 5 │ behaviour = "rest"
   ╰────
  help: one of them must have another parent, or none
"#,
    );
}

#[test]
fn an_exit_to_its_own_state_without_a_condition() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }, { to = "idle" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"spins

  × state `idle` would leave for itself in every tick
   ╭─[grunt.toml:5:53]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible" }, { to = "idle" }]
   ·                                                     ───────┬───────
   ·                                                            ╰── to itself, with no condition
 6 │
   ╰────
  help: give the exit a `when`, or remove it
"#,
    );
}

#[test]
fn a_condition_too_deep() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((enemy_visible)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"condition-too-deep

  × the condition is nested deeper than 64 parentheses and `not`s
   ╭─[grunt.toml:5:99]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((enemy_visible)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))" }]
   ·                                                                                                   ┬
   ·                                                                                                   ╰── too deep from here
 6 │
   ╰────
  help: let the game offer the answer as one value, or split the state
"#,
    );
}

#[test]
fn a_condition_that_breaks_off() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible and" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"condition

  × expected a value, a number, `not` or `(`
   ╭─[grunt.toml:5:52]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible and" }]
   ·                                                    ▲
   ·                                                    ╰── here
 6 │
   ╰────
"#,
    );
}

#[test]
fn a_condition_with_another_languages_operators() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible && health < 20" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"condition

  × expected `and`, `or` or the end
   ╭─[grunt.toml:5:49]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible && health < 20" }]
   ·                                                 ─┬
   ·                                                  ╰── here
 6 │
   ╰────
  help: write `and`
"#,
    );
}

#[test]
fn an_assignment_for_a_comparison() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "health = 20" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"condition

  × expected `and`, `or` or the end
   ╭─[grunt.toml:5:42]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "health = 20" }]
   ·                                          ┬
   ·                                          ╰── here
 6 │
   ╰────
  help: write `==`
"#,
    );
}

#[test]
fn a_chain_of_comparisons() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "0 < health < 20" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"condition

  × comparisons cannot be chained
   ╭─[grunt.toml:5:46]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "0 < health < 20" }]
   ·                                              ┬
   ·                                              ╰── a second comparison
 6 │
   ╰────
  help: join them by `and`, as in `1 < health and health < 5`
"#,
    );
}

#[test]
fn a_number_where_a_flag_should_be() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "not health" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"comparison

  × `health` is a number, which is neither true nor false
   ╭─[grunt.toml:5:39]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "not health" }]
   ·                                       ───┬──
   ·                                          ╰── a number
 6 │
   ╰────
  help: compare it, as in `health > 0`
"#,
    );
}

#[test]
fn a_flag_where_a_number_should_be() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible > 1" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"comparison

  × `enemy_visible` is true or false, not a number
   ╭─[grunt.toml:5:35]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible > 1" }]
   ·                                   ──────┬──────
   ·                                         ╰── true or false
 6 │
   ╰────
  help: write `enemy_visible` or `not enemy_visible`
"#,
    );
}

#[test]
fn a_comparison_of_nothing() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "1 < 2" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"comparison

  × the comparison is always the same
   ╭─[grunt.toml:5:35]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "1 < 2" }]
   ·                                   ──┬──
   ·                                     ╰── neither side is a value
 6 │
   ╰────
  help: name a value of the game on one side
"#,
    );
}

#[test]
fn a_chance_above_one() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "chance(10)" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"chance

  × a chance is a number from 0 to 1
   ╭─[grunt.toml:5:42]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "chance(10)" }]
   ·                                          ─┬
   ·                                           ╰── not from 0 to 1
 6 │
   ╰────
  help: 10 percent are `0.1`
"#,
    );
}

#[test]
fn a_chance_without_random_numbers() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "chance(0.1)" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"chance

  × the game offers no random numbers to definitions
   ╭─[grunt.toml:5:35]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "chance(0.1)" }]
   ·                                   ─────┬─────
   ·                                        ╰── needs random numbers
 6 │
   ╰────
  help: a programmer can add them with `Vocabulary::random`
"#,
    );
}

#[test]
fn time_in_an_entry_condition() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
enter_when = "time_in_state > 2"
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"entry-condition

  × `time_in_state` cannot be asked in `enter_when`
   ╭─[grunt.toml:8:15]
 7 │ [states.attack]
 8 │ enter_when = "time_in_state > 2"
   ·               ──────┬──────
   ·                     ╰── unknown before the state is entered
 9 │ exits = [{ to = "idle", when = "not enemy_visible" }]
   ╰────
  help: put it into the `when` of the exits that lead here
"#,
    );
}

#[test]
fn an_initial_child_that_is_not_a_child() {
    assert_told(
        r#"initial = "idle"

[states.idle]
initial = "attack"
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"initial-not-a-child

  × `attack` is the initial state of `idle`, but not a child of it
   ╭─[grunt.toml:4:11]
 3 │ [states.idle]
 4 │ initial = "attack"
   ·           ────┬───
   ·               ╰── its parent is not `idle`
 5 │ behaviour = "rest"
   ╰────
  help: give `attack` the key `parent = "idle"`
"#,
    );
}

#[test]
fn a_global_state_that_is_a_target() {
    assert_told(
        r#"global = "attack"
initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"global

  × state `attack` is the global state: it cannot be changed to
   ╭─[grunt.toml:6:10]
 5 │ behaviour = "rest"
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ·          ────────────────────┬────────────────────
   ·                              ╰── runs beside every other state already
 7 │
   ╰────
"#,
    );
}

#[test]
fn a_key_of_a_wrong_type() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = "attack"
final = 1

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"wrong-type

  × `exits` must be a list, not a string
   ╭─[grunt.toml:5:9]
 4 │ behaviour = "rest"
 5 │ exits = "attack"
   ·         ────┬───
   ·             ╰── expected a list
 6 │ final = 1
   ╰────

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
    );
}

#[test]
fn a_condition_with_escapes() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "\u0065nemy_visible and helth < 1" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn a_word_that_is_itself_written_with_escapes_in_a_line_that_goes_on() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = """\
    enemy_visible and \
    h\u0065lth < 1 and (\thelth < 2)""" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
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
    );
}

#[test]
fn a_condition_over_several_lines() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = """
    enemy_visible
    and helth < 20
    """ }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"unknown-value

  × unknown value `helth`
   ╭─[grunt.toml:7:9]
 6 │     enemy_visible
 7 │     and helth < 20
   ·         ──┬──
   ·           ╰── no value that the game offers
 8 │     """ }]
   ╰────
  help: did you mean `health`?
"#,
    );
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
    );
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
        ["grunt.toml:3:24: warning: this exit is never taken: the one to `b` before it always is: \
          put it before, or give the other a `when`"]
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
    assert_eq!(Vec::from_iter(&unchecked.behaviours), ["sleep"]);
    assert_eq!(Vec::from_iter(&unchecked.messages), ["alarm"]);
}

#[test]
fn a_file_of_ten_thousand_states_is_read_and_its_mistakes_are_counted() {
    let file = |to: &dyn Fn(usize) -> usize| {
        let mut file = String::from("initial = \"s0\"\n");
        for i in 0..10_000 {
            writeln!(file, "[states.s{i}]\nexits = [{{ to = \"s{}\", when = \"health < {i}\" }}]", to(i)).unwrap();
        }
        file
    };
    let definition = Definition::parse(&file(&|i| (i + 1) % 10_000), &vocabulary()).unwrap();
    assert_eq!(definition.states().len(), 10_000);
    assert_eq!(definition.warnings(), []);
    let problems = problems(&file(&|i| i + 20_000));
    assert_eq!((problems.iter().len(), problems.unlisted()), (200, 9800));
}

#[test]
fn a_word_that_cannot_be_written_in_a_condition_is_no_value() {
    let result = std::panic::catch_unwind(|| Vocabulary::<Grunt>::new().value("2 health", |_, _| 0.0));
    assert!(result.is_err());
}

#[test]
fn an_exit_that_opens_after_another_one_is_always_taken_is_warned_of() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\", after = 2 }, { to = \"c\", after = 2.5 }]\n\
                [states.b]\nexits = [{ to = \"a\" }]\n[states.c]\nexits = [{ to = \"a\" }]\n";
    assert_eq!(
        warnings(file),
        ["grunt.toml:3:35: warning: this exit is never taken: the one to `b` before it always is after 2 s: \
          give it a shorter `after`, or give the other a `when`"]
    );
}

#[test]
fn exits_that_open_before_another_one_or_under_a_condition_are_not_warned_of() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\", after = 3 }, { to = \"b\", after = 2.5 }, \
                { to = \"b\", when = \"enemy_visible\" }, { to = \"b\", on = \"took_damage\", after = 9 }, \
                { to = \"a\", after = 1 }]\n[states.b]\nevery = 0.1\nexits = [{ to = \"a\", after = 1 }]\n";
    assert_eq!(warnings(file), [""; 0]);
}

/// What is found in a file of this one state.
#[track_caller]
fn found(state: &str) -> Vec<String> {
    let file = format!("initial = \"a\"\n[states.a]\n{state}\n");
    match Outline::parse("a.toml", &file, None) {
        Ok(outline) => outline.warnings().iter().map(Problem::located).collect(),
        Err(problems) => problems.iter().map(Problem::located).collect(),
    }
}

#[test]
fn times_that_are_no_times_are_told_with_what_to_write() {
    let exit = |after: &str| found(&format!("exits = [{{ to = \"a\", after = {after} }}]"));
    let forms = "write seconds, `2.5`, or a text with a unit: `\"200 ms\"`, `\"10 ticks\"`, `\"2 s .. 4 s\"`, \
                 or the name of a value";
    let wrong = |text: &str, why: &str| {
        assert_eq!(exit(&format!("\"{text}\"")), [format!("a.toml:3:30: error: `after` must be a duration: {why}")]);
    };
    wrong("3", "it has no unit: write `3` or `\"3 s\"`");
    wrong("3 sek", "`sek` is no unit of time: did you mean `sec`?");
    wrong("3 parsecs of space", "`parsecs of space` is no unit of time: units are `s`, `ms`, `min`, `h` and `ticks`");
    wrong("about 3 s", &format!("it does not begin with a number: {forms}"));
    wrong("-3 s", &format!("a time is not negative: {forms}"));
    wrong("", &format!("a time is missing: {forms}"));
    wrong("2 s ..", &format!("a time is missing: {forms}"));
    wrong("1e999 s", "`e999 s` is no unit of time: units are `s`, `ms`, `min`, `h` and `ticks`");
    wrong("4 .. 2 s", "it ends before it begins: write `\"2 s .. 4\"`");
    wrong("2.5 ticks", "there are no parts of a tick: write a whole number of ticks");
    assert_eq!(exit("\"7 ticks .. 0.1 s\""), [""; 0], "how long a tick is may be known to the game");
    assert_eq!(exit("[2.5]"), [format!("a.toml:3:30: error: `after` must be a duration, not a list: {forms}")]);
    for wrong in ["-1", "-0.5", "nan", "inf"] {
        assert_eq!(exit(wrong), ["a.toml:3:30: error: `after` must be a time in seconds, 0 or more"], "{wrong}");
    }
    assert_eq!(exit("0x10"), [""; 0]);
    let every = |every: &str| found(&format!("every = {every}\nexits = [{{ to = \"a\", after = 1 }}]"));
    for wrong in ["-1", "nan", "-inf"] {
        assert_eq!(every(wrong), ["a.toml:3:9: error: `every` must be a time in seconds, more than 0"], "{wrong}");
    }
    for nothing in ["0.0", "\"0 ticks\"", "\"0 s .. 1 s\""] {
        assert_eq!(
            every(nothing),
            ["a.toml:3:9: error: `every` must be a time in seconds, more than 0: \
              remove it, if the state is to be tried in each tick"],
            "{nothing}"
        );
    }
    assert_eq!(every("true"), [format!("a.toml:3:9: error: `every` must be a duration, not true or false: {forms}")]);
}

#[test]
fn times_that_say_nothing_are_warned_of() {
    assert_eq!(
        found("exits = [{ to = \"b\", after = 0 }]\n[states.b]\nfinal = true"),
        ["a.toml:3:30: warning: `after = 0` says nothing: an exit is open at once: \
          remove it, or write after how many seconds the exit is open: `after = 2.5`"]
    );
    assert_eq!(
        found("every = 0.5\nexits = [{ to = \"a\", on = \"call\" }]"),
        ["a.toml:3:9: warning: state `a` has nothing to do every 0.5 s: \
          remove it: exits that wait for a message do not wait for a turn"]
    );
    assert_eq!(
        found("exits = [{ to = \"a\" , after = 0.0 }]").len(),
        2,
        "it leaves for itself in every tick, and its time says nothing"
    );
    assert_eq!(
        found(
            "exits = [{ to = \"b\", on = \"call\" }]\n[states.b]\nevery = 1\nbehaviour = \"b\"\nexits = [{ to = \"a\" }]"
        ),
        [""; 0]
    );
}

#[test]
fn a_global_state_has_no_turns() {
    let file = "initial = \"a\"\nglobal = \"g\"\n[states.g]\nevery = 1\nexits = [{ to = \"a\", when = \"hurt\" }]\n\
                [states.a]\n";
    let problems = Outline::parse("a.toml", file, None).unwrap_err();
    let located: Vec<_> = problems.iter().map(Problem::located).collect();
    assert_eq!(
        located,
        ["a.toml:4:9: error: the global state `g` has an `every`, but is never entered: \
          remove it: the global state is tried in each tick"]
    );
}
