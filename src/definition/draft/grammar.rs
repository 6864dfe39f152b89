//! The grammar of conditions.
//!
//! ```text
//! condition  = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" condition ")" | "chance" "(" number ")" | operand [ comparison operand ]
//! operand    = number | "true" | "false" | "time_in_state" | name
//! comparison = "<" | "<=" | ">" | ">=" | "==" | "!="
//! ```

use std::ops::Range;

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, opt, preceded};
use winnow::error::{ErrMode, ParserError};
use winnow::stream::{LocatingSlice, Location, Stateful, Stream};
use winnow::token::{literal, take_while};
use winnow::{ModalResult, Parser};

use super::super::expression::{Comparison, Expr, Name, Operand, begins_name, continues_name};
use super::super::mistake::Mistake;
use super::source_map::SourceMap;

/// How deep parentheses and `not`s may be nested.
const DEEPEST: usize = 64;

/// Reads a condition. A mistake in it is at its place in the file.
pub(crate) fn parse(text: &str, map: &SourceMap) -> Result<Expr, Box<Mistake>> {
    let mut input = Input { input: LocatingSlice::new(text), state: Nesting { map, depth: 0 } };
    let read = (condition, end).map(|(expr, ())| expr).parse_next(&mut input);
    read.map_err(|error| {
        let mistake = error.into_inner().ok().and_then(|wrong| wrong.0).map(|mistake| *mistake);
        let mistake = mistake.unwrap_or_else(|| Mistake::error("condition", 0..0, "expected a condition"));
        Box::new(mistake.moved(|at| map.span(at)))
    })
}

type Input<'i> = Stateful<LocatingSlice<&'i str>, Nesting<'i>>;

/// How deep the parser is.
#[derive(Clone, Copy)]
struct Nesting<'i> {
    map: &'i SourceMap,
    depth: usize,
}

impl std::fmt::Debug for Nesting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} deep", self.depth)
    }
}

/// Why a parser did not match. `None` where something else may match: most of these are forgotten at once.
#[derive(Debug)]
struct Wrong(Option<Box<Mistake>>);

impl<'i> ParserError<Input<'i>> for Wrong {
    type Inner = Self;

    fn from_input(_: &Input<'i>) -> Self {
        Self(None)
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

fn condition(input: &mut Input<'_>) -> ModalResult<Expr, Wrong> {
    joined(input, "or", all, Expr::Or)
}

fn all(input: &mut Input<'_>) -> ModalResult<Expr, Wrong> {
    joined(input, "and", one, Expr::And)
}

fn joined<'i>(
    input: &mut Input<'i>,
    by: &'static str,
    part: fn(&mut Input<'i>) -> ModalResult<Expr, Wrong>,
    join: fn(Vec<Expr>) -> Expr,
) -> ModalResult<Expr, Wrong> {
    let first = part(input)?;
    let mut parts = vec![first];
    while opt(word(by)).parse_next(input)?.is_some() {
        parts.push(part(input)?);
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
}

fn one(input: &mut Input<'_>) -> ModalResult<Expr, Wrong> {
    multispace0.parse_next(input)?;
    if input.state.depth == DEEPEST {
        let message = format!("the condition is nested deeper than {DEEPEST} parentheses and `not`s");
        return wrong(
            Mistake::error("condition-too-deep", next_word(input), message)
                .label("too deep from here")
                .help("let the game offer the answer as one value, or split the state"),
        );
    }
    input.state.depth += 1;
    let read = if opt(word("not")).parse_next(input)?.is_some() {
        one(input).map(|inner| Expr::Not(Box::new(inner)))
    } else if opt(symbol("(")).parse_next(input)?.is_some() {
        condition(input).and_then(|inner| {
            expect(input, symbol(")"), "`and`, `or` or `)`")?;
            Ok(inner)
        })
    } else if opt(word("chance")).parse_next(input)?.is_some() {
        chance(input)
    } else {
        comparison(input)
    };
    input.state.depth -= 1;
    read
}

fn chance(input: &mut Input<'_>) -> ModalResult<Expr, Wrong> {
    let start = input.previous_token_end() - "chance".len();
    expect(input, symbol("("), "`(` and a chance from 0 to 1")?;
    multispace0.parse_next(input)?;
    let at = next_word(input);
    let Some(p) = opt(number).parse_next(input)? else { return expected(input, "a chance from 0 to 1") };
    if !(0.0..=1.0).contains(&p) {
        let at = at.start..input.previous_token_end();
        return wrong(Mistake::error("chance", at, "a chance is a number from 0 to 1").label("not from 0 to 1"));
    }
    expect(input, symbol(")"), "`)`")?;
    Ok(Expr::Chance { p, span: input.state.map.span(start..input.previous_token_end()) })
}

fn comparison(input: &mut Input<'_>) -> ModalResult<Expr, Wrong> {
    let start = input.current_token_start();
    let left = operand(input, "a value, a number, `not` or `(`")?;
    let Some(op) = opt(operator).parse_next(input)? else {
        return match left {
            Operand::Bool(yes) => Ok(Expr::Bool(yes)),
            Operand::Value(name) => Ok(Expr::Flag(name)),
            Operand::Number(_) | Operand::TimeInState(_) => expected(input, "a comparison such as `<` or `==`"),
        };
    };
    let right = operand(input, "a value or a number to compare with")?;
    let end = input.previous_token_end();
    let before = input.checkpoint();
    multispace0.parse_next(input)?;
    let second = input.current_token_start();
    if opt(operator).parse_next(input)?.is_some() {
        return wrong(
            Mistake::error("condition", second..input.previous_token_end(), "comparisons cannot be chained")
                .label("a second comparison")
                .help("join them by `and`, as in `1 < health and health < 5`"),
        );
    }
    input.reset(&before);
    if !matches!(
        (&left, &right),
        (Operand::Value(_) | Operand::TimeInState(_), _) | (_, Operand::Value(_) | Operand::TimeInState(_))
    ) {
        return wrong(
            Mistake::error("comparison", start..end, "the comparison is always the same")
                .label("neither side is a value")
                .help("name a value of the game on one side"),
        );
    }
    Ok(Expr::Compare { left, op, right })
}

fn operand(input: &mut Input<'_>, what: &'static str) -> ModalResult<Operand, Wrong> {
    multispace0.parse_next(input)?;
    if let Some(number) = opt(number).parse_next(input)? {
        return Ok(Operand::Number(number));
    }
    let before = input.checkpoint();
    let start = input.current_token_start();
    if let Some(text) = opt(name).parse_next(input)? {
        let span = input.state.map.span(start..input.previous_token_end());
        match text {
            "true" => return Ok(Operand::Bool(true)),
            "false" => return Ok(Operand::Bool(false)),
            "time_in_state" => return Ok(Operand::TimeInState(span)),
            "and" | "or" | "not" | "chance" => input.reset(&before),
            _ => return Ok(Operand::Value(Name { text: text.into(), span })),
        }
    }
    expected(input, what)
}

fn operator(input: &mut Input<'_>) -> ModalResult<Comparison, Wrong> {
    preceded(
        multispace0,
        alt((
            "<=".value(Comparison::LessOrEqual),
            ">=".value(Comparison::GreaterOrEqual),
            "==".value(Comparison::Equal),
            "!=".value(Comparison::NotEqual),
            "<".value(Comparison::Less),
            ">".value(Comparison::Greater),
        )),
    )
    .parse_next(input)
}

fn number(input: &mut Input<'_>) -> ModalResult<f64, Wrong> {
    let exponent = (alt(("e", "E")), opt(alt(("+", "-"))), digit1);
    let start = input.current_token_start();
    let text = (opt("-"), digit1, opt((".", digit1)), opt(exponent)).take().parse_next(input)?;
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => {
            let at = start..input.previous_token_end();
            wrong(Mistake::error("condition", at, "the number is too large").label("too large"))
        }
    }
}

fn name<'i>(input: &mut Input<'i>) -> ModalResult<&'i str, Wrong> {
    (take_while(1, begins_name), take_while(0.., continues_name)).take().parse_next(input)
}

/// A word of the grammar: what follows does not make another word of it.
fn word<'i>(word: &'static str) -> impl Parser<Input<'i>, (), ErrMode<Wrong>> {
    preceded(multispace0, name.verify(move |text: &str| text == word)).void()
}

fn symbol<'i>(symbol: &'static str) -> impl Parser<Input<'i>, (), ErrMode<Wrong>> {
    preceded(multispace0, literal(symbol)).void()
}

fn end(input: &mut Input<'_>) -> ModalResult<(), Wrong> {
    multispace0.parse_next(input)?;
    if input.eof_offset() == 0 {
        return Ok(());
    }
    let expected_here = "`and`, `or` or the end";
    let rest: &str = input.input.as_ref();
    if rest.starts_with(begins_name) {
        let help = "write `and` or `or` between two conditions; a name has no spaces in it";
        return wrong(not_expected(input, expected_here).help(help));
    }
    expected(input, expected_here)
}

fn expect<'i>(
    input: &mut Input<'i>,
    parser: impl Parser<Input<'i>, (), ErrMode<Wrong>>,
    what: &'static str,
) -> ModalResult<(), Wrong> {
    if opt(parser).parse_next(input)?.is_some() { Ok(()) } else { expected(input, what) }
}

/// What other languages write, and what it is here. The longer before the shorter.
const MEANT: [(&str, &str); 10] = [
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("&", "write `and`"),
    ("|", "write `or`"),
    ("!", "write `not`"),
    ("=<", "write `<=`"),
    ("=>", "write `>=`"),
    ("=", "write `==`"),
    ("<>", "write `!=`"),
    ("%", "write the number alone"),
];

/// Fails at the next word, with what would have been right there.
fn expected<O>(input: &mut Input<'_>, expected: &'static str) -> ModalResult<O, Wrong> {
    multispace0.parse_next(input)?;
    let rest: &str = input.input.as_ref();
    let help = MEANT.iter().find_map(|(written, help)| rest.starts_with(written).then_some(*help));
    let mistake = not_expected(input, expected);
    wrong(match help {
        Some(help) => mistake.help(help),
        None => mistake,
    })
}

/// What stands next is not what would have been right.
fn not_expected(input: &Input<'_>, expected: &'static str) -> Mistake {
    Mistake::error("condition", next_word(input), format!("expected {expected}"))
}

fn wrong<O>(mistake: Mistake) -> ModalResult<O, Wrong> {
    Err(ErrMode::Cut(Wrong(Some(Box::new(mistake)))))
}

/// The next word or symbol; at the end, the end.
fn next_word(input: &Input<'_>) -> Range<usize> {
    let start = input.current_token_start();
    let rest: &str = input.input.as_ref();
    let mut length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
    if length == 0 {
        length = rest.find(|c| !"&|!=<>".contains(c)).unwrap_or(rest.len());
    }
    if length == 0 {
        length = rest.chars().next().map_or(0, char::len_utf8);
    }
    start..start + length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{SourceMap, parse};
    use crate::definition::expression::{Comparison, Expr, Name, Operand, is_name};

    fn name() -> impl Strategy<Value = Name> {
        "[a-zA-Z_äé][a-z0-9_.ö]{0,8}"
            .prop_filter("a word of the grammar", |text| is_name(text))
            .prop_map(|text| Name { text, span: 0..0 })
    }

    fn comparison() -> impl Strategy<Value = Expr> {
        let number = prop_oneof![any::<i16>().prop_map(f64::from), prop::num::f64::NORMAL];
        let asked = || prop_oneof![3 => name().prop_map(Operand::Value), 1 => Just(Operand::TimeInState(0..0))];
        let other = prop_oneof![2 => number.prop_map(Operand::Number), 1 => any::<bool>().prop_map(Operand::Bool), 1 => asked()];
        let op = prop::sample::select(vec![
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
            Comparison::Equal,
            Comparison::NotEqual,
        ]);
        (asked(), op, other, any::<bool>()).prop_map(|(asked, op, other, is_first)| {
            let (left, right) = if is_first { (asked, other) } else { (other, asked) };
            Expr::Compare { left, op, right }
        })
    }

    fn expr() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![
            1 => any::<bool>().prop_map(Expr::Bool),
            3 => name().prop_map(Expr::Flag),
            3 => comparison(),
            1 => (0.0..=1.0).prop_map(|p| Expr::Chance { p, span: 0..0 }),
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

    /// The same expression, wherever it is written.
    fn bare(expr: Expr) -> Expr {
        let all = |parts: Vec<Expr>| parts.into_iter().map(bare).collect();
        let side = |side| match side {
            Operand::TimeInState(_) => Operand::TimeInState(0..0),
            other => other,
        };
        match expr {
            Expr::Chance { p, .. } => Expr::Chance { p, span: 0..0 },
            Expr::Compare { left, op, right } => Expr::Compare { left: side(left), op, right: side(right) },
            Expr::Not(inner) => Expr::Not(Box::new(bare(*inner))),
            Expr::And(parts) => Expr::And(all(parts)),
            Expr::Or(parts) => Expr::Or(all(parts)),
            other => other,
        }
    }

    fn parsed(text: &str) -> Result<Expr, String> {
        let map = SourceMap::of(text, &format!("'{text}'"), 0);
        parse(text, &map).map(bare).map_err(|mistake| format!("{text}: {mistake:?}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_printed_reads_as_the_same_condition(expr in expr()) {
            prop_assert_eq!(parsed(&expr.to_string()), Ok(expr));
        }

        #[test]
        fn a_condition_of_any_characters_is_read_or_refused_at_a_place_within_it(
            // All that a string in single quotes can hold.
            text in prop_oneof!["[^'\n]{0,60}", r"([()<>=!&|a-c0-9.\- ]|and|or|not|true|chance|time_in_state| ){0,40}"]
        ) {
            let map = SourceMap::of(&text, &format!("'{text}'"), 0);
            if let Err(mistake) = parse(&text, &map) {
                let span = mistake.label.at;
                prop_assert!(span.start <= span.end && span.end <= text.len() + 1, "{:?}", span);
                prop_assert!(text.get(span.start - 1..span.end - 1).is_some(), "{:?}", span);
            }
        }
    }
}
