//! Properties of a file, checked while its machines run.

use demeanor::definition::{Definition, PropertyWatch};
use demeanor::{Journal, StateMachine};

use crate::captured_log::log_lines;
use crate::guard::{Guard, vocabulary};

const FILE: &str = "
initial = 'rest'
[properties]
healthy = { never = 'in(fight) and health < 5' }
armed = { always = 'ammo > 0 or in(rest)' }
calms_down = { from = 'in(fight)', reach = 'in(rest)', within = 2 }
[states.rest]
exits = [{ to = 'fight', when = 'enemy_visible' }]
[states.fight]
exits = [{ to = 'rest', when = 'health < 3' }]
";

/// One guard with its machine, and what is known of its properties.
struct Watched {
    definition: Definition<Guard>,
    machine: StateMachine<Guard>,
    guard: Guard,
    watch: PropertyWatch,
}

impl Watched {
    fn new() -> Self {
        let definition = Definition::parse(FILE, &vocabulary()).unwrap();
        let (mut machine, mut guard) = (definition.machine(), Guard { health: 9.0, ammo: 1.0, ..Guard::default() });
        machine.start(&mut guard, &mut 0.0);
        Self { definition, machine, guard, watch: PropertyWatch::default() }
    }

    /// Updates the guard, and returns the properties that it violates.
    fn tick(&mut self, mut now: f64) -> Vec<String> {
        let Self { definition, machine, guard, watch } = self;
        machine.update(guard, &mut now);
        machine.with(guard, &mut now, |guard, fsm, now| definition.check_properties(watch, guard, fsm, now))
    }
}

#[test]
fn a_property_is_checked_at_the_end_of_a_tick() {
    let mut watched = Watched::new();
    assert_eq!(watched.tick(0.0), [""; 0]);
    (watched.guard.enemy_visible, watched.guard.health) = (true, 4.0);
    assert_eq!(watched.tick(0.1), ["healthy"]);
    // The exit is taken in the tick, so that at its end nothing is wrong.
    let mut watched = Watched::new();
    watched.guard.enemy_visible = true;
    assert_eq!(watched.tick(0.0), [""; 0]);
    (watched.guard.enemy_visible, watched.guard.health) = (false, 2.0);
    assert_eq!(watched.tick(0.1), [""; 0]);
}

#[test]
fn reach_may_hold_until_the_first_tick_after_the_time() {
    for (last, health, violated) in [(2.0, 2.0, 0), (2.5, 2.0, 0), (1.9, 9.0, 0), (2.0, 9.0, 1), (2.5, 9.0, 1)] {
        let mut watched = Watched::new();
        watched.guard.enemy_visible = true;
        assert_eq!(watched.tick(0.0), [""; 0]);
        assert_eq!(watched.tick(1.0), [""; 0]);
        watched.guard.health = health;
        assert_eq!(watched.tick(last).len(), violated, "{last} {health}");
    }
}

#[test]
fn a_violation_is_reported_once_for_each_owner() {
    let logged = log_lines(|| {
        for _ in 0..2 {
            let mut watched = Watched::new();
            (watched.guard.enemy_visible, watched.guard.ammo) = (true, 0.0);
            assert_eq!(watched.tick(0.0), ["armed"]);
            assert_eq!(watched.tick(0.1), [""; 0]);
        }
    });
    let logged: Vec<_> = logged.into_iter().filter(|line| line.starts_with("WARN")).collect();
    assert_eq!(logged.len(), 2, "{logged:?}");
    assert!(logged[0].contains("property armed is violated in fight"), "{logged:?}");
}

#[test]
fn a_violation_is_listed_in_the_journal_that_it_is_written_to() {
    let mut journal = Journal::new(2);
    for (name, ammo) in [("ann", 0.0), ("bob", 1.0), ("cid", 0.0), ("dan", 0.0)] {
        let mut watched = Watched::new();
        (watched.guard.enemy_visible, watched.guard.ammo) = (true, ammo);
        for property in watched.tick(0.5) {
            journal.note_violation(name, &property, watched.machine.active_states(), 0.5);
        }
    }
    let listed: Vec<_> = journal.violations().map(ToString::to_string).collect();
    let expected =
        ["0.5 s: \"cid\": property armed is violated in fight", "0.5 s: \"dan\": property armed is violated in fight"];
    assert_eq!(listed, expected);
    assert_eq!((journal.len(), journal.written()), (0, 0));
    journal.clear();
    assert_eq!(journal.violations().len(), 0);
}
