//! Code actions: the help of a problem as an edit.

use serde_json::{Value, json};

use crate::editor::{Editor, cursor, edited};

/// Returns the code actions at the `|`: the title of each, and the text with it.
fn fixes(text: &str) -> Vec<(String, String)> {
    let (text, line, column) = cursor(text);
    let mut editor = Editor::new();
    editor.open("guard.toml", &text);
    let at = json!({ "line": line, "character": column });
    let params = json!({
        "textDocument": { "uri": editor.uri("guard.toml") },
        "range": { "start": at, "end": at },
        "context": { "diagnostics": [] },
    });
    let actions = editor.ask("textDocument/codeAction", params).unwrap();
    let uri = editor.uri("guard.toml");
    let fix = |action: &Value| {
        assert_eq!(action["kind"], "quickfix");
        (action["title"].as_str().unwrap().to_owned(), edited(&text, &action["edit"]["changes"][&uri]))
    };
    let fixes = actions.as_array().unwrap().iter().map(fix).collect();
    editor.close();
    fixes
}

/// A fix changes a line of the file into another, or adds lines.
#[track_caller]
fn assert_fixed(text: &str, title: &str, from: &str, to: &str) {
    let fixes = fixes(text);
    let (_, after) = fixes.iter().find(|(one, _)| one == title).unwrap_or_else(|| panic!("{title}: {fixes:?}"));
    assert_eq!(*after, text.replace('|', "").replacen(from, to, 1));
}

#[test]
fn what_a_help_says_to_write_is_an_edit() {
    let text = |line: &str| format!("initial = 'a'\n[states.a]\n{line}\n[states.b]\nfinal = true\n");
    for (line, title, from, to) in [
        ("exits = [{ to = 'bb|' }]", "write `b`", "'bb'", "'b'"),
        ("exits = [{ to = b| }]", "write `\"b\"`", "to = b ", "to = \"b\" "),
        ("exits = [{ ot = 'b', wh|en = 'health < 3' }]", "write `to`", "ot", "to"),
        ("exits = [{ to = 'b', when = 'helth| < 3' }]", "write `health`", "helth", "health"),
        ("exits = [{ to = 'b', do = { ro|ar = 3 } }]", "write `\"roar\"`", "{ roar = 3 }", "\"roar\""),
        ("exits = [{ to = 'b', do = 'spawn|' }]", "write `{ spawn = 1 }`", "'spawn'", "{ spawn = 1 }"),
        ("exits = [{ to:| 'b' }]", "write `to = ..`", "to: ", "to = "),
        ("exits = { to = 'b|' }", "write `[`", "{ to = 'b' }", "[{ to = 'b' }]"),
        ("exits = [{ to = 'b', when = 'time_in_state > 2 |min' }]", "write `120`", "2 min", "120"),
        ("exits = [{ to = 'b', when = 'health <>| 3' }]", "write `!=`", "<>", "!="),
        ("exits = [{ to = 'b', when = 'health < 3|&&health > 1' }]", "write `and`", "3&&", "3 and "),
        ("exits = [{ to = 'b', when = 'health < 3 health| > 1' }]", "write `and`", "3 health", "3 and health"),
        ("exits = [{ to = 'b', after = '4 sek|' }]", "write `sec`", "sek", "sec"),
        ("exits = [{ to = 'b', after = '4 .. 2 s|' }]", "write `\"2 .. 4 s\"`", "'4 .. 2 s'", "\"2 .. 4 s\""),
        ("exits = 'b|'", "write `[{ to = \"b\" }]`", "'b'", "[{ to = \"b\" }]"),
        (
            "exits = [{ to = 'b', score| = 2 }]",
            "write `choose = \"best\"`",
            "[states.a]\n",
            "[states.a]\nchoose = \"best\"\n",
        ),
        (
            "exits = [{ to = 'b' }]\n[states.c|]\nfinal = true",
            "write `entry = true`",
            "[states.c]\n",
            "[states.c]\nentry = true\n",
        ),
        ("final = true\n|states.c]\nentry = true", "write `[states.c]`", "states.c]", "[states.c]"),
    ] {
        // The problem is found at its place, not only at the pointer.
        let at_problem =
            |line: &str| line.replace("ot = 'b', wh|en", "o|t = 'b', when").replace("ro|ar = 3", "roar = |3");
        assert_fixed(&text(&at_problem(line)), title, from, to);
    }
}

#[test]
fn a_key_is_moved_to_its_table() {
    let states = |inner: &str| format!("[states.a]\n{inner}exits = [{{ to = 'b' }}]\n[states.b]\nfinal = true\n");
    let text = states("initial| = 'a'\n");
    let (title, after) = &fixes(&text)[0];
    assert_eq!((&**title, &**after), ("write `initial`", &*format!("initial = 'a'\n{}", states(""))));

    let machine = "[machines.m.states.a]\ninitial| = 'a'\nfinal = true\n";
    let (title, after) = &fixes(machine)[0];
    let expected = "[machines.m]\ninitial = 'a'\n\n[machines.m.states.a]\nfinal = true\n";
    assert_eq!((&**title, &**after), ("write `[machines.m]`", expected));

    let history = "initial = 'a'\n[states.a]\nexits = [{ resume = 'b|' }]\n[states.b]\ninitial = 'c'\n\
                   [states.c]\nparent = 'b'\nfinal = true\n";
    assert_fixed(history, "write `history = true`", "[states.b]\n", "[states.b]\nhistory = true\n");
}

#[test]
fn an_edit_that_leaves_the_problem_is_not_offered() {
    assert_eq!(fixes("initial = 'a'\n[states.a]\nexits = [{ to = 'nowhere|' }]\n"), []);
    assert_eq!(fixes("initial = 'a'\n[states.a]\nfinal = |true\n"), []);
}
