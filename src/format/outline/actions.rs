//! Checks the actions of exits and states, and the values that exits set.

use std::ops::Range;

use super::mention::{ConditionPlace, Meaning};
use super::resolve::Resolver;
use crate::format::action::{WrittenAction, WrittenActions};
use crate::format::name::Name;
use crate::format::operand::{Atom, Operand};
use crate::format::problems::Mistake;
use crate::format::problems::mistake::listed;
use crate::format::words::{ValueKind, WordKind};

impl Resolver<'_> {
    /// Resolves the names in actions.
    pub(super) fn actions(&mut self, mut actions: WrittenActions, place: ConditionPlace<'_>) -> WrittenActions {
        for action in actions.iter_mut().flat_map(|actions| actions.iter_mut()) {
            let is_flag = action.sets && self.set(action);
            if !action.sets {
                self.action(action);
            }
            if is_flag {
                continue;
            }
            self.within = Some(action.span.clone());
            action.argument.iter_mut().for_each(|argument| self.operand(argument, place));
            self.within = None;
        }
        actions
    }

    fn action(&mut self, WrittenAction { name, argument, span, .. }: &WrittenAction) {
        self.mention(name, Meaning::Action);
        let given = argument.as_ref().map(|_| ValueKind::Number);
        let takes = if let Some(words) = self.words {
            let Some(takes) = words.actions.get(&name.text) else {
                return self.unknown(WordKind::Action, name, words.actions.keys());
            };
            *takes
        } else {
            let takes = *self.assumed.actions.entry(name.text.clone()).or_insert(given);
            *self.unchecked.actions.entry(name.text.clone()).or_insert(takes)
        };
        match (takes, given) {
            (Some(_), None) => {
                Mistake::error("action", name.span.clone(), format!("action `{name}` needs a number"))
                    .label("without a number")
                    .help(format!("write `{{ {name} = 1 }}`"))
                    .report(self.findings);
            }
            (None, Some(_)) => {
                Mistake::error("action", span.clone(), format!("action `{name}` gets no number"))
                    .label("a number")
                    .help(format!("write `\"{name}\"`"))
                    .report(self.findings);
            }
            _ => {}
        }
    }

    /// Checks whether the game lets exits set the value, and the type of the new value. Returns whether the value is a flag.
    fn set(&mut self, WrittenAction { name, argument, span, .. }: &WrittenAction) -> bool {
        self.mention(name, Meaning::Value);
        let given = if let Some(Operand::Atom(Atom::Bool(_))) = argument { ValueKind::Flag } else { ValueKind::Number };
        let Some(words) = self.words else {
            self.unchecked.fields.insert(name.text.clone());
            let kind = self.assumed(name, given);
            if kind != given {
                self.findings.add(wrong_type(name, kind, span.clone()));
            }
            return kind == ValueKind::Flag;
        };
        match words.values.get(&name.text) {
            None => self.unknown(WordKind::Value, name, words.values.keys()),
            Some(_) if !words.fields.contains(&name.text) => {
                let settable: Vec<_> = words.fields.iter().map(String::as_str).collect();
                Mistake::error("not-set", name.span.clone(), format!("value `{name}` cannot be set"))
                    .label("the game only lets it be read")
                    .help(match &settable[..] {
                        [] => "a programmer can offer it with `Vocabulary::field`".into(),
                        _ => format!("the game lets files set {}", listed(&settable)),
                    })
                    .report(self.findings);
            }
            Some(kind) if *kind != given => self.findings.add(wrong_type(name, *kind, span.clone())),
            Some(_) => {
                let range = words.ranges.get(&name.text);
                if let (Some(Operand::Atom(Atom::Number(number))), Some((least, most))) = (argument, range) {
                    if number < least || number > most {
                        Mistake::error("range", span.clone(), format!("`{name}` is from {least} to {most}"))
                            .label("the new value")
                            .report(self.findings);
                    }
                }
            }
        }
        words.values.get(&name.text) == Some(&ValueKind::Flag)
    }
}

/// Returns the mistake for a new value of the wrong kind.
fn wrong_type(name: &Name, kind: ValueKind, at: Range<usize>) -> Mistake {
    let (is, help) = match kind {
        ValueKind::Flag => ("true or false, not a number", format!("write `{name} = true`")),
        ValueKind::Number => ("a number, not true or false", format!("write `{name} = 1`")),
    };
    Mistake::error("wrong-type", at, format!("`{name}` is {is}")).label("the new value").help(help)
}
