//! The handle that a callback is given: what a state may ask of the machine, and ask it for.

use alloc::vec::Vec;

use crate::owner::Owner;
use crate::request::{Request, Requests};
use crate::seat::Seat;
use crate::slice::Row;
use crate::state::{State, StateRef};
use crate::watched::Step;

/// A callback's handle on its owner's machine.
///
/// The verbs queue a *request*: it is carried out once the callback has returned, in the order made. So the code behind
/// `fsm.change_state(&Think)` still runs in the old state. [`change_state_now`](Self::change_state_now) is for ports that
/// count on the opposite. The queries tell where the machine is.
///
/// # Examples
///
/// ```
/// use demeanor::{Fsm, Owner, State, StateMachine};
///
/// struct Elsa {
///     urge: bool,
/// }
///
/// impl Owner for Elsa {
///     type Context<'a> = ();
///     type Message = ();
/// }
///
/// /// Runs beside every other state.
/// struct Always;
/// struct Housework;
/// struct Bathroom;
///
/// impl State<Elsa> for Always {
///     fn update(&self, elsa: &mut Elsa, fsm: &mut Fsm<'_, Elsa>, _: &mut ()) {
///         if elsa.urge && !fsm.is_in_state(&Bathroom) {
///             fsm.change_state(&Bathroom);
///         }
///     }
/// }
/// impl State<Elsa> for Housework {}
/// impl State<Elsa> for Bathroom {
///     fn update(&self, elsa: &mut Elsa, fsm: &mut Fsm<'_, Elsa>, _: &mut ()) {
///         elsa.urge = false;
///         fsm.revert_state();
///     }
/// }
///
/// let mut elsa = Elsa { urge: true };
/// let mut machine = StateMachine::new(&Housework).with_global(&Always);
/// machine.update(&mut elsa, &mut ());
/// assert!(machine.is_in_state(&Housework));
/// assert_eq!(machine.previous().unwrap().name(), "Bathroom");
/// ```
pub struct Fsm<'a, T: Owner> {
    pub(crate) seat: &'a mut Seat<T>,
    /// `StateRef::NONE` when there is none.
    pub(crate) global: &'a StateRef<T>,
    pub(crate) requests: Requests<T>,
    /// Whether an `exit` or `suspend` is running.
    pub(crate) exiting: bool,
    /// How many changes the outermost callback has led to.
    pub(crate) changes: u32,
    /// How many changes have been made since the handle was. A number rather than a flag, so that it is set to 0 in one store
    /// with the one before it.
    pub(crate) made: u32,
    /// How many of the active states, from the outermost, no change has left since the last message was offered.
    pub(crate) kept: usize,
    /// Where the machine's steps are written down, if anybody is to know of them.
    pub(crate) steps: Option<&'a mut Vec<Step<T>>>,
    /// When the owner is one of many: what tells it from the others. Then `seat` is what they share.
    pub(crate) row: Option<Row<'a, T>>,
    /// Which of the slice's owners it is.
    pub(crate) nth: usize,
}

impl<'a, T: Owner> Fsm<'a, T> {
    #[inline]
    pub(crate) fn new(seat: &'a mut Seat<T>, global: &'a StateRef<T>) -> Self {
        Self {
            seat,
            global,
            requests: Requests::new(),
            exiting: false,
            changes: 0,
            made: 0,
            kept: 0,
            steps: None,
            row: None,
            nth: 0,
        }
    }

    /// Asks for a change to `to`: its `enter`, after the `exit` of current.
    ///
    /// A change to the current state runs its `exit` and `enter` (rule 7). Refused with a warning in `exit`.
    #[inline]
    pub fn change_state(&mut self, to: impl Into<StateRef<T>>) {
        match to.into().into_singleton() {
            Ok(state) => self.ask_for(state),
            Err(held) => self.ask(Request::Change(held)),
        }
    }

    /// Asks for a change to the previous state (Buckland's `RevertToPreviousState`).
    ///
    /// That is the state current was before, so two in a row toggle. Refused with a warning when there is none (rule 9).
    #[inline]
    pub fn revert_state(&mut self) {
        self.ask(Request::Revert);
    }

    /// Asks for `over` to be entered while current is suspended, to be resumed by [`pop_state`](Self::pop_state) (rule 15).
    #[inline]
    pub fn push_state(&mut self, over: impl Into<StateRef<T>>) {
        self.ask(Request::Push(over.into()));
    }

    /// Asks for current to be left and what it was pushed over to be resumed. Refused with a warning when there is nothing
    /// (rule 15).
    #[inline]
    pub fn pop_state(&mut self) {
        self.ask(Request::Pop);
    }

    /// Asks for a change to the descendant that was last active in `composite`, or to its initial one (rule 16).
    #[inline]
    pub fn resume_state(&mut self, composite: impl Into<StateRef<T>>) {
        self.ask(Request::Resume(composite.into()));
    }

    /// Changes state within the call: first the requests made before, then this change, with all that their callbacks ask
    /// for. The rest of the callback runs afterwards (rule 11). Returns whether the change was made.
    ///
    /// This is Buckland's `ChangeState` to the letter, for literal ports. Prefer [`change_state`](Self::change_state).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Bob(Vec<&'static str>);
    /// impl Owner for Bob {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// struct Home;
    /// struct Mine;
    /// impl State<Bob> for Home {
    ///     fn update(&self, bob: &mut Bob, fsm: &mut Fsm<'_, Bob>, cx: &mut ()) {
    ///         fsm.change_state_now(bob, &Mine, cx);
    ///         bob.0.push("still in Home's update");
    ///     }
    /// }
    /// impl State<Bob> for Mine {
    ///     fn enter(&self, bob: &mut Bob, _: &mut Fsm<'_, Bob>, _: &mut ()) {
    ///         bob.0.push("in the mine");
    ///     }
    /// }
    ///
    /// let mut bob = Bob(vec![]);
    /// StateMachine::new(&Home).update(&mut bob, &mut ());
    /// assert_eq!(bob.0, ["in the mine", "still in Home's update"]);
    /// ```
    pub fn change_state_now(&mut self, owner: &mut T, to: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        let request = Request::Change(to.into());
        if self.row.is_some() && !self.exiting {
            self.execute_seated(&request, owner, cx)
        } else {
            self.execute_now(&request, owner, cx)
        }
    }

    /// Returns the innermost active state. `None` when the machine has none.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Option<&StateRef<T>> {
        self.view().current.as_option()
    }

    /// Returns the state that current was before the last change.
    #[inline]
    #[must_use]
    pub fn previous(&self) -> Option<&StateRef<T>> {
        self.own_previous().as_option()
    }

    /// Returns the state that runs beside every other.
    #[inline]
    #[must_use]
    pub fn global(&self) -> Option<&StateRef<T>> {
        self.global.as_option()
    }

    /// Returns the active states, from the outermost ancestor down to current.
    #[must_use]
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.view().path()
    }

    /// Returns whether `state` is active: current, or an ancestor of it.
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.view().is_in_state(state)
    }

    /// Returns whether any state of type `S` is active.
    #[must_use]
    pub fn is_in<S: State<T>>(&self) -> bool {
        self.view().is_in::<S>()
    }

    /// Returns how long ago the last change was, in seconds by [`Owner::now`]; before the first change, the time by that
    /// clock (rule 18).
    #[must_use]
    pub fn time_in_state(&self, cx: &T::Context<'_>) -> f64 {
        T::now(cx) - self.own_entered_at()
    }

    /// Whether the callback that is running has asked for anything, or changed at once.
    #[cfg(feature = "definition")]
    pub(crate) fn has_requests(&self) -> bool {
        match &self.row {
            Some(row) => row.slot(self.nth).is_some_and(|slot| row.book.has_entry(slot)),
            None => !self.requests.is_empty(),
        }
    }

    /// A request for a change to a singleton: nearly all there are. Kept out of line, with two words to pass, so that what
    /// is left in an `update` is a call.
    #[inline(never)]
    fn ask_for(&mut self, state: &'static dyn State<T>) {
        match &mut self.row {
            Some(row) => {
                if let Some(slot) = row.slot(self.nth) {
                    row.book.change(slot, state, row.rows);
                }
            }
            None => self.requests.push(Request::Change(StateRef::from(state))),
        }
    }

    #[inline(never)]
    fn ask(&mut self, request: Request<T>) {
        match &mut self.row {
            Some(row) => {
                if let Some(slot) = row.slot(self.nth) {
                    row.book.ask(slot, request, row.rows);
                }
            }
            None => self.requests.push(request),
        }
    }
}
