//! Regions of states in files (rule 32).

use demeanor::Owner;
use demeanor::definition::{Definition, Vocabulary};

#[derive(Default)]
struct Guard {
    tired: bool,
    foe: bool,
    dead: bool,
}

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = &'static str;
    fn now(clock: &f64) -> f64 {
        *clock
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .flag("tired", |guard: &Guard, _| guard.tired)
        .flag("foe", |guard: &Guard, _| guard.foe)
        .flag("dead", |guard: &Guard, _| guard.dead)
}

const COMBAT: &str = "
    initial = 'combat'
    [states.combat]
    regions = ['walk', 'ready']
    exits = [{ to = 'fall', when = 'dead' }]
    [states.walk]
    parent = 'combat'
    exits = [{ to = 'run', when = 'foe' }]
    [states.run]
    parent = 'combat'
    region = 'walk'
    exits = [{ to = 'walk', when = 'tired' }]
    [states.ready]
    parent = 'combat'
    region = 1
    exits = [{ to = 'aim', when = 'foe and in(walk)' }]
    [states.aim]
    parent = 'combat'
    region = 'ready'
    exits = [{ to = 'ready', when = 'not foe' }]
    [states.fall]
    final = true
";

#[test]
fn a_thin_slice() {
    let definition = Definition::parse(COMBAT, &vocabulary()).unwrap();
    let mut machine = definition.machine();
    let (mut guard, mut time) = (Guard::default(), 0.0);
    machine.start(&mut guard, &mut time);
    let active = |machine: &demeanor::StateMachine<Guard>| {
        machine.active_states().map(|state| state.name().into_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(active(&machine), "combat walk ready");
    guard.foe = true;
    machine.update(&mut guard, &mut time);
    assert_eq!(active(&machine), "combat run ready");
    guard.tired = true;
    machine.update(&mut guard, &mut time);
    assert_eq!(active(&machine), "combat walk aim");
    guard.dead = true;
    machine.update(&mut guard, &mut time);
    assert_eq!(active(&machine), "fall");
}
