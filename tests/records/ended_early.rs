//! The chapter "Staying, and changes that end early": rule 38 in journal, flow, trace and steps.
#![cfg(feature = "std")]

use demeanor::{Change, Flow, Fsm, Journal, Owner, State, StateMachine, StateRef, Step};

/// Whether `Combat` stays, or changes within the call: to `Barred`, which refuses, or to `Flee`.
#[derive(Default)]
struct Guard {
    stays: bool,
    is_refused: bool,
    told: Flow,
}

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = ();

    fn now(now: &f64) -> f64 {
        *now
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut f64) {
        self.told.note(change);
    }
}

struct Idle;
struct Combat;
struct Slash;
struct Flee;
struct Barred;

impl State<Guard> for Idle {}
impl State<Guard> for Flee {}
impl State<Guard> for Barred {
    fn can_enter(&self, _: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        false
    }
}
impl State<Guard> for Combat {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, now: &mut f64) {
        if guard.stays {
            fsm.stay();
        } else if guard.is_refused {
            fsm.change_state_now(guard, &Barred, now);
        } else {
            fsm.change_state_now(guard, &Flee, now);
        }
    }
}
impl State<Guard> for Slash {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Combat).into())
    }
}

/// Plays a change that is abandoned, a change back, and one that stays. Returns the owner and the steps.
fn play() -> (Guard, Vec<Step<Guard>>) {
    let (mut guard, mut machine, mut steps) = (Guard::default(), StateMachine::new(&Idle), Vec::new());
    assert!(!machine.recording(Some(&mut steps)).change_state(&mut guard, &Slash, &mut 1.0), "it is abandoned");
    assert!(machine.recording(Some(&mut steps)).change_state(&mut guard, &Idle, &mut 2.0));
    guard.stays = true;
    assert!(machine.recording(Some(&mut steps)).change_state(&mut guard, &Slash, &mut 3.0), "it is complete");
    (guard, steps)
}

fn journal_of(steps: &[Step<Guard>]) -> Journal<u32> {
    let mut journal = Journal::new(100);
    for step in steps {
        journal.note_step(7, step);
    }
    journal
}

#[test]
fn a_journal_a_flow_and_the_steps_mark_changes_that_end_early() {
    let (guard, steps) = play();
    let journal = journal_of(&steps);
    let entries: Vec<_> = journal.entries().map(|entry| entry.to_string()).collect();
    assert_eq!(
        entries,
        [
            "1 s: 7: Idle -> Slash (change), after 1 s",
            "1 s: 7: Combat -> Flee (change), after 0 s",
            "1 s: 7: Idle -> Slash (change), abandoned in Combat",
            "2 s: 7: Flee -> Idle (change), after 1 s",
            "3 s: 7: Idle -> Slash (change), after 1 s",
            "3 s: 7: Idle -> Slash (change), stayed in Combat",
        ]
    );
    let flow = journal.flow();
    assert_eq!(flow, guard.told);
    let changes: Vec<_> = flow.changes().map(|change| change.to_string()).collect();
    assert_eq!(changes, ["Combat -> Flee (change): 1", "Flee -> Idle (change): 1", "Idle -> Combat (change): 1"]);
    let ended: Vec<_> = flow.ended().map(|ended| ended.to_string()).collect();
    assert_eq!(
        ended,
        ["Idle -> Slash (change), abandoned in Combat: 1", "Idle -> Slash (change), stayed in Combat: 1"]
    );
    assert_eq!(flow.stays_in("Idle").unwrap().count(), 2, "Idle was left twice");
    assert!(flow.to_string().contains("stayed in Combat"));
}

#[test]
fn a_part_of_a_flow_has_no_change_that_ended_early_in_another_state() {
    let (guard, _) = play();
    let part = guard.told.of_states(|state| state != "Combat");
    let changes: Vec<_> = part.changes().map(|change| change.to_string()).collect();
    assert_eq!(changes, ["Flee -> Idle (change): 1"]);
    assert_eq!(part.ended().count(), 0);
    assert!(!part.states().contains("Combat"), "{part}");
    assert_eq!(guard.told.of_states(|_| true), guard.told);
}

#[cfg(feature = "serde")]
#[test]
fn a_flow_without_ends_is_read() {
    let (guard, _) = play();
    let written = serde_json::to_value(&guard.told).unwrap();
    assert_eq!(serde_json::from_value::<Flow>(written.clone()).unwrap(), guard.told);
    let mut older = written;
    older.as_object_mut().unwrap().remove("ended").expect("it is written");
    assert_eq!(serde_json::from_value::<Flow>(older).unwrap().ended().count(), 0);
}

#[test]
fn a_trace_shows_the_state_that_stayed_and_marks_both() {
    let (_, steps) = play();
    let journal = journal_of(&steps);
    let mut text = Vec::new();
    journal.trace().write_to(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(r#""name":"abandoned in Combat""#), "{text}");
    assert!(text.contains(r#""name":"stayed in Combat""#), "{text}");
    let begun: Vec<_> =
        text.lines().filter(|line| line.contains(r#""ph":"B""#) && line.contains(r#""name":"Combat""#)).collect();
    assert_eq!(begun.len(), 2, "once before it was left for Flee, once where it stayed: {text}");
}

/// The change whose `enter` has requested it goes on.
#[test]
fn a_trace_shows_the_target_though_an_enter_on_the_way_was_refused_another_change() {
    let (mut guard, mut machine, mut steps) = (Guard::default(), StateMachine::new(&Idle), Vec::new());
    guard.is_refused = true;
    assert!(machine.recording(Some(&mut steps)).change_state(&mut guard, &Slash, &mut 1.0));
    let mut text = Vec::new();
    journal_of(&steps).trace().until(2.0).write_to(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("refused by Barred.can_enter"), "{text}");
    assert_eq!(text.matches(r#""ph":"B""#).count(), 2, "Idle, then Slash: {text}");
}
