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
            let source: Vec<&str> = source.lines().map(str::trim).collect();
            let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
            assert!(!names.is_empty(), "rule {number} names no test in {file}");
            for name in names {
                let is_there = source.windows(2).any(|lines| lines == ["#[test]", &format!("fn {name}() {{")]);
                assert!(is_there, "rule {number}: no test `{name}` in {file}");
            }
        }
    }
    assert!(last >= 31, "the last rule is {last}");
}
