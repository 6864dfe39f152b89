//! The steps of the page, each with its whole program.

use std::fs;
use std::path::{Path, PathBuf};

/// A step of the tour.
pub(crate) struct Step {
    pub(crate) heading: String,
    /// The whole program: the items of this step, and those of the steps before that none of this step replaces.
    pub(crate) program: String,
    /// The blocks of output: what is printed, and for one step the log.
    pub(crate) output: Vec<String>,
}

pub(crate) fn page_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tour.md")
}

/// Returns a file of this folder.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tour").join(name)
}

/// Returns the blocks of a language in a part of the page.
pub(crate) fn blocks(part: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    part.split(begin.as_str()).skip(1).map(|rest| rest.split_once("```").unwrap().0.to_owned()).collect()
}

/// Returns the page's steps, in order.
pub(crate) fn steps() -> Vec<Step> {
    let page = fs::read_to_string(page_file()).unwrap();
    let mut items: Vec<(String, String)> = Vec::new();
    let mut steps = Vec::new();
    for part in page.split("\n## ").filter(|part| part.starts_with(|first: char| first.is_ascii_digit())) {
        for item in blocks(part, "rust").iter().flat_map(|block| items_of(block)) {
            let name = name_of(&item);
            match items.iter_mut().find(|(other, _)| *other == name) {
                Some((_, replaced)) => *replaced = item,
                None => items.push((name, item)),
            }
        }
        // As in any program: what is imported first, then the rest, and `main` last.
        items.sort_by_key(|(name, item)| (name == "fn main", !name.starts_with("use "), imported(item)));
        steps.push(Step {
            heading: part.lines().next().unwrap().to_owned(),
            program: program(&items),
            output: blocks(part, "text"),
        });
    }
    steps
}

/// Returns the items of a block, with their comments and attributes: an item begins at the left margin, and ends before the next.
fn items_of(block: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_whole = true;
    for line in block.lines() {
        if is_whole {
            if line.is_empty() {
                continue;
            }
            items.push(String::new());
        }
        let item = items.last_mut().unwrap();
        *item += line;
        item.push('\n');
        is_whole = line.starts_with('}') || (!line.starts_with([' ', '/', '#']) && line.ends_with([';', '}']));
    }
    items
}

/// Returns the words that an item begins with: `impl State<Dog> for Walk`.
fn name_of(item: &str) -> String {
    let first = item.lines().find(|line| !line.starts_with("//") && !line.starts_with('#')).unwrap();
    first.split(['{', ';', '(']).next().unwrap().trim().to_owned()
}

/// Returns what imports are sorted by; other items keep their order.
fn imported(item: &str) -> String {
    if item.starts_with("use ") { item.to_owned() } else { String::new() }
}

/// Joins items, with an empty line between two unless both are imports.
fn program(items: &[(String, String)]) -> String {
    let mut program = String::new();
    for (i, (name, item)) in items.iter().enumerate() {
        if i > 0 && !(name.starts_with("use ") && items[i - 1].0.starts_with("use ")) {
            program.push('\n');
        }
        program += item;
    }
    program
}
