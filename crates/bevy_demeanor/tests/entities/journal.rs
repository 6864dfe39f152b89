//! The journal of an owner's machines.

use bevy_app::App;
use bevy_demeanor::{MachineCommands, MachineJournal, StateChanged, StateMachinePlugin};
use bevy_ecs::prelude::*;

use crate::soldier::{Chase, Order, Patrol, Soldier, StateName, Watch, app, soldier};

/// Returns the entries of one soldier, as `Owner::on_change` gets them.
fn told(app: &App, entity: Entity) -> Vec<String> {
    let entries = app.world().resource::<MachineJournal<Soldier>>().of(entity);
    entries
        .map(|entry| {
            let name = |state: Option<&str>| state.unwrap_or("(no state)").to_owned();
            let refused = entry.refused.map(|refused| format!(", refused by {refused}")).unwrap_or_default();
            let within = entry.within.map(|within| format!(" in {within}")).unwrap_or_default();
            format!("{} -> {}{within} ({}){refused}", name(entry.from), name(entry.to), entry.cause)
        })
        .collect()
}

fn orders(i: u32) -> Vec<Order> {
    match i % 6 {
        0 => vec![Order::ChangeTwice(StateName::Stagger, StateName::Patrol), Order::Revert],
        1 => vec![Order::Change(StateName::Fight), Order::Change(StateName::Stagger)],
        2 => vec![Order::Push(StateName::Patrol), Order::Pop],
        3 => vec![Order::Nothing, Order::Change(StateName::Chase), Order::Despawn],
        4 => vec![Order::Change(StateName::March), Order::Nothing, Order::Change(StateName::Run)],
        _ => vec![Order::ChangeAfter(1.0, StateName::Patrol)],
    }
}

fn run(plugin: StateMachinePlugin<Soldier>) -> (App, Vec<Entity>) {
    let mut app = app(plugin.with_journal(100_000));
    let soldiers = (0..2500).map(|i| app.world_mut().spawn(soldier(orders(i))).id()).collect();
    for _ in 0..5 {
        app.world_mut().resource_mut::<Watch>().0 += 0.5;
        app.update();
    }
    (app, soldiers)
}

#[test]
fn the_journal_has_what_on_change_is_told() {
    let (app, soldiers) = run(StateMachinePlugin::new());
    let mut refusals = 0;
    for entity in &soldiers {
        let told = told(&app, *entity);
        refusals += told.iter().filter(|told| told.contains("refused by")).count();
        match app.world().get::<Soldier>(*entity) {
            Some(soldier) => {
                let changes =
                    soldier.trace.iter().filter(|line| line.contains(" -> ") && !line.starts_with("complete"));
                assert_eq!(told, changes.cloned().collect::<Vec<_>>());
            }
            None => assert_eq!(told, ["Idle -> Chase (change)"]),
        }
    }
    assert!(refusals > 100);
}

#[test]
fn the_journal_is_the_same_after_parallel_passes() {
    let texts = |plugin| -> Vec<String> {
        let (app, _) = run(plugin);
        app.world().resource::<MachineJournal<Soldier>>().entries().map(|entry| entry.to_string()).collect()
    };
    let in_order = texts(StateMachinePlugin::new());
    assert!(in_order.len() > 2500);
    assert!(in_order == texts(StateMachinePlugin::new().in_parallel()));
}

#[test]
fn what_commands_and_observers_lead_to_is_in_the_journal_in_its_order() {
    let mut app = app(StateMachinePlugin::new().with_journal(10).with_change_events());
    app.add_observer(|change: On<StateChanged<Soldier>>, mut commands: Commands| {
        if change.event().to.as_ref().is_some_and(|to| to.is::<Chase>()) {
            commands.entity(change.event().entity).force_state::<Soldier>(&Patrol);
        }
    });
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    app.world_mut().resource_mut::<Watch>().0 = 2.5;
    app.world_mut().commands().entity(entity).change_state::<Soldier>(&Chase);
    app.world_mut().flush();
    assert_eq!(told(&app, entity), ["Idle -> Chase (change)", "Chase -> Patrol (force)"]);
    let journal = app.world().resource::<MachineJournal<Soldier>>();
    let first = journal.entries().next().unwrap();
    assert_eq!((first.time, first.time_in_state), (2.5, 2.5));
    assert_eq!(journal.flow().changes().count(), 2);
}

#[test]
fn without_being_asked_for_there_is_none() {
    let mut app = app(StateMachinePlugin::new());
    app.world_mut().spawn(soldier([Order::Change(StateName::Patrol)]));
    app.update();
    assert!(!app.world().contains_resource::<MachineJournal<Soldier>>());
}
