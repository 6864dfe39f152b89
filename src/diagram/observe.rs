//! Adds observed changes to the arrows and states of a diagram.
//!
//! A flow contains the two states of each change, but not the exit that was taken. So a change is counted for each exit that may
//! have been taken. It is certain which exit was taken only if there is a single such exit.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt;
use std::ops::Range;

use super::{Arrow, Diagram, DiagramState, Region};
use crate::change::Cause;
use crate::journal::{End, Flow, Stays};
use crate::shown::{listed, shown};

/// How often an arrow was taken.
///
/// It is displayed as `12×` or `never`. If other exits may have made some of the changes, it is displayed as `up to 12×` or
/// `3× to 12×`. If changes ended early, their number follows: `12×, 3 of them ended early`. If guards have refused changes, their
/// number comes last: `12×, refused 3×`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// How many changes certainly belong to this arrow.
    pub at_least: u64,
    /// How many changes may belong to this arrow.
    pub at_most: u64,
    /// How many refused changes may belong to this arrow. A guard has refused them.
    pub refused: u64,
    /// How many of the changes in `at_most` ended early: another change has abandoned them, or `stay` has ended them on the way
    /// ([rule 38](crate::docs::semantics#rule-38)).
    pub ended_early: u64,
    /// The square root of `at_most`, relative to that of the diagram's most frequent arrow.
    pub(super) share: f64,
}

/// What was observed of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Visits {
    /// Whether an owner was in the state or in one of its descendants. A state in which machines begin counts as entered.
    pub is_entered: bool,
    /// How many changes led to the state.
    pub entered: u64,
    /// How often an owner has left the state.
    pub left: u64,
    /// The total time for which owners were in the state, in seconds. An owner's time counts when the owner leaves the state.
    pub seconds: f64,
    /// How many of the changes to the state were made by owners that were in no state before.
    pub from_nothing: u64,
    /// How many changes led from the state to no state.
    pub to_nothing: u64,
    /// Whether the state is the global state, which is never entered.
    pub(super) is_global: bool,
    /// Whether the state has children. Owners are then in its descendants.
    pub(super) is_composite: bool,
    /// The square root of `seconds`, relative to that of the state with the longest time in the diagram.
    pub(super) share: f64,
}

/// The error when a flow names states that a diagram does not have. The flow is then from another machine, or from another
/// version of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStates {
    names: Vec<String>,
}

/// The state from which a change leads, the state to which it leads, and what requested it.
type ObservedWay = (Option<usize>, Option<usize>, Cause);

/// The number of changes with the same way.
#[derive(Clone, Copy, Default)]
struct WayCounts {
    /// The changes that were made. These end early only if they stay in the target, a state with regions.
    made: u64,
    refused: u64,
    ended_early: u64,
    /// The changes that ended early and are not in `made`.
    unmade: u64,
}

/// The maximum number of names in the text of the error.
const MOST_LISTED: usize = 20;

impl UnknownStates {
    /// Returns the states' names, in alphabetical order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl fmt::Display for UnknownStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = if self.names.len() == 1 { "a state" } else { "states" };
        let names = listed(self.names.iter().map(|name| shown(name, usize::MAX).into_owned()), MOST_LISTED);
        write!(f, "the flow names {states} that this machine does not have: {names}")
    }
}

impl Error for UnknownStates {}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (_, 0) => f.write_str("never")?,
            (least, most) if least == most => write!(f, "{most}×")?,
            (0, most) => write!(f, "up to {most}×")?,
            (least, most) => write!(f, "{least}× to {most}×")?,
        }
        if self.ended_early > 0 {
            write!(f, ", {} of them ended early", self.ended_early)?;
        }
        if self.refused > 0 {
            write!(f, ", refused {}×", self.refused)?;
        }
        Ok(())
    }
}

/// Adds to a count. The sum saturates, because a number from a file may be of any size.
pub(super) fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

impl Visits {
    /// Returns the lines about the observed visits, for the state's box.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.is_entered && !self.is_global {
            lines.push("never entered".to_owned());
        } else if self.left > 0 {
            let stays = if self.left == 1 { "1 stay of".to_owned() } else { format!("{} stays, mean", self.left) };
            #[expect(clippy::cast_precision_loss, reason = "a mean of so many is right to as many digits")]
            let mean = self.seconds / self.left as f64;
            let digits = match mean {
                100.0.. => 0,
                1.0.. => 1,
                0.0005.. => 3,
                _ => 0,
            };
            lines.push(format!("{stays} {mean:.digits$} s"));
        } else if !self.is_composite && !self.is_global {
            lines.push("never left".to_owned());
        }
        for (count, way) in [(self.from_nothing, "from"), (self.to_nothing, "to")] {
            if count > 0 {
                lines.push(format!("{count}× {way} no state"));
            }
        }
        lines
    }
}

impl Diagram {
    /// Adds observed changes: how often each arrow was taken, and how long owners were in each state.
    ///
    /// A change counts for an exit if the exit may have made it. The change must lead to the state in which the exit ends,
    /// including initial descendants. It must come from the exit's state or a descendant of it or, for an exit of the global
    /// state, from any state. If several exits may have made the change, it counts as [`at_most`](Seen::at_most) for all of them.
    ///
    /// If no exit can have made a change, an arrow is added for it. Such changes are reverts, pushes, pops and other special
    /// changes, all changes between states in code, and changes that the game's code or a script has made where no exit leads.
    ///
    /// A change that [ended early](Flow::ended) counts for the arrow to its target, which it has not entered. If `stay` has ended
    /// the change, it also counts for an arrow to the state in which it ended.
    ///
    /// Earlier observations are forgotten. To see several flows together, [merge](Flow::merge) them.
    ///
    /// # Errors
    ///
    /// When the flow names states that the diagram does not have.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::diagram::Diagram;
    /// use demeanor::{Change, Flow, Owner, State, StateMachine};
    /// struct Door;
    /// impl Owner for Door {
    ///     type Context<'a> = Flow;
    ///     type Message = ();
    ///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) { flow.note(change); }
    /// }
    /// struct Open;
    /// struct Closed;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {}
    ///
    /// let mut flow = Flow::new();
    /// StateMachine::new(&Closed).change_state(&mut Door, &Open, &mut flow);
    /// let diagram = Diagram::of_states::<Door>([(&Closed).into()]);
    /// let unknown = diagram.observe(&flow).unwrap_err();
    /// assert_eq!(unknown.to_string(), "the flow names a state that this machine does not have: Open");
    /// ```
    pub fn observe(self, flow: &Flow) -> Result<Self, UnknownStates> {
        let known = self.by_name();
        let names = flow.states().into_iter().chain(flow.stays().map(|(state, _)| state));
        let mut unknown: Vec<_> = names.filter(|name| !known.contains_key(*name)).map(str::to_owned).collect();
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() { Ok(self.observed(flow)) } else { Err(UnknownStates { names: unknown }) }
    }

    /// Iterates over the drawn states that no owner has been in. Before the diagram is [observed](Self::observe), there are none.
    pub fn never_entered(&self) -> impl Iterator<Item = &DiagramState> {
        self.shown().filter(|state| self.is_never_entered(*state)).map(|state| &self.states[state])
    }

    /// Like [`observe`](Self::observe), for a flow that names only states of the diagram.
    pub(super) fn observed(mut self, flow: &Flow) -> Self {
        self.is_observed = true;
        self.arrows.retain(|arrow| !arrow.is_unwritten);
        for arrow in &mut self.arrows {
            arrow.seen = Some(Seen::default());
        }
        for at in 0..self.states.len() {
            let (is_global, is_composite) = (self.global == Some(at), self.is_composite(at));
            self.states[at].visits = Some(Visits { is_global, is_composite, ..Visits::default() });
        }
        let initial: Vec<_> = self.initial.into_iter().flat_map(|initial| self.descent(initial)).collect();
        for state in initial {
            self.note_entered(state);
        }
        self.note_stays(flow);
        self.note_changes(flow);
        self.set_shares();
        self
    }

    /// Returns the states by name. If two states have the same name, the map contains the first one.
    fn by_name(&self) -> HashMap<&str, usize> {
        self.states.iter().enumerate().rev().map(|(at, state)| (state.name.as_str(), at)).collect()
    }

    fn note_stays(&mut self, flow: &Flow) {
        let stays: Vec<(usize, &Stays)> = {
            let by_name = self.by_name();
            flow.stays().filter_map(|(name, stays)| Some((*by_name.get(name)?, stays))).collect()
        };
        for (state, stays) in stays {
            let visits = self.states[state].visits.get_or_insert_default();
            add(&mut visits.left, stays.count());
            #[expect(clippy::cast_precision_loss, reason = "it is exact for as many as there can be")]
            let seconds = stays.mean().unwrap_or(0.0) * stays.count() as f64;
            visits.seconds += seconds.min(f64::MAX);
            self.note_entered(state);
        }
    }

    fn note_changes(&mut self, flow: &Flow) {
        let mut ways: BTreeMap<ObservedWay, WayCounts> = BTreeMap::new();
        {
            let by_name = self.by_name();
            let index = |name: Option<&str>| name.and_then(|name| by_name.get(name).copied());
            for change in flow.changes() {
                add(
                    &mut ways.entry((index(change.from), index(change.to), change.cause)).or_default().made,
                    change.count,
                );
            }
            for refusal in flow.refusals() {
                let counts = ways.entry((index(refusal.from), index(refusal.to), refusal.cause)).or_default();
                add(&mut counts.refused, refusal.count);
            }
            for end in flow.ended() {
                let counts = ways.entry((index(end.from), index(end.to), end.cause)).or_default();
                add(&mut counts.ended_early, end.count);
                if end.ended.end == End::Abandoned || end.to != Some(end.ended.state) {
                    add(&mut counts.unmade, end.count);
                }
            }
        }
        let mut unwritten = Vec::new();
        for ((from, to, cause), counts) in ways {
            let made = counts.made;
            if let Some(from) = from {
                self.note_entered(from);
            }
            if let Some(to) = to.filter(|_| made > 0) {
                self.note_entered(to);
                let visits = self.states[to].visits.get_or_insert_default();
                add(&mut visits.entered, made);
                if from.is_none() {
                    add(&mut visits.from_nothing, made);
                }
            }
            match (from, to) {
                (Some(from), Some(to)) => {
                    unwritten.extend(self.note_way((from, to, cause), counts));
                }
                (Some(from), None) => add(&mut self.states[from].visits.get_or_insert_default().to_nothing, made),
                (None, _) => {}
            }
        }
        self.arrows.extend(unwritten);
        self.arrows.sort_by_key(|arrow| arrow.from);
    }

    /// Counts changes and refusals for the exits that may have made the changes. Returns a new arrow if there is no such exit.
    fn note_way(&mut self, (from, to, cause): (usize, usize, Cause), counts: WayCounts) -> Option<Arrow> {
        let WayCounts { made, refused, ended_early, unmade } = counts;
        let taken = made.saturating_add(unmade);
        let exits = self.exits_between(from, to, cause);
        for exit in &exits {
            let seen = self.arrows[*exit].seen.get_or_insert_default();
            add(&mut seen.at_most, taken);
            add(&mut seen.refused, refused);
            add(&mut seen.ended_early, ended_early);
            if exits.len() == 1 {
                add(&mut seen.at_least, taken);
            }
        }
        if !exits.is_empty() {
            return None;
        }
        let label = if cause == Cause::Change { String::new() } else { cause.to_string() };
        let seen = Some(Seen { at_least: taken, at_most: taken, refused, ended_early, share: 0.0 });
        Some(Arrow { from, to, label, is_unwritten: true, seen, ..Arrow::default() })
    }

    /// Returns the positions of the arrows that may have led an owner from one state to another.
    fn exits_between(&self, from: usize, to: usize, cause: Cause) -> Vec<usize> {
        let global = self.global.filter(|global| !self.is_within(from, *global));
        let has_regions = self.outward(from).any(|around| !self.states[around].regions.is_empty());
        let others = if has_regions { 0..self.states.len() } else { 0..0 };
        let beside = others.filter(|other| self.is_active_beside(*other, from));
        let sources = self.outward(from).chain(global).chain(beside);
        let exits = sources.flat_map(|source| self.places_from(source));
        let asks = |exit: &usize| self.arrows[*exit].rules.leads.unwrap_or(Cause::Change) == cause;
        exits.filter(asks).filter(|exit| self.can_lead(&self.arrows[*exit], from, to)).collect()
    }

    /// Returns whether a state may be active together with `from`, in one of the regions around it or inside it.
    fn is_active_beside(&self, state: usize, from: usize) -> bool {
        let (path, from) = (self.path(state), self.path(from));
        let shared = path.iter().zip(&from).take_while(|(one, other)| one == other).count();
        let has_regions = shared > 0 && !self.states[path[shared - 1]].regions.is_empty();
        let region = |path: &[usize]| path.get(shared).map(|state| self.states[*state].region);
        has_regions && region(&path).is_some() && region(&path) != region(&from)
    }

    /// Returns the state that a change to `to` reports as its target: the first entered state with regions (rule 32), or else the
    /// innermost entered state.
    fn told_target(&self, to: usize, from: usize) -> Option<usize> {
        let mut entered = self.path(to);
        entered.pop();
        entered.retain(|around| !self.is_within(from, *around));
        entered.extend(self.descent(to));
        entered.iter().find(|state| !self.states[**state].regions.is_empty()).or(entered.last()).copied()
    }

    /// Returns whether an exit can lead from one state to another if its condition holds. The rules are the same as in
    /// `definition::decide`, without those that depend on the owner or the time.
    fn can_lead(&self, exit: &Arrow, from: usize, to: usize) -> bool {
        let is_target = match exit.rules.leads {
            Some(Cause::Revert | Cause::Pop) => return true,
            Some(Cause::Resume) => return self.is_within(to, exit.to),
            _ => self.told_target(exit.to, from) == Some(to),
        };
        if !is_target {
            return false;
        }
        // An exit with `always` is also tried when its state is entered. Then the children of this state are not active yet.
        let is_tried_at = |at: usize| self.is_let_through(exit, at);
        is_tried_at(from) || exit.rules.is_always && is_tried_at(exit.from)
    }

    /// Returns whether an exit can be taken while `from` is the innermost active state: whether its target is not already active,
    /// and no final state holds it back.
    fn is_let_through(&self, exit: &Arrow, from: usize) -> bool {
        let Arrow { rules, .. } = exit;
        let is_own = exit.from == from;
        let is_already_there = !is_own && !rules.restarts && exit.to != exit.from && self.is_within(from, exit.to);
        let is_kept = |state: usize| state != exit.to && self.is_within(exit.to, state);
        let mut left = self.outward(from).take_while(|state| !is_kept(*state));
        let is_inside = |of: usize| exit.from != of && self.is_within(exit.from, of);
        let holds_back = |state: &DiagramState| state.is_final && state.ends.is_none_or(is_inside);
        let mut is_protected = || left.any(|state| state != exit.from && holds_back(&self.states[state]));
        !is_already_there && (rules.even_final || !is_protected())
    }

    /// Returns the positions of the arrows that lead from a state.
    fn places_from(&self, state: usize) -> Range<usize> {
        let end = |state| self.arrows.partition_point(|arrow| arrow.from < state);
        end(state)..end(state + 1)
    }

    /// Returns the drawn arrows that lead from a state.
    pub(super) fn arrows_from(&self, state: usize) -> impl Iterator<Item = &Arrow> {
        self.arrows[self.places_from(state)].iter().filter(|arrow| self.is_shown[arrow.to])
    }

    /// Notes that an owner was in a state, and so in its ancestors.
    fn note_entered(&mut self, state: usize) {
        let path = self.path(state);
        for at in &path {
            self.states[*at].visits.get_or_insert_default().is_entered = true;
        }
        // The regions of a state are opened together.
        for (nth, at) in path.iter().enumerate() {
            let inside = path.get(nth + 1).map(|child| self.states[*child].region);
            for (region, Region { initial, .. }) in self.states[*at].regions.clone().into_iter().enumerate() {
                let opened =
                    initial.and_then(|initial| self.descent(initial).last()).filter(|_| inside != Some(region));
                let is_new = |opened: &usize| self.states[*opened].visits.is_none_or(|visits| !visits.is_entered);
                if let Some(opened) = opened.filter(is_new) {
                    self.note_entered(opened);
                }
            }
        }
    }

    /// Sets the share of each arrow and of each state, relative to the greatest one. The shares determine widths and shades.
    pub(super) fn set_shares(&mut self) {
        #[expect(clippy::cast_precision_loss, reason = "a width is seen, not read")]
        let count = |arrow: &Arrow| arrow.seen.map_or(0.0, |seen| seen.at_most as f64);
        let most = self.arrows.iter().map(count).fold(1.0, f64::max);
        for arrow in &mut self.arrows {
            let share = (count(arrow) / most).sqrt();
            arrow.seen.get_or_insert_default().share = share;
        }
        let seconds = |state: &DiagramState| state.visits.map_or(0.0, |visits| visits.seconds);
        let longest = self.states.iter().map(seconds).fold(f64::MIN_POSITIVE, f64::max);
        for state in &mut self.states {
            let share = (seconds(state) / longest).sqrt();
            state.visits.get_or_insert_default().share = share.clamp(0.0, 1.0);
        }
    }
}
