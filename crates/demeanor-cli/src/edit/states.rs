//! Changes that add, move or delete a state.

use std::collections::BTreeSet;

use demeanor::definition::{StateId, StateOutline};
use toml_edit::{Item, Table};

use super::keys::{self, raw};
use super::{Draft, Refused, item_at, item_at_table, positions, table_at};
use crate::fmt::states::table_of;
use crate::workspace::checked_name;

const NO_PLACE: &str = "it has no place in the file";

impl Draft {
    pub(super) fn add_state(&mut self, name: &str, parent: Option<&str>, region: Option<&str>) -> Result<(), Refused> {
        checked_name(name)?;
        self.is_free(name)?;
        self.begin();
        let around = parent.map(|parent| self.path(parent)).transpose()?;
        let nested = around.as_ref().filter(|around| self.are_nested(parent, around)).cloned();
        let behind = self.last_beside(parent)?;
        let mut path = nested.clone().unwrap_or_else(|| self.machine_path());
        path.push("states".into());
        self.insert_table(&path, name, Table::new(), behind)?;
        path.push(name.to_owned());
        if nested.is_none()
            && let Some(parent) = parent
        {
            self.set(&path, keys::STATE, "parent", Some(parent))?;
        }
        if let Some(region) = region {
            self.set(&path, keys::STATE, "region", Some(region))?;
        }
        self.begin_with(name, parent)
    }

    /// Makes a state the initial one of its parent, if it is the first state in it, or of the machine, if the file names none.
    fn begin_with(&mut self, name: &str, parent: Option<&str>) -> Result<(), Refused> {
        if let Some(parent) = parent {
            // A parent that has states in it, but begins with none of them, would behave differently.
            let id = self.outline(parent)?.id();
            if !self.machine()?.children(id).is_empty() {
                return Ok(());
            }
        }
        let path = parent.map_or_else(|| Ok(self.machine_path()), |parent| self.path(parent))?;
        let table = table_at(self.document.as_item_mut(), &path).ok_or(NO_PLACE)?;
        let has_one = ["initial", "regions", "like", "machine"].iter().any(|key| table.contains_key(key));
        if !has_one {
            let order = if parent.is_some() { keys::STATE } else { keys::MACHINE };
            self.set(&path, order, "initial", Some(name))?;
        }
        Ok(())
    }

    fn is_free(&self, name: &str) -> Result<(), Refused> {
        if self.outline(name).is_ok() { Err(taken(name)) } else { Ok(()) }
    }

    /// Returns whether a new state in a parent is written in the parent's table, as `[states.fight.states.aim]`.
    fn are_nested(&mut self, parent: Option<&str>, around: &[String]) -> bool {
        let is_table = item_at(self.document.as_item_mut(), around).is_some_and(|item| item.is_table());
        let Ok(machine) = self.machine() else { return false };
        let depth = self.machine_path().len() + 2;
        let inner = machine.states().iter().filter(|state| state.parent().is_some());
        let is_here = |id: StateId| parent == Some(machine.state(id).name());
        let (here, elsewhere): (Vec<_>, Vec<_>) = inner
            .filter_map(|state| Some((state.parent()?, self.path(state.name()).ok()?.len() > depth)))
            .partition(|(id, _)| is_here(*id));
        is_table && here.last().or(elsewhere.last()).is_some_and(|(_, is_nested)| *is_nested)
    }

    /// Returns the place of the last header of a parent and the states in it, or of all states.
    fn last_beside(&mut self, parent: Option<&str>) -> Result<Option<isize>, Refused> {
        let Ok(machine) = self.machine() else { return Ok(None) };
        let beside: Vec<String> = match parent {
            None => machine.states().iter().map(|state| state.name().to_owned()).collect(),
            Some(parent) => {
                let id = self.outline(parent)?.id();
                let inner = self.within(id)?;
                inner.into_iter().map(|id| machine.state(id).name().to_owned()).collect()
            }
        };
        let paths: Vec<_> = beside.iter().filter_map(|state| self.path(state).ok()).collect();
        let tables = paths
            .iter()
            .filter_map(|path| item_at(self.document.as_item_mut(), path)?.as_table().and_then(positions::last));
        Ok(tables.max())
    }

    /// Returns a state and all states in it, without those of linked machines.
    fn within(&self, state: StateId) -> Result<Vec<StateId>, Refused> {
        let machine = self.machine()?;
        let mut all = vec![state];
        let mut at = 0;
        while let Some(id) = all.get(at) {
            all.extend(machine.children(*id).iter().filter(|id| !machine.state(**id).is_linked()));
            at += 1;
        }
        Ok(all)
    }

    /// Adds a table to the one at a path, behind a place in the file.
    pub(super) fn insert_table(
        &mut self,
        path: &[String],
        name: &str,
        table: Table,
        behind: Option<isize>,
    ) -> Result<(), Refused> {
        let (states, around) = path.split_last().ok_or(NO_PLACE)?;
        let around = item_at(self.document.as_item_mut(), around).ok_or(NO_PLACE)?;
        let around = around.as_table_like_mut().ok_or("it is no table")?;
        if !around.contains_key(states) {
            let mut implicit = Table::new();
            implicit.set_implicit(true);
            around.insert(states, Item::Table(implicit));
        }
        let states = around.get_mut(states).ok_or(NO_PLACE)?;
        if states.get(name).is_some() {
            return Err(taken(name));
        }
        let is_new = table.position().is_none();
        keys::put(states, name, table)?;
        if let (true, Some(behind)) = (is_new, behind) {
            let path: Vec<_> = path.iter().cloned().chain([name.to_owned()]).collect();
            positions::insert(self.document.as_table_mut(), behind, |document| {
                item_at_table(document, &path)?.as_table_mut()
            });
        }
        Ok(())
    }

    pub(super) fn move_state(
        &mut self,
        state: &str,
        parent: Option<&str>,
        region: Option<&str>,
    ) -> Result<(), Refused> {
        let mut path = self.path(state)?;
        let outline = self.outline(state)?;
        let machine = self.machine()?;
        let before = outline.parent().map(|parent| machine.state(parent));
        if before.map(StateOutline::name) == parent {
            return self.set(&path, keys::STATE, "region", region);
        }
        if let Some(parent) = parent {
            let inside = self.outline(parent)?.id();
            if self.within(outline.id())?.contains(&inside) {
                return Err(format!("`{state}` cannot be in itself").into());
            }
        }
        let is_initial = before.is_some_and(|before| before.initial() == Some(outline.id()));
        let former = before.map(|before| (before.name().to_owned(), machine.children(before.id()).len()));
        let around = parent.map(|parent| self.path(parent)).transpose()?;
        if let (true, Some((before, count))) = (is_initial, former) {
            if count > 1 {
                return Err(format!("`{before}` begins with `{state}`: choose another initial state first").into());
            }
            let before = self.path(&before)?;
            self.set(&before, keys::STATE, "initial", None)?;
        }
        let name = path.last().cloned().ok_or(NO_PLACE)?;
        let is_nested = path.len() > self.machine_path().len() + 2;
        if is_nested {
            let table = self.take(&path)?;
            let is_table =
                |around: &&Vec<String>| item_at(self.document.as_item_mut(), around).is_some_and(|at| at.is_table());
            let nested = around.as_ref().filter(is_table).cloned();
            let is_flat = nested.is_none();
            let mut to = nested.unwrap_or_else(|| self.machine_path());
            to.push("states".into());
            self.insert_table(&to, &name, table, None)?;
            to.push(name.clone());
            if is_flat && parent.is_some() {
                self.set(&to, keys::STATE, "parent", parent)?;
            }
            path = to;
        } else {
            self.set(&path, keys::STATE, "parent", parent)?;
        }
        self.set(&path, keys::STATE, "region", region)?;
        if parent.is_some() { self.begin_with(&name, parent) } else { Ok(()) }
    }

    pub(super) fn delete_state(&mut self, state: &str, with_exits: bool) -> Result<(), Refused> {
        self.path(state)?;
        let machine = self.machine()?;
        let outline = self.outline(state)?;
        let gone: BTreeSet<StateId> = self.within(outline.id())?.into_iter().collect();
        let name = |id: StateId| machine.state(id).name().to_owned();
        let mut uses: Vec<String> = gone
            .iter()
            .filter(|id| **id != outline.id())
            .map(|id| format!("the state `{}` in it", name(*id)))
            .collect();
        let mut exits = Vec::new();
        for other in machine.states().iter().filter(|other| !gone.contains(&other.id()) && !other.is_linked()) {
            let leads = other.exits().iter().enumerate();
            for (nth, _) in leads.filter(|(_, exit)| exit.leads().is_named() && gone.contains(&exit.target())) {
                uses.push(format!("exit {} of `{}`", nth + 1, other.name()));
                exits.push((other.name().to_owned(), nth));
            }
        }
        // If the machine or the parent begins with a deleted state, it will begin with the first one that stays.
        let mut initials = Vec::new();
        let stays = |id: &&StateId| !gone.contains(id) && machine.global() != Some(**id);
        if gone.contains(&machine.initial()) {
            uses.push("`initial` of the machine".into());
            let next = machine.children(None).iter().find(stays).map(|id| name(*id));
            initials.push((self.machine_path(), keys::MACHINE, "initial", next));
        }
        if machine.global().is_some_and(|global| gone.contains(&global)) {
            uses.push("`global` of the machine".into());
            initials.push((self.machine_path(), keys::MACHINE, "global", None));
        }
        if let Some(parent) =
            outline.parent().map(|parent| machine.state(parent)).filter(|parent| parent.initial() == Some(outline.id()))
        {
            uses.push(format!("`initial` of `{}`", parent.name()));
            let next = machine.children(parent.id()).iter().find(stays).map(|id| machine.state(*id).part().to_owned());
            initials.push((self.path(parent.name())?, keys::STATE, "initial", next));
        }
        let only_begins = gone.len() == machine.states().len();
        if !with_exits && !uses.is_empty() && !only_begins {
            return Err(Refused { why: format!("`{state}` is used: {}", uses.join(", ")), uses });
        }
        let mut paths: Vec<_> = gone.iter().filter_map(|id| self.path(&name(*id)).ok()).collect();
        for (other, nth) in exits.into_iter().rev() {
            let path = self.path(&other)?;
            self.delete_exit(&path, nth)?;
        }
        paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
        for path in paths {
            self.take(&path)?;
        }
        for (path, order, key, next) in initials {
            self.set(&path, order, key, next.as_deref())?;
        }
        Ok(())
    }

    /// Removes and returns the table of a state. A parent that is written only in its header gets a header of its own. Comments that
    /// an empty line separates from the header stay.
    fn take(&mut self, path: &[String]) -> Result<Table, Refused> {
        let (name, states) = path.split_last().ok_or(NO_PLACE)?;
        let (_, around) = states.split_last().ok_or(NO_PLACE)?;
        let container = item_at(self.document.as_item_mut(), states).ok_or(NO_PLACE)?;
        let found = container.as_table_like().and_then(|container| container.get_key_value(name));
        let (key, item) = found.ok_or(NO_PLACE)?;
        let mut table = table_of(key, item).ok_or(NO_PLACE)?;
        if item.is_value() {
            // The header comes after an empty line.
            let above = format!("\n{}", raw(table.decor().prefix()));
            table.decor_mut().set_prefix(above);
        }
        keys::remove(container, name);
        let is_empty = container.as_table_like().is_some_and(toml_edit::TableLike::is_empty);
        let prefix = raw(table.decor().prefix()).to_owned();
        if is_empty
            && around.len() > self.machine_path().len()
            && let Some(Item::Table(around)) = item_at(self.document.as_item_mut(), around)
            && around.is_implicit()
            && around.len() == 1
        {
            around.remove("states");
            around.set_implicit(false);
            around.set_position(table.position());
        }
        if let Some((head, own)) = prefix.rsplit_once("\n\n").filter(|(head, _)| head.contains('#')) {
            let next = table.position().and_then(|place| positions::next(self.document.as_table_mut(), place));
            if let Some(next) = next {
                let before = raw(next.decor().prefix()).to_owned();
                next.decor_mut().set_prefix(format!("{head}\n{before}"));
            } else {
                let trailing = raw(Some(self.document.trailing())).to_owned();
                self.document.set_trailing(format!("{head}\n{trailing}"));
            }
            table.decor_mut().set_prefix(format!("\n{own}"));
        }
        Ok(table)
    }
}

fn taken(name: &str) -> Refused {
    format!("there is a state `{name}` already").into()
}
