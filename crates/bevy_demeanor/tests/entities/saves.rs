//! Whole machines in scenes, by reflection.

use std::time::Duration;

use bevy_app::App;
use bevy_demeanor::prelude::*;
use bevy_ecs::entity::MapEntities;
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use demeanor::{StateBook, StateMachine};
use serde::{Deserialize, Serialize};

use crate::faults::{lines_with, listen};
use crate::guard::{
    self, Chase, Clock, Follow, Guard, Listen, Luck, Mortal, Patrol, Rest, Sequence, Told, app, by_book, by_name, load,
    load_into, name_of, save, take_log, tick,
};

/// The clock of the world into which a scene is loaded.
#[derive(Clone, Copy, Debug)]
enum Time {
    /// It begins at 0.
    Anew,
    /// It shows a different time, and has been read.
    Elsewhere,
    /// It shows the same time as when the scene was saved.
    Same,
    /// It is in the scene, after the entities.
    InTheScene,
}

fn guards(app: &mut App, n: usize) -> Vec<Entity> {
    let health = |i: usize| i32::try_from(i % 4).unwrap_or_default() + 2;
    (0..n).map(|i| app.world_mut().spawn(Guard { health: health(i), log: vec![] }).id()).collect()
}

/// Returns all states of a machine as text.
fn in_words(machine: &StateMachine<Guard>) -> String {
    let active: Vec<String> = machine.active_states().map(|state| state.name().into_owned()).collect();
    format!("{active:?} from {:?} beside {:?}, asleep: {}", machine.previous(), machine.global(), machine.is_asleep())
}

/// Loads 60 guards after some time, and compares them with the originals.
fn check_guards(plugin: fn() -> StateMachinePlugin<Guard>, sequence: Sequence, time: Time) {
    let mut going_on = app(plugin());
    going_on.insert_resource(Clock(100.0));
    let guards = guards(&mut going_on, 60);
    let mut luck = Luck(7);
    for _ in 0..40 {
        tick(&mut going_on, &guards, &mut luck);
    }
    // Some guards that have not been entered yet.
    let new = self::guards(&mut going_on, 3);
    let all: Vec<Entity> = guards.into_iter().chain(new).collect();
    for guard in &all {
        take_log(&mut going_on, *guard);
    }
    let clock = *going_on.world().resource::<Clock>();
    let scene = save(&going_on, &all).unwrap();

    let mut loading = app(plugin());
    // The loaded entities get different ids.
    loading.world_mut().spawn_batch((0..50).map(|_| Name::new("somebody else")));
    match time {
        Time::Anew | Time::InTheScene => {}
        Time::Elsewhere => {
            loading.insert_resource(Clock(3.5));
            loading.world_mut().spawn(Guard::default());
            loading.update();
        }
        Time::Same => _ = loading.insert_resource(clock),
    }
    let loaded = load(&mut loading, &scene, sequence).unwrap();
    if let Time::InTheScene = time {
        loading.insert_resource(clock);
    }
    let mut luck_of_loaded = Luck(luck.0);
    for _ in 0..60 {
        tick(&mut going_on, &all, &mut luck);
        tick(&mut loading, &loaded, &mut luck_of_loaded);
        for (one, other) in all.iter().zip(&loaded) {
            assert_eq!(take_log(&mut loading, *other), take_log(&mut going_on, *one), "{sequence:?}, {time:?}");
        }
    }
    for (one, other) in all.iter().zip(&loaded) {
        let digest =
            |app: &App, guard: Entity| app.world().get::<Machine<Guard>>(guard).map(|machine| in_words(machine));
        assert_eq!(digest(&loading, *other), digest(&going_on, *one), "{sequence:?}, {time:?}");
    }
    // By now some guards have died and some are alive, so that the test covers both.
    let alive = loaded.iter().filter(|guard| loading.world().get::<Guard>(**guard).unwrap().health > 0).count();
    assert!(alive > 0 && alive < 60, "{alive}");
}

#[test]
fn guards_go_on_in_a_loaded_scene_as_if_they_had_not_been_saved() {
    let plugins: [fn() -> StateMachinePlugin<Guard>; 4] = [
        by_book,
        || by_name(by_book()),
        || by_name(by_book()).with_marker::<Patrol>().with_change_events(),
        || by_book().in_schedule(bevy_app::PostUpdate),
    ];
    for plugin in plugins {
        for sequence in [Sequence::Forward, Sequence::Backward] {
            for time in [Time::Anew, Time::Elsewhere, Time::Same, Time::InTheScene] {
                check_guards(plugin, sequence, time);
            }
        }
    }
}

#[test]
fn loading_a_scene_makes_no_guard_immortal() {
    type Plugin = fn() -> StateMachinePlugin<Guard>;
    const BOTH: &[Sequence] = &[Sequence::Forward, Sequence::Backward];
    let plugins: [(Plugin, &[Sequence]); 4] = [
        (by_book, BOTH),
        (|| by_name(by_book()), BOTH),
        (|| by_name(StateMachinePlugin::new()).with_factory(|machine| machine.with_global(&Mortal)), BOTH),
        // The owner comes first, and the global state comes from its required machine.
        (|| by_name(StateMachinePlugin::new()), &[Sequence::Backward]),
    ];
    for (plugin, sequences) in plugins {
        for sequence in sequences {
            let mut saving = app(plugin());
            let guards = guards(&mut saving, 200);
            let mut luck = Luck(3);
            for _ in 0..20 {
                tick(&mut saving, &guards, &mut luck);
            }
            let scene = save(&saving, &guards).unwrap();
            let mut loading = app(plugin());
            let loaded = load(&mut loading, &scene, *sequence).unwrap();
            for guard in &loaded {
                for _ in 0..6 {
                    loading.world_mut().commands().entity(*guard).send::<Guard>(Told::Shot);
                }
            }
            loading.update();
            let mortals =
                loaded.iter().filter(|guard| loading.world().get::<Guard>(**guard).unwrap().health <= 0).count();
            assert_eq!(mortals, 200);
        }
    }
}

/// Returns the first guard of a scene after a quarter of a second.
fn one_guard(give: impl FnOnce(&mut EntityCommands<'_>)) -> (App, Entity) {
    let mut app = app(by_book());
    let guard = guards(&mut app, 1)[0];
    app.update();
    give(&mut app.world_mut().commands().entity(guard));
    app.world_mut().flush();
    (app, guard)
}

#[test]
fn an_entity_without_an_owner_is_given_its_machine_and_its_owner_later() {
    let (mut saving, guard) = one_guard(|guard| _ = guard.change_state(&Listen));
    saving.world_mut().resource_mut::<Clock>().0 = 1.5;
    saving.update();
    let mut scene = save(&saving, &[guard]).unwrap();
    scene[0].1.retain(|(path, _)| path.contains("Machine"));
    let mut loading = app(by_book());
    loading.insert_resource(Clock(50.0));
    let loaded = load(&mut loading, &scene, Sequence::Forward).unwrap()[0];
    loading.update();
    assert!(loading.world().get::<Machine<Guard>>(loaded).unwrap().is_in_state(&Listen));
    loading.insert_resource(Clock(60.0));
    loading.world_mut().entity_mut(loaded).insert(Guard { health: 1, log: vec![] });
    loading.insert_resource(Clock(60.25));
    loading.update();
    loading.insert_resource(Clock(60.5));
    loading.update();
    assert_eq!(
        take_log(&mut loading, loaded),
        [
            "update Listen: Listen Some(1.75), from Patrol",
            "exit Listen: Listen Some(2.0), from Listen",
            "enter Patrol: Patrol Some(0.0), from Listen",
            "update Patrol: Patrol Some(0.0), from Listen"
        ]
    );
}

#[test]
fn entities_in_owned_states_are_mapped_with_the_scene() {
    let (mut saving, guard) = one_guard(|_| {});
    let whom = saving.world_mut().spawn(Guard { health: 9, log: vec![] }).id();
    saving.world_mut().commands().entity(guard).change_state::<Guard>(Box::new(Follow { whom }));
    saving.update();
    let scene = save(&saving, &[guard, whom]).unwrap();
    let mut loading = app(by_book());
    loading.world_mut().spawn_batch((0..50).map(|_| Name::new("somebody else")));
    let loaded = load(&mut loading, &scene, Sequence::Backward).unwrap();
    let machine = loading.world().get::<Machine<Guard>>(loaded[0]).unwrap();
    assert_eq!(machine.current().unwrap().downcast_ref::<Follow>().unwrap().whom, loaded[1]);
}

/// A dog that repeats each whistle to itself.
#[derive(Component, Owner, Reflect, Default)]
#[owner(message = Whistle)]
#[reflect(Component)]
struct Dog {
    #[reflect(ignore)]
    heard: Vec<Entity>,
}

#[derive(Clone, Serialize, Deserialize, MapEntities)]
struct Whistle(#[entities] Entity);

struct Sit;
struct Play;

impl MachineState<Dog> for Play {}
impl MachineState<Dog> for Sit {
    fn on_message(&self, dog: &mut Dog, whistle: &Whistle, fsm: &mut Fsm<'_, Dog>, _: &mut Cx<'_, Dog>) -> bool {
        dog.heard.push(whistle.0);
        fsm.send_after(0.25, whistle.clone());
        true
    }
}

#[test]
fn entities_in_the_messages_of_timers_are_mapped_with_the_scene() {
    let app = || {
        let mut app = App::new();
        app.add_plugins(TimePlugin).insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
        app.register_type::<Dog>();
        let book = StateBook::new().with(&Sit).with(&Play).with_messages();
        app.add_state_machine_with(StateMachinePlugin::<Dog>::new().with_book(book).with_mapped_messages());
        app
    };
    let mut saving = app();
    let dog = saving.world_mut().spawn((Dog::default(), Machine::<Dog>::new(&Sit))).id();
    let master = saving.world_mut().spawn_empty().id();
    saving.update();
    for is_pushed in [false, true] {
        saving.world_mut().commands().entity(dog).send::<Dog>(Whistle(master));
        if is_pushed {
            saving.world_mut().commands().entity(dog).push_state::<Dog>(&Play);
        }
        saving.update();
        let scene = save(&saving, &[dog, master]).unwrap();
        let mut loading = app();
        loading.world_mut().spawn_batch((0..50).map(|_| Name::new("somebody else")));
        let loaded = load(&mut loading, &scene, Sequence::Backward).unwrap();
        loading.world_mut().commands().entity(loaded[0]).pop_state::<Dog>();
        (0..3).for_each(|_| loading.update());
        let dog = loading.world().get::<Dog>(loaded[0]).unwrap();
        assert_eq!(dog.heard.last(), Some(&loaded[1]), "{is_pushed}");
    }
}

#[test]
fn an_owned_state_that_is_not_in_the_book_is_not_mapped_and_a_warning_names_it() {
    listen();
    for name in ["Follow", "Folow"] {
        drop(app(StateMachinePlugin::new().with_book(guard::book()).with_mapped::<Follow>(name)));
    }
    let of = std::any::type_name::<Guard>();
    let warning = format!(
        "WARN: `with_mapped` maps no entities in `Folow` of {of}: the book does not know this type by this name"
    );
    assert_eq!(lines_with("`with_mapped` maps no"), [warning]);
}

#[test]
fn a_state_that_is_not_in_the_book_is_an_error_that_names_it() {
    let mut saving = app(StateMachinePlugin::new().with_book(StateBook::new().with(&Patrol).with(&Mortal)));
    let guard = saving.world_mut().spawn((Guard::default(), Machine::<Guard>::new(&Rest))).id();
    let owner = std::any::type_name::<Guard>();
    let error = save(&saving, &[guard]).unwrap_err();
    assert!(
        error.contains(&format!("a machine of {owner} cannot be saved: the book does not know the state `Rest`")),
        "{error}"
    );

    let mut saving = app(by_book());
    let guard = saving.world_mut().spawn((Guard::default(), Machine::<Guard>::new(&Rest))).id();
    let scene = save(&saving, &[guard]).unwrap();
    let mut loading = app(StateMachinePlugin::new().with_book(StateBook::new().with(&Patrol).with(&Mortal)));
    let error = load(&mut loading, &scene, Sequence::Forward).unwrap_err();
    assert!(
        error.contains(&format!("a machine of {owner} cannot be loaded: the book does not know the state `Rest`")),
        "{error}"
    );
}

#[test]
fn a_global_that_is_not_in_the_book_is_an_error_unless_there_is_a_factory() {
    let plugin = || StateMachinePlugin::<Guard>::new().with_book(StateBook::new().with(&Patrol));
    let mut saving = app(plugin());
    let guard = guards(&mut saving, 1)[0];
    let error = save(&saving, &[guard]).unwrap_err();
    assert!(error.contains("the book does not know the state `Mortal`") && error.contains("`with_factory`"), "{error}");

    let with_factory = || plugin().with_factory(|machine| machine.with_global(&Mortal));
    let mut saving = app(with_factory());
    let guard = guards(&mut saving, 1)[0];
    let scene = save(&saving, &[guard]).unwrap();
    let mut loading = app(with_factory());
    let loaded = load(&mut loading, &scene, Sequence::Forward).unwrap()[0];
    assert_eq!(loading.world().get::<Machine<Guard>>(loaded).unwrap().global().unwrap().name(), "Mortal");
}

#[test]
fn a_saved_machine_takes_the_place_of_a_running_one_without_a_callback() {
    let (saving, guard) = one_guard(|guard| _ = guard.change_state(&Chase));
    let mut scene = save(&saving, &[guard]).unwrap();
    scene[0].1.retain(|(path, _)| path.contains("Machine"));
    let (mut app, guard) = one_guard(|guard| _ = guard.change_state(&Rest));
    take_log(&mut app, guard);
    load_into(&mut app, &scene, &[guard]);
    assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_in_state(&Chase));
    assert_eq!(take_log(&mut app, guard), [] as [&str; 0]);
}

#[test]
fn a_scene_that_is_loaded_over_guards_who_live_calls_nothing_though_it_names_their_states() {
    let plugin = || by_name(by_book());
    let mut saving = app(plugin());
    let guard = guards(&mut saving, 1)[0];
    saving.update();
    saving.world_mut().commands().entity(guard).change_state(&Chase);
    saving.update();
    let scene = save(&saving, &[guard]).unwrap();
    let mut app = app(plugin());
    let guard = guards(&mut app, 1)[0];
    app.update();
    app.world_mut().commands().entity(guard).change_state(&Rest);
    app.update();
    take_log(&mut app, guard);
    // The name comes before the machine.
    assert!(scene[0].1[0].0.contains("CurrentState"), "{scene:?}");
    let own = |(path, _): &(String, String)| path.contains("CurrentState") || path.contains("Machine");
    let scene = [(scene[0].0, scene[0].1.iter().filter(|part| own(part)).cloned().collect())];
    load_into(&mut app, &scene, &[guard]);
    assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_in_state(&Chase));
    assert_eq!(name_of(&app, guard), Some("Chase"));
    assert_eq!(take_log(&mut app, guard), [] as [&str; 0]);
    app.update();
    assert!(take_log(&mut app, guard).iter().all(|line| line.starts_with("update")));
    // A name without a machine is forced, as an edit is.
    let name = [(scene[0].0, scene[0].1[..1].to_vec())];
    app.world_mut().commands().entity(guard).change_state(&Rest);
    app.update();
    take_log(&mut app, guard);
    load_into(&mut app, &name, &[guard]);
    app.update();
    assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_in_state(&Chase));
    assert!(take_log(&mut app, guard).iter().any(|line| line.starts_with("exit Rest")));
}

#[test]
fn a_machine_that_is_put_in_the_place_of_a_loaded_one_keeps_its_own_times() {
    let (mut saving, guard) = one_guard(|guard| _ = guard.change_state(&Chase));
    saving.insert_resource(Clock(50.0));
    saving.update();
    let scene = save(&saving, &[guard]).unwrap();
    let mut loading = app(by_book());
    let loaded = load(&mut loading, &scene, Sequence::Forward).unwrap()[0];
    let mut machine = StateMachine::new(&Patrol);
    machine.set_entered(49.0);
    loading.world_mut().entity_mut(loaded).insert(Machine::<Guard>::started(machine));
    loading.insert_resource(Clock(51.0));
    take_log(&mut loading, loaded);
    loading.update();
    assert_eq!(take_log(&mut loading, loaded), ["update Patrol: Patrol Some(2.0), from none"]);
}

#[test]
fn markers_and_names_are_true_as_soon_as_a_scene_is_loaded() {
    let plugin = || by_name(by_book()).with_marker::<Listen>().with_marker::<Patrol>();
    let mut saving = app(plugin());
    let guard = guards(&mut saving, 1)[0];
    saving.world_mut().commands().entity(guard).change_state(&Listen);
    saving.update();
    let scene = save(&saving, &[guard]).unwrap();
    for sequence in [Sequence::Forward, Sequence::Backward] {
        let mut loading = app(plugin());
        let loaded = load(&mut loading, &scene, sequence).unwrap()[0];
        assert_eq!(name_of(&loading, loaded), Some("Listen"));
        assert!(loading.world().entity(loaded).contains::<InState<Listen>>());
        assert!(!loading.world().entity(loaded).contains::<InState<Patrol>>());
    }
}

#[test]
fn a_name_in_a_scene_wins_over_a_required_machine_in_whichever_order_they_are_inserted() {
    for health in [1, 2] {
        let mut app = app(by_name(StateMachinePlugin::new()));
        app.insert_resource(Clock(20.0));
        let name = CurrentState::<Guard>::named("Listen");
        let owner = Guard { health, log: vec![] };
        let guards = [
            app.world_mut().spawn((Guard { health, log: vec![] }, name)).id(),
            app.world_mut().spawn(CurrentState::<Guard>::named("Listen")).insert(owner).id(),
            app.world_mut().spawn(Guard { health, log: vec![] }).insert(CurrentState::<Guard>::named("Listen")).id(),
        ];
        app.insert_resource(Clock(20.5));
        app.update();
        for guard in guards {
            let log = take_log(&mut app, guard);
            assert_eq!(log.len(), 1);
            assert!(log[0].starts_with("update Listen: Listen Some("), "{log:?}");
            assert_eq!(name_of(&app, guard), Some("Listen"));
        }
    }
}

#[test]
fn files_name_types_by_where_they_are_public() {
    let (app, guard) = one_guard(|_| {});
    let scene = save(&app, &[guard]).unwrap();
    let paths: Vec<&str> = scene[0].1.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["bevy_demeanor::Machine<entities::guard::Guard>", "entities::guard::Guard"]);
}
