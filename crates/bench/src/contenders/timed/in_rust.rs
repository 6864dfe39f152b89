//! The table as states written in Rust, in a batch.

use demeanor::{Fsm, State, StateRef};

use super::from_file::{Clock, InBatch};
use super::{CIRCLE, Creature, KINDS, RATE, STATES, duration, first, next, next_kind};
use crate::contender::Contender;

/// A state of the table.
struct Stage<const NESTED: bool> {
    state: usize,
    seconds: f64,
}

/// What is around the stages of one kind.
struct Kind {
    kind: usize,
}

static FLAT: [Stage<false>; STATES] = stages();
static NESTED: [Stage<true>; STATES] = stages();
static AROUND: [Kind; KINDS] = kinds();

/// Clocks that add up do so inexactly.
const TOLERANCE: f64 = 1e-6;

const fn stages<const NESTED: bool>() -> [Stage<NESTED>; STATES] {
    let mut stages = [const { Stage { state: 0, seconds: 0.0 } }; STATES];
    let mut state = 0;
    while state < STATES {
        stages[state] = Stage { state, seconds: duration(state) as f64 / RATE - TOLERANCE };
        state += 1;
    }
    stages
}

const fn kinds() -> [Kind; KINDS] {
    let mut kinds = [const { Kind { kind: 0 } }; KINDS];
    let mut kind = 0;
    while kind < KINDS {
        kinds[kind] = Kind { kind };
        kind += 1;
    }
    kinds
}

impl<const IS_NESTED: bool, const PAD: usize> State<Creature<PAD>> for Stage<IS_NESTED> {
    fn enter(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.arrive(self.state);
    }

    fn update(&self, _: &mut Creature<PAD>, fsm: &mut Fsm<'_, Creature<PAD>>, clock: &mut Clock) {
        if fsm.time_in_state(clock) >= self.seconds {
            if IS_NESTED {
                fsm.change_state(&NESTED[next(self.state)]);
            } else {
                fsm.change_state(&FLAT[next(self.state)]);
            }
        }
    }

    fn parent(&self) -> Option<StateRef<Creature<PAD>>> {
        IS_NESTED.then(|| (&AROUND[self.state / CIRCLE.len()]).into())
    }
}

impl<const PAD: usize> State<Creature<PAD>> for Kind {
    fn enter(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.recover();
    }

    fn update(&self, creature: &mut Creature<PAD>, fsm: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        if creature.is_exhausted() {
            fsm.change_state(&AROUND[next_kind(self.kind)]);
        }
    }

    fn initial(&self) -> Option<StateRef<Creature<PAD>>> {
        Some((&NESTED[first(self.kind)]).into())
    }
}

/// A batch of creatures in these states.
pub(crate) fn in_rust<const PAD: usize, const IS_NESTED: bool>(owners: usize) -> Box<dyn Contender> {
    if IS_NESTED {
        InBatch::<PAD>::of(owners, |state| StateRef::from(&NESTED[state]))
    } else {
        InBatch::<PAD>::of(owners, |state| StateRef::from(&FLAT[state]))
    }
}
