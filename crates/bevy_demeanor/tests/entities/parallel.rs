//! The parallel pass has the same result as the other one, in the same order.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use bevy_app::{App, Update};
use bevy_demeanor::{EntityOwner, Machine, MachineSet, SharedParam, StateChanged, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use demeanor::{Owner, State};

use crate::soldier::{Order, Patrol, Rank, Saluted, Soldier, StateName, Watch, app, soldier};

#[derive(Resource, Default)]
struct Seen(Vec<String>);

/// Runs more than two chunks, in two tables.
fn run(plugin: StateMachinePlugin<Soldier>) -> (Vec<String>, Vec<Entity>, Vec<Vec<String>>) {
    let mut app: App = app(plugin.with_change_messages().with_marker::<Patrol>());
    app.init_resource::<Seen>();
    app.add_systems(
        Update,
        (|mut changes: MessageReader<StateChanged<Soldier>>, mut seen: ResMut<Seen>| {
            seen.0.extend(changes.read().map(|change| format!("{change:?}")));
        })
        .in_set(MachineSet::Exit),
    );
    for i in 0..2500 {
        let orders = match i % 7 {
            0 => vec![Order::Change(StateName::Patrol), Order::Salute],
            1 => vec![Order::Salute, Order::ChangeTwice(StateName::Chase, StateName::Patrol)],
            2 => vec![Order::Nothing, Order::Despawn],
            3 => vec![Order::SleepFor(2.0), Order::ChangeAfter(1.0, StateName::Patrol), Order::Sleep],
            4 => vec![Order::Change(StateName::Nap)],
            _ => vec![Order::Nothing, Order::Push(StateName::Fight), Order::Nothing, Order::Pop],
        };
        let mut entity = app.world_mut().spawn(soldier(orders));
        if i % 3 == 0 {
            entity.insert(Rank(i));
        }
    }
    for _ in 0..8 {
        app.world_mut().resource_mut::<Watch>().0 += 0.5;
        app.update();
    }
    let seen = std::mem::take(&mut app.world_mut().resource_mut::<Seen>().0);
    let mut saluted = app.world_mut().query_filtered::<Entity, With<Saluted>>();
    let saluted = saluted.iter(app.world()).collect();
    let mut soldiers = app.world_mut().query::<&Soldier>();
    let traces = soldiers.iter(app.world()).map(|soldier| soldier.trace.clone()).collect();
    (seen, saluted, traces)
}

#[test]
fn a_parallel_pass_does_the_same_in_the_same_order() {
    let in_order = run(StateMachinePlugin::new());
    let in_parallel = run(StateMachinePlugin::new().in_parallel());
    assert!(in_order.0.len() > 1000);
    assert!(in_order == in_parallel, "messages, archetypes or traces differ");
}

#[test]
fn each_chunk_of_1024_entities_of_a_table_has_a_context_of_its_own() {
    static CONTEXTS: AtomicUsize = AtomicUsize::new(0);

    #[derive(Component)]
    struct Bird;
    #[derive(Component)]
    struct Nest;
    impl Owner for Bird {
        type Context<'a> = ();
        type Message = ();
    }
    #[derive(SystemParam)]
    struct Counted;
    impl SharedParam for Counted {
        fn share<'w, 's>(_: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
            CONTEXTS.fetch_add(1, Relaxed);
            Counted
        }
    }
    impl EntityOwner for Bird {
        type Body = ();
        type Param = Counted;
    }
    struct Fly;
    impl State<Bird> for Fly {}

    let mut app = App::new();
    app.add_plugins(StateMachinePlugin::<Bird>::new().in_parallel());
    app.world_mut().spawn_batch((0..2049).map(|_| (Bird, Machine::<Bird>::new(&Fly))));
    app.world_mut().spawn_batch((0..1024).map(|_| (Bird, Machine::<Bird>::new(&Fly), Nest)));
    app.update();
    assert_eq!(CONTEXTS.load(Relaxed), 4);
}
