//! Plays files of cases in which guards run on a machine from a file: one alone, and many in batches, which have to do the same.
//!
//! ```text
//! ## A state is left when its condition holds
//! initial = 'a'
//! states.a.exits = [{ to = 'b', when = 'brave' }]
//! states.b = { behavior = 'b', final = true }
//! $ start; update
//! $ brave = true; tick 1; in
//! > a -> b (change); enter b; b
//! ```
//!
//! Behind `$` are steps, see [`Player::step`], and behind `>` is all that happens in them, with the guard's changes. The guards start
//! at 0 seconds, before the first step that needs them, with what has been set until then. A case without a definition has that of
//! the case before it. The lines below `reload` are the file that is read then.

use std::fmt::Write as _;
use std::sync::Arc;

use demeanor::definition::{Definition, Definitions, ExitReport, FileState, Problem, StateName, Vocabulary};
use demeanor::{Fsm, State};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::case_files::{Case, assert_cases};
use crate::guard::{self, Guard, Notes, Told};
use crate::troop::{Alike, Request};

#[derive(Deserialize, JsonSchema)]
struct Tell {
    word: String,
}

/// Takes health.
struct Hurt;
impl State<Guard> for Hurt {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.health -= 10.0;
    }
}

/// A hungry guard asks for a change.
pub(crate) struct Ask;
impl State<Guard> for Ask {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        if guard.is_hungry {
            fsm.change_state(&ByCode);
        }
    }
}

struct ByCode;
impl State<Guard> for ByCode {}

struct Locked;
impl State<Guard> for Locked {
    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        guard.ammo > 100.0
    }
}

/// Lets its owner go after half a second, or to its death.
struct Stagger;
impl State<Guard> for Stagger {
    fn can_exit(&self, _: &Guard, fsm: &Fsm<'_, Guard>, clock: &f64) -> bool {
        fsm.time_in_state(clock) >= 0.5 || fsm.target().is_some_and(|to| to.name() == "dead")
    }
}

#[derive(Deserialize, JsonSchema)]
struct March {
    speed: f64,
}

/// Notes each callback, and handles one message. A hungry guard cannot leave `sleep`.
struct Voice {
    name: String,
    hears: Told,
}

impl State<Guard> for Voice {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("enter {}", self.name));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("update {}", self.name));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("exit {}", self.name));
    }

    fn suspend(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("suspend {}", self.name));
    }

    fn resume(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("resume {}", self.name));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        guard.note(format!("hear {}", self.name));
        *told == self.hears
    }

    fn can_exit(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        self.name != "sleep" || !guard.is_hungry
    }
}

#[derive(Deserialize, JsonSchema)]
struct Dash {
    to: Option<StateName>,
}

/// A hungry guard changes at once, and is hungry no more.
struct Dashes(Option<FileState<Guard>>);
impl State<Guard> for Dashes {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        if std::mem::take(&mut guard.is_hungry) {
            let to = self.0.as_ref().map_or((&ByCode).into(), |to| to.state().expect("the definition is there"));
            let is_done = fsm.change_state_now(guard, to, clock);
            guard.note(if is_done { "done" } else { "not done" });
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Leap {
    then: StateName,
    or: Option<StateName>,
}

/// Changes to a state of the file.
struct Leaps(FileState<Guard>);
impl State<Guard> for Leaps {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state(self.0.state().expect("the definition is there"));
    }
}

/// The behaviors that only note what they do.
const NOTES: &[&str] = &[
    "a", "b", "c", "d", "fight", "aim", "shoot", "wander", "attack", "hide", "peace", "combat", "cover", "stand",
    "walk",
];

fn vocabulary() -> Vocabulary<Guard> {
    let vocabulary = guard::vocabulary()
        .behavior("ask", &Ask)
        .behavior("hurt", &Hurt)
        .behavior("locked", &Locked)
        .behavior("stagger", &Stagger)
        .behavior("look", Arc::new(Voice { name: "look".into(), hears: Told::Noise }))
        .behavior("sleep", Arc::new(Voice { name: "sleep".into(), hears: Told::Alarm }))
        .behavior_with("march", |params: March| Voice {
            name: format!("march at {}", params.speed),
            hears: Told::Noise,
        })
        .behavior_with("tell", |params: Tell| Notes(params.word))
        .behavior_with_states("dash", |params: Dash, states| Dashes(params.to.and_then(|to| states.get(&to))))
        .behavior_with_states("leap", |params: Leap, states| {
            Leaps(states.get(params.or.as_ref().unwrap_or(&params.then)).expect("it has been checked"))
        });
    NOTES.iter().fold(vocabulary, |vocabulary, name| vocabulary.behavior(*name, Notes::new(*name)))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn told(text: &str) -> Told {
    let (word, damage) = text.split_once(' ').unwrap_or((text, "0"));
    match word {
        "noise" => Told::Noise,
        "alarm" => Told::Alarm,
        "pain" => Told::Pain,
        "hit" | "critical" => Told::Hit { damage: number(damage), is_critical: word == "critical" },
        _ => panic!("nobody sends {text}"),
    }
}

fn set(guard: &mut Guard, field: &str, value: &str) {
    match field {
        "health" => guard.health = number(value),
        "ammo" => guard.ammo = number(value),
        "patience" => guard.patience = number(value),
        "luck" => guard.luck = value.parse().expect("a whole number"),
        "brave" => guard.is_brave = value == "true",
        "hungry" => guard.is_hungry = value == "true",
        "sees" => guard.enemy_visible = value == "true",
        _ => panic!("a guard has no {field}"),
    }
}

/// Guards, and the definition that they run on.
struct Player {
    definitions: Definitions<Guard>,
    definition: Definition<Guard>,
    /// As they are before they have started.
    guard: Guard,
    guards: Option<Alike>,
    clock: f64,
}

impl Player {
    fn guards(&mut self) -> &mut Alike {
        self.guards.get_or_insert_with(|| Alike::start(&self.definition, &self.guard))
    }

    fn note(&mut self, text: &str) {
        self.guards().each(|troop, who| troop.guard(who).note(text));
    }

    /// Asks for something, and notes whether it was done.
    fn ask(&mut self, request: &Request, [done, not_done]: [&str; 2]) {
        let clock = self.clock;
        self.guards().each(|troop, who| {
            let is_done = troop.ask(who, request.clone(), clock);
            troop.guard(who).note(if is_done { done } else { not_done });
        });
    }

    /// What is said of the exits of each guard's state, a line each.
    fn explain(&mut self, what: &str) {
        let (definition, clock) = (self.definition.clone(), self.clock);
        self.guards().each(|troop, who| {
            troop.with(who, clock, |guard, fsm, clock| {
                let reports: Vec<ExitReport> = match what {
                    "" => definition.explain_with(guard, fsm, clock),
                    "entry" => definition.explain_entry(&definition.initial(), guard, clock),
                    message => definition.explain_message(&told(message), guard, fsm, clock),
                };
                for report in reports {
                    guard.note(format!("{}: {report}", report.of));
                }
            });
        });
    }

    fn step(&mut self, step: &str) {
        if let Some((field, value)) = step.split_once(" = ") {
            match &mut self.guards {
                Some(guards) => guards.each(|troop, who| set(troop.guard(who), field, value)),
                None => set(&mut self.guard, field, value),
            }
            return;
        }
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        if let Some(times) = verb.strip_suffix('x') {
            (0..times.parse().expect("a number")).for_each(|_: u32| self.step(rest));
            return;
        }
        match verb {
            "machine" => self.definition = self.definitions.get(rest).expect("the file has the machine").clone(),
            "start" => _ = self.guards(),
            "at" => self.clock = number(rest),
            "update" => {
                let clock = self.clock;
                self.guards().update(clock);
            }
            "tick" => {
                self.clock += number(rest);
                self.step("update");
            }
            "ticks" => {
                let (count, tick) = rest.split_once(" of ").expect("`6 of 0.1`");
                (0..count.parse().expect("a number")).for_each(|_: u32| {
                    self.step(&format!("tick {tick}"));
                    self.step("in");
                });
            }
            "send" => self.ask(&Request::Send(told(rest)), ["handled", "not handled"]),
            "change" | "push" => {
                let to = self.definition.state(rest).unwrap_or_else(|| panic!("there is no state {rest}"));
                let request = if verb == "push" { Request::Push(to) } else { Request::Change(to) };
                self.ask(&request, ["done", "not done"]);
            }
            "pop" => self.ask(&Request::Pop, ["done", "not done"]),
            "in" => {
                let state = self.guards().state();
                self.note(&state.to_string());
            }
            "active" => {
                let clock = self.clock;
                self.guards().each(|troop, who| {
                    troop.with(who, clock, |guard, fsm, _| {
                        let active: Vec<_> = fsm.active_states().map(ToString::to_string).collect();
                        guard.note(active.join(" "));
                    });
                });
            }
            "path" => {
                let states = std::iter::successors(Some(self.guards().state()), |state| state.parent());
                let mut path: Vec<_> = states.map(|state| state.to_string()).collect();
                path.reverse();
                self.note(&path.join("/"));
            }
            "explain" => self.explain(rest),
            _ => panic!("`{step}` is no step"),
        }
    }

    fn reload(&mut self, file: &str) {
        if let Err(problems) = self.definition.reload(file) {
            problems.iter().map(Problem::located).for_each(|line| self.note(&line));
        }
    }
}

/// Some notes in as many lines as it takes.
fn wrapped(notes: &[String]) -> Vec<String> {
    let mut lines = Vec::<String>::new();
    for note in notes {
        match lines.last_mut().filter(|line| line.chars().count() + note.chars().count() < 120) {
            Some(line) => write!(line, "; {note}").expect("a string takes it"),
            None => lines.push(format!("> {note}")),
        }
    }
    lines
}

fn play(case: &Case<'_>) -> Vec<String> {
    let definitions = Definitions::parse(&case.definition(), &vocabulary());
    let definitions = definitions.unwrap_or_else(|problems| panic!("{problems}"));
    let definition = definitions.first().clone();
    let guard = Guard::recording_changes();
    let mut player = Player { definitions, definition, guard, guards: None, clock: 0.0 };
    let (head, rest) = case.lines.split_at(case.head());
    let mut lines: Vec<_> = head.iter().map(|line| (*line).to_owned()).collect();
    for step in rest.chunk_by(|_, next| !next.starts_with("$ ")) {
        let (line, file) = step.split_first().expect("it begins with `$`");
        for step in line[2..].split("; ") {
            match step {
                "reload" => player.reload(&file.iter().flat_map(|line| [*line, "\n"]).collect::<String>()),
                _ => player.step(step),
            }
        }
        lines.extend(step.iter().map(|line| (*line).to_owned()));
        let trace = player.guards.as_mut().map(Alike::take_trace);
        lines.extend(wrapped(&trace.unwrap_or_default()));
    }
    lines
}

#[test]
fn guards_do_what_a_file_says() {
    assert_cases("changes.txt", play);
}

#[test]
fn what_an_exit_says_besides_its_condition_counts() {
    assert_cases("exits.txt", play);
}

#[test]
fn what_conditions_ask_is_answered_and_explained() {
    assert_cases("questions.txt", play);
}

#[test]
fn a_file_is_reloaded_under_guards() {
    assert_cases("reloads.txt", play);
}

#[test]
fn a_file_with_regions_is_reloaded_under_guards() {
    assert_cases("region_reloads.txt", play);
}

#[test]
fn exits_of_states_in_regions_lead_out_and_back() {
    assert_cases("region_exits.txt", play);
}

#[test]
fn a_state_chooses_among_exits_by_scores_weights_and_cooldowns() {
    assert_cases("choices.txt", play);
}

#[test]
fn exits_and_states_run_actions_and_set_values() {
    assert_cases("actions.txt", play);
}

#[test]
fn exits_lead_back_to_what_a_machine_remembers() {
    assert_cases("memory.txt", play);
}
