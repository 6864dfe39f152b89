//! Times and timers of saved machines whose clock is Bevy's `Time`.

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings};
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

/// Runs the app until the cook tastes. Returns the number of frames until then.
fn frames_until_it_tastes(app: &mut App, cook: Entity) -> usize {
    let tastes = |app: &App| app.world().get::<Machine<Cook>>(cook).unwrap().is_in_state(&Taste);
    let mut frames = 0;
    while !tastes(app) && frames < 100 {
        app.update();
        frames += 1;
    }
    frames
}

/// While it is true, the set with the pass does not run.
#[derive(Resource, Default)]
struct IsPaused(bool);

fn app_with_pause(frames: usize) -> App {
    let mut app = app(plugin(), frames);
    app.init_resource::<IsPaused>();
    app.configure_sets(Update, MachineSet::Update.run_if(|paused: Res<IsPaused>| !paused.0));
    app
}

/// Keeps the pass away from the cook for some frames, in one of two ways.
fn wait(app: &mut App, cook: Entity, is_disabled: bool, frames: usize) {
    if is_disabled {
        app.world_mut().entity_mut(cook).insert(Disabled);
    } else {
        app.insert_resource(IsPaused(true));
    }
    for _ in 0..frames {
        app.update();
    }
}

fn go_on(app: &mut App, cook: Entity) {
    app.world_mut().entity_mut(cook).remove::<Disabled>();
    app.insert_resource(IsPaused(false));
}

#[test]
fn a_machine_that_is_saved_while_the_pass_does_not_visit_it_has_the_time_of_its_saving() {
    for is_disabled in [true, false] {
        let mut going_on = app_with_pause(50);
        let cook = going_on.world_mut().spawn((Cook::default(), Pot(0), Machine::<Cook>::new(&Boil))).id();
        going_on.update();
        wait(&mut going_on, cook, is_disabled, 4);
        let scene = save(&going_on, &[cook]).unwrap();
        go_on(&mut going_on, cook);
        let mut loading = app_with_pause(10);
        let loaded = load(&mut loading, &scene, Sequence::Forward).unwrap()[0];
        // If the app has registered `Disabled`, it is saved, too.
        go_on(&mut loading, loaded);
        assert_eq!(frames_until_it_tastes(&mut going_on, cook), 4);
        assert_eq!(frames_until_it_tastes(&mut loading, loaded), 4, "{is_disabled}");
    }
}

#[test]
fn a_machine_that_is_loaded_while_the_pass_does_not_visit_it_has_the_time_of_its_loading() {
    for is_disabled in [true, false] {
        let mut saving = app_with_pause(50);
        let cook = saving.world_mut().spawn((Cook::default(), Pot(0), Machine::<Cook>::new(&Boil))).id();
        saving.update();
        let scene = save(&saving, &[cook]).unwrap();
        let mut loading = app_with_pause(10);
        let loaded = load(&mut loading, &scene, Sequence::Forward).unwrap()[0];
        // By then, the clock shows half a second more than when the cook was saved.
        wait(&mut loading, loaded, is_disabled, 43);
        go_on(&mut loading, loaded);
        assert_eq!(frames_until_it_tastes(&mut loading, loaded), 1, "{is_disabled}");
    }
}

#[test]
fn a_machine_that_is_saved_before_any_pass_has_seen_it_keeps_the_time_in_its_state() {
    let app = |frames| app(plugin().with_current_state([(&Boil).into(), (&Taste).into()]), frames);
    let mut going_on = app(50);
    let cook = going_on.world_mut().spawn((Cook::default(), Pot(0), CurrentState::<Cook>::named("Boil"))).id();
    let scene = save(&going_on, &[cook]).unwrap();
    let mut loading = app(10);
    let loaded = load(&mut loading, &scene, Sequence::Forward).unwrap()[0];
    let logs = [(&mut going_on, cook), (&mut loading, loaded)].map(|(app, cook)| {
        app.update();
        take_log(app, cook)
    });
    assert_eq!(logs, [["boils for 0.25 s, 1 times stirred"]; 2]);
}

#[test]
fn two_owners_that_are_saved_do_not_depend_on_their_order() {
    #[derive(Component, Owner, Reflect)]
    struct Waiter;
    impl MachineState<Waiter> for Boil {}

    let mut app = App::new();
    app.edit_schedule(Update, |update| {
        let ambiguity_detection = LogLevel::Error;
        update.set_build_settings(ScheduleBuildSettings { ambiguity_detection, ..Default::default() });
    });
    app.add_state_machine_with(plugin());
    app.add_state_machine_with(StateMachinePlugin::<Waiter>::new().with_book(StateBook::new().with(&Boil)));
    app.update();
}
