//! When machines start whose files are loaded.

use bevy_app::{App, FixedUpdate};
use bevy_asset::{AssetServer, Assets};
use bevy_demeanor::demeanor::definition::{Definition, Files, Vocabulary};
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

use crate::stage::{Guard, Moment, PATROL, Sheep, Stage, Told, lines_with, listen, vocabulary};

#[test]
fn a_machine_from_a_file_makes_the_callbacks_that_it_makes_without_bevy() {
    let mut stage = Stage::new();
    stage.save("guard.fsm.toml", PATROL);
    let file = stage.load("guard.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    let definition = Definition::parse(PATROL, &vocabulary()).unwrap();
    let (mut alone, mut machine) = (Guard { health: 100.0, ..Guard::default() }, definition.machine());
    for tick in 1..12 {
        let mut now = Moment(f64::from(tick));
        if tick % 5 == 0 {
            stage.app.world_mut().commands().entity(guard).send::<Guard>(Told::Noise);
            stage.app.world_mut().flush();
        }
        if tick % 5 == 0 {
            machine.send(&mut alone, &Told::Noise, &mut Moment(f64::from(tick - 1)));
        }
        if tick == 1 {
            machine.start(&mut alone, &mut now);
        }
        machine.update(&mut alone, &mut now);
        stage.ticks(1);
        assert_eq!(stage.take_trace(guard), std::mem::take(&mut alone.trace), "tick {tick}");
    }
    assert_eq!(stage.state(guard), machine.current().unwrap().name());
}

#[test]
fn a_template_of_a_machine_from_a_file_loads_the_file_for_each_entity() {
    let mut stage = Stage::new();
    stage.save("guard.fsm.toml", PATROL);
    let template = template(|cx| {
        let file = cx.resource::<AssetServer>().load("guard.fsm.toml");
        Ok((Guard::default(), DefinedMachine::<Guard>::new(file)))
    });
    let guards = [0; 2].map(|_| {
        let mut guard = stage.app.world_mut().spawn_empty();
        let components = guard.build_template(&template).unwrap();
        guard.insert(components).id()
    });
    let file = stage.load("guard.fsm.toml");
    stage.until_loaded(&file);
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "stand"]);
}

#[test]
fn a_file_is_prepared_while_no_pass_runs() {
    // Without Bevy's plugin for time, `FixedUpdate` never runs.
    let mut stage = Stage::with(StateMachinePlugin::new().in_schedule(FixedUpdate));
    stage.save("guard.fsm.toml", PATROL);
    let file = stage.load("guard.fsm.toml");
    stage.app.world_mut().resource_mut::<LoadedDefinitions<Guard>>().prepare(file.clone());
    stage.until_loaded(&file);
    stage.app.update();
    assert!(stage.app.world().resource::<LoadedDefinitions<Guard>>().get(&file).is_some());
}

#[test]
fn a_file_that_comes_late_is_waited_for_and_its_absence_is_logged_once() {
    listen();
    let mut stage = Stage::new();
    let file = stage.load("late.fsm.toml");
    let guards = [stage.guard(&file), stage.guard(&stage.load("late.fsm.toml"))];
    let is_failed = |world: &World| world.resource::<AssetServer>().load_state(&file).is_failed();
    stage.until(is_failed);
    stage.ticks(5);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["", ""]);
    stage.save("late.fsm.toml", PATROL);
    stage.until_loaded(&file);
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "stand"]);
    let lines = lines_with("late.fsm.toml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR: late.fsm.toml could not be loaded:\n"), "{lines:?}");
    // An entity that waits for a file need not have a machine.
    assert_eq!(lines_with("no Machine<assets::stage::Guard>"), [""; 0]);
}

#[test]
fn entities_that_are_gone_when_their_file_comes_are_forgotten() {
    let mut stage = Stage::new();
    let file = stage.load("gone.fsm.toml");
    let (gone, other, stays) = (stage.guard(&file), stage.guard(&file), stage.guard(&file));
    stage.app.world_mut().despawn(gone);
    stage.ticks(1);
    stage.app.world_mut().despawn(other);
    stage.save("gone.fsm.toml", PATROL);
    stage.until_loaded(&file);
    stage.ticks(1);
    assert_eq!(stage.state(stays), "stand");
    let mut machines = stage.app.world_mut().query::<&Machine<Guard>>();
    assert_eq!(machines.iter(stage.app.world()).count(), 1);
}

#[test]
fn ten_thousand_guards_share_one_file() {
    let mut stage = Stage::new();
    stage.save("many.fsm.toml", PATROL);
    let file = stage.load("many.fsm.toml");
    let guards: Vec<Entity> = (0..10_000).map(|_| stage.guard(&file)).collect();
    stage.until_loaded(&file);
    stage.ticks(1);
    assert!(guards.iter().all(|guard| stage.state(*guard) == "stand"));
    stage.ticks(1);
    let trace = ["stand enter", "stand update", "stand update", "stand update", "stand exit", "walk enter"];
    for guard in guards {
        assert_eq!(stage.take_trace(guard), trace);
    }
}

const CREATURES: &str = "
[machines.imp]
initial = 'stand'
states.stand = { behavior = 'stand', exits = [{ to = 'run', on = 'noise' }] }
states.run = { behavior = 'run', final = true }

[machines.baron]
like = 'imp'
initial = 'walk'
states.walk = { behavior = 'walk', exits = [{ to = 'run', on = 'noise' }] }
states.stand.entry = true
";

#[test]
fn a_label_is_a_machine_of_the_file_and_without_one_it_is_the_first() {
    let mut stage = Stage::new();
    stage.save("creatures.fsm.toml", CREATURES);
    let files =
        ["creatures.fsm.toml#baron", "creatures.fsm.toml", "creatures.fsm.toml#imp"].map(|path| stage.load(path));
    let guards = files.each_ref().map(|file| stage.guard(file));
    for file in &files {
        stage.until_loaded(file);
    }
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["walk", "stand", "stand"]);
    // The first machine has two names.
    let loaded = stage.app.world().resource::<LoadedDefinitions<Guard>>();
    assert_eq!(loaded.get(&files[1]), loaded.get(&files[2]));
    assert_ne!(loaded.get(&files[0]), loaded.get(&files[2]));
}

#[test]
fn a_label_that_the_file_does_not_have_is_an_error() {
    listen();
    let mut stage = Stage::new();
    stage.save("labels.fsm.toml", CREATURES);
    let file = stage.load("labels.fsm.toml#cyberdemon");
    let guard = stage.guard(&file);
    stage.until(|world| world.resource::<AssetServer>().load_state(&file).is_failed());
    stage.ticks(2);
    assert_eq!(stage.state(guard), "");
    let lines = lines_with("labels.fsm.toml#cyberdemon");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("'baron', 'imp'"), "{lines:?}");
}

#[test]
fn a_machine_that_is_there_already_is_kept() {
    let mut stage = Stage::new();
    stage.save("kept.fsm.toml", PATROL);
    let file = stage.load("kept.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    let walk = stage.definition(&file).state("walk").unwrap();
    let machine = Machine::<Guard>::started(StateMachine::new(walk));
    let other = (Guard::default(), machine, DefinedMachine::<Guard>::new(file.clone()));
    let other = stage.app.world_mut().spawn(other).id();
    stage.ticks(1);
    assert_eq!([guard, other].map(|guard| stage.state(guard)), ["stand", "walk"]);
    assert_eq!(stage.take_trace(other), ["walk update"]);
}

/// Disables an entity, as Bevy's `Disabled` does.
#[derive(Component, Default)]
struct Frozen;

#[test]
fn a_guard_who_is_disabled_by_a_component_of_the_game_begins_when_it_is_enabled() {
    let mut stage = Stage::empty();
    stage.app.world_mut().register_disabling_component::<Frozen>();
    stage.app.add_state_machine_with(StateMachinePlugin::new().with_definitions(vocabulary()));
    stage.save("frozen.fsm.toml", PATROL);
    let file = stage.load("frozen.fsm.toml");
    stage.until_loaded(&file);
    let [guard, without] = [(); 2].map(|()| stage.guard(&file));
    for guard in [guard, without] {
        stage.app.world_mut().entity_mut(guard).insert(Frozen);
    }
    stage.ticks(3);
    stage.app.world_mut().entity_mut(without).remove::<DefinedMachine<Guard>>();
    for guard in [guard, without] {
        stage.app.world_mut().entity_mut(guard).remove::<Frozen>();
    }
    stage.ticks(1);
    assert_eq!(stage.state(guard), "stand");
    assert!(!stage.app.world().entity(without).contains::<Machine<Guard>>());
}

#[test]
fn a_game_can_put_a_file_together_itself() {
    let mut stage = Stage::new();
    let file = DefinitionFile::new(Files::new("built in", CREATURES));
    let mut assets = stage.app.world_mut().resource_mut::<Assets<DefinitionFile>>();
    let files = [assets.add(file.clone()), assets.add(file.with_machine("baron"))];
    let guards = files.each_ref().map(|file| stage.guard(file));
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "walk"]);
}

#[test]
fn a_plugin_that_is_added_later_finds_who_is_there() {
    listen();
    let mut stage = Stage::empty();
    stage.app.add_state_machine_with(StateMachinePlugin::<Sheep>::new().with_definitions(Vocabulary::new()));
    stage.save("early.fsm.toml", PATROL);
    let file = stage.load("early.fsm.toml");
    let guard = stage.guard(&file);
    let lines = lines_with("no vocabulary for it yet");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with(&format!("WARN: entity {guard} (unnamed) has a DefinedMachine<assets::stage::Guard>,"))
    );
    stage.app.add_state_machine_with(StateMachinePlugin::new().with_definitions(vocabulary()));
    stage.until_loaded(&file);
    stage.ticks(1);
    assert_eq!(stage.state(guard), "stand");
}

#[test]
#[should_panic(expected = "add Bevy's AssetPlugin before the state machines")]
fn a_plugin_without_an_asset_server_says_what_is_missing() {
    App::new().add_state_machine_with(StateMachinePlugin::<Guard>::new().with_definitions(vocabulary()));
}
