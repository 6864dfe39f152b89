//! A condition as it is run: a list of tests, each with the test to go on with when it holds and when it does not.
//!
//! `and`, `or` and `not` are in the jumps alone. The tests are run for one owner, or for a block of up to 64 at once, in which
//! case each test is put to those of them that arrive at it: so the answer for each is what it would be for it alone.

use std::sync::Arc;

use super::block::Block;
use super::expression::{Comparison, Expr, Operand, flag_compared};
use super::handle::entered_at;
use super::record::{Answered, Record, Unrecorded, Written};
#[cfg(feature = "script")]
use super::script::ScriptCondition;
use super::values::{Flag, LANES, Lanes, Number};
use super::vocabulary::{Random, Value, Vocabulary};
use crate::owner::Owner;
use crate::span::Span;

/// A condition with more tests than this is run for one owner at a time.
const MOST_IN_BULK: usize = 64;

/// Where a test leads: another test, or one of the two ends.
type Target = u16;
const HOLDS: Target = Target::MAX;
const FAILS: Target = Target::MAX - 1;

/// A compiled condition.
pub(crate) struct Condition<T: Owner> {
    /// Jumps lead to lower indices.
    tests: Box<[Test<T>]>,
    first: Target,
    /// How each test is written. Beside them, for only who explains a decision reads it.
    written: Box<[Written]>,
}

struct Test<T: Owner> {
    probe: Probe<T>,
    yes: Target,
    no: Target,
}

enum Probe<T: Owner> {
    Flag(Arc<dyn Flag<T>>),
    Number(Arc<dyn Number<T>>, Comparison, f64),
    Numbers(Arc<dyn Number<T>>, Comparison, Arc<dyn Number<T>>),
    Time(Comparison, f64),
    TimeAndNumber(Comparison, Arc<dyn Number<T>>),
    Chance(Random<T>, f64),
    #[cfg(feature = "script")]
    Script(Arc<ScriptCondition<T>>),
}

impl<T: Owner> Condition<T> {
    /// Compiles what has been checked. A word that the vocabulary does not have is never true.
    pub(crate) fn compile(expr: &Expr, vocabulary: &Vocabulary<T>) -> Self {
        let mut compiler = Compiler { vocabulary, tests: Vec::new(), written: Vec::new() };
        let first = compiler.emit(expr, HOLDS, FAILS);
        Self { tests: compiler.tests.into(), first, written: compiler.written.into() }
    }

    #[cfg(feature = "script")]
    pub(crate) fn script(script: ScriptCondition<T>) -> Self {
        let written = Written::new(format!("script {}", script.file()));
        let probe = Probe::Script(Arc::new(script));
        Self { tests: Box::new([Test { probe, yes: HOLDS, no: FAILS }]), first: 0, written: Box::new([written]) }
    }

    /// Whether it holds for one owner; `entered_at` says when that came to be in the state whose condition it is.
    #[inline]
    pub(crate) fn holds(
        &self,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        entered_at: impl Fn() -> f64,
        record: &mut impl Record,
    ) -> bool {
        let mut at = self.first;
        while at < FAILS {
            let test = &self.tests[usize::from(at)];
            let mut answered = |answered, holds| record.answered(&self.written, usize::from(at), answered, holds);
            let yes = match &test.probe {
                Probe::Chance(draw, p) => {
                    let drawn = draw(owner, cx);
                    answered(Answered::Drawn(drawn), drawn < *p);
                    drawn < *p
                }
                probe => probe.holds(owner, cx, &entered_at, answered),
            };
            at = if yes { test.yes } else { test.no };
        }
        at == HOLDS
    }

    /// Whether it holds for an owner that can only be looked at: an entry condition, which asks for neither time nor chance.
    #[inline]
    pub(crate) fn admits(&self, owner: &T, cx: &T::Context<'_>, record: &mut impl Record) -> bool {
        let mut at = self.first;
        while at < FAILS {
            let test = &self.tests[usize::from(at)];
            let answered = |answered, holds| record.answered(&self.written, usize::from(at), answered, holds);
            let yes = test.probe.holds(owner, cx, || 0.0, answered);
            at = if yes { test.yes } else { test.no };
        }
        at == HOLDS
    }

    /// Those of `asked` for whom it holds.
    ///
    /// The same as [`holds`](Self::holds) on each of them, in another order: each test is asked of many before the next one
    /// is, with one virtual call for all of them. `tests/definition_conditions.rs` and `tests/definition_decisions.rs` compare
    /// the two.
    pub(crate) fn holding(
        &self,
        asked: Lanes,
        owners: &mut [T],
        cx: &mut T::Context<'_>,
        block: &mut Block<'_, '_, T>,
    ) -> Lanes {
        debug_assert!(owners.len() <= LANES, "more owners than lanes");
        if self.tests.len() > MOST_IN_BULK || owners.len() == 1 {
            let state = block.state;
            return block.ask_each(asked, |lane, fsm| {
                self.holds(&mut owners[lane], cx, || entered_at(state, fsm), &mut Unrecorded)
            });
        }
        // Most conditions have few tests, and need little to be cleared.
        if self.tests.len() <= 4 {
            self.holding_of::<4>(asked, owners, cx, block)
        } else {
            self.holding_of::<MOST_IN_BULK>(asked, owners, cx, block)
        }
    }

    fn holding_of<const MOST: usize>(
        &self,
        asked: Lanes,
        owners: &mut [T],
        cx: &mut T::Context<'_>,
        block: &mut Block<'_, '_, T>,
    ) -> Lanes {
        let mut arrived = [0; MOST];
        let (mut holds, mut fails) = (0, 0);
        let mut lead = |arrived: &mut [Lanes; MOST], to: Target, lanes: Lanes| match to {
            HOLDS => holds |= lanes,
            FAILS => fails |= lanes,
            at => arrived[usize::from(at)] |= lanes,
        };
        lead(&mut arrived, self.first, asked);
        for (at, test) in self.tests.iter().enumerate().rev() {
            let here = arrived[at];
            if here == 0 {
                continue;
            }
            let yes = test.probe.ask(here, owners, cx, block);
            lead(&mut arrived, test.yes, yes);
            lead(&mut arrived, test.no, here & !yes);
        }
        holds
    }
}

impl<T: Owner> Probe<T> {
    /// Those of `asked` for whom it is so. Nobody else is asked: a value may be there only for those who come this far.
    fn ask(&self, asked: Lanes, owners: &mut [T], cx: &mut T::Context<'_>, block: &mut Block<'_, '_, T>) -> Lanes {
        match self {
            Self::Flag(flag) => block.ask_runs(asked, |run, lane| flag.ask(&owners[run], cx, lane)),
            Self::Number(number, op, with) => {
                block.ask_runs(asked, |run, lane| number.compare(&owners[run], cx, *op, *with, lane))
            }
            Self::Time(op, with) => op.ask_entries(Span::of(*with, T::now(cx)), asked, block),
            Self::Chance(draw, p) => block.ask_each(asked, |lane, _| draw(&mut owners[lane], cx) < *p),
            probe => {
                let state = block.state;
                block.ask_each(asked, |lane, fsm| probe.holds(&owners[lane], cx, || entered_at(state, fsm), |_, _| {}))
            }
        }
    }

    #[inline]
    fn holds(
        &self,
        owner: &T,
        cx: &T::Context<'_>,
        entered_at: impl FnOnce() -> f64,
        answered: impl FnOnce(Answered, bool),
    ) -> bool {
        let (answer, holds) = match self {
            Self::Flag(flag) => {
                let is = flag.read(owner, cx);
                (Answered::Flag(is), is)
            }
            Self::Number(number, op, with) => compared(number.read(owner, cx), *op, *with),
            Self::Numbers(left, op, right) => compared(left.read(owner, cx), *op, right.read(owner, cx)),
            Self::Time(op, with) => compared_since(entered_at(), T::now(cx), *op, *with),
            Self::TimeAndNumber(op, right) => compared_since(entered_at(), T::now(cx), *op, right.read(owner, cx)),
            // Drawing changes the owner: who loops over the tests does it.
            Self::Chance(..) => (Answered::Script, false),
            #[cfg(feature = "script")]
            Self::Script(script) => (Answered::Script, script.holds(owner, cx, T::now(cx) - entered_at())),
        };
        answered(answer, holds);
        holds
    }
}

#[inline]
fn compared(left: f64, op: Comparison, right: f64) -> (Answered, bool) {
    (Answered::Numbers(left, right), op.holds(left, right))
}

#[inline]
fn compared_since(entered_at: f64, now: f64, op: Comparison, span: f64) -> (Answered, bool) {
    (Answered::Numbers(now - entered_at, span), op.holds_since(Span::of(span, now), entered_at))
}

struct Compiler<'v, T: Owner> {
    vocabulary: &'v Vocabulary<T>,
    tests: Vec<Test<T>>,
    written: Vec<Written>,
}

impl<T: Owner> Compiler<'_, T> {
    /// Adds the tests of `expr`, those asked last first, and returns where it begins.
    fn emit(&mut self, expr: &Expr, yes: Target, no: Target) -> Target {
        match expr {
            Expr::Bool(true) => yes,
            Expr::Bool(false) => no,
            Expr::Not(inner) => self.emit(inner, no, yes),
            Expr::And(parts) => parts.iter().rev().fold(yes, |next, part| self.emit(part, next, no)),
            Expr::Or(parts) => parts.iter().rev().fold(no, |next, part| self.emit(part, yes, next)),
            Expr::Flag(name) => self.test(self.flag(&name.text), Written::new(name.to_string()), yes, no),
            Expr::Chance { p, .. } => {
                let draw = self.vocabulary.random_source();
                self.test(draw.map(|draw| Probe::Chance(draw, *p)), Written::new(expr.to_string()), yes, no)
            }
            Expr::Compare { left, op, right } => match flag_compared(left, *op, right) {
                Some((flag, true)) => {
                    let written = Written::new(expr.to_string()).reading(&flag.text);
                    self.test(self.flag(&flag.text), written, yes, no)
                }
                Some((flag, false)) => {
                    let written = Written::new(expr.to_string()).reading(&flag.text).inverted();
                    self.test(self.flag(&flag.text), written, no, yes)
                }
                None => {
                    let written = Written::new(expr.to_string());
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
    fn test(&mut self, probe: Option<Probe<T>>, written: Written, yes: Target, no: Target) -> Target {
        let (Some(probe), Ok(at)) = (probe, Target::try_from(self.tests.len())) else { return no };
        self.tests.push(Test { probe, yes, no });
        self.written.push(written);
        at
    }

    fn flag(&self, name: &str) -> Option<Probe<T>> {
        match self.vocabulary.value_of(name) {
            Some(Value::Flag(flag)) => Some(Probe::Flag(flag)),
            _ => None,
        }
    }

    /// Of two sides, the right one alone may be a number as it is written, and the left one alone `time_in_state`.
    fn comparison(&self, left: &Operand, op: Comparison, right: &Operand) -> Option<Probe<T>> {
        let number = |operand: &Operand| match operand {
            Operand::Value(name) => match self.vocabulary.value_of(&name.text) {
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
}
