//! Random files, with states that wait.

use std::fmt::Write as _;

use proptest::prelude::*;

pub(super) const MOST_STATES: usize = 6;

/// A state of a random file.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    /// One of the states before it.
    pub(super) parent: Option<usize>,
    pub(super) is_busy: bool,
    pub(super) needs_courage: bool,
    /// In eighths of a second.
    pub(super) every: Option<u8>,
    pub(super) exits: Vec<DrawnExit>,
}

#[derive(Clone, Debug)]
pub(super) struct DrawnExit {
    pub(super) to: usize,
    /// In eighths of a second.
    pub(super) after: Option<u8>,
    pub(super) when: Option<&'static str>,
    pub(super) on_alarm: bool,
    /// Only where it neither waits nor listens.
    pub(super) is_always: bool,
    pub(super) even_final: bool,
}

pub(super) fn states() -> impl Strategy<Value = Vec<Drawn>> {
    let when = prop::option::weighted(0.3, prop::sample::select(vec!["hungry", "not hungry", "brave or hungry"]));
    let after = prop::option::weighted(0.85, prop_oneof![0..8_u8, 8..40_u8, 40..100_u8]);
    let says = (prop::bool::weighted(0.2), prop::bool::weighted(0.3), prop::bool::weighted(0.5));
    let exit = (0..MOST_STATES, after, when, says).prop_map(|(to, after, when, (on_alarm, is_always, even_final))| {
        let is_always = is_always && after.is_none() && !on_alarm;
        // A state of no length that always leads on could do so in a circle, which is a mistake.
        let when = if is_always { when.or(Some("hungry")) } else { when };
        DrawnExit { to, after, when, on_alarm, is_always, even_final }
    });
    let place = (any::<prop::sample::Index>(), prop::bool::weighted(0.4));
    let flags = (prop::bool::weighted(0.15), prop::bool::weighted(0.2));
    let every = prop::option::weighted(0.25, prop_oneof![1..8_u8, 8..40_u8]);
    let state = (place, flags, every, prop::collection::vec(exit, 0..3));
    prop::collection::vec(state, MOST_STATES).prop_map(|states| {
        let drawn = |(i, ((parent, is_nested), (is_busy, needs_courage), every, exits)): (usize, (_, _, _, _))| {
            let parent: Option<prop::sample::Index> = Some(parent).filter(|_| is_nested && i > 0);
            Drawn { parent: parent.map(|parent| parent.index(i)), is_busy, needs_courage, every, exits }
        };
        states.into_iter().enumerate().map(drawn).collect()
    })
}

/// The same states with the exits and times of others, as a designer changes them.
pub(super) fn edited(states: &[Drawn], others: &[Drawn]) -> Vec<Drawn> {
    let edited = |(state, other): (&Drawn, &Drawn)| Drawn { parent: state.parent, ..other.clone() };
    states.iter().zip(others).map(edited).collect()
}

/// Whether no exit of those around it leaves it, unless it says so.
pub(super) fn is_final(state: usize) -> bool {
    state % 3 == 2
}

/// The child to go on to, of a state that has one.
pub(super) fn initial(states: &[Drawn], of: usize) -> Option<usize> {
    states.iter().position(|child| child.parent == Some(of)).filter(|_| of % 2 == 0)
}

impl DrawnExit {
    pub(super) fn seconds(&self) -> Option<f64> {
        self.after.map(|after| f64::from(after) / 8.0)
    }

    /// One to itself without a condition would be a mistake.
    pub(super) fn when(&self, of: usize) -> Option<&'static str> {
        let spins = self.to == of && self.after.unwrap_or(0) == 0;
        if spins { Some("hungry") } else { self.when }
    }
}

/// The file, with what waits in it, or with the same as conditions that are asked in each tick.
pub(super) fn file(states: &[Drawn], waits: bool) -> String {
    let mut file = String::from("initial = 's0'\n");
    for (i, state) in states.iter().enumerate() {
        let behaviour = if state.is_busy { "busy" } else { "quiet" };
        writeln!(file, "[states.s{i}]\nbehaviour = '{behaviour}{i}'").unwrap();
        if let Some(parent) = state.parent {
            writeln!(file, "parent = 's{parent}'").unwrap();
        }
        if state.needs_courage {
            writeln!(file, "enter_when = 'brave'").unwrap();
        }
        if let Some(child) = initial(states, i) {
            writeln!(file, "initial = 's{child}'").unwrap();
        }
        if let Some(every) = state.every {
            writeln!(file, "every = {}", f64::from(every) / 8.0).unwrap();
        }
        // An end, which only some exits of those around it leave.
        writeln!(file, "final = {}\nexits = [", is_final(i)).unwrap();
        for exit in &state.exits {
            let (to, after) = (exit.to, exit.seconds());
            let on = if exit.on_alarm { ", on = 'alarm'" } else { "" };
            let rest = match (after, exit.when(i), waits) {
                (Some(after), Some(when), true) => format!(", after = {after}, when = '{when}'"),
                (Some(after), None, true) => format!(", after = {after}"),
                (Some(after), Some(when), false) => format!(", when = 'time_in_state >= {after} and ({when})'"),
                (Some(after), None, false) => format!(", when = 'time_in_state >= {after}'"),
                (None, Some(when), _) => format!(", when = '{when}'"),
                (None, None, _) => String::new(),
            };
            let always = if exit.is_always { ", always = true" } else { "" };
            let even_final = if exit.even_final { ", even_final = true" } else { "" };
            writeln!(file, "    {{ to = 's{to}'{on}{rest}{always}{even_final} }},").unwrap();
        }
        writeln!(file, "]").unwrap();
    }
    file
}
