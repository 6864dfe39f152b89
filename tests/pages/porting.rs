//! What the pages on porting state: the numbers of lines of their code, and the lines of the log. The index has each page.

use std::fs;
use std::mem;
use std::path::Path;

use crate::captured_log::log_lines;
use demeanor::{Fsm, Owner, State, StateMachine};

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

/// Returns the lines of a file without its tests, which are at its end, or those of all Rust files in a folder and in its subfolders.
fn lines_of_code(path: &Path) -> Vec<String> {
    if path.is_file() {
        let code = fs::read_to_string(path).unwrap();
        return code.lines().take_while(|line| *line != "#[cfg(test)]").map(str::to_owned).collect();
    }
    let paths = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let of_rust = paths.filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"));
    of_rust.flat_map(|path| lines_of_code(&path)).collect()
}

#[test]
fn the_ports_have_as_many_lines_as_the_page_says() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = fs::read_to_string(docs.join("ports.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| [")).collect();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let path = row.split_once("](").unwrap().1.split_once(')').unwrap().0;
        let stated: usize = row.split('|').nth(3).unwrap().trim().parse().unwrap();
        assert_eq!(count(&lines_of_code(&docs.join(path))), stated, "{path}");
    }
}

#[test]
fn the_index_and_the_documentation_have_each_page_on_porting() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let (index, modules) = (read("docs/porting.md"), read("src/docs.rs"));
    for entry in fs::read_dir(root.join("docs/porting")).unwrap() {
        let page = format!("porting/{}", entry.unwrap().file_name().into_string().unwrap());
        assert!(index.contains(&format!("]({page})")), "docs/porting.md has no link to {page}");
        assert!(modules.contains(&format!("{page:?}")), "src/docs.rs has no module of {page}");
    }
}

#[derive(Default)]
struct Enemy {
    machine: StateMachine<Enemy>,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

struct Idle;
struct Think;
struct Flee;
struct Stroll;

impl State<Enemy> for Idle {}
impl State<Enemy> for Think {}
impl State<Enemy> for Flee {}
impl State<Enemy> for Stroll {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
        let mut machine = mem::take(&mut enemy.machine);
        machine.change_state(enemy, &Flee, &mut ());
        enemy.machine = machine;
    }
}

/// Whether the page on porting has each of these lines, as a logger writes it.
fn has_page(lines: &[String]) -> bool {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/porting.md")).unwrap();
    let lines = lines.iter().map(|line| line.split_once(": ").unwrap());
    lines.into_iter().all(|(from, text)| page.lines().any(|line| line == format!("[{from}] {text}")))
}

#[test]
fn the_page_shows_a_change_and_a_refusal_as_they_are_logged() {
    let (mut enemy, mut machine) = (Enemy::default(), StateMachine::new(&Idle));
    let lines = log_lines(|| {
        machine.revert_state(&mut enemy, &mut ());
        machine.change_state(&mut enemy, &Think, &mut ());
    });
    assert_eq!(lines.len(), 2);
    assert!(has_page(&lines), "{lines:?}");
}

#[test]
fn the_page_shows_the_warning_of_a_machine_that_was_taken_out() {
    let mut enemy = Enemy { machine: StateMachine::new(&Stroll) };
    let mut machine = mem::take(&mut enemy.machine);
    let lines = log_lines(|| machine.update(&mut enemy, &mut ()));
    let (warnings, changes): (Vec<String>, Vec<String>) = lines.into_iter().partition(|line| line.starts_with("WARN"));
    assert_eq!(changes, ["DEBUG demeanor: Enemy: (no state) -> Flee (change)"]);
    assert_eq!(warnings.len(), usize::from(cfg!(all(debug_assertions, feature = "std"))));
    assert!(has_page(&warnings), "{warnings:?}");
}
