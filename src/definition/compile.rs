//! From a condition as it is written to the tests that are run.

use std::collections::HashMap;
use std::sync::Arc;

use super::condition::{Condition, FAILS, Formulas, HOLDS, Probe, Target, Test};
use super::formula::{Formula, WordMeaning};
use super::graph::Fixed;
use super::record::WrittenTest;
use super::values::Number;
use super::vocabulary::messages::{Field, NumberField};
use super::vocabulary::{Value, Vocabulary};
use crate::format::expression::{Comparison, Expr, flag_compared};
use crate::format::operand::Operand;
use crate::owner::Owner;

/// What a condition's words may stand for.
pub(crate) struct KnownWords<'v, T: Owner> {
    pub(crate) vocabulary: &'v Vocabulary<T>,
    /// By name.
    pub(crate) states: &'v HashMap<&'v str, &'v Arc<Fixed<T>>>,
    /// The message that the exit waits for.
    pub(crate) message: Option<&'v str>,
}

impl<T: Owner> Condition<T> {
    /// Compiles what has been checked. A word that the vocabulary does not have is never true.
    pub(crate) fn compile(expr: &Expr, known: KnownWords<'_, T>) -> Self {
        let mut compiler = Compiler { known, tests: Vec::new(), written: Vec::new() };
        let first = compiler.emit(expr, HOLDS, FAILS);
        Self { tests: compiler.tests.into(), first, written: compiler.written.into() }
    }
}

struct Compiler<'v, T: Owner> {
    known: KnownWords<'v, T>,
    tests: Vec<Test<T>>,
    written: Vec<WrittenTest>,
}

impl<T: Owner> Compiler<'_, T> {
    /// Adds the tests of `expr`, the last one first, and returns where it begins.
    fn emit(&mut self, expr: &Expr, yes: Target, no: Target) -> Target {
        match expr {
            Expr::Bool(true) => yes,
            Expr::Bool(false) => no,
            Expr::Not(inner) => self.emit(inner, no, yes),
            Expr::And(parts) => parts.iter().rev().fold(yes, |next, part| self.emit(part, next, no)),
            Expr::Or(parts) => parts.iter().rev().fold(no, |next, part| self.emit(part, yes, next)),
            Expr::Flag(name) => self.test(self.flag(&name.text), WrittenTest::new(name.to_string()), yes, no),
            Expr::FieldFlag(name) => {
                self.test(self.field_flag(&name.text), WrittenTest::new(expr.to_string()), yes, no)
            }
            Expr::In(name) => {
                let probe = self.known.state(&name.text).map(Probe::In);
                self.test(probe, WrittenTest::new(expr.to_string()), yes, no)
            }
            Expr::Chance { p, per_second, .. } => {
                let draw = self.known.vocabulary.random_source();
                let probe = draw.map(|draw| if *per_second { Probe::Rate(draw, *p) } else { Probe::Chance(draw, *p) });
                self.test(probe, WrittenTest::new(expr.to_string()), yes, no)
            }
            Expr::Compare { left, op, right } => match flag_compared(left, *op, right) {
                Some((flag, is)) => {
                    let written = WrittenTest::new(expr.to_string()).reading(&flag.to_string());
                    let probe = match flag {
                        Operand::Field(name) => self.field_flag(&name.text),
                        Operand::Value(name) => self.flag(&name.text),
                        _ => None,
                    };
                    if is { self.test(probe, written, yes, no) } else { self.test(probe, written.inverted(), no, yes) }
                }
                None if !left.is_simple() || !right.is_simple() => {
                    // A time is on the left, so that what is compared with it is on the right.
                    let is_mirrored = right.has_time() && !left.has_time();
                    let (left, op, right) = if is_mirrored { (right, op.mirrored(), left) } else { (left, *op, right) };
                    let written = WrittenTest::new(expr.to_string()).comparing(left, right);
                    self.test(self.formulas(left, op, right), written, yes, no)
                }
                None => {
                    let written = WrittenTest::new(expr.to_string());
                    let (probe, written) = match (left, right) {
                        // The probe has the value on its left.
                        (Operand::Number(_), _) | (Operand::Value(_), Operand::TimeInState(_)) => {
                            (self.comparison(right, op.mirrored(), left), written.comparing(right, left))
                        }
                        _ => (self.comparison(left, *op, right), written.comparing(left, right)),
                    };
                    self.test(probe, written, yes, no)
                }
            },
        }
    }

    /// Adds a test. Without a probe it never holds.
    fn test(&mut self, probe: Option<Probe<T>>, written: WrittenTest, yes: Target, no: Target) -> Target {
        let (Some(probe), Ok(at)) = (probe, Target::try_from(self.tests.len())) else { return no };
        self.tests.push(Test { probe, yes, no });
        self.written.push(written);
        at
    }

    fn flag(&self, name: &str) -> Option<Probe<T>> {
        match self.known.vocabulary.value_of(name) {
            Some(Value::Flag(flag)) => Some(Probe::Flag(flag)),
            _ => None,
        }
    }

    /// Of two sides, the right one alone may be a number as it is written, and the left one alone `time_in_state`.
    fn comparison(&self, left: &Operand, op: Comparison, right: &Operand) -> Option<Probe<T>> {
        let number = |operand: &Operand| match operand {
            Operand::Value(name) => match self.known.vocabulary.value_of(&name.text) {
                Some(Value::Number(number)) => Some(number),
                _ => None,
            },
            _ => None,
        };
        Some(match (left, right) {
            (Operand::Value(_), Operand::Number(with)) => Probe::Number(number(left)?, op, *with),
            (Operand::Value(_), Operand::Value(_)) => Probe::Numbers(number(left)?, op, number(right)?),
            (Operand::TimeInState(_), Operand::Number(with)) => Probe::Time(op, *with),
            (Operand::TimeInState(_), Operand::Value(_)) => Probe::TimeAndNumber(op, number(right)?),
            _ => return None,
        })
    }

    fn formulas(&self, left: &Operand, op: Comparison, right: &Operand) -> Option<Probe<T>> {
        let mut asks_message = false;
        for side in [left, right] {
            side.visit(&mut |part| asks_message |= matches!(part, Operand::Field(_)));
        }
        Some(Probe::Formula(Box::new(Formulas {
            left: Formula::new(left, &self.known)?,
            op,
            right: Formula::new(right, &self.known)?,
            is_time: left.has_time(),
            asks_message,
        })))
    }

    fn field_flag(&self, name: &str) -> Option<Probe<T>> {
        match self.known.vocabulary.field_of(self.known.message?, name)? {
            Field::Flag(read) => Some(Probe::FieldFlag(Arc::clone(read))),
            Field::Number(_) => None,
        }
    }
}

impl<T: Owner> WordMeaning<T> for KnownWords<'_, T> {
    fn value(&self, name: &str) -> Option<Arc<dyn Number<T>>> {
        match self.vocabulary.value_of(name)? {
            Value::Number(number) => Some(number),
            Value::Flag(_) => None,
        }
    }

    fn field(&self, name: &str) -> Option<NumberField<T>> {
        match self.vocabulary.field_of(self.message?, name)? {
            Field::Number(read) => Some(Arc::clone(read)),
            Field::Flag(_) => None,
        }
    }

    fn state(&self, name: &str) -> Option<Arc<Fixed<T>>> {
        self.states.get(name).map(|state| Arc::clone(state))
    }
}
