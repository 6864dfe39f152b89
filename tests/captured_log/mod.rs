//! A logger that keeps a thread's lines while a test wants them, so that tests that run beside each other do not see each other's,
//! and nothing is logged, nor allocated for it, in those that do not ask for it.

use std::cell::{Cell, RefCell};
use std::sync::Once;

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
    static ON_RECORD: Cell<fn(&str)> = const { Cell::new(|_| ()) };
}

/// Has the logger call `act` on this thread before all else, with the name of its method: a logger may panic, too.
#[allow(dead_code, reason = "few tests need it")]
pub(crate) fn on_record(act: fn(&str)) {
    ON_RECORD.set(act);
}

struct Capture;

fn is_wanted() -> bool {
    LINES.with_borrow(Option::is_some)
}

impl Log for Capture {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        ON_RECORD.get()("logger.enabled");
        is_wanted()
    }

    fn log(&self, record: &Record<'_>) {
        if is_wanted() {
            ON_RECORD.get()("logger.log");
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
