//! Parsing statement by statement gives the same result as the crate `toml` for the whole text.

use std::fmt::Write as _;

use proptest::prelude::*;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Document;
use crate::format::draft::tree::{TreeValue, into_parsed};

/// The message of the crate `toml` for a repeated key.
const REPEATED: &str = "duplicate key";

/// Returns the tree with its positions, and where keys are repeated. `None` for a text that is not TOML, because the two
/// parsers may continue differently after the first mistake.
fn by_statement(text: &str) -> (Option<String>, Option<Vec<usize>>) {
    let Document { table, error, repeated, .. } = Document::read(text, false);
    if error.is_some() {
        return (None, None);
    }
    let whole = into_parsed(Spanned::new(0..0, TreeValue::Table(table)));
    let mut repeated: Vec<_> = repeated.into_iter().map(|repeated| repeated.key.start).collect();
    repeated.sort_unstable();
    repeated.dedup();
    (Some(format!("{whole:?}")), Some(repeated))
}

fn at_once(text: &str) -> (Option<String>, Option<Vec<usize>>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.iter().any(|error| error.message() != REPEATED) {
        return (None, None);
    }
    let mut repeated: Vec<_> = errors.iter().filter_map(|error| Some(error.span()?.start)).collect();
    repeated.sort_unstable();
    repeated.dedup();
    let whole = Spanned::new(0..0, DeValue::Table(table.into_inner()));
    (Some(format!("{whole:?}")), Some(repeated))
}

/// Returns the tree of a text without repeated keys. With repeated keys, the trees differ: if a table has two headers, its key
/// is the first one here, and the second one in the crate `toml`.
fn right((tree, repeated): (Option<String>, Option<Vec<usize>>)) -> Option<String> {
    tree.filter(|_| repeated == Some(Vec::new()))
}

#[track_caller]
fn assert_same(text: &str) {
    let (read, expected) = (by_statement(text), at_once(text));
    assert_eq!(read.1, expected.1, "{text}");
    assert_eq!(right(read), right(expected), "{text}");
}

#[test]
fn tables_are_made_and_added_to_by_the_rules_of_toml() {
    for text in [
        "",
        "\u{feff}a = 1\n",
        "a = 1\n[b]\nc = 2\n",
        "[b] # why\nc = 2\r\n\r\n  [ 'd' . \"e.f\" ]\n\n  g = [\n  1,\n [2, 3],\n]\n",
        "[a.b]\nc = 1\n[a]\nd = 2\n",
        "[a]\nb.c = 1\nb.d = 2\n[a.b.e]\nf = 3\n",
        "[a]\nb.c = 1\n[a.b]\nd = 2\n",
        "[a.b]\n[a]\nb.c = 1\n",
        "[a]\n[a]\nb = 1\n",
        "[a]\nb = { c = 1, d.e = 2 }\n[a.b]\nf = 3\n",
        "[a]\nb = { c = 1 }\nb.d = 2\n",
        "[a]\nb = 1\n[a.b]\nc = 2\n",
        "[a]\nb = 1\nb = 2\nb.c = 3\n",
        "[[a]]\nb = 1\n[a.c]\nd = 2\n[[a]]\nb = 3\n[[a.e]]\nf = 4\n[[a.e]]\n",
        "a = [1]\n[[a]]\n",
        "a = [[1]]\n[[a]]\n",
        "a = []\n[a.b]\nc = 1\n",
        "[a]\n[[a]]\nb = 1\n",
        "[[a]]\n[a]\nb = 1\n",
        "a = '''\n[b]\n'''\nc = \"\"\"x\n[d]\n\"\"\"\n[e]\n",
        "a = 1979-05-27T07:32:00Z\nb = -0x1F\n",
        "[a\nb = 1\n",
        "a = [1\n[b]\n",
    ] {
        assert_same(text);
    }
}

/// Tables with more entries than a list may have.
#[test]
fn large_tables_are_made_by_the_same_rules() {
    let mut keys = String::new();
    for i in 0..3_000 {
        writeln!(keys, "k{i} = {i}\nd{}.e{i} = true", i % 40).unwrap();
    }
    assert_same(&keys);
    assert_same(&format!("[states.a]\n{keys}k7 = 8\nd3 = 1\nd5.e5 = false\n[states.b]\n{keys}[states.a.d1.x]\n"));
}

/// Returns a line. No dotted key leads into a list of tables: TOML forbids this, but the crate `toml` allows it.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["a", "b", "'a'", "a.b", "a.b.a", "b.a"]);
    let value = prop::sample::select(vec!["1", "'x'", "[]", "[1, 2]", "[{ a = 1 }]", "{}", "{ a = 1 }", "{ a.b = 1 }"]);
    prop_oneof![
        3 => (key.clone(), value).prop_map(|(key, value)| format!("{key} = {value}\n")),
        2 => key.prop_map(|key| format!("[{key}]\n")),
        1 => prop::sample::select(vec!["[[c]]\n", "[[a.c]]\n", "[[c.c]]\n", "[c.a]\n", "[c]\n"]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    /// If lines contradict each other in several ways, the two parsers may report different mistakes, so only the trees of
    /// correct texts are compared.
    #[test]
    fn any_lines_are_right_and_mean_what_they_do_for_the_parser(lines in prop::collection::vec(line(), 0..8)) {
        let text = lines.concat();
        prop_assert_eq!(right(by_statement(&text)), right(at_once(&text)), "{}", text);
    }
}
