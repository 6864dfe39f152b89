//! hecs with states as tag components.

use hecs::{Entity, World};

use super::matching;
use crate::contender::Contender;
use crate::workload::{Behaviour, Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// One loop for each state, over the owners that have its tag. The tags are exchanged after all loops.
pub(crate) struct Hecs<const PAD: usize> {
    world: World,
    movers: [Vec<(Entity, Name)>; Name::ALL.len()],
}

impl<const PAD: usize> Hecs<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let mut world = World::new();
        world.spawn_batch((0..owners).map(|n| {
            let mut owner = Owner::<PAD>::new(n);
            owner.enter::<Idle>();
            (owner, Idle)
        }));
        Box::new(Self { world, movers: Default::default() })
    }

    fn update<B: Behaviour>(&mut self, cx: &Context) {
        for (entity, owner) in self.world.query_mut::<(Entity, &mut Owner<PAD>)>().with::<&B>() {
            if let Some(to) = owner.update::<B>(cx) {
                owner.exit::<B>();
                matching::enter(owner, to);
                self.movers[B::NAME as usize].push((entity, to));
            }
        }
    }

    fn settle<B: Behaviour>(&mut self) {
        for (entity, to) in self.movers[B::NAME as usize].drain(..) {
            let exchanged = match to {
                Name::Idle => self.world.exchange_one::<B, _>(entity, Idle),
                Name::Think => self.world.exchange_one::<B, _>(entity, Think),
                Name::Wander => self.world.exchange_one::<B, _>(entity, Wander),
                Name::Chase => self.world.exchange_one::<B, _>(entity, Chase),
                Name::Flee => self.world.exchange_one::<B, _>(entity, Flee),
                Name::Rest => self.world.exchange_one::<B, _>(entity, Rest),
            };
            assert!(exchanged.is_ok(), "an owner was not in the state it was updated in");
        }
    }
}

impl<const PAD: usize> Contender for Hecs<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.update::<Idle>(cx);
        self.update::<Think>(cx);
        self.update::<Wander>(cx);
        self.update::<Chase>(cx);
        self.update::<Flee>(cx);
        self.update::<Rest>(cx);
        self.settle::<Idle>();
        self.settle::<Think>();
        self.settle::<Wander>();
        self.settle::<Chase>();
        self.settle::<Flee>();
        self.settle::<Rest>();
    }

    fn checksum(&self) -> u64 {
        checksum(self.world.query::<&Owner<PAD>>().iter())
    }
}
