//! The clock of the context: Bevy's `Time`, as it is in the schedule of the pass.

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy, Virtual};

use crate::faults::{lines_with, listen};

#[derive(Component, Owner, Default)]
struct Cook {
    log: Vec<String>,
}

struct Boil;
struct Done;

impl MachineState<Cook> for Boil {
    fn enter(&self, _: &mut Cook, fsm: &mut Fsm<'_, Cook>, _: &mut Cx<'_, Cook>) {
        fsm.change_state_after(1.0, &Done);
    }

    fn update(&self, cook: &mut Cook, fsm: &mut Fsm<'_, Cook>, cx: &mut Cx<'_, Cook>) {
        let (now, delta) = (cx.now(), cx.time.delta_secs());
        cook.log.push(format!("at {now}, after {delta}, boils for {}", fsm.time_in_state(cx)));
    }
}

impl MachineState<Cook> for Done {
    fn enter(&self, cook: &mut Cook, _: &mut Fsm<'_, Cook>, cx: &mut Cx<'_, Cook>) {
        cook.log.push(format!("done at {}", cx.now()));
    }
}

/// An app in which each frame lasts for some milliseconds, and each fixed step for 100.
fn app(plugin: StateMachinePlugin<Cook>, frame: u64) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(frame)));
    app.insert_resource(Time::<Fixed>::from_duration(Duration::from_millis(100)));
    app.add_state_machine_with(plugin);
    // The first frame lasts for no time.
    app.update();
    app
}

fn take_log(app: &mut App, cook: Entity) -> Vec<String> {
    std::mem::take(&mut app.world_mut().get_mut::<Cook>(cook).unwrap().log)
}

#[test]
fn times_and_timers_go_by_the_virtual_time_without_a_line_for_it() {
    for plugin in [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = app(plugin, 500);
        let cook = app.world_mut().spawn((Cook::default(), Machine::<Cook>::new(&Boil))).id();
        app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(Duration::from_secs(10));
        for _ in 0..4 {
            app.update();
        }
        assert_eq!(
            take_log(&mut app, cook),
            ["at 0.5, after 0.5, boils for 0", "at 1, after 0.5, boils for 0.5", "done at 1.5"]
        );
    }
}

#[test]
fn virtual_time_that_is_paused_stops_times_and_timers() {
    let mut app = app(StateMachinePlugin::new(), 200);
    let cook = app.world_mut().spawn((Cook::default(), Machine::<Cook>::new(&Boil))).id();
    app.update();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..20 {
        app.update();
    }
    let log = take_log(&mut app, cook);
    assert_eq!(log.len(), 21);
    assert_eq!(log.last().unwrap(), "at 0.2, after 0, boils for 0");
}

#[test]
fn in_a_fixed_schedule_they_go_by_the_fixed_time_and_commands_of_any_schedule_do_too() {
    let mut app = app(StateMachinePlugin::new().in_schedule(FixedUpdate), 250);
    let cook = app.world_mut().spawn((Cook::default(), Machine::<Cook>::new(&Boil))).id();
    app.update();
    app.update();
    assert_eq!(
        take_log(&mut app, cook),
        [
            "at 0.1, after 0.1, boils for 0",
            "at 0.2, after 0.1, boils for 0.1",
            "at 0.3, after 0.1, boils for 0.19999999999999998",
            "at 0.4, after 0.1, boils for 0.30000000000000004",
            "at 0.5, after 0.1, boils for 0.4"
        ]
    );
    app.update();
    take_log(&mut app, cook);
    // The frame is at 0.75 s, and the fixed time at 0.7 s.
    app.world_mut().commands().entity(cook).change_state(&Done);
    app.world_mut().flush();
    assert_eq!(take_log(&mut app, cook), ["done at 0.7"]);
}

#[test]
fn a_command_in_a_fixed_schedule_for_machines_in_update_goes_by_the_virtual_time() {
    let mut app = app(StateMachinePlugin::new(), 250);
    let cook = app.world_mut().spawn((Cook::default(), Machine::<Cook>::new(&Boil))).id();
    app.add_systems(FixedUpdate, move |time: Res<Time>, mut commands: Commands| {
        if time.elapsed() == Duration::from_millis(200) {
            commands.entity(cook).change_state(&Done);
        }
    });
    app.update();
    assert_eq!(take_log(&mut app, cook), ["done at 0.25"]);
}

#[test]
fn in_a_schedule_of_the_games_own_they_go_by_the_time_that_is_current_in_it() {
    #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    struct Turn;

    let mut app = App::new();
    app.init_schedule(Turn).add_state_machine_with(StateMachinePlugin::<Cook>::new().in_schedule(Turn));
    let mut time = Time::<()>::default();
    time.advance_to(Duration::from_secs(8));
    app.insert_resource(time);
    let cook = app.world_mut().spawn((Cook::default(), Machine::<Cook>::new(&Boil))).id();
    app.world_mut().run_schedule(Turn);
    assert_eq!(take_log(&mut app, cook), ["at 8, after 8, boils for 0"]);
    app.world_mut().commands().entity(cook).change_state(&Done);
    app.world_mut().flush();
    assert_eq!(take_log(&mut app, cook), ["done at 8"]);
}

#[test]
fn who_waits_for_a_time_without_a_clock_is_warned_of_once() {
    #[derive(Component, Owner)]
    struct Timeless;
    struct Wait;
    impl MachineState<Timeless> for Wait {
        fn update(&self, _: &mut Timeless, fsm: &mut Fsm<'_, Timeless>, _: &mut Cx<'_, Timeless>) {
            fsm.sleep_for(1.0);
        }
    }
    struct Watch;
    impl MachineState<Timeless> for Watch {}

    listen();
    let owner = std::any::type_name::<Timeless>();
    let warning = format!(
        "WARN: machines of {owner} wait for a time, but there is no clock, the resource Time: add Bevy's TimePlugin"
    );
    let mut app = App::new();
    app.add_state_machine::<Timeless>();
    app.world_mut().spawn((Timeless, Machine::<Timeless>::new(&Watch)));
    app.update();
    app.update();
    assert_eq!(lines_with(owner), [] as [&str; 0], "nobody needs a clock");
    app.world_mut().spawn((Timeless, Machine::<Timeless>::new(&Wait)));
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(lines_with(owner), [warning]);
}
