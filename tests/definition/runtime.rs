//! Machines from files, at work: exits, entry conditions, messages, hierarchies, many owners.
#![cfg(feature = "definition")]
#![expect(clippy::struct_field_names, reason = "`enemy_visible` is the word of the files")]

use std::time::Duration;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Change, Fsm, GameTime, Owner, State, StateMachine};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Default)]
struct Enemy {
    health: f64,
    ammo: f64,
    enemy_visible: bool,
    rng: u64,
    trace: Vec<String>,
}

enum Told {
    Damage(f64),
    Noise,
}

impl Owner for Enemy {
    type Context<'a> = GameTime;
    type Message = Told;

    fn now(time: &GameTime) -> f64 {
        time.total().as_secs_f64()
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut GameTime) {
        self.trace.push(change.to_string());
    }
}

/// Writes down each callback, with what the file calls it.
struct Tell {
    word: String,
}

#[derive(Deserialize, JsonSchema)]
struct TellParams {
    word: String,
}

impl State<Enemy> for Tell {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut GameTime) {
        enemy.trace.push(format!("{} enter", self.word));
    }

    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut GameTime) {
        enemy.trace.push(format!("{} update", self.word));
    }

    fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut GameTime) {
        enemy.trace.push(format!("{} exit", self.word));
    }

    fn on_message(&self, enemy: &mut Enemy, told: &Told, _: &mut Fsm<'_, Enemy>, _: &mut GameTime) -> bool {
        if let Told::Damage(by) = told {
            enemy.health -= by;
        }
        false
    }
}

/// A behaviour that leaves by itself.
struct Bolt;
impl State<Enemy> for Bolt {
    fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut GameTime) {
        fsm.change_state(&Elsewhere);
    }
}

struct Elsewhere;
impl State<Enemy> for Elsewhere {}

struct Locked;
impl State<Enemy> for Locked {
    fn can_enter(&self, enemy: &Enemy, _: &Fsm<'_, Enemy>, _: &GameTime) -> bool {
        enemy.ammo > 100.0
    }
}

fn vocabulary() -> Vocabulary<Enemy> {
    Vocabulary::new()
        .value("health", |enemy: &Enemy, _| enemy.health)
        .value("ammo", |enemy: &Enemy, _| enemy.ammo)
        .flag("enemy_visible", |enemy: &Enemy, _| enemy.enemy_visible)
        .behaviour_with("tell", |params: TellParams| Tell { word: params.word })
        .behaviour("bolt", &Bolt)
        .behaviour("locked", &Locked)
        .message("damage", |told| matches!(told, Told::Damage(_)))
        .message("noise", |told| matches!(told, Told::Noise))
        .random(|enemy: &mut Enemy, _| {
            enemy.rng = enemy.rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(enemy.rng >> 32).unwrap()) / 4_294_967_296.0
        })
}

#[track_caller]
fn definition(file: &str) -> Definition<Enemy> {
    Definition::parse(file, &vocabulary()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn current(machine: &StateMachine<Enemy>) -> String {
    machine.current().map(ToString::to_string).unwrap_or_default()
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
        { to = "hide", on = "damage", when = "health < 20" },
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
    let (mut enemy, mut time) = (Enemy { health: 30.0, ammo: 1.0, ..Enemy::default() }, GameTime::new());
    machine.start(&mut enemy, &mut time);
    machine.update(&mut enemy, &mut time);
    enemy.enemy_visible = true;
    assert!(!machine.send(&mut enemy, &Told::Damage(0.0), &mut time));
    machine.update(&mut enemy, &mut time);
    assert!(!machine.send(&mut enemy, &Told::Damage(5.0), &mut time));
    assert!(machine.send(&mut enemy, &Told::Damage(10.0), &mut time));
    for _ in 0..2 {
        time.advance(Duration::from_secs(1));
        machine.update(&mut enemy, &mut time);
    }
    assert_eq!(
        enemy.trace,
        [
            "wander enter",
            "wander update",
            "wander update",
            "wander exit",
            "wander -> attack (change)",
            "attack enter",
            "attack exit",
            "attack -> hide (change)",
            "hide enter",
            "hide update",
            "hide update",
            "hide exit",
            "hide -> wander (change)",
            "wander enter",
        ]
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
        let mut enemy = Enemy { health, ammo, ..Enemy::default() };
        machine.update(&mut enemy, &mut GameTime::new());
        assert!(!enemy.trace.iter().any(|line| line.contains("refused")), "{:?}", enemy.trace);
        current(&machine)
    };
    assert_eq!(reached(60.0, 0.0), "b");
    assert_eq!(reached(40.0, 200.0), "c");
    assert_eq!(reached(40.0, 0.0), "d");
}

#[test]
fn an_exit_that_waits_for_a_message_is_taken_by_that_message_only() {
    let definition = definition(FIGHT);
    let (mut enemy, mut time) = (Enemy::default(), GameTime::new());
    let mut machine = definition.machine();
    assert!(!machine.send(&mut enemy, &Told::Damage(1.0), &mut time));
    assert_eq!(current(&machine), "wander");
    assert!(machine.send(&mut enemy, &Told::Noise, &mut time));
    assert_eq!(current(&machine), "hide");
}

#[test]
fn an_entry_condition_guards_against_changes_from_code_too() {
    let definition = definition(FIGHT);
    let mut machine = definition.machine();
    let (mut enemy, mut time) = (Enemy::default(), GameTime::new());
    let attack = definition.state("attack").unwrap();
    assert!(!machine.change_state(&mut enemy, attack.clone(), &mut time));
    assert_eq!(enemy.trace, ["wander -> attack (change), refused by attack.can_enter"]);
    enemy.ammo = 1.0;
    assert!(machine.change_state(&mut enemy, attack, &mut time));
}

/// Rule 8: a guard that lets only some changes through is asked with the change that the exit would make.
#[test]
fn a_guard_sees_where_an_exit_leads() {
    struct Stagger;
    impl State<Enemy> for Stagger {
        fn can_exit(&self, _: &Enemy, fsm: &Fsm<'_, Enemy>, time: &GameTime) -> bool {
            fsm.time_in_state(time) >= 0.5 || fsm.target().is_some_and(|to| to.name() == "dead")
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
    let reached = |health, millis| {
        let mut time = GameTime::new();
        let mut batch = Batch::new();
        let enemy = Enemy { health, ..Enemy::default() };
        let key = batch.spawn(enemy.clone(), definition.initial(), &mut time);
        let (mut alone, mut machine) = (enemy, definition.machine());
        machine.start(&mut alone, &mut time);
        time.advance(Duration::from_millis(millis));
        batch.update(&mut time);
        machine.update(&mut alone, &mut time);
        assert_eq!(batch.state_of(key), machine.current());
        current(&machine)
    };
    assert_eq!(reached(1.0, 400), "stagger");
    assert_eq!(reached(0.0, 400), "dead");
    assert_eq!(reached(0.0, 600), "stand");
}

#[test]
fn conditions_compare_and_join_as_written() {
    let holds = |when: &str, enemy: &Enemy| {
        let file = format!(
            "initial = \"a\"\n[states.a]\nexits = [{{ to = \"b\", when = \"{when}\" }}]\n[states.b]\nfinal = true"
        );
        let mut machine = definition(&file).machine();
        machine.update(&mut enemy.clone(), &mut GameTime::new());
        current(&machine) == "b"
    };
    let enemy = Enemy { health: 20.0, ammo: 3.0, enemy_visible: true, ..Enemy::default() };
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
        assert_eq!(holds(when, &enemy), expected, "{when}");
    }
}

#[test]
fn a_number_that_is_none_compares_false_with_everything() {
    let mut enemy = Enemy { health: f64::NAN, ..Enemy::default() };
    let mut tried = 0;
    for op in ["<", "<=", ">", ">=", "==", "!="] {
        for (left, right) in [("health", "1"), ("1", "health"), ("health", "health"), ("ammo", "health")] {
            let file = format!(
                "initial = \"a\"\n[states.a]\nexits = [{{ to = \"b\", when = \"{left} {op} {right}\" }}, {{ to = \"c\", when = \"not {left} {op} {right}\" }}]\n\
                 [states.b]\n[states.c]\n"
            );
            let mut machine = definition(&file).machine();
            machine.update(&mut enemy, &mut GameTime::new());
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
    let mut enemy = Enemy::default();
    machine.update(&mut enemy, &mut GameTime::new());
    assert!(machine.is_in_state(&Elsewhere));
    assert_eq!(enemy.trace, ["a -> Elsewhere (change)"]);

    let mut batch = Batch::new();
    let keys: Vec<_> = (0..100).map(|_| batch.insert(Enemy::default(), definition(file).initial())).collect();
    batch.update(&mut GameTime::new());
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
    let (mut enemy, mut time) = (Enemy { health: 90.0, enemy_visible: true, ..Enemy::default() }, GameTime::new());
    machine.start(&mut enemy, &mut time);
    machine.update(&mut enemy, &mut time);
    assert_eq!(machine.path().map(ToString::to_string).collect::<Vec<_>>(), ["combat", "aim"]);
    enemy.trace.clear();
    machine.update(&mut enemy, &mut time);
    assert_eq!(enemy.trace, ["combat update", "aim update"]);
    enemy.trace.clear();
    enemy.enemy_visible = false;
    machine.update(&mut enemy, &mut time);
    assert_eq!(enemy.trace, ["combat update", "aim exit", "combat exit", "aim -> peace (change)", "peace enter"]);
}

#[test]
fn an_exit_from_around_is_not_taken_to_where_the_owner_is_already() {
    let mut machine = definition(NESTED).machine();
    let (mut enemy, mut time) = (Enemy { health: 40.0, enemy_visible: true, ..Enemy::default() }, GameTime::new());
    for _ in 0..4 {
        machine.update(&mut enemy, &mut time);
    }
    assert_eq!(current(&machine), "cover");
    let entered = enemy.trace.iter().filter(|line| *line == "cover enter").count();
    assert_eq!(entered, 1, "{:?}", enemy.trace);

    enemy.health = 5.0;
    enemy.trace.clear();
    for _ in 0..3 {
        machine.update(&mut enemy, &mut time);
    }
    assert_eq!(enemy.trace, ["cover exit", "combat exit", "cover -> flee (change)"]);
}

#[test]
fn a_machine_begins_in_the_innermost_initial_state() {
    let file = NESTED.replace("initial = \"peace\"", "initial = \"combat\"");
    let definition = definition(&file);
    let mut enemy = Enemy { enemy_visible: true, ..Enemy::default() };
    definition.machine().start(&mut enemy, &mut GameTime::new());
    assert_eq!(enemy.trace, ["combat enter", "aim enter"]);
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
    let mut enemy = Enemy::default();
    machine.update(&mut enemy, &mut GameTime::new());
    assert_eq!(
        enemy.trace,
        [
            "to the quad damage update",
            "to the quad damage exit",
            "find quad damage -> run to cover (change)",
            "to cover enter",
        ]
    );
}

#[test]
fn machines_go_on_when_their_definition_is_dropped() {
    let (mut enemy, mut time) = (Enemy { ammo: 1.0, enemy_visible: true, ..Enemy::default() }, GameTime::new());
    let mut machine = definition(FIGHT).machine();
    machine.update(&mut enemy, &mut time);
    assert_eq!(current(&machine), "attack");
    enemy.enemy_visible = false;
    machine.update(&mut enemy, &mut time);
    assert_eq!(current(&machine), "wander");
    assert!(machine.revert_state(&mut enemy, &mut time));
    assert_eq!(current(&machine), "attack");
}

#[test]
fn a_definition_that_nobody_uses_is_freed() {
    /// Dropped with whatever holds it.
    struct Guard {
        _held: std::sync::Arc<()>,
    }
    impl State<Enemy> for Guard {}
    let witness = std::sync::Arc::new(());
    {
        let held = witness.clone();
        let vocabulary = Vocabulary::new().behaviour("guard", std::sync::Arc::new(Guard { _held: held }));
        let file = "initial = \"a\"\n[states.a]\nbehaviour = \"guard\"\nexits = [{ to = \"b\" }]\n\
                    [states.b]\nparent = \"c\"\nexits = [{ to = \"a\" }]\n[states.c]\ninitial = \"b\"\n";
        let definition = Definition::parse(file, &vocabulary).unwrap();
        let mut machine = definition.machine();
        for _ in 0..3 {
            machine.update(&mut Enemy::default(), &mut GameTime::new());
        }
        drop(definition);
        machine.update(&mut Enemy::default(), &mut GameTime::new());
        assert!(std::sync::Arc::strong_count(&witness) > 1);
    }
    assert_eq!(std::sync::Arc::strong_count(&witness), 1);
}

#[test]
fn defined_states_stand_beside_hand_written_ones() {
    let definition = definition(FIGHT);
    let (mut enemy, mut time) = (Enemy { ammo: 1.0, enemy_visible: true, ..Enemy::default() }, GameTime::new());
    let mut machine = StateMachine::new(&Elsewhere);
    machine.change_state(&mut enemy, definition.state("wander").unwrap(), &mut time);
    machine.update(&mut enemy, &mut time);
    assert_eq!(current(&machine), "attack");
    machine.change_state(&mut enemy, &Elsewhere, &mut time);
    machine.revert_state(&mut enemy, &mut time);
    assert_eq!(machine.current(), definition.state("attack").as_ref());
}

#[test]
fn a_defined_state_has_one_bucket_and_many_owners_do_what_each_would_alone() {
    for file in [FIGHT, NESTED] {
        let definition = definition(file);
        let enemy = |i: u64| Enemy {
            health: f64::from(u32::try_from(i * 37 % 101).unwrap()),
            ammo: f64::from(u32::try_from(i % 3).unwrap()),
            enemy_visible: i % 2 == 0,
            rng: i,
            trace: Vec::new(),
        };
        let mut batch = Batch::new();
        let mut alone = Vec::new();
        let mut keys = Vec::new();
        if let Some(global) = definition.global() {
            batch = batch.with_global(global);
        }
        let mut time = GameTime::new();
        for i in 0..300 {
            keys.push(batch.insert(enemy(i), definition.initial()));
            alone.push((enemy(i), definition.machine()));
        }
        for tick in 0..12_u64 {
            for (i, (owner, machine)) in (0..).zip(&mut alone) {
                let is_turned = (tick + i) % 5 == 0;
                let in_batch = batch.get_mut(keys[usize::try_from(i).unwrap()]).unwrap();
                if is_turned {
                    owner.enemy_visible = !owner.enemy_visible;
                    in_batch.enemy_visible = !in_batch.enemy_visible;
                }
                machine.update(owner, &mut time);
            }
            batch.update(&mut time);
            time.advance(Duration::from_millis(700));
        }
        for (key, (owner, machine)) in keys.iter().zip(&alone) {
            assert_eq!(batch.get(*key).unwrap().trace, owner.trace);
            assert_eq!(batch.state_of(*key), machine.current());
        }
        let in_buckets: usize = definition.states().iter().map(|state| batch.owners_in(&**state).len()).sum();
        assert_eq!(in_buckets, 300);
    }
}
