//! Compares what is proved with what is seen.

use std::collections::BTreeSet;

use demeanor::definition::{
    Definition, ExitRun, ExitRuns, Leads, Outline, PropertyAnswer, StateId, UntakenExit, Verdict, Witness,
    WitnessChange,
};

use crate::guard::{Guard, vocabulary};
use crate::property::RandomProperty;
use crate::proved::{play, proved};
use crate::simulator::{Simulator, guards};

/// Whether a property is broken at the end of a run.
fn is_broken_in(definition: &Definition<Guard>, run: &Witness, property: &RandomProperty) -> bool {
    let mut since = None;
    let mut is_broken = false;
    play(definition, run, Guard::default(), |machine, guard, clock| {
        is_broken = property.holds(machine, guard);
        if let Some(to) = property.reach {
            let is_there = machine.active_states().any(|state| state.to_string() == format!("s{to}"));
            since = if is_there { None } else { since.or(is_broken.then_some(clock)) };
            is_broken = since.is_some_and(|since| clock - since >= 1.0 - 1e-4);
        }
    });
    is_broken
}

/// Compares what is proved of a file with what is seen.
pub(crate) fn compare(text: &str, properties: &[RandomProperty]) {
    let words = vocabulary().export();
    let Ok(outline) = Outline::parse("random.toml", text, Some(&words)) else { return };
    let definition = Definition::parse(text, &vocabulary()).unwrap();
    let proved = proved(text, &outline);
    let seen = Simulator::run(&definition, properties, text);

    let states = outline.states().iter().filter(|state| Some(state.id()) != outline.global());
    let unreached: BTreeSet<String> =
        states.map(|state| state.name().to_owned()).filter(|name| !seen.active.contains(name)).collect();
    assert!(proved.unreachable.is_subset(&unreached), "{:?} are reached", &proved.unreachable - &unreached);
    for never in &proved.never {
        assert!(!seen.taken.contains(never), "{never:?} is taken");
    }
    for (nth, (property, answer)) in properties.iter().zip(&proved.answers).enumerate() {
        match answer {
            PropertyAnswer::Holds => assert!(!seen.broken.contains(&nth), "{property:?} does not hold"),
            // An action of the game does nothing in the run.
            PropertyAnswer::Fails(_) if text.contains("do =") => {}
            PropertyAnswer::Fails(run) => assert!(is_broken_in(&definition, run, property), "{property:?} {run:?}"),
            _ => {}
        }
    }
    if text.contains("regions") {
        for stuck in &proved.stuck {
            assert_ne!(seen.late.get(stuck), Some(&true), "{stuck} can be left");
        }
        return;
    }
    // Very near to where the answer to `x * 2 >= 4` changes, it is not decided, so that it is not known to be that of `x >= 2`. What
    // follows from that is not seen with the numbers here.
    // Neither is decided which exit is chosen or where one leads back, nor what is not seen here because a cooldown is on.
    let undecided = ["*", "choose", "cooldown", "push", "pop", "resume", "$previous"];
    if undecided.iter().any(|word| text.contains(word)) {
        return;
    }
    for flickering in &proved.flickering {
        assert!(seen.flickering.iter().any(|seen| !seen.is_disjoint(flickering)), "{flickering:?} do not flicker");
    }
    for stuck in &proved.stuck {
        assert!(seen.stuck.contains(stuck), "{stuck} can be left");
    }

    // Nor what a value is in the rest of a tick in which it was written.
    if text.contains("set =") || text.contains("do =") {
        return;
    }
    assert_eq!(proved.unreachable, unreached, "unreachable");
    for seen in &seen.flickering {
        let is_proved = proved.flickering.iter().chain(&proved.endless).any(|proved| !proved.is_disjoint(seen));
        assert!(is_proved, "{seen:?} flicker");
    }
    let is_final = |name: &String| {
        let id = outline.states().iter().find(|state| state.name() == name).unwrap().id();
        outline.path(id).into_iter().any(|id| outline.state(id).is_final())
    };
    // Where an exit is taken whatever the values are, nobody lasts but by a long tick.
    let can_last = |name: &String| {
        let state = definition.state(name).unwrap();
        let is_quiet = |time: f64, guard: &Guard| {
            let reports = definition.explain(&state, &mut guard.clone(), time, &mut time.clone());
            reports.iter().all(|report| report.on.is_some() || report.verdict != Verdict::Taken)
        };
        [0.0, 0.5, 1.5, 2.5].into_iter().all(|time| guards(text).iter().any(|guard| is_quiet(time, guard)))
    };
    for stuck in seen.stuck.iter().filter(|name| !is_final(name) && can_last(name)) {
        assert!(proved.stuck.contains(stuck), "{stuck} cannot be left");
    }
    // Where exits with `always` may lead in a circle, it is not proved that nobody stays there.
    if text.matches("always").count() > 1 || text.contains("'s0', always") {
        return;
    }
    // Of states that are active, all exits that nobody has seen taken are said to be never taken.
    for state in outline.states() {
        let is_active = seen.active.contains(state.name()) || Some(state.id()) == outline.global();
        for nth in (0..state.exits().len()).filter(|_| is_active) {
            let exit = (state.name().to_owned(), nth);
            if !seen.taken.contains(&exit) && !seen.perhaps.contains(&exit) {
                let to = state.exits()[nth].target();
                let mut entered = outline.path(to).into_iter().chain(outline.descent(to));
                let is_shut = entered.any(|id| proved.shut.contains(outline.state(id).name()));
                assert!(is_shut || proved.never.contains(&exit), "{exit:?} is never taken");
            }
        }
    }
}

/// Compares the runs that take the exits of a file with what the definition itself does in them, and the exits that they cannot take
/// with what is seen.
pub(crate) fn compare_runs(text: &str) {
    let words = vocabulary().export();
    let Ok(outline) = Outline::parse("random.toml", text, Some(&words)) else { return };
    let definition = Definition::parse(text, &vocabulary()).unwrap();
    let runs = ExitRuns::of(&outline);
    let name = |(of, nth): (StateId, usize)| (outline.state(of).name().to_owned(), nth);
    let mut listed: Vec<_> =
        runs.runs().iter().flat_map(ExitRun::exits).chain(runs.untaken().iter().map(UntakenExit::exit)).collect();
    listed.sort();
    let states = outline.states().iter();
    let all: Vec<_> = states.flat_map(|state| (0..state.exits().len()).map(|nth| (state.id(), nth))).collect();
    assert_eq!(listed, all, "each exit is listed once");
    // An action of the game does nothing in the runs.
    if !text.contains("do =") {
        for run in runs.runs() {
            let guard = play(&definition, run.witness(), Guard::default(), |_, _, _| {});
            let made = guard.changes.iter().filter(|line| line.contains(" -> ") && !line.contains("refused"));
            let made: Vec<_> = made.filter_map(|line| line.split(" (").next()?.split(" in ").next()).collect();
            let said: Vec<_> =
                run.witness().changes().iter().map(|change| format!("{} -> {}", change.from, change.to)).collect();
            assert_eq!(made, said, "{run:?}");
            for (of, nth) in run.exits() {
                let to = outline.state(of).exits()[nth].target();
                let leads_back = outline.state(of).exits()[nth].leads() != Leads::To;
                let entered = outline.entered(to);
                let is_made = |change: &WitnessChange| entered.iter().any(|id| outline.state(*id).name() == change.to);
                let has_regions = text.contains("regions");
                assert!(
                    leads_back || has_regions || run.witness().changes().iter().any(is_made),
                    "{:?}",
                    name((of, nth))
                );
            }
        }
    }
    let seen = Simulator::run(&definition, &[], text);
    for never in runs.untaken().iter().filter(|exit| exit.never().is_some()) {
        assert!(!seen.taken.contains(&name(never.exit())), "{:?} is taken", name(never.exit()));
    }
}
