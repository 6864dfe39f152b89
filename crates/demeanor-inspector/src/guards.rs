//! Asks the guards of states in code whether they would allow a change.

use std::iter;

use demeanor::{Fsm, Owner, StateRef};

use crate::picture::Explained;

/// The library also rejects a longer chain of parents or initial children.
const DEEPEST: usize = 64;

/// Asks, for each state, the guards of a change to it, in the order of a change, until one refuses.
pub(crate) fn ask<T: Owner>(
    states: &[StateRef<T>],
    owner: &T,
    fsm: &Fsm<'_, T>,
    cx: &T::Context<'_>,
) -> Vec<Explained> {
    let path: Vec<_> = fsm.path().cloned().collect();
    let Some(current) = path.last() else { return Vec::new() };
    let ask = |to: &StateRef<T>| {
        let questions = questions(&path, to, owner, fsm, cx);
        let is_admitted = questions.iter().all(|(_, answer)| *answer);
        let verdict = if is_admitted { "no guard refuses it" } else { "refused" };
        Explained {
            of: current.name().into_owned(),
            to: to.name().into_owned(),
            on: None,
            verdict: verdict.to_owned(),
            is_taken: false,
            questions,
        }
    };
    states.iter().map(ask).collect()
}

/// Returns each guard with its answer.
fn questions<T: Owner>(
    path: &[StateRef<T>],
    to: &StateRef<T>,
    owner: &T,
    fsm: &Fsm<'_, T>,
    cx: &T::Context<'_>,
) -> Vec<(String, bool)> {
    let mut route: Vec<_> = iter::successors(to.parent(), |state| state.parent()).take(DEEPEST).collect();
    route.reverse();
    // If the target itself is active, it is left and entered again.
    let kept = path.iter().zip(&route).take_while(|(active, around)| active == around).count();
    route.push(to.clone());
    route.extend(iter::successors(to.initial(), |state| state.initial()).take(DEEPEST));
    let left = path[kept..].iter().rev().map(|state| (state, true));
    let mut questions = Vec::new();
    for (state, is_left) in left.chain(route[kept..].iter().map(|state| (state, false))) {
        let (guard, answer) = if is_left {
            ("can_exit", state.can_exit(owner, fsm, cx))
        } else {
            ("can_enter", state.can_enter(owner, fsm, cx))
        };
        let says = if answer { "yes" } else { "no" };
        questions.push((format!("{}.{guard} says {says}", state.name()), answer));
        if !answer {
            break;
        }
    }
    questions
}
