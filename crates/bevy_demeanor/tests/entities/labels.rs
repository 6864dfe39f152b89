//! The owner's label in a machine's log lines.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;

use crate::faults::{lines_with, listen};

#[derive(Component)]
struct Voice;

macro_rules! mumblers {
    ($($mumbler:ident ($($body:tt)*);)*) => {$(
        /// An owner whose state makes an invalid request, which is logged.
        #[derive(Component, Owner)]
        #[owner($($body)*)]
        struct $mumbler;

        impl MachineState<$mumbler> for Mumble {
            fn update(&self, _: &mut $mumbler, fsm: &mut Fsm<'_, $mumbler>, _: &mut Cx<'_, $mumbler>) {
                fsm.revert_state();
            }
        }
    )*};
}

struct Mumble;
mumblers! {
    Ghost ();
    Ventriloquist (body = &Voice);
}

fn check<T: EntityOwner + ParallelOwner>(owner: fn() -> T, short: &str)
where
    Mumble: MachineState<T>,
{
    listen();
    for (number, plugin) in
        [StateMachinePlugin::<T>::new(), StateMachinePlugin::new().in_parallel()].into_iter().enumerate()
    {
        let mut app = App::new();
        app.add_state_machine_with(plugin);
        // No other test's entities have such large numbers.
        app.world_mut().spawn_batch((0..700).map(|_| ()));
        let name = |name: &str| Name::new(format!("{name} {number}"));
        let entity = app.world_mut().spawn((owner(), Voice, name("Anna"), Machine::<T>::new(&Mumble))).id();
        let who = format!("{short} {entity}");
        let before = lines_with(&who).len();
        let said = || lines_with(&who).split_off(before);
        let refused = |name: &str| {
            let name = if name.is_empty() { String::new() } else { format!(" ({name} {number})") };
            format!("WARN: {who}{name}: revert refused in state Mumble: there is no previous state")
        };

        // This is before any pass has seen the entity.
        app.world_mut().commands().entity(entity).revert_state::<T>();
        app.world_mut().flush();
        app.update();
        app.world_mut().get_mut::<Name>(entity).unwrap().set(format!("Berta {number}"));
        app.update();
        app.world_mut().entity_mut(entity).remove::<Name>();
        app.update();
        app.world_mut().entity_mut(entity).insert(name("Cleo"));
        app.update();
        assert_eq!(said(), ["Anna", "Anna", "Berta", "", "Cleo"].map(refused));
    }
}

#[test]
fn the_lines_of_a_machine_name_its_entity_by_the_name_that_it_has_by_then() {
    check(|| Ghost, "Ghost");
    check(|| Ventriloquist, "Ventriloquist");
}

#[derive(bevy_ecs::schedule::ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Rarely;

#[test]
fn a_name_that_is_removed_between_two_passes_is_forgotten_however_many_frames_lie_between_them() {
    listen();
    let mut app = App::new();
    app.add_state_machine_with(StateMachinePlugin::<Ghost>::new().in_schedule(Rarely));
    app.world_mut().spawn_batch((0..800).map(|_| ()));
    let entity = app.world_mut().spawn((Ghost, Name::new("Dora"), Machine::<Ghost>::new(&Mumble))).id();
    app.world_mut().run_schedule(Rarely);
    app.world_mut().entity_mut(entity).remove::<Name>();
    for _ in 0..3 {
        app.update();
    }
    app.world_mut().run_schedule(Rarely);
    let refused =
        |who: &str| format!("WARN: Ghost {entity}{who}: revert refused in state Mumble: there is no previous state");
    assert_eq!(lines_with(&format!("Ghost {entity}")), [" (Dora)", ""].map(refused));
}

/// An owner whose state panics.
#[derive(Component, Owner)]
struct Banshee;

struct Scream;
impl MachineState<Banshee> for Scream {
    fn enter(&self, _: &mut Banshee, _: &mut Fsm<'_, Banshee>, _: &mut Cx<'_, Banshee>) {
        panic!("it screams");
    }
}
impl MachineState<Banshee> for Mumble {}

#[test]
fn a_line_after_a_panic_does_not_name_the_entity_whose_callback_has_panicked() {
    listen();
    for is_by_command in [true, false] {
        for plugin in [StateMachinePlugin::<Banshee>::new(), StateMachinePlugin::new().in_parallel()] {
            let mut app = App::new();
            app.add_state_machine_with(plugin);
            app.world_mut().spawn((Banshee, Machine::<Banshee>::new(&Scream)));
            let screams = catch_unwind(AssertUnwindSafe(|| {
                if is_by_command {
                    app.world_mut().commands().queue(Machines::<Banshee>::broadcast(()));
                    app.world_mut().flush();
                } else {
                    app.update();
                }
            }));
            assert!(screams.is_err());

            let before = lines_with("Banshee").len();
            let (mut commands, world) = (CommandQueue::default(), World::new());
            let commands = Commands::new(&mut commands, &world);
            let mut cx = EntityContext::new(Entity::PLACEHOLDER, (), (), commands);
            let mut machine = StateMachine::new(&Mumble);
            machine.start(&mut Banshee, &mut cx);
            machine.revert_state(&mut Banshee, &mut cx);
            let line = "WARN: Banshee: revert refused in state Mumble: there is no previous state";
            assert_eq!(lines_with("Banshee").split_off(before), [line], "{is_by_command}");
        }
    }
}
