//! States from a definition, by name; also where the file has changed since.

use demeanor::definition::{Definition, Vocabulary};
use demeanor::save::{SavedMore, SavedNote, SavedThen, Seconds};
use demeanor::{Batch, LoadError, Missing, NextWake, Owner, StateBook, StateMachine};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Lamp {
    health: f64,
}

impl Owner for Lamp {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

const FILE: &str = r#"
    initial = "off"
    states.off.exits = [{ to = "on", after = 2.0 }]
    states.on.initial = "dim"
    states.on.history = true
    states.dim.parent = "on"
    states.dim.every = 0.3
    states.dim.exits = [{ to = "bright", when = "time_in_state > 0.5" }]
    states.bright.parent = "on"
    states.bright.exits = [{ to = "off", after = 1.0, when = "health < 3", cooldown = 5 }, { to = "dim", after = 4.0 }]
"#;

fn definition(file: &str) -> Definition<Lamp> {
    Definition::parse(file, &Vocabulary::new().value("health", |lamp: &Lamp, _| lamp.health)).unwrap()
}

fn trace(machine: &mut StateMachine<Lamp>, lamp: &mut Lamp, ticks: std::ops::Range<u32>) -> Vec<(String, u64)> {
    let mut trace = vec![];
    for tick in ticks {
        let mut now = f64::from(tick) / 10.0;
        machine.update(lamp, &mut now);
        trace.push((machine.current().unwrap().to_string(), machine.time_in_state(&now).to_bits()));
    }
    trace
}

fn started(definition: &Definition<Lamp>) -> StateMachine<Lamp> {
    let mut machine = definition.machine();
    machine.start(&mut Lamp::default(), &mut 0.0);
    machine
}

#[test]
fn a_machine_on_a_definition_goes_on_as_if_it_had_not_been_saved() {
    // Loaded by another program: another definition, of the same text.
    let (saved_by, loaded_by) = (definition(FILE), definition(FILE));
    let [writing, reading] = [&saved_by, &loaded_by].map(|definition| StateBook::new().with_definition(definition));
    for ticks in 0..60 {
        let (mut machine, mut lamp) = (started(&saved_by), Lamp::default());
        trace(&mut machine, &mut lamp, 1..ticks);
        let now = f64::from(ticks) / 10.0;
        let text = ron::to_string(&machine.save(&writing, now).unwrap()).unwrap();
        let mut loaded = reading.load(ron::from_str(&text).unwrap(), now).unwrap();
        assert_eq!(loaded.next_wake(), machine.next_wake());
        assert_eq!(trace(&mut loaded, &mut lamp, ticks..120), trace(&mut machine, &mut lamp, ticks..120));
    }
}

#[test]
fn a_batch_on_a_definition_goes_on_as_if_it_had_not_been_saved() {
    let (saved_by, loaded_by) = (definition(FILE), definition(FILE));
    let [writing, reading] = [&saved_by, &loaded_by].map(|definition| StateBook::new().with_definition(definition));
    let mut batch = Batch::new();
    for number in 0..30_u8 {
        let lamp = Lamp { health: f64::from(number % 5) };
        batch.spawn(lamp, saved_by.initial(), &mut (f64::from(number) / 10.0));
    }
    let digest = |batch: &Batch<Lamp>| {
        use std::hash::Hasher;
        batch.digest(|lamp, hasher| hasher.write_u64(lamp.health.to_bits()))
    };
    let tick = |batch: &mut Batch<Lamp>, tick: u32| batch.update(&mut (f64::from(tick) / 10.0));
    for now in 30..90 {
        tick(&mut batch, now);
        let bytes = postcard::to_allocvec(&batch.save(&writing, f64::from(now) / 10.0).unwrap()).unwrap();
        let mut loaded = Batch::load(postcard::from_bytes(&bytes).unwrap(), &reading, f64::from(now) / 10.0).unwrap();
        assert_eq!((digest(&loaded), loaded.awake()), (digest(&batch), batch.awake()), "at tick {now}");
        let mut whole = batch.clone();
        for later in now + 1..now + 40 {
            tick(&mut whole, later);
            tick(&mut loaded, later);
            assert_eq!((digest(&loaded), loaded.awake()), (digest(&whole), whole.awake()), "at tick {later}");
        }
    }
}

/// On some processors, 0/0 has a sign.
#[test]
fn a_number_with_a_sign_that_nobody_sees_is_saved_as_the_one_without() {
    for (file, numbers) in [
        ("initial = 'off'\nstates.off.exits = [{ to = 'on', after = 'health' }]\nstates.on.final = true", f64::NAN),
        ("initial = 'off'\nstates.off.every = 'health'\nstates.off.exits = [{ to = 'off', when = 'health > 9' }]", 0.0),
    ]
    .map(|(file, number)| (file, [number, -number]))
    {
        let definition = definition(file);
        let book = StateBook::new().with_definition(&definition);
        let seen = numbers.map(|health| {
            let (mut machine, mut lamp, mut batch) = (definition.machine(), Lamp { health }, Batch::new());
            machine.start(&mut lamp, &mut 1.0);
            machine.update(&mut lamp, &mut 1.0);
            let key = batch.spawn(lamp, definition.initial(), &mut 1.0);
            batch.update(&mut 1.0);
            let of_batch = batch.remove(key).unwrap().1;
            let text = serde_json::to_string(&machine.save(&book, 1.5).unwrap()).unwrap();
            let loaded = book.load(serde_json::from_str(&text).unwrap(), 1.5).unwrap();
            let again = serde_json::to_string(&loaded.save(&book, 1.5).unwrap()).unwrap();
            assert_eq!((loaded.digest(), &again), (machine.digest(), &text));
            assert_eq!(of_batch.digest(), machine.digest());
            (machine.digest(), text)
        });
        assert_eq!(seen[0], seen[1]);
    }
}

/// As earlier versions wrote it: the turn of a state as a timer, which also wakes its owner.
fn with_turns_as_timers(more: &mut SavedMore, entered_at: f64) {
    for timer in &mut more.timers {
        if let SavedThen::Note { of: SavedNote::Turn, number } = timer.then {
            (timer.due, timer.then) = (Seconds(entered_at + number.0), SavedThen::Turn);
            more.wakes_at = None;
        }
    }
}

#[test]
fn a_turn_that_an_earlier_version_has_saved_as_a_timer_comes_at_its_time() {
    let definition = definition(
        "initial = 'rest'\nstates.rest.every = 2.0\nstates.rest.exits = [{ to = 'gone', when = 'time_in_state > 7' }]\n\
         states.gone.final = true",
    );
    let book = StateBook::new().with_definition(&definition);
    let mut machine = definition.machine();
    machine.start(&mut Lamp::default(), &mut 1.0);
    let mut batch = Batch::new();
    batch.insert_machine(Lamp::default(), machine.clone()).unwrap();
    let tick = |machine: &mut StateMachine<Lamp>, batch: &mut Batch<Lamp>, mut now: f64| {
        machine.update(&mut Lamp::default(), &mut now);
        batch.update(&mut now);
        let name = machine.current().unwrap().to_string();
        (name, batch.awake(), batch.census().map(|(state, count)| (state.to_string(), count)).collect::<Vec<_>>())
    };
    for now in [1.5, 2.0, 2.5, 3.5, 4.0] {
        tick(&mut machine, &mut batch, now);
    }
    let mut saved = machine.save(&book, 4.0).unwrap();
    with_turns_as_timers(&mut saved.content.machine.more, 1.0);
    let mut loaded = book.load(saved, 4.0).unwrap();
    let mut saved = batch.save(&book, 4.0).unwrap().map_owners(Lamp::clone);
    let rows = saved.content.buckets.iter_mut().flat_map(|bucket| &mut bucket.rows);
    rows.for_each(|row| with_turns_as_timers(&mut row.more, 1.0));
    let mut loaded_batch = Batch::load(saved, &book, 4.0).unwrap();
    assert_eq!((loaded_batch.awake(), batch.awake()), (0, 0));
    let turns = |machine: &mut StateMachine<Lamp>, batch: &mut Batch<Lamp>| {
        (9..24).map(|half| tick(machine, batch, f64::from(half) / 2.0)).collect::<Vec<_>>()
    };
    let expected = turns(&mut machine, &mut batch);
    assert_eq!(expected.iter().position(|(name, ..)| name == "gone"), Some(9), "at the turn after 8 seconds");
    assert_eq!(turns(&mut loaded, &mut loaded_batch), expected);
}

#[test]
fn an_owner_that_sleeps_in_a_file_that_has_changed_since_wakes_and_does_what_it_says_now() {
    let [long, short] = ["after = 20.0", "after = 0.5"].map(|after| FILE.replace("after = 2.0", after));
    let nested = format!("{short}states.off.parent = 'house'\nstates.house = {{}}\n");
    let regions =
        "states.off.regions = ['l', 'r']\nstates.l = { parent = 'off' }\nstates.r = { parent = 'off', region = 1 }\n";
    let regions = short.clone() + regions;
    // The file is another in the next program, or it is reloaded, and all is saved before the next tick.
    for (short, is_reloaded) in [(&short, false), (&short, true), (&nested, false), (&regions, false)] {
        let before = definition(&long);
        let after = if is_reloaded { before.clone() } else { definition(short) };
        let [writing, reading] = [&before, &after].map(|definition| StateBook::new().with_definition(definition));
        let mut lamp = Lamp::default();
        let mut machine = started(&before);
        machine.update(&mut lamp, &mut 0.0);
        let mut batch = Batch::new();
        let key = batch.insert_machine(lamp.clone(), machine.clone()).unwrap();
        assert_eq!(batch.awake(), 0);
        if is_reloaded {
            before.reload(short).unwrap();
        }
        let mut loaded = reading.load(machine.save(&writing, 1.0).unwrap(), 1.0).unwrap();
        let saved = batch.save(&writing, 1.0).unwrap().map_owners(Lamp::clone);
        let mut batch = Batch::load(saved, &reading, 1.0).unwrap();
        loaded.update(&mut lamp, &mut 1.0);
        batch.update(&mut 1.0);
        assert_eq!(loaded.current(), after.state("dim").as_ref());
        assert_eq!(batch.state_of(key), after.state("dim").as_ref());
    }
}

#[cfg(feature = "script")]
#[test]
fn an_owner_that_sleeps_in_a_state_that_has_a_script_since_wakes_and_runs_it() {
    let vocabulary = || {
        let field = |lamp: &mut Lamp, health: f64| lamp.health = health;
        Vocabulary::new().field("health", |lamp: &Lamp, _| lamp.health, field)
    };
    let file = |script| {
        format!(
            "initial = 'off'\nstates.off = {{ exits = [{{ to = 'on', after = 9 }}]{script} }}\nstates.on.final = true\n"
        )
    };
    let before = Definition::parse(&file(""), &vocabulary()).unwrap();
    let script = vocabulary().script("grow.rhai", "fn update() { this.health += 1.0; }");
    let after = Definition::parse(&file(", script = 'grow.rhai'"), &script).unwrap();
    let [writing, reading] = [&before, &after].map(|definition| StateBook::new().with_definition(definition));
    let mut machine = started(&before);
    trace(&mut machine, &mut Lamp::default(), 1..10);
    assert!(machine.is_asleep());
    let mut loaded = reading.load(machine.save(&writing, 1.0).unwrap(), 1.0).unwrap();
    let mut lamp = Lamp::default();
    trace(&mut loaded, &mut lamp, 10..13);
    assert_eq!(lamp, Lamp { health: 3.0 });
}

#[test]
fn a_state_that_is_nested_otherwise_in_the_file_has_its_path_found_anew() {
    let before = definition(FILE);
    let after = definition(
        r#"
            initial = "off"
            states.off.final = true
            states.house.final = true
            states.on = { parent = "house", final = true }
            states.bright = { parent = "on", final = true }
        "#,
    );
    let [writing, reading] = [&before, &after].map(|definition| StateBook::new().with_definition(definition));
    let mut machine = started(&before);
    machine.change_state(&mut Lamp::default(), before.state("bright").unwrap(), &mut 1.0);
    let loaded = reading.load(machine.save(&writing, 1.0).unwrap(), 1.0).unwrap();
    assert_eq!(loaded.path().map(ToString::to_string).collect::<Vec<_>>(), ["house", "on", "bright"]);

    machine.change_state(&mut Lamp::default(), before.state("dim").unwrap(), &mut 1.0);
    let saved = machine.save(&writing, 1.0).unwrap();
    let error = reading.load(saved.clone(), 1.0).unwrap_err();
    assert_eq!(error, LoadError::UnknownStates { names: vec!["dim".into()] });
    let initial = after.initial();
    let reading = reading.on_missing(move |_| Missing::Enter(initial.clone()));
    assert_eq!(reading.load(saved, 1.0).unwrap().current(), Some(&after.initial()));
}

#[test]
fn a_book_knows_the_states_of_a_definition_that_is_reloaded() {
    let lamp = definition(FILE);
    let book = StateBook::new().with_definition(&lamp);
    let mut machine = lamp.machine();
    lamp.reload("initial = \"new\"\nstates.new.final = true").unwrap();
    // It is still in the state that is gone.
    let saved = machine.save(&book, 0.0).unwrap();
    assert_eq!(book.load(saved, 0.0).unwrap_err(), LoadError::UnknownStates { names: vec!["off".into()] });
    machine.update(&mut Lamp::default(), &mut 0.0);
    // It was in it before.
    let new = lamp.initial();
    let book = book.on_missing(move |_| Missing::Place(new.clone()));
    let loaded = book.load(machine.save(&book, 0.0).unwrap(), 0.0).unwrap();
    assert_eq!([loaded.current(), loaded.previous()], [Some(&lamp.initial()); 2]);
}

#[test]
fn owners_that_fell_asleep_after_a_reload_sleep_on_where_their_state_is_nested_otherwise() {
    let lamp = definition("initial = 'dim'\nstates.dim.final = true");
    let mut batch = lamp.batch();
    let keys = [(); 3].map(|()| batch.spawn(Lamp::default(), lamp.initial(), &mut 0.0));
    batch.sleep(keys[0]);
    lamp.reload("initial = 'on'\nstates.on.initial = 'dim'\nstates.dim = { parent = 'on', final = true }").unwrap();
    batch.sleep(keys[1]);
    batch.sleep(keys[2]);
    let book = StateBook::new().with_definition(&lamp);
    let loaded = Batch::load(batch.save(&book, 0.0).unwrap().map_owners(Lamp::clone), &book, 0.0).unwrap();
    for batch in [batch, loaded] {
        let wakes = keys.map(|key| batch.next_wake(key).unwrap());
        assert_eq!(wakes, [NextWake::EveryTick, NextWake::Never, NextWake::Never]);
    }
}

/// A batch keeps its states until it is dropped, so that its owners still remember a composite that is gone.
#[test]
fn what_a_history_remembers_of_a_state_that_a_reload_has_removed_is_not_saved() {
    let lamp = definition(
        "initial = 'dim'\nstates.on = { history = true, initial = 'dim' }\nstates.dim.parent = 'on'\nstates.off.final = true",
    );
    let mut batch = lamp.batch();
    let key = batch.spawn(Lamp::default(), lamp.initial(), &mut 0.0);
    batch.change_state(key, lamp.state("off").unwrap(), &mut 0.0);
    lamp.reload("initial = 'off'\nstates.off.final = true").unwrap();
    batch.update(&mut 1.0);
    batch.change_state(key, lamp.state("off").unwrap(), &mut 1.0);
    let book = StateBook::new().with_definition(&lamp);
    let saved = batch.save(&book, 1.0).unwrap().map_owners(Lamp::clone);
    let loaded = Batch::load(saved, &book, 1.0).unwrap();
    assert_eq!(loaded.state_of(key), Some(&lamp.initial()));
}

#[test]
fn definitions_with_states_of_one_name_are_told_apart_by_names_of_their_own() {
    let (one, other) = (definition(FILE), definition(FILE));
    let book = StateBook::new().with_definition(&one).with_definition(&other);
    assert_eq!(
        book.check().unwrap_err().to_string(),
        "the book has two states named `off`: give one of them another name, with `with_name`, \
         or add it in `within(\"kind\", ..)`, which makes its name `kind/off`"
    );
    for book in [
        StateBook::new().with_definition(&one).with_definition_name("other", &other),
        StateBook::new().with_definition(&one).within("other", |book| book.with_definition(&other)),
    ] {
        let loaded = book.load(other.machine().save(&book, 0.0).unwrap(), 0.0).unwrap();
        assert_eq!(loaded.current(), Some(&other.initial()));
        let text = serde_json::to_string(&other.machine().save(&book, 0.0).unwrap()).unwrap();
        assert!(text.contains("other/off"), "{text}");
    }
}

#[test]
fn what_was_drawn_at_entry_is_saved() {
    const DRAWN: &str = r#"
        initial = "off"
        ticks_per_second = 10
        states.off.exits = [{ to = "on", after = "1 s .. 3 s" }]
        states.on.exits = [{ to = "off", after = "2 ticks .. 9 ticks" }]
    "#;
    fn draw(lamp: &mut Lamp) -> f64 {
        lamp.health = (lamp.health * 7.0 + 0.31).fract();
        lamp.health
    }
    let read = || Definition::parse(DRAWN, &Vocabulary::new().random(|lamp: &mut Lamp, _| draw(lamp))).unwrap();
    let (saved_by, loaded_by) = (read(), read());
    let [writing, reading] = [&saved_by, &loaded_by].map(|definition| StateBook::new().with_definition(definition));
    let mut batch = Batch::new();
    let key = batch.spawn(Lamp::default(), saved_by.initial(), &mut 0.0);
    let (mut machine, mut lamp) = (saved_by.machine(), Lamp::default());
    machine.start(&mut lamp, &mut 0.0);
    for tick in 1..90 {
        trace(&mut machine, &mut lamp, tick..tick + 1);
        let now = f64::from(tick) / 10.0;
        batch.update(&mut { now });
        let text = serde_json::to_string(&machine.save(&writing, now).unwrap()).unwrap();
        let mut loaded = reading.load(serde_json::from_str(&text).unwrap(), now).unwrap();
        let bytes = postcard::to_allocvec(&batch.save(&writing, now).unwrap()).unwrap();
        let mut loaded_batch = Batch::load(postcard::from_bytes(&bytes).unwrap(), &reading, now).unwrap();
        assert_eq!(loaded_batch.next_wake(key), batch.next_wake(key));
        let later = tick + 1..tick + 60;
        let expected = trace(&mut machine.clone(), &mut lamp.clone(), later.clone());
        assert_eq!(trace(&mut loaded, &mut lamp.clone(), later.clone()), expected, "{text}");
        for (later, (state, _)) in later.zip(expected) {
            loaded_batch.update(&mut (f64::from(later) / 10.0));
            assert_eq!(loaded_batch.state_of(key).map(ToString::to_string), Some(state), "at tick {later}");
        }
    }
}

const DUEL: &str = r#"
    initial = "duel"
    states.duel.regions = { legs = "walk", arms = "ready" }
    states.walk = { parent = "duel", region = "legs" }
    states.ready = { parent = "duel", region = "arms", exits = [{ to = "shoot", after = 1 }] }
    states.shoot = { parent = "duel", region = "arms", exits = [{ to = "ready", after = 1 }] }
"#;

/// Saves a machine in `walk` and `shoot`, loads it into another file, and returns its active states then and after a second.
fn loaded_into(file: &str) -> Result<[String; 2], String> {
    let (saved_by, loaded_by) = (definition(DUEL), definition(file));
    let [writing, reading] = [&saved_by, &loaded_by].map(|definition| StateBook::new().with_definition(definition));
    let mut machine = started(&saved_by);
    machine.update(&mut Lamp::default(), &mut 1.0);
    let saved = machine.save(&writing, 1.5).unwrap();
    let mut machine = reading.load(saved, 1.5).map_err(|error| error.to_string())?;
    let active =
        |machine: &StateMachine<Lamp>| machine.active_states().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let then = active(&machine);
    machine.update(&mut Lamp::default(), &mut 2.5);
    Ok([then, active(&machine)])
}

#[test]
fn a_save_with_regions_is_loaded_into_a_file_that_has_changed_or_refused() {
    let loaded = |file: &str| loaded_into(file).unwrap();
    assert_eq!(loaded(DUEL), ["duel walk shoot", "duel walk ready"]);
    // The regions have other names, and one more comes behind them.
    let more =
        DUEL.replace("arms = \"ready\" }", "hands = \"ready\", head = \"look\" }").replace("\"arms\"", "\"hands\"");
    let more = more + "states.look = { parent = \"duel\", region = \"head\" }";
    assert_eq!(loaded(&more), ["duel walk shoot", "duel walk ready"]);
    // Fewer regions, or none: nothing is lost silently.
    let refused = |file: &str| loaded_into(file).unwrap_err();
    let fewer = DUEL.replace("legs = \"walk\", ", "").replace("region = \"legs\"", "region = \"arms\"");
    assert_eq!(refused(&fewer), "the state `shoot` was saved in region 1 of `duel`, and does not lie in it");
    let none = DUEL.replace("regions = { legs = \"walk\", arms = \"ready\" }", "initial = \"walk\"");
    let none = none.replace(", region = \"legs\"", "").replace(", region = \"arms\"", "");
    assert_eq!(refused(&none), "the state `walk` was saved in region 0 of `duel`, and does not lie in it");
}

/// The history has an entry for each region, and the state without regions seemed to be in it twice.
#[test]
fn a_history_of_regions_is_loaded_where_the_state_has_none_any_more() {
    let before = r#"
        initial = "duel"
        states.duel = { history = true, regions = ["walk", "ready"], exits = [{ to = "rest", after = 1 }] }
        states.walk = { parent = "duel" }
        states.ready = { parent = "duel", region = 1 }
        states.rest.exits = [{ resume = "duel", after = 1 }]
    "#;
    let after = before.replace("regions = [\"walk\", \"ready\"]", "initial = \"walk\"").replace(", region = 1", "");
    for is_reloaded in [false, true] {
        let saved_by = definition(before);
        let loaded_by = if is_reloaded { saved_by.clone() } else { definition(&after) };
        let [writing, reading] = [&saved_by, &loaded_by].map(|definition| StateBook::new().with_definition(definition));
        let mut machine = started(&saved_by);
        trace(&mut machine, &mut Lamp::default(), 1..12);
        loaded_by.reload(&after).unwrap();
        let mut loaded = reading.load(machine.save(&writing, 1.2).unwrap(), 1.2).unwrap();
        assert_eq!(trace(&mut loaded, &mut Lamp::default(), 12..25)[12].0, "ready");
    }
}

#[test]
fn a_turn_that_is_not_a_number_is_refused() {
    let definition =
        definition("initial = 'a'\nstates.a = { every = 1, exits = [{ to = 'a', when = 'health > 5' }] }\n");
    let book = StateBook::new().with_definition(&definition);
    let mut saved = started(&definition).save(&book, 0.0).unwrap();
    for timer in &mut saved.content.machine.more.timers {
        let SavedThen::Note { number, .. } = &mut timer.then else { continue };
        *number = Seconds(f64::NAN);
    }
    let refused = book.load(saved, 0.0).unwrap_err().to_string();
    assert!(refused.ends_with("timer 0, number: the time is not a number"), "{refused}");
}

/// The history named a state of the file before the reload beside the one that has its name now, and could not be loaded.
#[test]
fn a_history_from_before_a_reload_is_saved_beside_that_of_the_new_state() {
    let nested = format!("{FILE}\nstates.on.parent = 'house'\nstates.house.initial = 'on'\n");
    let lamp = definition(FILE);
    let book = StateBook::new().with_definition(&lamp);
    let mut machine = started(&lamp);
    // Other owners may have been in this state, too.
    let before = lamp.state("on").unwrap();
    let change = |machine: &mut StateMachine<Lamp>, to: &str| {
        assert!(machine.change_state(&mut Lamp::default(), lamp.state(to).unwrap(), &mut 1.0));
    };
    for (inner, is_reloaded) in [("dim", true), ("dim", false), ("bright", false)] {
        change(&mut machine, inner);
        change(&mut machine, "off");
        if is_reloaded {
            lamp.reload(&nested).unwrap();
        }
        let mut loaded = book.load(machine.save(&book, 1.0).unwrap(), 1.0).unwrap();
        loaded.resume_state(&mut Lamp::default(), lamp.state("on").unwrap(), &mut 1.0);
        assert_eq!(loaded.current().unwrap().name(), inner);
    }
    assert_ne!(Some(before), lamp.state("on"));
}

/// All owners of a state with regions were awake for a tick after loading, if the file had been reloaded before they fell asleep.
#[test]
fn owners_that_sleep_in_regions_sleep_on_after_loading() {
    let file = r#"
        initial = "duel"
        states.duel = { regions = ["walk", "ready"], every = 50 }
        states.walk = { parent = "duel", exits = [{ to = "walk", after = 100 }] }
        states.ready = { parent = "duel", region = 1, exits = [{ to = "ready", after = 100 }] }
    "#;
    let lamp = definition(file);
    lamp.reload(file).unwrap();
    let book = StateBook::new().with_definition(&lamp);
    let mut batch = lamp.batch();
    batch.spawn(Lamp::default(), lamp.initial(), &mut 0.0);
    batch.update(&mut 0.0);
    assert_eq!(batch.awake(), 0);
    let mut loaded = Batch::load(batch.save(&book, 1.0).unwrap().map_owners(Lamp::clone), &book, 1.0).unwrap();
    loaded.update(&mut 2.0);
    assert_eq!(loaded.digest(|_, _| ()), batch.digest(|_, _| ()));
}

/// In a machine from a batch, the ancestors of a state that was never entered seemed to have been entered when the clock was 0.
#[test]
fn the_time_in_an_ancestor_that_was_never_entered_counts_from_zero_after_loading() {
    let lamp = definition(FILE);
    let book = StateBook::new().with_definition(&lamp);
    let (on, dim) = (lamp.state("on").unwrap(), lamp.state("dim").unwrap());
    let mut batch = lamp.batch();
    let key = batch.insert(Lamp::default(), dim);
    let (_, machine) = batch.remove(key).unwrap();
    let loaded = book.load(machine.save(&book, 10.0).unwrap(), 100.0).unwrap();
    assert_eq!([loaded.time_in(&*on, &100.0), Some(loaded.time_in_state(&100.0))], [Some(100.0); 2]);
}
