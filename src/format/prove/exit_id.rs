//! Which exit of a machine is meant.

use crate::format::outline::StateId;

/// An exit of a state, by its index among the exits of this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ExitId {
    pub(super) of: StateId,
    pub(super) nth: usize,
}
