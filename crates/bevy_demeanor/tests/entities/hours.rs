//! A game that runs for hours, in which entities come and go.

use bevy_demeanor::{MachineCommands, StateChanged, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{ScheduleLabel, SingleThreadedExecutor};

use crate::faults::listen;
use crate::soldier::{Chase, Idle, Order, Patrol, Rest, Soldier, StateName, app, soldier};

/// A schedule that does not run in each frame, like `FixedUpdate`.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Turn;

/// Ends a frame, without a schedule whose systems would run on other threads.
fn frame(world: &mut World) {
    world.resource_mut::<Messages<StateChanged<Soldier>>>().update();
    world.clear_trackers();
}

/// Only this thread's allocations are counted.
#[test]
fn ten_thousand_entities_that_come_and_go_leave_no_memory_behind() {
    listen();
    let plugin = StateMachinePlugin::<Soldier>::new()
        .in_schedule(Turn)
        .with_index::<Chase>()
        .with_marker::<Patrol>()
        .with_sparse_marker::<Idle>()
        .with_triggers::<Chase>()
        .with_change_events()
        .with_change_messages()
        .with_journal(100)
        .with_exit_on_removal();
    #[cfg(feature = "reflect")]
    let plugin = plugin.with_current_state([(&Idle).into(), (&Chase).into(), (&Patrol).into()]);
    let mut app = app(plugin);
    app.edit_schedule(Turn, |turn| _ = turn.set_executor(SingleThreadedExecutor::new()));
    let mut play = |turns: u32| {
        allocation_counter::measure(|| {
            for turn in 0..turns {
                let orders = [Order::Change(StateName::Chase), Order::Change(StateName::Patrol), Order::Sleep];
                let soldiers: Vec<Entity> = (0..10)
                    .map(|nth| app.world_mut().spawn((soldier(orders), Name::new(format!("{turn}: {nth}")))).id())
                    .collect();
                for _ in 0..3 {
                    app.world_mut().run_schedule(Turn);
                    frame(app.world_mut());
                    frame(app.world_mut());
                }
                let clone = app.world_mut().entity_mut(soldiers[0]).clone_and_spawn();
                app.world_mut().commands().entity(soldiers[1]).change_state(&Rest).send::<Soldier>(StateName::Idle);
                app.world_mut().flush();
                for entity in soldiers.into_iter().chain([clone]) {
                    app.world_mut().despawn(entity);
                }
                (0..4).for_each(|_| frame(app.world_mut()));
            }
        })
        .bytes_current
    };
    play(200);
    let grown = play(1000);
    assert!(grown < 10_000, "{grown} bytes more");
}
