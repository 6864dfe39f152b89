//! Owners on a machine from a file change state without allocating, alone as in a batch.
#![cfg(feature = "definition")]

use allocation_counter::measure;
use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Change, Fsm, FsmSlice, Owner, State};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Default)]
struct Sentry {
    health: f64,
    seen: bool,
    /// Counts from 0 to 15, in each owner from where it began.
    hour: u32,
    entered: u32,
    changes: u32,
}

enum Told {
    Noise,
    Silence,
}

impl Owner for Sentry {
    type Context<'a> = f64;
    type Message = Told;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut f64) {
        self.changes += u32::from(change.is_taken());
    }
}

/// Lets the hours pass, by as much as the file says.
struct Pass {
    by: u32,
}

#[derive(Deserialize, JsonSchema)]
struct PassParams {
    by: u32,
}

impl State<Sentry> for Pass {
    fn enter(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, _: &mut f64) {
        sentry.entered += 1;
    }

    fn update(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, _: &mut f64) {
        sentry.hour = (sentry.hour + self.by) % 16;
        sentry.health = f64::from(sentry.hour * 5);
        sentry.seen = sentry.hour > 7;
    }

    fn update_all(&self, sentries: &mut [Sentry], fsm: &mut FsmSlice<'_, Sentry>, clock: &mut f64) {
        for (i, sentry) in sentries.iter_mut().enumerate() {
            self.update(sentry, fsm.at(i), clock);
        }
    }
}

fn vocabulary() -> Vocabulary<Sentry> {
    Vocabulary::new()
        .value("health", |sentry: &Sentry, _| sentry.health)
        .flag("seen", |sentry: &Sentry, _| sentry.seen)
        .behaviour_with("pass", |params: PassParams| Pass { by: params.by })
        .message("noise", |told| matches!(told, Told::Noise))
        .random(|sentry: &mut Sentry, _| f64::from(sentry.hour) / 16.0)
}

const FLAT: &str = r#"
    initial = "stand"

    [states.stand]
    behaviour = "pass"
    params = { by = 1 }
    exits = [
        { to = "locked" , when = "seen" },
        { to = "walk", when = "seen and (health > 45 or chance(0.6))" },
        { to = "run", on = "noise", when = "not seen" },
    ]

    [states.walk]
    behaviour = "pass"
    params = { by = 1 }
    exits = [{ to = "run", when = "time_in_state >= 2" }, { to = "stand", on = "noise" }]

    [states.run]
    behaviour = "pass"
    params = { by = 3 }
    exits = [{ to = "stand", when = "not seen" }, { to = "run", when = "health == 75" }]

    [states.locked]
    enter_when = "health > 1000"
    exits = [{ to = "stand" }]
"#;

const NESTED: &str = r#"
    initial = "peace"
    global = "always"

    [states.always]
    behaviour = "pass"
    params = { by = 1 }
    exits = [{ to = "flee", when = "health == 75" }]

    [states.peace]
    exits = [{ to = "combat", when = "seen" }]

    [states.combat]
    initial = "aim"
    exits = [{ to = "peace", when = "not seen" }]

    [states.aim]
    parent = "combat"
    exits = [{ to = "shoot", when = "time_in_state >= 2" }, { to = "shoot", on = "noise" }]

    [states.shoot]
    parent = "combat"
    behaviour = "pass"
    params = { by = 2 }
    exits = [{ to = "aim" }]

    [states.flee]
    exits = [{ to = "peace", when = "health < 20" }]
"#;

const SENTRIES: u32 = 100;

fn sentry(i: u32) -> Sentry {
    Sentry { hour: i % 16, ..Sentry::default() }
}

/// How many allocations `act` makes on this thread.
fn allocations(act: impl FnOnce()) -> u64 {
    measure(act).count_total
}

#[test]
fn a_machine_from_a_file_allocates_nothing_once_each_state_has_been_entered() {
    for (file, least) in [(FLAT, 200), (NESTED, 200)] {
        let definition = Definition::parse(file, &vocabulary()).unwrap();
        let (mut sentry, mut clock) = (sentry(0), 0.0);
        let mut machine = definition.machine();
        let mut hours = |count: u32| {
            for _ in 0..count {
                clock += 1.0;
                machine.update(&mut sentry, &mut clock);
                machine.send(&mut sentry, &Told::Silence, &mut clock);
                if sentry.hour % 5 == 0 {
                    machine.send(&mut sentry, &Told::Noise, &mut clock);
                }
            }
            sentry.changes
        };
        let before = hours(50);
        let mut after = 0;
        assert_eq!(allocations(|| after = hours(1000)), 0, "{file}");
        assert!(after - before > least, "{before} {after}");
    }
}

#[test]
fn a_machine_from_a_file_is_made_and_begun_without_allocating() {
    let definition = Definition::parse(FLAT, &vocabulary()).unwrap();
    let mut sentry = sentry(0);
    let mut begin = || definition.machine().start(&mut sentry, &mut 0.0);
    begin();
    assert_eq!(allocations(&mut begin), 0);
    assert_eq!(sentry.entered, 2);
}

/// Rule 28. Each exit keeps a number: for how long it waits.
#[test]
fn cloning_into_an_owner_whose_states_keep_many_numbers_allocates_nothing() {
    let exit = |health: u32| format!("{{ to = 'rest', when = 'health > {health}', after = '5 s .. 9 s' }},");
    let exits: String = (0..20).map(exit).collect();
    let file = format!("initial = 'stand'\nstates.stand.exits = [{exits}]\nstates.rest.final = true\n");
    let definition = Definition::parse(&file, &vocabulary()).unwrap();
    let (mut machine, mut batch) = (definition.machine(), Batch::new());
    machine.start(&mut sentry(5), &mut 0.0);
    machine.update(&mut sentry(5), &mut 1.0);
    let key = batch.insert(sentry(5), definition.initial());
    batch.start(key, &mut 0.0);
    batch.update(&mut 1.0);
    let (mut machines_clone, mut batchs_clone) = (machine.clone(), batch.clone());
    assert_eq!(allocations(|| machines_clone.clone_from(&machine)), 0);
    assert_eq!(allocations(|| batchs_clone.clone_from(&batch)), 0);
}

/// After a round of the hours each bucket has had as many owners as it ever will.
#[test]
fn a_batch_on_a_machine_from_a_file_allocates_nothing_once_its_buckets_have_grown() {
    let with_a_global =
        format!("global = \"always\"\n{FLAT}\n[states.always]\nbehaviour = \"pass\"\nparams = {{ by = 2 }}\n");
    for file in [FLAT, &with_a_global, NESTED] {
        let definition = Definition::parse(file, &vocabulary()).unwrap();
        let mut batch = Batch::new();
        if let Some(global) = definition.global() {
            batch = batch.with_global(global);
        }
        let keys: Vec<_> = (0..SENTRIES).map(|i| batch.insert(sentry(i), definition.initial())).collect();
        let mut clock = 0.0;
        let mut hours = |count: usize| {
            for hour in 0..count {
                clock += 1.0;
                batch.update(&mut clock);
                for key in keys.iter().skip(hour % 7).step_by(7) {
                    batch.send(*key, &Told::Noise, &mut clock);
                }
            }
            batch.iter().map(|(_, sentry)| sentry.changes).sum::<u32>()
        };
        let before = hours(700);
        let mut after = 0;
        assert_eq!(allocations(|| after = hours(700)), 0, "{file}");
        assert!(after - before > 100 * SENTRIES, "{before} {after}");
    }
}
