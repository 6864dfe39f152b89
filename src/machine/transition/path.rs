//! Finds the path of states to which a request leads, or the reason why the request leads to none.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use log::Level;

use super::regions::Memory;
use crate::fsm::Request;
use crate::machine::regions::{Branch, MOST_REGIONS, Tree};
use crate::machine::seat::{DEEPEST, MOST_PUSHED, Path, Suspended, behind, path_to, region_in};
use crate::machine::single::Single;
use crate::owner::Owner;
use crate::state::{Place, State, StateRef};

/// Why a request is not carried out, and at which level this is logged.
pub(crate) struct Misuse {
    pub(super) level: Level,
    pub(super) why: Cow<'static, str>,
}

impl Misuse {
    /// Creates the error for an endless path of states (rule 6).
    pub(super) fn endless(why: &'static str) -> Self {
        Self { level: Level::Error, why: why.into() }
    }
}

/// A misuse that is logged as a warning (rule 23).
impl From<&'static str> for Misuse {
    fn from(why: &'static str) -> Self {
        Self { level: Level::Warn, why: why.into() }
    }
}

/// A misuse that is logged as a warning, and names the states that cause it.
impl From<String> for Misuse {
    fn from(why: String) -> Self {
        Self { level: Level::Warn, why: why.into() }
    }
}

impl<T: Owner> Single<'_, T> {
    /// Returns how many states stay active, and the state that a request enters, if the request certainly enters only this state,
    /// as most requests do. The seat must be that of the machine itself. If this returns `None`, [`find_route`](Self::find_route)
    /// decides, which takes several times as long.
    #[inline]
    pub(super) fn near_target(&self, request: &Request<T>) -> Option<(usize, StateRef<T>)> {
        let stack = self.stack();
        let to = match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => to,
            Request::Push(over) if stack.len() < MOST_PUSHED => {
                return (over.place(None) == Place::Outermost).then(|| (0, over.clone()));
            }
            Request::Pop => {
                let [only] = &stack.last()?.path[..] else { return None };
                return Some((0, only.clone()));
            }
            _ => return None,
        };
        self.kept_beside(&**to).map(|kept| (kept, to.clone()))
    }

    /// Returns how many states stay active in a change to `to`, if only `to` is entered: it has no initial child, and has no
    /// parent or the same parent as the current state.
    #[inline]
    pub(super) fn kept_beside(&self, to: &dyn State<T>) -> Option<usize> {
        let ancestors = self.seat.ancestors();
        match to.place(ancestors.last()) {
            Place::Outermost => Some(0),
            Place::Beside(_) => Some(ancestors.len()),
            Place::Elsewhere => None,
        }
    }

    fn stack(&self) -> &[Suspended<T>] {
        self.seat.rare.as_ref().map_or(&[], |rare| &rare.stack)
    }

    /// Returns the states that a request leads to, and how many of the outermost ones are active and stay active. Moves to the
    /// seat in which the change is made: that of the innermost active state on the path or, if the path goes on in a region of
    /// this state, that of the region (rule 32).
    pub(super) fn find_route(&mut self, request: &Request<T>) -> Result<(usize, Branch<T>), Misuse> {
        let stack = self.stack();
        match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => self.route(to, to, &Memory::new()),
            Request::Revert => {
                let previous = self.seat.previous.as_option().ok_or("there is no previous state")?.clone();
                self.move_to(&[]);
                self.route(&previous, &previous, &Memory::new())
            }
            Request::Resume(composite) => {
                let (last, memory) = self.last_active_in(composite);
                self.route(&last, composite, &memory)
            }
            Request::Push(_) if stack.len() >= MOST_PUSHED => {
                Err("64 paths of states are already suspended on the stack".into())
            }
            Request::Push(over) => {
                let path = descent(over)?;
                let around = self.outer.as_ref().map_or_else(Vec::new, |outer| outer.path());
                let is_inside = around.iter().zip(&path).all(|(outer, state)| *outer == state)
                    && path
                        .get(around.len())
                        .is_some_and(|child| self.region_id().is_none_or(|id| child.region() == id.nth));
                if !is_inside {
                    return Err("it lies outside of the region in which it was requested".into());
                }
                Ok((0, branch(behind(&path, around.len()), 0, around.len(), &Memory::new())?))
            }
            Request::Pop => {
                let suspended = stack.last().ok_or("the stack is empty")?;
                Ok((0, Branch::flat(suspended.path.clone())))
            }
            Request::Acting(acting) => self.find_route(&acting.request),
            // The other requests enter no state.
            _ => Ok((0, Branch::flat(Path::new()))),
        }
    }

    /// Calls [`last_active_in`] with the active and the remembered states of the seat.
    fn last_active_in(&self, composite: &StateRef<T>) -> (StateRef<T>, Memory<T>) {
        let tree = Tree::new(None, self.seat);
        let history = self.seat.rare.as_ref().map_or(&[][..], |rare| &rare.history);
        last_active_in(composite, tree.current_in(composite), tree.memory(), history)
    }

    /// Returns the states that a change to `to` leads to, and how many of the outermost ones are active and stay active. An
    /// active state stays if it is on the path, unless it is `left` or a descendant of `left` (rules 6, 16).
    fn route(
        &mut self,
        to: &StateRef<T>,
        left: &StateRef<T>,
        memory: &Memory<T>,
    ) -> Result<(usize, Branch<T>), Misuse> {
        let mut path = descent(to)?;
        let mut above = path.iter().position(|state| state == left).unwrap_or(path.len());
        let mut around = 0;
        loop {
            let shared = self.seat.shared_with(&path);
            // If all active states of the seat stay and the path goes on below them, it goes on in a region of the current state.
            let goes_on = shared > 0 && shared == self.seat.depth() && shared < path.len() && shared <= above;
            if !goes_on || !self.seat.current.has_regions() {
                let kept = shared.min(above);
                return Ok((kept, branch(path, kept, around, memory)?));
            }
            let count = regions_of(&self.seat.current, &path[shared..])?.len();
            self.seat.open(count);
            self.enter_region(path[shared].region());
            (path, above, around) = (behind(&path, shared), above - shared, around + shared);
        }
    }

    /// Returns the states that a start in `state` enters in this seat.
    pub(super) fn opening(&self, state: &StateRef<T>) -> Result<Branch<T>, Misuse> {
        let around = self.outer.as_ref().map_or(0, |outer| outer.path().len());
        branch(behind(&descent(state)?, around), 0, around, &Memory::new())
    }
}

/// Returns `current`, the current state inside `composite`, if there is one, or else the descendant of `composite` that was
/// current last (rule 16). Returns `composite` itself if it does not keep its history, or if none is recorded. Also returns the
/// states that were active last in regions: first those that are `active` now, then those in `history`.
pub(crate) fn last_active_in<T: Owner>(
    composite: &StateRef<T>,
    current: Option<&StateRef<T>>,
    mut active: Memory<T>,
    history: &[(StateRef<T>, StateRef<T>)],
) -> (StateRef<T>, Memory<T>) {
    if !composite.keeps_history() {
        return (composite.clone(), Memory::new());
    }
    let remembered = || history.iter().find_map(|(of, last)| (of == composite).then_some(last));
    let last = current.or_else(remembered).unwrap_or(composite);
    for (of, last) in history {
        if let Some(nth) = if of.has_regions() { region_in(last, of) } else { None } {
            active.push((of.clone(), nth, last.clone()));
        }
    }
    (last.clone(), active)
}

/// Returns the states of a path that lie in one seat, with the branches that are opened in the regions of the last one. The
/// outermost `kept` states stay active; `around` states lie around the path.
pub(crate) fn branch<T: Owner>(
    mut path: Path<T>,
    kept: usize,
    around: usize,
    memory: &Memory<T>,
) -> Result<Branch<T>, Misuse> {
    let mut at = kept;
    while path.get(at).is_some_and(|state| !state.has_regions()) {
        at += 1;
    }
    if at >= path.len() {
        return Ok(Branch::flat(path));
    }
    let inside = behind(&path, at + 1);
    path.truncate(at + 1);
    let around = around + path.len();
    if around > DEEPEST {
        return Err(Misuse::endless("the regions inside it have no end"));
    }
    let composite = &path[at];
    let mut regions = Vec::new();
    for (nth, initial) in regions_of(composite, &inside)?.iter().enumerate() {
        let remembered = memory.iter().find(|(of, region, _)| of == composite && *region == nth);
        let path = match (inside.first(), remembered) {
            (Some(child), _) if child.region() == nth => inside.clone(),
            (_, Some((.., last))) => below(&descent(last)?, composite),
            (_, None) => below(&descent(initial)?, composite),
        };
        regions.push(branch(path, 0, around, memory)?);
    }
    Ok(Branch { path, regions })
}

/// Returns the part of a path below a state on it.
fn below<T: Owner>(path: &Path<T>, composite: &StateRef<T>) -> Path<T> {
    behind(path, path.iter().position(|state| state == composite).map_or(path.len(), |at| at + 1))
}

/// Returns the initial states of the regions of a state. The error says which rule about regions the state breaks. `inside` is
/// the path below the state.
fn regions_of<T: Owner>(composite: &StateRef<T>, inside: &[StateRef<T>]) -> Result<Vec<StateRef<T>>, Misuse> {
    let regions = composite.regions();
    let is_initial = |nth, state: &StateRef<T>| state.parent().as_ref() == Some(composite) && state.region() == nth;
    let stray = regions.iter().enumerate().find(|(nth, state)| !is_initial(*nth, state));
    let why = if composite.initial().is_some() {
        format!("{composite} has an `initial` state and `regions`")
    } else if regions.len() > MOST_REGIONS {
        format!("{composite} has more than 16 regions")
    } else if let Some((nth, state)) = stray {
        format!("{state}, which begins region {nth} of {composite}, has another parent or another `region`")
    } else if let Some(child) = inside.first().filter(|child| child.region() >= regions.len()) {
        format!("the `region` of {child} is {}, but {composite} has {} regions", child.region(), regions.len())
    } else {
        return Ok(regions);
    };
    Err(why.into())
}

/// Returns the path from the outermost ancestor of `to` through `to` and its `initial` children down to the innermost one.
pub(crate) fn descent<T: Owner>(to: &StateRef<T>) -> Result<Path<T>, Misuse> {
    let mut path = path_to(to).map_err(Misuse::endless)?;
    let mut innermost = to.clone();
    while let Some(child) = innermost.initial() {
        if child.parent().as_ref() != Some(&innermost) {
            return Err(format!("{child}, the `initial` state of {innermost}, has another parent").into());
        }
        if path.len() > DEEPEST {
            return Err(Misuse::endless("its chain of `initial` states has no end"));
        }
        path.push(child.clone());
        innermost = child;
    }
    Ok(path)
}
