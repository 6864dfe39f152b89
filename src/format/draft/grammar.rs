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
//! Parentheses may contain a condition or a calculation. The reader decides later which of the two it needs.

use std::ops::Range;

use super::duration::seconds_of;
use super::source_map::SourceMap;
use crate::format::expression::{Comparison, Expr, MOST_TESTS};
use crate::format::name::{begins_name, continues_name};
use crate::format::operand::{Atom, Operand};
use crate::format::problems::Mistake;

mod operand;

/// The maximum number of nested parentheses, `not`s and minus signs.
const DEEPEST: usize = 64;

/// Reads a condition. The place of a mistake is a range in the file.
pub(crate) fn parse(text: &str, map: &SourceMap) -> Result<Expr, Box<Mistake>> {
    let mut reader = ConditionReader { text, map, at: 0, number: 0..0, depth: 0, calculations: 0, tests: 0 };
    reader.whole().map_err(|mistake| Box::new(mistake.moved(|at| map.span(at))))
}

/// Reads a calculation that stands alone. The place of a mistake is a range in the file.
pub(crate) fn parse_sum(text: &str, map: &SourceMap) -> Result<Operand, Box<Mistake>> {
    let mut reader = ConditionReader { text, map, at: 0, number: 0..0, depth: 0, calculations: 0, tests: 0 };
    reader.whole_sum().map_err(|mistake| Box::new(mistake.moved(|at| map.span(at))))
}

type Parsed<O> = Result<O, Box<Mistake>>;

/// Reads a condition from its beginning to its end.
struct ConditionReader<'i> {
    /// The whole condition.
    text: &'i str,
    map: &'i SourceMap,
    /// The end of the last word or sign that has been read.
    at: usize,
    /// The place of the last number that has been read.
    number: Range<usize>,
    depth: usize,
    /// How many calculations have been read, such as `a + b` or `min(a, b)`.
    calculations: usize,
    /// How many comparisons, flags, chances and `in(state)` have been read.
    tests: usize,
}

/// A part that has been read. A name alone is an operand until it turns out to be a flag.
enum Term {
    Condition(Expr),
    Operand(Operand),
}

impl Term {
    /// Returns the term as an operand. Fails for a condition. `at` is its place.
    fn operand(self, at: Range<usize>) -> Parsed<Operand> {
        match self {
            Self::Operand(operand) => Ok(operand),
            Self::Condition(_) => {
                Mistake::error("comparison", at, "a condition cannot be compared, or be part of a calculation")
                    .label("true or false")
                    .help("join conditions by `and`, `or` and `not`")
                    .refuse()
            }
        }
    }
}

/// The rules of the grammar.
impl ConditionReader<'_> {
    fn whole(&mut self) -> Parsed<Expr> {
        let term = self.condition()?;
        let expr = self.as_condition(term)?;
        if self.next() == self.text.len() { Ok(expr) } else { self.expected_end() }
    }

    fn whole_sum(&mut self) -> Parsed<Operand> {
        let start = self.next();
        let term = self.sum("a value or a number")?;
        let is_bool = matches!(term, Term::Condition(_) | Term::Operand(Operand::Atom(Atom::Bool(_))));
        if is_bool || self.operator().is_some() {
            return Mistake::error("comparison", start..self.text.len(), "a number is expected, not a condition")
                .label("true or false")
                .help("write a calculation such as `hunger * 2`; a condition belongs to `when`")
                .refuse();
        }
        let end = self.at;
        if self.next() < self.text.len() {
            self.expected("a sign such as `*`, or the end")
        } else {
            term.operand(start..end)
        }
    }

    fn condition(&mut self) -> Parsed<Term> {
        self.joined("or", Self::all, Expr::Or)
    }

    fn all(&mut self) -> Parsed<Term> {
        self.joined("and", Self::one, Expr::And)
    }

    fn joined(&mut self, by: &str, part: fn(&mut Self) -> Parsed<Term>, join: fn(Vec<Expr>) -> Expr) -> Parsed<Term> {
        let first = part(self)?;
        if !self.takes_word(by) {
            return Ok(first);
        }
        let mut parts = vec![self.as_condition(first)?];
        loop {
            let part = part(self)?;
            parts.push(self.as_condition(part)?);
            if !self.takes_word(by) {
                return Ok(Term::Condition(join(parts)));
            }
        }
    }

    fn one(&mut self) -> Parsed<Term> {
        if !self.takes_word("not") {
            return self.comparison();
        }
        let inner = self.deeper(Self::one)?;
        Ok(Term::Condition(Expr::Not(Box::new(self.as_condition(inner)?))))
    }

    /// Reads a part that is nested in another one.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Term>) -> Parsed<Term> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("the condition is nested deeper than {DEEPEST} parentheses and `not`s");
            return Mistake::error("condition-too-deep", self.next_word(), message)
                .label("too deep from here")
                .help("let the game offer the answer as one value, or split the state")
                .refuse();
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn comparison(&mut self) -> Parsed<Term> {
        let start = self.next();
        let left = self.sum("a value, a number, `not` or `(`")?;
        let left_end = self.at;
        let Some(op) = self.operator() else { return Ok(left) };
        let left = left.operand(start..left_end)?;
        let right_start = self.next();
        let right = self.sum("a value or a number to compare with")?.operand(right_start..self.at)?;
        let (end, second) = (self.at, self.next());
        if self.operator().is_some() {
            return Mistake::error("condition", second..self.at, "comparisons cannot be chained")
                .label("a second comparison")
                .help("join them by `and`, as in `1 < health and health < 5`")
                .refuse();
        }
        if !left.is_read() && !right.is_read() {
            return Mistake::error("comparison", start..end, "the comparison is always the same")
                .label("neither side is a value")
                .help("name a value of the game on one side")
                .refuse();
        }
        self.test(Expr::Compare { left, op, right }).map(Term::Condition)
    }

    fn operator(&mut self) -> Option<Comparison> {
        Comparison::ALL.into_iter().find(|op| self.takes(op.sign()))
    }

    /// Returns the term as a condition. Fails if it cannot be one.
    fn as_condition(&mut self, term: Term) -> Parsed<Expr> {
        match term {
            Term::Condition(expr) => Ok(expr),
            Term::Operand(Operand::Atom(Atom::Bool(yes))) => Ok(Expr::Bool(yes)),
            Term::Operand(Operand::Atom(Atom::Input(flag))) => self.test(Expr::Flag(flag)),
            Term::Operand(_) => self.expected("a comparison such as `<` or `==`"),
        }
    }

    /// Counts a test, and returns it. Fails if there are too many, so that a very long condition is not read to its end.
    fn test(&mut self, test: Expr) -> Parsed<Expr> {
        self.tests += 1;
        if self.tests <= MOST_TESTS {
            return Ok(test);
        }
        let start = self.at - suffix(&self.text[..self.at], continues_name).len();
        let message = format!("the condition asks more than {MOST_TESTS} questions");
        Mistake::error("condition-too-long", start..self.at, message)
            .label("too long from here")
            .help("let the game offer the answer as one value, or split the state")
            .refuse()
    }
}

/// The words and signs of a condition. Each may have spaces before it.
impl<'i> ConditionReader<'i> {
    /// Returns the start of the next word or sign.
    fn next(&self) -> usize {
        self.text.len() - self.text[self.at..].trim_start_matches([' ', '\t', '\r', '\n']).len()
    }

    /// Returns the text from the next word or sign on.
    fn rest(&self) -> &'i str {
        &self.text[self.next()..]
    }

    /// Reads a sign, if it is the next one.
    fn takes(&mut self, sign: &str) -> bool {
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at = self.next() + sign.len();
        }
        is_next
    }

    /// Reads a word of the grammar, if it is the next word.
    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = prefix(self.rest(), continues_name) == word;
        is_next && self.takes(word)
    }

    fn name(&mut self) -> Option<&'i str> {
        let name = prefix(self.rest(), continues_name);
        let is_name = name.starts_with(begins_name);
        (is_name && self.takes(name)).then_some(name)
    }

    fn number(&mut self) -> Parsed<Option<f64>> {
        let start = self.next();
        let digits = |at: usize| prefix(&self.text[at..], |c| c.is_ascii_digit()).len();
        let begin = start + usize::from(self.text[start..].starts_with('-'));
        let mut end = begin + digits(begin);
        if end == begin {
            return Ok(None);
        }
        if self.text[end..].starts_with('.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if let Some(exponent) = self.text[end..].strip_prefix(['e', 'E']) {
            let exponent = self.text.len() - exponent.strip_prefix(['+', '-']).unwrap_or(exponent).len();
            if digits(exponent) > 0 {
                end = exponent + digits(exponent);
            }
        }
        self.at = end;
        self.number = start..end;
        match self.text[start..end].parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => Mistake::error("condition", start..end, "the number is too large").label("too large").refuse(),
        }
    }

    fn expect(&mut self, sign: &str, what: &str) -> Parsed<()> {
        if self.takes(sign) { Ok(()) } else { self.expected(what) }
    }
}

/// Mistakes at the next word, with suggestions.
impl ConditionReader<'_> {
    fn expected_end<O>(&self) -> Parsed<O> {
        let rest = self.rest();
        if !rest.starts_with(begins_name) {
            return self.expected("`and`, `or` or the end");
        }
        let folded = prefix(rest, continues_name).to_lowercase();
        let help = if matches!(folded.as_str(), "and" | "or" | "not") {
            format!("write `{folded}`")
        } else if let Some(help) = self.behind_number().or_else(|| self.behind_if()) {
            help
        } else {
            "write `and` or `or` between two conditions; a name has no spaces in it".into()
        };
        self.not_expected("`and`, `or` or the end").help(help).refuse()
    }

    fn expected<O>(&self, expected: &str) -> Parsed<O> {
        let is_next = |(written, _): &&(&[&str], &str)| written.iter().any(|sign| self.rest().starts_with(sign));
        let meant = || MEANT.iter().find(is_next).map(|(_, help)| (*help).to_owned());
        // `MEANT` comes last, because it has a `%`, which may belong to a number.
        let help = self.behind_number().or_else(|| self.behind_word()).or_else(meant);
        Mistake { help, ..self.not_expected(expected) }.refuse()
    }

    fn not_expected(&self, expected: &str) -> Mistake {
        Mistake::error("condition", self.next_word(), format!("expected {expected}"))
    }

    /// Returns the help for a sign that is wrong after the word or sign before it, as in `round(x)` or `x <> 1`.
    fn behind_word(&self) -> Option<String> {
        let until = self.text[..self.at].trim_end();
        if self.rest().starts_with('>') && until.ends_with('<') {
            return Some("write `!=`".into());
        }
        let word = suffix(until, continues_name);
        let is_call = self.rest().starts_with('(') && word.starts_with(begins_name);
        is_call.then(|| {
            format!("there is no function `{word}`: there are `min`, `max`, `abs`, and what the game offers as values")
        })
    }

    /// Returns the help for a condition that begins with a word of another language, as in `if x > 3`.
    fn behind_if(&self) -> Option<String> {
        let word = self.text[..self.at].trim().to_lowercase();
        let meant = match word.as_str() {
            "if" | "when" | "while" => self.rest().to_owned(),
            "unless" => format!("not ({})", self.rest()),
            _ => return None,
        };
        let meant = meant.split_once(" then ").map_or(&*meant, |(condition, _)| condition);
        Some(format!("a condition has no `{word}`: write `{}`", meant.trim_end()))
    }

    /// Returns the help for a sign or a word after a number, as in `0,2`, `10%`, `200ms`, `0x10` or `10_000`.
    fn behind_number(&self) -> Option<String> {
        if self.number.end != self.at {
            return None;
        }
        let (number, rest) = (&self.text[self.number.clone()], self.rest());
        let parsed = number.parse::<f64>().ok()?;
        let is_joined = self.next() == self.at;
        let radix =
            [("x", 16), ("o", 8), ("b", 2)].into_iter().find(|(sign, _)| number == "0" && rest.starts_with(sign));
        if let Some((_, radix)) = radix.filter(|_| is_joined) {
            let digits = prefix(&rest[1..], |c| c.is_digit(radix) || c == '_').replace('_', "");
            return Some(format!("write `{}`: numbers are decimal", i64::from_str_radix(&digits, radix).ok()?));
        }
        if rest.starts_with('_') && is_joined {
            let digits = prefix(rest, |c| c.is_ascii_digit() || c == '_').replace('_', "");
            return Some(format!("write `{number}{digits}`: a number has no `_`"));
        }
        if let Some(part) = rest.strip_prefix(',').filter(|_| is_joined) {
            let part = prefix(part, |c| c.is_ascii_digit());
            // `1,000` is probably a thousand, but `0,125` is not.
            let is_group = part.len() == 3 && number != "0";
            let (sign, why) = if is_group { ("", ": a number has no `,`") } else { (".", "") };
            return (!part.is_empty()).then(|| format!("write `{number}{sign}{part}`{why}"));
        }
        if rest.starts_with('%') {
            return Some(format!("write the number alone: `{number}`, or `{}` where 1 is the whole", parsed / 100.0));
        }
        let unit = prefix(rest, char::is_alphabetic);
        if matches!(unit, "tick" | "ticks") {
            return Some("times are in seconds in a condition: divide by the ticks of a second, or use `after`".into());
        }
        let seconds = seconds_of(unit)? * parsed;
        Some(format!("times are in seconds in a condition: write `{seconds}`"))
    }

    /// Returns the range of the next word or sign. At the end of the text, it is empty.
    fn next_word(&self) -> Range<usize> {
        let (start, rest) = (self.next(), self.rest());
        let word = prefix(rest, continues_name).len().max(prefix(rest, |c| "&|!=<>".contains(c)).len());
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        start..start + length
    }
}

/// Signs of other languages, with the help for each. A sign comes before the signs that it begins with.
const MEANT: [(&[&str], &str); 17] = [
    (&["`"], "remove the backticks: names of values stand alone"),
    (&["\u{a0}"], "this is a non-breaking space: write a plain space"),
    (&["**", "^"], "there are no powers: write `x * x`, or let the game offer the result as a value"),
    (&["%"], "there is no remainder: let the game offer the result as a value"),
    (&["?"], "there is no choice between two results: let the game offer the result as a value"),
    (&["&"], "write `and`"),
    (&["|"], "write `or`"),
    (&["!"], "write `not`"),
    (&["=<", "≤"], "write `<=`"),
    (&["=>", "≥"], "write `>=`"),
    (&["="], "write `==`"),
    (&["<>", "≠"], "write `!=`"),
    (&["×", "·"], "write `*`"),
    (&["÷"], "write `/`"),
    (&["−", "–"], "write `-`"),
    (&["{", "["], "write `(`"),
    (&["“", "\"", "'"], "remove the quotes: only the names of states with spaces have some"),
];

/// Returns the leading characters of a kind.
fn prefix(text: &str, is_of_kind: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !is_of_kind(c)).unwrap_or(text.len())]
}

/// Returns the trailing characters of a kind.
fn suffix(text: &str, is_of_kind: impl Fn(char) -> bool) -> &str {
    &text[text.trim_end_matches(is_of_kind).len()..]
}

#[cfg(test)]
mod tests;
