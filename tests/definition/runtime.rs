//! Machines from files, at work: exits, entry conditions, messages, hierarchies, many owners.
#![cfg(feature = "definition")]

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Fsm, State, StateMachine};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::{self, Guard, Notes, Told, current, parsed};

#[derive(Deserialize, JsonSchema)]
struct TellParams {
    word: String,
}

/// A behaviour that leaves by itself.
struct Bolt;
impl State<Guard> for Bolt {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state(&Elsewhere);
    }
}

struct Elsewhere;
impl State<Guard> for Elsewhere {}

struct Locked;
impl State<Guard> for Locked {
    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        guard.ammo > 100.0
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    guard::vocabulary()
        .behaviour_with("tell", |params: TellParams| Notes(params.word))
        .behaviour("bolt", &Bolt)
        .behaviour("locked", &Locked)
}

#[track_caller]
fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

const FIGHT: &str = r#"
    initial = "wander"

    [states.wander]
    behaviour = "tell"
    params = { word = "wander" }
    exits = [{ to = "attack", when = "enemy_visible" }, { to = "hide", on = "noise" }]

    [states.attack]
    behaviour = "tell"
    params = { word = "attack" }
    enter_when = "ammo > 0"
    exits = [
        { to = "hide", on = "hit", when = "health < 20" },
        { to = "wander", when = "not enemy_visible" },
    ]

    [states.hide]
    behaviour = "tell"
    params = { word = "hide" }
    exits = [{ to = "wander", when = "time_in_state >= 2" }]
"#;

#[test]
fn a_defined_machine_makes_its_callbacks_in_the_order_of_any_other() {
    let mut machine = definition(FIGHT).machine();
    let (mut guard, mut clock) = (Guard { health: 30.0, ammo: 1.0, ..Guard::recording_changes() }, 0.0);
    machine.start(&mut guard, &mut clock);
    machine.update(&mut guard, &mut clock);
    guard.enemy_visible = true;
    assert!(!machine.send(&mut guard, &Told::hit(0.0), &mut clock));
    machine.update(&mut guard, &mut clock);
    assert!(!machine.send(&mut guard, &Told::hit(5.0), &mut clock));
    assert!(machine.send(&mut guard, &Told::hit(10.0), &mut clock));
    for _ in 0..2 {
        clock += 1.0;
        machine.update(&mut guard, &mut clock);
    }
    assert_eq!(
        guard.trace(),
        "enter wander
         update wander; update wander
         exit wander; wander -> attack (change); enter attack
         exit attack; attack -> hide (change); enter hide
         update hide; update hide
         exit hide; hide -> wander (change); enter wander"
    );
}

#[test]
fn an_exit_whose_target_cannot_be_entered_is_passed_over_for_the_next() {
    let file = r#"
        initial = "a"
        [states.a]
        exits = [{ to = "b" , when = "ammo >= 0" }, { to = "c", when = "ammo >= 0" }, { to = "d" }]
        [states.b]
        enter_when = "health > 50"
        final = true
        [states.c]
        behaviour = "locked"
        final = true
        [states.d]
        final = true
    "#;
    let reached = |health, ammo| {
        let mut machine = definition(file).machine();
        let mut guard = Guard { health, ammo, ..Guard::recording_changes() };
        machine.update(&mut guard, &mut 0.0);
        assert!(!guard.trace().iter().any(|line| line.contains("refused")), "{:?}", guard.trace());
        current(&machine)
    };
    assert_eq!(reached(60.0, 0.0), "b");
    assert_eq!(reached(40.0, 200.0), "c");
    assert_eq!(reached(40.0, 0.0), "d");
}

#[test]
fn an_exit_that_waits_for_a_message_is_taken_by_that_message_only() {
    let definition = definition(FIGHT);
    let (mut guard, mut clock) = (Guard::recording_changes(), 0.0);
    let mut machine = definition.machine();
    assert!(!machine.send(&mut guard, &Told::hit(1.0), &mut clock));
    assert_eq!(current(&machine), "wander");
    assert!(machine.send(&mut guard, &Told::Noise, &mut clock));
    assert_eq!(current(&machine), "hide");
}

#[test]
fn an_entry_condition_guards_against_changes_from_code_too() {
    let definition = definition(FIGHT);
    let mut machine = definition.machine();
    let (mut guard, mut clock) = (Guard::recording_changes(), 0.0);
    let attack = definition.state("attack").unwrap();
    assert!(!machine.change_state(&mut guard, attack.clone(), &mut clock));
    assert_eq!(guard.trace(), "wander -> attack (change), refused by attack.can_enter");
    guard.ammo = 1.0;
    assert!(machine.change_state(&mut guard, attack, &mut clock));
}

/// Rule 8: a guard that lets only some changes through is asked with the change that the exit would make.
#[test]
fn a_guard_sees_where_an_exit_leads() {
    struct Stagger;
    impl State<Guard> for Stagger {
        fn can_exit(&self, _: &Guard, fsm: &Fsm<'_, Guard>, clock: &f64) -> bool {
            fsm.time_in_state(clock) >= 0.5 || fsm.target().is_some_and(|to| to.name() == "dead")
        }
    }
    let file = r#"
        initial = "stagger"
        [states.stagger]
        behaviour = "stagger"
        exits = [{ to = "stand" }, { to = "grave", when = "health <= 0" }]
        [states.stand]
        final = true
        [states.grave]
        initial = "dead"
        [states.dead]
        parent = "grave"
        final = true
    "#;
    let definition = Definition::parse(file, &vocabulary().behaviour("stagger", &Stagger)).unwrap();
    let reached = |health, seconds| {
        let mut clock = 0.0;
        let mut batch = Batch::new();
        let guard = Guard { health, ..Guard::recording_changes() };
        let key = batch.spawn(guard.clone(), definition.initial(), &mut clock);
        let (mut alone, mut machine) = (guard, definition.machine());
        machine.start(&mut alone, &mut clock);
        clock += seconds;
        batch.update(&mut clock);
        machine.update(&mut alone, &mut clock);
        assert_eq!(batch.state_of(key), machine.current());
        current(&machine)
    };
    assert_eq!(reached(1.0, 0.4), "stagger");
    assert_eq!(reached(0.0, 0.4), "dead");
    assert_eq!(reached(0.0, 0.6), "stand");
}

#[test]
fn conditions_compare_and_join_as_written() {
    let holds = |when: &str, guard: &Guard| {
        let file = format!(
            "initial = \"a\"\n[states.a]\nexits = [{{ to = \"b\", when = \"{when}\" }}]\n[states.b]\nfinal = true"
        );
        let mut machine = definition(&file).machine();
        machine.update(&mut guard.clone(), &mut 0.0);
        current(&machine) == "b"
    };
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
    ] {
        assert_eq!(holds(when, &guard), expected, "{when}");
    }
}

#[test]
fn a_number_that_is_none_compares_false_with_everything() {
    let mut guard = Guard { health: f64::NAN, ..Guard::recording_changes() };
    let mut tried = 0;
    for op in ["<", "<=", ">", ">=", "==", "!="] {
        for (left, right) in [("health", "1"), ("1", "health"), ("health", "health"), ("ammo", "health")] {
            let file = format!(
                "initial = \"a\"\n[states.a]\nexits = [{{ to = \"b\", when = \"{left} {op} {right}\" }}, {{ to = \"c\", when = \"not {left} {op} {right}\" }}]\n\
                 [states.b]\n[states.c]\n"
            );
            let mut machine = definition(&file).machine();
            machine.update(&mut guard, &mut 0.0);
            assert_eq!(current(&machine), "c", "{left} {op} {right}");
            tried += 1;
        }
    }
    assert_eq!(tried, 24);
}

#[test]
fn a_behaviour_that_asks_for_a_change_itself_comes_before_the_exits() {
    let file =
        "initial = \"a\"\n[states.a]\nbehaviour = \"bolt\"\nexits = [{ to = \"b\" }]\n[states.b]\nfinal = true\n";
    let mut machine = definition(file).machine();
    let mut guard = Guard::recording_changes();
    machine.update(&mut guard, &mut 0.0);
    assert!(machine.is_in_state(&Elsewhere));
    assert_eq!(guard.trace(), "a -> Elsewhere (change)");

    let mut batch = Batch::new();
    let keys: Vec<_> = (0..100).map(|_| batch.insert(Guard::recording_changes(), definition(file).initial())).collect();
    batch.update(&mut 0.0);
    assert_eq!(batch.owners_in(&Elsewhere).len(), keys.len());
}

const NESTED: &str = r#"
    initial = "peace"
    global = "always"

    [states.always]
    exits = [{ to = "flee", when = "health < 10" }]

    [states.peace]
    behaviour = "tell"
    params = { word = "peace" }
    exits = [{ to = "combat", when = "enemy_visible" }]

    [states.combat]
    behaviour = "tell"
    params = { word = "combat" }
    initial = "aim"
    exits = [{ to = "peace", when = "not enemy_visible" }, { to = "cover", when = "health < 50" }]

    [states.aim]
    parent = "combat"
    behaviour = "tell"
    params = { word = "aim" }
    exits = [{ to = "shoot", when = "ammo > 0" }]

    [states.shoot]
    parent = "combat"
    exits = [{ to = "aim", when = "ammo == 0" }]

    [states.cover]
    parent = "combat"
    behaviour = "tell"
    params = { word = "cover" }

    [states.flee]
    final = true
"#;

#[test]
fn nested_states_run_their_parents_behaviour_and_exits() {
    let mut machine = definition(NESTED).machine();
    let (mut guard, mut clock) = (Guard { health: 90.0, enemy_visible: true, ..Guard::recording_changes() }, 0.0);
    machine.start(&mut guard, &mut clock);
    machine.update(&mut guard, &mut clock);
    assert_eq!(machine.path().map(ToString::to_string).collect::<Vec<_>>(), ["combat", "aim"]);
    guard.take_trace();
    machine.update(&mut guard, &mut clock);
    assert_eq!(guard.trace(), "update combat; update aim");
    guard.take_trace();
    guard.enemy_visible = false;
    machine.update(&mut guard, &mut clock);
    assert_eq!(
        guard.trace(),
        "update combat
         exit aim; exit combat; aim -> peace (change); enter peace"
    );
}

#[test]
fn an_exit_from_around_is_not_taken_to_where_the_owner_is_already() {
    let mut machine = definition(NESTED).machine();
    let (mut guard, mut clock) = (Guard { health: 40.0, enemy_visible: true, ..Guard::recording_changes() }, 0.0);
    for _ in 0..4 {
        machine.update(&mut guard, &mut clock);
    }
    assert_eq!(current(&machine), "cover");
    let entered = guard.trace().iter().filter(|line| *line == "enter cover").count();
    assert_eq!(entered, 1, "{:?}", guard.trace());

    guard.health = 5.0;
    guard.take_trace();
    for _ in 0..3 {
        machine.update(&mut guard, &mut clock);
    }
    assert_eq!(guard.trace(), "exit cover; exit combat; cover -> flee (change)");
}

#[test]
fn a_machine_begins_in_the_innermost_initial_state() {
    let file = NESTED.replace("initial = \"peace\"", "initial = \"combat\"");
    let definition = definition(&file);
    let mut guard = Guard { enemy_visible: true, ..Guard::recording_changes() };
    definition.machine().start(&mut guard, &mut 0.0);
    assert_eq!(guard.trace(), "enter combat; enter aim");
    assert_eq!(definition.initial().name(), "aim");
    assert_eq!(definition.global().unwrap().name(), "always");
}

#[test]
fn one_behaviour_serves_states_with_different_parameters() {
    let file = r#"
        initial = "find quad damage"
        [states."find quad damage"]
        behaviour = "tell"
        params = { word = "to the quad damage" }
        exits = [{ to = "run to cover" }]
        [states."run to cover"]
        behaviour = "tell"
        params = { word = "to cover" }
        exits = [{ to = "find quad damage" }]
    "#;
    let mut machine = definition(file).machine();
    let mut guard = Guard::recording_changes();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(
        guard.trace(),
        "update to the quad damage
         exit to the quad damage; find quad damage -> run to cover (change); enter to cover"
    );
}

#[test]
fn machines_go_on_when_their_definition_is_dropped() {
    let (mut guard, mut clock) = (Guard { ammo: 1.0, enemy_visible: true, ..Guard::recording_changes() }, 0.0);
    let mut machine = definition(FIGHT).machine();
    machine.update(&mut guard, &mut clock);
    assert_eq!(current(&machine), "attack");
    guard.enemy_visible = false;
    machine.update(&mut guard, &mut clock);
    assert_eq!(current(&machine), "wander");
    assert!(machine.revert_state(&mut guard, &mut clock));
    assert_eq!(current(&machine), "attack");
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
    let definition = definition(FIGHT);
    let (mut guard, mut clock) = (Guard { ammo: 1.0, enemy_visible: true, ..Guard::recording_changes() }, 0.0);
    let mut machine = StateMachine::new(&Elsewhere);
    machine.change_state(&mut guard, definition.state("wander").unwrap(), &mut clock);
    machine.update(&mut guard, &mut clock);
    assert_eq!(current(&machine), "attack");
    machine.change_state(&mut guard, &Elsewhere, &mut clock);
    machine.revert_state(&mut guard, &mut clock);
    assert_eq!(machine.current(), definition.state("attack").as_ref());
}

#[test]
fn a_defined_state_has_one_bucket_and_many_owners_do_what_each_would_alone() {
    for file in [FIGHT, NESTED] {
        let definition = definition(file);
        let guard = |i: u32| Guard {
            health: f64::from(i * 37 % 101),
            ammo: f64::from(i % 3),
            enemy_visible: i % 2 == 0,
            ..Guard::recording_changes()
        };
        let mut batch = Batch::new();
        let mut alone = Vec::new();
        let mut keys = Vec::new();
        if let Some(global) = definition.global() {
            batch = batch.with_global(global);
        }
        let mut clock = 0.0;
        for i in 0..300 {
            keys.push(batch.insert(guard(i), definition.initial()));
            alone.push((guard(i), definition.machine()));
        }
        for tick in 0..12_u32 {
            for (i, (owner, machine)) in (0..).zip(&mut alone) {
                let is_turned = (tick + i) % 5 == 0;
                let in_batch = batch.get_mut(keys[i as usize]).unwrap();
                if is_turned {
                    owner.enemy_visible = !owner.enemy_visible;
                    in_batch.enemy_visible = !in_batch.enemy_visible;
                }
                machine.update(owner, &mut clock);
            }
            batch.update(&mut clock);
            clock += 0.7;
        }
        for (key, (owner, machine)) in keys.iter().zip(&alone) {
            assert_eq!(batch.get(*key).unwrap().trace(), owner.trace());
            assert_eq!(batch.state_of(*key), machine.current());
        }
        let in_buckets: usize = definition.states().iter().map(|state| batch.owners_in(&**state).len()).sum();
        assert_eq!(in_buckets, 300);
    }
}
