//! A logger that keeps a thread's lines while a test wants them, so that tests that run beside each other do not see each other's,
//! and nothing is logged, nor allocated for it, in those that do not ask for it.

use std::cell::RefCell;
use std::sync::Once;

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

struct Capture;

impl Log for Capture {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        LINES.with_borrow(Option::is_some)
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            // Before the lines are borrowed: what is shown may log, too.
            let line = format!("{} {}: {}", record.level(), record.target(), record.args());
            LINES.with_borrow_mut(|lines| lines.as_mut().expect("it is enabled").push(line));
        }
    }

    fn flush(&self) {}
}

/// Runs `act` and returns what it logged on this thread: the level, the target, the line.
pub(crate) fn log_lines(act: impl FnOnce()) -> Vec<String> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        log::set_logger(&Capture).expect("no other logger in this test binary");
        log::set_max_level(LevelFilter::Trace);
    });
    LINES.set(Some(Vec::new()));
    act();
    LINES.take().expect("only this takes them")
}
