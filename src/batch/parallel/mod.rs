//! A tick on several threads, if this is faster.
//!
//! - [`Pace`] decides by measuring whether several threads are faster.
//! - `alone` runs the chunks on the calling thread.
//! - `chunks` runs the chunks on several threads.
//! - `plan` decides which buckets have their rows moved by one thread, and which by several threads.
//! - `arrivals` moves the rows into their new buckets.
//!
//! Rows leave their buckets as in a tick on one core (`rows::gaps`), so that their order is the same. The module `insertion`
//! creates owners on all cores.

mod alone;
mod arrivals;
mod chunks;
mod insertion;
mod plan;

use std::mem;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use self::alone::{Alone, run_alone};
use self::arrivals::{Group, hand_out_together, take_up_all};
use self::chunks::{Calls, Extent, Sleepers, Ticked, Ticks, start_of};
use self::plan::{Job, Jobs};
use super::Batch;
use super::chunk::pass::Pass;
use super::known::key::Places;
use super::known::panics::FirstPanic;
use super::known::slots::CHUNK;
use super::known::states::States;
use super::rows::chunk::{Chunk, PassPart};
use super::rows::columns::Columns;
use super::rows::gaps::Gaps;
use super::rows::store::Store;
use crate::owner::Owner;
use crate::pace::Pace;

/// Up to this many gaps are closed by a single thread.
const FEW_GAPS: usize = 2048;

/// With fewer rows, the calling thread runs a tick alone. Debug builds use several threads as soon as they can, so that tests
/// cover them; they do not measure.
const LEAST_ROWS: usize = if cfg!(debug_assertions) { 3 } else { CHUNK / 2 + 1 };

/// The places in [`Workers::paces`].
const UPDATES: usize = 0;
const MESSAGES: usize = 1;

/// Buffers that a parallel tick keeps for the next one, so that nothing is allocated.
pub(super) struct Workers<T: Owner> {
    /// The passes that no thread is using.
    idle: Mutex<Vec<Pass<T>>>,
    /// The outcome of each chunk, in the order of the tick. The outcomes are empty between two ticks.
    ticked: Vec<Ticked<T>>,
    /// The rows and chunks before each bucket, in the order of the states. The last entry has the rows and chunks of all buckets.
    extents: Vec<Extent>,
    /// The buckets in the order of the states, while threads work on them. Empty at other times.
    line: Vec<Columns<T>>,
    jobs: Jobs,
    groups: Vec<Group<T>>,
    /// Whether several threads are faster for updates, and for messages.
    paces: [Pace; 2],
}

impl<T: Owner> Workers<T> {
    pub(super) fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
            ticked: Vec::new(),
            extents: Vec::new(),
            line: Vec::new(),
            jobs: Jobs::default(),
            groups: Vec::new(),
            paces: [Pace::default(); 2],
        }
    }

    /// Returns how many rows take part in the tick.
    fn rows(&self) -> usize {
        self.extents.last().map_or(0, |extent| extent.rows)
    }

    /// Counts the rows and chunks of the buckets, and makes room for the outcomes of the chunks.
    fn measure(&mut self, store: &Store<T>, sleepers: Sleepers) {
        let Self { extents, ticked, .. } = self;
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
        }
    }
}

impl<T: Owner> Batch<T> {
    /// Runs one tick for every owner, as [`update`](Self::update) does, on the threads of rayon's current pool, if this is faster.
    /// This is measured, first often and later in 8 of at least 264 ticks: four on the calling thread alone, and four on all
    /// threads. A tick of at most 1024 owners that are awake always runs on the calling thread.
    ///
    /// A chunk is a group of at most 2048 owners in the same state. `make` creates a context for each chunk, from the number of
    /// the chunk. So each chunk can have its own list of commands, or its own random numbers. The contexts are returned in the
    /// order in which `update` would reach the chunks. Neither the chunks nor the results depend on the number of threads ([rule
    /// 21](crate::docs::semantics#rule-21)). One thread carries out the due wakes and changes that come before any update ([rule
    /// 19](crate::docs::semantics#rule-19)), with the first context.
    ///
    /// # Panics
    ///
    /// When a callback or `make` panics. As with [`update`](Self::update), the panic reaches the caller when the batch is
    /// consistent again, but here all other chunks have had their tick. If several chunks panic, the caller gets the panic of the
    /// first of them, in the order of the chunks. If `make` or a callback panics while due wakes and changes are carried out, no
    /// chunk has its tick. The contexts are lost.
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
        T: Send, // owners are sent to other threads, so an owner cannot contain an `Rc`
        T::Message: Send,
        T::Context<'c>: Send, // contexts are sent to other threads, so a context cannot contain an `Rc`
    {
        self.store.wake_all_outdated();
        let first = self.carry_out_due_first(&make);
        let has_due_sleepers =
            |columns: &Columns<T>| columns.due.first().is_some_and(|&slot| columns.is_asleep(slot as usize));
        let sleepers = if self.store.global.is_updating {
            Sleepers::TakePart
        } else if self.store.buckets.iter().any(has_due_sleepers) {
            Sleepers::TakePartIfDue
        } else {
            Sleepers::AreLeftOut
        };
        self.par_do(UPDATES, sleepers, first, Pass::run, make).0
    }

    /// Offers a message to every owner's machine, on the threads of rayon's current pool. Returns how many machines handled the
    /// message, and the contexts.
    ///
    /// As with [`broadcast`](Self::broadcast), sleeping owners are included. Each chunk gets its own context, and several threads
    /// are used only if this is faster, which is measured as in [`par_update`](Self::par_update).
    ///
    /// # Panics
    ///
    /// When a callback or `make` panics. The panic reaches the caller when the batch is consistent again. The remaining owners of
    /// the chunk are not offered the message. If several chunks panic, the caller gets the panic of the first of them, in the
    /// order of the chunks. The contexts are lost.
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
        let (contexts, handled) = self.par_do(MESSAGES, Sleepers::TakePart, None, offer, make);
        (handled, contexts)
    }

    /// Carries out the due wakes and changes, with the context of the first chunk. Returns this context, or `None` if no owner
    /// waits for anything.
    fn carry_out_due_first<'c>(&mut self, make: &impl Fn(usize) -> T::Context<'c>) -> Option<T::Context<'c>> {
        if self.store.timers.is_empty() {
            return None;
        }
        let mut first = make(0);
        self.carry_out_due(PassPart::ALL, &mut first);
        Some(first)
    }

    /// Calls `act` for each chunk of owners, and then moves the owners that have changed. Does this on the threads of the pool if
    /// the pace of these calls says that it is faster. Returns the contexts, and how many owners have handled a message.
    fn par_do<'c>(
        &mut self,
        pace: usize,
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
        self.workers.measure(&self.store, sleepers);
        let calls = Calls { act: &act, make: &make, first: Mutex::new(first), sleepers };
        let rows = self.workers.rows();
        if rows < LEAST_ROWS || rayon::current_num_threads() == 1 {
            return self.do_all(&calls, false);
        }
        if cfg!(debug_assertions) {
            return self.do_all(&calls, true);
        }
        let (start, mut measured) = (Instant::now(), self.workers.paces[pace]);
        let result = measured.run(rows, || start.elapsed().as_secs_f64(), |on_all| self.do_all(&calls, on_all));
        self.workers.paces[pace] = measured;
        result
    }

    /// Does what [`par_do`](Self::par_do) does, on the calling thread or on all threads.
    fn do_all<'c, R, M>(
        &mut self,
        calls: &Calls<'_, T::Context<'c>, R, M>,
        on_all: bool,
    ) -> (Vec<T::Context<'c>>, usize)
    where
        R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>) + Sync,
        M: Fn(usize) -> T::Context<'c> + Sync,
        T: Send,
        T::Message: Send,
        T::Context<'c>: Send,
    {
        let Self { store, pass, workers } = self;
        let mut panic = FirstPanic::new();
        let chunks = workers.extents.last().map_or(0, |extent| extent.chunks);
        let mut contexts = Vec::with_capacity(chunks);
        let Alone { has_kept, mut handled } = if on_all {
            in_line(store, &mut workers.line, &mut panic, |store, line| {
                let (idle, extents) = (&workers.idle, &workers.extents);
                let ticks = Ticks { calls, idle, shared: store.shared(), global: &store.global, extents };
                ticks.run(0, line, &mut workers.ticked[..chunks], &mut contexts);
            });
            Alone { has_kept: true, handled: 0 }
        } else {
            run_alone(calls, store, pass, workers, &mut contexts)
        };
        store.forget_due();
        if has_kept {
            move_all(store, workers, &mut panic);
            let ticked = workers.ticked[..chunks].iter_mut().filter(|ticked| ticked.has_outcome);
            handled += ticked.map(|ticked| ticked.clear(&mut panic)).sum::<usize>();
        }
        store.settle_all();
        store.states.pay(store.places.len());
        store.tidy(&mut panic);
        panic.resume();
        (contexts, handled)
    }
}

fn chunks_of(extents: &[Extent], nth: usize) -> Range<usize> {
    extents[nth].chunks..extents[nth + 1].chunks
}

/// Calls `act` with the buckets in the order of the states. Puts them back even if `act` panics.
fn in_line<T: Owner, R>(
    store: &mut Store<T>,
    line: &mut Vec<Columns<T>>,
    panic: &mut FirstPanic,
    act: impl FnOnce(&Store<T>, &mut [Columns<T>]) -> R,
) -> Option<R> {
    let buckets = &mut store.buckets;
    // Nearly always, the numbers are in ascending order, and no number is missing.
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

/// Moves all owners that have changed to their new buckets, and applies the rest of the chunks' outcomes.
fn move_all<T: Owner + Send>(store: &mut Store<T>, workers: &mut Workers<T>, panic: &mut FirstPanic)
where
    T::Message: Send,
{
    let Workers { ticked, extents, line, jobs, groups, .. } = workers;
    let buckets = 0..extents.len() - 1;
    for nth in buckets.clone() {
        let bucket = store.states.order()[nth];
        let ticked = ticked[chunks_of(extents, nth)].iter_mut().enumerate();
        for (chunk, ticked) in ticked.filter(|(_, ticked)| ticked.has_outcome) {
            let Ticked { outcome, have_more, .. } = ticked;
            let start = start_of(&store.buckets[bucket as usize], chunk);
            store.take_up_beside_movers(bucket, start, outcome);
            if *have_more {
                store.forget_beside(bucket, start, &outcome.movers);
            }
            if !outcome.movers.is_empty() && outcome.moved_at != 0.0 {
                store.start_clock();
            }
        }
    }
    if !jobs.plan(store, extents, ticked) {
        for nth in buckets {
            let bucket = store.states.order()[nth];
            mark_all(bucket, &mut store.buckets[bucket as usize], &ticked[chunks_of(extents, nth)], &store.states);
            store.move_marked(bucket);
        }
        return;
    }
    groups.resize_with(groups.len().max(jobs.groups()), Group::new);
    let groups = &mut groups[..jobs.groups()];
    for group in groups.iter_mut() {
        group.make_parts(&store.buckets);
    }
    in_line(store, line, panic, |store, line| {
        let Store { places, states, has_clock, .. } = store;
        let moves = Moves { places, states, has_clock: *has_clock, extents };
        moves.carry_out(&jobs.list, 0, line, ticked, groups);
    });
    for nth in jobs.list.iter().flat_map(|job| job.buckets.clone()) {
        store.note_if_left(store.states.order()[nth]);
    }
    // Chunks that were run alone may have moved rows. These rows come before the rows of later chunks.
    store.append_all();
    let Store { buckets, places, has_clock, .. } = store;
    take_up_all(buckets, groups, *has_clock, places);
}

/// Adds the movers of all chunks of a bucket to the leavers, and marks the movers that have not been marked yet.
fn mark_all<T: Owner>(bucket: u32, columns: &mut Columns<T>, ticked: &[Ticked<T>], states: &States<T>) {
    // The bucket of a chunk without an outcome may already have fewer rows.
    for (chunk, Ticked { outcome, are_marked, .. }) in
        ticked.iter().enumerate().filter(|(_, ticked)| ticked.has_outcome)
    {
        let start = start_of(columns, chunk);
        columns.mark(bucket, (start, &outcome.movers), outcome.moved_at, *are_marked, states);
    }
}

/// The moves of rows that several threads make together.
struct Moves<'a, T: Owner> {
    places: &'a Places,
    states: &'a States<T>,
    has_clock: bool,
    extents: &'a [Extent],
}

impl<T: Owner + Send> Moves<'_, T>
where
    T::Message: Send,
{
    /// Carries out `jobs`. `line` begins with the bucket at the position `first` in the order of the states, `ticked` with the
    /// chunks of this bucket, and `groups` with the groups of the first job.
    fn carry_out(
        &self,
        jobs: &[Job],
        first: usize,
        line: &mut [Columns<T>],
        ticked: &mut [Ticked<T>],
        groups: &mut [Group<T>],
    ) {
        let chunks_before = |nth: usize| self.extents[nth].chunks - self.extents[first].chunks;
        if let [Job { buckets, .. }] = jobs {
            let chunks = chunks_before(buckets.start)..chunks_before(buckets.end);
            let line = &mut line[buckets.start - first..buckets.end - first];
            self.carry_out_one(buckets.start, line, &mut ticked[chunks], groups);
        } else if let Some(middle) = jobs.get(jobs.len() / 2) {
            let (jobs, other_jobs) = jobs.split_at(jobs.len() / 2);
            let next = middle.buckets.start;
            let (line, other_line) = line.split_at_mut(next - first);
            let (ticked, other_ticked) = ticked.split_at_mut(chunks_before(next));
            let (groups, other_groups) = groups.split_at_mut(middle.groups.start - jobs[0].groups.start);
            rayon::join(
                || self.carry_out(jobs, first, line, ticked, groups),
                || self.carry_out(other_jobs, next, other_line, other_ticked, other_groups),
            );
        }
    }

    /// Moves the rows of the buckets of one job. The first bucket is at the position `first` in the order of the states.
    fn carry_out_one(
        &self,
        first: usize,
        line: &mut [Columns<T>],
        mut ticked: &mut [Ticked<T>],
        groups: &mut [Group<T>],
    ) {
        let Self { places, states, has_clock, .. } = self;
        for (nth, columns) in (first..).zip(line) {
            let bucket = states.order()[nth];
            let (chunks, rest) = ticked.split_at_mut(chunks_of(self.extents, nth).len());
            ticked = rest;
            mark_all(bucket, columns, chunks, states);
            if let [group] = groups {
                columns.close_gaps(bucket, places);
                columns.hand_out(states, *has_clock, group);
            } else {
                columns.list_gaps(bucket, places);
                close_together(columns.gaps(bucket, places));
                hand_out_together(columns, groups);
            }
        }
    }
}

/// Closes the gaps of a long bucket on all threads.
fn close_together<T: Owner + Send>(gaps: Gaps<'_, T>) {
    if gaps.len() <= FEW_GAPS {
        gaps.close();
    } else {
        let (gaps, others) = gaps.split();
        rayon::join(|| close_together(gaps), || close_together(others));
    }
}
