//! A tick whose chunks the calling thread runs alone, as `update` does, because several threads would not save time. The results
//! are the same.

use std::mem;

use super::Workers;
use super::chunks::{Calls, run_chunk, start_of};
use crate::batch::chunk::pass::Pass;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::chunk::{Chunk, PassPart};
use crate::batch::rows::store::Store;
use crate::owner::Owner;

/// What is left of a tick when the calling thread has run all chunks.
#[derive(Default)]
pub(super) struct Alone {
    /// Whether a chunk's outcome has been kept for the end of the tick.
    pub(super) has_kept: bool,
    /// How many owners have handled a message.
    pub(super) handled: usize,
}

/// Runs all chunks. Appends the contexts.
///
/// If all changes of a chunk have been made in bulk, its outcome is taken up at once, because no callback can see this. Other
/// outcomes are kept, as on several threads, because they may contain new states.
pub(super) fn run_alone<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c>>(
    calls: &Calls<'_, T::Context<'c>, R, M>,
    store: &mut Store<T>,
    pass: &mut Pass<T>,
    workers: &mut Workers<T>,
    contexts: &mut Vec<T::Context<'c>>,
) -> Alone
where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>),
{
    let Workers { extents, ticked, .. } = workers;
    let mut alone = Alone::default();
    for nth in 0..extents.len() - 1 {
        let bucket = store.states.order()[nth];
        for chunk in 0..extents[nth + 1].chunks - extents[nth].chunks {
            let columns = &store.buckets[bucket as usize];
            let start = start_of(columns, chunk);
            let end = if start < columns.asleep { columns.asleep } else { columns.len() };
            let number = extents[nth].chunks + chunk;
            let mut chunk = store.chunk(bucket, start, CHUNK.min(end - start), PassPart::ALL);
            run_chunk(calls, number, pass, &mut chunk, contexts);
            let outcome = &mut pass.outcome;
            if outcome.has_only_movers() {
                alone.handled += mem::take(&mut outcome.handled);
                store.take_up(bucket, start, outcome);
            } else {
                alone.has_kept = true;
                ticked[number].keep(outcome, &chunk.rows);
            }
        }
        if !alone.has_kept {
            store.move_marked(bucket);
        }
    }
    alone
}
