//! Which exit is taken: alone, in a batch, and as it is explained, the decision is the same. And so is what was drawn for it.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::definition::{Definition, ExitReport, Verdict, Vocabulary};
use demeanor::{Fsm, State};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Guard, Told};
use crate::troop::in_all_ways;

/// What conditions call `flag0` and so on.
fn flag_of(guard: &Guard, i: usize) -> bool {
    [guard.is_brave, guard.is_hungry, guard.is_alarmed][i]
}

/// What exits call `message0` and so on.
const MESSAGES: [Told; 3] = [Told::Noise, Told::Alarm, Told::Pain];

/// A behaviour that cannot be begun, or not ended, with a flag; or that asks for a change itself.
enum Act {
    Enters(usize),
    Exits(usize),
    Bolts(usize),
}

impl State<Guard> for Act {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        if matches!(self, Self::Bolts(flag) if flag_of(guard, *flag)) {
            fsm.change_state(&Roost);
        }
    }

    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        !matches!(self, Self::Enters(flag) if flag_of(guard, *flag))
    }

    fn can_exit(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        !matches!(self, Self::Exits(flag) if flag_of(guard, *flag))
    }
}

struct Roost;
impl State<Guard> for Roost {}

static ACTS: [Act; 7] =
    [Act::Enters(0), Act::Enters(1), Act::Enters(2), Act::Exits(0), Act::Exits(1), Act::Exits(2), Act::Bolts(0)];

fn vocabulary() -> Vocabulary<Guard> {
    let mut vocabulary = Vocabulary::new()
        .random(|guard: &mut Guard, _| guard.draw())
        .value("luck", |guard: &Guard, _| f64::from(guard.luck % 10));
    for (i, message) in MESSAGES.into_iter().enumerate() {
        vocabulary = vocabulary
            .flag(format!("flag{i}"), move |guard: &Guard, _| flag_of(guard, i))
            .message(format!("message{i}"), move |told| *told == message);
    }
    for (i, act) in ACTS.iter().enumerate() {
        vocabulary = vocabulary.behaviour(format!("act{i}"), act);
    }
    vocabulary
}

/// Seven states: the first two have two children each, which begin in the first.
const NAMES: [&str; 7] = ["a", "b", "a1", "a2", "b1", "b2", "c"];

#[derive(Clone, Debug)]
struct Exit {
    to: usize,
    when: Option<&'static str>,
    on: Option<usize>,
    /// Its score or weight, if its state chooses by it.
    rank: Option<&'static str>,
    cooldown: Option<&'static str>,
    /// How it leads there, or back.
    leads: &'static str,
}

#[derive(Clone, Debug)]
struct Written {
    act: Option<usize>,
    enter_when: Option<&'static str>,
    choose: Option<&'static str>,
    exits: Vec<Exit>,
}

fn written() -> impl Strategy<Value = Vec<Written>> {
    let when = prop::sample::select(vec![
        "flag0",
        "not flag1",
        "flag2 or chance(0.3)",
        "chance(0.2) and flag0",
        "time_in_state > 1",
        "true",
    ]);
    let enter = prop::sample::select(vec!["flag0", "not flag0", "flag1 or flag2", "true"]);
    let rank = prop::option::of(prop::sample::select(vec!["0", "2", "time_in_state", "luck - 5", "luck / 0"]));
    let cooldown = prop::option::weighted(0.2, prop::sample::select(vec!["1 s", "2.5 s", "1 s .. 3 s", "luck"]));
    let leads = prop_oneof![
        6 => Just("to"),
        1 => prop::sample::select(vec!["push", "resume", "pop = true", "to = '$previous'"]),
    ];
    let on = prop::option::weighted(0.3, 0..3_usize);
    let exit = (0..NAMES.len(), prop::option::of(when), on, rank, cooldown, leads);
    let exit = exit.prop_map(|(to, when, on, rank, cooldown, leads)| Exit { to, when, on, rank, cooldown, leads });
    let choose = prop::option::weighted(0.3, prop::sample::select(vec!["best", "random"]));
    let state = (
        prop::option::of(0..ACTS.len()),
        prop::option::weighted(0.3, enter),
        choose,
        prop::collection::vec(exit, 0..4),
    );
    let state = state.prop_map(|(act, enter_when, choose, exits)| Written { act, enter_when, choose, exits });
    // The last one is the global state.
    prop::collection::vec(state, NAMES.len() + 1)
}

/// The file of a machine. An exit to its own state that would be taken in every tick is left out.
fn file(states: &[Written]) -> String {
    let mut file = String::from("initial = 'a'\nglobal = 'always'\n");
    for (i, state) in states.iter().enumerate() {
        let name = NAMES.get(i).copied().unwrap_or("always");
        writeln!(file, "[states.{name}]").unwrap();
        match name {
            "a" | "b" => writeln!(file, "initial = '{name}1'\nhistory = true").unwrap(),
            "a1" | "a2" | "b1" | "b2" => writeln!(file, "parent = '{}'", &name[..1]).unwrap(),
            _ => {}
        }
        if let Some(act) = state.act {
            writeln!(file, "behaviour = 'act{act}'").unwrap();
        }
        if let (Some(when), Some(_)) = (state.enter_when, NAMES.get(i)) {
            writeln!(file, "enter_when = '{when}'").unwrap();
        }
        if let Some(choose) = state.choose {
            writeln!(file, "choose = '{choose}'").unwrap();
        }
        let exits = state.exits.iter().filter(|exit| exit.to != i || !matches!(exit.when, None | Some("true")));
        let exits: Vec<_> = exits
            .map(|exit| {
                let when = exit.when.map(|when| format!(", when = '{when}'")).unwrap_or_default();
                let on = exit.on.map(|on| format!(", on = 'message{on}'")).unwrap_or_default();
                let key = if state.choose == Some("best") { "score" } else { "weight" };
                let rank = exit.rank.filter(|rank| state.choose.is_some() && !(*rank == "0" && key == "weight"));
                let rank = rank.map(|rank| format!(", {key} = '{rank}'")).unwrap_or_default();
                let cooldown = exit.cooldown.filter(|cooldown| name != "always" || !cooldown.contains(".."));
                let cooldown = cooldown.map(|cooldown| format!(", cooldown = '{cooldown}'")).unwrap_or_default();
                let leads = match exit.leads {
                    way @ ("to" | "push" | "resume") => format!("{way} = '{}'", NAMES[exit.to]),
                    back => back.to_owned(),
                };
                format!("{{ {leads}{when}{on}{rank}{cooldown} }}")
            })
            .collect();
        writeln!(file, "exits = [{}]", exits.join(", ")).unwrap();
    }
    file
}

fn guards() -> impl Strategy<Value = Vec<Guard>> {
    let guard = any::<(bool, bool, bool, u32)>().prop_map(|(is_brave, is_hungry, is_alarmed, luck)| Guard {
        is_brave,
        is_hungry,
        is_alarmed,
        luck,
        ..Guard::recording_changes()
    });
    prop::collection::vec(guard, 1..150)
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn a_batch_decides_for_each_owner_as_its_machine_would(states in written(), guards in guards(), begin in 0..NAMES.len()) {
        let definition = Definition::parse(&file(&states), &vocabulary()).unwrap();
        let begin = definition.state(NAMES[begin]).unwrap();
        in_all_ways(&definition, &begin, &guards, &[1.0, 2.0, 3.0]);
    }

    /// What is explained as taken is what a tick takes; if nothing is, the owner stays. Neither leads to a refused change.
    #[test]
    fn what_is_explained_is_what_is_done(states in written(), guards in guards(), begin in 0..NAMES.len()) {
        // A behaviour's own requests are not explained.
        let states: Vec<_> = states
            .into_iter()
            .map(|state| Written { act: state.act.filter(|act| !matches!(ACTS[*act], Act::Bolts(_))), ..state })
            // Exits that lead back are played by `memory.txt`.
            .map(|mut state| {
                state.exits.iter_mut().for_each(|exit| exit.leads = "to");
                state
            })
            .collect();
        let definition = Definition::parse(&file(&states), &vocabulary()).unwrap();
        for guard in guards.into_iter().take(20) {
            let mut machine = definition.machine();
            machine.set_current(definition.state(NAMES[begin]).unwrap());
            let (mut done, mut told, mut clock) = (guard.clone(), guard, 1.5);
            let reports = machine.with(&mut told, &mut clock, |guard, fsm, cx| definition.explain_with(guard, fsm, cx));
            let mut taken = reports.iter().filter(|report| report.verdict == Verdict::Taken && report.on.is_none());
            let first = taken.next();
            prop_assert!(taken.next().is_none(), "{:?}", reports);
            // A change that a guard keeps from an exit is one that the machine refuses.
            for report in &reports {
                if matches!(report.verdict, Verdict::CannotExit(_) | Verdict::CannotEnter(_)) {
                    let to = definition.state(&report.to).unwrap();
                    prop_assert!(!machine.clone().change_state(&mut done.clone(), to, &mut clock), "{}", report);
                }
            }
            machine.update(&mut done, &mut clock);
            match (first, done.trace().first()) {
                (None, None) => {}
                (Some(report), Some(change)) => {
                    let to = definition.state(&report.to).unwrap();
                    let to = to.initial().unwrap_or(to);
                    prop_assert!(change.ends_with(&format!("-> {to} (change)")), "{} but {}", report, change);
                }
                (report, change) => prop_assert!(false, "{:?} but {:?}", report, change),
            }
            prop_assert!(done.trace().iter().all(|change| !change.contains("refused")), "{:?}", done.trace());

            // What each message would do.
            for (i, message) in MESSAGES.iter().enumerate() {
                let name = format!("message{i}");
                let mut machine = definition.machine();
                machine.set_current(definition.state(NAMES[begin]).unwrap());
                let reports =
                    machine.with(&mut done.clone(), &mut clock, |guard, fsm, cx| definition.explain_with(guard, fsm, cx));
                let waits = |report: &&demeanor::definition::ExitReport| {
                    report.on.as_deref() == Some(&*name) && report.verdict == Verdict::Taken
                };
                // What is drawn for it depends on what was drawn before: only those without chance can be compared.
                let is_drawn = |report: &ExitReport| report.weight.is_some();
                let has_chance = |report: &ExitReport| report.questions.iter().any(|one| one.text.contains("chance"));
                if reports.iter().any(|report| is_drawn(report) || has_chance(report)) {
                    continue;
                }
                let taken = reports.iter().find(waits).is_some();
                prop_assert_eq!(machine.send(&mut done.clone(), message, &mut clock), taken, "{:?}", reports);
            }
        }
    }
}
