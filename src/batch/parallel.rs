//! A tick on all cores.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Batch;
use super::pass::{Fault, Pass, Upshot, panics_kept};
use crate::owner::Owner;

/// What a parallel tick keeps for the next, so that little is allocated.
pub(super) struct Crew<T: Owner> {
    /// The passes that no thread is using.
    idle: Mutex<Vec<Pass<T>>>,
    /// For each chunk what its tick has come to. Empty ones in between.
    upshots: Vec<Upshot<T>>,
}

impl<T: Owner> Crew<T> {
    pub(super) const fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()), upshots: Vec::new() }
    }
}

/// Lends `act` a pass. Not one for each thread: a callback may itself wait for rayon, and another chunk run meanwhile.
fn with_idle<T: Owner, R>(idle: &Mutex<Vec<Pass<T>>>, act: impl FnOnce(&mut Pass<T>) -> R) -> R {
    let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let mut pass = idle().pop().unwrap_or_else(Pass::new);
    let result = act(&mut pass);
    idle().push(pass);
    result
}

impl<T: Owner> Batch<T> {
    /// Runs one tick for every owner, as [`update`](Self::update) does, on the threads of rayon's current pool.
    ///
    /// Each chunk of owners has a context of its own, which `make` makes from the chunk's number: each can collect commands,
    /// or have random numbers, of its own. The contexts are returned in the order of the chunks, which is that in which
    /// `update` comes to them. Neither chunks nor results depend on the number of threads (rule 21).
    ///
    /// # Panics
    ///
    /// When a callback or `make` panics, once the batch is in order: as [`update`](Self::update), but all other chunks have
    /// had their tick. The first panic, by the order of chunks, is the one that goes on. The contexts are lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Gunner;
    ///
    /// /// Where the shots of some gunners are collected.
    /// #[derive(Default)]
    /// struct Shots(u32);
    ///
    /// impl Owner for Gunner {
    ///     type Context<'a> = Shots;
    ///     type Message = ();
    /// }
    ///
    /// struct Fire;
    /// impl State<Gunner> for Fire {
    ///     fn update(&self, _: &mut Gunner, _: &mut Fsm<'_, Gunner>, shots: &mut Shots) {
    ///         shots.0 += 1;
    ///     }
    /// }
    ///
    /// let mut gunners = Batch::new();
    /// for _ in 0..10_000 {
    ///     gunners.insert(Gunner, &Fire);
    /// }
    /// let shots = gunners.par_update(|_chunk| Shots::default());
    /// assert_eq!(shots.iter().map(|shots| shots.0).sum::<u32>(), 10_000);
    /// ```
    pub fn par_update<'c>(&mut self, make: impl Fn(usize) -> T::Context<'c> + Sync) -> Vec<T::Context<'c>>
    where
        T: Send,
        T::Context<'c>: Send,
    {
        let Self { store, crew: Crew { idle, upshots: kept }, .. } = self;
        // Taken out, so that nothing stays in them after a panic.
        let mut upshots = mem::take(kept);
        let chunks = store.chunks();
        if upshots.len() < chunks.len() {
            upshots.resize_with(chunks.len(), Upshot::new);
        }
        let ticks: Vec<_> = chunks
            .into_par_iter()
            .zip(&mut upshots)
            .enumerate()
            .map(|(number, ((bucket, start, mut chunk), upshot))| {
                let mut cx = None;
                panics_kept(&mut upshot.fault, || cx = Some(make(number)));
                if let Some(cx) = &mut cx {
                    with_idle(idle, |pass| pass.run_for(upshot, &mut chunk, cx));
                }
                (bucket, start, cx)
            })
            .collect();
        let mut contexts = Vec::with_capacity(ticks.len());
        let mut fault = None;
        let moves = catch_unwind(AssertUnwindSafe(|| {
            for ((bucket, start, cx), upshot) in ticks.into_iter().zip(&mut upshots) {
                fault = fault.take().or(upshot.fault.take());
                store.move_rows(bucket, start, upshot);
                // As many as there are owners, they would be too much to keep.
                upshot.spare.clear();
                contexts.extend(cx);
            }
        }));
        store.settle_all();
        if let Some(fault) = fault.or(moves.err().map(Fault::new)) {
            fault.resume();
        }
        *kept = upshots;
        contexts
    }
}
