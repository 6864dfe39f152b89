//! The owner of a machine, and how changes are reported to it.

use core::any::type_name;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use log::{debug, warn};

use crate::change::Change;
use crate::fsm::Fsm;
use crate::state::StateRef;
use crate::state::short_name;

/// The thing to which a state machine belongs: a character, a door, a menu. The trait names the types that all states of one
/// owner share, so that a state needs only `State<Enemy>`.
///
/// # Order of calls
///
/// At a change, [`on_change`](Self::on_change) is called after the `exit` of the old state and before the `enter` of the new one,
/// and [`after_change`](Self::after_change) after that `enter`. [`after_update`](Self::after_update) is called at the end of a
/// tick. A panic in a method reaches the caller of the machine's method, as a panic in a callback of a state does ([rule
/// 22](crate::docs::semantics#rule-22)).
///
/// # Examples
///
/// ```
/// use demeanor::{GameTime, Owner};
///
/// struct Enemy {
///     name: String,
/// }
///
/// enum Told {
///     Noise { distance: f32 },
/// }
///
/// impl Owner for Enemy {
///     type Context<'a> = GameTime;
///     type Message = Told;
///
///     fn now(time: &GameTime) -> f64 {
///         time.total().as_secs_f64()
///     }
///
///     fn label(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str(&self.name)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an owner of states",
    label = "needs `impl Owner for {Self}`",
    note = "write `impl Owner for {Self} {{ type Context<'a> = (); type Message = (); }}`",
    note = "`Context` has the data that its callbacks need besides the owner; `Message` is the type of its messages"
)]
#[expect(unused_variables, reason = "the provided methods do nothing, and their arguments have names for the docs")]
pub trait Owner: Sized + 'static {
    /// The type of the data that the callbacks need besides the owner: a clock, the world, a command buffer.
    ///
    /// A context may borrow from the world for the length of a call: `type Context<'a> = Town<'a>`.
    type Context<'a>;

    /// The type of the messages that can be sent to the owner. Use `()` if there are none. A message can have [a field for an
    /// answer](crate::docs::cookbook#an-answer-to-a-message).
    type Message: 'static;

    /// Returns the time that the context's clock shows, in seconds. Called at each change, by `start`, by queries such as
    /// `time_in_state`, and when a machine sets timers, checks them or sleeps ([rule 18](crate::docs::semantics#rule-18)).
    ///
    /// By default there is no clock, and the time is always -0.0. The plugin for Bevy recognizes the default by the sign.
    #[must_use]
    fn now(cx: &Self::Context<'_>) -> f64 {
        -0.0
    }

    /// Writes the owner's name, for the log. By default it writes the name of the type.
    ///
    /// # Errors
    ///
    /// When the formatter fails.
    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short_name(type_name::<Self>()))
    }

    /// Called for each change that is made, before the new state's `enter`. Also called when a guard has refused a change: then
    /// no state has been left or entered. Not called by `start` and `stop`.
    ///
    /// Called once more for a change that has ended early. The outcome is then [`Abandoned`](crate::Outcome::Abandoned) or
    /// [`Stayed`](crate::Outcome::Stayed) ([rule 38](crate::docs::semantics#rule-38)). Use [`Change::is_taken`] to count the
    /// changes that were made.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Change, Owner, State, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Door {
    ///     changes: Vec<String>,
    /// }
    ///
    /// impl Owner for Door {
    ///     type Context<'a> = ();
    ///     type Message = ();
    ///
    ///     fn on_change(&mut self, change: &Change<'_, Self>, _: &mut ()) {
    ///         self.changes.push(change.to_string());
    ///     }
    /// }
    ///
    /// struct Closed;
    /// struct Open;
    /// impl State<Door> for Closed {}
    /// impl State<Door> for Open {}
    ///
    /// let mut door = Door::default();
    /// let mut machine = StateMachine::new(&Closed);
    /// machine.change_state(&mut door, &Open, &mut ());
    /// assert_eq!(door.changes, ["Closed -> Open (change)"]);
    /// ```
    fn on_change(&mut self, change: &Change<'_, Self>, cx: &mut Self::Context<'_>) {}

    /// Called for each change once it is complete: after its last `enter`, before the requests of its `enter` callbacks
    /// are carried out. It is not called for a refused change, nor for a change that a
    /// [`change_state_now`](crate::Fsm::change_state_now) in an `enter` has abandoned
    /// ([rule 5](crate::docs::semantics#rule-5)). If [`Fsm::stay`](crate::Fsm::stay) has ended the change in an ancestor of its
    /// target, then `change.to` is this ancestor.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Change, Fsm, Owner, State, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Door {
    ///     is_locked: bool,
    ///     log: Vec<String>,
    /// }
    ///
    /// impl Owner for Door {
    ///     type Context<'a> = ();
    ///     type Message = ();
    ///
    ///     fn after_change(&mut self, change: &Change<'_, Self>, _: &mut ()) {
    ///         self.log.push(format!("{change}, locked: {}", self.is_locked));
    ///     }
    /// }
    ///
    /// struct Open;
    /// struct Locked;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Locked {
    ///     fn enter(&self, door: &mut Door, _: &mut Fsm<'_, Door>, _: &mut ()) {
    ///         door.is_locked = true;
    ///     }
    /// }
    ///
    /// let mut door = Door::default();
    /// StateMachine::new(&Open).change_state(&mut door, &Locked, &mut ());
    /// assert_eq!(door.log, ["Open -> Locked (change), locked: true"]);
    /// ```
    fn after_change(&mut self, change: &Change<'_, Self>, cx: &mut Self::Context<'_>) {}

    /// Called after each message: with the state that has handled it, before the requests of its
    /// [`on_message`](crate::State::on_message) are carried out, or with `None` after the last state has declined it. With open
    /// regions, it is called for each state that has handled the message ([rule 14](crate::docs::semantics#rule-14)).
    ///
    /// It is the place to log messages, for example in a [`MessageLog`](crate::journal::MessageLog).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine, StateRef};
    ///
    /// #[derive(Default)]
    /// struct Door {
    ///     log: Vec<String>,
    /// }
    ///
    /// impl Owner for Door {
    ///     type Context<'a> = ();
    ///     type Message = &'static str;
    ///
    ///     fn after_message(&mut self, message: &&'static str, handled_by: Option<&StateRef<Self>>, _: &mut ()) {
    ///         self.log.push(match handled_by {
    ///             Some(state) => format!("{message}: handled by {state}"),
    ///             None => format!("{message}: unhandled"),
    ///         });
    ///     }
    /// }
    ///
    /// struct Closed;
    /// impl State<Door> for Closed {
    ///     fn on_message(&self, _: &mut Door, message: &&'static str, _: &mut Fsm<'_, Door>, _: &mut ()) -> bool {
    ///         *message == "knock"
    ///     }
    /// }
    ///
    /// let mut door = Door::default();
    /// let mut machine = StateMachine::new(&Closed);
    /// machine.start(&mut door, &mut ());
    /// machine.send(&mut door, &"knock", &mut ());
    /// machine.send(&mut door, &"sing", &mut ());
    /// assert_eq!(door.log, ["knock: handled by Closed", "sing: unhandled"]);
    /// ```
    fn after_message(
        &mut self,
        message: &Self::Message,
        handled_by: Option<&StateRef<Self>>,
        cx: &mut Self::Context<'_>,
    ) {
    }

    /// Called at the end of each tick in which a state was updated: an active state, or the global state. It is called once,
    /// after the last update and all requests of the tick. It is the place for code that runs in every state: gravity, movement,
    /// the choice of a sprite ([rule 35](crate::docs::semantics#rule-35)).
    ///
    /// The handle shows the machine as the tick has left it. It can be queried, but nothing can be requested. This method is not
    /// called in a tick in which the machine is asleep and no global state is updated, nor for calls from outside, such as
    /// `change_state` and `send`.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// #[derive(Default)]
    /// struct Bat {
    ///     y: f32,
    ///     speed: f32,
    ///     sprite: &'static str,
    /// }
    ///
    /// impl Owner for Bat {
    ///     type Context<'a> = ();
    ///     type Message = ();
    ///
    ///     fn after_update(&mut self, fsm: &Fsm<'_, Self>, _: &mut ()) {
    ///         self.y += self.speed;
    ///         self.sprite = if fsm.is_in_state(&Dive) { "wings back" } else { "wings out" };
    ///     }
    /// }
    ///
    /// struct Hover;
    /// struct Dive;
    /// impl State<Bat> for Dive {}
    /// impl State<Bat> for Hover {
    ///     fn update(&self, bat: &mut Bat, fsm: &mut Fsm<'_, Bat>, _: &mut ()) {
    ///         bat.speed = -2.0;
    ///         fsm.change_state(&Dive);
    ///     }
    /// }
    ///
    /// let mut bat = Bat::default();
    /// StateMachine::new(&Hover).update(&mut bat, &mut ());
    /// assert_eq!((bat.y, bat.sprite), (-2.0, "wings back"));
    /// ```
    fn after_update(&mut self, fsm: &Fsm<'_, Self>, cx: &mut Self::Context<'_>) {
        fsm.mark_unused();
    }
}

/// Returns the time by the owner's clock, in seconds. No other code reads the clock (rule 18).
#[inline]
pub(crate) fn now<T: Owner>(cx: &T::Context<'_>) -> f64 {
    let seconds = T::now(cx);
    if !seconds.is_finite() {
        warn_of_clock(seconds, type_name::<T>());
    }
    clock_time(seconds)
}

/// Returns a time that is finite and not -0.0. A time that is not finite counts as 0. -0.0 becomes 0.0, because the two compare
/// as equal but have different bits.
#[inline]
pub(crate) fn clock_time(seconds: f64) -> f64 {
    if seconds.is_finite() { seconds + 0.0 } else { 0.0 }
}

/// Logs that a clock returned a time that is not finite, but only once in a program.
#[cold]
fn warn_of_clock(seconds: f64, owner: &str) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        warn!(target: "demeanor", "the clock of {owner} shows {seconds} s, which counts as 0 s");
    }
}

/// Reports a change, made or refused, to the log and the owner (rules 8, 23).
#[inline]
pub(crate) fn tell<T: Owner>(owner: &mut T, change: &Change<'_, T>, cx: &mut T::Context<'_>) {
    log_change(owner, change);
    owner.on_change(change, cx);
}

/// Reports a change to the `tracing` subscriber if there is one that accepts it, or else to the log. It does not report to both,
/// because a subscriber often collects the log, too.
#[inline]
pub(crate) fn log_change<T: Owner>(owner: &T, change: &Change<'_, T>) {
    if logs_changes() {
        write_change(owner, change);
    }
}

#[cold]
fn write_change<T: Owner>(owner: &T, change: &Change<'_, T>) {
    #[cfg(feature = "tracing")]
    if is_traced() {
        return trace_change(owner, change);
    }
    debug!(target: "demeanor", "{}: {change}", Label(owner));
}

/// Returns whether the output of [`log_change`] goes anywhere.
#[inline]
pub(crate) fn logs_changes() -> bool {
    #[cfg(feature = "tracing")]
    if is_traced() {
        return true;
    }
    log::log_enabled!(target: "demeanor", log::Level::Debug)
}

#[cfg(feature = "tracing")]
#[inline]
fn is_traced() -> bool {
    tracing::enabled!(target: "demeanor", tracing::Level::DEBUG)
}

#[cfg(feature = "tracing")]
fn trace_change<T: Owner>(owner: &T, change: &Change<'_, T>) {
    use tracing::field::display;

    use crate::change::Outcome;

    let (refused_by, ended_in) = match &change.outcome {
        Outcome::Taken => (None, None),
        Outcome::Refused(refusal) => (Some(display(refusal)), None),
        Outcome::Abandoned(state) | Outcome::Stayed(state) => (None, Some(display(state))),
    };
    tracing::debug!(
        target: "demeanor",
        owner = %Label(owner),
        from = change.from.map(display),
        to = change.to.map(display),
        cause = %change.cause,
        refused_by,
        ended_in,
        time_in_state = change.time_in_state,
        "{}",
        match &change.outcome {
            Outcome::Taken => "changes state",
            Outcome::Refused(_) => "may not change state",
            Outcome::Abandoned(_) => "abandons a change of state",
            Outcome::Stayed(_) => "stays on the way to a state",
        }
    );
}

/// The owner's label, for log lines.
pub(crate) struct Label<'a, T>(pub(crate) &'a T);

impl<T: Owner> fmt::Display for Label<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.label(f)
    }
}
