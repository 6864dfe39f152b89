//! What is proved of a file, and the runs of a proof on the definition itself.

use std::collections::BTreeSet;

use demeanor::StateMachine;
use demeanor::definition::{Definition, Outline, Proof, PropertyAnswer, Witness};

use crate::guard::{Guard, Hit};

/// What is proved, to be compared.
#[derive(Debug, Default)]
pub(crate) struct Proved {
    pub(crate) unreachable: BTreeSet<String>,
    pub(crate) never: BTreeSet<(String, usize)>,
    pub(crate) flickering: Vec<BTreeSet<String>>,
    /// Those that lead to each other without end within one tick, which is said instead.
    pub(crate) endless: Vec<BTreeSet<String>>,
    pub(crate) stuck: BTreeSet<String>,
    /// States whose entry condition never holds.
    pub(crate) shut: BTreeSet<String>,
    /// Whether each of the properties holds.
    pub(crate) answers: Vec<PropertyAnswer>,
}

pub(crate) fn proved(text: &str, outline: &Outline) -> Proved {
    let proof = Proof::of(std::slice::from_ref(outline));
    assert_eq!(proof.unlisted(), 0);
    let mut proved = Proved {
        answers: proof.properties().iter().map(|property| property.answer().clone()).collect(),
        ..Proved::default()
    };
    for finding in proof.findings() {
        let problem = finding.problem();
        let at = problem.span();
        // The state and the exit that it is said of.
        let exit = outline.states().iter().find_map(|state| {
            let nth = state.exits().iter().position(|exit| exit.span().start <= at.start && at.end <= exit.span().end);
            nth.map(|nth| (state.name().to_owned(), nth))
        });
        let state = text[at.clone()].to_owned();
        match problem.code_name() {
            "unreachable" => drop(proved.unreachable.insert(state)),
            "no-way-out" => drop(proved.stuck.insert(state)),
            "never-taken" => drop(proved.never.insert(exit.unwrap())),
            "contradiction" if problem.to_string() == "this condition never holds" => {
                proved.never.insert(exit.unwrap());
            }
            "flicker" => {
                let witness = finding.witness().expect("it has been seen");
                proved.flickering.push(witness.changes().iter().map(|change| change.from.clone()).collect());
            }
            "guard-never-holds" => drop(proved.shut.insert(problem.to_string().split('`').nth(1).unwrap().to_owned())),
            "endless-circle" => {
                let witness = finding.witness().expect("it has been seen");
                proved.endless.push(witness.changes().iter().map(|change| change.from.clone()).collect());
            }
            "contradiction" | "property-fails" => {}
            code => panic!("{code}"),
        }
    }
    proved
}

/// Plays a run of the proof on the definition itself. `at_end` is called after each tick.
pub(crate) fn play(
    definition: &Definition<Guard>,
    run: &Witness,
    mut guard: Guard,
    mut at_end: impl FnMut(&StateMachine<Guard>, &Guard, f64),
) -> Guard {
    let mut machine = definition.machine();
    let mut rows = run.rows().iter().peekable();
    for tick in 0.. {
        let mut clock = f64::from(tick) * run.tick();
        if clock > run.seconds() + 1e-6 {
            break;
        }
        while let Some(row) = rows.next_if(|row| row.time <= clock + 1e-9) {
            for (name, value) in &row.values {
                match name.as_str() {
                    "x" => guard.x = value.number(),
                    "y" => guard.y = value.number(),
                    "chance" => guard.fixed_luck = Some(value.number()),
                    _ => guard.a = value.number() != 0.0,
                }
            }
            if !machine.is_started() {
                machine.start(&mut guard, &mut clock);
            }
            if let Some((_, fields)) = &row.message {
                let damage = fields.first().map_or(0.0, |(_, damage)| damage.number());
                machine.send(&mut guard, &Hit(damage), &mut clock);
            }
        }
        if !machine.is_started() {
            machine.start(&mut guard, &mut clock);
        }
        machine.update(&mut guard, &mut clock);
        at_end(&machine, &guard, clock);
    }
    guard
}
