//! Bevy's `DynamicWorld` and moonshine-save save and load guards.

use std::path::PathBuf;

use bevy_app::{App, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, AssetServer};
use bevy_demeanor::{Machine, MachineCommands};
use bevy_demeanor_scenes::{Clock, Dead, Guard, Patrol, Stunned, Told, game};
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_world_serialization::serde::WorldDeserializer;
use bevy_world_serialization::{DynamicWorld, DynamicWorldBuilder};
use moonshine_save::prelude::*;
use serde::de::DeserializeSeed;

fn app() -> App {
    let mut app = game();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()));
    app
}

fn tick(app: &mut App) {
    app.world_mut().resource_mut::<Clock>().0 += 0.5;
    app.update();
}

fn tell(app: &mut App, guards: &[Entity], told: fn() -> Told) {
    for guard in guards {
        app.world_mut().commands().entity(*guard).send::<Guard>(told());
    }
    app.world_mut().flush();
}

/// Returns 200 guards: some on patrol, some stunned for half a second, some dead.
fn played() -> (App, Vec<Entity>) {
    let mut app = app();
    app.insert_resource(Clock(100.0));
    let guard = |health| Guard { health, ..Guard::default() };
    let guards: Vec<Entity> = (0..200).map(|i| app.world_mut().spawn(guard(i % 3 + 1)).id()).collect();
    tick(&mut app);
    tell(&mut app, &guards[50..150], || Told::Shot);
    tell(&mut app, &guards[..100], || Told::Blow);
    tick(&mut app);
    (app, guards)
}

/// Returns the visible data of a world's guards, without their entities.
fn seen(app: &mut App) -> Vec<String> {
    let mut guards = app.world_mut().query::<(&Guard, &Machine<Guard>)>();
    let line = |(guard, machine): (&Guard, &Machine<Guard>)| {
        let Guard { health, entered, steps } = guard;
        let state = machine.current().map(|state| state.name().into_owned());
        format!("{state:?} at {health}, entered {entered} times, {steps} steps, asleep: {}", machine.is_asleep())
    };
    let mut lines: Vec<String> = guards.iter(app.world()).map(line).collect();
    lines.sort();
    lines
}

/// Both games continue in the same way, and at the end every guard can be shot.
fn check(mut going_on: App, mut loaded: App) {
    assert_eq!(seen(&mut loaded), seen(&mut going_on));
    for _ in 0..6 {
        tick(&mut going_on);
        tick(&mut loaded);
        assert_eq!(seen(&mut loaded), seen(&mut going_on));
    }
    let mut guards = loaded.world_mut().query_filtered::<Entity, With<Guard>>();
    let all: Vec<Entity> = guards.iter(loaded.world()).collect();
    for guard in &all {
        assert!(!loaded.world().get::<Machine<Guard>>(*guard).unwrap().is_in_state(&Stunned));
    }
    for _ in 0..3 {
        tell(&mut loaded, &all, || Told::Shot);
    }
    let is_dead = |guard: &&Entity| loaded.world().get::<Machine<Guard>>(**guard).unwrap().is_in_state(&Dead);
    assert_eq!(all.iter().filter(is_dead).count(), 200, "none of 200 guards is immortal");
}

fn saved_by_bevy(app: &mut App, guards: &[Entity], with_clock: bool) -> String {
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let builder = DynamicWorldBuilder::from_world(app.world(), &registry)
        .allow_resource::<Clock>()
        .extract_entities(guards.iter().copied());
    let scene = if with_clock { builder.extract_resources().build() } else { builder.build() };
    scene.serialize(&registry).unwrap()
}

fn load_by_bevy(app: &mut App, text: &str) {
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let mut assets = app.world().resource::<AssetServer>().clone();
    let mut deserializer = ron::Deserializer::from_str(text).unwrap();
    let scene: DynamicWorld = WorldDeserializer { type_registry: &registry.read(), load_from_path: &mut assets }
        .deserialize(&mut deserializer)
        .unwrap();
    scene.write_to_world(app.world_mut(), &mut EntityHashMap::default()).unwrap();
}

#[test]
fn a_dynamic_world_holds_whole_machines() {
    for with_clock in [false, true] {
        let (mut going_on, guards) = played();
        let text = saved_by_bevy(&mut going_on, &guards, with_clock);
        let mut loaded = app();
        // So that the loaded entities get different ids.
        loaded.world_mut().spawn_batch((0..100).map(|_| Name::new("somebody else")));
        load_by_bevy(&mut loaded, &text);
        assert_eq!(loaded.world().resource::<Clock>().0, if with_clock { 101.0 } else { 0.0 });
        check(going_on, loaded);
    }
}

#[test]
fn a_dynamic_world_that_is_never_written_holds_clones() {
    let (going_on, guards) = played();
    let scene = {
        let registry = going_on.world().resource::<AppTypeRegistry>().read();
        DynamicWorldBuilder::from_world(going_on.world(), &registry).extract_entities(guards.into_iter()).build()
    };
    let mut loaded = app();
    loaded.insert_resource(Clock(101.0));
    scene.write_to_world(loaded.world_mut(), &mut EntityHashMap::default()).unwrap();
    check(going_on, loaded);
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn moonshine_saves_and_loads_whole_machines() {
    let path = file("guards.ron");
    let (mut going_on, _) = played();
    going_on.add_observer(save_on_default_event);
    going_on.world_mut().trigger_save(SaveWorld::default_into_file(&path));
    going_on.world_mut().flush();

    let mut loaded = app();
    loaded.add_observer(load_on_default_event);
    // An existing guard is removed, with its machine.
    loaded.world_mut().spawn((Guard::default(), Machine::<Guard>::new(&Patrol)));
    loaded.update();
    loaded.world_mut().trigger_load(LoadWorld::default_from_file(&path));
    loaded.world_mut().flush();
    check(going_on, loaded);
}
