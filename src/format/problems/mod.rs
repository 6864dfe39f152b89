//! The reports about a file: mistakes as the stages find them, and problems as users see them.

pub(crate) mod findings;
pub(crate) mod load_error;
pub(crate) mod mistake;
pub(crate) mod problem;

pub(crate) use findings::Findings;
pub(crate) use mistake::{Mistake, Origin};
pub(crate) use problem::{Problem, Problems};
