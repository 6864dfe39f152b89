//! Changes as events of `tracing`, with fields.
//!
//! In a binary of its own: whether anybody collects an event is remembered for all threads of a process, and tests without a
//! collector would have it forgotten.
#![cfg(all(feature = "tracing", feature = "std"))]

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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

/// A subscriber that panics at the first event of this library, and keeps the others.
#[derive(Default)]
struct Panicking(Kept, Mutex<bool>);

impl Subscriber for Panicking {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.0.enabled(metadata)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.new_span(span)
    }

    fn event(&self, event: &Event<'_>) {
        if !std::mem::replace(&mut *self.1.lock().unwrap(), true) {
            // Without the panic hook's message: it is expected.
            resume_unwind(Box::new("no room for an event"));
        }
        self.0.event(event);
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn panicking(act: impl FnOnce()) {
    let result = subscriber::with_default(Panicking::default(), || catch_unwind(AssertUnwindSafe(act)));
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&"no room for an event"));
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

/// Rules 22 and 23: what is told is told after the swap, and nobody else is lost.
#[test]
fn a_subscriber_that_panics_leaves_the_new_state_and_everybody_where_it_belongs() {
    for (number, state) in [(1, "Patrol"), (2, "Rest")] {
        let (mut guard, mut machine) = (Guard { number }, StateMachine::new(&Patrol));
        panicking(|| machine.update(&mut guard, &mut 5.0));
        assert_eq!(machine.current().unwrap().name(), state);
        assert_eq!(kept(|| machine.update(&mut guard, &mut 6.0)).len(), usize::from(number == 1), "it goes on");
    }
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..100).map(|number| batch.spawn(Guard { number }, &Patrol, &mut 1.0)).collect();
    panicking(|| batch.update(&mut 5.0));
    let is_at_rest = |batch: &Batch<Guard>, key| batch.is_in_state(key, &Rest);
    let before = keys.iter().filter(|key| is_at_rest(&batch, **key)).count();
    assert_eq!((batch.len(), batch.owners_in(&Rest).len()), (100, before));
    let events = kept(|| batch.update(&mut 6.0));
    assert_eq!(events.len(), 100 - before, "everybody else tries it again");
    assert!(keys.iter().all(|key| is_at_rest(&batch, *key) == (batch[*key].number > 1)));
}
