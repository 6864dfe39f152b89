//! Properties: rules that a file sets for its machine. They are checked at the end of each tick (rule 34).

use super::duration::Duration;
use super::expression::When;
use super::name::Name;

/// A property of a machine.
#[derive(Clone)]
pub(crate) struct Property<D = Duration> {
    pub(crate) name: Name,
    pub(crate) rule: PropertyRule<D>,
}

/// The rule of a property.
#[derive(Clone)]
pub(crate) enum PropertyRule<D = Duration> {
    /// The condition does not hold at the end of any tick.
    Never(Box<When>),
    /// The condition holds at the end of each tick.
    Always(Box<When>),
    /// After each tick at whose end `from` holds, `reach` holds at the end of a tick within this time.
    Reach { from: Box<When>, reach: Box<When>, within: D },
}

impl<D> PropertyRule<D> {
    /// Returns the conditions of the property.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &When> {
        let (first, second) = match self {
            Self::Never(when) | Self::Always(when) => (when, None),
            Self::Reach { from, reach, .. } => (from, Some(reach)),
        };
        [Some(first), second].into_iter().flatten().map(|when| &**when)
    }
}
