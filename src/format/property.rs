//! Properties: rules that a file sets for its machine. They are checked at the end of each tick (rule 34).

use super::duration::Duration;
use super::expression::When;
use super::name::Name;

/// A property of a machine, whose conditions are not scripts.
#[derive(Clone)]
pub(crate) struct Property<C = Box<When>, D = Duration> {
    pub(crate) name: Name,
    pub(crate) rule: PropertyRule<C, D>,
}

/// The rule of a property.
#[derive(Clone)]
pub(crate) enum PropertyRule<C = Box<When>, D = Duration> {
    /// The condition does not hold at the end of any tick.
    Never(C),
    /// The condition holds at the end of each tick.
    Always(C),
    /// After each tick at whose end `from` holds, `reach` holds at the end of a tick within this time.
    Reach { from: C, reach: C, within: D },
}

impl<C, D> Property<C, D> {
    /// Converts the conditions and the time.
    pub(crate) fn map<X, E, F>(
        self,
        by: &mut X,
        condition: fn(&mut X, C) -> Option<E>,
        within: fn(&mut X, D) -> Option<F>,
    ) -> Option<Property<E, F>> {
        let rule = match self.rule {
            PropertyRule::Never(when) => PropertyRule::Never(condition(by, when)?),
            PropertyRule::Always(when) => PropertyRule::Always(condition(by, when)?),
            PropertyRule::Reach { from, reach, within: time } => PropertyRule::Reach {
                from: condition(by, from)?,
                reach: condition(by, reach)?,
                within: within(by, time)?,
            },
        };
        Some(Property { name: self.name, rule })
    }
}

impl PropertyRule {
    /// Returns the conditions of the property.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &When> {
        let (first, second) = match self {
            Self::Never(when) | Self::Always(when) => (when, None),
            Self::Reach { from, reach, .. } => (from, Some(reach)),
        };
        [Some(first), second].into_iter().flatten().map(|when| &**when)
    }
}
