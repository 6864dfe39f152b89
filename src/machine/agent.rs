//! An owner together with its machine.

use core::ops::{Deref, DerefMut};
use core::{fmt, mem};

use super::observer::MachineWatch;
use super::report::MachineReport;
use super::state_machine::{MachineMut, StateMachine};
use super::waiting::NextWake;
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::state::IntoState;

/// An owner with its machine: a character that updates itself.
///
/// It dereferences to the owner. It has the methods of [`StateMachine`] that run the machine, without the argument for
/// the owner. [`machine`](Self::machine) and [`machine_mut`](Self::machine_mut) give access to the others. The order of
/// the callbacks, the times (in seconds) and what happens when a callback panics are the same as for a [`StateMachine`].
///
/// # Examples
///
/// ```
/// use demeanor::{Agent, Fsm, Owner, State, StateMachine};
///
/// struct Lamp {
///     is_lit: bool,
/// }
///
/// struct Toggle;
///
/// impl Owner for Lamp {
///     type Context<'a> = ();
///     type Message = Toggle;
/// }
///
/// struct Off;
/// struct On;
///
/// impl State<Lamp> for Off {
///     fn on_message(&self, _: &mut Lamp, _: &Toggle, fsm: &mut Fsm<'_, Lamp>, _: &mut ()) -> bool {
///         fsm.change_state(&On);
///         true
///     }
/// }
///
/// impl State<Lamp> for On {
///     fn enter(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, _: &mut ()) {
///         lamp.is_lit = true;
///     }
/// }
///
/// let mut lamp = Agent::new(Lamp { is_lit: false }, StateMachine::new(&Off));
/// assert!(lamp.send(&Toggle, &mut ()));
/// assert!(lamp.is_lit);
/// assert!(lamp.machine().is_in_state(&On));
/// ```
pub struct Agent<T: Owner> {
    owner: T,
    machine: StateMachine<T>,
    /// The observer of the machine's changes, while a cast lends the agent.
    watch: Option<MachineWatch<T>>,
}

impl<T: Owner> Agent<T> {
    /// Puts an owner and its machine together. Calls nothing.
    pub fn new(owner: T, machine: StateMachine<T>) -> Self {
        Self { owner, machine, watch: None }
    }

    /// Runs the `enter` of the current state. See [`StateMachine::start`].
    pub fn start(&mut self, cx: &mut T::Context<'_>) {
        self.run(|machine, owner| machine.start(owner, cx));
    }

    /// Runs the `exit` of the current state. See [`StateMachine::stop`].
    pub fn stop(&mut self, cx: &mut T::Context<'_>) {
        self.run(|machine, owner| machine.stop(owner, cx));
    }

    /// Runs one tick. See [`StateMachine::update`].
    #[inline]
    pub fn update(&mut self, cx: &mut T::Context<'_>) {
        self.run(|machine, owner| machine.update(owner, cx));
    }

    /// Offers a message to the states; returns whether it was handled. See [`StateMachine::send`].
    pub fn send(&mut self, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.send(owner, message, cx))
    }

    /// Changes state; returns whether the change was made. See [`StateMachine::change_state`].
    pub fn change_state(&mut self, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.change_state(owner, to, cx))
    }

    /// Changes to a state unless it is active already; returns `true` if the state was active or the change was made. See
    /// [`StateMachine::ensure_state`].
    pub fn ensure_state(&mut self, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.ensure_state(owner, to, cx))
    }

    /// Changes state without asking `can_exit`; returns whether the change was made. See [`StateMachine::force_state`].
    pub fn force_state(&mut self, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.force_state(owner, to, cx))
    }

    /// Changes to the previous state; returns whether the change was made. See [`StateMachine::revert_state`].
    pub fn revert_state(&mut self, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.revert_state(owner, cx))
    }

    /// Pushes a state over the current one; returns whether this was done. See [`StateMachine::push_state`].
    pub fn push_state(&mut self, over: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.push_state(owner, over, cx))
    }

    /// Leaves the current state and resumes the state over which it was pushed; returns whether this was done. See
    /// [`StateMachine::pop_state`].
    pub fn pop_state(&mut self, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.pop_state(owner, cx))
    }

    /// Changes to the state that was active last inside a state with children; returns whether the change was made. See
    /// [`StateMachine::resume_state`].
    pub fn resume_state(&mut self, composite: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.resume_state(owner, composite, cx))
    }

    /// Sets a timer for a change; returns `true`. See [`StateMachine::change_state_after`].
    pub fn change_state_after(&mut self, seconds: f64, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.change_state_after(owner, seconds, to, cx))
    }

    /// Requests a change at the beginning of the next tick; returns `true`. See [`StateMachine::change_state_next`].
    pub fn change_state_next(&mut self, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.run(|machine, owner| machine.change_state_next(owner, to, cx))
    }

    /// Sets a timer for a message; returns `true`. See [`StateMachine::send_after`].
    pub fn send_after(&mut self, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.run(|machine, owner| machine.send_after(owner, seconds, message, cx))
    }

    /// Sets a repeating timer for a message; returns `true`. See [`StateMachine::send_every`].
    pub fn send_every(&mut self, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.run(|machine, owner| machine.send_every(owner, seconds, message, cx))
    }

    /// Puts the machine to sleep. See [`StateMachine::sleep`].
    pub fn sleep(&mut self) {
        self.machine.sleep();
    }

    /// Puts the machine to sleep for a number of seconds. See [`StateMachine::sleep_for`].
    pub fn sleep_for(&mut self, seconds: f64, cx: &T::Context<'_>) {
        self.machine.sleep_for(&self.owner, seconds, cx);
    }

    /// Wakes the machine; returns whether it was asleep. See [`StateMachine::wake`].
    pub fn wake(&mut self) -> bool {
        self.machine.wake()
    }

    /// Returns whether the machine is asleep. See [`StateMachine::is_asleep`].
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.machine.is_asleep()
    }

    /// Returns when the machine next has something to do. See [`StateMachine::next_wake`].
    #[must_use]
    pub fn next_wake(&self) -> NextWake {
        self.machine.next_wake()
    }

    /// Returns what the agent is doing at `now`, in seconds. See [`StateMachine::report`].
    #[must_use]
    pub fn report(&self, now: f64) -> MachineReport {
        self.machine.report(&self.owner, now)
    }

    /// Calls `act` with the owner and a handle to its machine, like a callback. See [`StateMachine::with`].
    pub fn with<R>(
        &mut self,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> R {
        self.run(|machine, owner| machine.with(owner, cx, act))
    }

    /// Returns the machine.
    #[must_use]
    pub fn machine(&self) -> &StateMachine<T> {
        &self.machine
    }

    /// Returns the machine, for methods that call no callback, such as [`StateMachine::set_global`].
    pub fn machine_mut(&mut self) -> &mut StateMachine<T> {
        &mut self.machine
    }

    /// The offsets in bytes of the owner and of its machine's seat from the agent's address.
    pub(crate) const OFFSETS: (usize, usize) =
        (mem::offset_of!(Self, owner), mem::offset_of!(Self, machine) + StateMachine::<T>::SEAT_OFFSET);

    /// Returns the owner and its borrowed machine, which reports each change to `watch`.
    #[inline]
    pub(crate) fn watched<'a>(&'a mut self, watch: &'a mut MachineWatch<T>) -> (&'a mut T, MachineMut<'a, T>) {
        (&mut self.owner, self.machine.observed(Some(watch)))
    }

    /// Sets the watch to which changes are reported from now on.
    pub(crate) fn set_watch(&mut self, watch: Option<MachineWatch<T>>) {
        self.watch = watch;
    }

    /// Calls `act` with the borrowed machine and the owner. The machine reports each change to the watch, if there is one.
    #[inline]
    fn run<R>(&mut self, act: impl FnOnce(&mut MachineMut<'_, T>, &mut T) -> R) -> R {
        let Self { owner, machine, watch } = self;
        act(&mut machine.observed(watch.as_mut().map(|watch| watch as _)), owner)
    }

    /// Returns the owner and the machine separately, for example for `Batch::insert_machine`.
    #[must_use]
    pub fn into_parts(self) -> (T, StateMachine<T>) {
        (self.owner, self.machine)
    }
}

/// The clone has no observer.
impl<T: Owner + Clone> Clone for Agent<T> {
    fn clone(&self) -> Self {
        Self::new(self.owner.clone(), self.machine.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.owner.clone_from(&source.owner);
        self.machine.clone_from(&source.machine);
    }
}

impl<T: Owner> Deref for Agent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.owner
    }
}

impl<T: Owner> DerefMut for Agent<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.owner
    }
}

impl<T: Owner + fmt::Debug> fmt::Debug for Agent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("owner", &self.owner).field("machine", &self.machine).finish_non_exhaustive()
    }
}
