//! The grammar of conditions.
//!
//! ```text
//! condition  = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | sum [ comparison sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = factor { ( "*" | "/" ) factor }
//! factor     = "-" factor | "(" condition ")" | number | "true" | "false" | "time_in_state" | name
//!            | "message." name | ( "min" | "max" ) "(" sum "," sum ")" | "abs" "(" sum ")"
//!            | ( "chance" | "chance_per_second" ) "(" number ")" | ( "in" | "time_in" ) "(" state ")"
//! comparison = "<" | "<=" | ">" | ">=" | "==" | "!="
//! ```
//!
//! What stands in parentheses may be a condition or a number: which of them, is seen where it is used.

use std::ops::Range;

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, opt, preceded};
use winnow::error::{ErrMode, ParserError};
use winnow::stream::{LocatingSlice, Location, Stateful, Stream};
use winnow::token::{literal, take_while};
use winnow::{ModalResult, Parser};

use super::duration::seconds_of;
use super::source_map::SourceMap;
use crate::format::expression::{Comparison, Expr, MOST_TESTS};
use crate::format::name::{begins_name, continues_name};
use crate::format::operand::Operand;
use crate::format::problems::mistake::Mistake;

mod operand;

/// How deep parentheses and `not`s may be nested.
const DEEPEST: usize = 64;

/// Reads a condition. A mistake in it is at its place in the file.
pub(crate) fn parse(text: &str, map: &SourceMap) -> Result<Expr, Box<Mistake>> {
    let mut input =
        Input { input: LocatingSlice::new(text), state: Nesting { map, text, depth: 0, calculations: 0, tests: 0 } };
    let read = condition(&mut input).and_then(|term| term.condition(&mut input));
    let read = read.and_then(|expr| end(&mut input).map(|()| expr));
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
    /// The whole condition.
    text: &'i str,
    depth: usize,
    /// How many calculations it has read.
    calculations: usize,
    /// How many comparisons, flags, chances and states.
    tests: usize,
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

/// What has been read: a condition, or a side of a comparison.
enum Term {
    Condition(Expr),
    Operand(Operand),
}

impl Term {
    /// As a condition, where it may be one.
    fn condition(self, input: &mut Input<'_>) -> ModalResult<Expr, Wrong> {
        match self {
            Self::Condition(expr) => Ok(expr),
            Self::Operand(Operand::Bool(yes)) => Ok(Expr::Bool(yes)),
            Self::Operand(Operand::Value(name)) => test(input, Expr::Flag(name)),
            Self::Operand(Operand::Field(name)) => test(input, Expr::FieldFlag(name)),
            Self::Operand(_) => expected(input, "a comparison such as `<` or `==`"),
        }
    }

    /// As a number, where it may be one; `at` is where it stands.
    fn operand(self, at: Range<usize>) -> ModalResult<Operand, Wrong> {
        match self {
            Self::Operand(operand) => Ok(operand),
            Self::Condition(_) => wrong(
                Mistake::error("comparison", at, "a condition cannot be compared, or be part of a calculation")
                    .label("true or false")
                    .help("join conditions by `and`, `or` and `not`"),
            ),
        }
    }
}

fn condition(input: &mut Input<'_>) -> ModalResult<Term, Wrong> {
    joined(input, "or", all, Expr::Or)
}

fn all(input: &mut Input<'_>) -> ModalResult<Term, Wrong> {
    joined(input, "and", one, Expr::And)
}

fn joined<'i>(
    input: &mut Input<'i>,
    by: &'static str,
    part: fn(&mut Input<'i>) -> ModalResult<Term, Wrong>,
    join: fn(Vec<Expr>) -> Expr,
) -> ModalResult<Term, Wrong> {
    let first = part(input)?;
    if opt(word(by)).parse_next(input)?.is_none() {
        return Ok(first);
    }
    let mut parts = vec![first.condition(input)?];
    loop {
        let part = part(input)?;
        parts.push(part.condition(input)?);
        if opt(word(by)).parse_next(input)?.is_none() {
            return Ok(Term::Condition(join(parts)));
        }
    }
}

fn one(input: &mut Input<'_>) -> ModalResult<Term, Wrong> {
    if opt(word("not")).parse_next(input)?.is_none() {
        return comparison(input);
    }
    let inner = deeper(input, one)?;
    Ok(Term::Condition(Expr::Not(Box::new(inner.condition(input)?))))
}

/// What is nested in something else.
fn deeper<'i, O>(
    input: &mut Input<'i>,
    read: impl FnOnce(&mut Input<'i>) -> ModalResult<O, Wrong>,
) -> ModalResult<O, Wrong> {
    multispace0.parse_next(input)?;
    input.state.depth += 1;
    if input.state.depth == DEEPEST {
        let message = format!("the condition is nested deeper than {DEEPEST} parentheses and `not`s");
        return wrong(
            Mistake::error("condition-too-deep", next_word(input), message)
                .label("too deep from here")
                .help("let the game offer the answer as one value, or split the state"),
        );
    }
    let read = read(input);
    input.state.depth -= 1;
    read
}

fn comparison(input: &mut Input<'_>) -> ModalResult<Term, Wrong> {
    multispace0.parse_next(input)?;
    let start = input.current_token_start();
    let left = operand::sum(input, "a value, a number, `not` or `(`")?;
    let left_end = input.previous_token_end();
    let Some(op) = opt(operator).parse_next(input)? else { return Ok(left) };
    let left = left.operand(start..left_end)?;
    multispace0.parse_next(input)?;
    let right_start = input.current_token_start();
    let right = operand::sum(input, "a value or a number to compare with")?;
    let end = input.previous_token_end();
    let right = right.operand(right_start..end)?;
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
    if !left.is_read() && !right.is_read() {
        return wrong(
            Mistake::error("comparison", start..end, "the comparison is always the same")
                .label("neither side is a value")
                .help("name a value of the game on one side"),
        );
    }
    test(input, Expr::Compare { left, op, right }).map(Term::Condition)
}

/// Counts what a condition asks: what is too long is not read to its end.
fn test(input: &mut Input<'_>, test: Expr) -> ModalResult<Expr, Wrong> {
    input.state.tests += 1;
    if input.state.tests <= MOST_TESTS {
        return Ok(test);
    }
    let at = input.previous_token_end();
    let start = input.state.text[..at].trim_end().rfind(|c| !continues_name(c)).map_or(0, |before| before + 1);
    let start = (start..=at).find(|start| input.state.text.is_char_boundary(*start)).unwrap_or(at);
    wrong(
        Mistake::error("condition-too-long", start..at, format!("the condition asks more than {MOST_TESTS} questions"))
            .label("too long from here")
            .help("let the game offer the answer as one value, or split the state"),
    )
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
    let (start, before) = (input.checkpoint(), input.previous_token_end());
    multispace0.parse_next(input)?;
    if input.eof_offset() == 0 {
        return Ok(());
    }
    let expected_here = "`and`, `or` or the end";
    let rest: &str = input.input.as_ref();
    if rest.starts_with(begins_name) {
        let word = &rest[..rest.find(|c| !continues_name(c)).unwrap_or(rest.len())];
        let folded = word.to_lowercase();
        if matches!(folded.as_str(), "and" | "or" | "not") {
            return wrong(not_expected(input, expected_here).help(format!("write `{folded}`")));
        }
        if let Some(help) = behind_number(input, before) {
            return wrong(not_expected(input, expected_here).help(help));
        }
        let help = "write `and` or `or` between two conditions; a name has no spaces in it";
        return wrong(not_expected(input, expected_here).help(help));
    }
    input.reset(&start);
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
const MEANT: [(&str, &str); 28] = [
    ("`", "remove the backticks: names of values stand alone"),
    ("\u{a0}", "this is a non-breaking space: write a plain space"),
    ("**", "there are no powers: write `x * x`, or let the game offer the result as a value"),
    ("^", "there are no powers: write `x * x`, or let the game offer the result as a value"),
    ("%", "there is no remainder: let the game offer the result as a value"),
    ("?", "there is no choice between two results: let the game offer the result as a value"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("&", "write `and`"),
    ("|", "write `or`"),
    ("!", "write `not`"),
    ("=<", "write `<=`"),
    ("=>", "write `>=`"),
    ("=", "write `==`"),
    ("<>", "write `!=`"),
    ("≤", "write `<=`"),
    ("≥", "write `>=`"),
    ("≠", "write `!=`"),
    ("×", "write `*`"),
    ("·", "write `*`"),
    ("÷", "write `/`"),
    ("−", "write `-`"),
    ("–", "write `-`"),
    ("{", "write `(`"),
    ("[", "write `(`"),
    ("“", "remove the quotes: only the names of states with spaces have some"),
    ("\"", "remove the quotes: only the names of states with spaces have some"),
    ("'", "remove the quotes: only the names of states with spaces have some"),
];

/// Fails at the next word, with what would have been right there.
fn expected<O>(input: &mut Input<'_>, expected: &'static str) -> ModalResult<O, Wrong> {
    let before = input.previous_token_end();
    multispace0.parse_next(input)?;
    let rest: &str = input.input.as_ref();
    let meant = MEANT.iter().find_map(|(written, help)| rest.starts_with(written).then(|| (*help).to_owned()));
    // A `%` may be that of a number.
    let help = behind_number(input, before).or_else(|| behind_word(input, before)).or(meant);
    let mistake = not_expected(input, expected);
    wrong(match help {
        Some(help) => mistake.help(help),
        None => mistake,
    })
}

/// What was meant by what stands behind a word or a sign that ends at `before`: `round(x)`, `x <> 1`.
fn behind_word(input: &Input<'_>, before: usize) -> Option<String> {
    let until = input.state.text[..before].trim_end();
    let rest: &str = input.input.as_ref();
    if rest.starts_with('>') && until.ends_with('<') {
        return Some("write `!=`".into());
    }
    let word = &until[until.trim_end_matches(continues_name).len()..];
    let is_call = rest.starts_with('(') && word.starts_with(begins_name);
    is_call.then(|| {
        format!("there is no function `{word}`: there are `min`, `max`, `abs`, and what the game offers as values")
    })
}

/// What was meant by what stands behind a number that ends at `before`: `0,2`, `10%`, `200ms`.
fn behind_number(input: &Input<'_>, before: usize) -> Option<String> {
    let until = input.state.text[..before].trim_end();
    let number = &until[until.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len()..];
    let parsed = number.parse::<f64>().ok()?;
    let rest: &str = input.input.as_ref();
    let is_adjacent = input.current_token_start() == until.len();
    if let Some(part) = rest.strip_prefix(',').filter(|_| is_adjacent) {
        let part = &part[..part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len())];
        return (!part.is_empty()).then(|| format!("write `{number}.{part}`"));
    }
    if rest.starts_with('%') {
        return Some(format!("write the number alone: `{number}`, or `{}` where 1 is the whole", parsed / 100.0));
    }
    let unit = &rest[..rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())];
    if matches!(unit, "tick" | "ticks") {
        return Some("times are in seconds in a condition: divide by the ticks of a second, or use `after`".into());
    }
    let seconds = seconds_of(unit)? * parsed;
    Some(format!("times are in seconds in a condition: write `{seconds}`"))
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
mod tests;
