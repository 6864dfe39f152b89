//! Files that are exchanged and removed while machines run on them.

use bevy_app::Update;
use bevy_asset::Assets;
use bevy_demeanor::demeanor::definition::Files;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

use crate::stage::{Guard, Now, PATROL, Stage, lines_with, listen};

const RUN: &str = "initial = 'run'\nstates.run = { behavior = 'run', final = true }\n";

#[test]
fn another_file_takes_over_once_it_is_loaded_and_until_then_the_machine_goes_on() {
    let mut stage = Stage::new();
    stage.save("first.fsm.toml", PATROL);
    let first = stage.load("first.fsm.toml");
    stage.until_loaded(&first);
    let guard = stage.guard(&first);
    stage.ticks(1);
    let second = stage.load("second.fsm.toml");
    stage.app.world_mut().entity_mut(guard).insert(DefinedMachine::<Guard>::new(second.clone()));
    stage.ticks(2);
    stage.save("second.fsm.toml", RUN);
    stage.take_trace(guard);
    stage.until_loaded(&second);
    // It changes in the frame in which the file was loaded.
    assert_eq!(stage.state(guard), "run");
    let trace = stage.take_trace(guard);
    assert!(trace.ends_with(&["walk exit".into(), "run enter".into(), "run update".into()]), "{trace:?}");
    assert!(trace[..trace.len() - 3].iter().all(|call| call == "walk update"), "{trace:?}");
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["run update"]);
}

#[test]
fn a_file_that_is_inserted_twice_begins_once() {
    let mut stage = Stage::new();
    stage.save("before.fsm.toml", PATROL);
    stage.save("twice.fsm.toml", RUN);
    let (before, twice) = (stage.load("before.fsm.toml"), stage.load("twice.fsm.toml"));
    stage.until_loaded(&before);
    stage.until_loaded(&twice);
    let guard = stage.guard(&before);
    stage.ticks(1);
    stage.take_trace(guard);
    for _ in 0..2 {
        stage.app.world_mut().entity_mut(guard).insert(DefinedMachine::<Guard>::new(twice.clone()));
    }
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["stand exit", "run enter", "run update"]);
}

#[test]
fn a_file_of_another_name_under_the_same_handle_is_not_used_which_is_logged() {
    listen();
    let mut stage = Stage::new();
    stage.save("kept.fsm.toml", PATROL);
    let kept = stage.load("kept.fsm.toml");
    stage.until_loaded(&kept);
    let guard = stage.guard(&kept);
    stage.ticks(1);
    let mut files = stage.app.world_mut().resource_mut::<Assets<DefinitionFile>>();
    files.insert(&kept, DefinitionFile::new(Files::new("usurper.fsm.toml", RUN))).unwrap();
    let later = stage.guard(&kept);
    stage.ticks(2);
    assert_eq!([guard, later].map(|guard| stage.state(guard)), ["walk", "stand"]);
    let line = "usurper.fsm.toml has replaced kept.fsm.toml under the same handle: machines of assets::stage::Guard continue \
                with kept.fsm.toml";
    assert_eq!(lines_with("usurper.fsm.toml"), [format!("WARN: {line}")]);
}

#[test]
fn a_machine_that_has_not_been_started_is_exchanged_without_a_callback() {
    let mut stage = Stage::new();
    stage.app.configure_sets(Update, Machines::<Guard>::SET.run_if(|now: Res<Now>| now.0 > 2.0));
    stage.save("unstarted.fsm.toml", PATROL);
    stage.save("started.fsm.toml", RUN);
    let (before, after) = (stage.load("unstarted.fsm.toml"), stage.load("started.fsm.toml"));
    stage.until_loaded(&before);
    stage.until_loaded(&after);
    let guard = stage.guard(&before);
    stage.ticks(1);
    stage.app.world_mut().entity_mut(guard).insert(DefinedMachine::<Guard>::new(after));
    stage.ticks(2);
    assert_eq!(stage.take_trace(guard), ["run enter", "run update"]);
}

#[test]
fn the_same_file_again_changes_nothing() {
    let mut stage = Stage::new();
    stage.save("same.fsm.toml", PATROL);
    let file = stage.load("same.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(3);
    stage.take_trace(guard);
    stage.app.world_mut().entity_mut(guard).insert(DefinedMachine::<Guard>::new(file.clone()));
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["walk update"]);
}

#[test]
fn a_clone_of_an_entity_is_in_the_same_state_of_the_same_file() {
    let mut stage = Stage::new();
    stage.save("clone.fsm.toml", PATROL);
    let file = stage.load("clone.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(3);
    let clone = stage.app.world_mut().entity_mut(guard).clone_and_spawn();
    stage.take_trace(clone);
    stage.ticks(1);
    assert_eq!(stage.take_trace(clone), ["walk update"]);
}

#[test]
fn machines_go_on_when_their_file_is_removed_and_are_reloaded_when_it_is_put_in_again() {
    let mut stage = Stage::new();
    let assets = |stage: &mut Stage, act: &dyn Fn(&mut Assets<DefinitionFile>)| {
        act(&mut stage.app.world_mut().resource_mut::<Assets<DefinitionFile>>());
    };
    let file = DefinitionFile::new(Files::new("removed", PATROL));
    let file = stage.app.world_mut().resource_mut::<Assets<DefinitionFile>>().add(file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    assets(&mut stage, &|assets| drop(assets.remove(&file)));
    stage.ticks(2);
    assert_eq!(stage.state(guard), "walk");
    let late = stage.guard(&file);
    stage.ticks(1);
    assert_eq!(stage.state(late), "", "there is no file to begin with");
    stage.take_trace(guard);

    let text = "initial = 'walk'\nstates.walk = { behavior = 'run', final = true }\n";
    assets(&mut stage, &|assets| {
        assets.insert(&file, DefinitionFile::new(Files::new("removed", text))).unwrap();
    });
    stage.ticks(2);
    assert_eq!(stage.take_trace(guard), ["walk update", "run update"]);
    assert_eq!([guard, late].map(|guard| stage.state(guard)), ["walk", "walk"]);
}

#[test]
fn a_file_that_nobody_uses_any_more_is_forgotten() {
    let mut stage = Stage::new();
    stage.save("unused.fsm.toml", PATROL);
    let file = stage.load("unused.fsm.toml");
    let id = file.id();
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    drop(file);
    stage.ticks(1);
    assert!(stage.app.world().resource::<LoadedDefinitions<Guard>>().get(id).is_some());
    stage.app.world_mut().entity_mut(guard).remove::<DefinedMachine<Guard>>();
    stage.ticks(3);
    assert!(stage.app.world().resource::<LoadedDefinitions<Guard>>().get(id).is_none());
    assert_eq!(stage.state(guard), "walk", "the machine goes on");
}
