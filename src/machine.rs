//! One owner's machine.

use alloc::vec::Vec;
use core::fmt;

use crate::fsm::Fsm;
use crate::owner::{NameOf, Owner};
use crate::request::Request;
use crate::seat::Seat;
use crate::state::{State, StateRef};
use crate::watched::{Step, Watched};

/// The state machine of one owner: its current, previous and global state.
///
/// The machine does not hold the owner; each verb is given it, so that a state may borrow both. Keep them side by side, in an
/// [`Agent`](crate::Agent), or apart.
///
/// The verbs here act at once and return whether it was done; [`Fsm`]'s, in a callback, are requests.
/// A clone is a second machine in the same state, with no callback: a prefab, or a snapshot to go back to.
///
/// # Examples
///
/// ```
/// use demeanor::{Fsm, Owner, State, StateMachine};
///
/// #[derive(Default)]
/// struct Enemy {
///     log: Vec<&'static str>,
/// }
///
/// impl Owner for Enemy {
///     type Context<'a> = ();
///     type Message = ();
/// }
///
/// struct Wander;
/// struct Chase;
///
/// impl State<Enemy> for Wander {
///     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
///         enemy.log.push("stops wandering");
///     }
/// }
///
/// impl State<Enemy> for Chase {
///     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
///         enemy.log.push("gives chase");
///     }
/// }
///
/// let mut enemy = Enemy::default();
/// let mut machine = StateMachine::new(&Wander);
/// machine.start(&mut enemy, &mut ());
/// machine.change_state(&mut enemy, &Chase, &mut ());
/// assert_eq!(enemy.log, ["stops wandering", "gives chase"]);
/// assert!(machine.current().unwrap().downcast_ref::<Chase>().is_some());
/// assert!(machine.revert_state(&mut enemy, &mut ()));
/// assert!(machine.is_in_state(&Wander));
/// ```
pub struct StateMachine<T: Owner> {
    seat: Seat<T>,
    global: StateRef<T>,
}

impl<T: Owner> StateMachine<T> {
    /// Creates a machine whose current state is `initial`. Calls nothing: [`start`](Self::start) enters it (rule 1).
    ///
    /// The state is taken as it is given, without going down to its `initial` child.
    pub fn new(initial: impl Into<StateRef<T>>) -> Self {
        Self { seat: Seat::new(initial.into()), global: StateRef::NONE }
    }

    /// Creates a machine without a current state. A change to one just enters it (rule 2).
    #[must_use]
    pub fn idle() -> Self {
        Self { seat: Seat::new(StateRef::NONE), global: StateRef::NONE }
    }

    /// Gives the machine a state that runs beside every other. It is never entered or exited (rule 3).
    #[must_use]
    pub fn with_global(mut self, global: impl Into<StateRef<T>>) -> Self {
        self.set_global(global);
        self
    }

    /// Runs `enter` along the active path, outermost first (rule 1).
    pub fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.fsm().start(owner, cx);
    }

    /// Runs `exit` along the active path, innermost first. The machine then has no current state, its previous is the state
    /// left, and its stack is empty (rule 1).
    pub fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.fsm().stop(owner, cx);
    }

    /// Runs one tick: `update` of the global, then of the active path from the outermost state to the innermost; after each,
    /// what it asked for (rule 4).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what a tick takes")]
    pub fn update(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.watched(None).update(owner, cx);
    }

    /// Offers a message to current, then to its ancestors outward, then to the global, until one handles it. Returns whether
    /// one did (rule 14).
    pub fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.fsm().send(owner, message, cx)
    }

    /// Changes to `to`, and carries out what its callbacks ask for. Returns whether the change was made; a guard can refuse
    /// it.
    pub fn change_state(&mut self, owner: &mut T, to: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.fsm().execute_now(&Request::Change(to.into()), owner, cx)
    }

    /// Changes to the previous state. Returns whether the change was made; there may be none (rule 9).
    pub fn revert_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.fsm().execute_now(&Request::Revert, owner, cx)
    }

    /// Suspends current and enters `over`. Returns whether it was done (rule 15).
    pub fn push_state(&mut self, owner: &mut T, over: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.fsm().execute_now(&Request::Push(over.into()), owner, cx)
    }

    /// Leaves current and resumes what it was pushed over. Returns whether it was done (rule 15).
    pub fn pop_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.fsm().execute_now(&Request::Pop, owner, cx)
    }

    /// Changes to the descendant last active in `composite`, or to its initial one. Returns whether the change was made
    /// (rule 16).
    pub fn resume_state(&mut self, owner: &mut T, composite: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.fsm().execute_now(&Request::Resume(composite.into()), owner, cx)
    }

    /// Lends the machine to verbs whose steps are written down in `steps`, for whoever keeps something else in step with it.
    #[inline]
    pub fn watched<'a>(&'a mut self, steps: Option<&'a mut Vec<Step<T>>>) -> Watched<'a, T> {
        Watched::new(&mut self.seat, &self.global, steps)
    }

    /// Lends the machine to `act` as a callback has it, carries out what it asks for, and returns what it returns.
    pub fn with<R>(
        &mut self,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> R {
        let mut fsm = self.fsm();
        let result = act(owner, &mut fsm, cx);
        fsm.settle(owner, cx);
        result
    }

    /// Sets the current state without any callback.
    pub fn set_current(&mut self, current: impl Into<StateRef<T>>) {
        self.seat.place(current.into());
    }

    /// Sets the previous state without any callback.
    pub fn set_previous(&mut self, previous: impl Into<StateRef<T>>) {
        self.seat.previous = previous.into();
    }

    /// Sets the state that runs beside every other, without any callback (rule 3).
    pub fn set_global(&mut self, global: impl Into<StateRef<T>>) {
        self.global = global.into();
    }

    /// Returns the current state for editing, if it is an owned one of type `S`.
    ///
    /// If another machine, or this one's previous state or history, refers to the same object, current is cloned first, so
    /// that the edit is this machine's alone (rule 17).
    pub fn current_mut<S: State<T>>(&mut self) -> Option<&mut S> {
        self.seat.current.owned_mut()
    }

    /// Returns the innermost active state. `None` when the machine has none.
    #[must_use]
    pub fn current(&self) -> Option<&StateRef<T>> {
        self.seat.current.as_option()
    }

    /// Returns the state that current was before the last change.
    #[must_use]
    pub fn previous(&self) -> Option<&StateRef<T>> {
        self.seat.previous.as_option()
    }

    /// Returns the state that runs beside every other.
    #[must_use]
    pub fn global(&self) -> Option<&StateRef<T>> {
        self.global.as_option()
    }

    /// Returns the active states, from the outermost ancestor down to current.
    #[must_use]
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.seat.path()
    }

    /// Returns whether `state` is active: current, or an ancestor of it.
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.seat.is_in_state(state)
    }

    /// Returns whether any state of type `S` is active.
    #[must_use]
    pub fn is_in<S: State<T>>(&self) -> bool {
        self.seat.is_in::<S>()
    }

    /// Returns how long ago the last change was, in seconds by [`Owner::now`]; before the first change, the time by that
    /// clock (rule 18).
    #[must_use]
    pub fn time_in_state(&self, cx: &T::Context<'_>) -> f64 {
        T::now(cx) - self.seat.entered_at
    }

    #[cfg(feature = "std")]
    pub(crate) fn from_seat(seat: Seat<T>, global: StateRef<T>) -> Self {
        Self { seat, global }
    }

    #[cfg(feature = "std")]
    pub(crate) fn into_seat(self) -> Seat<T> {
        self.seat
    }

    #[inline]
    fn fsm(&mut self) -> Fsm<'_, T> {
        Fsm::new(&mut self.seat, &self.global)
    }
}

/// An [`idle`](StateMachine::idle) machine.
impl<T: Owner> Default for StateMachine<T> {
    fn default() -> Self {
        Self::idle()
    }
}

impl<T: Owner> Clone for StateMachine<T> {
    fn clone(&self) -> Self {
        Self { seat: self.seat.clone(), global: self.global.clone() }
    }
}

impl<T: Owner> fmt::Debug for StateMachine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateMachine")
            .field("current", &format_args!("{}", NameOf(self.current())))
            .field("previous", &format_args!("{}", NameOf(self.previous())))
            .field("global", &format_args!("{}", NameOf(self.global())))
            .finish_non_exhaustive()
    }
}
