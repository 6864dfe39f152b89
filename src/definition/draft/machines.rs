//! The machines of a file, and what is copied from one into another by `like`.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::expression::Name;
use super::super::findings::Findings;
use super::super::mistake::{Mistake, Origin};
use super::behaviors::KEYS as BEHAVIOR_KEYS;

/// The most values that are copied into the machines of one file.
const MOST_COPIED: usize = 300_000;

/// A machine that is written in a table of its own.
pub(super) struct Written<'t, 'i> {
    pub(super) name: Name,
    pub(super) table: &'t DeTable<'i>,
    /// The machine that it is like.
    pub(super) like: Option<Name>,
}

/// The tables of machines, with what they are like.
pub(super) struct Machines<'t, 'i> {
    written: Vec<Written<'t, 'i>>,
    index_of: HashMap<String, usize>,
    /// How many values may still be copied.
    left: usize,
    /// Whether that were too many.
    is_too_much: bool,
}

impl<'t, 'i> Machines<'t, 'i> {
    pub(super) fn new(written: Vec<Written<'t, 'i>>) -> Self {
        let index_of = written.iter().enumerate().map(|(i, machine)| (machine.name.text.clone(), i)).collect();
        Self { written, index_of, left: MOST_COPIED, is_too_much: false }
    }

    /// Each machine's name, and its table with all that it is like.
    pub(super) fn complete(mut self, findings: &mut Findings) -> Vec<(Name, DeTable<'i>)> {
        let mut complete: Vec<Option<DeTable<'i>>> = self.written.iter().map(|_| None).collect();
        for i in 0..self.written.len() {
            self.complete_one(i, &mut complete, findings);
        }
        self.written.into_iter().zip(complete).filter_map(|(written, table)| Some((written.name, table?))).collect()
    }

    /// Completes a machine, and first those that it is like. One that cannot be completed stays as it is written.
    fn complete_one(&mut self, i: usize, complete: &mut [Option<DeTable<'i>>], findings: &mut Findings) {
        let mut trail = vec![i];
        let mut base = None;
        while let Some(like) = &self.written[trail[trail.len() - 1]].like {
            let Some(&next) = self.index_of.get(&like.text) else {
                let known = self.written.iter().map(|written| written.name.text.as_str());
                let nearest = findings.nearest(&like.text, known);
                findings.add(unknown_machine(like).meant(nearest).origin(Origin::Unread));
                break;
            };
            if let Some(begin) = trail.iter().position(|on| *on == next) {
                let names = trail[begin..].iter().chain([&next]).map(|on| format!("`{}`", self.written[*on].name));
                let path = names.collect::<Vec<_>>().join(" -> ");
                findings.add(
                    Mistake::error(
                        "like-cycle",
                        like.span.clone(),
                        format!("machines are like each other in a circle: {path}"),
                    )
                    .label("closes the circle")
                    .help("one of them must be written out")
                    .origin(Origin::Unread),
                );
                break;
            }
            if complete[next].is_some() {
                base = Some(next);
                break;
            }
            trail.push(next);
        }
        // From what is like nothing more to what was asked for.
        for at in trail.into_iter().rev() {
            let own = self.written[at].table;
            if complete[at].is_none() {
                let of_base = base.and_then(|base: usize| complete[base].as_ref());
                let table = match of_base {
                    Some(base) if self.may_copy(base, at, findings) => merged(base, own),
                    _ => own.clone(),
                };
                complete[at] = Some(table);
            }
            base = Some(at);
        }
    }

    fn may_copy(&mut self, base: &DeTable<'_>, at: usize, findings: &mut Findings) -> bool {
        let count = values_in(base);
        let may = count <= self.left;
        self.left = self.left.saturating_sub(count);
        // Once: what is copied of the others is less, then, than they say.
        let is_first = !self.is_too_much;
        self.is_too_much |= !may;
        if let (false, true, Some(like)) = (may, is_first, &self.written[at].like) {
            findings.add(
                Mistake::error(
                    "too-many-states",
                    like.span.clone(),
                    "too much is copied into the machines of this file",
                )
                .label("copied here")
                .help("put some of them into files of their own")
                .origin(Origin::Unread),
            );
        }
        may
    }
}

pub(crate) fn unknown_machine(name: &Name) -> Mistake {
    Mistake::error("unknown-machine", name.span.clone(), format!("unknown machine `{}`", name.text))
        .label("no machine of this file")
        .help(format!("define it: `[machines.{}]`", name.text))
}

fn values_in(table: &DeTable<'_>) -> usize {
    let within = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::Table(table) => values_in(table),
        DeValue::Array(list) => list.iter().map(|one| one.get_ref().as_table().map_or(1, values_in)).sum(),
        _ => 0,
    };
    table.values().map(|value| 1 + within(value)).sum()
}

/// All of `base`, with what is written in `own` in its place: machine by machine, state by state, key by key.
fn merged<'i>(base: &DeTable<'i>, own: &DeTable<'i>) -> DeTable<'i> {
    let mut table = base.clone();
    for (key, value) in own {
        let name: &str = key.get_ref();
        let value = match (name, table.get(name).map(Spanned::get_ref), value.get_ref()) {
            ("states", Some(DeValue::Table(of_base)), DeValue::Table(states)) => {
                Spanned::new(value.span(), DeValue::Table(merged_states(of_base, states)))
            }
            _ => value.clone(),
        };
        table.remove(name);
        table.insert(key.clone(), value);
    }
    table
}

fn merged_states<'i>(base: &DeTable<'i>, own: &DeTable<'i>) -> DeTable<'i> {
    let mut states = base.clone();
    for (key, value) in own {
        let name: &str = key.get_ref();
        let value = match (states.get(name).map(Spanned::get_ref), value.get_ref()) {
            (Some(DeValue::Table(of_base)), DeValue::Table(state)) => {
                Spanned::new(value.span(), DeValue::Table(merged_state(of_base, state)))
            }
            _ => value.clone(),
        };
        states.remove(name);
        states.insert(key.clone(), value);
    }
    states
}

fn merged_state<'i>(base: &DeTable<'i>, own: &DeTable<'i>) -> DeTable<'i> {
    let mut state = base.clone();
    if BEHAVIOR_KEYS.iter().any(|key| own.contains_key(*key)) {
        // Its parameters go with it.
        for key in BEHAVIOR_KEYS.iter().chain(&["params"]) {
            state.remove(*key);
        }
    }
    for (key, value) in own {
        let name: &str = key.get_ref();
        state.remove(name);
        state.insert(key.clone(), value.clone());
    }
    state
}
