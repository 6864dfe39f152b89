//! A state from a file: it does what its behaviour does, then tries its exits.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use log::{info, warn};

use super::condition::AskedRow;
use super::graph::{Content, Exit, Graph, Hook, MessageExit, Node, Place, Shared};
use super::values::{LANES, Lanes};
use crate::fsm::Fsm;
use crate::owner::{Label, Owner};
use crate::slice::{FsmSlice, Mover};
use crate::state::{Identity, State, StateRef};

/// A state of a [`Definition`](super::Definition).
///
/// In each tick it runs its behaviour's `update` and then tries its exits in order; the first whose condition and whose
/// target's entry condition hold is asked for. Where the behaviour has itself asked for a change, no exit is tried.
///
/// An exit of an ancestor or of the global state is not taken while its target is active already: it would be left and
/// entered again in every tick.
pub struct DefinedState<T: Owner> {
    place: Arc<Place<T>>,
    shared: Arc<Shared<T>>,
}

impl<T: Owner> DefinedState<T> {
    pub(super) fn new(place: Arc<Place<T>>, shared: Arc<Shared<T>>) -> Self {
        Self { place, shared }
    }

    /// Lends this state's node of the graph of the day.
    #[inline]
    fn with<R>(&self, act: impl FnOnce(&Graph<T>, &Node<T>) -> R) -> R {
        let graph = self.shared.graph.load();
        act(&graph, &graph.nodes[self.place.index])
    }

    /// Runs a function of the state's script, if it has one.
    #[inline]
    fn run(
        &self,
        hook: Hook,
        graph: &Graph<T>,
        content: &Content<T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        #[cfg(feature = "script")]
        if let Some(script) = &content.script {
            if let Some(to) = script.run(hook, &self.place.name, owner, fsm, cx) {
                fsm.change_state(graph.state(to, &self.shared));
            }
        }
        #[cfg(not(feature = "script"))]
        let _ = (self, hook, graph, content, owner, fsm, cx);
    }

    /// Does what the state's behaviour does, then what its script does.
    #[inline]
    fn call(
        &self,
        hook: Hook,
        graph: &Graph<T>,
        content: &Content<T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        if let Some(behaviour) = &content.behaviour {
            match hook {
                Hook::Enter => behaviour.enter(owner, fsm, cx),
                Hook::Update if !content.has_update => {}
                Hook::Update => behaviour.update(owner, fsm, cx),
                Hook::Exit => behaviour.exit(owner, fsm, cx),
            }
        }
        self.run(hook, graph, content, owner, fsm, cx);
    }

    fn try_exits(
        &self,
        graph: &Graph<T>,
        content: &Content<T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        for exit in &content.exits {
            let holds = match &exit.when {
                Some(when) => when.holds(owner, cx, || fsm.own_entered_at()),
                None => true,
            };
            if holds && self.is_open(graph, exit, owner, fsm, cx) {
                self.take(graph, exit, fsm);
                return;
            }
        }
    }

    /// Tries the exits of up to 64 owners, the first of them the `base`-th of the slice.
    fn try_exits_in_bulk(
        &self,
        graph: &Graph<T>,
        content: &Content<T>,
        owners: &mut [T],
        base: usize,
        fsm: &mut FsmSlice<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let mut row = AskedRow::new(fsm, base);
        let mut staying: Lanes = Lanes::MAX >> (LANES - owners.len());
        let mut leaving: Lanes = 0;
        let mut taken = [0_u16; LANES];
        for (i, exit) in content.exits.iter().enumerate() {
            if staying == 0 {
                break;
            }
            let mut holding = match &exit.when {
                Some(when) => when.holding(staying, owners, cx, &mut row),
                None => staying,
            };
            while holding != 0 {
                let lane = holding.trailing_zeros() as usize;
                holding &= holding - 1;
                if self.is_open(graph, exit, &owners[lane], row.at(lane), cx) {
                    staying &= !(1 << lane);
                    leaving |= 1 << lane;
                    taken[lane] = u16::try_from(i).unwrap_or(u16::MAX);
                }
            }
        }
        // Asked for in the order of the owners, whichever exit it was.
        while leaving != 0 {
            let lane = leaving.trailing_zeros() as usize;
            leaving &= leaving - 1;
            self.take(graph, &content.exits[usize::from(taken[lane])], row.at(lane));
        }
    }

    /// Whether an exit whose condition holds can be taken: what it enters lets the owner in.
    fn is_open(&self, graph: &Graph<T>, exit: &Exit<T>, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        if exit.to != self.place.index && !self.is(fsm.current()) && is_active(graph, exit.to, fsm) {
            return false;
        }
        // What stays active is not entered; the target itself always is.
        let mut entered = exit.enters.iter().filter(|&&index| index == exit.to || !is_active(graph, index, fsm));
        entered.all(|&index| {
            let content = &graph.nodes[index].content;
            content.enter_when.as_ref().is_none_or(|when| when.admits(owner, cx))
                && content.behaviour.as_ref().is_none_or(|behaviour| behaviour.can_enter(owner, cx))
        })
    }

    fn take(&self, graph: &Graph<T>, exit: &Exit<T>, fsm: &mut Fsm<'_, T>) {
        // Where the behaviour has asked for a change, or made one, the machine is no longer the exits' business.
        let is_left = !self.is(fsm.current()) && !self.is(fsm.global()) && !fsm.is_in_state(self);
        if !fsm.has_requests() && !is_left {
            fsm.change_state(graph.state(exit.to, &self.shared));
        }
    }

    fn is(&self, state: Option<&StateRef<T>>) -> bool {
        state.is_some_and(|state| Identity::of(&**state) == Identity::of(self))
    }

    /// Asks for the change that an owner makes whose state is no longer in the file.
    #[cold]
    fn leave(&self, graph: &Graph<T>, to: usize, owner: &T, fsm: &mut Fsm<'_, T>) {
        if !fsm.is_in_state(self) || fsm.has_requests() {
            return;
        }
        let state = graph.state(to, &self.shared);
        let owner = Label(owner);
        let name = &self.place.name;
        if *name == graph.nodes[to].place.name {
            info!("{owner}: state {name} is nested otherwise in {} now: it is entered anew", graph.file);
        } else {
            warn!("{owner}: state {name} is no longer in {}: changes to {state}", graph.file);
        }
        fsm.change_state(state);
    }
}

/// Whether the state at a place of the graph is active.
fn is_active<T: Owner>(graph: &Graph<T>, index: usize, fsm: &Fsm<'_, T>) -> bool {
    let place = &graph.nodes[index].place;
    fsm.path()
        .any(|active| active.downcast_ref::<DefinedState<T>>().is_some_and(|active| Arc::ptr_eq(&active.place, place)))
}

impl<T: Owner> State<T> for DefinedState<T> {
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| self.call(Hook::Enter, graph, &node.content, owner, fsm, cx));
    }

    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            if let Some(to) = node.gone_to {
                return self.leave(graph, to, owner, fsm);
            }
            let content = &*node.content;
            self.call(Hook::Update, graph, content, owner, fsm, cx);
            self.try_exits(graph, content, owner, fsm, cx);
        });
    }

    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| self.call(Hook::Exit, graph, &node.content, owner, fsm, cx));
    }

    /// Offers the message to the behaviour; where that asks for no change, tries the exits that wait for such a message.
    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        self.with(|graph, node| {
            let content = &*node.content;
            let behaviour = content.behaviour.as_ref();
            let is_handled = behaviour.is_some_and(|behaviour| behaviour.on_message(owner, message, fsm, cx));
            if node.gone_to.is_some() {
                return is_handled;
            }
            for MessageExit { is, exit } in &content.message_exits {
                let holds = is(message)
                    && match &exit.when {
                        Some(when) => when.holds(owner, cx, || fsm.own_entered_at()),
                        None => true,
                    };
                if holds && self.is_open(graph, exit, owner, fsm, cx) {
                    self.take(graph, exit, fsm);
                    return true;
                }
            }
            is_handled
        })
    }

    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            if let Some(behaviour) = &node.content.behaviour {
                behaviour.suspend(owner, fsm, cx);
            }
            self.run(Hook::Exit, graph, &node.content, owner, fsm, cx);
        });
    }

    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            if let Some(behaviour) = &node.content.behaviour {
                behaviour.resume(owner, fsm, cx);
            }
            self.run(Hook::Enter, graph, &node.content, owner, fsm, cx);
        });
    }

    fn can_enter(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        self.with(|_, node| {
            let content = &*node.content;
            content.enter_when.as_ref().is_none_or(|when| when.admits(owner, cx))
                && content.behaviour.as_ref().is_none_or(|behaviour| behaviour.can_enter(owner, cx))
        })
    }

    fn can_exit(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        self.with(|_, node| node.content.behaviour.as_ref().is_none_or(|behaviour| behaviour.can_exit(owner, cx)))
    }

    fn parent(&self) -> Option<StateRef<T>> {
        let parent = self.place.parent?;
        self.with(|graph, _| Some(graph.state(parent, &self.shared)))
    }

    fn initial(&self) -> Option<StateRef<T>> {
        let initial = self.place.initial?;
        self.with(|graph, _| Some(graph.state(initial, &self.shared)))
    }

    fn keeps_history(&self) -> bool {
        self.place.keeps_history
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.place.name)
    }

    /// Updates the behaviour's owners in bulk, and puts each condition to 64 owners at a time.
    fn update_all(&self, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            if let Some(to) = node.gone_to {
                for (i, owner) in owners.iter().enumerate() {
                    self.leave(graph, to, owner, fsm.at(i));
                }
                return;
            }
            let content = &*node.content;
            if let Some(behaviour) = content.behaviour.as_ref().filter(|_| content.has_update) {
                behaviour.update_all(owners, fsm, cx);
            }
            if content.has_script() {
                for (i, owner) in owners.iter_mut().enumerate() {
                    self.run(Hook::Update, graph, content, owner, fsm.at(i), cx);
                }
            }
            if content.exits.is_empty() {
                return;
            }
            for (block, owners) in owners.chunks_mut(LANES).enumerate() {
                self.try_exits_in_bulk(graph, content, owners, block * LANES, fsm, cx);
            }
        });
    }

    fn can_exit_each(&self, owners: &[T], movers: &[Mover], next: &mut usize, cx: &T::Context<'_>) {
        self.with(|_, node| match &node.content.behaviour {
            Some(behaviour) => behaviour.can_exit_each(owners, movers, next, cx),
            None => *next = movers.len(),
        });
    }

    fn can_enter_each(&self, owners: &[T], movers: &[Mover], next: &mut usize, cx: &T::Context<'_>) {
        self.with(|_, node| {
            let Content { enter_when, behaviour, .. } = &*node.content;
            let Some(when) = enter_when else {
                match behaviour {
                    Some(behaviour) => behaviour.can_enter_each(owners, movers, next, cx),
                    None => *next = movers.len(),
                }
                return;
            };
            while let Some(mover) = movers.get(*next) {
                let owner = &owners[mover.slot() as usize];
                let is_let_in =
                    when.admits(owner, cx) && behaviour.as_ref().is_none_or(|behaviour| behaviour.can_enter(owner, cx));
                if !is_let_in {
                    break;
                }
                *next += 1;
            }
        });
    }

    fn exit_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            let content = &*node.content;
            if content.has_script() {
                for slot in movers.iter().map(|mover| mover.slot() as usize) {
                    self.call(Hook::Exit, graph, content, &mut owners[slot], fsm.at(slot), cx);
                }
            } else if let Some(behaviour) = &content.behaviour {
                behaviour.exit_each(owners, movers, fsm, cx);
            }
        });
    }

    fn enter_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            let content = &*node.content;
            if content.has_script() {
                for slot in movers.iter().map(|mover| mover.slot() as usize) {
                    self.call(Hook::Enter, graph, content, &mut owners[slot], fsm.at(slot), cx);
                }
            } else if let Some(behaviour) = &content.behaviour {
                behaviour.enter_each(owners, movers, fsm, cx);
            }
        });
    }
}

impl<T: Owner> fmt::Debug for DefinedState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DefinedState").field(&self.place.name).finish()
    }
}
