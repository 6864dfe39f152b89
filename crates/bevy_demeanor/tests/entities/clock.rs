//! The clock of the context: the `Time` that is current in the schedule of the pass.

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_app::{FixedMainScheduleOrder, MainScheduleOrder};
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

/// Returns an app in which each frame lasts for `frame` milliseconds, and each fixed step for 100.
fn app(plugin: StateMachinePlugin<Cook>, frame: u64) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(frame)));
    app.insert_resource(Time::<Fixed>::from_duration(Duration::from_millis(100)));
    app.add_state_machine_with(plugin);
    // No time passes in the first frame.
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
fn in_a_schedule_that_the_game_has_inserted_into_bevys_commands_of_any_schedule_go_by_the_time_of_the_pass() {
    #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    struct Physics;
    #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    struct Thought;

    fn insert_schedules(app: &mut App) {
        app.init_schedule(Physics).init_schedule(Thought);
        app.world_mut().resource_mut::<FixedMainScheduleOrder>().insert_after(FixedUpdate, Physics);
        app.world_mut().resource_mut::<MainScheduleOrder>().insert_after(Update, Thought);
    }

    for is_fixed in [true, false] {
        // The schedules are inserted before or after the plugin is added.
        for is_early in [true, false] {
            let mut app = App::new();
            app.add_plugins(TimePlugin);
            app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
            app.insert_resource(Time::<Fixed>::from_duration(Duration::from_millis(100)));
            if is_early {
                insert_schedules(&mut app);
            }
            let plugin = StateMachinePlugin::<Cook>::new();
            app.add_state_machine_with(if is_fixed {
                plugin.in_schedule(Physics)
            } else {
                plugin.in_schedule(Thought)
            });
            if !is_early {
                insert_schedules(&mut app);
                app.finish();
            }
            let cook = app.world_mut().spawn((Cook::default(), Machine::<Cook>::new(&Boil))).id();
            let command = move |time: Res<Time<Virtual>>, mut commands: Commands| {
                if time.elapsed() == Duration::from_millis(750) {
                    commands.entity(cook).change_state(&Done);
                }
            };
            if is_fixed {
                app.add_systems(Update, command);
            } else {
                app.add_systems(FixedUpdate, command);
            }
            for _ in 0..4 {
                app.update();
            }
            let done = if is_fixed { "done at 0.7" } else { "done at 0.75" };
            assert!(take_log(&mut app, cook).contains(&done.to_owned()), "{is_fixed} {is_early}");
        }
    }
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
    assert_eq!(lines_with(owner), [no_clock::<Timeless>()]);
}

fn no_clock<T>() -> String {
    format!(
        "WARN: machines of {} ask for the time, and it is always 0, because there is no resource Time. Add Bevy's TimePlugin",
        std::any::type_name::<T>()
    )
}

/// An owner for a world without a clock. It does one thing in its state `Work`, and may not enter `Locked`.
#[derive(Component, Owner)]
#[owner(message = ())]
struct Worker(fn(&mut Fsm<'_, Worker>, &Cx<'_, Worker>));

struct Work;
struct Leave;
struct Locked;

impl MachineState<Worker> for Work {
    fn update(&self, worker: &mut Worker, fsm: &mut Fsm<'_, Worker>, cx: &mut Cx<'_, Worker>) {
        worker.0(fsm, cx);
    }

    fn on_message(&self, worker: &mut Worker, (): &(), fsm: &mut Fsm<'_, Worker>, cx: &mut Cx<'_, Worker>) -> bool {
        worker.0(fsm, cx);
        true
    }
}
impl MachineState<Worker> for Leave {}
impl MachineState<Worker> for Locked {
    fn can_enter(&self, _: &Worker, _: &Fsm<'_, Worker>, _: &Cx<'_, Worker>) -> bool {
        false
    }
}

#[test]
fn who_asks_for_the_time_without_a_clock_is_warned_of_once_in_each_app_and_nobody_else() {
    type Row = (usize, Worker);
    let rows: [Row; 5] = [
        (1, Worker(|fsm, cx| assert!(fsm.time_in_state(cx) < 1.0))),
        (1, Worker(|fsm, _| fsm.change_state_after(1.0, &Leave))),
        // A change that is refused, and one that is made.
        (0, Worker(|fsm, _| fsm.change_state(&Locked))),
        (0, Worker(|fsm, _| fsm.change_state(&Work))),
        (0, Worker(|fsm, _| assert!(fsm.is_in_state(&Work)))),
    ];
    listen();
    let lines = || lines_with(std::any::type_name::<Worker>()).into_iter();
    let of_clocks = || lines().filter(|line| line.contains("clock")).collect::<Vec<_>>();
    for (nth, (warnings, worker)) in rows.iter().enumerate() {
        // It works in a pass, or when it gets a message.
        for is_told in [false, true] {
            for plugin in [StateMachinePlugin::<Worker>::new(), StateMachinePlugin::new().in_parallel()] {
                let before = of_clocks().len();
                let mut app = App::new();
                app.add_state_machine_with(plugin);
                let machine = if is_told { Machine::<Worker>::new(&Leave) } else { Machine::new(&Work) };
                let worker = app.world_mut().spawn((Worker(worker.0), machine)).id();
                app.update();
                app.update();
                if is_told {
                    let mut commands = app.world_mut().commands();
                    commands.entity(worker).change_state::<Worker>(&Work).send::<Worker>(()).send::<Worker>(());
                    app.world_mut().flush();
                }
                app.update();
                let expected = vec![no_clock::<Worker>(); *warnings];
                assert_eq!(of_clocks().split_off(before), expected, "row {nth}, told: {is_told}");
            }
        }
    }
}

/// Owners without `fn now`, in the ways in which an owner can be written.
mod forgetful {
    use super::*;

    #[derive(Component)]
    pub(super) struct Guard;
    impl Owner for Guard {
        type Context<'a> = EntityContext<'a, Self>;
        type Message = ();
    }
    impl EntityOwner for Guard {
        type Body = &'static Name;
        type Param = ();
    }

    #[derive(Component)]
    pub(super) struct Dog;
    impl Owner for Dog {
        type Context<'a> = ();
        type Message = ();
    }
    impl EntityOwner for Dog {
        type Body = ();
        type Param = ();
    }

    pub(super) struct Yard;
    impl CallbackContext<Cat> for Yard {
        fn lend<R>(_: &mut EntityContext<'_, Cat>, call: impl FnOnce(&mut Self) -> R) -> R {
            call(&mut Self)
        }
    }
    #[derive(Component, Owner)]
    #[owner(context = Yard, message = ())]
    pub(super) struct Cat;
}
use forgetful::{Cat, Dog, Guard};

/// Waits in the way in which its owner is asked to.
struct Wait<const WAY: usize>;
impl<T: Owner<Message = ()>, const WAY: usize> demeanor::State<T> for Wait<WAY> {
    fn enter(&self, _: &mut T, fsm: &mut Fsm<'_, T>, _: &mut T::Context<'_>) {
        match WAY {
            0 => fsm.change_state_after(1.0, &Wait::<9>),
            1 => fsm.sleep_for(1.0),
            2 => fsm.send_every(1.0, ()),
            3 => fsm.change_state_next(&Wait::<9>),
            _ => {}
        }
    }

    fn update(&self, _: &mut T, fsm: &mut Fsm<'_, T>, _: &mut T::Context<'_>) {
        if WAY == 4 {
            fsm.send_after(1.0, ());
        }
    }
}

/// Returns the warnings about a machine that waits, with and without threads, in a world with a clock.
fn wait<T: EntityOwner<Message = ()> + ParallelOwner, const WAY: usize>(
    owner: fn() -> T,
    command: bool,
) -> Vec<String> {
    listen();
    let before = lines_with(std::any::type_name::<T>()).len();
    for plugin in [StateMachinePlugin::<T>::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = App::new();
        app.add_plugins(TimePlugin).add_state_machine_with(plugin);
        let waiter = app.world_mut().spawn((owner(), Name::new("waiter"), Machine::<T>::new(&Wait::<WAY>))).id();
        app.update();
        if command {
            app.world_mut().commands().entity(waiter).send_after::<T>(1.0, ());
        }
        for _ in 0..130 {
            app.update();
        }
    }
    let lines = lines_with(std::any::type_name::<T>()).split_off(before);
    lines.into_iter().filter(|line| line.starts_with("WARN")).collect()
}

#[test]
fn a_machine_that_waits_is_warned_of_once_however_its_owner_forgets_the_clock() {
    fn check<T: EntityOwner<Message = ()> + ParallelOwner>(owner: fn() -> T) {
        let warning = format!(
            "WARN: machines of {} wait for a time, and it is always 0, because their owner has no function `now`. Write `fn \
             now(cx: &Cx<'_, Self>) -> f64 {{ cx.now() }}` in `impl Owner`, or `now = ..` in `#[owner(..)]`",
            std::any::type_name::<T>()
        );
        let twice = [warning.clone(), warning];
        assert_eq!(wait::<T, 0>(owner, false), twice, "a timer");
        assert_eq!(wait::<T, 1>(owner, false), twice, "a sleep");
        assert_eq!(wait::<T, 2>(owner, false), twice, "a repeating timer");
        assert_eq!(wait::<T, 4>(owner, false), twice, "a timer of an update");
        assert_eq!(wait::<T, 5>(owner, true), twice, "a timer by a command");
        assert_eq!(wait::<T, 3>(owner, false), [""; 0], "a change in the next tick");
        assert_eq!(wait::<T, 5>(owner, false), [""; 0], "nothing");
    }
    check(|| Guard);
    check(|| Dog);
    check(|| Cat);
}

#[test]
fn a_machine_that_waits_by_a_clock_that_shows_0_is_warned_of_nothing() {
    #[derive(Component, Owner)]
    #[owner(message = (), now = Self::now)]
    struct Patient;
    impl Patient {
        fn now(_: &Cx<'_, Self>) -> f64 {
            0.0
        }
    }
    assert_eq!(wait::<Patient, 0>(|| Patient, true), [""; 0]);
}

#[derive(Component, Owner)]
struct Sleeper;
impl MachineState<Sleeper> for Work {}
impl MachineState<Sleeper> for Leave {}

#[test]
fn a_command_that_needs_a_clock_where_there_is_none_is_warned_of_once() {
    listen();
    let mut app = App::new();
    app.add_state_machine::<Sleeper>();
    let sleeper = app.world_mut().spawn((Sleeper, Machine::<Sleeper>::new(&Work))).id();
    app.update();
    assert_eq!(lines_with(std::any::type_name::<Sleeper>()), [""; 0]);
    for _ in 0..2 {
        app.world_mut().commands().entity(sleeper).change_state_after::<Sleeper>(1.0, &Leave).sleep_for::<Sleeper>(1.0);
        app.update();
    }
    assert_eq!(lines_with(std::any::type_name::<Sleeper>()), [no_clock::<Sleeper>()]);
}
