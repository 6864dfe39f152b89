//! The programs of `docs/tour.md`, put together from the page, run as they stand there and print what the page says.
//!
//! After a change to the page, `UPDATE=1 cargo test --all-features --test tour` writes into it what they print.
#![cfg(all(feature = "definition", feature = "serde"))]

#[path = "../captured_log/mod.rs"]
mod captured_log;

use std::cell::RefCell;
use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use captured_log::log_lines;

thread_local! {
    static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a program prints, so that it can be compared.
macro_rules! println {
    ($($words:tt)*) => {
        crate::PRINTED.with_borrow_mut(|printed| *printed += &(format!($($words)*) + "\n"))
    };
}

/// The file that the programs include is a block of the page.
macro_rules! include_str {
    ("dog.toml") => {
        crate::DOG
    };
}

/// A step of the tour.
struct Step {
    heading: &'static str,
    /// The blocks of output: what is printed, and for one step the log.
    output: &'static [&'static str],
    run: fn() -> ExitCode,
}

tour_programs::programs!("docs/tour.md");

#[test]
fn the_programs_print_what_the_tour_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tour.md");
    let written = fs::read_to_string(&file).unwrap();
    let mut page = written.clone();
    assert_eq!(STEPS.len(), 11);
    for Step { heading, output, run } in STEPS {
        let mut code = ExitCode::FAILURE;
        let log = log_lines(|| code = run());
        assert_eq!(code, ExitCode::SUCCESS, "{heading}");
        let log = log.iter().filter(|line| line.contains(" demeanor: "));
        let log: String = log.flat_map(|line| ["[", &line.replacen(": ", "] ", 1), "\n"].map(str::to_owned)).collect();
        let (before, part) = page.split_once(&format!("\n## {heading}\n")).unwrap();
        let mut part = part.to_owned();
        // Only the step that explains the log shows it.
        for (output, shown) in [PRINTED.take(), log].iter().zip(*output) {
            part = part.replacen(&format!("```text\n{shown}```"), &format!("```text\n{output}```"), 1);
        }
        page = format!("{before}\n## {heading}\n{part}");
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, &page).unwrap();
    }
    assert!(page == written, "the page is to be:\n{page}");
}
