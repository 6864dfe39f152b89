//! The words that a file defines: numbers in `[constants]`, and conditions in `[conditions]`. Where a condition uses such a word, it
//! is replaced by what it stands for, so that the later stages know nothing of them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::When;
use super::duration::{self, DraftDuration, DraftLength, Time};
use super::read::DraftReader;
use super::tree::{SpannedValue, Table};
use crate::format::expression::{Expr, MOST_TESTS, is_name};
use crate::format::name::Name;
use crate::format::operand::Operand;
use crate::format::problems::{Findings, Mistake};

/// The words that a file defines.
#[derive(Clone, Default)]
pub(crate) struct DefinedWords {
    /// Each with the place of its definition: the name, and the text of a condition.
    pub(crate) places: Vec<(Name, Range<usize>)>,
    constants: HashMap<String, f64>,
    /// The conditions, each with the number of its tests.
    conditions: HashMap<String, (Expr, usize)>,
    used: HashSet<String>,
}

impl<'i> DraftReader<'_, 'i> {
    /// Reads the constants, and then the conditions, which may use the constants and the conditions above them.
    pub(super) fn define(&mut self, file: &mut Table<'i>) {
        for key in ["constants", "conditions"] {
            let Some((_, words)) = file.remove(key) else { continue };
            let Some(table) = self.table(&words, &format!("`{key}`")) else { continue };
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_by_key(|(name, _)| name.span().start);
            for (name, value) in entries {
                let name = Name { text: name.get_ref().to_string(), span: name.span() };
                if !is_name(&name.text) || self.defined.has(&name.text) {
                    let why = if is_name(&name.text) { "is defined twice" } else { "cannot be used in a condition" };
                    Mistake::error("bad-name", name.span.clone(), format!("`{name}` {why}"))
                        .help("a name is one word of letters, digits and `_`, which the file defines once")
                        .report(self.findings);
                }
                // A definition with a mistake gets some meaning, so that its uses are not reported, too.
                if key == "constants" {
                    let number = duration::number(value.get_ref()).filter(|number| number.is_finite());
                    let number = number.or_else(|| self.mistyped(value, "a constant", "a number", None));
                    self.defined.constants.insert(name.text.clone(), number.unwrap_or(0.0));
                } else {
                    let expr = match self.condition(value, "a condition").as_deref() {
                        Some(When::Expr { expr, .. }) => expr.clone(),
                        _ => Expr::Bool(false),
                    };
                    let mut tests = 0;
                    expr.clone().visit_mut(&mut |_| tests += 1);
                    self.defined.conditions.insert(name.text.clone(), (expr, tests));
                }
                self.defined.places.push((name, value.span()));
            }
        }
    }

    /// Replaces the words that the file defines in a condition. `at` is its place.
    pub(super) fn expanded(&mut self, mut expr: Expr, at: &Range<usize>) -> Option<Expr> {
        let words = &mut self.defined;
        let (mut tests, mut constant) = (0, false);
        expr.visit_mut(&mut |test| {
            let of_word = match &*test {
                Expr::Flag(name) => words.conditions.get(&name.text).map_or(1, |(_, tests)| *tests),
                _ => 1,
            };
            tests += of_word;
        });
        if tests > MOST_TESTS {
            return Mistake::error(
                "condition-too-long",
                at.clone(),
                format!("the condition asks more than {MOST_TESTS} questions"),
            )
            .label("with the conditions that it names")
            .help("let the game offer the answer as one value, or split the state")
            .fail(self.findings);
        }
        expr.visit_mut(&mut |test| match test {
            Expr::Flag(name) => {
                if let Some((meant, _)) = words.conditions.get(&name.text) {
                    words.used.insert(name.text.clone());
                    *test = meant.clone();
                }
            }
            Expr::Compare { left, right, .. } => {
                words.replace_constants(left);
                words.replace_constants(right);
                constant |= !left.is_read() && !right.is_read();
            }
            _ => {}
        });
        if constant {
            return Mistake::error("comparison", at.clone(), "the comparison is always the same")
                .label("neither side is a value")
                .help("name a value of the game on one side")
                .fail(self.findings);
        }
        Some(expr)
    }

    /// Reads a duration. It may be a constant of the file, in seconds.
    pub(super) fn duration(
        &mut self,
        value: &SpannedValue<'_>,
        read: fn(&SpannedValue<'_>, &mut Findings) -> Option<DraftDuration>,
    ) -> Option<DraftDuration> {
        let constant = value.get_ref().as_str().and_then(|name| Some((name, *self.defined.constants.get(name)?)));
        let Some((name, number)) = constant else { return read(value, self.findings) };
        self.defined.used.insert(name.to_owned());
        if number < 0.0 {
            return Mistake::error(
                "no-time",
                value.span(),
                format!("`{name}` is {number}, and a time is not negative"),
            )
            .label("not such a time")
            .fail(self.findings);
        }
        let length = DraftLength::Fixed(Time { number, is_ticks: false });
        Some(DraftDuration { text: name.to_owned(), length, span: value.span() })
    }

    /// Warns about words that the file does not use.
    pub(super) fn unused(&mut self) {
        // A use may be in a part with a mistake.
        let are_right = self.findings.errors() == 0;
        for (name, _) in self.defined.places.iter().filter(|_| are_right) {
            if !self.defined.used.contains(&name.text) {
                Mistake::warning("unused-word", name.span.clone(), format!("`{name}` is not used in the file"))
                    .label("no condition uses it")
                    .report(self.findings);
            }
        }
    }
}

impl DefinedWords {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.is_constant(name) || self.conditions.contains_key(name)
    }

    pub(crate) fn is_constant(&self, name: &str) -> bool {
        self.constants.contains_key(name)
    }

    pub(super) fn replace_constants(&mut self, operand: &mut Operand) {
        operand.visit_mut(&mut |part| {
            let Operand::Value(name) = part else { return };
            if let Some(number) = self.constants.get(&name.text) {
                self.used.insert(name.text.clone());
                *part = Operand::Number(*number);
            }
        });
    }
}
