//! How long states have been active, by the owner's clock.

use bevy_app::App;
use bevy_demeanor::{MachineCommands, StateMachinePlugin};
use bevy_ecs::entity::Entity;

use crate::soldier::{Aim, Chase, Fight, Order, Soldier, Watch, app, soldier, take_trace};

/// Runs a tick of one second. Returns the times that were recorded in it.
fn tick(app: &mut App, entity: Entity) -> Vec<String> {
    app.world_mut().resource_mut::<Watch>().0 += 1.0;
    app.update();
    let mut trace = take_trace(app, entity);
    trace.retain(|line| line.contains("Some("));
    trace
}

fn plugins() -> [StateMachinePlugin<Soldier>; 2] {
    [StateMachinePlugin::new(), StateMachinePlugin::new().in_parallel()]
}

#[test]
fn an_ancestors_time_goes_on_while_its_children_change() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = app.world_mut().spawn(soldier([Order::TellTimes; 6])).id();
        assert_eq!(tick(&mut app, entity), ["Idle Some(0.0)"], "the start counts as entering");
        assert_eq!(tick(&mut app, entity), ["Idle Some(1.0)"]);
        app.world_mut().commands().entity(entity).change_state(&Fight);
        app.world_mut().flush();
        assert_eq!(tick(&mut app, entity), ["Fight Some(1.0), Aim Some(1.0)"; 2]);
        app.world_mut().commands().entity(entity).change_state(&Aim);
        app.world_mut().flush();
        assert_eq!(tick(&mut app, entity), ["Fight Some(2.0), Aim Some(1.0)"; 2]);
    }
}

#[test]
fn a_suspended_state_stands_still_in_time() {
    for plugin in plugins() {
        let mut app = app(plugin);
        let entity = app.world_mut().spawn(soldier([Order::TellTimes; 7])).id();
        tick(&mut app, entity);
        app.world_mut().commands().entity(entity).change_state(&Fight);
        app.world_mut().flush();
        assert_eq!(tick(&mut app, entity), ["Fight Some(1.0), Aim Some(1.0)"; 2]);
        app.world_mut().commands().entity(entity).push_state(&Chase);
        app.world_mut().flush();
        assert_eq!(tick(&mut app, entity), ["Chase Some(1.0)"]);
        assert_eq!(tick(&mut app, entity), ["Chase Some(2.0)"]);
        app.world_mut().commands().entity(entity).pop_state::<Soldier>();
        app.world_mut().flush();
        assert_eq!(tick(&mut app, entity), ["Fight Some(2.0), Aim Some(2.0)"; 2]);
    }
}
