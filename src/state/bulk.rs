//! What the library asks of a state besides what a game implements: one virtual call for several answers, or for many owners,
//! inside which the state's own methods are inlined.

use super::{Mover, State};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;

/// The sealed part of [`State`], the same for every state.
pub trait Bulk<T: Owner> {
    /// Calls [`update`](State::update), unless there is nothing to do in it ([rule 4](crate::docs::semantics#rule-4)).
    fn tick(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>);

    /// Returns whether this state has neither a parent nor an initial child.
    fn is_flat(&self) -> bool;

    /// Asks [`can_exit`](State::can_exit) for each mover, and calls `refuse` with the slots of those that are refused.
    /// If one panics, the slice's last handle is its owner's.
    fn can_exit_each(
        &self,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    );

    /// As [`can_exit_each`](Self::can_exit_each), of [`can_enter`](State::can_enter).
    fn can_enter_each(
        &self,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    );

    /// Calls [`exit`](State::exit) on each.
    fn exit_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>);

    /// Calls [`enter`](State::enter) on each.
    fn enter_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>);
}

impl<T: Owner, S: State<T>> Bulk<T> for S {
    fn tick(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        if !self.is_passive() {
            self.update(owner, fsm, cx);
        }
    }

    fn is_flat(&self) -> bool {
        self.parent().is_none() && self.initial().is_none()
    }

    fn can_exit_each(
        &self,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    ) {
        for mover in movers {
            // Never out of bounds; but said so, this loop vanishes where the guard is the provided one. So do those below.
            let slot = mover.slot();
            let Some(owner) = owners.get(slot) else { continue };
            if !fsm.with(slot, |fsm| self.can_exit(owner, fsm, cx)) {
                refuse(slot);
            }
        }
    }

    fn can_enter_each(
        &self,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    ) {
        for mover in movers {
            let slot = mover.slot();
            let Some(owner) = owners.get(slot) else { continue };
            if !fsm.with(slot, |fsm| self.can_enter(owner, fsm, cx)) {
                refuse(slot);
            }
        }
    }

    fn exit_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for mover in movers {
            let slot = mover.slot();
            let Some(owner) = owners.get_mut(slot) else { continue };
            fsm.with(slot, |fsm| self.exit(owner, fsm, cx));
        }
    }

    fn enter_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for mover in movers {
            let slot = mover.slot();
            let Some(owner) = owners.get_mut(slot) else { continue };
            fsm.with(slot, |fsm| self.enter(owner, fsm, cx));
        }
    }
}
