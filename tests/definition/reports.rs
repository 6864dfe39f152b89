//! What a report of a mistaken file says: one report for each slip, with what to write at that place.
#![cfg(feature = "definition")]

use std::fmt::Write as _;
use std::fs;

use demeanor::definition::{Outline, Survey, Vocabulary, Words};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::commented::reported;
use crate::guard::Guard;

struct Walk;
impl demeanor::State<Guard> for Walk {}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only checked")]
struct WalkParams {
    speed: f64,
}

fn words() -> Words {
    Vocabulary::<Guard>::new().flag("seen", |_: &Guard, _| true).behavior_with("walk", |_: WalkParams| Walk).export()
}

#[track_caller]
fn assert_told(file: &str, expected: &str) {
    assert_eq!(reported(file, None), [format!("a.toml:{expected}")], "{file}");
}

/// A file with something in place of a condition, with its quotes.
fn with_condition(condition: &str) -> String {
    format!("initial = 'a'\n[states.a]\nexits = [{{ to = 'b', when = {condition} }}]\n[states.b]\nfinal = true\n")
}

/// A file with something in place of a duration.
fn with_duration(after: &str) -> String {
    format!("initial = 'a'\n[states.a]\nexits = [{{ to = 'b', after = \"{after}\" }}]\n[states.b]\nfinal = true\n")
}

#[test]
fn one_mistake_in_many_places_is_one_report() {
    let file = "initial = 'fed'\n[states.fed]\nexits = [{ to = 'feed', on = 'x' }, { to = 'feed', on = 'y' }]\n\
                [states.b]\nexits = [{ to = 'feed', after = 1 }]\n";
    assert_told(file, "3:17: error: unknown state `feed` (and 2 more like this, in lines 3, 5): did you mean `fed`?");
    // Twice, each is told.
    let twice = file.replace("{ to = 'feed', on = 'x' }, ", "");
    assert_eq!(reported(&twice, None).len(), 2);
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
    assert_eq!(reported(&file(5), None).len(), 5);
    assert_told(
        &file(40),
        "4:24: error: unknown state `unknown0` (and 39 more like this, in lines 5, 6, 7, 8, 9, 10 and so on): \
         define it: `[states.unknown0]`",
    );
    let problems = Outline::parse("a.toml", &file(40), None).unwrap_err();
    assert_eq!((problems.errors(), problems.unlisted()), (40, 39));
    // An editor shows each at its place.
    assert_eq!(Survey::of("a.toml", &file(40), None, &|_| None, None).problems().iter().len(), 40);
}

#[test]
fn a_misspelled_key_or_parameter_is_not_missing_too() {
    assert_told(
        "initial = 'a'\n[states.a]\nexits = [{ target = 'b' }]\n[states.b]\nfinal = true\n",
        "3:12: error: unknown key `target` in an exit: did you mean `to`?",
    );
    assert_eq!(
        reported("initial = 'a'\n[states.a]\nbehavior = { name = 'walk', sped = 2.0 }\nfinal = true\n", Some(&words())),
        ["a.toml:3:29: error: behavior `walk` has no parameter `sped`: did you mean `speed`?"]
    );
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
fn advice_is_for_the_machine_in_which_the_mistake_is() {
    assert_told(
        "[machines.fish]\ninitial = 'a'\n[machines.fish.states.\"belly up]\nfinal = true\n[machines.fish.states.a]\nfinal = true\n",
        "3:1: error: a quote is missing in the header: write `[machines.fish.states.\"belly up\"]`",
    );
    assert_told(
        "[machines.'big fish']\ninitial = 'a'\nstates.a.exits = [{ to = 'x y', after = 1 }]\n",
        "3:26: error: unknown state `x y`: define it: `[machines.\"big fish\".states.\"x y\"]`",
    );
    assert_eq!(
        reported("[machines.fish.states.a]\ninitial = 'b'\n[machines.fish.states.b]\nfinal = true\n", None)[0],
        "a.toml:2:1: error: `initial` belongs to state `a` here: write `initial` under the header `[machines.fish]`"
    );
}

#[test]
fn what_is_nearly_a_duration_is_told_what_it_is() {
    for (after, expected) in [
        ("500 µs", "the shortest unit of time is `ms`: write the seconds: `0.0005`"),
        ("1.000,5 s", "a number has a decimal point, not a comma: write `\"1000.5 s\"`"),
        ("2 s ... 4 s", "a range is written with two dots: write `\"2 s .. 4 s\"`"),
    ] {
        let expected = format!("3:30: error: `after` must be a duration: {expected}");
        assert_told(&with_duration(after), &expected);
    }
    for (after, cause) in [
        ("-2", "a time is not negative"),
        ("2 s .. digest", "`digest` is not a time: a range leads from a time to a time"),
    ] {
        let told = reported(&with_duration(after), None);
        assert!(told[0].starts_with(&format!("a.toml:3:30: error: `after` must be a duration: {cause}: ")), "{told:?}");
    }
    let outline = Outline::parse("a.toml", &with_duration("1e3 ms"), None).unwrap();
    assert_eq!(outline.states()[0].exits()[0].after().unwrap().seconds(), Some(1.0));
    assert_eq!(
        reported("initial = 'a'\n[states.a]\nevery = 'seen'\nexits = [{ to = 'a', when = 'seen' }]\n", Some(&words())),
        ["a.toml:3:9: error: `seen` is true or false, not a time: \
          write a time such as `0.5`; what is true or false is asked in a `when`"]
    );
}

#[test]
fn a_bracket_that_is_missing_is_told_with_what_it_belongs_to() {
    assert_told(
        "initial = 'a'\n[states.a]\nexits = { to = 'b' }]\n[states.b]\nfinal = true\n",
        "3:9: error: a `[` is missing: write `[` before it",
    );
    let file = "initial = 'a'\n[states.a]\nexits = [\n  { to = 'b', after = 1,\n  { to = 'b', after = 2 },\n]\n[states.b]\nfinal = true\n";
    let problems = Outline::parse("a.toml", file, None).unwrap_err();
    let problem = problems.iter().next().unwrap();
    let lines: Vec<_> = problem.labeled_spans().map(|(at, text)| (problem.position(at.start).0, text)).collect();
    assert_eq!(lines, [(4, "here"), (4, "the table begins here")]);
}

#[test]
fn a_header_that_stands_in_other_signs_is_told_how_it_is_written() {
    assert_told(
        "initial = 'flee'\n['states.flee']\nfinal = true\n[states.a]\nentry = true\nfinal = true\n",
        "2:2: error: `states.flee` stands in quotes, so that it is one name: write `[states.flee]`",
    );
    assert_told(
        "initial = 'a'\n(states.a)\nfinal = true\n[states.b]\nentry = true\nfinal = true\n",
        "2:1: error: a header stands in square brackets: write `[states.a]`",
    );
}

#[test]
fn a_state_of_a_machine_that_is_defined_twice_is_told_with_the_first_one() {
    let file =
        "[machines.m]\ninitial = 'a'\n[machines.m.states.a]\nentry = true\n[machines.m.states.a]\nfinal = true\n";
    let problems = Outline::parse("a.toml", file, None).unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!((problem.to_string().as_str(), problem.line()), ("state `a` is defined twice", 5));
    let second = problem.labeled_spans().nth(1).map(|(at, text)| (problem.position(at.start), text));
    assert_eq!(second, Some(((3, 20), "first defined here")));
}

#[test]
fn signs_that_conditions_do_not_have_are_told_what_to_write() {
    for (condition, column, expected) in [
        ("'`seen`'", 30, "expected a value, a number, `not` or `(`: remove the backticks: names of values stand alone"),
        (
            "'seen\u{a0}and x > 1'",
            34,
            "expected `and`, `or` or the end: this is a non-breaking space: write a plain space",
        ),
        ("'x <> 1'", 33, "expected a value or a number to compare with: write `!=`"),
        (
            "'x % 2 == 0'",
            32,
            "expected `and`, `or` or the end: there is no remainder: let the game offer the result as a value",
        ),
        (
            "'x ^ 2 > 3'",
            32,
            "expected `and`, `or` or the end: there are no powers: write `x * x`, or let the game offer the result as a value",
        ),
        (
            "'round(x) > 3'",
            35,
            "expected `and`, `or` or the end: there is no function `round`: there are `min`, `max`, `abs`, and what the game offers as values",
        ),
        (
            "'time_in_state > 20 ticks'",
            49,
            "expected `and`, `or` or the end: times are in seconds in a condition: divide by the ticks of a second, or use `after`",
        ),
        ("true", 29, "`when` must be a string, not true or false: remove `when`: without one, it always holds"),
    ] {
        assert_told(&with_condition(condition), &format!("3:{column}: error: {expected}"));
    }
    assert_told(
        "initial = 'a'\n[states.a]\nexits = { to = 'b' }\n[states.b]\nfinal = true\n",
        "3:9: error: `exits` must be a list, not a table: write `[` before the table and `]` behind it: `exits` may be several",
    );
}
