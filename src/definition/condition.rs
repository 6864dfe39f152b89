//! A condition as it is run: a row of tests, each with the test to go on with when it holds and when it does not.
//!
//! `and`, `or` and `not` are in the jumps alone. The row is run for one owner, or for up to 64 at once, in which case each
//! test is put to those of them that arrive at it: so each comes to what it would come to alone.

use std::ops::Range;
use std::sync::Arc;

use super::expression::{Comparison, Expr, Operand};
use super::values::{Flag, LANES, Lanes, Number};
use super::vocabulary::{Random, Value, Vocabulary};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;

/// The most tests of one condition.
pub(crate) const MOST_TESTS: usize = 1000;

/// A condition with more tests than this is run for one owner at a time.
const MOST_IN_BULK: usize = 64;

/// Where a test leads: another test, or one of the two ends.
type Target = u16;
const HOLDS: Target = Target::MAX;
const FAILS: Target = Target::MAX - 1;

/// A compiled condition.
pub(crate) struct Condition<T: Owner> {
    /// Jumps lead to lower places.
    tests: Box<[Test<T>]>,
    first: Target,
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
    Script(Arc<super::script::Question<T>>),
}

impl<T: Owner> Condition<T> {
    /// Compiles what has been checked. A word that the vocabulary does not have is never true.
    pub(crate) fn compile(expr: &Expr, vocabulary: &Vocabulary<T>) -> Self {
        let mut tests = Vec::new();
        let first = emit(&mut tests, expr, HOLDS, FAILS, vocabulary);
        Self { tests: tests.into(), first }
    }

    #[cfg(feature = "script")]
    pub(crate) fn script(question: Arc<super::script::Question<T>>) -> Self {
        Self { tests: Box::new([Test { probe: Probe::Script(question), yes: HOLDS, no: FAILS }]), first: 0 }
    }

    /// Whether it holds for one owner, `entered_at` telling when that came to be in its state.
    #[inline]
    pub(crate) fn holds(&self, owner: &mut T, cx: &mut T::Context<'_>, entered_at: impl Fn() -> f64) -> bool {
        let mut at = self.first;
        while at < FAILS {
            let test = &self.tests[usize::from(at)];
            let yes = match &test.probe {
                Probe::Chance(draw, p) => draw(owner, cx) < *p,
                probe => probe.reads(owner, cx, &entered_at),
            };
            at = if yes { test.yes } else { test.no };
        }
        at == HOLDS
    }

    /// Whether it holds for an owner that can only be looked at: an entry condition, which asks for neither time nor chance.
    pub(crate) fn admits(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        let mut at = self.first;
        while at < FAILS {
            let test = &self.tests[usize::from(at)];
            at = if test.probe.reads(owner, cx, || 0.0) { test.yes } else { test.no };
        }
        at == HOLDS
    }

    /// Those of `asked`, up to 64 owners, for whom it holds.
    pub(crate) fn holding(
        &self,
        asked: Lanes,
        owners: &mut [T],
        cx: &mut T::Context<'_>,
        row: &mut AskedRow<'_, '_, T>,
    ) -> Lanes {
        debug_assert!(owners.len() <= LANES, "more owners than lanes");
        if self.tests.len() > MOST_IN_BULK || owners.len() == 1 {
            return row.ask_each(asked, |lane, fsm| self.holds(&mut owners[lane], cx, || fsm.own_entered_at()));
        }
        let mut arrived = [0; MOST_IN_BULK];
        let (mut holds, mut fails) = (0, 0);
        let mut lead = |arrived: &mut [Lanes; MOST_IN_BULK], to: Target, lanes: Lanes| match to {
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
            let yes = test.probe.ask(here, owners, cx, row);
            lead(&mut arrived, test.yes, yes);
            lead(&mut arrived, test.no, here & !yes);
        }
        holds
    }
}

impl<T: Owner> Probe<T> {
    /// Those of `asked` for whom it is so. Nobody else is asked: a value may be there only for those who come this far.
    fn ask(&self, asked: Lanes, owners: &mut [T], cx: &mut T::Context<'_>, row: &mut AskedRow<'_, '_, T>) -> Lanes {
        match self {
            Self::Flag(flag) => row.ask_runs(asked, |run, lane| flag.ask(&owners[run], cx, lane)),
            Self::Number(number, op, with) => {
                row.ask_runs(asked, |run, lane| number.compare(&owners[run], cx, *op, *with, lane))
            }
            Self::Time(op, with) => {
                let now = T::now(cx);
                match row.entered_at() {
                    Some(entered_at) => row.ask_runs(asked, |run, lane| {
                        op.compare(&entered_at[run], *with, lane, |entered_at| now - entered_at)
                    }),
                    None => row.ask_each(asked, |_, fsm| op.holds(now - fsm.own_entered_at(), *with)),
                }
            }
            Self::Chance(draw, p) => row.ask_each(asked, |lane, _| draw(&mut owners[lane], cx) < *p),
            probe => row.ask_each(asked, |lane, fsm| probe.reads(&owners[lane], cx, || fsm.own_entered_at())),
        }
    }

    #[inline]
    fn reads(&self, owner: &T, cx: &T::Context<'_>, entered_at: impl FnOnce() -> f64) -> bool {
        match self {
            Self::Flag(flag) => flag.read(owner, cx),
            Self::Number(number, op, with) => op.holds(number.read(owner, cx), *with),
            Self::Numbers(left, op, right) => op.holds(left.read(owner, cx), right.read(owner, cx)),
            Self::Time(op, with) => op.holds(T::now(cx) - entered_at(), *with),
            Self::TimeAndNumber(op, right) => op.holds(T::now(cx) - entered_at(), right.read(owner, cx)),
            // Drawing changes the owner: the loops above do it themselves.
            Self::Chance(..) => false,
            #[cfg(feature = "script")]
            Self::Script(question) => question.holds(owner, cx, T::now(cx) - entered_at()),
        }
    }
}

/// The handles of up to 64 owners that stand side by side in a slice.
pub(crate) struct AskedRow<'s, 'a, T: Owner> {
    fsm: &'s mut FsmSlice<'a, T>,
    /// Where in the slice the first of them is.
    base: usize,
    /// The one that is being asked.
    lane: usize,
}

impl<'s, 'a, T: Owner> AskedRow<'s, 'a, T> {
    pub(crate) fn new(fsm: &'s mut FsmSlice<'a, T>, base: usize) -> Self {
        Self { fsm, base, lane: 0 }
    }

    /// The handle of one of them.
    pub(crate) fn at(&mut self, lane: usize) -> &mut Fsm<'a, T> {
        self.lane = lane;
        self.fsm.at(self.base + lane)
    }

    /// When they entered their state, side by side; `None` where that is not to be had so.
    fn entered_at(&mut self) -> Option<&'a [f64]> {
        let base = self.base;
        let row = self.at(self.lane).row.as_ref()?;
        let is_as_in_the_column = row.book.seated.is_empty();
        row.entered_at.get(row.slots.start as usize + base..).filter(|column| is_as_in_the_column && !column.is_empty())
    }

    /// Puts a question to each of `asked`, in order.
    #[inline]
    fn ask_each(&mut self, asked: Lanes, mut holds: impl FnMut(usize, &Fsm<'a, T>) -> bool) -> Lanes {
        let mut left = asked;
        let mut lanes = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            lanes |= Lanes::from(holds(lane, self.at(lane))) << lane;
        }
        lanes
    }

    /// Puts a question to each of `asked`, to all at once that stand side by side.
    #[inline]
    fn ask_runs(&mut self, asked: Lanes, mut ask: impl FnMut(Range<usize>, &mut usize) -> Lanes) -> Lanes {
        let mut left = asked;
        let mut lanes = 0;
        while left != 0 {
            let start = left.trailing_zeros() as usize;
            let end = start + (left >> start).trailing_ones() as usize;
            left &= !(Lanes::MAX >> (LANES - (end - start)) << start);
            self.lane = start;
            lanes |= ask(start..end, &mut self.lane) << start;
        }
        lanes
    }
}

/// A question may panic: that is laid to the owner whose handle was taken last (rule 22), so to the one that was being asked.
impl<T: Owner> Drop for AskedRow<'_, '_, T> {
    fn drop(&mut self) {
        self.fsm.at(self.base + self.lane);
    }
}

/// Adds the tests of `expr`, those asked last first, and returns where it begins.
fn emit<T: Owner>(
    tests: &mut Vec<Test<T>>,
    expr: &Expr,
    yes: Target,
    no: Target,
    vocabulary: &Vocabulary<T>,
) -> Target {
    let probe = match expr {
        Expr::Bool(true) => return yes,
        Expr::Bool(false) => return no,
        Expr::Not(inner) => return emit(tests, inner, no, yes, vocabulary),
        Expr::And(parts) => {
            return parts.iter().rev().fold(yes, |next, part| emit(tests, part, next, no, vocabulary));
        }
        Expr::Or(parts) => {
            return parts.iter().rev().fold(no, |next, part| emit(tests, part, yes, next, vocabulary));
        }
        Expr::Flag(name) => match vocabulary.value_of(&name.text) {
            Some(Value::Flag(flag)) => Probe::Flag(flag),
            _ => return no,
        },
        Expr::Chance { p, .. } => match vocabulary.random_source() {
            Some(draw) => Probe::Chance(draw, *p),
            None => return no,
        },
        Expr::Compare { left, op, right } => {
            if let Some((flag, is)) = flag_compared(left, *op, right) {
                let (yes, no) = if is { (yes, no) } else { (no, yes) };
                return emit(tests, &Expr::Flag(flag.clone()), yes, no, vocabulary);
            }
            match compared(left, *op, right, vocabulary) {
                Some(probe) => probe,
                None => return no,
            }
        }
    };
    let Ok(at) = Target::try_from(tests.len()) else { return no };
    tests.push(Test { probe, yes, no });
    at
}

/// `flag == true` and its like: the flag, and what it must be.
pub(crate) fn flag_compared<'a>(
    left: &'a Operand,
    op: Comparison,
    right: &'a Operand,
) -> Option<(&'a super::expression::Name, bool)> {
    match (left, right) {
        (Operand::Value(flag), Operand::Bool(is)) | (Operand::Bool(is), Operand::Value(flag)) => match op {
            Comparison::Equal => Some((flag, *is)),
            Comparison::NotEqual => Some((flag, !*is)),
            _ => None,
        },
        _ => None,
    }
}

fn compared<T: Owner>(left: &Operand, op: Comparison, right: &Operand, vocabulary: &Vocabulary<T>) -> Option<Probe<T>> {
    let number = |operand: &Operand| match operand {
        Operand::Value(name) => match vocabulary.value_of(&name.text) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        },
        _ => None,
    };
    Some(match (left, right) {
        (Operand::Value(_), Operand::Number(with)) => Probe::Number(number(left)?, op, *with),
        (Operand::Number(with), Operand::Value(_)) => Probe::Number(number(right)?, op.mirrored(), *with),
        (Operand::Value(_), Operand::Value(_)) => Probe::Numbers(number(left)?, op, number(right)?),
        (Operand::TimeInState(_), Operand::Number(with)) => Probe::Time(op, *with),
        (Operand::Number(with), Operand::TimeInState(_)) => Probe::Time(op.mirrored(), *with),
        (Operand::TimeInState(_), Operand::Value(_)) => Probe::TimeAndNumber(op, number(right)?),
        (Operand::Value(_), Operand::TimeInState(_)) => Probe::TimeAndNumber(op.mirrored(), number(left)?),
        _ => return None,
    })
}
