//! What the pages show of the log and of reports is what the library writes.
#![cfg(feature = "definition")]

mod captured_log;

use std::fmt;
use std::fs;
use std::path::Path;

use captured_log::log_lines;
use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Change, Flow, Fsm, Owner, State, StateMachine};

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).unwrap()
}

/// Returns a page's first block of text.
fn shown(name: &str) -> String {
    let page = page(name);
    page.split_once("```text\n").unwrap().1.split_once("```").unwrap().0.to_owned()
}

struct Hare {
    is_afraid: bool,
}

impl Owner for Hare {
    type Context<'a> = Flow;
    type Message = ();

    fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) {
        flow.note(change);
    }
}

#[test]
fn the_page_on_journals_shows_the_coverage_as_it_is_written() {
    let vocabulary = Vocabulary::new().flag("afraid", |hare: &Hare, _| hare.is_afraid);
    let file = "initial = 'sit'\nstates.sit.exits = [{ to = 'run', when = 'afraid' }]\n\
                states.run.exits = [{ to = 'sit', when = 'not afraid' }]";
    let hares = Definition::parse(file, &vocabulary).unwrap();
    let (mut flow, mut machine) = (Flow::new(), hares.machine());
    machine.update(&mut Hare { is_afraid: true }, &mut flow);
    assert_eq!(hares.coverage(&flow).unwrap().to_string().trim_end(), shown("journal.md").trim_end());
}

struct Guard {
    arrows: u32,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Alf")
    }
}

struct Patrol;
struct Attack;
struct Hesitate;

impl State<Guard> for Patrol {}

impl State<Guard> for Attack {
    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, (): &()) -> bool {
        guard.arrows > 0
    }
}

impl State<Guard> for Hesitate {
    fn exit(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, (): &mut ()) {
        fsm.change_state(&Attack);
    }
}

/// Returns a line as a logger without times writes it.
fn written(line: &str) -> String {
    format!("[{}", line.replacen(": ", "] ", 1))
}

#[test]
fn the_page_on_silent_characters_shows_a_refusal_as_it_is_logged() {
    let (mut alf, mut machine) = (Guard { arrows: 0 }, StateMachine::new(&Patrol));
    let lines = log_lines(|| assert!(!machine.change_state(&mut alf, &Attack, &mut ())));
    assert_eq!(lines.iter().map(|line| written(line) + "\n").collect::<Vec<_>>(), [shown("why.md")]);
}

#[test]
fn the_page_on_silent_characters_shows_a_warning_as_it_is_logged() {
    let (mut alf, mut machine) = (Guard { arrows: 9 }, StateMachine::new(&Hesitate));
    let lines = log_lines(|| assert!(machine.change_state(&mut alf, &Patrol, &mut ())));
    let warning = lines.iter().find_map(|line| line.strip_prefix("WARN demeanor: Alf: ")).unwrap();
    assert!(page("why.md").contains(&format!("`{}`", warning.replace("Hesitate", "Patrol"))), "{warning}");
}
