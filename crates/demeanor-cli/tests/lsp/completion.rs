//! Completion at a position.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::editor::{Editor, cursor, edited};

const REST: &str = "
[states.chase]
parent = \"fight\"

[states.fight]
initial = \"chase\"

[states.\"run to cover\"]
final = true
";

/// Returns the completions at the `|`.
fn offered(text: &str) -> Vec<Value> {
    let mut editor = Editor::new();
    let list = editor.at("textDocument/completion", text).unwrap();
    assert_eq!(list["isIncomplete"], false);
    let items = list["items"].as_array().unwrap().clone();
    editor.close();
    items
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["label"].as_str().unwrap()).collect()
}

/// Returns the line of the `|` after the completion has been inserted.
fn taken(text: &str, label: &str) -> String {
    let items = offered(text);
    let labels = labels(&items);
    let item = items.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("{label} in {labels:?}"));
    let (text, line, _) = cursor(text);
    edited(&text, &json!([item["textEdit"]])).lines().nth(line).unwrap().to_owned()
}

#[test]
fn the_keys_of_a_state_are_those_of_the_schema_that_are_not_there_yet() {
    let items = offered("initial = 'a'\n[states.a]\nbehavior = 'look'\n|\nfinal = true\n");
    assert_eq!(
        labels(&items),
        [
            "choose",
            "enter",
            "enter_when",
            "entry",
            "every",
            "exit",
            "exits",
            "history",
            "ignore",
            "initial",
            "machine",
            "note",
            "params",
            "parent",
            "region",
            "regions",
            "script",
            "states"
        ]
    );
    assert_eq!(
        items[3],
        json!({
            "label": "entry",
            "kind": 10,
            "documentation": {
                "kind": "markdown",
                "value": "Whether the game's code changes to this state, so that no exit has to lead to it.",
            },
            "textEdit": {
                "range": { "start": { "line": 3, "character": 0 }, "end": { "line": 3, "character": 0 } },
                "newText": "entry",
            },
        })
    );
}

#[test]
fn every_kind_of_table_has_its_keys() {
    let of_exit = [
        "after",
        "always",
        "at",
        "cooldown",
        "do",
        "even_final",
        "note",
        "on",
        "pop",
        "push",
        "restart",
        "resume",
        "score",
        "set",
        "weight",
        "when",
    ];
    assert_eq!(labels(&offered("[states.a]\nexits = [{ to = 'a', | }]\n")), of_exit);
    assert_eq!(labels(&offered("[[states.a.exits]]\nto = 'a'\n|")), of_exit);
    assert_eq!(
        labels(&offered("|")),
        ["conditions", "constants", "global", "initial", "machines", "properties", "states", "ticks_per_second"]
    );
    assert_eq!(labels(&offered("[machines.imp]\ninitial = 'a'\n|")), ["global", "like", "properties", "states"]);
    assert_eq!(labels(&offered("[states.a]\nenter_when = { | }\n")), ["script"]);
    assert_eq!(labels(&offered("[|")), ["states.", "machines.", "constants", "conditions", "properties."]);
}

#[test]
fn a_property_is_offered_its_keys_conditions_and_states() {
    for begin in ["[properties.p]\n", "[properties]\np = { ", "[machines.imp.properties.p]\n"] {
        let end = if begin.ends_with("{ ") { " }\n" } else { "\n" };
        let at = |line: &str| offered(&format!("initial = 'chase'\n{begin}{line}{end}"));
        assert_eq!(labels(&at("always = '', |")).len(), 4);
        assert_eq!(labels(&at("|")), ["always", "from", "never", "reach", "within"], "{begin}");
        assert_eq!(labels(&at("within = '2|'")), ["2 s", "2 ms", "2 min", "2 h", "2 ticks"]);
        assert_eq!(labels(&at("within = '2 m|'")), ["2 s", "2 ms", "2 min", "2 h", "2 ticks"]);
        let words = at("reach = 'not |'");
        let words = labels(&words);
        assert!(words.contains(&"health") && words.contains(&"in") && words.contains(&"time_in"), "{words:?}");
        assert!(!words.contains(&"time_in_state") && !words.contains(&"chance"), "{words:?}");
    }
    let file = format!("initial = 'chase'\n[properties.p]\nnever = 'in(ch|)'\n{REST}");
    assert_eq!(labels(&offered(&file))[..2], ["chase", "fight"]);
}

#[test]
fn ways_to_choose_are_offered_and_values_for_scores() {
    assert_eq!(labels(&offered("[states.a]\nchoose = '|'\n")), ["first", "best", "random"]);
    let of_exit = |key: &str| {
        let words = "[constants]\npause = 3\n[conditions]\nweak = 'health < 3'\n";
        let file = format!("initial = 'a'\n{words}[states.a]\nexits = [{{ to = 'a', {key} = '|' }}]\n");
        let offers = offered(&file);
        labels(&offers).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let in_condition = of_exit("when");
    assert_eq!(in_condition[..2], ["pause", "weak"]);
    // A calculation has numbers only.
    let mut numbers = in_condition;
    let conditions = ["weak", "in", "chance", "chance_per_second", "and", "or", "not", "true", "false"];
    numbers.retain(|word| !conditions.contains(&word.as_str()));
    assert_eq!(of_exit("score"), numbers);
    assert_eq!(of_exit("weight"), numbers);
    assert_eq!(of_exit("after"), ["pause", "health"]);
}

#[test]
fn units_are_offered_behind_a_number() {
    let units = ["2 s", "2 ms", "2 min", "2 h", "2 ticks", "health"];
    for line in ["every = '2|'", "every = 2|", "exits = [{ to = 'a', after = \"2 |\" }]"] {
        assert_eq!(labels(&offered(&format!("[states.a]\n{line}\n"))), units, "{line}");
    }
    assert_eq!(labels(&offered("[states.a]\nevery = '2 s .. 4|'\n"))[0], "2 s .. 4 s");
    assert_eq!(labels(&offered("[states.a]\nevery = '|'\n")), ["health"]);
    assert_eq!(taken("[states.a]\nevery = 2|\n", "2 ms"), "every = \"2 ms\"");
}

#[test]
fn files_are_offered_for_scripts_and_machines() {
    let mut editor = Editor::new();
    for file in ["round.toml", "low.rhai", "words.json", "rounds/long.toml", "rounds/more/low.rhai", "target/x.toml"] {
        editor.write(file, "");
    }
    let mut at = |text: &str| {
        let list = editor.at("textDocument/completion", text).unwrap();
        labels(list["items"].as_array().unwrap()).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(at("[states.a]\nmachine = '|'\n"), ["round.toml", "rounds/long.toml"]);
    let scripts = ["low.rhai", "rounds/more/low.rhai"];
    assert_eq!(at("[states.a]\nscript = '|'\n"), scripts);
    assert_eq!(at("[states.a]\nexits = [{ to = 'a', when = { script = | } }]\n"), scripts);
    editor.close();
}

#[test]
fn without_a_vocabulary_the_words_of_the_file_are_offered() {
    let mut editor = Editor::with(None, &json!({}), &json!(null));
    let file = "initial = 'a'\n[states.a]\nexits = [{ to = 'a', on = 'hit', when = 'health < 3' }]\n[states.b]\n";
    let mut at = |line: &str| {
        let list = editor.at("textDocument/completion", &format!("{file}{line}")).unwrap();
        labels(list["items"].as_array().unwrap()).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(at("exits = [{ to = 'a', on = '|' }]\n"), ["hit"]);
    assert_eq!(at("exits = [{ to = 'a', at = '|' }]\n"), ["health"]);
    assert_eq!(at("exits = [{ to = 'a', when = '|' }]\n")[0], "health");
    editor.close();
}

#[test]
fn actions_are_offered_and_values_that_can_be_set() {
    for line in [
        "enter = |",
        "exit = ['roar', '|']",
        "enter = { | }",
        "exits = [{ to = 'a', do = '|' }]",
        "exits = [{ to = 'a', do = { | } }]",
        "exits = [{ to = 'a', do = ['roar', { | }] }]",
    ] {
        assert_eq!(labels(&offered(&format!("[states.a]\n{line}\n"))), ["roar", "spawn"], "{line}");
    }
    assert_eq!(labels(&offered("[states.a]\nenter = { spawn = 3, | }\n")), ["roar"]);
    assert_eq!(labels(&offered("[states.a]\nexits = [{ to = 'a', set = { | } }]\n")), ["enemy_visible"]);
    let new = offered("[states.a]\nexits = [{ to = 'a', set = { enemy_visible = | } }]\n");
    assert_eq!(labels(&new), ["true", "false"]);
    let in_score = offered("[states.a]\nexits = [{ to = 'a', score = 'heal|' }]\n");
    let in_argument = offered("[states.a]\nexits = [{ to = 'a', do = { spawn = 'heal|' } }]\n");
    assert_eq!(labels(&in_score), labels(&in_argument));
}

#[test]
fn states_are_offered_where_one_is_named() {
    let all = ["guard", "chase", "fight", "run to cover"];
    for line in [
        "exits = [{ to = \"|\" }]",
        "exits = [{ to = | }]",
        "exits = [{ push = | }]",
        "exits = [{ resume = '|' }]",
        "exits = [{ when = 'in(|",
        "parent = |",
        "initial = '|'",
        "exits = [\n  { to = 'fight' },\n  { to = \"ch|",
        "enter_when = \"health < 3 and time_in(|) > 3\"",
        "behavior = { name = 'walk', then = '|' }",
    ] {
        let text = format!("initial = 'guard'\n[states.guard]\n{line}\n{REST}");
        // An exit may also lead back.
        let back = line.contains("to = ").then_some("$previous");
        assert_eq!(labels(&offered(&text)), all.into_iter().chain(back).collect::<Vec<_>>(), "{line}");
    }
    for line in ["initial = |", "global = '|'"] {
        let text = format!("{line}\n[states.guard]\n{REST}");
        assert_eq!(labels(&offered(&text)), all, "{line}");
    }
}

#[test]
fn a_name_is_written_with_the_quotes_that_it_needs() {
    let with = |line: &str| taken(&format!("initial = 'guard'\n[states.guard]\n{line}\n{REST}"), "run to cover");
    assert_eq!(with("exits = [{ to = | }]"), "exits = [{ to = \"run to cover\" }]");
    assert_eq!(with("exits = [{ to = \"ru|\" }]"), "exits = [{ to = \"run to cover\" }]");
    assert_eq!(with("exits = [{ to = 'ru|n' }]"), "exits = [{ to = 'run to cover' }]");
    assert_eq!(with("exits = [{ to = \"ru|"), "exits = [{ to = \"run to cover");
    assert_eq!(with("enter_when = \"not in(ru|)\""), "enter_when = \"not in('run to cover')\"");
    assert_eq!(with("enter_when = 'not in(ru|)'"), "enter_when = 'not in(\"run to cover\")'");
    assert_eq!(with("enter_when = \"not in('ru|')\""), "enter_when = \"not in('run to cover'')\"");
}

#[test]
fn the_states_are_those_of_the_machine() {
    let file = "[machines.imp]\ninitial = 'a'\nstates.a.final = true\n[machines.baron]\nlike = 'imp'\n[machines.baron.states.b]\nexits = [{ to = '|' }]\n[machines.other]\ninitial = 'c'\nstates.c.final = true\n";
    assert_eq!(labels(&offered(file)), ["a", "b", "$previous"]);
    let like = file.replace("to = '|'", "to = 'a'").replace("like = 'imp'", "like = '|'");
    assert_eq!(labels(&offered(&like)), ["imp", "other"]);
}

#[test]
fn words_of_the_game_are_offered_with_what_they_are() {
    let with = |line: &str| offered(&format!("initial = 'a'\n[states.a]\n{line}\n"));
    let items = with("behavior = '|'");
    assert_eq!(labels(&items), ["look", "walk"]);
    assert_eq!(
        items[1]["documentation"]["value"],
        "behavior `walk`\n\nWalks somewhere.\n\nparameters:\n- `gait`: `slow` or `fast`\n- `quietly`: true or false\n\
         - `speed`: a number, needed. In meters a second.\n- `then`: a state"
    );
    assert_eq!(labels(&with("behavior = ['look', '|']")), ["look", "walk"]);
    assert_eq!(labels(&with("behavior = { name = '|' }")), ["look", "walk"]);
    assert_eq!(labels(&with("behavior = { name = 'walk', sp| }")), ["gait", "quietly", "speed", "then"]);
    assert_eq!(labels(&with("behavior = 'walk'\nparams = { speed = 3, | }")), ["gait", "quietly", "then"]);
    assert_eq!(labels(&with("behavior = 'walk'\n[states.a.params]\n|")), ["gait", "quietly", "speed", "then"]);
    assert_eq!(labels(&with("behavior = 'walk'\nparams = { gait = '|' }")), ["slow", "fast"]);
    assert_eq!(labels(&with("behavior = 'walk'\nparams = { quietly = | }")), ["true", "false"]);
    assert_eq!(labels(&with("exits = [{ on = '|' }]")), ["hit", "noise"]);
    assert_eq!(labels(&with("machine = 'round'\nexits = [{ on = '|' }]")), ["hit", "noise", "done"]);
    assert_eq!(labels(&with("every = '|'")), ["health"]);
    assert_eq!(labels(&with("final = |")), ["true", "false"]);
}

#[test]
fn a_condition_is_completed_word_by_word() {
    let with = |when: &str| {
        offered(&format!("initial = 'a'\n[states.a]\nexits = [{{ when = \"{when}\", to = 'a', on = 'hit' }}]\n"))
    };
    let words = [
        "enemy_visible",
        "health",
        "message.",
        "time_in_state",
        "time_in",
        "in",
        "chance",
        "chance_per_second",
        "min",
        "max",
        "abs",
        "and",
        "or",
        "not",
        "true",
        "false",
    ];
    assert_eq!(labels(&with("|")), words);
    assert_eq!(labels(&with("health < 3 and en|")), words);
    assert_eq!(labels(&with("message.|")), ["damage", "is_critical"]);
    assert_eq!(
        with("health < 3 and cha|")[6],
        json!({
            "label": "chance",
            "kind": 3,
            "detail": "chance(p)",
            "documentation": {
                "kind": "markdown",
                "value": "Holds with the chance `p`, from 0 to 1, each time that it is asked.",
            },
            "filterText": "chance(",
            "textEdit": {
                "range": { "start": { "line": 2, "character": 34 }, "end": { "line": 2, "character": 37 } },
                "newText": "chance(",
            },
        })
    );
    let line = taken("[states.a]\nenter_when = 'not enem| or health < 3'\n", "enemy_visible");
    assert_eq!(line, "enter_when = 'not enemy_visible or health < 3'");
}

#[test]
fn states_are_known_while_the_file_is_broken() {
    let mut editor = Editor::new();
    let good = format!("initial = 'guard'\n[states.guard]\nexits = []\n{REST}");
    editor.open("guard.toml", &good);
    editor.problems("guard.toml");
    let (broken, line, column) = cursor(&good.replace("exits = []", "exits = [{ to = \"\"\"|"));
    editor.replace("guard.toml", 2, &broken);
    let list = editor.ask_at("textDocument/completion", "guard.toml", line, column, &json!({})).unwrap();
    assert_eq!(labels(list["items"].as_array().unwrap()), ["guard", "chase", "fight", "run to cover", "$previous"]);
    editor.close();
}

#[test]
fn of_many_names_those_are_offered_that_begin_so() {
    let mut editor = Editor::new();
    let mut text = String::from("initial = 's199|'\n");
    for i in 0..2000 {
        let _ = writeln!(text, "[states.s{i}]");
    }
    let list = editor.at("textDocument/completion", &text).unwrap();
    assert_eq!(list["isIncomplete"], true);
    let expected: Vec<_> = ["s199".to_owned()].into_iter().chain((1990..2000).map(|i| format!("s{i}"))).collect();
    assert_eq!(labels(list["items"].as_array().unwrap()), expected);
    editor.close();
}

#[test]
fn the_initial_state_of_a_region_is_completed() {
    let file = |value| format!("initial = 'a'\n[states.a]\nregions = {{ legs = {value} }}\n[states.b]\nparent = 'a'\n");
    assert_eq!(taken(&file("'|'"), "b"), "regions = { legs = 'b' }");
    assert_eq!(taken(&file("|"), "b"), "regions = { legs = \"b\" }");
}
