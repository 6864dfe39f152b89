//! Finds the state that a name refers to. The search begins where the name is written, and continues outward.
//!
//! The place of a state is the place of its parent, followed by its own name: `fight.aim`. A name in a state is first looked
//! up inside this state, then inside its parent, and so on outward. Next, it is compared with the names of all states as they
//! are written, and with their places. Last, it refers to the only state whose place ends with it.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

use super::StateId;
use crate::format::chains::Chains;

/// The maximum number of nested states that a search follows. It is larger than the limit for nesting, so that states that are
/// nested too deep are found and reported.
const DEEPEST: usize = 66;

/// The maximum number of parts in a name that refers to a state by the end of its place.
const MOST_PARTS: usize = 8;

/// The result of looking up a name.
pub(crate) enum Meant {
    One(StateId),
    /// Several states. The name is ambiguous.
    Several,
    Nothing,
}

/// The places of the states of a machine.
///
/// The text of a place is not stored: in a file in which all states are nested in each other, these texts would be hundreds of
/// times as long as the file. Places are found by their hashes, and then compared part by part.
pub(crate) struct Scopes {
    /// The scopes of the states, by id.
    of_states: Vec<NameScope>,
    /// The states by their names, as they are written.
    by_key: HashMap<Arc<str>, usize>,
    /// The states by the hashes of their places. If several states have the same place, this is the first one.
    by_place: HashMap<u64, usize>,
    /// The hash of each end of a place, with the state, in the order of the hashes. The ends of the place `a.b.c` are `c` and
    /// `b.c`. The ends in a linked machine have other hashes than the same ends elsewhere.
    by_end: Vec<(u32, u32)>,
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

struct NameScope {
    parent: Option<usize>,
    /// The name as it is written.
    name: Arc<str>,
    /// Where the last part of the place begins in `name`.
    part: usize,
    /// The hash of the place.
    place: u64,
    /// The state that runs the machine in which this state is written.
    root: Option<usize>,
}

impl Scopes {
    /// Creates the scopes of states in their written form.
    pub(crate) fn new(states: &[Placed<'_>]) -> Self {
        let scope = |state: &Placed<'_>| NameScope {
            parent: None,
            name: state.name.into(),
            part: 0,
            place: 0,
            root: state.root,
        };
        let scopes: Vec<NameScope> = states.iter().map(scope).collect();
        let by_key = scopes.iter().enumerate().map(|(i, scope)| (Arc::clone(&scope.name), i)).collect();
        let mut all =
            Self { of_states: scopes, by_key, by_place: HashMap::new(), by_end: Vec::new(), taken: Vec::new() };
        for (i, state) in states.iter().enumerate() {
            let parent = match state.parent {
                Some(parent) => all.parent_named(i, parent, states),
                None => all.parent_in(i, state.name),
            };
            all.of_states[i].parent = parent;
        }
        let mut is_placed = vec![false; states.len()];
        for i in Chains::follow(states.len(), |i| all.of_states[i].parent).order {
            let name = all.own_name(i, states);
            let parent = all.of_states[i].parent;
            let of_parent = parent.filter(|parent| Some(*parent) != all.of_states[i].root);
            let own = of_parent.and_then(|parent| name.strip_prefix(all.own_name(parent, states))?.strip_prefix('.'));
            let part = own.unwrap_or(name);
            // In a circle of parents, one of the states counts as the outermost one.
            let around = parent.filter(|parent| is_placed[*parent]);
            is_placed[i] = true;
            let place = hash_within(around.map(|around| all.of_states[around].place), part);
            let scope = &mut all.of_states[i];
            (scope.part, scope.place) = (states[i].name.len() - part.len(), place);
        }
        for i in 0..states.len() {
            let first = *all.by_place.entry(all.of_states[i].place).or_insert(i);
            if first != i && all.is_at(first, all.of_states[i].parent, all.part(StateId::new(i))) {
                all.taken.push((i, first));
            }
            all.add_ends(i);
        }
        all.by_end.sort_unstable();
        all
    }

    /// Adds the ends of the place of a state, without its whole place.
    fn add_ends(&mut self, of: usize) {
        let Ok(id) = u32::try_from(of) else { return };
        let mut end = String::new();
        let mut at = of;
        for _ in 0..MOST_PARTS {
            let Some(parent) = self.of_states[at].parent else { return };
            end.insert_str(0, self.part(StateId::new(at)));
            self.by_end.push((short_hash(self.of_states[of].root, &end), id));
            end.insert(0, '.');
            at = parent;
        }
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

    /// Returns the segments of a state's place, innermost first. A part has several segments if there is a dot in it.
    fn segments(&self, of: Option<usize>) -> impl Iterator<Item = &str> {
        let around = iter::successors(of, |at| self.of_states[*at].parent);
        around.flat_map(|at| self.part(StateId::new(at)).rsplit('.')).take(DEEPEST)
    }

    /// Whether the state `of` is at the place with this name in the state `around`. Only the innermost segments are compared,
    /// because the hashes of the whole places are equal.
    fn is_at(&self, of: usize, around: Option<usize>, name: &str) -> bool {
        let is_child = self.of_states[of].parent == around && self.part(StateId::new(of)) == name;
        is_child || self.segments(Some(of)).eq(name.rsplit('.').chain(self.segments(around)).take(DEEPEST))
    }

    /// Returns the state with this name in the state `around`, or outside of all states.
    fn at_place(&self, around: Option<usize>, name: &str) -> Option<usize> {
        let place = hash_within(around.map(|around| self.of_states[around].place), name);
        self.by_place.get(&place).copied().filter(|found| self.is_at(*found, around, name))
    }

    /// Whether the place of a state ends with a name, but is longer.
    fn ends_with(&self, of: usize, name: &str) -> bool {
        let (mut at, mut rest) = (of, name);
        loop {
            let Some(before) = rest.strip_suffix(self.part(StateId::new(at))) else { return false };
            let Some(parent) = self.of_states[at].parent else { return false };
            match before.strip_suffix('.') {
                Some(before) => (at, rest) = (parent, before),
                None => return before.is_empty(),
            }
        }
    }

    /// Returns the place of a state as text. For a very deep state, only the innermost parts of the place.
    fn place(&self, of: usize) -> String {
        let mut segments: Vec<_> = self.segments(Some(of)).collect();
        segments.reverse();
        segments.join(".")
    }

    /// Returns the name of a state, as it is written.
    pub(super) fn name(&self, of: StateId) -> &str {
        &self.of_states[of.index()].name
    }

    /// Returns the names of all states, in the order of the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.of_states.iter().map(|scope| &*scope.name)
    }

    /// Returns pairs of states with the same place: the later one and the first one.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (usize, usize)> {
        self.taken.iter().copied()
    }

    /// Returns a state's name inside its parent: its place without the place of the parent.
    pub(super) fn part(&self, of: StateId) -> &str {
        let NameScope { name, part, .. } = &self.of_states[of.index()];
        &name[*part..]
    }

    /// Returns the parent of a state, if it has one.
    pub(crate) fn parent(&self, of: StateId) -> Option<StateId> {
        self.of_states[of.index()].parent.map(StateId::new)
    }

    /// Looks up a name that is written in the state `from`, or outside of all states.
    pub(crate) fn meant(&self, name: &str, from: Option<StateId>) -> Meant {
        let root = from.and_then(|from| self.of_states[from.index()].root);
        let mut scope = from.map(StateId::index);
        for _ in 0..DEEPEST {
            let Some(at) = scope else { break };
            if let Some(found) = self.at_place(Some(at), name) {
                return Meant::One(StateId::new(found));
            }
            scope = if Some(at) == root { None } else { self.of_states[at].parent };
        }
        if root.is_none() {
            if let Some(found) = self.by_key.get(name).copied().or_else(|| self.at_place(None, name)) {
                return Meant::One(StateId::new(found));
            }
        }
        let mut ending = self.ending(name, root);
        match (ending.next(), ending.next()) {
            (None, _) => Meant::Nothing,
            (Some(one), None) => Meant::One(StateId::new(one)),
            (Some(_), Some(_)) => Meant::Several,
        }
    }

    /// Returns the states whose place ends with a name, but is longer, in the machine that the state `root` runs.
    fn ending(&self, name: &str, root: Option<usize>) -> impl Iterator<Item = usize> {
        let hash = short_hash(root, name);
        let from = self.by_end.partition_point(|(of, _)| *of < hash);
        let ending = self.by_end[from..].iter().take_while(move |(of, _)| *of == hash).map(|(_, i)| *i as usize);
        ending.filter(move |i| self.of_states[*i].root == root && self.ends_with(*i, name))
    }

    /// Returns the places of the states that an ambiguous name in the state `from` may mean.
    pub(crate) fn places(&self, name: &str, from: Option<StateId>) -> Vec<String> {
        let root = from.and_then(|from| self.of_states[from.index()].root);
        self.ending(name, root).map(|i| self.place(i)).collect()
    }
}

/// Returns the hash of the place with this name in a place, or outside of all states. It is the FNV-1a hash of the text of the
/// place.
fn hash_within(around: Option<u64>, name: &str) -> u64 {
    let more = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let begin = around.map_or(0xcbf2_9ce4_8422_2325, |around| more(around, b'.'));
    name.bytes().fold(begin, more)
}

/// Returns a hash of the end of a place in the machine that the state `root` runs.
fn short_hash(root: Option<usize>, end: &str) -> u32 {
    u32::try_from(hash_within(root.map(|root| root as u64), end) >> 32).unwrap_or_default()
}
