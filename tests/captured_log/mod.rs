//! A logger that keeps this thread's lines, so that tests that run beside each other do not see each other's.

use std::cell::RefCell;
use std::sync::Once;

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Capture;

impl Log for Capture {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        LINES.with_borrow_mut(|lines| lines.push(format!("{} {}: {}", record.level(), record.target(), record.args())));
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
    LINES.take();
    act();
    LINES.take()
}
