//! Finds the state that a name refers to. The search begins where the name is written, and continues outward.
//!
//! The place of a state is the place of its parent, followed by its own name: `fight.aim`. A name in a state is first looked
//! up inside this state, then inside its parent, and so on outward. Next, it is compared with the names of all states as they
//! are written, and with their places. Last, it refers to the only state whose place ends with it.

use std::collections::HashMap;
use std::rc::Rc;

use super::StateId;
use crate::format::draft::DraftState;

/// The maximum number of nested states that a search follows. It is larger than the limit for nesting, so that states that are
/// nested too deep are found and reported.
const DEEPEST: usize = 66;

/// The maximum number of parts in a name that refers to a state by the end of its place.
const MOST_PARTS: usize = 8;

/// The result of looking up a name.
pub(super) enum Meant {
    One(StateId),
    /// Several states, given by their places. The name is ambiguous.
    Several(Vec<String>),
    Nothing,
}

/// The places of the states of a machine.
pub(crate) struct Scopes {
    /// The scopes of the states, by id.
    of_states: Vec<NameScope>,
    /// The states by their names, as they are written.
    by_key: HashMap<Rc<str>, usize>,
    /// The states by their places. If several states have the same place, this is the first one.
    by_place: HashMap<Rc<str>, usize>,
    /// The states by the last parts of their places, for places with more than one part.
    by_end: HashMap<String, Vec<usize>>,
    /// States whose place is already taken, each with the first state at this place.
    taken: Vec<(usize, usize)>,
}

/// The parts of a draft on which the place of a state depends.
pub(crate) struct Placed<'s> {
    pub(crate) name: &'s str,
    pub(crate) parent: Option<&'s str>,
    /// The state that runs the machine in which this state is written.
    pub(crate) root: Option<usize>,
}

impl<'s> From<&'s DraftState<'_>> for Placed<'s> {
    fn from(state: &'s DraftState<'_>) -> Self {
        let parent = state.parent.as_ref().map(|parent| parent.text.as_str());
        Self { name: &state.name.text, parent, root: state.root }
    }
}

struct NameScope {
    parent: Option<usize>,
    /// The name as it is written.
    name: Rc<str>,
    place: Rc<str>,
    /// The state that runs the machine in which this state is written.
    root: Option<usize>,
}

impl Scopes {
    /// Creates the scopes of states in their written form.
    pub(crate) fn new(states: &[Placed<'_>]) -> Self {
        let scope = |state: &Placed<'_>| {
            let name: Rc<str> = state.name.into();
            NameScope { parent: None, place: Rc::clone(&name), name, root: state.root }
        };
        let scopes: Vec<NameScope> = states.iter().map(scope).collect();
        let by_key = scopes.iter().enumerate().map(|(i, scope)| (Rc::clone(&scope.name), i)).collect();
        let mut all =
            Self { of_states: scopes, by_key, by_place: HashMap::new(), by_end: HashMap::new(), taken: Vec::new() };
        for (i, state) in states.iter().enumerate() {
            let parent = match state.parent {
                Some(parent) => all.parent_named(i, parent, states),
                None => all.parent_in(i, state.name),
            };
            all.of_states[i].parent = parent;
        }
        for i in 0..states.len() {
            let parts = all.parts_of(i, states);
            for from in parts.len().saturating_sub(MOST_PARTS).max(1)..parts.len() {
                all.by_end.entry(parts[from..].join(".")).or_default().push(i);
            }
            // Most states are not nested. Their place is their name, so both share one text.
            let name = &all.of_states[i].name;
            let place = if parts[..] == [&**name] { Rc::clone(name) } else { parts.join(".").into() };
            let first = *all.by_place.entry(Rc::clone(&place)).or_insert(i);
            // For a state that is nested deeper, only the end of its place is known, so its place cannot be compared.
            if first != i && parts.len() < DEEPEST {
                all.taken.push((i, first));
            }
            all.of_states[i].place = place;
        }
        all
    }

    /// Returns the parent that a name such as `fight.aim` contains.
    fn parent_in(&self, of: usize, name: &str) -> Option<usize> {
        let ends = name.rmatch_indices('.').map(|(at, _)| &name[..at]);
        { ends }.take(DEEPEST).find_map(|before| self.by_key.get(before).copied().filter(|parent| *parent != of))
    }

    /// Returns the parent that the key `parent` names. It does not use the places, because they depend on the parents.
    fn parent_named(&self, of: usize, name: &str, states: &[Placed<'_>]) -> Option<usize> {
        let within = self.of_states[of].root.and_then(|root| {
            // Names in a linked machine refer to its own states.
            self.by_key.get(format!("{}.{name}", states[root].name).as_str()).copied()
        });
        within.or_else(|| self.by_key.get(name).copied())
    }

    /// Returns a state's name as it is written in its machine, without the name of the state that runs this machine.
    fn own_name<'s>(&self, of: usize, states: &[Placed<'s>]) -> &'s str {
        let name = states[of].name;
        let root = self.of_states[of].root.map(|root| states[root].name);
        root.and_then(|root| name.strip_prefix(root)?.strip_prefix('.')).unwrap_or(name)
    }

    /// Returns the parts of a state's place, outermost first.
    fn parts_of<'s>(&self, of: usize, states: &[Placed<'s>]) -> Vec<&'s str> {
        let mut parts = Vec::new();
        let mut at = Some(of);
        while let Some(i) = at.filter(|_| parts.len() < DEEPEST) {
            let name = self.own_name(i, states);
            at = self.of_states[i].parent;
            let of_parent = at.filter(|parent| Some(*parent) != self.of_states[i].root);
            let own = of_parent.and_then(|parent| name.strip_prefix(self.own_name(parent, states))?.strip_prefix('.'));
            parts.push(own.unwrap_or(name));
        }
        parts.reverse();
        parts
    }

    /// Returns the name of a state, as it is written.
    pub(super) fn name(&self, of: StateId) -> &str {
        &self.of_states[of.index()].name
    }

    /// Returns the names of all states, in the order of the file.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.of_states.iter().map(|scope| &*scope.name)
    }

    /// Returns pairs of states with the same place: the later one and the first one.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (usize, usize)> {
        self.taken.iter().copied()
    }

    /// Returns a state's name inside its parent: its place without the place of the parent.
    pub(super) fn part(&self, of: StateId) -> &str {
        let NameScope { parent, place, .. } = &self.of_states[of.index()];
        let around = parent.map(|parent| &*self.of_states[parent].place);
        around.and_then(|around| place.strip_prefix(around)?.strip_prefix('.')).unwrap_or(place)
    }

    /// Returns the parent of a state, if it has one.
    pub(crate) fn parent(&self, of: StateId) -> Option<StateId> {
        self.of_states[of.index()].parent.map(StateId::new)
    }

    /// Looks up a name that is written in the state `from`, or outside of all states.
    pub(super) fn meant(&self, name: &str, from: Option<StateId>) -> Meant {
        let root = from.and_then(|from| self.of_states[from.index()].root);
        let mut scope = from.map(StateId::index);
        for _ in 0..DEEPEST {
            let Some(at) = scope else { break };
            if let Some(found) = self.by_place.get(format!("{}.{name}", self.of_states[at].place).as_str()) {
                return Meant::One(StateId::new(*found));
            }
            scope = if Some(at) == root { None } else { self.of_states[at].parent };
        }
        if root.is_none() {
            if let Some(found) = self.by_key.get(name).or_else(|| self.by_place.get(name)) {
                return Meant::One(StateId::new(*found));
            }
        }
        let ending = self.by_end.get(name).into_iter().flatten();
        let ending: Vec<usize> = ending.copied().filter(|i| self.of_states[*i].root == root).collect();
        match ending[..] {
            [] => Meant::Nothing,
            [one] => Meant::One(StateId::new(one)),
            _ => Meant::Several(ending.into_iter().map(|i| self.of_states[i].place.to_string()).collect()),
        }
    }
}
