//! From the text of a file to its outline. Every mistake is noted, and reading goes on behind it.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::condition::{MOST_TESTS, flag_compared};
use super::expression::{Expr, Name, Operand};
use super::fault::{Fault, Meant, Word};
use super::format::{EXIT_KEYS, MACHINE_KEYS, SCRIPT_KEYS, STATE_KEYS};
use super::outline::{ExitOutline, Outline, Spot, StateOutline, Unchecked, When};
use super::problem::Findings;
use super::source_map::SourceMap;
use super::words::{ValueKind, Words};
use super::{grammar, params};

type Value<'i> = Spanned<DeValue<'i>>;

/// Reads the outline. `None` if there is not so much as a state to speak of.
pub(crate) fn read(findings: &mut Findings, words: Option<&Words>) -> Option<Outline> {
    let source = std::sync::Arc::clone(&findings.source);
    let text = source.text.as_str();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        findings.add(0..0, Fault::Empty);
        return None;
    }
    let (table, mut errors) = DeTable::parse_recoverable(text);
    // Of two at one place the first is told: rather of a string without an end than of the list and the table around it.
    errors.sort_by_key(|error| error.message().starts_with("unclosed"));
    let mut last_state = 0;
    for error in errors {
        // Beyond what is reported, nobody is told where the first of two was.
        let fault = if findings.is_full() {
            Fault::Syntax { why: error.message().into(), meant: None }
        } else {
            syntax(text, table.get_ref(), error.message(), error.span())
        };
        match &fault {
            Fault::DuplicateState { .. } => last_state = error.span().map_or(0, |span| span.start),
            // In the second of two tables of one state, which have been joined: that there are two has been said.
            Fault::DuplicateKey { first: Some(first), .. } if first.start < last_state => continue,
            _ => {}
        }
        findings.add(error.span().unwrap_or(0..0), fault);
    }
    let mut reader =
        Reader { findings, words, text, names: Vec::new(), places: HashMap::new(), unchecked: Unchecked::default() };
    reader.machine(table.get_ref())
}

/// What TOML's parser says, in the format's own words where it has some.
fn syntax(text: &str, table: &DeTable<'_>, message: &str, span: Option<Range<usize>>) -> Fault {
    let span = span.unwrap_or(0..0);
    if message != "duplicate key" {
        return Fault::Syntax { why: message.into(), meant: meant(text, message, span) };
    }
    let key = text.get(span.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    let before = text.get(..span.start).unwrap_or_default();
    if before.ends_with("[states.") {
        let first = header_of(&key, before).or_else(|| last_given(table, &key, span.start));
        return Fault::DuplicateState { name: key, first };
    }
    // Of a dotted key, which may go on in another table, it is not so easily told.
    let first = if before.ends_with('.') { None } else { last_given(table, &key, span.start) };
    Fault::DuplicateKey { key, first }
}

/// What a beginner means who leaves quotes out.
fn meant(text: &str, message: &str, at: Range<usize>) -> Option<Meant> {
    let before = text.get(..at.start)?;
    let line = text[before.rfind('\n').map_or(0, |end| end + 1)..].lines().next()?;
    if message.starts_with("unclosed table") {
        let name = line.trim_start().strip_prefix("[states.")?.split_once(']')?.0;
        return Some(Meant::Header(name.into()));
    }
    let word = text.get(at)?;
    let is_value = before.trim_end().ends_with(['=', '[', ',']);
    let is_text = |c: char| c.is_alphanumeric() || " _-.<>=!()".contains(c);
    if !is_value || !word.starts_with(char::is_alphabetic) || !word.chars().all(is_text) {
        return None;
    }
    Some(match word.to_lowercase().as_str() {
        "yes" | "true" => Meant::Flag(true),
        "no" | "false" => Meant::Flag(false),
        _ => Meant::Text(word.into()),
    })
}

/// Where the table of a state begins. The parser has joined the two into one, that of the second place.
fn header_of(state: &str, text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name =
            line.trim_start().strip_prefix("[states.").and_then(|rest| rest.split_once(']')).map(|(name, _)| name);
        if let Some(name) = name.filter(|name| name.trim_matches(['"', '\'']) == state) {
            let start = at + line.find(name).unwrap_or_default();
            return Some(start..start + name.len());
        }
        at += line.len();
    }
    None
}

/// Where a key is given for the last time before a place of the file, in any table.
fn last_given(table: &DeTable<'_>, key: &str, before: usize) -> Option<Range<usize>> {
    let here = table.get_key_value(key).map(|(key, _)| key.span());
    let within = table.values().filter_map(|value| match value.get_ref() {
        DeValue::Table(table) => last_given(table, key, before),
        DeValue::Array(array) => array
            .iter()
            .filter_map(|item| last_given(item.get_ref().as_table()?, key, before))
            .max_by_key(|at| at.start),
        _ => None,
    });
    here.into_iter().chain(within).filter(|at| at.end <= before).max_by_key(|at| at.start)
}

struct Reader<'a, 'i> {
    findings: &'a mut Findings,
    words: Option<&'a Words>,
    text: &'i str,
    /// The states' names, in the order of the file.
    names: Vec<&'i str>,
    places: HashMap<&'i str, usize>,
    unchecked: Unchecked,
}

impl<'i> Reader<'_, 'i> {
    fn machine(&mut self, machine: &'i DeTable<'i>) -> Option<Outline> {
        self.known_keys(machine, "a machine", MACHINE_KEYS);
        let states = self.given(machine, "states", "the file", 0..0);
        let states = states.and_then(|states| self.table(states, "`states`"));
        let mut defined: Vec<_> = states.into_iter().flatten().collect();
        defined.sort_by_key(|(name, _)| name.span().start);
        for (place, (name, _)) in defined.iter().enumerate() {
            let name: &str = name.get_ref();
            self.names.push(name);
            self.places.insert(name, place);
        }
        let initial = self.given(machine, "initial", "the file", 0..0);
        let initial = initial.and_then(|initial| self.state_named(initial, "`initial`"));
        let global = machine.get("global").and_then(|global| {
            let place = self.state_named(global, "`global`")?;
            if Some(place) == initial {
                self.findings.add(global.span(), Fault::GlobalIsInitial(self.names[place].into()));
            }
            Some(place)
        });
        let states: Vec<_> = defined.into_iter().map(|(name, state)| self.state(name, state)).collect();
        if states.is_empty() && self.findings.errors() == 0 {
            self.missing("states", "the file", 0..0);
        }
        (!states.is_empty()).then(|| Outline {
            source: std::sync::Arc::clone(&self.findings.source),
            initial: initial.unwrap_or(0),
            global,
            states,
            warnings: Vec::new(),
            unchecked: mem::take(&mut self.unchecked),
        })
    }

    fn state(&mut self, name: &'i Spanned<std::borrow::Cow<'i, str>>, state: &'i Value<'i>) -> StateOutline {
        let place = self.places[&**name.get_ref()];
        let mut outline = StateOutline {
            name: name.get_ref().to_string(),
            span: name.span(),
            behaviour: None,
            params: None,
            script: None,
            enter_when: None,
            parent: None,
            parent_span: state.get_ref().get("parent").map_or(name.span(), Spanned::span),
            initial: None,
            initial_span: state.get_ref().get("initial").map_or(name.span(), Spanned::span),
            keeps_history: false,
            is_final: false,
            exits: Vec::new(),
        };
        if outline.name.trim() != outline.name || outline.name.is_empty() || outline.name.contains(char::is_control) {
            self.findings.add(name.span(), Fault::BadStateName(outline.name.clone()));
        }
        let Some(state) = self.table(state, "a state") else { return outline };
        self.known_keys(state, "a state", STATE_KEYS);
        outline.behaviour = state.get("behaviour").and_then(|value| self.string(value, "`behaviour`"));
        let params = state.get("params");
        let params = params.filter(|params| self.table(params, "`params`").is_some());
        self.behaviour(outline.behaviour.as_ref(), params);
        outline.params = params.map(Spanned::span);
        outline.script = state.get("script").and_then(|value| self.script(value));
        outline.enter_when = state.get("enter_when").and_then(|value| self.condition(value, "`enter_when`", true));
        outline.parent = state.get("parent").and_then(|value| self.state_named(value, "`parent`"));
        outline.initial = state.get("initial").and_then(|value| self.state_named(value, "`initial`"));
        outline.keeps_history =
            state.get("history").and_then(|value| self.boolean(value, "`history`")).unwrap_or(false);
        outline.is_final = state.get("final").and_then(|value| self.boolean(value, "`final`")).unwrap_or(false);
        if let Some(exits) = state.get("exits") {
            let exits = self.array(exits, "`exits`");
            outline.exits = exits.iter().filter_map(|exit| self.exit(exit, place)).collect();
        }
        outline
    }

    fn behaviour(&mut self, behaviour: Option<&Spot>, params: Option<&Value<'i>>) {
        let Some(behaviour) = behaviour else {
            if let Some(params) = params {
                let span = self.key_span("params", params.span());
                self.findings.add(span, Fault::ParamsWithoutBehaviour);
            }
            return;
        };
        let Some(words) = self.words else {
            self.unchecked.behaviours.insert(behaviour.text.clone());
            return;
        };
        if let Some(schema) = words.behaviours.get(&behaviour.text) {
            params::check(self.findings, behaviour, schema.as_ref(), params);
            return;
        }
        self.unknown(Word::Behaviour, &behaviour.text, behaviour.span.clone(), words.behaviours.keys());
    }

    fn exit(&mut self, exit: &'i Value<'i>, from: usize) -> Option<ExitOutline> {
        let span = exit.span();
        let exit = self.table(exit, "an exit")?;
        self.known_keys(exit, "an exit", EXIT_KEYS);
        let to = self.given(exit, "to", "an exit", span.clone());
        let to = to.and_then(|to| self.state_named(to, "`to`"));
        let has_condition = exit.contains_key("when") || exit.contains_key("on");
        let when = exit.get("when").and_then(|value| self.condition(value, "`when`", false));
        let on = exit.get("on").and_then(|value| self.message(value));
        let to = to?;
        let always = matches!(&when, Some(When::Expr { expr: Expr::Bool(true), .. })) && on.is_none();
        if to == from && (!has_condition || always) {
            self.findings.add(span.clone(), Fault::SpinsOnItself(self.names[to].into()));
        }
        Some(ExitOutline { to, when, on, span })
    }

    fn message(&mut self, value: &'i Value<'i>) -> Option<Spot> {
        let on = self.string(value, "`on`")?;
        let Some(words) = self.words else {
            self.unchecked.messages.insert(on.text.clone());
            return Some(on);
        };
        if !words.messages.contains(&on.text) {
            self.unknown(Word::Message, &on.text, on.span.clone(), &words.messages);
        }
        Some(on)
    }

    fn condition(&mut self, value: &'i Value<'i>, what: &str, is_entry: bool) -> Option<When> {
        if let DeValue::Table(table) = value.get_ref() {
            self.known_keys(table, "a condition", SCRIPT_KEYS);
            let Some(script) = table.get("script") else {
                self.missing("script", "a condition", value.span());
                return None;
            };
            return self.script(script).map(When::Script);
        }
        let spot = self.string(value, what)?;
        let map = SourceMap::of(&spot.text, self.text.get(spot.span.clone()).unwrap_or_default(), spot.span.start);
        match grammar::parse(&spot.text, &map) {
            Ok(expr) => {
                let tests = self.check(&expr, is_entry);
                if tests > MOST_TESTS {
                    self.findings.add(spot.span, Fault::TooLong { most: MOST_TESTS });
                }
                Some(When::Expr { expr, text: spot.text })
            }
            Err((span, fault)) => {
                self.findings.add(span, fault);
                None
            }
        }
    }

    /// Checks the words of a condition, and counts what it asks.
    fn check(&mut self, expr: &Expr, is_entry: bool) -> usize {
        match expr {
            Expr::Bool(_) => 0,
            Expr::Not(inner) => self.check(inner, is_entry),
            Expr::And(parts) | Expr::Or(parts) => parts.iter().map(|part| self.check(part, is_entry)).sum(),
            Expr::Flag(name) => {
                self.value(name, ValueKind::Flag);
                1
            }
            Expr::Chance { span, .. } => {
                if is_entry {
                    self.findings.add(span.clone(), Fault::NotInEntry("chance"));
                } else if self.words.is_some_and(|words| !words.random) {
                    self.findings.add(span.clone(), Fault::NoRandomSource);
                }
                1
            }
            Expr::Compare { left, op, right } => {
                if let Some((flag, _)) = flag_compared(left, *op, right) {
                    self.value(flag, ValueKind::Flag);
                    return 1;
                }
                for side in [left, right] {
                    match side {
                        Operand::Value(name) => self.value(name, ValueKind::Number),
                        Operand::TimeInState(span) if is_entry => {
                            self.findings.add(span.clone(), Fault::NotInEntry("time_in_state"));
                        }
                        Operand::Bool(_) => {
                            if let (Operand::Value(name), _) | (_, Operand::Value(name)) = (left, right) {
                                self.findings.add(name.span.clone(), Fault::FlagAsNumber(name.text.clone()));
                            }
                        }
                        Operand::TimeInState(_) | Operand::Number(_) => {}
                    }
                }
                1
            }
        }
    }

    fn value(&mut self, name: &Name, used_as: ValueKind) {
        let Some(words) = self.words else {
            self.unchecked.values.entry(name.text.clone()).or_insert(used_as);
            return;
        };
        match (words.values.get(&name.text), used_as) {
            (Some(kind), used_as) if *kind == used_as => {}
            (Some(ValueKind::Number), _) => {
                self.findings.add(name.span.clone(), Fault::NumberAsFlag(name.text.clone()));
            }
            (Some(ValueKind::Flag), _) => self.findings.add(name.span.clone(), Fault::FlagAsNumber(name.text.clone())),
            (None, _) => {
                self.unknown(Word::Value, &name.text, name.span.clone(), words.values.keys());
            }
        }
    }

    fn script(&mut self, value: &'i Value<'i>) -> Option<Spot> {
        let script = self.string(value, "`script`")?;
        if self.words.is_some_and(|words| !words.scripts) {
            self.findings.add(script.span.clone(), Fault::ScriptsAreOff);
        }
        Some(script)
    }

    fn state_named(&mut self, value: &'i Value<'i>, what: &str) -> Option<usize> {
        let name = self.string(value, what)?;
        let place = self.places.get(name.text.as_str()).copied();
        if place.is_none() {
            let nearest = self.findings.nearest(&name.text, self.names.iter().copied());
            self.findings.add(name.span, Fault::UnknownState { name: name.text, nearest });
        }
        place
    }

    /// Tells of a word that the game does not offer, and which one of those that it does was meant, or else which there are.
    fn unknown<'k>(
        &mut self,
        kind: Word,
        name: &str,
        span: Range<usize>,
        offered: impl IntoIterator<Item = &'k String>,
    ) {
        let offered: Vec<&str> = offered.into_iter().map(String::as_str).collect();
        let grammar = grammar::RESERVED.into_iter().filter(|_| kind == Word::Value);
        let nearest = self.findings.nearest(name, offered.iter().copied().chain(grammar));
        let is_told = nearest.is_none() && !self.findings.is_full();
        let offered = offered.into_iter().filter(|_| is_told).map(str::to_owned).collect();
        self.findings.add(span, Fault::Unknown { kind, name: name.into(), nearest, offered });
    }

    fn missing(&mut self, key: &'static str, place: &str, span: Range<usize>) {
        self.findings.add(span, Fault::MissingKey { key, place: place.into() });
    }

    /// The value of a key that there must be.
    fn given(
        &mut self,
        table: &'i DeTable<'i>,
        key: &'static str,
        place: &str,
        span: Range<usize>,
    ) -> Option<&'i Value<'i>> {
        let value = table.get(key);
        // Not of one that is there, but misspelt: that is told already.
        if value.is_none() && !table.keys().any(|name| self.findings.nearest(name.get_ref(), [key]).is_some()) {
            self.missing(key, place, span);
        }
        value
    }

    fn known_keys(&mut self, table: &DeTable<'_>, place: &'static str, known: &'static [&'static str]) {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let nearest = self.findings.nearest(name, known.iter().copied());
                self.findings.add(key.span(), Fault::UnknownKey { key: name.into(), place, known, nearest });
            }
        }
    }

    /// Where the key stands whose value begins at `value`.
    fn key_span(&self, key: &str, value: Range<usize>) -> Range<usize> {
        let before = self.text.get(..value.start).unwrap_or_default();
        match before.rfind(key) {
            Some(start) => start..start + key.len(),
            None => value,
        }
    }

    fn string(&mut self, value: &Value<'_>, what: &str) -> Option<Spot> {
        match value.get_ref() {
            DeValue::String(text) => Some(Spot { text: text.to_string(), span: value.span() }),
            other => self.mistyped(value, other, what, "a string"),
        }
    }

    fn boolean(&mut self, value: &Value<'_>, what: &str) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(yes) => Some(*yes),
            other => self.mistyped(value, other, what, "true or false"),
        }
    }

    fn table(&mut self, value: &'i Value<'i>, what: &str) -> Option<&'i DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            other => self.mistyped(value, other, what, "a table"),
        }
    }

    fn array(&mut self, value: &'i Value<'i>, what: &str) -> &'i [Value<'i>] {
        match value.get_ref() {
            DeValue::Array(array) => array.as_ref(),
            other => self.mistyped(value, other, what, "a list").unwrap_or_default(),
        }
    }

    fn mistyped<O>(&mut self, value: &Value<'_>, found: &DeValue<'_>, what: &str, expected: &'static str) -> Option<O> {
        self.findings.add(value.span(), Fault::WrongType { what: what.into(), expected, found: type_of(found) });
        None
    }
}

/// What a value is, with its article.
pub(crate) fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
