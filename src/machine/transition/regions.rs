//! How a change leaves and opens regions (rule 32).

use alloc::vec::Vec;

use crate::boxed::RareBox;
use crate::change::Cause;
use crate::machine::regions::{Branch, RegionId, Regions};
use crate::machine::seat::{Path, Seat};
use crate::machine::single::Single;
use crate::owner::{Owner, now};
use crate::state::StateRef;

impl<T: Owner> Single<'_, T> {
    /// Asks `can_exit` of all states in the open regions: the last region first, and each from its innermost state outward.
    /// Returns the first state that refuses.
    #[cold]
    pub(super) fn guard_of_regions(&mut self, owner: &T, cx: &T::Context<'_>) -> Option<StateRef<T>> {
        for nth in (0..self.seat.regions().count()).rev() {
            self.enter_region(nth);
            let mut refusing = self.guard_of_regions(owner, cx);
            let mut depth = self.seat.depth();
            while refusing.is_none() && depth > 0 {
                depth -= 1;
                let state = self.seat.at(depth).cloned();
                refusing = state.filter(|state| !state.can_exit(owner, &self.fsm(), cx));
            }
            self.leave_region();
            if refusing.is_some() {
                return refusing;
            }
        }
        None
    }

    /// Asks `can_enter` of all states that are entered in regions, in the order of entering. Returns the first state that
    /// refuses.
    pub(super) fn guard_of_branches(
        &mut self,
        branches: &[Branch<T>],
        owner: &T,
        cx: &T::Context<'_>,
    ) -> Option<StateRef<T>> {
        branches.iter().find_map(|branch| {
            let refusing = branch.path.iter().find(|state| !state.can_enter(owner, &self.fsm(), cx));
            refusing.cloned().or_else(|| self.guard_of_branches(&branch.regions, owner, cx))
        })
    }

    /// Runs the exits of all states in the open regions: the last region first, and each from its innermost state outward. Adds
    /// to `displaced` the regions that an exit has set to another state meanwhile.
    #[cold]
    pub(super) fn leave_regions(
        &mut self,
        cause: Cause,
        displaced: &mut Vec<RegionId>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) {
        let level = self.level();
        let composite = self.seat.current.clone();
        for nth in (0..self.seat.regions().count()).rev() {
            self.enter_region(nth);
            if let Some(from) = self.seat.current.as_option().cloned() {
                self.seat.previous = from;
            }
            let made = self.made;
            if self.seat.stamp().is_some() {
                self.leave_regions(cause, displaced, owner, cx);
            }
            for depth in (0..self.seat.depth()).rev() {
                let Some(state) = self.seat.at(depth).cloned() else { break };
                self.leave((&state, &*state), cause, owner, cx);
                if self.level() <= level {
                    return;
                }
                self.remember(depth);
            }
            self.remember_region(&composite, nth);
            displaced.extend(self.region_id().filter(|_| self.made != made));
            self.leave_region();
        }
    }

    /// Opens the regions of the current state, in their order, and enters the branch of each. If there are `suspended` regions,
    /// resumes the states that were active in them instead. A region in which a callback of an earlier region has made a change
    /// stays as it is. Returns whether the current state is still active afterwards.
    #[cold]
    pub(super) fn open_regions(
        &mut self,
        branches: &[Branch<T>],
        suspended: RareBox<Regions<T>>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let mut suspended = suspended.into_option().map(|regions| regions.into_seats());
        self.seat.open(suspended.as_ref().map_or(branches.len(), ExactSizeIterator::len));
        let target = self.target.clone();
        self.each_region(&mut |single, nth| {
            // A callback of an earlier region may have ended the change in its region.
            single.target.clone_from(&target);
            let suspended = suspended.as_mut().and_then(Iterator::next);
            if single.seat.depth() > 0 {
                return;
            }
            if let Some(seat) = suspended {
                single.resume_region(seat, owner, cx);
            } else if let Some(branch) = branches.get(nth) {
                single.begin_branch(branch, cx);
                single.enter_branch(branch, Cause::Change, &mut None, owner, cx);
            }
        })
    }

    /// Resumes the states that were active in a suspended region.
    fn resume_region(&mut self, seat: Seat<T>, owner: &mut T, cx: &mut T::Context<'_>) {
        *self.seat = seat;
        let suspended = self.seat.rare.as_ref().and_then(|rare| rare.stack.last());
        let branch = Branch::flat(suspended.map_or_else(Path::new, |suspended| suspended.path.clone()));
        let first = branch.path.first().cloned().unwrap_or(StateRef::NONE);
        let mut resumption = None;
        drop(self.seat.pop(first, now::<T>(cx), &mut resumption));
        self.show(cx);
        self.enter_branch(&branch, Cause::Pop, &mut resumption, owner, cx);
    }

    /// Records the current state in the history of the ancestor at `depth`, if that ancestor keeps history. Does nothing at the
    /// depth of the current state itself. All regions share the history of the machine.
    #[inline]
    pub(super) fn remember(&mut self, depth: usize) {
        if self.seat.rare.is_some() {
            self.remember_in(depth);
        }
    }

    fn remember_in(&mut self, depth: usize) {
        let ancestor = self.seat.ancestors().get(depth);
        let Some(composite) = ancestor.filter(|state| state.keeps_history()).cloned() else { return };
        let last = self.seat.current.clone();
        self.root().remember_last(composite, None, last);
    }

    /// Records the current state of a region in the history of its composite, if that composite or a state around it keeps
    /// history.
    fn remember_region(&mut self, composite: &StateRef<T>, nth: usize) {
        let is_kept = self.outer.as_ref().is_some_and(|outer| outer.keeps_history());
        if let Some(last) = self.seat.current.as_option().filter(|_| is_kept).cloned() {
            self.root().remember_last(composite.clone(), Some(nth), last);
        }
    }
}

/// The states that were active last in regions. Each entry is a composite, the index of a region, and a state in this region.
pub(crate) type Memory<T> = Vec<(StateRef<T>, usize, StateRef<T>)>;
