//! What callbacks, observers and readers are told, for each event in an entity's life: the table in the README.

use bevy_app::App;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::ReflectComponent;
use bevy_ecs::relationship::RelationshipHookMode;
use bevy_reflect::serde::{TypedReflectDeserializer, TypedReflectSerializer};
use demeanor::{StateBook, StateMachine};
use serde::de::DeserializeSeed;

const README: &str = include_str!("../../README.md");

/// The columns of the table.
#[derive(Clone, Copy)]
enum Column {
    Called,
    Exited,
    Entered,
    Changed,
    Removed,
    Added,
}

#[derive(Resource, Default)]
struct Heard([Vec<String>; 6]);

impl Heard {
    fn note(&mut self, column: Column, what: &str) {
        self.0[column as usize].push(format!("`{what}`"));
    }
}

#[derive(Component, Owner, Clone, bevy_reflect::TypePath)]
#[owner(param = ResMut<Heard>)]
struct Guard;

struct Idle;
struct Chase;

impl MachineState<Guard> for Idle {
    fn enter(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.param.note(Column::Called, "enter");
    }

    fn exit(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.param.note(Column::Called, "exit");
    }
}

impl MachineState<Guard> for Chase {
    fn enter(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.param.note(Column::Called, "enter");
    }

    fn exit(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.param.note(Column::Called, "exit");
    }
}

fn plugin() -> StateMachinePlugin<Guard> {
    StateMachinePlugin::new()
        .with_marker::<Idle>()
        .with_marker::<Chase>()
        .with_triggers::<Idle>()
        .with_triggers::<Chase>()
        .with_change_events()
        .with_change_messages()
        .with_current_state([(&Idle).into(), (&Chase).into()])
        .with_book(StateBook::new().with(&Idle).with(&Chase))
}

fn observe<S: MachineState<Guard>>(app: &mut App, name: &'static str) {
    app.add_observer(move |_: On<Entered<S>>, mut heard: ResMut<Heard>| heard.note(Column::Entered, name))
        .add_observer(move |_: On<Exited<S>>, mut heard: ResMut<Heard>| heard.note(Column::Exited, name))
        .add_observer(move |_: On<Add<InState<S>>>, mut heard: ResMut<Heard>| heard.note(Column::Added, name))
        .add_observer(move |_: On<Remove<InState<S>>>, mut heard: ResMut<Heard>| heard.note(Column::Removed, name));
}

fn in_words(change: &StateChanged<Guard>) -> String {
    format!("{change:?}").split_once(": ").unwrap().1.to_owned()
}

/// Returns the cells of a row: what is heard until the end of the next pass. A change that only message readers hear of is in
/// parentheses.
fn row(plugin: StateMachinePlugin<Guard>, happens: impl Fn(&mut App, Entity)) -> String {
    let mut app = App::new();
    app.init_resource::<Heard>().add_state_machine_with(plugin);
    observe::<Idle>(&mut app, "Idle");
    observe::<Chase>(&mut app, "Chase");
    app.add_observer(|change: On<StateChanged<Guard>>, mut heard: ResMut<Heard>| {
        heard.note(Column::Changed, &in_words(&change));
    });
    let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Idle))).id();
    app.update();
    app.world_mut().resource_mut::<Messages<StateChanged<Guard>>>().clear();
    app.insert_resource(Heard::default());
    happens(&mut app, guard);
    app.update();
    let heard = app.world_mut().remove_resource::<Heard>().unwrap().0;
    let messages: Vec<String> =
        app.world_mut().resource_mut::<Messages<StateChanged<Guard>>>().drain().map(|it| in_words(&it)).collect();
    let cells = heard.iter().enumerate().map(|(column, heard)| {
        if column != Column::Changed as usize {
            return heard.join(", ");
        }
        let messages: Vec<String> = messages.iter().map(|message| format!("`{message}`")).collect();
        if heard.is_empty() && !messages.is_empty() {
            return format!("({})", messages.join(", "));
        }
        assert_eq!(*heard, messages, "observers and readers hear the same");
        heard.join(", ")
    });
    cells.fold(String::new(), |row, cell| if cell.is_empty() { row + " |" } else { format!("{row} {cell} |") })
}

type Happens<'a> = &'a dyn Fn(&mut App, Entity);

/// Checks a line of the table: all of these lead to the same.
fn check(plugin: fn() -> StateMachinePlugin<Guard>, what: &str, happens: &[Happens<'_>]) {
    for happens in happens {
        let line = format!("| {what} |{}\n", row(plugin(), happens));
        assert!(README.contains(&line), "not in the README: {line}");
    }
}

fn command(app: &mut App, guard: Entity, act: impl Fn(&mut EntityCommands<'_>)) {
    act(&mut app.world_mut().commands().entity(guard));
    app.world_mut().flush();
}

/// Writes a new guard as a scene does, with the machine of another one.
fn load(app: &mut App, guard: Entity, into: Entity) {
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let machine = app.world().get::<Machine<Guard>>(guard).unwrap();
    let text = ron::to_string(&TypedReflectSerializer::new(machine, &registry)).unwrap();
    let registration = registry.get(std::any::TypeId::of::<Machine<Guard>>()).unwrap();
    let mut text = ron::Deserializer::from_str(&text).unwrap();
    let machine = TypedReflectDeserializer::new(registration, &registry).deserialize(&mut text).unwrap();
    let mut entity = app.world_mut().entity_mut(into);
    let reflect = registration.data::<ReflectComponent>().unwrap();
    let mut map = bevy_ecs::entity::EntityHashMap::default();
    reflect.apply_or_insert_mapped(&mut entity, &*machine, &registry, &mut map, RelationshipHookMode::Skip);
    app.world_mut().flush();
}

fn chasing() -> Machine<Guard> {
    Machine::started(StateMachine::new(&Chase))
}

#[test]
fn a_change_of_state_is_heard_as_the_table_says() {
    check(
        plugin,
        "it changes state: `change_state(&Chase)`",
        &[&|app, guard| command(app, guard, |guard| _ = guard.change_state(&Chase))],
    );
    check(
        plugin,
        "its state is forced: `force_state(&Chase)`, another name in `CurrentState`",
        &[&|app, guard| command(app, guard, |guard| _ = guard.force_state(&Chase)), &|app, guard| {
            _ = app.world_mut().entity_mut(guard).insert(CurrentState::<Guard>::named("Chase"));
        }],
    );
    check(
        plugin,
        "it changes to the state in which it is",
        &[&|app, guard| command(app, guard, |guard| _ = guard.change_state(&Idle))],
    );
    check(
        plugin,
        "its machine is stopped: `stop_machine`",
        &[&|app, guard| command(app, guard, |guard| _ = guard.stop_machine::<Guard>())],
    );
}

#[test]
fn an_entity_with_a_machine_that_comes_is_heard_of_as_the_table_says() {
    check(
        plugin,
        "it is spawned, and the next pass starts its machine",
        &[&|app, _| _ = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Chase)))],
    );
    check(
        plugin,
        "it is spawned with a machine that has been started",
        &[&|app, _| _ = app.world_mut().spawn((Guard, chasing()))],
    );
    check(
        plugin,
        "it is cloned from a guard in `Idle`",
        &[&|app, guard| _ = app.world_mut().entity_mut(guard).clone_and_spawn(), &|app, guard| {
            command(app, guard, |guard| _ = guard.clone_and_spawn());
        }],
    );
    check(
        plugin,
        "it is loaded in `Chase`, by a book or by `CurrentState`",
        &[
            &|app, guard| {
                app.world_mut().get_mut::<Machine<Guard>>(guard).unwrap().bypass().set_current(&Chase);
                let new = app.world_mut().spawn(Guard).id();
                load(app, guard, new);
            },
            &|app, _| _ = app.world_mut().spawn((Guard, CurrentState::<Guard>::named("Chase"))),
        ],
    );
}

const REMOVED: &str = "its machine is removed";
const DESPAWNED: &str = "it is despawned";
const OWNER_REMOVED: &str = "its owner is removed, and its machine is not";
const REPLACED: &str = "its machine is replaced by a new one, which the next pass starts";
const LOADED: &str = "its machine is replaced by a loaded one, or by one that has been started";

fn remove(app: &mut App, guard: Entity) {
    app.world_mut().entity_mut(guard).remove::<Machine<Guard>>();
}

fn despawn(app: &mut App, guard: Entity) {
    app.world_mut().despawn(guard);
}

fn remove_owner(app: &mut App, guard: Entity) {
    app.world_mut().entity_mut(guard).remove::<Guard>();
}

fn replace(app: &mut App, guard: Entity) {
    app.world_mut().entity_mut(guard).insert(Machine::<Guard>::new(&Chase));
}

fn replace_by_a_started_one(app: &mut App, guard: Entity) {
    app.world_mut().entity_mut(guard).insert(chasing());
}

fn replace_by_a_loaded_one(app: &mut App, guard: Entity) {
    let chaser = app.world_mut().spawn((Guard, chasing())).id();
    app.insert_resource(Heard::default());
    load(app, chaser, guard);
}

#[test]
fn a_machine_that_goes_is_heard_of_as_the_table_says() {
    check(plugin, REMOVED, &[&remove]);
    check(plugin, DESPAWNED, &[&despawn]);
    check(plugin, OWNER_REMOVED, &[&remove_owner]);
    check(plugin, REPLACED, &[&replace]);
    check(plugin, LOADED, &[&replace_by_a_started_one, &replace_by_a_loaded_one]);
}

#[test]
fn with_exit_on_removal_a_machine_that_goes_is_exited_as_the_table_says() {
    let exiting = || plugin().with_exit_on_removal();
    let remove_both = |app: &mut App, guard: Entity| {
        app.world_mut().entity_mut(guard).remove::<(Guard, Machine<Guard>)>();
    };
    check(
        exiting,
        "with `with_exit_on_removal`: its machine is removed, or its owner, or both",
        &[&remove, &remove_owner, &remove_both],
    );
    check(exiting, "with `with_exit_on_removal`: it is despawned", &[&despawn]);
    check(exiting, "with `with_exit_on_removal`: its machine is replaced by a new one", &[&replace]);
    check(
        exiting,
        "with `with_exit_on_removal`: its machine is replaced by a loaded one, or by one that has been started",
        &[&replace_by_a_started_one, &replace_by_a_loaded_one],
    );
}

#[test]
fn the_table_has_no_line_that_is_not_tested() {
    let table = README.split("## What is called and triggered").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    assert_eq!(table.lines().filter(|line| line.starts_with('|')).count(), 2 + 17, "two lines are its head");
}

#[test]
fn with_exit_on_removal_a_machine_that_is_in_no_state_calls_nothing() {
    let remove_at_once = |app: &mut App, _| {
        let new = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Idle))).id();
        remove(app, new);
    };
    assert_eq!(row(plugin().with_exit_on_removal(), remove_at_once), " | | | | | |");
    let stop_before = |app: &mut App, guard| {
        command(app, guard, |guard| _ = guard.stop_machine::<Guard>());
        app.insert_resource(Heard::default());
        app.world_mut().resource_mut::<Messages<StateChanged<Guard>>>().clear();
        despawn(app, guard);
    };
    assert_eq!(row(plugin().with_exit_on_removal(), stop_before), " | | | | | |");
}

#[test]
fn with_exit_on_removal_a_disabled_entity_and_its_children_are_exited_too() {
    let mut app = App::new();
    app.init_resource::<Heard>().add_state_machine_with(plugin().with_exit_on_removal());
    let guard = |app: &mut App| app.world_mut().spawn((Guard, Machine::<Guard>::new(&Idle))).id();
    let (parent, child) = (guard(&mut app), guard(&mut app));
    app.world_mut().entity_mut(parent).add_child(child);
    app.update();
    app.world_mut().entity_mut(parent).insert(bevy_ecs::entity_disabling::Disabled);
    app.insert_resource(Heard::default());
    despawn(&mut app, parent);
    assert_eq!(app.world().resource::<Heard>().0[Column::Called as usize], ["`exit`", "`exit`"]);
}

#[test]
fn an_owner_that_is_removed_alone_leaves_its_machine_in_its_state_and_with_exit_on_removal_takes_it_along() {
    for (plugin, expected) in [(plugin(), [true, true]), (plugin().with_exit_on_removal(), [false, false])] {
        let mut app = App::new();
        app.init_resource::<Heard>().add_state_machine_with(plugin);
        let [removed, replaced] = [0; 2].map(|_| app.world_mut().spawn((Guard, chasing())).id());
        app.update();
        remove_owner(&mut app, removed);
        app.world_mut().entity_mut(replaced).insert(Guard);
        let is_chasing = |app: &App, guard: Entity| {
            app.world().get::<Machine<Guard>>(guard).is_some_and(|machine| machine.is_in_state(&Chase))
        };
        let before = is_chasing(&app, removed);
        app.world_mut().entity_mut(removed).insert(Guard);
        app.update();
        assert_eq!([before, is_chasing(&app, removed)], expected);
        assert!(is_chasing(&app, replaced), "another value of the owner is no removal");
    }
}
