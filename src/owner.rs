//! The owner of a machine, and the reports that it gets of the machine's changes.

use core::any::type_name;
use core::fmt;

use crate::change::Change;
use crate::clock;
use crate::state::short_name;

/// A character, a door, a menu: whatever a state machine belongs to.
///
/// The trait names the types that all states of one owner share, so that a state needs only `State<Enemy>`.
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
    note = "`Context` is what its callbacks get besides the owner; `Message` is what can be sent to it"
)]
pub trait Owner: Sized + 'static {
    /// What the callbacks need besides the owner: a clock, the world, a command buffer.
    ///
    /// A context may borrow from the world for the length of a call: `type Context<'a> = Town<'a>`.
    type Context<'a>;

    /// What can be sent to the owner. Use `()` if nothing is sent to it.
    type Message: 'static;

    /// Returns the time by the context's clock, in seconds. It is called once for each change, and by `time_in_state`.
    ///
    /// By default there is no clock, and the time is always 0.
    #[must_use]
    fn now(cx: &Self::Context<'_>) -> f64 {
        let _ = cx;
        0.0
    }

    /// Writes who this is, for the log. By default it writes the name of the type.
    ///
    /// # Errors
    ///
    /// When the formatter fails.
    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short_name(type_name::<Self>()))
    }

    /// Called for each change: once it is made, before the new state's `enter`; or when a guard has refused it, in
    /// which case nothing has happened.
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
    fn on_change(&mut self, change: &Change<'_, Self>, cx: &mut Self::Context<'_>) {
        let _ = (change, cx);
    }

    /// Called for each change once it is complete: after its last `enter`, before the requests of its `enter` callbacks
    /// are carried out. It is not called for a refused change, nor for one that a
    /// [`change_state_now`](crate::Fsm::change_state_now) in an `enter` has cut short
    /// ([rule 5](crate::docs::semantics#rule-5)).
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
    fn after_change(&mut self, change: &Change<'_, Self>, cx: &mut Self::Context<'_>) {
        let _ = (change, cx);
    }
}

/// The time by the owner's clock, in seconds.
#[inline]
pub(crate) fn now<T: Owner>(cx: &T::Context<'_>) -> f64 {
    clock::reading(T::now(cx), type_name::<T>)
}

/// The owner's label, for log lines.
pub(crate) struct Label<'a, T>(pub(crate) &'a T);

impl<T: Owner> fmt::Display for Label<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.label(f)
    }
}
