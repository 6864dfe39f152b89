//! Times and timers of saved machines whose clock is Bevy's `Time`.

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use demeanor::StateBook;

use crate::guard::{Sequence, load, save};

#[derive(Component, Reflect, Default)]
#[reflect(Component)]
struct Pot(u32);

/// Its clock is the clock of the context, which also contains another component.
#[derive(Component, Owner, Reflect, Default)]
#[owner(body = &mut Pot)]
#[reflect(Component)]
struct Cook {
    log: Vec<String>,
}

struct Boil;
struct Taste;

impl MachineState<Cook> for Boil {
    fn enter(&self, _: &mut Cook, fsm: &mut Fsm<'_, Cook>, _: &mut Cx<'_, Cook>) {
        fsm.change_state_after(2.0, &Taste);
    }

    fn update(&self, cook: &mut Cook, fsm: &mut Fsm<'_, Cook>, cx: &mut Cx<'_, Cook>) {
        cx.body.0 += 1;
        cook.log.push(format!("boils for {} s, {} times stirred", fsm.time_in_state(cx), cx.body.0));
    }
}

/// Asleep for half a second.
impl MachineState<Cook> for Taste {
    fn enter(&self, cook: &mut Cook, fsm: &mut Fsm<'_, Cook>, _: &mut Cx<'_, Cook>) {
        cook.log.push("tastes".to_owned());
        fsm.change_state_after(0.5, &Boil);
        fsm.sleep();
    }
}

fn plugin() -> StateMachinePlugin<Cook> {
    StateMachinePlugin::new().with_book(StateBook::new().with(&Boil).with(&Taste))
}

/// Returns an app in which each frame lasts for a quarter of a second, except the first, in which no time passes.
fn app(plugin: StateMachinePlugin<Cook>, frames: usize) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    let quarter = Duration::from_millis(250);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(quarter));
    app.insert_resource(Time::<Fixed>::from_duration(quarter));
    app.register_type::<Cook>().register_type::<Pot>();
    app.add_state_machine_with(plugin);
    for _ in 0..frames {
        app.update();
    }
    app
}

fn take_log(app: &mut App, cook: Entity) -> Vec<String> {
    std::mem::take(&mut app.world_mut().get_mut::<Cook>(cook).unwrap().log)
}

/// Saves a cook after some frames, loads it into an app that has run for `loaded_after` frames, and compares it with the
/// original.
fn check(plugin: fn() -> StateMachinePlugin<Cook>, sequence: Sequence, saved_after: usize, loaded_after: usize) {
    let mut going_on = app(plugin(), 5);
    let cook = going_on.world_mut().spawn((Cook::default(), Pot(0), Machine::<Cook>::new(&Boil))).id();
    for _ in 0..saved_after {
        going_on.update();
    }
    take_log(&mut going_on, cook);
    let scene = save(&going_on, &[cook]).unwrap();

    let mut loading = app(plugin(), loaded_after);
    let loaded = load(&mut loading, &scene, sequence).unwrap()[0];
    let logs = [(&mut going_on, cook), (&mut loading, loaded)].map(|(app, cook)| {
        for _ in 0..30 {
            app.update();
        }
        take_log(app, cook)
    });
    let [expected, log] = logs;
    assert!(expected.len() > 20, "{expected:?}");
    assert_eq!(log, expected, "{sequence:?}, saved after {saved_after} frames, loaded after {loaded_after}");
}

#[test]
fn a_loaded_machine_goes_on_by_bevys_time_with_its_times_and_timers_as_they_were() {
    let plugins: [fn() -> StateMachinePlugin<Cook>; 4] = [
        plugin,
        || plugin().in_parallel(),
        || plugin().in_schedule(FixedUpdate),
        || plugin().with_marker::<Boil>().with_change_events(),
    ];
    for plugin in plugins {
        for sequence in [Sequence::Forward, Sequence::Backward] {
            // Saved in the state `Boil`, and asleep.
            for saved_after in [3, 10] {
                // Loaded when the time is at its beginning, at a different time, at the same time, and one frame earlier or
                // later.
                for loaded_after in [1, 2, 40, 4 + saved_after, 5 + saved_after, 6 + saved_after] {
                    check(plugin, sequence, saved_after, loaded_after);
                }
            }
        }
    }
}
