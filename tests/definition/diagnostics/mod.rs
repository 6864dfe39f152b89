//! What a designer is shown of a mistake: the whole text, as the tool draws it.
#![cfg(feature = "definition")]

mod conditions;
mod names;
mod parameters;
mod states;
mod syntax;
mod times;
mod warnings;

use std::fmt::Write as _;

use demeanor::State;
use demeanor::definition::{Definition, Problem, Problems, Vocabulary};
use miette::{GraphicalReportHandler, GraphicalTheme};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::{Guard, Told};

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
impl State<Guard> for GoTo {}
struct Rest;
impl State<Guard> for Rest {}

/// A file in which nothing is wrong.
const GRUNT: &str = r#"initial = "idle"

[states.idle]
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#;

/// A mistake's name, what [`GRUNT`] says, what it says with the mistake, and the drawing of the mistake.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("health", |guard: &Guard, _| guard.health)
        .flag("enemy_visible", |guard: &Guard, _| guard.enemy_visible)
        .behaviour("rest", &Rest)
        .behaviour_with("go_to", |params: GoToParams| {
            let _ = (params.target as u8, params.speed, params.tries);
            GoTo
        })
        .message("took_damage", |told| *told == Told::Pain)
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

#[track_caller]
fn assert_drawn(mistakes: &[Mistake]) {
    for (name, right, wrong, expected) in mistakes {
        assert_eq!(GRUNT.matches(right).count(), 1, "{name}: {right}");
        let file = GRUNT.replace(right, wrong);
        assert_same(&drawn(&problems(&file)), expected, name);
    }
}

/// Compares what a file is told with what it should be, both without what is at the ends of lines.
#[track_caller]
fn assert_told(file: &str, expected: &str) {
    assert_same(&drawn(&problems(file)), expected, file);
}

#[track_caller]
fn assert_same(told: &str, expected: &str, name: &str) {
    let trimmed = |text: &str| text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let (told, expected) = (trimmed(told), trimmed(expected));
    assert!(told == expected, "{name}\n\ntold:\n{told}\n\nexpected:\n{expected}");
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
