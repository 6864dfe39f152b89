//! What is there goes on as if nothing had been saved or loaded that could not be because the game's own code fails or panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use demeanor::{Agent, Batch, StateMachine};

use crate::barracks::Guard;
use crate::barracks::fragile::{ARMED, SAYS, Way};
use crate::cast::Town;
use crate::formats::Format;
use crate::kinds::Host;

/// How an attempt with an armed piece has ended. `None`: the piece has not been called so often.
fn attempt<R>(piece: &'static str, nth: u32, way: Way, act: impl FnOnce() -> Result<R, String>) -> Option<String> {
    ARMED.set(Some((piece, nth, way)));
    let result = catch_unwind(AssertUnwindSafe(|| act().map(drop)));
    let has_failed = ARMED.take().is_none();
    match result {
        Ok(Ok(())) => {
            assert!(!has_failed, "a failure is passed on");
            None
        }
        Ok(Err(error)) => {
            assert!(has_failed && way == Way::Error, "{error}");
            Some(error)
        }
        Err(payload) => {
            assert!(has_failed && way == Way::Panic && payload.downcast_ref() == Some(&SAYS), "the library panicked");
            Some(String::new())
        }
    }
}

/// Each failure of the pieces: at the first call of a piece, at the second, and so on, until there are no more calls.
fn each_failure(pieces: &[&'static str], mut act: impl FnMut(&'static str, u32, Way) -> Option<String>) -> u32 {
    let mut failures = 0;
    for piece in pieces {
        for way in [Way::Error, Way::Panic] {
            let mut nth = 0;
            while let Some(error) = act(piece, nth, way) {
                if way == Way::Error {
                    assert!(!error.is_empty(), "{piece}");
                }
                nth += 1;
                failures += 1;
            }
        }
    }
    failures
}

const WRITES: [&str; 3] = ["owner.write", "state.write", "message.write"];
const READS: [&str; 3] = ["owner.read", "state.read", "message.read"];

/// Has each piece of a host fail while it is written in a format, and while it is read. Returns how often that was.
fn is_untouched_by_failures<H: Host>(host: &H, format: Format) -> u32 {
    let check = |piece: &str, way, error: Option<String>| {
        if let Some(error) = error.as_ref().filter(|_| way == Way::Error && format.has_names()) {
            assert!(error.contains(SAYS), "{piece}: {error}");
        }
        error
    };
    let intact = host.write(format).unwrap();
    let failures = each_failure(&WRITES, |piece, nth, way| {
        let error = attempt(piece, nth, way, || host.write(format));
        assert_eq!(host.write(format).as_ref(), Ok(&intact), "after {piece} has failed");
        check(piece, way, error)
    });
    let failed_loads = each_failure(&READS, |piece, nth, way| {
        check(piece, way, attempt(piece, nth, way, || H::load(format.read(&intact)?)))
    });
    assert_eq!(failures, failed_loads, "what is written is read");
    assert_eq!(host.write(format).unwrap(), intact);
    failures
}

fn are_untouched_by_failures<H: Host>() {
    for format in Format::ALL {
        let mut failures = 0;
        for (host, twin) in H::all().into_iter().zip(H::all()) {
            failures += is_untouched_by_failures(&host, format);
            let loaded = H::load(format.read(&host.write(format).unwrap()).unwrap()).unwrap();
            let expected = twin.goes_on();
            assert_eq!(loaded.goes_on(), expected, "what is loaded afterwards, in {format:?}");
            assert_eq!(host.goes_on(), expected);
        }
        assert!(failures >= 8, "{format:?}: {failures}");
    }
}

/// Rules 22 and 27.
#[test]
fn a_save_or_a_load_in_which_the_games_code_fails_or_panics_changes_nothing() {
    are_untouched_by_failures::<StateMachine<Guard>>();
    are_untouched_by_failures::<Agent<Guard>>();
    are_untouched_by_failures::<Batch<Guard>>();
    are_untouched_by_failures::<Town>();
}
