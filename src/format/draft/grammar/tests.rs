//! Printed conditions parse to the same conditions, and mistakes are reported at a place inside the condition.

use proptest::prelude::*;

use super::{SourceMap, parse};
use crate::format::draft::relocate;
use crate::format::expression::{Comparison, Expr, is_name};
use crate::format::name::Name;
use crate::format::operand::{Arithmetic, Atom, FUNCTIONS, Input, Operand};

fn name() -> impl Strategy<Value = Name> {
    "[a-zA-Z_äé][a-z0-9_.ö]{0,8}"
        .prop_filter("a word of the grammar", |text| is_name(text))
        .prop_map(|text| Name { text, span: 0..0 })
}

/// The name of a state, with spaces or without.
fn state() -> impl Strategy<Value = Name> {
    prop_oneof![name(), "[a-z][a-z .]{0,6}[a-z]".prop_map(|text| Name { text, span: 0..0 })]
}

fn input(is_field: bool) -> impl Strategy<Value = Input> {
    name().prop_map(move |name| Input { name, is_field })
}

fn asked() -> impl Strategy<Value = Operand> {
    let atom = prop_oneof![
        3 => input(false).prop_map(Atom::Input),
        1 => Just(Atom::TimeInState(0..0)),
        1 => state().prop_map(Atom::TimeIn),
        1 => input(true).prop_map(Atom::Input),
    ];
    atom.prop_map(Operand::Atom)
}

fn calculated() -> impl Strategy<Value = Operand> {
    let number = prop_oneof![any::<i16>().prop_map(f64::from), prop::num::f64::NORMAL];
    let leaf = prop_oneof![3 => asked(), 2 => number.prop_map(|number| Atom::Number(number).into())];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let by =
            prop::sample::select(vec![Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide]);
        prop_oneof![
            4 => (inner.clone(), by, inner.clone())
                .prop_map(|(left, by, right)| Operand::Binary(Box::new(left), by, Box::new(right))),
            1 => inner.clone().prop_map(|of| match of {
                Operand::Atom(Atom::Number(number)) => Atom::Number(-number).into(),
                of => Operand::Negative(Box::new(of)),
            }),
            1 => (prop::sample::select(FUNCTIONS.to_vec()), prop::collection::vec(inner, 2)).prop_map(
                |(function, arguments)| {
                    Operand::Call(function, arguments.into_iter().take(function.takes()).collect())
                }
            ),
        ]
    })
}

fn comparison() -> impl Strategy<Value = Expr> {
    let other = prop_oneof![3 => calculated(), 1 => any::<bool>().prop_map(|is| Atom::Bool(is).into())];
    let op = prop::sample::select(Comparison::ALL.to_vec());
    let side = prop_oneof![asked(), calculated().prop_filter("something is read", Operand::is_read)];
    (side, op, other, any::<bool>()).prop_map(|(asked, op, other, is_first)| {
        let (left, right) = if is_first { (asked, other) } else { (other, asked) };
        Expr::Compare { left, op, right }
    })
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Expr::Bool),
        3 => input(false).prop_map(Expr::Flag),
        3 => comparison(),
        1 => (0.0..=1.0, any::<bool>()).prop_map(|(p, per_second)| Expr::Chance { p, per_second, span: 0..0 }),
        1 => state().prop_map(Expr::In),
        1 => input(true).prop_map(Expr::Flag),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.clone().prop_map(|inner| Expr::Not(Box::new(inner))),
            parts().prop_map(Expr::And),
            parts().prop_map(Expr::Or),
        ]
    })
}

fn parsed(text: &str) -> Result<Expr, String> {
    let map = SourceMap::of(text, &format!("'{text}'"), 0);
    let mut expr = parse(text, &map).map_err(|mistake| format!("{text}: {mistake:?}"))?;
    // All positions are set to the same, so that only the contents are compared.
    relocate::expr(&mut expr, &(0..0));
    Ok(expr)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_as_the_same_condition(expr in expr()) {
        prop_assert_eq!(parsed(&expr.to_string()), Ok(expr));
    }

    #[test]
    fn a_condition_of_any_characters_is_read_or_refused_at_a_place_within_it(
        // No text contains a single quote, which would end the string.
        text in prop_oneof!["[^'\n]{0,60}", r#"([()<>=!&|a-c0-9.\- +*/,"]|and|or|not|true|chance|time_in_state|in|time_in|min|abs|message| ){0,40}"#]
    ) {
        let map = SourceMap::of(&text, &format!("'{text}'"), 0);
        if let Err(mistake) = parse(&text, &map) {
            let span = mistake.label.at;
            prop_assert!(span.start <= span.end && span.end <= text.len() + 1, "{:?}", span);
            prop_assert!(text.get(span.start - 1..span.end - 1).is_some(), "{:?}", span);
        }
    }
}
