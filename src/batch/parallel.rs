//! A tick on all cores.

use std::mem;
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Batch;
use super::outcome::Outcome;
use super::panics::FirstPanic;
use super::pass::Pass;
use crate::owner::Owner;

/// What a parallel tick keeps for the next, so that little is allocated.
pub(super) struct Workers<T: Owner> {
    /// The passes that no thread is using.
    idle: Mutex<Vec<Pass<T>>>,
    /// For each chunk what its tick comes to. Empty ones in between.
    outcomes: Vec<Outcome<T>>,
}

impl<T: Owner> Workers<T> {
    pub(super) const fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()), outcomes: Vec::new() }
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
        T::Message: Send,
        T::Context<'c>: Send,
    {
        let Self { store, workers: Workers { idle, outcomes: kept }, .. } = self;
        // Taken out, so that nothing stays in them after a panic.
        let mut outcomes = mem::take(kept);
        let chunks = store.chunks();
        if outcomes.len() < chunks.len() {
            outcomes.resize_with(chunks.len(), Outcome::new);
        }
        let ticks: Vec<_> = chunks
            .into_par_iter()
            .zip(&mut outcomes)
            .enumerate()
            .map(|(number, ((start, mut chunk), outcome))| {
                let cx = outcome.panic.catch(|| make(number));
                let cx = cx.map(|mut cx| {
                    with_idle(idle, |pass| pass.run_for(outcome, &mut chunk, &mut cx));
                    cx
                });
                (chunk.rows.bucket, start, cx)
            })
            .collect();
        let mut contexts = Vec::with_capacity(ticks.len());
        let mut panic = FirstPanic::new();
        for ((bucket, start, cx), outcome) in ticks.into_iter().zip(&mut outcomes) {
            store.move_rows(bucket, start, outcome);
            panic.keep_other(&mut outcome.panic);
            // As many as there are owners, they would be too much to keep.
            outcome.give_back();
            contexts.extend(cx);
        }
        store.settle_all();
        store.unused.pay(store.places.len());
        store.tidy(&mut panic);
        *kept = outcomes;
        panic.resume();
        contexts
    }
}
