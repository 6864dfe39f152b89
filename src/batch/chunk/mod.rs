//! One chunk's part in a tick: its updates, its requests, and the changes that they lead to.
//!
//! The layer above `rows`, and the only one of a batch that runs callbacks of a tick. It knows the rows that it is given, and not
//! the batch to which they belong.

pub(crate) mod changes;
pub(crate) mod ledger;
pub(crate) mod machines;
pub(crate) mod pass;
pub(crate) mod waits;
