//! The limits for scripts, and how much the scripts of a state have used of them.

use std::cell::Cell;
use std::time::Duration;

/// The limits for the scripts of a definition, set with
/// [`Vocabulary::script_budget`](crate::definition::Vocabulary::script_budget).
///
/// A budget counts operations, for each owner separately. It does not measure time, unless [`real_time`](Self::real_time) is
/// set. So a script does the same for the same inputs, however busy the computer is, and whether its owner is in a machine, a
/// batch or a cast. A call that exceeds the budget is stopped: it changes nothing, its condition does not hold, and an error is
/// logged.
///
/// # Examples
///
/// ```
/// use demeanor::definition::ScriptBudget;
///
/// let budget = ScriptBudget::default().call(5_000);
/// assert_eq!(budget, ScriptBudget::new(5_000, 1_000_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptBudget {
    pub(crate) call: u64,
    pub(crate) callback: u64,
    pub(crate) real_time: Option<Duration>,
}

impl ScriptBudget {
    /// Creates a budget from the maximum number of operations in one call, and in all calls of a state's scripts in one
    /// callback of the state.
    #[must_use]
    pub const fn new(call: u64, callback: u64) -> Self {
        Self { call, callback, real_time: None }
    }

    /// Sets the maximum number of operations in one call of a script. The default is 100 000, which take a few milliseconds.
    #[must_use]
    pub const fn call(self, operations: u64) -> Self {
        Self { call: operations, ..self }
    }

    /// Sets the maximum number of operations of all scripts that one callback of a state calls for one owner. The default is
    /// 1 000 000.
    ///
    /// For example, an update of a state calls the script's function `update`, and the scripts in the conditions of the state's
    /// exits. Because the number of callbacks in a tick has a limit of its own, this also limits what an owner's scripts do in a
    /// tick.
    #[must_use]
    pub const fn callback(self, operations: u64) -> Self {
        Self { callback: operations, ..self }
    }

    /// Also stops a call that has run for this much real time. By default, there is no such limit.
    ///
    /// With this limit, the effect of a script depends on how busy the computer is. So a game that sets it cannot roll back,
    /// replay its inputs, or compare two runs or two computers, because they may differ.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::ScriptBudget;
    /// use std::time::Duration;
    ///
    /// let budget = ScriptBudget::default().real_time(Duration::from_millis(2));
    /// assert_ne!(budget, ScriptBudget::default());
    /// ```
    #[must_use]
    pub const fn real_time(self, most: Duration) -> Self {
        Self { real_time: Some(most), ..self }
    }
}

impl Default for ScriptBudget {
    fn default() -> Self {
        Self::new(100_000, 1_000_000)
    }
}

/// How much the scripts of a state have used for one owner.
#[derive(Default)]
pub(crate) struct Usage {
    /// How many calls of the scripts have been cut off since the owner entered the state.
    pub(crate) cut_offs: Cell<u32>,
    /// How many operations the scripts have used in this callback.
    pub(crate) operations: Cell<u64>,
}
