//! The events for a page, and the server's handling of all kinds of clients.

mod abuse;
mod client;
mod commands;
mod crowds;

use std::fmt;
use std::time::Instant;

use client::{PATIENCE, Page};
use demeanor::{Batch, Fsm, Journal, Key, Owner, State, StateRef};
use demeanor_inspector::Inspector;

/// Waits until a condition holds.
#[track_caller]
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it does not come to that");
        std::thread::yield_now();
    }
}

fn inspector() -> Inspector {
    Inspector::bind("127.0.0.1:0").unwrap()
}

struct Guard {
    name: &'static str,
    is_tired: bool,
}

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

struct Duty;
struct Patrol;
struct Rest;
struct Stunned;

impl State<Guard> for Duty {}
impl State<Guard> for Stunned {}

impl State<Guard> for Patrol {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Duty).into())
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state(&Rest);
    }
}

impl State<Guard> for Rest {
    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        guard.is_tired
    }

    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state_after(100.0, &Patrol);
        fsm.sleep();
    }
}

/// Returns three guards on patrol; Bob is tired.
fn guards() -> (Batch<Guard>, [Key; 3]) {
    let mut batch = Batch::new();
    batch.set_journal(Some(Journal::new(100)));
    let guards = [("Bob", true), ("Elsa", false), ("Joe", false)];
    let keys = guards.map(|(name, is_tired)| batch.spawn(Guard { name, is_tired }, &Patrol, &mut 0.0));
    (batch, keys)
}

fn page_of(inspector: &Inspector) -> Page {
    Page::open(inspector.address(), "")
}
