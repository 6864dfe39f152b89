//! Where an owner's current and previous state are kept, with all that goes with them.
//!
//! A `StateMachine` is a seat and a global. A `Batch` keeps its owners' seats as columns, and loads one when something out
//! of the ordinary happens to an owner.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::iter;

use smallvec::SmallVec;

use crate::owner::Owner;
use crate::state::{Identity, State, StateRef};

/// States from the outermost to the innermost. More than four deep, it allocates.
pub(crate) type Path<T> = SmallVec<[StateRef<T>; 4]>;

/// 48 bytes, whatever the owner: what is rare is boxed, and only made when it is needed.
pub(crate) struct Seat<T: Owner> {
    /// `StateRef::NONE` when there is none.
    pub(crate) current: StateRef<T>,
    /// `StateRef::NONE` when there is none.
    pub(crate) previous: StateRef<T>,
    /// When current was changed to, in seconds.
    pub(crate) entered_at: f64,
    pub(crate) rare: Option<Box<Rare<T>>>,
}

/// What machines on flat states without a stack do without.
pub(crate) struct Rare<T: Owner> {
    /// The states around current, outermost first.
    pub(crate) ancestors: Vec<StateRef<T>>,
    /// What has been pushed over, the oldest first.
    pub(crate) stack: Vec<Suspended<T>>,
    /// For each composite state that keeps history, its descendant that was active last.
    history: Vec<(StateRef<T>, StateRef<T>)>,
    /// The states last changed to, once one callback has led to suspiciously many changes.
    pub(crate) trail: Vec<StateRef<T>>,
}

/// A path that another state was pushed over.
pub(crate) struct Suspended<T: Owner> {
    pub(crate) current: StateRef<T>,
    pub(crate) ancestors: Vec<StateRef<T>>,
}

impl<T: Owner> Seat<T> {
    pub(crate) fn new(current: StateRef<T>) -> Self {
        let mut seat = Self::empty();
        seat.place(current);
        seat
    }

    /// The seat of an owner without a state.
    pub(crate) const fn empty() -> Self {
        Self { current: StateRef::NONE, previous: StateRef::NONE, entered_at: 0.0, rare: None }
    }

    /// Empties the seat, all but its room.
    #[cfg(feature = "std")]
    pub(crate) fn clear(&mut self) {
        let mut rare = self.rare.take();
        if let Some(rare) = &mut rare {
            let Rare { ancestors, stack, history, trail } = &mut **rare;
            ancestors.clear();
            stack.clear();
            history.clear();
            trail.clear();
        }
        *self = Self { rare, ..Self::empty() };
    }

    /// Sets current, and with it the ancestors, without any callback. A parents' chain without an end is cut off.
    pub(crate) fn place(&mut self, current: StateRef<T>) {
        if current.is_none() {
            self.set_ancestors(&[]);
        } else {
            match path_to(&current) {
                Ok(path) => self.set_ancestors(&path[..path.len() - 1]),
                Err(endless) => {
                    log::error!(
                        target: "demeanor",
                        "a machine is set to {current}: {endless}, so that it is taken for a state without a parent"
                    );
                    self.set_ancestors(&[]);
                }
            }
        }
        self.current = current;
    }

    /// Takes over another's current state and its ancestors.
    #[cfg(feature = "std")]
    pub(crate) fn copy_path(&mut self, other: &Self) {
        self.set_ancestors(other.ancestors());
        self.current = other.current.clone();
    }

    fn set_ancestors(&mut self, ancestors: &[StateRef<T>]) {
        if !ancestors.is_empty() || self.rare.is_some() {
            let kept = &mut self.rare_mut().ancestors;
            kept.clear();
            kept.extend_from_slice(ancestors);
        }
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Rare<T> {
        self.rare.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn ancestors(&self) -> &[StateRef<T>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.ancestors)
    }

    /// Current, if it is a singleton and there is nothing rare about it.
    #[inline]
    pub(crate) fn lone(&self) -> Option<&'static dyn State<T>> {
        if self.rare.is_none() { self.current.as_singleton() } else { None }
    }

    /// How many states are active.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        if self.current.is_none() { 0 } else { self.ancestors().len() + 1 }
    }

    /// The active state at a depth, 0 being the outermost.
    #[inline]
    pub(crate) fn at(&self, depth: usize) -> Option<&StateRef<T>> {
        let ancestors = self.ancestors();
        match ancestors.get(depth) {
            Some(ancestor) => Some(ancestor),
            None if depth == ancestors.len() => self.current.as_option(),
            None => None,
        }
    }

    /// The active states, outermost first.
    pub(crate) fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.ancestors().iter().chain(self.current.as_option())
    }

    pub(crate) fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        let identity = Identity::of(state);
        self.path().any(|active| Identity::of(&**active) == identity)
    }

    pub(crate) fn is_in<S: State<T>>(&self) -> bool {
        self.path().any(|active| active.is::<S>())
    }

    /// Makes `state`, a child of current, the current one.
    pub(crate) fn descend(&mut self, state: StateRef<T>) {
        let parent = core::mem::replace(&mut self.current, state);
        self.rare_mut().ancestors.push(parent);
    }

    /// Takes the outermost `kept` active states for the ancestors of `current`, and returns what was current.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is passed in registers need not be written and waited for")]
    pub(crate) fn replace(&mut self, kept: usize, current: StateRef<T>) -> StateRef<T> {
        let from = core::mem::replace(&mut self.current, current);
        if kept > 0 || self.rare.is_some() {
            self.keep(kept, &from);
        }
        from
    }

    /// Takes the outermost `kept` states of a path that ended in `from` for the ancestors.
    fn keep(&mut self, kept: usize, from: &StateRef<T>) {
        let ancestors = &mut self.rare_mut().ancestors;
        if kept > ancestors.len() {
            ancestors.push(from.clone());
        } else {
            ancestors.truncate(kept);
        }
    }

    /// Remembers current as the descendant last active in the active state at `depth`, if that keeps history.
    #[inline]
    pub(crate) fn remember(&mut self, depth: usize) {
        if self.rare.is_some() {
            self.remember_in(depth);
        }
    }

    fn remember_in(&mut self, depth: usize) {
        let Some(composite) = self.ancestors().get(depth).cloned() else { return };
        if !composite.keeps_history() {
            return;
        }
        let current = self.current.clone();
        let history = &mut self.rare_mut().history;
        match history.iter_mut().find(|(of, _)| *of == composite) {
            Some((_, last)) => *last = current,
            None => history.push((composite, current)),
        }
    }

    /// The descendant last active in `composite`, if any was.
    pub(crate) fn remembered(&self, composite: &StateRef<T>) -> Option<&StateRef<T>> {
        let rare = self.rare.as_ref()?;
        rare.history.iter().find_map(|(of, last)| (of == composite).then_some(last))
    }
}

/// The most parents that a state may have, one around the other: a chain that is longer is taken to have no end.
const DEEPEST: usize = 64;

/// The path from the outermost ancestor down to `state`, itself the last. Fails with why there is none.
pub(crate) fn path_to<T: Owner>(state: &StateRef<T>) -> Result<Path<T>, &'static str> {
    let chain = iter::successors(Some(state.clone()), |state| state.parent());
    let mut path: Path<T> = chain.take(DEEPEST + 2).collect();
    if path.len() > DEEPEST + 1 {
        return Err("its chain of parents closes on itself or is longer than 64");
    }
    path.reverse();
    Ok(path)
}

impl<T: Owner> Rare<T> {
    /// Takes over another's stack and history.
    pub(crate) fn recall(&mut self, other: &Self) {
        self.stack.clone_from(&other.stack);
        self.history.clone_from(&other.history);
    }

    /// Whether there is anything in it that does not follow from the current state.
    #[cfg(feature = "std")]
    pub(crate) fn is_memorable(&self) -> bool {
        !self.stack.is_empty() || !self.history.is_empty()
    }
}

impl<T: Owner> Clone for Seat<T> {
    fn clone(&self) -> Self {
        Self {
            current: self.current.clone(),
            previous: self.previous.clone(),
            entered_at: self.entered_at,
            rare: self.rare.clone(),
        }
    }
}

impl<T: Owner> Clone for Rare<T> {
    fn clone(&self) -> Self {
        Self {
            ancestors: self.ancestors.clone(),
            stack: self.stack.clone(),
            history: self.history.clone(),
            trail: self.trail.clone(),
        }
    }
}

impl<T: Owner> Default for Rare<T> {
    fn default() -> Self {
        Self { ancestors: Vec::new(), stack: Vec::new(), history: Vec::new(), trail: Vec::new() }
    }
}

impl<T: Owner> Clone for Suspended<T> {
    fn clone(&self) -> Self {
        Self { current: self.current.clone(), ancestors: self.ancestors.clone() }
    }
}
