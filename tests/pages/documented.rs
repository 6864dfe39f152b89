//! `docs/semantics.md` names the tests that cover its rules: do they exist?

use std::fs;
use std::path::Path;

#[test]
fn every_rule_names_tests_that_exist() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let semantics = fs::read_to_string(here.join("docs/semantics.md")).unwrap();
    let rules: Vec<&str> = semantics.split("\n**Rule ").skip(1).collect();
    let mut last = 0;
    for rule in rules {
        let (number, text) = rule.split_once(".**").unwrap();
        let number: u32 = number.parse().unwrap();
        assert!(number > last, "rule {number} comes after rule {last}");
        last = number;

        // A rule's part ends where the next chapter begins.
        let text = text.split("\n## ").next().unwrap();
        let (_, covered_by) = text.split_once("*Covered by* ").unwrap_or_else(|| panic!("rule {number} names no test"));
        for file_and_tests in covered_by.split("](../").skip(1) {
            let (file, tests) = file_and_tests.split_once(')').unwrap();
            let source =
                fs::read_to_string(here.join(file)).unwrap_or_else(|why| panic!("rule {number}: {file}: {why}"));
            let tested = names_of_tests(&source);
            let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
            assert!(!names.is_empty(), "rule {number} names no test in {file}");
            for name in names {
                assert!(tested.contains(&name), "rule {number}: no test `{name}` in {file}");
            }
        }
    }
    assert!(last >= 37, "the last rule is {last}");
}

#[test]
fn the_summary_of_the_rules_has_twenty_lines_and_leads_to_each_rule() {
    let semantics = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/semantics.md")).unwrap();
    let (_, summary) = semantics.split_once("## The rules in twenty lines").unwrap();
    let (summary, rules) = summary.split_once("\n## Words").unwrap();
    let is_numbered = |line: &&str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    assert_eq!(summary.lines().filter(is_numbered).count(), 20);
    for (number, _) in rules.split("\n**Rule ").skip(1).filter_map(|rule| rule.split_once(".**")) {
        assert!(summary.contains(&format!("[{number}](#rule-{number})")), "the summary does not lead to rule {number}");
    }
}

/// The names of a file's tests, and of the rows of the tables that its tests play.
fn names_of_tests(source: &str) -> Vec<&str> {
    let (mut names, mut is_test, mut is_table, mut before) = (Vec::new(), false, false, "");
    for line in source.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("fn ") {
            is_test = before == "#[test]";
            names.extend(name.strip_suffix("() {").filter(|_| is_test));
        }
        is_table = is_test && line.starts_with("play(") || is_table && line != ");";
        let row = line.strip_prefix("# ").filter(|_| is_table);
        names.extend(row.and_then(|row| row.split(' ').next()));
        before = line;
    }
    names
}
