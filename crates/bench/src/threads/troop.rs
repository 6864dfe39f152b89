//! A batch of thinkers in one shape: the contenders of the table of threads.

use demeanor::Batch;

use super::shapes::Shape;
use super::stamps::Stamps;
use super::thinker::{Mind, Thinker};
use crate::contender::{Contender, SCATTERING_TICKS};
use crate::workload::{Context, Name, Owner, checksum};

/// A batch and the parameters of its ticks.
pub(super) struct Troop<const PAD: usize> {
    batch: Batch<Thinker<PAD>>,
    shape: Shape,
    computes: bool,
    is_parallel: bool,
    ticks: usize,
}

impl<const PAD: usize> Troop<PAD> {
    pub(super) fn new(owners: usize, shape: Shape, computes: bool, is_parallel: bool) -> Self {
        let mut batch = Batch::new();
        let mut mind = Mind { base: Context::with_churn(0.0), computes, target: None, stamps: None };
        for n in 0..owners {
            batch.spawn(Thinker(Owner::new(n)), shape.begin(n), &mut mind);
        }
        Self { batch, shape, computes, is_parallel, ticks: 0 }
    }

    /// Runs a tick on the threads of the current pool.
    pub(super) fn par_tick(&mut self, cx: &Context, stamps: Option<&Stamps>) {
        let mind = Mind { stamps, ..self.next_mind(*cx) };
        self.batch.par_update(|_chunk| {
            if let Some(stamps) = mind.stamps {
                stamps.chunk_begins();
            }
            mind
        });
    }

    fn next_mind(&mut self, base: Context) -> Mind<'static> {
        self.ticks += 1;
        let target = (self.shape == Shape::OneTarget).then_some(Name::ALL[self.ticks % 6]);
        Mind { base, computes: self.computes, target, stamps: None }
    }
}

impl<const PAD: usize> Contender for Troop<PAD> {
    fn tick(&mut self, cx: &Context) {
        if self.is_parallel {
            self.par_tick(cx, None);
        } else {
            let mut mind = self.next_mind(*cx);
            self.batch.update(&mut mind);
        }
    }

    /// The owners change to random states, even if they later change to one target.
    fn scatter(&mut self) {
        let base = Context::with_churn(1.0);
        for _ in 0..SCATTERING_TICKS {
            self.batch.update(&mut Mind { base, computes: false, target: None, stamps: None });
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.batch.iter().map(|(_, thinker)| &thinker.0))
    }
}
