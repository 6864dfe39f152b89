//! Why an owner leaves its state, or why it stays: each exit's condition, with what it asked and what it was told.

use std::fmt;

use super::Definition;
use super::condition::flag_compared;
use super::expression::{Expr, Operand};
use super::outline::When;
use super::vocabulary::Value;
use crate::owner::Owner;
use crate::state::StateRef;

/// What one exit's condition comes to for an owner, as [`Definition::explain`] tells it.
///
/// Displayed as `to flee: no: health < 20 (health = 35)`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExitReport {
    /// The state that the exit is written in: the owner's, or one around it, or the global one.
    pub of: String,
    /// The state that it leads to.
    pub to: String,
    /// The message that it waits for.
    pub on: Option<String>,
    /// Whether its condition holds. `None` where a script answers.
    pub holds: Option<bool>,
    /// Whether what it leads to lets the owner in. `None` where a script answers.
    pub admits: Option<bool>,
    /// What it asked, as far as it had to, and what it was told.
    pub questions: Vec<Question>,
}

/// A part of a condition, and the answer to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// As it is written: `health < 20`.
    pub text: String,
    /// What was read: `health = 35`. Empty where the text says it all.
    pub read: String,
    /// What that makes of it.
    pub answer: Answer,
}

/// The answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// Only a script can tell.
    Unknown,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to {}", self.to)?;
        if let Some(on) = &self.on {
            write!(f, " on {on}")?;
        }
        match (self.holds, self.admits) {
            (Some(false), _) => f.write_str(": no")?,
            (_, Some(false)) => f.write_str(": not admitted")?,
            (None, _) | (_, None) => f.write_str(": a script decides")?,
            (Some(true), Some(true)) if self.on.is_some() => f.write_str(": not told yet")?,
            (Some(true), Some(true)) => f.write_str(": yes")?,
        }
        for (i, question) in self.questions.iter().enumerate() {
            f.write_str(if i == 0 { ": " } else { ", " })?;
            fmt::Display::fmt(question, f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if !self.read.is_empty() {
            write!(f, " ({})", self.read)?;
        }
        f.write_str(match self.answer {
            Answer::Yes => " holds",
            Answer::No => " does not",
            Answer::Unknown => " is for a script to say",
        })
    }
}

impl<T: Owner> Definition<T> {
    /// Tells what each exit of a state comes to for an owner that has been in it for `time_in_state` seconds: what was
    /// asked, what was read, what that makes of it. First the exits that are tried in each update, in that order: the global
    /// state's, then from the outermost state's to its own. Then those that wait for a message.
    ///
    /// For tools and for the log; it allocates. A `chance` is drawn, as an update would draw it.
    pub fn explain(
        &self,
        state: &StateRef<T>,
        owner: &mut T,
        time_in_state: f64,
        cx: &mut T::Context<'_>,
    ) -> Vec<ExitReport> {
        let reading = self.reading();
        let outline = &reading.outline;
        let Some(&place) = reading.by_name.get(&*state.name()) else { return Vec::new() };
        let mut reports = Vec::new();
        let asked = || outline.global.into_iter().chain(outline.path(place));
        for (of, waits) in asked().map(|of| (of, false)).chain(asked().map(|of| (of, true))) {
            for exit in outline.states[of].exits.iter().filter(|exit| exit.on.is_some() == waits) {
                let mut questions = Vec::new();
                let mut ask = |when: Option<&When>, owner: &mut T, cx: &mut T::Context<'_>| match when {
                    None => Answer::Yes,
                    Some(When::Script(script)) => {
                        let text = format!("script {}", script.text);
                        questions.push(Question { text, read: String::new(), answer: Answer::Unknown });
                        Answer::Unknown
                    }
                    Some(When::Expr { expr, .. }) => {
                        let mut asking = Asking { definition: self, time_in_state, questions: &mut questions };
                        asking.ask(expr, owner, cx).into()
                    }
                };
                let holds = ask(exit.when.as_ref(), owner, cx);
                let mut admits = Answer::Yes;
                if holds != Answer::No {
                    let target = &outline.states[exit.to];
                    admits = ask(target.enter_when.as_ref(), owner, cx);
                }
                let known = |answer| match answer {
                    Answer::Yes => Some(true),
                    Answer::No => Some(false),
                    Answer::Unknown => None,
                };
                reports.push(ExitReport {
                    of: outline.states[of].name.clone(),
                    to: outline.states[exit.to].name.clone(),
                    on: exit.on.as_ref().map(|on| on.text.clone()),
                    holds: known(holds),
                    admits: known(admits),
                    questions,
                });
            }
        }
        reports
    }
}

struct Asking<'a, T: Owner> {
    definition: &'a Definition<T>,
    time_in_state: f64,
    questions: &'a mut Vec<Question>,
}

impl<T: Owner> Asking<'_, T> {
    fn ask(&mut self, expr: &Expr, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let vocabulary = &self.definition.inner.vocabulary;
        let (read, yes) = match expr {
            Expr::Bool(yes) => return *yes,
            Expr::Not(inner) => return !self.ask(inner, owner, cx),
            Expr::And(parts) => return parts.iter().all(|part| self.ask(part, owner, cx)),
            Expr::Or(parts) => return parts.iter().any(|part| self.ask(part, owner, cx)),
            Expr::Flag(name) => (String::new(), self.flag(&name.text, owner, cx)),
            Expr::Chance { p, .. } => {
                let drawn = vocabulary.random_source().map_or(f64::NAN, |draw| draw(owner, cx));
                (format!("drew {drawn:.3}"), drawn < *p)
            }
            Expr::Compare { left, op, right } => {
                if let Some((flag, is)) = flag_compared(left, *op, right) {
                    let value = self.flag(&flag.text, owner, cx);
                    (format!("{} = {value}", flag.text), value == is)
                } else {
                    let (left_is, right_is) = (self.number(left, owner, cx), self.number(right, owner, cx));
                    let read: Vec<_> = [(left, left_is), (right, right_is)]
                        .into_iter()
                        .filter(|(side, _)| !matches!(side, Operand::Number(_)))
                        .map(|(side, is)| format!("{side} = {}", rounded(is)))
                        .collect();
                    (read.join(", "), op.holds(left_is, right_is))
                }
            }
        };
        self.questions.push(Question { text: expr.to_string(), read, answer: yes.into() });
        yes
    }

    fn flag(&self, name: &str, owner: &T, cx: &T::Context<'_>) -> bool {
        match self.definition.inner.vocabulary.value_of(name) {
            Some(Value::Flag(flag)) => flag.read(owner, cx),
            _ => false,
        }
    }

    fn number(&self, operand: &Operand, owner: &T, cx: &T::Context<'_>) -> f64 {
        match operand {
            Operand::Number(number) => *number,
            Operand::TimeInState(_) => self.time_in_state,
            Operand::Bool(_) => f64::NAN,
            Operand::Value(name) => match self.definition.inner.vocabulary.value_of(&name.text) {
                Some(Value::Number(number)) => number.read(owner, cx),
                _ => f64::NAN,
            },
        }
    }
}

/// To six places, without the zeros at the end.
fn rounded(number: f64) -> f64 {
    let rounded = (number * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { number }
}
