//! Exits that lead back, or on top of the current state: to the previous state, to the suspended states, to the states that were
//! active last in a composite.

use super::decide::Decider;
use super::graph::Exit;
use super::handle::toward;
use super::record::{Record, Trial};
use crate::format::leads::Leads;
use crate::fsm::Fsm;
use crate::machine::seat::{MOST_PUSHED, Path, Rare};
use crate::machine::transition::path::descent;
use crate::owner::Owner;
use crate::state::StateRef;

/// Where such an exit leads an owner. The rules are those of the request that it makes (rules 9, 15 and 16).
pub(crate) struct Recalled<T: Owner> {
    /// The innermost state that is entered or resumed.
    pub(crate) target: StateRef<T>,
    /// How many states are left, counted from the innermost one. A push leaves none.
    left: usize,
    /// The states that are entered, outermost first. A pop enters none.
    entered: Path<T>,
}

impl<T: Owner> Decider<'_, T> {
    /// Returns where an exit leads the owner. `None` if there is no such state, or if too many states are suspended.
    pub(crate) fn recall(&self, exit: &Exit<T>, fsm: &Fsm<'_, T>) -> Option<Recalled<T>> {
        let count = fsm.path().count();
        let named = || self.graph.state(exit.to, &self.state.shared);
        let (to, within) = match exit.leads {
            Leads::To | Leads::Back => {
                let previous = fsm.previous()?.clone();
                (previous.clone(), previous)
            }
            Leads::Push => {
                let is_full = |rare: &Rare<T>| rare.stack.len() >= MOST_PUSHED;
                if fsm.look_back(|rare| rare.is_some_and(is_full)) {
                    return None;
                }
                let entered = descent(&named()).ok()?;
                return Some(Recalled { target: entered.last()?.clone(), left: 0, entered });
            }
            Leads::Pop => {
                let target = fsm.look_back(|rare| Some(rare?.stack.last()?.current.clone()))?;
                return Some(Recalled { target, left: count, entered: Path::new() });
            }
            Leads::Resume => {
                let composite = named();
                let is_active = fsm.path().any(|active| *active == composite);
                let last = match fsm.current() {
                    _ if !composite.keeps_history() => None,
                    Some(current) if is_active => Some(current.clone()),
                    _ => fsm.look_back(|rare| {
                        let history = &rare?.history;
                        history.iter().find(|(of, _)| *of == composite).map(|(_, last)| last.clone())
                    }),
                };
                (last.unwrap_or_else(|| composite.clone()), composite)
            }
        };
        let mut entered = descent(&to).ok()?;
        let shared = fsm.path().zip(&entered).take_while(|(active, on)| active == on).count();
        let above = entered.iter().position(|state| *state == within).unwrap_or(shared);
        let kept = shared.min(above);
        entered.drain(..kept);
        Some(Recalled { target: entered.last()?.clone(), left: count - kept, entered })
    }

    /// Returns the result of trying an exit of this kind, and the state that it names.
    #[inline(never)]
    pub(super) fn try_recalled(
        &self,
        exit: &Exit<T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> (Trial, StateRef<T>) {
        let to = self.graph.state(exit.to, &self.state.shared);
        let Some(Recalled { target, left, entered }) = self.recall(exit, fsm) else { return (Trial::Nowhere, to) };
        let is_own = fsm.current().is_some_and(|current| self.state.is(current));
        let names_active = matches!(exit.leads, Leads::Push | Leads::Resume) && fsm.path().any(|active| *active == to);
        if names_active && !is_own && !exit.restarts && exit.to != self.state.fixed.index {
            return (Trial::AlreadyThere, to);
        }
        let count = fsm.path().count();
        // A push leaves no state, but nothing is pushed over a final state, either.
        let asked = if exit.leads == Leads::Push { count } else { left };
        let refused = toward(&target, fsm, |fsm| {
            for (up, state) in fsm.path().rev().enumerate().take(asked) {
                let content = self.content_of(state);
                if content.is_some_and(|content| self.protects(state, content, exit)) {
                    return Some(Trial::Final(count - 1 - up));
                }
                let can_exit = || match content {
                    Some(content) => content.can_exit(owner, fsm, cx),
                    None => state.can_exit(owner, fsm, cx),
                };
                if up < left && !can_exit() {
                    return Some(Trial::CannotExit(count - 1 - up));
                }
            }
            let shut = entered.iter().find(|state| match self.content_of(state) {
                Some(content) => !content.can_enter(owner, fsm, cx, record),
                None => !state.can_enter(owner, fsm, cx),
            });
            shut.map(|state| Trial::CannotEnter(self.graph.index_of(state).unwrap_or(usize::MAX)))
        });
        (refused.unwrap_or_else(|| self.taken_or_superseded(is_own, fsm)), to)
    }
}
