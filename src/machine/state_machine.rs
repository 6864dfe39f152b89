//! One owner's machine, and `MachineMut`, the borrowed machine, which implements the methods that run a machine.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{fmt, mem};

use super::idle::Idle;
use super::observer::Observer;
use super::quiet::Quiet;
use super::regions::Tree;
use super::report::MachineReport;
use super::seat::{Glance, Seat};
use super::settings::Settings;
use super::single::{HAS_CHANGED_INSIDE, HAS_REFUSED, Single};
use super::step::Step;
use super::taken::Running;
use super::waiting::{NextWake, Pending, Scope, Then};
use crate::change::NameOf;
use crate::fsm::{Fsm, NEVER, Request, time_since};
use crate::owner::{Owner, clock_time, now};
use crate::state::{IntoState, State, StateRef};

/// The state machine of one owner: its current, previous and global states.
///
/// The machine does not hold the owner. The methods that run callbacks get the owner as an argument, so that a callback can
/// borrow both. Keep owner and machine side by side, in an [`Agent`](crate::Agent), or apart. The machine cannot be a field
/// of its owner: `self.machine.update(self, cx)` would borrow the owner twice, which the compiler refuses (E0499). [The
/// page on porting](crate::docs::porting#1-the-machine-is-a-member) shows what to write instead, and what goes wrong
/// with `mem::take`.
///
/// The methods here act at once. If a request can be refused, its method returns whether it was carried out. In a callback,
/// the methods of [`Fsm`] make requests instead. A clone is a second machine in the same state, and cloning runs no
/// callback: use a clone as a prefab, or as a snapshot to go back to.
///
/// [`State`] has a table of the order in which the callbacks are called. All times are in seconds by [`Owner::now`].
///
/// # Panics
///
/// The methods do not panic by themselves. A panic in a callback reaches the caller; the requests of the callback are dropped,
/// and the machine goes on working ([rule 22](crate::docs::semantics#rule-22)).
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
    beside: Beside<T>,
}

impl<T: Owner> StateMachine<T> {
    /// Creates a machine whose current state is `initial`. It calls nothing: [`start`](Self::start) enters the state
    /// ([rule 1](crate::docs::semantics#rule-1)). Until then, [`time_in_state`](Self::time_in_state) counts from the clock's 0.
    pub fn new(initial: impl IntoState<T>) -> Self {
        Self::from_seat(Seat::new(initial.into_state()), Settings::DEFAULT)
    }

    /// Creates a machine without a current state. Its first change only enters the new state
    /// ([rule 2](crate::docs::semantics#rule-2)).
    #[must_use]
    pub fn idle() -> Self {
        Self::from_seat(Seat::new(StateRef::NONE), Settings::DEFAULT)
    }

    /// Gives the machine a global state: a state that runs beside every other state, and that is never entered or exited
    /// ([rule 3](crate::docs::semantics#rule-3)).
    #[must_use]
    pub fn with_global(mut self, global: impl IntoState<T>) -> Self {
        self.set_global(global);
        self
    }

    /// Sets the most changes and messages to oneself that one callback may lead to, as [`set_limit`](Self::set_limit) does.
    ///
    /// # Examples
    ///
    /// A guard works off a queue of orders, each of which ends at once.
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Guard { orders: u32 }
    /// struct Order;
    /// impl Owner for Guard { type Context<'a> = (); type Message = Order; }
    ///
    /// struct Obey;
    /// impl State<Guard> for Obey {
    ///     fn on_message(&self, guard: &mut Guard, _: &Order, fsm: &mut Fsm<'_, Guard>, _: &mut ()) -> bool {
    ///         guard.orders -= 1;
    ///         if guard.orders > 0 {
    ///             fsm.send(Order);
    ///         }
    ///         true
    ///     }
    /// }
    ///
    /// let (mut busy, mut busiest) = (Guard { orders: 1_000 }, Guard { orders: 10_000 });
    /// StateMachine::new(&Obey).send(&mut busy, &Order, &mut ());
    /// StateMachine::new(&Obey).with_limit(10_000).send(&mut busiest, &Order, &mut ());
    /// assert_eq!((busy.orders, busiest.orders), (0, 0));
    /// ```
    #[must_use]
    pub fn with_limit(mut self, changes: u32) -> Self {
        self.set_limit(changes);
        self
    }

    /// Runs the `enter` of the current state. If this state has ancestors, their `enter` runs first, that of the outermost
    /// before the others. If it has [`initial`](State::initial) children, they are entered after it
    /// ([rule 1](crate::docs::semantics#rule-1)).
    ///
    /// If the current state has already been entered, by `start` or by a change, the machine refuses `start` with a
    /// warning: see [`is_started`](Self::is_started).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine, StateRef};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct OffDuty;
    /// struct Sleep;
    /// impl State<Enemy> for OffDuty {
    ///     fn initial(&self) -> Option<StateRef<Enemy>> { Some((&Sleep).into()) }
    /// }
    /// impl State<Enemy> for Sleep {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&OffDuty).into()) }
    /// }
    ///
    /// let mut machine = StateMachine::new(&OffDuty);
    /// machine.start(&mut Enemy, &mut ());
    /// assert_eq!(machine.current().unwrap().name(), "Sleep");
    /// ```
    pub fn start(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.recording(None).start(owner, cx);
    }

    /// Runs the `exit` of the current state, then the `exit` of its ancestors, that of the outermost last. After that the
    /// machine has no current state, its previous state is the one that was left, and its stack is empty
    /// ([rule 1](crate::docs::semantics#rule-1)).
    pub fn stop(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.recording(None).stop(owner, cx);
    }

    /// Runs one tick: the timers that are due, then the `update` of the global state, then that of the active states from the
    /// outermost to the innermost. After each `update`, its requests are carried out
    /// ([rule 4](crate::docs::semantics#rule-4)). While the machine is asleep, only the global state is updated. If any state was
    /// updated, [`Owner::after_update`] ends the tick ([rule 35](crate::docs::semantics#rule-35)).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what a tick takes")]
    pub fn update(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        self.recording(None).update(owner, cx);
    }

    /// Offers a message to the current state, then to its ancestors from the inside out, then to the global state,
    /// until one of them handles it. Returns whether one did ([rule 14](crate::docs::semantics#rule-14)).
    pub fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).send(owner, message, cx)
    }

    /// Changes to `to`, and carries out the requests that the callbacks of the change make. Returns whether the change was
    /// made; a guard can refuse it.
    ///
    /// [`IntoState`] lists what you can write for `to`. For a state with data that is created here, write
    /// `Box::new(Patrol { route })`; a reference to it would have to live forever.
    pub fn change_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).change_state(owner, to, cx)
    }

    /// Changes to `to`, unless it is active already. Returns `true` if it was active or if the change was made
    /// ([rule 24](crate::docs::semantics#rule-24)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Idle;
    /// struct Dead;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Dead {}
    ///
    /// let mut machine = StateMachine::new(&Idle);
    /// assert!(machine.ensure_state(&mut Enemy, &Dead, &mut ()));
    /// assert!(machine.ensure_state(&mut Enemy, &Dead, &mut ()));
    /// assert_eq!(machine.previous().unwrap().name(), "Idle");
    /// ```
    pub fn ensure_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).ensure_state(owner, to, cx)
    }

    /// Changes to `to` without asking any `can_exit`; `can_enter` is still asked. Returns whether the change was made
    /// ([rule 24](crate::docs::semantics#rule-24)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Stagger;
    /// struct Dead;
    /// impl State<Enemy> for Dead {}
    /// impl State<Enemy> for Stagger {
    ///     fn can_exit(&self, _: &Enemy, _: &Fsm<'_, Enemy>, _: &()) -> bool {
    ///         false
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Stagger);
    /// assert!(!machine.change_state(&mut Enemy, &Dead, &mut ()));
    /// assert!(machine.force_state(&mut Enemy, &Dead, &mut ()));
    /// ```
    pub fn force_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).force_state(owner, to, cx)
    }

    /// Changes to the previous state. Returns whether the change was made. If there is no previous state, it is refused with
    /// a warning ([rule 9](crate::docs::semantics#rule-9)).
    pub fn revert_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).revert_state(owner, cx)
    }

    /// Suspends the current state and its ancestors, and enters `over`. Returns whether this was done
    /// ([rule 15](crate::docs::semantics#rule-15)).
    pub fn push_state(&mut self, owner: &mut T, over: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).push_state(owner, over, cx)
    }

    /// Leaves the current state and its ancestors, and resumes the states that were suspended last. Returns whether this was done
    /// ([rule 15](crate::docs::semantics#rule-15)).
    pub fn pop_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).pop_state(owner, cx)
    }

    /// Changes to the innermost state that was active last inside `composite`, a state with children. If no such state is
    /// remembered, this is a change to `composite`. Returns whether the change was made
    /// ([rule 16](crate::docs::semantics#rule-16)).
    pub fn resume_state(&mut self, owner: &mut T, composite: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).resume_state(owner, composite, cx)
    }

    /// Sets a timer from outside: requests a change to `to` when [`Owner::now`] has advanced by `seconds`. The timer
    /// lasts as long as the machine, whatever states come and go. If a timer has to end with a state, set it [in a
    /// callback](Fsm::change_state_after) of this state. Always returns `true`.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{NextWake, Owner, State, StateMachine};
    ///
    /// struct Player;
    /// impl Owner for Player {
    ///     type Context<'a> = f64;
    ///     type Message = ();
    ///
    ///     fn now(seconds: &f64) -> f64 {
    ///         *seconds
    ///     }
    /// }
    ///
    /// struct Dead;
    /// struct Alive;
    /// impl State<Player> for Dead {
    ///     // There is nothing to do in a tick.
    ///     fn is_passive(&self) -> bool {
    ///         true
    ///     }
    /// }
    /// impl State<Player> for Alive {}
    ///
    /// let mut machine = StateMachine::new(&Dead);
    /// machine.change_state_after(&mut Player, 5.0, &Alive, &mut 10.0);
    /// // After 15 seconds, less the tolerance with which times are compared.
    /// assert!(matches!(machine.next_wake(), NextWake::At(seconds) if (14.999..=15.0).contains(&seconds)));
    ///
    /// machine.update(&mut Player, &mut 15.0);
    /// assert!(machine.is_in_state(&Alive));
    /// ```
    pub fn change_state_after(
        &mut self,
        owner: &mut T,
        seconds: f64,
        to: impl IntoState<T>,
        cx: &mut T::Context<'_>,
    ) -> bool {
        self.recording(None).change_state_after(owner, seconds, to, cx)
    }

    /// Requests a change to `to` at the beginning of the next tick. If several are requested, the last one counts, and any change
    /// that is made before that tick drops it. See [`Fsm::change_state_next`]. Always returns `true`.
    pub fn change_state_next(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.recording(None).change_state_next(owner, to, cx)
    }

    /// Sets a timer from outside: sends a message to the owner itself when [`Owner::now`] has advanced by `seconds`. See
    /// [`change_state_after`](Self::change_state_after).
    pub fn send_after(&mut self, owner: &mut T, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.recording(None).send_after(owner, seconds, message, cx)
    }

    /// Sets a repeating timer from outside: sends a message to the owner itself every `seconds`, until the timer is
    /// [canceled](Fsm::cancel). Returns `true`. See [`Fsm::send_every`].
    pub fn send_every(&mut self, owner: &mut T, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.recording(None).send_every(owner, seconds, message, cx)
    }

    /// Puts the machine to sleep: its states are not updated until it wakes. See [`Fsm::sleep`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{NextWake, Owner, State, StateMachine};
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut machine = StateMachine::<Enemy>::new(&Idle);
    /// machine.sleep();
    /// assert_eq!(machine.next_wake(), NextWake::Never);
    /// assert!(machine.wake());
    /// assert_eq!(machine.next_wake(), NextWake::EveryTick);
    /// ```
    pub fn sleep(&mut self) {
        self.recording(None).sleep();
    }

    /// Puts the machine to sleep for a number of seconds. See [`Fsm::sleep_for`].
    pub fn sleep_for(&mut self, owner: &T, seconds: f64, cx: &T::Context<'_>) {
        self.recording(None).sleep_for(owner, seconds, cx);
    }

    /// Wakes the machine. Returns whether it was asleep.
    pub fn wake(&mut self) -> bool {
        self.recording(None).wake()
    }

    /// Returns whether the machine is asleep: its states are not updated until it wakes
    /// ([rule 26](crate::docs::semantics#rule-26)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut machine = StateMachine::<Enemy>::new(&Idle);
    /// assert!(!machine.is_asleep());
    /// machine.sleep();
    /// assert!(machine.is_asleep());
    /// ```
    #[inline]
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.seat.are_all_asleep()
    }

    /// Returns when the machine next has something to do, if no message and no change comes before that. This method is for
    /// games that decide themselves which machines to update.
    ///
    /// The machine has something to do in every tick if its global state is not [passive](State::is_passive), or if it is
    /// awake and one of its active states is not passive. Times are those of [`Owner::now`], in seconds.
    #[must_use]
    pub fn next_wake(&self) -> NextWake {
        self.seat.next_wake(&self.settings().global)
    }

    /// Returns the running timers of the active states and of the machine, and the change that is requested for the next tick, in
    /// the order in which they were set. The timers of each [region](State::regions) come after those of the states around it. The
    /// timers of suspended states are left out, because they are paused.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending<T>> {
        self.tree().pending()
    }

    /// Returns what the machine is doing, in words: for tools and for the log. `now` is the time that [`Owner::now`]
    /// returns, in seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// struct Menu;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Menu {}
    ///
    /// let mut machine = StateMachine::new(&Idle);
    /// machine.push_state(&mut Enemy, &Menu, &mut ());
    /// let report = machine.report(&Enemy, 0.0);
    /// assert_eq!((&*report.path[0].name, &*report.stack[0][0].name), ("Menu", "Idle"));
    /// ```
    #[must_use]
    pub fn report(&self, owner: &T, now: f64) -> MachineReport {
        MachineReport::new(owner, &self.seat, self.settings().global.as_option(), now)
    }

    /// Calls `act` like a callback, with the handle, and then carries out the requests that `act` has made. Returns what
    /// `act` returns.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy { health: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Idle;
    /// struct Flee;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Flee {}
    ///
    /// let mut machine = StateMachine::new(&Idle);
    /// machine.with(&mut Enemy { health: 3 }, &mut (), |enemy, fsm, ()| {
    ///     if enemy.health < 5 {
    ///         fsm.change_state(&Flee);
    ///     }
    /// });
    /// assert!(machine.is_in_state(&Flee));
    /// ```
    pub fn with<R>(
        &mut self,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> R {
        self.recording(None).with(owner, cx, act)
    }

    /// Borrows the machine as a value with the same methods. The value records whether the machine has changed state, whether
    /// a guard has refused a change and, if `steps` is given, each step. This is for code that keeps other data in step with
    /// the machine.
    #[inline]
    pub fn recording<'a>(&'a mut self, steps: Option<&'a mut Vec<Step<T>>>) -> MachineMut<'a, T> {
        self.observed(steps.map(|steps| steps as _))
    }

    /// Borrows the machine as a value with the same methods, which reports what they do to an observer.
    #[inline]
    pub(crate) fn observed<'a>(&'a mut self, observer: Option<&'a mut dyn Observer<T>>) -> MachineMut<'a, T> {
        MachineMut { machine: self, observer, has_changed: false, has_refused: false }
    }

    /// Sets the current state without any callback. The machine wakes, and the timers of states that are no longer active
    /// end.
    pub fn set_current(&mut self, current: impl IntoState<T>) {
        self.beside.end_idle();
        self.seat.place(&current.into_state());
    }

    /// Sets the previous state without any callback.
    pub fn set_previous(&mut self, previous: impl IntoState<T>) {
        self.seat.previous = previous.into_state();
    }

    /// Sets the state that runs beside every other state, without any callback ([rule 3](crate::docs::semantics#rule-3)).
    pub fn set_global(&mut self, global: impl IntoState<T>) {
        self.beside.settings_mut().global = global.into_state();
    }

    /// Sets the most changes and messages to oneself that one callback may lead to. If a callback leads to more, this counts as
    /// a cycle: an error is logged, and the other requests are dropped ([rule 13](crate::docs::semantics#rule-13)). Without
    /// this call, the limit is 4000. 0 counts as 1.
    ///
    /// The limit belongs to the program, like the states: a clone of the machine has it, a saved machine does not.
    pub fn set_limit(&mut self, changes: u32) {
        self.beside.settings_mut().set_limit(changes);
    }

    /// Treats the active states as entered at `at` seconds by [`Owner::now`], without any callback. This method is for a
    /// machine that is put together from a saved game. A [`start`](Self::start) after this call is refused. Does nothing
    /// when there is no current state.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Chase;
    /// impl State<Enemy> for Chase {
    ///     fn enter(&self, _: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         unreachable!("it was entered before the game was saved");
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Chase);
    /// machine.set_entered(0.0);
    /// assert!(machine.is_started());
    /// machine.start(&mut Enemy, &mut ());
    /// ```
    pub fn set_entered(&mut self, at: f64) {
        if self.seat.current.is_none() {
            return;
        }
        let at = clock_time(at);
        self.beside.end_idle();
        self.seat.each(&mut |seat| {
            seat.entered_at = if seat.depth() > 0 { at } else { NEVER };
            if let Some(rare) = &mut *seat.rare {
                rare.ancestors_entered_at.fill(at);
            }
        });
    }

    /// Returns the current state for editing, if it is an owned state (made from a `Box`) of type `S`.
    ///
    /// If anything else refers to the same object, such as another machine, or this machine's previous state or history, the
    /// current state is cloned first. So the edit changes only the current state of this machine
    /// ([rule 17](crate::docs::semantics#rule-17)). Do not edit data on which the state's place in the hierarchy depends: its
    /// `parent`, `initial`, `regions` and `region` must stay the same ([rule 6](crate::docs::semantics#rule-6)).
    pub fn current_mut<S: State<T>>(&mut self) -> Option<&mut S> {
        self.beside.end_idle();
        self.seat.current.owned_mut()
    }

    /// Returns whether the current state has been entered: by [`start`](Self::start), which is refused after that, or
    /// by a change ([rule 1](crate::docs::semantics#rule-1)). A machine without a current state is not started.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut machine = StateMachine::new(&Idle);
    /// assert!(!machine.is_started());
    /// machine.start(&mut Enemy, &mut ());
    /// assert!(machine.is_started());
    /// machine.stop(&mut Enemy, &mut ());
    /// assert!(!machine.is_started());
    /// ```
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.seat.is_entered()
    }

    /// Returns the innermost active state. A state whose [regions](State::regions) are open counts as innermost
    /// ([rule 32](crate::docs::semantics#rule-32)). `None` when the machine has no state.
    #[must_use]
    pub fn current(&self) -> Option<&StateRef<T>> {
        self.seat.current.as_option()
    }

    /// Returns the state that was current before the last change.
    #[must_use]
    pub fn previous(&self) -> Option<&StateRef<T>> {
        self.seat.previous.as_option()
    }

    /// Returns the global state, which runs beside every other state.
    #[must_use]
    pub fn global(&self) -> Option<StateRef<T>> {
        self.settings().global.as_option().cloned()
    }

    /// Returns the most changes and messages to oneself that one callback may lead to. See [`set_limit`](Self::set_limit).
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.settings().limit()
    }

    /// Returns the active states, from the outermost ancestor down to the current state.
    #[must_use]
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.seat.path()
    }

    /// Returns all active states: the outermost first, and after a state with regions, the states in its regions, region by
    /// region ([rule 32](crate::docs::semantics#rule-32)). Without regions, this is the [path](Self::path).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine, StateRef};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Combat;
    /// struct Walk;
    /// struct Aim;
    /// impl State<Enemy> for Combat {
    ///     fn regions(&self) -> Vec<StateRef<Enemy>> { vec![(&Walk).into(), (&Aim).into()] }
    /// }
    /// impl State<Enemy> for Walk {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    /// }
    /// impl State<Enemy> for Aim {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    ///     fn region(&self) -> usize { 1 }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Combat);
    /// machine.start(&mut Enemy, &mut ());
    /// let active: Vec<_> = machine.active_states().map(|state| state.name()).collect();
    /// assert_eq!(active, ["Combat", "Walk", "Aim"]);
    /// let innermost: Vec<_> = machine.regions(&Combat).map(|state| state.name()).collect();
    /// assert_eq!(innermost, ["Walk", "Aim"]);
    /// ```
    pub fn active_states(&self) -> impl Iterator<Item = &StateRef<T>> {
        let inside = self.has_open_regions().then(|| self.tree().active_states()).into_iter().flatten();
        self.path().chain(inside.skip(self.seat.depth()))
    }

    /// Returns the innermost active state in each open region of `composite`, in the order of the regions; a state whose own
    /// regions are open counts as innermost. Returns none if `composite` is not active or has no regions.
    /// [`active_states`](Self::active_states) has an example.
    pub fn regions(&self, composite: impl IntoState<T>) -> impl Iterator<Item = &StateRef<T>> {
        self.tree().regions_of(&composite.into_state()).into_iter()
    }

    /// Returns whether the current state has [regions](State::regions) that are open. This takes less time than
    /// [`regions`](Self::regions).
    #[must_use]
    pub fn has_open_regions(&self) -> bool {
        self.seat.has_open_regions()
    }

    fn tree(&self) -> Tree<'_, T> {
        Tree::new(None, &self.seat)
    }

    /// Returns whether `state` is active: whether it is the current state or an ancestor of it, or is active in an
    /// open region.
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.seat.is_in_state(state)
    }

    /// Returns whether any state of type `S` is active.
    #[must_use]
    pub fn is_in<S: State<T>>(&self) -> bool {
        self.active_states().any(|active| active.is::<S>())
    }

    /// Like [`time_in_state`](Self::time_in_state), for code that has no context. `now` is the time that [`Owner::now`]
    /// returns, in seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = f64; type Message = (); fn now(seconds: &f64) -> f64 { *seconds } }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut machine = StateMachine::new(&Idle);
    /// machine.start(&mut Enemy, &mut 1.0);
    /// assert_eq!(machine.time_in_state_at(4.0), 3.0);
    /// ```
    #[must_use]
    pub fn time_in_state_at(&self, now: f64) -> f64 {
        time_since(self.seat.entered_at, now)
    }

    /// Returns how long the current state has been active, in seconds by [`Owner::now`]. If it has not been entered, the
    /// time counts from the clock's 0 ([rule 18](crate::docs::semantics#rule-18)).
    #[must_use]
    pub fn time_in_state(&self, cx: &T::Context<'_>) -> f64 {
        time_since(self.seat.entered_at, now::<T>(cx))
    }

    /// Returns how long `state` has been active, in seconds by [`Owner::now`]; `None` if it is not active. The time of an
    /// ancestor goes on while the states inside it change ([rule 18](crate::docs::semantics#rule-18)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{GameTime, Owner, State, StateMachine, StateRef};
    /// use std::time::Duration;
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = GameTime;
    ///     type Message = ();
    ///
    ///     fn now(time: &GameTime) -> f64 {
    ///         time.total().as_secs_f64()
    ///     }
    /// }
    ///
    /// struct Combat;
    /// struct Aim;
    /// struct Shoot;
    /// impl State<Enemy> for Combat {}
    /// impl State<Enemy> for Aim {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    /// }
    /// impl State<Enemy> for Shoot {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    /// }
    ///
    /// let (mut enemy, mut time) = (Enemy, GameTime::new());
    /// let mut machine = StateMachine::new(&Aim);
    /// machine.start(&mut enemy, &mut time);
    /// time.advance(Duration::from_secs(2));
    /// machine.change_state(&mut enemy, &Shoot, &mut time);
    /// time.advance(Duration::from_secs(1));
    /// assert_eq!(machine.time_in(&Shoot, &time), Some(1.0));
    /// assert_eq!(machine.time_in(&Combat, &time), Some(3.0));
    /// assert_eq!(machine.time_in(&Aim, &time), None);
    /// ```
    #[must_use]
    pub fn time_in<S: State<T> + ?Sized>(&self, state: &S, cx: &T::Context<'_>) -> Option<f64> {
        self.seat.view(&StateRef::NONE).time_in(state, now::<T>(cx))
    }

    /// The offset in bytes of the seat from the machine's address.
    pub(crate) const SEAT_OFFSET: usize = mem::offset_of!(Self, seat);

    #[inline]
    pub(crate) fn settings(&self) -> &Settings<T> {
        self.beside.settings()
    }

    pub(crate) fn seat(&self) -> &Seat<T> {
        &self.seat
    }

    pub(crate) fn from_seat(seat: Seat<T>, settings: Settings<T>) -> Self {
        Self { seat, beside: Beside::new(settings) }
    }

    pub(crate) fn into_seat(self) -> Seat<T> {
        self.seat
    }
}

/// Creates an [`idle`](StateMachine::idle) machine.
///
/// `mem::take` leaves such a machine in the place of the one that it takes. If a callback calls a method of this empty
/// machine while the taken machine is running for the same owner, a debug build logs a warning. So if you need an empty
/// machine, create it with `idle`.
impl<T: Owner> Default for StateMachine<T> {
    fn default() -> Self {
        Self::from_seat(Seat::left_behind(), Settings::DEFAULT)
    }
}

/// `clone_from` reuses the memory that the machine already has for its timers and its stack.
impl<T: Owner> Clone for StateMachine<T> {
    fn clone(&self) -> Self {
        Self { seat: self.seat.clone(), beside: self.beside.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.seat.clone_from(&source.seat);
        self.beside.clone_from(&source.beside);
    }
}

impl<T: Owner> fmt::Debug for StateMachine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateMachine")
            .field("current", &format_args!("{}", NameOf(self.current())))
            .field("previous", &format_args!("{}", NameOf(self.previous())))
            .field("global", &format_args!("{}", NameOf(self.settings().global.as_option())))
            .finish_non_exhaustive()
    }
}

/// A machine that is borrowed by [`StateMachine::recording`](crate::StateMachine::recording), for code that keeps other
/// data in step with the machine.
///
/// It has the methods of [`StateMachine`](crate::StateMachine) that run the machine. It also says whether the machine has changed
/// state, and whether a guard has refused a change. If `steps` was given, the steps are added to it.
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
    machine: &'a mut StateMachine<T>,
    observer: Option<&'a mut dyn Observer<T>>,
    has_changed: bool,
    has_refused: bool,
}

impl<T: Owner> MachineMut<'_, T> {
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
        let _running = Running::begin(&self.machine.seat, owner, "update");
        let outcome = match self.machine.seat.glance(|| now::<T>(cx)) {
            Glance::Lone(state) => {
                let mut single = self.single();
                single.tick_lone(state, owner, cx);
                finish(single)
            }
            Glance::Asleep if self.machine.settings().global.is_none() => return,
            _ => tick_any(self.machine, self.observer.as_mut().map(|observer| &mut **observer as _), owner, cx),
        };
        self.note(outcome);
    }

    /// Does what [`StateMachine::send`](crate::StateMachine::send) does. Returns whether the message was handled.
    pub fn send(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.run("message", owner, |single, owner| single.send(owner, message, cx))
    }

    /// Does what [`StateMachine::change_state`](crate::StateMachine::change_state) does. Returns whether the change was made.
    pub fn change_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::change(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::ensure_state`](crate::StateMachine::ensure_state) does. Returns `true` if the state was
    /// active or the change was made.
    pub fn ensure_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Ensure(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::force_state`](crate::StateMachine::force_state) does. Returns whether the change was made.
    pub fn force_state(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Force(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::revert_state`](crate::StateMachine::revert_state) does. Returns whether the change was made.
    pub fn revert_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Revert, owner, cx)
    }

    /// Does what [`StateMachine::push_state`](crate::StateMachine::push_state) does. Returns whether this was done.
    pub fn push_state(&mut self, owner: &mut T, over: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Push(over.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::pop_state`](crate::StateMachine::pop_state) does. Returns whether this was done.
    pub fn pop_state(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Pop, owner, cx)
    }

    /// Does what [`StateMachine::resume_state`](crate::StateMachine::resume_state) does. Returns whether the change was made.
    pub fn resume_state(&mut self, owner: &mut T, composite: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Resume(composite.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::change_state_after`](crate::StateMachine::change_state_after) does. Returns `true`.
    pub fn change_state_after(
        &mut self,
        owner: &mut T,
        seconds: f64,
        to: impl IntoState<T>,
        cx: &mut T::Context<'_>,
    ) -> bool {
        self.execute(&Request::after(seconds, Then::Change(to.into_state())), owner, cx)
    }

    /// Does what [`StateMachine::change_state_next`](crate::StateMachine::change_state_next) does. Returns `true`.
    pub fn change_state_next(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(&Request::Next(to.into_state()), owner, cx)
    }

    /// Does what [`StateMachine::send_after`](crate::StateMachine::send_after) does. Returns `true`.
    pub fn send_after(&mut self, owner: &mut T, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.execute(&Request::after(seconds, Then::Send(Arc::new(message))), owner, cx)
    }

    /// Does what [`StateMachine::send_every`](crate::StateMachine::send_every) does. Returns `true`.
    pub fn send_every(&mut self, owner: &mut T, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.execute(&Request::after(seconds, Then::repeating(seconds, seconds, Arc::new(message))), owner, cx)
    }

    /// Does what [`StateMachine::sleep`](crate::StateMachine::sleep) does.
    pub fn sleep(&mut self) {
        self.machine.beside.end_idle();
        self.machine.seat.sleep_all_until(f64::INFINITY);
    }

    /// Does what [`StateMachine::sleep_for`](crate::StateMachine::sleep_for) does.
    pub fn sleep_for(&mut self, owner: &T, seconds: f64, cx: &T::Context<'_>) {
        self.machine.beside.end_idle();
        self.single().sleep_all_for(seconds, owner, cx);
    }

    /// Does what [`StateMachine::wake`](crate::StateMachine::wake) does. Returns whether the machine was asleep.
    pub fn wake(&mut self) -> bool {
        self.machine.beside.end_idle();
        self.machine.seat.wake_all()
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
        let _running = Running::begin(&self.machine.seat, owner, asked);
        self.machine.beside.end_idle();
        let mut single = self.single();
        let result = act(&mut single, owner);
        let outcome = finish(single);
        self.note(outcome);
        result
    }

    #[inline]
    fn note(&mut self, (has_changed, has_refused): (bool, bool)) {
        self.has_changed |= has_changed;
        self.has_refused |= has_refused;
    }

    #[inline]
    fn single(&mut self) -> Single<'_, T> {
        let StateMachine { seat, beside } = &mut *self.machine;
        Single::observed(seat, beside.own_settings(), self.observer.as_mut().map(|observer| &mut **observer as _))
    }
}

/// Runs one tick of any machine. This is a function of its own, so that little code is inlined with [`MachineMut::update`].
/// Returns whether the machine has changed state, and whether a guard has refused a change.
#[inline(never)]
fn tick_any<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    if machine.beside.0.is_some() {
        tick_beside(machine, observer, owner, cx)
    } else if let Some(state) = machine.seat.lone_with_regions() {
        tick_with_regions(machine, state, observer, owner, cx)
    } else {
        tick_some(machine, observer, owner, cx)
    }
}

/// Runs one tick that may have something to do: if the innermost state is a delegate and there is no global state, by the function
/// of the delegate, and otherwise in full.
#[inline]
fn tick_some<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    match machine.seat.current.tick_of_delegate() {
        Some(tick) if machine.settings().global.is_none() => tick(machine, observer, owner, cx),
        _ => tick_all(machine, observer, owner, cx),
    }
}

/// A function that runs one tick. It returns whether the machine has changed state, and whether a guard has refused a change.
pub(crate) type Tick<T> =
    fn(&mut StateMachine<T>, Option<&mut dyn Observer<T>>, &mut T, &mut <T as Owner>::Context<'_>) -> (bool, bool);

/// Runs one tick of a machine without a global state whose innermost state is a [`Delegate`](crate::state::Delegate). `DECIDES`
/// says whether this state is asked to decide if no other state is active. Only delegates refer to this function, so that it is
/// not compiled for types of owners without delegates.
#[cfg_attr(not(feature = "definition"), expect(dead_code, reason = "only states from files are delegates"))]
pub(crate) fn tick_delegating<T: Owner, const DECIDES: bool>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    if DECIDES && machine.seat.is_lone() {
        tick_delegate(machine, observer, owner, cx)
    } else if machine.seat.is_nested() {
        tick_delegates(machine, observer, owner, cx)
    } else {
        tick_all(machine, observer, owner, cx)
    }
}

/// Runs one tick of a machine without settings that has only `state` to update, and its open regions.
#[inline(never)]
fn tick_with_regions<T: Owner>(
    machine: &mut StateMachine<T>,
    state: &'static dyn State<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    let mut single = Single::observed(&mut machine.seat, None, observer.map(|observer| observer as _));
    single.tick_lone_with_regions(state, owner, cx);
    finish(single)
}

/// Runs one tick of a machine that stores settings or an [`Idle`]. If the states have nothing to do, only ends the tick.
#[inline(never)]
fn tick_beside<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    let StateMachine { seat, beside } = &mut *machine;
    if beside.is_idle(&seat.current, || now::<T>(cx)) {
        let mut single = Single::new(seat, beside.own_settings());
        // States that have declared that they have nothing to do count as updated.
        single.end_tick(true, owner, cx);
        return finish(single);
    }
    tick_some(machine, observer, owner, cx)
}

/// Runs one tick of a machine whose only state is a delegate. First, the state only decides. If it decides to stay, as it usually
/// does, the tick ends.
#[inline(never)]
fn tick_delegate<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    let StateMachine { seat, beside } = &mut *machine;
    beside.end_idle();
    match seat.current.decide(seat, 0, owner, cx) {
        Some(stay) if stay.is_none() => {
            let mut single = Single::new(seat, beside.own_settings());
            single.end_tick(true, owner, cx);
            finish(single)
        }
        None => tick_all(machine, observer, owner, cx),
        decided => tick_from(machine, Quiet::NONE, (0, decided), observer, owner, cx),
    }
}

/// Does what [`tick_delegate`] does, for nested states. If all of them stay, the machine keeps its [`Idle`].
#[inline(never)]
fn tick_delegates<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    let StateMachine { seat, beside } = &mut *machine;
    let quiet = beside.quiet(|| now::<T>(cx));
    let mut depth = 0;
    while let Some(state) = seat.at(depth) {
        if quiet.is_none() || !quiet.has(depth, || state.revision(), || now::<T>(cx)) {
            match state.decide(seat, depth, owner, cx) {
                Some(stay) if stay.is_none() => {}
                None if depth == 0 => return tick_all(machine, observer, owner, cx),
                decided => return tick_from(machine, quiet, (depth, decided), observer, owner, cx),
            }
        }
        depth += 1;
    }
    seat.rest();
    let mut single = Single::new(seat, beside.own_settings());
    single.end_tick(true, owner, cx);
    finish(single)
}

/// Runs the rest of a tick in which the states outside of `depth` have decided to stay. `decided` is the decision of the state at
/// `depth`. If it is `None`, this state is updated.
#[inline(never)]
fn tick_from<T: Owner>(
    machine: &mut StateMachine<T>,
    quiet: Quiet,
    (depth, decided): (usize, Option<StateRef<T>>),
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    machine.beside.end_idle();
    machine.seat.rest();
    tick_with(machine, observer, cx, |single, cx| {
        single.quiet = quiet;
        single.tick_from(depth, decided, true, owner, cx);
    })
}

/// Runs one tick in full.
#[inline(never)]
fn tick_all<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
) -> (bool, bool) {
    // After a panic, the next tick is also run in full.
    let before = machine.beside.end_idle();
    tick_with(machine, observer, cx, |single, cx| {
        if single.settings().global.is_none() && single.seat.is_lone() {
            // No other state is active, so if this state has nothing to do, `tick_beside` has ended the tick already.
            let state = single.seat.current.clone();
            single.tick_lone(&*state, owner, cx);
        } else {
            single.quiet = before.quiet(|| now::<T>(cx));
            single.tick(owner, cx);
        }
    })
}

/// Runs a tick, and stores the [`Idle`] for the next tick. [`Beside::end_idle`] must have been called before.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would be a tenth of what a tick takes")]
fn tick_with<T: Owner>(
    machine: &mut StateMachine<T>,
    observer: Option<&mut dyn Observer<T>>,
    cx: &mut T::Context<'_>,
    tick: impl FnOnce(&mut Single<'_, T>, &mut T::Context<'_>),
) -> (bool, bool) {
    let StateMachine { seat, beside } = machine;
    let mut single = Single::observed(seat, beside.own_settings(), observer.map(|observer| observer as _));
    tick(&mut single, cx);
    if single.quiet.is_none() || single.seat.is_asleep() {
        return finish(single);
    }
    let idle = Idle::after(single.seat, single.quiet, || now::<T>(cx));
    let outcome = finish(single);
    beside.be_idle(idle);
    outcome
}

/// Ends a call. Returns whether the machine has changed state, and whether a guard has refused a change.
#[inline]
fn finish<T: Owner>(single: Single<'_, T>) -> (bool, bool) {
    debug_assert!(single.seat.is_whole(), "a call leaves data that belongs to no state of the machine");
    let outcome = (single.made > 0 || single.marks & HAS_CHANGED_INSIDE != 0, single.marks & HAS_REFUSED != 0);
    // All requests are carried out, so nothing is left to drop. `forget` saves the check for this.
    mem::forget(single);
    outcome
}

/// The settings and the [`Idle`] of a machine, in a box. Most machines have neither, and no box.
struct Beside<T: Owner>(Option<Box<BesideSeat<T>>>);

struct BesideSeat<T: Owner> {
    settings: Settings<T>,
    idle: Idle,
}

impl<T: Owner> Beside<T> {
    #[inline]
    fn new(settings: Settings<T>) -> Self {
        let mut beside = Self(None);
        if !settings.are_default() {
            *beside.settings_mut() = settings;
        }
        beside
    }

    #[inline]
    fn settings(&self) -> &Settings<T> {
        self.own_settings().unwrap_or(Settings::DEFAULTS)
    }

    /// Returns the stored settings; `None` if there is no box, so that the default settings apply.
    #[inline]
    fn own_settings(&self) -> Option<&Settings<T>> {
        self.0.as_ref().map(|kept| &kept.settings)
    }

    fn settings_mut(&mut self) -> &mut Settings<T> {
        &mut self.kept().settings
    }

    /// Returns whether a tick has nothing to do in a machine whose current state is `current`. If so, records the tick's time.
    #[inline]
    fn is_idle(&mut self, current: &StateRef<T>, now: impl FnOnce() -> f64) -> bool {
        self.0.as_mut().is_some_and(|kept| kept.settings.global.is_none() && kept.idle.lasts(current, now))
    }

    /// Returns the declarations of the states that have nothing to do.
    #[inline]
    fn quiet(&self, now: impl FnOnce() -> f64) -> Quiet {
        self.0.as_ref().map_or(Quiet::NONE, |kept| kept.idle.quiet(now))
    }

    /// Removes and returns the [`Idle`], so that the next tick is run in full.
    #[inline]
    fn end_idle(&mut self) -> Idle {
        match &mut self.0 {
            Some(kept) if !kept.idle.is_not() => mem::replace(&mut kept.idle, Idle::NOT),
            _ => Idle::NOT,
        }
    }

    /// Stores the [`Idle`] for the next tick. [`end_idle`](Self::end_idle) must have been called before.
    #[inline]
    fn be_idle(&mut self, idle: Idle) {
        if !idle.is_not() {
            self.kept().idle = idle;
        }
    }

    fn kept(&mut self) -> &mut BesideSeat<T> {
        self.0.get_or_insert_with(|| Box::new(BesideSeat { settings: Settings::DEFAULT, idle: Idle::NOT }))
    }
}

/// A clone runs its first tick in full.
impl<T: Owner> Clone for Beside<T> {
    fn clone(&self) -> Self {
        Self::new(self.settings().clone())
    }

    fn clone_from(&mut self, source: &Self) {
        match &mut self.0 {
            Some(kept) => {
                kept.idle = Idle::NOT;
                kept.settings.clone_from(source.settings());
            }
            None => *self = source.clone(),
        }
    }
}
