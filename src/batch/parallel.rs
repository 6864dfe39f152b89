//! A tick on all cores.

use std::panic::resume_unwind;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Batch;
use super::pass::{Pass, panics_kept};
use crate::owner::Owner;

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
        let chunks = self.store.chunks();
        let ticks: Vec<_> = chunks
            .into_par_iter()
            .enumerate()
            .map_init(Pass::new, |pass, (number, (bucket, start, mut chunk))| {
                let mut fault = None;
                let mut cx = None;
                panics_kept(&mut fault, || cx = Some(make(number)));
                if let Some(cx) = &mut cx {
                    pass.run(&mut chunk, cx);
                }
                let mut upshot = pass.take_upshot();
                upshot.fault = upshot.fault.or(fault);
                (bucket, start, upshot, cx)
            })
            .collect();
        let mut contexts = Vec::with_capacity(ticks.len());
        let mut fault = None;
        for (bucket, start, mut upshot, cx) in ticks {
            self.store.move_rows(bucket, start, &mut upshot);
            fault = fault.or(upshot.fault);
            contexts.extend(cx);
        }
        self.store.settle_all();
        if let Some(fault) = fault {
            resume_unwind(fault);
        }
        contexts
    }
}
