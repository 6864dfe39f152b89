//! The effects of a script.

use std::collections::BTreeSet;

/// The effects of a script. `None` stands for any state and for any value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScriptEffects<S> {
    pub(crate) leads_to: Option<BTreeSet<S>>,
    pub(crate) writes: Option<BTreeSet<String>>,
}

impl<S> ScriptEffects<S> {
    /// Whether the script may change the state.
    pub(crate) fn may_lead(&self) -> bool {
        self.leads_to.as_ref().is_none_or(|to| !to.is_empty())
    }
}
