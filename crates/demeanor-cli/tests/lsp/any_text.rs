//! The server answers whatever the user types.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::cases;
use crate::editor::Editor;

const FILE: &str = "initial = \"fight\"\nglobal = 'ears'\nticks_per_second = 35\n[states.ears]\nexits = [{ to = 'fight', on = 'hit', when = 'message.damage > 3' }]\n[states.fight]\ninitial = 'aim'\nparent = \"\"\n[states.'fight.aim']\nbehavior = ['look', { name = 'walk', speed = 3, then = 'rest' }]\nexits = [{ to = \"rest\", after = '2 ticks .. 4 s', when = \"\"\"time_in(aim) > 3\n and not in('rest')\"\"\" }]\n[machines.imp.states.rest]\nfinal = true\n[machines.baron]\nlike = 'imp'\n";

/// Text that a user types, mostly meaningful parts of the format.
fn typed() -> impl Strategy<Value = String> {
    let words = [
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "'''",
        "\"\"\"",
        "=",
        ",",
        ".",
        "\n",
        "\r\n",
        "\r",
        "#",
        "\\",
        "\\u00e4",
        "[states.",
        "states.a.exits = [{ to = 'a' }]",
        "parent = 'aim'",
        "initial = 'fight'",
        "in(",
        "time_in(",
        "message.",
        "\u{1f600}",
        "\u{e4}",
        "\u{0}",
        "machine = 'imp'",
        "machine = 'guard.toml'",
        "like = 'baron'",
        "\u{feff}",
        "[[states.a.exits]]",
    ];
    prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => Just(String::new()),
    ]
}

fn place() -> impl Strategy<Value = (u32, u32)> {
    prop_oneof![9 => (0..20u32, 0..70u32), 1 => (any::<u32>(), any::<u32>())]
}

fn position((line, character): (u32, u32)) -> Value {
    json!({ "line": line, "character": character })
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn the_server_answers_whatever_is_typed(
        edits in proptest::collection::vec((place(), place(), typed(), place()), 1..20),
        utf8 in any::<bool>(),
    ) {
        let offered = if utf8 { json!({ "general": { "positionEncodings": ["utf-8"] } }) } else { json!({}) };
        let words = demeanor::definition::Words::from_json(crate::editor::WORDS).ok();
        let mut editor = Editor::with(words, &offered, &json!(null));
        editor.open("guard.toml", FILE);
        for (version, (from, to, text, asked)) in (2..).zip(edits) {
            let range = json!({ "start": position(from.min(to)), "end": position(from.max(to)) });
            editor.change("guard.toml", version, &json!([{ "range": range, "text": text }]));
            let (line, column) = (asked.0 as usize, asked.1 as usize);
            for (method, more) in [
                ("textDocument/completion", json!({})),
                ("textDocument/hover", json!({})),
                ("textDocument/definition", json!({})),
                ("textDocument/references", json!({ "context": { "includeDeclaration": true } })),
                ("textDocument/documentSymbol", json!({})),
            ] {
                prop_assert!(editor.ask_at(method, "guard.toml", line, column, &more).is_ok());
            }
            // There may be nothing to rename.
            let _ = editor.ask_at("textDocument/prepareRename", "guard.toml", line, column, &json!({}));
            let _ = editor.ask_at("textDocument/rename", "guard.toml", line, column, &json!({ "newName": "it's" }));
        }
        // The new text differs from the editor's, so that the diagnostics are sent again.
        editor.replace("guard.toml", 99, "initial = 'a'\nstates.a.final = true\n");
        while editor.problems("guard.toml") != json!([]) {}
        editor.close();
    }
}

#[test]
fn states_that_are_nested_without_end_have_an_outline() {
    let mut editor = Editor::new();
    let mut chain = String::from("initial = 's0'\n[states.s0]\n");
    for i in 0..5000 {
        let _ = write!(chain, "[states.s{}]\nparent = 's{i}'\n", i + 1);
    }
    editor.open("guard.toml", &chain);
    let params = json!({ "textDocument": { "uri": editor.uri("guard.toml") } });
    let mut symbols = editor.ask("textDocument/documentSymbol", params).unwrap();
    let mut depth = 0;
    while symbols[0].is_object() {
        symbols = symbols[0]["children"].take();
        depth += 1;
    }
    assert_eq!(depth, 71);
    editor.close();
}

#[test]
fn a_long_document_is_read_once_for_all_that_is_typed() {
    let mut editor = Editor::new();
    let mut text = String::from("initial = 's0'\n");
    for i in 0.. {
        let _ = writeln!(text, "[states.s{i}]\nexits = [{{ to = 's{}', when = 'health < {i}' }}]", i / 2);
        if text.len() > 1_000_000 {
            break;
        }
    }
    editor.open("guard.toml", &text);
    for version in 2..20 {
        let at = json!({ "line": 0, "character": 11 });
        editor.change("guard.toml", version, &json!([{ "range": { "start": at, "end": at }, "text": "x" }]));
    }
    // The diagnostics never belong to the text before the last key.
    let (method, told) = editor.told();
    assert_eq!((method.as_str(), &told["version"]), ("textDocument/publishDiagnostics", &json!(19)));
    assert_eq!(
        told["diagnostics"][0]["message"],
        format!("unknown state `{}s0`\ndefine it: `[states.{}s0]`", "x".repeat(18), "x".repeat(18))
    );
    let list = editor.ask_at("textDocument/completion", "guard.toml", 0, 11, &json!({})).unwrap();
    assert_eq!(list["isIncomplete"], true);
    editor.close();
}
