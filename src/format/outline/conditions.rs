//! Resolves the names in conditions (values, fields and states), and checks whether each test is allowed at its place.

use std::fmt::Display;
use std::ops::Range;

use super::mention::{ConditionPlace, Meaning};
use super::resolve::Resolver;
use crate::format::choose::Rank;
use crate::format::expression::{Comparison, Expr, When, flag_compared};
use crate::format::name::Name;
use crate::format::operand::{Atom, Input, OF_MESSAGE, Operand};
use crate::format::problems::Mistake;
use crate::format::words::{ValueKind, WordKind};

impl Resolver<'_> {
    pub(super) fn condition(&mut self, when: &mut When, place: ConditionPlace<'_>) {
        let (expr, span) = match when {
            When::Script(script) => return self.script(script),
            When::Expr { expr, span, .. } => (expr, span),
        };
        self.within = Some(span.clone());
        expr.tests_mut().for_each(|test| self.test(test, place));
        self.within = None;
    }

    /// Checks the score or the weight of an exit.
    pub(super) fn rank(&mut self, rank: &mut Rank, place: ConditionPlace<'_>) {
        self.within = Some(rank.span.clone());
        self.operand(&mut rank.operand, place);
        self.within = None;
    }

    /// Checks one test: a part of a condition other than `not`, `and` and `or`.
    fn test(&mut self, test: &mut Expr, place: ConditionPlace<'_>) {
        match test {
            Expr::Bool(_) | Expr::Not(_) | Expr::And(_) | Expr::Or(_) => {}
            Expr::Flag(flag) => self.input(flag, ValueKind::Flag, place),
            Expr::In(name) => self.asked_state(name),
            Expr::Chance { span, per_second, .. } => {
                let word = if *per_second { "chance_per_second" } else { "chance" };
                match place {
                    ConditionPlace::Entry => self.findings.add(not_in_entry(word, span.clone())),
                    ConditionPlace::Property => self.findings.add(not_in_property(word, span.clone())),
                    ConditionPlace::Message(_) if *per_second => {
                        let message = "a message has no length to which a chance per second belongs";
                        Mistake::error("chance", span.clone(), message)
                            .label("in an exit with `on`")
                            .help("write `chance(0.5)`: the chance that the exit is taken for a message")
                            .report(self.findings);
                    }
                    _ => self.chance(span.clone()),
                }
            }
            Expr::Compare { left, op, right } => match flag_compared(left, *op, right) {
                Some((flag, _)) => self.input(flag, ValueKind::Flag, place),
                None => self.comparison(left, *op, right, place),
            },
        }
    }

    pub(super) fn chance(&mut self, at: Range<usize>) {
        if self.words.is_some_and(|words| !words.random) {
            Mistake::error("chance", at, "the game offers no random numbers to definitions")
                .label("needs random numbers")
                .help("a programmer can add them with `Vocabulary::random`")
                .report(self.findings);
        }
    }

    fn comparison(&mut self, left: &mut Operand, op: Comparison, right: &mut Operand, place: ConditionPlace<'_>) {
        self.in_range(left, op, right);
        match (&*left, &*right) {
            (Operand::Atom(Atom::Bool(_)), Operand::Atom(Atom::Input(flag)))
            | (Operand::Atom(Atom::Input(flag)), Operand::Atom(Atom::Bool(_))) => {
                self.findings.add(flag_as_number(flag, &flag.name.span));
            }
            (Operand::Atom(Atom::Bool(yes)), other) | (other, Operand::Atom(Atom::Bool(yes))) => {
                if let Some(at) = first_span(other) {
                    let message = format!("`{other}` is a number, which is never `{yes}`");
                    self.findings.add(Mistake::error("comparison", at, message).label("a number"));
                }
            }
            _ => {}
        }
        self.operand(left, place);
        self.operand(right, place);
    }

    /// Reports a comparison that no number in the range of a value fulfills, or that all of them fulfill.
    fn in_range(&mut self, left: &Operand, op: Comparison, right: &Operand) {
        let (Input { name, is_field }, compared, with) = match (left, right) {
            (Operand::Atom(Atom::Input(input)), Operand::Atom(Atom::Number(with))) => (input, op, *with),
            (Operand::Atom(Atom::Number(with)), Operand::Atom(Atom::Input(input))) => (input, op.mirrored(), *with),
            _ => return,
        };
        let words = self.words.filter(|_| !is_field);
        let Some((least, most)) = words.and_then(|words| words.ranges.get(&name.text)) else { return };
        // Within the range, the answer can change only at `with`.
        let numbers = [*least, *most, with.clamp(least.min(*most), *most)];
        let holding = numbers.iter().filter(|number| compared.holds(**number, with)).count();
        let always = match holding {
            0 => "never holds",
            3 => "always holds",
            _ => return,
        };
        let message = format!("`{left} {op} {right}` {always}: `{name}` is from {least} to {most}");
        let mistake = if holding == 0 { Mistake::error } else { Mistake::warning };
        mistake("range", name.span.clone(), message.as_str()).label("its range is known").report(self.findings);
    }

    pub(super) fn operand(&mut self, side: &mut Operand, place: ConditionPlace<'_>) {
        for atom in side.atoms_mut() {
            match (atom, place) {
                (Atom::Input(input), _) => self.input(input, ValueKind::Number, place),
                (Atom::TimeIn(name), _) => self.asked_state(name),
                (Atom::TimeInState(span), ConditionPlace::Entry) => {
                    self.findings.add(not_in_entry("time_in_state", span.clone()));
                }
                (Atom::TimeInState(span), ConditionPlace::Property) => {
                    self.findings.add(not_in_property("time_in_state", span.clone()));
                }
                _ => {}
            }
        }
    }

    fn input(&mut self, input: &Input, used_as: ValueKind, place: ConditionPlace<'_>) {
        if input.is_field { self.field(input, used_as, place) } else { self.value(&input.name, used_as) }
    }

    pub(super) fn value(&mut self, name: &Name, used_as: ValueKind) {
        self.mention(name, Meaning::Value);
        let Some(words) = self.words else {
            if self.defined.has(&name.text) {
                return self.unknown(WordKind::Value, name, []);
            }
            let kind = self.assumed(name, used_as);
            return self.kind(name, &name.span, kind, used_as);
        };
        match words.values.get(&name.text) {
            Some(kind) => self.kind(name, &name.span, *kind, used_as),
            None => self.unknown(WordKind::Value, name, words.values.keys()),
        }
    }

    /// Returns the kind of a value whose game is unknown, which is the kind of its first use in the file.
    pub(super) fn assumed(&mut self, name: &Name, used_as: ValueKind) -> ValueKind {
        let kind = *self.assumed.values.entry(name.text.clone()).or_insert(used_as);
        *self.unchecked.values.entry(name.text.clone()).or_insert(kind)
    }

    /// Checks a field of the message that an exit waits for.
    fn field(&mut self, input: &Input, used_as: ValueKind, place: ConditionPlace<'_>) {
        let name = &input.name;
        let ConditionPlace::Message(message) = place else {
            Mistake::error("message", name.span.clone(), "there is no message here whose fields could be asked")
                .label("a field of a message")
                .help("only an exit that waits for a message has one: add `on = \"..\"` to it")
                .report(self.findings);
            return;
        };
        self.mention(name, Meaning::Field { message: message.into() });
        let Some(words) = self.words else {
            let assumed = self.assumed.message_fields.entry(message.into()).or_default();
            let kind = *assumed.entry(name.text.clone()).or_insert(used_as);
            let fields = self.unchecked.message_fields.entry(message.into()).or_default();
            fields.insert(name.text.clone(), kind);
            return self.kind(input, &name.span, kind, used_as);
        };
        let fields = words.message_fields.get(message);
        match fields.and_then(|fields| fields.get(&name.text)) {
            Some(kind) => self.kind(input, &name.span, *kind, used_as),
            // The message is unknown, and has already been reported.
            None if !words.messages.contains(message) => {}
            None => {
                let offered = fields.into_iter().flat_map(|fields| fields.keys());
                let nearest = self.findings.nearest(&name.text, offered.clone().map(String::as_str));
                let help = match nearest {
                    Some(nearest) => format!("did you mean `{OF_MESSAGE}{nearest}`?"),
                    None if fields.is_none() => format!("the game offers no fields of `{message}`"),
                    None => {
                        let offered: Vec<_> = offered.take(12).map(|field| format!("`{OF_MESSAGE}{field}`")).collect();
                        format!("the game offers {}", offered.join(", "))
                    }
                };
                let what = format!("message `{message}` has no field `{name}`");
                Mistake::error(WordKind::Field.unknown(), name.span.clone(), what)
                    .label("no such field")
                    .help(help)
                    .report(self.findings);
            }
        }
    }

    /// Reports a flag that is used as a number, or a number that is used as a flag.
    fn kind(&mut self, name: &dyn Display, at: &Range<usize>, kind: ValueKind, used_as: ValueKind) {
        match kind {
            kind if kind == used_as => {}
            ValueKind::Number => {
                let message = format!("`{name}` is a number, which is neither true nor false");
                Mistake::error("comparison", at.clone(), message)
                    .label("a number")
                    .help(format!("compare it, as in `{name} > 0`"))
                    .report(self.findings);
            }
            ValueKind::Flag => self.findings.add(flag_as_number(name, at)),
        }
    }

    /// Resolves a state in a condition, and replaces its name with its full name.
    fn asked_state(&mut self, name: &mut Name) {
        let Some(id) = self.state_named(name.clone()) else { return };
        if Some(id) == self.global {
            let message = format!("the global state `{name}` is never entered");
            Mistake::error("global", name.span.clone(), message)
                .label("runs beside every other state")
                .help("name a state that can be active")
                .report(self.findings);
        }
        self.name_of(id).clone_into(&mut name.text);
    }
}

/// Returns where a value, a field or a time is first used in a side of a comparison.
fn first_span(side: &Operand) -> Option<Range<usize>> {
    side.atoms().find_map(|atom| match atom {
        Atom::Input(Input { name: Name { span, .. }, .. })
        | Atom::TimeIn(Name { span, .. })
        | Atom::TimeInState(span) => Some(span.clone()),
        Atom::Number(_) | Atom::Bool(_) => None,
    })
}

fn flag_as_number(name: &dyn Display, at: &Range<usize>) -> Mistake {
    Mistake::error("comparison", at.clone(), format!("`{name}` is true or false, not a number"))
        .label("true or false")
        .help(format!("write `{name}` or `not {name}`"))
}

fn not_in_property(word: &str, at: Range<usize>) -> Mistake {
    Mistake::error("property", at, format!("`{word}` cannot be asked in a property"))
        .label("belongs to no state here")
        .help("ask for values, for `in(state)`, and for `time_in(state)`")
}

fn not_in_entry(word: &str, at: Range<usize>) -> Mistake {
    Mistake::error("entry-condition", at, format!("`{word}` cannot be asked in `enter_when`"))
        .label("unknown before the state is entered")
        .help("put it into the `when` of the exits that lead here")
}
