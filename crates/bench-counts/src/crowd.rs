//! A batch whose owners are in the states of [`states`](crate::states).

use std::hint::black_box;

use demeanor::Batch;

use crate::OWNERS;
use crate::states::{Character, IDLE};

/// Updates a batch, whose owners change their state in `per_mille` of 1000 updates.
pub(crate) fn batch(per_mille: u32, ticks: u32) {
    let mut cx = (per_mille, 0.0);
    let mut batch = Batch::new();
    for n in 0..OWNERS {
        batch.spawn(Character::new(n), &IDLE, &mut cx);
    }
    for _ in 0..ticks {
        cx.1 += 1.0 / 64.0;
        batch.update(&mut cx);
    }
    black_box(batch);
}
