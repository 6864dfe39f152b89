//! Several files, and several owners with machines from files.

use bevy_demeanor::demeanor::definition::Vocabulary;
use bevy_demeanor::prelude::*;

use crate::stage::{PATROL, Sheep, Stage, lines_with, listen};

#[test]
fn two_files_of_one_owner_have_nothing_to_do_with_each_other() {
    let mut stage = Stage::new();
    stage.save("one.fsm.toml", PATROL);
    stage.save("other/one.fsm.toml", &PATROL.replace("after = 2", "after = 1"));
    let files = ["one.fsm.toml", "other/one.fsm.toml"].map(|path| stage.load(path));
    for file in &files {
        stage.until_loaded(file);
    }
    let guards = files.each_ref().map(|file| stage.guard(file));
    stage.ticks(2);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "walk"]);
    stage.save("one.fsm.toml", "initial = 'stand'\nstates.stand = { behavior = 'run', final = true }\n");
    stage.until_reloaded(&files[0]);
    for guard in &guards {
        stage.take_trace(*guard);
    }
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.take_trace(guard)), [["run update"], ["walk update"]]);
}

#[test]
fn owners_of_different_types_have_their_machines_in_one_file_or_in_several() {
    listen();
    let mut stage = Stage::new();
    stage.app.add_state_machine_with(StateMachinePlugin::<Sheep>::new().with_definitions(Vocabulary::new()));
    let graze = "\n[machines.sheep]\ninitial = 'graze'\nstates.graze.exits = [{ to = 'graze', after = 5 }]\n";
    let patrol = PATROL.replace("[states.", "[machines.guard.states.");
    stage.save("sheep.fsm.toml", graze);
    stage.save("guards.fsm.toml", &format!("[machines.guard]\n{patrol}"));
    stage.save("farm.fsm.toml", &format!("[machines.first]\n{}{graze}", "initial = 'a'\nstates.a.final = true\n"));
    let paths = ["sheep.fsm.toml#sheep", "guards.fsm.toml#guard", "farm.fsm.toml#first", "farm.fsm.toml#sheep"];
    let files = paths.map(|path| stage.load(path));
    for file in &files {
        stage.until_loaded(file);
    }
    let sheep = [&files[0], &files[3]].map(|file| {
        let sheep = (Sheep, DefinedMachine::<Sheep>::new(file.clone()));
        stage.app.world_mut().spawn(sheep).id()
    });
    let guards = [stage.guard(&files[1]), stage.guard(&files[2])];
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "a"]);
    for sheep in sheep {
        let machine = stage.app.world().get::<Machine<Sheep>>(sheep).unwrap();
        assert_eq!(machine.current().unwrap().name(), "graze");
    }
    assert_eq!(lines_with("farm.fsm.toml"), [""; 0]);
}
