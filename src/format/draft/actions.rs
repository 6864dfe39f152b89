//! Reads the actions of exits and states, and the values that exits set.

use super::read::DraftReader;
use super::tree::{SpannedValue, Table, TreeValue, is_blank, one_or_several};
use super::{duration, grammar};
use crate::format::action::{WrittenAction, WrittenActions};
use crate::format::name::Name;
use crate::format::operand::{Atom, Operand};
use crate::format::problems::{Mistake, Origin};

/// The help for a `set` that does not name a value.
const SETS: &str = "`set` gives values of the game a new number: `set = { ammo = 6 }`";

impl DraftReader<'_, '_> {
    /// Reads the actions of an exit: its `do`, and then its `set`.
    pub(super) fn actions_of_exit(&mut self, exit: &Table<'_>) -> WrittenActions {
        let mut actions = self.actions(exit, "do").map_or_else(Vec::new, |actions| *actions);
        let set = exit.get("set").and_then(|set| Some((set, self.table(set, "`set`")?)));
        match set {
            Some((set, values)) if values.is_empty() => {
                Mistake::warning("action", self.key_span("set", set.span()), "`set` names no value")
                    .label("nothing is set")
                    .help(SETS)
                    .report(self.findings);
            }
            Some((_, values)) => self.add_each(values, true, &mut actions),
            None => {}
        }
        (!actions.is_empty()).then(|| Box::new(actions))
    }

    /// Reads the actions of a key: a name, a table of names with numbers, or a list of these.
    pub(super) fn actions(&mut self, of: &Table<'_>, key: &str) -> WrittenActions {
        let mut actions = Vec::new();
        let value = of.get(key)?;
        let given = one_or_several(value);
        if given.is_empty() || given.iter().any(|action| is_blank(action) || is_exit(action)) {
            Mistake::error("action", self.key_span(key, value.span()), format!("`{key}` names no action"))
                .label("actions of the game")
                .help("write the name of an action: `\"roar\"`")
                .meant((key == "exit").then(|| "exits".into()))
                .origin(Origin::MayFollow)
                .report(self.findings);
        } else {
            for action in given {
                self.add_action(action, &mut actions);
            }
        }
        Some(Box::new(actions))
    }

    fn add_action(&mut self, value: &SpannedValue<'_>, actions: &mut Vec<WrittenAction>) {
        match value.get_ref() {
            TreeValue::String(text) => {
                let (name, span) = (Name { text: text.to_string(), span: value.span() }, value.span());
                actions.push(WrittenAction { name, sets: false, argument: None, span });
            }
            TreeValue::Table(table) => self.add_each(table, false, actions),
            _ => drop(self.mistyped::<()>(value, "an action", "a string or a table", None)),
        }
    }

    /// Adds an action for each key of a table, in the order of the file.
    fn add_each(&mut self, table: &Table<'_>, sets: bool, actions: &mut Vec<WrittenAction>) {
        for (name, value) in table.in_order() {
            let name = Name { text: name.get_ref().to_string(), span: name.span() };
            if sets && self.value_name(name.clone(), SETS).is_none() {
                continue;
            }
            let argument = match value.get_ref() {
                TreeValue::Boolean(is) if sets => Some(Atom::Bool(*is).into()),
                _ => self.calculation(value, &format!("`{name}`")),
            };
            if argument.is_some() {
                actions.push(WrittenAction { name, sets, argument, span: value.span() });
            }
        }
    }

    /// Reads a number, or a calculation in a text.
    pub(super) fn calculation(&mut self, value: &SpannedValue<'_>, what: &str) -> Option<Operand> {
        if let Some(number) = duration::number(value.get_ref()) {
            return Some(Atom::Number(number).into());
        }
        if !value.get_ref().is_str() {
            return self.mistyped(value, what, "a number or a calculation", None);
        }
        let (mut operand, _) = self.parsed(value, what, grammar::parse_sum)?;
        self.defined.replace_constants(&mut operand);
        Some(operand)
    }
}

/// Whether a table leads to a state, so that it is probably an exit.
fn is_exit(value: &SpannedValue<'_>) -> bool {
    let is_way = |table: &Table<'_>| ["to", "push", "pop", "resume"].iter().any(|way| table.contains_key(way));
    value.get_ref().as_table().is_some_and(is_way)
}
