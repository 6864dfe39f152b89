//! The sides of comparisons: numbers, values, and what is calculated from them.

use std::ops::Range;

use winnow::combinator::opt;
use winnow::stream::{Location, Stream};
use winnow::token::{literal, take_while};
use winnow::{ModalResult, Parser};

use super::{
    Input, Term, Wrong, condition, deeper, expect, expected, multispace0, name, next_word, number, symbol, test, wrong,
};
use crate::format::expression::{Expr, OF_MESSAGE};
use crate::format::name::Name;
use crate::format::operand::{Arithmetic, FUNCTIONS, Function, Operand};
use crate::format::problems::mistake::Mistake;

/// The most calculations in one condition.
const MOST_CALCULATIONS: usize = 200;

/// `what` is said to be expected where nothing of the kind stands.
pub(super) fn sum(input: &mut Input<'_>, what: &'static str) -> ModalResult<Term, Wrong> {
    chain(input, what, product, [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)])
}

fn product(input: &mut Input<'_>, what: &'static str) -> ModalResult<Term, Wrong> {
    chain(input, what, factor, [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)])
}

fn chain<'i>(
    input: &mut Input<'i>,
    what: &'static str,
    part: fn(&mut Input<'i>, &'static str) -> ModalResult<Term, Wrong>,
    signs: [(&'static str, Arithmetic); 2],
) -> ModalResult<Term, Wrong> {
    multispace0.parse_next(input)?;
    let start = input.current_token_start();
    let mut term = part(input, what)?;
    loop {
        let left_end = input.previous_token_end();
        let mut by = None;
        for (sign, arithmetic) in signs {
            if by.is_none() && opt(symbol(sign)).parse_next(input)?.is_some() {
                by = Some(arithmetic);
            }
        }
        let Some(by) = by else { return Ok(term) };
        let left = calculable(term, start..left_end)?;
        multispace0.parse_next(input)?;
        let right_start = input.current_token_start();
        let right = part(input, "a value or a number")?;
        let right = calculable(right, right_start..input.previous_token_end())?;
        count(input, start)?;
        term = Term::Operand(Operand::Calculation(Box::new(left), by, Box::new(right)));
    }
}

/// Counts a calculation that begins at `start`.
fn count(input: &mut Input<'_>, start: usize) -> ModalResult<(), Wrong> {
    input.state.calculations += 1;
    if input.state.calculations <= MOST_CALCULATIONS {
        return Ok(());
    }
    let message = format!("the condition has more than {MOST_CALCULATIONS} calculations");
    wrong(
        Mistake::error("condition-too-long", start..input.previous_token_end(), message)
            .label("too long")
            .help("let the game offer the result as one value"),
    )
}

/// A number, or what may be one.
fn calculable(term: Term, at: Range<usize>) -> ModalResult<Operand, Wrong> {
    match term.operand(at.clone())? {
        Operand::Bool(yes) => wrong(
            Mistake::error("comparison", at, format!("`{yes}` is not a number to calculate with"))
                .label("true or false"),
        ),
        operand => Ok(operand),
    }
}

fn factor(input: &mut Input<'_>, what: &'static str) -> ModalResult<Term, Wrong> {
    multispace0.parse_next(input)?;
    if let Some(number) = opt(number).parse_next(input)? {
        return Ok(Term::Operand(Operand::Number(number)));
    }
    let start = input.current_token_start();
    if opt(symbol("-")).parse_next(input)?.is_some() {
        let inner = deeper(input, |input| factor(input, "a value or a number"))?;
        let inner = calculable(inner, start..input.previous_token_end())?;
        return Ok(Term::Operand(match inner {
            Operand::Number(number) => Operand::Number(-number),
            inner => Operand::Negative(Box::new(inner)),
        }));
    }
    if opt(symbol("(")).parse_next(input)?.is_some() {
        let inner = deeper(input, condition)?;
        expect(input, symbol(")"), "`and`, `or` or `)`")?;
        return Ok(inner);
    }
    let before = input.checkpoint();
    let Some(text) = opt(name).parse_next(input)? else { return expected(input, what) };
    let end = input.previous_token_end();
    let span = input.state.map.span(start..end);
    let is_call = {
        let behind = input.checkpoint();
        let is_call = opt(symbol("(")).parse_next(input)?.is_some();
        input.reset(&behind);
        is_call
    };
    Ok(Term::Operand(match text {
        "true" => Operand::Bool(true),
        "false" => Operand::Bool(false),
        "time_in_state" => Operand::TimeInState(span),
        "chance" => return chance(input, start, false).map(Term::Condition),
        "chance_per_second" if is_call => return chance(input, start, true).map(Term::Condition),
        "in" if is_call => {
            let asked = Expr::In(state(input)?);
            return test(input, asked).map(Term::Condition);
        }
        "time_in" if is_call => Operand::TimeIn(state(input)?),
        "and" | "or" | "not" => {
            input.reset(&before);
            return expected(input, what);
        }
        text => match FUNCTIONS.into_iter().find(|function| is_call && function.name() == text) {
            Some(function) => call(input, function, start)?,
            None => match text.strip_prefix(OF_MESSAGE) {
                Some(field) => Operand::Field(Name { text: field.into(), span }),
                None => Operand::Value(Name { text: text.into(), span }),
            },
        },
    }))
}

fn call(input: &mut Input<'_>, function: Function, start: usize) -> ModalResult<Operand, Wrong> {
    expect(input, symbol("("), "`(`")?;
    let mut arguments = Vec::new();
    for nth in 0..function.takes() {
        if nth > 0 {
            expect(input, symbol(","), "`,` and a second number")?;
        }
        multispace0.parse_next(input)?;
        let at = input.current_token_start();
        let argument = deeper(input, |input| sum(input, "a value or a number"))?;
        arguments.push(calculable(argument, at..input.previous_token_end())?);
    }
    expect(input, symbol(")"), "`)`")?;
    count(input, start)?;
    Ok(Operand::Call(function, arguments))
}

fn chance(input: &mut Input<'_>, start: usize, per_second: bool) -> ModalResult<Expr, Wrong> {
    expect(input, symbol("("), "`(` and a chance from 0 to 1")?;
    multispace0.parse_next(input)?;
    let at = next_word(input);
    let Some(p) = opt(number).parse_next(input)? else { return expected(input, "a chance from 0 to 1") };
    if !(0.0..=1.0).contains(&p) {
        let at = at.start..input.previous_token_end();
        let mistake = Mistake::error("chance", at, "a chance is a number from 0 to 1").label("not from 0 to 1");
        return wrong(if (1.0..=100.0).contains(&p) {
            mistake.help(format!("{p} percent are `{}`", p / 100.0))
        } else {
            mistake
        });
    }
    expect(input, symbol(")"), "`)`")?;
    let span = input.state.map.span(start..input.previous_token_end());
    test(input, Expr::Chance { p, per_second, span })
}

/// The name of a state in parentheses, as a word or in quotes.
fn state(input: &mut Input<'_>) -> ModalResult<Name, Wrong> {
    expect(input, symbol("("), "`(`")?;
    multispace0.parse_next(input)?;
    let start = input.current_token_start();
    let mut text = None;
    for quote in ["\"", "'"] {
        if text.is_none() && opt(literal(quote)).parse_next(input)?.is_some() {
            text = Some(take_while(0.., |c| !quote.contains(c)).parse_next(input)?);
            expect(input, symbol(quote), "a closing quote")?;
        }
    }
    let text = match text {
        Some(text) => text,
        None => match opt(name).parse_next(input)? {
            Some(text) => text,
            None => return expected(input, "the name of a state"),
        },
    };
    let span = input.state.map.span(start..input.previous_token_end());
    expect(input, symbol(")"), "`)`; a name with spaces is written in quotes")?;
    Ok(Name { text: text.into(), span })
}
