//! Faults that were found, each with the test that would have found it first. Those of machines from files that
//! need an owner are in `definition/reported.rs`, for they share that folder's owner.

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../machine/play.rs"]
mod play;
#[path = "../trace/mod.rs"]
mod trace;

#[cfg(feature = "std")]
mod batches;
#[cfg(feature = "std")]
mod casts;
#[cfg(feature = "std")]
mod clocks;
mod cut_short;
mod edges;
#[cfg(feature = "script")]
mod files;
mod machines;
#[cfg(feature = "std")]
mod waiting;

use trace::{Place, Stage};

static BARN: Place = Place::new("Barn").keeping_history();
static LOFT: Place = Place::new("Loft").inside(&BARN);
static YARD: Place = Place::new("Yard");

/// Rules 16 and 22: history was written before the `exit`, so that it knew of a leaving that had not come about.
#[test]
fn a_composite_whose_exit_panicked_was_not_left_and_has_no_history_of_it() {
    let mut stage = Stage::new(&LOFT).panicking_in("Barn.exit");
    assert_eq!(stage.catch(Stage::stop), ["Loft.exit", "Barn.exit"]);
    assert_eq!(stage.view(), "Barn/Loft, was Loft");
    // Elsewhere without leaving it, for a composite that is active is resumed where it is.
    stage.machine.set_current(&YARD);
    assert_eq!(stage.resume_state(&BARN), ["Yard.exit", "Yard -> Barn (resume)", "Barn.enter", "done"]);
}
