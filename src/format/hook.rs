//! The functions that a state's script may have.

/// A function of a state's script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    Enter,
    Update,
    Exit,
}
