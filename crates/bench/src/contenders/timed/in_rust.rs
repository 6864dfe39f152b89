//! The table as states written in Rust, in a batch and on machines.

use demeanor::{Fsm, State, StateRef};

use super::from_file::{Clock, InBatch, OnMachines};
use super::{CIRCLE, Creature, KINDS, RATE, STATES, duration, first, next, next_kind};
use crate::contender::Contender;

/// A state of the table.
struct Stage<const NESTED: bool, const ACTS: bool> {
    state: usize,
    seconds: f64,
}

/// The parent state of the states of one kind.
struct Kind<const ACTS: bool> {
    kind: usize,
}

static FLAT: [Stage<false, false>; STATES] = stages();
static FLAT_ACTING: [Stage<false, true>; STATES] = stages();
static NESTED: [Stage<true, false>; STATES] = stages();
static NESTED_ACTING: [Stage<true, true>; STATES] = stages();
static AROUND: [Kind<false>; KINDS] = kinds();
static AROUND_ACTING: [Kind<true>; KINDS] = kinds();

/// The sum of many tick lengths is inexact.
const TOLERANCE: f64 = 1e-6;

const fn stages<const NESTED: bool, const ACTS: bool>() -> [Stage<NESTED, ACTS>; STATES] {
    let mut stages = [const { Stage { state: 0, seconds: 0.0 } }; STATES];
    let mut state = 0;
    while state < STATES {
        stages[state] = Stage { state, seconds: duration(state) as f64 / RATE - TOLERANCE };
        state += 1;
    }
    stages
}

const fn kinds<const ACTS: bool>() -> [Kind<ACTS>; KINDS] {
    let mut kinds = [const { Kind { kind: 0 } }; KINDS];
    let mut kind = 0;
    while kind < KINDS {
        kinds[kind] = Kind { kind };
        kind += 1;
    }
    kinds
}

impl<const IS_NESTED: bool, const ACTS: bool, const PAD: usize> State<Creature<PAD>> for Stage<IS_NESTED, ACTS> {
    fn enter(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.arrive(self.state);
    }

    fn update(&self, creature: &mut Creature<PAD>, fsm: &mut Fsm<'_, Creature<PAD>>, clock: &mut Clock) {
        if ACTS {
            creature.act(self.state);
        }
        if fsm.time_in_state(clock) >= self.seconds {
            let next = next(self.state);
            match (IS_NESTED, ACTS) {
                (false, false) => fsm.change_state(&FLAT[next]),
                (false, true) => fsm.change_state(&FLAT_ACTING[next]),
                (true, false) => fsm.change_state(&NESTED[next]),
                (true, true) => fsm.change_state(&NESTED_ACTING[next]),
            }
        }
    }

    fn parent(&self) -> Option<StateRef<Creature<PAD>>> {
        let kind = self.state / CIRCLE.len();
        IS_NESTED.then(|| if ACTS { (&AROUND_ACTING[kind]).into() } else { (&AROUND[kind]).into() })
    }
}

impl<const ACTS: bool, const PAD: usize> State<Creature<PAD>> for Kind<ACTS> {
    fn enter(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.recover();
    }

    fn update(&self, creature: &mut Creature<PAD>, fsm: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        if creature.is_exhausted() {
            let next = next_kind(self.kind);
            if ACTS {
                fsm.change_state(&AROUND_ACTING[next]);
            } else {
                fsm.change_state(&AROUND[next]);
            }
        }
    }

    fn initial(&self) -> Option<StateRef<Creature<PAD>>> {
        let first = first(self.kind);
        Some(if ACTS { (&NESTED_ACTING[first]).into() } else { (&NESTED[first]).into() })
    }
}

/// Creates a batch of creatures in these states.
pub(crate) fn in_rust<const PAD: usize, const IS_NESTED: bool, const ACTS: bool>(owners: usize) -> Box<dyn Contender> {
    InBatch::<PAD>::of(owners, 1, stage::<PAD, IS_NESTED, ACTS>)
}

/// Creates creatures in these states, with a machine each.
pub(crate) fn machines_in_rust<const PAD: usize, const IS_NESTED: bool, const ACTS: bool>(
    owners: usize,
) -> Box<dyn Contender> {
    OnMachines::<PAD>::of(owners, 1, stage::<PAD, IS_NESTED, ACTS>)
}

fn stage<const PAD: usize, const IS_NESTED: bool, const ACTS: bool>(state: usize) -> StateRef<Creature<PAD>> {
    match (IS_NESTED, ACTS) {
        (false, false) => (&FLAT[state]).into(),
        (false, true) => (&FLAT_ACTING[state]).into(),
        (true, false) => (&NESTED[state]).into(),
        (true, true) => (&NESTED_ACTING[state]).into(),
    }
}
