//! Scenes and saved games with machines from files.

use std::any::TypeId;

use bevy_asset::Handle;
use bevy_demeanor::demeanor::StateBook;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_reflect::PartialReflect;
use bevy_reflect::serde::{TypedReflectDeserializer, TypedReflectSerializer};
use serde::de::DeserializeSeed;

use crate::stage::{Guard, PATROL, Stage};

fn stage(text: &str) -> (Stage, Handle<DefinitionFile>) {
    let mut stage = Stage::with(StateMachinePlugin::new().with_book(StateBook::new()));
    stage.save("saved.fsm.toml", text);
    let file = stage.load("saved.fsm.toml");
    stage.until_loaded(&file);
    (stage, file)
}

/// Returns a guard's machine as a scene writes it.
fn save(stage: &Stage, guard: Entity) -> String {
    save_as::<Machine<Guard>>(stage, guard)
}

/// Returns a component as a scene writes it.
fn save_as<C: Component + PartialReflect>(stage: &Stage, guard: Entity) -> String {
    let registry = stage.app.world().resource::<AppTypeRegistry>().read();
    let component = stage.app.world().get::<C>(guard).unwrap();
    ron::to_string(&TypedReflectSerializer::new(component, &registry)).unwrap()
}

/// Loads a machine as a scene does.
fn load(stage: &mut Stage, guard: Entity, saved: &str) -> Result<(), String> {
    load_as::<Machine<Guard>>(stage, guard, saved)
}

/// Loads a component as a scene does.
fn load_as<C: Component>(stage: &mut Stage, guard: Entity, saved: &str) -> Result<(), String> {
    let registry = stage.app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let registration = registry.get(TypeId::of::<C>()).unwrap();
    let mut deserializer = ron::Deserializer::from_str(saved).unwrap();
    let machine = TypedReflectDeserializer::new(registration, &registry).deserialize(&mut deserializer);
    let machine = machine.map_err(|error| error.to_string())?;
    let mut guard = stage.app.world_mut().entity_mut(guard);
    registration.data::<ReflectComponent>().unwrap().insert(&mut guard, &*machine, &registry);
    Ok(())
}

#[test]
fn a_machine_from_a_file_comes_back_whole_in_a_game_that_has_prepared_the_file() {
    let (mut before, file) = stage(PATROL);
    let guard = before.guard(&file);
    before.ticks(2);
    let saved = save(&before, guard);
    assert!(saved.contains("saved.fsm.toml/stand"), "{saved}");

    let (mut after, file) = stage(PATROL);
    after.app.world_mut().resource_mut::<LoadedDefinitions<Guard>>().prepare(file.clone());
    after.ticks(9);
    let guard = after.app.world_mut().spawn(Guard::default()).id();
    load(&mut after, guard, &saved).unwrap();
    // A scene contains no handles. To be exchanged later, the entity gets its own file again, which keeps its machine.
    after.app.world_mut().entity_mut(guard).insert(DefinedMachine::<Guard>::new(file.clone()));
    assert_eq!(after.state(guard), "stand");
    after.ticks(1);
    assert_eq!(after.take_trace(guard), ["stand update", "stand exit", "walk enter"], "its time has gone on");

    after.save("saved.fsm.toml", &PATROL.replace("behavior = 'walk'", "behavior = 'run'"));
    after.until_reloaded(&file);
    after.take_trace(guard);
    after.ticks(1);
    assert_eq!(after.take_trace(guard), ["run update"]);
}

#[test]
fn without_the_file_the_saved_machine_is_refused_by_the_name_of_its_state() {
    let (mut before, file) = stage(PATROL);
    let guard = before.guard(&file);
    before.ticks(1);
    let saved = save(&before, guard);

    let (mut after, _) = stage(PATROL);
    let guard = after.app.world_mut().spawn(Guard::default()).id();
    let error = load(&mut after, guard, &saved).unwrap_err();
    let why = "cannot be loaded: the book does not know the state `saved.fsm.toml/stand`: prepare the file first, with \
               `LoadedDefinitions::prepare`";
    assert!(error.contains(why), "{error}");
}

#[test]
fn machines_that_a_reload_has_brought_are_in_the_book_too() {
    let patrol =
        |name: &str| format!("[machines.{name}]\n{}", PATROL.replace("[states.", &format!("[machines.{name}.states.")));
    let (mut stage, file) = stage(&patrol("imp"));
    let imp = stage.guard(&file);
    stage.ticks(1);
    stage.save("saved.fsm.toml", &[patrol("imp"), patrol("baron")].concat());
    stage.until_reloaded(&file);
    let baron = stage.load("saved.fsm.toml#baron");
    stage.until_loaded(&baron);
    let baron = stage.guard(&baron);
    stage.ticks(1);
    assert!(save(&stage, imp).contains("saved.fsm.toml#imp/"));
    assert!(save(&stage, baron).contains("saved.fsm.toml#baron/"));
}

#[test]
fn who_waits_for_a_file_when_it_is_saved_waits_for_it_when_it_is_loaded() {
    let mut before = Stage::with(StateMachinePlugin::new().with_book(StateBook::new()));
    before.save("late.fsm.toml", PATROL);
    let file = before.load("late.fsm.toml");
    let guard = before.guard(&file);
    assert!(before.app.world().get::<Machine<Guard>>(guard).is_none());
    let saved = save_as::<DefinedMachine<Guard>>(&before, guard);
    assert_eq!(saved, "Some(\"late.fsm.toml\")");

    let mut after = Stage::with(StateMachinePlugin::new().with_book(StateBook::new()));
    after.save("late.fsm.toml", PATROL);
    let guard = after.app.world_mut().spawn(Guard::default()).id();
    load_as::<DefinedMachine<Guard>>(&mut after, guard, &saved).unwrap();
    let file = after.app.world().get::<DefinedMachine<Guard>>(guard).unwrap().file().clone();
    after.until_loaded(&file);
    after.ticks(1);
    assert_eq!(after.state(guard), "stand");
    // A file that the game has created itself has no path, so there is no file to wait for.
    load_as::<DefinedMachine<Guard>>(&mut after, guard, "None").unwrap();
    assert!(after.app.world().get::<DefinedMachine<Guard>>(guard).is_none());
    assert_eq!(after.state(guard), "stand");
}
