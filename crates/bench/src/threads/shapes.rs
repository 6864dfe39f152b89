//! The states of the table of threads, in three families, and the shapes that they give a batch.

use std::marker::PhantomData;

use demeanor::{Fsm, FsmSlice, State, StateRef};

use super::thinker::{Mind, Thinker};
use crate::workload::{Behaviour, Chase, Flee, Idle, Name, Rest, Think, Wander};

/// How the owners are distributed in the batch, and to which states they change.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Six states, with changes from each to any other.
    SixStates,
    /// Nearly all owners are in one state; those that leave it come back in the next tick.
    OneLongBucket,
    /// 2000 states, with changes from each to any other.
    ManyShortBuckets,
    /// Six states; in each tick all changes go to the same one.
    OneTarget,
}

impl Shape {
    pub(super) const ALL: [Self; 4] = [Self::SixStates, Self::OneLongBucket, Self::ManyShortBuckets, Self::OneTarget];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SixStates => "six states",
            Self::OneLongBucket => "one long bucket",
            Self::ManyShortBuckets => "many short buckets",
            Self::OneTarget => "one target",
        }
    }

    /// Returns the first state of the `number`-th owner.
    pub(super) fn begin<const PAD: usize>(self, number: usize) -> StateRef<Thinker<PAD>> {
        match self {
            Self::SixStates | Self::OneTarget => pensive(Name::ALL[number % 6]).into(),
            Self::OneLongBucket => (&Home).into(),
            Self::ManyShortBuckets => PLACES[number % PLACES.len()].state().into(),
        }
    }
}

/// Updates a chunk like the default `update_all`, and notes the time at its end.
///
/// This is a macro because each impl must contain it: a function would hide from the compiler which `update` is called.
macro_rules! noted_update_all {
    () => {
        fn update_all(&self, owners: &mut [Thinker<PAD>], fsm: &mut FsmSlice<'_, Thinker<PAD>>, cx: &mut Mind<'_>) {
            for (i, owner) in owners.iter_mut().enumerate() {
                self.update(owner, fsm.at(i), cx);
            }
            if let Some(stamps) = cx.stamps {
                stamps.chunk_is_updated();
            }
        }
    };
}

/// One of six states, with the work of `B`.
struct Pensive<B>(PhantomData<B>);

impl<B: Behaviour, const PAD: usize> State<Thinker<PAD>> for Pensive<B> {
    fn enter(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.enter::<B>();
    }

    fn update(&self, thinker: &mut Thinker<PAD>, fsm: &mut Fsm<'_, Thinker<PAD>>, cx: &mut Mind<'_>) {
        if let Some(to) = thinker.update::<B>(cx) {
            let to = cx.target.unwrap_or(to);
            if to != B::NAME {
                fsm.change_state(pensive(to));
            }
        }
    }

    fn exit(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.exit::<B>();
    }

    noted_update_all!();
}

fn pensive<const PAD: usize>(name: Name) -> &'static dyn State<Thinker<PAD>> {
    match name {
        Name::Idle => &Pensive::<Idle>(PhantomData),
        Name::Think => &Pensive::<Think>(PhantomData),
        Name::Wander => &Pensive::<Wander>(PhantomData),
        Name::Chase => &Pensive::<Chase>(PhantomData),
        Name::Flee => &Pensive::<Flee>(PhantomData),
        Name::Rest => &Pensive::<Rest>(PhantomData),
    }
}

/// The state in which almost all owners are.
struct Home;

/// The state of the owners that leave home for one tick.
struct Errand;

impl<const PAD: usize> State<Thinker<PAD>> for Home {
    fn enter(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.enter::<Wander>();
    }

    fn update(&self, thinker: &mut Thinker<PAD>, fsm: &mut Fsm<'_, Thinker<PAD>>, cx: &mut Mind<'_>) {
        if u64::from(thinker.act::<Wander>(cx)) < cx.base.threshold {
            fsm.change_state(&Errand);
        }
    }

    fn exit(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.exit::<Wander>();
    }

    noted_update_all!();
}

impl<const PAD: usize> State<Thinker<PAD>> for Errand {
    fn enter(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.enter::<Chase>();
    }

    fn update(&self, thinker: &mut Thinker<PAD>, fsm: &mut Fsm<'_, Thinker<PAD>>, cx: &mut Mind<'_>) {
        thinker.act::<Chase>(cx);
        fsm.change_state(&Home);
    }

    fn exit(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.exit::<Chase>();
    }

    noted_update_all!();
}

/// One of 2000 states of one type.
struct Place {
    number: usize,
}

static PLACES: [Place; 2000] = {
    let mut places = [const { Place { number: 0 } }; 2000];
    let mut number = 0;
    while number < places.len() {
        places[number].number = number;
        number += 1;
    }
    places
};

impl Place {
    fn state<const PAD: usize>(&'static self) -> &'static dyn State<Thinker<PAD>> {
        self
    }
}

impl<const PAD: usize> State<Thinker<PAD>> for Place {
    fn enter(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.enter::<Flee>();
    }

    fn update(&self, thinker: &mut Thinker<PAD>, fsm: &mut Fsm<'_, Thinker<PAD>>, cx: &mut Mind<'_>) {
        let luck = thinker.act::<Flee>(cx);
        if u64::from(luck) < cx.base.threshold {
            // Owners that change have small numbers. The next bits choose the state.
            let onward = 1 + (luck >> 4) as usize % (PLACES.len() - 1);
            fsm.change_state(PLACES[(self.number + onward) % PLACES.len()].state());
        }
    }

    fn exit(&self, thinker: &mut Thinker<PAD>, _: &mut Fsm<'_, Thinker<PAD>>, _: &mut Mind<'_>) {
        thinker.0.exit::<Flee>();
    }

    noted_update_all!();
}
