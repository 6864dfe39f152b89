//! What an editor learns of the place of its cursor, also in a file that cannot be read.

use demeanor::definition::{Cursor, CursorPart};

/// Returns what is at the `|` of a text.
fn at(text: &str) -> (String, String, String) {
    let byte = text.find('|').unwrap();
    let text = text.replace('|', "");
    let cursor = Cursor::at(&text, byte);
    let part = match cursor.part() {
        CursorPart::Header => "header".to_owned(),
        CursorPart::Key => "key".to_owned(),
        CursorPart::Value { key, quote, .. } => format!("{key} = {quote}").trim_end().to_owned(),
        _ => unreachable!("there are three parts"),
    };
    (cursor.table().join("/"), part, text[cursor.span()].to_owned())
}

#[track_caller]
fn assert_at(text: &str, table: &str, part: &str, written: &str) {
    assert_eq!(at(text), (table.to_owned(), part.to_owned(), written.to_owned()), "{text}");
}

#[test]
fn a_key_is_found_in_every_table() {
    assert_at("|", "", "key", "");
    assert_at("ini|", "", "key", "ini");
    assert_at("a = 1\nini|tial = 'x'\n[states.a]\n", "", "key", "initial");
    assert_at("[states.a]\n|\nfinal = true", "states/a", "key", "");
    assert_at("[states.'a b']\nexits = [{ to = 'x', | }]", "states/a b/exits", "key", "");
    assert_at("[states.a]\nexits = [\n  { to = 'x' },\n  { wh|\n]\n[states.b]\n", "states/a/exits", "key", "wh");
    assert_at("[[states.a.exits]]\n|", "states/a/exits", "key", "");
    assert_at("[states.a]\nbehavior = { name = 'x', sp| }", "states/a/behavior", "key", "sp");
    assert_at("states.a.fi|", "states/a", "key", "fi");
    assert_at("states.a.|\n", "states/a", "key", "");
    assert_at("states.a = { final = true, e| }", "states/a", "key", "e");
    assert_at("states.a.every = 1\nstates.a.fi|nal = true", "states/a", "key", "final");
}

#[test]
fn a_value_is_found_with_its_quotes_and_without() {
    assert_at("initial = |", "", "initial =", "");
    assert_at("initial = 'a|", "", "initial = '", "a");
    assert_at("initial = \"a|bc\"\n", "", "initial = \"", "abc");
    assert_at("[states.a]\nexits = [{ to = \"| }]\n", "states/a/exits", "to = \"", "");
    assert_at("[states.a]\nexits = [{ to = |", "states/a/exits", "to =", "");
    assert_at("[states.a]\nexits = [{ to = | }]", "states/a/exits", "to =", "");
    assert_at("[states.a]\nbehavior = ['x', '|']\n", "states/a", "behavior = '", "");
    assert_at("[states.a]\nbehavior = ['x', |]\n", "states/a", "behavior =", "");
    assert_at("[states.a]\nexits = [{ when = { script = 'a|' } }]", "states/a/exits/when", "script = '", "a");
    assert_at("[states.a]\nfinal = t|\n", "states/a", "final =", "t");
}

#[test]
fn a_line_that_is_broken_does_not_reach_into_the_next_table() {
    assert_at("[states.a]\nexits = [{ to = 'x\n[states.b]\n|", "states/b", "key", "");
    assert_at("[states.a]\nx = '''\n[states.b]\npar|", "states/b", "key", "par");
}

#[test]
fn what_is_beside_a_place_is_known_also_behind_it() {
    let text = "[states.a]\nmachine = 'b'\nexits = [{ when = \"\", on = 'hit' }]";
    let cursor = Cursor::at(text, text.find("\",").unwrap());
    assert_eq!(cursor.value("on"), Some("hit"));
    assert_eq!(cursor.around(), [("machine".into(), Some("b".into())), ("exits".into(), None)]);
}

#[test]
fn a_header_is_found_up_to_the_place() {
    assert_at("[states.a|]\n", "states/a", "header", "states.a");
    assert_at("[[sta|", "sta", "header", "sta");
}
