//! A compiled condition: a list of tests. Each test names the test that follows if it holds, and the test that follows if not.
//!
//! `and`, `or` and `not` exist only as jumps. The tests run for one owner, or for a block of up to 64 owners at once. In a
//! block, a test is evaluated only for the owners that reach it. So each owner gets the same answer as if it were alone.

use std::sync::Arc;

use super::block::Block;
use super::closures::{FlagField, Random};
use super::formula::Formula;
use super::graph::Fixed;
use super::moment::Moment;
use super::record::{Answered, Record, Unrecorded, WrittenTest};
#[cfg(feature = "script")]
use super::script::Script;
use super::values::{Flag, LANES, Lanes, Number};
use crate::format::expression::Comparison;
use crate::fsm::Fsm;
use crate::owner::{Owner, now};
use crate::span::Span;

/// A condition with more tests than this is evaluated for one owner at a time.
const MOST_IN_BULK: usize = 64;

/// The target of a jump: another test, or one of the two ends.
pub(super) type Target = u16;
pub(super) const HOLDS: Target = Target::MAX;
pub(super) const FAILS: Target = Target::MAX - 1;

/// A compiled condition.
pub(crate) struct Condition<T: Owner> {
    /// Jumps lead to lower indices.
    pub(super) tests: Box<[Test<T>]>,
    pub(super) first: Target,
    /// How each test is written in the file. It is separate from the tests because only explanations of decisions read it.
    pub(super) written: Box<[WrittenTest]>,
}

pub(super) struct Test<T: Owner> {
    pub(super) probe: Probe<T>,
    pub(super) yes: Target,
    pub(super) no: Target,
}

pub(super) enum Probe<T: Owner> {
    Flag(Arc<dyn Flag<T>>),
    Number(Arc<dyn Number<T>>, Comparison, f64),
    Numbers(Arc<dyn Number<T>>, Comparison, Arc<dyn Number<T>>),
    Time(Comparison, f64),
    TimeAndNumber(Comparison, Arc<dyn Number<T>>),
    Chance(Random<T>, f64),
    /// Holds with this chance per second.
    Rate(Random<T>, f64),
    /// Whether a state is active.
    In(Arc<Fixed<T>>),
    FieldFlag(FlagField<T>),
    /// A comparison with a calculation, with a field of a message, or with the time in another state.
    Formula(Box<Formulas<T>>),
    #[cfg(feature = "script")]
    Script(Arc<Script<T>>),
}

/// A comparison of two calculations.
pub(super) struct Formulas<T: Owner> {
    pub(super) left: Formula<T>,
    pub(super) op: Comparison,
    pub(super) right: Formula<T>,
    /// Whether the left side contains a time. Then the sides are compared as times are: see [`Span`].
    pub(super) is_time: bool,
    /// Whether a side reads a field of a message.
    pub(super) asks_message: bool,
}

impl<T: Owner> Test<T> {
    /// Returns the target that follows the test.
    #[inline]
    fn next(&self, yes: bool) -> Target {
        if yes { self.yes } else { self.no }
    }
}

impl<T: Owner> Condition<T> {
    #[cfg(feature = "script")]
    pub(crate) fn script(script: Script<T>) -> Self {
        let written = WrittenTest::new(format!("script {}", script.file));
        let probe = Probe::Script(Arc::new(script));
        Self { tests: Box::new([Test { probe, yes: HOLDS, no: FAILS }]), first: 0, written: Box::new([written]) }
    }

    /// Whether a test has a chance per second.
    pub(crate) fn has_rate(&self) -> bool {
        self.tests.iter().any(|test| matches!(test.probe, Probe::Rate(..)))
    }

    /// Returns for how many seconds after the entry into the state the condition certainly fails, because its first test
    /// compares the time in the state. Negative infinity for any other condition.
    pub(crate) fn fails_for(&self) -> f64 {
        match self.tests.get(usize::from(self.first)) {
            Some(Test {
                probe: Probe::Time(Comparison::Greater | Comparison::GreaterOrEqual, seconds),
                no: FAILS,
                ..
            }) => *seconds,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Whether the condition holds for one owner.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that a record costs nothing")]
    pub(crate) fn holds(
        &self,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        moment: &Moment<'_, '_, T>,
        record: &mut impl Record,
    ) -> bool {
        let mut at = self.first;
        while let Some(test) = self.tests.get(usize::from(at)) {
            let mut told = |answer| self.told(at, answer, record);
            let yes = match &test.probe {
                Probe::Chance(draw, p) => told(drawn(draw, *p, None, owner, cx)),
                Probe::Rate(draw, p) => told(drawn(draw, *p, Some(moment), owner, cx)),
                probe => probe.holds(owner, cx, moment, told),
            };
            at = test.next(yes);
        }
        at == HOLDS
    }

    /// Whether an entry condition holds for one owner. It contains no chance, so it does not change the owner.
    pub(crate) fn admits(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>, record: &mut impl Record) -> bool {
        let moment = Moment::before_entry(fsm);
        let mut at = self.first;
        while let Some(test) = self.tests.get(usize::from(at)) {
            at = test.next(test.probe.holds(owner, cx, &moment, |answer| self.told(at, answer, record)));
        }
        at == HOLDS
    }

    /// Records the answer to a test. Returns whether the test holds.
    #[inline]
    fn told(&self, at: Target, (answered, yes): (Answered, bool), record: &mut impl Record) -> bool {
        record.answered(&self.written, usize::from(at), answered, yes);
        yes
    }

    /// Returns the lanes of `asked` for which the condition holds.
    ///
    /// It gives the same answers as [`holds`](Self::holds) for each owner, in another order: each test is evaluated for all
    /// owners that reach it before the next test. The most frequent tests take one virtual call for several adjacent owners.
    /// `tests/definition/conditions.rs` and `tests/definition/decisions.rs` compare the two.
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
                self.holds(&mut owners[lane], cx, &Moment::of(state, fsm), &mut Unrecorded)
            });
        }
        // Most conditions have few tests. For these, a small array is faster to clear.
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
    /// Returns the lanes of `asked` for which the test holds. It reads no value of any other owner, because a value may be
    /// valid only for owners that reach this test.
    fn ask(&self, asked: Lanes, owners: &mut [T], cx: &mut T::Context<'_>, block: &mut Block<'_, '_, T>) -> Lanes {
        // A call for several owners costs as much as calls for about three.
        let are_scattered = 3 * (asked & !(asked << 1)).count_ones() > asked.count_ones();
        match self {
            Self::Flag(flag) if are_scattered => block.ask_each(asked, |lane, _| flag.read(&owners[lane], cx)),
            Self::Number(number, op, with) if are_scattered => {
                block.ask_each(asked, |lane, _| op.holds(number.read(&owners[lane], cx), *with))
            }
            Self::Flag(flag) => block.ask_runs(asked, |run, lane| flag.ask(&owners[run], cx, lane)),
            Self::Number(number, op, with) => {
                block.ask_runs(asked, |run, lane| number.compare(&owners[run], cx, *op, *with, lane))
            }
            Self::Time(op, with) => block.compare_times(asked, *op, Span::of(*with, now::<T>(cx))),
            Self::Chance(draw, p) => block.ask_each(asked, |lane, _| draw(&mut owners[lane], cx) < *p),
            probe => {
                let state = block.state;
                block.ask_each(asked, |lane, fsm| {
                    probe.holds(&owners[lane], cx, &Moment::of(state, fsm), |(_, yes)| yes)
                })
            }
        }
    }

    /// Answers the test for one owner, and passes the answer to `told`. Only the most frequent tests are inlined.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as `Condition::holds`")]
    fn holds(
        &self,
        owner: &T,
        cx: &T::Context<'_>,
        moment: &Moment<'_, '_, T>,
        told: impl FnOnce((Answered, bool)) -> bool,
    ) -> bool {
        match self {
            Self::Flag(value) => told(flag(value.read(owner, cx))),
            Self::Number(number, op, with) => told(compared(number.read(owner, cx), *op, *with)),
            Self::Time(op, with) => told(compared_since(moment.entered_at(), now::<T>(cx), *op, *with)),
            _ => told(self.holds_rarely(owner, cx, moment)),
        }
    }

    #[inline(never)]
    fn holds_rarely(&self, owner: &T, cx: &T::Context<'_>, moment: &Moment<'_, '_, T>) -> (Answered, bool) {
        match self {
            Self::Numbers(left, op, right) => compared(left.read(owner, cx), *op, right.read(owner, cx)),
            Self::TimeAndNumber(op, right) => {
                compared_since(moment.entered_at(), now::<T>(cx), *op, right.read(owner, cx))
            }
            // These probes do not get here. A draw changes the owner, so the callers answer the first two: `Condition::holds`
            // answers both, and `ask` answers `Chance`. A state with a `Rate` evaluates its conditions for one owner at a time.
            // `Probe::holds` answers the other three.
            Self::Chance(..) | Self::Rate(..) | Self::Flag(_) | Self::Number(..) | Self::Time(..) => {
                (Answered::Script, false)
            }
            Self::In(state) => flag(moment.is_in(state)),
            Self::FieldFlag(read) => moment.message.map_or((Answered::NoMessage, false), |message| flag(read(message))),
            Self::Formula(formulas) => formulas.compared(owner, cx, *moment),
            #[cfg(feature = "script")]
            Self::Script(script) => {
                let time_in_state = now::<T>(cx) - moment.entered_at();
                (Answered::Script, script.holds(owner, cx, time_in_state, moment.usage))
            }
        }
    }
}

/// Draws a random number. `p` is a chance per second if the moment is given.
#[inline(never)]
fn drawn<T: Owner>(
    draw: &Random<T>,
    p: f64,
    per_second: Option<&Moment<'_, '_, T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (Answered, bool) {
    let Some(moment) = per_second else {
        let drawn = draw(owner, cx);
        return (Answered::Drawn(drawn), drawn < p);
    };
    let chance = 1.0 - (1.0 - p).powf(moment.since_tried(now::<T>(cx)));
    let drawn = draw(owner, cx);
    (Answered::DrawnFor(drawn, chance), drawn < chance)
}

impl<T: Owner> Formulas<T> {
    fn compared(&self, owner: &T, cx: &T::Context<'_>, moment: Moment<'_, '_, T>) -> (Answered, bool) {
        let (left, right) = (self.left.result(owner, cx, moment), self.right.result(owner, cx, moment));
        if self.asks_message && moment.message.is_none() {
            return (Answered::NoMessage, false);
        }
        // The left side is treated like a time that began at `-left`, on a clock that shows 0.
        let holds =
            if self.is_time { self.op.holds_since(Span::of(right, 0.0), -left) } else { self.op.holds(left, right) };
        (Answered::Numbers(left, right), holds)
    }
}

#[inline]
fn flag(is: bool) -> (Answered, bool) {
    (Answered::Flag(is), is)
}

#[inline]
fn compared(left: f64, op: Comparison, right: f64) -> (Answered, bool) {
    (Answered::Numbers(left, right), op.holds(left, right))
}

#[inline]
fn compared_since(entered_at: f64, now: f64, op: Comparison, span: f64) -> (Answered, bool) {
    (Answered::Numbers(now - entered_at, span), op.holds_since(Span::of(span, now), entered_at))
}
