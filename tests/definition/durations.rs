//! Durations in ticks, drawn ones, and those that the game says.
#![cfg(feature = "definition")]

use std::hash::Hasher;

use demeanor::definition::{Definition, Outline, Vocabulary};
use demeanor::{Batch, Fsm, NextWake, State, StateMachine};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Guard, current, parsed};
use crate::troop::{Troop, WAYS, Way};

fn guard_with(luck: u32) -> Guard {
    Guard { patience: 0.5, ..Guard::with_luck(luck) }
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("patience", |guard: &Guard, _| guard.patience)
        .flag("never", |_: &Guard, _| false)
        .random(|guard: &mut Guard, _| guard.draw())
        .message("call", |_| true)
}

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

const RATE: f64 = 32.0;

/// How many ticks each guard is in each state, one state after the other.
fn stays(definition: &Definition<Guard>, way: Way, guards: &[Guard], count: usize) -> Vec<Vec<f64>> {
    let mut troop = Troop::start(way, guards, &definition.initial(), None);
    let mut stays = vec![Vec::new(); guards.len()];
    let mut since = vec![0.0; guards.len()];
    let mut tick = 0.0;
    while stays.iter().any(|stays: &Vec<f64>| stays.len() < count) {
        let before: Vec<_> = (0..guards.len()).map(|who| troop.state(who).cloned()).collect();
        tick += 1.0;
        troop.update(tick / RATE);
        for who in 0..guards.len() {
            if troop.state(who) != before[who].as_ref() && stays[who].len() < count {
                stays[who].push(tick - since[who]);
                since[who] = tick;
            }
        }
        assert!(tick < 1e5, "a guard never leaves");
    }
    stays
}

#[test]
fn ticks_are_as_long_as_the_file_or_the_game_says() {
    let states =
        "[states.a]\nexits = [{ to = 'b', after = '7 ticks' }]\n[states.b]\nexits = [{ to = 'a', after = '1 tick' }]";
    let of_file = definition(&format!("initial = 'a'\nticks_per_second = 32\n{states}"));
    let stays = |definition| stays(definition, Way::Alone, &[guard_with(0)], 4).remove(0);
    assert_eq!(stays(&of_file), [7.0, 1.0, 7.0, 1.0]);
    let file = format!("initial = 'a'\n{states}");
    let of_game = Definition::parse(&file, &vocabulary().ticks_per_second(16.0)).unwrap();
    assert_eq!(stays(&of_game), [14.0, 2.0, 14.0, 2.0]);
    let of_both = format!("initial = 'a'\nticks_per_second = 32\n{states}");
    let of_both = Definition::parse(&of_both, &vocabulary().ticks_per_second(16.0)).unwrap();
    assert_eq!(stays(&of_both), [7.0, 1.0, 7.0, 1.0]);
}

#[test]
fn every_unit_is_understood() {
    let seconds = |text: &str| {
        let file = format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', after = {text} }}]\nstates.b.final = true\n");
        let outline = Outline::parse("a.toml", &file, None).unwrap_or_else(|problems| panic!("{problems}"));
        outline.states()[0].exits()[0].after().unwrap().seconds().unwrap()
    };
    let cases = [
        ("2.5", 2.5),
        ("'200ms'", 0.2),
        ("'1e3 ms'", 1.0),
        ("'0.3 s'", 0.3),
        ("'3 Seconds'", 3.0),
        ("'1.5 min'", 90.0),
        ("' 2 h '", 7200.0),
        ("'1 s .. 1000 ms'", 1.0),
    ];
    for (text, expected) in cases {
        assert_eq!(seconds(text).to_bits(), f64::to_bits(expected), "{text}");
    }
}

/// From a random number to how many ticks a state lasts.
type TicksOf = fn(f64) -> f64;

/// Durations of two states in a circle, and how many ticks each lasts for a random number.
const DRAWN: [(&str, TicksOf); 4] = [
    ("'2 ticks .. 5 ticks'", |luck| 2.0 + (luck * 4.0).floor()),
    ("'4..9 ticks'", |luck| 4.0 + (luck * 6.0).floor()),
    ("'0.5 s .. 1.5 s'", |luck| (RATE * (0.5 + luck)).ceil()),
    // So long that a guard sleeps.
    ("'4 s .. 10000 ms'", |luck| (RATE * (4.0 + luck * 6.0)).ceil()),
];

#[test]
fn a_drawn_duration_is_drawn_at_each_entry_and_is_the_same_alone_and_among_many() {
    for (first, ticks_of_first) in DRAWN {
        for (second, ticks_of_second) in DRAWN {
            let definition = definition(&format!(
                "initial = 'a'\nticks_per_second = 32\nstates.a.exits = [{{ to = 'b', after = {first} }}]\n\
                 states.b.exits = [{{ to = 'a', after = {second} }}]\n"
            ));
            let guards: Vec<_> = (0..70).map(guard_with).collect();
            let drawn = |guard: &Guard| {
                let mut guard = guard.clone();
                let ticks = |i| if i % 2 == 0 { ticks_of_first(guard.draw()) } else { ticks_of_second(guard.draw()) };
                (0..6).map(ticks).collect::<Vec<_>>()
            };
            let expected: Vec<_> = guards.iter().map(drawn).collect();
            for way in WAYS {
                assert_eq!(stays(&definition, *way, &guards, 6), expected, "{first}, {second}, {way:?}");
            }
        }
    }
}

/// Asserts that a guard goes from `a` to `b` at this time, and not before.
#[track_caller]
fn assert_leaves_at(at: f64, machine: &mut StateMachine<Guard>, guard: &mut Guard) {
    for (mut clock, state) in [(at - 0.01, "a"), (at, "b")] {
        machine.update(guard, &mut clock);
        assert_eq!(current(machine), state, "at {clock}");
    }
}

#[test]
fn an_owner_that_waits_long_for_a_drawn_exit_sleeps_until_it_opens() {
    let definition = definition(
        "initial = 'a'\nstates.a.exits = [{ to = 'b', after = '10 s .. 20 s' }, { to = 'b', on = 'call' }]\n\
         states.b.final = true",
    );
    let mut guard = guard_with(3);
    let expected = 10.0 + guard.clone().draw() * 10.0;
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 100.0);
    machine.update(&mut guard, &mut 100.0);
    let NextWake::At(at) = machine.next_wake() else { panic!("{:?}", machine.next_wake()) };
    assert!((at - 100.0 - expected).abs() < 1e-3, "{at}, not {expected} s later");
    assert_leaves_at(100.0 + expected, &mut machine, &mut guard);
}

#[test]
fn a_drawn_duration_stands_still_under_a_push_and_ends_with_its_state() {
    let definition = definition(
        "initial = 'a'\nstates.a.exits = [{ to = 'b', after = '1 s .. 3 s' }]\nstates.b.exits = [{ to = 'a' }]\n\
         states.menu.exits = [{ to = 'menu', when = 'never' }]",
    );
    let mut guard = guard_with(5);
    let expected = 1.0 + guard.clone().draw() * 2.0;
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    machine.update(&mut guard, &mut 0.5);
    machine.push_state(&mut guard, definition.state("menu").unwrap(), &mut 0.5);
    machine.update(&mut guard, &mut 50.0);
    machine.pop_state(&mut guard, &mut 50.0);
    assert_leaves_at(49.5 + expected, &mut machine, &mut guard);
}

/// Opens a menu when it is entered.
struct Opens;
struct Menu;

impl State<Guard> for Menu {}

impl State<Guard> for Opens {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.push_state(&Menu);
    }

    fn resume(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {}
}

#[test]
fn what_was_drawn_is_kept_where_another_state_is_pushed_over_at_once() {
    let file = "initial = 'a'\n[states.a]\nbehavior = 'opens'\nexits = [{ to = 'b', after = '1 s .. 3 s' }]\n[states.b]\nfinal = true";
    let definition = Definition::parse(file, &vocabulary().behavior("opens", std::sync::Arc::new(Opens))).unwrap();
    let mut guard = guard_with(7);
    let expected = 1.0 + guard.clone().draw() * 2.0;
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    assert!(machine.is_in_state(&Menu));
    machine.pop_state(&mut guard, &mut 50.0);
    let reports = machine.with(&mut guard, &mut 50.5, |guard, fsm, clock| definition.explain_with(guard, fsm, clock));
    let left = ((expected - 0.5) * 100.0).round() / 100.0;
    assert_eq!(reports[0].to_string(), format!("to b: no: after 1 s .. 3 s ({left} s left) does not hold"));
}

#[test]
fn what_was_drawn_goes_on_to_count_when_the_file_is_reloaded() {
    let file = |after: &str| {
        format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', after = {after} }}]\nstates.b.final = true")
    };
    let definition = definition(&file("'1 s .. 2 s'"));
    let mut guard = guard_with(9);
    let luck = guard.clone().draw();
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    machine.update(&mut guard, &mut 0.5);
    definition.reload(&file("'11 s .. 21 s'")).unwrap();
    assert_leaves_at(11.0 + luck * 10.0, &mut machine, &mut guard);

    // Where nothing was drawn, the longest time counts.
    let definition = self::definition(&file("30"));
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    definition.reload(&file("'1 s .. 2 s'")).unwrap();
    assert_leaves_at(2.0, &mut machine, &mut guard);
}

#[test]
fn a_drawn_exit_is_explained_with_what_is_left() {
    let definition = definition(
        "initial = 'a'\nticks_per_second = 32\n[states.a]\nexits = [{ to = 'b', after = '4 ticks..4 s' }, \
         { to = 'b', after = '64 ticks' }, { to = 'b', after = 'patience' }]\n[states.b]\nfinal = true",
    );
    let mut guard = guard_with(1);
    let drawn = 0.125 + guard.clone().draw() * 3.875;
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    let reports = machine.with(&mut guard, &mut 0.25, |guard, fsm, clock| definition.explain_with(guard, fsm, clock));
    let shown: Vec<_> = reports.iter().map(ToString::to_string).collect();
    let left = ((drawn - 0.25) * 100.0).round() / 100.0;
    assert_eq!(
        shown,
        [
            format!("to b: no: after 4 ticks..4 s ({left} s left) does not hold"),
            "to b: no: after 64 ticks (1.75 s left) does not hold".into(),
            "to b: no: after patience (0.25 s left) does not hold".into(),
        ]
    );
}

proptest! {
    #![proptest_config(cases(64))]

    /// A state whose turns are drawn: its one exit is tried at its turns only.
    #[test]
    fn turns_are_drawn_one_after_the_other(luck in any::<u32>(), turns in 1..6_usize) {
        let definition = definition(
            "initial = 'a'\n[states.a]\nevery = '0.5 s .. 3 s'\nexits = [{ to = 'b', when = 'patience < 0' }]\n\
             [states.b]\nfinal = true",
        );
        let (mut guard, mut drawn) = (guard_with(luck), guard_with(luck));
        // Each turn is taken in the first tick after its time, and the next one is counted from there.
        let mut turn = 0.0;
        for _ in 0..turns {
            let ticks = RATE * (0.5 + drawn.draw() * 2.5);
            // One that ends hardly after a tick ends in that tick: times that are hardly apart are equal.
            prop_assume!((ticks - ticks.round()).abs() > 0.001);
            turn += ticks.ceil();
        }
        let mut machine = definition.machine();
        machine.start(&mut guard, &mut 0.0);
        let mut batch = Batch::new();
        let key = batch.spawn(guard_with(luck), definition.initial(), &mut 0.0);
        let mut tick = 0.0;
        while machine.current().unwrap().name() == "a" {
            tick += 1.0;
            // Before the last of these turns it cannot leave.
            if tick > turn - 0.5 {
                guard.patience = -1.0;
                batch.get_mut(key).unwrap().patience = -1.0;
            }
            machine.update(&mut guard, &mut (tick / RATE));
            batch.update(&mut (tick / RATE));
            prop_assert_eq!(batch.state_of(key), machine.current());
        }
        prop_assert_eq!(tick.to_bits(), turn.to_bits());
    }
}

/// Rule 28. Where a batch stores a number that a state keeps about an owner depends on how the owner is updated.
#[test]
fn the_digest_does_not_depend_on_where_the_numbers_of_states_are_stored() {
    let definition = definition(
        "initial = 'walk'\n\
         [states.walk]\ninitial = 'step'\nexits = [{ to = 'rest', when = 'chance_per_second(0.02)', cooldown = 3 }]\n\
         [states.step]\nparent = 'walk'\nexits = [{ to = 'look', after = '0.2 s .. 0.7 s' }]\n\
         [states.look]\nparent = 'walk'\nexits = [{ to = 'step', after = 0.5 }]\n\
         [states.rest]\nexits = [{ to = 'walk', after = 1, cooldown = '2 s .. 4 s' }]",
    );
    let mut batch = Batch::new();
    for luck in 0..20 {
        batch.spawn(guard_with(luck), definition.initial(), &mut 0.0);
    }
    let mut in_key_order = batch.clone();
    let digest = |batch: &Batch<Guard>| batch.digest(|guard, hasher| hasher.write_u32(guard.luck));
    for tick in 1..400 {
        let now = f64::from(tick) / RATE;
        batch.update(&mut { now });
        in_key_order.update_in_key_order(&mut { now });
        assert_eq!(digest(&batch), digest(&in_key_order), "in tick {tick}");
    }
}
