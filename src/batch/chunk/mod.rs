//! One chunk's part in a tick: the updates of its owners, their requests, and the changes that follow.
//!
//! This layer stands above `rows`, and runs the callbacks of a tick. It knows the rows that it is given, but not the batch to
//! which they belong.

pub(crate) mod changes;
pub(crate) mod ledger;
pub(crate) mod machines;
pub(crate) mod pass;
pub(crate) mod waits;
