//! Converts a condition to a claim about a situation.

use std::rc::Rc;

use super::claim::{Claim, Quantity};
use super::machine::{Asking, Standing, StateTime, Undecided};
use crate::format::duration::{Duration, Length};
use crate::format::expression::{Comparison, Expr, When, flag_compared};
use crate::format::operand::{Arithmetic, Atom, Function, Input, Operand};
use crate::format::outline::StateId;
use crate::span::Span;

/// A comparison of a calculation is not decided if the quantity is this close to the number at which the answer changes. The
/// distance is relative to this number. It is larger than the rounding error of floats.
const ROUNDING: f64 = 1e-9;

impl Asking<'_> {
    pub(super) fn when(&self, when: &When) -> Claim {
        match when {
            When::Expr { expr, .. } => self.expr(expr),
            When::Script(_) => self.undecided(|undecided| undecided.has_scripts = true),
        }
    }

    /// Returns the claim that an exit with this waiting time is open.
    pub(super) fn after(&self, after: &Duration) -> Claim {
        let passed = |seconds: f64| self.time_compared(self.asker, Comparison::GreaterOrEqual, seconds);
        let either = || self.undecided(|undecided| undecided.has_durations = true);
        match &after.length {
            Length::Fixed(seconds) if !seconds.is_nan() => passed(*seconds),
            Length::Drawn(drawn) if !drawn.least.is_nan() && !drawn.most.is_nan() => {
                Claim::any([passed(drawn.most), Claim::all([passed(drawn.least), either()])])
            }
            _ => either(),
        }
    }

    pub(super) fn expr(&self, expr: &Expr) -> Claim {
        match expr {
            Expr::Bool(is) => (*is).into(),
            Expr::Flag(flag) if flag.is_field && self.message.is_none() => Claim::NEVER,
            Expr::Flag(flag) => self.flag(flag),
            Expr::In(name) => self.is_in(&name.text),
            Expr::Chance { p, .. } if *p <= 0.0 => Claim::NEVER,
            Expr::Chance { p, per_second: false, .. } if *p >= 1.0 => Claim::ALWAYS,
            Expr::Chance { .. } => self.undecided(|undecided| undecided.has_chances = true),
            Expr::Not(inner) => self.expr(inner).negated(),
            Expr::And(parts) => Claim::all(parts.iter().map(|part| self.expr(part))),
            Expr::Or(parts) => Claim::any(parts.iter().map(|part| self.expr(part))),
            Expr::Compare { left, op, right } => match flag_compared(left, *op, right) {
                Some((flag, true)) => self.flag(flag),
                Some((flag, false)) => self.flag(flag).negated(),
                None => self.comparison(left, *op, right),
            },
        }
    }

    fn flag(&self, flag: &Input) -> Claim {
        let name = flag.name.text.as_str().into();
        match self.written(flag) {
            Some(note) => self.undecided(note),
            None if flag.is_field => Claim::is(Quantity::FieldFlag(self.message(), name)),
            None => Claim::is(Quantity::Flag(name)),
        }
    }

    fn comparison(&self, left: &Operand, op: Comparison, right: &Operand) -> Claim {
        let are_there = Claim::all([self.are_there(left), self.are_there(right)]);
        if are_there == Claim::NEVER {
            return Claim::NEVER;
        }
        let written = left.inputs().chain(right.inputs()).find_map(|input| self.written(input));
        if let Some(note) = written {
            return Claim::all([are_there, self.undecided(note)]);
        }
        let compared = match (self.side(left), self.side(right)) {
            (Side::Number(left), Side::Number(right)) => op.holds(left, right).into(),
            (Side::Time(state), Side::Number(with)) => self.time_compared(state, op, with),
            (Side::Number(with), Side::Time(state)) => self.time_compared(state, op.mirrored(), with),
            (Side::Steps(steps), Side::Number(with)) => self.steps_compared(&steps, left, op, with),
            (Side::Number(with), Side::Steps(steps)) => self.steps_compared(&steps, right, op.mirrored(), with),
            (Side::Call(function, of), Side::Number(with)) => self.call_compared(function, of, op, with),
            (Side::Number(with), Side::Call(function, of)) => self.call_compared(function, of, op.mirrored(), with),
            _ => self.either(left, op, right),
        };
        Claim::all([are_there, compared])
    }

    /// Returns a function that notes the reason why a value may be written between two evaluations in the same tick: by a script,
    /// or, if a change has been made in this tick, by actions. `None` if the value stays the same, as a field of a message does.
    fn written(&self, input: &Input) -> Option<fn(&mut Undecided)> {
        let (at, value) = (self.at.filter(|_| !input.is_field)?, input.name.text.as_str());
        if self.machine.outline.is_written(value) {
            return Some(|undecided| undecided.has_scripts = true);
        }
        let is_acted_on = at.fresh < at.path.len() && self.machine.acted_on.has(value);
        is_acted_on.then_some(|undecided| undecided.has_actions = true)
    }

    /// Returns the claim of a comparison that the proof cannot decide. The difference between its sides may be any number, but
    /// it is the same number in all comparisons of these sides. If a side contains a time, each comparison may or may not
    /// hold, independent of the others.
    fn either(&self, left: &Operand, op: Comparison, right: &Operand) -> Claim {
        let (mut first, mut second) = (left.to_string(), right.to_string());
        self.machine.undecided.borrow_mut().comparisons.insert(format!("{left} {op} {right}"));
        if left.has_time() || right.has_time() {
            return self.open();
        }
        let is_mirrored = first > second;
        if is_mirrored {
            std::mem::swap(&mut first, &mut second);
        }
        let difference = Quantity::OpenNumber(format!("{}: {first} - ({second})", self.message()).into());
        Claim::compared(difference, if is_mirrored { op.mirrored() } else { op }, 0.0)
    }

    /// Returns the name of the message, or an empty text if the exit waits for no message.
    fn message(&self) -> Rc<str> {
        self.message.unwrap_or_default().into()
    }

    /// Returns a claim that depends on the active states in other regions.
    pub(super) fn beside(&self) -> Claim {
        self.undecided(|undecided| undecided.has_regions |= self.machine.configurations.is_none())
    }

    /// Returns a claim that may or may not hold.
    pub(super) fn open(&self) -> Claim {
        self.undecided(|_| {})
    }

    /// Returns a claim that may or may not hold, and notes the reason.
    pub(super) fn undecided(&self, note: impl FnOnce(&mut Undecided)) -> Claim {
        let mut undecided = self.machine.undecided.borrow_mut();
        note(&mut undecided);
        undecided.count += 1;
        Claim::is(Quantity::Open(undecided.count.to_string().into()))
    }

    /// Returns the claim that a comparison of the time in a state with a constant holds. `state` is `None` for the
    /// `time_in_state` of an entry condition, which refers to no state: there, no comparison holds.
    fn time_compared(&self, state: Option<StateId>, op: Comparison, with: f64) -> Claim {
        let Some(state) = state else { return Claim::NEVER };
        let is_beside = |at: Standing<'_>| !at.path.contains(&state) && self.machine.may_be_beside(at.path, state);
        if self.at.is_some_and(|at| is_beside(at) && !matches!(at.time, StateTime::Each(..))) {
            // States in other regions may have been active for a different time.
            return self.beside();
        }
        match self.at.map_or(Err(Quantity::Clock(state)), |at| at.time_in(state)) {
            Ok(seconds) => op.holds_since(Span::of(with, seconds), 0.0).into(),
            // A time is never negative, and never infinite.
            Err(_) if with < -1e-3 || !with.is_finite() => op.holds(1.0, with).into(),
            Err(_) if with < 0.0 => self.open(),
            Err(clock) => Claim::compared(clock, op, with),
        }
    }

    /// Returns the claim that a comparison of a calculation with a constant holds. One quantity in the calculation varies, and
    /// the calculation is monotonic in this quantity. But the number at which the answer changes is known only up to the
    /// rounding of floats.
    fn steps_compared(&self, steps: &LinearSteps, written: &Operand, op: Comparison, with: f64) -> Claim {
        let x = |op, with| Claim::compared(steps.quantity.clone(), op, with);
        if with.is_nan() {
            return Claim::NEVER;
        }
        if matches!(written, Operand::Atom(Atom::Input(_))) {
            return x(op, with);
        }
        let k = (with - steps.offset) / steps.factor;
        let around = ROUNDING * k.abs().max(steps.size / steps.factor.abs()).max((with / steps.factor).abs()).max(1e-9);
        if !(k.is_finite() && around.is_finite() && steps.factor != 0.0) {
            return self.either(written, op, &Atom::Number(with).into());
        }
        // The same difference gets the same quantity everywhere.
        let difference = Quantity::OpenNumber(format!("{}: {written} - {with}", self.message()).into());
        let open = Claim::compared(difference, op, 0.0);
        let op = if steps.factor < 0.0 { op.mirrored() } else { op };
        let (below, above) = (k - around, k + around);
        let near = || [x(Comparison::GreaterOrEqual, below), x(Comparison::LessOrEqual, above), open.clone()];
        #[expect(clippy::float_cmp, reason = "it is asked whether the calculation gives exactly this")]
        let is_exact = written.calculated(&|atom| match atom {
            Atom::Number(number) => *number,
            Atom::Input(_) => k,
            Atom::Bool(_) | Atom::TimeInState(_) | Atom::TimeIn(_) => f64::NAN,
        }) == with;
        // The comparison certainly holds beyond `surely`, and may hold beyond `perhaps`.
        let (surely, perhaps) = match (op, is_exact) {
            (Comparison::Greater, true) => (above, k),
            (Comparison::GreaterOrEqual, true) => (k, below),
            (Comparison::Greater | Comparison::GreaterOrEqual, false) => (above, below),
            (Comparison::Less, true) => (below, k),
            (Comparison::LessOrEqual, true) => (k, above),
            (Comparison::Less | Comparison::LessOrEqual, false) => (below, above),
            (Comparison::Equal, _) => {
                return Claim::any([if is_exact { x(op, k) } else { Claim::NEVER }, Claim::all(near())]);
            }
            (Comparison::NotEqual, _) => {
                let near = Claim::all(near().into_iter().chain(is_exact.then(|| x(op, k))));
                return Claim::any([x(Comparison::Less, below), x(Comparison::Greater, above), near]);
            }
        };
        Claim::any([x(op, surely), Claim::all([x(op, perhaps), open])])
    }

    /// Returns the claim that a comparison of the result of a function with a constant holds, by comparisons of its arguments.
    fn call_compared(&self, function: Function, of: &[Operand], op: Comparison, with: f64) -> Claim {
        let compared = |of: &Operand, op, with| self.comparison(of, op, &Atom::Number(with).into());
        let has_result = || {
            let is_number = |of: &Operand| {
                Claim::any([compared(of, Comparison::LessOrEqual, with), compared(of, Comparison::Greater, with)])
            };
            Claim::all(of.iter().map(is_number))
        };
        let each = || of.iter().map(|of| compared(of, op, with));
        match (op, function) {
            (Comparison::Equal, _) => {
                let bounds = [Comparison::LessOrEqual, Comparison::GreaterOrEqual];
                Claim::all(bounds.map(|op| self.call_compared(function, of, op, with)))
            }
            (Comparison::NotEqual, _) => {
                let beside = [Comparison::Less, Comparison::Greater];
                Claim::any(beside.map(|op| self.call_compared(function, of, op, with)))
            }
            (Comparison::Less | Comparison::LessOrEqual, Function::Absolute) => {
                Claim::all(each().chain(of.iter().map(|of| compared(of, op.mirrored(), -with))))
            }
            (Comparison::Greater | Comparison::GreaterOrEqual, Function::Absolute) => {
                Claim::any(each().chain(of.iter().map(|of| compared(of, op.mirrored(), -with))))
            }
            (Comparison::Less | Comparison::LessOrEqual, Function::Greatest)
            | (Comparison::Greater | Comparison::GreaterOrEqual, Function::Least) => Claim::all(each()),
            (Comparison::Less | Comparison::LessOrEqual, Function::Least)
            | (Comparison::Greater | Comparison::GreaterOrEqual, Function::Greatest) => {
                Claim::all([Claim::any(each()), has_result()])
            }
        }
    }

    fn state(&self, name: &str) -> Option<StateId> {
        self.machine.states.get(name).copied()
    }

    fn is_in(&self, state: &str) -> Claim {
        match (self.state(state), self.at) {
            (Some(id), Some(at)) if at.path.contains(&id) => Claim::ALWAYS,
            (Some(id), Some(at)) if self.machine.may_be_beside(at.path, id) => {
                at.is_beside(id).map_or_else(|| self.beside(), Claim::from)
            }
            (Some(id), None) => Claim::is(Quantity::Open(format!("in {id}").into())),
            _ => Claim::NEVER,
        }
    }

    /// Returns the claim that all states whose times the calculation uses are active. The time in a state that is not active
    /// is NaN.
    fn are_there(&self, side: &Operand) -> Claim {
        let is_there = |atom: &Atom| if let Atom::TimeIn(name) = atom { Some(self.is_in(&name.text)) } else { None };
        Claim::all(side.atoms().filter_map(is_there).collect::<Vec<_>>())
    }

    fn side<'o>(&self, operand: &'o Operand) -> Side<'o> {
        match operand {
            Operand::Atom(Atom::Number(number)) => Side::Number(*number),
            Operand::Atom(Atom::Bool(_)) => Side::Number(f64::NAN),
            Operand::Atom(Atom::TimeInState(_)) => Side::Time(self.asker),
            Operand::Atom(Atom::TimeIn(name)) => Side::Time(self.state(&name.text)),
            Operand::Atom(Atom::Input(Input { name, is_field })) => {
                let name = name.text.as_str().into();
                let quantity = if *is_field { Quantity::Field(self.message(), name) } else { Quantity::Number(name) };
                Side::Steps(LinearSteps::of(quantity))
            }
            Operand::Negative(inner) => match self.side(inner) {
                Side::Number(number) => Side::Number(-number),
                Side::Steps(steps) => Side::Steps(steps.times(-1.0)),
                _ => Side::Other,
            },
            Operand::Binary(left, by, right) => match (self.side(left), by, self.side(right)) {
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
                let sides: Vec<_> = arguments.iter().map(|argument| self.side(argument)).collect();
                match sides[..] {
                    [Side::Number(one)] => Side::Number(function.of(one, 0.0)),
                    [Side::Number(one), Side::Number(other)] => Side::Number(function.of(one, other)),
                    _ => Side::Call(*function, arguments),
                }
            }
        }
    }
}

/// One side of a comparison.
enum Side<'o> {
    Number(f64),
    Time(Option<StateId>),
    Steps(LinearSteps),
    Call(Function, &'o [Operand]),
    /// A side that the proof cannot evaluate.
    Other,
}

/// A linear calculation with one quantity that varies: `factor * quantity + offset`, apart from rounding.
struct LinearSteps {
    quantity: Quantity,
    factor: f64,
    offset: f64,
    /// The largest absolute value of a number that is added, multiplied in the same way as `offset`.
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
