//! Timers and sleep: which machines a pass visits, and when.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_app::{App, Update};
use bevy_demeanor::{InState, Machine, MachineCommands, MachineSet, StateChanged, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use demeanor::{Fsm, NextWake, Owner, State, StateMachine};

use crate::faults::{lines_with, listen};
use crate::soldier::{Idle, Nap, Order, Patrol, Rest, Soldier, StateName, Vigilance, Watch, app, soldier, take_trace};

fn plugins() -> [StateMachinePlugin<Soldier>; 2] {
    [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()]
}

/// Spawns a soldier in a state that has been entered. The soldier has been updated once.
fn spawn(app: &mut App, machine: Machine<Soldier>) -> Entity {
    let entity = app.world_mut().spawn((Soldier::default(), machine)).id();
    app.update();
    take_trace(app, entity);
    entity
}

/// Runs a tick after some seconds. Returns the callbacks.
fn tick(app: &mut App, entity: Entity, seconds: f64) -> Vec<String> {
    app.world_mut().resource_mut::<Watch>().0 += seconds;
    app.update();
    take_trace(app, entity)
}

fn give(app: &mut App, entity: Entity, give: impl FnOnce(&mut EntityCommands<'_>)) -> Vec<String> {
    give(&mut app.world_mut().commands().entity(entity));
    app.world_mut().flush();
    take_trace(app, entity)
}

/// Asserts that a machine must be visited after this number of seconds, minus the tolerance of timers.
#[track_caller]
fn assert_due(next_wake: NextWake, seconds: f64) {
    assert!(matches!(next_wake, NextWake::At(at) if (seconds - 1e-4..=seconds).contains(&at)), "{next_wake:?}");
}

fn next_wake(app: &App, entity: Entity) -> NextWake {
    app.world().get::<Machine<Soldier>>(entity).unwrap().next_wake()
}

const NOTHING: [&str; 0] = [];

const NAP_IS_OVER: [&str; 5] =
    ["exit Nap", "Nap -> Patrol (change)", "enter Patrol", "complete: Nap -> Patrol (change)", "update Patrol"];

#[test]
fn a_timer_goes_by_the_clock_of_the_context_and_is_carried_out_by_the_pass() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Nap));
        assert_due(next_wake(&app, entity), 1.5);
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        assert_eq!(tick(&mut app, entity, 0.25), NOTHING);
        assert_eq!(tick(&mut app, entity, 0.25), NAP_IS_OVER);
        assert_eq!(next_wake(&app, entity), NextWake::EveryTick);
        assert_eq!(tick(&mut app, entity, 0.25), ["update Patrol"]);
    }
}

#[test]
fn a_soldier_who_asks_to_sleep_in_an_update_is_not_updated_until_then() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = app.world_mut().spawn(soldier([Order::SleepFor(2.0), Order::Sleep])).id();
        assert_eq!(tick(&mut app, entity, 0.0), ["enter Idle", "update Idle"]);
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        assert_eq!(tick(&mut app, entity, 1.0), ["update Idle"], "it wakes, and is told to sleep for ever");
        assert_eq!(tick(&mut app, entity, 1e9), NOTHING);
        assert_eq!(next_wake(&app, entity), NextWake::Never);
    }
}

#[test]
fn every_command_that_has_to_do_with_waiting_does_what_the_machines_method_does() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Idle));

        give(&mut app, entity, |soldier| _ = soldier.sleep::<Soldier>());
        assert_eq!(next_wake(&app, entity), NextWake::Never);
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        give(&mut app, entity, |soldier| _ = soldier.wake::<Soldier>());
        assert_eq!(tick(&mut app, entity, 0.0), ["update Idle"]);

        give(&mut app, entity, |soldier| _ = soldier.sleep_for::<Soldier>(2.0));
        assert_due(next_wake(&app, entity), 3.0);
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        assert_eq!(tick(&mut app, entity, 1.0), ["update Idle"]);

        give(&mut app, entity, |soldier| _ = soldier.sleep::<Soldier>().send_after::<Soldier>(1.0, StateName::Rest));
        assert_eq!(tick(&mut app, entity, 0.5), NOTHING);
        assert_eq!(
            tick(&mut app, entity, 0.5),
            [
                "Idle is told Rest",
                "exit Idle",
                "Idle -> Rest (change)",
                "enter Rest",
                "complete: Idle -> Rest (change)"
            ]
        );

        give(&mut app, entity, |soldier| _ = soldier.change_state_after(1.0, &Patrol));
        assert_due(next_wake(&app, entity), 5.0);
        assert_eq!(tick(&mut app, entity, 0.5), NOTHING);
        assert_eq!(
            tick(&mut app, entity, 0.5),
            [
                "exit Rest",
                "Rest -> Patrol (change)",
                "enter Patrol",
                "complete: Rest -> Patrol (change)",
                "update Patrol"
            ]
        );
    }
}

#[test]
fn a_command_starts_a_new_machine_before_it_puts_it_to_sleep() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    assert_eq!(give(&mut app, entity, |soldier| _ = soldier.sleep::<Soldier>()), ["enter Idle"]);
    assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
}

#[test]
fn a_message_wakes_a_sleeper_if_a_state_handles_it() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Nap));
        assert_eq!(
            give(&mut app, entity, |soldier| _ = soldier.send::<Soldier>(StateName::Idle)),
            ["Nap is told Idle"]
        );
        assert_eq!(tick(&mut app, entity, 0.5), NOTHING);
        assert_eq!(
            give(&mut app, entity, |soldier| _ = soldier.send::<Soldier>(StateName::Chase)),
            ["Nap is told Chase"]
        );
        assert_eq!(tick(&mut app, entity, 0.5), ["update Nap"]);
        assert_eq!(tick(&mut app, entity, 0.5), NAP_IS_OVER, "the timer went on");
    }
}

#[test]
fn a_change_by_command_wakes_a_sleeper() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Nap));
        give(&mut app, entity, |soldier| _ = soldier.change_state::<Soldier>(&Idle));
        assert_eq!(tick(&mut app, entity, 0.5), ["update Idle"]);
        assert_eq!(tick(&mut app, entity, 9.0), ["update Idle"], "the timer ended with its state");
    }
}

#[test]
fn a_global_is_updated_for_those_who_sleep_unless_it_is_passive() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::<Soldier>::new(&Nap).with_global(&Vigilance));
        assert_eq!(tick(&mut app, entity, 1.0), ["update Vigilance"]);
        assert_eq!(next_wake(&app, entity), NextWake::EveryTick);
        let mut expected = NAP_IS_OVER.to_vec();
        expected.insert(4, "update Vigilance");
        assert_eq!(tick(&mut app, entity, 0.5), expected);
    }
}

#[test]
fn a_machine_that_is_woken_or_edited_in_a_query_is_looked_at() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Idle));
        give(&mut app, entity, |soldier| _ = soldier.sleep::<Soldier>());
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        assert!(app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().wake());
        assert!(!app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().wake());
        assert_eq!(tick(&mut app, entity, 1.0), ["update Idle"]);

        app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().bypass().sleep();
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().bypass().set_global(&Vigilance);
        assert_eq!(tick(&mut app, entity, 1.0), ["update Vigilance"]);
    }
}

#[test]
fn a_machine_that_takes_the_place_of_another_is_started_whether_that_slept_or_not() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Rest));
        app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::new(&Idle));
        assert_eq!(tick(&mut app, entity, 1.0), ["enter Idle", "update Idle"]);
        *app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap() = Machine::new(&Rest);
        assert_eq!(tick(&mut app, entity, 1.0), ["enter Rest"]);
        *app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap() = Machine::new(&Patrol);
        assert_eq!(tick(&mut app, entity, 1.0), ["enter Patrol", "update Patrol"]);
        app.world_mut().entity_mut(entity).remove::<Machine<Soldier>>();
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::new(&Nap));
        assert_eq!(tick(&mut app, entity, 1.0), ["enter Nap"]);
    }
}

#[test]
fn a_machine_that_comes_asleep_stays_asleep_and_so_does_a_clone_of_its_entity() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let mut saved = StateMachine::<Soldier>::new(&Idle);
        saved.set_entered(0.0);
        saved.sleep();
        let entity = app.world_mut().spawn((Soldier::default(), Machine::from(saved))).id();
        assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
        let machine = Machine::clone(app.world().get::<Machine<Soldier>>(entity).unwrap());
        let clone = app.world_mut().entity_mut(entity).clone_and_spawn_with_opt_out(|all| _ = all.deny::<Soldier>());
        app.world_mut().entity_mut(clone).insert(Soldier::default());
        let heir = app.world_mut().spawn((Soldier::default(), machine)).id();
        assert_eq!(tick(&mut app, heir, 1.0), NOTHING);
        assert_eq!(tick(&mut app, clone, 1.0), NOTHING);
        give(&mut app, clone, |soldier| _ = soldier.wake::<Soldier>());
        assert_eq!(tick(&mut app, clone, 1.0), ["update Idle"]);
        assert_eq!(take_trace(&mut app, entity), NOTHING);
    }
}

#[test]
fn an_idle_machine_is_looked_at_once_it_is_given_a_state() {
    let mut app = app(StateMachinePlugin::new());
    let entity = spawn(&mut app, Machine::from(StateMachine::idle()));
    assert_eq!(next_wake(&app, entity), NextWake::Never);
    assert_eq!(tick(&mut app, entity, 1.0), NOTHING);
    app.world_mut().get_mut::<Machine<Soldier>>(entity).unwrap().bypass().set_current(&Patrol);
    assert_eq!(tick(&mut app, entity, 1.0), ["enter Patrol", "update Patrol"]);
}

#[test]
fn what_follows_a_change_by_a_timer_comes_after_the_pass_in_the_order_of_the_entities() {
    #[derive(Resource, Default)]
    struct Seen(Vec<String>);

    for plugin in plugins() {
        let mut app = app(plugin.with_change_messages().with_change_events().with_marker::<Patrol>());
        app.init_resource::<Seen>();
        app.add_observer(
            |change: On<StateChanged<Soldier>>, marked: Query<(), With<InState<Patrol>>>, mut seen: ResMut<Seen>| {
                seen.0.push(format!("{} changes, {} on patrol", change.entity, marked.iter().count()));
            },
        );
        app.add_systems(
            Update,
            (|mut changes: MessageReader<StateChanged<Soldier>>, mut seen: ResMut<Seen>| {
                seen.0.extend(changes.read().map(|change| format!("message of {}", change.entity)));
            })
            .in_set(MachineSet::Exit),
        );
        let first = app.world_mut().spawn(soldier([Order::ChangeAfter(1.0, StateName::Patrol), Order::Sleep])).id();
        let second = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Nap))).id();
        app.update();
        // Removes the events of the starts.
        app.world_mut().resource_mut::<Seen>().0.clear();
        let mut seen = |seconds| {
            app.world_mut().resource_mut::<Watch>().0 += seconds;
            app.update();
            std::mem::take(&mut app.world_mut().resource_mut::<Seen>().0)
        };
        assert_eq!(seen(0.75), NOTHING);
        let both = |first: Entity, second: Entity| {
            let change = |of: Entity| format!("{of} changes, 2 on patrol");
            vec![change(first), change(second), format!("message of {first}"), format!("message of {second}")]
        };
        assert_eq!(seen(0.75), both(first, second));
    }
}

#[test]
fn a_machine_is_looked_at_after_a_callback_of_its_timer_has_panicked() {
    struct Panics;
    impl State<Soldier> for Panics {
        fn enter(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
            panic!("a state cannot be entered");
        }

        fn update(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
            soldier.trace.push("update Panics".to_owned());
        }
    }

    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Idle));
        give(&mut app, entity, |soldier| _ = soldier.change_state_after(5.0, &Panics).sleep::<Soldier>());
        app.world_mut().resource_mut::<Watch>().0 = 5.0;
        // After a panic, an app has lost the schedule that was running, so this test runs the schedule itself.
        let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
        assert_eq!(take_trace(&mut app, entity), ["exit Idle", "Idle -> Panics (change)"]);
        // The machine is visited even if the clock goes back.
        app.world_mut().resource_mut::<Watch>().0 = 2.0;
        // One of Bevy's executors skips the systems in the next run that ran before the panic; the other does not.
        let mut runs = (0..2).map(|_| {
            schedule.run(app.world_mut());
            take_trace(&mut app, entity)
        });
        assert_eq!(runs.find(|trace| !trace.is_empty()).unwrap_or_default(), ["update Panics"]);
    }
}

#[test]
fn a_clock_that_stands_while_somebody_sleeps_is_logged_once() {
    struct Clockless;
    #[derive(Component)]
    struct Statue;
    impl Owner for Statue {
        type Context<'a> = ();
        type Message = ();

        fn now((): &()) -> f64 {
            0.0
        }
    }
    impl bevy_demeanor::EntityOwner for Statue {
        type Body = ();
        type Param = ();
    }
    impl State<Statue> for Clockless {
        fn update(&self, _: &mut Statue, fsm: &mut Fsm<'_, Statue>, (): &mut ()) {
            fsm.sleep_for(1.0);
        }
    }

    listen();
    let mut app = App::new();
    app.add_plugins(StateMachinePlugin::<Statue>::new());
    app.world_mut().spawn((Statue, Machine::<Statue>::new(&Clockless)));
    let statue = std::any::type_name::<Statue>();
    for _ in 0..100 {
        app.update();
    }
    assert_eq!(lines_with("Statue"), NOTHING);
    for _ in 0..300 {
        app.update();
    }
    assert_eq!(
        lines_with("Statue"),
        [format!("DEBUG: machines of {statue} wait for a time, but their clock stands still at 0 s")]
    );
}

#[test]
fn an_entity_that_falls_asleep_in_an_update_is_passed_over_from_then_on() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = app.world_mut().spawn(soldier([Order::Nothing, Order::Sleep])).id();
        let mut changed = || {
            app.update();
            app.world().entity(entity).get_change_ticks::<Soldier>().unwrap().changed
        };
        let [first, asks, asleep, later] = [changed(), changed(), changed(), changed()];
        assert_ne!(first, asks);
        assert_eq!([asleep, later], [asks, asks]);
    }
}

#[test]
fn a_passive_state_has_its_entity_passed_over() {
    let mut app = app(StateMachinePlugin::new());
    let entity = spawn(&mut app, Machine::new(&Rest));
    assert_eq!(next_wake(&app, entity), NextWake::Never);
    let changed = |app: &App| app.world().entity(entity).get_change_ticks::<Soldier>().unwrap().changed;
    let before = changed(&app);
    app.update();
    assert_eq!(changed(&app), before);
    give(&mut app, entity, |soldier| _ = soldier.change_state(&Patrol));
    assert_eq!(tick(&mut app, entity, 1.0), ["update Patrol"]);
}

/// Cannot be entered.
struct Walled;
impl State<Soldier> for Walled {
    fn can_enter(&self, _: &Soldier, _: &Fsm<'_, Soldier>, _: &<Soldier as Owner>::Context<'_>) -> bool {
        false
    }
}

#[test]
fn a_passive_state_has_its_entity_passed_over_again_after_a_change_for_the_next_tick_was_refused() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = spawn(&mut app, Machine::new(&Rest));
        give(&mut app, entity, |soldier| _ = soldier.change_state_next(&Walled));
        assert_eq!(next_wake(&app, entity), NextWake::EveryTick);
        assert_eq!(tick(&mut app, entity, 1.0), ["Rest -> Walled (change), refused by Walled.can_enter"]);
        assert_eq!(next_wake(&app, entity), NextWake::Never);
        let changed = |app: &App| app.world().entity(entity).get_change_ticks::<Soldier>().unwrap().changed;
        let before = changed(&app);
        app.update();
        assert_eq!(changed(&app), before);
    }
}

#[test]
fn a_machine_that_was_replaced_while_its_entity_had_no_owner_or_was_disabled_is_looked_at_once_that_is_back() {
    type Away = fn(&mut EntityWorldMut);
    type Back = fn(&mut EntityWorldMut);
    let ways: [(Away, Back); 2] = [
        (|entity| _ = entity.remove::<Soldier>(), |entity| _ = entity.insert(Soldier::default())),
        (|entity| _ = entity.insert(Disabled), |entity| _ = entity.remove::<Disabled>()),
    ];
    for (away, back) in ways {
        let mut app = app(StateMachinePlugin::new());
        let replaced = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Rest))).id();
        let woken = app.world_mut().spawn(soldier([Order::Sleep])).id();
        app.update();
        for entity in [replaced, woken] {
            away(&mut app.world_mut().entity_mut(entity));
        }
        app.update();
        app.world_mut().entity_mut(replaced).insert(Machine::<Soldier>::new(&Patrol));
        app.world_mut().get_mut::<Machine<Soldier>>(woken).unwrap().wake();
        app.update();
        app.update();
        for entity in [replaced, woken] {
            back(&mut app.world_mut().entity_mut(entity));
            take_trace(&mut app, entity);
        }
        app.update();
        assert_eq!(take_trace(&mut app, replaced), ["enter Patrol", "update Patrol"]);
        assert_eq!(take_trace(&mut app, woken), ["update Idle"]);
    }
}
