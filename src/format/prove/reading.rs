//! From a condition as it is written to what it claims of a situation.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::claim::{Claim, Quantity};
use crate::format::draft::When;
use crate::format::duration::{Duration, Length};
use crate::format::expression::{Comparison, Expr, flag_compared};
use crate::format::operand::{Arithmetic, Operand};
use crate::format::outline::StateId;
use crate::span::Span;

/// How far around the number at which a calculation changes the answer of a comparison it is not decided, as a share: more
/// than what is lost where floats are rounded.
const ROUNDING: f64 = 1e-9;

/// For how long a state has been active.
#[derive(Clone, Debug)]
pub(super) enum StateTime {
    Varies(Quantity),
    Known(f64),
}

/// What could be decided neither way.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    /// Comparisons of two quantities that both vary.
    pub(super) comparisons: BTreeSet<String>,
    pub(super) has_chances: bool,
    pub(super) has_scripts: bool,
    pub(super) has_durations: bool,
    /// How many there have been, to tell them apart.
    count: usize,
}

/// Which state asks a condition, and when.
pub(super) struct Asking<'a> {
    pub(super) states: &'a HashMap<&'a str, StateId>,
    /// The states that are active, outermost first. `None` where any may be.
    pub(super) active: Option<&'a [StateId]>,
    /// The state whose time `time_in_state` is.
    pub(super) asker: Option<StateId>,
    pub(super) time: &'a dyn Fn(StateId) -> StateTime,
    /// The message that has been sent.
    pub(super) message: Option<&'a str>,
    pub(super) undecided: &'a RefCell<Undecided>,
}

impl Asking<'_> {
    pub(super) fn when(&self, when: &When) -> Claim {
        match when {
            When::Expr { expr, .. } => self.expr(expr),
            When::Script(_) => {
                self.undecided.borrow_mut().has_scripts = true;
                self.open()
            }
        }
    }

    /// That an exit is open which waits for so long.
    pub(super) fn after(&self, after: &Duration) -> Claim {
        let passed = |seconds: f64| self.time_compared(self.asker, Comparison::GreaterOrEqual, seconds);
        let either = || {
            self.undecided.borrow_mut().has_durations = true;
            self.open()
        };
        match &after.length {
            Length::Fixed(seconds) if seconds.is_nan() => either(),
            Length::Fixed(seconds) => passed(*seconds),
            Length::Drawn(drawn) if drawn.least.is_nan() || drawn.most.is_nan() => either(),
            Length::Drawn(drawn) => Claim::any([passed(drawn.most), Claim::all([passed(drawn.least), either()])]),
            Length::Value(_) => either(),
        }
    }

    pub(super) fn expr(&self, expr: &Expr) -> Claim {
        match expr {
            Expr::Bool(is) => (*is).into(),
            Expr::Flag(name) => Claim::is(Quantity::Flag(name.text.clone())),
            Expr::FieldFlag(name) => match self.message {
                Some(message) => Claim::is(Quantity::FieldFlag(message.into(), name.text.clone())),
                None => Claim::Never,
            },
            Expr::In(name) => self.is_in(&name.text),
            Expr::Chance { p, .. } if *p <= 0.0 => Claim::Never,
            Expr::Chance { p, per_second: false, .. } if *p >= 1.0 => Claim::Always,
            Expr::Chance { .. } => {
                self.undecided.borrow_mut().has_chances = true;
                self.open()
            }
            Expr::Not(inner) => self.expr(inner).negated(),
            Expr::And(parts) => Claim::all(parts.iter().map(|part| self.expr(part))),
            Expr::Or(parts) => Claim::any(parts.iter().map(|part| self.expr(part))),
            Expr::Compare { left, op, right } => match flag_compared(left, *op, right) {
                Some((Operand::Value(name), is)) => {
                    let flag = Claim::is(Quantity::Flag(name.text.clone()));
                    if is { flag } else { flag.negated() }
                }
                Some((Operand::Field(name), is)) => {
                    let message = self.message.unwrap_or_default();
                    let flag = Claim::is(Quantity::FieldFlag(message.into(), name.text.clone()));
                    if is { flag } else { flag.negated() }
                }
                _ => self.comparison(left, *op, right),
            },
        }
    }

    fn comparison(&self, left: &Operand, op: Comparison, right: &Operand) -> Claim {
        let are_there = Claim::all([self.are_there(left), self.are_there(right)]);
        if are_there == Claim::Never {
            return Claim::Never;
        }
        let compared = match (self.side(left), self.side(right)) {
            (Side::Number(left), Side::Number(right)) => op.holds(left, right).into(),
            (Side::Time(state), Side::Number(with)) => self.time_compared(state, op, with),
            (Side::Number(with), Side::Time(state)) => self.time_compared(state, op.mirrored(), with),
            (Side::Steps(steps), Side::Number(with)) => self.steps_compared(&steps, left, op, with),
            (Side::Number(with), Side::Steps(steps)) => self.steps_compared(&steps, right, op.mirrored(), with),
            _ => self.either(left, op, right),
        };
        Claim::all([are_there, compared])
    }

    /// Two sides that vary: the difference between them may be anything, but the same wherever they are compared.
    fn either(&self, left: &Operand, op: Comparison, right: &Operand) -> Claim {
        let (mut first, mut second) = (left.to_string(), right.to_string());
        self.undecided.borrow_mut().comparisons.insert(format!("{left} {op} {right}"));
        if left.has_time() || right.has_time() {
            return self.open();
        }
        let is_mirrored = first > second;
        if is_mirrored {
            std::mem::swap(&mut first, &mut second);
        }
        let message = self.message.unwrap_or_default();
        let difference = Quantity::OpenNumber(format!("{message}: {first} - ({second})"));
        Claim::compared(difference, if is_mirrored { op.mirrored() } else { op }, 0.0)
    }

    /// A claim that may hold or not.
    pub(super) fn open(&self) -> Claim {
        let mut undecided = self.undecided.borrow_mut();
        undecided.count += 1;
        Claim::is(Quantity::Open(undecided.count.to_string()))
    }

    /// The time in a state, compared; in none, where an entry condition cannot ask.
    fn time_compared(&self, state: Option<StateId>, op: Comparison, with: f64) -> Claim {
        match state.map(|state| (self.time)(state)) {
            None => Claim::Never,
            Some(StateTime::Known(seconds)) => op.holds_since(Span::of(with, seconds), 0.0).into(),
            // A time is never below 0, and never infinite.
            Some(StateTime::Varies(_)) if with < -1e-3 || !with.is_finite() => op.holds(1.0, with).into(),
            Some(StateTime::Varies(_)) if with < 0.0 => self.open(),
            Some(StateTime::Varies(clock)) => Claim::compared(clock, op, with),
        }
    }

    /// A calculation with one number that varies, compared. It rises or falls with the number all the way, but where it
    /// changes the answer is only known as exactly as floats are.
    fn steps_compared(&self, steps: &LinearSteps, written: &Operand, op: Comparison, with: f64) -> Claim {
        let x = |op, with| Claim::compared(steps.quantity.clone(), op, with);
        if matches!(written, Operand::Value(_) | Operand::Field(_)) {
            return if with.is_nan() { Claim::Never } else { x(op, with) };
        }
        if with.is_nan() {
            return Claim::Never;
        }
        let k = (with - steps.offset) / steps.factor;
        let around = ROUNDING * k.abs().max(steps.size / steps.factor.abs()).max((with / steps.factor).abs()).max(1e-9);
        if !(k.is_finite() && around.is_finite() && steps.factor != 0.0) {
            return self.either(written, op, &Operand::Number(with));
        }
        let message = self.message.unwrap_or_default();
        // The same wherever the same is compared.
        let difference = Quantity::OpenNumber(format!("{message}: {written} - {with}"));
        let open = || Claim::compared(difference.clone(), op, 0.0);
        let op = if steps.factor < 0.0 { op.mirrored() } else { op };
        let (below, above) = (k - around, k + around);
        #[expect(clippy::float_cmp, reason = "it is asked whether the calculation gives exactly this")]
        let is_exact = result(written, k) == with;
        match (op, is_exact) {
            (Comparison::Greater, true) => Claim::any([x(op, above), Claim::all([x(op, k), open()])]),
            (Comparison::GreaterOrEqual, true) => Claim::any([x(op, k), Claim::all([x(op, below), open()])]),
            (Comparison::Less, true) => Claim::any([x(op, below), Claim::all([x(op, k), open()])]),
            (Comparison::LessOrEqual, true) => Claim::any([x(op, k), Claim::all([x(op, above), open()])]),
            (Comparison::Greater | Comparison::GreaterOrEqual, false) => {
                Claim::any([x(op, above), Claim::all([x(op, below), open()])])
            }
            (Comparison::Less | Comparison::LessOrEqual, false) => {
                Claim::any([x(op, below), Claim::all([x(op, above), open()])])
            }
            (Comparison::Equal, _) => {
                let near = [x(Comparison::GreaterOrEqual, below), x(Comparison::LessOrEqual, above), open()];
                Claim::any([if is_exact { x(op, k) } else { Claim::Never }, Claim::all(near)])
            }
            (Comparison::NotEqual, _) => {
                let near = [x(Comparison::GreaterOrEqual, below), x(Comparison::LessOrEqual, above), open()];
                let near = Claim::all(near.into_iter().chain(is_exact.then(|| x(op, k))));
                Claim::any([x(Comparison::Less, below), x(Comparison::Greater, above), near])
            }
        }
    }

    fn state(&self, name: &str) -> Option<StateId> {
        self.states.get(name).copied()
    }

    fn is_in(&self, state: &str) -> Claim {
        match (self.state(state), self.active) {
            (None, _) => Claim::Never,
            (Some(id), Some(active)) => active.contains(&id).into(),
            (Some(id), None) => Claim::is(Quantity::Open(format!("in {id}"))),
        }
    }

    /// That all states are active whose times the calculation uses. The time in a state that is not active is no number.
    fn are_there(&self, side: &Operand) -> Claim {
        let mut are_there = Vec::new();
        side.visit(&mut |part| {
            if let Operand::TimeIn(name) = part {
                are_there.push(self.is_in(&name.text));
            }
        });
        Claim::all(are_there)
    }

    fn side(&self, operand: &Operand) -> Side {
        match operand {
            Operand::Number(number) => Side::Number(*number),
            Operand::Bool(_) => Side::Number(f64::NAN),
            Operand::TimeInState(_) => Side::Time(self.asker),
            Operand::TimeIn(name) => Side::Time(self.state(&name.text)),
            Operand::Value(name) => Side::Steps(LinearSteps::of(Quantity::Number(name.text.clone()))),
            Operand::Field(name) => {
                let message = self.message.unwrap_or_default();
                Side::Steps(LinearSteps::of(Quantity::Field(message.into(), name.text.clone())))
            }
            Operand::Negative(inner) => match self.side(inner) {
                Side::Number(number) => Side::Number(-number),
                Side::Steps(steps) => Side::Steps(steps.times(-1.0)),
                _ => Side::Other,
            },
            Operand::Calculation(left, by, right) => match (self.side(left), by, self.side(right)) {
                (Side::Number(left), by, Side::Number(right)) => Side::Number(by.of(left, right)),
                (Side::Steps(steps), Arithmetic::Add, Side::Number(number))
                | (Side::Number(number), Arithmetic::Add, Side::Steps(steps)) => Side::Steps(steps.plus(number)),
                (Side::Steps(steps), Arithmetic::Subtract, Side::Number(number)) => Side::Steps(steps.plus(-number)),
                (Side::Number(number), Arithmetic::Subtract, Side::Steps(steps)) => {
                    Side::Steps(steps.times(-1.0).plus(number))
                }
                (Side::Steps(steps), Arithmetic::Multiply, Side::Number(number))
                | (Side::Number(number), Arithmetic::Multiply, Side::Steps(steps)) => Side::Steps(steps.times(number)),
                (Side::Steps(_), Arithmetic::Divide, Side::Number(0.0)) => Side::Number(f64::NAN),
                (Side::Steps(steps), Arithmetic::Divide, Side::Number(number)) => {
                    Side::Steps(steps.times(1.0 / number))
                }
                _ => Side::Other,
            },
            Operand::Call(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.side(argument)).collect();
                match arguments[..] {
                    [Side::Number(one)] => Side::Number(function.of(one, 0.0)),
                    [Side::Number(one), Side::Number(other)] => Side::Number(function.of(one, other)),
                    _ => Side::Other,
                }
            }
        }
    }
}

/// One side of a comparison.
enum Side {
    Number(f64),
    Time(Option<StateId>),
    Steps(LinearSteps),
    /// Anything else.
    Other,
}

/// A calculation in steps with one number that varies: about `factor * number + offset`.
struct LinearSteps {
    quantity: Quantity,
    factor: f64,
    offset: f64,
    /// The largest constant in it.
    size: f64,
}

impl LinearSteps {
    fn of(quantity: Quantity) -> Self {
        Self { quantity, factor: 1.0, offset: 0.0, size: 0.0 }
    }

    fn plus(self, number: f64) -> Self {
        Self { offset: self.offset + number, size: self.size.max(number.abs()), ..self }
    }

    fn times(self, number: f64) -> Self {
        let Self { quantity, factor, offset, size } = self;
        Self { quantity, factor: factor * number, offset: offset * number, size: size * number.abs() }
    }
}

/// The result of a calculation with one number that varies.
fn result(operand: &Operand, x: f64) -> f64 {
    match operand {
        Operand::Number(number) => *number,
        Operand::Value(_) | Operand::Field(_) => x,
        Operand::Negative(inner) => -result(inner, x),
        Operand::Calculation(left, by, right) => by.of(result(left, x), result(right, x)),
        Operand::Call(function, arguments) => {
            let argument = |nth: usize| arguments.get(nth).map_or(0.0, |argument| result(argument, x));
            function.of(argument(0), argument(1))
        }
        Operand::Bool(_) | Operand::TimeInState(_) | Operand::TimeIn(_) => f64::NAN,
    }
}
