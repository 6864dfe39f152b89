//! Reads states that are written in the tables of other states, as in `[states.fight.states.aim]`. Each is moved
//! out of that table and gets the other state as its `parent`, so that the later stages see only one form.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use toml::Spanned;

use super::read::DraftReader;
use super::tree::{Key, SpannedValue, Table, TreeValue};
use crate::format::problems::{Mistake, Origin};

/// A state, and the state in whose table it is written.
struct WrittenState<'i> {
    key: Key<'i>,
    value: SpannedValue<'i>,
    /// The index of the state in whose table this one is written, and where that state is named.
    within: Option<(usize, Range<usize>)>,
}

impl<'i> DraftReader<'_, 'i> {
    /// Returns the states of a machine, in the order of the file, each without the states in its table. `is_like` says whether
    /// the machine gets the states of another one, too.
    pub(super) fn flat(&mut self, states: Table<'i>, is_like: bool) -> Vec<(Key<'i>, SpannedValue<'i>)> {
        let has_inner =
            |state: &SpannedValue<'_>| state.get_ref().as_table().is_some_and(|of| of.contains_key("states"));
        if !states.values().any(has_inner) {
            // Most files have no nested states, and need no memory except for this list.
            let mut all: Vec<_> = states.into_entries().collect();
            all.sort_by_key(|(key, _)| key.span().start);
            return all;
        }
        let beside = states.into_entries().map(|(key, value)| WrittenState { key, value, within: None });
        let mut all: Vec<_> = beside.collect();
        let beside = all.len();
        let mut at = 0;
        while at < all.len() {
            self.add_inner(at, &mut all);
            at += 1;
        }
        // A parent without keys of its own may be a state of the machine that `like` names.
        if !is_like {
            self.check_parents(&all);
        }
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|at| all[*at].key.span().start);
        self.name(&mut all, &order, beside);
        let mut all: Vec<_> = all.into_iter().map(|state| Some((state.key, state.value))).collect();
        order.into_iter().filter_map(|at| all[at].take()).collect()
    }

    /// Moves the states in the table of the state at index `at` to `all`.
    fn add_inner(&mut self, at: usize, all: &mut Vec<WrittenState<'i>>) {
        let WrittenState { key: around, value, .. } = &mut all[at];
        let TreeValue::Table(table) = value.get_mut() else { return };
        let Some((states, inner)) = table.remove("states") else { return };
        let around = around.clone();
        if self.table(&inner, "`states`").is_none() {
            return;
        }
        let TreeValue::Table(inner) = inner.into_inner() else { return };
        for (key, value) in inner.into_entries() {
            let named = self.named_before(&around, &states, &key);
            all.push(WrittenState { key, value, within: Some((at, named)) });
        }
    }

    /// Warns about states whose tables contain only tables of other states, if their names are similar to those of other states.
    /// Names such as `phase1` and `phase2` are meant to be alike.
    fn check_parents(&mut self, all: &[WrittenState<'_>]) {
        let of = |at: usize| &**all[at].key.get_ref();
        let parents: BTreeSet<_> = all.iter().filter_map(|state| Some(state.within.as_ref()?.0)).collect();
        let says_nothing = |at: &usize| all[*at].value.get_ref().as_table().is_some_and(Table::is_empty);
        for at in parents.into_iter().filter(says_nothing) {
            let others = (0..all.len()).map(of).filter(|other| *other != of(at) && stem(other) != stem(of(at)));
            let nearest = self.findings.nearest(of(at), others);
            if nearest.is_some() {
                Mistake::warning(
                    "unknown-parent",
                    all[at].key.span(),
                    format!("state `{}` has nothing but states in it", of(at)),
                )
                .label("a state of its own")
                .meant(nearest)
                .report(self.findings);
            }
        }
    }

    /// Names the states that are in the tables of others, and their parents. If several states have one name, the states outside
    /// of such tables and the first state in the file keep the name. Each other state gets its full name.
    fn name(&mut self, all: &mut [WrittenState<'i>], order: &[usize], beside: usize) {
        let mut names: HashSet<String> = all[..beside].iter().map(|state| state.key.get_ref().to_string()).collect();
        for at in order {
            let Some((around, place)) = all[*at].within.clone() else { continue };
            let parent = all[around].key.get_ref().to_string();
            let WrittenState { key, value, .. } = &mut all[*at];
            if names.contains(&**key.get_ref()) {
                *key = Spanned::new(key.span(), Cow::Owned(format!("{parent}.{}", key.get_ref())));
            }
            names.insert(key.get_ref().to_string());
            if let TreeValue::Table(table) = value.get_mut() {
                self.add_parent(table, &parent, place);
            }
        }
    }

    fn add_parent(&mut self, child: &mut Table<'i>, parent: &str, at: Range<usize>) {
        if let Some((key, _)) = child.get_key_value("parent") {
            Mistake::error("misplaced-key", key.span(), format!("the state is in the table of `{parent}`, its parent"))
                .label("a second parent")
                .help("remove `parent`, or write the state beside the other: `[states.name]`")
                .origin(Origin::Unread)
                .report(self.findings);
            return;
        }
        let name = TreeValue::String(Cow::Owned(parent.to_owned()));
        child.insert(Spanned::new(at.clone(), Cow::Borrowed("parent")), Spanned::new(at, name));
    }

    /// Returns where a state in the table of `parent` names this parent: in the header or dotted key of the state, if the parent is
    /// named there, and otherwise in the key of the parent.
    fn named_before(&self, parent: &Key<'i>, states: &Key<'i>, name: &Key<'i>) -> Range<usize> {
        let written = |at| self.text.get(at).unwrap_or_default();
        let before = written(0..name.span().start);
        let cut = |text: &'i str, end: &str| Some(text.trim_end().strip_suffix(end)?.trim_end());
        let dotted =
            ["states", written(states.span())].into_iter().find_map(|of| cut(cut(cut(before, ".")?, of)?, "."));
        let (of_parent, bare) = (written(parent.span()), &**parent.get_ref());
        let names = [of_parent, bare, &format!("\"{bare}\""), &format!("'{bare}'")];
        let here = dotted.and_then(|dotted| {
            let start = names.iter().find_map(|name| Some(dotted.strip_suffix(*name)?.len()))?;
            Some(start..dotted.len())
        });
        here.unwrap_or(parent.span())
    }
}

/// Returns a name without its last letter.
fn stem(name: &str) -> Option<&str> {
    name.char_indices().next_back().map(|(last, _)| &name[..last])
}
