//! Machines from files as part of a game: what conditions mean, how long a definition lives, and states beside those of a file.
#![cfg(feature = "definition")]

use demeanor::definition::{Definition, ExitOutline, Outline, Vocabulary};
use demeanor::{State, StateMachine};

use crate::guard::{Guard, current, parsed, vocabulary};
use crate::played::Ask;
use crate::troop::Alike;

/// A machine that leaves `a` under a condition for `b`, and else under another one for `c`.
fn leaving(when: &str, otherwise: &str) -> StateMachine<Guard> {
    let file = format!(
        "initial = 'a'\n[states.a]\nexits = [{{ to = 'b', when = '{when}' }}, {{ to = 'c', when = '{otherwise}' }}]\n\
         [states.b]\n[states.c]\n"
    );
    parsed(&file, &vocabulary()).machine()
}

#[test]
fn conditions_compare_and_join_as_written() {
    let guard = Guard { health: 20.0, ammo: 3.0, enemy_visible: true, ..Guard::recording_changes() };
    for (when, expected) in [
        ("health < 20", false),
        ("health <= 20", true),
        ("health > 20", false),
        ("health >= 20", true),
        ("health == 20", true),
        ("health != 20", false),
        ("20 <= health", true),
        ("19 < health", true),
        ("-1.5e1 < health", true),
        ("health > ammo", true),
        ("ammo > time_in_state", true),
        ("enemy_visible", true),
        ("not enemy_visible", false),
        ("not not enemy_visible", true),
        ("enemy_visible == true", true),
        ("enemy_visible != true", false),
        ("false != enemy_visible", true),
        ("true", true),
        ("false or enemy_visible", true),
        ("true and not false", true),
        // `and` binds closer than `or`, `not` closer than both.
        ("enemy_visible or health > 20 and ammo > 5", true),
        ("(enemy_visible or health > 20) and ammo > 5", false),
        ("not enemy_visible or ammo == 3", true),
        ("not (enemy_visible or ammo == 3)", false),
        ("health > 20 or (ammo == 3 and (enemy_visible and not (health < 1)))", true),
        ("chance(1)", true),
        ("chance(0)", false),
        // What is divided by zero is no number, and compares false.
        ("health / patience > 3", false),
        ("health / patience < 3", false),
        ("health / patience != 3", false),
        ("not health / patience < 3", true),
        ("max(health / patience, 5) == 5", false),
        ("abs(0 - health) / 2 == 10 and -health + 22 - 1 < 2 * (patience + 1)", true),
        ("health - patience - 4 == 16 and health - (patience - 4) == 24", true),
        ("(health + patience) / 4 == 5 and (hungry or health * -1 < 0)", true),
    ] {
        let mut machine = leaving(when, "false");
        machine.update(&mut guard.clone(), &mut 0.0);
        assert_eq!(current(&machine) == "b", expected, "{when}");
    }
}

#[test]
fn a_number_that_is_none_compares_false_with_everything() {
    for op in ["<", "<=", ">", ">=", "==", "!="] {
        for (left, right) in [("health", "1"), ("1", "health"), ("health", "health"), ("ammo", "health")] {
            let compared = format!("{left} {op} {right}");
            let mut machine = leaving(&compared, &format!("not {compared}"));
            machine.update(&mut Guard { health: f64::NAN, ..Guard::default() }, &mut 0.0);
            assert_eq!(current(&machine), "c", "{compared}");
        }
    }
}

/// Neither is a condition asked, nor a random number drawn.
#[test]
fn exits_behind_one_that_the_behaviors_request_supersedes_are_not_tried() {
    let vocabulary = Vocabulary::new()
        .behavior("ask", &Ask)
        .flag("hungry", |guard: &Guard, _| guard.is_hungry)
        .flag("in_peace", |guard: &Guard, _| {
            assert!(!guard.is_hungry, "this exit is behind the one that is superseded");
            true
        })
        .random(|guard: &mut Guard, _| {
            guard.note("draws");
            guard.draw()
        });
    let file = "
        initial = 'a'
        [states.a]
        behavior = 'ask'
        exits = [
            { to = 'b', when = 'hungry' },
            { to = 'c', when = 'chance(0)' },
            { to = 'd', when = 'in_peace' },
        ]
        [states.b]
        [states.c]
        [states.d]
    ";
    let definition = parsed(file, &vocabulary);
    for (is_hungry, trace) in [(false, "draws; a -> d (change)"), (true, "a -> ByCode (change)")] {
        let mut guards = Alike::start(&definition, &Guard { is_hungry, ..Guard::recording_changes() });
        guards.update(1.0);
        assert_eq!(guards.take_trace(), trace);
    }
}

/// A guard goes from `a` to `b` while it is brave, and back.
const BRAVE: &str = "initial = 'a'\nstates.a.exits = [{ to = 'b', when = 'brave' }]\n\
                     states.b.exits = [{ to = 'a', when = 'not brave' }]\n";

#[test]
fn machines_go_on_when_their_definition_is_dropped() {
    let mut guard = Guard { is_brave: true, ..Guard::default() };
    let mut machine = parsed(BRAVE, &vocabulary()).machine();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(current(&machine), "b");
    guard.is_brave = false;
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(current(&machine), "a");
    assert!(machine.revert_state(&mut guard, &mut 0.0));
    assert_eq!(current(&machine), "b");
}

#[test]
fn a_definition_that_nobody_uses_is_freed() {
    /// Dropped with whatever holds it.
    struct Holds {
        _held: std::sync::Arc<()>,
    }
    impl State<Guard> for Holds {}
    let witness = std::sync::Arc::new(());
    {
        let held = witness.clone();
        let vocabulary = Vocabulary::new().behaviour("holds", std::sync::Arc::new(Holds { _held: held }));
        let file = "initial = \"a\"\n[states.a]\nbehaviour = \"holds\"\nexits = [{ to = \"b\" }]\n\
                    [states.b]\nparent = \"c\"\nexits = [{ to = \"a\" }]\n[states.c]\ninitial = \"b\"\n";
        let definition = Definition::parse(file, &vocabulary).unwrap();
        let mut machine = definition.machine();
        for _ in 0..3 {
            machine.update(&mut Guard::default(), &mut 0.0);
        }
        drop(definition);
        machine.update(&mut Guard::default(), &mut 0.0);
        assert!(std::sync::Arc::strong_count(&witness) > 1);
    }
    assert_eq!(std::sync::Arc::strong_count(&witness), 1);
}

#[test]
fn defined_states_stand_beside_hand_written_ones() {
    struct Elsewhere;
    impl State<Guard> for Elsewhere {}

    let definition = parsed(BRAVE, &vocabulary());
    let mut guard = Guard { is_brave: true, ..Guard::default() };
    let mut machine = StateMachine::new(&Elsewhere);
    machine.change_state(&mut guard, definition.state("a").unwrap(), &mut 0.0);
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(current(&machine), "b");
    machine.change_state(&mut guard, &Elsewhere, &mut 0.0);
    machine.revert_state(&mut guard, &mut 0.0);
    assert_eq!(machine.current(), definition.state("b").as_ref());
}

#[test]
fn an_outline_has_the_labels_of_exits_and_where_a_machine_begins() {
    let file = "initial = 'a'\nglobal = 'g'\nstates.g.exits = [{ to = 'a', on = 'noise', restart = true, even_final = true }]\n\
                states.a = { initial = 'b', exits = [{ to = 'c', always = true, when = 'brave' }] }\n\
                states.b = { parent = 'a', exits = [{ to = 'c', after = '4 ticks..4 s' }, { to = 'c', after = '64 ticks' }] }\n\
                states.c.exits = [{ to = 'a', after = 'patience' }]";
    let outline = Outline::parse("a.toml", file, None).unwrap();
    let labels: Vec<_> = outline.states().iter().flat_map(|state| state.exits()).map(ExitOutline::label).collect();
    let expected =
        ["noise (restart) (even final)", "always [brave]", "after 4 ticks..4 s", "after 64 ticks", "after patience"];
    assert_eq!(labels, expected);

    let definition = parsed(file, &vocabulary().ticks_per_second(32.0));
    assert_eq!(definition.initial().name(), "b");
    assert_eq!(definition.global().unwrap().name(), "g");
    assert_eq!(definition.machine().global(), definition.global());
    assert_eq!(definition.batch().global(), definition.global());
}
