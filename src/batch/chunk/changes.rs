//! The changes that the owners of a chunk have asked for as movers, made together: each step for all of them (rule 19).
//!
//! They all leave one state, and its ancestors that are not around their targets. The steps and their order are as in any
//! change; each step calls a state once for all the owners that it concerns. After a panic a step goes on with the owner behind
//! the one that panicked (rule 22).

use std::mem;
use std::ops::Range;

use super::entering::{AncestorTimes, Entering};
use super::ledger::Ledger;
use super::machines::{ChunkMachines, Phase};
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::slots::Slots;
use crate::batch::known::states::{KnownState, States};
use crate::batch::rows::movers::{self, Kind};
use crate::batch::rows::range::Rows;
use crate::change::{Cause, Change, Guard, Outcome, Refusal};
use crate::machine::transition::{BEING_LEFT, Steps, carry_out, log_misuse};
use crate::machine::waiting::Scope;
use crate::owner::{Owner, log_change, logs_changes, now, tell};
use crate::slice::FsmSlice;
use crate::state::{Mover, StateRef};

/// Up to how many movers sorting is quicker than counting by target.
const FEW: usize = 6;

/// Up to how many states movers are counted by target, rather than sorted.
const MOST_COUNTED: usize = 256;

/// Movers by target; kept from one chunk to the next so that nothing is allocated.
pub(crate) struct Grouping {
    /// The movers of each target, by slot.
    movers: Vec<Mover>,
    groups: Vec<MoverGroup>,
    /// The most active states that any group stays in.
    most_kept: usize,
    /// Where in `movers` the next one to each target goes. All 0 in between.
    places: Vec<usize>,
}

/// Movers with the same target: up to `end`, from where the group before ends.
struct MoverGroup {
    target: u32,
    end: usize,
    /// How many active states, from the outermost, they stay in.
    kept: usize,
}

impl Grouping {
    pub(crate) const fn new() -> Self {
        Self { movers: Vec::new(), groups: Vec::new(), most_kept: 0, places: Vec::new() }
    }

    fn clear(&mut self) {
        self.movers.clear();
        self.groups.clear();
    }

    /// Sorts movers by target: always in the same order, so that the calls that follow are the same each time.
    fn group(&mut self, movers: &[Mover], states: usize) {
        self.clear();
        self.movers.extend_from_slice(movers);
        let Some(first) = movers.first() else { return };
        if movers.iter().all(|mover| mover.target() == first.target()) {
            self.groups.push(MoverGroup { target: first.target(), end: movers.len(), kept: 0 });
        } else if movers.len() <= FEW || states > MOST_COUNTED {
            self.sort();
        } else {
            self.count(movers, states);
        }
    }

    fn sort(&mut self) {
        self.movers.sort_by_key(|mover| mover.target());
        for (at, mover) in self.movers.iter().enumerate() {
            match self.groups.last_mut() {
                Some(group) if group.target == mover.target() => group.end = at + 1,
                _ => self.groups.push(MoverGroup { target: mover.target(), end: at + 1, kept: 0 }),
            }
        }
    }

    /// Finds a place for each target, then puts each mover at the next place of its own.
    fn count(&mut self, movers: &[Mover], states: usize) {
        let Self { movers: grouped, groups, places, .. } = self;
        if places.len() < states {
            places.resize(states, 0);
        }
        for mover in movers {
            places[mover.target() as usize] += 1;
        }
        let mut end = 0;
        for (target, place) in (0..).zip(places.iter_mut()) {
            let count = mem::replace(place, end);
            if count > 0 {
                end += count;
                groups.push(MoverGroup { target, end, kept: 0 });
            }
        }
        for mover in movers {
            let place = &mut places[mover.target() as usize];
            grouped[*place] = *mover;
            *place += 1;
        }
        places.fill(0);
    }

    /// Notes how many active states the movers of each group stay in when they leave a bucket.
    fn note_kept<T: Owner>(&mut self, bucket: u32, states: &States<T>) {
        self.most_kept = 0;
        for group in &mut self.groups {
            group.kept = states.kept(bucket, group.target);
            self.most_kept = self.most_kept.max(group.kept);
        }
    }

    /// Whether a mover leaves the state at a depth.
    fn leaves(&self, mover: Mover, depth: usize) -> bool {
        // The groups are by target.
        let group = self.groups.binary_search_by_key(&mover.target(), |group| group.target);
        group.is_ok_and(|group| self.groups[group].kept <= depth)
    }

    /// Leaves movers out.
    fn remove(&mut self, slots: &Slots) {
        let Self { movers, groups, .. } = self;
        let (mut kept, mut start) = (0, 0);
        for group in groups {
            for at in mem::replace(&mut start, group.end)..group.end {
                if !slots.contains(movers[at].slot()) {
                    movers[kept] = movers[at];
                    kept += 1;
                }
            }
            group.end = kept;
        }
        movers.truncate(kept);
    }
}

/// Room for making many changes, kept from one chunk to the next so that nothing is allocated.
pub(crate) struct Workspace {
    grouping: Grouping,
    /// The movers of one step, where these are not all.
    some: Vec<Mover>,
    /// The movers of one step that are still on their way to their target.
    here: Vec<Mover>,
    /// The slots of the movers that a guard has refused.
    refused: Vec<usize>,
    /// The slots of the movers that are left out of what follows.
    dropped: Slots,
    /// Room for when the states around a target count as entered.
    times: Vec<f64>,
}

impl Workspace {
    pub(crate) const fn new() -> Self {
        Self {
            grouping: Grouping::new(),
            some: Vec::new(),
            here: Vec::new(),
            refused: Vec::new(),
            dropped: Slots::new(),
            times: Vec::new(),
        }
    }
}

/// The changes of some movers, which are in the order of slots.
pub(crate) struct ManyChanges<'p, 'a, 'x, T: Owner> {
    pub(crate) owners: &'p mut [T],
    pub(crate) rows: &'p Rows<'a, T>,
    pub(crate) global: &'p StateRef<T>,
    pub(crate) ledger: Ledger<'p, T>,
    pub(crate) movers: &'p mut Vec<Mover>,
    /// When they change, in seconds.
    pub(crate) moved_at: &'p mut f64,
    pub(crate) panic: &'p mut FirstPanic,
    pub(crate) workspace: &'p mut Workspace,
    pub(crate) cx: &'p mut T::Context<'x>,
}

/// The handles for some movers' callbacks.
struct Handles<'h, 'a, 'l, T: Owner> {
    rows: &'h Rows<'a, T>,
    global: &'h StateRef<T>,
    ledger: &'h mut Ledger<'l, T>,
    panic: &'h mut FirstPanic,
}

impl<T: Owner> Handles<'_, '_, '_, T> {
    /// Calls `act` with the movers that are left until it has gone through all. If it panics, that mover's requests are dropped,
    /// `panicked` gets its slot, and `act` goes on behind it.
    fn go_through(
        &mut self,
        owners: &mut [T],
        movers: &[Mover],
        (phase, scope): (Phase<'_, T>, Scope),
        mut act: impl FnMut(&mut [T], &[Mover], &mut FsmSlice<'_, T>),
        mut panicked: impl FnMut(usize),
    ) {
        let mut at = 0;
        self.ledger.asked.waits.open();
        while at < movers.len() {
            let rest = &movers[at..];
            let mut machines = ChunkMachines {
                rows: self.rows,
                global: self.global,
                ledger: &mut *self.ledger,
                slots: 0..owners.len(),
                phase,
                scope,
            };
            let mut fsm = FsmSlice::new(&mut machines, &[]);
            if self.panic.catch(|| act(owners, rest, &mut fsm)).is_some() {
                return;
            }
            let slot = fsm.last();
            // The movers of one list are by slot.
            at += movers::count_before(rest, slot + 1).max(1);
            self.ledger.forget(slot, self.panic);
            panicked(slot);
        }
    }
}

impl<'a, T: Owner> ManyChanges<'_, 'a, '_, T> {
    /// Makes the changes.
    pub(crate) fn carry_out(mut self) {
        self.ledger.asked.close();
        carry_out(&mut self);
    }

    /// The state that all of them leave.
    fn from(&self) -> &'a StateRef<T> {
        self.rows.known().state()
    }

    /// The depths of the states that an owner leaves, innermost first, and whether all owners leave them.
    fn depths_left(&self) -> impl Iterator<Item = (usize, bool)> + use<T> {
        let most_kept = self.workspace.grouping.most_kept;
        (0..=self.rows.known().ancestors.len()).rev().map(move |depth| (depth, depth >= most_kept))
    }

    fn ask_can_exit(&mut self) {
        let has_forced = mem::take(&mut self.ledger.asked.has_forced);
        for (depth, all_leave) in self.depths_left() {
            let state = self.rows.known().at(depth);
            let Self { owners, rows, global, ledger, movers, panic, workspace, cx, .. } = self;
            let Workspace { grouping, some, refused, dropped, .. } = &mut **workspace;
            let mut to_ask = &***movers;
            if has_forced || !all_leave || !dropped.is_empty() {
                some.clear();
                let is_asked = |mover: &Mover| mover.kind() != Kind::Force && !dropped.contains(mover.slot());
                let leaves = |mover: &Mover| all_leave || grouping.leaves(*mover, depth);
                some.extend(movers.iter().filter(|mover| is_asked(mover) && leaves(mover)));
                to_ask = some;
            }
            Handles { rows, global, ledger, panic }.go_through(
                owners,
                to_ask,
                (Phase::CanExit(to_ask), Scope::state(depth)),
                |owners, rest, fsm| {
                    state.guard_each(Guard::CanExit, owners, rest, fsm, cx, &mut |slot| refused.push(slot));
                },
                |slot| dropped.insert(slot),
            );
            self.refuse_all(None, Refusal::Exit(state));
        }
    }

    fn ask_can_enter(&mut self) {
        let states = self.rows.states;
        let mut start = 0;
        for group in 0..self.workspace.grouping.groups.len() {
            let MoverGroup { target, end, kept } = self.workspace.grouping.groups[group];
            let known = states.get(target);
            let range = mem::replace(&mut start, end)..end;
            for depth in kept..=known.ancestors.len() {
                let Self { owners, rows, global, ledger, panic, workspace, cx, .. } = self;
                let Workspace { grouping, some, refused, dropped, .. } = &mut **workspace;
                let state = known.at(depth);
                Handles { rows, global, ledger, panic }.go_through(
                    owners,
                    without(&grouping.movers[range.clone()], dropped, some),
                    (Phase::CanEnter(known.state()), Scope::state(depth)),
                    |owners, rest, fsm| {
                        state.guard_each(Guard::CanEnter, owners, rest, fsm, cx, &mut |slot| refused.push(slot));
                    },
                    |slot| dropped.insert(slot),
                );
                self.refuse_all(Some(range.clone()), Refusal::Enter(state));
            }
        }
    }

    /// Tells owners that a guard has refused their changes, which are dropped: some of a group, or of all.
    fn refuse_all(&mut self, group: Option<Range<usize>>, refusal: Refusal<'_, T>) {
        let (from, states) = (self.from(), self.rows.states);
        let Self { owners, rows, ledger: Ledger { notes, .. }, movers, panic, workspace, cx, .. } = self;
        let Workspace { grouping, refused, dropped, .. } = &mut **workspace;
        if refused.is_empty() {
            return;
        }
        let movers = group.map_or(&movers[..], |group| &grouping.movers[group]);
        let now = panic.catch(|| now::<T>(cx)).unwrap_or(0.0);
        let guard = refusal;
        let outcome = Outcome::Refused(refusal);
        let mut change = Change { from: Some(from), to: None, cause: Cause::Change, outcome, time_in_state: 0.0 };
        // Both are by slot.
        let (mut refused_slots, mut movers) = (refused.iter(), movers.iter());
        loop {
            let told_all = panic.catch(|| {
                for &slot in &mut refused_slots {
                    dropped.insert(slot);
                    let Some(mover) = movers.find(|mover| mover.slot() == slot) else { continue };
                    notes.note(rows, *mover, now);
                    change.time_in_state = rows.time_in_state(slot, now);
                    change.to = Some(states.get(mover.target()).state());
                    change.cause = mover.cause();
                    tell(&mut owners[slot], &change, cx);
                }
            });
            if told_all.is_some() {
                break;
            }
        }
        notes.end_refused(rows, guard, now);
        refused.clear();
    }

    /// Drops all movers that have been left out since the last pass, in one pass.
    fn leave_out_dropped(&mut self) {
        let Workspace { grouping, dropped, .. } = &mut *self.workspace;
        if !dropped.is_empty() {
            movers::remove(self.movers, dropped);
            grouping.remove(dropped);
            dropped.clear();
        }
    }

    /// Tells the owners of their changes, and `log` first.
    ///
    /// No index is ever out of bounds. Written with `get`, all of this vanishes where there is nothing to tell.
    #[inline]
    fn tell_each(&mut self, log: impl Fn(&T, &Change<'_, T>)) {
        let (from, states) = (self.from(), self.rows.states);
        let Self { owners, rows, ledger, moved_at, panic, workspace, cx, .. } = self;
        let Workspace { grouping, dropped, .. } = &mut **workspace;
        let now = **moved_at;
        ledger.notes.note_all(rows, &grouping.movers, now);
        let mut told = 0;
        loop {
            let told_all = panic.catch(|| {
                for mover in grouping.movers.get(told..).unwrap_or_default() {
                    told += 1;
                    let Some(owner) = owners.get_mut(mover.slot()) else { continue };
                    let Some(known) = states.find(mover.target()) else { continue };
                    let time_in_state = rows.time_in_state(mover.slot(), now);
                    let change = Change::taken(Some(from), Some(known.state()), mover.cause(), time_in_state);
                    log(owner, &change);
                    owner.on_change(&change, cx);
                }
            });
            if told_all.is_some() {
                return;
            }
            // The owner whose `on_change` panicked has changed, and does not enter.
            dropped.insert(grouping.movers[told - 1].slot());
        }
    }

    /// Tells the owners of a group that their changes are complete: the owners that have entered, and are where they went.
    #[inline]
    fn tell_complete(&mut self, movers: Range<usize>, to: &StateRef<T>) {
        let from = self.from();
        let Self { owners, rows, ledger, moved_at, panic, workspace, cx, .. } = self;
        let Workspace { grouping, dropped, .. } = &mut **workspace;
        let mut told = movers.start;
        loop {
            let told_all = panic.catch(|| {
                for mover in grouping.movers.get(told..movers.end).unwrap_or_default() {
                    told += 1;
                    let slot = mover.slot();
                    if ledger.is_cut_short(slot) || dropped.contains(slot) {
                        continue;
                    }
                    let Some(owner) = owners.get_mut(slot) else { continue };
                    let time_in_state = rows.time_in_state(slot, **moved_at);
                    owner.after_change(&Change::taken(Some(from), Some(to), mover.cause(), time_in_state), cx);
                }
            });
            if told_all.is_some() {
                return;
            }
            let slot = grouping.movers[told - 1].slot();
            ledger.forget(slot, panic);
        }
    }
}

impl<T: Owner> Steps for ManyChanges<'_, '_, '_, T> {
    fn admit(&mut self) -> bool {
        let Self { rows, movers, workspace, .. } = self;
        workspace.grouping.group(movers, rows.states.len());
        workspace.grouping.note_kept(rows.bucket, rows.states);
        self.ask_can_exit();
        self.leave_out_dropped();
        self.ask_can_enter();
        self.leave_out_dropped();
        !self.movers.is_empty()
    }

    fn exit(&mut self) {
        let from = self.from();
        for (depth, all_leave) in self.depths_left() {
            let state = self.rows.known().at(depth);
            let Self { owners, rows, global, ledger, movers, panic, workspace, cx, .. } = self;
            let Workspace { grouping, some, dropped, .. } = &mut **workspace;
            let mut movers = &***movers;
            if !all_leave {
                some.clear();
                some.extend(movers.iter().filter(|mover| grouping.leaves(**mover, depth)));
                movers = some;
            }
            Handles { rows, global, ledger, panic }.go_through(
                owners,
                movers,
                (Phase::Exit(movers), Scope::state(depth)),
                |owners, rest, fsm| state.exit_each(owners, rest, fsm, cx),
                |slot| dropped.insert(slot),
            );
            for (slot, request) in mem::take(&mut ledger.asked.misused) {
                // The requests of an owner that has panicked are dropped.
                if !dropped.contains(slot) {
                    panic.catch(|| log_misuse(&owners[slot], &request, from.as_option(), BEING_LEFT));
                }
                panic.catch(|| drop(request));
            }
            if !dropped.is_empty() {
                for mover in movers.iter().filter(|mover| dropped.contains(mover.slot())) {
                    ledger.stay(mover.slot(), rows, from);
                }
            }
            self.leave_out_dropped();
        }
    }

    fn swap(&mut self) {
        let from = self.from();
        let Self { rows, ledger, movers, moved_at, panic, workspace, cx, .. } = self;
        if let Some(now) = panic.catch(|| now::<T>(cx)) {
            **moved_at = now;
        } else {
            // All owners have left their state, and none of them arrives.
            movers.drain(..).for_each(|mover| ledger.stay(mover.slot(), rows, from));
            workspace.grouping.clear();
        }
        // The logger may panic.
        if panic.catch(logs_changes) == Some(true) {
            self.tell_each(log_change);
        } else {
            self.tell_each(|_, _| {});
        }
    }

    fn enter(&mut self) {
        let mut start = 0;
        for group in 0..self.workspace.grouping.groups.len() {
            let MoverGroup { target, end, kept } = self.workspace.grouping.groups[group];
            let known = self.rows.states.get(target);
            let range = mem::replace(&mut start, end)..end;
            for depth in kept..=known.ancestors.len() {
                self.enter_one(known, (kept, depth), range.clone());
            }
            self.tell_complete(range, known.state());
        }
        self.workspace.dropped.clear();
    }
}

impl<T: Owner> ManyChanges<'_, '_, '_, T> {
    /// Enters the state at a depth, for the movers of a group that have come so far.
    fn enter_one(&mut self, known: &KnownState<T>, (kept, depth): (usize, usize), group: Range<usize>) {
        let Self { owners, rows, global, ledger, moved_at, panic, workspace, cx, .. } = self;
        let at = **moved_at;
        let Workspace { grouping, dropped, some, here, times, .. } = &mut **workspace;
        let movers = &grouping.movers[group];
        let times = AncestorTimes::new(rows, movers, (kept, known.ancestors.len()), at, times);
        let entering = Entering { known, kept, depth, at, times };
        // Without the movers whose `on_change` or `enter` has panicked.
        let mut entered = without(movers, dropped, some);
        if depth > kept && ledger.individuals.has_unfinished() {
            // And without the movers that a change made at once has taken elsewhere.
            here.clear();
            here.extend(entered.iter().filter(|mover| !ledger.is_cut_short(mover.slot())));
            entered = here;
            for mover in entered {
                if let Some(individual) = ledger.individuals.get_mut(mover.slot()) {
                    individual.seat.descend(entering.state().clone(), at);
                }
            }
        }
        Handles { rows, global, ledger, panic }.go_through(
            owners,
            entered,
            (Phase::Enter(entering), Scope::state(depth)),
            |owners, rest, fsm| entering.state().enter_each(owners, rest, fsm, cx),
            |slot| dropped.insert(slot),
        );
        if !entering.is_innermost() && !dropped.is_empty() {
            // Also owners whose `on_change` has panicked: they stay where the change has come to. An owner that has stopped
            // further out stays there.
            for mover in movers.iter().filter(|mover| dropped.contains(mover.slot())) {
                ledger.individual(mover.slot(), rows, Some(entering)).is_touched = true;
            }
        }
    }
}

/// The movers without some slots. They are written to `room` if there are such slots.
fn without<'m>(movers: &'m [Mover], dropped: &Slots, room: &'m mut Vec<Mover>) -> &'m [Mover] {
    if dropped.is_empty() {
        return movers;
    }
    room.clear();
    room.extend(movers.iter().filter(|mover| !dropped.contains(mover.slot())));
    room
}
