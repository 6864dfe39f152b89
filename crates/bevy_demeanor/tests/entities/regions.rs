//! States in regions (rule 32): markers, indexes, events, conditions and queries know every active state.

use bevy_app::{App, Last, Update};
use bevy_demeanor::MachineJournal;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use demeanor::State;

use crate::soldier::{
    Draw, Hold, Idle, Loose, March, Order, Ready, Run, Shoot, Soldier, StateName, Walk, app, soldier, take_trace,
};

/// Does the same for each state of soldiers that march.
macro_rules! for_each_state {
    ($do:ident!($($with:tt)*)) => {
        $do!($($with)*; Idle March Walk Run Ready Shoot Draw Loose Hold)
    };
}

macro_rules! follow_all {
    ($plugin:expr; $($state:ident)*) => {
        $plugin.with_change_events()$(.with_marker::<$state>().with_index::<$state>().with_triggers::<$state>())*
    };
}

macro_rules! observe_all {
    ($app:expr; $($state:ident)*) => {
        $app$(.add_observer(|_: On<Entered<$state>>, mut seen: ResMut<Seen>| {
            seen.0.push(concat!("enter ", stringify!($state)).to_owned());
        }).add_observer(|_: On<Exited<$state>>, mut seen: ResMut<Seen>| {
            seen.0.push(concat!("exit ", stringify!($state)).to_owned());
        }))*
    };
}

macro_rules! followed {
    ($world:expr, $entity:expr; $($state:ident)*) => {{
        let (mut marked, mut listed) = (Vec::new(), Vec::new());
        $(
            if $world.get::<InState<$state>>($entity).is_some() {
                marked.push(stringify!($state));
            }
            if $world.resource::<StateIndex<$state>>().contains($entity) {
                listed.push(stringify!($state));
            }
        )*
        assert_eq!(marked, listed);
        marked.join(" ")
    }};
}

#[derive(Resource, Default)]
struct Seen(Vec<String>);

fn take(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Seen>().0)
}

fn plugin() -> StateMachinePlugin<Soldier> {
    for_each_state!(follow_all!(StateMachinePlugin::new()))
}

/// Returns the states whose marker an entity has. Its indexes say the same, and so does its machine.
fn followed(app: &App, entity: Entity) -> String {
    let followed = for_each_state!(followed!(app.world(), entity));
    if let Some(machine) = app.world().get::<Machine<Soldier>>(entity).filter(|machine| machine.is_started()) {
        let active: Vec<_> = machine.active_states().map(|state| state.name()).collect();
        assert_eq!(followed, active.join(" "));
    }
    followed
}

fn at_once(app: &mut App, entity: Entity, command: impl FnOnce(&mut EntityCommands<'_>)) -> String {
    command(&mut app.world_mut().commands().entity(entity));
    app.world_mut().flush();
    followed(app, entity)
}

#[test]
fn markers_and_indexes_know_every_active_state() {
    for plugin in [plugin(), plugin().in_parallel()] {
        let mut app = app(plugin);
        let orders = [
            Order::Change(StateName::March),
            // March, Walk and Ready are updated, in this order.
            Order::Nothing,
            Order::Change(StateName::Run),
            Order::Change(StateName::Loose),
        ];
        let entity = app.world_mut().spawn(soldier(orders)).id();
        assert_eq!(followed(&app, entity), "");
        app.update();
        assert_eq!(followed(&app, entity), "March Walk Ready");
        app.update();
        assert_eq!(followed(&app, entity), "March Run Shoot Loose Hold");
        assert_eq!(at_once(&mut app, entity, |it| _ = it.push_state::<Soldier>(&Idle)), "Idle");
        assert_eq!(at_once(&mut app, entity, |it| _ = it.pop_state::<Soldier>()), "March Run Shoot Loose Hold");
        assert_eq!(at_once(&mut app, entity, |it| _ = it.change_state(&Ready)), "March Run Ready");

        let clone = app.world_mut().entity_mut(entity).clone_and_spawn();
        app.world_mut().flush();
        assert_eq!(followed(&app, clone), "March Run Ready");
        app.world_mut().entity_mut(clone).insert(Soldier::default());
        assert_eq!(at_once(&mut app, clone, |it| _ = it.change_state(&Walk)), "March Walk Ready");
        assert_eq!(followed(&app, entity), "March Run Ready");

        assert_eq!(at_once(&mut app, entity, |it| _ = it.stop_machine::<Soldier>()), "");
        assert_eq!(at_once(&mut app, clone, |it| _ = it.remove::<Machine<Soldier>>()), "");
        let started = Machine::<Soldier>::started(StateMachine::new(&Loose));
        assert_eq!(at_once(&mut app, entity, |it| _ = it.insert(started)), "March Shoot Loose");
        app.world_mut().despawn(entity);
        assert!(app.world().resource::<StateIndex<Loose>>().is_empty());
    }
}

#[test]
fn a_marker_by_name_and_a_machine_know_the_names_of_states_in_regions() {
    struct Arms;

    let mut app = app(StateMachinePlugin::new().with_marker_named::<Arms>("Hold").with_index_named::<Arms>("Hold"));
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Shoot))).id();
    app.update();
    assert!(app.world().get::<InState<Arms>>(entity).is_some());
    assert_eq!(app.world().resource::<StateIndex<Arms>>().len(), 1);
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().is_in_named("Hold"));
}

#[cfg(feature = "reflect")]
#[test]
fn the_name_of_the_current_state_is_that_of_the_state_with_regions_and_can_be_set_to_a_state_in_a_region() {
    use bevy_demeanor::CurrentState;

    use crate::faults::{lines_with, listen};

    listen();
    let named = [StateName::March, StateName::Walk, StateName::Run, StateName::Loose];
    let mut app = app(plugin().with_current_state(named.map(StateName::state)));
    let soldier = (Soldier::default(), Machine::<Soldier>::new(&March), Name::new("marcher"));
    let entity = app.world_mut().spawn(soldier).id();
    let name = |app: &App| app.world().get::<CurrentState<Soldier>>(entity).unwrap().name().to_owned();
    app.update();
    assert_eq!((name(&app).as_str(), followed(&app, entity).as_str()), ("March", "March Walk Ready"));
    at_once(&mut app, entity, |it| _ = it.change_state(&Run));
    assert_eq!((name(&app).as_str(), followed(&app, entity).as_str()), ("March", "March Run Ready"));

    // Edited in place, as in an inspector.
    take_trace(&mut app, entity);
    *app.world_mut().get_mut::<CurrentState<Soldier>>(entity).unwrap() = CurrentState::named("Loose");
    app.update();
    assert_eq!((name(&app).as_str(), followed(&app, entity).as_str()), ("March", "March Run Shoot Loose Hold"));
    let mut trace = take_trace(&mut app, entity);
    trace.retain(|line| line.starts_with("exit") || line.starts_with("enter"));
    assert_eq!(trace, ["exit Ready", "enter Shoot", "enter Loose", "enter Hold"]);

    at_once(&mut app, entity, |it| _ = it.insert(CurrentState::<Soldier>::named("Walk")));
    assert_eq!((name(&app).as_str(), followed(&app, entity).as_str()), ("March", "March Walk Shoot Loose Hold"));
    assert_eq!(lines_with("(marcher)"), [""; 0]);

    // By its name alone, a machine is in the state, and in none of its regions, until changes enter them.
    let bare = app.world_mut().spawn((Soldier::default(), CurrentState::<Soldier>::named("March"))).id();
    app.world_mut().flush();
    assert_eq!(followed(&app, bare), "March");
    assert_eq!(at_once(&mut app, bare, |it| _ = it.change_state(&Run)), "March Run");
    assert_eq!(at_once(&mut app, bare, |it| _ = it.change_state(&March)), "March Walk Ready");
}

/// Returns what observers are told of a soldier that does what the commands say, and which of its callbacks ran.
fn told(plugin: StateMachinePlugin<Soldier>) -> (Vec<String>, Vec<String>) {
    let mut app = app(plugin);
    app.init_resource::<Seen>();
    for_each_state!(observe_all!(app));
    app.add_observer(|change: On<StateChanged<Soldier>>, mut seen: ResMut<Seen>| {
        if !matches!(change.cause, Cause::Start | Cause::Stop) {
            let change = format!("{:?}", *change);
            seen.0.push(change.split_once(": ").expect("an entity comes first").1.to_owned());
        }
    });
    let orders = [
        Order::Change(StateName::March),
        Order::Nothing,
        Order::ChangeTwice(StateName::Run, StateName::Walk),
        Order::Change(StateName::Loose),
        Order::Push(StateName::Idle),
        Order::Pop,
        Order::Nothing,
        Order::Revert,
        Order::Change(StateName::Shoot),
        Order::Nothing,
        Order::Nothing,
        Order::Change(StateName::March),
    ];
    let entity = app.world_mut().spawn(soldier(orders)).id();
    for _ in 0..8 {
        app.update();
    }
    let mut commands = app.world_mut().commands();
    commands.entity(entity).change_state(&Shoot).change_state(&Loose).change_state(&Ready).stop_machine::<Soldier>();
    app.world_mut().flush();
    let mut trace = take_trace(&mut app, entity);
    trace.retain(|line| !line.starts_with("update") && !line.starts_with("complete"));
    (take(&mut app), trace)
}

#[test]
fn observers_are_told_of_each_region_in_the_order_of_the_callbacks() {
    for plugin in [plugin(), plugin().in_parallel()] {
        let (told, trace) = told(plugin);
        assert_eq!(told, trace);
        let opened = ["enter Idle", "exit Idle", "Idle -> March (change)", "enter March", "enter Walk", "enter Ready"];
        assert_eq!(told[..6], opened);
        for change in
            ["Walk -> Run in March (change)", "Ready -> Shoot in March (change)", "Draw -> Loose in Shoot (change)"]
        {
            assert!(told.iter().any(|line| line == change), "{change}: {told:#?}");
        }
    }
}

#[test]
fn a_change_in_a_region_names_the_state_whose_region_it_is() {
    #[derive(Resource, Default)]
    struct Within(Vec<(Option<String>, usize)>);

    let mut app = app(StateMachinePlugin::new().with_change_messages().with_journal(9));
    app.init_resource::<Within>();
    let note = |mut changes: MessageReader<StateChanged<Soldier>>, mut within: ResMut<Within>| {
        let name = |state: &StateRef<Soldier>| state.name().into_owned();
        let region = |change: &StateChanged<Soldier>| change.to.as_ref().map_or(0, |to| to.region());
        within.0.extend(changes.read().map(|change| (change.within.as_ref().map(name), region(change))));
    };
    app.add_systems(Last, note);
    let entity = app.world_mut().spawn(soldier([Order::Change(StateName::March)])).id();
    app.update();
    app.world_mut().commands().entity(entity).change_state(&Run).change_state(&Shoot).change_state(&Loose);
    app.update();
    let march = || Some("March".to_owned());
    let expected = [(None, 0), (None, 0), (march(), 0), (march(), 1), (Some("Shoot".to_owned()), 0)];
    assert_eq!(app.world().resource::<Within>().0, expected);
    let journal = app.world().resource::<MachineJournal<Soldier>>();
    let within: Vec<_> = journal.of(entity).map(|entry| entry.within).collect();
    assert_eq!(within, [None, Some("March"), Some("March"), Some("Shoot")]);
}

#[test]
fn a_query_finds_the_innermost_state_of_each_region() {
    let mut app = app(StateMachinePlugin::new().with_index::<March>().with_marker::<Run>());
    app.init_resource::<Seen>();
    let look = |marching: QueryInState<March, &Machine<Soldier>>, mut seen: ResMut<Seen>| {
        seen.0 = marching
            .iter()
            .map(|machine| machine.regions(&March).map(|state| state.name()).collect::<Vec<_>>().join(" and "))
            .collect();
    };
    let shoot = |running: QueryInState<March, Entity, With<InState<Run>>>, mut commands: Commands| {
        running.iter().for_each(|entity| _ = commands.entity(entity).change_state(&Shoot));
    };
    app.add_systems(Update, (shoot, look).chain().in_set(MachineSet::Exit));
    let states: [StateRef<Soldier>; 4] = [(&Idle).into(), (&March).into(), (&Run).into(), (&Loose).into()];
    for state in states {
        app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(state)));
    }
    app.update();
    assert_eq!(take(&mut app), ["Walk and Ready", "Run and Shoot", "Walk and Shoot"]);
}

#[test]
fn conditions_and_change_detection_know_the_states_in_regions() {
    #[derive(Resource, Default)]
    struct Ran([bool; 5]);

    let mut app = app(StateMachinePlugin::new().with_index::<Run>());
    app.init_resource::<Ran>();
    app.add_systems(
        Last,
        (
            (|mut ran: ResMut<Ran>| ran.0[0] = true).run_if(any_in_state::<Run>),
            (|mut ran: ResMut<Ran>| ran.0[1] = true).run_if(any_machine_in::<Soldier, Run>),
            (|mut ran: ResMut<Ran>| ran.0[2] = true).run_if(every_machine_in::<Soldier, Run>),
            (|mut ran: ResMut<Ran>| ran.0[3] = true).run_if(every_machine_in::<Soldier, Ready>),
            (|mut ran: ResMut<Ran>| ran.0[4] = true).run_if(any_machine_changed::<Soldier>),
        ),
    );
    // March, Walk, Ready.
    let orders = [Order::Nothing, Order::Nothing, Order::Nothing, Order::Nothing, Order::Change(StateName::Run)];
    let (running, _) = soldier(orders);
    app.world_mut().spawn((running, Machine::<Soldier>::new(&March)));
    app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&March)));
    let ran = |app: &mut App| {
        app.update();
        std::mem::take(&mut app.world_mut().resource_mut::<Ran>().0)
    };
    assert_eq!(ran(&mut app), [false, false, false, true, true]);
    assert_eq!(ran(&mut app), [true, true, false, true, true]);
    assert_eq!(ran(&mut app), [true, true, false, true, false]);
}

#[test]
fn a_message_to_many_is_offered_in_each_region() {
    let mut app = app(StateMachinePlugin::new());
    let soldiers = [0; 2].map(|_| app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&March))).id());
    app.update();
    for entity in soldiers {
        take_trace(&mut app, entity);
    }
    app.world_mut().commands().queue(Machines::<Soldier>::broadcast(StateName::Loose));
    app.world_mut().flush();
    for entity in soldiers {
        let told: Vec<_> = take_trace(&mut app, entity).into_iter().filter(|line| line.contains("told")).collect();
        assert_eq!(told, ["Walk is told Loose", "Loose is told Loose", "Hold is told Loose"]);
    }
}

#[test]
fn a_machine_is_not_visited_while_all_its_regions_sleep() {
    #[derive(Component, Default)]
    struct Turret {
        lamp: u32,
    }
    #[derive(Resource, Default)]
    struct Hour(f64);
    struct Guarding;
    struct Barrel;
    struct Lamp;

    impl Owner for Turret {
        type Context<'a> = Cx<'a>;
        type Message = ();
        fn now(cx: &Cx<'_>) -> f64 {
            cx.param.0
        }
    }
    impl EntityOwner for Turret {
        type Body = ();
        type Param = Res<'static, Hour>;
    }
    type Cx<'a> = EntityContext<'a, Turret>;
    impl State<Turret> for Guarding {
        fn regions(&self) -> Vec<StateRef<Turret>> {
            vec![(&Barrel).into(), (&Lamp).into()]
        }
        fn is_passive(&self) -> bool {
            true
        }
    }
    impl State<Turret> for Barrel {
        fn parent(&self) -> Option<StateRef<Turret>> {
            Some((&Guarding).into())
        }
        fn enter(&self, _: &mut Turret, fsm: &mut Fsm<'_, Turret>, _: &mut Cx<'_>) {
            fsm.sleep();
        }
    }
    impl State<Turret> for Lamp {
        fn parent(&self) -> Option<StateRef<Turret>> {
            Some((&Guarding).into())
        }
        fn region(&self) -> usize {
            1
        }
        fn update(&self, turret: &mut Turret, fsm: &mut Fsm<'_, Turret>, _: &mut Cx<'_>) {
            turret.lamp += 1;
            if turret.lamp.is_multiple_of(2) {
                fsm.sleep_for(3.0);
            }
        }
    }

    for plugin in [StateMachinePlugin::<Turret>::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = App::new();
        app.init_resource::<Hour>().init_resource::<Seen>().add_plugins(plugin);
        let count = |changed: Query<&Turret, Changed<Turret>>, mut seen: ResMut<Seen>| {
            seen.0.push(changed.iter().map(|turret| turret.lamp.to_string()).collect());
        };
        app.add_systems(Last, count);
        app.world_mut().spawn((Turret::default(), Machine::<Turret>::new(&Guarding)));
        for _ in 0..8 {
            app.update();
            app.world_mut().resource_mut::<Hour>().0 += 1.0;
        }
        assert_eq!(take(&mut app), ["1", "2", "", "", "3", "4", "", ""]);
    }
}
