//! A machine whose steps are written down while it runs, for whoever keeps something else in step with it: an engine's
//! components, a recording, a network.

use alloc::vec::Vec;
use core::fmt;

use crate::fsm::Fsm;
use crate::owner::{Cause, Owner};
use crate::request::Request;
use crate::seat::Seat;
use crate::state::StateRef;

/// One step of a machine, as it happened.
///
/// A change writes down the exits, innermost first, then itself, then the enters, outermost first; those of a change
/// abandoned half-way (rule 5) are not there. Starting writes enters alone, and stopping exits alone.
#[non_exhaustive]
pub enum Step<T: Owner> {
    /// The state was exited or suspended: its callback is about to run.
    Exited(StateRef<T>),
    /// Current was changed, as [`Owner::on_change`] is told.
    #[non_exhaustive]
    Changed {
        /// The state that was left; `None` when there was none.
        from: Option<StateRef<T>>,
        /// The state to be entered; `None` when a pop leads back to having none.
        to: Option<StateRef<T>>,
        /// The verb that asked for it.
        cause: Cause,
    },
    /// The state was entered or resumed: its callback is about to run.
    Entered(StateRef<T>),
}

impl<T: Owner> Clone for Step<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Exited(state) => Self::Exited(state.clone()),
            Self::Changed { from, to, cause } => Self::Changed { from: from.clone(), to: to.clone(), cause: *cause },
            Self::Entered(state) => Self::Entered(state.clone()),
        }
    }
}

impl<T: Owner> fmt::Debug for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(state) => f.debug_tuple("Exited").field(state).finish(),
            Self::Changed { from, to, cause } => {
                f.debug_struct("Changed").field("from", from).field("to", to).field("cause", cause).finish()
            }
            Self::Entered(state) => f.debug_tuple("Entered").field(state).finish(),
        }
    }
}

/// A machine lent by [`StateMachine::watched`](crate::StateMachine::watched).
///
/// The verbs are those of [`StateMachine`](crate::StateMachine).
///
/// # Examples
///
/// ```
/// use demeanor::{Owner, State, StateMachine, Step};
///
/// struct Door;
/// impl Owner for Door {
///     type Context<'a> = ();
///     type Message = ();
/// }
///
/// struct Closed;
/// struct Open;
/// impl State<Door> for Closed {}
/// impl State<Door> for Open {}
///
/// let mut machine = StateMachine::new(&Closed);
/// let mut steps: Vec<Step<Door>> = Vec::new();
/// let mut watched = machine.watched(Some(&mut steps));
/// watched.change_state(&mut Door, &Open, &mut ());
/// assert!(watched.has_changed());
/// assert!(matches!(&steps[..], [Step::Exited(_), Step::Changed { .. }, Step::Entered(open)] if open.name() == "Open"));
/// ```
pub struct Watched<'a, T: Owner> {
    seat: &'a mut Seat<T>,
    global: &'a StateRef<T>,
    steps: Option<&'a mut Vec<Step<T>>>,
    has_changed: bool,
}

impl<'a, T: Owner> Watched<'a, T> {
    #[inline]
    pub(crate) fn new(seat: &'a mut Seat<T>, global: &'a StateRef<T>, steps: Option<&'a mut Vec<Step<T>>>) -> Self {
        Self { seat, global, steps, has_changed: false }
    }

    /// Returns whether any change was made since the machine was lent.
    #[inline]
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Does what [`StateMachine::start`](crate::StateMachine::start) does.
    pub fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.run(|fsm| fsm.start(owner, cx));
    }

    /// Does what [`StateMachine::stop`](crate::StateMachine::stop) does.
    pub fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.run(|fsm| fsm.stop(owner, cx));
    }

    /// Does what [`StateMachine::update`](crate::StateMachine::update) does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what a tick takes")]
    pub fn update(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.has_changed |= match self.seat.lone() {
            Some(state) if self.global.is_none() => self.fsm().tick_lone(state, owner, cx),
            _ => tick_all(self.seat, self.global, self.steps.as_deref_mut(), owner, cx),
        }
    }

    /// Does what [`StateMachine::send`](crate::StateMachine::send) does. Returns whether the message was handled.
    pub fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.run(|fsm| fsm.send(owner, message, cx))
    }

    /// Does what [`StateMachine::change_state`](crate::StateMachine::change_state) does. Returns whether it was done.
    pub fn change_state(&mut self, owner: &mut T, to: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.run(|fsm| fsm.execute_now(&Request::Change(to.into()), owner, cx))
    }

    /// Does what [`StateMachine::revert_state`](crate::StateMachine::revert_state) does. Returns whether it was done.
    pub fn revert_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.run(|fsm| fsm.execute_now(&Request::Revert, owner, cx))
    }

    /// Does what [`StateMachine::push_state`](crate::StateMachine::push_state) does. Returns whether it was done.
    pub fn push_state(&mut self, owner: &mut T, over: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.run(|fsm| fsm.execute_now(&Request::Push(over.into()), owner, cx))
    }

    /// Does what [`StateMachine::pop_state`](crate::StateMachine::pop_state) does. Returns whether it was done.
    pub fn pop_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.run(|fsm| fsm.execute_now(&Request::Pop, owner, cx))
    }

    /// Does what [`StateMachine::resume_state`](crate::StateMachine::resume_state) does. Returns whether it was done.
    pub fn resume_state(&mut self, owner: &mut T, composite: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.run(|fsm| fsm.execute_now(&Request::Resume(composite.into()), owner, cx))
    }

    fn run<R>(&mut self, verb: impl FnOnce(&mut Fsm<'_, T>) -> R) -> R {
        let mut fsm = self.fsm();
        let result = verb(&mut fsm);
        let has_changed = fsm.made > 0;
        self.has_changed |= has_changed;
        result
    }

    #[inline]
    fn fsm(&mut self) -> Fsm<'_, T> {
        handle(self.seat, self.global, self.steps.as_deref_mut())
    }
}

/// Kept out of line, so that little is inlined with [`Watched::update`], and by parts, which a processor passes in registers.
/// Returns whether the machine has changed state.
#[inline(never)]
fn tick_all<T: Owner>(
    seat: &mut Seat<T>,
    global: &StateRef<T>,
    steps: Option<&mut Vec<Step<T>>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> bool {
    let mut fsm = handle(seat, global, steps);
    fsm.tick(owner, cx);
    fsm.made > 0
}

#[inline]
fn handle<'a, T: Owner>(
    seat: &'a mut Seat<T>,
    global: &'a StateRef<T>,
    steps: Option<&'a mut Vec<Step<T>>>,
) -> Fsm<'a, T> {
    let mut fsm = Fsm::new(seat, global);
    fsm.steps = steps;
    fsm
}
