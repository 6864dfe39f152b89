//! Random definition files, and their words: the behaviors are the nodes of a program, and they do what its table says.
//!
//! The files have what a machine runs, in every combination. Those of `tests/proofs` have only what the proof decides.

use std::fmt::Write as _;
use std::sync::Arc;

use demeanor::definition::{Definition, Vocabulary};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::program::{Id, STATES, StateRow, id};
use crate::puppet::{Event, Forms, Node, Origin, Puppet};
use crate::script::File;

impl File {
    #[track_caller]
    pub(crate) fn parsed(&self, forms: &'static Forms) -> Definition<Puppet> {
        Definition::parse(&self.0, &vocabulary(forms)).unwrap_or_else(|problems| panic!("{problems}\n{}", self.0))
    }

    #[track_caller]
    pub(crate) fn reload(&self, definition: &Definition<Puppet>) {
        definition.reload(&self.0).unwrap_or_else(|problems| panic!("{problems}\n{}", self.0));
    }

    /// With another name for a state.
    pub(crate) fn renamed(&self, id: Id) -> Self {
        Self(self.0.replace(&format!("s{id}"), &format!("s_1{id}")))
    }
}

fn vocabulary(forms: &'static Forms) -> Vocabulary<Puppet> {
    let words = Vocabulary::new()
        .field("x", |puppet: &Puppet, _| puppet.words.x, |puppet, x| puppet.words.x = x)
        .field("y", |puppet: &Puppet, _| puppet.words.y, |puppet, y| puppet.words.y = y)
        .flag_field("lit", |puppet: &Puppet, _| puppet.words.is_lit, |puppet, is_lit| puppet.words.is_lit = is_lit)
        // No number, if both are 0.
        .value("n", |puppet: &Puppet, _| puppet.words.x / puppet.words.y)
        .random(|puppet: &mut Puppet, _| puppet.words.draw())
        .action("act", |puppet: &mut Puppet, table| puppet.record(Event::Acted(0), table))
        .action_with("give", |puppet: &mut Puppet, number, table| puppet.record(Event::Acted(number.to_bits()), table))
        .message("game", |origin| matches!(origin, Origin::Game))
        .message("own", |origin| matches!(origin, Origin::Own))
        .message_value("game", "number", |_| 3.0);
    (0..STATES).fold(words, |words, id| words.behavior(format!("b{id}"), Arc::new(Node::<0>::new(id, 0, forms))))
}

/// One of some texts. In it, `@` is the number of a state, and `#` any small number.
fn text(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    (select(of), id(), 0..6_u8)
        .prop_map(|(text, id, number)| text.replace('@', &id.to_string()).replace('#', &number.to_string()))
}

/// Likewise, or none.
fn maybe(probability: f64, of: &'static [&'static str]) -> impl Strategy<Value = String> {
    option::weighted(probability, text(of)).prop_map(Option::unwrap_or_default)
}

/// What a condition asks at any time, and what only an exit can ask.
const ASKED: &[&str] = &[
    "x < #",
    "x >= #",
    "y == #",
    "n != #",
    "lit",
    "not lit",
    "in(s@)",
    "not in(s@)",
    "time_in(s@) >= #",
    "x + 2 * y > max(n, #)",
];
const ASKED_BY_AN_EXIT: &[&str] =
    &["time_in_state > 0.#", "chance(0.#)", "chance_per_second(0.#)", "message.number > #", "lit", "x < #", "in(s@)"];

/// How an exit opens. The global state is never entered, so that it draws no durations.
const OPENS: &[&str] = &[
    ", after = 1",
    ", after = 3",
    ", after = 0.25",
    ", after = '2 ticks'",
    ", always = true",
    ", on = 'game'",
    ", on = 'own'",
    ", on = ['game', 'own']",
    ", at = 'n'",
    ", after = '0.5 s .. 3 s'",
    ", after = '2 .. 9 ticks'",
    ", after = 'x'",
];
const OPENS_ALWAYS: &[&str] = OPENS.split_at(9).0;

fn condition(last: &'static [&'static str]) -> impl Strategy<Value = String> {
    (text(last), maybe(0.4, &[" and ", " or "]), text(ASKED))
        .prop_map(|(last, and, first)| if and.is_empty() { last } else { first + &*and + &*last })
}

/// An exit: what comes before its rank, which some states choose by, the rank, and what comes behind it.
fn exit(opens: &'static [&'static str]) -> impl Strategy<Value = [String; 3]> {
    let leads = prop_oneof![
        6 => text(&["to = 's@'"]),
        1 => text(&["to = '$previous'", "push = 's@'", "pop = true", "resume = 's@'"]),
    ];
    let when = (condition(ASKED_BY_AN_EXIT), any::<bool>());
    let rank = maybe(0.7, &["1", "0", "3", "'x'", "'y - x'", "'n'"]);
    let more = [
        maybe(0.1, &[", cooldown = 2", ", cooldown = '0.5 s .. 3 s'", ", cooldown = 'x'"]),
        maybe(0.1, &[", do = 'act'", ", do = { give = 'x + y' }", ", do = ['act', { give = 'time_in_state' }]"]),
        maybe(0.1, &[", set = { x = 'x + 1' }", ", set = { lit = true }", ", set = { lit = false, y = 'x' }"]),
        maybe(0.2, &[", restart = true"]),
        maybe(0.4, &[", even_final = true"]),
    ];
    (leads, maybe(0.8, opens), when, rank, more).prop_map(|(leads, opens, (mut when, has_condition), rank, more)| {
        if opens.contains(" on = ") {
            when = when.replace("chance_per_second", "chance");
        }
        if !opens.contains("on = 'game'") {
            when = when.replace("message.number", "n");
        }
        let when = if has_condition || opens.is_empty() || opens.contains("always") {
            format!(", when = '{when}'")
        } else {
            String::new()
        };
        [[leads, opens, when].concat(), rank, more.concat()]
    })
}

/// What a state says, beside where it lies. The global state is never entered or left.
fn state(is_global: bool) -> BoxedStrategy<String> {
    let keys = (
        [
            maybe(0.6, &["behavior = 'b@'\n", "behavior = 'b@'\n", "behavior = ['b@', 'b#']\n"]),
            maybe(0.1, &["ignore = 'own'\n", "ignore = 'game'\n"]),
        ],
        [
            maybe(0.15, &["enter = 'act'\n", "enter = { give = 'x' }\n"]),
            maybe(0.15, &["exit = 'act'\n", "exit = ['act', { give = 'time_in_state' }]\n"]),
            maybe(0.4, &["every = 0.25\n", "every = 1\n", "every = 3\n", "every = '0.5 s .. 1 s'\n", "every = 'x'\n"]),
            maybe(0.1, &["final = true\n"]),
        ],
        option::weighted(0.15, condition(ASKED)),
    );
    let exits = vec(exit(if is_global { OPENS_ALWAYS } else { OPENS }), 0..4);
    (keys, maybe(0.2, &["best", "random"]), exits)
        .prop_map(move |((of_all, of_others, guard), choose, exits)| {
            let mut text = of_all.concat();
            if !is_global {
                text += &of_others.concat();
                if let Some(guard) = guard {
                    writeln!(text, "enter_when = '{guard}'").unwrap();
                }
            }
            if !choose.is_empty() {
                writeln!(text, "choose = '{choose}'").unwrap();
            }
            text += "exits = [\n";
            for [before, number, behind] in exits {
                let ranked = match &*choose {
                    "best" if !number.is_empty() => format!(", score = {number}"),
                    "random" if !number.is_empty() => format!(", weight = {number}"),
                    _ => String::new(),
                };
                writeln!(text, "  {{ {before}{ranked}{behind} }},").unwrap();
            }
            text + "]\n"
        })
        .boxed()
}

/// A file with states that lie in each other like those of a program. A state without children may run another machine.
pub(crate) fn file(rows: Vec<StateRow>, has_global: bool) -> impl Strategy<Value = File> {
    let round = (id(), [state(false), state(false), state(false)]);
    let states = (vec(state(false), usize::from(STATES)), state(true), option::weighted(0.3, round));
    states.prop_map(move |(states, global, round)| {
        let has_children = |id: Id| rows.iter().any(|row| row.parent == Some(id));
        let round = round.filter(|(id, _)| !has_children(*id));
        let mut file = "initial = 's0'\nticks_per_second = 4\n".to_owned();
        if has_global {
            write!(file, "global = 's{STATES}'\n[states.s{STATES}]\n{global}").unwrap();
        }
        for ((id, row), state) in (0..).zip(&rows).zip(&states) {
            writeln!(file, "[states.s{id}]").unwrap();
            if let Some(parent) = row.parent {
                writeln!(file, "parent = 's{parent}'").unwrap();
                if !rows[usize::from(parent)].regions.is_empty() {
                    writeln!(file, "region = {}", row.region).unwrap();
                }
            }
            if !row.regions.is_empty() {
                let regions: Vec<_> = row.regions.iter().map(|id| format!("'s{id}'")).collect();
                writeln!(file, "regions = [{}]", regions.join(", ")).unwrap();
            }
            if let Some(initial) = row.initial {
                writeln!(file, "initial = 's{initial}'").unwrap();
            }
            if row.keeps_history && has_children(id) {
                file += "history = true\n";
            }
            if round.as_ref().is_some_and(|(runs, _)| *runs == id) {
                let done = "exits = [\n  { to = 's0', on = 'done', when = 'x < 3' },\n";
                write!(file, "machine = 'round'\n{}", state.replace("exits = [\n", done)).unwrap();
            } else {
                file += state;
            }
        }
        for (id, _) in (0..).zip(&rows).filter(|(id, row)| !row.keeps_history || !has_children(*id)) {
            file = file.replace(&format!("resume = 's{id}'"), &format!("to = 's{id}'"));
        }
        if let Some((_, states)) = round {
            file += "[machines.round]\ninitial = 'r0'\n";
            for (nth, state) in states.iter().enumerate() {
                let rename = |text: String, id: Id| text.replace(&format!("s{id}"), &format!("r{}", id % 3));
                let state = (0..STATES).fold(state.replace("resume", "to"), rename);
                write!(file, "[machines.round.states.r{nth}]\n{state}").unwrap();
            }
        }
        File(file)
    })
}
