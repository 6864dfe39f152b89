//! The rows of a batch's owners, and how they move between buckets. Rows are moved here, and on all cores in `parallel`.
//!
//! This layer stands above `known` and `wait`, and below `chunk`. It gets the results of a tick as a `ChunkOutcome`, and calls
//! no callback itself.

pub(crate) mod chunk;
pub(crate) mod columns;
pub(crate) mod gaps;
pub(crate) mod individuals;
pub(crate) mod journaling;
pub(crate) mod moves;
pub(crate) mod notes;
pub(crate) mod range;
pub(crate) mod store;
