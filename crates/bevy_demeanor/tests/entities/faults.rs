//! Bad input, and callbacks that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once};

use bevy_app::Update;
use bevy_demeanor::{InState, Machine, MachineCommands, StateChanged, StateMachinePlugin};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use demeanor::{Fsm, Owner, State, StateMachine};

use crate::soldier::{Chase, Idle, Order, Patrol, Saluted, Soldier, StateName, app, soldier, take_trace};

/// The log lines of the plugin and the errors of the library in all tests. Each test searches for its own entity or owner.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Lines;

impl log::Log for Lines {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let is_complaint = record.target() == "demeanor" && record.level() <= log::Level::Warn;
        if is_complaint || record.target().starts_with("bevy_demeanor") {
            LINES.lock().unwrap().push(format!("{}: {}", record.level(), record.args()));
        }
    }

    fn flush(&self) {}
}

pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Lines).expect("there is no other logger");
        log::set_max_level(log::LevelFilter::Debug);
    });
}

pub(crate) fn lines_with(word: &str) -> Vec<String> {
    LINES.lock().unwrap().iter().filter(|line| line.contains(word)).cloned().collect()
}

#[test]
fn a_machine_without_its_owner_is_warned_of_once_by_name() {
    listen();
    let mut app = app(StateMachinePlugin::new());
    let orphan = app.world_mut().spawn((Machine::<Soldier>::new(&Idle), Name::new("lost helmet"))).id();
    app.world_mut().spawn((soldier([]), Name::new("worn helmet")));
    for _ in 0..3 {
        app.update();
    }
    let owner = std::any::type_name::<Soldier>();
    let warning =
        format!("WARN: entity {orphan} (lost helmet) has a Machine<{owner}>, but no {owner}: its machine does nothing");
    assert_eq!(lines_with("lost helmet"), [&*warning]);
    assert_eq!(lines_with("worn helmet"), [] as [&str; 0]);
    app.world_mut().entity_mut(orphan).insert(Soldier::default());
    app.update();
    assert_eq!(take_trace(&mut app, orphan), ["enter Idle", "update Idle"]);
    // If it is lost again, there is another warning.
    app.world_mut().entity_mut(orphan).remove::<Soldier>();
    app.update();
    app.update();
    assert_eq!(lines_with("lost helmet"), [&*warning, &*warning]);
}

#[test]
fn a_machine_that_is_disabled_and_enabled_again_is_not_warned_of_again() {
    listen();
    let mut app = app(StateMachinePlugin::new());
    let orphan = app.world_mut().spawn((Machine::<Soldier>::new(&Idle), Name::new("lost glove"))).id();
    for _ in 0..3 {
        app.update();
        app.world_mut().entity_mut(orphan).insert(Disabled);
        app.update();
        app.world_mut().entity_mut(orphan).remove::<Disabled>();
    }
    assert_eq!(lines_with("lost glove").len(), 1);
    app.world_mut().entity_mut(orphan).insert(Soldier::default());
    app.update();
    assert_eq!(take_trace(&mut app, orphan), ["enter Idle", "update Idle"]);
    app.world_mut().entity_mut(orphan).remove::<Soldier>();
    app.update();
    assert_eq!(lines_with("lost glove").len(), 2);
}

#[test]
fn a_command_for_the_dead_is_logged_at_debug() {
    listen();
    let mut app = app(StateMachinePlugin::new());
    // The entity has an index that no other test's app uses.
    let dead = app.world_mut().spawn_batch((0..500).map(|_| soldier([]))).last().unwrap();
    app.world_mut().despawn(dead);
    app.world_mut().commands().entity(dead).change_state(&Chase);
    app.world_mut().flush();
    let owner = std::any::type_name::<Soldier>();
    assert_eq!(
        lines_with(&format!("entity {dead} ")),
        [format!("DEBUG: change_state of entity {dead} (unnamed) ignored: there is no {owner} with a machine")]
    );
}

#[test]
#[should_panic(expected = "plugin was already added")]
fn adding_a_plugin_twice_panics_as_bevy_does() {
    let mut app = app(StateMachinePlugin::new());
    app.add_plugins(StateMachinePlugin::<Soldier>::new());
}

#[test]
fn after_a_panic_in_a_callback_every_machine_and_marker_is_right() {
    let mut app = app(StateMachinePlugin::new().with_marker::<Patrol>());
    let before = app.world_mut().spawn(soldier([Order::Nothing, Order::Change(StateName::Patrol)])).id();
    let panics = app.world_mut().spawn(soldier([Order::Nothing, Order::Panic])).id();
    let after = app.world_mut().spawn(soldier([Order::Nothing, Order::Salute])).id();
    app.update();
    for entity in [before, panics, after] {
        take_trace(&mut app, entity);
    }
    // After a panic, an app has lost the schedule that was running, so this test runs the schedule itself.
    let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
    assert_eq!(
        take_trace(&mut app, before),
        ["update Idle", "exit Idle", "Idle -> Patrol (change)", "enter Patrol", "complete: Idle -> Patrol (change)"]
    );
    assert_eq!(take_trace(&mut app, panics), ["update Idle"]);
    assert_eq!(take_trace(&mut app, after), [] as [&str; 0]);
    assert!(app.world().get::<Machine<Soldier>>(panics).unwrap().is_in_state(&Idle));

    // One of Bevy's executors skips the systems in the next run that ran before the panic; the other does not.
    let mut runs = (0..2).map(|_| {
        schedule.run(app.world_mut());
        take_trace(&mut app, before)
    });
    let trace = runs.find(|trace| !trace.is_empty()).unwrap_or_default();
    assert_eq!(trace, ["update Patrol"]);
    assert_eq!(take_trace(&mut app, panics), ["update Idle"]);
    assert_eq!(take_trace(&mut app, after), ["update Idle", "salutes with rank 0 at alarm 0"]);
    assert!(app.world().get::<InState<Patrol>>(before).is_some(), "the next pass corrects the markers");
    assert!(app.world().get::<Saluted>(after).is_some());
}

/// Panics when it is entered.
struct Trap;
impl State<Soldier> for Trap {
    fn enter(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
        panic!("the trap snaps")
    }
}

/// Changes to the trap.
struct Bait;
impl State<Soldier> for Bait {
    fn update(&self, _: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
        fsm.change_state(&Trap);
    }
}

#[test]
fn a_change_that_a_panic_has_cut_off_is_told_of_by_the_next_pass_with_its_own_entity() {
    for plugin in [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = app(plugin.with_change_messages());
        let before = app.world_mut().spawn(soldier([])).id();
        let lured = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Bait))).id();
        let after = app.world_mut().spawn(soldier([])).id();
        let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
        assert!(app.world().get::<Machine<Soldier>>(lured).unwrap().is_in_state(&Trap));
        let mut told = Vec::new();
        // After a panic, a schedule on one thread needs another run before it starts again.
        for _ in 0..3 {
            schedule.run(app.world_mut());
            let mut messages = app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>();
            told.extend(messages.drain().map(|change| format!("{change:?}")));
        }
        assert_eq!(
            told,
            [
                format!("{before}: (no state) -> Idle (start)"),
                format!("{lured}: (no state) -> Bait (start)"),
                format!("{lured}: Bait -> Trap (change)"),
                format!("{after}: (no state) -> Idle (start)")
            ]
        );
    }
}

struct Armed;
struct Blown;

macro_rules! mines {
    ($($mine:ident: $body:ty;)*) => {$(
        #[derive(Component, bevy_demeanor::Owner)]
        #[owner(changes = WhenTold, body = $body)]
        struct $mine;

        impl State<$mine> for Armed {
            fn update(&self, _: &mut $mine, fsm: &mut Fsm<'_, $mine>, _: &mut bevy_demeanor::Cx<'_, $mine>) {
                fsm.change_state(&Blown);
            }
        }

        impl State<$mine> for Blown {
            fn enter(&self, _: &mut $mine, _: &mut Fsm<'_, $mine>, cx: &mut bevy_demeanor::Cx<'_, $mine>) {
                cx.mark_owner_changed();
                panic!("a mine explodes")
            }
        }

        for (is_parallel, is_by_command) in [(false, false), (true, false), (false, true)] {
            let mut app = bevy_app::App::new();
            let plugin = StateMachinePlugin::<$mine>::new();
            app.add_plugins(if is_parallel { plugin.in_parallel() } else { plugin });
            let machine = Machine::<$mine>::started(StateMachine::new(&Armed));
            let mine = app.world_mut().spawn(($mine, machine)).id();
            app.world_mut().clear_trackers();
            if is_by_command {
                app.world_mut().commands().entity(mine).change_state::<$mine>(&Blown);
                assert!(catch_unwind(AssertUnwindSafe(|| app.world_mut().flush())).is_err());
            } else {
                assert!(catch_unwind(AssertUnwindSafe(|| app.world_mut().run_schedule(Update))).is_err());
            }
            let mine = app.world().entity(mine);
            assert!(mine.get::<Machine<$mine>>().unwrap().is_in_state(&Blown));
            assert!(mine.get_ref::<Machine<$mine>>().unwrap().is_changed());
            assert!(mine.get_ref::<$mine>().unwrap().is_changed());
        }
    )*};
}

#[test]
fn after_a_panic_in_a_callback_the_machine_and_its_owner_count_as_changed() {
    mines! {
        Buried: ();
        Floating: Option<&'static Name>;
    }
}

#[test]
fn after_a_panic_in_a_command_the_next_command_works() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    app.world_mut().commands().entity(entity).change_state(&Trap);
    assert!(catch_unwind(AssertUnwindSafe(|| app.world_mut().flush())).is_err());
    app.world_mut().commands().entity(entity).change_state(&Chase);
    app.world_mut().flush();
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().is_in_state(&Chase));
}

#[test]
fn a_machine_whose_plugin_was_not_added_is_warned_of_once_by_name() {
    #[derive(Component)]
    struct Extra;
    impl Owner for Extra {
        type Context<'a> = ();
        type Message = ();
    }
    struct Stand;
    impl State<Extra> for Stand {}

    listen();
    let mut world = World::new();
    let entity = world.spawn((Extra, Machine::<Extra>::new(&Stand), Name::new("stuntman"))).id();
    world.spawn((Extra, Machine::<Extra>::new(&Stand)));
    let owner = std::any::type_name::<Extra>();
    assert_eq!(
        lines_with(owner),
        [format!(
            "WARN: entity {entity} (stuntman) has a Machine<{owner}>, but nothing updates it yet: \
             add_state_machine::<{owner}>() has not been called"
        )]
    );
}

#[test]
fn owners_without_a_machine_are_warned_of_once_with_the_name_of_the_first() {
    #[derive(Component)]
    struct Mannequin;
    impl Owner for Mannequin {
        type Context<'a> = ();
        type Message = ();
    }
    impl bevy_demeanor::EntityOwner for Mannequin {
        type Body = ();
        type Param = ();
    }
    struct Stand;
    impl State<Mannequin> for Stand {}

    listen();
    let owner = std::any::type_name::<Mannequin>();
    let mut app = bevy_app::App::new();
    app.add_plugins(StateMachinePlugin::<Mannequin>::new());
    app.world_mut().spawn((Mannequin, Machine::<Mannequin>::new(&Stand)));
    app.update();
    assert_eq!(lines_with(owner), [] as [&str; 0]);
    let first = app.world_mut().spawn((Mannequin, Name::new("Ann"))).id();
    app.world_mut().spawn(Mannequin);
    app.world_mut().spawn(Mannequin);
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(
        lines_with(owner),
        [format!("WARN: entity {first} (Ann) has a {owner}, but no Machine<{owner}>, as 2 others: it has no state")]
    );
}

#[test]
fn what_a_machine_logs_names_the_entity() {
    use bevy_demeanor::{Cx, Owner};

    #[derive(Component, Owner)]
    struct Chatterbox;
    struct Silent;
    struct Talkative;
    impl State<Chatterbox> for Silent {}
    impl State<Chatterbox> for Talkative {
        fn update(&self, _: &mut Chatterbox, fsm: &mut Fsm<'_, Chatterbox>, _: &mut Cx<'_, Chatterbox>) {
            fsm.pop_state();
        }
    }

    listen();
    let mut expected = Vec::new();
    for plugin in [StateMachinePlugin::<Chatterbox>::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = bevy_app::App::new();
        app.add_plugins(plugin);
        app.world_mut().spawn((Chatterbox, Machine::<Chatterbox>::new(&Silent)));
        let talks = app.world_mut().spawn((Chatterbox, Machine::<Chatterbox>::new(&Talkative))).id();
        app.update();
        expected.push(format!("WARN: Chatterbox {talks}: pop refused in state Talkative: the stack is empty"));
    }
    assert_eq!(lines_with("Chatterbox"), expected);
}
