//! A machine that is borrowed for its methods, which are only here, wherever the machine is kept.

use alloc::sync::Arc;
use core::{fmt, mem};

use super::beside::Beside;
use super::idle::Idle;
use super::observer::Observer;
use super::seat::Seat;
use super::single::Single;
use super::taken::Running;
use super::waiting::{Scope, Then};
use crate::fsm::{Fsm, Request};
use crate::owner::{Owner, now};
use crate::state::{IntoState, StateRef};

/// A machine that is borrowed by [`StateMachine::recording`](crate::StateMachine::recording), for code that keeps other
/// data in step with the machine.
///
/// It has the methods of [`StateMachine`](crate::StateMachine). It also says whether the machine has changed state and, if
/// `steps` was given, in which steps.
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
/// let mut recorded = machine.recording(Some(&mut steps));
/// recorded.change_state(&mut Door, &Open, &mut ());
/// assert!(recorded.has_changed());
/// assert!(matches!(&steps[..], [Step::Exited(_), Step::Changed { .. }, Step::Entered(open)] if open.name() == "Open"));
/// ```
pub struct MachineMut<'a, T: Owner> {
    seat: &'a mut Seat<T>,
    beside: &'a mut Beside<T>,
    observer: Option<&'a mut dyn Observer<T>>,
    has_changed: bool,
    has_refused: bool,
}

impl<'a, T: Owner> MachineMut<'a, T> {
    #[inline]
    pub(crate) fn new(
        seat: &'a mut Seat<T>,
        beside: &'a mut Beside<T>,
        observer: Option<&'a mut dyn Observer<T>>,
    ) -> Self {
        Self { seat, beside, observer, has_changed: false, has_refused: false }
    }

    /// Returns whether any change was made since the machine was borrowed.
    #[inline]
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Returns whether a guard has refused any change since the machine was borrowed.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Door;
    /// impl Owner for Door {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// struct Locked;
    /// struct Open;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Locked {
    ///     fn can_exit(&self, _: &Door, _: &Fsm<'_, Door>, _: &()) -> bool {
    ///         false
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Locked);
    /// let mut recorded = machine.recording(None);
    /// recorded.change_state(&mut Door, &Open, &mut ());
    /// assert!(recorded.has_refused() && !recorded.has_changed());
    /// ```
    #[inline]
    #[must_use]
    pub fn has_refused(&self) -> bool {
        self.has_refused
    }

    /// Does what [`StateMachine::start`](crate::StateMachine::start) does.
    pub fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.run("start", owner, |single, owner| single.start(owner, cx));
    }

    /// Does what [`StateMachine::stop`](crate::StateMachine::stop) does.
    pub fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.run("stop", owner, |single, owner| single.stop(owner, cx));
    }

    /// Does what [`StateMachine::update`](crate::StateMachine::update) does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what a tick takes")]
    pub fn update(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        let _running = Running::begin(self.seat, owner, "update");
        let (has_changed, has_refused) = match self.seat.lone() {
            Some(state) if self.beside.global().is_none() => {
                let mut single = self.single();
                single.tick_lone(state, owner, cx);
                finish(single)
            }
            _ => {
                tick_all(self.seat, self.beside, self.observer.as_mut().map(|observer| &mut **observer as _), owner, cx)
            }
        };
        self.has_changed |= has_changed;
        self.has_refused |= has_refused;
    }

    /// Does what [`StateMachine::send`](crate::StateMachine::send) does. Returns whether the message was handled.
    pub fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.run("message", owner, |single, owner| single.send(owner, message, cx))
    }

    /// Does what [`StateMachine::change_state`](crate::StateMachine::change_state) does. Returns whether it was done.
    pub fn change_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::change(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::ensure_state`](crate::StateMachine::ensure_state) does. Returns whether it was done.
    pub fn ensure_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Ensure(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::force_state`](crate::StateMachine::force_state) does. Returns whether it was done.
    pub fn force_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Force(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::revert_state`](crate::StateMachine::revert_state) does. Returns whether it was done.
    pub fn revert_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Revert, owner, cx)
    }

    /// Does what [`StateMachine::push_state`](crate::StateMachine::push_state) does. Returns whether it was done.
    pub fn push_state(&mut self, owner: &mut T, over: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Push(over.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::pop_state`](crate::StateMachine::pop_state) does. Returns whether it was done.
    pub fn pop_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Pop, owner, cx)
    }

    /// Does what [`StateMachine::resume_state`](crate::StateMachine::resume_state) does. Returns whether it was done.
    pub fn resume_state(&mut self, owner: &mut T, composite: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Resume(composite.into_state()), owner, cx)
    }

    /// As [`StateMachine::change_state_after`](crate::StateMachine::change_state_after).
    pub fn change_state_after(
        &mut self,
        owner: &mut T,
        seconds: f64,
        to: impl IntoState<T>,
        cx: &mut T::Context<'_>,
    ) -> bool {
        self.execute(&Request::after(seconds, Then::Change(to.into_state())), owner, cx)
    }

    /// As [`StateMachine::send_after`](crate::StateMachine::send_after).
    pub fn send_after(&mut self, owner: &mut T, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.execute(&Request::after(seconds, Then::Send(Arc::new(message))), owner, cx)
    }

    /// As [`StateMachine::sleep`](crate::StateMachine::sleep).
    pub fn sleep(&mut self) {
        self.beside.end_idle();
        self.seat.sleep_until(f64::INFINITY);
    }

    /// As [`StateMachine::sleep_for`](crate::StateMachine::sleep_for).
    pub fn sleep_for(&mut self, owner: &T, seconds: f64, cx: &T::Context<'_>) {
        self.beside.end_idle();
        self.single().sleep_for(seconds, owner, cx);
    }

    /// As [`StateMachine::wake`](crate::StateMachine::wake).
    pub fn wake(&mut self) -> bool {
        self.beside.end_idle();
        self.seat.wake()
    }

    /// Does what [`StateMachine::with`](crate::StateMachine::with) does. Returns what `act` returns.
    pub fn with<R>(
        &mut self,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> R {
        self.run("call", owner, |single, owner| {
            single.scope = Scope::Machine;
            let result = act(owner, &mut single.fsm(), cx);
            single.settle_callback(owner, cx);
            result
        })
    }

    fn execute(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.run(request, owner, |single, owner| single.execute_alone(request, owner, cx))
    }

    fn run<R>(
        &mut self,
        asked: impl fmt::Display,
        owner: &mut T,
        act: impl FnOnce(&mut Single<'_, T>, &mut T) -> R,
    ) -> R {
        let _running = Running::begin(self.seat, owner, asked);
        self.beside.end_idle();
        let mut single = self.single();
        let result = act(&mut single, owner);
        let (has_changed, has_refused) = outcome(&single);
        self.has_changed |= has_changed;
        self.has_refused |= has_refused;
        result
    }

    #[inline]
    fn single(&mut self) -> Single<'_, T> {
        single(self.seat, self.beside.global(), self.observer.as_mut().map(|observer| &mut **observer as _))
    }
}

/// Kept out of line, so that little is inlined with [`MachineMut::update`], and by parts, which a processor passes in
/// registers. Returns whether the machine has changed state, and whether a guard has refused it to.
#[inline(never)]
fn tick_all<T: Owner>(
    seat: &mut Seat<T>,
    beside: &mut Beside<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    if beside.is_idle(&seat.current, || now::<T>(cx)) {
        return (false, false);
    }
    // A panic leaves it so.
    let before = beside.end_idle();
    let global = beside.global();
    let mut single = single(seat, global, observer.map(|observer| observer as _));
    if global.is_none() && single.seat.is_lone() {
        // If it is quiet, all are.
        let state = single.seat.current.clone();
        single.tick_lone(&*state, owner, cx);
    } else {
        single.quiet = before.quiet(|| now::<T>(cx));
        single.tick(owner, cx);
    }
    let idle = Idle::after(single.seat, single.quiet, || now::<T>(cx));
    let outcome = finish(single);
    beside.be_idle(idle);
    outcome
}

/// Ends a tick. Returns whether the machine has changed state, and whether a guard has refused it to.
#[inline]
fn finish<T: Owner>(single: Single<'_, T>) -> (bool, bool) {
    let outcome = outcome(&single);
    // All requests are carried out, so nothing is left to drop. The compiler cannot know, and would look.
    mem::forget(single);
    outcome
}

/// What a call has come to: whether the machine has changed state, and whether a guard has refused it to.
#[inline]
fn outcome<T: Owner>(single: &Single<'_, T>) -> (bool, bool) {
    debug_assert!(single.seat.is_whole(), "a call leaves what belongs to no state of the machine");
    (single.made > 0, single.has_refused)
}

#[inline]
fn single<'a, T: Owner>(
    seat: &'a mut Seat<T>,
    global: &'a StateRef<T>,
    observer: Option<&'a mut dyn Observer<T>>,
) -> Single<'a, T> {
    let mut single = Single::new(seat, global);
    single.observer = observer;
    single
}
