//! Reads the text of a file into drafts. After a mistake, it continues with the rest of the file.

use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use toml::Spanned;

use super::defined::DefinedWords;
use super::duration::DraftDuration;
use super::format::{EXIT_KEYS, FILE_KEYS, MACHINE_KEYS, SCRIPT_KEYS, STATE_KEYS};
use super::keys::quoted;
use super::machines::{self, SharedState, WrittenMachine};
use super::source_map::SourceMap;
use super::tree::{Key, SpannedValue, Table, TreeValue, is_blank, one_or_several};
use super::{Draft, DraftExit, DraftRegion, DraftState, RegionRef, duration, grammar, syntax, type_of};
use crate::format::choose::{Choose, Rank};
use crate::format::expression::{Expr, When, is_name};
use crate::format::leads::{Leads, PREVIOUS};
use crate::format::name::Name;
use crate::format::operand::{Atom, Operand};
use crate::format::problems::{Findings, Mistake, Origin};
use crate::format::source::Source;

/// Reads the machines of a file, in the order of the file. Returns no machines for a text of which nothing can be read. If parts
/// of the text cannot be read, the text without them is kept in `rest`.
pub(crate) fn read<'i>(text: &'i str, rest: &'i OnceLock<String>, findings: &mut Findings) -> Vec<Draft<'i>> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        Mistake::error("empty", 0..0, "the file is empty")
            .label("nothing here")
            .help("a definition needs `initial = \"..\"` and at least one `[states.name]`")
            .report(findings);
        return Vec::new();
    }
    let mut table = syntax::parse(text, rest, findings);
    if table.is_empty() && findings.errors() > 0 {
        return Vec::new();
    }
    DraftReader { findings, text, defined: DefinedWords::default() }.whole(&mut table)
}

/// Returns the readable parts of a text as a table, ignoring all mistakes. If parts of the text cannot be read, the text
/// without them is kept in `rest`.
pub(crate) fn readable<'i>(text: &'i str, rest: &'i OnceLock<String>) -> Table<'i> {
    if text.trim().is_empty() {
        return Table::default();
    }
    syntax::parse(text, rest, &mut Findings::new(Arc::new(Source::new("", text))))
}

/// The maximum number of machines in a file.
const MOST_MACHINES: usize = 10_000;
/// The maximum number of exits of a state. An exit for several messages counts once for each of them.
const MOST_EXITS: usize = 10_000;

pub(super) struct DraftReader<'a, 'i> {
    pub(super) findings: &'a mut Findings,
    pub(super) text: &'i str,
    pub(super) defined: DefinedWords,
}

impl<'i> DraftReader<'_, 'i> {
    /// Reads the words that the file defines, and then its machines.
    fn whole(mut self, file: &mut Table<'i>) -> Vec<Draft<'i>> {
        self.define(file);
        let mut drafts = self.file(file);
        self.defined.unused(self.findings);
        let defined = Arc::new(self.defined);
        for draft in &mut drafts {
            draft.defined = Arc::clone(&defined);
        }
        drafts
    }

    /// Reads the constants, and then the conditions, which may use the constants and the conditions above them.
    fn define(&mut self, file: &mut Table<'i>) {
        for key in ["constants", "conditions"] {
            let Some((_, words)) = file.remove(key) else { continue };
            let Some(table) = self.table(&words, &format!("`{key}`")) else { continue };
            for (name, value) in table.in_order() {
                let name = Name { text: name.get_ref().to_string(), span: name.span() };
                let is_fit = is_name(&name.text) && !name.text.contains('.');
                if !is_fit || self.defined.has(&name.text) {
                    let why = if is_fit { "is defined twice" } else { "cannot be used in a condition" };
                    Mistake::error("bad-name", name.span.clone(), format!("`{name}` {why}"))
                        .help("a name is one word of letters, digits and `_`, which the file defines once")
                        .report(self.findings);
                }
                // A word with a mistake in its definition gets a default meaning, so that its uses are not reported, too.
                if key == "constants" {
                    let number = duration::number(value.get_ref()).filter(|number| number.is_finite());
                    let number = number.or_else(|| self.mistyped(value, "a constant", "a finite number", None));
                    self.defined.constants.insert(name.text.clone(), number.unwrap_or(0.0));
                } else {
                    let expr = match self.condition(value, "a condition").as_deref() {
                        Some(When::Expr { expr, .. }) => Some(expr.clone()),
                        Some(When::Script(script)) => {
                            let help = format!("write it where it is asked: `when = {{ script = \"{script}\" }}`");
                            self.mistyped(value, "a condition with a name", "a text", Some(help))
                        }
                        None => None,
                    };
                    let expr = expr.unwrap_or(Expr::Bool(false));
                    let tests = expr.tests().count();
                    self.defined.conditions.insert(name.text.clone(), (expr, tests));
                }
                self.defined.places.push((name, value.span()));
            }
        }
    }

    fn file(&mut self, file: &mut Table<'i>) -> Vec<Draft<'i>> {
        let of = if file.contains_key("machines") { "a file of machines" } else { "a machine" };
        self.known_keys(file, of, FILE_KEYS);
        let rate = file.get("ticks_per_second").and_then(|rate| duration::rate(rate, self.findings));
        let Some((_, machines)) = file.remove("machines") else { return vec![self.alone(file, rate)] };
        let mut drafts = Vec::new();
        if file.contains_key("states") {
            drafts.push(self.alone(file, rate));
        } else {
            self.of_no_machine(file, &machines);
        }
        let at = machines.span();
        let mut written = self.written(machines);
        if written.is_empty() && drafts.is_empty() && !self.findings.has_unread() {
            self.findings.add(missing_key("states", "the file", at));
        }
        machines::complete(&mut written, self.findings);
        for WrittenMachine { name, like, table, states } in written {
            let states = states.into_iter().map(|state| self.shared(&state)).collect();
            let of = format!("machine `{name}`");
            let at = name.span.clone();
            drafts.push(Draft { name: Some(name), like, states, ..self.machine(&table, &of, at, rate) });
        }
        drafts
    }

    /// Returns the machines that have their own tables, in the order of the file.
    fn written(&mut self, machines: SpannedValue<'i>) -> Vec<WrittenMachine<'i>> {
        self.table(&machines, "`machines`");
        let TreeValue::Table(machines) = machines.into_inner() else { return Vec::new() };
        if machines.len() > MOST_MACHINES {
            let first = machines.in_order()[MOST_MACHINES].0.span();
            let message = format!("a file may have {MOST_MACHINES} machines, and this one has {}", machines.len());
            Mistake::error("too-many-machines", first, message)
                .label("too many from here")
                .help("divide the machines among several files")
                .origin(Origin::Unread)
                .report(self.findings);
            return Vec::new();
        }
        let mut written = Vec::new();
        for (name, machine) in machines.into_entries() {
            let name = Name { text: name.get_ref().to_string(), span: name.span() };
            self.good_name(&name, "a machine");
            self.table(&machine, "a machine");
            let TreeValue::Table(mut table) = machine.into_inner() else { continue };
            self.known_keys(&table, "a machine", MACHINE_KEYS);
            let like = self.named(&table, "like");
            let of = format!("machine `{name}`");
            let states = self.states(&mut table, &of, name.span.clone());
            let states = states.into_iter().map(|(name, state)| SharedState::new(name, state)).collect();
            written.push(WrittenMachine { name, like, table, states });
        }
        self.misspelled(&written);
        written.sort_by_key(|written| written.name.span.start);
        written
    }

    /// Reports machines that have nothing but states and a name similar to that of another machine: the name in a header of a
    /// state is misspelled.
    fn misspelled(&mut self, machines: &[WrittenMachine<'i>]) {
        let has_own = |machine: &WrittenMachine<'_>| machine.like.is_some() || machine.table.contains_key("initial");
        for machine in machines.iter().filter(|machine| !has_own(machine)) {
            let others = machines.iter().filter(|other| has_own(other)).map(|other| other.name.text.as_str());
            let Some(meant) = self.findings.nearest(&machine.name.text, others) else { continue };
            let message = format!("machine `{}` has states, but no `initial`", machine.name);
            Mistake::error("missing-key", machine.name.span.clone(), message)
                .label("another machine, because of its name")
                .meant(Some(meant))
                .origin(Origin::Unread)
                .report(self.findings);
        }
    }

    /// Returns the draft of a state. Machines that share the state share the draft.
    fn shared(&mut self, state: &SharedState<'i>) -> Rc<DraftState<'i>> {
        Rc::clone(state.draft.get_or_init(|| Rc::new(self.state(&state.key, &state.value))))
    }

    /// Reports keys outside of `[machines]` in a file with several machines: such a key belongs to no machine.
    fn of_no_machine(&mut self, file: &Table<'i>, machines: &SpannedValue<'i>) {
        let named =
            machines.get_ref().as_table().into_iter().flat_map(Table::keys).min_by_key(|name| name.span().start);
        let machine = named.map_or("name", |name| name.get_ref());
        for key in ["initial", "global", "properties"] {
            let Some((at, _)) = file.get_key_value(key) else { continue };
            Mistake::error("misplaced-key", at.span(), format!("`{key}` belongs to no machine: this file has several"))
                .label("before the machines")
                .second(named.map(Spanned::span), "the first of them")
                .help(format!("write it under `[machines.{machine}]`"))
                .origin(Origin::Unread)
                .report(self.findings);
        }
    }

    /// Reads the machine whose states are outside of `[machines]`. The parsed value of each state is dropped as soon as its draft
    /// exists, so that a large file is not in memory twice.
    fn alone(&mut self, file: &mut Table<'i>, rate: Option<f64>) -> Draft<'i> {
        let states = self.states(file, "the file", 0..0);
        let states = states.into_iter().map(|(name, state)| Rc::new(self.state(&name, &state))).collect();
        Draft { states, ..self.machine(file, "the file", 0..0, rate) }
    }

    /// Removes the states from the table of a machine, and returns them in the order of the file.
    fn states(&mut self, machine: &mut Table<'i>, of: &str, at: Range<usize>) -> Vec<(Key<'i>, SpannedValue<'i>)> {
        self.under_a_header(machine, of);
        let is_like = machine.contains_key("like");
        if !is_like {
            self.given(machine, "states", of, at);
        }
        let Some((_, states)) = machine.remove("states") else { return Vec::new() };
        self.table(&states, "`states`");
        let TreeValue::Table(states) = states.into_inner() else { return Vec::new() };
        self.flat(states, is_like)
    }

    /// Reads a machine without its states.
    fn machine(&mut self, table: &Table<'i>, of: &str, at: Range<usize>, rate: Option<f64>) -> Draft<'i> {
        let initial = self.given(table, "initial", of, at);
        Draft {
            name: None,
            like: None,
            initial: initial.and_then(|initial| self.string(initial, "`initial`")),
            global: self.named(table, "global"),
            ticks_per_second: rate,
            properties: self.properties(table),
            defined: Arc::default(),
            states: Vec::new(),
        }
    }

    /// Reports keys of the machine that are under the header of a state. In TOML, they belong to this state.
    fn under_a_header(&mut self, machine: &Table<'i>, of: &str) {
        let Some(TreeValue::Table(states)) = machine.get("states").map(Spanned::get_ref) else { return };
        let has_initial = machine.contains_key("initial") || machine.contains_key("like");
        for (name, state) in states.iter() {
            let TreeValue::Table(state) = state.get_ref() else { continue };
            for key in ["initial", "global", "ticks_per_second"] {
                let Some((at, value)) = state.get_key_value(key) else { continue };
                let is_child = || {
                    let Some(child) = value.get_ref().as_str() else { return true };
                    let of_child = states.get(child).and_then(|child| child.get_ref().as_table());
                    let is_parent = |parent: &SpannedValue<'_>| parent.get_ref().as_str() == Some(name.get_ref());
                    // Without a state of exactly this name, the child may be written with its parent's name as a prefix.
                    of_child.is_none_or(|of_child| of_child.get("parent").is_some_and(is_parent))
                };
                if key == "initial" && (has_initial || is_child()) {
                    continue;
                }
                let message = format!("`{key}` belongs to state `{}` here", name.get_ref());
                let machine = of.strip_prefix("machine `").filter(|_| key != "ticks_per_second");
                let machine = machine.map(|machine| quoted(machine.trim_end_matches('`')));
                Mistake::error("misplaced-key", at.span(), message)
                    .label("under the header of the state")
                    .second(Some(name.span()), "the header")
                    .help(match machine {
                        Some(machine) => format!("write `{key}` under the header `[machines.{machine}]`"),
                        None => format!("write `{key}` at the top, before the first header"),
                    })
                    .origin(Origin::Unread)
                    .report(self.findings);
            }
        }
    }

    fn state(&mut self, name: &Key<'i>, state: &SpannedValue<'i>) -> DraftState<'i> {
        let name = Name { text: name.get_ref().to_string(), span: name.span() };
        self.good_name(&name, "a state");
        let none = Table::default();
        let state = match state.get_ref() {
            TreeValue::Array(list) if list.iter().all(|one| one.get_ref().as_table().is_some()) => {
                Mistake::error("wrong-type", name.span.clone(), "the header of a state has single brackets")
                    .label("in double brackets")
                    .help(format!("write `[states.{name}]`"))
                    .origin(Origin::Unread)
                    .report(self.findings);
                &none
            }
            _ => self.table(state, "a state").unwrap_or(&none),
        };
        self.known_keys(state, "a state", STATE_KEYS);
        let choose = state.get("choose").map(|value| self.choose(value));
        let by = choose.as_ref().map_or(Some(Choose::First), |choose| Some(choose.as_ref()?.0));
        let choose = choose.flatten();
        let exits = state.get("exits").and_then(|value| self.exits(value, by)).unwrap_or_default();
        if let Some((Choose::Best, at)) = choose.as_ref().filter(|_| exits.iter().all(|exit| exit.rank.is_none())) {
            Mistake::warning("no-effect", at.clone(), "no exit of the state has a `score`")
                .label("all exits are equally good")
                .help("write how good each exit is, `score = 2` or `score = \"hunger * 2\"`, or remove `choose`")
                .origin(Origin::MayFollow)
                .report(self.findings);
        }
        DraftState {
            behaviors: self.behaviors(state),
            script: state.get("script").and_then(|script| self.word(script, "`script`")).map(Box::new),
            every: self.duration(state, "every"),
            enter_when: state.get("enter_when").and_then(|value| self.condition(value, "`enter_when`")),
            parent: self.named(state, "parent"),
            initial: self.named(state, "initial").map(Box::new),
            regions: state.get("regions").map_or_else(|| Some(Box::default()), |value| self.regions(value)),
            region: state.get("region").and_then(|value| self.region(value)).map(Box::new),
            keeps_history: self.yes(state, "history"),
            is_final: self.yes(state, "final"),
            is_entry: self.yes(state, "entry"),
            ignores: state.get("ignore").map(|value| self.messages(value, "`ignore`")).unwrap_or_default().into(),
            enter: self.actions(state, "enter"),
            exit: self.actions(state, "exit"),
            note: self.note(state),
            machine: self.named(state, "machine").map(Box::new),
            root: None,
            ends: None,
            rate: None,
            written: None,
            exits,
            choose: choose.map(Box::new),
            name,
        }
    }

    /// Reads the regions of a state: a list of initial states, or a table with the names of the regions.
    fn regions(&mut self, value: &SpannedValue<'_>) -> Option<Box<[DraftRegion]>> {
        let what = "a region's initial state";
        let help = match value.get_ref() {
            TreeValue::Array(list) if !list.is_empty() => {
                let initial = list.iter().map(|initial| self.string(initial, what)).collect::<Vec<_>>();
                let regions = initial.into_iter().map(|initial| Some(DraftRegion { name: None, initial: initial? }));
                return regions.collect();
            }
            TreeValue::Table(table) if table.keys().next().is_some() => {
                let region = |(name, initial): (&Key<'_>, _)| {
                    let name = Name { text: name.get_ref().to_string(), span: name.span() };
                    self.good_name(&name, "a region");
                    Some(DraftRegion { name: Some(name), initial: self.string(initial, what)? })
                };
                let regions: Vec<_> = table.in_order().into_iter().map(region).collect();
                return regions.into_iter().collect();
            }
            TreeValue::Array(_) | TreeValue::Table(_) => {
                return Mistake::error("regions", value.span(), "`regions` names no state")
                    .label("without a region")
                    .help("name the initial state of each region, or remove `regions`")
                    .origin(Origin::MayFollow)
                    .fail(self.findings);
            }
            TreeValue::String(initial) => Some(format!("write `regions = [\"{initial}\", ..]`")),
            _ => None,
        };
        self.mistyped(value, "`regions`", "a list", help)
    }

    /// Reads in which region a state lies.
    fn region(&mut self, value: &SpannedValue<'_>) -> Option<RegionRef> {
        match value.get_ref() {
            TreeValue::Integer(_) => Some(RegionRef::Number(duration::number(value.get_ref())?, value.span())),
            TreeValue::String(_) => self.string(value, "`region`").map(RegionRef::Name),
            _ => self.mistyped(value, "`region`", "a name or a whole number", None),
        }
    }

    /// Reads how a state chooses among its exits.
    fn choose(&mut self, value: &SpannedValue<'_>) -> Option<(Choose, Range<usize>)> {
        let Name { text, span } = self.string(value, "`choose`")?;
        if let Some(choose) = Choose::ALL.into_iter().find(|choose| choose.to_string() == text) {
            return Some((choose, span));
        }
        let message = format!("`choose` must be `first`, `best` or `random`, not `{text}`");
        let nearest = self.findings.nearest(&text, ["first", "best", "random"]);
        let mistake = Mistake::error("choice", span, message).label("no way to choose");
        let by = "`best` takes the exit with the highest `score`, `random` one by `weight`";
        mistake.help(by).meant(nearest).fail(self.findings)
    }

    pub(super) fn good_name(&mut self, name: &Name, of: &str) {
        let help = if name.text == PREVIOUS {
            "this word means the previous state"
        } else if name.text.trim() != name.text || name.text.is_empty() || name.text.contains(char::is_control) {
            "a name has no spaces at its ends, no control characters, and is not empty"
        } else {
            return;
        };
        Mistake::error("bad-name", name.span.clone(), format!("`{}` cannot be the name of {of}", name.text))
            .help(help)
            .report(self.findings);
    }

    /// Reads the exits of a state. `choose` is `None` if the state's `choose` has a mistake.
    fn exits(&mut self, value: &SpannedValue<'_>, choose: Option<Choose>) -> Option<Vec<DraftExit>> {
        let help = match value.get_ref() {
            TreeValue::Array(list) => {
                // An exact capacity, because most states have few exits.
                let mut exits = Vec::with_capacity(list.len());
                for exit in list {
                    let Some(mut draft) = self.exit(exit, choose) else { continue };
                    let on = exit.get_ref().as_table().and_then(|exit| exit.get("on"));
                    let mut messages = on.map(|on| self.messages(on, "`on`")).unwrap_or_default().into_iter();
                    draft.on = messages.next();
                    let more: Vec<_> =
                        messages.map(|on| DraftExit { on: Some(on), is_same: true, ..draft.clone() }).collect();
                    exits.push(draft);
                    exits.extend(more);
                    if exits.len() > MOST_EXITS {
                        let message = format!("a state may have {MOST_EXITS} exits, and this one has more");
                        Mistake::error("too-many-exits", exit.span(), message)
                            .label("too many from here")
                            .help("divide the exits among several states")
                            .origin(Origin::Unread)
                            .report(self.findings);
                        break;
                    }
                }
                return Some(exits);
            }
            TreeValue::Table(_) => Some("write `[` before the table and `]` behind it: `exits` may be several".into()),
            TreeValue::String(to) => Some(format!("write `[{{ to = \"{to}\" }}]`")),
            _ => None,
        };
        self.mistyped(value, "`exits`", "a list", help)
    }

    fn exit(&mut self, exit: &SpannedValue<'_>, choose: Option<Choose>) -> Option<DraftExit> {
        let span = exit.span();
        let exit = self.table(exit, "an exit")?;
        self.known_keys(exit, "an exit", EXIT_KEYS);
        let (to, leads) = self.leads(exit, span.clone());
        Some(DraftExit {
            to,
            leads,
            after: self.duration(exit, "after"),
            when: exit.get("when").and_then(|value| self.condition(value, "`when`")),
            on: None,
            is_same: false,
            at: exit.get("at").and_then(|value| self.time_value(value)).map(Box::new),
            rank: choose.and_then(|choose| self.rank(exit, choose)).map(Box::new),
            cooldown: self.duration(exit, "cooldown").map(Box::new),
            always: exit.get("always").filter(|_| self.yes(exit, "always")).map(Spanned::span),
            actions: self.actions_of_exit(exit),
            note: self.note(exit),
            restarts: self.yes(exit, "restart"),
            even_final: self.yes(exit, "even_final"),
            has_condition: ["after", "at", "when", "on"].into_iter().any(|key| exit.contains_key(key)),
            span,
        })
    }

    pub(super) fn duration(&mut self, table: &Table<'_>, key: &str) -> Option<DraftDuration> {
        self.defined.duration(table.get(key)?, key, self.findings)
    }

    /// Reads one message, or a list of messages.
    fn messages(&mut self, value: &SpannedValue<'_>, what: &str) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        let messages = one_or_several(value);
        if messages.is_empty() || messages.iter().any(is_blank) {
            Mistake::error("wrong-type", value.span(), format!("{what} names no message"))
                .label("nothing")
                .origin(Origin::MayFollow)
                .report(self.findings);
            return names;
        }
        for message in messages {
            let Some(name) = self.string(message, what) else { continue };
            if names.iter().any(|other| other.text == name.text) {
                Mistake::warning("named-twice", name.span.clone(), format!("`{name}` is named twice"))
                    .label("the second time")
                    .report(self.findings);
            }
            names.push(name);
        }
        names
    }

    /// Reads the `note`: a text for the people who read the file.
    fn note(&mut self, table: &Table<'_>) -> Option<Box<str>> {
        let note = self.named(table, "note")?;
        Some(note.text.split_whitespace().collect::<Vec<_>>().join(" ").into())
    }

    /// Reads the state that an exit names, and how the exit leads there.
    fn leads(&mut self, exit: &Table<'_>, span: Range<usize>) -> (Option<Name>, Leads) {
        let ways = [("push", Leads::Push), ("pop", Leads::Pop), ("resume", Leads::Resume)];
        let mut given =
            exit.iter().filter(|(key, _)| key.get_ref() == "to" || ways.iter().any(|way| key.get_ref() == way.0));
        if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
            let (first, second) =
                if first.span().start < second.span().start { (first, second) } else { (second, first) };
            let message =
                format!("an exit leads to one place: it has `{}` and `{}`", first.get_ref(), second.get_ref());
            Mistake::error("exit", second.span(), message)
                .label("a second place")
                .help("write two exits, or remove one of the two")
                .report(self.findings);
        }
        let Some((key, leads)) = ways.into_iter().find(|(key, _)| exit.contains_key(key)) else {
            let to = self.given(exit, "to", "an exit", span).and_then(|to| self.string(to, "`to`"));
            let is_back = to.as_ref().is_some_and(|to| to.text == PREVIOUS);
            return if is_back { (None, Leads::Back) } else { (to, Leads::To) };
        };
        if leads == Leads::Pop {
            if !self.yes(exit, key)
                && exit.get(key).is_some_and(|value| matches!(value.get_ref(), TreeValue::Boolean(_)))
            {
                let at = exit.get(key).map_or(span, Spanned::span);
                Mistake::error("exit", at, "`pop` is `true`, or is left out")
                    .help("write `pop = true`, or the state that the exit leads to: `to = \"..\"`")
                    .origin(Origin::MayFollow)
                    .report(self.findings);
            }
            return (None, leads);
        }
        (self.named(exit, key), leads)
    }

    /// Reads the `score` or `weight` of an exit, if its state chooses by it. Reports the key by which the state does not choose.
    fn rank(&mut self, exit: &Table<'_>, choose: Choose) -> Option<Rank> {
        for by in [Choose::Best, Choose::Random] {
            let Some((at, _)) = exit.get_key_value(by.key()).filter(|_| by != choose) else { continue };
            let key = by.key();
            Mistake::error("choice", at.span(), format!("`{key}` says nothing in a state that does not choose by it"))
                .label(format!("the state has no `choose = \"{by}\"`"))
                .help(match choose {
                    Choose::First => format!("write `choose = \"{by}\"` in the state"),
                    _ => format!("write `{}`: the state has `choose = \"{choose}\"`", choose.key()),
                })
                .origin(Origin::MayFollow)
                .report(self.findings);
        }
        let key = choose.key();
        let value = exit.get(key).filter(|_| choose != Choose::First)?;
        let span = value.span();
        let operand = self.calculation(value, &format!("`{key}`"))?;
        if let Operand::Atom(Atom::Number(number)) = operand {
            let is_wrong = !number.is_finite() || choose == Choose::Random && number < 0.0;
            if is_wrong {
                let least = if choose == Choose::Random { ", 0 or more" } else { "" };
                return Mistake::error("choice", span, format!("`{key}` must be a number{least}"))
                    .label("not such a number")
                    .fail(self.findings);
            }
            if choose == Choose::Random && number == 0.0 {
                Mistake::warning("never-taken", span.clone(), "this exit is never taken: its `weight` is 0")
                    .label("never taken")
                    .help("give it a weight above 0, or remove the exit")
                    .report(self.findings);
            }
        }
        Some(Rank { by: choose, operand, span })
    }

    pub(super) fn condition(&mut self, value: &SpannedValue<'_>, what: &str) -> Option<Box<When>> {
        if let TreeValue::Table(table) = value.get_ref() {
            self.known_keys(table, "a condition", SCRIPT_KEYS);
            let Some(script) = table.get("script") else {
                return missing_key("script", "a condition", value.span()).fail(self.findings);
            };
            return self.word(script, "`script`").map(|script| Box::new(When::Script(script)));
        }
        if let TreeValue::Boolean(holds) = value.get_ref() {
            let help = if *holds {
                format!("remove {what}: without one, it always holds")
            } else {
                format!("it would never hold, so remove what depends on it; in a text, {what} may be `\"false\"`")
            };
            return self.mistyped(value, what, "a string", Some(help));
        }
        if let TreeValue::Array(parts) = value.get_ref() {
            let parts: Option<Vec<_>> = parts.iter().map(|part| part.get_ref().as_str()).collect();
            let in_or = |part: &str| if part.contains(" or ") { format!("({part})") } else { part.to_owned() };
            let parts = parts.map(|parts| parts.into_iter().map(in_or).collect::<Vec<_>>().join(" and "));
            let help = parts.map(|parts| format!("write one text: `\"{parts}\"`"));
            return self.mistyped(value, what, "a string", help);
        }
        let (expr, Name { text, span }) = self.parsed(value, what, grammar::parse)?;
        self.defined.expanded(expr, &span, self.findings).map(|expr| Box::new(When::Expr { expr, text, span }))
    }

    /// Parses a text by the grammar of conditions. Also returns the text.
    pub(super) fn parsed<O>(
        &mut self,
        value: &SpannedValue<'_>,
        what: &str,
        parse: fn(&str, &SourceMap) -> Result<O, Box<Mistake>>,
    ) -> Option<(O, Name)> {
        let name = self.string(value, what)?;
        let written = self.text.get(name.span.clone()).unwrap_or_default();
        match parse(&name.text, &SourceMap::of(&name.text, written, name.span.start)) {
            Ok(parsed) => Some((parsed, name)),
            Err(mistake) => mistake.fail(self.findings),
        }
    }

    /// Returns the value of a required key. Reports the key if it is missing.
    pub(super) fn given<'t, 'v>(
        &mut self,
        table: &'t Table<'v>,
        key: &'static str,
        of: &str,
        span: Range<usize>,
    ) -> Option<&'t SpannedValue<'v>> {
        let value = table.get(key);
        // A misspelled key has already been reported as unknown. The key `do` of an exit is similar to `to`, but known.
        let is_meant = |name: &str| {
            let is_similar = || self.findings.nearest(name, [key]).is_some();
            !EXIT_KEYS.contains(&name) && (other_words(name).any(|other| other == key) || is_similar())
        };
        if value.is_none() && !table.keys().any(|name| is_meant(name.get_ref())) {
            self.findings.add(missing_key(key, of, span));
        }
        value
    }

    pub(super) fn known_keys(&mut self, table: &Table<'_>, of: &str, known: &[&str]) {
        for (key, value) in table.iter() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                if of == "a machine" || of == "a file of machines" {
                    if let Some(mistake) = header_of_state(key, value) {
                        self.findings.add(mistake);
                        continue;
                    }
                }
                let nearest = self.findings.nearest(name, known.iter().copied());
                let other = other_words(name).find(|key| known.contains(key) && !table.contains_key(key));
                let nearest = other.map(ToOwned::to_owned).or(nearest);
                let is_state = nearest.is_none() && of == "a state" && has_keys_of_state(value);
                let help = if is_state {
                    format!("write a state in another one as `[states.fight.states.{name}]`")
                } else {
                    format!("known keys: {}", known.join(", "))
                };
                Mistake::error("unknown-key", key.span(), format!("unknown key `{name}` in {of}"))
                    .label("not a key of the format")
                    .help(help)
                    .meant(nearest)
                    .origin(Origin::MayFollow)
                    .report(self.findings);
            }
        }
    }

    /// Returns the range of a key: the last place before its value where the key's name occurs. `value` is the range of the value.
    pub(super) fn key_span(&self, key: &str, value: Range<usize>) -> Range<usize> {
        let before = self.text.get(..value.start).unwrap_or_default();
        match before.rfind(key) {
            Some(start) => start..start + key.len(),
            None => value,
        }
    }

    pub(super) fn string(&mut self, value: &SpannedValue<'_>, what: &str) -> Option<Name> {
        match value.get_ref() {
            TreeValue::String(text) => Some(Name { text: text.to_string(), span: value.span() }),
            _ => self.mistyped(value, what, "a string", None),
        }
    }

    /// Reads a text that names something.
    pub(super) fn word(&mut self, value: &SpannedValue<'_>, what: &str) -> Option<Name> {
        let name = self.string(value, what)?;
        if !is_blank(value) {
            return Some(name);
        }
        Mistake::error("wrong-type", name.span, format!("{what} is empty"))
            .label("nothing")
            .origin(Origin::MayFollow)
            .fail(self.findings)
    }

    /// Reads the text of a key.
    fn named(&mut self, table: &Table<'_>, key: &str) -> Option<Name> {
        self.string(table.get(key)?, &format!("`{key}`"))
    }

    /// Reads `at`: the name of a value.
    fn time_value(&mut self, value: &SpannedValue<'_>) -> Option<Name> {
        let help = "name the value of the game that has this time, in seconds: `at = \"wave_end\"`";
        match value.get_ref() {
            TreeValue::String(_) => self.string(value, "`at`").and_then(|name| self.value_name(name, help)),
            _ => self.mistyped(value, "`at`", "the name of a value", Some(help.into())),
        }
    }

    /// Returns a name if a value of the game can have it. Reports it otherwise.
    pub(super) fn value_name(&mut self, name: Name, help: &str) -> Option<Name> {
        if is_name(&name.text) {
            return Some(name);
        }
        Mistake::error("bad-name", name.span.clone(), format!("`{name}` is not the name of a value"))
            .label("a name is one word")
            .help(help)
            .origin(Origin::MayFollow)
            .fail(self.findings)
    }

    /// Returns whether the value of a key is `true`. Reports a value that is neither `true` nor `false`.
    fn yes(&mut self, table: &Table<'_>, key: &str) -> bool {
        let Some(value) = table.get(key) else { return false };
        match value.get_ref() {
            TreeValue::Boolean(yes) => *yes,
            _ => self.mistyped(value, &format!("`{key}`"), "true or false", None).unwrap_or(false),
        }
    }

    pub(super) fn table<'t, 'v>(&mut self, value: &'t SpannedValue<'v>, what: &str) -> Option<&'t Table<'v>> {
        match value.get_ref() {
            TreeValue::Table(table) => Some(table),
            _ => self.mistyped(value, what, "a table", None),
        }
    }

    pub(super) fn mistyped<O>(
        &mut self,
        value: &SpannedValue<'_>,
        what: &str,
        expected: &'static str,
        help: Option<String>,
    ) -> Option<O> {
        let message = format!("{what} must be {expected}, not {}", type_of(value.get_ref()));
        let mistake = Mistake::error("wrong-type", value.span(), message)
            .label(format!("expected {expected}"))
            .origin(Origin::MayFollow);
        Mistake { help, ..mistake }.fail(self.findings)
    }
}

/// Returns the keys of the format for a word that other formats use instead.
fn other_words(name: &str) -> impl Iterator<Item = &'static str> {
    const WORDS: [(&str, &[&str]); 10] = [
        ("to", &["target", "goto", "go_to", "next", "state"]),
        ("when", &["if", "condition", "guard"]),
        ("on", &["event", "trigger", "message"]),
        ("after", &["delay"]),
        ("behavior", &["action"]),
        ("exits", &["transitions"]),
        ("states", &["children", "substates"]),
        ("do", &["action", "actions", "effect"]),
        ("enter", &["on_enter", "entry_actions"]),
        ("exit", &["on_exit", "exit_actions"]),
    ];
    WORDS.iter().filter(move |(_, words)| words.contains(&name)).map(|(key, _)| *key)
}

/// Returns the mistake for a table that was probably meant as a state or a machine: `[idle]`, `[state.idle]`, `[machine.imp]`.
fn header_of_state(key: &Key<'_>, value: &SpannedValue<'_>) -> Option<Mistake> {
    let TreeValue::Table(table) = value.get_ref() else { return None };
    let name: &str = key.get_ref();
    let in_quotes = |word: &&str| name.strip_prefix(*word).is_some_and(|name| name.starts_with('.'));
    let of_tables = if matches!(name, "state" | "State" | "States" | "machine") { table.keys().next() } else { None };
    let (message, meant) = if let Some(word) = ["states", "machines"].into_iter().find(in_quotes) {
        let message = format!("`{name}` stands in quotes, so that it is one name");
        (message, format!("{word}.{}", quoted(&name[word.len() + 1..])))
    } else if let Some(state) = of_tables {
        let plural = if name == "machine" { "machines" } else { "states" };
        (format!("`{name}` is written `{plural}`"), format!("{plural}.{}", state.get_ref()))
    } else if has_keys_of_state(value) || table.is_empty() {
        (format!("`[{name}]` is not the header of a state"), format!("states.{name}"))
    } else {
        return None;
    };
    let mistake = Mistake::error("unknown-key", key.span(), message).label("not a key of the format");
    Some(mistake.help(format!("write `[{meant}]`")).origin(Origin::Unread))
}

/// Returns whether a value is a table with a key that states have.
fn has_keys_of_state(value: &SpannedValue<'_>) -> bool {
    let table = value.get_ref().as_table();
    table.is_some_and(|table| table.keys().any(|key| STATE_KEYS.contains(&key.get_ref().as_ref())))
}

/// Returns the mistake for a missing required key.
pub(crate) fn missing_key(key: &str, of: &str, at: Range<usize>) -> Mistake {
    let mistake = Mistake::error("missing-key", at, format!("{of} has no `{key}`"))
        .label(format!("needs `{key}`"))
        .origin(Origin::MayFollow);
    match key {
        "initial" => mistake.help("name the state that a machine begins in: `initial = \"..\"`"),
        "states" => mistake.help("define a state: `[states.idle]`"),
        "name" => mistake.help("name what the owner does: `{ name = \"walk\", speed = 2 }`"),
        "never" => mistake.help("say what must hold: `never = \"in(attack) and stunned\"`"),
        "to" => mistake.help("name the state that the exit leads to: `to = \"..\"`"),
        _ => mistake,
    }
}
