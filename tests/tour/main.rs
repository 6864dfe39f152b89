//! The programs of `docs/tour.md`, put together from the page, are those in this folder, and print what the page says.
//!
//! After a change to the page, `UPDATE=1 cargo test --all-features --test tour` writes the programs. Run it a second time to write
//! what they print into the page: the programs must be compiled in between.
#![cfg(all(feature = "definition", feature = "serde"))]

#[path = "../captured_log/mod.rs"]
mod captured_log;
mod page;

use std::cell::RefCell;
use std::env;
use std::fs;
use std::process::ExitCode;

use captured_log::log_lines;
use page::{blocks, file, page_file, steps};

thread_local! {
    static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a program prints, so that it can be compared.
macro_rules! println {
    ($($words:tt)*) => {
        crate::PRINTED.with_borrow_mut(|printed| *printed += &(format!($($words)*) + "\n"))
    };
}

/// The programs, each in a module, as they are in this folder.
macro_rules! programs {
    ($($name:ident: $file:literal),+) => {
        $(mod $name {
            include!($file);

            pub(super) fn run() -> std::process::ExitCode {
                std::process::Termination::report(main())
            }
        })+

        const PROGRAMS: &[(&str, fn() -> ExitCode)] = &[$(($file, $name::run)),+];
    };
}

programs! {
    a_state: "step_01.rs",
    enter_and_exit: "step_02.rs",
    a_guard: "step_03.rs",
    a_global_state: "step_04.rs",
    going_back: "step_05.rs",
    messages: "step_06.rs",
    many: "step_07.rs",
    from_a_file: "step_08.rs",
    saving: "step_09.rs",
    seeing_why: "step_10.rs"
}

/// Compares a file with what it is to be, or writes it.
#[track_caller]
fn assert_is(path: &std::path::Path, expected: &str) {
    if env::var_os("UPDATE").is_some() {
        fs::write(path, expected).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == expected, "{} is to be:\n{expected}", path.display());
}

#[test]
fn the_programs_of_the_tour_are_those_that_are_run_here() {
    let steps = steps();
    assert_eq!(steps.len(), PROGRAMS.len());
    for (step, (name, _)) in steps.iter().zip(PROGRAMS) {
        assert_is(&file(name), &step.program);
    }
    let page = fs::read_to_string(page_file()).unwrap();
    assert_is(&file("dog.toml"), &blocks(&page, "toml")[0]);
}

#[test]
fn they_print_what_the_tour_says() {
    let mut page = fs::read_to_string(page_file()).unwrap();
    for (step, (_, run)) in steps().iter().zip(PROGRAMS) {
        let mut code = ExitCode::FAILURE;
        let log = log_lines(|| code = run());
        assert_eq!(code, ExitCode::SUCCESS, "{}", step.heading);
        let log = log.iter().filter(|line| line.contains(" demeanor: "));
        let log: String = log.flat_map(|line| ["[", &line.replacen(": ", "] ", 1), "\n"].map(str::to_owned)).collect();
        let (before, part) = page.split_once(&format!("\n## {}\n", step.heading)).unwrap();
        let mut part = part.to_owned();
        // Only the step that explains the log shows it.
        for (output, shown) in [PRINTED.take(), log].iter().zip(&step.output) {
            part = part.replacen(&format!("```text\n{shown}```"), &format!("```text\n{output}```"), 1);
        }
        page = format!("{before}\n## {}\n{part}", step.heading);
    }
    assert_is(&page_file(), &page);
}
