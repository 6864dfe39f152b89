//! A batch whose owners are in the states of [`states`](crate::states).

use std::hint::black_box;

use demeanor::{Batch, State};

use crate::OWNERS;
use crate::states::Character;

/// Updates a batch, whose owners begin in the state `initial`, and change their state in `per_mille` of 1000 updates.
pub(crate) fn batch(initial: &'static dyn State<Character>, per_mille: u32, ticks: u32) {
    let mut cx = (per_mille, 0.0);
    let mut batch = Batch::new();
    for n in 0..OWNERS {
        batch.spawn(Character::new(n), initial, &mut cx);
    }
    for _ in 0..ticks {
        cx.1 += 1.0 / 64.0;
        batch.update(&mut cx);
    }
    black_box(batch);
}
