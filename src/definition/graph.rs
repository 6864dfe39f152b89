//! A definition as it runs: its states by index, exchanged as a whole when the file is reloaded.
//!
//! States lead to each other in circles, so a state keeps the graph, and the graph keeps no state: it refers to states
//! weakly. The [`Definition`](super::Definition) keeps its states, and so does every machine that is in one. A state that
//! is not in use is made again when something leads to it; since it was not in use, there is no difference.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

use super::condition::Condition;
use super::opening::{Interval, KeptTime, Opening};
use super::record::Record;
#[cfg(feature = "script")]
use super::script::Script;
use super::vocabulary::MessageKind;
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::state::{StateRef, WeakStateRef};

/// An owner that has less than this to wait for an exit, in seconds, stays awake. In the slow table of the bench, a question costs
/// 2 ns in each tick; to be put to sleep, woken and changed costs about 900 ns, by a division of the whole.
pub(crate) const SHORTEST_REST: f64 = 2.0;

/// An owner whose state has its turns more often than this, in seconds, stays awake. An owner awake costs more here: in each tick
/// it is looked up when its turn comes.
const SHORTEST_TURN: f64 = 0.25;

/// A state of a [`Definition`](super::Definition).
///
/// In each tick (with `every`, at each of its turns) it runs its behavior's `update` and then tries its exits in order. The first one is taken whose condition
/// holds and whose change every guard allows: all that is left can be left, and all that is entered can be entered. Where the
/// behavior has itself asked for a change, no exit is taken.
///
/// An owner that has nothing to do until an exit opens or a turn comes [sleeps](Fsm::sleep_for) until then. Behaviors whose
/// [`is_passive`](crate::State::is_passive) is true do nothing in a tick.
///
/// An exit of an ancestor or of the global state is not taken while its target is active already: it would be left and
/// entered again in every tick.
pub struct DefinedState<T: Owner> {
    pub(crate) fixed: Arc<Fixed<T>>,
    pub(crate) shared: Arc<SharedGraph<T>>,
    /// The graph when this state was made. Until the file is reloaded it is the one to use, and costs a comparison; to load
    /// the shared one takes 10 ns, several times in each change.
    first: Arc<Graph<T>>,
}

/// What the states of one definition share: the graph as it is now.
pub(crate) struct SharedGraph<T: Owner> {
    graph: ArcSwap<Graph<T>>,
    /// That of the graph. It is set after the graph, so that a reader of the new version finds the new graph.
    version: AtomicUsize,
}

pub(crate) struct Graph<T: Owner> {
    /// How often the file has been reloaded.
    pub(crate) version: usize,
    /// The file's name, for the log.
    pub(crate) file: String,
    pub(crate) initial: usize,
    pub(crate) global: Option<usize>,
    /// A state has the same index from one reload to the next.
    pub(crate) nodes: Vec<Node<T>>,
    /// Where owners of an unknown state go.
    pub(crate) to_initial: Arc<Exit<T>>,
    pub(crate) told: ToldOnce,
}

/// What has been logged of one of the owners whose state is gone. There may be many, and it is logged once for all of them.
#[derive(Default)]
pub(crate) struct ToldOnce {
    /// That it changes to another state.
    pub(crate) goes: AtomicBool,
    /// That it enters its state again.
    pub(crate) enters_again: AtomicBool,
    /// That it cannot go where it is to.
    pub(crate) is_refused: AtomicBool,
}

/// One state in the graph.
pub(crate) struct Node<T: Owner> {
    pub(crate) fixed: Arc<Fixed<T>>,
    pub(crate) content: Arc<Content<T>>,
    /// Where owners go whose state is no longer in the file. What its content leads to is not there any more, either.
    pub(crate) gone: Option<Arc<Exit<T>>>,
    /// Whether there are times at which neither this state nor one around it has anything to ask.
    pub(crate) can_rest: bool,
}

/// What is constant for a state.
pub(crate) struct Fixed<T: Owner> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) initial: Option<usize>,
    pub(crate) keeps_history: bool,
    /// The state as it was first made.
    pub(super) first: OnceLock<WeakStateRef<T>>,
    /// The state as it was made again, after it had not been in use.
    pub(super) again: Mutex<Option<WeakStateRef<T>>>,
}

/// What a reload can change.
#[expect(clippy::struct_excessive_bools, reason = "each saves a look at all exits in a tick")]
pub(crate) struct Content<T: Owner> {
    pub(crate) behaviour: Option<StateRef<T>>,
    /// Whether the behavior's update is worth calling.
    pub(crate) has_update: bool,
    /// How often it has its turn; `None` if that is in each tick.
    pub(crate) every: Option<Interval<T>>,
    /// The same as it is written.
    pub(crate) every_written: Option<Box<str>>,
    pub(crate) enter_when: Option<Condition<T>>,
    /// Tried after each update.
    pub(crate) exits: Vec<Exit<T>>,
    /// For how many seconds after the state's entry none of them opens, whatever the game would say.
    pub(crate) closed_for: f64,
    /// Whether some of them are also tried as soon as the state is entered.
    pub(crate) has_always: bool,
    /// Whether some of them ask for the chance of a second.
    pub(crate) has_rates: bool,
    /// Whether it is an end.
    pub(crate) is_final: bool,
    /// The state whose machine ends in this one.
    pub(crate) ends: Option<usize>,
    /// Whether there are times to be found when an owner enters the state.
    pub(crate) keeps: bool,
    pub(crate) message_exits: Vec<MessageExit<T>>,
    pub(crate) has_script: bool,
    /// Whether scripts answer whether its exits are taken.
    pub(crate) asks_scripts: bool,
    #[cfg(feature = "script")]
    pub(crate) script: Option<Script<T>>,
}

pub(crate) struct Exit<T: Owner> {
    pub(crate) to: usize,
    /// The path to the target, itself included, and then its initial descendants.
    pub(crate) route: Box<[usize]>,
    /// How many of these are around the target.
    pub(crate) above: usize,
    pub(crate) opens: Opening<T>,
    /// Whether it is also tried as soon as the state is entered.
    pub(crate) is_always: bool,
    /// Whether it is also taken while its target is active already.
    pub(crate) restarts: bool,
    /// Whether it also leads out of a final state that is not its own.
    pub(crate) even_final: bool,
    pub(crate) when: Option<Condition<T>>,
    /// How long it waits, as it is written.
    pub(crate) after: Box<str>,
}

/// An exit that waits for a message.
pub(crate) struct MessageExit<T: Owner> {
    /// The message's name in the file.
    pub(crate) on: String,
    pub(crate) is: MessageKind<T>,
    /// Whether it waits for the end of the machine that its state runs, and for no message of the game.
    pub(crate) is_done: bool,
    pub(crate) exit: Exit<T>,
}

impl<T: Owner> Exit<T> {
    /// For how many seconds after its state's entry it is closed at least, without anything having been asked of the game.
    pub(crate) fn closed_for(&self) -> f64 {
        let asked = self.when.as_ref().map_or(f64::NEG_INFINITY, Condition::fails_for);
        match &self.opens {
            Opening::AtOnce => asked,
            Opening::After(seconds) => seconds.max(asked),
            // The game may be asked for it.
            Opening::Kept(_) => f64::NEG_INFINITY,
        }
    }
}

impl<T: Owner> Node<T> {
    /// That of a state of which nothing is known but where its owners go.
    #[cold]
    pub(crate) fn without(fixed: Arc<Fixed<T>>, to: Arc<Exit<T>>) -> Self {
        Self { fixed, content: Arc::new(Content::of(Vec::new(), Vec::new())), gone: Some(to), can_rest: false }
    }

    /// Whether the state waits now and then: for its turn, or asleep.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.can_rest || self.content.every.is_some()
    }
}

/// A state's node, with the graph that it is in. Two references are passed in registers: with the state as a third, a tick of nested
/// machines takes 7 % longer.
pub(crate) struct Here<'g, T: Owner> {
    pub(crate) graph: &'g Graph<T>,
    pub(crate) node: &'g Node<T>,
}

impl<T: Owner> Clone for Here<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Owner> Copy for Here<'_, T> {}

impl<T: Owner> DefinedState<T> {
    /// Lends the graph as it is now, with this state's node.
    #[inline]
    pub(crate) fn with<R>(&self, act: impl FnOnce(Here<'_, T>) -> R) -> R {
        let reloaded;
        let mut graph = &*self.first;
        if graph.version != self.shared.version.load(Ordering::Acquire) {
            reloaded = self.shared.load();
            graph = &reloaded;
            if !graph.has(&self.fixed) {
                let node = &Node::without(Arc::clone(&self.fixed), Arc::clone(&graph.to_initial));
                return act(Here { graph, node });
            }
        }
        act(Here { graph, node: &graph.nodes[self.fixed.index] })
    }

    /// Whether the owner has left the state. The global state is never left.
    #[inline]
    pub(crate) fn is_left(&self, fsm: &Fsm<'_, T>) -> bool {
        !fsm.global().is_some_and(|global| self.is(global)) && !fsm.is_in_state(self)
    }

    /// Whether a reference leads to this state.
    #[inline]
    pub(crate) fn is(&self, state: &StateRef<T>) -> bool {
        ptr::addr_eq(&raw const **state, self)
    }
}

impl<T: Owner> SharedGraph<T> {
    pub(crate) fn new(graph: Graph<T>) -> Self {
        let version = AtomicUsize::new(graph.version);
        Self { graph: ArcSwap::from_pointee(graph), version }
    }

    /// How often the file has been reloaded.
    pub(crate) fn version(&self) -> usize {
        self.version.load(Ordering::Acquire)
    }

    /// The graph as it is now.
    #[cold]
    pub(crate) fn load(&self) -> Arc<Graph<T>> {
        self.graph.load_full()
    }

    /// Exchanges the graph. Returns the old one: the game's own code may run when it is dropped.
    pub(crate) fn swap(&self, graph: Graph<T>) -> Arc<Graph<T>> {
        let version = graph.version;
        let old = self.graph.swap(Arc::new(graph));
        self.version.store(version, Ordering::Release);
        old
    }
}

impl<T: Owner> Content<T> {
    /// That of a state that does nothing but try exits.
    pub(crate) fn of(exits: Vec<Exit<T>>, message_exits: Vec<MessageExit<T>>) -> Self {
        let keeps = |exit: &Exit<T>| exit.opens.kept().is_some();
        let has_rates = exits.iter().filter_map(|exit| exit.when.as_ref()).any(Condition::has_rate);
        // When exits with the chance of a second were tried last is noted each time.
        let closed_for = if has_rates {
            f64::NEG_INFINITY
        } else {
            exits.iter().map(Exit::closed_for).fold(f64::INFINITY, f64::min)
        };
        Self {
            behaviour: None,
            has_update: false,
            every: None,
            every_written: None,
            enter_when: None,
            closed_for,
            has_always: exits.iter().any(|exit| exit.is_always),
            has_rates,
            is_final: false,
            ends: None,
            keeps: exits.iter().chain(message_exits.iter().map(|waiting| &waiting.exit)).any(keeps),
            exits,
            message_exits,
            has_script: false,
            asks_scripts: false,
            #[cfg(feature = "script")]
            script: None,
        }
    }

    /// Whether there are times at which the state has nothing to ask: it does nothing in a tick, and its exits open later; or
    /// it has its turn only now and then.
    pub(crate) fn can_rest(&self) -> bool {
        if let Some(every) = &self.every {
            return every.least().is_none_or(|least| least >= SHORTEST_TURN);
        }
        let opens_later = |exit: &Exit<T>| exit.opens.most().is_none_or(|after| after >= SHORTEST_REST);
        self.only_tries_exits() && self.exits.iter().all(opens_later)
    }

    /// Whether the state does nothing in a tick but try its exits, which it does in each tick.
    #[inline]
    pub(crate) fn only_tries_exits(&self) -> bool {
        !self.has_update && !self.has_script && self.every.is_none()
    }

    /// The times that are found for an owner when it enters the state, in the order of the exits that are tried, then of those
    /// that wait for a message.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &KeptTime<T>> {
        let waiting = self.message_exits.iter().map(|waiting| &waiting.exit);
        self.exits.iter().chain(waiting).filter_map(|exit| exit.opens.kept())
    }

    /// Whether the owner may come to be in the state.
    #[inline]
    pub(crate) fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>, record: &mut impl Record) -> bool {
        self.enter_when.as_ref().is_none_or(|when| when.admits(owner, fsm, cx, record))
            && self.behaviour.as_ref().is_none_or(|behaviour| behaviour.can_enter(owner, fsm, cx))
    }

    /// Whether the owner may leave the state.
    #[inline]
    pub(crate) fn can_exit(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.behaviour.as_ref().is_none_or(|behaviour| behaviour.can_exit(owner, fsm, cx))
    }
}

impl<T: Owner> Fixed<T> {
    /// That of a state by itself.
    pub(crate) fn new(index: usize, name: &str) -> Self {
        Self {
            index,
            name: name.into(),
            parent: None,
            initial: None,
            keeps_history: false,
            first: OnceLock::new(),
            again: Mutex::new(None),
        }
    }

    /// Whether the state is in use.
    pub(crate) fn is_held(&self) -> bool {
        // It is dropped when the lock is free again: with the state, what the game has put into it may go.
        let again = self.again.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(WeakStateRef::upgrade);
        again.is_some() || self.first.get().and_then(WeakStateRef::upgrade).is_some()
    }

    /// The state: the same one for as long as it is in use.
    pub(crate) fn state(self: &Arc<Self>, shared: &Arc<SharedGraph<T>>) -> StateRef<T> {
        let first = self.first.get().and_then(WeakStateRef::upgrade);
        first.unwrap_or_else(|| self.make(shared))
    }

    #[cold]
    fn make(self: &Arc<Self>, shared: &Arc<SharedGraph<T>>) -> StateRef<T> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = again.as_ref().and_then(WeakStateRef::upgrade) {
            return state;
        }
        // Another thread may have made the first one since.
        if let Some(state) = self.first.get().and_then(WeakStateRef::upgrade) {
            return state;
        }
        let now = shared.load();
        let first = if now.has(self) { now } else { Arc::new(now.nowhere()) };
        let state = DefinedState { fixed: Arc::clone(self), shared: Arc::clone(shared), first };
        let state = StateRef::from(Arc::new(state));
        if let Some(weak) = state.downgrade() {
            if let Err(weak) = self.first.set(weak) {
                *again = Some(weak);
            }
        }
        state
    }
}

impl<T: Owner> Graph<T> {
    /// A graph that is never the one to use, for a state that is made when it is no longer in the file's.
    #[cold]
    fn nowhere(&self) -> Self {
        Self {
            version: usize::MAX,
            file: String::new(),
            initial: 0,
            global: None,
            nodes: Vec::new(),
            to_initial: Arc::clone(&self.to_initial),
            told: ToldOnce::default(),
        }
    }

    /// Whether a state is one of the graph, and not one that was replaced after it was no longer in use.
    pub(crate) fn has(&self, state: &Arc<Fixed<T>>) -> bool {
        self.nodes.get(state.index).is_some_and(|node| Arc::ptr_eq(&node.fixed, state))
    }

    pub(crate) fn state(&self, index: usize, shared: &Arc<SharedGraph<T>>) -> StateRef<T> {
        self.nodes[index].fixed.state(shared)
    }

    /// The index of a state. `None` if it is no state of this definition.
    pub(crate) fn index_of(&self, state: &StateRef<T>) -> Option<usize> {
        let state = state.downcast_ref::<DefinedState<T>>()?;
        let node = self.nodes.get(state.fixed.index)?;
        Arc::ptr_eq(&node.fixed, &state.fixed).then_some(state.fixed.index)
    }
}
