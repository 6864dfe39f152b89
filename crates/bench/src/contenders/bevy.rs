//! `bevy_ecs` on one thread: states as tag components, and as an enum component.

#![expect(clippy::needless_pass_by_value, reason = "that is how a system is given what it asks for")]

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;

use super::matching;
use crate::contender::Contender;
use crate::workload::{Behaviour, Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// A world and the schedule that runs in each tick.
pub(crate) struct Bevy<const PAD: usize> {
    world: World,
    schedule: Schedule,
}

#[derive(Component)]
struct Mode(Name);

impl<const PAD: usize> Bevy<PAD> {
    /// One system for each state, over the owners that have its tag. Changes are commands, which are applied after all systems.
    pub(crate) fn with_tags(owners: usize) -> Box<dyn Contender> {
        let mut schedule = Schedule::default();
        schedule.add_systems((
            update_tagged::<Idle, PAD>,
            update_tagged::<Think, PAD>,
            update_tagged::<Wander, PAD>,
            update_tagged::<Chase, PAD>,
            update_tagged::<Flee, PAD>,
            update_tagged::<Rest, PAD>,
        ));
        Self::boxed(owners, schedule, || Idle)
    }

    /// One system for all states, with a `match`.
    pub(crate) fn with_enum(owners: usize) -> Box<dyn Contender> {
        let mut schedule = Schedule::default();
        schedule.add_systems(update_matched::<PAD>);
        Self::boxed(owners, schedule, || Mode(Name::Idle))
    }

    fn boxed<C: Component>(owners: usize, mut schedule: Schedule, in_idle: fn() -> C) -> Box<dyn Contender> {
        schedule.set_executor(SingleThreadedExecutor::new());
        let mut world = World::new();
        world.insert_resource(Context::with_churn(0.0));
        world.spawn_batch((0..owners).map(move |n| {
            let mut owner = Owner::<PAD>::new(n);
            owner.enter::<Idle>();
            (owner, in_idle())
        }));
        Box::new(Self { world, schedule })
    }
}

fn update_tagged<B: Behaviour + Component, const PAD: usize>(
    mut owners: Query<(Entity, &mut Owner<PAD>), With<B>>,
    cx: Res<Context>,
    mut commands: Commands,
) {
    for (entity, mut owner) in &mut owners {
        if let Some(to) = owner.update::<B>(&cx) {
            owner.exit::<B>();
            matching::enter(&mut owner, to);
            let mut tags = commands.entity(entity);
            tags.remove::<B>();
            match to {
                Name::Idle => tags.insert(Idle),
                Name::Think => tags.insert(Think),
                Name::Wander => tags.insert(Wander),
                Name::Chase => tags.insert(Chase),
                Name::Flee => tags.insert(Flee),
                Name::Rest => tags.insert(Rest),
            };
        }
    }
}

fn update_matched<const PAD: usize>(mut owners: Query<(&mut Owner<PAD>, &mut Mode)>, cx: Res<Context>) {
    for (mut owner, mut mode) in &mut owners {
        if let Some(to) = matching::update(&mut owner, mode.0, &cx) {
            matching::exit(&mut owner, mode.0);
            mode.0 = to;
            matching::enter(&mut owner, to);
        }
    }
}

impl<const PAD: usize> Contender for Bevy<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.world.insert_resource(*cx);
        self.schedule.run(&mut self.world);
        // An app does this after each frame: it forgets which components were removed.
        self.world.clear_trackers();
    }

    fn checksum(&self) -> u64 {
        let mut owners = self.world.try_query::<&Owner<PAD>>().expect("owners have been spawned");
        checksum(owners.iter(&self.world))
    }
}
