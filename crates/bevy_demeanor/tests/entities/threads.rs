//! The result of parallel passes does not depend on the number of threads.

use std::env;
use std::fmt::Write as _;
use std::process::Command;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};

/// The environment variable with the number of threads of a process that this test starts, or `none` for a pass that is not
/// parallel.
const THREADS: &str = "DEMEANOR_THREADS";

#[derive(Component)]
struct Place(u32);

/// Some entities have this component, so that there are several tables; it is in a sparse set, so that one table has entities
/// with and without it.
#[derive(Component)]
#[component(storage = "SparseSet")]
struct Brown;

#[derive(Component)]
struct Old;

/// On entities whose ids are reserved at once.
#[derive(Component)]
struct Egg(u32);

/// On entities that are spawned later.
#[derive(Component)]
struct Chick(u32);

#[derive(Component)]
struct Broody;

#[derive(Component, Owner)]
#[owner(body = (&mut Place, Option<&Brown>), param = Query<&Name>)]
struct Hen;

#[derive(Component, Owner)]
struct Goose(u32);

struct Peck;
struct Lay;

macro_rules! birds {
    ($bird:ident, |$owner:ident, $cx:ident| $place:expr) => {
        impl MachineState<$bird> for Peck {
            fn update(&self, $owner: &mut $bird, fsm: &mut Fsm<'_, $bird>, $cx: &mut Cx<'_, $bird>) {
                if $place % 5 < 3 {
                    fsm.change_state(&Lay);
                }
                if $place % 11 == 0 {
                    $cx.this().insert(Broody);
                }
            }
        }

        impl MachineState<$bird> for Lay {
            fn enter(&self, $owner: &mut $bird, _: &mut Fsm<'_, $bird>, $cx: &mut Cx<'_, $bird>) {
                let place = $place;
                $cx.commands.spawn(Egg(place));
                $cx.spawn_later(Chick(place));
                if place % 7 == 0 {
                    $cx.this().despawn();
                }
            }

            fn update(&self, _: &mut $bird, fsm: &mut Fsm<'_, $bird>, _: &mut Cx<'_, $bird>) {
                fsm.change_state(&Peck);
            }
        }
    };
}
birds!(Hen, |_hen, cx| cx.body.0.0 + u32::from(cx.body.1.is_some()));
birds!(Goose, |goose, cx| goose.0);

fn plugin<T: ParallelOwner>(is_parallel: bool) -> StateMachinePlugin<T> {
    let plugin = StateMachinePlugin::<T>::new().with_change_messages();
    if is_parallel { plugin.in_parallel() } else { plugin }
}

/// Returns the result of some passes, except for the ids that commands reserve during a pass.
fn lead_to(threads: Option<usize>) -> String {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads.unwrap_or(1)).build());
    let mut app = App::new();
    app.add_state_machine_with(plugin::<Hen>(threads.is_some()));
    app.add_state_machine_with(plugin::<Goose>(threads.is_some()));
    app.configure_sets(Update, Machines::<Hen>::SET.before(Machines::<Goose>::SET));
    for i in 0..3000 {
        let mut hen = app.world_mut().spawn((Hen, Place(i), Machine::<Hen>::new(&Peck)));
        if i % 3 == 0 {
            hen.insert(Brown);
        }
        if i % 4 == 0 {
            hen.insert(Old);
        }
        let mut goose = app.world_mut().spawn((Goose(i), Machine::<Goose>::new(&Peck)));
        if i % 4 == 0 {
            goose.insert(Old);
        }
    }
    let mut seen = String::new();
    for _ in 0..3 {
        app.update();
        let world = app.world_mut();
        for change in world.resource_mut::<Messages<StateChanged<Hen>>>().drain() {
            writeln!(seen, "{change:?}").unwrap();
        }
        for change in world.resource_mut::<Messages<StateChanged<Goose>>>().drain() {
            writeln!(seen, "{change:?}").unwrap();
        }
        for egg in world.query::<&Egg>().iter(world) {
            writeln!(seen, "egg {}", egg.0).unwrap();
        }
        for (entity, chick) in world.query::<(Entity, &Chick)>().iter(world) {
            writeln!(seen, "{entity} chick {}", chick.0).unwrap();
        }
        for entity in world.query_filtered::<Entity, With<Broody>>().iter(world) {
            writeln!(seen, "{entity} broody").unwrap();
        }
    }
    seen
}

/// The next test runs this in separate processes, because a process has only one pool of threads.
#[test]
#[ignore = "it is a part of the next"]
fn a_process_prints_what_passes_lead_to() {
    if let Ok(threads) = env::var(THREADS) {
        println!("BEGIN\n{}END", lead_to(threads.parse().ok()));
    }
}

#[test]
fn what_callbacks_spawn_and_record_is_the_same_on_any_number_of_threads() {
    let on = |threads: &str| {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "threads::a_process_prints_what_passes_lead_to", "--ignored", "--nocapture"])
            .env(THREADS, threads)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let begin = text.find("BEGIN").expect("the process prints it");
        text[begin..text.find("END").expect("it ends")].to_owned()
    };
    let expected = on("none");
    assert!(expected.lines().count() > 20_000, "{}", expected.lines().count());
    for threads in ["1", "2", "4", "8"] {
        assert!(on(threads) == expected, "on {threads} threads it is different");
    }
}
