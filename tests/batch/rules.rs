//! What rules 5, 8, 12, 22, 24 and 31 say of many owners besides what holds for one.

#![cfg(feature = "std")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use demeanor::{Batch, Change, Fsm, Owner, State, StateRef};

use crate::captured_log::log_lines;
use crate::trace::log::Log;

/// An owner that does what its number says.
struct Goblin {
    number: usize,
    act: Act,
}

type Act = fn(&Goblin, &mut Fsm<'_, Goblin>);

impl Owner for Goblin {
    type Context<'a> = Log;
    type Message = ();

    fn now(log: &Log) -> f64 {
        log.now
    }

    fn on_change(&mut self, change: &Change<'_, Self>, log: &mut Log) {
        log.note(format!("{}: {change}", self.number));
    }

    fn after_change(&mut self, change: &Change<'_, Self>, log: &mut Log) {
        log.note(format!("{}: {change} is complete", self.number));
    }
}

struct Rest;
struct Left;
struct Right;

impl State<Goblin> for Rest {
    fn update(&self, goblin: &mut Goblin, fsm: &mut Fsm<'_, Goblin>, _: &mut Log) {
        (goblin.act)(goblin, fsm);
    }

    fn exit(&self, goblin: &mut Goblin, _: &mut Fsm<'_, Goblin>, log: &mut Log) {
        log.note(format!("{} leaves Rest", goblin.number));
    }

    /// Notes what each owner's handle shows.
    fn can_exit(&self, goblin: &Goblin, fsm: &Fsm<'_, Goblin>, log: &Log) -> bool {
        let name = |state: Option<&demeanor::StateRef<Goblin>>| state.map(|state| state.name().into_owned());
        SEEN.with_borrow_mut(|seen| {
            seen.push((
                goblin.number,
                name(fsm.previous()),
                name(fsm.target()),
                fsm.time_in(&Rest, log),
                fsm.has_requests(),
            ));
        });
        true
    }
}

type Seen = (usize, Option<String>, Option<String>, Option<f64>, bool);

thread_local! {
    static SEEN: std::cell::RefCell<Vec<Seen>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl State<Goblin> for Left {
    fn enter(&self, goblin: &mut Goblin, fsm: &mut Fsm<'_, Goblin>, log: &mut Log) {
        log.note(format!("{} enters Left", goblin.number));
        match goblin.number {
            2 => fsm.change_state(&Right),
            9 => assert!(fsm.change_state_now(goblin, &Right, log)),
            _ => {}
        }
    }
}

impl State<Goblin> for Right {
    fn enter(&self, goblin: &mut Goblin, _: &mut Fsm<'_, Goblin>, log: &mut Log) {
        log.note(format!("{} enters Right", goblin.number));
    }
}

/// As many owners in `Rest`, numbered.
fn goblins(count: usize, act: Act) -> Batch<Goblin> {
    let mut batch = Batch::new();
    for number in 0..count {
        batch.insert(Goblin { number, act }, &Rest);
    }
    batch
}

/// Rules 5, 12 and 19.
#[test]
fn the_owners_of_a_group_are_told_that_they_have_changed_after_its_enters() {
    let mut batch = goblins(
        4,
        |goblin, fsm| {
            if goblin.number % 2 == 0 { fsm.change_state(&Left) } else { fsm.change_state(&Right) }
        },
    );
    // So that the batch knows the states, and the changes are made in bulk.
    batch.insert(Goblin { number: 4, act: |_, _| {} }, &Left);
    batch.insert(Goblin { number: 5, act: |_, _| {} }, &Right);
    let mut log = Log::default();
    batch.update(&mut log);
    assert_eq!(
        log.lines,
        [
            "0 leaves Rest",
            "1 leaves Rest",
            "2 leaves Rest",
            "3 leaves Rest",
            "0: Rest -> Left (change)",
            "2: Rest -> Left (change)",
            "1: Rest -> Right (change)",
            "3: Rest -> Right (change)",
            "0 enters Left",
            "2 enters Left",
            "0: Rest -> Left (change) is complete",
            "2: Rest -> Left (change) is complete",
            "1 enters Right",
            "3 enters Right",
            "1: Rest -> Right (change) is complete",
            "3: Rest -> Right (change) is complete",
            "2: Left -> Right (change)",
            "2 enters Right",
            "2: Left -> Right (change) is complete",
        ]
    );
}

/// Rules 5 and 19.
#[test]
fn an_owner_of_a_group_whose_change_is_cut_short_is_not_told_that_it_is_complete() {
    let mut batch = goblins(0, |_, _| {});
    for number in [8, 9] {
        batch.insert(Goblin { number, act: |_, fsm| fsm.change_state(&Left) }, &Rest);
    }
    // So that the batch knows the state, and the changes are made in bulk.
    batch.insert(Goblin { number: 4, act: |_, _| {} }, &Left);
    let mut log = Log::default();
    batch.update(&mut log);
    assert_eq!(
        log.lines,
        [
            "8 leaves Rest",
            "9 leaves Rest",
            "8: Rest -> Left (change)",
            "9: Rest -> Left (change)",
            "8 enters Left",
            "9 enters Left",
            "9: Left -> Right (change)",
            "9 enters Right",
            "9: Left -> Right (change) is complete",
            "8: Rest -> Left (change) is complete",
        ]
    );
}

/// Rule 12.
#[test]
fn what_owners_that_leave_together_ask_for_in_exit_is_refused_with_a_warning_for_each() {
    struct Gate;
    impl State<Goblin> for Gate {
        fn update(&self, _: &mut Goblin, fsm: &mut Fsm<'_, Goblin>, _: &mut Log) {
            fsm.change_state(&Right);
        }

        fn exit(&self, goblin: &mut Goblin, fsm: &mut Fsm<'_, Goblin>, log: &mut Log) {
            log.note(format!("{} leaves Gate", goblin.number));
            match goblin.number {
                0 => fsm.change_state(&Left),
                1 => assert!(!fsm.change_state_now(goblin, &Rest, log)),
                _ => fsm.push_state(&Left),
            }
        }
    }

    let mut batch = goblins(0, |_, _| {});
    for number in 0..3 {
        batch.insert(Goblin { number, act: |_, _| {} }, &Gate);
    }
    // So that the batch knows the state, and the changes are made in bulk.
    batch.insert(Goblin { number: 3, act: |_, _| {} }, &Right);
    let mut log = Log::default();
    let mut lines = log_lines(|| batch.update(&mut log));
    lines.retain(|line| line.starts_with("WARN"));
    assert_eq!(
        lines,
        ["change to Rest", "change to Left", "push to Left"]
            .map(|request| format!("WARN demeanor: Goblin: {request} refused in state Gate: the state is being left"))
    );
    assert_eq!(
        log.lines,
        [
            "0 leaves Gate",
            "1 leaves Gate",
            "2 leaves Gate",
            "0: Gate -> Right (change)",
            "1: Gate -> Right (change)",
            "2: Gate -> Right (change)",
            "0 enters Right",
            "1 enters Right",
            "2 enters Right",
            "0: Gate -> Right (change) is complete",
            "1: Gate -> Right (change) is complete",
            "2: Gate -> Right (change) is complete",
        ]
    );
}

/// Rules 8 and 24.
#[test]
fn of_owners_that_ask_together_one_that_forces_is_not_asked_can_exit_and_one_that_ensures_its_state_stays() {
    struct Jail;
    impl State<Goblin> for Jail {
        fn update(&self, goblin: &mut Goblin, fsm: &mut Fsm<'_, Goblin>, _: &mut Log) {
            match goblin.number {
                0 => fsm.force_state(&Right),
                1 => fsm.change_state(&Right),
                _ => fsm.ensure_state(&Jail),
            }
        }

        fn can_exit(&self, goblin: &Goblin, _: &Fsm<'_, Goblin>, _: &Log) -> bool {
            goblin.number > 1
        }
    }

    let mut batch = goblins(0, |_, _| {});
    for number in 0..3 {
        batch.insert(Goblin { number, act: |_, _| {} }, &Jail);
    }
    // So that the batch knows the state, and the changes are made in bulk.
    batch.insert(Goblin { number: 3, act: |_, _| {} }, &Right);
    let mut log = Log::default();
    batch.update(&mut log);
    assert_eq!(
        log.lines,
        [
            "1: Jail -> Right (change), refused by Jail.can_exit",
            "0: Jail -> Right (force)",
            "0 enters Right",
            "0: Jail -> Right (force) is complete",
        ]
    );
}

/// Rule 22.
#[test]
fn after_a_panic_what_was_asked_for_is_carried_out_and_nobody_is_updated_any_more() {
    struct Camp;
    struct Tent;
    struct Fire;
    impl State<Goblin> for Camp {
        fn update(&self, goblin: &mut Goblin, fsm: &mut Fsm<'_, Goblin>, _: &mut Log) {
            if goblin.number == 1 {
                resume_unwind(Box::new("told to"));
            }
            fsm.change_state(&Fire);
        }
    }
    impl State<Goblin> for Tent {
        fn update(&self, goblin: &mut Goblin, _: &mut Fsm<'_, Goblin>, log: &mut Log) {
            log.note(format!("{} is updated in Tent", goblin.number));
        }

        fn parent(&self) -> Option<StateRef<Goblin>> {
            Some((&Camp).into())
        }
    }
    impl State<Goblin> for Fire {
        fn update(&self, goblin: &mut Goblin, _: &mut Fsm<'_, Goblin>, log: &mut Log) {
            log.note(format!("{} is updated in Fire", goblin.number));
        }

        fn parent(&self) -> Option<StateRef<Goblin>> {
            Some((&Camp).into())
        }
    }

    let mut batch = goblins(0, |_, _| {});
    for number in 0..3 {
        batch.insert(Goblin { number, act: |_, _| {} }, &Tent);
    }
    let mut log = Log::default();
    assert!(catch_unwind(AssertUnwindSafe(|| batch.update(&mut log))).is_err());
    assert_eq!(log.lines, ["0: Tent -> Fire (change)", "0: Tent -> Fire (change) is complete"]);
    assert_eq!([batch.owners_in(&Fire).len(), batch.owners_in(&Tent).len()], [1, 2]);
}

/// Rules 8 and 18: the handle is that of the owner who is asked about, also where many are asked in a row.
#[test]
fn a_guard_reads_the_machine_of_the_owner_it_is_asked_about() {
    let mut batch = goblins(2, |goblin, fsm| {
        if goblin.number == 1 {
            fsm.change_state(&Right);
        }
        fsm.change_state(&Left);
    });
    let mut log = Log::at(2.0);
    // It comes back from elsewhere, later than the other has come.
    let third = batch.insert(Goblin { number: 2, act: |_, fsm| fsm.change_state(&Right) }, &Right);
    batch.change_state(third, &Rest, &mut log);
    log.now = 5.0;
    SEEN.take();
    batch.update(&mut log);
    let named = |name: &str| Some(name.to_owned());
    let mut seen = SEEN.take();
    seen.sort_by_key(|seen| seen.0);
    assert_eq!(
        seen,
        [
            (0, None, named("Left"), Some(5.0), false),
            (1, None, named("Right"), Some(5.0), true),
            (2, named("Right"), named("Right"), Some(3.0), false),
        ]
    );
}

/// Rules 21 and 22: what a callback panics with is dropped where another's panic goes on, and that may panic, too.
#[cfg(feature = "parallel")]
#[test]
fn a_panics_payload_that_panics_when_it_is_dropped_loses_nobody() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                resume_unwind(Box::new("dropped"));
            }
        }
    }
    struct Fragile;
    impl State<Goblin> for Fragile {
        fn update(&self, goblin: &mut Goblin, _: &mut Fsm<'_, Goblin>, _: &mut Log) {
            if goblin.number % 3000 == 1 {
                resume_unwind(Box::new(Payload));
            }
        }
    }
    let mut batch = Batch::new();
    for number in 0..9000 {
        batch.insert(Goblin { number, act: |_, _| {} }, &Fragile);
    }
    let payload = catch_unwind(AssertUnwindSafe(|| batch.par_update(|_| Log::default()))).map(drop).unwrap_err();
    assert!(payload.is::<Payload>());
    std::mem::forget(payload);
    assert_eq!(batch.len(), 9000);
    assert_eq!(batch.owners_in(&Fragile).len(), 9000);
    let mut log = Log::default();
    for (number, key) in batch.keys().collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(batch.get(key).map(|goblin| goblin.number), Some(number));
        assert!(batch.change_state(key, &Right, &mut log));
    }
    assert_eq!(batch.owners_in(&Right).len(), 9000);
}

thread_local! {
    /// How many times anything of the game has been called.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn called() {
    CALLS.set(CALLS.get() + 1);
}

/// An owner that counts its ticks, and asks for what is to be measured.
struct Unit {
    ticks: u32,
    number: usize,
    ask: Ask,
}

type Ask = fn(&mut Unit, &mut Fsm<'_, Unit>, &mut ());

impl Owner for Unit {
    type Context<'a> = ();
    type Message = ();

    fn now((): &()) -> f64 {
        called();
        0.0
    }

    fn on_change(&mut self, _: &Change<'_, Self>, (): &mut ()) {
        called();
    }

    fn after_change(&mut self, _: &Change<'_, Self>, (): &mut ()) {
        called();
    }
}

/// The states that units change between: each is one for a number.
struct Post<const N: u8>;

impl<const N: u8> State<Unit> for Post<N> {
    fn enter(&self, _: &mut Unit, _: &mut Fsm<'_, Unit>, (): &mut ()) {
        called();
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, (): &mut ()) {
        called();
        unit.ticks += 1;
        (unit.ask)(unit, fsm, &mut ());
    }

    fn exit(&self, _: &mut Unit, _: &mut Fsm<'_, Unit>, (): &mut ()) {
        called();
    }

    fn can_enter(&self, _: &Unit, _: &Fsm<'_, Unit>, (): &()) -> bool {
        called();
        N != 8
    }

    fn can_exit(&self, _: &Unit, fsm: &Fsm<'_, Unit>, (): &()) -> bool {
        called();
        fsm.target().is_none_or(|target| !target.is::<Post<9>>())
    }

    fn parent(&self) -> Option<demeanor::StateRef<Unit>> {
        called();
        None
    }

    fn initial(&self) -> Option<demeanor::StateRef<Unit>> {
        called();
        None
    }

    fn is_passive(&self) -> bool {
        called();
        false
    }
}

/// What a tick of so many owners calls and allocates, once the batch has grown to them.
fn cost(count: usize, ask: Ask) -> (u64, u64) {
    let mut batch = Batch::new();
    for number in 0..count {
        batch.insert(Unit { ticks: 0, number, ask }, &Post::<0>);
    }
    (0..4).for_each(|_| batch.update(&mut ()));
    let calls_before = CALLS.get();
    let allocations = allocation_counter::measure(|| {
        batch.update(&mut ());
        batch.update(&mut ());
    });
    (CALLS.get() - calls_before, allocations.count_total)
}

/// Rule 31.
#[test]
fn what_an_owner_asks_for_costs_the_same_however_many_ask() {
    let corners: [(&str, Ask); 8] = [
        ("a change that can_enter refuses", |_, fsm, ()| fsm.change_state(&Post::<8>)),
        ("a change that can_exit refuses", |_, fsm, ()| fsm.change_state(&Post::<9>)),
        ("a revert without a previous state", |_, fsm, ()| fsm.revert_state()),
        ("half change, half revert", |unit, fsm, ()| {
            if unit.number % 2 == 0 { fsm.change_state(&Post::<1>) } else { fsm.revert_state() }
        }),
        (
            "a push, then a pop",
            |unit, fsm, ()| {
                if unit.ticks % 2 == 1 { fsm.push_state(&Post::<1>) } else { fsm.pop_state() }
            },
        ),
        ("a change now", |unit, fsm, cx| {
            fsm.change_state_now(unit, &Post::<1>, cx);
        }),
        ("three requests", |_, fsm, ()| {
            fsm.change_state(&Post::<1>);
            fsm.change_state(&Post::<2>);
            fsm.force_state(&Post::<3>);
        }),
        ("an ensured state and a message", |_, fsm, ()| {
            fsm.ensure_state(&Post::<1>);
            fsm.send(());
        }),
    ];
    for (corner, ask) in corners {
        // All within one chunk, and then over several.
        let [few, some, many, most] = [400, 800, 1600, 16_000].map(|count| cost(count, ask));
        assert_eq!(many.0 - some.0, 2 * (some.0 - few.0), "{corner}: calls of 400 owners more, and 800 more");
        assert!(most.0 <= many.0 * 11, "{corner}: {} calls for 1600 owners, {} for ten times as many", many.0, most.0);
        assert!(some.1 <= few.1 * 2 + 16, "{corner}: {} allocations for 400 owners, {} for 800", few.1, some.1);
        assert!(most.1 <= many.1 * 11 + 16, "{corner}: {} allocations for 1600, {} for 16 000", many.1, most.1);
    }
}
