//! A tick on all cores.
//!
//! - `chunks`: the chunks' part, each by some thread.
//! - `plan`: which moves are made by one thread, and which together.
//! - `leavers`: brings the owners that leave a long bucket to its end.
//! - `together`: how all of a long bucket go to the same other one.
//! - `arrivals`: how they come to their new buckets.
//!
//! The rows then lie as if `Store::move_rows` had moved them, chunk by chunk. Beside it, `insertion`: owners made on all cores.

mod arrivals;
mod chunks;
mod insertion;
mod leavers;
mod plan;
mod together;

use std::mem;
use std::ops::Range;
use std::sync::Mutex;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use slotmap::SlotMap;

use self::arrivals::{Group, HandOut, share_out, take_up_all};
use self::chunks::{ChunkMovers, Extent, Sleepers, Ticked, Ticks};
use self::leavers::Leavers;
use self::plan::{Job, Jobs, MoveKind};
use self::together::{move_together, target_of_all};
use super::Batch;
use super::chunk::pass::Pass;
use super::known::key::Key;
use super::known::panics::FirstPanic;
use super::known::slots::CHUNK;
use super::rows::chunk::{Chunk, PassPart};
use super::rows::columns::Columns;
use super::rows::moves::{Arrivals, move_each};
use super::rows::place::SharedPlace;
use super::rows::store::Store;
use crate::owner::Owner;
use crate::state::Mover;

/// What a parallel tick keeps for the next, so that nothing is allocated.
pub(super) struct Workers<T: Owner> {
    /// The passes that no thread is using.
    idle: Mutex<Vec<Pass<T>>>,
    /// For each chunk, in the order of the states and by ascending row, what its tick has come to. Empty in between.
    ticked: Vec<Ticked<T>>,
    /// Likewise the movers, while threads move their rows.
    movers: Vec<ChunkMovers>,
    /// Where in the order each bucket begins.
    extents: Vec<Extent>,
    /// The buckets in the order of the states, while threads work on them. Empty in between.
    line: Vec<Columns<T>>,
    jobs: Jobs,
    groups: Vec<Group<T>>,
}

impl<T: Owner> Workers<T> {
    pub(super) const fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
            ticked: Vec::new(),
            movers: Vec::new(),
            extents: Vec::new(),
            line: Vec::new(),
            jobs: Jobs::new(),
            groups: Vec::new(),
        }
    }

    /// Notes how long the buckets are, and makes room for what their chunks' ticks come to.
    fn measure(&mut self, store: &Store<T>, sleepers: Sleepers) {
        let Self { extents, ticked, movers, .. } = self;
        let mut extent = Extent::default();
        extents.clear();
        extents.push(extent);
        for &bucket in store.states.order() {
            let Extent { rows, chunks } = sleepers.extent(&store.buckets[bucket as usize]);
            extent.rows += rows;
            extent.chunks += chunks;
            extents.push(extent);
        }
        if ticked.len() < extent.chunks {
            ticked.resize_with(extent.chunks, Ticked::new);
            movers.resize_with(extent.chunks, ChunkMovers::default);
        }
    }
}

impl<T: Owner> Batch<T> {
    /// Runs one tick for every owner, as [`update`](Self::update) does, on the threads of rayon's current pool.
    ///
    /// A chunk is a group of at most 2048 owners in the same state. Each chunk gets its own context, which `make` creates from
    /// the number of the chunk. So each chunk can have its own list of commands, or its own random numbers. The contexts are
    /// returned in the order in which `update` would reach the chunks. Neither the chunks nor the results depend on the number of threads
    /// ([rule 21](crate::docs::semantics#rule-21)). What is due before any owner is updated
    /// ([rule 19](crate::docs::semantics#rule-19)) is carried out by one thread, with the first context.
    ///
    /// # Panics
    ///
    /// When a callback or `make` panics. As with [`update`](Self::update), the panic reaches the caller when the batch is in
    /// order again, but here all other chunks have had their tick. If several chunks panic, the panic of the first one, in
    /// the order of the chunks, reaches the caller. The contexts are lost.
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
        T: Send, // owners go to other threads: so there is no `Rc` in an owner
        T::Message: Send,
        T::Context<'c>: Send, // each thread has one: so there is no `Rc` in a context
    {
        self.store.wake_outdated();
        let first = self.carry_out_due_first(&make);
        let sleepers = if self.store.global.is_updating {
            Sleepers::TakePart
        } else if self
            .store
            .buckets
            .iter()
            .any(|columns| columns.due.first().is_some_and(|&slot| columns.is_asleep(slot as usize)))
        {
            Sleepers::TakePartIfDue
        } else {
            Sleepers::AreLeftOut
        };
        self.par_do(sleepers, first, Pass::run, make).0
    }

    /// Offers a message to every owner's machine, on the threads of rayon's current pool. Returns how many owners handled it,
    /// and the contexts.
    ///
    /// It offers the message as [`broadcast`](Self::broadcast) does. Each chunk gets its own context, as in
    /// [`par_update`](Self::par_update).
    ///
    /// # Panics
    ///
    /// When a callback or `make` panics. The panic reaches the caller when the batch is in order again. The owners that come
    /// after that one in its chunk are not offered the message. If several chunks panic, the panic of the first one, in the
    /// order of the chunks, reaches the caller.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Soldier;
    /// struct Retreat;
    ///
    /// impl Owner for Soldier {
    ///     type Context<'a> = ();
    ///     type Message = Retreat;
    /// }
    ///
    /// struct Fight;
    /// struct Flee;
    /// impl State<Soldier> for Flee {}
    /// impl State<Soldier> for Fight {
    ///     fn on_message(&self, _: &mut Soldier, _: &Retreat, fsm: &mut Fsm<'_, Soldier>, _: &mut ()) -> bool {
    ///         fsm.change_state(&Flee);
    ///         true
    ///     }
    /// }
    ///
    /// let mut army = Batch::new();
    /// army.extend((0..10_000).map(|_| (Soldier, &Fight)));
    /// let (handled, _) = army.par_broadcast(&Retreat, |_chunk| ());
    /// assert_eq!(handled, 10_000);
    /// assert_eq!(army.owners_in(&Flee).len(), 10_000);
    /// ```
    pub fn par_broadcast<'c>(
        &mut self,
        message: &T::Message,
        make: impl Fn(usize) -> T::Context<'c> + Sync,
    ) -> (usize, Vec<T::Context<'c>>)
    where
        T: Send,
        T::Message: Send + Sync,
        T::Context<'c>: Send,
    {
        let offer = |pass: &mut Pass<T>, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'c>| {
            pass.offer(message, chunk, cx);
        };
        let (contexts, handled) = self.par_do(Sleepers::TakePart, None, offer, make);
        (handled, contexts)
    }

    /// Carries out what is due, with the first chunk's context, which is returned.
    fn carry_out_due_first<'c>(&mut self, make: &impl Fn(usize) -> T::Context<'c>) -> Option<T::Context<'c>> {
        if self.store.timers.is_empty() {
            return None;
        }
        let mut first = make(0);
        self.carry_out_due(PassPart::ALL, &mut first);
        Some(first)
    }

    /// Does something with each chunk of owners. Returns the contexts, and how many owners have handled a message.
    fn par_do<'c>(
        &mut self,
        sleepers: Sleepers,
        first: Option<T::Context<'c>>,
        act: impl Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>) + Sync,
        make: impl Fn(usize) -> T::Context<'c> + Sync,
    ) -> (Vec<T::Context<'c>>, usize)
    where
        T: Send,
        T::Message: Send,
        T::Context<'c>: Send,
    {
        let Self { store, workers, .. } = self;
        let mut panic = FirstPanic::new();
        workers.measure(store, sleepers);
        let contexts = in_line(store, &mut workers.line, &mut panic, |store, line| {
            let (shared, global) = (store.shared(), &store.global);
            let (idle, extents, first) = (&workers.idle, &workers.extents, Mutex::new(first));
            let ticks = Ticks { act: &act, make: &make, idle, shared, global, extents, sleepers, first };
            let chunks = workers.extents.last().map_or(0, |all| all.chunks);
            ticks.run(0, line, &mut workers.ticked[..chunks])
        });
        store.forget_due();
        move_all(store, workers, sleepers, &mut panic);
        store.settle_sleepers();
        let mut handled = 0;
        for nth in 0..workers.extents.len() - 1 {
            for ticked in workers.ticked[chunks_of(&workers.extents, nth)].iter_mut().rev() {
                let outcome = &mut ticked.outcome;
                outcome.movers.clear();
                handled += mem::take(&mut outcome.handled);
                panic.keep_other(&mut outcome.panic);
                // As many as there are owners, they would be too much to keep.
                outcome.give_back();
            }
        }
        store.unused.pay(store.places.len());
        store.tidy(&mut panic);
        panic.resume();
        (contexts.unwrap_or_default(), handled)
    }
}

fn chunks_of(extents: &[Extent], nth: usize) -> Range<usize> {
    extents[nth].chunks..extents[nth + 1].chunks
}

/// Lends `act` the buckets in the order of the states. They are put back even if it panics.
fn in_line<T: Owner, R>(
    store: &mut Store<T>,
    line: &mut Vec<Columns<T>>,
    panic: &mut FirstPanic,
    act: impl FnOnce(&Store<T>, &mut [Columns<T>]) -> R,
) -> Option<R> {
    let buckets = &mut store.buckets;
    // Nearly always the numbers are in order, and all are there.
    let is_sorted = store.states.order().len() == buckets.len() && store.states.order().is_sorted();
    if is_sorted {
        mem::swap(buckets, line);
    } else {
        let order = store.states.order().iter();
        line.extend(order.map(|&bucket| mem::replace(&mut buckets[bucket as usize], Columns::new(0))));
    }
    let result = panic.catch(|| act(store, line));
    if is_sorted {
        mem::swap(&mut store.buckets, line);
    } else {
        for (&bucket, columns) in store.states.order().iter().zip(line.drain(..)) {
            store.buckets[bucket as usize] = columns;
        }
    }
    result
}

/// Moves all owners that have changed to their new buckets.
fn move_all<T: Owner + Send>(
    store: &mut Store<T>,
    workers: &mut Workers<T>,
    sleepers: Sleepers,
    panic: &mut FirstPanic,
) {
    let Workers { ticked, movers, extents, line, jobs, groups, .. } = workers;
    if ticked.iter().any(|Ticked { outcome, .. }| !outcome.movers.is_empty() && outcome.moved_at != 0.0) {
        store.start_clock();
    }
    jobs.plan(extents, ticked);
    for job in &jobs.list {
        while groups.len() < job.groups.end {
            groups.push(Group::new());
        }
        for nth in job.buckets.clone() {
            let (bucket, chunks) = (store.states.order()[nth], chunks_of(extents, nth));
            move_alone(store, bucket, (job.kind, sleepers), &mut ticked[chunks.clone()], &mut movers[chunks]);
        }
        if let (MoveKind::Single, Some(group)) = (job.kind, groups[job.groups.clone()].first_mut()) {
            group.take(&mut store.arrivals);
        }
    }
    let Some(used) = jobs.groups() else {
        store.settle_all();
        return;
    };
    let groups = &mut groups[..used];
    for group in groups.iter_mut() {
        group.make_parts(store.buckets.len());
    }
    in_line(store, line, panic, |store, line| {
        let Store { places, states, has_clock, .. } = store;
        let moves = Moves { places, order: states.order(), has_clock: *has_clock, extents };
        moves.carry_out(&jobs.list, 0, line, movers, groups);
    });
    for nth in jobs.list.iter().filter(|job| job.kind != MoveKind::Single).flat_map(|job| job.buckets.clone()) {
        let chunks = chunks_of(extents, nth);
        if movers[chunks.clone()].iter().any(|movers| !movers.list.is_empty()) {
            store.note_if_unused(store.states.order()[nth]);
        }
        for (movers, ticked) in movers[chunks.clone()].iter_mut().zip(&mut ticked[chunks]) {
            movers.exchange(ticked);
        }
    }
    let Store { buckets, places, has_clock, .. } = store;
    take_up_all(buckets, groups, *has_clock, places);
}

/// Moves the owners of one bucket, as an ordinary tick does; or does all but that, if threads will do it together.
fn move_alone<T: Owner>(
    store: &mut Store<T>,
    bucket: u32,
    (kind, sleepers): (MoveKind, Sleepers),
    ticked: &mut [Ticked<T>],
    movers: &mut [ChunkMovers],
) {
    let asleep = store.buckets[bucket as usize].asleep;
    for (chunk, ticked) in ticked.iter_mut().enumerate().rev() {
        let outcome = &mut ticked.outcome;
        match kind {
            MoveKind::Single if outcome.is_empty() => {}
            MoveKind::Single => store.move_rows(bucket, sleepers.start(chunk, asleep), outcome),
            MoveKind::Short | MoveKind::Long => {
                store.move_no_rows(outcome);
                movers[chunk].exchange(ticked);
            }
        }
    }
}

/// The moves that threads make together.
struct Moves<'a> {
    places: &'a SlotMap<Key, SharedPlace>,
    order: &'a [u32],
    has_clock: bool,
    extents: &'a [Extent],
}

impl Moves<'_> {
    /// Carries out some jobs. `line` begins with the `first`-th bucket, `chunks` with its chunks, `groups` with the first job's.
    fn carry_out<T: Owner + Send>(
        &self,
        jobs: &[Job],
        first: usize,
        line: &mut [Columns<T>],
        chunks: &mut [ChunkMovers],
        groups: &mut [Group<T>],
    ) {
        if let [job] = jobs {
            let before = self.extents[job.buckets.start].chunks - self.extents[first].chunks;
            let line = &mut line[job.buckets.start - first..job.buckets.end - first];
            self.carry_out_one(job, line, &mut chunks[before..], groups);
        } else if let Some(middle) = jobs.get(jobs.len() / 2) {
            let (jobs, other_jobs) = jobs.split_at(jobs.len() / 2);
            let next = middle.buckets.start;
            let (line, other_line) = line.split_at_mut(next - first);
            let (chunks, other_chunks) = chunks.split_at_mut(self.extents[next].chunks - self.extents[first].chunks);
            let (groups, other_groups) = groups.split_at_mut(middle.groups.start - jobs[0].groups.start);
            rayon::join(
                || self.carry_out(jobs, first, line, chunks, groups),
                || self.carry_out(other_jobs, next, other_line, other_chunks, other_groups),
            );
        }
    }

    /// Carries out a job on its buckets. `chunks` begins with their chunks.
    fn carry_out_one<T: Owner + Send>(
        &self,
        job: &Job,
        line: &mut [Columns<T>],
        chunks: &mut [ChunkMovers],
        groups: &mut [Group<T>],
    ) {
        match (job.kind, line, groups) {
            (MoveKind::Short, line, [group, ..]) => {
                let first = self.extents[job.buckets.start].chunks;
                for (nth, columns) in job.buckets.clone().zip(line) {
                    let Range { start, end } = chunks_of(self.extents, nth);
                    let chunks = &chunks[start - first..end - first];
                    self.move_short(self.order[nth], columns, chunks, group);
                }
            }
            (MoveKind::Long, [columns], groups) => {
                let bucket = self.order[job.buckets.start];
                let chunks = &mut chunks[..chunks_of(self.extents, job.buckets.start).len()];
                self.move_long(bucket, columns, chunks, &mut groups[..job.groups.len()]);
            }
            // Done before.
            _ => {}
        }
    }

    /// Moves the owners of a bucket on one thread.
    fn move_short<T: Owner>(
        &self,
        bucket: u32,
        columns: &mut Columns<T>,
        chunks: &[ChunkMovers],
        group: &mut Group<T>,
    ) {
        for (chunk, chunks) in chunks.iter().enumerate().rev() {
            let moved_at = self.has_clock.then_some(chunks.moved_at);
            move_each(
                (bucket, columns),
                (chunk * CHUNK, &chunks.list),
                moved_at,
                self.places,
                group,
                (|_| 0, |_, _| {}),
            );
        }
    }

    /// Moves the owners of a bucket on all threads.
    fn move_long<T: Owner + Send>(
        &self,
        bucket: u32,
        columns: &mut Columns<T>,
        chunks: &mut [ChunkMovers],
        groups: &mut [Group<T>],
    ) {
        if let Some(target) = target_of_all(chunks) {
            move_together((bucket, columns), chunks, self.has_clock, groups[0].of(target));
            return;
        }
        if chunks.iter().any(|chunks| chunks.has_returning) {
            self.note_returning(bucket, columns, chunks);
        }
        let stay = Leavers::bring_to_end((bucket, columns), chunks, self.places, &mut groups[0].scratch);
        share_out(chunks, groups);
        HandOut { bucket, chunks, has_clock: self.has_clock }.hand_out(columns, stay, groups);
    }

    /// Notes the changes of movers that come back to the bucket that they are in, and leaves them out.
    fn note_returning<T: Owner + Send>(&self, bucket: u32, columns: &mut Columns<T>, chunks: &mut [ChunkMovers]) {
        let is_returning = |mover: &&Mover| mover.target() == bucket;
        if self.has_clock {
            columns.times.current.par_chunks_mut(CHUNK).zip(chunks.par_iter()).for_each(|(times, chunk)| {
                chunk.list.iter().filter(is_returning).for_each(|mover| times[mover.slot()] = chunk.moved_at);
            });
        }
        columns.tags.par_chunks_mut(CHUNK).zip(chunks.par_iter_mut()).for_each(|(tags, chunk)| {
            for mover in chunk.list.iter().filter(is_returning) {
                let tag = &mut tags[mover.slot()];
                *tag = tag.moved(*mover, bucket);
            }
            chunk.list.retain(|mover| mover.target() != bucket);
        });
    }
}
