//! Reads, checks and describes definition files.
//!
//! This layer is below `definition`, which runs the result for owners. It does not use `Owner` or `StateMachine`.

pub(crate) mod action;
pub(crate) mod beside;
pub(crate) mod chains;
pub(crate) mod choose;
pub(crate) mod cursor;
pub(crate) mod draft;
pub(crate) mod duration;
pub(crate) mod expression;
pub(crate) mod files;
pub(crate) mod folder;
pub(crate) mod hook;
pub(crate) mod leads;
pub(crate) mod library;
pub(crate) mod link;
pub(crate) mod name;
pub(crate) mod operand;
pub(crate) mod outline;
pub(crate) mod problems;
pub(crate) mod property;
pub(crate) mod prove;
#[cfg(feature = "script")]
pub(crate) mod script;
pub(crate) mod script_effects;
pub(crate) mod source;
pub(crate) mod survey;
pub(crate) mod text;
pub(crate) mod words;
