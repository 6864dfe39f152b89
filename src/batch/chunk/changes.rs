//! Makes the changes of a chunk's movers in bulk: each step is done for all movers before the next step begins (rule 19).
//!
//! All movers have the same current state. Each mover leaves the active states that are not ancestors of its target. The steps
//! and their order are the same as in any change. Each step calls a state once for all owners that take the step. If a callback
//! panics, the step continues with the next owner (rule 22).

use std::mem;
use std::ops::Range;

use super::ledger::Ledger;
use super::ledger::{AncestorTimes, Entering};
use super::machines::{ChunkMachines, Phase};
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::slots::Slots;
use crate::batch::known::states::{KnownState, States};
use crate::batch::rows::individuals::Individual;
use crate::batch::rows::notes::as_observer;
use crate::batch::rows::range::Rows;
use crate::change::{Cause, Change, End, Guard, Outcome, Refusal};
use crate::fsm::Fsm;
use crate::machine::settings::Settings;
use crate::machine::transition::{BEING_LEFT, Steps, carry_out, log_misuse, tell_end};
use crate::machine::waiting::Scope;
use crate::owner::{Owner, log_change, logs_changes, now, tell};
use crate::slice::FsmSlice;
use crate::state::{Kind, Mover, StateRef};

/// Up to this many movers, sorting is faster than counting by target.
const FEW: usize = 6;

/// Up to this many states, movers are counted by target; with more states they are sorted.
const MOST_COUNTED: usize = 256;

/// Movers grouped by target. The lists are kept from one chunk to the next, so that nothing is allocated.
#[derive(Default)]
struct Grouping {
    /// The movers, sorted by target, and by slot within a target.
    movers: Vec<Mover>,
    groups: Vec<MoverGroup>,
    /// The largest `kept` of all groups.
    most_kept: usize,
    /// For each target: the position in `movers` at which the next mover to this target is put. Between two calls, all entries
    /// are 0.
    places: Vec<usize>,
}

/// Movers with the same target: those from `start` up to `end`.
#[derive(Clone, Copy)]
struct MoverGroup {
    target: u32,
    start: usize,
    end: usize,
    /// How many active states, counted from the outermost, these movers do not leave.
    kept: usize,
}

impl Grouping {
    /// Sorts the movers that leave a bucket by target, and by slot within a target, so that the callbacks that follow always run
    /// in the same order.
    fn group<T: Owner>(&mut self, movers: &[Mover], bucket: u32, states: &States<T>) {
        self.sort(movers, states.len());
        self.divide(bucket, states);
    }

    /// Copies the movers in the order of their targets, which are smaller than `states`.
    fn sort(&mut self, movers: &[Mover], states: usize) {
        self.movers.clear();
        self.movers.extend_from_slice(movers);
        if movers.is_sorted_by_key(|mover| mover.target()) {
            return;
        }
        if movers.len() <= FEW || states > MOST_COUNTED {
            self.movers.sort_by_key(|mover| mover.target());
        } else {
            self.sort_by_counting(movers, states);
        }
    }

    /// Counts the movers to each target, and then puts each mover at the next free position of its target.
    fn sort_by_counting(&mut self, movers: &[Mover], states: usize) {
        let Self { movers: grouped, places, .. } = self;
        if places.len() < states {
            places.resize(states, 0);
        }
        for mover in movers {
            places[mover.target() as usize] += 1;
        }
        let mut end = 0;
        for place in places.iter_mut() {
            end += mem::replace(place, end);
        }
        for mover in movers {
            let place = &mut places[mover.target() as usize];
            grouped[*place] = *mover;
            *place += 1;
        }
        places.fill(0);
    }

    /// Divides the sorted movers into groups.
    fn divide<T: Owner>(&mut self, bucket: u32, states: &States<T>) {
        let Self { movers, groups, most_kept, .. } = self;
        groups.clear();
        *most_kept = 0;
        let mut start = 0;
        while let Some(target) = movers.get(start).map(|mover| mover.target()) {
            let end = start + movers[start..].partition_point(|mover| mover.target() == target);
            let kept = states.kept(bucket, target);
            groups.push(MoverGroup { target, start, end, kept });
            *most_kept = kept.max(*most_kept);
            start = end;
        }
    }

    /// Returns whether a mover leaves the state at a depth.
    fn leaves(&self, mover: Mover, depth: usize) -> bool {
        // The groups are sorted by target.
        let group = self.groups.binary_search_by_key(&mover.target(), |group| group.target);
        group.is_ok_and(|group| self.groups[group].kept <= depth)
    }
}

/// Buffers for making many changes. They are kept from one chunk to the next, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Workspace {
    grouping: Grouping,
    /// The movers that take part in a step, if not all do.
    some: Vec<Mover>,
    /// The slots of the movers that a guard has refused.
    refused: Vec<usize>,
    /// The slots of the movers that take no part in the following steps.
    dropped: Slots,
    /// The buffer for `AncestorTimes`.
    times: Vec<f64>,
}

impl Workspace {
    /// Removes the dropped movers from all lists, in one pass over each list.
    #[cold]
    fn leave_out_dropped<T: Owner>(&mut self, movers: &mut Vec<Mover>, rows: &Rows<'_, T>) {
        let Self { grouping, dropped, .. } = self;
        dropped.remove_from(movers);
        dropped.remove_from(&mut grouping.movers);
        grouping.divide(rows.bucket, rows.states());
        dropped.clear();
    }
}

/// The changes of a chunk's movers. The movers are sorted by slot.
pub(crate) struct ManyChanges<'p, 'a, 'x, T: Owner> {
    pub(crate) callees: Callees<'p, 'a, T>,
    pub(crate) movers: &'p mut Vec<Mover>,
    /// The time of the changes, in seconds.
    pub(crate) moved_at: &'p mut f64,
    pub(crate) workspace: &'p mut Workspace,
    /// `None` if the changes do not end the tick of the movers. Otherwise, the value is `false` once the owners are known to have
    /// only the provided `after_update`.
    pub(crate) has_after_update: Option<&'p mut bool>,
    pub(crate) cx: &'p mut T::Context<'x>,
}

/// The owners of a chunk, with all data to which the handles in their callbacks refer.
pub(crate) struct Callees<'p, 'a, T: Owner> {
    pub(crate) owners: &'p mut [T],
    pub(crate) rows: &'p Rows<'a, T>,
    pub(crate) settings: &'p Settings<T>,
    pub(crate) ledger: Ledger<'p, T>,
    pub(crate) panic: &'p mut FirstPanic,
}

impl<T: Owner> Callees<'_, '_, T> {
    /// Calls `act` with all movers. If a mover's callback panics, drops the requests of this mover, adds its slot to `dropped`,
    /// and calls `act` again with the movers after it.
    #[inline]
    fn go_through(
        &mut self,
        movers: &[Mover],
        (phase, scope): (Phase<'_, T>, Scope),
        dropped: &mut Slots,
        mut act: impl FnMut(&mut [T], &[Mover], &mut FsmSlice<'_, T>),
    ) {
        let mut at = 0;
        self.ledger.asked.waits.open();
        while at < movers.len() {
            let (all, rest) = (0..self.owners.len(), &movers[at..]);
            let Some(slot) = self.call((&phase, scope), all, &[], |owners, fsm| act(owners, rest, fsm)) else { return };
            // A list of movers is sorted by slot.
            at += Mover::count_before(rest, slot + 1).max(1);
            dropped.insert(slot);
        }
    }

    /// Calls `act` with the owners in `slots` and their handles. If a callback panics, drops the requests of its owner and
    /// returns this owner's slot.
    #[inline]
    pub(super) fn call(
        &mut self,
        (phase, scope): (&Phase<'_, T>, Scope),
        slots: Range<usize>,
        times: &[f64],
        act: impl FnOnce(&mut [T], &mut FsmSlice<'_, T>),
    ) -> Option<usize> {
        let Self { owners, rows, settings, ledger, panic } = self;
        let (first, owners) = (slots.start, &mut owners[slots.clone()]);
        let mut machines = ChunkMachines { rows, settings, ledger, slots, phase, scope };
        let mut fsm = FsmSlice::new(&mut machines, times);
        if panic.catch(|| act(owners, &mut fsm)).is_some() {
            return None;
        }
        let slot = first + fsm.last();
        ledger.forget(slot, panic);
        Some(slot)
    }
}

impl<T: Owner> Callees<'_, '_, T> {
    /// Calls `after_update` of the owners at these slots, up to a panic (rule 35). `entering` is the last step of the change, if
    /// the owners are movers. Returns `false` if the owners have only the provided method, which need not be called again.
    pub(super) fn after_update(
        &mut self,
        entering: Option<&Entering<'_, T>>,
        slots: impl Iterator<Item = usize>,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let Self { owners, rows, settings, ledger, panic } = self;
        let (slots_of_all, phase) = (0..owners.len(), Phase::AfterUpdate(entering));
        let scope = Scope::Machine;
        let mut machines = ChunkMachines { rows, settings, ledger, slots: slots_of_all, phase: &phase, scope };
        let all_called = panic.catch(|| {
            for slot in slots {
                let fsm = Fsm::new(&mut machines, slot);
                owners[slot].after_update(&fsm, cx);
                if fsm.is_unused() {
                    return false;
                }
            }
            true
        });
        all_called.unwrap_or(true)
    }
}

impl<'a, T: Owner> ManyChanges<'_, 'a, '_, T> {
    /// Makes the changes.
    pub(crate) fn carry_out(mut self) {
        self.callees.ledger.asked.close();
        carry_out(&mut self);
    }

    /// Returns the state that is current for all movers before their changes.
    fn from(&self) -> &'a StateRef<T> {
        self.callees.rows.known().state()
    }

    fn states(&self) -> &'a States<T> {
        self.callees.rows.states()
    }

    /// Iterates over the states that movers leave, innermost first: the depth, the state, and whether all movers leave it.
    fn left(&self) -> impl Iterator<Item = (usize, &'a StateRef<T>, bool)> + use<'a, T> {
        let (known, most_kept) = (self.callees.rows.known(), self.workspace.grouping.most_kept);
        known.depths(0).rev().map(move |depth| (depth, known.at(depth), depth >= most_kept))
    }

    fn ask_can_exit(&mut self) {
        let has_forced = mem::take(&mut self.callees.ledger.asked.has_forced);
        for (depth, state, all_leave) in self.left() {
            let Self { callees, movers, workspace, cx, .. } = self;
            let Workspace { grouping, some, refused, dropped, .. } = &mut **workspace;
            let mut to_ask = &***movers;
            if has_forced || !all_leave || !dropped.is_empty() {
                let leaves = |mover: Mover| all_leave || grouping.leaves(mover, depth);
                let is_asked = |mover: Mover| mover.kind() != Kind::Force && !dropped.contains(mover.slot());
                to_ask = select(movers, some, |mover| is_asked(mover) && leaves(mover));
            }
            let at = (Phase::CanExit(to_ask), Scope::state(depth));
            callees.go_through(to_ask, at, dropped, |owners, rest, fsm| {
                state.guard_each(Guard::CanExit, owners, rest, fsm, cx, &mut |slot| refused.push(slot));
            });
            if !refused.is_empty() {
                self.refuse_movers(None, Refusal::Exit(state));
            }
        }
    }

    /// Returns the range of the `nth` group's movers, how many active states they do not leave, and their target.
    fn group(&self, nth: usize) -> (Range<usize>, usize, &'a KnownState<T>) {
        let MoverGroup { target, start, end, kept } = self.workspace.grouping.groups[nth];
        (start..end, kept, self.states().get(target))
    }

    fn ask_can_enter(&mut self) {
        for nth in 0..self.workspace.grouping.groups.len() {
            let (range, kept, known) = self.group(nth);
            for depth in known.depths(kept) {
                let state = known.at(depth);
                let Self { callees, workspace, cx, .. } = self;
                let Workspace { grouping, some, refused, dropped, .. } = &mut **workspace;
                let mut to_ask = &grouping.movers[range.clone()];
                if !dropped.is_empty() {
                    to_ask = select(to_ask, some, |mover| !dropped.contains(mover.slot()));
                }
                let at = (Phase::CanEnter(known.state()), Scope::state(depth));
                callees.go_through(to_ask, at, dropped, |owners, rest, fsm| {
                    state.guard_each(Guard::CanEnter, owners, rest, fsm, cx, &mut |slot| refused.push(slot));
                });
                if !refused.is_empty() {
                    self.refuse_movers(Some(range.clone()), Refusal::Enter(state));
                }
            }
        }
    }

    /// Drops the changes that a guard has refused, and tells the owners. The guard was asked for the movers of `group`, or for
    /// all movers if `group` is `None`.
    fn refuse_movers(&mut self, group: Option<Range<usize>>, refusal: Refusal<'_, T>) {
        let (from, states) = (self.from(), self.states());
        let Self { callees: Callees { owners, rows, ledger, panic, .. }, movers, workspace, cx, .. } = self;
        let Workspace { grouping, refused, dropped, .. } = &mut **workspace;
        let movers = group.map_or(&movers[..], |group| &grouping.movers[group]);
        let now = panic.catch(|| now::<T>(cx)).unwrap_or(0.0);
        let outcome = Outcome::Refused(refusal);
        let mut change =
            Change { from: Some(from), to: None, cause: Cause::Change, outcome, time_in_state: 0.0, within: None };
        // Both lists are sorted by slot.
        let (mut refused_slots, mut movers) = (refused.iter(), movers.iter());
        let mut refuse = |&slot: &usize| {
            dropped.insert(slot);
            let Some(mover) = movers.find(|mover| mover.slot() == slot) else { return };
            ledger.notes.note(rows, *mover, now);
            change.to = Some(states.get(mover.target()).state());
            change.cause = mover.cause();
            change.time_in_state = rows.time_in_state(slot, now);
            tell(&mut owners[slot], &change, cx);
        };
        while up_to_panic(panic, &mut refused_slots, &mut refuse).is_some() {}
        ledger.notes.end_refused(rows, refusal, now);
        refused.clear();
    }

    /// Removes the dropped movers from all lists, if there are any.
    #[inline]
    fn leave_out_dropped(&mut self) {
        if !self.workspace.dropped.is_empty() {
            self.workspace.leave_out_dropped(self.movers, self.callees.rows);
        }
    }

    /// Calls `log` and then `on_change` for each mover.
    ///
    /// The code uses `get` although no index is ever out of bounds: without a possible panic, the optimizer removes the whole
    /// loop if `log` and `on_change` do nothing.
    #[inline]
    fn tell_each(&mut self, log: impl Fn(&T, &Change<'_, T>)) {
        let (from, states) = (self.from(), self.states());
        let Self { callees: Callees { owners, rows, ledger, panic, .. }, moved_at, workspace, cx, .. } = self;
        let Workspace { grouping, dropped, .. } = &mut **workspace;
        let now = **moved_at;
        if rows.shared.has_journal {
            ledger.notes.note_all(rows, &grouping.movers, now);
        }
        let mut rest = grouping.movers.iter();
        let mut tell = |mover: &Mover| {
            let Some(owner) = owners.get_mut(mover.slot()) else { return };
            let Some(known) = states.find(mover.target()) else { return };
            let time_in_state = rows.time_in_state(mover.slot(), now);
            let change = Change::taken(Some(from), Some(known.state()), mover.cause(), time_in_state);
            log(owner, &change);
            owner.on_change(&change, cx);
        };
        while let Some(mover) = up_to_panic(panic, &mut rest, &mut tell) {
            // The owner has changed, but its `enter` does not run.
            dropped.insert(mover.slot());
        }
    }

    /// Calls `after_change` for the owners of a group whose `enter` has returned and that are still in the new state, and reports
    /// the changes that have ended early.
    #[inline]
    fn tell_complete(&mut self, movers: Range<usize>, known: &KnownState<T>) {
        let to = known.state();
        let from = self.from();
        let Self { callees: Callees { owners, rows, ledger, panic, .. }, moved_at, workspace, cx, .. } = self;
        let Workspace { grouping, dropped, .. } = &mut **workspace;
        let mut rest = grouping.movers.get(movers).unwrap_or_default().iter();
        loop {
            let mut tell = |mover: &Mover, ended: Option<(End, usize)>| {
                let slot = mover.slot();
                if dropped.contains(slot) {
                    return;
                }
                let Some(owner) = owners.get_mut(slot) else { return };
                let time_in_state = rows.time_in_state(slot, **moved_at);
                let change = Change::taken(Some(from), Some(to), mover.cause(), time_in_state);
                let Some((end, depth)) = ended else { return owner.after_change(&change, cx) };
                let mut noting = ledger.notes.of(rows, slot);
                tell_end(as_observer(&mut noting), change, (end, known.at(depth)), owner, cx);
            };
            // Only individuals end early. Without them, the optimizer removes the loop if `after_change` does nothing.
            let panicked = if ledger.individuals.has_unfinished() {
                let individuals = &*ledger.individuals;
                let ended_early = |slot| individuals.get(slot).and_then(Individual::ended_early);
                up_to_panic(panic, &mut rest, |mover| tell(mover, ended_early(mover.slot())))
            } else {
                up_to_panic(panic, &mut rest, |mover| tell(mover, None))
            };
            let Some(mover) = panicked else { return };
            ledger.forget(mover.slot(), panic);
        }
    }

    /// Calls `after_update` for the owners of a group whose tick has ended. Owners that finish their tick alone are left out.
    fn end_tick(&mut self, known: &KnownState<T>, kept: usize, group: Range<usize>) {
        let Self { callees, moved_at, workspace, has_after_update, cx, .. } = self;
        let Some(has_after_update) = has_after_update.as_mut().filter(|has| ***has && callees.panic.is_none()) else {
            return;
        };
        let Workspace { grouping, some, times, .. } = &mut **workspace;
        let mut movers = &grouping.movers[group];
        let (depth, at) = (known.ancestors.len(), **moved_at);
        // The last `enter` has written the times.
        let entering = Entering { known, kept, depth, at, times: AncestorTimes::written(movers, times, depth) };
        if callees.ledger.individuals.has_unfinished() {
            movers = select(movers, some, |mover| callees.ledger.individuals.get(mover.slot()).is_none());
        }
        **has_after_update = callees.after_update(Some(&entering), movers.iter().map(|mover| mover.slot()), cx);
    }

    /// Calls `enter` of the state at `depth` for the movers of a group that have reached this depth.
    fn enter_one(&mut self, known: &KnownState<T>, (kept, depth): (usize, usize), group: Range<usize>) {
        let Self { callees, moved_at, workspace, cx, .. } = self;
        let (rows, at) = (callees.rows, **moved_at);
        let Workspace { grouping, dropped, some, times, .. } = &mut **workspace;
        let movers = &grouping.movers[group];
        let times = AncestorTimes::new(rows, movers, (kept, known.ancestors.len()), at, times);
        let entering = Entering { known, kept, depth, at, times };
        // This leaves out the movers whose `on_change` or `enter` has panicked, and the movers whose change has ended early.
        let mut entered = movers;
        let Ledger { individuals, .. } = &mut callees.ledger;
        let are_individuals = depth > kept && individuals.has_unfinished();
        if are_individuals || !dropped.is_empty() {
            let is_elsewhere =
                |slot| individuals.get(slot).is_some_and(|individual| individual.ended_early().is_some());
            entered = select(movers, some, |mover| {
                !(dropped.contains(mover.slot()) || are_individuals && is_elsewhere(mover.slot()))
            });
        }
        if are_individuals {
            for mover in entered {
                if let Some(individual) = individuals.get_mut(mover.slot()) {
                    individual.descend(entering.state().clone(), at);
                }
            }
        }
        let at = (Phase::Enter(&entering), Scope::state(depth));
        callees.go_through(entered, at, dropped, |owners, rest, fsm| {
            entering.state().enter_each(owners, rest, fsm, cx);
        });
        if !entering.is_innermost() && !dropped.is_empty() {
            // This includes owners whose `on_change` has panicked: they stay at the depth that the change has reached. An owner
            // that has stopped at an outer depth stays there.
            for mover in movers.iter().filter(|mover| dropped.contains(mover.slot())) {
                callees.ledger.individual(mover.slot(), rows, Some(&entering)).is_touched = true;
            }
        }
    }
}

impl<T: Owner> Steps for ManyChanges<'_, '_, '_, T> {
    fn admit(&mut self) -> bool {
        let rows = self.callees.rows;
        self.workspace.grouping.group(self.movers, rows.bucket, rows.states());
        self.ask_can_exit();
        self.leave_out_dropped();
        self.ask_can_enter();
        self.leave_out_dropped();
        !self.movers.is_empty()
    }

    fn exit(&mut self) {
        let from = self.from();
        for (depth, state, all_leave) in self.left() {
            let Self { callees, movers, workspace, cx, .. } = self;
            let Workspace { grouping, some, dropped, .. } = &mut **workspace;
            let mut leaving = &***movers;
            if !all_leave {
                leaving = select(leaving, some, |mover| grouping.leaves(mover, depth));
            }
            let at = (Phase::Exit(leaving), Scope::state(depth));
            callees.go_through(leaving, at, dropped, |owners, rest, fsm| state.exit_each(owners, rest, fsm, cx));
            let Callees { owners, rows, ledger, panic, .. } = callees;
            for (slot, request) in mem::take(&mut ledger.asked.misused) {
                // The requests of an owner whose `exit` has panicked are dropped.
                if !dropped.contains(slot) {
                    panic.catch(|| log_misuse(&owners[slot], &request, from.as_option(), BEING_LEFT));
                }
                panic.catch(|| drop(request));
            }
            if !dropped.is_empty() {
                for mover in leaving.iter().filter(|mover| dropped.contains(mover.slot())) {
                    ledger.stay(mover.slot(), rows, from);
                }
            }
            self.leave_out_dropped();
        }
    }

    fn swap(&mut self) {
        let from = self.from();
        let Self { callees: Callees { rows, ledger, panic, .. }, movers, moved_at, workspace, cx, .. } = self;
        if let Some(now) = panic.catch(|| now::<T>(cx)) {
            **moved_at = now;
        } else {
            // The clock has panicked: all `exit`s have run, but the owners stay in the state that they were leaving.
            movers.drain(..).for_each(|mover| ledger.stay(mover.slot(), rows, from));
            workspace.grouping.movers.clear();
            workspace.grouping.groups.clear();
        }
        // The logger may panic.
        if panic.catch(logs_changes) == Some(true) {
            self.tell_each(log_change);
        } else {
            self.tell_each(|_, _| {});
        }
    }

    fn enter(&mut self) -> bool {
        for nth in 0..self.workspace.grouping.groups.len() {
            let (range, kept, known) = self.group(nth);
            for depth in known.depths(kept) {
                self.enter_one(known, (kept, depth), range.clone());
            }
            self.tell_complete(range.clone(), known);
            self.end_tick(known, kept, range);
        }
        self.workspace.dropped.clear();
        true
    }
}

/// Copies the movers for which `is_selected` returns `true` to `room`, and returns them.
fn select<'m>(movers: &[Mover], room: &'m mut Vec<Mover>, is_selected: impl Fn(Mover) -> bool) -> &'m [Mover] {
    room.clear();
    room.extend(movers.iter().filter(|mover| is_selected(**mover)));
    room
}

/// Calls `act` with each item of `rest` until `act` panics. Returns the item for which `act` panicked, or `None` if no call
/// panicked.
#[inline]
fn up_to_panic<'r, R>(
    panic: &mut FirstPanic,
    rest: &mut std::slice::Iter<'r, R>,
    mut act: impl FnMut(&R),
) -> Option<&'r R> {
    let mut last = None;
    let acted = panic.catch(|| {
        for one in rest {
            last = Some(one);
            act(one);
        }
    });
    if acted.is_some() { None } else { last }
}
