//! Owners and machines as Bevy's templates.

use bevy_app::App;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

/// A template of a guard names the entity that the guard protects.
#[derive(Component, Owner, FromTemplate)]
#[require(Machine<Guard> = Machine::new(&Patrol))]
struct Guard {
    protects: Entity,
    steps: u32,
}

struct Patrol;
impl MachineState<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
        guard.steps += 1;
    }
}

struct Rest;
impl MachineState<Guard> for Rest {}

/// Spawns an entity, and inserts what a template builds for it.
fn spawn<C: Component>(app: &mut App, template: &impl Template<Output = C>) -> Entity {
    let mut entity = app.world_mut().spawn_empty();
    let component = entity.build_template(template).unwrap();
    entity.insert(component).id()
}

#[test]
fn a_template_of_an_owner_is_enough_if_it_requires_its_machine() {
    let mut app = App::new();
    app.add_state_machine::<Guard>();
    let treasure = app.world_mut().spawn_empty().id();
    let template = GuardTemplate { protects: treasure.into(), steps: 7 };
    let guards = [spawn(&mut app, &template), spawn(&mut app, &template.clone_template())];
    app.world_mut().commands().entity(guards[1]).change_state(&Rest);
    app.update();
    app.update();
    let seen = guards.map(|guard| app.world().get::<Guard>(guard).map(|guard| (guard.protects, guard.steps)));
    assert_eq!(seen, [Some((treasure, 9)), Some((treasure, 7))]);
}

#[test]
fn a_machine_is_a_template_that_each_entity_gets_a_clone_of() {
    let mut app = App::new();
    app.add_state_machine::<Guard>();
    let template = Machine::<Guard>::new(&Patrol);
    let guards = [spawn(&mut app, &template), spawn(&mut app, &template)];
    for guard in guards {
        app.world_mut().entity_mut(guard).insert(Guard { protects: guard, steps: 0 });
    }
    app.world_mut().commands().entity(guards[1]).change_state(&Rest);
    app.update();
    let is_resting = |guard| app.world().get::<Machine<Guard>>(guard).unwrap().is_in_state(&Rest);
    assert_eq!(guards.map(is_resting), [false, true]);
}
