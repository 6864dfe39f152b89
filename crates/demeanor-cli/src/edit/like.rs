//! States that a machine has from another one, which it is like: `like = "imp"`.

use std::iter;

use demeanor::definition::Outline;
use toml_edit::Table;

use super::{Draft, Refused, item_at, keys, path_of_machine, positions};

impl Draft {
    /// Returns this machine, the one that it is like, and so on.
    fn models(&self) -> impl Iterator<Item = &Outline> {
        let outlines = self.survey.outlines();
        let named = move |name: &str| outlines.iter().find(|outline| outline.machine() == Some(name));
        let models = iter::successors(self.machine().ok(), move |outline| named(outline.like()?.0));
        // The machines of a mistaken file can be like each other in a circle.
        models.take(outlines.len())
    }

    /// Returns where a state is written, with the machine: in this machine, and in those that it is like.
    pub(super) fn paths(&self, state: &str) -> Vec<(Option<String>, Vec<String>)> {
        let states = self.models().filter_map(|outline| outline.states().iter().find(|other| other.name() == state));
        // A state of a machine that another state runs is written in that machine.
        let states = states.filter(|state| !state.is_linked());
        let mut paths: Vec<_> = states.filter_map(|outline| self.place_of(outline).ok()).collect();
        paths.dedup();
        paths
    }

    /// Returns the keys that lead to the table of a state in this machine. A state that is only written in a machine that this one is
    /// like gets a table here, too.
    pub(super) fn own_path(&mut self, state: &str) -> Result<Vec<String>, Refused> {
        let refused = match self.path(state) {
            Ok(path) => return Ok(path),
            Err(refused) => refused,
        };
        let Some((machine, place)) = self.paths(state).into_iter().next() else { return Err(refused) };
        // The keys behind those of the machine: `states`, a state, and so on.
        let within = &place[path_of_machine(machine.as_deref()).len()..];
        let mut path = self.machine_path();
        let behind = item_at(self.document.as_item_mut(), &path).and_then(|item| item.as_table());
        let behind = behind.and_then(positions::last);
        let [around @ .., _, name] = within else { return Err(refused) };
        for state in around.iter().skip(1).step_by(2) {
            path.push("states".into());
            let item = item_at(self.document.as_item_mut(), &path).and_then(|states| states.get_mut(state));
            if item.is_none() {
                let mut implicit = Table::new();
                implicit.set_implicit(true);
                self.insert_table(&path, state, implicit, None)?;
            }
            path.push(state.clone());
        }
        path.push("states".into());
        self.insert_table(&path, name, Table::new(), behind)?;
        path.push(name.clone());
        Ok(path)
    }

    /// Removes the table of a state that says nothing more than the machine that this one is like.
    pub(super) fn drop_empty(&mut self, state: &str, path: &[String]) {
        let is_empty = item_at(self.document.as_item_mut(), path)
            .and_then(|item| item.as_table())
            .is_some_and(|table| table.is_empty() && keys::raw(table.decor().prefix()).trim().is_empty());
        if is_empty
            && self.paths(state).len() > 1
            && let Some((name, around)) = path.split_last()
            && let Some(states) = item_at(self.document.as_item_mut(), around)
        {
            keys::remove(states, name);
        }
    }

    /// Fails if a state has its exits from a machine that this one is like: an exit of its own would replace them all.
    pub(super) fn check_own_exits(&mut self, state: &str) -> Result<(), Refused> {
        let with_exits = self.paths(state).into_iter().find(|(_, path)| {
            item_at(self.document.as_item_mut(), path).is_some_and(|item| item.get("exits").is_some())
        });
        match with_exits {
            Some((Some(machine), _)) if self.machine.as_ref() != Some(&machine) => {
                Err(format!("`{state}` has its exits from `{machine}`: write them here first").into())
            }
            _ => Ok(()),
        }
    }

    /// Writes the exits again that a state has from a machine that this one is like.
    pub(super) fn take_exits(&mut self, state: &str) -> Result<(), Refused> {
        let paths = self.paths(state);
        let exits =
            paths.iter().find_map(|(_, path)| item_at(self.document.as_item_mut(), path)?.get("exits").cloned());
        let exits = exits.ok_or("the state has no exits")?;
        let path = self.own_path(state)?;
        let item = item_at(self.document.as_item_mut(), &path).ok_or("the state has no table")?;
        match exits.into_value() {
            Ok(exits) => keys::insert(item, keys::STATE, "exits", exits),
            Err(_) => Err("its exits have tables of their own: copy them in the text".into()),
        }
    }
}
