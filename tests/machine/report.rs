//! What a machine is doing, in words: the same of a machine by itself, in a batch and in a cast; and a batch looked at in parts.

use std::fmt;

use demeanor::{Agent, Batch, Cast, Fsm, MachineReport, Owner, State, StateMachine, StateRef, Telegram};

struct Guard(&'static str);

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

struct Always;
struct Duty;
struct Patrol;
struct Rest;
struct Stunned;
impl State<Guard> for Always {}
impl State<Guard> for Duty {}
impl State<Guard> for Rest {}
impl State<Guard> for Stunned {}
impl State<Guard> for Patrol {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Duty).into())
    }
}

struct Alert;
impl State<Guard> for Alert {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Duty).into())
    }

    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state_after(3.0, &Patrol);
    }
}

/// A state with data.
#[derive(Clone)]
struct Walk(#[expect(dead_code, reason = "what makes it one with data")] u32);
impl State<Guard> for Walk {}

/// The report, line by line.
fn lines(report: &MachineReport) -> Vec<String> {
    let names = |path: &[demeanor::StateReport]| path.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![format!("{}: {}", report.label, names(&report.path))];
    lines.push(format!("previous {:?}, global {:?}", report.previous, report.global));
    lines.extend(report.stack.iter().map(|path| format!("under it: {}", names(path))));
    lines.extend(report.timers.iter().map(|timer| format!("{timer}, until {:?} is left", timer.ends_with)));
    lines.push(format!("sleeps for {:?}", report.sleeps_for));
    lines
}

#[test]
fn a_report_has_the_path_the_stack_the_timers_and_the_sleep() {
    let mut guard = Guard("Bob");
    let mut machine = StateMachine::new(&Rest).with_global(&Always);
    machine.start(&mut guard, &mut 0.0);
    machine.change_state(&mut guard, &Patrol, &mut 1.0);
    machine.push_state(&mut guard, &Stunned, &mut 4.0);
    machine.with(&mut guard, &mut 5.0, |_, fsm, _| {
        fsm.change_state_after(10.0, &Rest);
        fsm.send_after(2.5, ());
    });
    machine.sleep_for(&guard, 20.0, &5.0);
    assert_eq!(
        lines(&machine.report(&guard, 6.0)),
        [
            "Bob: Stunned for 2 s",
            "previous Some(\"Patrol\"), global Some(\"Always\")",
            "under it: Duty for 3 s, Patrol for 3 s",
            "change to Rest in 9 s, until None is left",
            "message to oneself in 1.5 s, until None is left",
            "sleeps for Some(19.0)",
        ]
    );
}

#[test]
fn an_owner_in_a_batch_has_the_report_of_its_machine() {
    let mut machine = StateMachine::new(&Rest);
    let mut guard = Guard("Bob");
    machine.start(&mut guard, &mut 0.0);
    machine.change_state(&mut guard, &Patrol, &mut 1.0);
    machine.change_state_after(&mut guard, 8.0, &Rest, &mut 2.0);
    machine.push_state(&mut guard, Box::new(Walk(3)), &mut 4.0);
    machine.sleep();

    let mut batch = Batch::new();
    let in_its_own = batch.insert_machine(Guard("Bob"), machine.clone()).ok().unwrap();
    assert_eq!(batch.report(in_its_own, 6.0), Some(machine.report(&guard, 6.0)));

    machine.pop_state(&mut guard, &mut 5.0);
    let in_a_shared_one = batch.insert_machine(Guard("Bob"), machine.clone()).ok().unwrap();
    let report = batch.report(in_a_shared_one, 6.0).unwrap();
    assert_eq!(
        lines(&report),
        [
            "Bob: Duty for 4 s, Patrol for 4 s",
            "previous Some(\"Walk\"), global None",
            "change to Rest in 4 s, until None is left",
            "sleeps for None",
        ]
    );
    assert_eq!(report, machine.report(&guard, 6.0));

    batch.remove(in_its_own);
    assert_eq!(batch.report(in_its_own, 6.0), None);
}

#[test]
fn a_timer_of_a_state_says_with_which_state_it_ends() {
    let mut batch = Batch::new();
    let guard = batch.spawn(Guard("Bob"), &Alert, &mut 0.0);
    assert_eq!(
        lines(&batch.report(guard, 1.0).unwrap()),
        [
            "Bob: Duty for 1 s, Alert for 1 s",
            "previous None, global None",
            "change to Patrol in 2 s, until Some(\"Alert\") is left",
            "sleeps for None",
        ]
    );
}

#[test]
fn the_parts_of_a_batch_are_all_of_it_in_the_order_of_its_rows() {
    let mut batch = Batch::new();
    for number in 0..10_u32 {
        let mut now = number.into();
        match number % 3 {
            0 => batch.spawn(Guard("a"), &Rest, &mut now),
            1 => batch.spawn(Guard("b"), Box::new(Walk(number)), &mut now),
            _ => batch.spawn(Guard("c"), &Patrol, &mut now),
        };
    }
    let all: Vec<_> = batch.stays(0..usize::MAX, 10.0).map(|(key, guard, seconds)| (key, guard.0, seconds)).collect();
    let rows: Vec<_> =
        batch.iter().map(|(key, guard)| (key, guard.0, batch.time_in_state(key, &10.0).unwrap())).collect();
    assert_eq!(all, rows);
    for width in [1, 2, 3, 7] {
        let parts = (0..10).step_by(width).flat_map(|start| batch.stays(start..start + width, 10.0));
        let parts: Vec<_> = parts.map(|(key, guard, seconds)| (key, guard.0, seconds)).collect();
        assert_eq!(parts, rows, "in parts of {width}");
    }
    assert_eq!(batch.stays(10..20, 10.0).count(), 0);
}

struct Actor;

impl Owner for Actor {
    type Context<'a> = Cast<&'static str, (), ()>;
    type Message = Telegram<&'static str, ()>;
}

struct Wait;
impl State<Actor> for Wait {}

#[test]
fn a_member_of_a_cast_has_a_report_unless_it_is_acting() {
    let mut cast = Cast::new(());
    cast.spawn("Bob", Agent::new(Actor, StateMachine::new(&Wait))).ok().unwrap();
    assert_eq!(lines(&cast.report(&"Bob", &cast).unwrap())[0], "Actor: Wait for 0 s");
    let acting = cast.with::<Actor, _>(&"Bob", |_, cast| cast.report(&"Bob", cast).is_none());
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
