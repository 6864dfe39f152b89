//! Files that are anything but right: they are refused, or they work; nothing panics, and nothing goes on for ever.
#![cfg(feature = "definition")]

use std::fs;

use demeanor::definition::{Definition, Outline, Problem, Vocabulary};
use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::cases::cases;
use crate::guard::{Guard, Told};

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("health", |guard: &Guard, _| guard.health)
        .value("ammo", |_: &Guard, _| 1.0)
        .flag("enemy_visible", |guard: &Guard, _| guard.health > 5.0)
        .message("took_damage", |_| true)
        .random(|_, _| 0.5)
}

/// Reads a file as a tool and as a game do, and runs what comes of it.
fn read(bytes: &[u8]) {
    let known = vocabulary();
    for words in [None, Some(&known.export())] {
        match Outline::from_bytes("garbage", bytes, words) {
            Ok(outline) => outline.warnings().iter().for_each(assert_drawn),
            Err(problems) => {
                assert!(problems.iter().any(|problem| !problem.is_warning()), "refused for nothing");
                problems.iter().for_each(assert_drawn);
            }
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(definition) = Definition::parse(text, &known) else { return };
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    machine.start(&mut guard, &mut 0.0);
    for _ in 0..8 {
        guard.health += 1.0;
        machine.update(&mut guard, &mut 0.0);
        machine.send(&mut guard, &Told::Pain, &mut 0.0);
    }
}

/// What is said of a mistake can be drawn, at a place within the file.
fn assert_drawn(problem: &Problem) {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_links(false);
    let mut text = String::new();
    handler.render_report(&mut text, problem).unwrap();
    assert!(!text.contains("OutOfBounds"), "{text}");
}

/// The files that there are: right and wrong ones.
fn files() -> Vec<String> {
    let folders = ["fuzz/seeds/definition", "examples/arena", "crates/demeanor-cli/tests/files"];
    let files = folders.iter().flat_map(|folder| {
        fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap().map(|file| file.unwrap().path())
    });
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|ext| ext == "toml")).collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files.into_iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// One thing done to a file.
#[derive(Clone, Debug)]
enum Slip {
    Delete(Index, u8),
    /// The same again, somewhere else.
    Copy(Index, u8, Index),
    Write(Index, &'static str),
    Byte(Index, u8),
    End(Index),
}

const WRITTEN: &[&str] = &[
    "\"",
    "'",
    "\"\"\"",
    "\\",
    "\\u0041",
    "\n",
    "\r",
    "=",
    ".",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "(",
    ")",
    "not ",
    " and ",
    " or ",
    "chance(",
    "time_in_state",
    "true",
    "1e999",
    "-",
    "0x",
    "states",
    "parent = \"attack\"\n",
    "initial = \"a\"\n",
    "[states.attack]\n",
    "params = { a = 1 }\n",
    "global = \"wander\"\n",
    "#",
    "\u{feff}",
    "ä",
    "\0",
];

impl Slip {
    fn befall(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let piece = |at: &Index, length: u8, bytes: &Vec<u8>| {
            let start = at.index(bytes.len());
            start..(start + usize::from(length)).min(bytes.len())
        };
        match self {
            Self::Delete(at, length) => drop(bytes.drain(piece(at, *length, bytes))),
            Self::Copy(at, length, to) => {
                let copied = bytes[piece(at, *length, bytes)].to_vec();
                let to = to.index(bytes.len());
                bytes.splice(to..to, copied);
            }
            Self::Write(at, text) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, text.bytes());
            }
            Self::Byte(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Self::End(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
}

fn slip() -> impl Strategy<Value = Slip> {
    prop_oneof![
        3 => any::<(Index, u8)>().prop_map(|(at, length)| Slip::Delete(at, length % 40)),
        3 => any::<(Index, u8, Index)>().prop_map(|(at, length, to)| Slip::Copy(at, length, to)),
        6 => (any::<Index>(), prop::sample::select(WRITTEN)).prop_map(|(at, text)| Slip::Write(at, text)),
        1 => any::<(Index, u8)>().prop_map(|(at, byte)| Slip::Byte(at, byte)),
        1 => any::<Index>().prop_map(Slip::End),
    ]
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes);
    }

    #[test]
    fn random_text_is_read_or_refused(text in "[ -~\n\"'=\\[\\]{}.äß\\\\]{0,300}") {
        read(text.as_bytes());
    }

    #[test]
    fn a_file_that_things_have_befallen_is_read_or_refused(
        file in prop::sample::select(files()),
        slips in prop::collection::vec(slip(), 1..6),
    ) {
        let mut bytes = file.into_bytes();
        for slip in &slips {
            slip.befall(&mut bytes);
        }
        read(&bytes);
    }
}

/// What the fuzzer begins with, too.
#[test]
fn each_file_is_read_or_refused_as_it_is() {
    for file in files() {
        read(file.as_bytes());
    }
}

/// What has taken long once, or might.
#[test]
fn files_that_are_much_of_one_thing_are_read_or_refused() {
    let many = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let whole = |states: &str| format!("initial = 's0'\n{states}");
    let condition = |when: &str| format!("initial = 'a'\n[states.a]\nenter_when = \"{when}\"\n");
    for file in [
        "[".repeat(20_000),
        format!("initial = {}", "[".repeat(20_000)),
        format!("initial = {}", "{ a = ".repeat(20_000)),
        "a.".repeat(20_000),
        "[states.s0]\n".repeat(5_000),
        whole(&format!("[states.s0]\n{}", "final = true\n".repeat(5_000))),
        whole(&format!("[states.s0]\n[states.s0]\n{}", many(1_000, &|i| format!("k{i} = 1\nk{i} = 2\n")))),
        whole(&many(1_000, &|i| format!("[states.s{i}]\nparent = 's{}'\n", i + 1))),
        whole(&many(1_000, &|i| format!("[states.s{i}]\nparent = 's{}'\n", (i + 1) % 1_000))),
        whole(&many(1_000, &|i| format!("[states.s{i}]\ninitial = 's{}'\n", i + 1))),
        whole(&many(500, &|i| format!("[states.s{i}]\nexits = [{{ to = 't{i}' }}]\n"))),
        condition(&format!("{}health > 1", "not ".repeat(20_000))),
        condition(&"(".repeat(20_000)),
        condition(&format!("health > 1{}", " or health > 1".repeat(20_000))),
        condition(&"\\u0061".repeat(20_000)),
        condition(&"\\u0061 and ".repeat(2_000)),
        format!("initial = '{}'\n", "ä".repeat(50_000)),
        "\u{0}".repeat(50_000),
    ] {
        read(file.as_bytes());
    }
}
