//! The changes that the owners of a chunk have asked for in short, made together: each step for all of them (rule 19).
//!
//! They all leave one flat state, and enter flat ones. The steps and their order are those of any change; each calls a state
//! once for all the owners that it concerns.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use log::{Level, log_enabled};

use super::columns::RowSlice;
use super::pass::{Fault, Upshot, panics_kept};
use crate::owner::{Cause, Change, Outcome, Owner, Refusal};
use crate::slice::{FsmSlice, Mover, Seated};
use crate::state::StateRef;
use crate::transition::{Steps, carry_out, log_change, tell};

/// Up to how many movers sorting is quicker than counting by target.
const FEW: usize = 6;

/// Up to how many states movers are counted by target, rather than sorted.
const MOST_COUNTED: usize = 256;

/// Movers by target; kept from one chunk to the next so that nothing is allocated.
pub(super) struct Grouping {
    /// Those of a target by slot.
    movers: Vec<Mover>,
    groups: Vec<Group>,
    /// Where in `movers` the next one to each target goes. All 0 in between.
    places: Vec<usize>,
}

/// Movers with the same target: up to `end`, from where the group before ends.
struct Group {
    target: u32,
    end: usize,
}

impl Grouping {
    pub(super) const fn new() -> Self {
        Self { movers: Vec::new(), groups: Vec::new(), places: Vec::new() }
    }

    /// Sorts movers by target: always in the same order, so that the calls that follow are the same each time.
    fn group(&mut self, movers: &[Mover], states: usize) {
        self.groups.clear();
        self.movers.clear();
        self.movers.extend_from_slice(movers);
        if movers.len() <= FEW || states > MOST_COUNTED {
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
                _ => self.groups.push(Group { target: mover.target(), end: at + 1 }),
            }
        }
    }

    /// Finds a place for each target, then puts each mover at the next place of its own.
    fn count(&mut self, movers: &[Mover], states: usize) {
        let Self { movers: grouped, groups, places } = self;
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
                groups.push(Group { target, end });
            }
        }
        for mover in movers {
            let place = &mut places[mover.target() as usize];
            grouped[*place] = *mover;
            *place += 1;
        }
        places.fill(0);
    }

    fn remove(&mut self, at: usize) -> Mover {
        for group in &mut self.groups {
            group.end -= usize::from(at < group.end);
        }
        self.movers.remove(at)
    }
}

pub(super) struct ManyChanges<'p, 'f, 'a, 'x, T: Owner> {
    owners: &'p mut [T],
    rows: &'p RowSlice<'a, T>,
    fsm: &'p mut FsmSlice<'f, T>,
    upshot: &'p mut Upshot<T>,
    grouping: &'p mut Grouping,
    cx: &'p mut T::Context<'x>,
    step: Step,
    /// The mover that the step has come to: by slot until they are grouped and in `Exit`, else by target.
    next: usize,
}

/// How far the changes have come.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    CanExit,
    CanEnter,
    Exit,
    Swap,
    Enter,
}

impl<'p, 'f, 'a, 'x, T: Owner> ManyChanges<'p, 'f, 'a, 'x, T> {
    /// The changes of the upshot's movers, with the handles for their callbacks.
    pub(super) fn new(
        owners: &'p mut [T],
        rows: &'p RowSlice<'a, T>,
        fsm: &'p mut FsmSlice<'f, T>,
        upshot: &'p mut Upshot<T>,
        grouping: &'p mut Grouping,
        cx: &'p mut T::Context<'x>,
    ) -> Self {
        Self { owners, rows, fsm, upshot, grouping, cx, step: Step::CanExit, next: 0 }
    }

    /// Makes the changes. After a panic it goes on where that was, without the owner that it befell (rule 22).
    pub(super) fn carry_out(mut self) {
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| carry_out(&mut self))) {
            self.upshot.fault.get_or_insert(Fault::new(panic));
            self.pass_over();
        }
    }

    /// The state that all of them leave.
    fn from(&self) -> &'a StateRef<T> {
        self.rows.states.get(self.rows.bucket).state()
    }

    fn is_at(&self, step: Step) -> bool {
        self.step == step
    }

    fn go_on_to(&mut self, step: Step) {
        self.step = step;
        self.next = 0;
    }

    fn ask_can_exit(&mut self) {
        let from = self.from();
        loop {
            from.can_exit_each(self.owners, &self.upshot.movers, &mut self.next, self.cx);
            if self.next == self.upshot.movers.len() {
                return;
            }
            let mover = self.upshot.movers.remove(self.next);
            self.refuse(mover, Refusal::Exit(from));
        }
    }

    fn ask_can_enter(&mut self) {
        let states = self.rows.states;
        for group in 0..self.grouping.groups.len() {
            let target = states.get(self.grouping.groups[group].target).state();
            loop {
                let movers = &self.grouping.movers[..self.grouping.groups[group].end];
                target.can_enter_each(self.owners, movers, &mut self.next, self.cx);
                if self.next >= movers.len() {
                    break;
                }
                let mover = self.drop_grouped(self.next);
                self.refuse(mover, Refusal::Enter(target));
            }
        }
    }

    /// Takes a mover out for good.
    fn drop_grouped(&mut self, at: usize) -> Mover {
        let dropped = self.grouping.remove(at);
        self.upshot.movers.retain(|mover| mover.slot() != dropped.slot());
        dropped
    }

    fn refuse(&mut self, mover: Mover, refusal: Refusal<'_, T>) {
        let to = self.rows.states.get(mover.target()).state();
        let outcome = Outcome::Refused(refusal);
        let change = Change { from: Some(self.from()), to: Some(to), cause: Cause::Change, outcome };
        let owner = &mut self.owners[mover.slot() as usize];
        panics_kept(&mut self.upshot.fault, || tell(owner, &change, self.cx));
    }

    /// Tells the owners of their changes, and `log` first.
    ///
    /// No index is ever out of bounds; but said so, all of this vanishes where there is nothing to tell.
    #[inline]
    fn tell_each(&mut self, log: impl Fn(&T, &Change<'_, T>)) {
        let (from, states) = (self.from(), self.rows.states);
        let movers = self.grouping.movers.get(self.next..).unwrap_or_default();
        for mover in movers {
            self.next += 1;
            let Some(owner) = self.owners.get_mut(mover.slot() as usize) else { continue };
            let Some(known) = states.find(mover.target()) else { continue };
            let change = Change::taken(Some(from), Some(known.state()), Cause::Change);
            log(owner, &change);
            owner.on_change(&change, self.cx);
        }
    }

    /// Leaves an owner where it was though its `exit` has run.
    fn stay(&mut self, slot: u32) {
        let mut seat = self.rows.seat(slot);
        seat.previous = self.from().clone();
        self.upshot.seated.push(Seated { slot, seat, changes: 0 });
    }

    /// After a panic: leaves the owner that it befell in the state that it has come to.
    fn pass_over(&mut self) {
        match self.step {
            Step::CanExit => {
                self.upshot.movers.remove(self.next);
            }
            Step::CanEnter => {
                self.drop_grouped(self.next);
            }
            Step::Exit => {
                self.fsm.forget_last();
                let slot = self.fsm.last();
                self.next = self.upshot.movers.partition_point(|mover| mover.slot() < slot);
                if let Some(at) = self.grouping.movers.iter().position(|mover| mover.slot() == slot) {
                    self.drop_grouped(at);
                }
                self.stay(slot);
            }
            Step::Swap => match self.next.checked_sub(1) {
                Some(told) => {
                    self.next = told;
                    self.grouping.remove(told);
                }
                // It is the clock that has panicked: they have all left, and come to nothing.
                None => mem::take(&mut self.upshot.movers).into_iter().for_each(|mover| self.stay(mover.slot())),
            },
            Step::Enter => {
                self.fsm.forget_last();
                let slot = self.fsm.last();
                let rest = &self.grouping.movers[self.next..];
                self.next += 1 + rest.iter().position(|mover| mover.slot() == slot).unwrap_or(0);
            }
        }
    }
}

impl<T: Owner> Steps for ManyChanges<'_, '_, '_, '_, T> {
    fn admit(&mut self) -> bool {
        if self.is_at(Step::CanExit) {
            self.ask_can_exit();
            self.grouping.group(&self.upshot.movers, self.rows.states.len());
            self.go_on_to(Step::CanEnter);
        }
        if self.is_at(Step::CanEnter) {
            self.ask_can_enter();
            self.go_on_to(Step::Exit);
        }
        !self.upshot.movers.is_empty()
    }

    fn exit(&mut self) {
        if !self.is_at(Step::Exit) {
            return;
        }
        let from = self.from();
        self.fsm.begin_exits(from);
        from.exit_each(self.owners, &self.upshot.movers[self.next..], self.fsm, self.cx);
        self.fsm.end_exits(self.owners);
        self.go_on_to(Step::Swap);
    }

    fn swap(&mut self) {
        if !self.is_at(Step::Swap) {
            return;
        }
        if self.next == 0 {
            self.upshot.moved_at = T::now(self.cx);
        }
        if log_enabled!(target: "demeanor", Level::Debug) {
            self.tell_each(log_change);
        } else {
            self.tell_each(|_, _| {});
        }
        self.go_on_to(Step::Enter);
        self.fsm.begin_enters(self.upshot.moved_at);
    }

    fn enter(&mut self) {
        let Grouping { movers, groups, .. } = &*self.grouping;
        for group in groups {
            if self.next < group.end {
                let target = self.rows.states.get(group.target).state();
                self.fsm.set_current(target.clone());
                target.enter_each(self.owners, &movers[self.next..group.end], self.fsm, self.cx);
                self.next = group.end;
            }
        }
    }
}
