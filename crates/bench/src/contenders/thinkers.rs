//! A batch of owners whose states compute: what more threads are for.

use std::marker::PhantomData;

use demeanor::{Batch, Fsm, State};

use crate::contender::Contender;
use crate::workload::{Behaviour, Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// An owner that thinks for some hundred nanoseconds in every tick.
struct Thinker<const PAD: usize>(Owner<PAD>);

impl<const PAD: usize> demeanor::Owner for Thinker<PAD> {
    type Context<'a> = Context;
    type Message = ();
}

/// Thinking, and then what is done in the state `B` anyway.
struct Pensive<B>(PhantomData<B>);

impl<B: Behaviour, const PAD: usize> State<Thinker<PAD>> for Pensive<B> {
    fn enter(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Context) {
        thinker.0.enter::<B>();
    }

    fn update(&self, thinker: &mut Thinker<PAD>, fsm: &mut Fsm<'_, Thinker<PAD>>, cx: &mut Context) {
        thinker.0.ponder(cx);
        if let Some(to) = thinker.0.update::<B>(cx) {
            fsm.change_state(state(to));
        }
    }

    fn exit(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Context) {
        thinker.0.exit::<B>();
    }
}

fn state<const PAD: usize>(name: Name) -> &'static dyn State<Thinker<PAD>> {
    match name {
        Name::Idle => &Pensive::<Idle>(PhantomData),
        Name::Think => &Pensive::<Think>(PhantomData),
        Name::Wander => &Pensive::<Wander>(PhantomData),
        Name::Chase => &Pensive::<Chase>(PhantomData),
        Name::Flee => &Pensive::<Flee>(PhantomData),
        Name::Rest => &Pensive::<Rest>(PhantomData),
    }
}

pub(crate) struct Thinkers<const PAD: usize> {
    batch: Batch<Thinker<PAD>>,
    is_parallel: bool,
}

impl<const PAD: usize> Thinkers<PAD> {
    pub(crate) fn on_one_thread(owners: usize) -> Box<dyn Contender> {
        Box::new(Self { batch: filled(owners), is_parallel: false })
    }

    pub(crate) fn on_all_threads(owners: usize) -> Box<dyn Contender> {
        Box::new(Self { batch: filled(owners), is_parallel: true })
    }
}

fn filled<const PAD: usize>(owners: usize) -> Batch<Thinker<PAD>> {
    let mut batch = Batch::new();
    for n in 0..owners {
        batch.spawn(Thinker(Owner::new(n)), state(Name::Idle), &mut Context::with_churn(0.0));
    }
    batch
}

impl<const PAD: usize> Contender for Thinkers<PAD> {
    fn tick(&mut self, cx: &Context) {
        if self.is_parallel {
            self.batch.par_update(|_chunk| *cx);
        } else {
            self.batch.update(&mut { *cx });
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.batch.iter().map(|(_, thinker)| &thinker.0))
    }
}
