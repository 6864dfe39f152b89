//! The order in which a pass updates entities, and in which a message to all of them arrives.

use std::mem;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

#[derive(Component, Owner)]
#[owner(message = ())]
struct Member;

#[derive(Resource, Default)]
struct Called(Vec<Entity>);

struct Stand;

impl MachineState<Member> for Stand {
    fn update(&self, _: &mut Member, _: &mut Fsm<'_, Member>, cx: &mut Cx<'_, Member>) {
        note(cx);
    }

    fn on_message(&self, _: &mut Member, (): &(), _: &mut Fsm<'_, Member>, cx: &mut Cx<'_, Member>) -> bool {
        note(cx);
        true
    }
}

fn note(cx: &mut Cx<'_, Member>) {
    let entity = cx.entity;
    cx.commands.queue(move |world: &mut World| world.resource_mut::<Called>().0.push(entity));
}

/// Gives the entities with each number a table of their own.
#[derive(Component)]
struct Badge<const NUMBER: usize>;

fn spawn<const NUMBER: usize>(world: &mut World) {
    for _ in 0..2 {
        world.spawn((Member, Badge::<NUMBER>, Machine::<Member>::new(&Stand)));
    }
}

#[test]
fn passes_and_messages_to_all_go_table_by_table_even_if_all_tables_are_new() {
    for plugin in [StateMachinePlugin::<Member>::new(), StateMachinePlugin::new().in_parallel()] {
        let mut app = App::new();
        app.init_resource::<Called>().add_state_machine_with(plugin);
        let spawns = [spawn::<0>, spawn::<1>, spawn::<2>, spawn::<3>, spawn::<4>, spawn::<5>, spawn::<6>, spawn::<7>];
        for spawn in spawns {
            spawn(app.world_mut());
        }
        app.update();
        let updated = mem::take(&mut app.world_mut().resource_mut::<Called>().0);
        let table = |entity: &Entity| app.world().entity(*entity).location().table_id.as_usize();
        let tables: Vec<usize> = updated.iter().map(table).collect();
        assert_eq!(tables.len(), 2 * spawns.len());
        assert!(tables.is_sorted(), "{tables:?}");
        app.world_mut().commands().queue(Machines::<Member>::broadcast(()));
        app.world_mut().flush();
        assert_eq!(app.world().resource::<Called>().0, updated);
    }
}
