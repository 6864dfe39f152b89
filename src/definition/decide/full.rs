//! The changes of exits for which it is not enough to compare two paths: exits that lead back, or on top of the current state, and
//! all exits while regions are open.

use std::iter;

use smallvec::SmallVec;

use super::Decider;
use crate::definition::graph::{DefinedState, Exit};
use crate::definition::handle::toward;
use crate::definition::record::{Record, Trial};
use crate::format::leads::Leads;
use crate::fsm::Fsm;
use crate::machine::seat::{MOST_PUSHED, Path, Rare};
use crate::machine::transition::path::{branch, descent, last_active_in};
use crate::machine::transition::regions::Memory;
use crate::owner::Owner;
use crate::state::StateRef;

/// The change of an exit for one owner, found among all active states and what the machine remembers. It follows the rules of the
/// request that the exit makes (rules 6, 9, 15, 16 and 32).
pub(crate) struct FullChange<T: Owner> {
    /// The innermost state that is entered or resumed.
    pub(crate) target: StateRef<T>,
    /// The states that are left, or suspended by a push, innermost first, as indices among the active states.
    pub(crate) left: Indices,
    /// The states that are entered, outermost first, region by region. A pop enters none.
    entered: Path<T>,
}

/// Some active states, by index.
type Indices = SmallVec<[usize; 8]>;

/// Returns the active states, outermost first, region by region.
fn active<'f, T: Owner>(fsm: &'f Fsm<'_, T>) -> SmallVec<[&'f StateRef<T>; 8]> {
    if fsm.view().has_elsewhere() { fsm.active_states().collect() } else { fsm.path().collect() }
}

/// Whether a state is active, and no active state lies in it.
fn is_innermost<T: Owner>(state: &DefinedState<T>, active: &[&StateRef<T>]) -> bool {
    let has_inner = |of: &StateRef<T>| active.iter().any(|inner| inner.parent().as_ref() == Some(of));
    active.iter().any(|active| state.is(active) && !has_inner(active))
}

/// Returns the active states that are the state `of` or lie in it, innermost first.
fn inside<T: Owner>(of: &StateRef<T>, active: &[&StateRef<T>]) -> Indices {
    let is_inside =
        |at: &usize| iter::successors(Some(active[*at].clone()), |state| state.parent()).any(|on| on == *of);
    (0..active.len()).rev().filter(is_inside).collect()
}

/// Returns how many of the first `above` states of a path stay active when a change leads along the path, and which active states
/// it leaves, innermost first. It leaves the active states inside the last state that stays; if this state has regions, only
/// the active states in the region of the path.
fn left_along<T: Owner>(path: &[StateRef<T>], above: usize, active: &[&StateRef<T>]) -> (usize, Indices) {
    let kept = path[..above].iter().take_while(|state| active.contains(state)).count();
    let Some(around) = kept.checked_sub(1).map(|last| &path[last]) else {
        return (0, (0..active.len()).rev().collect());
    };
    let has_regions = around.has_regions();
    let is_child = |state: &&&StateRef<T>| {
        state.parent().as_ref() == Some(around) && (!has_regions || state.region() == path[kept].region())
    };
    (kept, active.iter().find(is_child).map_or_else(Indices::new, |child| inside(child, active)))
}

impl<T: Owner> Decider<'_, T> {
    /// Returns where an exit leads the owner. `None` if there is no such state, or if it cannot be pushed.
    pub(crate) fn full_change(&self, exit: &Exit<T>, fsm: &Fsm<'_, T>) -> Option<FullChange<T>> {
        let (view, active) = (fsm.view(), active(fsm));
        let named = || self.graph.state(exit.to, &self.state.shared);
        // A push and a pop concern the states in the region of the deciding state.
        let outermost = view.ancestors.first().unwrap_or(view.current);
        let around = if view.around.is_some() { fsm.path().count() - view.ancestors.len() - 1 } else { 0 };
        let (to, within, memory) = match exit.leads {
            Leads::To => (named(), named(), Memory::new()),
            Leads::Back => {
                let previous = fsm.previous()?.clone();
                (previous.clone(), previous, Memory::new())
            }
            Leads::Push => {
                let is_full = |rare: &Rare<T>| rare.stack.len() >= MOST_PUSHED;
                if fsm.look_back(|rare| rare.is_some_and(is_full)) {
                    return None;
                }
                let mut entered = descent(&named()).ok()?;
                let is_around = entered.iter().take(around).eq(fsm.path().take(around));
                let is_here = |state: &StateRef<T>| around == 0 || state.region() == outermost.region();
                entered.get(around).filter(|state| is_around && is_here(state))?;
                entered.drain(..around);
                return Self::along(entered, (0, around), &Memory::new(), inside(outermost, &active));
            }
            Leads::Pop => {
                let target = fsm.look_back(|rare| Some(rare?.stack.last()?.path.last().cloned()))?;
                let target = target.unwrap_or(StateRef::NONE);
                return Some(FullChange { target, left: inside(outermost, &active), entered: Path::new() });
            }
            Leads::Resume => {
                let composite = named();
                let (last, memory) = last_active(&composite, fsm);
                (last, composite, memory)
            }
        };
        let path = descent(&to).ok()?;
        let above = path.iter().position(|state| *state == within).unwrap_or(path.len() - 1);
        let (kept, left) = left_along(&path, above, &active);
        Self::along(path, (kept, 0), &memory, left)
    }

    /// Returns the change that leads along a path. The outermost `kept` states of the path stay active, and `around` states lie
    /// around it. `memory` has the states that were active last in regions.
    fn along(
        path: Path<T>,
        (kept, around): (usize, usize),
        memory: &Memory<T>,
        left: Indices,
    ) -> Option<FullChange<T>> {
        let branch = branch(path, kept, around, memory).ok()?;
        let target = branch.path.last()?.clone();
        let mut entered = branch.into_states();
        entered.drain(..kept);
        Some(FullChange { target, left, entered })
    }

    /// Returns the result of trying an exit, and the state that it names.
    #[inline(never)]
    pub(super) fn try_full_change(
        &self,
        exit: &Exit<T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> (Trial, StateRef<T>) {
        let to = self.graph.state(exit.to, &self.state.shared);
        let Some(FullChange { target, left, entered }) = self.full_change(exit, fsm) else {
            return (Trial::Nowhere, to);
        };
        let active = active(fsm);
        let is_own = is_innermost(self.state, &active);
        let is_outer = !is_own || fsm.path().all(|around| *around != to);
        let names_active = exit.leads.is_named() && active.contains(&&to);
        if names_active && is_outer && !exit.restarts && exit.to != self.state.fixed.index {
            return (Trial::AlreadyThere, to);
        }
        let refused = toward(&target, fsm, |fsm| {
            // A push leaves no state, but a final state refuses it, too.
            let refuses = |&at: &usize| match exit.leads {
                Leads::Push => {
                    let content = self.content_of(active[at]);
                    content.filter(|content| self.protects(active[at], content, exit)).map(|_| Trial::Final(at))
                }
                _ => self.refuses(active[at], at, exit, owner, fsm, cx),
            };
            left.iter().find_map(refuses).or_else(|| {
                let shut = entered.iter().find(|state| match self.content_of(state) {
                    Some(content) => !content.can_enter(owner, fsm, cx, record),
                    None => !state.can_enter(owner, fsm, cx),
                });
                shut.map(|state| Trial::CannotEnter(self.graph.index_of(state).unwrap_or(usize::MAX)))
            })
        });
        (refused.unwrap_or_else(|| self.taken_or_superseded(is_own, fsm)), to)
    }
}

/// Calls [`last_active_in`] with the active states and the history of an owner's machine.
fn last_active<T: Owner>(composite: &StateRef<T>, fsm: &Fsm<'_, T>) -> (StateRef<T>, Memory<T>) {
    if let Some(tree) = fsm.shared_machines().tree(fsm.nth()).filter(|_| fsm.view().has_elsewhere()) {
        let history = tree.root().rare.as_ref().map_or(&[][..], |rare| &rare.history);
        return last_active_in(composite, tree.current_in(composite), tree.memory(), history);
    }
    let current = fsm.current().filter(|_| fsm.path().any(|active| active == composite));
    fsm.look_back(|rare| last_active_in(composite, current, Memory::new(), rare.map_or(&[], |rare| &rare.history)))
}
