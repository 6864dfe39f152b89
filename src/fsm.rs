//! The handle that a callback gets. With it, a state queries its machine and makes requests.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

use crate::boxed::Boxed;
use crate::change::Cause;
use crate::machine::regions::{Around, InRegion, Regions, Tree};
use crate::machine::seat::{Rare, Seat};
use crate::machine::settings::Settings;
use crate::machine::waiting::{AT_ONCE, After, Awaited, Note, Pending, Scope, Then, Timer};
use crate::owner::{Owner, now};
use crate::state::{IntoState, State, StateRef, same};

/// A callback's handle to its owner's machine.
///
/// Queries such as [`current`](Self::current) and [`time_in_state`](Self::time_in_state) read the machine. A guard gets
/// `&Fsm`, so it can call only the queries. Most of the other methods make a *request*. Requests are carried out in the
/// order in which they were made, once the callback has returned. So the code after `fsm.change_state(&Think)` still
/// runs in the old state. [`change_state_now`](Self::change_state_now), [`change_state_ahead`](Self::change_state_ahead),
/// [`send_now`](Self::send_now) and [`send_ahead`](Self::send_ahead) act within the call, for ports of code that relies
/// on this. All times are in seconds by [`Owner::now`].
///
/// The methods do not panic by themselves. The methods that act within the call pass on the panic of a callback. A request that
/// cannot be carried out is refused, with a warning in the log.
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
///         if elsa.urge {
///             fsm.ensure_state(&Bathroom);
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
    pub(crate) machines: &'a mut (dyn Machines<T> + 'a),
    /// The index of this handle's machine among `machines`. A cell, so that [`mark_unused`](Self::mark_unused) costs no field.
    pub(crate) nth: Cell<usize>,
    /// The times at which the machines entered their current states, in seconds. Empty if these times are not stored in a column,
    /// and after a method that may change state within the call.
    pub(crate) entered_at: &'a [f64],
}

impl<'a, T: Owner> Fsm<'a, T> {
    #[inline]
    pub(crate) fn new(machines: &'a mut (dyn Machines<T> + 'a), nth: usize) -> Self {
        Self { machines, nth: Cell::new(nth), entered_at: &[] }
    }

    /// Returns the index of this handle's machine.
    #[cfg(feature = "std")]
    pub(crate) fn nth(&self) -> usize {
        self.nth.get()
    }

    /// Returns the machines, and the index of this handle's machine.
    pub(crate) fn machines(&mut self) -> (&mut (dyn Machines<T> + 'a), &mut usize) {
        (self.machines, self.nth.get_mut())
    }

    /// Marks the handle as unused. The provided `after_update` does this, so that a batch does not call it for each owner. The
    /// tick of a passive state does it, too.
    #[inline]
    pub(crate) fn mark_unused(&self) {
        self.nth.set(usize::MAX);
    }

    /// Returns whether the handle was marked as unused.
    #[inline]
    pub(crate) fn is_unused(&self) -> bool {
        self.nth.get() == usize::MAX
    }

    /// Returns the machines, for reading.
    pub(crate) fn shared_machines(&self) -> &(dyn Machines<T> + 'a) {
        self.machines
    }

    /// Requests a change to `to`: the `exit` of the current state, then the `enter` of `to`.
    ///
    /// A change to the current state runs its `exit` and `enter` ([rule 7](crate::docs::semantics#rule-7)). A request
    /// that is made in `exit` is refused with a warning ([rule 12](crate::docs::semantics#rule-12)).
    ///
    /// [`IntoState`] lists what you can write for `to`. For a state with data that is created here, write
    /// `Box::new(Patrol { route })`. A reference such as `&Patrol { route }` would have to live forever: the compiler
    /// reports that a temporary value is dropped while borrowed (E0716).
    #[inline]
    pub fn change_state(&mut self, to: impl IntoState<T>) {
        match to.into_state().into_singleton() {
            Ok(state) => self.ask_singleton(state),
            Err(held) => self.ask(Request::Change(held)),
        }
    }

    /// Withdraws the changes that wait, and then requests a change to `to`. It does not matter whether `change_state`,
    /// `ensure_state`, `force_state`, `revert_state`, `push_state`, `pop_state` or `resume_state` requested the waiting
    /// changes. So the last of several calls counts, and no state in between is entered. Messages to oneself, timers and
    /// sleep stay, and so do the changes of timers that are due ([rule 37](crate::docs::semantics#rule-37)).
    ///
    /// Ports of engines that keep the next state in a variable (`nextState = ..`, `SetNextState(..)`) need this. In
    /// `exit`, the request is refused with a warning, and nothing is withdrawn.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Unit { has_target: bool, entered: Vec<&'static str> }
    /// impl Owner for Unit { type Context<'a> = (); type Message = (); }
    ///
    /// struct Idle;
    /// struct Walk;
    /// struct Attack;
    /// impl State<Unit> for Idle {
    ///     fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, _: &mut ()) {
    ///         fsm.replace_state(&Walk);
    ///         if unit.has_target {
    ///             fsm.replace_state(&Attack);
    ///         }
    ///     }
    /// }
    /// impl State<Unit> for Walk {
    ///     fn enter(&self, unit: &mut Unit, _: &mut Fsm<'_, Unit>, _: &mut ()) {
    ///         unit.entered.push("Walk");
    ///     }
    /// }
    /// impl State<Unit> for Attack {
    ///     fn enter(&self, unit: &mut Unit, _: &mut Fsm<'_, Unit>, _: &mut ()) {
    ///         unit.entered.push("Attack");
    ///     }
    /// }
    ///
    /// let mut unit = Unit { has_target: true, entered: vec![] };
    /// StateMachine::new(&Idle).update(&mut unit, &mut ());
    /// assert_eq!(unit.entered, ["Attack"]);
    /// ```
    #[inline]
    pub fn replace_state(&mut self, to: impl IntoState<T>) {
        self.machines.withdraw_changes(self.nth.get());
        self.change_state(to);
    }

    /// Withdraws all requests that wait: changes, messages to oneself, timers that are not running yet, timers that are
    /// due and wait for their turn, and sleep ([rule 37](crate::docs::semantics#rule-37)). Running timers go on. In
    /// `exit`, nothing is withdrawn.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Door { is_locked: bool }
    /// impl Owner for Door { type Context<'a> = (); type Message = (); }
    ///
    /// struct Closed;
    /// struct Open;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {
    ///     fn update(&self, door: &mut Door, fsm: &mut Fsm<'_, Door>, _: &mut ()) {
    ///         fsm.change_state(&Open);
    ///         if door.is_locked {
    ///             fsm.clear_requests();
    ///         }
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Closed);
    /// machine.update(&mut Door { is_locked: true }, &mut ());
    /// assert!(machine.is_in_state(&Closed));
    /// ```
    pub fn clear_requests(&mut self) {
        self.machines.withdraw_all(self.nth.get());
    }

    /// Requests a change to `to`. If `to` is already active when the request is carried out, nothing happens, and nothing
    /// is refused ([rule 24](crate::docs::semantics#rule-24)). So a global state can make this request in every tick.
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

    /// Requests a change to `to` that no [`can_exit`](State::can_exit) can refuse, such as death during a stagger.
    /// `can_enter` is still asked ([rule 24](crate::docs::semantics#rule-24)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy { health: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Stagger;
    /// struct Dead;
    /// impl State<Enemy> for Dead {}
    /// impl State<Enemy> for Stagger {
    ///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         if enemy.health == 0 {
    ///             fsm.force_state(&Dead);
    ///         }
    ///     }
    ///
    ///     fn can_exit(&self, _: &Enemy, _: &Fsm<'_, Enemy>, _: &()) -> bool {
    ///         false
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Stagger);
    /// machine.update(&mut Enemy { health: 0 }, &mut ());
    /// assert!(machine.is_in_state(&Dead));
    /// ```
    #[inline]
    pub fn force_state(&mut self, to: impl IntoState<T>) {
        self.ask(Request::Force(to.into_state()));
    }

    /// Requests a change to the previous state (Buckland's `RevertToPreviousState`).
    ///
    /// Two of these changes in a row lead back to the state in which the machine was before them. If there is no previous
    /// state, the request is refused with a warning ([rule 9](crate::docs::semantics#rule-9)).
    #[inline]
    pub fn revert_state(&mut self) {
        self.ask(Request::Revert);
    }

    /// Requests that the current state and its ancestors are suspended and `over` is entered.
    /// [`pop_state`](Self::pop_state) goes back. If 64 paths of states are already suspended, the request is refused with a
    /// warning ([rule 15](crate::docs::semantics#rule-15)).
    #[inline]
    pub fn push_state(&mut self, over: impl IntoState<T>) {
        self.ask(Request::Push(over.into_state()));
    }

    /// Requests that the current state and its ancestors are left, and that the states that were suspended last are
    /// resumed. If the stack is empty, the request is refused with a warning ([rule 15](crate::docs::semantics#rule-15)).
    #[inline]
    pub fn pop_state(&mut self) {
        self.ask(Request::Pop);
    }

    /// Sets a timer: requests [`pop_state`](Self::pop_state) after a number of seconds. A state that is pushed for a while calls
    /// this method in its `enter`. The timer ends when the state that sets it is left ([rule
    /// 25](crate::docs::semantics#rule-25)), so the timer does not pop another state.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy;
    ///
    /// impl Owner for Enemy {
    ///     type Context<'a> = f64;
    ///     type Message = ();
    ///
    ///     fn now(seconds: &f64) -> f64 {
    ///         *seconds
    ///     }
    /// }
    ///
    /// struct Patrol;
    /// struct Stunned;
    /// impl State<Enemy> for Patrol {}
    /// impl State<Enemy> for Stunned {
    ///     fn enter(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut f64) {
    ///         fsm.pop_state_after(1.5);
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Patrol);
    /// machine.start(&mut Enemy, &mut 0.0);
    /// machine.push_state(&mut Enemy, &Stunned, &mut 0.0);
    /// machine.update(&mut Enemy, &mut 1.0);
    /// assert!(machine.is_in_state(&Stunned));
    /// machine.update(&mut Enemy, &mut 1.5);
    /// assert!(machine.is_in_state(&Patrol));
    /// ```
    pub fn pop_state_after(&mut self, seconds: f64) {
        self.ask(Request::after(seconds, Then::Pop));
    }

    /// Requests a change to the innermost state that was active last inside `composite`, a state with children. If no
    /// state was active inside it, or if `composite` does not [keep its history](State::keeps_history), this is a change
    /// to `composite`, and leads to its [initial](State::initial) children. If `composite` keeps its history and is
    /// active, it is left and entered again, down to the current state ([rule 16](crate::docs::semantics#rule-16)).
    #[inline]
    pub fn resume_state(&mut self, composite: impl IntoState<T>) {
        self.ask(Request::Resume(composite.into_state()));
    }

    /// Ends the current change in the state whose `enter` is running. The states below are not entered, the change is complete
    /// with this `enter`, and from now on [`target`](Self::target) is this state ([rule 38](crate::docs::semantics#rule-38)).
    /// Other requests of the callback are carried out afterwards, as usual.
    ///
    /// This also works in the `enter` that [`start`](crate::StateMachine::start) runs, and in the
    /// [`resume`](State::resume) of a pop. In the `enter` of the target itself, nothing is left to end. In all other
    /// callbacks, the request is refused with a warning.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine, StateRef};
    ///
    /// struct Guard { is_unarmed: bool }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// struct Idle;
    /// struct Combat;
    /// struct Slash;
    /// impl State<Guard> for Idle {}
    /// impl State<Guard> for Combat {
    ///     fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut ()) {
    ///         if guard.is_unarmed {
    ///             fsm.stay();
    ///         }
    ///     }
    /// }
    /// impl State<Guard> for Slash {
    ///     fn parent(&self) -> Option<StateRef<Guard>> {
    ///         Some((&Combat).into())
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Idle);
    /// machine.change_state(&mut Guard { is_unarmed: true }, &Slash, &mut ());
    /// assert_eq!(machine.current().unwrap().name(), "Combat");
    /// ```
    pub fn stay(&mut self) {
        if !self.machines.stay(self.nth.get()) {
            self.ask(Request::Stay);
        }
    }

    /// Requests that a message is sent to the owner itself. When the callback has returned and the earlier requests
    /// have been carried out, the message is offered to the active states and then to the global state, until one of
    /// them handles it ([rule 24](crate::docs::semantics#rule-24)). Requests that were made after this one wait until the message
    /// has been handled, or all states have declined it.
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

    /// Sets a timer for a change: requests a change to `to` when [`Owner::now`] has advanced by `seconds`
    /// ([rule 25](crate::docs::semantics#rule-25)).
    ///
    /// The timer belongs to the state whose callback sets it, and ends when that state is left. So if the state is left
    /// earlier, you need not cancel the timer. A timer that is set by the global state or from outside lasts as long as
    /// the machine. Several timers may run at the same time.
    ///
    /// When the timer is due, the change is requested at the beginning of the owner's tick, before the global state is
    /// updated. The guards are asked only then; if a guard refuses the change, the timer still ends. While another state is
    /// pushed over the state, the timer is paused. A number of seconds that is negative or NaN counts as 0, with a warning: the
    /// timer is due in the next tick. A timer of infinite seconds never comes due.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, GameTime, Owner, State, StateMachine};
    /// use std::time::Duration;
    ///
    /// struct Guard;
    /// impl Owner for Guard {
    ///     type Context<'a> = GameTime;
    ///     type Message = ();
    ///
    ///     fn now(time: &GameTime) -> f64 {
    ///         time.total().as_secs_f64()
    ///     }
    /// }
    ///
    /// struct Stunned;
    /// struct Patrol;
    /// impl State<Guard> for Patrol {}
    /// impl State<Guard> for Stunned {
    ///     fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut GameTime) {
    ///         fsm.change_state_after(1.5, &Patrol);
    ///     }
    /// }
    ///
    /// let mut time = GameTime::new();
    /// let mut machine = StateMachine::new(&Stunned);
    /// machine.start(&mut Guard, &mut time);
    ///
    /// time.advance(Duration::from_secs(1));
    /// machine.update(&mut Guard, &mut time);
    /// assert!(machine.is_in_state(&Stunned));
    ///
    /// time.advance(Duration::from_secs(1));
    /// machine.update(&mut Guard, &mut time);
    /// assert!(machine.is_in_state(&Patrol));
    /// ```
    pub fn change_state_after(&mut self, seconds: f64, to: impl IntoState<T>) {
        let to = to.into_state();
        let is_noted =
            to.as_singleton().is_some_and(|to| self.machines.wait(self.nth.get(), seconds, Awaited::Change(to)));
        if !is_noted {
            self.ask(Request::after(seconds, Then::Change(to)));
        }
    }

    /// Requests a change to `to` at the beginning of the owner's next tick, before the timers that are due and before the global
    /// state is updated ([rule 36](crate::docs::semantics#rule-36)). The code after the request, and the rest of this tick, still
    /// run in the current state, as after `action_num = 4` in a game with a `switch` over numbers.
    ///
    /// If several such changes are requested before that tick, the last one counts. Any change that is made before that tick
    /// drops the request. While another state is pushed over the state, the request is kept. The request wakes a sleeping machine
    /// in the next tick. The guards are asked in that tick; if a guard refuses the change, the request is used up. A request that
    /// is made in `exit` is refused with a warning ([rule 12](crate::docs::semantics#rule-12)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Critter {
    ///     log: Vec<&'static str>,
    /// }
    ///
    /// impl Owner for Critter {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// struct Wait;
    /// struct Jump;
    /// impl State<Critter> for Wait {
    ///     fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, _: &mut ()) {
    ///         critter.log.push("wait");
    ///         fsm.change_state_next(&Jump);
    ///     }
    /// }
    /// impl State<Critter> for Jump {
    ///     fn enter(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, _: &mut ()) {
    ///         critter.log.push("take off");
    ///     }
    ///
    ///     fn update(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, _: &mut ()) {
    ///         critter.log.push("fly");
    ///     }
    /// }
    ///
    /// let (mut critter, mut machine) = (Critter::default(), StateMachine::new(&Wait));
    /// machine.update(&mut critter, &mut ());
    /// assert!(machine.is_in_state(&Wait));
    /// machine.update(&mut critter, &mut ());
    /// assert_eq!(critter.log, ["wait", "take off", "fly"]);
    /// ```
    pub fn change_state_next(&mut self, to: impl IntoState<T>) {
        let to = to.into_state();
        let is_noted =
            to.as_singleton().is_some_and(|to| self.machines.wait(self.nth.get(), AT_ONCE, Awaited::Next(to)));
        if !is_noted {
            self.ask(Request::Next(to));
        }
    }

    /// Sets a timer for a message: sends a message to the owner itself when [`Owner::now`] has advanced by `seconds`. Apart from
    /// this, the timer is like one set by [`change_state_after`](Self::change_state_after).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Bomb;
    /// enum Told { Tick, Bang }
    /// impl Owner for Bomb {
    ///     type Context<'a> = f64;
    ///     type Message = Told;
    ///
    ///     fn now(seconds: &f64) -> f64 {
    ///         *seconds
    ///     }
    /// }
    ///
    /// struct Armed;
    /// struct Exploded;
    /// impl State<Bomb> for Exploded {}
    /// impl State<Bomb> for Armed {
    ///     fn enter(&self, _: &mut Bomb, fsm: &mut Fsm<'_, Bomb>, _: &mut f64) {
    ///         fsm.send_after(1.0, Told::Tick);
    ///         fsm.send_after(2.0, Told::Bang);
    ///     }
    ///
    ///     fn on_message(&self, _: &mut Bomb, told: &Told, fsm: &mut Fsm<'_, Bomb>, _: &mut f64) -> bool {
    ///         match told {
    ///             Told::Tick => println!("tick"),
    ///             Told::Bang => fsm.change_state(&Exploded),
    ///         }
    ///         true
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Armed);
    /// machine.start(&mut Bomb, &mut 0.0);
    /// machine.update(&mut Bomb, &mut 1.0);
    /// assert!(machine.is_in_state(&Armed));
    /// machine.update(&mut Bomb, &mut 2.0);
    /// assert!(machine.is_in_state(&Exploded));
    /// ```
    pub fn send_after(&mut self, seconds: f64, message: T::Message)
    where
        T::Message: Send + Sync, // the machine stores the message and can move to other threads, so a message cannot hold an `Rc`
    {
        self.ask(Request::after(seconds, Then::Send(Arc::new(message))));
    }

    /// Sets a repeating timer for a message: sends a message to the owner itself when [`Owner::now`] has advanced by `seconds`,
    /// and again every `seconds` after that ([rule 39](crate::docs::semantics#rule-39)).
    ///
    /// The times of the messages count from the call, not from the ticks, so they do not drift. At most one message comes in a
    /// tick: if a tick takes longer than `seconds`, the messages in between are left out. With 0 seconds, a message comes in
    /// every tick; a number that is negative or NaN counts as 0, with a warning. With infinite seconds, no message comes.
    ///
    /// The timer ends like a timer set by [`change_state_after`](Self::change_state_after), or when [`cancel`](Self::cancel) ends
    /// it. Each message wakes a machine that sleeps.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Fire { burns: u32 }
    /// struct Burn;
    /// impl Owner for Fire { type Context<'a> = f64; type Message = Burn; fn now(seconds: &f64) -> f64 { *seconds } }
    ///
    /// struct Alight;
    /// impl State<Fire> for Alight {
    ///     fn enter(&self, _: &mut Fire, fsm: &mut Fsm<'_, Fire>, _: &mut f64) {
    ///         fsm.send_every(0.5, Burn);
    ///     }
    ///
    ///     fn on_message(&self, fire: &mut Fire, _: &Burn, _: &mut Fsm<'_, Fire>, _: &mut f64) -> bool {
    ///         fire.burns += 1;
    ///         true
    ///     }
    /// }
    ///
    /// let mut fire = Fire { burns: 0 };
    /// let mut machine = StateMachine::new(&Alight);
    /// machine.start(&mut fire, &mut 0.0);
    /// for tick in 1..=50 {
    ///     machine.update(&mut fire, &mut (f64::from(tick) * 0.04)); // two seconds
    /// }
    /// assert_eq!(fire.burns, 4);
    /// ```
    pub fn send_every(&mut self, seconds: f64, message: T::Message)
    where
        T::Message: Send + Sync,
    {
        self.ask(Request::after(seconds, Then::repeating(seconds, seconds, Arc::new(message))));
    }

    /// Ends timers within the call, and returns how many. `is_canceled` is called once with each timer of the active states and
    /// of the machine, in the order in which they were set, then with each timer that waits in the queue, because it is not
    /// running yet, or because it is due and has not had its turn. A timer ends if `is_canceled` returns `true`.
    ///
    /// Timers of states over which another state is pushed are not shown. In `exit` and `suspend`, nothing is canceled, and a
    /// warning says so ([rule 39](crate::docs::semantics#rule-39)). From outside, call it in
    /// [`with`](crate::StateMachine::with).
    ///
    /// # Examples
    ///
    /// A guard who was about to give up, and hears another noise:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Guard;
    /// struct Noise;
    /// impl Owner for Guard { type Context<'a> = f64; type Message = Noise; fn now(seconds: &f64) -> f64 { *seconds } }
    ///
    /// struct Patrol;
    /// struct Search;
    /// impl State<Guard> for Patrol {}
    /// impl State<Guard> for Search {
    ///     fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
    ///         fsm.change_state_after(10.0, &Patrol);
    ///     }
    ///
    ///     fn on_message(&self, _: &mut Guard, _: &Noise, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
    ///         let canceled = fsm.cancel(|pending| pending.is_to(&Patrol));
    ///         assert_eq!(canceled, 1);
    ///         fsm.change_state_after(10.0, &Patrol); // ten seconds from now
    ///         true
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Search);
    /// machine.start(&mut Guard, &mut 0.0);
    /// machine.send(&mut Guard, &Noise, &mut 6.0);
    /// machine.update(&mut Guard, &mut 10.0);
    /// assert!(machine.is_in_state(&Search));
    /// machine.update(&mut Guard, &mut 16.0);
    /// assert!(machine.is_in_state(&Patrol));
    /// ```
    pub fn cancel(&mut self, mut is_canceled: impl FnMut(&Pending<T>) -> bool) -> usize {
        self.machines.cancel(self.nth.get(), &mut is_canceled)
    }

    /// Returns the timers that [`cancel`](Self::cancel) would show, in the same order: the running timers, then the timers that
    /// wait in the queue.
    ///
    /// The method takes time for each timer of the owner. In a batch, an owner with timers then finishes its tick alone, which is
    /// slower; this is why the method needs `&mut`, so that guards cannot call it. In `exit` and `suspend`, it returns no timers,
    /// and a warning says so ([rule 39](crate::docs::semantics#rule-39)). From outside, use
    /// [`StateMachine::pending`](crate::StateMachine::pending).
    ///
    /// # Examples
    ///
    /// A guard who gives up 10 seconds after the first noise:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Guard;
    /// struct Noise;
    /// impl Owner for Guard { type Context<'a> = f64; type Message = Noise; fn now(seconds: &f64) -> f64 { *seconds } }
    ///
    /// struct Patrol;
    /// struct Search;
    /// impl State<Guard> for Patrol {}
    /// impl State<Guard> for Search {
    ///     fn on_message(&self, _: &mut Guard, _: &Noise, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
    ///         if fsm.pending().is_empty() {
    ///             fsm.change_state_after(10.0, &Patrol);
    ///         }
    ///         true
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Search);
    /// machine.send(&mut Guard, &Noise, &mut 0.0);
    /// machine.send(&mut Guard, &Noise, &mut 6.0);
    /// assert_eq!(machine.pending().len(), 1);
    /// ```
    pub fn pending(&mut self) -> Vec<Pending<T>> {
        let mut pending = Vec::new();
        self.cancel(|timer| {
            pending.push(timer.clone());
            false
        });
        pending
    }

    /// Puts the machine to sleep: its states are not updated until it wakes ([rule 26](crate::docs::semantics#rule-26)).
    ///
    /// The machine wakes when one of its timers comes due, at any change of state, when a state or the global state
    /// handles a message, and when the game [wakes](crate::StateMachine::wake) it. While the machine sleeps, the global
    /// state is still updated, unless it is [passive](State::is_passive).
    ///
    /// The machine falls asleep when the callback has returned and its requests have been carried out. If one of these
    /// requests changes the state, the machine stays awake.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Dragon { looks: u32 }
    /// struct Noise;
    /// impl Owner for Dragon {
    ///     type Context<'a> = ();
    ///     type Message = Noise;
    /// }
    ///
    /// struct Lair;
    /// impl State<Dragon> for Lair {
    ///     fn update(&self, dragon: &mut Dragon, fsm: &mut Fsm<'_, Dragon>, _: &mut ()) {
    ///         dragon.looks += 1;
    ///         fsm.sleep();
    ///     }
    ///
    ///     fn on_message(&self, _: &mut Dragon, _: &Noise, _: &mut Fsm<'_, Dragon>, _: &mut ()) -> bool {
    ///         true
    ///     }
    /// }
    ///
    /// let mut dragon = Dragon { looks: 0 };
    /// let mut machine = StateMachine::new(&Lair);
    /// for _ in 0..10 {
    ///     machine.update(&mut dragon, &mut ());
    /// }
    /// assert_eq!(dragon.looks, 1);
    ///
    /// machine.send(&mut dragon, &Noise, &mut ());
    /// machine.update(&mut dragon, &mut ());
    /// assert_eq!(dragon.looks, 2);
    /// ```
    pub fn sleep(&mut self) {
        self.sleep_for(f64::INFINITY);
    }

    /// Puts the machine to [sleep](Self::sleep) until [`Owner::now`] has advanced by `seconds`, or until something else
    /// wakes it. A number of seconds that is negative or NaN counts as 0, with a warning: the machine is updated in the
    /// next tick.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Sentry { looks: u32 }
    /// impl Owner for Sentry {
    ///     type Context<'a> = f64;
    ///     type Message = ();
    ///
    ///     fn now(seconds: &f64) -> f64 {
    ///         *seconds
    ///     }
    /// }
    ///
    /// struct Watch;
    /// impl State<Sentry> for Watch {
    ///     fn update(&self, sentry: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, _: &mut f64) {
    ///         sentry.looks += 1;
    ///         fsm.sleep_for(0.5);
    ///     }
    /// }
    ///
    /// let mut sentry = Sentry { looks: 0 };
    /// let mut machine = StateMachine::new(&Watch);
    /// for tick in 0..20 {
    ///     machine.update(&mut sentry, &mut (f64::from(tick) * 0.125));
    /// }
    /// assert_eq!(sentry.looks, 5);
    /// ```
    pub fn sleep_for(&mut self, seconds: f64) {
        if !self.machines.wait(self.nth.get(), seconds, Awaited::Wake) {
            self.ask(Request::Sleep(seconds));
        }
    }

    /// Changes state within the call. First the requests made earlier are carried out, then this change, each with the requests
    /// of its callbacks. The rest of the callback runs afterwards ([rule 11](crate::docs::semantics#rule-11)). Returns whether
    /// the change was made and not abandoned by another change within its `enter` callbacks. In `exit`, the change is refused
    /// with a warning.
    ///
    /// This method does exactly what Buckland's `ChangeState` does. Use it for ports that follow the original line by
    /// line; otherwise use [`change_state`](Self::change_state).
    ///
    /// Such calls can be nested 320 deep, and less deep in regions ([rule 13](crate::docs::semantics#rule-13)).
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
        self.execute_now(Order::Behind, &Request::change(to.into_state()), owner, cx)
    }

    /// Suspends the current state and its ancestors and enters `over`, within the call, as
    /// [`change_state_now`](Self::change_state_now) changes state. Returns whether this was done
    /// ([rule 11](crate::docs::semantics#rule-11)). [`push_state`](Self::push_state) has the other rules of a push.
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
    /// struct Mine;
    /// struct Sneeze;
    /// impl State<Bob> for Mine {
    ///     fn update(&self, bob: &mut Bob, fsm: &mut Fsm<'_, Bob>, cx: &mut ()) {
    ///         fsm.push_state_now(bob, &Sneeze, cx);
    ///         bob.0.push("digs on");
    ///     }
    /// }
    /// impl State<Bob> for Sneeze {
    ///     fn enter(&self, bob: &mut Bob, fsm: &mut Fsm<'_, Bob>, cx: &mut ()) {
    ///         bob.0.push("sneezes");
    ///         fsm.pop_state_now(bob, cx);
    ///     }
    /// }
    ///
    /// let mut bob = Bob(vec![]);
    /// let mut machine = StateMachine::new(&Mine);
    /// machine.update(&mut bob, &mut ());
    /// assert_eq!(bob.0, ["sneezes", "digs on"]);
    /// assert!(machine.is_in_state(&Mine));
    /// ```
    pub fn push_state_now(&mut self, owner: &mut T, over: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute_now(Order::Behind, &Request::Push(over.into_state()), owner, cx)
    }

    /// Leaves the current state and its ancestors and resumes the states that were suspended last, within the call, as
    /// [`change_state_now`](Self::change_state_now) changes state. Returns whether this was done
    /// ([rule 11](crate::docs::semantics#rule-11)). [`push_state_now`](Self::push_state_now) has an example.
    pub fn pop_state_now(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.execute_now(Order::Behind, &Request::Pop, owner, cx)
    }

    /// Changes state within the call, as [`change_state_now`](Self::change_state_now) does, but ahead of the requests made
    /// earlier. The earlier requests are carried out after the change, before the requests of its callbacks and before the call
    /// returns ([rule 11](crate::docs::semantics#rule-11)).
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
    /// struct Bank;
    /// impl State<Bob> for Home {
    ///     fn update(&self, bob: &mut Bob, fsm: &mut Fsm<'_, Bob>, cx: &mut ()) {
    ///         fsm.change_state(&Bank);
    ///         fsm.change_state_ahead(bob, &Mine, cx);
    ///     }
    /// }
    /// impl State<Bob> for Mine {
    ///     fn enter(&self, bob: &mut Bob, _: &mut Fsm<'_, Bob>, _: &mut ()) {
    ///         bob.0.push("mine");
    ///     }
    /// }
    /// impl State<Bob> for Bank {
    ///     fn enter(&self, bob: &mut Bob, _: &mut Fsm<'_, Bob>, _: &mut ()) {
    ///         bob.0.push("bank");
    ///     }
    /// }
    ///
    /// let mut bob = Bob(vec![]);
    /// StateMachine::new(&Home).update(&mut bob, &mut ());
    /// assert_eq!(bob.0, ["mine", "bank"]);
    /// ```
    pub fn change_state_ahead(&mut self, owner: &mut T, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute_now(Order::Ahead, &Request::change(to.into_state()), owner, cx)
    }

    /// Sends a message to the owner itself within the call. First the requests made earlier are carried out. Then the
    /// message is offered to the active states and the global state, and their requests are carried out. The rest of the
    /// callback runs afterwards ([rule 24](crate::docs::semantics#rule-24)). Returns whether the message was handled. In
    /// `exit`, the message is refused with a warning.
    ///
    /// Buckland's C++ handles a telegram to oneself in this way. Otherwise use [`send`](Self::send).
    ///
    /// Such calls can be nested 320 deep, and less deep in regions ([rule 13](crate::docs::semantics#rule-13)).
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
        self.entered_at = &[];
        self.machines.send_now(self.nth.get(), Order::Behind, owner, message, cx)
    }

    /// Sends a message to the owner itself within the call, as [`send_now`](Self::send_now) does, but ahead of the requests
    /// made earlier. So the state that has made these requests, and its ancestors, still get the message. When a state has
    /// handled it or all have declined it, the earlier requests are carried out, and after them the requests of each
    /// `on_message`, all before the call returns ([rule 24](crate::docs::semantics#rule-24)). An `on_message` can withdraw the
    /// earlier requests, with [`replace_state`](Self::replace_state) for example.
    ///
    /// # Examples
    ///
    /// A unit that has finished its order, and gets the next one within the call:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Unit;
    /// enum Order { Attack }
    /// impl Owner for Unit { type Context<'a> = (); type Message = Order; }
    ///
    /// struct Walk;
    /// struct Idle;
    /// struct Attack;
    /// impl State<Unit> for Idle {}
    /// impl State<Unit> for Attack {}
    /// impl State<Unit> for Walk {
    ///     fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, cx: &mut ()) {
    ///         fsm.change_state(&Idle); // unless the order leads elsewhere
    ///         fsm.send_ahead(unit, &Order::Attack, cx);
    ///     }
    ///
    ///     fn on_message(&self, _: &mut Unit, order: &Order, fsm: &mut Fsm<'_, Unit>, _: &mut ()) -> bool {
    ///         match order {
    ///             Order::Attack => fsm.replace_state(&Attack),
    ///         }
    ///         true
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Walk);
    /// machine.update(&mut Unit, &mut ());
    /// assert!(machine.is_in_state(&Attack));
    /// assert_eq!(machine.previous().unwrap().name(), "Walk"); // `Idle` was never entered
    /// ```
    pub fn send_ahead(&mut self, owner: &mut T, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.entered_at = &[];
        self.machines.send_now(self.nth.get(), Order::Ahead, owner, message, cx)
    }

    /// Returns the innermost active state. A state whose [regions](State::regions) are open counts as innermost. In a callback of
    /// a state in a region, this is the innermost state of the region ([rule 32](crate::docs::semantics#rule-32)). `None` when
    /// the machine has no state.
    #[must_use]
    pub fn current(&self) -> Option<&StateRef<T>> {
        self.view().current.as_option()
    }

    /// Returns the state that was current before the last change.
    #[must_use]
    pub fn previous(&self) -> Option<&StateRef<T>> {
        self.view().previous.as_option()
    }

    /// Returns the state that runs beside every other state.
    #[must_use]
    pub fn global(&self) -> Option<StateRef<T>> {
        self.machines.global().as_option().cloned()
    }

    /// Returns the innermost state that the change under way leads to: in the guards of the change, and in its `exit`,
    /// `suspend`, `enter` and `resume`. `None` in all other callbacks, in the `enter` and `exit` of a start and a stop, and
    /// when a pop leads to no state ([rule 8](crate::docs::semantics#rule-8)).
    ///
    /// # Examples
    ///
    /// A fight that can be left only for a retreat:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Fight;
    /// struct Retreat;
    /// struct Idle;
    /// impl State<Enemy> for Retreat {}
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Fight {
    ///     fn can_exit(&self, _: &Enemy, fsm: &Fsm<'_, Enemy>, _: &()) -> bool {
    ///         fsm.target().is_some_and(|target| target.is::<Retreat>())
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Fight);
    /// assert!(!machine.change_state(&mut Enemy, &Idle, &mut ()));
    /// assert!(machine.change_state(&mut Enemy, &Retreat, &mut ()));
    /// ```
    #[must_use]
    pub fn target(&self) -> Option<&StateRef<T>> {
        self.view().target.as_option()
    }

    /// Returns the active states, from the outermost ancestor down to the current state.
    #[must_use]
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        let View { ancestors, current, around, .. } = self.view();
        around.map_or_else(Vec::new, |around| around.path()).into_iter().chain(ancestors).chain(current.as_option())
    }

    /// Returns all active states: the outermost first, and after a state with regions, the states in its regions, region by
    /// region ([rule 32](crate::docs::semantics#rule-32)). Without regions, this is the [path](Self::path).
    pub fn active_states(&self) -> impl Iterator<Item = &StateRef<T>> {
        let tree = self.machines.tree(self.nth.get());
        tree.map_or_else(|| self.path().collect(), |tree| tree.active_states()).into_iter()
    }

    /// Returns the innermost active state in each open region of `composite`; a state whose own regions are open counts as
    /// innermost. Returns none if `composite` is not active or has no regions. See
    /// [`StateMachine::regions`](crate::StateMachine::regions).
    pub fn regions(&self, composite: impl IntoState<T>) -> impl Iterator<Item = &StateRef<T>> {
        let composite = composite.into_state();
        let tree = self.machines.tree(self.nth.get());
        tree.map_or_else(Vec::new, |tree| tree.regions_of(&composite)).into_iter()
    }

    /// Returns whether `state` is active: the current state, an ancestor of it, or an active state of another region.
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.view().is_in_state(state)
    }

    /// Returns whether any state of type `S` is active.
    #[must_use]
    pub fn is_in<S: State<T>>(&self) -> bool {
        self.path().any(|active| active.is::<S>())
            || self.view().has_elsewhere() && self.active_states().any(|active| active.is::<S>())
    }

    /// Returns how long the current state has been active, in seconds by [`Owner::now`]. If it has not been entered, the
    /// time counts from the clock's 0 ([rule 18](crate::docs::semantics#rule-18)).
    #[must_use]
    pub fn time_in_state(&self, cx: &T::Context<'_>) -> f64 {
        let entered_at = self.entered_at.get(self.nth.get()).copied();
        time_since(entered_at.unwrap_or_else(|| self.view().entered_at), now::<T>(cx))
    }

    /// Returns how long `state` has been active, in seconds by [`Owner::now`]; `None` if it is not active. The time of an
    /// ancestor goes on while the states inside it change ([rule 18](crate::docs::semantics#rule-18)).
    ///
    /// # Examples
    ///
    /// A fight that ends after 30 seconds, whatever happens in it:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine, StateRef};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = f64; // seconds
    ///     type Message = ();
    ///
    ///     fn now(seconds: &f64) -> f64 {
    ///         *seconds
    ///     }
    /// }
    ///
    /// struct Fight;
    /// struct Aim;
    /// struct Shoot;
    /// struct Rest;
    /// impl State<Enemy> for Rest {}
    /// impl State<Enemy> for Fight {
    ///     fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, seconds: &mut f64) {
    ///         if fsm.time_in(self, seconds).is_some_and(|time| time >= 30.0) {
    ///             fsm.change_state(&Rest);
    ///         }
    ///     }
    /// }
    /// impl State<Enemy> for Aim {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Fight).into()) }
    /// }
    /// impl State<Enemy> for Shoot {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Fight).into()) }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Aim);
    /// machine.start(&mut Enemy, &mut 100.0);
    /// machine.change_state(&mut Enemy, &Shoot, &mut 120.0);
    /// machine.update(&mut Enemy, &mut 129.0);
    /// assert!(machine.is_in_state(&Shoot));
    /// machine.update(&mut Enemy, &mut 130.0);
    /// assert!(machine.is_in_state(&Rest));
    /// ```
    #[must_use]
    pub fn time_in<S: State<T> + ?Sized>(&self, state: &S, cx: &T::Context<'_>) -> Option<f64> {
        self.view().time_in(state, now::<T>(cx))
    }

    /// Returns whether any request is waiting that this callback or an earlier callback has made. Requests made in `exit` are
    /// refused, so they never wait ([rule 24](crate::docs::semantics#rule-24)).
    ///
    /// # Examples
    ///
    /// A patrol that goes on only if a function that it calls makes no request:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Guard { sees_thief: bool, steps: u32 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// struct Patrol;
    /// struct Chase;
    /// impl State<Guard> for Chase {}
    /// impl State<Guard> for Patrol {
    ///     fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut ()) {
    ///         look_around(guard, fsm);
    ///         if !fsm.has_requests() {
    ///             guard.steps += 1;
    ///         }
    ///     }
    /// }
    ///
    /// fn look_around(guard: &Guard, fsm: &mut Fsm<'_, Guard>) {
    ///     if guard.sees_thief {
    ///         fsm.change_state(&Chase);
    ///     }
    /// }
    ///
    /// let mut guard = Guard { sees_thief: true, steps: 0 };
    /// StateMachine::new(&Patrol).update(&mut guard, &mut ());
    /// assert_eq!(guard.steps, 0);
    /// ```
    #[must_use]
    pub fn has_requests(&self) -> bool {
        self.machines.has_requests(self.nth.get())
    }

    /// Returns the machine's seat; `None` if a batch stores the machine's data in columns.
    pub(crate) fn seat(&self) -> Option<&Seat<T>> {
        self.machines.seat(self.nth.get())
    }

    /// Carries out the requests made so far, and then lends the owner and the seat to `act`. Does nothing without a seat.
    pub(crate) fn lend(&mut self, owner: &mut T, cx: &mut T::Context<'_>, act: ActOnSeat<'_, T>) {
        self.machines.lend(self.nth.get(), owner, cx, act);
    }

    pub(crate) fn view(&self) -> View<'_, T> {
        self.machines.view(self.nth.get())
    }

    /// Returns the number that the state with the scope `by` stores under `key`.
    pub(crate) fn noted(&self, by: Scope, key: u32) -> Option<f64> {
        self.machines.noted(self.nth.get(), by, key)
    }

    /// Stores a number under `key` until the state whose callback is running is left, or forever: see [`Note`].
    pub(crate) fn note(&mut self, key: u32, number: f64) {
        let note = Note::new(key, number);
        if !self.machines.wait(self.nth.get(), f64::INFINITY, Awaited::Note(note)) {
            self.ask(Request::after(f64::INFINITY, Then::Note(note)));
        }
    }

    /// Makes a request for a change. Its action runs between the exits and the enters (rule 40).
    #[cfg_attr(not(feature = "definition"), expect(dead_code, reason = "only states from files have actions"))]
    pub(crate) fn ask_with(&mut self, request: Request<T>, action: Option<Action<T>>) {
        self.ask(match action {
            Some(action) => Request::Acting(Boxed::new(Acting { request, action })),
            None => request,
        });
    }

    /// Calls `look` with the machine's rare data, such as suspended states and histories; with `None` if there is none.
    pub(crate) fn look_back<R>(&self, look: impl FnOnce(Option<&Rare<T>>) -> R) -> R {
        let (mut look, mut seen) = (Some(look), None);
        self.machines.look_back(self.nth.get(), &mut |rare| seen = look.take().map(|look| look(rare)));
        seen.expect("each machine calls it once")
    }

    /// Returns whether a change has been requested, also by a timer that is due, and is still to be made. A change to a state that
    /// `is_beside` does not count.
    pub(crate) fn asks_for_change(&self, is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        self.machines.asks_for_change(self.nth.get(), is_beside)
    }

    /// Declares that the state whose callback is running has nothing to do in a tick for `seconds` after its entry, as long as
    /// its revision does not change.
    pub(crate) fn be_quiet(&mut self, seconds: f64, revision: usize) {
        self.machines.be_quiet(self.nth.get(), seconds, revision);
    }

    fn execute_now(&mut self, order: Order, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.entered_at = &[];
        self.machines.execute_now(self.nth.get(), order, request, owner, cx)
    }

    #[inline]
    fn ask_singleton(&mut self, state: &'static dyn State<T>) {
        self.machines.ask_singleton(self.nth.get(), state);
    }

    #[inline(never)]
    fn ask(&mut self, request: Request<T>) {
        self.machines.ask(self.nth.get(), request);
    }
}

/// A closure that gets an owner, its seat and the settings of its machine within a callback.
pub(crate) type ActOnSeat<'a, T> =
    &'a mut dyn FnMut(&mut T, &mut Seat<T>, &Settings<T>, &mut <T as Owner>::Context<'_>);

/// The machines behind a handle: one machine, or the machines of many owners in consecutive slots. `nth` is the index of one
/// of them. Machines that can only be read ignore requests, as the provided methods do.
pub(crate) trait Machines<T: Owner> {
    /// Queues a request for a change to a singleton. Nearly all requests are of this kind.
    fn ask_singleton(&mut self, _nth: usize, _to: &'static dyn State<T>) {}
    /// Queues any other request.
    fn ask(&mut self, _nth: usize, _request: Request<T>) {}
    /// Records a wait of the owner, and its length in seconds. Returns `false` if the wait must be queued as a request
    /// instead.
    fn wait(&mut self, _nth: usize, _seconds: f64, _for: Awaited<T>) -> bool {
        false
    }
    /// Withdraws the changes that wait (rule 37).
    fn withdraw_changes(&mut self, _nth: usize) {}
    /// Withdraws all requests that wait (rule 37).
    fn withdraw_all(&mut self, _nth: usize) {}
    /// Ends the timers for which `is_canceled` returns `true`, and returns how many (rule 39).
    fn cancel(&mut self, _nth: usize, _is_canceled: &mut dyn FnMut(&Pending<T>) -> bool) -> usize {
        0
    }
    /// Ends the change under way in the state that is being entered (rule 38). Returns `false` if no state is being entered.
    fn stay(&mut self, _nth: usize) -> bool {
        false
    }
    /// Carries out a request within the call (rule 11). Returns whether this was done.
    fn execute_now(
        &mut self,
        _nth: usize,
        _order: Order,
        _request: &Request<T>,
        _owner: &mut T,
        _cx: &mut T::Context<'_>,
    ) -> bool {
        false
    }
    /// Sends a message to the owner itself within the call (rule 24). Returns whether it was handled.
    fn send_now(
        &mut self,
        _nth: usize,
        _order: Order,
        _owner: &mut T,
        _message: &T::Message,
        _cx: &mut T::Context<'_>,
    ) -> bool {
        false
    }
    /// Returns the machine's seat; `None` if a batch stores the machine's data in columns.
    fn seat(&self, _nth: usize) -> Option<&Seat<T>> {
        None
    }
    /// Carries out the requests made so far, and then lends the owner and the seat to `act`. Does nothing if a batch stores
    /// the machine's data in columns.
    fn lend(&mut self, _nth: usize, _owner: &mut T, _cx: &mut T::Context<'_>, _act: ActOnSeat<'_, T>) {}
    fn view(&self, nth: usize) -> View<'_, T>;
    /// Returns the seats of all regions of the machine; `None` if it cannot have any.
    fn tree(&self, _nth: usize) -> Option<Tree<'_, T>> {
        None
    }
    fn global(&self) -> &StateRef<T>;
    fn has_requests(&self, nth: usize) -> bool;
    /// Returns the depth of a state from a file, if it lies on the path of the handle, and when it was entered. For the global
    /// state, which is never entered, this is when the innermost active state was entered.
    fn entry_of(&self, nth: usize, state: &dyn State<T>) -> (Option<usize>, f64) {
        self.view(nth).entry_of_defined(state)
    }
    /// Returns the number that the state with the scope `by` stores under a key.
    fn noted(&self, _nth: usize, _by: Scope, _key: u32) -> Option<f64> {
        None
    }
    /// Writes the numbers that the states with the scope `by` of some machines, from the `nth` on, store under a key. Writes NaN
    /// for a machine whose state stores none.
    fn note_each(&self, nth: usize, by: Scope, key: u32, numbers: &mut [f64]) {
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = self.noted(nth + i, by, key).unwrap_or(f64::NAN);
        }
    }
    /// Replaces the numbers that the state whose callback is running has stored under a key for those of up to 64 machines, from
    /// the `nth` on, that are `asked`. Returns the machines whose number cannot be replaced here.
    fn replace_notes(&mut self, _nth: usize, asked: u64, _key: u32, _numbers: &[f64; 64]) -> u64 {
        asked
    }
    /// Calls `look` once with the rare data of a machine, if there is any.
    fn look_back(&self, _nth: usize, look: &mut dyn FnMut(Option<&Rare<T>>)) {
        look(None);
    }
    /// Does what [`Fsm::asks_for_change`] says.
    fn asks_for_change(&self, nth: usize, _is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        self.has_requests(nth)
    }
    /// Records that the state whose callback is running has nothing to do in a tick for `seconds` after its entry, as long as
    /// it has this revision.
    fn be_quiet(&mut self, _nth: usize, _seconds: f64, _revision: usize) {}
    /// Returns when each of `count` machines, from the `nth` on, entered a state. `None` if these times are not stored in
    /// columns, or if one of these machines may already be in another state.
    fn entries(&self, _nth: usize, _count: usize, _state: &dyn State<T>) -> Option<Entries<'_>> {
        None
    }
    /// Returns which of up to 64 machines, from the `nth` on, may have made a request or changed state since the callback began,
    /// one bit for each. All other machines are still in the same states as then.
    fn have_acted(&self, _nth: usize, count: usize) -> u64 {
        u64::MAX >> (64 - count)
    }
    /// Returns the number with which many machines can request a change to a state. `None` if such a change cannot be
    /// requested by number.
    fn number_of(&mut self, _to: &StateRef<T>) -> Option<u32> {
        None
    }
    /// Requests a change to the state with the number `to`. This works only if neither the machine nor one after it has made
    /// a request. Returns whether the request was made.
    fn ask_number(&mut self, _nth: usize, _to: u32) -> bool {
        false
    }
}

/// Whether a request within the call is carried out before or after the requests that wait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    /// Behind the requests that wait.
    Behind,
    /// Ahead of the requests that wait.
    Ahead,
}

/// The times at which consecutive machines entered a state, in seconds.
pub(crate) struct Entries<'e> {
    /// The times, row by row.
    pub(crate) times: &'e [f64],
    /// The number of times in a row.
    pub(crate) width: usize,
    /// The index of the state's time in each row.
    pub(crate) at: usize,
}

/// The data of a machine for its queries. `StateRef::NONE` stands for a state that does not exist.
pub(crate) struct View<'v, T: Owner> {
    pub(crate) current: &'v StateRef<T>,
    pub(crate) previous: &'v StateRef<T>,
    pub(crate) target: &'v StateRef<T>,
    /// The ancestors of the current state, outermost first.
    pub(crate) ancestors: &'v [StateRef<T>],
    /// When the current state was entered, in seconds.
    pub(crate) entered_at: f64,
    /// When each ancestor was entered, in seconds. Empty if no times are stored.
    pub(crate) ancestors_entered_at: &'v [f64],
    /// The seats around the region in which these states lie; `None` outside of regions.
    pub(crate) around: Option<Around<'v, T>>,
    /// The open regions of the current state.
    pub(crate) regions: Option<&'v Regions<T>>,
}

impl<T: Owner> View<'_, T> {
    /// Returns the depth of an active state. The outermost state has depth 0.
    pub(crate) fn depth_of<S: State<T> + ?Sized>(&self, state: &S) -> Option<usize> {
        if same(&**self.current, state) && !self.current.is_none() {
            return Some(self.ancestors.len());
        }
        self.ancestors.iter().rposition(|active| same(&**active, state))
    }

    /// Like [`depth_of`](Self::depth_of), for a state from a file. No other state has its address, so the types need not be
    /// compared.
    #[inline]
    pub(crate) fn depth_of_defined(&self, state: &dyn State<T>) -> Option<usize> {
        let is = |active: &StateRef<T>| core::ptr::addr_eq(&raw const **active, state);
        if is(self.current) { Some(self.ancestors.len()) } else { self.ancestors.iter().rposition(is) }
    }

    /// Returns the result of [`Machines::entry_of`].
    #[inline]
    pub(crate) fn entry_of_defined(&self, state: &dyn State<T>) -> (Option<usize>, f64) {
        let depth = self.depth_of_defined(state);
        let elsewhere = if depth.is_none() && self.has_elsewhere() { self.entry_elsewhere(state) } else { None };
        let entered_at = elsewhere.unwrap_or_else(|| self.entered_at(depth.unwrap_or(self.ancestors.len())));
        (depth, time_or_zero(entered_at))
    }

    pub(crate) fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.depth_of(state).is_some() || self.has_elsewhere() && self.entry_elsewhere(state).is_some()
    }

    pub(crate) fn time_in<S: State<T> + ?Sized>(&self, state: &S, now: f64) -> Option<f64> {
        let entered_at = match self.depth_of(state) {
            Some(depth) => self.entered_at(depth),
            None if self.has_elsewhere() => self.entry_elsewhere(state)?,
            None => return None,
        };
        Some(time_since(entered_at, now))
    }

    /// Returns whether any state is active in another seat.
    #[inline]
    pub(crate) fn has_elsewhere(&self) -> bool {
        self.around.is_some() || self.regions.is_some()
    }

    /// Returns when the active state at a depth was entered, in seconds.
    #[inline]
    pub(crate) fn entered_at(&self, depth: usize) -> f64 {
        match self.ancestors.get(depth) {
            Some(_) => self.ancestors_entered_at.get(depth).copied().unwrap_or(NEVER),
            None => self.entered_at,
        }
    }
}

/// The entry time of a state that has not been entered, for example because its machine has not been started.
pub(crate) const NEVER: f64 = f64::NAN;

/// Returns the time from which the time in a state counts: its entry time, or 0 if it has not been entered
/// ([rule 18](crate::docs::semantics#rule-18)).
#[inline]
pub(crate) fn time_or_zero(entered_at: f64) -> f64 {
    if entered_at.is_nan() { 0.0 } else { entered_at }
}

/// Returns how many seconds ago a state was entered.
#[inline]
pub(crate) fn time_since(entered_at: f64, now: f64) -> f64 {
    now - time_or_zero(entered_at)
}

/// A request that a callback or a call from outside makes.
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
    /// A timer to set, or a number to store.
    After(Boxed<After<T>>),
    /// A change in the next tick.
    Next(StateRef<T>),
    /// The request of a timer that is due.
    Due(Boxed<Timer<T>>),
    /// Sleep for a number of seconds.
    Sleep(f64),
    /// A call that reads or cancels timers. It is a request only where it is refused (rule 12); elsewhere it acts at once.
    Cancel,
    /// A call of `stay` outside of an `enter`. It is refused.
    Stay,
    /// A request that was made in a region and concerns the region's seat (rule 32).
    InRegion(Boxed<InRegion<T>>),
    /// A change with an action, which runs between the exits and the enters (rule 40).
    Acting(Boxed<Acting<T>>),
}

/// A request for a change, and its action.
pub(crate) struct Acting<T: Owner> {
    pub(crate) request: Request<T>,
    pub(crate) action: Action<T>,
}

/// The function that a change calls between the exits and the enters.
pub(crate) type Action<T> = Box<dyn Fn(&mut T, &Fsm<'_, T>, &mut <T as Owner>::Context<'_>) + Send + Sync>;

impl<T: Owner> Request<T> {
    /// Creates a request for a change.
    pub(crate) fn change(to: StateRef<T>) -> Self {
        match to.into_singleton() {
            Ok(state) => Self::ChangeSingleton(state),
            Err(held) => Self::Change(held),
        }
    }

    /// Creates a request for a timer.
    pub(crate) fn after(seconds: f64, then: Then<T>) -> Self {
        Self::After(Boxed::new(After { seconds, scope: Scope::Machine, then }))
    }

    /// Returns the request as made by a callback with this scope. Only a request for a timer stores the scope.
    pub(crate) fn of(mut self, scope: Scope) -> Self {
        if let Self::After(after) = &mut self {
            after.scope = after.then.note().map_or(scope, |note| note.scope(scope));
        }
        self
    }

    /// Returns whether this is a request for a change that does not come from a timer.
    pub(crate) fn is_change(&self) -> bool {
        match self {
            Self::Send(_)
            | Self::After(_)
            | Self::Next(_)
            | Self::Due(_)
            | Self::Sleep(_)
            | Self::Cancel
            | Self::Stay => false,
            Self::InRegion(inside) => inside.request.is_change(),
            _ => true,
        }
    }

    /// Returns whether this is a request for a change, also one of a timer, but not to a state that `is_beside`.
    pub(crate) fn is_change_here(&self, is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        match self {
            Self::Change(to) | Self::Ensure(to) | Self::Force(to) | Self::Resume(to) => !is_beside(to),
            Self::Acting(acting) => acting.request.is_change_here(is_beside),
            Self::InRegion(inside) => inside.request.is_change_here(is_beside),
            Self::Due(timer) => match &timer.then {
                Then::Change(to) => !is_beside(to),
                Then::Send(_) | Then::Repeat(..) => false,
                _ => true,
            },
            other => other.is_change(),
        }
    }

    /// Returns whether the request depends on the seat of its state: on the seat's previous state, stack or waits.
    pub(crate) fn depends_on_seat(&self) -> bool {
        match self {
            Self::Revert
            | Self::Push(_)
            | Self::Pop
            | Self::After(_)
            | Self::Next(_)
            | Self::Due(_)
            | Self::Sleep(_) => true,
            Self::Acting(acting) => acting.request.depends_on_seat(),
            _ => false,
        }
    }

    /// Returns the action of the requested change.
    pub(crate) fn action(&self) -> Option<&Action<T>> {
        match self {
            Self::Acting(acting) => Some(&acting.action),
            _ => None,
        }
    }

    /// Returns the message to oneself that the request sends.
    pub(crate) fn message(&self) -> Option<&T::Message> {
        match self {
            Self::Send(message) => Some(message),
            Self::Due(timer) => match &timer.then {
                Then::Send(message) => message.downcast_ref(),
                _ => None,
            },
            Self::InRegion(inside) => inside.request.message(),
            _ => None,
        }
    }

    /// Returns whether the request stores a number for a state. Only states from files make such requests.
    pub(crate) fn is_note(&self) -> bool {
        match self {
            Self::After(after) => after.then.is_note(),
            Self::InRegion(inside) => inside.request.is_note(),
            _ => false,
        }
    }

    /// Returns whether a change that keeps only the outermost `kept` active states ends this request: a timer, or a change in the
    /// next tick.
    pub(crate) fn ends_with(&self, kept: usize) -> bool {
        match self {
            Self::After(after) => after.scope.ends_with(kept),
            Self::Due(timer) => timer.scope.ends_with(kept),
            Self::Next(_) => true,
            _ => false,
        }
    }

    /// Returns the request for a change to a state: to change, or to revert if this state is the previous one.
    pub(crate) fn to(cause: Cause, state: &StateRef<T>) -> Self {
        if cause == Cause::Revert { Self::Revert } else { Self::Change(state.clone()) }
    }

    /// Returns the cause of the requested change. A request in a region must be taken out of [`Request::InRegion`] first.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Force(_) => Cause::Force,
            Self::Revert => Cause::Revert,
            Self::Push(_) => Cause::Push,
            Self::Pop => Cause::Pop,
            Self::Resume(_) => Cause::Resume,
            Self::Acting(acting) => acting.request.cause(),
            _ => Cause::Change,
        }
    }
}

impl<T: Owner> fmt::Display for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.cause();
        match self {
            Self::Change(to) | Self::Force(to) | Self::Push(to) | Self::Resume(to) => write_change(f, cause, to),
            Self::ChangeSingleton(to) => write_change(f, cause, &to.name()),
            Self::Ensure(to) => write!(f, "ensure of {to}"),
            Self::Revert | Self::Pop => cause.fmt(f),
            Self::Send(_) => f.write_str("message to oneself"),
            Self::After(after) => write!(f, "{} after {} s", after.then, after.seconds),
            Self::Next(to) => {
                write_change(f, cause, to)?;
                f.write_str(" in the next tick")
            }
            Self::Due(timer) => timer.then.fmt(f),
            Self::Sleep(_) => f.write_str("sleep"),
            Self::Cancel => f.write_str("access to timers"),
            Self::Stay => f.write_str("stay"),
            Self::InRegion(inside) => inside.request.fmt(f),
            Self::Acting(acting) => acting.request.fmt(f),
        }
    }
}

/// Writes a change to a state as the request for it.
pub(crate) struct ChangeTo<'t, T: Owner>(pub(crate) Cause, pub(crate) &'t StateRef<T>);

impl<T: Owner> fmt::Display for ChangeTo<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Request::to(self.0, self.1).fmt(f)
    }
}

fn write_change(f: &mut fmt::Formatter<'_>, cause: Cause, to: &dyn fmt::Display) -> fmt::Result {
    write!(f, "{cause} to {to}")
}
