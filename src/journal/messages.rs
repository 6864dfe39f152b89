//! The last messages of some owners.

use std::collections::VecDeque;
use std::fmt;

use crate::shown::shown;

/// The most characters of a message that are kept.
const LONGEST: usize = 200;

/// The last messages to some owners, each with its sender, its receiver, its text, and the state that has handled it.
///
/// A game calls [`note`](Self::note) in [`Owner::after_message`](crate::Owner::after_message). `K` is the type that identifies an
/// owner, as in a [`Journal`](super::Journal).
///
/// # Examples
///
/// ```
/// use demeanor::journal::MessageLog;
/// use demeanor::{Fsm, Owner, State, StateMachine, StateRef};
///
/// struct Game { seconds: f64, messages: MessageLog<u32> }
/// struct Door { number: u32 }
/// #[derive(Debug)]
/// struct Knock { by: u32 }
///
/// impl Owner for Door {
///     type Context<'a> = Game;
///     type Message = Knock;
///
///     fn after_message(&mut self, message: &Knock, handled_by: Option<&StateRef<Self>>, game: &mut Game) {
///         game.messages.note(Some(message.by), self.number, &format!("{message:?}"), handled_by, game.seconds);
///     }
/// }
/// struct Closed;
/// impl State<Door> for Closed {}
///
/// let mut game = Game { seconds: 2.5, messages: MessageLog::new(100) };
/// let (mut door, mut machine) = (Door { number: 7 }, StateMachine::new(&Closed));
/// machine.start(&mut door, &mut game);
/// machine.send(&mut door, &Knock { by: 3 }, &mut game);
/// assert_eq!(game.messages.iter().next().unwrap().to_string(), "2.5 s: 3 to 7: Knock { by: 3 }, unhandled");
/// ```
#[derive(Clone, Debug)]
pub struct MessageLog<K> {
    capacity: usize,
    messages: VecDeque<LoggedMessage<K>>,
    written: u64,
}

/// A message in a [`MessageLog`].
///
/// It is displayed as `2.5 s: 3 to 7: Knock, handled by Closed`, where 3 and 7 are owners.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoggedMessage<K> {
    /// When the message was handled or declined, in seconds.
    pub time: f64,
    /// The owner that has sent it, if it is known.
    pub from: Option<K>,
    /// The owner to which it was sent.
    pub to: K,
    /// The message as text, at most 200 characters of it.
    pub text: Box<str>,
    /// The name of the state that has handled it; `None` if all states have declined it.
    pub handled_by: Option<Box<str>>,
}

impl<K> MessageLog<K> {
    /// Creates a log that keeps the last `messages` messages.
    #[must_use]
    pub fn new(messages: usize) -> Self {
        Self { capacity: messages, messages: VecDeque::new(), written: 0 }
    }

    /// Records a message from one owner to another. `handled_by` is the state that has handled it, and `now` the time, in
    /// seconds.
    pub fn note(&mut self, from: Option<K>, to: K, text: &str, handled_by: Option<impl fmt::Display>, now: f64) {
        self.written += 1;
        let handled_by = handled_by.map(|state| shown(&state.to_string(), LONGEST).into());
        self.messages.push_back(LoggedMessage { time: now, from, to, text: shown(text, LONGEST).into(), handled_by });
        let forgotten = self.messages.len().saturating_sub(self.capacity);
        self.messages.drain(..forgotten);
    }

    /// Returns how many messages have been recorded, whether or not they are still kept.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Iterates over the messages that are kept, the oldest first.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &LoggedMessage<K>> + ExactSizeIterator {
        self.messages.iter()
    }
}

impl<K: fmt::Debug> fmt::Display for LoggedMessage<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, from, to, text, handled_by } = self;
        write!(f, "{time} s: ")?;
        if let Some(from) = from {
            write!(f, "{from:?} ")?;
        }
        write!(f, "to {to:?}: {text}, ")?;
        match handled_by {
            Some(state) => write!(f, "handled by {state}"),
            None => f.write_str("unhandled"),
        }
    }
}
