//! Functions for many machines together: messages to all, run conditions; and starts and stops as changes.

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;

use crate::faults::{lines_with, listen};
use crate::soldier::{Chase, Fight, Idle, Order, Patrol, Soldier, StateName, app, soldier, take_trace};

#[derive(Resource, Default)]
struct Seen(Vec<String>);

fn take_seen(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Seen>().0)
}

const NOTHING: [&str; 0] = [];

#[derive(Component, Owner)]
struct Legs;
#[derive(Component, Owner)]
struct Arms;

/// A state of two types of owners.
struct Rest;
impl MachineState<Legs> for Rest {}
impl MachineState<Arms> for Rest {}

#[test]
fn a_broadcast_comes_to_all_machines_in_the_order_of_the_pass_and_events_follow_the_last() {
    for plugin in [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = app(plugin.with_marker::<Chase>().with_change_events());
        app.init_resource::<Seen>();
        app.add_observer(
            |change: On<StateChanged<Soldier>>, chasing: Query<(), With<InState<Chase>>>, mut seen: ResMut<Seen>| {
                seen.0.push(format!("{:?}, {} chase", *change, chasing.iter().count()));
            },
        );
        let [a, b] = [(); 2].map(|()| app.world_mut().spawn(soldier([])).id());
        let disabled = app.world_mut().spawn((soldier([]), Disabled)).id();
        app.update();
        assert_eq!(
            take_seen(&mut app),
            [format!("{a}: (no state) -> Idle (start), 0 chase"), format!("{b}: (no state) -> Idle (start), 0 chase")]
        );
        app.world_mut().commands().queue(Machines::<Soldier>::broadcast(StateName::Chase));
        app.world_mut().flush();
        assert_eq!(
            take_seen(&mut app),
            [format!("{a}: Idle -> Chase (change), 2 chase"), format!("{b}: Idle -> Chase (change), 2 chase")]
        );
        assert_eq!(take_trace(&mut app, disabled), NOTHING);
        app.world_mut().commands().queue(Machines::<Soldier>::send_to([disabled, a], StateName::Patrol));
        app.world_mut().flush();
        assert_eq!(
            take_seen(&mut app),
            [
                format!("{disabled}: (no state) -> Idle (start), 1 chase"),
                format!("{disabled}: Idle -> Patrol (change), 1 chase"),
                format!("{a}: Chase -> Patrol (change), 1 chase")
            ]
        );
    }
}

#[test]
fn a_message_for_some_passes_over_who_is_gone_and_says_so() {
    listen();
    let mut app = app(StateMachinePlugin::new());
    // The entities' numbers are larger than in any other test.
    let entities: Vec<Entity> = app.world_mut().spawn_batch((0..700).map(|_| soldier([]))).collect();
    let [.., gone, there] = entities[..] else { unreachable!() };
    app.world_mut().despawn(gone);
    app.world_mut().commands().queue(Machines::<Soldier>::send_to([gone, there], StateName::Chase));
    app.world_mut().flush();
    assert!(app.world().get::<Machine<Soldier>>(there).unwrap().is_in_state(&Chase));
    let owner = std::any::type_name::<Soldier>();
    assert_eq!(
        lines_with(&format!("entity {gone} ")),
        [format!("DEBUG: send_to of entity {gone} (unnamed) ignored: there is no {owner} with a machine")]
    );
}

#[test]
fn a_start_and_a_stop_are_told_of_as_changes_from_no_state_and_to_none() {
    let mut app = app(StateMachinePlugin::new().with_change_messages());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Fight))).id();
    let told = |app: &mut App| -> Vec<String> {
        let mut messages = app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>();
        messages.drain().map(|change| format!("{change:?}")).collect()
    };
    app.update();
    assert_eq!(told(&mut app), [format!("{entity}: (no state) -> Aim (start)")]);
    app.world_mut().commands().entity(entity).stop_machine::<Soldier>().stop_machine::<Soldier>();
    app.world_mut().flush();
    assert_eq!(told(&mut app), [format!("{entity}: Aim -> (no state) (stop)")]);
}

#[test]
fn a_trigger_says_whose_machine_it_is_where_a_state_serves_two_owners_of_an_entity() {
    struct Move;
    impl MachineState<Legs> for Move {}

    let mut app = App::new();
    app.init_resource::<Seen>();
    app.add_state_machine_with(StateMachinePlugin::<Legs>::new().with_triggers::<Rest>());
    app.add_state_machine_with(StateMachinePlugin::<Arms>::new().with_triggers::<Rest>());
    app.configure_sets(Update, Machines::<Legs>::SET.before(Machines::<Arms>::SET));
    app.add_observer(|entered: On<Entered<Rest>>, mut seen: ResMut<Seen>| {
        let whose = (entered.is_of::<Legs>(), entered.is_of::<Arms>());
        seen.0.push(format!("entered, of legs and arms {whose:?}"));
    });
    app.add_observer(|exited: On<Exited<Rest>>, mut seen: ResMut<Seen>| {
        let whose = (exited.is_of::<Legs>(), exited.is_of::<Arms>());
        seen.0.push(format!("exited, of legs and arms {whose:?}"));
    });
    let machines = (Machine::<Legs>::new(&Rest), Machine::<Arms>::new(&Rest));
    let entity = app.world_mut().spawn((Legs, Arms, machines)).id();
    app.update();
    app.world_mut().commands().entity(entity).change_state(&Move);
    app.update();
    assert_eq!(
        take_seen(&mut app),
        [
            "entered, of legs and arms (true, false)",
            "entered, of legs and arms (false, true)",
            "exited, of legs and arms (true, false)"
        ]
    );
}

#[test]
fn run_conditions_follow_the_states() {
    fn note(what: &'static str) -> impl Fn(ResMut<Seen>) {
        move |mut seen| seen.0.push(what.to_owned())
    }

    let mut app = app(StateMachinePlugin::new().with_marker::<Chase>().with_sparse_marker::<Patrol>());
    app.init_resource::<Seen>();
    app.add_systems(
        Last,
        (
            note("one chases").run_if(any_in_state::<Chase>),
            note("one is on patrol").run_if(any_in_state::<Patrol>),
            note("one fights").run_if(any_machine_in::<Soldier, Fight>),
            note("all chase").run_if(every_machine_in::<Soldier, Chase>),
            note("one has changed").run_if(any_machine_changed::<Soldier>),
        )
            .chain(),
    );
    app.update();
    assert_eq!(take_seen(&mut app), NOTHING);
    let other = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Fight))).id();
    app.world_mut().spawn(soldier([
        Order::Change(StateName::Chase),
        Order::Nothing,
        Order::Nothing,
        Order::Change(StateName::Patrol),
    ]));
    app.update();
    assert_eq!(take_seen(&mut app), ["one chases", "one fights", "one has changed"]);
    app.update();
    assert_eq!(take_seen(&mut app), ["one chases", "one fights"]);
    app.world_mut().despawn(other);
    app.update();
    assert_eq!(take_seen(&mut app), ["one chases", "all chase"]);
    app.update();
    assert_eq!(take_seen(&mut app), ["one is on patrol", "one has changed"]);
}

#[test]
fn a_condition_on_a_state_of_two_owners_follows_the_marker_of_one_and_the_index_of_the_other() {
    let mut app = App::new();
    app.add_state_machine_with(StateMachinePlugin::<Legs>::new().with_marker::<Rest>());
    app.add_state_machine_with(StateMachinePlugin::<Arms>::new().with_index::<Rest>());
    let is_any = move |app: &mut App| app.world_mut().run_system_cached(any_in_state::<Rest>).unwrap();
    let legs = app.world_mut().spawn((Legs, Machine::<Legs>::new(&Rest))).id();
    app.update();
    assert!(is_any(&mut app));
    app.world_mut().despawn(legs);
    assert!(!is_any(&mut app));
    app.world_mut().spawn((Arms, Machine::<Arms>::new(&Rest)));
    app.update();
    assert!(is_any(&mut app));
}

#[test]
fn a_condition_on_a_marker_that_nobody_keeps_is_warned_of_once() {
    struct Nowhere;
    listen();
    let mut app = app(StateMachinePlugin::new());
    app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Idle)));
    app.add_systems(Last, (|| unreachable!()).run_if(any_in_state::<Nowhere>));
    for _ in 0..3 {
        app.update();
    }
    let state = std::any::type_name::<Nowhere>();
    assert_eq!(
        lines_with(state),
        [format!(
            "WARN: any_in_state::<{state}> is always false: no plugin keeps the marker for this state. Ask for it by with_marker::<{state}>()"
        )]
    );
}
