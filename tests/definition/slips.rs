//! Slips of the pen: what is reported of a file that is right but for one of them. It is one report, and says what to write.
#![cfg(feature = "definition")]

use demeanor::definition::Outline;
use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::commented::reported;

const FILE: &str = r#"initial = "idle"

[states.idle]
behavior = "rest"
exits = [
    { to = "attack", when = "enemy_visible" },
    { to = "flee", when = "health < 20" },
]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]

[states.flee]
every = 0.5
exits = [{ to = "idle", after = "2 s" }]
"#;

/// What is said of a file, a line each.
fn lines(file: &str) -> Vec<String> {
    reported(file, None)
}

/// What is said of the file where something in it is written in another way.
#[track_caller]
fn slip(right: &str, wrong: &str) -> String {
    assert_eq!(FILE.matches(right).count(), 1, "{right}");
    let lines = lines(&FILE.replace(right, wrong));
    assert_eq!(lines.len(), 1, "{lines:#?}");
    lines[0].strip_prefix("a.toml:").unwrap().replacen(" error: ", " ", 1)
}

#[test]
fn the_file_is_right() {
    assert_eq!(lines(FILE), [""; 0]);
}

#[test]
fn a_quote_is_missing() {
    for (right, wrong, expected) in [
        ("initial = \"idle\"", "initial = \"idle", "1:11: a quote is missing behind a text: write `\"idle\"`"),
        ("initial = \"idle\"", "initial = idle\"", "1:11: a quote is missing before a text: write `\"idle\"`"),
        ("to = \"attack\", when", "to = \"attack, when", "6:12: a quote is missing behind a text: write `\"attack\"`"),
        ("to = \"attack\", when", "to = attack\", when", "6:12: a quote is missing before a text: write `\"attack\"`"),
        (
            "when = \"enemy_visible\" }",
            "when = \"enemy_visible }",
            "6:29: a quote is missing behind a text: write `\"enemy_visible\"`",
        ),
        (
            "when = \"enemy_visible\" }",
            "when = enemy_visible\" }",
            "6:29: a quote is missing before a text: write `\"enemy_visible\"`",
        ),
        ("after = \"2 s\" }]", "after = \"2 s }]", "15:33: a quote is missing behind a text: write `\"2 s\"`"),
        (
            "when = \"enemy_visible\" }",
            "when = \"enemy_visible' }",
            "6:29: a text ends with the quote that it begins with: write `\"enemy_visible\"`",
        ),
        ("[states.attack]", "[states.\"attack]", "10:1: a quote is missing in the header: write `[states.attack]`"),
        ("[states.attack]", "[states.attack\"]", "10:1: a quote is missing in the header: write `[states.attack]`"),
        (
            "\"not enemy_visible\"",
            "\"not \"enemy_visible\"\"",
            "11:38: a quote within a text ends it: write one kind of quotes around the text, and the other in it",
        ),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_bracket_is_missing_or_one_too_many() {
    for (right, wrong, expected) in [
        ("when = \"enemy_visible\" },", "when = \"enemy_visible\" ,", "6:46: a `}` is missing: write `}` here"),
        ("    { to = \"attack\"", "    to = \"attack\"", "6:5: a `{` is missing: write `{` before it"),
        (
            "    { to = \"flee\", when = \"health < 20\" },\n]",
            "    { to = \"flee\", when = \"health < 20\" },\n",
            "7:43: a `]` is missing: write `]` here",
        ),
        ("\"not enemy_visible\" }]", "\"not enemy_visible\" }", "11:53: a `]` is missing: write `]` here"),
        ("\"not enemy_visible\" }]", "\"not enemy_visible\" ]", "11:52: a `}` is missing: write `}` here"),
        ("\"not enemy_visible\" }]", "\"not enemy_visible\"", "11:51: a `}]` is missing: write `}]` here"),
        ("\"not enemy_visible\" }]", "\"not enemy_visible\" }]]", "11:54: there is one `]` too many: remove it"),
        ("[states.attack]", "[states.attack", "10:15: the header has no `]`: write `[states.attack]`"),
        ("[states.attack]", "states.attack]", "10:1: the header has no `[`: write `[states.attack]`"),
        ("[states.attack]", "[states.attack]]", "10:16: there is one `]` too many: remove it"),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_name_or_a_text_stands_in_no_quotes() {
    for (right, wrong, expected) in [
        (
            "[states.attack]",
            "[states.run away]",
            "10:1: a name with spaces stands in quotes: write `[states.\"run away\"]`",
        ),
        ("to = \"attack\"", "to = attack", "6:12: a text stands in quotes: write `\"attack\"`"),
        ("\"health < 20\"", "health < 20", "7:27: a text stands in quotes: write `\"health < 20\"`"),
        ("\"rest\"", "rest", "4:12: a text stands in quotes: write `\"rest\"`"),
        ("\"2 s\"", "200ms", "15:33: a text stands in quotes: write `\"200ms\"`"),
        ("\"2 s\"", "2s", "15:33: a text stands in quotes: write `\"2s\"`"),
        ("0.5", "10 ticks", "14:9: a text stands in quotes: write `\"10 ticks\"`"),
        ("\"2 s\"", "2..4 s", "15:33: a text stands in quotes: write `\"2..4 s\"`"),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn quotes_are_curly() {
    for (right, wrong, expected) in [
        ("\"attack\"", "“attack”", "6:12: a text stands in straight quotes: write `\"attack\"`"),
        (
            "\"enemy_visible\" }",
            "‘enemy_visible’ }",
            "6:29: a text stands in straight quotes: write `\"enemy_visible\"`",
        ),
        ("initial = \"idle\"", "initial = „idle“", "1:11: a text stands in straight quotes: write `\"idle\"`"),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_sign_of_another_language_stands_where_toml_has_its_own() {
    for (right, wrong, expected) in [
        ("\"attack\", when", "\"attack\" when", "6:21: a comma is missing: write `,` before this"),
        ("\"enemy_visible\" },", "\"enemy_visible\" }", "7:5: a comma is missing: write `,` before this"),
        ("to = \"attack\"", "to \"attack\"", "6:10: a key and its value are joined by `=`: write `=` between them"),
        (
            "initial = \"idle\"",
            "initial \"idle\"",
            "1:9: a key and its value are joined by `=`: write `=` between them",
        ),
        ("to = \"attack\"", "to: \"attack\"", "6:9: a key and its value are joined by `=`: write `to = ..`"),
        ("initial = \"idle\"", "initial: \"idle\"", "1:8: a key and its value are joined by `=`: write `initial = ..`"),
        ("to = \"attack\"", "to == \"attack\"", "6:11: a key and its value are joined by one `=`: write `=`"),
        ("to = \"attack\"", "to => \"attack\"", "6:11: a key and its value are joined by one `=`: write `=`"),
        ("initial = \"idle\"", "initial = \"idle\";", "1:17: a statement ends where its line ends: remove the `;`"),
        (
            "\"rest\"",
            "\"C:\\rest\\users\"",
            "4:22: `\\` begins an escape in a text: write `\\\\`, or put the text into single quotes",
        ),
        ("[states.attack]", "// the attack\n[states.attack]", "10:1: a comment begins with `#`: write `# the attack`"),
        ("\"rest\"", "\"rest\" // rests", "4:19: a comment begins with `#`: write `# rests`"),
        ("[states.attack]", "-- the attack\n[states.attack]", "10:1: a comment begins with `#`: write `# the attack`"),
        (
            "[states.attack]",
            "/* the attack */\n[states.attack]",
            "10:1: a comment begins with `#`: write `# the attack`",
        ),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_value_is_none() {
    for (right, wrong, expected) in [
        ("every = 0.5", "every = 0,5", "14:9: a number has a decimal point, not a comma: write `0.5`"),
        ("every = 0.5", "every = 50%", "14:9: a number has no `%`: write `0.5`"),
        (
            "\"2 s\"",
            "range * 2",
            "15:33: this is no value: let the game offer the result of `range * 2` as a value, and write the name of that",
        ),
        ("\"2 s\"", "2 .. 4", "15:33: a text stands in quotes: write `\"2 .. 4 s\"`"),
        ("every = 0.5", "final = True", "14:9: this is no value: write `true`"),
        ("every = 0.5", "history = no", "14:11: this is no value: write `false`"),
        ("every = 0.5", "script = None", "14:10: this is no value: remove `script`: what is not there is not written"),
        ("every = 0.5", "every =", "14:8: a key has no value: write a value behind `every =`, or remove it"),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_duration_is_nearly_one() {
    for (right, wrong, expected) in [
        (
            "\"2 s\"",
            "\"0,5 s\"",
            "15:33: `after` must be a duration: a number has a decimal point, not a comma: write `\"0.5 s\"`",
        ),
        (
            "\"2 s\"",
            "\"2 - 4 s\"",
            "15:33: `after` must be a duration: a range is written with two dots: write `\"2 .. 4 s\"`",
        ),
        ("\"2 s\"", "\"2 .. 4\"", "15:33: `after` must be a duration: it has no unit: write `\"2 .. 4 s\"`"),
        (
            "\"2 s\"",
            "\"range * 2\"",
            "15:33: `after` must be a duration: a duration cannot be calculated: let the game offer the result of `range * 2` as a value, and write the name of that",
        ),
        (
            "\"2 s\"",
            "\"10%\"",
            "15:33: `after` must be a duration: a time has a unit, not a `%`: write seconds, `2.5`, or a text with a unit: `\"200 ms\"`, `\"10 ticks\"`, `\"2 s .. 4 s\"`, or the name of a value",
        ),
        (
            "\"2 s\"",
            "\"max(range, 2)\"",
            "15:33: `after` must be a duration: a duration cannot be calculated: let the game offer the result of `max(range, 2)` as a value, and write the name of that",
        ),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_header_is_nearly_one() {
    for (right, wrong, expected) in [
        ("[states.attack]", "[state.attack]", "10:2: `state` is written `states`: write `[states.attack]`"),
        ("[states.attack]", "[attack]", "10:2: `[attack]` is not the header of a state: write `[states.attack]`"),
        ("[states.flee]", "[[states.flee]]", "13:10: the header of a state has single brackets: write `[states.flee]`"),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn a_condition_has_signs_of_another_language() {
    for (right, wrong, expected) in [
        ("\"health < 20\"", "\"health ≤ 20\"", "7:35: expected `and`, `or` or the end: write `<=`"),
        ("\"health < 20\"", "\"health ≥ 20\"", "7:35: expected `and`, `or` or the end: write `>=`"),
        ("\"health < 20\"", "\"health ≠ 20\"", "7:35: expected `and`, `or` or the end: write `!=`"),
        ("\"health < 20\"", "\"health < 2 × 10\"", "7:39: expected `and`, `or` or the end: write `*`"),
        ("\"health < 20\"", "\"health < 20 ÷ 2\"", "7:40: expected `and`, `or` or the end: write `/`"),
        ("\"health < 20\"", "\"health < 2 − 1\"", "7:39: expected `and`, `or` or the end: write `-`"),
        ("\"health < 20\"", "\"health = 20\"", "7:35: expected `and`, `or` or the end: write `==`"),
        ("\"health < 20\"", "\"health => 20\"", "7:35: expected `and`, `or` or the end: write `>=`"),
        ("\"health < 20\"", "\"health < 0,2\"", "7:38: expected `and`, `or` or the end: write `0.2`"),
        (
            "\"health < 20\"",
            "\"health < 10%\"",
            "7:39: expected `and`, `or` or the end: write the number alone: `10`, or `0.1` where 1 is the whole",
        ),
        (
            "\"health < 20\"",
            "\"time_in_state > 200ms\"",
            "7:47: expected `and`, `or` or the end: times are in seconds in a condition: write `0.2`",
        ),
        (
            "\"health < 20\"",
            "\"time_in_state > 2 min\"",
            "7:46: expected `and`, `or` or the end: times are in seconds in a condition: write `120`",
        ),
        ("\"health < 20\"", "\"seen && near\"", "7:33: expected `and`, `or` or the end: write `and`"),
        ("\"health < 20\"", "\"seen AND near\"", "7:33: expected `and`, `or` or the end: write `and`"),
        ("\"health < 20\"", "\"!seen\"", "7:28: expected a value, a number, `not` or `(`: write `not`"),
        ("\"health < 20\"", "\"chance(10%)\"", "7:35: a chance is a number from 0 to 1: 10 percent are `0.1`"),
        ("\"health < 20\"", "\"chance(0,5)\"", "7:36: expected `)`: write `0.5`"),
        ("\"health < 20\"", "\"health < {20}\"", "7:37: expected a value or a number to compare with: write `(`"),
        (
            "\"health < 20\"",
            "\"seen and 'near'\"",
            "7:37: expected a value, a number, `not` or `(`: remove the quotes: only the names of states with spaces have some",
        ),
        (
            "\"health < 20\"",
            "\"health < “20”\"",
            "7:37: expected a value or a number to compare with: remove the quotes: only the names of states with spaces have some",
        ),
    ] {
        assert_eq!(slip(right, wrong), expected, "{wrong}");
    }
}

#[test]
fn each_of_two_slips_is_reported() {
    let file = FILE.replace("to = \"attack\"", "to = \"attack").replace("\"2 s\"", "200ms");
    assert_eq!(
        lines(&file),
        [
            "a.toml:6:12: error: a quote is missing behind a text: write `\"attack\"`",
            "a.toml:15:33: error: a text stands in quotes: write `\"200ms\"`",
        ]
    );
}

#[test]
fn a_mistake_elsewhere_is_reported_beside_a_slip() {
    let file = FILE.replace("[states.attack]", "[states.attack").replace("health < 20", "health <");
    assert_eq!(
        lines(&file),
        [
            "a.toml:7:36: error: expected a value or a number to compare with",
            "a.toml:10:15: error: the header has no `]`: write `[states.attack]`",
        ]
    );
}

#[test]
fn what_a_merge_has_left_is_one_mistake() {
    let told = "two versions of this part have not been merged: \
                keep one of them, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`";
    let attack = "[states.attack]\nexits = [{ to = \"idle\", when = \"not enemy_visible\" }]\n";
    let both = format!("<<<<<<< HEAD\n{attack}=======\n{attack}>>>>>>> theirs\n");
    assert_eq!(lines(&FILE.replace(attack, &both)), [format!("a.toml:10:1: error: {told}")]);
    let exit = "    { to = \"flee\", when = \"health < 20\" },\n";
    let both = format!("<<<<<<< HEAD\n{exit}||||||| base\n=======\n{exit}>>>>>>> theirs\n");
    assert_eq!(lines(&FILE.replace(exit, &both)), [format!("a.toml:7:1: error: {told}")]);
    for mark in ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"] {
        assert_eq!(lines(&format!("{FILE}{mark}\n")), [format!("a.toml:16:1: error: {told}")], "{mark}");
    }
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
fn a_key_of_the_machine_stands_under_the_header_of_a_state() {
    let top = "write `initial` at the top, before the first header";
    let file = FILE.replace("initial = \"idle\"\n", "") + "initial = \"idle\"\n";
    assert_eq!(lines(&file), [format!("a.toml:15:1: error: `initial` belongs to state `flee` here: {top}")]);
    let file = FILE.replace("every = 0.5", "ticks_per_second = 35\nglobal = \"idle\"");
    assert_eq!(
        lines(&file),
        [
            "a.toml:14:1: error: `ticks_per_second` belongs to state `flee` here: \
             write `ticks_per_second` at the top, before the first header",
            "a.toml:15:1: error: `global` belongs to state `flee` here: write `global` at the top, before the first header",
        ]
    );
}

#[test]
fn a_key_of_a_machine_stands_before_several() {
    assert_eq!(
        lines("initial = 'idle'\n[machines.imp]\nstates.idle.final = true\n"),
        ["a.toml:1:1: error: `initial` belongs to no machine: this file has several: write it under `[machines.imp]`"]
    );
}

#[test]
fn names_are_shown_with_escapes_and_cut_off() {
    let long = "x".repeat(100_000);
    assert_eq!(
        lines(&FILE.replace("to = \"attack\"", &format!("to = \"{long}\""))),
        [format!("a.toml:6:12: error: unknown state `{0}…`: define it: `[states.{0}…`", "x".repeat(80))
            .replace(&format!("[states.{}…", "x".repeat(80)), &format!("[states.{}…", "x".repeat(72)))]
    );
    assert_eq!(
        lines(&FILE.replace("to = \"attack\"", "to = \"a\\u001b[2J\\nb\"")),
        ["a.toml:6:12: error: unknown state `a\\u{1b}[2J\\nb`: define it: `[states.\"a\\u{1b}[2J\\nb\"]`"]
    );
}

#[test]
fn the_page_shows_a_slip_as_it_is_drawn() {
    let file = "initial = \"wander\"\n\n[states.wander]\nbehavior = \"wander\"\n\
                exits = [{ to = \"attack, when = \"enemy_visible\" }]\n\n[states.attack]\nfinal = true\n";
    let problems = Outline::parse("guard.toml", file, None).unwrap_err();
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    let mut drawn = String::new();
    handler.render_report(&mut drawn, problems.iter().next().unwrap()).unwrap();
    let drawn = drawn.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let page = include_str!("../../docs/definitions.md");
    assert!(page.contains(&drawn), "{drawn}");
}
