//! What a machine is doing, in words. The report is the same for a machine by itself, in a batch and in a cast.

use std::time::Duration;

use crate::trace::places::{A, ALWAYS, B, HALL};
use crate::trace::{Actor, Stage};
use demeanor::{Agent, Batch, Cast, GameTime, MachineReport, Owner, State, StateMachine, Telegram};

/// A state with data.
#[derive(Clone)]
struct Walk(#[expect(dead_code, reason = "what makes it one with data")] u32);
impl State<Actor> for Walk {}

/// Returns the lines of a report.
fn lines(report: &MachineReport) -> Vec<String> {
    let names = |path: &[demeanor::StateReport]| path.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![format!("{}: {}", report.label, names(&report.path))];
    lines.push(format!("previous {:?}, global {:?}", report.previous, report.global));
    lines.extend(report.stack.iter().map(|path| format!("under it: {}", names(path))));
    lines.extend(report.timers.iter().map(|timer| format!("{timer}, until {:?} is left", timer.ends_with)));
    lines.push(format!("sleeps for {:?}", report.sleeps_for));
    lines
}

/// Creates a machine in `House/Hall` since second 1, with a timer of `House` that is due in second 10.
fn in_the_hall() -> Stage {
    let mut stage = Stage::new(&A).at_most(1, "House.enter", |_, fsm, _| fsm.change_state_after(9.0, &A));
    stage.start();
    stage.advance(1);
    stage.change_state(&HALL);
    stage
}

#[test]
fn a_report_has_the_path_the_stack_the_timers_and_the_sleep() {
    let mut stage = in_the_hall().global(&ALWAYS);
    stage.advance(3);
    stage.push_state(&B);
    stage.advance(1);
    stage.with(|_, fsm, _| {
        fsm.change_state_after(10.0, &A);
        fsm.send_after(2.5, "hit");
    });
    stage.machine.sleep_for(&stage.actor, 20.0, &stage.time);
    assert_eq!(
        lines(&stage.machine.report(&stage.actor, 6.0)),
        [
            "Elsa: B for 2 s",
            "previous Some(\"Hall\"), global Some(\"Always\")",
            "under it: House for 3 s, Hall for 3 s",
            "change to A in 9 s, until None is left",
            "message to oneself in 1.5 s, until None is left",
            "sleeps for Some(19.0)",
        ]
    );
}

/// The owner has a timer of the machine and a timer of a state.
#[test]
fn an_owner_in_a_batch_has_the_report_of_its_machine() {
    let mut stage = in_the_hall();
    stage.machine.change_state_after(&mut stage.actor, 9.0, &B, &mut stage.time);
    stage.advance(3);
    stage.push_state(Box::new(Walk(3)));
    stage.machine.sleep();

    let mut batch = Batch::new();
    let in_its_own = batch.insert_machine(Actor::default(), stage.machine.clone()).ok().unwrap();
    assert_eq!(batch.report(in_its_own, 6.0), Some(stage.machine.report(&stage.actor, 6.0)));

    stage.advance(1);
    stage.pop_state();
    let in_a_shared_one = batch.insert_machine(Actor::default(), stage.machine.clone()).ok().unwrap();
    let report = batch.report(in_a_shared_one, 6.0).unwrap();
    assert_eq!(
        lines(&report),
        [
            "Elsa: House for 4 s, Hall for 4 s",
            "previous Some(\"Walk\"), global None",
            "change to B in 4 s, until None is left",
            "change to A in 5 s, until Some(\"House\") is left",
            "sleeps for None",
        ]
    );
    assert_eq!(report, stage.machine.report(&stage.actor, 6.0));

    batch.remove(in_its_own);
    assert_eq!(batch.report(in_its_own, 6.0), None);
}

#[test]
fn the_parts_of_a_batch_are_all_of_it_in_the_order_of_its_rows() {
    let mut batch = Batch::new();
    for number in 0..10_u32 {
        let mut time = GameTime::new();
        time.advance(Duration::from_secs(number.into()));
        let mut actor = Actor::default();
        actor.count = number % 3;
        match number % 3 {
            0 => batch.spawn(actor, &A, &mut time),
            1 => batch.spawn(actor, Box::new(Walk(number)), &mut time),
            _ => batch.spawn(actor, &HALL, &mut time),
        };
    }
    let mut now = GameTime::new();
    now.advance(Duration::from_secs(10));
    let all: Vec<_> =
        batch.stays(0..usize::MAX, 10.0).map(|(key, actor, seconds)| (key, actor.count, seconds)).collect();
    let rows: Vec<_> =
        batch.iter().map(|(key, actor)| (key, actor.count, batch.time_in_state(key, &now).unwrap())).collect();
    assert_eq!(all, rows);
    for width in [1, 2, 3, 7] {
        let parts = (0..10).step_by(width).flat_map(|start| batch.stays(start..start + width, 10.0));
        let parts: Vec<_> = parts.map(|(key, actor, seconds)| (key, actor.count, seconds)).collect();
        assert_eq!(parts, rows, "in parts of {width}");
    }
    assert_eq!(batch.stays(10..20, 10.0).count(), 0);
}

struct Member;

impl Owner for Member {
    type Context<'a> = Cast<&'static str, (), ()>;
    type Message = Telegram<&'static str, ()>;
}

struct Wait;
impl State<Member> for Wait {}

#[test]
fn a_member_of_a_cast_has_a_report_unless_it_is_acting() {
    let mut cast = Cast::new(());
    cast.spawn("Bob", Agent::new(Member, StateMachine::new(&Wait))).ok().unwrap();
    assert_eq!(lines(&cast.report(&"Bob", &cast).unwrap())[0], "Member: Wait for 0 s");
    let acting = cast.with::<Member, _>(&"Bob", |_, cast| cast.report(&"Bob", cast).is_none());
    assert_eq!(acting, Ok(true));
    assert!(cast.report(&"Elsa", &cast).is_none());
}

#[test]
fn a_label_that_fails_is_shown_as_far_as_it_goes() {
    struct Nameless;
    impl Owner for Nameless {
        type Context<'a> = ();
        type Message = ();

        fn label(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("nobody")?;
            Err(std::fmt::Error)
        }
    }
    struct Hide;
    impl State<Nameless> for Hide {}
    assert_eq!(StateMachine::new(&Hide).report(&Nameless, 0.0).label, "nobody");
}
