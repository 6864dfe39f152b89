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
    let active: Vec<_> = fsm.active_states().cloned().collect();
    let Some(current) = fsm.current() else { return Vec::new() };
    let ask = |to: &StateRef<T>| {
        let questions = questions(&active, to, owner, fsm, cx);
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
    active: &[StateRef<T>],
    to: &StateRef<T>,
    owner: &T,
    fsm: &Fsm<'_, T>,
    cx: &T::Context<'_>,
) -> Vec<(String, bool)> {
    let route = path(to);
    // If the target itself is active, it is left and entered again.
    let kept = route.iter().take_while(|state| *state != to && active.contains(state)).count();
    let is_left = |state: &&StateRef<T>| {
        let way = path(state);
        let is_inside = way.len() > kept && way[..kept] == route[..kept];
        // A change in one region leaves nothing in the others.
        is_inside && way[kept].region() == route[kept].region()
    };
    let left: Vec<_> = active.iter().rev().filter(is_left).map(|state| (state, "can_exit")).collect();
    let mut entered = Vec::new();
    enter(&route[kept..], &mut entered);
    let entered = entered.iter().map(|state| (state, "can_enter"));
    let mut questions = Vec::new();
    for (state, guard) in left.into_iter().chain(entered) {
        let answer = if guard == "can_exit" { state.can_exit(owner, fsm, cx) } else { state.can_enter(owner, fsm, cx) };
        let says = if answer { "yes" } else { "no" };
        questions.push((format!("{}.{guard} says {says}", state.name()), answer));
        if !answer {
            break;
        }
    }
    questions
}

/// Returns the ancestors of a state, outermost first, and then the state.
fn path<T: Owner>(state: &StateRef<T>) -> Vec<StateRef<T>> {
    let mut path: Vec<_> = iter::successors(Some(state.clone()), |state| state.parent()).take(DEEPEST).collect();
    path.reverse();
    path
}

/// Adds the states that are entered on the way to a state, outermost first, and inside it. A region through which the way does not
/// lead opens on its initial state.
fn enter<T: Owner>(way: &[StateRef<T>], entered: &mut Vec<StateRef<T>>) {
    let Some((state, way)) = way.split_first().filter(|_| entered.len() < DEEPEST) else { return };
    entered.push(state.clone());
    let regions = state.regions();
    if regions.is_empty() {
        let inside: Vec<_> = if way.is_empty() { state.initial().into_iter().collect() } else { way.to_vec() };
        return enter(&inside, entered);
    }
    for (nth, initial) in regions.into_iter().enumerate() {
        let leads_here = way.first().is_some_and(|next| next.region() == nth);
        if leads_here { enter(way, entered) } else { enter(&[initial], entered) }
    }
}

#[cfg(test)]
mod tests {
    use demeanor::{Owner, State, StateMachine, StateRef};

    struct Guard;
    impl Owner for Guard {
        type Context<'a> = ();
        type Message = ();
    }

    macro_rules! state {
        ($name:ident $(in $parent:ident, $region:literal)? $(has $regions:expr)?) => {
            struct $name;
            impl State<Guard> for $name {
                $(fn parent(&self) -> Option<StateRef<Guard>> {
                    Some((&$parent).into())
                }

                fn region(&self) -> usize {
                    $region
                })?
                $(fn regions(&self) -> Vec<StateRef<Guard>> {
                    $regions
                })?
            }
        };
    }
    state!(Rest);
    state!(Combat has vec![(&Walk).into(), (&Aim).into()]);
    state!(Walk in Combat, 0);
    state!(Run in Combat, 0);
    state!(Aim in Combat, 1);
    state!(Fire in Combat, 1);

    /// Returns the guards that are asked for a change.
    fn asked(from: StateRef<Guard>, to: StateRef<Guard>) -> String {
        let mut machine = StateMachine::new(from);
        machine.start(&mut Guard, &mut ());
        let explained = machine.with(&mut Guard, &mut (), |guard, fsm, cx| super::ask(&[to], guard, fsm, cx));
        let questions = explained.into_iter().flat_map(|explained| explained.questions);
        questions.map(|(question, _)| question.replace(" says yes", "")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_guards_of_regions_are_asked_in_the_order_of_a_change() {
        let combat: StateRef<Guard> = (&Combat).into();
        let into = "Combat.can_enter, Walk.can_enter, Fire.can_enter";
        assert_eq!(asked((&Rest).into(), (&Fire).into()), format!("Rest.can_exit, {into}"));
        assert_eq!(asked(combat.clone(), (&Run).into()), "Walk.can_exit, Run.can_enter");
        assert_eq!(asked(combat.clone(), (&Fire).into()), "Aim.can_exit, Fire.can_enter");
        let out = "Aim.can_exit, Walk.can_exit, Combat.can_exit";
        assert_eq!(asked(combat.clone(), (&Rest).into()), format!("{out}, Rest.can_enter"));
        assert_eq!(asked(combat.clone(), combat), format!("{out}, Combat.can_enter, Walk.can_enter, Aim.can_enter"));
    }
}
