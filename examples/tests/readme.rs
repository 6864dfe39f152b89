//! The program in the README is the same as `examples/readme.rs`, and its output is the one in the README.

use std::process::Command;

const README: &str = include_str!("../../README.md");

/// Returns the README's code blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    README.split(begin.as_str()).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
}

#[test]
fn the_program_in_the_readme_is_the_one_that_is_run_here() {
    assert_eq!(blocks("rust")[0], include_str!("../readme.rs"));
}

#[test]
fn it_prints_what_the_readme_says() {
    let output = Command::new(env!("CARGO_BIN_EXE_readme")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), blocks("text")[0]);
    assert!(output.status.success() && output.stderr.is_empty());
}
