//! Who has a machine, and what it is told of the machine's changes.

use core::any::type_name;
use core::fmt;

use crate::state::{StateRef, short_name};

/// A character, door, menu: whatever a state machine belongs to.
///
/// The trait holds the types that all states of one owner share, so that a state says `State<Enemy>` and nothing else.
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
pub trait Owner: Sized + 'static {
    /// What the callbacks need besides the owner: a clock, the world, a command buffer.
    ///
    /// A context may borrow from the world for the length of a call: `type Context<'a> = Town<'a>`.
    type Context<'a>;

    /// What can be sent to the owner. `()` if nothing is.
    type Message;

    /// Returns the time by the context's clock, in seconds. Read once for each change and by `time_in_state`.
    ///
    /// By default there is no clock, and it is always 0.
    #[must_use]
    fn now(cx: &Self::Context<'_>) -> f64 {
        let _ = cx;
        0.0
    }

    /// Writes who this is, for the log. By default the name of the type.
    ///
    /// # Errors
    ///
    /// When the formatter fails.
    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short_name(type_name::<Self>()))
    }

    /// Is told of each change: once it is made, before the new state's `enter`; or when a guard has refused it, in which
    /// case nothing has happened.
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
}

/// One change of an owner's state, as [`Owner::on_change`] is told of it.
///
/// Displayed as `Idle -> Chase (change)`.
#[non_exhaustive]
pub struct Change<'a, T: Owner> {
    /// The state that is left; `None` when there was none.
    pub from: Option<&'a StateRef<T>>,
    /// The state that is entered; `None` when a pop leads back to having none.
    pub to: Option<&'a StateRef<T>>,
    /// The verb that asked for it.
    pub cause: Cause,
    /// Whether it was made.
    pub outcome: Outcome<'a, T>,
}

impl<'a, T: Owner> Change<'a, T> {
    pub(crate) fn taken(from: Option<&'a StateRef<T>>, to: Option<&'a StateRef<T>>, cause: Cause) -> Self {
        Self { from, to, cause, outcome: Outcome::Taken }
    }

    /// Returns whether the change was made.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self.outcome, Outcome::Taken)
    }
}

impl<T: Owner> fmt::Display for Change<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} ({})", NameOf(self.from), NameOf(self.to), self.cause)?;
        match &self.outcome {
            Outcome::Taken => Ok(()),
            Outcome::Refused(refusal) => write!(f, ", refused by {refusal}"),
        }
    }
}

impl<T: Owner> fmt::Debug for Change<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The verb that asked for a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// `change_state` or `change_state_now`.
    Change,
    /// `revert_state`.
    Revert,
    /// `push_state`.
    Push,
    /// `pop_state`.
    Pop,
    /// `resume_state`.
    Resume,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "change",
            Self::Revert => "revert",
            Self::Push => "push",
            Self::Pop => "pop",
            Self::Resume => "resume",
        })
    }
}

/// Whether a [`Change`] was made.
#[non_exhaustive]
pub enum Outcome<'a, T: Owner> {
    /// It was made; the states' `exit` have run, their `enter` are about to.
    Taken,
    /// A guard refused it; no callback has run.
    Refused(Refusal<'a, T>),
}

/// The guard that refused a [`Change`].
#[non_exhaustive]
pub enum Refusal<'a, T: Owner> {
    /// `can_exit` of this state.
    Exit(&'a StateRef<T>),
    /// `can_enter` of this state.
    Enter(&'a StateRef<T>),
}

impl<T: Owner> fmt::Display for Refusal<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(state) => write!(f, "{state}.can_exit"),
            Self::Enter(state) => write!(f, "{state}.can_enter"),
        }
    }
}

/// The owner's label, for log lines.
pub(crate) struct Label<'a, T>(pub(crate) &'a T);

impl<T: Owner> fmt::Display for Label<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.label(f)
    }
}

/// A state's name where there may be none, for log lines.
pub(crate) struct NameOf<'a, T: Owner>(pub(crate) Option<&'a StateRef<T>>);

impl<T: Owner> fmt::Display for NameOf<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(state) => fmt::Display::fmt(state, f),
            None => f.write_str("(no state)"),
        }
    }
}
