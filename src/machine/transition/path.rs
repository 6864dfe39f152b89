//! Which path of states a request leads to, and why a request may lead to none.

use log::Level;

use crate::fsm::Request;
use crate::machine::seat::{MOST_PUSHED, Path, Suspended, path_to};
use crate::machine::single::Single;
use crate::owner::Owner;
use crate::state::{Place, StateRef};

/// Why a request is not carried out, and at which level this is logged.
pub(crate) struct Misuse {
    pub(super) level: Level,
    pub(super) why: &'static str,
}

impl Misuse {
    /// Creates the error for an endless path of states (rule 6).
    pub(super) fn endless(why: &'static str) -> Self {
        Self { level: Level::Error, why }
    }
}

/// A misuse that is logged as a warning (rule 23).
impl From<&'static str> for Misuse {
    fn from(why: &'static str) -> Self {
        Self { level: Level::Warn, why }
    }
}

impl<T: Owner> Single<'_, T> {
    /// Returns how many states stay active, and the state that a request enters, if it is certain that the request enters only
    /// this state. Most requests do. `None` says that [`find_path`](Self::find_path) must decide, which takes several times as
    /// long.
    #[inline]
    pub(super) fn near_target(&self, request: &Request<T>) -> Option<(usize, StateRef<T>)> {
        let stack = self.stack();
        let to = match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => to,
            Request::Revert => self.seat.previous.as_option()?,
            Request::Push(over) if stack.len() < MOST_PUSHED => {
                return (over.place(None) == Place::Outermost).then(|| (0, over.clone()));
            }
            Request::Pop => {
                let suspended = stack.last().filter(|suspended| suspended.ancestors.is_empty())?;
                return suspended.current.as_option().map(|current| (0, current.clone()));
            }
            _ => return None,
        };
        self.kept_beside(to).map(|kept| (kept, to.clone()))
    }

    /// Returns how many states stay active in a change to `to`, if only `to` is entered: it has no initial child, and has no
    /// parent or the same parent as the current state.
    #[inline]
    pub(super) fn kept_beside(&self, to: &StateRef<T>) -> Option<usize> {
        let ancestors = self.seat.ancestors();
        match to.place(ancestors.last()) {
            Place::Outermost => Some(0),
            Place::Beside => Some(ancestors.len()),
            Place::Elsewhere => None,
        }
    }

    fn stack(&self) -> &[Suspended<T>] {
        self.seat.rare.as_ref().map_or(&[], |rare| &rare.stack)
    }

    /// Returns the path that a request leads to, and how many of its outermost states are active and stay active.
    pub(super) fn find_path(&self, request: &Request<T>) -> Result<(usize, Path<T>), Misuse> {
        let stack = self.stack();
        match request {
            Request::Change(to) | Request::Ensure(to) | Request::Force(to) => self.route(to, to),
            Request::Revert => {
                let previous = self.seat.previous.as_option().ok_or("there is no previous state")?;
                self.route(previous, previous)
            }
            Request::Resume(composite) => self.route(self.last_active_in(composite), composite),
            Request::Push(_) if stack.len() == MOST_PUSHED => {
                Err("64 paths of states are already suspended on the stack".into())
            }
            Request::Push(over) => Ok((0, descent(over)?)),
            Request::Pop => {
                let Suspended { ancestors, current, .. } = stack.last().ok_or("the stack is empty")?;
                let ancestors = ancestors.iter().map(|(state, _)| state);
                Ok((0, ancestors.chain(current.as_option()).cloned().collect()))
            }
            // The other requests enter no state.
            _ => Ok((0, Path::new())),
        }
    }

    /// Returns the current state if it lies inside `composite`, or else the descendant of `composite` that was current last
    /// (rule 16). Returns `composite` itself if it does not keep its history, or if none is recorded.
    fn last_active_in<'r>(&'r self, composite: &'r StateRef<T>) -> &'r StateRef<T> {
        if !composite.keeps_history() {
            return composite;
        }
        if self.seat.is_in_state(&**composite) {
            return &self.seat.current;
        }
        self.seat.remembered(composite).unwrap_or(composite)
    }

    /// Returns the path that a change to `to` leads to, and how many of its outermost states are active and stay active. An
    /// active state stays if it is on the path, unless it is `left` or one of its descendants (rules 6, 16).
    fn route(&self, to: &StateRef<T>, left: &StateRef<T>) -> Result<(usize, Path<T>), Misuse> {
        let path = descent(to)?;
        let above = path.iter().position(|state| state == left).unwrap_or(path.len());
        Ok((self.seat.shared_with(&path).min(above), path))
    }
}

/// Returns the path from the outermost ancestor of `to` through `to` and its `initial` children down to the innermost one.
pub(crate) fn descent<T: Owner>(to: &StateRef<T>) -> Result<Path<T>, Misuse> {
    let mut path = path_to(to).map_err(Misuse::endless)?;
    let mut innermost = to.clone();
    while let Some(child) = innermost.initial() {
        if child.parent().as_ref() != Some(&innermost) {
            return Err("the state that its `initial` returns has another parent".into());
        }
        if path.len() > 64 {
            return Err(Misuse::endless("its chain of `initial` states has no end"));
        }
        path.push(child.clone());
        innermost = child;
    }
    Ok(path)
}
