//! Parameters that are not always available.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::message::MessageCursor;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;

use crate::faults::{lines_with, listen};

#[derive(Component)]
struct Player(i32);

macro_rules! hunters {
    ($hunter:ident, $param:ty, |$player:ident| $place:expr) => {
        #[derive(Component, Owner, Default)]
        #[owner(param = $param, message = i32)]
        struct $hunter {
            seen: Vec<i32>,
        }

        impl MachineState<$hunter> for Hunt {
            fn enter(&self, hunter: &mut $hunter, _: &mut Fsm<'_, $hunter>, _: &mut Cx<'_, $hunter>) {
                hunter.seen.push(0);
            }

            fn update(&self, hunter: &mut $hunter, _: &mut Fsm<'_, $hunter>, cx: &mut Cx<'_, $hunter>) {
                let $player = &cx.param;
                hunter.seen.push($place);
            }

            fn on_message(
                &self,
                hunter: &mut $hunter,
                told: &i32,
                _: &mut Fsm<'_, $hunter>,
                cx: &mut Cx<'_, $hunter>,
            ) -> bool {
                let $player = &cx.param;
                hunter.seen.push(told * $place);
                true
            }
        }
    };
}

struct Hunt;

#[derive(Resource)]
struct Moon(i32);

hunters!(Wolf, Single<&Player>, |player| player.0);
hunters!(Pack, Populated<&Player>, |players| players.iter().map(|player| player.0).sum::<i32>());
hunters!(Owl, If<Res<Moon>>, |moon| moon.0.0);
hunters!(Lynx, If<Res<Moon>>, |moon| moon.0.0);
hunters!(Heron, If<Res<Moon>>, |moon| moon.0.0);
hunters!(Bat, Option<Single<&Player>>, |player| player.as_ref().map_or(-1, |player| player.0));
hunters!(Tide, Res<Moon>, |moon| moon.0);

/// Runs passes and commands with and without the data that the parameter needs. Returns what the hunter has seen, and the
/// number of log lines at level debug about skipped work.
fn hunt<T: EntityOwner<Message = i32> + Default>(
    seen: fn(&T) -> Vec<i32>,
    give: fn(&mut World),
) -> (Vec<i32>, Vec<String>)
where
    Hunt: MachineState<T>,
{
    listen();
    let mut app = App::new();
    app.add_state_machine::<T>();
    let hunter = app.world_mut().spawn((T::default(), Machine::<T>::new(&Hunt))).id();
    let send = |app: &mut App, told| {
        app.world_mut().commands().entity(hunter).send::<T>(told);
        app.world_mut().flush();
    };
    app.update();
    app.update();
    send(&mut app, 1);
    give(app.world_mut());
    send(&mut app, 10);
    app.update();
    let seen = seen(app.world().get::<T>(hunter).unwrap());
    (seen, lines_with(std::any::type_name::<T>()))
}

#[test]
fn a_parameter_that_is_not_there_for_now_has_pass_and_commands_skipped_with_a_line_at_debug() {
    let player: fn(&mut World) = |world| _ = world.spawn(Player(7));
    let moon: fn(&mut World) = |world| world.insert_resource(Moon(7));
    let skipped = |owner: &str, lines: Vec<String>| {
        let begins = [
            format!("DEBUG: the pass over the machines of {owner} is skipped: "),
            format!("DEBUG: send of {owner} ignored: "),
        ];
        assert_eq!(lines.len(), 2, "one for two passes, and one for the command: {lines:?}");
        for (line, begin) in lines.iter().zip(begins) {
            assert!(line.starts_with(&begin), "{line}");
        }
    };
    let (seen, lines) = hunt::<Wolf>(|wolf| wolf.seen.clone(), player);
    assert_eq!(seen, [0, 70, 7]);
    skipped(std::any::type_name::<Wolf>(), lines);
    let (seen, lines) = hunt::<Pack>(|pack| pack.seen.clone(), player);
    assert_eq!(seen, [0, 70, 7]);
    skipped(std::any::type_name::<Pack>(), lines);
    let (seen, lines) = hunt::<Owl>(|owl| owl.seen.clone(), moon);
    assert_eq!(seen, [0, 70, 7]);
    skipped(std::any::type_name::<Owl>(), lines);
}

/// Sleeps.
struct Lurk;
impl MachineState<Lynx> for Lurk {
    fn enter(&self, _: &mut Lynx, fsm: &mut Fsm<'_, Lynx>, _: &mut Cx<'_, Lynx>) {
        fsm.sleep();
    }

    fn update(&self, lynx: &mut Lynx, _: &mut Fsm<'_, Lynx>, _: &mut Cx<'_, Lynx>) {
        lynx.seen.push(1);
    }
}

#[test]
fn a_machine_that_is_woken_in_a_query_while_the_pass_is_skipped_is_updated_in_the_next_pass_that_runs() {
    let mut app = App::new();
    app.add_state_machine::<Lynx>().insert_resource(Moon(0));
    let lynx = app.world_mut().spawn((Lynx::default(), Machine::<Lynx>::new(&Lurk))).id();
    app.update();
    app.world_mut().remove_resource::<Moon>();
    assert!(app.world_mut().get_mut::<Machine<Lynx>>(lynx).unwrap().wake());
    app.update();
    app.update();
    app.insert_resource(Moon(0));
    app.update();
    assert_eq!(app.world().get::<Lynx>(lynx).unwrap().seen, [1]);
}

/// Panics when the moon is 13.
struct Howl;
impl MachineState<Lynx> for Howl {
    fn update(&self, _: &mut Lynx, _: &mut Fsm<'_, Lynx>, cx: &mut Cx<'_, Lynx>) {
        assert_ne!(cx.param.0.0, 13, "a lynx howls");
    }
}

#[test]
fn a_machine_that_is_woken_while_the_pass_is_skipped_is_updated_even_if_another_panics_in_the_next_pass() {
    for plugin in [StateMachinePlugin::<Lynx>::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = App::new();
        app.add_state_machine_with(plugin).insert_resource(Moon(0));
        app.world_mut().spawn((Lynx::default(), Machine::<Lynx>::new(&Howl)));
        let lynx = app.world_mut().spawn((Lynx::default(), Machine::<Lynx>::new(&Lurk))).id();
        // After a panic, an app has lost the schedule that was running.
        let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
        schedule.run(app.world_mut());
        app.world_mut().remove_resource::<Moon>();
        assert!(app.world_mut().get_mut::<Machine<Lynx>>(lynx).unwrap().wake());
        schedule.run(app.world_mut());
        schedule.run(app.world_mut());
        app.insert_resource(Moon(13));
        assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
        app.insert_resource(Moon(0));
        // One of Bevy's executors skips the systems in the next run that ran before the panic; the other does not.
        schedule.run(app.world_mut());
        schedule.run(app.world_mut());
        assert!(app.world().get::<Lynx>(lynx).unwrap().seen.contains(&1));
    }
}

#[test]
fn an_exit_on_removal_that_is_skipped_without_the_parameter_is_logged_at_debug() {
    listen();
    let mut app = App::new();
    app.add_state_machine_with(StateMachinePlugin::<Heron>::new().with_exit_on_removal()).insert_resource(Moon(0));
    let heron = app.world_mut().spawn((Heron::default(), Machine::<Heron>::new(&Hunt))).id();
    app.update();
    app.world_mut().remove_resource::<Moon>();
    app.world_mut().despawn(heron);
    let owner = std::any::type_name::<Heron>();
    let lines = lines_with(owner);
    let skipped = format!("DEBUG: entity {heron}: exit of {owner} is skipped: ");
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with(&skipped)), "{lines:?}");
}

#[test]
fn a_resource_that_must_be_there_is_an_error_of_an_exit_on_removal_too() {
    for is_despawned in [true, false] {
        let mut app = App::new();
        app.add_state_machine_with(StateMachinePlugin::<Tide>::new().with_exit_on_removal()).insert_resource(Moon(0));
        let tide = app.world_mut().spawn((Tide::default(), Machine::<Tide>::new(&Hunt))).id();
        app.update();
        app.world_mut().remove_resource::<Moon>();
        let panics = catch_unwind(AssertUnwindSafe(|| {
            if is_despawned {
                app.world_mut().despawn(tide);
            } else {
                app.world_mut().entity_mut(tide).remove::<Tide>();
            }
        }));
        assert!(panics.is_err(), "Bevy's own handler panics");
    }
}

#[derive(Component)]
struct Shell;

#[derive(Component, Owner)]
#[owner(body = &Shell)]
struct Snail;
impl MachineState<Snail> for Hunt {
    fn exit(&self, _: &mut Snail, _: &mut Fsm<'_, Snail>, _: &mut Cx<'_, Snail>) {
        unreachable!("a part of the body is missing");
    }
}

#[test]
fn an_exit_on_removal_that_is_skipped_without_a_part_of_the_body_is_logged_at_debug_and_the_machine_goes() {
    listen();
    let mut app = App::new();
    app.add_state_machine_with(StateMachinePlugin::<Snail>::new().with_exit_on_removal());
    let owner = std::any::type_name::<Snail>();
    for is_owner_removed in [true, false] {
        let snail = app.world_mut().spawn((Snail, Shell, Machine::<Snail>::new(&Hunt))).id();
        app.update();
        app.world_mut().entity_mut(snail).remove::<Shell>();
        let before = lines_with(owner).len();
        if is_owner_removed {
            app.world_mut().entity_mut(snail).remove::<Snail>();
        } else {
            app.world_mut().entity_mut(snail).remove::<Machine<Snail>>();
        }
        assert!(!app.world().entity(snail).contains::<Machine<Snail>>());
        let skipped = format!(
            "DEBUG: entity {snail}: exit of {owner} is skipped: it lacks a component that its states are given"
        );
        assert_eq!(lines_with(owner).split_off(before), [skipped]);
        app.world_mut().despawn(snail);
    }
}

#[test]
fn a_parameter_that_may_be_missing_skips_nothing() {
    let (seen, lines) = hunt::<Bat>(|bat| bat.seen.clone(), |world| _ = world.spawn(Player(7)));
    assert_eq!(seen, [0, -1, -1, -1, 70, 7]);
    assert_eq!(lines, [] as [&str; 0]);
}

#[test]
fn a_resource_that_must_be_there_is_an_error_of_the_pass_and_of_a_command_that_the_game_may_handle() {
    use bevy_ecs::error::{BevyError, ErrorContext, FallbackErrorHandler};

    #[expect(clippy::needless_pass_by_value, reason = "as Bevy's handlers")]
    fn note(error: BevyError, context: ErrorContext) {
        ERRORS.lock().unwrap().push(format!(
            "{} of a {}",
            error.to_string().lines().next().unwrap_or(""),
            context.kind()
        ));
    }
    static ERRORS: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());

    let mut app = App::new();
    app.add_state_machine::<Tide>();
    let tide = app.world_mut().spawn((Tide::default(), Machine::<Tide>::new(&Hunt))).id();
    app.world_mut().insert_resource(FallbackErrorHandler(note));
    app.update();
    app.world_mut().commands().entity(tide).send::<Tide>(1);
    app.world_mut().flush();
    let errors = std::mem::take(&mut *ERRORS.lock().unwrap());
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].ends_with("of a system") && errors[1].ends_with("of a command"), "{errors:?}");
    app.insert_resource(Moon(3));
    app.update();
    assert_eq!(app.world().get::<Tide>(tide).unwrap().seen, [0, 3]);

    // Bevy's own handler panics.
    let mut app = App::new();
    app.add_state_machine::<Tide>();
    let panics = catch_unwind(AssertUnwindSafe(|| app.update()));
    assert!(panics.is_err());
}

#[derive(Message)]
struct Noise;

#[derive(Component, Owner)]
#[owner(param = (Res<Moon>, MessageReader<Noise>))]
struct Listener;

#[test]
fn a_message_reader_of_which_only_the_first_entity_would_have_anything_is_refused_when_the_plugin_is_added() {
    let panic = catch_unwind(|| App::new().add_state_machine::<Listener>().is_plugin_added::<TaskPoolPlugin>());
    let panic = panic.expect_err("it is refused").downcast::<String>().unwrap();
    let owner = std::any::type_name::<Listener>();
    assert_eq!(
        *panic,
        format!(
            "the Param of {owner} has a MessageReader. All entities share the Param: the first entity would read all \
             messages, and the others none. Instead, read them in a system in MachineSet::Enter, and pass them on with \
             Machines::<{owner}>::broadcast(..) or send_to(..)"
        )
    );
}

/// The parameters of a game's states, in one struct.
#[cfg(feature = "debug")]
#[derive(SystemParam)]
struct Senses<'w, 's> {
    _moon: Res<'w, Moon>,
    _noises: MessageReader<'w, 's, Noise>,
}

#[cfg(feature = "debug")]
#[derive(Component, Owner)]
#[owner(param = Senses<'_, '_>)]
struct Eavesdropper;

#[cfg(feature = "debug")]
#[test]
fn a_message_reader_that_is_hidden_in_a_struct_is_refused_by_the_first_pass() {
    let mut app = App::new();
    app.insert_resource(Moon(0)).add_message::<Noise>().add_state_machine::<Eavesdropper>();
    let panic = catch_unwind(AssertUnwindSafe(|| app.update()));
    let panic = panic.expect_err("it is refused").downcast::<String>().unwrap();
    let (owner, noise) = (std::any::type_name::<Eavesdropper>(), std::any::type_name::<Noise>());
    assert_eq!(
        *panic,
        format!(
            "the Param of {owner} has a struct that reads the messages {noise}. All entities share the Param: by a \
             MessageReader in the struct, the first entity would read all messages, and the others none. Instead, read them in \
             a system in MachineSet::Enter, and pass them on with Machines::<{owner}>::broadcast(..) or send_to(..). If the \
             struct has no MessageReader but a Res<Messages<{noise}>>, write the Res beside the struct, not in it"
        )
    );
}

#[derive(Message)]
struct Echo;

/// Writers of messages can be shared.
#[derive(SystemParam)]
struct Voice<'w> {
    echoes: MessageWriter<'w, Echo>,
}

#[derive(Component, Owner, Default)]
#[owner(param = (Voice<'_>, Res<Messages<Noise>>))]
struct Crier {
    heard: MessageCursor<Noise>,
}

struct Repeat;
impl MachineState<Crier> for Repeat {
    fn update(&self, crier: &mut Crier, _: &mut Fsm<'_, Crier>, cx: &mut Cx<'_, Crier>) {
        for _ in crier.heard.read(&cx.param.1) {
            cx.param.0.echoes.write(Echo);
        }
    }
}

#[test]
fn each_entity_may_go_through_the_messages_itself_and_writers_may_be_hidden_in_a_struct() {
    let mut app = App::new();
    app.add_message::<Noise>().add_message::<Echo>().add_state_machine::<Crier>();
    for _ in 0..3 {
        app.world_mut().spawn((Crier::default(), Machine::<Crier>::new(&Repeat)));
    }
    app.world_mut().write_message(Noise);
    app.update();
    app.update();
    assert_eq!(app.world_mut().resource_mut::<Messages<Echo>>().drain().count(), 3);
}

#[test]
fn messages_are_sent_on_to_each_entity_by_a_system_before_the_pass() {
    let mut app = App::new();
    app.insert_resource(Moon(2)).add_message::<Noise>().add_state_machine::<Tide>();
    app.add_systems(
        Update,
        (|mut noises: MessageReader<Noise>, mut commands: Commands| {
            for _ in noises.read() {
                commands.queue(Machines::<Tide>::broadcast(10));
            }
        })
        .in_set(MachineSet::Enter),
    );
    let tides = [(); 2].map(|()| app.world_mut().spawn((Tide::default(), Machine::<Tide>::new(&Hunt))).id());
    app.world_mut().write_message(Noise);
    app.world_mut().write_message(Noise);
    app.update();
    app.update();
    assert_eq!(tides.map(|tide| app.world().get::<Tide>(tide).unwrap().seen.clone()), [[0, 20, 20, 2, 2]; 2]);
}
