//! What waits in a file does what it would do if everybody were asked in each tick.

mod asleep;
mod files;
mod interpreter;
mod runs;

use std::sync::Arc;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Fsm, State};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{self, Guard, Told, parsed};
use crate::troop::{WAYS, Way};
use files::{Drawn, DrawnExit, MOST_STATES, edited, file, states};
use interpreter::interpreted;
use runs::{Event, GUARDS, event, run};

/// Tells of each callback, but has no update.
struct Quiet(usize);

/// Tells of each update, too.
struct Busy(usize);

impl State<Guard> for Quiet {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: enters {}", self.0));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: exits {}", self.0));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        guard.note(format!("{clock}: {} hears {told:?}", self.0));
        *told == Told::Noise
    }

    fn is_passive(&self) -> bool {
        true
    }
}

impl State<Guard> for Busy {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: enters {}", self.0));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: {} is busy", self.0));
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    let mut vocabulary = guard::vocabulary();
    for i in 0..MOST_STATES {
        vocabulary = vocabulary
            .behaviour(format!("quiet{i}"), Arc::new(Quiet(i)))
            .behaviour(format!("busy{i}"), Arc::new(Busy(i)));
    }
    vocabulary
}

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn exits_that_wait_are_taken_as_if_the_time_were_asked_for_in_each_tick(
        states in self::states(),
        other in self::states(),
        is_nested_as_before in any::<bool>(),
        events in prop::collection::vec(event(), 1..30),
    ) {
        let other = if is_nested_as_before { edited(&states, &other) } else { other };
        let waits = [file(&states, true), file(&other, true)];
        let polls = [file(&states, false), file(&other, false)];
        let (expected, _) = run(Way::Alone, [&polls[0], &polls[1]], &events);
        for way in WAYS {
            prop_assert_eq!(&run(*way, [&waits[0], &waits[1]], &events).0, &expected, "{:?}", way);
        }
    }

    #[test]
    fn states_from_a_file_do_what_an_interpreter_does(
        mut states in self::states(),
        events in prop::collection::vec(event(), 1..30),
    ) {
        // The interpreter knows nothing of states of no length.
        states.iter_mut().flat_map(|state| &mut state.exits).for_each(|exit| exit.is_always = false);
        let is_known = |event: &Event| {
            matches!(event, Event::Ticks(..) | Event::Hungry(..) | Event::Brave(..) | Event::Tell(..) | Event::Change(..) | Event::Wake(_))
        };
        let events: Vec<_> = events.into_iter().filter(is_known).collect();
        let text = file(&states, true);
        let expected = interpreted(&states, &events);
        for way in WAYS {
            prop_assert_eq!(&run(*way, [&text, &text], &events).0, &expected, "{:?}: {}", way, text);
        }
    }
}

/// The random runs are worth something only if somebody sleeps in them.
#[test]
fn in_the_runs_many_ticks_are_slept_through() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut slept, mut ticks) = (0, 0);
    for _ in 0..60 {
        let (states, events) =
            (self::states(), prop::collection::vec(event(), 1..30)).new_tree(&mut runner).unwrap().current();
        let text = file(&states, true);
        slept += run(Way::Alone, [&text, &text], &events).1;
        let times = |event: &Event| if let Event::Ticks(_, times) = event { GUARDS * usize::from(*times) } else { 0 };
        ticks += events.iter().map(times).sum::<usize>();
    }
    assert!(slept * 4 > ticks && slept < ticks, "{slept} of {ticks}");
}

/// A circle of changes that is cut short drops the turn that is noted in it. The tick goes on, and the turn is noted again.
#[test]
fn a_turn_that_a_circle_has_dropped_is_noted_in_the_same_tick() {
    let exit =
        |to, after, when, is_always| DrawnExit { to, after, when, on_alarm: false, is_always, even_final: false };
    let state = |parent, every, exits| Drawn { parent, is_busy: false, needs_courage: false, every, exits };
    let flat = || state(None, None, Vec::new());
    let circle = vec![exit(5, Some(21), None, false), exit(4, None, Some("hungry"), true)];
    let outer = state(Some(1), None, vec![exit(5, Some(18), None, false)]);
    let states = [flat(), flat(), flat(), flat(), outer, state(Some(4), Some(13), circle)];
    let events = [Event::Change(4, 4), Event::Hungry(4, true), Event::Ticks(16, 13)];
    let text = file(&states, true);
    let (expected, _) = run(Way::InTurn, [&text, &text], &events);
    assert_eq!(run(Way::Alone, [&text, &text], &events).0, expected);
}
