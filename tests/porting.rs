//! The numbers of lines that the pages on porting give: are they those of the code on the page?

use std::fs;
use std::path::Path;

/// The page's first Rust code, down to where it is tried.
fn ported(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/porting").join(page);
    let page = fs::read_to_string(path).unwrap();
    let (_, code) = page.split_once("```rust\n").unwrap();
    let (code, _) = code.split_once("// What follows tries it.").unwrap();
    code.lines().map(str::to_owned).collect()
}

/// A line counts if it has a letter or a digit outside of comments. Imports do not count.
fn count(code: &[String]) -> usize {
    let has_code = |line: &&String| {
        let code = line.split("//").next().unwrap_or_default().trim();
        !code.starts_with("use ") && code.contains(|letter: char| letter.is_alphanumeric())
    };
    code.iter().filter(has_code).count()
}

/// The last number of the row of a page's table that begins with a text.
fn stated(page: &str, row: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/porting").join(page);
    let page = fs::read_to_string(path).unwrap();
    let row = page.lines().find(|line| line.starts_with(row)).unwrap();
    row.trim_end_matches([' ', '|']).rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn the_lines_of_the_xna_articles_port_are_as_many_as_the_page_says() {
    assert_eq!(count(&ported("xna.md")), stated("xna.md", "| together"));
}

#[test]
fn the_lines_of_the_c_machines_port_are_as_many_as_the_page_says() {
    assert_eq!(count(&ported("c.md")), stated("c.md", "| the monster"));
}

#[test]
fn the_lines_of_the_port_from_dots_are_as_many_as_the_page_says() {
    assert_eq!(count(&ported("dots.md")), stated("dots.md", "| together"));
}
