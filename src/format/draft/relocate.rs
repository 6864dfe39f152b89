//! Moves the positions of a state from another file to one place.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::duration::{DraftDuration, DraftLength};
use super::{DraftState, RegionRef, WrittenElsewhere};
use crate::format::action::WrittenActions;
use crate::format::expression::{Expr, When};
use crate::format::library::script_of;
use crate::format::name::Name;
use crate::format::operand::{Atom, Input, Operand};

impl DraftState<'_> {
    /// Moves all positions in the state to one place: the link to `file`. The state is written in `file`, or in yet another
    /// file that `file` links to. Also makes the paths of its scripts relative to the folder of the file with the link, except for
    /// those that the game offers.
    pub(crate) fn relocate(&mut self, to: &Range<usize>, file: &Arc<Path>, is_of_game: impl Fn(&str) -> bool) {
        let at = || to.clone();
        let span = self.name.span.clone();
        // In a state of yet another file, this has already been done.
        if self.written.is_none() {
            self.written = Some(WrittenElsewhere { file: Arc::clone(file), span });
            for script in self.scripts_mut().filter(|script| !is_of_game(&script.text)) {
                script.text = script_of(file, &script.text).display().to_string();
            }
        }
        let behaviors = self.behaviors.iter_mut().map(|behavior| &mut behavior.name);
        let boxed =
            [&mut self.script, &mut self.machine, &mut self.initial].into_iter().flatten().map(|name| &mut **name);
        let names = self.parent.iter_mut().chain(boxed);
        let regions =
            self.regions.iter_mut().flatten().flat_map(|region| region.name.iter_mut().chain([&mut region.initial]));
        let names = names.chain(regions).chain(behaviors).chain(&mut self.ignores).chain([&mut self.name]);
        names.for_each(|name: &mut Name| name.span = at());
        match self.region.as_deref_mut() {
            Some(RegionRef::Number(_, span) | RegionRef::Name(Name { span, .. })) => *span = at(),
            None => {}
        }
        self.every.iter_mut().for_each(|every| duration(every, to));
        self.enter_when.iter_mut().for_each(|when| condition(when, to));
        self.choose.iter_mut().for_each(|choose| choose.1 = at());
        actions(&mut self.enter, to);
        actions(&mut self.exit, to);
        for exit in &mut self.exits {
            exit.span = at();
            let names = [&mut exit.to, &mut exit.on].into_iter().flatten().chain(exit.at.as_deref_mut());
            names.for_each(|name| name.span = at());
            exit.always.iter_mut().for_each(|always| *always = at());
            exit.after.iter_mut().for_each(|after| duration(after, to));
            exit.when.iter_mut().for_each(|when| condition(when, to));
            actions(&mut exit.actions, to);
            exit.cooldown.iter_mut().for_each(|cooldown| duration(cooldown, to));
            if let Some(rank) = &mut exit.rank {
                rank.span = at();
                operand(&mut rank.operand, to);
            }
        }
    }

    fn scripts_mut(&mut self) -> impl Iterator<Item = &mut Name> {
        let conditions = self.exits.iter_mut().filter_map(|exit| exit.when.as_mut()).chain(&mut self.enter_when);
        let of_conditions = conditions.filter_map(|when| match &mut **when {
            When::Script(script) => Some(script),
            When::Expr { .. } => None,
        });
        self.script.as_deref_mut().into_iter().chain(of_conditions)
    }
}

fn actions(actions: &mut WrittenActions, to: &Range<usize>) {
    for action in actions.iter_mut().flat_map(|actions| actions.iter_mut()) {
        (action.name.span, action.span) = (to.clone(), to.clone());
        action.argument.iter_mut().for_each(|argument| operand(argument, to));
    }
}

fn duration(duration: &mut DraftDuration, to: &Range<usize>) {
    duration.span = to.clone();
    if let DraftLength::Value(name) = &mut duration.length {
        name.span = to.clone();
    }
}

fn condition(when: &mut When, to: &Range<usize>) {
    match when {
        When::Script(script) => script.span = to.clone(),
        When::Expr { expr: condition, span, .. } => {
            *span = to.clone();
            expr(condition, to);
        }
    }
}

pub(super) fn expr(expr: &mut Expr, to: &Range<usize>) {
    for test in expr.tests_mut() {
        match test {
            Expr::Flag(Input { name: Name { span, .. }, .. })
            | Expr::In(Name { span, .. })
            | Expr::Chance { span, .. } => *span = to.clone(),
            Expr::Compare { left, right, .. } => {
                operand(left, to);
                operand(right, to);
            }
            Expr::Bool(_) | Expr::Not(_) | Expr::And(_) | Expr::Or(_) => {}
        }
    }
}

fn operand(operand: &mut Operand, to: &Range<usize>) {
    for atom in operand.atoms_mut() {
        match atom {
            Atom::Input(Input { name: Name { span, .. }, .. })
            | Atom::TimeIn(Name { span, .. })
            | Atom::TimeInState(span) => *span = to.clone(),
            Atom::Number(_) | Atom::Bool(_) => {}
        }
    }
}
