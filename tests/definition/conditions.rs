//! Random conditions: an owner leaves when its condition says so, alone as among many.
#![cfg(feature = "definition")]

use std::fmt;

use demeanor::Batch;
use demeanor::definition::{Definition, Vocabulary};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::Guard;

/// What conditions call `number0` and `number1`.
fn number_of(guard: &Guard, i: usize) -> f64 {
    [guard.health, guard.ammo][i]
}

/// What conditions call `flag0` and `flag1`.
fn flag_of(guard: &Guard, i: usize) -> bool {
    [guard.is_brave, guard.is_hungry][i]
}

/// A condition, to be written and to be answered.
#[derive(Clone, Debug)]
enum Condition {
    Flag(usize, Option<bool>),
    /// A number, a comparison and what it is compared with.
    Number(usize, Op, f64),
    Numbers(Op),
    /// A calculation, compared with another.
    Sums(Sum, Op, Sum),
    Time(Op, f64),
    Chance(f64),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

/// A calculation, to be written and to be done.
#[derive(Clone, Debug)]
enum Sum {
    Value(usize),
    Number(f64),
    Negative(Box<Sum>),
    Of(Box<Sum>, char, Box<Sum>),
    Least(Box<Sum>, Box<Sum>),
    Greatest(Box<Sum>, Box<Sum>),
    Absolute(Box<Sum>),
}

impl Sum {
    fn result(&self, guard: &Guard) -> f64 {
        let both = |left: &Self, right: &Self, of: fn(f64, f64) -> f64| {
            let (left, right) = (left.result(guard), right.result(guard));
            if left.is_nan() || right.is_nan() { f64::NAN } else { of(left, right) }
        };
        match self {
            Self::Value(i) => number_of(guard, *i),
            Self::Number(number) => *number,
            Self::Negative(of) => -of.result(guard),
            Self::Of(left, '+', right) => both(left, right, |left, right| left + right),
            Self::Of(left, '-', right) => both(left, right, |left, right| left - right),
            Self::Of(left, '*', right) => both(left, right, |left, right| left * right),
            // By 0, nothing comes of it.
            Self::Of(left, _, right) => {
                both(left, right, |left, right| if right == 0.0 { f64::NAN } else { left / right })
            }
            Self::Least(left, right) => both(left, right, f64::min),
            Self::Greatest(left, right) => both(left, right, f64::max),
            Self::Absolute(of) => of.result(guard).abs(),
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(i) => write!(f, "number{i}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Negative(of) => write!(f, "-({of})"),
            Self::Of(left, by, right) => write!(f, "({left}){by}({right})"),
            Self::Least(left, right) => write!(f, "min({left}, {right})"),
            Self::Greatest(left, right) => write!(f, "max({left}, {right})"),
            Self::Absolute(of) => write!(f, "abs( {of} )"),
        }
    }
}

fn sum() -> impl Strategy<Value = Sum> {
    let leaf = prop_oneof![(0..2_usize).prop_map(Sum::Value), number().prop_map(Sum::Number)];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let two = || (inner.clone(), inner.clone()).prop_map(|(left, right)| (Box::new(left), Box::new(right)));
        prop_oneof![
            (two(), prop::sample::select(vec!['+', '-', '*', '/']))
                .prop_map(|((left, right), by)| Sum::Of(left, by, right)),
            two().prop_map(|(left, right)| Sum::Least(left, right)),
            two().prop_map(|(left, right)| Sum::Greatest(left, right)),
            inner.clone().prop_map(|of| Sum::Absolute(Box::new(of))),
            inner.clone().prop_map(|of| Sum::Negative(Box::new(of))),
        ]
    })
}

type Op = (&'static str, fn(f64, f64) -> bool);

#[expect(clippy::float_cmp, reason = "`==` is what the condition says")]
const OPS: [Op; 6] = [
    ("<", |a, b| a < b),
    ("<=", |a, b| a <= b),
    (">", |a, b| a > b),
    (">=", |a, b| a >= b),
    ("==", |a, b| a == b),
    ("!=", |a, b| a != b && !a.is_nan() && !b.is_nan()),
];

impl Condition {
    fn holds(&self, guard: &mut Guard, time_in_state: f64) -> bool {
        match self {
            Self::Flag(i, None) => flag_of(guard, *i),
            Self::Flag(i, Some(is)) => flag_of(guard, *i) == *is,
            Self::Number(i, (_, op), with) => op(number_of(guard, *i), *with),
            Self::Numbers((_, op)) => op(number_of(guard, 0), number_of(guard, 1)),
            Self::Sums(left, (_, op), right) => op(number_of(guard, 0) * 0.0 + left.result(guard), right.result(guard)),
            Self::Time((_, op), with) => op(time_in_state, *with),
            Self::Chance(p) => guard.chance(*p),
            Self::Not(inner) => !inner.holds(guard, time_in_state),
            Self::And(parts) => parts.iter().all(|part| part.holds(guard, time_in_state)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(guard, time_in_state)),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[Self], by| {
            let parts: Vec<_> = parts.iter().map(|part| format!("({part})")).collect();
            f.write_str(&parts.join(by))
        };
        match self {
            Self::Flag(i, None) => write!(f, "flag{i}"),
            Self::Flag(i, Some(is)) => write!(f, "{is}==flag{i}"),
            Self::Number(i, (op, _), with) => write!(f, "number{i} {op} {with}"),
            Self::Numbers((op, _)) => write!(f, "number0{op}number1"),
            // Something has to be read.
            Self::Sums(left, (op, _), right) => write!(f, "number0 * 0 + {left} {op} {right}"),
            Self::Time((op, _), with) => write!(f, "time_in_state {op} {with}"),
            Self::Chance(p) => write!(f, "chance({p})"),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::And(parts) => joined(f, parts, " and "),
            Self::Or(parts) => joined(f, parts, " or "),
        }
    }
}

/// A few numbers only, so that they are often equal.
fn number() -> impl Strategy<Value = f64> {
    prop::sample::select(vec![-1.5, 0.0, 1.0, 2.0, 3e9])
}

fn condition() -> impl Strategy<Value = Condition> {
    let op = prop::sample::select(OPS.to_vec());
    let leaf = prop_oneof![
        (0..2_usize, any::<Option<bool>>()).prop_map(|(i, is)| Condition::Flag(i, is)),
        (0..2_usize, op.clone(), number()).prop_map(|(i, op, with)| Condition::Number(i, op, with)),
        op.clone().prop_map(Condition::Numbers),
        (sum(), op.clone(), sum()).prop_map(|(left, op, right)| Condition::Sums(left, op, right)),
        (op, number()).prop_map(|(op, with)| Condition::Time(op, with)),
        prop::sample::select(vec![0.0, 0.2, 0.6, 1.0]).prop_map(Condition::Chance),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.clone().prop_map(|inner| Condition::Not(Box::new(inner))),
            parts().prop_map(Condition::And),
            parts().prop_map(Condition::Or),
        ]
    })
}

fn guards() -> impl Strategy<Value = Vec<Guard>> {
    let number = || prop_oneof![8 => number(), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)];
    let guard = (number(), number(), any::<(bool, bool)>(), any::<u32>());
    let guard = guard.prop_map(|(health, ammo, (is_brave, is_hungry), luck)| Guard {
        health,
        ammo,
        is_brave,
        is_hungry,
        ..Guard::with_luck(luck)
    });
    prop::collection::vec(guard, 1..150)
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("number0", |guard: &Guard, _| number_of(guard, 0))
        .value("number1", |guard: &Guard, _| number_of(guard, 1))
        .flag("flag0", |guard: &Guard, _| flag_of(guard, 0))
        .flag("flag1", |guard: &Guard, _| flag_of(guard, 1))
        .random(|guard: &mut Guard, _| guard.draw())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn an_owner_leaves_by_the_first_exit_whose_condition_holds(
        first in condition(),
        second in condition(),
        guards in guards(),
        clock in number(),
    ) {
        let file = format!(
            "initial = 'a'\n[states.a]\nexits = [{{ to = 'b', when = '{first}' }}, {{ to = 'c', when = '{second}' }}]\n\
             [states.b]\n[states.c]\n"
        );
        let definition = Definition::parse(&file, &vocabulary()).unwrap();
        let mut batch = Batch::new();
        let keys: Vec<_> = guards.iter().map(|guard| batch.insert(guard.clone(), definition.initial())).collect();
        batch.update(&mut clock.clone());
        for (guard, key) in guards.into_iter().zip(keys) {
            let mut asked = guard.clone();
            let reached = if first.holds(&mut asked, clock) {
                "b"
            } else if second.holds(&mut asked, clock) {
                "c"
            } else {
                "a"
            };
            let (mut alone, mut machine) = (guard.clone(), definition.machine());
            machine.update(&mut alone, &mut clock.clone());
            prop_assert_eq!(machine.current().unwrap().name(), reached);
            prop_assert_eq!(batch.state_of(key).unwrap().name(), reached);
            prop_assert_eq!(alone.luck, asked.luck);
            prop_assert_eq!(batch.get(key).unwrap().luck, asked.luck);

            let mut explained = guard.clone();
            let reports = definition.explain(&definition.initial(), &mut explained, clock, &mut clock.clone());
            let holds = first.holds(&mut guard.clone(), clock);
            prop_assert_eq!(reports[0].holds, Some(holds), "{}", reports[0]);
        }
    }
}
