//! Changes as events of `tracing`, with fields.
//!
//! In a binary of its own: whether anybody collects an event is remembered for all threads of a process, and tests without a
//! collector would have it forgotten.
#![cfg(all(feature = "tracing", feature = "std"))]

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex};

use demeanor::{Batch, Fsm, Owner, State, StateMachine};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, subscriber};

struct Guard {
    number: u32,
}

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guard {}", self.number)
    }
}

struct Patrol;
struct Rest;

impl State<Guard> for Patrol {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state(&Rest);
    }
}

impl State<Guard> for Rest {
    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        guard.number > 1
    }
}

/// Keeps the fields of each event of this library.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<String>>>);

impl Subscriber for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "demeanor" && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let fields: Vec<_> = fields.0.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.0.lock().unwrap().push(fields.join(" "));
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

fn kept(act: impl FnOnce()) -> Vec<String> {
    let kept = Kept::default();
    subscriber::with_default(kept.clone(), act);
    std::mem::take(&mut kept.0.lock().unwrap())
}

const REFUSED: &str = "cause=change from=Patrol message=may not change state owner=guard 1 refused_by=Rest.can_enter time_in_state=4.0 to=Rest";
const MADE: &str = "cause=change from=Patrol message=changes state owner=guard 2 time_in_state=4.0 to=Rest";

#[test]
fn each_change_of_a_machine_is_an_event_with_fields() {
    let events = kept(|| {
        for number in [1, 2] {
            let mut machine = StateMachine::new(&Patrol);
            machine.start(&mut Guard { number }, &mut 1.0);
            machine.update(&mut Guard { number }, &mut 5.0);
        }
        let mut idle = StateMachine::idle();
        idle.change_state(&mut Guard { number: 3 }, &Patrol, &mut 2.0);
    });
    let from_nothing = "cause=change message=changes state owner=guard 3 time_in_state=2.0 to=Patrol";
    assert_eq!(events, [REFUSED, MADE, from_nothing]);
}

#[test]
fn each_change_of_a_batch_is_an_event_with_fields() {
    let mut batch = Batch::new();
    for number in [1, 2] {
        batch.spawn(Guard { number }, &Patrol, &mut 1.0);
    }
    assert_eq!(kept(|| batch.update(&mut 5.0)), [REFUSED, MADE]);
}
