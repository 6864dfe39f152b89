//! Compiles conditions, calculations and times from their written forms.

use std::collections::HashMap;
use std::sync::Arc;

use super::closures::Value;
use super::condition::{Condition, FAILS, Formulas, HOLDS, Probe, Target, Test};
use super::formula::{Formula, FormulaAtom};
use super::graph::Fixed;
use super::opening::{Cooldown, Interval, KeptTime, Opening};
use super::record::WrittenTest;
use super::values::Number;
use super::vocabulary::Vocabulary;
use crate::format::duration::{Duration, Length};
use crate::format::expression::{Comparison, Expr, flag_compared};
use crate::format::name::Name;
use crate::format::operand::{Atom, Input, Operand};
use crate::owner::Owner;

impl<T: Owner> Condition<T> {
    /// Compiles a condition that has been checked. A test with a word that the vocabulary does not have always fails. `states`
    /// has the states by name. `message` is the message that the exit waits for.
    pub(crate) fn compile(
        expr: &Expr,
        vocabulary: &Vocabulary<T>,
        states: &HashMap<&str, &Arc<Fixed<T>>>,
        message: Option<&str>,
    ) -> Self {
        let mut compiler = Compiler { vocabulary, states, message, tests: Vec::new(), written: Vec::new() };
        let first = compiler.emit(expr, HOLDS, FAILS);
        Self { tests: compiler.tests.into(), first, written: compiler.written.into() }
    }
}

impl<T: Owner> Formula<T> {
    /// Compiles a calculation that has been checked. `None` if the vocabulary does not have one of its words. The parameters are
    /// those of [`Condition::compile`].
    pub(crate) fn compile(
        operand: &Operand,
        vocabulary: &Vocabulary<T>,
        states: &HashMap<&str, &Arc<Fixed<T>>>,
        message: Option<&str>,
    ) -> Option<Self> {
        Compiler { vocabulary, states, message, tests: Vec::new(), written: Vec::new() }.formula(operand)
    }
}

impl<T: Owner> Opening<T> {
    /// Creates the opening of an exit with `at`. An exit whose value the vocabulary does not have never opens.
    pub(crate) fn at(value: &str, vocabulary: &Vocabulary<T>) -> Self {
        match vocabulary.value_of(value).and_then(Value::<T>::number) {
            Some(number) => Self::At(Box::new((number, format!("at {value}").into()))),
            None => Self::After(f64::INFINITY),
        }
    }

    /// Creates the opening of an exit with a cooldown. `number` is the number of the exit.
    pub(crate) fn cooled(self, cooldown: &Duration, number: u32, vocabulary: &Vocabulary<T>) -> Self {
        let (time, written) = (Interval::new(cooldown, vocabulary), format!("cooldown {cooldown}").into());
        Self::Cooled(Box::new(Cooldown { opens: self, written, number, time }))
    }

    /// Creates the opening of the `nth` exit of a state.
    pub(crate) fn new(after: Option<&Duration>, nth: usize, vocabulary: &Vocabulary<T>) -> Self {
        match after.map(|after| Interval::new(after, vocabulary)) {
            None => Self::AtOnce,
            Some(Interval::Fixed(seconds)) => Self::After(seconds),
            Some(time) => Self::Kept(Box::new(KeptTime { nth: u16::try_from(nth).unwrap_or(u16::MAX), time })),
        }
    }
}

impl<T: Owner> Interval<T> {
    /// Compiles a duration.
    pub(crate) fn new(duration: &Duration, vocabulary: &Vocabulary<T>) -> Self {
        match &duration.length {
            Length::Fixed(seconds) => Self::Fixed(*seconds),
            Length::Drawn(drawn) => {
                vocabulary.random.clone().map_or(Self::Fixed(drawn.most), |draw| Self::Drawn(*drawn, draw))
            }
            Length::Value(name) => {
                let number = vocabulary.value_of(&name.text).and_then(Value::<T>::number);
                number.map_or(Self::Fixed(f64::INFINITY), Self::Value)
            }
        }
    }
}

struct Compiler<'v, T: Owner> {
    vocabulary: &'v Vocabulary<T>,
    states: &'v HashMap<&'v str, &'v Arc<Fixed<T>>>,
    message: Option<&'v str>,
    tests: Vec<Test<T>>,
    written: Vec<WrittenTest>,
}

impl<T: Owner> Compiler<'_, T> {
    /// Adds the tests of `expr`, the last one first. `yes` and `no` are the targets that follow `expr`. Returns the target at
    /// which `expr` begins.
    fn emit(&mut self, expr: &Expr, yes: Target, no: Target) -> Target {
        let probe = match expr {
            Expr::Bool(is) => return if *is { yes } else { no },
            Expr::Not(inner) => return self.emit(inner, no, yes),
            Expr::And(parts) => return parts.iter().rev().fold(yes, |next, part| self.emit(part, next, no)),
            Expr::Or(parts) => return parts.iter().rev().fold(no, |next, part| self.emit(part, yes, next)),
            Expr::Flag(flag) => self.flag(flag),
            Expr::In(name) => self.state(name).map(Probe::In),
            Expr::Chance { p, per_second, .. } => {
                let draw = self.vocabulary.random.clone();
                draw.map(|draw| if *per_second { Probe::Rate(draw, *p) } else { Probe::Chance(draw, *p) })
            }
            Expr::Compare { left, op, right } => {
                let written = WrittenTest::new(expr.to_string());
                if let Some((flag, is)) = flag_compared(left, *op, right) {
                    let reads = [flag.to_string(), String::new()];
                    let written = WrittenTest { reads, is_inverted: !is, ..written };
                    let (holds, fails) = if is { (yes, no) } else { (no, yes) };
                    return self.test(self.flag(flag), written, holds, fails);
                }
                // Probes expect a time on the left and a plain number on the right, so the sides are swapped if necessary.
                let is_mirrored = is_literal(left) || right.has_time() && !left.has_time();
                let (left, op, right) = if is_mirrored { (right, op.mirrored(), left) } else { (left, *op, right) };
                let is_simple = left.is_simple() && right.is_simple() && !right.has_time();
                let probe = if is_simple { self.comparison(left, op, right) } else { self.formulas(left, op, right) };
                let read = |side: &Operand| if is_literal(side) { String::new() } else { side.to_string() };
                return self.test(probe, WrittenTest { reads: [left, right].map(read), ..written }, yes, no);
            }
        };
        self.test(probe, WrittenTest::new(expr.to_string()), yes, no)
    }

    /// Adds a test, and returns its target. Without a probe, adds none and returns `no`, because the test would always fail.
    fn test(&mut self, probe: Option<Probe<T>>, written: WrittenTest, yes: Target, no: Target) -> Target {
        let (Some(probe), Ok(at)) = (probe, Target::try_from(self.tests.len())) else { return no };
        self.tests.push(Test { probe, yes, no });
        self.written.push(written);
        at
    }

    fn flag(&self, Input { name, is_field }: &Input) -> Option<Probe<T>> {
        if *is_field {
            self.vocabulary.field_of(self.message?, &name.text)?.flag().map(Probe::FieldFlag)
        } else {
            self.vocabulary.value_of(&name.text)?.flag().map(Probe::Flag)
        }
    }

    /// Returns the probe for a comparison of simple operands. Only the right side may be a literal number, and only the left side
    /// may be `time_in_state`.
    fn comparison(&self, left: &Operand, op: Comparison, right: &Operand) -> Option<Probe<T>> {
        let (Operand::Atom(left), Operand::Atom(right)) = (left, right) else { return None };
        let number = |input: &Input| self.number(&input.name);
        Some(match (left, right) {
            (Atom::Input(left), Atom::Number(with)) => Probe::Number(number(left)?, op, *with),
            (Atom::Input(left), Atom::Input(right)) => Probe::Numbers(number(left)?, op, number(right)?),
            (Atom::TimeInState(_), Atom::Number(with)) => Probe::Time(op, *with),
            (Atom::TimeInState(_), Atom::Input(right)) => Probe::TimeAndNumber(op, number(right)?),
            _ => return None,
        })
    }

    fn formulas(&self, left: &Operand, op: Comparison, right: &Operand) -> Option<Probe<T>> {
        let asks_message = left.inputs().chain(right.inputs()).any(|input| input.is_field);
        Some(Probe::Formula(Box::new(Formulas {
            left: self.formula(left)?,
            op,
            right: self.formula(right)?,
            is_time: left.has_time(),
            asks_message,
        })))
    }

    fn number(&self, name: &Name) -> Option<Arc<dyn Number<T>>> {
        self.vocabulary.value_of(&name.text)?.number()
    }

    fn state(&self, name: &Name) -> Option<Arc<Fixed<T>>> {
        self.states.get(name.text.as_str()).map(|state| Arc::clone(state))
    }

    /// Compiles a calculation. `None` if the vocabulary does not have one of its words.
    fn formula(&self, operand: &Operand) -> Option<Formula<T>> {
        operand.map(&|atom| {
            Some(match atom {
                Atom::Number(number) => FormulaAtom::Number(*number),
                // `true` and `false` occur only as the new value of a flag.
                Atom::Bool(is) => FormulaAtom::Number(f64::from(u8::from(*is))),
                Atom::Input(Input { name, is_field: false }) => FormulaAtom::Value(self.number(name)?),
                Atom::Input(Input { name, .. }) => {
                    FormulaAtom::Field(self.vocabulary.field_of(self.message?, &name.text)?.number()?)
                }
                Atom::TimeInState(_) => FormulaAtom::TimeInState,
                Atom::TimeIn(state) => FormulaAtom::TimeIn(self.state(state)?),
            })
        })
    }
}

/// Returns whether one side of a comparison is a number that is written in the file.
fn is_literal(side: &Operand) -> bool {
    matches!(side, Operand::Atom(Atom::Number(_)))
}
