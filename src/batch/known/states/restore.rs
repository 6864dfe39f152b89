//! Restores the states of a saved batch with their old numbers.

use std::any::TypeId;

use super::{KnownState, States};
use crate::batch::known::panics::FirstPanic;
use crate::owner::Owner;
use crate::state::StateRef;

impl<T: Owner> States<T> {
    /// Creates `count` numbers. The number of "no state" is complete; `restore` and `restore_type` set the states of the others.
    pub(in crate::batch) fn restored(count: usize) -> Self {
        Self { list: (0..count).map(|_| KnownState::nowhere()).collect(), order: Vec::new(), ..Self::new() }
    }

    /// Gives its saved number to a state, unless the state already has a number. Returns whether the state had no number.
    pub(in crate::batch) fn restore(
        &mut self,
        number: u32,
        state: &StateRef<T>,
        ancestors: &[StateRef<T>],
        panic: &mut FirstPanic,
    ) -> bool {
        let is_new = self.bucket_of(state).is_none();
        if is_new {
            self.give(number, state, ancestors, panic);
        }
        is_new
    }

    /// Gives its saved number to a type of owned states, unless the type already has a number. Returns whether the type had no
    /// number.
    pub(in crate::batch) fn restore_type(&mut self, number: u32, of: TypeId) -> bool {
        let is_new = !self.by_owned_type.contains_key(&of);
        if is_new {
            self.list[number as usize].has_seats = true;
            self.by_owned_type.insert(of, number);
        }
        is_new
    }

    /// Sets the order of the numbers, and the numbers that are free.
    pub(in crate::batch) fn set_order(&mut self, order: Vec<u32>, free: Vec<u32>) {
        self.order = order;
        self.free = free;
    }

    /// Returns the numbers of states that are no longer known. The next new state gets the last of them.
    pub(in crate::batch) fn free(&self) -> &[u32] {
        &self.free
    }

    /// Returns the type of the owned states with a number.
    pub(in crate::batch) fn owned_type(&self, number: u32) -> Option<TypeId> {
        self.by_owned_type.iter().find_map(|(of, at)| (*at == number).then_some(*of))
    }
}
