//! One chunk's part in a tick: the updates, then the changes that they have requested (rules 19, 20, 22).
//!
//! Nearly all owners request nothing or one change. These changes are made in bulk, one step after the other. An owner that
//! requests anything else finishes its tick alone, on a seat, with the code of a `StateMachine`.

use std::ops::Range;
use std::{fmt, hint};

use super::changes::{Callees, ManyChanges, Workspace};
use super::ledger::{Asked, Ledger};
use super::machines::Phase;
use super::waits::Wait;
use crate::batch::known::slots::Slots;
use crate::batch::rows::chunk::{Chunk, ChunkOutcome, PassPart};
use crate::batch::rows::columns::NotedColumns;
use crate::batch::rows::individuals::run_on_seat;
use crate::batch::rows::notes::as_observer;
use crate::batch::rows::range::Rows;
use crate::batch::wait::waiter::{Until, Waiter};
use crate::machine::single::Single;
use crate::machine::transition::tell_endless_sleep;
use crate::machine::waiting::{AT_ONCE, Scope};
use crate::owner::{self, Owner};
use crate::span::due_after;
use crate::state::{Mover, StateRef};

/// The part of an owner's tick that is still left.
#[derive(Clone, Copy)]
enum Rest {
    /// Only the requests of a change that was due. No state has been updated yet.
    Change,
    /// Only the requests of the owner.
    Requests,
    /// The updates of the active path from a depth on.
    Path(usize),
    /// The whole tick.
    Tick,
}

/// The data of a pass over a chunk. Its lists are kept from one chunk to the next, so that nothing is allocated.
pub(crate) struct Pass<T: Owner> {
    asked: Asked<T>,
    workspace: Workspace,
    /// Movers that become individuals.
    movers: Vec<Mover>,
    /// The slots of the owners that have finished their tick.
    finished: Slots,
    /// `false` once the owners are known to have only the provided `after_update`.
    has_after_update: bool,
    pub(crate) outcome: ChunkOutcome<T>,
}

impl<T: Owner> Pass<T> {
    pub(crate) fn new() -> Self {
        Self {
            asked: Asked::new(),
            workspace: Workspace::default(),
            movers: Vec::new(),
            finished: Slots::default(),
            has_after_update: true,
            outcome: ChunkOutcome::new(),
        }
    }

    /// Clears the cache of state numbers.
    pub(crate) fn forget_numbers(&mut self) {
        self.asked.numbers.clear();
    }

    /// Offers a message to each owner of a chunk, and counts the owners that handle it.
    pub(crate) fn offer(&mut self, message: &T::Message, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        let ChunkOutcome { individuals, changed, notes, panic, handled, .. } = &mut self.outcome;
        let Chunk { owners, seats, rows, global, .. } = chunk;
        for (slot, owner) in owners.iter_mut().enumerate() {
            let mut observer = notes.of(rows, slot);
            let observer = as_observer(&mut observer);
            let send = |single: &mut Single<'_, T>| single.send(owner, message, cx);
            let is_handled = if let Some(seat) = seats.get_mut(slot) {
                let (is_handled, is_touched) = run_on_seat(seat, &global.settings, observer, panic, send);
                changed.extend(is_touched.then_some(slot));
                is_handled
            } else {
                individuals.run_if_touched((slot, rows), &global.settings, observer, panic, send)
            };
            *handled += usize::from(is_handled == Some(true));
            if !panic.is_none() {
                break;
            }
        }
        individuals.finish_each(panic, |_, _| true);
    }

    /// Runs a chunk's part in a tick. Afterwards the caller moves the owners to their new buckets, as the outcome says.
    pub(crate) fn run(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        let known = chunk.rows.known();
        self.begin(known.is_bulk);
        if known.has_seats {
            self.tick_each(chunk, cx);
            return;
        }
        self.tick_due(chunk, cx);
        if chunk.global.is_updating {
            self.update(chunk, (&chunk.global.settings.global, Scope::Machine), false, cx);
            self.finish(chunk, Rest::Path(0), cx);
        }
        for &depth in &known.updating {
            if chunk.rows.are_asleep() || !self.outcome.panic.is_none() {
                break;
            }
            let is_innermost = depth == known.ancestors.len();
            self.update(chunk, (known.at(depth), Scope::state(depth)), is_innermost, cx);
            if !self.has_asked() {
                continue;
            }
            if is_innermost && known.is_bulk && self.asked.has_movers() {
                self.change(chunk, true, cx);
            }
            self.finish(chunk, if is_innermost { Rest::Requests } else { Rest::Path(depth + 1) }, cx);
        }
        self.end(chunk, cx);
        let is_updated = chunk.global.is_updating || !chunk.rows.are_asleep() && !known.updating.is_empty();
        if is_updated && self.has_after_update && self.outcome.panic.is_none() {
            self.end_ticks(chunk, cx);
        }
    }

    /// Calls `after_update` for the owners of a chunk that have neither changed in bulk nor finished their tick alone. For the
    /// other owners, it has been called already.
    fn end_ticks(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        let Self { asked, outcome, finished, has_after_update, .. } = self;
        let ChunkOutcome { movers, individuals, unmet, notes, panic, .. } = outcome;
        let Chunk { owners, rows, global, part, .. } = chunk;
        let mut movers = movers.iter().map(|mover| mover.slot()).peekable();
        let slots = (0..owners.len()).filter(|slot| {
            let is_ended = movers.next_if_eq(slot).is_some() || finished.contains(*slot);
            !is_ended && part.has(rows.key(*slot))
        });
        let ledger = Ledger { asked, individuals, unmet, notes };
        let mut callees = Callees { owners, rows, settings: &global.settings, ledger, panic };
        *has_after_update = callees.after_update(None, slots, cx);
    }

    /// Prepares the pass for a chunk before any of its owners is updated.
    fn begin(&mut self, is_bulk: bool) {
        self.finished.clear();
        self.asked.open(is_bulk);
    }

    /// Ends the pass over a chunk after the updates: adds the waits of its owners, with their due times, to the outcome.
    fn end(&mut self, chunk: &Chunk<'_, T>, cx: &T::Context<'_>) {
        let Chunk { owners, rows, global, .. } = chunk;
        let ChunkOutcome { movers, waiters, panic, .. } = &mut self.outcome;
        let waits = &mut self.asked.waits;
        if waits.is_empty() {
            return;
        }
        if !movers.is_empty() {
            waits.end_left(|slot| {
                let mover = Mover::find(movers, slot);
                mover.map_or(usize::MAX, |mover| rows.states().kept(rows.bucket, mover.target()))
            });
        }
        // `now` is code of the game and may panic. So may an owner's label, below.
        let now = waits.iter().next().and_then(|_| panic.catch(|| owner::now::<T>(cx)));
        let Some(now) = now else { return waits.clear() };
        let current_of = |slot| Mover::find(movers, slot).map_or(rows.bucket, Mover::target);
        for &Wait { slot, mut seconds, until, scope, is_entry, revision } in waits.iter() {
            let owner = &owners[slot];
            let is_next = scope == Scope::Current;
            if !is_next && (seconds.is_nan() || seconds < 0.0) {
                let then = until.then(rows.states());
                let what = then.as_ref().map_or(&"sleep" as &dyn fmt::Display, |then| then);
                let asked_in = rows.states().get(if is_entry { current_of(slot) } else { rows.bucket }).state();
                let warn = || Single::seconds(seconds, what, owner, asked_in.as_option());
                seconds = panic.catch(warn).unwrap_or(0.0);
            }
            let key = rows.key(slot);
            let at = if is_next { AT_ONCE } else { due_after(seconds, now) };
            if until == Until::Awake && at == f64::INFINITY && !global.is_updating {
                let current = current_of(slot);
                // The timers of the states that the owner leaves have ended.
                let keeps_timers = Mover::find(movers, slot).is_none() || rows.states().kept(rows.bucket, current) > 0;
                let may_wake = waits.comes_by_itself(slot) || keeps_timers && rows.has_timers(slot);
                if !may_wake {
                    let current = rows.states().get(current).state();
                    panic.catch(|| tell_endless_sleep(owner, current.as_option()));
                }
            }
            waiters.push(Waiter { key, at, until, scope, revision });
        }
        waits.clear();
    }

    /// Runs the ticks of the owners for which something is due, each on its seat.
    fn tick_due(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        // The data of these owners lies far apart. Here the processor fetches the data of several owners at a time, which takes
        // 1180 ns for each owner rather than 1620. If this were done for all chunks at once, the first data would have left the
        // cache before it is used.
        let NotedColumns { due, first, .. } = chunk.rows.noted;
        let due = due.iter().map(|&slot| slot as usize - first);
        hint::black_box(due.clone().map(|slot| chunk.rows.look_ahead(slot)).sum::<f64>());
        for slot in due {
            self.outcome.individuals.add(slot);
        }
        self.finish(chunk, Rest::Tick, cx);
    }

    /// Makes the changes of owners that request nothing else, in bulk.
    pub(crate) fn change_all(
        &mut self,
        movers: impl Iterator<Item = Mover>,
        chunk: &mut Chunk<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        self.begin(true);
        self.outcome.movers.extend(movers);
        self.change(chunk, false, cx);
        self.finish(chunk, Rest::Change, cx);
        self.end(chunk, cx);
    }

    /// Makes the changes of the movers, in bulk. `is_update` says whether they end the tick of the movers.
    fn change(&mut self, chunk: &mut Chunk<'_, T>, is_update: bool, cx: &mut T::Context<'_>) {
        let Self { asked, workspace, has_after_update, outcome, .. } = self;
        let has_after_update = is_update.then_some(has_after_update);
        let ChunkOutcome { movers, moved_at, individuals, unmet, notes, panic, .. } = outcome;
        asked.take_movers(movers, individuals);
        let ledger = Ledger { asked, individuals, unmet, notes };
        let Chunk { owners, rows, global, .. } = chunk;
        let callees = Callees { owners, rows, settings: &global.settings, ledger, panic };
        ManyChanges { callees, movers, moved_at, workspace, has_after_update, cx }.carry_out();
    }

    /// Ticks each owner alone, on its seat. This is for owned states, which differ from owner to owner, and for states with
    /// regions.
    fn tick_each(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        let ChunkOutcome { changed, notes, panic, .. } = &mut self.outcome;
        let NotedColumns { due, first, .. } = chunk.rows.noted;
        for (slot, (owner, seat)) in chunk.owners.iter_mut().zip(&mut *chunk.seats).enumerate() {
            let is_due = !due.is_empty() && due.binary_search_by(|&due| (due as usize).cmp(&(first + slot))).is_ok();
            let is_left_out = chunk.rows.are_asleep() && !chunk.global.is_updating && !is_due;
            if is_left_out || !chunk.part.has(chunk.rows.key(slot)) {
                continue;
            }
            let settings = &chunk.global.settings;
            let mut observer = notes.of(&chunk.rows, slot);
            // An owner for which nothing is noted as due is ticked without its timers. If it has come to this bucket at the
            // beginning of the tick, its due timers have been carried out, and timers that it has set since then wait for the
            // next tick.
            let (ticked, is_touched) = run_on_seat(seat, settings, as_observer(&mut observer), panic, |single| {
                // The states around regions may be asleep while the owner is not.
                single.is_touched |= single.seat.is_outdated() && single.seat.wake();
                match single.seat.lone_with_regions().filter(|_| settings.global.is_none()) {
                    _ if is_due => single.tick(owner, cx),
                    Some(state) => single.tick_lone_with_regions(state, owner, cx),
                    None => single.tick_active(owner, cx),
                }
            });
            changed.extend(is_touched.then_some(slot));
            if ticked.is_none() {
                break;
            }
        }
    }

    /// Calls `update_all` of one of the active states, or of the global state, for the owners that have not finished their tick.
    fn update(
        &mut self,
        chunk: &mut Chunk<'_, T>,
        updated: (&StateRef<T>, Scope),
        is_last: bool,
        cx: &mut T::Context<'_>,
    ) {
        if self.finished.is_empty() && chunk.part == PassPart::ALL {
            let all = 0..chunk.owners.len();
            self.update_run(chunk, updated, is_last, all, cx);
            return;
        }
        let mut at = 0;
        while at < chunk.owners.len() && self.outcome.panic.is_none() {
            let run = self.next_run(chunk, at);
            at = run.end + 1;
            if !run.is_empty() {
                self.update_run(chunk, updated, is_last, run, cx);
            }
        }
    }

    /// Returns the longest range that begins at `at` and contains only owners of the chunk's part that have not finished their
    /// tick.
    fn next_run(&self, chunk: &Chunk<'_, T>, at: usize) -> Range<usize> {
        let is_due = |&slot: &usize| !self.finished.contains(slot) && chunk.part.has(chunk.rows.key(slot));
        at..(at..chunk.owners.len()).find(|slot| !is_due(slot)).unwrap_or(chunk.owners.len())
    }

    fn update_run(
        &mut self,
        chunk: &mut Chunk<'_, T>,
        (state, scope): (&StateRef<T>, Scope),
        is_last: bool,
        run: Range<usize>,
        cx: &mut T::Context<'_>,
    ) {
        let Self { asked, outcome, .. } = self;
        let ChunkOutcome { individuals, unmet, notes, panic, .. } = outcome;
        asked.open(chunk.rows.known().is_bulk);
        let ledger = Ledger { asked, individuals, unmet, notes };
        let Chunk { owners, rows, global, .. } = chunk;
        let mut callees = Callees { owners, rows, settings: &global.settings, ledger, panic };
        let times = rows.times(&run);
        callees.call((&Phase::Update { is_last }, scope), run, times, |owners, fsm| state.update_all(owners, fsm, cx));
    }

    /// Finishes the tick of each owner that is a mover or an individual, on its seat: first its requests, then `rest`.
    fn finish(&mut self, chunk: &mut Chunk<'_, T>, rest: Rest, cx: &mut T::Context<'_>) {
        if !self.has_asked() {
            return;
        }
        self.make_individuals(&chunk.rows);
        let Self { outcome, finished, has_after_update, .. } = self;
        let ChunkOutcome { movers, individuals, notes, panic, .. } = outcome;
        let (mut replaced, has_movers) = (Slots::default(), !movers.is_empty());
        individuals.finish_each(panic, |individual, panic| {
            let slot = individual.slot;
            let owner = &mut chunk.owners[slot];
            // After a panic, earlier requests are carried out, but no owner is updated any more.
            let rest = if panic.is_none() { rest } else { Rest::Change };
            // After changes within its callback, only `after_update` may be left of an owner's tick.
            let is_over = match rest {
                _ if individual.has_asked() => false,
                Rest::Change => true,
                Rest::Requests => !(individual.is_loaded && *has_after_update),
                Rest::Path(_) | Rest::Tick => false,
            };
            // An owner that has withdrawn its requests goes on like the others.
            if !is_over || individual.is_loaded {
                finished.insert(slot);
            }
            if !is_over {
                individual.load(&chunk.rows);
                let mut observer = notes.of(&chunk.rows, slot);
                panic.catch(|| {
                    individual.run(&chunk.global.settings, as_observer(&mut observer), &mut |single| {
                        single.settle_callback(owner, cx);
                        match rest {
                            Rest::Change => {}
                            Rest::Requests => *has_after_update &= single.end_tick(true, owner, cx),
                            Rest::Path(depth) => {
                                single.tick_path::<false>(depth, owner, cx);
                                single.end_tick(true, owner, cx);
                            }
                            Rest::Tick => single.tick(owner, cx),
                        }
                    });
                });
            }
            if has_movers && individual.is_touched {
                replaced.insert(slot);
            }
            individual.is_left_over(&chunk.rows)
        });
        if !replaced.is_empty() {
            replaced.remove_from(movers);
        }
    }

    fn has_asked(&self) -> bool {
        self.asked.has_movers() || self.outcome.individuals.has_unfinished()
    }

    /// Turns the remaining movers into individuals. Their changes were requested by an ancestor or by the global state.
    fn make_individuals(&mut self, rows: &Rows<'_, T>) {
        let Self { asked, outcome, movers, .. } = self;
        let ChunkOutcome { individuals, unmet, notes, .. } = outcome;
        asked.take_movers(movers, individuals);
        let mut ledger = Ledger { asked, individuals, unmet, notes };
        for mover in movers.drain(..) {
            // The owner's waits come from an earlier callback, so they come before this change in its requests.
            ledger.individual(mover.slot(), rows, None).ask_as(mover, rows);
        }
    }
}
