//! Crowds, which an inspector can show.

mod agents;
mod batch;
mod cast;
mod data;
#[cfg(feature = "definition")]
mod definition;
mod journal;
mod machines;
mod messages;

use std::borrow::Cow;
use std::fmt::{self, Debug, Write as _};
use std::hash::Hash;
use std::ops::Range;

#[cfg(feature = "definition")]
use demeanor::definition::Definition;
use demeanor::journal::MessageLog;
use demeanor::{Fsm, Journal, MachineReport, Owner, StateRef};

use serde::Serialize;

#[cfg(feature = "bevy")]
pub(crate) use self::agents::count;
pub use self::data::{Data, WithData};
#[cfg(feature = "definition")]
pub use self::definition::WithDefinition;
pub use self::journal::WithJournal;
pub use self::machines::Machines;
pub use self::messages::WithMessages;

/// Forwards the methods that a wrapper of a crowd does not change.
macro_rules! delegate {
    () => {
        fn now(&self, cx: &Self::Context<'_>) -> f64 {
            self.crowd.now(cx)
        }

        fn len(&self) -> usize {
            self.crowd.len()
        }

        fn awake(&self) -> Option<usize> {
            self.crowd.awake()
        }

        fn census(&self, cx: &Self::Context<'_>) -> Vec<Count> {
            self.crowd.census(cx)
        }

        fn stays(&self, places: Range<usize>, cx: &Self::Context<'_>, visit: &mut dyn FnMut(Self::Key, f64)) {
            self.crowd.stays(places, cx, visit);
        }

        fn label(&self, key: Self::Key) -> Option<String> {
            self.crowd.label(key)
        }

        fn report(&self, key: Self::Key, cx: &Self::Context<'_>) -> Option<MachineReport> {
            self.crowd.report(key, cx)
        }

        fn key_text(&self, key: Self::Key) -> String {
            self.crowd.key_text(key)
        }

        fn find(&self, text: &str) -> Option<Self::Key> {
            self.crowd.find(text)
        }
    };
    ($($method:ident),+) => {
        super::delegate!();
        $(super::delegate!(@ $method);)+
    };
    (@ journal) => {
        fn journal(&self) -> Option<&Journal<Self::Key>> {
            self.crowd.journal()
        }
    };
    (@ messages) => {
        fn messages(&self) -> Option<&MessageLog<Self::Key>> {
            self.crowd.messages()
        }
    };
    (@ exits) => {
        fn exits(&self) -> Option<Vec<Exit>> {
            self.crowd.exits()
        }
    };
    (@ data) => {
        fn data(&self, key: Self::Key) -> Option<Data> {
            self.crowd.data(key)
        }
    };
}
use delegate;

/// Many owners that an [`Inspector`](crate::Inspector) can show.
///
/// A game that stores its machines in its own way implements this trait, or lends them as [`Machines`].
pub trait Crowd {
    /// The key of an owner.
    type Key: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The context from which the time is read: that of the owners' callbacks.
    type Context<'a>;

    /// Returns the game's time, in seconds.
    fn now(&self, cx: &Self::Context<'_>) -> f64;

    /// Returns the number of owners.
    fn len(&self) -> usize;

    /// Returns whether there are no owners.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of awake owners, if it is known.
    fn awake(&self) -> Option<usize> {
        None
    }

    /// Returns the number of owners in each state. An owner is counted once, but an owner with open regions is also counted once for
    /// the innermost state in each region. Called four times a second.
    fn census(&self, cx: &Self::Context<'_>) -> Vec<Count>;

    /// Calls `visit` with some of the owners; each comes with the seconds that it has been in its current state. `places` are
    /// indices in an order that stays the same while no owner changes; some may be beyond the last owner.
    fn stays(&self, places: Range<usize>, cx: &Self::Context<'_>, visit: &mut dyn FnMut(Self::Key, f64));

    /// Returns an owner's label, from [`Owner::label`]; `None` if there is no such owner.
    fn label(&self, key: Self::Key) -> Option<String>;

    /// Returns a report of an owner's machine; `None` if there is no such owner.
    fn report(&self, key: Self::Key, cx: &Self::Context<'_>) -> Option<MachineReport>;

    /// Returns the text of an owner's key in the page.
    fn key_text(&self, key: Self::Key) -> String {
        format!("{key:?}")
    }

    /// Returns the owner with this text in the page, if there is one.
    fn find(&self, text: &str) -> Option<Self::Key>;

    /// Returns the journal of the owners' changes, if there is one.
    fn journal(&self) -> Option<&Journal<Self::Key>> {
        None
    }

    /// Returns the log of the owners' messages, if there is one.
    fn messages(&self) -> Option<&MessageLog<Self::Key>> {
        None
    }

    /// Returns what the game shows of an owner, if it shows anything. Called four times a second for an owner that a page watches.
    fn data(&self, key: Self::Key) -> Option<Data> {
        let _ = key;
        None
    }

    /// Returns the possible exits of the states, taken or not, if they are known. Called rarely.
    fn exits(&self) -> Option<Vec<Exit>> {
        None
    }

    /// Adds a journal. A batch and a cast have their own.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Change, Journal, Owner, State, StateMachine};
    /// use demeanor_inspector::{Crowd, Inspector};
    ///
    /// struct Game { seconds: f64, journal: Journal<usize> }
    /// struct Door { number: usize }
    /// impl Owner for Door {
    ///     type Context<'a> = Game;
    ///     type Message = ();
    ///
    ///     fn now(game: &Game) -> f64 {
    ///         game.seconds
    ///     }
    ///
    ///     fn on_change(&mut self, change: &Change<'_, Self>, game: &mut Game) {
    ///         game.journal.note(self.number, change, game.seconds);
    ///     }
    /// }
    /// struct Closed;
    /// impl State<Door> for Closed {}
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?;
    /// let game = Game { seconds: 0.0, journal: Journal::new(1000) };
    /// let doors: Vec<_> = (0..3).map(|number| Agent::new(Door { number }, StateMachine::new(&Closed))).collect();
    /// inspector.show("doors", &doors.with_journal(&game.journal), &game);
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    fn with_journal<'c>(&'c self, journal: &'c Journal<Self::Key>) -> WithJournal<'c, Self> {
        WithJournal { crowd: self, journal }
    }

    /// Adds the log of the owners' messages, which the game writes in [`Owner::after_message`].
    fn with_messages<'c>(&'c self, messages: &'c MessageLog<Self::Key>) -> WithMessages<'c, Self> {
        WithMessages { crowd: self, messages }
    }

    /// Shows data of the owner that a page watches: what `data` returns for its key.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    /// use demeanor_inspector::{Crowd, Inspector};
    ///
    /// #[derive(Debug, serde::Serialize)]
    /// struct Enemy { health: f32, arrows: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?;
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy { health: 100.0, arrows: 12 }, &Idle);
    /// inspector.show("enemies", &batch.with_data(|key| batch.get(key)), &());
    /// // An owner that is not `Serialize` can be shown as a text.
    /// inspector.show("enemies", &batch.with_data(|key| Some(format!("{:?}", batch.get(key)?))), &());
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    fn with_data<D, F>(&self, data: F) -> WithData<'_, Self, F>
    where
        D: Serialize,
        F: Fn(Self::Key) -> Option<D>,
    {
        WithData { crowd: self, data }
    }

    /// Adds the exits of a definition's states, taken or not.
    #[cfg(feature = "definition")]
    fn with_definition<'c, T: Owner>(&'c self, definition: &'c Definition<T>) -> WithDefinition<'c, Self, T> {
        WithDefinition { crowd: self, definition }
    }
}

/// A crowd whose owners can be changed by hand.
pub trait CrowdMut<T: Owner>: Crowd {
    /// Lends an owner with its handle, like in a callback; then carries out the requests. Returns the result of `act`; `None`
    /// if there is no such owner.
    fn with<R>(
        &mut self,
        key: Self::Key,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R>;

    /// Returns the state with this name that an owner is in, has been in or could be in, as far as it is known. An owned state
    /// belongs only to its owner.
    fn state(&self, name: &str) -> Option<StateRef<T>>;
}

/// The number of owners in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The names of the states around it, the outermost first, and then its own name.
    pub path: Vec<String>,
    /// The number of owners in it.
    pub owners: usize,
}

impl Count {
    /// Counts the owners in a state.
    #[must_use]
    pub fn new<T: Owner>(state: &StateRef<T>, owners: usize) -> Self {
        Self { path: path_of(state).map(Cow::into_owned).collect(), owners }
    }
}

/// An exit of a state, from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The name of the state; `None` for the global one.
    pub from: Option<String>,
    /// The name of the target state.
    pub to: String,
    /// The condition.
    pub label: String,
}

/// The library also rejects a longer chain of parents.
const DEEPEST: usize = 64;

/// Returns the names from the outermost state to this one.
fn path_of<T: Owner>(state: &StateRef<T>) -> impl Iterator<Item = Cow<'static, str>> + use<T> {
    let mut path = vec![Cow::from(state.name().into_owned())];
    let mut parent = state.parent();
    while let Some(state) = parent.filter(|_| path.len() < DEEPEST) {
        path.push(state.name().into_owned().into());
        parent = state.parent();
    }
    path.into_iter().rev()
}

/// Returns the state with this name among some states and their parents.
pub(crate) fn state_among<'s, T: Owner>(
    states: impl Iterator<Item = &'s StateRef<T>>,
    name: &str,
) -> Option<StateRef<T>> {
    for state in states {
        let mut around = Some(state.clone());
        for _ in 0..DEEPEST {
            let Some(state) = around else { break };
            if state.name() == name && !state.is_owned() {
                return Some(state);
            }
            around = state.parent();
        }
    }
    None
}

/// Returns the time of the owners' clock, in seconds. The negative zero of owners without a clock becomes 0.
fn now<T: Owner>(cx: &T::Context<'_>) -> f64 {
    T::now(cx) + 0.0
}

/// An owner's label, as text.
pub(crate) fn label_of<T: Owner>(owner: &T) -> String {
    struct Label<'a, T>(&'a T);
    impl<T: Owner> fmt::Display for Label<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.label(f)
        }
    }
    let mut label = String::new();
    // If a label fails, the text so far is used.
    let _ = write!(label, "{}", Label(owner));
    label
}
