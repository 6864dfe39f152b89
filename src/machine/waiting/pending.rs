//! The timers of a machine as data, for queries and to cancel them.

use core::fmt;

use super::{AT_ONCE, Scope, Then};
use crate::fsm::Request;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::{State, StateRef, same};

/// A timer of a machine, or its change in the next tick, as data.
///
/// [`StateMachine::pending`](crate::StateMachine::pending) returns all of them, and [`Fsm::cancel`](crate::Fsm::cancel) shows
/// each of them to a function that says whether it ends. The value is a copy: it does not change when the timer does.
///
/// A timer of infinite seconds is never due, so a machine does not keep it: only the callback that has requested it sees it.
///
/// It is displayed as `change to Patrol`, `message to oneself` or `message to oneself every 2 s`.
///
/// # Examples
///
/// ```
/// use demeanor::{Owner, State, StateMachine};
///
/// struct Guard;
/// #[derive(Debug, PartialEq)]
/// enum Told { Bark }
/// impl Owner for Guard { type Context<'a> = f64; type Message = Told; fn now(seconds: &f64) -> f64 { *seconds } }
/// struct Patrol;
/// struct Rest;
/// impl State<Guard> for Patrol {}
/// impl State<Guard> for Rest {}
///
/// let mut machine = StateMachine::new(&Rest);
/// machine.change_state_after(&mut Guard, 5.0, &Patrol, &mut 10.0);
/// machine.send_every(&mut Guard, 2.0, Told::Bark, &mut 10.0);
///
/// let [patrol, bark] = &machine.pending()[..] else { panic!("there are two timers") };
/// assert!(patrol.is_to(&Patrol));
/// assert!((patrol.due().unwrap() - 15.0).abs() < 0.001);
/// assert_eq!((bark.message(), bark.every()), (Some(&Told::Bark), Some(2.0)));
/// assert!(bark.state().is_none()); // the game has set it from outside, so it lasts as long as the machine
/// ```
pub struct Pending<T: Owner> {
    due: Option<f64>,
    state: Option<StateRef<T>>,
    then: Then<T>,
}

impl<T: Owner> Pending<T> {
    /// Returns when the timer is due, in seconds by [`Owner::now`], less the tolerance of
    /// [rule 18](crate::docs::semantics#rule-18). It is negative infinity for a change in the next tick. `None` if a callback has
    /// just requested the timer, so that it is not running yet.
    #[must_use]
    pub fn due(&self) -> Option<f64> {
        self.due
    }

    /// Returns the state to which the timer changes. `None` if it sends a message or pops the current state.
    #[must_use]
    pub fn target(&self) -> Option<&StateRef<T>> {
        match &self.then {
            Then::Change(to) => Some(to),
            _ => None,
        }
    }

    /// Returns whether the timer changes to `state`.
    #[must_use]
    pub fn is_to<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.target().is_some_and(|to| same(&**to, state))
    }

    /// Returns the message that the timer sends. `None` if it does something else.
    #[must_use]
    pub fn message(&self) -> Option<&T::Message> {
        match &self.then {
            Then::Send(message) => message.downcast_ref(),
            Then::Repeat(repeat, _) => repeat.message.downcast_ref(),
            _ => None,
        }
    }

    /// Returns how many seconds lie between two messages of the timer. `None` if it does not repeat, and for a message that is
    /// due: the timer that repeats it runs on beside it.
    #[must_use]
    pub fn every(&self) -> Option<f64> {
        match &self.then {
            Then::Repeat(repeat, _) => Some(repeat.seconds),
            _ => None,
        }
    }

    /// Returns the active state whose exit ends the timer. `None` if the timer lasts as long as the machine. For a change in the
    /// next tick, it is the current state, although any other change ends it, too.
    #[must_use]
    pub fn state(&self) -> Option<&StateRef<T>> {
        self.state.as_ref()
    }
}

impl<T: Owner> Clone for Pending<T> {
    fn clone(&self) -> Self {
        Self { due: self.due, state: self.state.clone(), then: self.then.clone() }
    }
}

impl<T: Owner> fmt::Display for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.then, f)
    }
}

impl<T: Owner> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Owner> Seat<T> {
    /// Calls `act` with the running timers of the active states and of the machine and with their positions, in the order in
    /// which they were set.
    pub(crate) fn each_pending(&self, act: &mut dyn FnMut(usize, Pending<T>)) {
        let Some(rare) = &*self.rare else { return };
        for (nth, timer) in rare.waiting.timers.enumerate() {
            if let Some(pending) = self.pending_of(Some(timer.due), timer.scope, &timer.then) {
                act(nth, pending);
            }
        }
    }

    /// Returns the timer of a request, if it is one for a timer.
    pub(crate) fn pending_request(&self, request: &Request<T>) -> Option<Pending<T>> {
        match request {
            Request::After(after) => self.pending_of(None, after.scope, &after.then),
            Request::Next(to) => self.pending_of(Some(AT_ONCE), Scope::Current, &Then::Change(to.clone())),
            Request::Due(timer) => self.pending_of(Some(timer.due), timer.scope, &timer.then),
            _ => None,
        }
    }

    /// Returns a timer as data; `None` for a note, for a timer that only enters the current state, and for a timer whose state
    /// has been left.
    fn pending_of(&self, due: Option<f64>, scope: Scope, then: &Then<T>) -> Option<Pending<T>> {
        let is_shown =
            scope != Scope::Left && matches!(then, Then::Change(_) | Then::Send(_) | Then::Repeat(..) | Then::Pop);
        let state = match scope {
            Scope::State(depth) => self.at(depth.into()).cloned(),
            Scope::Current => self.current.as_option().cloned(),
            Scope::Machine | Scope::Left => None,
        };
        is_shown.then(|| Pending { due, state, then: then.clone() })
    }
}
