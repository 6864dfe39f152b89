//! Which entities are updated, when, and with which data.

use bevy_app::{App, PostUpdate, Update};
use bevy_demeanor::{
    CallbackContext, EntityContext, EntityOwner, Machine, MachineCommands, MachineSet, Machines, StateMachinePlugin,
};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use demeanor::{Fsm, GameTime, Owner, State};
use std::time::Duration;

use crate::soldier::{
    Alarm, Chase, Order, Patrol, Rank, Saluted, Soldier, Stagger, StateName, app, soldier, take_trace,
};

#[test]
fn the_owner_is_told_once_a_change_is_complete() {
    for plugin in [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = app(plugin);
        let entity = app.world_mut().spawn(soldier([Order::Change(StateName::Fight)])).id();
        app.update();
        assert_eq!(
            take_trace(&mut app, entity),
            [
                "enter Idle",
                "update Idle",
                "exit Idle",
                "Idle -> Aim (change)",
                "enter Fight",
                "enter Aim",
                "complete: Idle -> Aim (change)"
            ]
        );
        app.world_mut().commands().entity(entity).change_state(&Stagger).change_state(&Chase);
        app.world_mut().flush();
        assert_eq!(
            take_trace(&mut app, entity),
            [
                "Aim -> Stagger (change), refused by Stagger.can_enter",
                "exit Aim",
                "exit Fight",
                "Aim -> Chase (change)",
                "enter Chase",
                "complete: Aim -> Chase (change)"
            ]
        );
    }
}

#[test]
fn callbacks_know_their_entity_and_read_resources_and_other_entities_and_record_commands() {
    let mut app = app(StateMachinePlugin::new());
    app.world_mut().resource_mut::<Alarm>().0 = 3;
    let private = app.world_mut().spawn((soldier([Order::Nothing]), Rank(1))).id();
    let sergeant = app.world_mut().spawn((soldier([Order::Salute]), Rank(7))).id();
    app.update();
    assert_eq!(take_trace(&mut app, sergeant), ["enter Idle", "update Idle", "salutes with rank 7 at alarm 3"]);
    assert!(app.world().get::<Saluted>(sergeant).is_some());
    assert!(app.world().get::<Saluted>(private).is_none());
}

#[test]
fn the_sets_run_in_order_and_commands_of_one_are_seen_in_the_next() {
    #[derive(Resource, Default)]
    struct Seen(Vec<&'static str>);
    #[derive(Component)]
    struct Hired;

    let mut app = app(StateMachinePlugin::new().in_schedule(PostUpdate).with_marker::<Patrol>());
    app.init_resource::<Seen>();
    app.add_systems(PostUpdate, (|mut seen: ResMut<Seen>| seen.0.push("exit")).in_set(MachineSet::Exit));
    app.add_systems(
        PostUpdate,
        (|marked: Query<(), With<bevy_demeanor::InState<Patrol>>>, mut seen: ResMut<Seen>| {
            seen.0.push(if marked.is_empty() { "nobody" } else { "somebody on patrol" });
        })
        .in_set(MachineSet::Exit),
    );
    app.add_systems(
        PostUpdate,
        (|mut commands: Commands, mut seen: ResMut<Seen>| {
            commands.spawn((soldier([Order::Change(StateName::Patrol)]), Hired));
            seen.0.push("enter");
        })
        .in_set(MachineSet::Enter),
    );
    app.update();
    let mut seen = app.world_mut().remove_resource::<Seen>().unwrap().0;
    assert_eq!(seen.remove(0), "enter");
    seen.sort_unstable();
    assert_eq!(seen, ["exit", "somebody on patrol"]);
}

#[test]
fn one_entity_may_have_several_machines_each_with_its_owner() {
    #[derive(Component, Default)]
    struct Legs(Vec<&'static str>);
    #[derive(Component, Default)]
    struct Weapon(Vec<&'static str>);
    struct Rest;

    macro_rules! owner {
        ($owner:ident, $says:literal) => {
            impl Owner for $owner {
                type Context<'a> = ();
                type Message = ();
            }
            impl EntityOwner for $owner {
                type Body = ();
                type Param = ();
            }
            // One state for two types of owners.
            impl State<$owner> for Rest {
                fn update(&self, owner: &mut $owner, _: &mut Fsm<'_, $owner>, (): &mut ()) {
                    owner.0.push($says);
                }
            }
        };
    }
    owner!(Legs, "legs rest");
    owner!(Weapon, "weapon rests");

    let mut app = App::new();
    app.add_plugins((StateMachinePlugin::<Legs>::new(), StateMachinePlugin::<Weapon>::new()));
    app.configure_sets(Update, Machines::<Legs>::SET.before(Machines::<Weapon>::SET));
    let bundle = (Legs::default(), Machine::<Legs>::new(&Rest), Weapon::default(), Machine::<Weapon>::new(&Rest));
    let entity = app.world_mut().spawn(bundle).id();
    app.update();
    app.world_mut().entity_mut(entity).remove::<Machine<Weapon>>();
    app.update();
    assert_eq!(app.world().get::<Legs>(entity).unwrap().0, ["legs rest", "legs rest"]);
    assert_eq!(app.world().get::<Weapon>(entity).unwrap().0, ["weapon rests"]);
}

#[test]
fn states_that_know_nothing_of_bevy_run_as_they_are() {
    #[derive(Component)]
    struct Lamp(Duration);
    impl Owner for Lamp {
        type Context<'a> = GameTime;
        type Message = ();
    }
    struct Burning;
    impl State<Lamp> for Burning {
        fn update(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, time: &mut GameTime) {
            lamp.0 += time.elapsed();
        }
    }

    #[derive(Resource)]
    struct Clock(GameTime);
    impl EntityOwner for Lamp {
        type Body = ();
        type Param = Res<'static, Clock>;
    }
    impl CallbackContext<Lamp> for GameTime {
        fn lend<R>(cx: &mut EntityContext<'_, Lamp>, call: impl FnOnce(&mut GameTime) -> R) -> R {
            call(&mut cx.param.0.clone())
        }
    }

    let mut app = App::new();
    app.insert_resource(Clock(GameTime::new()));
    app.add_systems(
        Update,
        (|mut clock: ResMut<Clock>| {
            clock.0.advance(Duration::from_secs(2));
        })
        .in_set(MachineSet::Enter),
    );
    app.add_plugins(StateMachinePlugin::<Lamp>::new());
    let entity = app.world_mut().spawn((Lamp(Duration::ZERO), Machine::<Lamp>::new(&Burning))).id();
    app.update();
    app.update();
    assert_eq!(app.world().get::<Lamp>(entity).unwrap().0, Duration::from_secs(4));
}

#[test]
fn an_entity_may_despawn_itself_in_a_callback() {
    let mut app = app(StateMachinePlugin::new().with_marker::<Patrol>().with_change_events());
    let doomed = app.world_mut().spawn(soldier([Order::Despawn])).id();
    let other = app.world_mut().spawn(soldier([])).id();
    app.update();
    assert!(app.world().get_entity(doomed).is_err());
    assert_eq!(take_trace(&mut app, other), ["enter Idle", "update Idle"]);
    app.update();
    assert_eq!(take_trace(&mut app, other), ["update Idle"]);
}

#[test]
fn machines_are_added_replaced_and_removed_at_run_time() {
    let mut app = app(StateMachinePlugin::new());
    let entity = app.world_mut().spawn(Soldier::default()).id();
    app.update();
    assert_eq!(take_trace(&mut app, entity), [] as [&str; 0]);
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::new(&Patrol));
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["enter Patrol", "update Patrol"]);
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::new(&Chase));
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["enter Chase", "update Chase"]);
    app.world_mut().entity_mut(entity).remove::<Machine<Soldier>>();
    app.update();
    assert_eq!(take_trace(&mut app, entity), [] as [&str; 0]);
}

#[test]
fn a_disabled_entity_sleeps_and_wakes_where_it_was() {
    let mut app = app(StateMachinePlugin::new());
    let started = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    let prefab = app.world_mut().spawn((soldier([]), Disabled)).id();
    app.update();
    take_trace(&mut app, started);
    assert_eq!(take_trace(&mut app, prefab), [] as [&str; 0]);
    app.world_mut().entity_mut(started).insert(Disabled);
    app.update();
    assert_eq!(take_trace(&mut app, started), [] as [&str; 0]);
    app.world_mut().entity_mut(started).remove::<Disabled>();
    app.world_mut().entity_mut(prefab).remove::<Disabled>();
    app.update();
    assert_eq!(take_trace(&mut app, started), ["update Patrol"]);
    assert_eq!(take_trace(&mut app, prefab), ["enter Idle", "update Idle"]);
}

#[test]
fn a_run_condition_pauses_the_machines() {
    #[derive(Resource)]
    struct IsPaused(bool);

    let mut app = app(StateMachinePlugin::new());
    app.insert_resource(IsPaused(true));
    app.configure_sets(Update, Machines::<Soldier>::SET.run_if(|paused: Res<IsPaused>| !paused.0));
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    assert_eq!(take_trace(&mut app, entity), [] as [&str; 0]);
    // A command still reaches it.
    app.world_mut().commands().entity(entity).change_state(&Patrol);
    app.update();
    assert_eq!(
        take_trace(&mut app, entity),
        ["enter Idle", "exit Idle", "Idle -> Patrol (change)", "enter Patrol", "complete: Idle -> Patrol (change)"]
    );
    app.world_mut().resource_mut::<IsPaused>().0 = false;
    app.update();
    assert_eq!(take_trace(&mut app, entity), ["update Patrol"]);
}

#[test]
fn an_owner_in_a_sparse_set_is_updated_too() {
    #[derive(Component, Default)]
    #[component(storage = "SparseSet")]
    struct Ghost(u32);
    impl Owner for Ghost {
        type Context<'a> = ();
        type Message = ();
    }
    impl EntityOwner for Ghost {
        type Body = ();
        type Param = ();
    }
    struct Haunt;
    struct Cellar;
    impl State<Ghost> for Haunt {
        fn update(&self, ghost: &mut Ghost, fsm: &mut Fsm<'_, Ghost>, (): &mut ()) {
            ghost.0 += 1;
            if ghost.0 == 2 {
                fsm.change_state(&Cellar);
            }
        }
    }
    impl State<Ghost> for Cellar {
        fn update(&self, ghost: &mut Ghost, _: &mut Fsm<'_, Ghost>, (): &mut ()) {
            ghost.0 += 1;
        }
    }

    for plugin in [StateMachinePlugin::<Ghost>::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = App::new();
        app.add_plugins(plugin);
        let entity = app.world_mut().spawn((Ghost::default(), Machine::<Ghost>::new(&Haunt))).id();
        let mut changed = Vec::new();
        for tick in 1..=3 {
            app.update();
            assert_eq!(app.world().get::<Ghost>(entity).unwrap().0, tick);
            changed.push(app.world().entity(entity).get_change_ticks::<Machine<Ghost>>().unwrap().changed);
        }
        // In the second tick, the ghost starts to haunt the cellar.
        assert_ne!(changed[0], changed[1]);
        assert_eq!(changed[1], changed[2]);
    }
}

#[test]
fn a_machine_is_changed_only_when_its_state_is() {
    #[derive(Resource, Default)]
    struct Changes(Vec<usize>);

    let mut app = app(StateMachinePlugin::new());
    app.init_resource::<Changes>();
    app.add_systems(
        Update,
        (|changed: Query<(), Changed<Machine<Soldier>>>, mut changes: ResMut<Changes>| {
            changes.0.push(changed.iter().count());
        })
        .in_set(MachineSet::Exit),
    );
    app.world_mut().spawn(soldier([Order::Nothing, Order::Change(StateName::Patrol)]));
    app.world_mut().spawn(soldier([]));
    for _ in 0..4 {
        app.update();
    }
    // Two new machines, then none, then the one that goes on patrol.
    assert_eq!(app.world().resource::<Changes>().0, [2, 1, 0, 0]);
}

#[test]
fn the_pass_runs_beside_systems_that_touch_other_things() {
    use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, Schedules};

    #[derive(Component)]
    struct Helmet;

    /// Returns whether the schedule can be built without a pair of conflicting systems.
    fn is_free_of_conflicts<M>(
        plugin: StateMachinePlugin<Soldier>,
        beside: impl IntoSystem<(), (), M> + 'static,
    ) -> bool {
        let mut app = app(plugin);
        app.add_systems(Update, IntoSystem::into_system(beside).in_set(MachineSet::Update));
        let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            ..ScheduleBuildSettings::default()
        });
        schedule.initialize(app.world_mut()).is_ok()
    }

    for plugin in [StateMachinePlugin::<Soldier>::new, || StateMachinePlugin::new().in_parallel()] {
        let unrelated = |_: Query<&mut Helmet>, _: Query<&Rank>, _: Res<Alarm>| {};
        assert!(is_free_of_conflicts(plugin().with_marker::<Patrol>().with_change_messages(), unrelated));
        assert!(!is_free_of_conflicts(plugin(), |_: Query<&mut Rank>| {}), "the context reads it");
        assert!(!is_free_of_conflicts(plugin(), |_: &mut World| {}));
    }
}
