//! The machines of a file, and the parts that one machine takes over from another one with `like`.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use toml::Spanned;

use super::DraftState;
use super::keys::BEHAVIOR_KEYS;
use super::tree::{Key, SpannedValue, Table, TreeValue};
use crate::format::chains::Chains;
use crate::format::name::Name;
use crate::format::outline::scopes::{Placed, Scopes};
use crate::format::problems::{Findings, Mistake, Origin};

/// The maximum number of states that all machines of one file together take over.
const MOST_TAKEN_OVER: usize = 400_000;

/// A machine that has a table of its own.
pub(super) struct WrittenMachine<'i> {
    pub(super) name: Name,
    /// The machine that this one names with `like`.
    pub(super) like: Option<Name>,
    /// The table without its states.
    pub(super) table: Table<'i>,
    /// The states that are written in the machine. After `complete`, they include the states of the machine that it is like.
    pub(super) states: Vec<Rc<SharedState<'i>>>,
}

/// A state in its written form. All machines that have it unchanged share it.
pub(super) struct SharedState<'i> {
    pub(super) key: Key<'i>,
    pub(super) value: SpannedValue<'i>,
    /// The draft. It is read only once.
    pub(super) draft: OnceCell<Rc<DraftState<'i>>>,
}

impl<'i> SharedState<'i> {
    pub(super) fn new(key: Key<'i>, value: SpannedValue<'i>) -> Rc<Self> {
        Rc::new(Self { key, value, draft: OnceCell::new() })
    }

    fn name(&self) -> &str {
        self.key.get_ref()
    }

    fn placed(&self) -> Placed<'_> {
        let parent = self.value.get_ref().as_table().and_then(|state| state.get("parent")?.get_ref().as_str());
        Placed { name: self.name(), parent, root: None }
    }

    /// Whether its name or its key `parent` puts it into another state.
    fn is_nested(&self) -> bool {
        self.name().contains('.') || self.placed().parent.is_some()
    }
}

/// Gives each machine the contents of the machine that it is like. A machine that cannot be completed stays as it is written.
pub(super) fn complete(machines: &mut [WrittenMachine<'_>], findings: &mut Findings) {
    let likes = likes(machines, findings);
    let Chains { order, circles } = Chains::follow(machines.len(), |i| likes[i]);
    for mistake in circles.iter().filter_map(|trail| circle(trail, machines)) {
        findings.add(mistake);
    }
    let mut is_complete = vec![false; machines.len()];
    // How many states may still be taken over. `None` after there were too many.
    let mut left = Some(MOST_TAKEN_OVER);
    for at in order {
        is_complete[at] = true;
        // The machine that closes a circle comes before the machine that it is like.
        let Some(base) = likes[at].filter(|base| is_complete[*base] && *base != at) else { continue };
        let count = machines[base].states.len();
        if count <= left.unwrap_or(0) {
            left = left.map(|left| left - count);
            take_over(base, at, machines);
            continue;
        }
        // This is reported once. After that, no machine takes over states.
        if let (Some(_), Some(like)) = (left.take(), &machines[at].like) {
            let message =
                format!("the machines of this file take over more than {MOST_TAKEN_OVER} states from one another");
            Mistake::error("too-many-states", like.span.clone(), message)
                .label("too many from here")
                .help("divide the machines among several files")
                .origin(Origin::Unread)
                .report(findings);
        }
    }
}

/// Returns, for each machine, the machine that it is like.
fn likes(machines: &[WrittenMachine<'_>], findings: &mut Findings) -> Vec<Option<usize>> {
    let names = || machines.iter().map(|machine| machine.name.text.as_str());
    let index_of: HashMap<&str, usize> = names().enumerate().map(|(i, name)| (name, i)).collect();
    let like = |machine: &WrittenMachine<'_>| {
        let like = machine.like.as_ref()?;
        let base = index_of.get(like.text.as_str()).copied();
        if base.is_none() {
            let nearest = findings.nearest(&like.text, names());
            findings.add(unknown_machine(like).meant(nearest).origin(Origin::Unread));
        }
        base
    };
    machines.iter().map(like).collect()
}

/// Returns the mistake for a circle of machines. The last machine of the trail is like the first one.
fn circle(trail: &[usize], machines: &[WrittenMachine<'_>]) -> Option<Mistake> {
    let like = machines[*trail.last()?].like.as_ref()?;
    let names = trail.iter().chain([&trail[0]]).map(|on| format!("`{}`", machines[*on].name));
    let path = names.collect::<Vec<_>>().join(" -> ");
    let message = format!("machines are like each other in a circle: {path}");
    let mistake = Mistake::error("like-cycle", like.span.clone(), message).label("closes the circle");
    Some(mistake.help("one of them must be written out").origin(Origin::Unread))
}

pub(crate) fn unknown_machine(name: &Name) -> Mistake {
    Mistake::error("unknown-machine", name.span.clone(), format!("unknown machine `{}`", name.text))
        .label("no machine of this file")
        .help(format!("define it: `[machines.{}]`", name.text))
}

/// Gives a machine all contents of `base`. Keys that the machine itself writes, also within a state, replace the same keys of
/// `base`.
fn take_over(base: usize, by: usize, machines: &mut [WrittenMachine<'_>]) {
    for key in ["initial", "global", "properties"] {
        let of_base = machines[base].table.get_key_value(key).map(|(key, value)| (key.clone(), value.clone()));
        let own = &mut machines[by].table;
        if let Some((key, value)) = of_base.filter(|_| !own.contains_key(key)) {
            own.insert(key, value);
        }
    }
    let own = std::mem::take(&mut machines[by].states);
    let mut states = machines[base].states.clone();
    let takes = takes(&states, &own);
    for (state, at) in own.into_iter().zip(takes) {
        match at {
            Some(at) => states[at] = merged(&states[at], &state),
            None => states.push(state),
        }
    }
    machines[by].states = states;
}

/// Returns, for each of a machine's own states, the state of the base that it replaces: the state at the same place. The place
/// may be written with the parent's name as a prefix, or with the key `parent`.
fn takes<'i>(base: &[Rc<SharedState<'i>>], own: &[Rc<SharedState<'i>>]) -> Vec<Option<usize>> {
    if own.is_empty() {
        return Vec::new();
    }
    let index_of: HashMap<&str, usize> = base.iter().enumerate().map(|(i, state)| (state.name(), i)).collect();
    let mut takes: Vec<_> = own.iter().map(|state| index_of.get(state.name()).copied()).collect();
    let new: Vec<usize> = (0..own.len()).filter(|i| takes[*i].is_none()).collect();
    // In most machines, no new state is nested, so the places are not needed.
    if new.iter().any(|i| own[*i].is_nested()) {
        let all = base.iter().chain(new.iter().map(|i| &own[*i]));
        let scopes = Scopes::new(&all.map(|state| state.placed()).collect::<Vec<_>>());
        for (later, first) in scopes.taken().filter(|(later, first)| *first < base.len() && *later >= base.len()) {
            takes[new[later - base.len()]] = Some(first);
        }
    }
    takes
}

/// Returns a state of the base in which the keys that the machine writes again are replaced. It keeps the name that it has in
/// the base.
fn merged<'i>(base: &SharedState<'i>, own: &SharedState<'i>) -> Rc<SharedState<'i>> {
    let (TreeValue::Table(of_base), TreeValue::Table(written)) = (base.value.get_ref(), own.value.get_ref()) else {
        return SharedState::new(own.key.clone(), own.value.clone());
    };
    let is_same = base.name() == own.name();
    let mut state = of_base.clone();
    if BEHAVIOR_KEYS.iter().any(|key| written.contains_key(key)) {
        // The parameters belong to the replaced behavior.
        for key in BEHAVIOR_KEYS.iter().chain(&["params"]) {
            state.remove(key);
        }
    }
    // `initial` and `regions` replace each other.
    for (key, other) in [("initial", "regions"), ("regions", "initial")] {
        if written.contains_key(key) {
            state.remove(other);
        }
    }
    // Both states are at the same place. If their names are written differently, the base's `parent` stays, because it fits the
    // base's name.
    for (key, value) in written.iter().filter(|(key, _)| is_same || key.get_ref() != "parent") {
        let name: &str = key.get_ref();
        state.remove(name);
        state.insert(key.clone(), value.clone());
    }
    let key = Spanned::new(own.key.span(), base.key.get_ref().clone());
    SharedState::new(key, Spanned::new(own.value.span(), TreeValue::Table(state)))
}
