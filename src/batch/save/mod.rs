//! Saving and loading a batch (rule 27).

mod check;
mod data;
mod keys;
mod read;
mod write;

pub use self::data::{BatchContent, SavedBatch, SavedBucket, SavedKey, SavedRow};
