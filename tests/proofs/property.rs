//! Random properties.

use demeanor::StateMachine;
use proptest::prelude::*;

use crate::guard::Guard;

/// A property: whether what it says is wrong at the end of a tick. It says that in all or none of the states something holds.
#[derive(Clone, Debug)]
pub(crate) struct RandomProperty {
    pub(crate) states: Vec<usize>,
    value: Option<(&'static str, &'static str, f64)>,
    is_always: bool,
    /// The condition that has to follow within a second.
    pub(crate) reach: Option<usize>,
}

impl RandomProperty {
    fn written(&self, nth: usize) -> String {
        let states = self.states.iter().map(|state| format!("in(s{state})"));
        let value =
            self.value.map(|(name, op, with)| if name == "a" { "a".into() } else { format!("{name} {op} {with}") });
        let all = states.chain(value).collect::<Vec<_>>().join(" and ");
        match self.reach {
            Some(state) => format!("p{nth} = {{ from = '{all}', reach = 'in(s{state})', within = 1 }}\n"),
            None if self.is_always => format!("p{nth} = {{ always = 'not ({all})' }}\n"),
            None => format!("p{nth} = {{ never = '{all}' }}\n"),
        }
    }

    /// Whether all that it names holds.
    pub(crate) fn holds(&self, machine: &StateMachine<Guard>, guard: &Guard) -> bool {
        let is_in = |state: &usize| machine.active_states().any(|active| active.to_string() == format!("s{state}"));
        self.states.iter().all(is_in)
            && self.value.is_none_or(|(name, op, with)| {
                let number = if name == "x" { guard.x } else { guard.y };
                match (name, op) {
                    ("a", _) => guard.a,
                    (_, "<") => number < with,
                    (_, ">=") => number >= with,
                    (_, ">") => number > with,
                    _ => number <= with,
                }
            })
    }
}

fn property(states: usize) -> impl Strategy<Value = RandomProperty> {
    let value =
        (prop::sample::select(vec!["x", "y", "a"]), prop::sample::select(vec!["<", ">=", ">", "<="]), 1..=2_u32);
    let value = value.prop_map(|(name, op, with)| (name, op, f64::from(with)));
    let named = prop::collection::vec(0..states, 1..=2);
    let reach = prop::option::weighted(0.2, 0..states);
    (named, prop::option::weighted(0.6, value), any::<bool>(), reach)
        .prop_map(|(states, value, is_always, reach)| RandomProperty { states, value, is_always, reach })
}

/// A file with properties, and the properties.
pub(crate) fn with_properties((text, mut properties): (String, Vec<RandomProperty>)) -> (String, Vec<RandomProperty>) {
    let count = text.matches("[states.s").count();
    for property in &mut properties {
        property.states.iter_mut().chain(&mut property.reach).for_each(|state| *state %= count);
    }
    let written: String = properties.iter().enumerate().map(|(nth, property)| property.written(nth)).collect();
    (text.replacen("[states.", &format!("[properties]\n{written}[states."), 1), properties)
}

pub(crate) fn properties() -> impl Strategy<Value = Vec<RandomProperty>> {
    prop::collection::vec(property(8), 2..=4)
}
