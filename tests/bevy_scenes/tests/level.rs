//! A level of 100 guards at 50 ticks per second is saved and loaded, and goes on to the tick like the one that was not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_app::{App, FixedUpdate, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, AssetServer};
use bevy_demeanor::prelude::*;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use bevy_world_serialization::serde::WorldDeserializer;
use bevy_world_serialization::{DynamicWorld, DynamicWorldBuilder};
use demeanor::{StateBook, StateRef};
use moonshine_save::prelude::*;
use serde::de::DeserializeSeed;
use serde::{Deserialize, Serialize};

const GUARDS: u32 = 100;
const TICKS: u32 = 1000;
const TICK: Duration = Duration::from_millis(20);

/// A guard. Its number decides how long it stays in its states.
#[derive(Component, Owner, Reflect, Default)]
#[reflect(Component)]
#[owner(message = Told)]
#[require(Save, Machine<Guard> = Machine::new(&Patrol).with_global(&Ears))]
struct Guard {
    number: u32,
    /// What it has done in this tick.
    did: Vec<String>,
    shots: u32,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Told {
    Noise,
    Blow,
    Rested,
    Reload,
}

impl Guard {
    /// Returns a number of seconds, most of which are no whole number of ticks.
    fn seconds(&self, base: f64) -> f64 {
        base + f64::from(self.number % 13) * 0.017
    }
}

macro_rules! states {
    ($($name:ident { $($methods:tt)* })*) => {$(
        struct $name;
        impl MachineState<Guard> for $name {
            fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
                guard.did.push(concat!("update ", stringify!($name)).to_owned());
                self.decide(guard, fsm, cx);
            }

            fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
                guard.did.push(concat!("exit ", stringify!($name)).to_owned());
            }

            $($methods)*
        }
    )*};
}

/// What a state does in an update.
trait Decide {
    fn decide(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {}
}

impl Decide for Patrol {
    // By the time in the state. It is compared with no whole number of ticks: clocks that show different times round it differently,
    // and only timers and sleeps allow for that (rule 18).
    fn decide(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        if fsm.time_in_state(cx) >= guard.seconds(0.305) {
            fsm.change_state(&Rest);
        }
    }
}
impl Decide for Rest {}
impl Decide for Stunned {
    // After its sleep.
    fn decide(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
        fsm.pop_state();
    }
}
impl Decide for Combat {
    fn decide(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        if fsm.time_in(&Combat, cx).is_some_and(|seconds| seconds >= guard.seconds(0.905)) {
            fsm.revert_state();
        }
    }
}
impl Decide for Walk {}
impl Decide for Run {}
impl Decide for Aim {
    fn decide(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
        guard.shots += 1;
        if guard.shots.is_multiple_of(4) {
            fsm.change_state(&Load);
        }
    }
}
impl Decide for Load {}
impl Decide for Ears {}

states! {
    Patrol {}
    // Sleeps until its timer is due.
    Rest {
        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
            fsm.send_after(guard.seconds(0.2), Told::Rested);
            fsm.sleep();
        }

        fn on_message(&self, _: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
            if let Told::Rested = told {
                fsm.change_state(&Patrol);
            }
            matches!(told, Told::Rested)
        }
    }
    // On top of every other state.
    Stunned {
        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
            fsm.sleep_for(guard.seconds(0.1));
        }

        fn on_message(&self, _: &mut Guard, _: &Told, _: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
            true
        }
    }
    // Legs and arms.
    Combat {
        fn regions(&self) -> Vec<StateRef<Guard>> {
            vec![(&Walk).into(), (&Aim).into()]
        }
    }
    Walk {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Combat).into())
        }

        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
            fsm.change_state_after(guard.seconds(0.15), &Run);
        }
    }
    Run {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Combat).into())
        }

        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
            fsm.change_state_after(guard.seconds(0.05), &Walk);
        }
    }
    Aim {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Combat).into())
        }

        fn region(&self) -> usize {
            1
        }
    }
    Load {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Combat).into())
        }

        fn region(&self) -> usize {
            1
        }

        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
            fsm.send_every(guard.seconds(0.08), Told::Reload);
        }

        fn on_message(&self, _: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
            if let Told::Reload = told {
                fsm.change_state_next(&Aim);
            }
            matches!(told, Told::Reload)
        }
    }
    // The global state.
    Ears {
        fn on_message(&self, _: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
            match told {
                Told::Noise => fsm.ensure_state(&Combat),
                Told::Blow => fsm.push_state(&Stunned),
                _ => return false,
            }
            true
        }

        fn is_passive(&self) -> bool {
            true
        }
    }
}

/// Returns an app that has run for some frames.
fn app(frames: u32) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), TimePlugin));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK)).insert_resource(Time::<Fixed>::from_duration(TICK));
    let book = StateBook::new().with(&Patrol).with(&Rest).with(&Stunned).with(&Combat).with(&Walk).with(&Run);
    let book = book.with(&Aim).with(&Load).with(&Ears).with_messages();
    app.register_type::<Guard>();
    app.add_state_machine_with(StateMachinePlugin::<Guard>::new().with_book(book).in_schedule(FixedUpdate));
    app.add_observer(save_on_default_event).add_observer(load_on_default_event);
    // No time passes in the first frame.
    for _ in 0..=frames {
        app.update();
    }
    app
}

/// Runs a tick, and returns what each guard has done in it, by their numbers.
fn tick(app: &mut App, tick: u32) -> Vec<(u32, Vec<String>, String)> {
    let guards: EntityHashMap<u32> =
        app.world_mut().query::<(Entity, &Guard)>().iter(app.world()).map(|(entity, it)| (entity, it.number)).collect();
    let mut guards: Vec<(Entity, u32)> = guards.into_iter().collect();
    guards.sort_by_key(|(_, number)| *number);
    for (guard, number) in guards {
        let told = match (tick * 7 + number * 31) % 197 {
            0 => Told::Noise,
            50 | 51 => Told::Blow,
            _ => continue,
        };
        app.world_mut().commands().entity(guard).send::<Guard>(told);
    }
    app.update();
    let mut did: Vec<_> = app
        .world_mut()
        .query::<(&mut Guard, &Machine<Guard>)>()
        .iter_mut(app.world_mut())
        .map(|(mut guard, machine)| {
            let active: Vec<String> = machine.active_states().map(|state| state.name().into_owned()).collect();
            (guard.number, std::mem::take(&mut guard.did), format!("{active:?}, asleep: {}", machine.is_asleep()))
        })
        .collect();
    did.sort();
    did
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn save_by_scene(app: &mut App) -> String {
    let guards: Vec<Entity> = app.world_mut().query_filtered::<Entity, With<Guard>>().iter(app.world()).collect();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let builder = DynamicWorldBuilder::from_world(app.world(), &registry).extract_entities(guards.into_iter());
    builder.build().serialize(&registry).unwrap()
}

fn load_by_scene(app: &mut App, text: &str) {
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let mut assets = app.world().resource::<AssetServer>().clone();
    let mut deserializer = ron::Deserializer::from_str(text).unwrap();
    let scene: DynamicWorld = WorldDeserializer { type_registry: &registry.read(), load_from_path: &mut assets }
        .deserialize(&mut deserializer)
        .unwrap();
    scene.write_to_world(app.world_mut(), &mut EntityHashMap::default()).unwrap();
}

fn save_by_moonshine(app: &mut App, path: &Path) {
    app.world_mut().trigger_save(SaveWorld::default_into_file(path));
    app.world_mut().flush();
}

fn load_by_moonshine(app: &mut App, path: &Path) {
    app.world_mut().trigger_load(LoadWorld::default_from_file(path));
    app.world_mut().flush();
}

#[test]
fn a_level_that_is_saved_and_loaded_at_any_tick_equals_the_one_that_was_not_for_1000_ticks() {
    let mut level = app(3);
    for number in 0..GUARDS {
        level.world_mut().spawn(Guard { number, ..Guard::default() });
    }
    let mut expected = Vec::new();
    let mut saved = Vec::new();
    for now in 0..TICKS {
        // At 40 ticks, and at each of the last 10.
        if now % 25 == now / 25 % 25 || now >= TICKS - 10 {
            let path = file(&format!("level-{now}.ron"));
            save_by_moonshine(&mut level, &path);
            saved.push((now, save_by_scene(&mut level), path));
        }
        expected.push(tick(&mut level, now));
    }
    // Everything occurs.
    let all = format!("{expected:?}");
    for what in ["exit Patrol", "exit Rest", "exit Stunned", "exit Combat", "exit Run", "exit Load", "asleep: true"] {
        assert!(all.contains(what), "{what}");
    }
    for (at, scene, path) in saved {
        // Apps whose clocks are behind and ahead.
        let frames = at / 2 % 90 + at % 7;
        let (mut by_scene, mut by_moonshine) = (app(frames), app(frames));
        load_by_scene(&mut by_scene, &scene);
        load_by_moonshine(&mut by_moonshine, &path);
        // Errors show in the next second; each tenth level runs to the end.
        let end = if at.is_multiple_of(10) { TICKS } else { TICKS.min(at + 50) };
        for now in at..end {
            let expected = &expected[now as usize];
            for (level, by) in [(&mut by_scene, "a scene"), (&mut by_moonshine, "moonshine-save")] {
                let did = tick(level, now);
                assert_eq!(did.len(), expected.len());
                for (did, expected) in did.iter().zip(expected) {
                    assert_eq!(did, expected, "in tick {now}, saved by {by} in tick {at}");
                }
            }
        }
    }
}
