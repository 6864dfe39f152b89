//! The turns of states with `every`, and the numbers that states keep: in a batch as on machines.
#![cfg(feature = "definition")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Fsm, State, StateRef};

use crate::guard::{Guard, Told, parsed};
use crate::trace::log::Trace;
use crate::troop::{self, Request, Troop, WAYS, Way};

/// Notes each callback, with the time.
struct Tells(&'static str);

impl State<Guard> for Tells {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock} enters {}", self.0));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock} {}", self.0));
    }
}

/// A state with a timer of its own.
struct Restless;

impl State<Guard> for Restless {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.send_after(2.5, Told::Noise);
        fsm.send_after(4.0, Told::Noise);
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock} turns"));
    }

    fn on_message(&self, guard: &mut Guard, _: &Told, _: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        guard.note(format!("{clock} hears"));
        true
    }
}

/// Sends its owner a message in each update.
struct Calls;

impl State<Guard> for Calls {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        fsm.send(Told::Noise);
        guard.note(format!("{clock} outer"));
    }

    fn on_message(&self, guard: &mut Guard, _: &Told, _: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        guard.note(format!("{clock} hears"));
        true
    }
}

/// A global, which runs beside every state.
static ALWAYS: Tells = Tells("always");

fn definition(file: &str) -> Definition<Guard> {
    let vocabulary = Vocabulary::new()
        .flag("hungry", |guard: &Guard, _| guard.is_hungry)
        .value("patience", |guard: &Guard, _| if guard.is_hungry { 1.0 } else { 3.0 })
        .behaviour("outer", &Tells("outer"))
        .behaviour("inner", &Tells("inner"))
        .behaviour("other", &Tells("other"))
        .behaviour("restless", &Restless)
        .behaviour("calls", &Calls);
    parsed(file, &vocabulary)
}

/// What guards do in eight seconds of two ticks each. A panic ends its tick and no other.
fn eight_seconds(mut troop: Troop) -> Vec<Trace> {
    for tick in 0..16 {
        let _ = catch_unwind(AssertUnwindSafe(|| troop.update(f64::from(tick) / 2.0)));
    }
    (0..troop.len()).map(|who| troop.guard(who).take_trace()).collect()
}

/// What guards in the initial state of a file do.
fn run(way: Way, file: &str, guards: &[Guard], global: Option<StateRef<Guard>>) -> Vec<Trace> {
    eight_seconds(Troop::start(way, guards, &definition(file).initial(), global))
}

/// The same in a batch, chunk by chunk.
fn in_a_batch(file: &str, guards: &[Guard]) -> Vec<Trace> {
    run(Way::InTurn, file, guards, None)
}

/// Asserts that guards do the same in a batch as on machines, whichever way it is updated.
fn assert_alike(file: &str, guards: &[Guard], expected: &[&str]) {
    for way in WAYS {
        assert_eq!(run(*way, file, guards, None), *expected, "{way:?}");
    }
}

/// When a guard has done something, in seconds.
fn times(trace: &[String], what: &str) -> Vec<f64> {
    let mut entries = trace.iter().filter_map(|entry| entry.split_once(' ')).filter(|(_, done)| *done == what);
    entries.by_ref().map(|(time, _)| time.parse().unwrap()).collect()
}

const EVERY_SECOND: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Those of a guard that another's panic has kept waiting at 2 seconds.
const ONE_LATE: &[f64] = &[1.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Those of a guard that panics at 2 seconds.
const ONE_TWICE: &[f64] = &[1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Nobody sleeps in `awake`, so that the owners of a batch lie as they have come.
const OUTER: &str = "[states.awake]\nexits = [{ to = 'awake', when = 'hungry and not hungry' }]\n\
                     [states.outer]\nparent = 'awake'\nbehaviour = 'outer'\nevery = 1.0\n";
const INNER: &str = "[states.inner]\nparent = 'outer'\nbehaviour = 'inner'\nevery = 1.0\n";

/// Rule 22.
#[test]
fn a_turn_that_another_owners_panic_keeps_from_being_taken_is_taken_in_the_next_tick() {
    let file = format!("initial = 'outer'\n{OUTER}");
    let guards = [Guard::default(), Guard::afraid_of("2 outer"), Guard::default()];
    let done = in_a_batch(&file, &guards);
    let turns: Vec<_> = done.iter().map(|trace| times(trace, "outer")).collect();
    assert_eq!(turns, [EVERY_SECOND, ONE_TWICE, ONE_LATE]);
}

/// Rule 22.
#[test]
fn a_turn_that_a_panic_in_another_state_keeps_from_being_taken_is_taken_in_the_next_tick() {
    let file = format!("initial = 'outer'\n[states.other]\nbehaviour = 'other'\n{OUTER}");
    let definition = definition(&file);
    for way in troop::in_a_batch() {
        let guards = [Guard::afraid_of("2 other"), Guard::default()];
        let mut troop = Troop::start(way, &guards, &definition.state("other").unwrap(), None);
        troop.ask(1, Request::Change(definition.initial()), 0.0);
        let expected = match way {
            // All other chunks have their tick.
            #[cfg(feature = "parallel")]
            Way::Parallel => EVERY_SECOND,
            _ => ONE_LATE,
        };
        assert_eq!(times(&eight_seconds(troop)[1], "outer"), expected, "{way:?}");
    }
}

/// Rule 22.
#[test]
fn a_turn_that_is_complete_before_a_panic_does_not_come_again() {
    let file = format!("initial = 'inner'\n{OUTER}{INNER}");
    let guards = [Guard::default(), Guard::afraid_of("2 inner"), Guard::default()];
    let done = in_a_batch(&file, &guards);
    for trace in &done {
        assert_eq!(times(trace, "outer"), EVERY_SECOND);
    }
    let turns: Vec<_> = done.iter().map(|trace| times(trace, "inner")).collect();
    assert_eq!(turns, [EVERY_SECOND, ONE_TWICE, ONE_LATE]);
}

/// Rule 22: what was asked for before a panic is carried out, but that does not take the other turns of the owner.
#[test]
fn a_turn_that_a_panic_keeps_from_owners_that_have_asked_for_something_is_taken_in_the_next_tick() {
    let file = format!("initial = 'inner'\n{}{INNER}", OUTER.replace("'outer'\nevery", "'calls'\nevery"));
    let guards = [Guard::default(), Guard::afraid_of("2 outer"), Guard::default()];
    let done = in_a_batch(&file, &guards);
    let turns = |what: &str| done.iter().map(|trace| times(trace, what)).collect::<Vec<_>>();
    assert_eq!(turns("outer"), [EVERY_SECOND, ONE_TWICE, ONE_LATE]);
    // The first has been told in the tick of the panic. What the second has asked for is dropped.
    assert_eq!(turns("hears"), [EVERY_SECOND, ONE_LATE, ONE_LATE]);
    assert_eq!(turns("inner"), [ONE_LATE; 3]);
}

/// Rule 22.
#[test]
fn a_panic_in_the_global_keeps_the_turns_of_all() {
    let file = format!("initial = 'outer'\n{OUTER}");
    let guards = [Guard::default(), Guard::afraid_of("2 always"), Guard::default()];
    for way in troop::in_a_batch().filter(|way| *way != Way::InKeyOrder) {
        let done = run(way, &file, &guards, Some((&ALWAYS).into()));
        let turns: Vec<_> = done.iter().map(|trace| times(trace, "outer")).collect();
        assert_eq!(turns, [ONE_LATE; 3], "{way:?}");
    }
}

/// Rule 22: a change ends the turn of a state that it leaves, whether or not the turn has been taken.
#[test]
fn a_turn_ends_with_its_state_though_a_panic_keeps_it_from_being_taken() {
    let file = format!(
        "initial = 'inner'\n{OUTER}exits = [{{ to = 'other', when = 'hungry' }}]\n{INNER}\n\
         [states.other]\nparent = 'outer'\nbehaviour = 'other'\nevery = 1.0\n\
         exits = [{{ to = 'inner', when = 'hungry' }}]\n"
    );
    let hungry = Guard { is_hungry: true, ..Guard::default() };
    let guards = [hungry, Guard::afraid_of("1 outer"), Guard::default()];
    let done = in_a_batch(&file, &guards);
    let first: Vec<_> = done[0].iter().take(4).map(String::as_str).collect();
    assert_eq!(first, ["0 enters outer", "0 enters inner", "1 outer", "1 enters other"]);
    assert_eq!(times(&done[0], "other")[..1], [2.0]);
    assert_eq!(times(&done[2], "inner")[..2], [1.5, 2.0]);
}

#[test]
fn a_parents_turn_and_a_childs_change_come_in_one_tick() {
    let file = format!(
        "initial = 'inner'\n{OUTER}{INNER}exits = [{{ to = 'other', after = 2.0 }}]\n\
         [states.other]\nparent = 'outer'\nbehaviour = 'other'\nexits = [{{ to = 'inner', after = 1.5 }}]\n"
    );
    let trace = "0 enters outer; 0 enters inner; 1 outer; 1 inner; 2 outer; 2 inner; 2 enters other; 2.5 other; 3 outer; 3 other; \
                 3.5 other; 3.5 enters inner; 4 outer; 4.5 inner; 5 outer; 5.5 inner; 5.5 enters other; 6 outer; 6 other; 6.5 other; \
                 7 outer; 7 other; 7 enters inner";
    assert_alike(&file, &[Guard::default(), Guard::default()], &[trace; 2]);
}

#[test]
fn a_change_of_the_parents_turn_ends_the_childs_turn_of_the_same_tick() {
    let file = format!(
        "initial = 'inner'\n{OUTER}exits = [{{ to = 'other', after = 2.0 }}]\n{INNER}\
         [states.other]\nbehaviour = 'other'\nevery = 2.0\nexits = [{{ to = 'inner', after = 2.0 }}]\n"
    );
    let trace = "0 enters outer; 0 enters inner; 1 outer; 1 inner; 2 outer; 2 enters other; 4 other; 4 enters outer; 4 enters inner; \
                 5 outer; 5 inner; 6 outer; 6 enters other";
    assert_alike(&file, &[Guard::default(), Guard::default()], &[trace; 2]);
}

#[test]
fn what_a_state_keeps_is_kept_over_a_panic_of_its_owner() {
    let file = "initial = 'inner'\n[states.awake]\nexits = [{ to = 'awake', when = 'hungry and not hungry' }]\n\
                [states.inner]\nparent = 'awake'\nbehaviour = 'inner'\nevery = 1.0\nexits = [{ to = 'other', after = 'patience' }]\n\
                [states.other]\nbehaviour = 'other'\nexits = [{ to = 'inner', after = 2.0 }]\n";
    let guards = [Guard::afraid_of("2 inner"), Guard::default(), Guard { is_hungry: true, ..Guard::default() }];
    let patient = "0 enters inner; 1 inner; 2 inner; 3 inner; 3 enters other; 3.5 other; 4 other; 4.5 other; 5 other; 5 enters inner; \
                   6 inner; 7 inner";
    let hungry = "0 enters inner; 1 inner; 1 enters other; 1.5 other; 2 other; 2.5 other; 3 other; 3 enters inner; 4 inner; \
                  4 enters other; 4.5 other; 5 other; 5.5 other; 6 other; 6 enters inner; 7 inner; 7 enters other; 7.5 other";
    let twice = patient.replacen("2 inner", "2 inner; 2.5 inner", 1);
    assert_eq!(run(Way::Alone, file, &guards, None), [&*twice, patient, hungry]);
    // In the tick of the panic nobody behind it is updated.
    let late = patient.replacen("2 inner", "2.5 inner", 1);
    let hungry = hungry.replacen("2 other; ", "", 1);
    assert_eq!(in_a_batch(file, &guards), [&*twice, &late, &hungry]);
}

/// What is asked for in an `enter` that panics is dropped: the owner has nothing of it, and the others have all of it.
#[test]
fn a_value_that_is_kept_at_an_entry_is_kept_by_the_owners_whose_entry_has_not_panicked() {
    let file = "initial = 'inner'\n[states.inner]\nbehaviour = 'inner'\nexits = [{ to = 'outer', after = 1.0 }]\n\
                [states.outer]\nbehaviour = 'outer'\nevery = 2.0\nexits = [{ to = 'other', after = 'patience' }]\n\
                [states.other]\nfinal = true\n";
    // The one that panics is the last: an update in the order of keys ends with it.
    let guards = [Guard::default(), Guard { is_hungry: true, ..Guard::default() }, Guard::afraid_of("1 enters outer")];
    let patient = "0 enters inner; 0 inner; 0.5 inner; 1 inner; 1 enters outer; 3 outer; 5 outer";
    let hungry = "0 enters inner; 0 inner; 0.5 inner; 1 inner; 1 enters outer; 3 outer";
    assert_alike(file, &guards, &[patient, hungry, patient]);
}

#[test]
fn a_turn_comes_while_other_timers_of_its_owner_run_and_together_with_one() {
    let file = "initial = 'restless'\n[states.restless]\nbehaviour = 'restless'\nevery = 1.0\nexits = [{ to = 'other', after = 6.0 }]\n\
                [states.other]\nbehaviour = 'other'\nevery = 1.0\n";
    let trace = "1 turns; 2 turns; 2.5 hears; 3 turns; 4 hears; 4 turns; 5 turns; 6 turns; 6 enters other; 7 other";
    assert_alike(file, &[Guard::default(), Guard::default()], &[trace; 2]);
}
