//! Where regions meet other parts: panics, recorded steps, batches, clones (rule 32).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::trace::places::{A, FIGHT, LOOSE, RUN, SHOOT, WALK};
use crate::trace::{Actor, Stage};
use demeanor::journal::Stays;
use demeanor::{GameTime, Journal, MachineReport, RegionReport, StateMachine, StateReport, Step};

/// Rules 22 and 32.
#[test]
fn a_panic_in_a_region_leaves_all_states_in_their_places() {
    for callback in ["Walk.update", "Walk.exit", "Run.enter", "Walk.can_exit", "on_change"] {
        let mut stage = Stage::new(&FIGHT);
        stage.start();
        let mut stage = stage.when("Walk.update", |_, fsm, _| fsm.change_state(&RUN)).panicking_in(callback);
        let update = catch_unwind(AssertUnwindSafe(|| stage.update()));
        assert!(update.is_err(), "{callback} panics");
        stage.actor.stop_panicking();
        stage.actor.take_trace();
        assert_eq!(stage.machine.path().count(), 1, "the machine has its own seat back after {callback}");
        assert_eq!(stage.machine.regions(&FIGHT).count(), 2, "after {callback}");
        let trace = stage.change_state(&A).0;
        assert_eq!((&*trace[0], &*trace[trace.len() - 2]), ("Ready.exit", "A.enter"), "after {callback}");
    }
}

/// Rule 32.
#[test]
fn a_change_in_a_region_is_recorded_and_counts_as_a_change() {
    let mut machine = StateMachine::new(&FIGHT);
    let (mut actor, mut time) = (Actor::default(), GameTime::new());
    machine.start(&mut actor, &mut time);
    let mut steps: Vec<Step<Actor>> = Vec::new();
    let mut recorded = machine.recording(Some(&mut steps));
    recorded.change_state(&mut actor, &RUN, &mut time);
    assert!(recorded.has_changed());
    let [Step::Exited(walk), Step::Changed { .. }, Step::Entered(run)] = &steps[..] else { panic!("{steps:?}") };
    assert!(walk.name() == "Walk" && run.name() == "Run");

    let mut recorded = machine.recording(None);
    recorded.update(&mut actor, &mut time);
    assert!(!recorded.has_changed(), "an earlier change does not count");
}

/// Rules 28 and 32.
#[test]
fn a_clone_has_the_regions_and_its_digest_tells_them_apart() {
    let mut machine = StateMachine::new(&FIGHT);
    let (mut actor, mut time) = (Actor::default(), GameTime::new());
    machine.start(&mut actor, &mut time);
    let clone = machine.clone();
    assert_eq!(clone.digest(), machine.digest());
    machine.change_state(&mut actor, &RUN, &mut time);
    assert_ne!(clone.digest(), machine.digest());
    assert!(clone.is_in_state(&WALK) && machine.is_in_state(&RUN));
}

/// Rules 25, 26 and 32.
#[test]
fn a_report_names_each_region_with_its_stack_its_timers_and_its_sleep() {
    let mut stage = Stage::new(&FIGHT)
        .when("Walk.enter", |_, fsm, _| fsm.change_state_after(5.0, &RUN))
        .when("Ready.enter", |_, fsm, _| fsm.change_state_after(9.0, &SHOOT))
        .when("Ready.update", |_, fsm, _| fsm.push_state(&SHOOT))
        .when("Hold.enter", |_, fsm, _| fsm.sleep_for(3.0));
    stage.start();
    stage.update();
    stage.advance(1);
    let report = stage.machine.report(&stage.actor, 1.0);
    let names = |path: &[StateReport]| path.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let lines = |report: &MachineReport| -> Vec<String> {
        let line = |region: &RegionReport| {
            let RegionReport { within, region, path, previous, stack, timers, sleeps_for, .. } = region;
            let under: Vec<_> = stack.iter().map(|path| names(path)).collect();
            let timers: Vec<_> = timers.iter().map(|timer| format!("{timer} unless {:?}", timer.ends_with)).collect();
            format!("{within} {region}: {}, {previous:?}, {under:?}, {timers:?}, {sleeps_for:?}", names(path))
        };
        report.regions.iter().map(line).collect()
    };
    assert_eq!(names(&report.path), "Fight for 1 s");
    assert_eq!(
        lines(&report),
        [
            "Fight 0: Walk for 1 s, None, [], [\"change to Run in 4 s unless Some(\\\"Walk\\\")\"], None",
            "Fight 1: Shoot for 1 s, Some(\"Ready\"), [\"Ready for 0 s\"], [], None",
            "Shoot 0: Draw for 1 s, None, [], [], None",
            "Shoot 1: Hold for 1 s, None, [], [], Some(2.0)",
        ]
    );
    assert!(!report.is_asleep());
    let pending: Vec<_> =
        stage.machine.pending().iter().map(|timer| (timer.to_string(), timer.state().cloned())).collect();
    assert_eq!(pending, [("change to Run".to_owned(), Some((&WALK).into()))]);

    // A push suspends all regions.
    stage.push_state(&A);
    let report = stage.machine.report(&stage.actor, 1.0);
    assert!(report.regions.is_empty());
    assert_eq!(names(&report.stack[0]), "Fight for 1 s, Walk for 1 s, Shoot for 1 s, Draw for 1 s, Hold for 1 s");
    stage.pop_state();
    stage.machine.sleep();
    assert!(stage.machine.report(&stage.actor, 1.0).is_asleep());
}

/// The names and the slices of the tracks in the trace of a journal that ends at 7 seconds.
#[cfg(feature = "std")]
fn tracks(journal: &Journal<&str>) -> (Vec<String>, Vec<Vec<String>>) {
    let mut trace = Vec::new();
    journal.trace().until(7.0).write_to(&mut trace).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    let mut slices: Vec<Vec<String>> = vec![Vec::new(); 4];
    let mut names = Vec::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let nth = usize::try_from(event["tid"].as_u64().unwrap()).unwrap() - 1;
        let seconds = event["ts"].as_u64().unwrap_or(0) / 1_000_000;
        match event["ph"].as_str().unwrap() {
            "M" => names.push(event["args"]["name"].as_str().unwrap().to_owned()),
            "B" => slices[nth].push(format!("{} from {seconds}", event["name"].as_str().unwrap())),
            _ => {
                let begun = slices[nth].pop().unwrap();
                slices[nth].push(format!("{begun} to {seconds}"));
            }
        }
    }
    (names, slices)
}

/// The time of a suspended state is paused, so that it does not say when the state was resumed.
#[cfg(feature = "std")]
#[test]
fn a_trace_shows_no_state_of_a_region_while_it_is_suspended() {
    let mut machine = StateMachine::new(&FIGHT);
    let (mut actor, mut time) = (Actor::default(), GameTime::new());
    machine.start(&mut actor, &mut time);
    let mut journal = Journal::new(100);
    for what in ["change", "push", "", "pop", "change"] {
        time.advance(Duration::from_secs(1));
        let mut steps = Vec::new();
        let mut recorded = machine.recording(Some(&mut steps));
        match what {
            "push" => _ = recorded.push_state(&mut actor, &A, &mut time),
            "pop" => _ = recorded.pop_state(&mut actor, &mut time),
            "change" => _ = recorded.change_state(&mut actor, &RUN, &mut time),
            _ => {}
        }
        for step in &steps {
            journal.note_step("Elsa", step);
        }
    }
    let (_, slices) = tracks(&journal);
    assert_eq!(slices[0], ["Walk from 0 to 1", "Run from 1 to 2", "Run from 4 to 5", "Run from 5 to 7"]);
    assert_eq!(slices[1], ["Fight from 0 to 2", "A from 2 to 4", "Fight from 4 to 7"]);
}

/// Rules 29 and 32.
#[cfg(feature = "std")]
#[test]
fn a_journal_has_the_changes_in_regions_with_the_state_whose_region_it_is() {
    let mut machine = StateMachine::new(&FIGHT);
    let (mut actor, mut time) = (Actor::default(), GameTime::new());
    machine.start(&mut actor, &mut time);
    let mut journal = Journal::new(100);
    for to in [&RUN, &SHOOT, &LOOSE, &A, &FIGHT, &WALK] {
        time.advance(Duration::from_secs(1));
        let mut steps = Vec::new();
        machine.recording(Some(&mut steps)).change_state(&mut actor, to, &mut time);
        for step in &steps {
            journal.note_step("Elsa", step);
        }
    }
    let entries: Vec<_> = journal.entries().map(|entry| entry.to_string()).collect();
    assert_eq!(
        entries,
        [
            "1 s: \"Elsa\": Walk -> Run in Fight (change), after 1 s",
            "2 s: \"Elsa\": Ready -> Shoot in Fight (change), after 2 s",
            "3 s: \"Elsa\": Draw -> Loose in Shoot (change), after 1 s",
            "4 s: \"Elsa\": Fight -> A (change), after 4 s",
            "5 s: \"Elsa\": A -> Fight (change), after 1 s",
            "6 s: \"Elsa\": Walk -> Walk in Fight (change), after 1 s",
        ]
    );
    let regions: Vec<_> = journal.entries().map(|entry| entry.region).collect();
    assert_eq!(regions, [Some(0), Some(1), Some(0), None, None, Some(0)]);
    assert_eq!(journal.flow().changes().count(), 6);
    assert_eq!(journal.flow().stays_in("Walk").map(Stays::count), Some(2));

    // In a trace, each region has a track of its own, which ends with the state whose region it is.
    let (names, slices) = tracks(&journal);
    let region = |nth: usize, of: &str| format!("\"Elsa\", region {nth} of {of}");
    assert_eq!(names, [region(0, "Fight"), region(1, "Fight"), region(0, "Shoot"), "\"Elsa\"".to_owned()]);
    assert_eq!(slices[0], ["Walk from 0 to 1", "Run from 1 to 4", "Walk from 5 to 6", "Walk from 6 to 7"]);
    assert_eq!(slices[1], ["Ready from 0 to 2", "Shoot from 2 to 4"]);
    assert_eq!(slices[2], ["Draw from 2 to 3", "Loose from 3 to 4"]);
    assert_eq!(slices[3], ["Fight from 0 to 4", "A from 4 to 5", "Fight from 5 to 7"]);
}

/// Rules 22, 26 and 32.
#[test]
fn what_a_callback_that_has_panicked_requested_puts_no_region_to_sleep() {
    let mut stage = Stage::new(&FIGHT)
        .at_most(1, "Walk.update", |_, fsm, _| {
            fsm.sleep();
            std::panic::resume_unwind(Box::new("expected"));
        })
        .when("Ready.update", |_, fsm, _| fsm.sleep());
    stage.start();
    assert!(catch_unwind(AssertUnwindSafe(|| stage.update())).is_err());
    stage.actor.take_trace();
    assert_eq!(stage.update(), "Fight.update; Walk.update; Ready.update");
    assert_eq!(stage.update(), "Fight.update; Walk.update", "only the region whose callback has requested it sleeps");
}

/// Rules 22 and 36: the request to sleep is dropped also if regions are opened only after the panic.
#[test]
fn what_was_requested_before_a_panic_puts_no_state_with_regions_to_sleep() {
    let mut stage = Stage::new(&FIGHT).panicking_in("Fight.can_exit").when("Walk.enter", |_, fsm, _| fsm.sleep());
    let Stage { machine, actor, time, .. } = &mut stage;
    let request = || {
        machine.with(actor, time, |_, fsm, _| {
            fsm.change_state_next(&WALK);
            fsm.sleep();
            fsm.change_state(&A);
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(request)).is_err());
    stage.actor.stop_panicking();
    stage.actor.take_trace();
    assert_eq!(stage.update(), "(no state) -> Walk in Fight (change); Walk.enter; Fight.update");
    assert!(!stage.machine.is_asleep());
}
