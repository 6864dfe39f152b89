//! The pages show the tool's real output. To write the output again:
//! `cargo build -p demeanor-cli --examples && UPDATE=1 cargo test -p demeanor-cli --test transcripts`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const GUARD: &str = include_str!("files/guard.toml");

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transcripts").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the path of the tool, or of the example that is a game's own tool: `cargo test` builds both.
fn program(name: &str) -> PathBuf {
    let tool = PathBuf::from(env!("CARGO_BIN_EXE_demeanor"));
    if name == "demeanor" { tool } else { tool.with_file_name("examples").join(name) }
}

/// Runs a line as a shell does; it may end with `> FILE`. Returns the error output and the output, without empty lines at the
/// ends and spaces at the ends of lines.
fn run(line: &str, folder: &Path) -> String {
    let (line, file) = line.split_once(" > ").map_or((line, None), |(line, file)| (line, Some(file)));
    let mut words = line.split_whitespace();
    let program = program(words.next().unwrap());
    let output = Command::new(&program).args(words).current_dir(folder).output();
    let output = output.unwrap_or_else(|why| panic!("{}: {why}; `cargo test` builds it", program.display()));
    let printed = String::from_utf8(output.stdout).unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    if let Some(file) = file {
        fs::write(folder.join(file), printed).unwrap();
        return complained;
    }
    let shown = format!("{}\n{printed}", complained.trim_matches('\n'));
    let lines: Vec<&str> = shown.trim_matches('\n').lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// Runs the commands after `$` in a page's `console` blocks. Returns the page with their current output.
fn as_it_is(page: &str, folder: &Path) -> String {
    let mut parts = page.split("```console\n");
    let mut told = parts.next().unwrap().to_owned();
    for part in parts {
        let (block, rest) = part.split_once("```").unwrap();
        told += "```console\n";
        for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            write!(told, "$ {line}\n{}", run(line, folder)).unwrap();
        }
        write!(told, "```{rest}").unwrap();
    }
    told
}

#[track_caller]
fn assert_is_as_it_is(name: &str, folder: &Path) {
    let file = page(name);
    let written = fs::read_to_string(&file).unwrap();
    let told = as_it_is(&written, folder);
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, &told).unwrap();
    }
    assert!(written == told || env::var_os("UPDATE").is_some(), "{name} is to be:\n{told}");
}

#[test]
fn the_readme_shows_what_the_tool_prints() {
    let folder = folder("readme");
    fs::write(folder.join("guard.toml"), GUARD).unwrap();
    fs::write(folder.join("typo.toml"), GUARD.replacen("health", "helth", 1)).unwrap();
    assert_is_as_it_is("README.md", &folder);
}

#[test]
fn the_readme_shows_the_file_and_the_program_that_are_run() {
    let readme = fs::read_to_string(page("README.md")).unwrap();
    let block = |kind: &str| readme.split_once(&format!("```{kind}\n")).unwrap().1.split_once("```").unwrap().0;
    assert_eq!(block("toml"), GUARD);
    assert_eq!(block("rust,no_run"), include_str!("../examples/guard_tool.rs"));
}

/// The guard's file is the first file of the page.
#[test]
fn the_page_for_designers_shows_what_the_tool_prints() {
    let folder = folder("definitions");
    let text = fs::read_to_string(page("../../docs/definitions.md")).unwrap();
    let file = text.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    fs::write(folder.join("guard.toml"), file).unwrap();
    fs::write(folder.join("typo.toml"), file.replacen("health", "helth", 1)).unwrap();
    fs::write(folder.join("slower.toml"), file.replacen("2.5", "3", 1)).unwrap();
    let words = r#"{ "values": { "health": "number", "enemy_visible": "flag", "ammo": "number" }, "random": true,
        "messages": ["took_damage"], "behaviors": { "wander": null, "go_to": { "properties": {
        "target": { "type": "string" }, "speed": { "type": "number" } } } } }"#;
    fs::write(folder.join("words.json"), words).unwrap();
    assert_is_as_it_is("../../docs/definitions.md", &folder);
}
