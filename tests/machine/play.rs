//! Plays tables of rows about one machine, or about one of several in a batch. `trace/table` describes the format of a row.
//!
//! ```text
//! # the_name_of_the_row (rule 4)
//! in Stove; global Always; handling House; refusing B.can_enter
//! Stove.update: change Table; note rest of Stove.update
//! start
//! update => Always.update; House.update; Kitchen.update; Stove.update
//!     rest of Stove.update; Stove.exit; Stove -> Table (change); Table.enter
//! ```
//!
//! `in` creates a machine, and says what its owner does apart from recording. [`perform`] lists the acts of a callback, and
//! [`Player::step`] the steps. `in A, A, B` puts three owners into a batch. All notes are then in one trace, with the number
//! of the owner. A number before a callback or a step selects an owner.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::captured_log::log_lines;
use crate::trace::places::named;
use crate::trace::table::{RowPlayer, callback_and_times, number, play_rows, split};
use crate::trace::{Actor, Stage, view};
use demeanor::{Agent, Fsm, GameTime, NextWake, Pending, StateMachine, StateRef};
#[cfg(feature = "std")]
use demeanor::{Batch, Key};

/// Where an owner's machine is.
#[allow(dead_code, reason = "each test binary takes the homes it needs")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Home {
    Machine,
    Agent,
    /// A batch of one owner, which knows only the owner's states.
    #[cfg(feature = "std")]
    Batch,
    /// A batch of three owners that do the same, or of one owner that panics. It knows all states, so that the owners change
    /// in bulk.
    #[cfg(feature = "std")]
    Crowd,
}

/// For rows about a machine by itself.
#[allow(dead_code)]
pub(crate) const ALONE: &[Home] = &[Home::Machine, Home::Agent];

/// For rows with several owners.
#[allow(dead_code)]
#[cfg(feature = "std")]
pub(crate) const IN_A_BATCH: &[Home] = &[Home::Batch];

#[allow(dead_code)]
pub(crate) const EVERYWHERE: &[Home] = &[
    Home::Machine,
    Home::Agent,
    #[cfg(feature = "std")]
    Home::Batch,
    #[cfg(feature = "std")]
    Home::Crowd,
];

/// Plays all rows of a table in each home, and then panics if any of them failed.
#[track_caller]
pub(crate) fn play(homes: &[Home], table: &'static str) {
    play_rows::<Player>(homes, table);
}

/// What is asked for in a callback. `now`, `ahead`, `hear` and `hear-ahead` are carried out within the call: `now B is refused` expects that the change
/// is not made or is abandoned, `hear boo is done` that the message is handled.
fn perform(act: &'static str, is_open: bool, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
    let (verb, rest) = split(act);
    let (what, outcome) = rest.split_once(" is ").unwrap_or((rest, ""));
    let to = || named(what, is_open);
    let expect = |done: bool| assert!(outcome.is_empty() || done == (outcome == "done"), "{act}");
    if let Some(times) = verb.strip_suffix('x') {
        (0..times.parse().expect("a number")).for_each(|_: u32| perform(rest, is_open, actor, fsm, time));
        return;
    }
    match verb {
        "change" => fsm.change_state(to()),
        "ensure" => fsm.ensure_state(to()),
        "force" => fsm.force_state(to()),
        "revert" => fsm.revert_state(),
        "push" => fsm.push_state(to()),
        "pop" => fsm.pop_state(),
        "resume" => fsm.resume_state(to()),
        "send" => fsm.send(rest),
        "replace" => fsm.replace_state(to()),
        "clear" => fsm.clear_requests(),
        "stay" => fsm.stay(),
        "now" => expect(fsm.change_state_now(actor, to(), time)),
        "push-now" => expect(fsm.push_state_now(actor, to(), time)),
        "pop-now" => expect(fsm.pop_state_now(actor, time)),
        "ahead" => expect(fsm.change_state_ahead(actor, to(), time)),
        "hear-ahead" => expect(fsm.send_ahead(actor, &what, time)),
        "hear" => expect(fsm.send_now(actor, &what, time)),
        "change-next" => fsm.change_state_next(to()),
        "every" => fsm.send_every(number(split(rest).0), split(rest).1),
        "cancel" => {
            let canceled = match split(rest) {
                ("all", _) => fsm.cancel(|_| true),
                ("to", place) => fsm.cancel(|pending| pending.is_to(named(place, is_open))),
                (word, _) => fsm.cancel(|pending| pending.message() == Some(&word)),
            };
            actor.note(format!("{canceled} canceled"));
        }
        "pending" => actor.note(pending(&fsm.pending())),
        "sleep" if rest.is_empty() => fsm.sleep(),
        "sleep" => fsm.sleep_for(number(rest)),
        "after" => match split(split(rest).1) {
            ("change", to) => fsm.change_state_after(number(split(rest).0), named(to, is_open)),
            ("pop", _) => fsm.pop_state_after(number(split(rest).0)),
            (_, word) => fsm.send_after(number(split(rest).0), word),
        },
        "catch" => {
            let caught = catch_unwind(AssertUnwindSafe(|| perform(rest, is_open, actor, fsm, time)));
            actor.note(if caught.is_err() { "caught" } else { "nothing to catch" });
        }
        "from" => {
            let (seconds, act) = split(rest);
            if fsm.time_in_state(time) >= number(seconds) {
                perform(act, is_open, actor, fsm, time);
            }
        }
        "nothing" => {}
        "note" => actor.note(rest),
        "in" => assert!(fsm.is_in_state(to())),
        "view" => actor.note(view(fsm.current(), fsm.previous(), fsm.path())),
        "active" => actor.note(active(fsm.active_states())),
        "target" => actor.note(fsm.target().map_or("to nowhere".to_owned(), |target| format!("to {target}"))),
        "requests" => actor.note(if fsm.has_requests() { "some wait" } else { "none waits" }),
        "time" => actor.note(fsm.time_in_state(time).to_string()),
        "times" => actor.note(times(rest, is_open, |place| fsm.time_in(place, time))),
        _ => panic!("nobody can ask for `{act}`"),
    }
}

/// Returns the timers of a machine, each with its message, when it is due to the millisecond (`?` before it runs), and its state.
fn pending(timers: &[Pending<Actor>]) -> String {
    let shown = |timer: &Pending<Actor>| {
        let word = timer.message().map_or(String::new(), |word| format!(" {word}"));
        let due = timer.due().map_or("?".to_owned(), |due| ((due * 1000.0).round() / 1000.0).to_string());
        let of = timer.state().map_or(String::new(), |state| format!(" of {state}"));
        format!("{timer}{word} at {due}{of}")
    };
    if timers.is_empty() { "none".to_owned() } else { timers.iter().map(shown).collect::<Vec<_>>().join(", ") }
}

/// Returns the names of active states.
fn active<'a>(states: impl Iterator<Item = &'a StateRef<Actor>>) -> String {
    states.map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the times in several places, or `-`: `5 - 3`.
fn times(places: &str, is_open: bool, time_in: impl Fn(&crate::trace::Place) -> Option<f64>) -> String {
    let time = |place| time_in(named(place, is_open)).map_or("-".to_owned(), |time| time.to_string());
    places.split(' ').map(time).collect::<Vec<_>>().join(" ")
}

/// The owners, and the homes of their machines.
#[cfg_attr(feature = "std", expect(clippy::large_enum_variant, reason = "a row has one of them"))]
enum Hosts {
    Machine(Actor, StateMachine<Actor>),
    Agent(Box<Agent<Actor>>),
    #[cfg(feature = "std")]
    Batch(Batch<Actor>, Vec<Key>),
}

type SharedTrace = Arc<Mutex<Vec<String>>>;

struct Player {
    hosts: Hosts,
    time: GameTime,
    is_open: bool,
    /// The trace that several owners share.
    squad: Option<SharedTrace>,
    /// The lines that have been logged since a row last compared them.
    log: Vec<String>,
}

/// Calls a method of each owner's machine, and passes the owner and the result to `$then`.
macro_rules! each {
    ($player:ident, $verb:ident($($argument:expr),* $(; $last:expr)?), $then:expr) => {{
        let time = &mut $player.time;
        match &mut $player.hosts {
            Hosts::Machine(actor, machine) => {
                let returned = machine.$verb(actor, $($argument,)* time $(, $last)?);
                $then(&*actor, returned);
            }
            Hosts::Agent(agent) => {
                let returned = agent.$verb($($argument,)* time $(, $last)?);
                $then(&**agent, returned);
            }
            #[cfg(feature = "std")]
            Hosts::Batch(batch, keys) => {
                for key in keys {
                    let returned = batch.$verb(*key, $($argument,)* time $(, $last)?);
                    $then(&batch[*key], returned);
                }
            }
        }
    }};
}

/// Calls a method on each machine that needs neither the owner nor the time.
macro_rules! set {
    ($player:ident, $verb:ident($($argument:expr),*)) => {
        match &mut $player.hosts {
            Hosts::Machine(_, machine) => _ = machine.$verb($($argument),*),
            Hosts::Agent(agent) => _ = agent.machine_mut().$verb($($argument),*),
            #[cfg(feature = "std")]
            Hosts::Batch(batch, keys) => keys.iter().for_each(|key| assert!(batch.$verb(*key, $($argument),*))),
        }
    };
}

/// Adds a word such as `handling House` to a stage.
fn having(stage: Stage, word: &'static str) -> Stage {
    match split(word) {
        ("guards", _) => stage.recording_guards(),
        ("view", _) => stage.recording_view(),
        ("target", _) => stage.recording_target(),
        ("completion", _) => stage.recording_completion(),
        ("end", _) => stage.recording_end(),
        ("handling", name) => stage.handling(name),
        ("refusing", guard) => stage.refusing(guard),
        ("panicking" | "panics", callback) => stage.panicking_in(callback),
        _ => panic!("`{word}` says nothing of an owner"),
    }
}

/// Makes states known to a batch, as when an owner is in them.
#[cfg(feature = "std")]
fn know(batch: &mut Batch<Actor>, places: &str, is_open: bool) {
    for place in places.split(' ').filter(|place| !place.is_empty()) {
        let guide = batch.insert(Actor::default(), named(place, is_open));
        batch.remove(guide);
    }
}

impl RowPlayer for Player {
    type Home = Home;

    const BEGIN: &'static str = "in ";

    /// Creates a player from a line such as `in Stove; open; global Always; guards; handling House`.
    fn new(home: Home, line: &'static str) -> Self {
        let mut words = line.split(';').map(str::trim);
        let initial = words.next().and_then(|word| word.strip_prefix("in ")).expect("a state");
        let is_open = line.contains("; open");
        let in_state = |name| if name == "no state" { Stage::idle() } else { Stage::new(named(name, is_open)) };
        let mut stage = in_state(initial.split(", ").next().expect("a state"));
        let mut known = "";
        for word in words.filter(|word| *word != "open") {
            if let Some(places) = word.strip_prefix("knows ") {
                known = places;
                continue;
            }
            stage = match word.strip_prefix("global ") {
                Some(name) => stage.global(named(name, is_open)),
                None => having(stage, word),
            };
        }
        let Stage { actor, machine, time } = stage;
        let mut squad = None;
        let hosts = match home {
            #[cfg(feature = "std")]
            _ if initial.contains(", ") => {
                let mut batch = Batch::new();
                if let Some(global) = machine.global() {
                    batch.set_global(global);
                }
                know(&mut batch, known, is_open);
                let trace = squad.insert(SharedTrace::default());
                let keys = initial.split(", ").enumerate().map(|(number, name)| {
                    let mut actor = actor.clone();
                    actor.in_squad = Some((number, Arc::clone(trace)));
                    batch.insert(actor, named(name, is_open))
                });
                let keys = keys.collect();
                Hosts::Batch(batch, keys)
            }
            Home::Machine => Hosts::Machine(actor, machine),
            Home::Agent => Hosts::Agent(Box::new(Agent::new(actor, machine))),
            #[cfg(feature = "std")]
            Home::Batch | Home::Crowd => {
                let mut batch = Batch::new();
                if let Some(global) = machine.global() {
                    batch.set_global(global);
                }
                if home == Home::Crowd {
                    let known = "A B C D House Kitchen Stove Table Hall Stairs Step Dungeon Gate Cells Corridor Cell Fight Walk";
                    know(&mut batch, known, is_open);
                }
                let count = if home == Home::Crowd && !line.contains("; panicking ") { 3 } else { 1 };
                let insert = |_| batch.insert_machine(actor.clone(), machine.clone()).expect("the same global");
                let keys = (0..count).map(insert).collect();
                Hosts::Batch(batch, keys)
            }
        };
        Self { hosts, time, is_open, squad, log: Vec::new() }
    }

    fn take(&mut self, line: &'static str) -> Vec<Vec<String>> {
        if let Some((callback, acts)) = line.split_once(": ").filter(|(callback, _)| callback.contains('.')) {
            self.with_chosen(callback, |player, callback| player.learn(callback, acts));
        } else {
            let is_one = line.trim_start_matches("panicking ").starts_with("with ");
            for step in if is_one { vec![line] } else { line.split("; ").collect() } {
                let mut log = log_lines(|| match step.strip_prefix("panicking ") {
                    Some(step) => self.panic_in(step),
                    None => self.with_chosen(step, Self::step),
                });
                self.log.append(&mut log);
                if matches!(step, "log" | "warnings") {
                    self.take_traces();
                    let mut lines = std::mem::take(&mut self.log);
                    lines.retain(|line| step == "log" || !line.starts_with("DEBUG"));
                    return vec![if self.squad.is_some() { lines } else { self.of_one_owner(lines) }];
                }
            }
        }
        self.take_traces()
    }
}

impl Player {
    fn actors(&mut self) -> Vec<&mut Actor> {
        match &mut self.hosts {
            Hosts::Machine(actor, _) => vec![actor],
            Hosts::Agent(agent) => vec![&mut **agent],
            #[cfg(feature = "std")]
            Hosts::Batch(batch, keys) => {
                let mut owners: Vec<_> = batch.iter_mut().filter(|(key, _)| keys.contains(key)).collect();
                owners.sort_by_key(|(key, _)| keys.iter().position(|other| other == key));
                owners.into_iter().map(|(_, actor)| actor).collect()
            }
        }
    }

    fn take_traces(&mut self) -> Vec<Vec<String>> {
        match &self.squad {
            Some(trace) => vec![std::mem::take(&mut *trace.lock().expect("no note panics"))],
            None => self.actors().into_iter().map(|actor| actor.take_trace().0).collect(),
        }
    }

    /// Returns the lines of one owner. All owners have the same lines.
    fn of_one_owner(&mut self, lines: Vec<String>) -> Vec<String> {
        let owners = self.actors().len();
        let count = |lines: &[String], line| lines.iter().filter(|other| *other == line).count();
        if lines.iter().any(|line| count(&lines, line) % owners > 0) {
            return lines;
        }
        let is_first = |nth: &usize| count(&lines[..*nth], &lines[*nth]) % owners == 0;
        (0..lines.len()).filter(is_first).map(|nth| lines[nth].clone()).collect()
    }

    /// Acts on one owner if the text begins with a number, on several for `0-2`, and on all owners otherwise.
    fn with_chosen(&mut self, text: &'static str, act: impl FnOnce(&mut Self, &'static str)) {
        #[cfg(feature = "std")]
        if let (true, Hosts::Batch(_, keys)) = (text.starts_with(char::is_numeric), &mut self.hosts) {
            let (chosen, text) = split(text);
            let (first, last) = chosen.split_once('-').unwrap_or((chosen, chosen));
            if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
                let chosen = keys[first..=last].to_vec();
                let mut all = std::mem::replace(keys, chosen);
                act(self, text);
                if let Hosts::Batch(_, keys) = &mut self.hosts {
                    all[first..=last].copy_from_slice(keys);
                    *keys = all;
                }
                return;
            }
        }
        act(self, text);
    }

    fn learn(&mut self, callback: &'static str, acts: &'static str) {
        let (callback, times) = callback_and_times(callback);
        let is_open = self.is_open;
        self.with_stages(|stage| {
            stage.at_most(times, callback, move |actor, fsm, time| {
                acts.split("; ").for_each(|act| perform(act, is_open, actor, fsm, time));
            })
        });
    }

    fn with_stages(&mut self, change: impl Fn(Stage) -> Stage) {
        for actor in self.actors() {
            let stage = Stage { actor: std::mem::take(actor), machine: StateMachine::idle(), time: GameTime::new() };
            *actor = change(stage).actor;
        }
    }

    /// Runs a step that panics once, in the callback that the first line of the row names.
    fn set_limit(&mut self, changes: u32) {
        match &mut self.hosts {
            Hosts::Machine(_, machine) => machine.set_limit(changes),
            Hosts::Agent(agent) => agent.machine_mut().set_limit(changes),
            #[cfg(feature = "std")]
            Hosts::Batch(batch, _) => batch.set_limit(changes),
        }
    }

    fn panic_in(&mut self, step: &'static str) {
        #[cfg(feature = "std")]
        let all = if let Hosts::Batch(_, keys) = &self.hosts { keys.clone() } else { Vec::new() };
        let step = AssertUnwindSafe(|| self.with_chosen(step, Self::step));
        let payload = catch_unwind(step).expect_err("it should panic");
        #[cfg(feature = "std")]
        if let Hosts::Batch(_, keys) = &mut self.hosts {
            *keys = all;
        }
        let told: Vec<_> = self.actors().into_iter().filter_map(Actor::stop_panicking).collect();
        let reached = payload.downcast_ref::<String>().expect("a callback that was told to panics");
        assert_eq!(told, [reached], "the panic reaches the caller");
    }

    fn step(&mut self, step: &'static str) {
        let (verb, rest) = split(step);
        let is_open = self.is_open;
        let to = || named(rest, is_open);
        if let Some(times) = verb.strip_suffix('x') {
            (0..times.parse().expect("a number")).for_each(|_: u32| self.step(rest));
            return;
        }
        let note = |actor: &Actor, done: bool| actor.note(if done { "done" } else { "not done" });
        match verb {
            "start" => each!(self, start(), |_, _done| ()),
            "stop" => each!(self, stop(), |_, _done| ()),
            "update" => self.update(rest),
            #[cfg(feature = "std")]
            "where" | "rows" | "awake" | "remove" | "reinsert" => self.step_of_batch(verb, rest),
            "with" => {
                let act = |actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime| {
                    rest.split("; ").for_each(|act| perform(act, is_open, actor, fsm, time));
                };
                each!(self, with(; act), |_, _done| ());
            }
            "send" => each!(self, send(&rest), |actor: &Actor, done: bool| {
                actor.note(if done { "handled" } else { "not handled" });
            }),
            "change" => each!(self, change_state(to()), note),
            "change-next" => each!(self, change_state_next(to()), note),
            "ensure" => each!(self, ensure_state(to()), note),
            "force" => each!(self, force_state(to()), note),
            "revert" => each!(self, revert_state(), note),
            "push" => each!(self, push_state(to()), note),
            "pop" => each!(self, pop_state(), note),
            "resume" => each!(self, resume_state(to()), note),
            "advance" => self.time.advance(Duration::from_secs_f64(number(rest))),
            "ticks" => self.tick(rest.parse().expect("a number")),
            "after" => match split(split(rest).1) {
                ("change", to) => each!(self, change_state_after(number(split(rest).0), named(to, is_open)), note),
                (_, word) => each!(self, send_after(number(split(rest).0), word), note),
            },
            "every" => each!(self, send_every(number(split(rest).0), split(rest).1), note),
            "sleep" if rest.is_empty() => set!(self, sleep()),
            "sleep" => match &mut self.hosts {
                Hosts::Machine(actor, machine) => machine.sleep_for(actor, number(rest), &self.time),
                Hosts::Agent(agent) => agent.sleep_for(number(rest), &self.time),
                #[cfg(feature = "std")]
                Hosts::Batch(batch, keys) => {
                    for key in keys {
                        assert!(batch.sleep_for(*key, number(rest), &self.time));
                    }
                }
            },
            "wake" => match &mut self.hosts {
                Hosts::Machine(actor, machine) => note(actor, machine.wake()),
                Hosts::Agent(agent) => {
                    let done = agent.wake();
                    note(agent, done);
                }
                #[cfg(feature = "std")]
                Hosts::Batch(batch, keys) => keys.iter().for_each(|key| {
                    let done = batch.wake(*key);
                    note(&batch[*key], done);
                }),
            },
            "global" => match &mut self.hosts {
                Hosts::Machine(_, machine) => machine.set_global(to()),
                Hosts::Agent(agent) => agent.machine_mut().set_global(to()),
                #[cfg(feature = "std")]
                Hosts::Batch(batch, _) => batch.set_global(to()),
            },
            "limit" => self.set_limit(rest.parse().expect("a number")),
            "handling" | "refusing" | "guards" | "panics" => self.with_stages(|stage| having(stage, step)),
            "back" => self.time = GameTime::new(),
            "current" => set!(self, set_current(to())),
            "previous" => set!(self, set_previous(to())),
            "clone" => match &mut self.hosts {
                Hosts::Machine(_, machine) => *machine = machine.clone(),
                Hosts::Agent(agent) => {
                    let clone = agent.machine().clone();
                    *agent.machine_mut() = clone;
                }
                #[cfg(feature = "std")]
                Hosts::Batch(batch, _) => *batch = batch.clone(),
            },
            "view" | "active" | "time" | "times" | "next" | "asleep" | "pending" => {
                let shown = self.shown(verb, rest);
                self.actors().into_iter().zip(shown).for_each(|(actor, shown)| actor.note(shown));
            }
            "log" | "warnings" => {}
            _ => panic!("`{step}` is no step"),
        }
    }

    /// Runs a tick of all owners, or `update one` of the chosen ones.
    #[cfg_attr(not(feature = "std"), expect(unused_variables, reason = "only a batch has several ways"))]
    fn update(&mut self, way: &'static str) {
        match &mut self.hosts {
            Hosts::Machine(actor, machine) => machine.update(actor, &mut self.time),
            Hosts::Agent(agent) => agent.update(&mut self.time),
            #[cfg(feature = "std")]
            Hosts::Batch(batch, _) if way == "in key order" => batch.update_in_key_order(&mut self.time),
            #[cfg(feature = "std")]
            Hosts::Batch(batch, keys) if way == "one" => {
                for key in keys {
                    assert!(batch.update_one(*key, &mut self.time));
                }
            }
            #[cfg(feature = "std")]
            Hosts::Batch(batch, _) if way.starts_with("part ") => {
                let (k, n) = split(split(way).1);
                batch.update_part(k.parse().expect("a part"), n.parse().expect("parts"), &mut self.time);
            }
            #[cfg(feature = "std")]
            Hosts::Batch(batch, _) => batch.update(&mut self.time),
        }
    }

    /// Runs a step of a whole batch.
    #[cfg(feature = "std")]
    fn step_of_batch(&mut self, verb: &str, rest: &'static str) {
        let Hosts::Batch(batch, keys) = &mut self.hosts else { panic!("only a batch has several owners") };
        let shown = match verb {
            "remove" => {
                let (actor, machine) = batch.remove(keys[0]).expect("it is there");
                actor.note(format!("removed from {}", view(machine.current(), machine.previous(), machine.path())));
                return;
            }
            "reinsert" => {
                for key in keys {
                    let (actor, machine) = batch.remove(*key).expect("it is there");
                    *key = batch.insert_machine(actor, machine).expect("the same global");
                }
                return;
            }
            "where" => {
                let path = |key: &Key| batch.path(*key).map(|path| path.map(ToString::to_string).collect::<Vec<_>>());
                keys.iter().map(|key| path(key).map_or("gone".to_owned(), |path| path.join("/"))).collect::<Vec<_>>()
            }
            "rows" => {
                let number = |actor: &Actor| actor.in_squad.as_ref().expect("one of several").0.to_string();
                batch.owners_in(named(rest, self.is_open)).iter().map(number).collect()
            }
            _ => vec![batch.awake().to_string()],
        };
        self.squad.as_ref().expect("several owners").lock().expect("no note panics").push(shown.join(" "));
    }

    /// Returns the answer of each owner's machine to a question.
    fn shown(&self, question: &str, places: &'static str) -> Vec<String> {
        let wake = |wake: NextWake| match wake {
            NextWake::EveryTick => "every tick".to_owned(),
            NextWake::At(time) => format!("at {time}"),
            NextWake::Never => "never".to_owned(),
        };
        let asleep = |wake: NextWake| if wake == NextWake::EveryTick { "no" } else { "yes" }.to_owned();
        let of_machine = |machine: &StateMachine<Actor>| match question {
            "view" => view(machine.current(), machine.previous(), machine.path()),
            "active" => active(machine.active_states()),
            "time" => machine.time_in_state(&self.time).to_string(),
            "times" => times(places, self.is_open, |place| machine.time_in(place, &self.time)),
            "asleep" => asleep(machine.next_wake()),
            "pending" => pending(&machine.pending()),
            _ => wake(machine.next_wake()),
        };
        match &self.hosts {
            Hosts::Machine(_, machine) => vec![of_machine(machine)],
            Hosts::Agent(agent) => vec![of_machine(agent.machine())],
            #[cfg(feature = "std")]
            Hosts::Batch(batch, keys) => {
                let of_owner = |&key: &Key| match question {
                    "view" => view(batch.state_of(key), batch.previous_of(key), batch.path(key).expect("it is there")),
                    "active" => active(batch.active_states(key).expect("it is there")),
                    "time" => batch.time_in_state(key, &self.time).expect("it is there").to_string(),
                    "times" => times(places, self.is_open, |place| batch.time_in(key, place, &self.time)),
                    "asleep" => asleep(batch.next_wake(key).expect("it is there")),
                    "pending" => pending(&batch.pending(key).expect("it is there")),
                    _ => wake(batch.next_wake(key).expect("it is there")),
                };
                keys.iter().map(of_owner).collect()
            }
        }
    }

    /// Updates after each second. Records each second in which more than updates happened, with everything that happened in
    /// it.
    fn tick(&mut self, count: u64) {
        let mut eventful = vec![Vec::new(); self.actors().len()];
        for _ in 0..count {
            self.step("advance 1");
            self.step("update");
            let second = format!("{} s", self.time.total().as_secs());
            for (eventful, actor) in eventful.iter_mut().zip(self.actors()) {
                let trace = actor.take_trace();
                if trace.iter().any(|line| !line.ends_with(".update")) {
                    eventful.push(second.clone());
                    eventful.extend(trace);
                }
            }
        }
        for (eventful, actor) in eventful.into_iter().zip(self.actors()) {
            for line in eventful {
                actor.note(line);
            }
        }
    }
}
