//! The effects of a script.

use std::collections::BTreeSet;

use super::name::Name;

/// The effects of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScriptEffects {
    /// The names of the states to which it may change, and where they are written with their quotes. The range is empty if a name
    /// is not written as it is.
    pub(crate) named: Vec<Name>,
    /// Whether it may change to any state.
    pub(crate) leads_anywhere: bool,
    /// The values that it may write. `None` stands for any value.
    pub(crate) writes: Option<BTreeSet<String>>,
}
