//! An enum beside the owner and a `match` on it, which is the code that a game writes without a crate.

use crate::contender::Contender;
use crate::workload::{Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// Owner and state side by side in one `Vec`.
pub(crate) struct Matching<const PAD: usize>(Vec<Enemy<PAD>>);

struct Enemy<const PAD: usize> {
    owner: Owner<PAD>,
    state: Name,
}

impl<const PAD: usize> Matching<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let enemies = (0..owners).map(|n| {
            let mut enemy = Enemy { owner: Owner::new(n), state: Name::Idle };
            enemy.owner.enter::<Idle>();
            enemy
        });
        Box::new(Self(enemies.collect()))
    }
}

impl<const PAD: usize> Enemy<PAD> {
    fn update(&mut self, cx: &Context) {
        let to = update(&mut self.owner, self.state, cx);
        if let Some(to) = to {
            exit(&mut self.owner, self.state);
            self.state = to;
            enter(&mut self.owner, self.state);
        }
    }
}

impl<const PAD: usize> Contender for Matching<PAD> {
    fn tick(&mut self, cx: &Context) {
        for enemy in &mut self.0 {
            enemy.update(cx);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(|enemy| &enemy.owner))
    }
}

#[inline]
pub(super) fn update<const PAD: usize>(owner: &mut Owner<PAD>, state: Name, cx: &Context) -> Option<Name> {
    match state {
        Name::Idle => owner.update::<Idle>(cx),
        Name::Think => owner.update::<Think>(cx),
        Name::Wander => owner.update::<Wander>(cx),
        Name::Chase => owner.update::<Chase>(cx),
        Name::Flee => owner.update::<Flee>(cx),
        Name::Rest => owner.update::<Rest>(cx),
    }
}

#[inline]
pub(super) fn enter<const PAD: usize>(owner: &mut Owner<PAD>, state: Name) {
    match state {
        Name::Idle => owner.enter::<Idle>(),
        Name::Think => owner.enter::<Think>(),
        Name::Wander => owner.enter::<Wander>(),
        Name::Chase => owner.enter::<Chase>(),
        Name::Flee => owner.enter::<Flee>(),
        Name::Rest => owner.enter::<Rest>(),
    }
}

#[inline]
pub(super) fn exit<const PAD: usize>(owner: &mut Owner<PAD>, state: Name) {
    match state {
        Name::Idle => owner.exit::<Idle>(),
        Name::Think => owner.exit::<Think>(),
        Name::Wander => owner.exit::<Wander>(),
        Name::Chase => owner.exit::<Chase>(),
        Name::Flee => owner.exit::<Flee>(),
        Name::Rest => owner.exit::<Rest>(),
    }
}
