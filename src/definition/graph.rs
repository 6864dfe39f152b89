//! The graph of a running definition: its states, by index. A reload replaces the whole graph.
//!
//! States refer to each other in cycles. So a state owns the graph, and the graph refers to its states weakly. The
//! [`Definition`](super::Definition) keeps its states in memory, and each machine keeps the states that are active in it. If an
//! exit leads to a state that is not in memory any more, the state is created again. Because nothing referred to the old one,
//! the two cannot be told apart.

use std::iter;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use smallvec::SmallVec;

use super::action::{Actions, Hooks};
use super::choice::{Choice, Ranking};
use super::closures::MessageKind;
use super::condition::Condition;
use super::opening::{Interval, KeptTime, Opening};
use super::properties::CompiledProperty;
use super::record::Record;
use crate::format::leads::Leads;
use crate::fsm::Fsm;
use crate::machine::state_machine::{Tick, tick_delegating};
use crate::owner::Owner;
use crate::span::Span;
use crate::state::{StateRef, WeakStateRef};

/// The shortest wait for an exit, in seconds, for which an owner is put to sleep. In the benchmark `timed`, with the slow table,
/// evaluating an exit costs 2 ns in each tick. Putting an owner to sleep, waking it and changing its state costs about 900 ns,
/// estimated from the total.
pub(crate) const SHORTEST_REST: f64 = 2.0;

/// The shortest time between two turns, in seconds, for which an owner is put to sleep. It is shorter than [`SHORTEST_REST`],
/// because an owner that waits for a turn costs more while it is awake: each tick looks up when its turn comes.
const SHORTEST_TURN: f64 = 0.25;

/// A state of a [`Definition`](super::Definition).
///
/// In each tick (with `every`, at each of its turns) the state runs the `update` of its behavior and of its script, and then
/// tries its exits in order. It takes the first exit whose condition holds and whose change every guard allows: each state that
/// the change leaves can be left, and each state that it enters can be entered. If the behavior or the script has requested a
/// change, no exit is taken.
///
/// An owner that has nothing to do until an exit opens or a turn comes [sleeps](Fsm::sleep_for) until then, unless this is soon.
/// A behavior whose [`is_passive`](crate::State::is_passive) returns true counts as having nothing to do.
///
/// An exit of an ancestor or of the global state is not taken while its target is already active, unless the exit has `restart`
/// or leads to the state in which it is written. Otherwise, the target would be left and entered again in every tick.
pub struct DefinedState<T: Owner> {
    pub(crate) fixed: Arc<Fixed<T>>,
    pub(crate) shared: Arc<SharedGraph<T>>,
    /// The graph at the time when this state was created. It stays the current one until a reload, and checking this costs only
    /// a comparison. Loading the shared graph takes 10 ns, and each change would load it several times.
    first: Arc<Graph<T>>,
    /// The fastest function for a tick of a machine in this state, as the state was in this graph.
    pub(super) tick: Tick<T>,
}

/// The data that the states of one definition share: the current graph.
pub(crate) struct SharedGraph<T: Owner> {
    graph: ArcSwap<Graph<T>>,
    /// The version of the graph. It is set after the graph, so that a reader of the new version finds the new graph.
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
    /// The exit for owners of an unknown state. It leads to the initial state.
    pub(crate) to_initial: Arc<Exit<T>>,
    pub(crate) properties: Box<[CompiledProperty<T>]>,
    pub(crate) told: ToldOnce,
}

/// Whether each of the messages about owners whose state is gone has been logged. There may be many such owners, so only the
/// first message of each kind is logged at level `warn` or `info`. Later ones are logged at level `debug`, or not at all.
#[derive(Default)]
pub(crate) struct ToldOnce {
    /// The message that an owner changes to another state.
    pub(crate) goes: AtomicBool,
    /// The message that an owner enters its state again.
    pub(crate) enters_again: AtomicBool,
    /// The message that a guard refuses the change of an owner.
    pub(crate) is_refused: AtomicBool,
}

/// One state in the graph.
pub(crate) struct Node<T: Owner> {
    pub(crate) fixed: Arc<Fixed<T>>,
    pub(crate) content: Arc<Content<T>>,
    /// If the state is no longer in the file, the exit that its owners take. The indices in `content` are then those of an older
    /// graph.
    pub(crate) gone: Option<Arc<Exit<T>>>,
    /// Whether there are times at which neither this state nor any of its ancestors has anything to do.
    pub(crate) can_rest: bool,
    /// Whether the state does nothing in a tick except take an exit that only leads to another state.
    pub(crate) only_decides: bool,
}

/// The part of a state that never changes. If a reload must change it, the state is replaced.
pub(crate) struct Fixed<T: Owner> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) initial: Option<usize>,
    /// The initial states of its regions.
    pub(crate) regions: Box<[usize]>,
    /// The index of its region among the regions of its parent.
    pub(crate) region: usize,
    pub(crate) keeps_history: bool,
    /// The first instance of the state.
    pub(super) first: OnceLock<WeakStateRef<T>>,
    /// The newest instance of the state, if it was created again because `first` was no longer in memory.
    pub(super) again: Mutex<Option<WeakStateRef<T>>>,
}

/// The part of a state that a reload can change.
#[expect(clippy::struct_excessive_bools, reason = "each saves a look at all exits in a tick")]
pub(crate) struct Content<T: Owner> {
    pub(crate) behaviour: Option<StateRef<T>>,
    /// Whether the behavior does anything in an update: it is not passive.
    pub(crate) has_update: bool,
    /// The time between two turns. `None` if the state is updated in each tick.
    pub(crate) every: Option<Interval<T>>,
    /// `every` as it is written.
    pub(crate) every_written: Option<Box<str>>,
    pub(crate) enter_when: Option<Condition<T>>,
    /// The exits that are tried after each update.
    pub(crate) exits: Vec<Exit<T>>,
    /// For how many seconds after the entry into the state all exits are certainly closed, whatever the values of the game are.
    /// Negative infinity if an exit may be open from the beginning.
    pub(crate) closed_for: f64,
    /// How the state chooses among the exits that hold, if it does not take the first one.
    pub(crate) choice: Option<Choice<T>>,
    /// Whether the exits have to be tried for one owner after another.
    pub(crate) is_alone: bool,
    /// Whether some exits are also tried when the state is entered.
    pub(crate) has_always: bool,
    /// Whether some exits have a chance per second.
    pub(crate) has_rates: bool,
    pub(crate) is_final: bool,
    /// The index of the state whose linked machine ends in this state.
    pub(crate) ends: Option<usize>,
    /// Whether some exits have a waiting time that is determined when an owner enters the state: see [`KeptTime`].
    pub(crate) keeps: bool,
    pub(crate) message_exits: Vec<MessageExit<T>>,
    /// The messages that the state handles by doing nothing, by their names in the file.
    pub(crate) ignores: Vec<(String, MessageKind<T>)>,
    pub(crate) has_script: bool,
    /// Whether some exits have a script as their condition.
    pub(crate) asks_scripts: bool,
    /// The script, and the actions at the entry and when the state is left, if the state has any.
    pub(crate) hooks: Option<Box<Hooks<T>>>,
}

#[expect(clippy::struct_excessive_bools, reason = "each is something that the file says, or saves a look at it")]
pub(crate) struct Exit<T: Owner> {
    pub(crate) to: usize,
    /// The states that are entered if none of them is active: the path to the target, its initial descendants, and the states in
    /// the other regions around it.
    pub(crate) route: Box<[usize]>,
    /// The state that is reported as the target of such a change.
    pub(crate) innermost: usize,
    /// How many states of the route are ancestors of the target.
    pub(crate) above: usize,
    pub(crate) opens: Opening<T>,
    /// How the exit leads to its target: to the state `to`, or to states that the machine remembers.
    pub(crate) leads: Leads,
    /// Whether it leads to the state `to`, and no guard is asked if the exit's state is the innermost active one.
    pub(crate) is_unguarded: bool,
    /// Whether it leads to the state `to`, and does nothing else when it is taken.
    pub(crate) is_plain: bool,
    pub(crate) actions: Option<Arc<Actions<T>>>,
    /// Whether the exit is also tried when its state is entered.
    pub(crate) is_always: bool,
    /// Whether the exit is also taken if its target is already active.
    pub(crate) restarts: bool,
    /// Whether the exit also leads out of final states other than its own.
    pub(crate) even_final: bool,
    pub(crate) when: Option<Condition<T>>,
    /// The score or the weight, if the exit has one.
    pub(crate) rank: Option<Box<Ranking<T>>>,
    /// The waiting time as it is written.
    pub(crate) after: Box<str>,
}

/// An exit that waits for a message.
pub(crate) struct MessageExit<T: Owner> {
    /// The message's name in the file.
    pub(crate) on: String,
    pub(crate) is: MessageKind<T>,
    /// Whether the exit waits for the end of the machine that its state runs, instead of a message of the game.
    pub(crate) is_done: bool,
    pub(crate) exit: Exit<T>,
}

impl<T: Owner> Exit<T> {
    /// Whether the exit has to be tried for one owner after another.
    fn is_alone(&self) -> bool {
        !self.is_plain || matches!(self.opens, Opening::At(_))
    }

    /// Returns for how many seconds after the entry into the state the exit is certainly closed. Negative infinity if it may be
    /// open from the beginning. Calls no code of the game.
    pub(crate) fn closed_for(&self) -> f64 {
        let asked = self.when.as_ref().map_or(f64::NEG_INFINITY, Condition::fails_for);
        let opens = if let Opening::Cooled(cooldown) = &self.opens { &cooldown.opens } else { &self.opens };
        match opens {
            Opening::AtOnce | Opening::At(_) | Opening::Cooled(_) => asked,
            Opening::After(seconds) => seconds.max(asked),
            // The time may be a value of the game.
            Opening::Kept(_) => f64::NEG_INFINITY,
        }
    }
}

impl<T: Owner> Node<T> {
    pub(crate) fn new(fixed: Arc<Fixed<T>>, content: Arc<Content<T>>, gone: Option<Arc<Exit<T>>>) -> Self {
        Self { fixed, content, gone, can_rest: false, only_decides: false }
    }

    /// Creates a node without content, for a state that is not in the file. `to` is the exit that its owners take.
    #[cold]
    pub(crate) fn without(fixed: Arc<Fixed<T>>, to: Arc<Exit<T>>) -> Self {
        Self::new(fixed, Arc::new(Content::of(Vec::new(), Vec::new(), None)), Some(to))
    }

    /// Whether owners in the state sometimes sleep or wait for a turn.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.can_rest || self.content.every.is_some()
    }
}

/// A state's node, with its graph. It has only two references, because these are passed in registers. With the state as a third
/// one, a tick of nested machines takes 7 % longer.
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
    /// Calls `act` with the current graph and this state's node in it.
    #[inline]
    pub(crate) fn with<R>(&self, act: impl FnOnce(Here<'_, T>) -> R) -> R {
        if let Some(here) = self.here_unless_reloaded() {
            return act(here);
        }
        let (mut act, mut result) = (Some(act), None);
        self.with_reloaded(&mut |here| result = act.take().map(|act| act(here)));
        result.expect("`with_reloaded` calls its closure")
    }

    /// Returns the current graph and this state's node in it. `None` if the file has been reloaded since this state was created.
    #[inline]
    pub(crate) fn here_unless_reloaded(&self) -> Option<Here<'_, T>> {
        let graph = &*self.first;
        (graph.version == self.shared.version()).then(|| Here { graph, node: &graph.nodes[self.fixed.index] })
    }

    /// Does what [`with`](Self::with) does after a reload.
    #[cold]
    fn with_reloaded(&self, act: &mut dyn FnMut(Here<'_, T>)) {
        let (graph, mut gone) = (self.shared.load(), None);
        act(self.here_in(&graph, &mut gone));
    }

    /// Returns this state's node in a graph. If the graph has none, puts one without exits into `gone`.
    fn here_in<'g>(&self, graph: &'g Graph<T>, gone: &'g mut Option<Node<T>>) -> Here<'g, T> {
        let node = if graph.has(&self.fixed) {
            &graph.nodes[self.fixed.index]
        } else {
            gone.insert(Node::without(Arc::clone(&self.fixed), Arc::clone(&graph.to_initial)))
        };
        Here { graph, node }
    }

    /// Whether the owner has left the state. The global state is never left.
    #[inline]
    pub(crate) fn is_left(&self, fsm: &Fsm<'_, T>) -> bool {
        !self.is(fsm.shared_machines().global()) && !fsm.is_in_state(self)
    }

    /// Whether `state` refers to this state.
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

    /// Returns the current graph.
    #[cold]
    pub(crate) fn load(&self) -> Arc<Graph<T>> {
        self.graph.load_full()
    }

    /// Replaces the graph. Returns the old one, so that the caller decides when it is dropped: this may run code of the game.
    pub(crate) fn swap(&self, graph: Graph<T>) -> Arc<Graph<T>> {
        let version = graph.version;
        let old = self.graph.swap(Arc::new(graph));
        self.version.store(version, Ordering::Release);
        old
    }
}

impl<T: Owner> Content<T> {
    /// Creates the content of a state that has exits and nothing else.
    pub(crate) fn of(exits: Vec<Exit<T>>, message_exits: Vec<MessageExit<T>>, choice: Option<Choice<T>>) -> Self {
        let keeps = |exit: &Exit<T>| exit.opens.kept().is_some();
        let has_rates = exits.iter().filter_map(|exit| exit.when.as_ref()).any(Condition::has_rate);
        // With a chance per second, each try must be noted, so the exits cannot be skipped while they are closed.
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
            is_alone: has_rates || choice.is_some() || exits.iter().any(Exit::is_alone),
            choice,
            has_always: exits.iter().any(|exit| exit.is_always),
            has_rates,
            is_final: false,
            ends: None,
            keeps: exits.iter().chain(message_exits.iter().map(|waiting| &waiting.exit)).any(keeps),
            exits,
            message_exits,
            ignores: Vec::new(),
            has_script: false,
            asks_scripts: false,
            hooks: None,
        }
    }

    /// Whether there are times at which the state has nothing to do. Either it has turns, and the time between them is at least
    /// [`SHORTEST_TURN`] or a value of the game; or it only tries exits, and none of them is certain to open within
    /// [`SHORTEST_REST`].
    pub(crate) fn can_rest(&self) -> bool {
        if let Some(every) = &self.every {
            return every.least().is_none_or(|least| least >= SHORTEST_TURN);
        }
        let opens_later = |exit: &Exit<T>| exit.opens.most().is_none_or(|after| after >= SHORTEST_REST);
        self.only_tries_exits() && self.exits.iter().all(opens_later)
    }

    /// Whether the state decides for one owner after another.
    pub(crate) fn decides_alone(&self) -> bool {
        self.is_alone || self.has_script || self.asks_scripts
    }

    /// Whether the state does nothing in a tick except try its exits. This is false with `every`, because then the state does not
    /// try its exits in each tick.
    #[inline]
    pub(crate) fn only_tries_exits(&self) -> bool {
        !self.has_update && !self.has_script && self.every.is_none()
    }

    /// Whether no exit can be open yet. The owner entered the state at `entered_at`; both times are in seconds.
    #[inline]
    pub(crate) fn is_closed(&self, entered_at: f64, now: impl FnOnce() -> f64) -> bool {
        self.closed_for > f64::NEG_INFINITY && !Span::of(self.closed_for, now()).has_passed(entered_at)
    }

    /// Returns the waiting times that are determined when an owner enters the state: first those of the exits that are tried in
    /// ticks, then those of the exits that wait for a message.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &KeptTime<T>> {
        let waiting = self.message_exits.iter().map(|waiting| &waiting.exit);
        self.exits.iter().chain(waiting).filter_map(|exit| exit.opens.kept())
    }

    /// Whether the owner may enter the state.
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
    /// Creates the constant part of a state that has neither a parent nor an initial child.
    pub(crate) fn new(index: usize, name: &str) -> Self {
        Self {
            index,
            name: name.into(),
            parent: None,
            initial: None,
            regions: Box::default(),
            region: 0,
            keeps_history: false,
            first: OnceLock::new(),
            again: Mutex::new(None),
        }
    }

    /// Whether the state is in use.
    pub(crate) fn is_held(&self) -> bool {
        // The upgraded reference is dropped after the lock is released: dropping the state may run code of the game.
        let again = self.again.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(WeakStateRef::upgrade);
        again.is_some() || self.first.get().and_then(WeakStateRef::upgrade).is_some()
    }

    /// Returns the state. While it is in use, each call returns the same one; after that, it is created again.
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
        // Another thread may have created the first state in the meantime.
        if let Some(state) = self.first.get().and_then(WeakStateRef::upgrade) {
            return state;
        }
        let now = shared.load();
        let first = if now.has(self) { now } else { Arc::new(now.nowhere()) };
        let only_decides = first.nodes.get(self.index).is_some_and(|node| node.only_decides);
        let tick = if only_decides { tick_delegating::<T, true> } else { tick_delegating::<T, false> };
        let state = DefinedState { fixed: Arc::clone(self), shared: Arc::clone(shared), first, tick };
        let state = StateRef::delegating(Arc::new(state));
        if let Some(weak) = state.downgrade() {
            if let Err(weak) = self.first.set(weak) {
                *again = Some(weak);
            }
        }
        state
    }
}

impl<T: Owner> Graph<T> {
    /// Returns a graph that is never current, for a state that is created after it was removed from the file.
    #[cold]
    fn nowhere(&self) -> Self {
        Self {
            version: usize::MAX,
            file: String::new(),
            initial: 0,
            global: None,
            nodes: Vec::new(),
            to_initial: Arc::clone(&self.to_initial),
            properties: Box::default(),
            told: ToldOnce::default(),
        }
    }

    /// Whether the graph has this state. It may instead have another state at the same index, because the index of a state that
    /// is no longer in use is given to a later state.
    pub(crate) fn has(&self, state: &Arc<Fixed<T>>) -> bool {
        self.nodes.get(state.index).is_some_and(|node| Arc::ptr_eq(&node.fixed, state))
    }

    pub(crate) fn state(&self, index: usize, shared: &Arc<SharedGraph<T>>) -> StateRef<T> {
        self.nodes[index].fixed.state(shared)
    }

    /// Returns the index of a state. `None` if it is not a state of this definition.
    pub(crate) fn index_of(&self, state: &StateRef<T>) -> Option<usize> {
        let state = state.downcast_ref::<DefinedState<T>>()?;
        let node = self.nodes.get(state.fixed.index)?;
        Arc::ptr_eq(&node.fixed, &state.fixed).then_some(state.fixed.index)
    }

    /// Whether a final state is active in each region of a composite.
    pub(crate) fn have_ended(&self, composite: &StateRef<T>, fsm: &Fsm<'_, T>) -> bool {
        let is_final =
            |state: &StateRef<T>| self.index_of(state).is_some_and(|index| self.nodes[index].content.is_final);
        let has_ended = |innermost: &StateRef<T>| {
            let mut inside = iter::successors(Some(innermost.clone()), |state| state.parent());
            inside.by_ref().take_while(|state| state != composite).any(|state| is_final(&state))
                || innermost.has_regions() && self.have_ended(innermost, fsm)
        };
        let active: Vec<_> = fsm.regions(composite.clone()).collect();
        active.len() == composite.regions().len() && active.into_iter().all(has_ended)
    }

    /// Whether two states lie in different regions of the same state (rule 32).
    pub(crate) fn are_beside(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.path_of(one), self.path_of(other));
        let shared = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
        let region = |path: &[usize]| path.get(shared).map(|index| self.nodes[*index].fixed.region);
        shared > 0 && region(&one).zip(region(&other)).is_some_and(|(one, other)| one != other)
    }

    /// Whether a change has been requested and is still to be made, other than in another region than that of the state.
    pub(crate) fn asks_for_change(&self, state: usize, fsm: &Fsm<'_, T>) -> bool {
        fsm.asks_for_change(&|to| self.index_of(to).is_some_and(|to| self.are_beside(to, state)))
    }

    /// Returns the path of a state: the outermost one first.
    pub(crate) fn path_of(&self, index: usize) -> SmallVec<[usize; 8]> {
        let mut path: SmallVec<_> = iter::successors(Some(index), |index| self.nodes[*index].fixed.parent).collect();
        path.reverse();
        path
    }
}
