//! Where a row lies, and how it gets elsewhere. Rows are moved here, and on all cores in `parallel`.
//!
//! The layer above `known` and `wait`, and below `chunk`: it gets what a tick has led to as a `ChunkOutcome`, and runs no callback.

pub(crate) mod chunk;
pub(crate) mod columns;
pub(crate) mod gaps;
pub(crate) mod individuals;
pub(crate) mod journaling;
pub(crate) mod moves;
pub(crate) mod notes;
pub(crate) mod range;
pub(crate) mod store;
