//! Counts of changes, refusals and stays, by the names of the states.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::entry::{Ended, Named, Refused, Ways};
use super::stays::Stays;
use crate::change::{Cause, Change, Shortfall};
use crate::owner::Owner;
use crate::state::StateRef;

/// Counts how often each change was made, how often each guard refused it, and how long owners stayed in each state.
///
/// You get a flow from a [`Journal`](super::Journal). You can also fill one yourself, in [`Owner::on_change`]. With the
/// feature `serde`, a flow can be written and read in any format. States are counted by name, so that flows of several
/// runs can be [merged](Self::merge).
///
/// A flow is displayed as up to three tables: the changes, made and refused; the changes that ended early; and the states with
/// the lengths of the stays in them. [`docs::why`](crate::docs::why#all-of-them) explains the columns.
///
/// # Examples
///
/// ```
/// use demeanor::{Change, Owner, State, StateMachine};
/// use demeanor::Flow;
/// struct Open;
/// struct Closed;
/// impl State<Door> for Open {}
/// impl State<Door> for Closed {}
///
/// struct Door;
///
/// impl Owner for Door {
///     type Context<'a> = Flow;
///     type Message = ();
///
///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) {
///         flow.note(change);
///     }
/// }
///
/// let mut flow = Flow::new();
/// let mut machine = StateMachine::new(&Closed);
/// machine.change_state(&mut Door, &Open, &mut flow);
/// machine.change_state(&mut Door, &Closed, &mut flow);
/// machine.change_state(&mut Door, &Open, &mut flow);
///
/// let opened = flow.changes().find(|change| change.to == Some("Open")).unwrap();
/// assert_eq!(opened.to_string(), "Closed -> Open (change): 2");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "super::data::Data", try_from = "super::data::Data")
)]
pub struct Flow {
    pub(super) counts: BTreeMap<NamedWay, u64>,
    pub(super) stays: BTreeMap<Box<str>, Stays>,
}

/// Changes or refusals that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamedWay {
    pub(super) from: Option<Box<str>>,
    pub(super) to: Option<Box<str>>,
    pub(super) cause: Cause,
    /// Why the change was not completed, and the state of the guard or of the end.
    pub(super) shortfall: Option<(Shortfall, Box<str>)>,
}

/// How often one state has led to another.
///
/// It is displayed as `Closed -> Open (change): 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowChange<'f> {
    /// The name of the state that was left; `None` when there was none.
    pub from: Option<&'f str>,
    /// The name of the state that was entered; `None` when a pop led to no state.
    pub to: Option<&'f str>,
    /// What requested the change.
    pub cause: Cause,
    /// The number of changes.
    pub count: u64,
}

/// How often a guard has refused a change from one state to another.
///
/// It is displayed as `Closed -> Open (change), refused by Closed.can_exit: 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowRefusal<'f> {
    /// The name of the state that was not left; `None` when there was none.
    pub from: Option<&'f str>,
    /// The name of the state that was not entered; `None` when a pop would have led to no state.
    pub to: Option<&'f str>,
    /// What requested the change.
    pub cause: Cause,
    /// The guard that has refused the change.
    pub refused: Refused<'f>,
    /// The number of refusals.
    pub count: u64,
}

/// How often a change from one state to another has ended early.
///
/// It is displayed as `Idle -> Slash (change), abandoned in Combat: 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowEnd<'f> {
    /// The name of the state that was left; `None` when there was none.
    pub from: Option<&'f str>,
    /// The name of the target.
    pub to: Option<&'f str>,
    /// What requested the change.
    pub cause: Cause,
    /// How the change ended, and in which state.
    pub ended: Ended<'f>,
    /// The number of such changes.
    pub count: u64,
}

impl fmt::Display for FlowEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, cause, ended, count } = *self;
        write!(f, "{}, {ended}: {count}", Ways { from, to, within: None, cause })
    }
}

impl fmt::Display for FlowChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, cause, count } = *self;
        write!(f, "{}: {count}", Ways { from, to, within: None, cause })
    }
}

impl fmt::Display for FlowRefusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, cause, refused, count } = *self;
        write!(f, "{}, refused by {refused}: {count}", Ways { from, to, within: None, cause })
    }
}

impl Flow {
    /// Creates an empty flow.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a change, made or refused, that [`Owner::on_change`] has received.
    pub fn note<T: Owner>(&mut self, change: &Change<'_, T>) {
        let name = |state: &StateRef<T>| -> Box<str> { state.name().into() };
        let (from, to) = (change.from.map(name), change.to.map(name));
        let shortfall = change.outcome.shortfall().map(|(why, state)| (why, name(state)));
        if let (Some(from), None) = (&from, &shortfall) {
            self.stays.entry(from.clone()).or_default().note(change.time_in_state);
        }
        self.add(NamedWay { from, to, cause: change.cause, shortfall }, 1);
    }

    /// Adds the counts of another flow, for example of another run or of other owners.
    pub fn merge(&mut self, other: &Self) {
        for (way, count) in &other.counts {
            self.add(way.clone(), *count);
        }
        for (state, stays) in &other.stays {
            self.add_stays(state.clone(), stays);
        }
    }

    /// Returns whether no change, made or refused, has been counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Iterates over the changes that were made, sorted by the states' names. Changes that ended early do not count here: see
    /// [`ended`](Self::ended). But a change that ended with [`Fsm::stay`](crate::Fsm::stay) counts as a change to the state in
    /// which it ended.
    pub fn changes(&self) -> impl Iterator<Item = FlowChange<'_>> {
        let mut made: BTreeMap<_, u64> = BTreeMap::new();
        for (NamedWay { from, to, cause, shortfall }, count) in &self.counts {
            let stayed_in = match shortfall {
                None => to.as_deref(),
                Some((Shortfall::Stayed, state)) => Some(&**state),
                Some(_) => continue,
            };
            let made = made.entry((from.as_deref(), stayed_in, *cause)).or_default();
            *made = made.saturating_add(*count);
        }
        for FlowEnd { from, to, cause, count, .. } in self.ended() {
            let made = made.entry((from, to, cause)).or_default();
            *made = made.saturating_sub(count);
        }
        let made = made.into_iter().filter(|(_, count)| *count > 0);
        made.map(|((from, to, cause), count)| FlowChange { from, to, cause, count })
    }

    /// Iterates over the changes that ended early, sorted by the states' names.
    pub fn ended(&self) -> impl Iterator<Item = FlowEnd<'_>> {
        self.counts.iter().filter_map(|(NamedWay { from, to, cause, shortfall }, count)| {
            let (shortfall, state) = shortfall.as_ref()?;
            let ended = Ended { end: shortfall.guard().err()?, state };
            Some(FlowEnd { from: from.as_deref(), to: to.as_deref(), cause: *cause, ended, count: *count })
        })
    }

    /// Iterates over the changes that a guard has refused, sorted by the states' names.
    pub fn refusals(&self) -> impl Iterator<Item = FlowRefusal<'_>> {
        self.counts.iter().filter_map(|(NamedWay { from, to, cause, shortfall }, count)| {
            let Some((Shortfall::Refused(guard), state)) = shortfall else { return None };
            let refused = Refused { guard: *guard, state };
            Some(FlowRefusal { from: from.as_deref(), to: to.as_deref(), cause: *cause, refused, count: *count })
        })
    }

    /// Iterates over the states that an owner has left, with the lengths of the stays in them, sorted by the states' names.
    pub fn stays(&self) -> impl Iterator<Item = (&str, &Stays)> {
        self.stays.iter().map(|(state, stays)| (&**state, stays))
    }

    /// Returns how long owners stayed in a state; `None` if no owner has left it.
    #[must_use]
    pub fn stays_in(&self, state: &str) -> Option<&Stays> {
        self.stays.get(state)
    }

    /// Returns the names of all states in the counted changes and refusals: the two states of each, the states whose guards have
    /// refused a change, and the states in which a change has ended early.
    #[must_use]
    pub fn states(&self) -> BTreeSet<&str> {
        let changes = self.changes().flat_map(|change| [change.from, change.to]);
        let refusals = self.refusals().flat_map(|refusal| [refusal.from, refusal.to, Some(refusal.refused.state)]);
        let ended = self.ended().flat_map(|ended| [ended.from, ended.to, Some(ended.ended.state)]);
        changes.chain(refusals).chain(ended).flatten().collect()
    }

    /// Returns the counts of the states for which `is_meant` returns `true`: the changes and refusals that name only these
    /// states (see [`states`](Self::states)), and how long owners stayed in them. Changes from no state to one of these states,
    /// and from one to none, are included.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Change, Owner, State, StateMachine};
    /// use demeanor::Flow;
    /// struct Open;
    /// struct Closed;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {}
    /// struct Door;
    /// impl Owner for Door {
    ///     type Context<'a> = Flow;
    ///     type Message = ();
    ///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) { flow.note(change); }
    /// }
    ///
    /// let mut flow = Flow::new();
    /// StateMachine::new(&Closed).change_state(&mut Door, &Open, &mut flow);
    /// assert!(flow.of_states(|state| state != "Open").is_empty());
    /// ```
    #[must_use]
    pub fn of_states(&self, is_meant: impl Fn(&str) -> bool) -> Self {
        let mut part = self.clone();
        part.stays.retain(|state, _| is_meant(state));
        for (way, count) in &self.counts {
            let of_shortfall = way.shortfall.as_ref().map(|(_, state)| state);
            if way.from.iter().chain(&way.to).chain(of_shortfall).all(|name| is_meant(name)) {
                continue;
            }
            part.counts.remove(way);
            if way.shortfall.as_ref().is_some_and(|(why, _)| why.guard().is_err()) {
                // A change that ended early was counted when it began, too.
                part.subtract(NamedWay { shortfall: None, ..way.clone() }, *count);
            }
        }
        part
    }

    /// Adds `more` to a count. The sum saturates, because a number from a file may be of any size.
    pub(super) fn add(&mut self, way: NamedWay, more: u64) {
        let count = self.counts.entry(way).or_default();
        *count = count.saturating_add(more);
    }

    /// Subtracts `less` from a count.
    fn subtract(&mut self, way: NamedWay, less: u64) {
        if let Entry::Occupied(mut count) = self.counts.entry(way) {
            *count.get_mut() = count.get().saturating_sub(less);
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    pub(super) fn add_stays(&mut self, state: Box<str>, stays: &Stays) {
        self.stays.entry(state).or_default().merge(stays);
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |state: Option<&str>| Named(state).to_string();
        let changes = self.changes().map(|change| {
            [name(change.from), name(change.to), change.cause.to_string(), String::new(), change.count.to_string()]
        });
        let refusals = self.refusals().map(|refusal| {
            let FlowRefusal { from, to, cause, refused, count } = refusal;
            [name(from), name(to), cause.to_string(), refused.to_string(), count.to_string()]
        });
        let rows: Vec<_> = changes.chain(refusals).collect();
        write_table(f, ["from", "to", "cause", "refused by", "count"], &rows)?;
        let ended = self.ended().map(|FlowEnd { from, to, cause, ended, count }| {
            [name(from), name(to), cause.to_string(), ended.to_string(), count.to_string()]
        });
        let ended: Vec<_> = ended.collect();
        write_table(f, ["from", "to", "cause", "ended", "count"], &ended)?;
        let stays = self.stays().filter_map(|(state, stays)| {
            let (mean, median) = (stays.mean()?, stays.quantile(0.5)?);
            let [start, end] = [median.start, median.end].map(|seconds| (seconds * 1000.0).round() / 1000.0);
            let median = format!("{start} to {end}");
            Some([name(Some(state)), stays.count().to_string(), format!("{mean:.3}"), median])
        });
        let stays: Vec<_> = stays.collect();
        write_table(f, ["state", "left", "mean seconds", "median"], &stays)
    }
}

/// Writes a table, with `head` as its first line. Writes nothing if there are no rows.
fn write_table<const N: usize>(f: &mut fmt::Formatter<'_>, head: [&str; N], rows: &[[String; N]]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let head = head.map(str::to_owned);
    let lines = || [&head].into_iter().chain(rows);
    let mut widths = [0; N];
    for (width, nth) in widths.iter_mut().zip(0..) {
        *width = lines().map(|line| line[nth].chars().count()).max().unwrap_or(0);
    }
    for line in lines() {
        let cells: Vec<_> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(f, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
