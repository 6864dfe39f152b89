//! One entry of a journal: as it is stored, and as it is read.

use std::fmt;

use crate::change::{Cause, End, Guard, Shortfall};
use crate::shown::shown;

/// The number that stands for a state's name in the entries of a journal. The same name has a different number in each region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub(super) u16);

impl Symbol {
    /// No state.
    pub(crate) const NONE: Self = Self(u16::MAX);
    /// All names that came after the numbers had run out.
    pub(crate) const OTHER: Self = Self(u16::MAX - 1);

    /// Returns the symbol with a number, if there is one.
    pub(super) fn nth(number: usize) -> Option<Self> {
        u16::try_from(number).ok().map(Self).filter(|symbol| *symbol < Self::OTHER)
    }
}

/// An entry as it is stored.
#[derive(Clone)]
pub(super) struct Recorded<K> {
    pub(super) owner: K,
    /// The number of the entry's time in the journal.
    pub(super) moment: u32,
    pub(super) time_in_state: f32,
    pub(super) way: Way,
}

/// The data by which entries are counted: entries with the same way are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(super) from: Symbol,
    pub(super) to: Symbol,
    /// The state whose guard has refused the change, or in which it has ended early; `NONE` if neither.
    pub(super) state: Symbol,
    pub(super) cause: Cause,
    pub(super) shortfall: Option<Shortfall>,
}

impl Way {
    /// Creates the way from one state to another. `shortfall` says why the change was not completed, and its state.
    pub(crate) fn new((from, to): (Symbol, Symbol), cause: Cause, shortfall: Option<(Shortfall, Symbol)>) -> Self {
        let (shortfall, state) = shortfall.map_or((None, Symbol::NONE), |(why, state)| (Some(why), state));
        Self { from, to, state, cause, shortfall }
    }
}

impl<K> Recorded<K> {
    /// Returns the entry. `region` returns the region that a symbol stands for.
    pub(super) fn entry<'j>(
        &self,
        time: f64,
        name: impl Fn(Symbol) -> Option<&'j str>,
        region: impl Fn(Symbol) -> Option<(&'j str, usize)>,
    ) -> Entry<'j, K>
    where
        K: Clone,
    {
        let Way { from, to, state, cause, shortfall } = self.way;
        let (within, region) = region(to).or_else(|| region(from)).unzip();
        let state = name(state).unwrap_or_default();
        let (refused, ended) = match shortfall.map(Shortfall::guard) {
            None => (None, None),
            Some(Ok(guard)) => (Some(Refused { guard, state }), None),
            Some(Err(end)) => (None, Some(Ended { end, state })),
        };
        Entry {
            owner: self.owner.clone(),
            time,
            from: name(from),
            to: name(to),
            cause,
            refused,
            ended,
            time_in_state: self.time_in_state.into(),
            within,
            region,
        }
    }
}

/// A change, made or refused, that a [`Journal`](super::Journal) has recorded.
///
/// It is displayed as `2.5 s: 7: Closed -> Open (change), after 2.5 s`, where 7 is the owner; a change in a region as
/// `2.5 s: 7: Walk -> Run in Fight (change), after 2.5 s`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry<'j, K> {
    /// The owner whose change was made or refused.
    pub owner: K,
    /// When the change was made or refused, in seconds, by [`Owner::now`](crate::Owner::now).
    pub time: f64,
    /// The name of the state that was left, or would have been; `None` when there was none.
    pub from: Option<&'j str>,
    /// The name of the state that was entered, or would have been; `None` when the change was a pop to no state.
    pub to: Option<&'j str>,
    /// What requested the change.
    pub cause: Cause,
    /// The guard that has refused the change; `None` if the change was made.
    pub refused: Option<Refused<'j>>,
    /// How the change has ended early, if this entry reports it. The change itself has an earlier entry ([rule
    /// 38](crate::docs::semantics#rule-38)).
    pub ended: Option<Ended<'j>>,
    /// How many seconds `from` had been active.
    pub time_in_state: f64,
    /// The name of the state in one of whose [regions](crate::State::regions) the change happened; `None` for a change outside of
    /// regions ([rule 32](crate::docs::semantics#rule-32)).
    pub within: Option<&'j str>,
    /// The index of this region. `None` for a change outside of regions.
    pub region: Option<usize>,
}

/// The guard that refused a change.
///
/// It is displayed as `Open.can_enter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Refused<'j> {
    /// Which of the state's guards refused the change.
    pub guard: Guard,
    /// The name of the state that the guard belongs to.
    pub state: &'j str,
}

impl fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", Named(Some(self.state)), self.guard)
    }
}

/// How a change ended early, after it had been made.
///
/// It is displayed as `abandoned in Open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Ended<'j> {
    /// Whether it was abandoned, or `stay` has ended it.
    pub end: End,
    /// The name of the state in whose `enter` it has ended.
    pub state: &'j str,
}

impl fmt::Display for Ended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.end, Named(Some(self.state)))
    }
}

impl<K> Entry<'_, K> {
    /// Returns whether the entry is a change that was made. `false` for a refused change, and for a report that a change ended
    /// early.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.refused.is_none() && self.ended.is_none()
    }
}

impl<K: fmt::Debug> fmt::Display for Entry<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, time, from, to, cause, refused, ended, time_in_state, within, region: _ } = self;
        write!(f, "{time} s: {owner:?}: {}", Ways { from: *from, to: *to, within: *within, cause: *cause })?;
        match (refused, ended) {
            (Some(refused), _) => write!(f, ", refused by {refused}"),
            (None, Some(ended)) => write!(f, ", {ended}"),
            #[expect(clippy::cast_possible_truncation, reason = "these are the digits that are kept")]
            (None, None) => write!(f, ", after {} s", *time_in_state as f32),
        }
    }
}

/// The states and the cause of an entry, displayed as `Closed -> Open (change)`.
pub(super) struct Ways<'w> {
    pub(super) from: Option<&'w str>,
    pub(super) to: Option<&'w str>,
    pub(super) within: Option<&'w str>,
    pub(super) cause: Cause,
}

impl fmt::Display for Ways<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", Named(self.from), Named(self.to))?;
        if let Some(within) = self.within {
            write!(f, " in {}", Named(Some(within)))?;
        }
        write!(f, " ({})", self.cause)
    }
}

/// The text that is displayed if there is no state.
const NO_STATE: &str = "(no state)";

/// The most characters of a name that are displayed.
const LONGEST_NAME: usize = 200;

/// Displays a state's name, or that there is no state.
pub(super) struct Named<'n>(pub(super) Option<&'n str>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str(NO_STATE),
            // A state with this name must look different from no state.
            Some(NO_STATE) => write!(f, "\"{NO_STATE}\""),
            Some(name) => f.write_str(&shown(name, LONGEST_NAME)),
        }
    }
}
