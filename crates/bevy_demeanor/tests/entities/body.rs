//! Components of the same entity in the callbacks' context.

use std::any::type_name;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;

use crate::faults::{lines_with, listen};

#[derive(Component, Debug, PartialEq, Clone, Copy)]
struct Place(i32);

#[derive(Component)]
#[component(storage = "SparseSet")]
struct Wind(i32);

#[derive(Component)]
struct Shadow(i32);

#[derive(Resource, Default)]
struct Tide(i32);

#[derive(QueryData)]
#[query_data(mutable)]
struct Sail {
    place: &'static mut Place,
    wind: Option<&'static Wind>,
}

/// The body is a struct, with an optional component in a sparse set.
#[derive(Component, Owner, Default)]
#[owner(body = Sail, param = (Res<Tide>, Query<&Name>), message = i32)]
struct Boat {
    log: Vec<String>,
}

struct Anchored;
struct Sailing;

impl MachineState<Boat> for Anchored {
    fn on_message(&self, _: &mut Boat, by: &i32, fsm: &mut Fsm<'_, Boat>, cx: &mut Cx<'_, Boat>) -> bool {
        cx.body.place.0 += by;
        fsm.change_state(&Sailing);
        true
    }
}

impl MachineState<Boat> for Sailing {
    fn enter(&self, boat: &mut Boat, _: &mut Fsm<'_, Boat>, cx: &mut Cx<'_, Boat>) {
        boat.log.push(format!("sets sail at {}", cx.body.place.0));
    }

    fn update(&self, boat: &mut Boat, _: &mut Fsm<'_, Boat>, cx: &mut Cx<'_, Boat>) {
        // All fields are borrowed at the same time.
        let (place, wind, (tide, names)) = (&mut cx.body.place, cx.body.wind, &cx.param);
        let mut shadow = cx.commands.entity(cx.entity);
        place.0 += wind.map_or(0, |wind| wind.0) + tide.0;
        shadow.insert(Shadow(place.0));
        boat.log.push(format!("{} at {}", names.get(cx.entity).map_or("a boat", Name::as_str), place.0));
    }
}

fn plugins<T: ParallelOwner>() -> [StateMachinePlugin<T>; 2] {
    [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()]
}

fn app<T: EntityOwner>(plugin: StateMachinePlugin<T>) -> App {
    let mut app = App::new();
    app.insert_resource(Tide(1)).add_state_machine_with(plugin);
    app
}

fn take_log(app: &mut App, boat: Entity) -> Vec<String> {
    std::mem::take(&mut app.world_mut().get_mut::<Boat>(boat).unwrap().log)
}

#[test]
fn a_state_reads_and_writes_its_own_entitys_components_beside_param_and_commands() {
    for plugin in plugins::<Boat>() {
        let mut app = app(plugin);
        let machine = || Machine::<Boat>::new(&Sailing);
        let anna = app.world_mut().spawn((Boat::default(), Place(0), Wind(5), Name::new("Anna"), machine())).id();
        let other = app.world_mut().spawn((Boat::default(), Place(100), machine())).id();
        app.update();
        app.update();
        assert_eq!(take_log(&mut app, anna), ["sets sail at 0", "Anna at 6", "Anna at 12"]);
        assert_eq!(take_log(&mut app, other), ["sets sail at 100", "a boat at 101", "a boat at 102"]);
        assert_eq!(app.world().get::<Shadow>(anna).unwrap().0, 12);
        assert_eq!(app.world().get::<Shadow>(other).unwrap().0, 102);
    }
}

#[test]
fn a_command_gives_the_callbacks_the_entitys_components_too() {
    let mut app = app(StateMachinePlugin::<Boat>::new());
    let boat = app.world_mut().spawn((Boat::default(), Place(1), Disabled, Machine::<Boat>::new(&Anchored))).id();
    app.world_mut().commands().entity(boat).send::<Boat>(41);
    app.world_mut().flush();
    assert_eq!(take_log(&mut app, boat), ["sets sail at 42"]);
    assert_eq!(app.world().get::<Place>(boat), Some(&Place(42)));
}

#[test]
fn a_body_is_changed_only_when_a_callback_writes_to_it() {
    for plugin in plugins::<Boat>() {
        let mut app = app(plugin);
        let places = app.world_mut().spawn((Boat::default(), Place(0), Machine::<Boat>::new(&Anchored))).id();
        app.update();
        let changed = |app: &App| app.world().entity(places).get_change_ticks::<Place>().unwrap().changed;
        let before = changed(&app);
        app.update();
        assert_eq!(changed(&app), before);
        app.world_mut().commands().entity(places).change_state(&Sailing);
        app.update();
        assert_ne!(changed(&app), before);
    }
}

#[test]
fn a_machine_that_was_woken_while_its_entity_lacked_a_part_of_its_body_is_looked_at_once_that_is_back() {
    for plugin in plugins::<Boat>() {
        let mut app = app(plugin);
        let boat = app.world_mut().spawn((Boat::default(), Place(0), Machine::<Boat>::new(&Sailing))).id();
        app.world_mut().commands().entity(boat).sleep::<Boat>();
        app.update();
        app.world_mut().entity_mut(boat).remove::<Place>();
        app.update();
        take_log(&mut app, boat);
        app.world_mut().get_mut::<Machine<Boat>>(boat).unwrap().wake();
        app.update();
        app.update();
        app.world_mut().entity_mut(boat).insert(Place(1));
        app.update();
        assert_eq!(take_log(&mut app, boat), ["a boat at 2"]);
    }
}

#[cfg(feature = "debug")]
#[test]
fn of_a_body_of_many_parts_those_are_named_that_are_missing() {
    #[derive(Component, Owner)]
    #[owner(body = (&mut Place, &Wind, &Name, Option<&Shadow>))]
    struct Raft;
    impl MachineState<Raft> for Anchored {}

    listen();
    let mut app = App::new();
    app.add_state_machine::<Raft>();
    let raft = app.world_mut().spawn((Raft, Name::new("raft"), Machine::<Raft>::new(&Anchored))).id();
    app.update();
    let (owner, place, wind) = (type_name::<Raft>(), type_name::<Place>(), type_name::<Wind>());
    assert_eq!(
        lines_with("(raft)"),
        [format!(
            "WARN: entity {raft} (raft) lacks components that the states of {owner} are given, {place} and {wind}: its machine does \
             nothing"
        )]
    );
}

#[test]
fn an_entity_that_lacks_a_part_of_its_body_is_skipped_and_warned_of_once_by_name() {
    listen();
    for (number, plugin) in plugins::<Boat>().into_iter().enumerate() {
        let mut app = app(plugin);
        let name = format!("wreck {number}");
        let machine = || Machine::<Boat>::new(&Sailing);
        let wreck = app.world_mut().spawn((Boat::default(), Name::new(name.clone()), machine())).id();
        let sound = app.world_mut().spawn((Boat::default(), Place(0), Name::new("sound"), machine())).id();
        for _ in 0..3 {
            app.update();
        }
        app.world_mut().commands().entity(wreck).change_state::<Boat>(&Anchored);
        app.update();
        let owner = type_name::<Boat>();
        let place = if cfg!(feature = "debug") { type_name::<Place>() } else { &format!("of {}", type_name::<Sail>()) };
        let lacks = format!("lacks a component that the states of {owner} are given, {place}");
        let warning = format!("WARN: entity {wreck} ({name}) {lacks}: its machine does nothing");
        let debug = format!("DEBUG: change_state of entity {wreck} ({name}) ignored: it {lacks}");
        assert_eq!(lines_with(&name), [warning.clone(), debug.clone()]);
        assert_eq!(take_log(&mut app, wreck), [] as [&str; 0]);
        assert_eq!(take_log(&mut app, sound).len(), 5);
        // The machine runs once the entity is complete. A new warning comes when it loses the component again.
        app.world_mut().entity_mut(wreck).insert(Place(7));
        app.update();
        assert_eq!(take_log(&mut app, wreck), ["sets sail at 7", &format!("{name} at 8")]);
        app.world_mut().entity_mut(wreck).remove::<Place>();
        app.update();
        app.update();
        assert_eq!(lines_with(&name), [warning.clone(), debug, warning]);
    }
}

#[derive(Component, Owner)]
#[owner(body = &mut Machine<Selfish>)]
struct Selfish;

#[derive(Component, Owner)]
#[owner(body = &mut Place, param = Query<&Place>)]
struct Crowd;

/// Reads the places of entities that are not owners of this type.
#[derive(Component, Owner)]
#[owner(body = &mut Place, param = Query<&Place, Without<Apart>>)]
struct Apart(i32);

struct Count;
impl MachineState<Apart> for Count {
    fn update(&self, apart: &mut Apart, _: &mut Fsm<'_, Apart>, cx: &mut Cx<'_, Apart>) {
        apart.0 = cx.param.iter().map(|place| place.0).sum();
        cx.body.0 += 1;
    }
}

fn panic_of(app: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(app).expect_err("it panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().unwrap().to_string(),
    }
}

#[test]
fn a_body_that_conflicts_with_the_machine_or_the_parameter_is_refused_by_bevy() {
    let text = panic_of(|| app(StateMachinePlugin::<Selfish>::new()).update());
    assert!(text.contains("conflict"), "{text}");
    let text = panic_of(|| app(StateMachinePlugin::<Crowd>::new()).update());
    assert!(text.contains("error[B0001]"), "{text}");
    let pass = "the pass over the machines of entities::body::Crowd (body: &mut entities::body::Place; param: ";
    assert!(text.contains(pass), "{text}");
}

#[test]
fn a_parameter_may_read_what_a_body_writes_on_entities_that_have_no_such_owner() {
    let mut app = app(StateMachinePlugin::<Apart>::new());
    app.world_mut().spawn(Place(30));
    let apart = app.world_mut().spawn((Apart(0), Place(0), Machine::<Apart>::new(&Count))).id();
    app.update();
    app.update();
    assert_eq!(app.world().get::<Apart>(apart).unwrap().0, 30);
    assert_eq!(app.world().get::<Place>(apart), Some(&Place(2)));
}

#[derive(Resource, Default)]
struct Seen(Vec<usize>);

/// Returns how many owners count as changed after each of four passes, with a command before the last.
fn changed<T: EntityOwner<Message = i32>>(
    plugin: StateMachinePlugin<T>,
    spawn: fn(&mut World) -> Entity,
) -> Vec<usize> {
    let mut app = app(plugin);
    app.init_resource::<Seen>();
    let count = |changed: Query<(), Changed<T>>, mut seen: ResMut<Seen>| seen.0.push(changed.iter().count());
    app.add_systems(Update, count.in_set(MachineSet::Exit));
    let first = spawn(app.world_mut());
    spawn(app.world_mut());
    for _ in 0..3 {
        app.update();
    }
    app.world_mut().commands().entity(first).send::<T>(1);
    app.update();
    app.world().resource::<Seen>().0.clone()
}

/// Marks itself as changed in every second update, and on a message.
macro_rules! quiet {
    ($quiet:ident, $($body:tt)*) => {
        #[derive(Component, Owner)]
        #[owner(message = i32, changes = WhenTold $($body)*)]
        struct $quiet(u32);

        impl MachineState<$quiet> for Mostly {
            fn update(&self, quiet: &mut $quiet, _: &mut Fsm<'_, $quiet>, cx: &mut Cx<'_, $quiet>) {
                quiet.0 += 1;
                if quiet.0 % 2 == 0 {
                    cx.mark_owner_changed();
                }
            }

            fn on_message(&self, _: &mut $quiet, _: &i32, _: &mut Fsm<'_, $quiet>, cx: &mut Cx<'_, $quiet>) -> bool {
                cx.mark_owner_changed();
                true
            }
        }
    };
}
struct Mostly;
quiet!(Quiet,);
quiet!(Bodily, , body = &mut Place);

#[test]
fn an_owner_counts_as_changed_in_each_pass_that_updates_it_or_when_it_is_told() {
    let boat: fn(&mut World) -> Entity =
        |world| world.spawn((Boat::default(), Place(0), Machine::<Boat>::new(&Anchored))).id();
    for plugin in plugins::<Boat>() {
        assert_eq!(changed(plugin, boat), [2, 2, 2, 2]);
    }
    let quiet: fn(&mut World) -> Entity = |world| world.spawn((Quiet(0), Machine::<Quiet>::new(&Mostly))).id();
    let bodily: fn(&mut World) -> Entity =
        |world| world.spawn((Bodily(0), Place(0), Machine::<Bodily>::new(&Mostly))).id();
    // First the new owners, then those that mark themselves, then none, then those that mark themselves again and the one that
    // got a message.
    for plugin in plugins::<Quiet>() {
        assert_eq!(changed(plugin, quiet), [2, 2, 0, 2]);
    }
    for plugin in plugins::<Bodily>() {
        assert_eq!(changed(plugin, bodily), [2, 2, 0, 2]);
    }
}

#[test]
fn a_command_marks_an_owner_that_is_told_only_if_it_is_told() {
    let mut app = app(StateMachinePlugin::<Quiet>::new());
    let quiet = app.world_mut().spawn((Quiet(0), Machine::<Quiet>::new(&Mostly))).id();
    app.update();
    for is_told in [false, true] {
        app.world_mut().clear_trackers();
        app.world_mut().commands().entity(quiet).with_machine::<Quiet>(move |_, _, cx| {
            if is_told {
                cx.mark_owner_changed();
            }
        });
        app.world_mut().flush();
        assert_eq!(app.world().entity(quiet).get_ref::<Quiet>().unwrap().is_changed(), is_told);
    }
}

#[test]
fn a_message_by_command_marks_the_owner_it_is_for_alone() {
    let mut app = app(StateMachinePlugin::<Quiet>::new());
    let [told, other] = [(); 2].map(|()| app.world_mut().spawn((Quiet(2), Machine::<Quiet>::new(&Mostly))).id());
    app.update();
    let changed = |app: &App, of: Entity| app.world().entity(of).get_change_ticks::<Quiet>().unwrap().changed;
    let before = [changed(&app, told), changed(&app, other)];
    app.world_mut().commands().entity(told).send::<Quiet>(1);
    app.world_mut().flush();
    assert_ne!(changed(&app, told), before[0]);
    assert_eq!(changed(&app, other), before[1]);
}
