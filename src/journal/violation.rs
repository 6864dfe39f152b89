//! Properties that owners have violated (rule 34).

use std::fmt;

use super::Journal;
use crate::shown::shown;

/// The most characters of a property and of a path that are displayed.
const LONGEST: usize = 200;

/// A property of a definition file that an owner has violated, as a [`Journal`] has recorded it
/// ([rule 34](crate::docs::semantics#rule-34)).
///
/// It is displayed as `2.5 s: 7: property calm is violated in fight > aim`, where 7 is the owner.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Violation<K> {
    /// The owner that has violated the property.
    pub owner: K,
    /// When the property was violated, in seconds.
    pub time: f64,
    /// The name of the property.
    pub property: Box<str>,
    /// The names of the active states, outermost first.
    pub path: Box<str>,
}

impl<K: fmt::Debug> fmt::Display for Violation<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, time, property, path } = self;
        let (property, path) = (shown(property, LONGEST), shown(path, LONGEST));
        write!(f, "{time} s: {owner:?}: property {property} is violated in {path}")
    }
}

impl<K: Clone> Journal<K> {
    /// Records that an owner has violated a property, with the states that are active now. `now` is the time, in seconds. The
    /// journal keeps as many violations as changes. The counts of changes do not include violations.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Journal, Owner, State, StateMachine};
    ///
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    /// struct Rest;
    /// impl State<Guard> for Rest {}
    ///
    /// let machine = StateMachine::<Guard>::new(&Rest);
    /// let mut journal = Journal::new(100);
    /// // `calm` is one of the names that `Definition::check_properties` returns.
    /// journal.note_violation("Bob", "calm", machine.active_states(), 2.5);
    /// let violation = journal.violations().next().unwrap();
    /// assert_eq!(violation.to_string(), "2.5 s: \"Bob\": property calm is violated in Rest");
    /// ```
    pub fn note_violation(
        &mut self,
        owner: K,
        property: &str,
        active_states: impl IntoIterator<Item = impl fmt::Display>,
        now: f64,
    ) {
        let path: Vec<_> = active_states.into_iter().map(|state| state.to_string()).collect();
        let path = path.join(" > ").into();
        self.violations.push_back(Violation { owner, time: now, property: property.into(), path });
        let forgotten = self.violations.len().saturating_sub(self.capacity);
        self.violations.drain(..forgotten);
    }

    /// Iterates over the violations of properties that are kept, the oldest first.
    #[must_use]
    pub fn violations(&self) -> impl DoubleEndedIterator<Item = &Violation<K>> + ExactSizeIterator {
        self.violations.iter()
    }
}
