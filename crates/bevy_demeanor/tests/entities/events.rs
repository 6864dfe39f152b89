//! Observers and messages.

use bevy_app::{App, Update};
use bevy_demeanor::{Entered, Exited, InState, MachineCommands, MachineSet, StateChanged, StateMachinePlugin};
use bevy_ecs::prelude::{Commands, Entity, MessageReader, On, Query, ResMut, Resource, With};
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::system::SystemParam;

use crate::soldier::{Aim, Chase, Fight, Idle, Order, Patrol, Soldier, StateName, app, soldier};

#[derive(Resource, Default)]
struct Seen(Vec<String>);

fn take(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Seen>().0)
}

fn names(change: &StateChanged<Soldier>) -> String {
    let name = |state: &Option<demeanor::StateRef<Soldier>>| {
        state.as_ref().map_or("none".to_owned(), |state| state.name().into_owned())
    };
    format!("{} to {}", name(&change.from), name(&change.to))
}

#[test]
fn each_change_is_an_event_in_the_order_made() {
    let mut app = app(StateMachinePlugin::new().with_change_events());
    app.init_resource::<Seen>();
    app.add_observer(|change: On<StateChanged<Soldier>>, mut seen: ResMut<Seen>| {
        seen.0.push(names(&change));
    });
    let orders =
        [Order::ChangeTwice(StateName::Patrol, StateName::Chase), Order::Change(StateName::Chase), Order::Revert];
    app.world_mut().spawn(soldier(orders));
    app.update();
    assert_eq!(take(&mut app), ["none to Idle", "Idle to Patrol", "Patrol to Chase"]);
    app.update();
    assert_eq!(take(&mut app), ["Chase to Chase"]);
    app.update();
    assert_eq!(take(&mut app), ["Chase to Chase"]);
}

#[test]
fn each_change_is_a_message_for_the_exit_set() {
    let mut app = app(StateMachinePlugin::new().with_change_messages());
    app.init_resource::<Seen>();
    app.add_systems(
        Update,
        (|mut changes: MessageReader<StateChanged<Soldier>>, mut seen: ResMut<Seen>| {
            seen.0.extend(changes.read().map(|change| format!("{} {}", change.entity, names(change))));
        })
        .in_set(MachineSet::Exit),
    );
    let first = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    let second = app.world_mut().spawn(soldier([Order::Change(StateName::Chase)])).id();
    let third = app.world_mut().spawn(soldier([Order::Change(StateName::Fight)])).id();
    app.update();
    assert_eq!(
        take(&mut app),
        [
            format!("{first} none to Idle"),
            format!("{first} Idle to Patrol"),
            format!("{second} none to Idle"),
            format!("{second} Idle to Chase"),
            format!("{third} none to Idle"),
            format!("{third} Idle to Aim")
        ]
    );
    app.update();
    assert_eq!(take(&mut app), [] as [&str; 0]);
}

#[test]
fn entering_and_exiting_a_state_trigger_on_the_entity_once_the_markers_are_true() {
    fn aims(marked: &Query<(), With<InState<Aim>>>, entity: Entity) -> &'static str {
        if marked.contains(entity) { "marked" } else { "not marked" }
    }

    let plugin = StateMachinePlugin::new()
        .with_triggers::<Idle>()
        .with_triggers::<Fight>()
        .with_triggers::<Aim>()
        .with_marker::<Aim>();
    let mut app = app(plugin);
    app.init_resource::<Seen>();
    app.add_observer(|it: On<Entered<Aim>>, marked: Query<(), With<InState<Aim>>>, mut seen: ResMut<Seen>| {
        seen.0.push(format!("entered Aim, {}", aims(&marked, it.entity)));
    });
    app.add_observer(|it: On<Exited<Aim>>, marked: Query<(), With<InState<Aim>>>, mut seen: ResMut<Seen>| {
        seen.0.push(format!("exited Aim, {}", aims(&marked, it.entity)));
    });
    app.add_observer(|_: On<Entered<Fight>>, mut seen: ResMut<Seen>| seen.0.push("entered Fight".into()));
    app.add_observer(|_: On<Exited<Fight>>, mut seen: ResMut<Seen>| seen.0.push("exited Fight".into()));
    app.add_observer(|_: On<Entered<Idle>>, mut seen: ResMut<Seen>| seen.0.push("entered Idle".into()));
    app.add_observer(|_: On<Exited<Idle>>, mut seen: ResMut<Seen>| seen.0.push("exited Idle".into()));
    app.world_mut().spawn(soldier([
        Order::Nothing,
        Order::Change(StateName::Fight),
        Order::Change(StateName::Aim),
        Order::Nothing,
        Order::Change(StateName::Patrol),
    ]));
    app.update();
    assert_eq!(take(&mut app), ["entered Idle"]);
    app.update();
    assert_eq!(take(&mut app), ["exited Idle", "entered Fight", "entered Aim, marked"]);
    app.update();
    assert_eq!(take(&mut app), ["exited Aim, marked", "entered Aim, marked"], "it was left and entered again");
    app.update();
    assert_eq!(take(&mut app), ["exited Aim, not marked", "exited Fight"]);
}

#[test]
fn an_observer_of_one_entity_hears_of_that_entity_alone() {
    let mut app = app(StateMachinePlugin::new().with_triggers::<Patrol>());
    app.init_resource::<Seen>();
    let heard = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)]));
    app.world_mut().entity_mut(heard).observe(|it: On<Entered<Patrol>>, mut seen: ResMut<Seen>| {
        seen.0.push(it.entity.to_string());
    });
    app.update();
    assert_eq!(take(&mut app), [heard.to_string()]);
}

#[test]
fn an_observer_may_change_the_state_again() {
    let mut app = app(StateMachinePlugin::new().with_change_events().with_triggers::<Patrol>().with_marker::<Chase>());
    app.init_resource::<Seen>();
    app.add_observer(|change: On<StateChanged<Soldier>>, mut seen: ResMut<Seen>| seen.0.push(names(&change)));
    app.add_observer(|it: On<Entered<Patrol>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Chase);
    });
    let entity = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)])).id();
    app.update();
    assert_eq!(take(&mut app), ["none to Idle", "Idle to Patrol", "Patrol to Chase"]);
    assert!(app.world().get::<InState<Chase>>(entity).is_some());
}

#[test]
fn nothing_is_triggered_on_an_entity_that_is_no_more_but_the_message_is_written() {
    let mut app = app(StateMachinePlugin::new().with_change_events().with_change_messages().with_triggers::<Aim>());
    app.init_resource::<Seen>();
    app.add_observer(|change: On<StateChanged<Soldier>>, mut seen: ResMut<Seen>| seen.0.push(names(&change)));
    app.add_observer(|_: On<Exited<Aim>>, mut seen: ResMut<Seen>| seen.0.push("exited Aim".into()));
    app.add_systems(
        Update,
        (|mut changes: MessageReader<StateChanged<Soldier>>, mut seen: ResMut<Seen>| {
            seen.0.extend(changes.read().map(|change| format!("message: {}", names(change))));
        })
        .in_set(MachineSet::Exit),
    );
    // In the second tick, Fight carries out the first of two orders, and Aim the other.
    app.world_mut().spawn(soldier([Order::Change(StateName::Fight), Order::Despawn, Order::Change(StateName::Patrol)]));
    app.update();
    take(&mut app);
    app.update();
    assert_eq!(take(&mut app), ["message: Aim to Patrol"]);
}

#[test]
fn what_an_observer_commands_is_done_before_the_next_is_told() {
    /// The observer that runs first despawns the other soldiers.
    #[derive(SystemParam)]
    struct Duel<'w, 's> {
        soldiers: Query<'w, 's, Entity, With<Soldier>>,
        commands: Commands<'w, 's>,
        seen: ResMut<'w, Seen>,
    }
    impl Duel<'_, '_> {
        fn win(mut self, winner: Entity) {
            self.seen.0.push(winner.to_string());
            for loser in self.soldiers.iter().filter(|soldier| *soldier != winner) {
                self.commands.entity(loser).despawn();
            }
        }
    }

    type Watcher = (StateMachinePlugin<Soldier>, fn(&mut App));
    let watchers: [Watcher; 3] = [
        (StateMachinePlugin::new().with_change_events(), |app| {
            app.add_observer(|it: On<StateChanged<Soldier>>, duel: Duel| {
                if it.from.is_some() {
                    duel.win(it.entity);
                }
            });
        }),
        (StateMachinePlugin::new().with_triggers::<Idle>(), |app| {
            app.add_observer(|it: On<Exited<Idle>>, duel: Duel| duel.win(it.entity));
        }),
        (StateMachinePlugin::new().with_triggers::<Patrol>(), |app| {
            app.add_observer(|it: On<Entered<Patrol>>, duel: Duel| duel.win(it.entity));
        }),
    ];
    for (plugin, observe) in watchers {
        let mut app = app(plugin);
        app.init_resource::<Seen>();
        observe(&mut app);
        let mut spawn = || app.world_mut().spawn(soldier([Order::Nothing, Order::Change(StateName::Patrol)])).id();
        let (first, _) = (spawn(), spawn());
        app.update();
        app.update();
        assert_eq!(take(&mut app), [first.to_string()]);
    }
}

#[test]
fn nobody_is_told_unasked() {
    let mut app = app(StateMachinePlugin::new());
    app.init_resource::<Seen>();
    app.add_observer(|change: On<StateChanged<Soldier>>, mut seen: ResMut<Seen>| seen.0.push(names(&change)));
    app.add_observer(|_: On<Entered<Patrol>>, mut seen: ResMut<Seen>| seen.0.push("entered Patrol".into()));
    app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)]));
    app.update();
    assert_eq!(take(&mut app), [] as [&str; 0]);
}
