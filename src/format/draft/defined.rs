//! The words that a file defines: numbers in `[constants]`, and conditions in `[conditions]`. Each use of such a word is
//! replaced by the number or the condition, so that the later stages do not see the words.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::duration::{self, DraftDuration, DraftLength, Time};
use super::tree::SpannedValue;
use crate::format::expression::{Expr, MOST_TESTS};
use crate::format::name::Name;
use crate::format::operand::{Atom, Input, Operand};
use crate::format::problems::{Findings, Mistake};

/// The words that a file defines.
#[derive(Clone, Default)]
pub(crate) struct DefinedWords {
    /// The name of each word, and the place of its number or condition.
    pub(crate) places: Vec<(Name, Range<usize>)>,
    pub(super) constants: HashMap<String, f64>,
    /// The conditions, each with the number of its tests.
    pub(super) conditions: HashMap<String, (Expr, usize)>,
    used: HashSet<String>,
}

impl DefinedWords {
    /// Replaces the words that the file defines in a condition. `at` is its place.
    pub(super) fn expanded(&mut self, mut expr: Expr, at: &Range<usize>, findings: &mut Findings) -> Option<Expr> {
        let tests = expr.tests().map(|test| match test {
            Expr::Flag(Input { name, is_field: false }) => {
                self.conditions.get(&name.text).map_or(1, |(_, tests)| *tests)
            }
            _ => 1,
        });
        if tests.sum::<usize>() > MOST_TESTS {
            return Mistake::error(
                "condition-too-long",
                at.clone(),
                format!("the condition asks more than {MOST_TESTS} questions"),
            )
            .label("with the conditions that it names")
            .help("let the game offer the answer as one value, or split the state")
            .fail(findings);
        }
        let mut constant = false;
        for test in expr.tests_mut() {
            match test {
                Expr::Flag(Input { name, is_field: false }) => {
                    if let Some((meant, _)) = self.conditions.get(&name.text) {
                        self.used.insert(name.text.clone());
                        *test = meant.clone();
                    }
                }
                Expr::Compare { left, right, .. } => {
                    self.replace_constants(left);
                    self.replace_constants(right);
                    constant |= !left.is_read() && !right.is_read();
                }
                _ => {}
            }
        }
        if constant {
            return Mistake::error("comparison", at.clone(), "the comparison is always the same")
                .label("neither side is a value")
                .help("name a value of the game on one side")
                .fail(findings);
        }
        Some(expr)
    }

    /// Reads the duration of a key. It may be a constant of the file, in seconds.
    pub(super) fn duration(
        &mut self,
        value: &SpannedValue<'_>,
        key: &str,
        findings: &mut Findings,
    ) -> Option<DraftDuration> {
        let constant = value.get_ref().as_str().and_then(|name| Some((name, *self.constants.get(name)?)));
        let Some((name, number)) = constant else { return duration::of_key(key, value, findings) };
        self.used.insert(name.to_owned());
        if number < 0.0 {
            return Mistake::error(
                "no-time",
                value.span(),
                format!("`{name}` is {number}, and a time is not negative"),
            )
            .label("not such a time")
            .fail(findings);
        }
        let length = DraftLength::Fixed(Time { number, is_ticks: false });
        Some(DraftDuration { text: name.to_owned(), length, span: value.span() })
    }

    /// Warns about words that the file does not use.
    pub(super) fn unused(&self, findings: &mut Findings) {
        // A use may be in a part with a mistake.
        let are_right = findings.errors() == 0;
        for (name, _) in self.places.iter().filter(|_| are_right) {
            if !self.used.contains(&name.text) {
                Mistake::warning("unused-word", name.span.clone(), format!("`{name}` is not used in the file"))
                    .label("no condition uses it")
                    .report(findings);
            }
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.is_constant(name) || self.conditions.contains_key(name)
    }

    pub(crate) fn is_constant(&self, name: &str) -> bool {
        self.constants.contains_key(name)
    }

    pub(super) fn replace_constants(&mut self, operand: &mut Operand) {
        for atom in operand.atoms_mut() {
            let Atom::Input(Input { name, is_field: false }) = atom else { continue };
            if let Some(number) = self.constants.get(&name.text) {
                self.used.insert(name.text.clone());
                *atom = Atom::Number(*number);
            }
        }
    }
}
