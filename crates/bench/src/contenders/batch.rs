//! This crate's batch, with the states of `machines.rs`.

use demeanor::{Batch, Journal};

use crate::contender::Contender;
use crate::workload::{Chase, Context, Flee, Idle, Owner, Rest, Think, Wander, checksum};

/// A batch on one thread.
pub(crate) struct OneThread<const PAD: usize>(Batch<Owner<PAD>>);

impl<const PAD: usize> OneThread<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        Box::new(Self(filled(owners)))
    }

    /// A batch that keeps a journal of its last changes.
    pub(crate) fn boxed_with_journal(owners: usize) -> Box<dyn Contender> {
        let mut batch = filled(owners);
        batch.set_journal(Some(Journal::new(100_000)));
        Box::new(Self(batch))
    }
}

impl<const PAD: usize> Contender for OneThread<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.0.update(&mut { *cx });
    }

    fn checksum(&self) -> u64 {
        sum(&self.0)
    }
}

/// A batch on as many threads as the computer has cores.
pub(crate) struct AllThreads<const PAD: usize>(Batch<Owner<PAD>>);

impl<const PAD: usize> AllThreads<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        Box::new(Self(filled(owners)))
    }
}

impl<const PAD: usize> Contender for AllThreads<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.0.par_update(|_chunk| *cx);
    }

    fn checksum(&self) -> u64 {
        sum(&self.0)
    }
}

fn filled<const PAD: usize>(owners: usize) -> Batch<Owner<PAD>> {
    let mut batch = Batch::new();
    for n in 0..owners {
        batch.spawn(Owner::new(n), &Idle, &mut Context::with_churn(0.0));
    }
    batch
}

fn sum<const PAD: usize>(batch: &Batch<Owner<PAD>>) -> u64 {
    let states = [
        batch.owners_in(&Idle),
        batch.owners_in(&Think),
        batch.owners_in(&Wander),
        batch.owners_in(&Chase),
        batch.owners_in(&Flee),
        batch.owners_in(&Rest),
    ];
    checksum(states.into_iter().flatten())
}
