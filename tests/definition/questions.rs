//! What conditions can ask: which state is active and for how long, calculations, chances per second, and messages' fields.
#![cfg(feature = "definition")]

use demeanor::Batch;
use demeanor::definition::{Definition, Vocabulary};

use crate::alone_and_many::AloneAndMany;
use crate::guard::{self, Guard, Told, parsed};

fn vocabulary() -> Vocabulary<Guard> {
    guard::vocabulary().flag("hurt", |guard: &Guard, _| guard.health < 0.0)
}

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

/// Where a guard is after each tick, alone; each of many must be there, too.
#[track_caller]
fn states(definition: &Definition<Guard>, guard: &Guard, tick: f64, count: u32) -> Vec<String> {
    let mut guards = AloneAndMany::start(definition, guard);
    (1..=count).map(|nth| guards.update(f64::from(nth) * tick)).collect()
}

#[test]
fn a_condition_asks_which_states_are_active_and_for_how_long() {
    let definition = definition(
        r#"
        initial = "fight"
        global = "always"
        [states.always]
        exits = [
            { to = "walk", when = "in(fight) and time_in(fight) >= 3" },
            { to = "dead", when = "in(\"stand still\") and time_in('stand still') > 1" },
        ]
        [states.fight]
        initial = "aim"
        [states.aim]
        parent = "fight"
        exits = [{ to = "shoot", when = "time_in(aim) == time_in(fight) and time_in_state >= 1" }]
        [states.shoot]
        parent = "fight"
        exits = [{ to = "aim", when = "time_in(fight) - time_in_state >= 9 or time_in(walk) < 9" }]
        [states.walk]
        exits = [{ to = "stand still", when = "not in(fight)" }]
        [states."stand still"]
        enter_when = "in(walk)"
        exits = [{ to = "fight", when = "time_in(dead) < 5 or not time_in(walk) >= 0 and hurt" }]
        [states.dead]
        final = true
        "#,
    );
    assert_eq!(
        states(&definition, &Guard::default(), 1.0, 7),
        // The global state leads to `walk`, which has its turn in the same tick.
        ["shoot", "shoot", "stand still", "stand still", "dead", "dead", "dead"]
    );
}

#[test]
fn times_in_calculations_are_compared_as_times_are() {
    for (when, ticks) in [
        ("time_in(a) >= 0.5", 15),
        ("time_in_state * 1000 >= 500", 15),
        ("500 <= 1000 * time_in_state", 15),
        ("time_in_state - 0.5 > 0", 16),
        ("0.25 + 0.25 < time_in_state", 16),
        ("min(time_in(a), 9) == 0.5", 15),
    ] {
        let definition =
            definition(&format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', when = '{when}' }}]\n[states.b]\n"));
        // A clock that adds up rounded ticks.
        let (mut guard, mut machine, mut clock) = (Guard::default(), definition.machine(), 1000.0);
        machine.start(&mut guard, &mut clock);
        let mut passed = 0;
        while machine.current().unwrap().name() == "a" && passed < 100 {
            passed += 1;
            clock += 1.0 / 30.0;
            machine.update(&mut guard, &mut clock);
        }
        assert_eq!(passed, ticks, "{when}");
    }
}

#[test]
fn what_is_divided_by_zero_is_no_number_and_compares_false() {
    let guard = Guard { health: 10.0, ..Guard::default() };
    for (when, holds) in [
        ("health / ammo > 3", false),
        ("health / ammo < 3", false),
        ("health / ammo != 3", false),
        ("not health / ammo < 3", true),
        ("max(health / ammo, 5) == 5", false),
        ("abs(0 - health) / 2 == 5 and -health + 12 - 1 < 2 * (ammo + 1)", true),
        ("health - ammo - 4 == 6 and health - (ammo - 4) == 14", true),
        ("(health + ammo) / 4 == 2.5 and (hurt or health * -1 < 0)", true),
    ] {
        let definition =
            definition(&format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', when = '{when}' }}]\n[states.b]\n"));
        let expected = if holds { "b" } else { "a" };
        assert_eq!(states(&definition, &guard, 1.0, 1), [expected], "{when}");
    }
}

/// Of 4000 guards, the share that has left after two seconds.
#[expect(clippy::cast_precision_loss, reason = "they are few")]
fn share_left(file: &str, tick: f64) -> f64 {
    let definition = definition(file);
    let mut batch = Batch::new();
    let initial = definition.initial();
    for luck in 0..4000_u32 {
        batch.spawn(Guard::with_luck(luck.wrapping_mul(2_654_435_761)), initial.clone(), &mut 0.0);
    }
    let mut clock = 0.0;
    while clock < 2.0 - tick / 2.0 {
        clock += tick;
        batch.update(&mut clock);
    }
    let stayed = batch.owners_in(&*initial).len();
    1.0 - stayed as f64 / 4000.0
}

#[test]
fn a_chance_per_second_is_the_same_at_every_tick_rate() {
    // Of those who are there, half leave in each second: after two, a quarter is left.
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', when = 'chance_per_second(0.5)' }]\n[states.b]\n";
    for tick in [0.02, 0.1, 0.5, 2.0] {
        let left = share_left(file, tick);
        assert!((left - 0.75).abs() < 0.03, "{left} in ticks of {tick} s");
    }
    // Tried at its turns only.
    let file = format!("{file}[states.a]\nevery = 0.7\n").replace("states.a.exits", "exits");
    let file = file.replace("exits = [{ to = 'b', when = 'chance_per_second(0.5)' }]\n", "");
    let file = format!("{file}exits = [{{ to = 'b', when = 'chance_per_second(0.5)' }}]\n");
    let left = share_left(&file, 0.1);
    assert!((left - (1.0 - 0.5_f64.powf(1.4))).abs() < 0.03, "{left} at turns of 0.7 s");
}

#[test]
fn the_time_of_a_chance_per_second_begins_when_the_exit_opens() {
    // Open for half a second of the two.
    let file =
        "initial = 'a'\nstates.a.exits = [{ to = 'b', after = 1.5, when = 'chance_per_second(0.5)' }]\n[states.b]\n";
    for tick in [0.02, 0.25] {
        let left = share_left(file, tick);
        assert!((left - (1.0 - 0.5_f64.sqrt())).abs() < 0.03, "{left} in ticks of {tick} s");
    }
}

#[test]
fn a_chance_per_second_of_one_holds_as_soon_as_time_has_passed_and_of_none_never() {
    for (p, after) in [("1", ["b", "b"]), ("0", ["a", "a"])] {
        let file =
            format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', when = 'chance_per_second({p})' }}]\n[states.b]\n");
        assert_eq!(states(&definition(&file), &Guard::with_luck(1), 0.1, 2), after);
        assert_eq!(states(&definition(&file), &Guard::with_luck(1), 0.0, 2), ["a", "a"]);
    }
}

#[test]
fn a_chance_per_second_is_the_same_alone_and_among_many_and_in_the_global_state() {
    let file = "initial = 'a'\nglobal = 'g'\nstates.g.exits = [{ to = 'c', when = 'chance_per_second(0.2)' }]\n\
                states.a.exits = [{ to = 'b', when = 'chance_per_second(0.3)' }, { to = 'c', when = 'chance_per_second(0.1)' }]\n\
                states.b.exits = [{ to = 'a', when = 'chance_per_second(0.9)' }]\nstates.c.exits = [{ to = 'a', after = 0.5 }]";
    let definition = definition(file);
    let mut seen = std::collections::BTreeSet::new();
    for luck in 0..10 {
        seen.extend(states(&definition, &Guard::with_luck(luck), 0.1, 100));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn an_exit_asks_what_the_message_says_that_it_waits_for() {
    let definition = definition(
        "initial = 'a'\nstates.a.exits = [{ to = 'dead', on = 'hit', when = 'message.is_critical' }, \
         { to = 'b', on = 'hit', when = 'message.damage > health / 2 and message.is_critical == false' }]\n\
         states.b.final = true\nstates.dead.final = true",
    );
    let told = |damage: f64, is_critical: bool| {
        let mut guard = Guard { health: 40.0, ..Guard::default() };
        let mut machine = definition.machine();
        let told = Told::Hit { damage, is_critical };
        let mut batch = Batch::new();
        let key = batch.spawn(guard.clone(), definition.initial(), &mut 0.0);
        assert_eq!(machine.send(&mut guard, &told, &mut 0.0), batch.send(key, &told, &mut 0.0));
        assert_eq!(batch.state_of(key), machine.current());
        machine.current().unwrap().to_string()
    };
    assert_eq!([told(10.0, false), told(30.0, false), told(1.0, true)], ["a", "b", "dead"]);

    let mut machine = definition.machine();
    let mut guard = Guard { health: 40.0, ..Guard::default() };
    let shown =
        |reports: Vec<demeanor::definition::ExitReport>| reports.iter().map(ToString::to_string).collect::<Vec<_>>();
    let told = Told::Hit { damage: 10.0, is_critical: false };
    let reports =
        machine.with(&mut guard, &mut 0.0, |guard, fsm, clock| definition.explain_message(&told, guard, fsm, clock));
    assert_eq!(
        shown(reports),
        [
            "to dead on hit: no: message.is_critical does not hold",
            "to b on hit: no: message.damage > health / 2 (message.damage = 10, health / 2 = 20) does not hold"
        ]
    );
    let reports = machine.with(&mut guard, &mut 0.0, |guard, fsm, clock| definition.explain_with(guard, fsm, clock));
    assert_eq!(
        shown(reports),
        [
            "to dead on hit: no: message.is_critical (no message) does not hold",
            "to b on hit: no: message.damage > health / 2 (no message) does not hold"
        ]
    );
    let reports = machine
        .with(&mut guard, &mut 0.0, |guard, fsm, clock| definition.explain_message(&Told::Noise, guard, fsm, clock));
    assert_eq!(shown(reports), [""; 0]);
}

#[test]
fn what_is_read_of_a_calculation_is_explained() {
    let definition = definition(
        "initial = 'a'\nstates.a.exits = [{ to = 'b', when = 'health / 2 + 1 > min(ammo, 9) and chance_per_second(0)' }, \
         { to = 'b', when = 'in(b) or time_in(b) > 2 or 3 > time_in(a) * 2' }]\n[states.b]\n",
    );
    let mut guard = Guard { health: 10.0, ammo: 4.0, ..Guard::with_luck(1) };
    let drawn = guard.clone().draw();
    let reports = definition.explain(&definition.initial(), &mut guard, 2.0, &mut 2.0);
    let shown: Vec<_> = reports.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            format!(
                "to b: no: health / 2 + 1 > min(ammo, 9) (health / 2 + 1 = 6, min(ammo, 9) = 4) holds, \
                 chance_per_second(0) (drew {drawn:.3}, at a chance of 0.000) does not hold"
            ),
            "to b: no: in(b) does not hold, time_in(b) > 2 (time_in(b) = NaN) does not hold, \
             3 > time_in(a) * 2 (time_in(a) * 2 = 4) does not hold"
                .into(),
        ]
    );
}
