//! A definition as it runs: its states by place, exchanged as a whole when the file is read again.
//!
//! States lead to each other in circles, so a state keeps the graph, and the graph keeps no state: it refers to states
//! weakly. The [`Definition`](super::Definition) keeps its states, and so does every machine that is in one. A state that
//! nobody keeps is made again when something leads to it; since nobody had it, nobody can tell.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

use super::condition::Condition;
use super::defined::DefinedState;
use super::vocabulary::Told;
use crate::owner::Owner;
use crate::state::{StateRef, WeakStateRef};

/// What the states of one definition share: the graph of the day.
pub(crate) struct Shared<T: Owner> {
    pub(crate) graph: ArcSwap<Graph<T>>,
}

pub(crate) struct Graph<T: Owner> {
    /// The file's name, for the log.
    pub(crate) file: String,
    pub(crate) initial: usize,
    pub(crate) global: Option<usize>,
    pub(crate) nodes: Vec<Node<T>>,
}

/// One state's place in the graph, the same from one reading of the file to the next.
pub(crate) struct Node<T: Owner> {
    pub(crate) place: Arc<Place<T>>,
    pub(crate) content: Arc<Content<T>>,
    /// Where owners go whose state is no longer in the file.
    pub(crate) gone_to: Option<usize>,
}

/// What is constant for a state.
pub(crate) struct Place<T: Owner> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) initial: Option<usize>,
    pub(crate) keeps_history: bool,
    first: OnceLock<WeakStateRef<T>>,
    again: Mutex<Option<WeakStateRef<T>>>,
}

/// What a reading of the file can change.
pub(crate) struct Content<T: Owner> {
    pub(crate) behaviour: Option<StateRef<T>>,
    /// Whether the behaviour's update is worth calling.
    pub(crate) has_update: bool,
    pub(crate) enter_when: Option<Condition<T>>,
    /// Tried after each update.
    pub(crate) exits: Vec<Exit<T>>,
    pub(crate) message_exits: Vec<MessageExit<T>>,
    #[cfg(feature = "script")]
    pub(crate) script: Option<super::script::Hooks<T>>,
}

/// A function of a state's script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    Enter,
    Update,
    Exit,
}

impl<T: Owner> Content<T> {
    #[inline]
    #[cfg_attr(not(feature = "script"), expect(clippy::unused_self, reason = "only with scripts there is one"))]
    pub(crate) fn has_script(&self) -> bool {
        #[cfg(feature = "script")]
        return self.script.is_some();
        #[cfg(not(feature = "script"))]
        false
    }
}

pub(crate) struct Exit<T: Owner> {
    pub(crate) to: usize,
    /// What is entered with the target: its path and its initial descendants.
    pub(crate) enters: Box<[usize]>,
    pub(crate) when: Option<Condition<T>>,
}

pub(crate) struct MessageExit<T: Owner> {
    pub(crate) is: Told<T>,
    pub(crate) exit: Exit<T>,
}

impl<T: Owner> Place<T> {
    pub(crate) fn new(
        index: usize,
        name: &str,
        parent: Option<usize>,
        initial: Option<usize>,
        keeps_history: bool,
    ) -> Self {
        Self {
            index,
            name: name.into(),
            parent,
            initial,
            keeps_history,
            first: OnceLock::new(),
            again: Mutex::new(None),
        }
    }

    /// The state of this place: the same one for as long as anybody has it.
    pub(crate) fn state(self: &Arc<Self>, shared: &Arc<Shared<T>>) -> StateRef<T> {
        let first = self.first.get().and_then(WeakStateRef::upgrade);
        first.unwrap_or_else(|| self.made(shared))
    }

    #[cold]
    fn made(self: &Arc<Self>, shared: &Arc<Shared<T>>) -> StateRef<T> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = again.as_ref().and_then(WeakStateRef::upgrade) {
            return state;
        }
        // Somebody may have made the first one since it was looked for.
        if let Some(state) = self.first.get().and_then(WeakStateRef::upgrade) {
            return state;
        }
        let state = StateRef::from(Arc::new(DefinedState::new(Arc::clone(self), Arc::clone(shared))));
        if let Some(weak) = state.downgrade() {
            if let Err(weak) = self.first.set(weak) {
                *again = Some(weak);
            }
        }
        state
    }
}

impl<T: Owner> Graph<T> {
    pub(crate) fn state(&self, index: usize, shared: &Arc<Shared<T>>) -> StateRef<T> {
        self.nodes[index].place.state(shared)
    }
}
