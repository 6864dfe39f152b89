//! Markers and triggers for the states of files, by their names.

use bevy_app::Update;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

use crate::stage::{Guard, Stage, Told};

const FIGHT: &str = "
initial = 'stand'
[states.stand]
exits = [{ to = 'fight', on = 'noise' }]
[states.fight]
initial = 'aim'
exits = [{ to = 'stand', on = 'noise' }]
[states.'fight.aim']
exits = [{ to = 'shoot', after = 1 }]
[states.'fight.shoot']
";

struct Fight;
struct Aim;
struct Stand;

#[derive(Resource, Default)]
struct Log(Vec<String>);

fn stage() -> (Stage, Entity) {
    let plugin = StateMachinePlugin::new()
        .with_marker_named::<Fight>("fight")
        .with_sparse_marker_named::<Aim>("fight.aim")
        .with_triggers_named::<Fight>("fight")
        .with_triggers_named::<Aim>("fight.aim")
        .with_triggers_named::<Stand>("stand");
    let mut stage = Stage::with(plugin);
    stage.app.init_resource::<Log>();
    stage.app.add_observer(|_: On<Entered<Stand>>, mut log: ResMut<Log>| log.0.push("enters stand".into()));
    stage.app.add_observer(|_: On<Exited<Stand>>, mut log: ResMut<Log>| log.0.push("exits stand".into()));
    stage.app.add_observer(|_: On<Entered<Fight>>, mut log: ResMut<Log>| log.0.push("enters fight".into()));
    stage.app.add_observer(|_: On<Entered<Aim>>, mut log: ResMut<Log>| log.0.push("enters aim".into()));
    stage.app.add_observer(|_: On<Exited<Aim>>, mut log: ResMut<Log>| log.0.push("exits aim".into()));
    stage.app.add_observer(|_: On<Add<InState<Fight>>>, mut log: ResMut<Log>| log.0.push("marked".into()));
    stage.save("fight.fsm.toml", FIGHT);
    let file = stage.load("fight.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    (stage, guard)
}

fn make_noise(stage: &mut Stage, guard: Entity) {
    stage.app.world_mut().commands().entity(guard).send::<Guard>(Told::Noise);
    stage.app.world_mut().flush();
}

fn take_log(stage: &mut Stage) -> Vec<String> {
    std::mem::take(&mut stage.app.world_mut().resource_mut::<Log>().0)
}

#[test]
fn entities_carry_a_marker_in_the_states_of_its_name_and_in_those_within() {
    let (mut stage, guard) = stage();
    let marked = |stage: &Stage| {
        let guard = stage.app.world().entity(guard);
        (guard.contains::<InState<Fight>>(), guard.contains::<InState<Aim, InSparseSet>>())
    };
    assert_eq!(marked(&stage), (false, false));
    make_noise(&mut stage, guard);
    assert_eq!((marked(&stage), &*stage.state(guard)), ((true, true), "fight.aim"));
    stage.ticks(1);
    assert_eq!((marked(&stage), &*stage.state(guard)), ((true, false), "fight.shoot"));
    assert!(stage.app.world().get::<Machine<Guard>>(guard).unwrap().is_in_named("fight"));
    make_noise(&mut stage, guard);
    assert_eq!((marked(&stage), &*stage.state(guard)), ((false, false), "stand"));
}

#[test]
fn triggers_by_name_tell_in_the_order_in_which_it_happened() {
    let (mut stage, guard) = stage();
    assert_eq!(take_log(&mut stage), ["enters stand"]);
    make_noise(&mut stage, guard);
    assert_eq!(take_log(&mut stage), ["marked", "exits stand", "enters fight", "enters aim"]);
    stage.ticks(1);
    assert_eq!(take_log(&mut stage), ["exits aim"]);
}

#[test]
fn systems_go_through_the_entities_of_a_name() {
    let (mut stage, guard) = stage();
    let tire = |mut fighting: Query<&mut Guard, With<InState<Fight>>>| {
        for mut guard in &mut fighting {
            guard.health -= 10.0;
        }
    };
    stage.app.add_systems(Update, tire.in_set(MachineSet::Exit));
    stage.ticks(2);
    make_noise(&mut stage, guard);
    stage.ticks(2);
    assert_eq!(stage.app.world().get::<Guard>(guard).unwrap().health.to_bits(), 80_f64.to_bits());
}
