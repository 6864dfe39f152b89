//! Runs the machine of a file with given values instead of the game's, to show that a finding of the proof really happens.

use std::collections::BTreeMap;
use std::iter;
use std::rc::Rc;
use std::sync::Arc;

use super::Definition;
use super::graph::DefinedState;
use super::properties::PropertyWatch;
use super::vocabulary::Vocabulary;
use crate::change::Change;
use crate::format::action::{WrittenAction, WrittenActions};
use crate::format::expression::{Expr, When, flag_compared};
use crate::format::name::Name;
use crate::format::operand::{Atom, Input, Operand};
use crate::format::outline::{Checked, ExitId, Outline, StateId};
use crate::format::prove::witness::{CHANCE, Stage, StageRun, Witness, WitnessChange, WitnessRow, WitnessValue};
use crate::format::prove::{ExitRuns, Proof};
use crate::format::words::{ValueKind, Words};
use crate::machine::state_machine::StateMachine;
use crate::owner::Owner;
use crate::state::StateRef;

/// The maximum number of ticks that are played.
const MOST_TICKS: u32 = 10_000;

/// The maximum number of changes in one callback: enough to go twice round the longest circle that the proof looks for.
const MOST_AT_ONCE: u32 = 128;

/// The action that tells the machine's owner which exit is taken, by its index among the exits of the file.
const TAKEN: &str = "taken";

/// The machine of a file, without its behaviors, scripts and actions.
struct MachineReplay {
    definition: Definition<Actor>,
    /// The index of each value in [`Actor::values`], and its kind.
    values: BTreeMap<String, (usize, ValueKind)>,
    /// The exits of the file.
    exits: Vec<ExitId>,
}

/// A machine that is played tick by tick.
#[derive(Clone)]
struct PlayedMachine {
    replay: Rc<MachineReplay>,
    machine: StateMachine<Actor>,
    actor: Actor,
    now: f64,
    watch: PropertyWatch,
    violated: Vec<String>,
}

/// An owner with given values.
#[derive(Clone, Default)]
struct Actor {
    values: Vec<f64>,
    changes: Vec<WitnessChange>,
    /// The indices of the exits that were taken in this tick.
    taken: Vec<usize>,
    /// The value of each random number in this tick.
    chance: Option<f64>,
    /// Whether a random number was drawn in a tick without a `chance`.
    has_drawn: bool,
}

/// A message: its name and its fields.
type Message = (String, Vec<(String, WitnessValue)>);

impl Owner for Actor {
    type Context<'a> = f64;
    type Message = Message;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn on_change(&mut self, change: &Change<'_, Self>, clock: &mut f64) {
        if change.is_taken() {
            let name = |state: Option<&StateRef<Self>>| state.map(ToString::to_string).unwrap_or_default();
            self.changes.push(WitnessChange { time: *clock, from: name(change.from), to: name(change.to) });
        }
    }
}

impl MachineReplay {
    /// Creates the replay. `None` if the outline cannot be run because it uses a word both as a number and as a flag.
    fn of(outline: &Outline) -> Option<Self> {
        let mut outline = outline.clone();
        let mut words = Words::default();
        let mut exits = Vec::new();
        for (of, state) in outline.states.iter_mut().enumerate() {
            let state = Arc::make_mut(state);
            state.behaviors.clear();
            state.script = None;
            let whens = state.exits.iter_mut().map(|exit| (exit.on.as_ref().map(|on| on.text.clone()), &mut exit.when));
            for (message, when) in whens.chain([(None, &mut state.enter_when)]) {
                if let Some(When::Script(script)) = when.as_deref() {
                    // The answer of the script is unknown, so its condition counts as false.
                    let span = script.span.clone();
                    let never = When::Expr { expr: Expr::Bool(false), text: "false".into(), span };
                    *when = Some(Box::new(never));
                }
                if let Some(message) = &message {
                    words.message_fields.entry(message.clone()).or_default();
                }
                if let Some(When::Expr { expr, .. }) = when.as_deref() {
                    read(&mut words, expr, message.as_deref());
                }
            }
            let of_exits = state.exits.iter().flat_map(|exit| {
                let ranks = exit.rank.iter().map(|rank| &rank.operand);
                ranks.chain(arguments(&exit.actions)).map(|operand| (operand, exit.on()))
            });
            let of_state = [&state.enter, &state.exit].into_iter().flat_map(arguments).map(|argument| (argument, None));
            for (operand, message) in of_exits.chain(of_state) {
                operand.inputs().for_each(|input| see(&mut words, input, message, ValueKind::Number));
            }
            for action in state.actions().filter(|action| action.sets) {
                let is_flag = matches!(action.argument, Some(Operand::Atom(Atom::Bool(_))));
                let kind = if is_flag { ValueKind::Flag } else { ValueKind::Number };
                words.values.entry(action.name.text.clone()).or_insert(kind);
            }
            let times = state.durations().filter_map(|duration| duration.value());
            for value in times.chain(state.exits.iter().filter_map(|exit| exit.at())) {
                words.values.insert(value.into(), ValueKind::Number);
            }
            for actions in [&mut state.enter, &mut state.exit].into_iter().flatten() {
                actions.retain(|action| action.sets);
            }
            for (nth, exit) in state.exits.iter_mut().enumerate() {
                let span = exit.span.clone();
                #[expect(clippy::cast_precision_loss, reason = "no file has so many exits")]
                let argument = Some(Atom::Number(exits.len() as f64).into());
                exits.push(ExitId { of: StateId::new(of), nth });
                let name = Name { text: TAKEN.into(), span: span.clone() };
                let actions = exit.actions.get_or_insert_default();
                actions.retain(|action| action.sets);
                actions.push(WrittenAction { name, sets: false, argument, span });
            }
        }
        for when in outline.properties.iter().flat_map(|property| property.rule.conditions()) {
            if let When::Expr { expr, .. } = when {
                read(&mut words, expr, None);
            }
        }
        let mut vocabulary = Vocabulary::new().random(|actor: &mut Actor, _| {
            actor.has_drawn |= actor.chance.is_none();
            actor.chance.unwrap_or(0.5)
        });
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is the index of an exit")]
        let note = |actor: &mut Actor, exit: f64, _: &mut f64| actor.taken.push(exit as usize);
        vocabulary = vocabulary.action_with(TAKEN, note);
        let mut values = BTreeMap::new();
        for (at, (name, kind)) in words.values.into_iter().enumerate() {
            vocabulary = match kind {
                ValueKind::Number => vocabulary.field(
                    name.clone(),
                    move |actor: &Actor, _| actor.values[at],
                    move |actor, number| actor.values[at] = number,
                ),
                ValueKind::Flag => vocabulary.flag_field(
                    name.clone(),
                    move |actor: &Actor, _| actor.values[at] != 0.0,
                    move |actor, is| actor.values[at] = f64::from(u8::from(is)),
                ),
            };
            values.insert(name, (at, kind));
        }
        for (message, fields) in words.message_fields {
            let name = message.clone();
            vocabulary = vocabulary.message(message.clone(), move |sent: &Message| sent.0 == name);
            for (field, kind) in fields {
                let of = field.clone();
                let read = move |sent: &Message| {
                    sent.1.iter().find(|(name, _)| *name == of).map_or(0.0, |(_, value)| value.number())
                };
                vocabulary = match kind {
                    ValueKind::Number => vocabulary.message_value(message.clone(), field, read),
                    ValueKind::Flag => {
                        vocabulary.message_flag(message.clone(), field, move |sent: &Message| read(sent) != 0.0)
                    }
                };
            }
        }
        let params = vec![Rc::default(); outline.states.len()];
        let definition = Definition::of(Checked { outline, params, scopes: None }, None, &vocabulary).ok()?;
        Some(Self { definition, values, exits })
    }
}

impl PlayedMachine {
    /// Creates a machine that has not been started.
    fn new(replay: &Rc<MachineReplay>, state: StateRef<Actor>) -> Self {
        Self {
            replay: Rc::clone(replay),
            machine: replay.definition.machine_in(state).with_limit(MOST_AT_ONCE),
            actor: Actor { values: vec![0.0; replay.values.len()], ..Actor::default() },
            now: 0.0,
            watch: PropertyWatch::default(),
            violated: Vec::new(),
        }
    }

    /// Sets the values of a row, and sends its message.
    fn set(&mut self, row: &WitnessRow) {
        for (name, value) in &row.values {
            if let Some((at, _)) = self.replay.values.get(name) {
                self.actor.values[*at] = value.number();
            } else if name == CHANCE {
                self.actor.chance = Some(value.number());
            }
        }
        if let Some(message) = &row.message {
            self.start();
            self.machine.send(&mut self.actor, message, &mut self.now);
        }
    }

    fn update(&mut self) {
        self.start();
        self.machine.update(&mut self.actor, &mut self.now);
    }

    fn start(&mut self) {
        if !self.machine.is_started() {
            self.machine.start(&mut self.actor, &mut self.now);
        }
    }
}

impl StageRun for PlayedMachine {
    fn fork(&self) -> Box<dyn StageRun> {
        Box::new(self.clone())
    }

    fn tick(&mut self, row: &WitnessRow, time: f64) -> bool {
        self.now = time;
        self.actor.changes.clear();
        self.actor.taken.clear();
        self.actor.chance = None;
        self.set(row);
        self.update();
        let Self { replay, machine, actor, now, watch, violated } = self;
        *violated =
            machine.with(actor, now, |actor, fsm, now| replay.definition.check_properties(watch, actor, fsm, now));
        // Here, a machine that changes in a circle reaches the limit earlier than in a game.
        !actor.has_drawn && actor.changes.len() < MOST_AT_ONCE as usize
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.replay.values.get(name).map(|(at, _)| self.actor.values[*at])
    }

    fn active(&self) -> Vec<(StateId, f64)> {
        let time = |state: &StateRef<Actor>| {
            // The definition is never reloaded, so that the numbers of its states are those of the outline.
            let of = state.downcast_ref::<DefinedState<Actor>>()?;
            Some((StateId::new(of.fixed.index), self.machine.time_in(&**state, &self.now)?))
        };
        self.machine.active_states().filter_map(time).collect()
    }

    fn waited(&self) -> Vec<Option<f64>> {
        self.watch.since().map(|since| Some(self.now - since?)).collect()
    }

    fn violated(&self) -> &[String] {
        &self.violated
    }

    fn taken(&self) -> Vec<ExitId> {
        self.actor.taken.iter().map(|exit| self.replay.exits[*exit]).collect()
    }
}

impl Stage for Rc<MachineReplay> {
    fn numbers(&self) -> Vec<String> {
        let numbers = self.values.iter().filter(|(_, (_, kind))| *kind == ValueKind::Number);
        numbers.map(|(name, _)| name.clone()).collect()
    }

    fn begin(&self) -> Box<dyn StageRun> {
        Box::new(PlayedMachine::new(self, self.definition.initial()))
    }

    fn play(&self, from: Option<StateId>, rows: Vec<WitnessRow>, tick: f64, ticks: u32) -> Option<Witness> {
        if !(tick > 0.0 && tick.is_finite() && ticks <= MOST_TICKS) {
            return None;
        }
        let from = from.map(|id| self.definition.states().swap_remove(id.index()));
        let state = match &from {
            Some(state) => iter::successors(Some(state.clone()), |state| state.initial()).last()?,
            None => self.definition.initial(),
        };
        let mut run = PlayedMachine::new(self, state);
        let mut next = rows.iter().peekable();
        for at in 0..=ticks {
            run.now = f64::from(at) * tick;
            while let Some(row) = next.next_if(|row| row.time <= run.now + 1e-9) {
                run.set(row);
            }
            run.update();
        }
        let end = run.machine.current().map(ToString::to_string).unwrap_or_default();
        let from = from.map(|state| state.to_string());
        Some(Witness { from, tick, ticks, rows, changes: run.actor.changes, end })
    }
}

impl Proof {
    /// Examines the machines of a file, read by [`Outline::parse_all`] or [`Outline::load_all`], in all situations. Pass all
    /// machines of the file: a state that one machine has copied from another may be used in only one of the two.
    ///
    /// The amount of work is limited. If the limit is reached, the [`notes`](Self::notes) list the parts that were not
    /// examined.
    #[must_use]
    pub fn of(outlines: &[Outline]) -> Self {
        Self::with_stages(outlines, stage)
    }
}

impl ExitRuns {
    /// Searches for runs that take the exits of a machine. The amount of work is limited.
    #[must_use]
    pub fn of(outline: &Outline) -> Self {
        Self::with_stage(outline, stage(outline))
    }
}

fn stage(outline: &Outline) -> Option<Box<dyn Stage>> {
    Some(Box::new(Rc::new(MachineReplay::of(outline)?)))
}

fn arguments(actions: &WrittenActions) -> impl Iterator<Item = &Operand> {
    actions.iter().flat_map(|actions| actions.iter()).filter_map(|action| action.argument.as_ref())
}

/// Adds the words of a condition. `message` is the message that its exit waits for.
fn read(words: &mut Words, expr: &Expr, message: Option<&str>) {
    let mut see = |input: &Input, kind| see(words, input, message, kind);
    for test in expr.tests() {
        match test {
            Expr::Flag(flag) => see(flag, ValueKind::Flag),
            Expr::Compare { left, op, right } => match flag_compared(left, *op, right) {
                Some((flag, _)) => see(flag, ValueKind::Flag),
                None => left.inputs().chain(right.inputs()).for_each(|input| see(input, ValueKind::Number)),
            },
            _ => {}
        }
    }
}

/// Adds the word of an input.
fn see(words: &mut Words, Input { name, is_field }: &Input, message: Option<&str>, kind: ValueKind) {
    if !is_field {
        words.values.insert(name.text.clone(), kind);
    } else if let Some(message) = message {
        words.message_fields.entry(message.into()).or_default().insert(name.text.clone(), kind);
    }
}
