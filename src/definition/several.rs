//! Several behaviors of one state, combined into one.

use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::state::{State, StateRef};

/// A state with several behaviors. Each callback and guard calls them in the order of the file, except that `exit`, `suspend` and
/// `can_exit` call them in the reverse order.
pub(crate) struct Several<T: Owner>(pub(crate) Box<[StateRef<T>]>);

impl<T: Owner> State<T> for Several<T> {
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.0.iter().for_each(|behavior| behavior.enter(owner, fsm, cx));
    }

    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        for behavior in self.0.iter().filter(|behavior| !behavior.is_passive()) {
            behavior.update(owner, fsm, cx);
        }
    }

    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.0.iter().rev().for_each(|behavior| behavior.exit(owner, fsm, cx));
    }

    /// Offers the message to each behavior until one handles it.
    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        self.0.iter().any(|behavior| behavior.on_message(owner, message, fsm, cx))
    }

    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.0.iter().rev().for_each(|behavior| behavior.suspend(owner, fsm, cx));
    }

    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.0.iter().for_each(|behavior| behavior.resume(owner, fsm, cx));
    }

    fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.0.iter().all(|behavior| behavior.can_enter(owner, fsm, cx))
    }

    fn can_exit(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.0.iter().rev().all(|behavior| behavior.can_exit(owner, fsm, cx))
    }

    fn is_passive(&self) -> bool {
        self.0.iter().all(|behavior| behavior.is_passive())
    }

    fn update_all(&self, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for behavior in self.0.iter().filter(|behavior| !behavior.is_passive()) {
            behavior.update_all(owners, fsm, cx);
        }
    }
}
