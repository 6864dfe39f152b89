//! What is reported of a file: that it is mistaken, and what to write instead, or that it is hardly meant as it is.
#![cfg(feature = "definition")]

use std::fmt::Write as _;
use std::fs;

use demeanor::definition::{Definition, Outline, Problem, Problems, StateName, Survey, ValueKind, Vocabulary, Words};
use miette::{GraphicalReportHandler, GraphicalTheme};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::case_files::{assert_notes, assert_texts};
use crate::guard::{self, Guard, Notes, Told};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Cover,
    Enemy,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only checked")]
struct GoTo {
    target: Target,
    #[serde(default)]
    speed: f32,
    #[serde(default)]
    tries: u8,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only checked")]
struct Walk {
    speed: f64,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only checked")]
struct Leap {
    then: StateName,
    or: Option<StateName>,
    #[serde(default)]
    never: Vec<StateName>,
}

/// A game without random numbers.
fn small_game() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("health", |guard: &Guard, _| guard.health)
        .flag("enemy_visible", |guard: &Guard, _| guard.enemy_visible)
        .behaviour("rest", Notes::new("rest"))
        .behaviour_with("go_to", |_: GoTo| Notes(String::new()))
        .message("took_damage", |told| *told == Told::Pain)
}

fn game() -> Words {
    let vocabulary = guard::vocabulary()
        .range("patience", 0.0..=10.0)
        .behavior("look", Notes::new("look"))
        .behavior("rest", Notes::new("rest"))
        .behavior_with("go_to", |_: GoTo| Notes(String::new()))
        .behavior_with("leap", |_: Leap| Notes(String::new()))
        .behavior_with("walk", |_: Walk| Notes(String::new()));
    vocabulary.export()
}

/// What is reported of a file: its warnings if it works, and otherwise its mistakes.
fn reported(file: &str, words: Option<&Words>) -> Vec<Problem> {
    match Outline::parse_all("a.toml", file, words) {
        Ok(outlines) => outlines[0].warnings().to_vec(),
        Err(problems) => problems.iter().cloned().collect(),
    }
}

/// The same, a line each.
pub(crate) fn lines(file: &str) -> Vec<String> {
    reported(file, None).iter().map(Problem::located).collect()
}

#[track_caller]
fn assert_reported(file: &str, words: Option<&Words>) {
    assert_notes(file, |definition| {
        let note = |problem: &Problem| {
            let located = problem.located();
            let (_, text) = located.split_once(": ").expect("the place comes first");
            (problem.line(), problem.column(), text.to_owned())
        };
        reported(definition, words).iter().map(note).collect()
    });
}

/// What the tool draws.
fn drawn(problems: &Problems) -> String {
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    let mut text = String::new();
    for problem in problems {
        handler.render_report(&mut text, problem).unwrap();
        writeln!(text).unwrap();
    }
    text.trim_end().lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

#[test]
fn mistakes_are_drawn_with_what_to_write() {
    assert_texts("drawn.txt", |file| {
        let definition = Definition::parse_named("grunt.toml", file, &small_game());
        definition.err().map(|problems| drawn(&problems)).unwrap_or_default()
    });
}

#[test]
fn a_slip_of_the_pen_is_one_report_that_says_what_to_write() {
    assert_reported("slips.txt", None);
}

#[test]
fn files_are_reported_without_the_words_of_a_game() {
    assert_reported("without_a_game.txt", None);
}

#[test]
fn mistakes_in_regions_are_reported() {
    assert_reported("regions.txt", None);
}

#[test]
fn files_of_a_game_are_reported() {
    assert_reported("with_a_game.txt", Some(&game()));
}

#[test]
fn a_word_that_cannot_be_written_in_a_condition_is_no_value() {
    let result = std::panic::catch_unwind(|| Vocabulary::<Guard>::new().value("2 health", |_, _| 0.0));
    assert!(result.is_err());
}

#[test]
fn a_condition_of_too_many_parts_is_refused() {
    let when = |when: &str| {
        let file =
            format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', when = '{when}' }}]\nstates.b.final = true\n");
        reported(&file, Some(&game())).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let long = format!("health{} > 1", " + 1".repeat(201));
    assert_eq!(when(&long), ["the condition has more than 200 calculations"]);
    let deep = format!("{}health > 1", "-(".repeat(70));
    let nested = |deep: usize| format!("{}health > 1{}", "(".repeat(deep), ")".repeat(deep));
    assert_eq!(when(&nested(64)), [] as [&str; 0]);
    for deep in [deep, nested(65)] {
        assert_eq!(when(&deep), ["the condition is nested deeper than 64 parentheses and `not`s"], "{deep}");
    }
}

#[test]
fn a_message_of_the_game_may_be_called_as_the_end_of_a_machine() {
    let words = Words::from_json(r#"{ "messages": ["done"] }"#).unwrap();
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', on = 'done' }]\nstates.b.final = true\n";
    assert_eq!(reported(file, Some(&words)), []);
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
    let definition = Definition::parse(&file(&|i| (i + 1) % 2_000), &small_game()).unwrap();
    assert_eq!(definition.states().len(), 2_000);
    assert_eq!(definition.warnings(), []);
    let problems = Definition::parse(&file(&|i| i + 20_000), &small_game()).unwrap_err();
    // It is one report.
    assert_eq!((problems.iter().len(), problems.unlisted()), (1, 1999));
    assert_eq!(
        problems.iter().next().unwrap().to_string(),
        "unknown state `s20000` (and at least 199 more like this, in lines 5, 7, 9, 11, 13, 15 and so on)"
    );
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

#[test]
fn mistakes_that_differ_in_names_only_are_one_report_when_there_are_many() {
    let file = |count: usize| {
        let mut file = String::from("initial = 'a'\n[states.a]\nexits = [\n");
        for i in 0..count {
            writeln!(file, "{{ to = 'a', when = 'in(unknown{i})' }},").unwrap();
        }
        file + "]\n"
    };
    assert_eq!(lines(&file(5)).len(), 5);
    assert_eq!(
        lines(&file(40)),
        [
            "a.toml:4:24: error: unknown state `unknown0` (and 39 more like this, in lines 5, 6, 7, 8, 9, 10 and so on): \
         define it: `[states.unknown0]`"
        ]
    );
    let problems = Outline::parse("a.toml", &file(40), None).unwrap_err();
    assert_eq!((problems.errors(), problems.unlisted()), (40, 39));
    // An editor shows each at its place.
    assert_eq!(Survey::of("a.toml", &file(40), None, &|_| None, None).problems().iter().len(), 40);
}

#[test]
fn a_text_that_the_file_breaks_off_in() {
    assert_eq!(
        lines("initial = \"a\"\n[states.a]\nexits = [{ to = \"a\", when = \"health <"),
        ["a.toml:3:29: error: a quote is missing behind a text: write `\"health <\"`"]
    );
}

#[test]
fn an_empty_file() {
    assert_eq!(
        lines("  \n"),
        ["a.toml:1:1: error: the file is empty: \
          a definition needs `initial = \"..\"` and at least one `[states.name]`"]
    );
}

/// A report handler would have to write more spaces than it can count.
#[test]
fn a_mistake_in_a_line_too_long_to_be_drawn_is_reported_without_its_place_underlined() {
    let file = format!("{}initial = 'idel'\n[states.idle]\nfinal = true\n", " ".repeat(70_000));
    let problems = Outline::parse("a.toml", &file, None).unwrap_err();
    assert_eq!(drawn(&problems), "unknown-state\n\n  × unknown state `idel`\n  help: did you mean `idle`?\n");
    assert_eq!(lines(&file), ["a.toml:1:70011: error: unknown state `idel`: did you mean `idle`?"]);
}

#[test]
fn bytes_that_are_not_utf8() {
    let problems = Outline::from_bytes("grunt.toml", b"initial = \"idle\"\n# caf\xe9\n", None).unwrap_err();
    assert_eq!(
        drawn(&problems),
        r#"not-utf8

  × the file is not UTF-8 text
   ╭─[grunt.toml:2:6]
 1 │ initial = "idle"
 2 │ # caf�
   ·      ┬
   ·      ╰── the first byte that is not
   ╰────
  help: save the file as UTF-8
"#
    );
}

#[test]
fn without_a_vocabulary_what_could_not_be_checked_is_listed() {
    let file = r#"
        initial = "idle"
        [states.idle]
        behaviour = "sleep"
        exits = [{ to = "attack", when = "stamina > 3 and near", on = "alarm", after = "7 ticks" }]
        [states.attack]
        exits = [{ to = "idle" }]
    "#;
    let outline = Outline::parse("grunt.toml", file, None).unwrap();
    let unchecked = outline.unchecked();
    assert_eq!(
        Vec::from_iter(&unchecked.values),
        [(&"near".to_owned(), &ValueKind::Flag), (&"stamina".to_owned(), &ValueKind::Number)]
    );
    assert_eq!(Vec::from_iter(&unchecked.behaviors), ["sleep"]);
    assert_eq!(Vec::from_iter(&unchecked.messages), ["alarm"]);
    assert!(unchecked.ticks);
}

#[test]
fn an_outline_tells_where_a_state_is_named() {
    let file = "initial = 'a'\n[states.a]\nbehavior = { name = 'leap', then = 'b', never = ['b'] }\n\
                exits = [{ to = \"b\", when = 'time_in(\"b\") > 3' }]\n[states.b]\nfinal = true\n";
    let outline = Outline::parse("a.toml", file, Some(&game())).unwrap();
    let uses: Vec<_> = outline.uses(outline.states()[1].id()).into_iter().map(|at| &file[at]).collect();
    assert_eq!(uses, ["b", "'b'", "'b'", "\"b\"", "\"b\""]);
    assert_eq!(outline.states()[0].behaviors().collect::<Vec<_>>(), ["leap"]);
}

#[test]
fn a_slip_in_a_file_with_a_link_is_one_report() {
    let folder = std::env::temp_dir().join(format!("demeanor-reports-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("round.toml"), "initial = 'x'\nstates.x.final = true\n").unwrap();
    let file = "initial = \"a\n[states.a]\nmachine = \"round.toml\"\nexits = [{ to = \"b\", on = \"done\" }]\n[states.b]\nfinal = true\n";
    let problems = Outline::parse_all_at(folder.join("a.toml"), file, None).unwrap_err();
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(told, ["a quote is missing behind a text"]);
}

#[test]
fn a_file_of_another_format_is_named() {
    let told = "a definition is written in TOML: begin with `initial = \"idle\"`, and write a state as `[states.idle]`";
    for (format, file) in [
        (
            "YAML",
            "initial: idle\nstates:\n  idle:\n    exits:\n      - to: attack\n        when: near\n  attack:\n    final: true\n",
        ),
        ("YAML", "---\n# a guard\ninitial: \"idle\"\nstates:\n  idle: { final: true }\n"),
        ("JSON", "{\n  \"initial\": \"idle\",\n  \"states\": { \"idle\": { \"final\": true } }\n}\n"),
        ("JSON", "{\"initial\":\"idle\",\"states\":{\"idle\":{\"final\":true}}}"),
        ("XML", "<?xml version=\"1.0\"?>\n<machine initial=\"idle\"><state name=\"idle\"/></machine>\n"),
        ("RON", "(\n    initial: \"idle\",\n    states: { \"idle\": (final: true) },\n)\n"),
    ] {
        assert_eq!(lines(file), [format!("a.toml:1:1: error: this is {format}: {told}")], "{file}");
    }
}

#[test]
fn long_names_are_cut_off() {
    let long = "x".repeat(100_000);
    assert_eq!(
        lines(&format!("initial = '{long}'\n[states.a]\nfinal = true\n")),
        [format!("a.toml:1:11: error: unknown state `{}…`: define it: `[states.{}…`", "x".repeat(80), "x".repeat(72))]
    );
}

#[test]
fn the_page_shows_a_slip_as_it_is_drawn() {
    let file = "initial = \"wander\"\n\n[states.wander]\nbehavior = \"wander\"\n\
                exits = [{ to = \"attack, when = \"enemy_visible\" }]\n\n[states.attack]\nfinal = true\n";
    let drawn = drawn(&Outline::parse("guard.toml", file, None).unwrap_err());
    assert!(include_str!("../../docs/definitions.md").contains(&*drawn), "{drawn}");
}
