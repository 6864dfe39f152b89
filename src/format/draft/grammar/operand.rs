//! Parses the sides of comparisons: numbers, values and calculations.

use std::ops::Range;

use super::{ConditionReader, Parsed, Term, prefix};
use crate::format::expression::Expr;
use crate::format::name::Name;
use crate::format::operand::{Arithmetic, Atom, FUNCTIONS, Function, Input, OF_MESSAGE, Operand};
use crate::format::problems::Mistake;

/// The maximum number of calculations in one condition. Each operator and each call of a function is one.
const MOST_CALCULATIONS: usize = 200;

impl ConditionReader<'_> {
    /// Reads a sum. If there is none, the error says that `what` is expected.
    pub(super) fn sum(&mut self, what: &str) -> Parsed<Term> {
        self.chain(what, Self::product, [Arithmetic::Add, Arithmetic::Subtract])
    }

    fn product(&mut self, what: &str) -> Parsed<Term> {
        self.chain(what, Self::factor, [Arithmetic::Multiply, Arithmetic::Divide])
    }

    fn chain(
        &mut self,
        what: &str,
        part: fn(&mut Self, &str) -> Parsed<Term>,
        calculations: [Arithmetic; 2],
    ) -> Parsed<Term> {
        let start = self.next();
        let mut term = part(self, what)?;
        loop {
            let left_end = self.at;
            let by = calculations.into_iter().find(|by| self.takes(by.sign()));
            let Some(by) = by else { return Ok(term) };
            let left = calculable(term, start..left_end)?;
            let right_start = self.next();
            let right = part(self, "a value or a number")?;
            let right = calculable(right, right_start..self.at)?;
            self.count(start)?;
            term = Term::Operand(Operand::Binary(Box::new(left), by, Box::new(right)));
        }
    }

    /// Counts a calculation that begins at `start`.
    fn count(&mut self, start: usize) -> Parsed<()> {
        self.calculations += 1;
        if self.calculations <= MOST_CALCULATIONS {
            return Ok(());
        }
        let message = format!("the condition has more than {MOST_CALCULATIONS} calculations");
        Mistake::error("condition-too-long", start..self.at, message)
            .label("too long")
            .help("let the game offer the result as one value")
            .refuse()
    }

    fn factor(&mut self, what: &str) -> Parsed<Term> {
        if let Some(number) = self.number()? {
            return Ok(Term::Operand(Atom::Number(number).into()));
        }
        let start = self.next();
        if self.takes("-") {
            let inner = self.deeper(|reader| reader.factor("a value or a number"))?;
            return Ok(Term::Operand(match calculable(inner, start..self.at)? {
                Operand::Atom(Atom::Number(number)) => Atom::Number(-number).into(),
                inner => Operand::Negative(Box::new(inner)),
            }));
        }
        if self.takes("(") {
            let inner = self.deeper(Self::condition)?;
            self.expect(")", "`and`, `or` or `)`")?;
            return Ok(inner);
        }
        let before = self.at;
        let Some(text) = self.name() else { return self.expected(what) };
        let span = self.map.span(start..self.at);
        let is_call = self.rest().starts_with('(');
        let atom = match text {
            "true" => Atom::Bool(true),
            "false" => Atom::Bool(false),
            "time_in_state" => Atom::TimeInState(span),
            "chance" => return self.chance(start, false).map(Term::Condition),
            "chance_per_second" if is_call => return self.chance(start, true).map(Term::Condition),
            "in" if is_call => {
                let asked = Expr::In(self.state()?);
                return self.test(asked).map(Term::Condition);
            }
            "time_in" if is_call => Atom::TimeIn(self.state()?),
            "and" | "or" | "not" => {
                self.at = before;
                return self.expected(what);
            }
            text => {
                if let Some(function) = FUNCTIONS.into_iter().find(|function| is_call && function.name() == text) {
                    return self.call(function, start).map(Term::Operand);
                }
                let field = text.strip_prefix(OF_MESSAGE);
                let name = Name { text: field.unwrap_or(text).into(), span };
                Atom::Input(Input { name, is_field: field.is_some() })
            }
        };
        Ok(Term::Operand(atom.into()))
    }

    fn call(&mut self, function: Function, start: usize) -> Parsed<Operand> {
        self.expect("(", "`(`")?;
        let mut arguments = Vec::new();
        for nth in 0..function.takes() {
            if nth > 0 {
                self.expect(",", "`,` and a second number")?;
            }
            let at = self.next();
            let argument = self.deeper(|reader| reader.sum("a value or a number"))?;
            arguments.push(calculable(argument, at..self.at)?);
        }
        self.expect(")", "`)`")?;
        self.count(start)?;
        Ok(Operand::Call(function, arguments))
    }

    fn chance(&mut self, start: usize, per_second: bool) -> Parsed<Expr> {
        self.expect("(", "`(` and a chance from 0 to 1")?;
        let at = self.next();
        let Some(p) = self.number()? else { return self.expected("a chance from 0 to 1") };
        if !(0.0..=1.0).contains(&p) {
            let help = (1.0..=100.0).contains(&p).then(|| format!("{p} percent are `{}`", p / 100.0));
            let mistake = Mistake::error("chance", at..self.at, "a chance is a number from 0 to 1");
            return Mistake { help, ..mistake.label("not from 0 to 1") }.refuse();
        }
        self.expect(")", "`)`")?;
        let span = self.map.span(start..self.at);
        self.test(Expr::Chance { p, per_second, span })
    }

    /// Reads the name of a state in parentheses, as a word or in quotes.
    fn state(&mut self) -> Parsed<Name> {
        self.expect("(", "`(`")?;
        let start = self.next();
        let text = if let Some(quote) = ["\"", "'"].into_iter().find(|quote| self.takes(quote)) {
            let text = prefix(&self.text[self.at..], |c| !quote.contains(c));
            self.at += text.len();
            self.expect(quote, "a closing quote")?;
            text
        } else if let Some(text) = self.name() {
            text
        } else {
            return self.expected("the name of a state");
        };
        let span = self.map.span(start..self.at);
        self.expect(")", "`)`; a name with spaces is written in quotes")?;
        Ok(Name { text: text.into(), span })
    }
}

/// Returns the term as an operand of a calculation. Fails if it cannot be a number.
fn calculable(term: Term, at: Range<usize>) -> Parsed<Operand> {
    match term.operand(at.clone())? {
        Operand::Atom(Atom::Bool(yes)) => {
            Mistake::error("comparison", at, format!("`{yes}` is not a number to calculate with"))
                .label("true or false")
                .refuse()
        }
        operand => Ok(operand),
    }
}
