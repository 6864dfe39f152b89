//! The handle that a callback is given: what a state may ask of the machine, and ask it for.

use alloc::boxed::Box;
use core::fmt;

use crate::change::Cause;
use crate::owner::Owner;
use crate::state::{IntoState, State, StateRef, same};

/// A callback's handle on its owner's machine.
///
/// A method that changes something queues a *request*: it is carried out once the callback has returned, in the order made. So the code behind
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
    machines: &'a mut (dyn Machines<T> + 'a),
    /// Which of these machines it is.
    nth: usize,
}

impl<'a, T: Owner> Fsm<'a, T> {
    #[inline]
    pub(crate) fn new(machines: &'a mut (dyn Machines<T> + 'a), nth: usize) -> Self {
        Self { machines, nth }
    }

    /// Makes it the handle of the `nth` of the same machines.
    #[inline]
    pub(crate) fn point_to(&mut self, nth: usize) {
        self.nth = nth;
    }

    /// The handle of the `nth` of the same machines, and where to note which one this is.
    #[inline]
    pub(crate) fn of_another(&mut self, nth: usize) -> (Fsm<'_, T>, &mut usize) {
        (Fsm { machines: &mut *self.machines, nth }, &mut self.nth)
    }

    /// Which of the machines it is.
    #[cfg(feature = "std")]
    pub(crate) fn nth(&self) -> usize {
        self.nth
    }

    /// Asks for a change to `to`: its `enter`, after the `exit` of current.
    ///
    /// A change to the current state runs its `exit` and `enter` (rule 7). Refused with a warning in `exit`.
    ///
    /// A state with data that is made here is handed over, as `Box::new(Patrol { route })`: a reference to it, as in
    /// `&Patrol { route }`, would have to live forever, and the compiler says that it does not (E0716).
    /// [`IntoState`] lists what can be written.
    #[inline]
    pub fn change_state(&mut self, to: impl IntoState<T>) {
        match to.into_state().into_singleton() {
            Ok(state) => self.ask_singleton(state),
            Err(held) => self.ask(Request::Change(held)),
        }
    }

    /// Asks for a change to `to`, unless that is active when the request's turn comes: then nothing happens, and nothing is
    /// refused (rule 24). This is what a global asks for in every tick.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy { health: u32, deaths: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Mortal;
    /// struct Fight;
    /// struct Dead;
    /// impl State<Enemy> for Fight {}
    /// impl State<Enemy> for Dead {
    ///     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         enemy.deaths += 1;
    ///     }
    /// }
    /// impl State<Enemy> for Mortal {
    ///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         if enemy.health == 0 {
    ///             fsm.ensure_state(&Dead);
    ///         }
    ///     }
    /// }
    ///
    /// let mut enemy = Enemy { health: 0, deaths: 0 };
    /// let mut machine = StateMachine::new(&Fight).with_global(&Mortal);
    /// for _ in 0..3 {
    ///     machine.update(&mut enemy, &mut ());
    /// }
    /// assert_eq!(enemy.deaths, 1);
    /// ```
    #[inline]
    pub fn ensure_state(&mut self, to: impl IntoState<T>) {
        self.ask(Request::Ensure(to.into_state()));
    }

    /// Asks for a change to `to` that no [`can_exit`](State::can_exit) can refuse: death during a stagger. `can_enter` is
    /// still asked (rule 24).
    #[inline]
    pub fn force_state(&mut self, to: impl IntoState<T>) {
        self.ask(Request::Force(to.into_state()));
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
    pub fn push_state(&mut self, over: impl IntoState<T>) {
        self.ask(Request::Push(over.into_state()));
    }

    /// Asks for current to be left and what it was pushed over to be resumed. Refused with a warning when there is nothing
    /// (rule 15).
    #[inline]
    pub fn pop_state(&mut self) {
        self.ask(Request::Pop);
    }

    /// Asks for a change to the descendant that was last active in `composite`, or to its initial one (rule 16).
    #[inline]
    pub fn resume_state(&mut self, composite: impl IntoState<T>) {
        self.ask(Request::Resume(composite.into_state()));
    }

    /// Sends a message to oneself: it is offered to the active states when its turn among the requests comes (rule 24).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Miner { heard: Vec<&'static str> }
    /// impl Owner for Miner { type Context<'a> = (); type Message = &'static str; }
    ///
    /// struct Dig;
    /// struct Rest;
    /// impl State<Miner> for Dig {
    ///     fn update(&self, _: &mut Miner, fsm: &mut Fsm<'_, Miner>, _: &mut ()) {
    ///         fsm.change_state(&Rest);
    ///         fsm.send("supper");
    ///     }
    /// }
    /// impl State<Miner> for Rest {
    ///     fn on_message(&self, miner: &mut Miner, word: &&'static str, _: &mut Fsm<'_, Miner>, _: &mut ()) -> bool {
    ///         miner.heard.push(word);
    ///         true
    ///     }
    /// }
    ///
    /// let mut miner = Miner::default();
    /// StateMachine::new(&Dig).update(&mut miner, &mut ());
    /// assert_eq!(miner.heard, ["supper"]);
    /// ```
    #[inline]
    pub fn send(&mut self, message: T::Message) {
        self.ask(Request::Send(Box::new(message)));
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
    pub fn change_state_now(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.machines.execute_now(self.nth, Request::change(to.into_state()), owner, cx)
    }

    /// Offers a message to oneself within the call: first the requests made before are carried out, then the active states
    /// are offered the message, with all that they ask for. The rest of the callback runs afterwards (rule 24). Returns
    /// whether it was handled.
    ///
    /// This is how a telegram to oneself is handled in Buckland's C++. Refused with a warning in `exit`.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Miner { log: Vec<&'static str> }
    /// impl Owner for Miner { type Context<'a> = (); type Message = &'static str; }
    ///
    /// struct Dig;
    /// impl State<Miner> for Dig {
    ///     fn update(&self, miner: &mut Miner, fsm: &mut Fsm<'_, Miner>, cx: &mut ()) {
    ///         assert!(fsm.send_now(miner, &"thirsty", cx));
    ///         miner.log.push("still digging");
    ///     }
    ///
    ///     fn on_message(&self, miner: &mut Miner, word: &&'static str, _: &mut Fsm<'_, Miner>, _: &mut ()) -> bool {
    ///         miner.log.push(word);
    ///         true
    ///     }
    /// }
    ///
    /// let mut miner = Miner::default();
    /// StateMachine::new(&Dig).update(&mut miner, &mut ());
    /// assert_eq!(miner.log, ["thirsty", "still digging"]);
    /// ```
    pub fn send_now(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.machines.send_now(self.nth, owner, message, cx)
    }

    /// Returns the innermost active state. `None` when the machine has none.
    #[must_use]
    pub fn current(&self) -> Option<&StateRef<T>> {
        self.view().current.as_option()
    }

    /// Returns the state that current was before the last change.
    #[must_use]
    pub fn previous(&self) -> Option<&StateRef<T>> {
        self.view().previous.as_option()
    }

    /// Returns the state that runs beside every other.
    #[must_use]
    pub fn global(&self) -> Option<&StateRef<T>> {
        self.machines.global().as_option()
    }

    /// Returns the innermost state that the change under way leads to: in its guards, in `exit`, `suspend`, `enter` and
    /// `resume`. `None` in all other callbacks (rule 8), and where a pop leads back to having no state.
    #[must_use]
    pub fn target(&self) -> Option<&StateRef<T>> {
        self.view().target.as_option()
    }

    /// Returns the active states, from the outermost ancestor down to current.
    #[must_use]
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        let View { ancestors, current, .. } = self.view();
        ancestors.iter().chain(current.as_option())
    }

    /// Returns whether `state` is active: current, or an ancestor of it.
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.view().depth_of(state).is_some()
    }

    /// Returns whether any state of type `S` is active.
    #[must_use]
    pub fn is_in<S: State<T>>(&self) -> bool {
        self.path().any(|active| active.is::<S>())
    }

    /// Returns how long current has been active, in seconds by [`Owner::now`]. Before anything was entered, the time by that
    /// clock (rule 18).
    #[must_use]
    pub fn time_in_state(&self, cx: &T::Context<'_>) -> f64 {
        time_since(self.view().entered_at, T::now(cx))
    }

    /// Returns how long `state` has been active, in seconds by [`Owner::now`]; `None` if it is not. The time of an ancestor
    /// goes on while its children change (rule 18).
    #[must_use]
    pub fn time_in<S: State<T> + ?Sized>(&self, state: &S, cx: &T::Context<'_>) -> Option<f64> {
        self.view().time_in(state, T::now(cx))
    }

    /// Returns whether any request waits: one that this callback has made, or one that is still to be carried out after it.
    /// Requests made in `exit` are refused, and so never wait.
    #[must_use]
    pub fn has_requests(&self) -> bool {
        self.machines.has_requests(self.nth)
    }

    /// As [`Machines::entered_at_each`].
    #[cfg(feature = "definition")]
    pub(crate) fn entered_at_each(&self, nth: usize, state: &dyn State<T>, entered_at: &mut [f64]) -> bool {
        self.machines.entered_at_each(nth, state, entered_at)
    }

    pub(crate) fn view(&self) -> View<'_, T> {
        self.machines.view(self.nth)
    }

    #[inline]
    fn ask_singleton(&mut self, state: &'static dyn State<T>) {
        self.machines.ask_singleton(self.nth, state);
    }

    #[inline(never)]
    fn ask(&mut self, request: Request<T>) {
        self.machines.ask(self.nth, request);
    }
}

/// What a handle points into: one machine, or the machines of many owners that lie side by side. Each method is told of which
/// of them.
pub(crate) trait Machines<T: Owner> {
    /// Queues a request for a change to a singleton: nearly all requests that there are.
    fn ask_singleton(&mut self, nth: usize, to: &'static dyn State<T>);
    /// Queues any other request.
    fn ask(&mut self, nth: usize, request: Request<T>);
    /// Rule 11.
    fn execute_now(&mut self, nth: usize, request: Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool;
    /// Rule 24.
    fn send_now(&mut self, nth: usize, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool;
    fn view(&self, nth: usize) -> View<'_, T>;
    fn global(&self) -> &StateRef<T>;
    fn has_requests(&self, nth: usize) -> bool;
    /// Writes down when each of some machines, from the `nth` on, entered a state. Returns whether that was less work than to
    /// ask for each; if not, nothing is written that counts.
    #[cfg(feature = "definition")]
    fn entered_at_each(&self, _nth: usize, _state: &dyn State<T>, _entered_at: &mut [f64]) -> bool {
        false
    }
}

/// What can be asked of a machine. Where there is no such state, it is `StateRef::NONE`.
pub(crate) struct View<'v, T: Owner> {
    pub(crate) current: &'v StateRef<T>,
    pub(crate) previous: &'v StateRef<T>,
    pub(crate) target: &'v StateRef<T>,
    /// The states around current, outermost first.
    pub(crate) ancestors: &'v [StateRef<T>],
    /// When current was entered, in seconds.
    pub(crate) entered_at: f64,
    /// When each ancestor was. None where no times are kept.
    pub(crate) ancestors_entered_at: &'v [f64],
}

impl<T: Owner> View<'_, T> {
    /// The depth of an active state, 0 being the outermost.
    pub(crate) fn depth_of<S: State<T> + ?Sized>(&self, state: &S) -> Option<usize> {
        if same(&**self.current, state) && !self.current.is_none() {
            return Some(self.ancestors.len());
        }
        self.ancestors.iter().rposition(|active| same(&**active, state))
    }

    pub(crate) fn time_in<S: State<T> + ?Sized>(&self, state: &S, now: f64) -> Option<f64> {
        let depth = self.depth_of(state)?;
        let entered_at = match self.ancestors.get(depth) {
            Some(_) => self.ancestors_entered_at.get(depth).copied().unwrap_or(NEVER),
            None => self.entered_at,
        };
        Some(time_since(entered_at, now))
    }
}

/// When a state was entered that has not been: a machine was made with it, and has not been started.
pub(crate) const NEVER: f64 = f64::NAN;

/// How long ago a state was entered; one that never was counts from 0 (rule 18).
pub(crate) fn time_since(entered_at: f64, now: f64) -> f64 {
    if entered_at.is_nan() { now } else { now - entered_at }
}

/// What a callback asks for.
pub(crate) enum Request<T: Owner> {
    Change(StateRef<T>),
    /// A change to a singleton.
    ChangeSingleton(&'static dyn State<T>),
    Ensure(StateRef<T>),
    Force(StateRef<T>),
    Revert,
    Push(StateRef<T>),
    Pop,
    Resume(StateRef<T>),
    Send(Box<T::Message>),
}

impl<T: Owner> Request<T> {
    /// A request for a change.
    pub(crate) fn change(to: StateRef<T>) -> Self {
        match to.into_singleton() {
            Ok(state) => Self::ChangeSingleton(state),
            Err(held) => Self::Change(held),
        }
    }

    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Change(_) | Self::ChangeSingleton(_) | Self::Ensure(_) | Self::Send(_) => Cause::Change,
            Self::Force(_) => Cause::Force,
            Self::Revert => Cause::Revert,
            Self::Push(_) => Cause::Push,
            Self::Pop => Cause::Pop,
            Self::Resume(_) => Cause::Resume,
        }
    }
}

impl<T: Owner> fmt::Display for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.cause();
        match self {
            Self::Change(to) | Self::Force(to) | Self::Push(to) | Self::Resume(to) => write!(f, "{cause} to {to}"),
            Self::ChangeSingleton(to) => write!(f, "{cause} to {}", to.name()),
            Self::Ensure(to) => write!(f, "ensure of {to}"),
            Self::Revert | Self::Pop => write!(f, "{cause}"),
            Self::Send(_) => f.write_str("message to oneself"),
        }
    }
}
