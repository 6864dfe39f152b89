//! What a state from a file does: what its behaviour does, then what its script does; then it tries its exits.

use std::borrow::Cow;
use std::fmt;

use log::{info, warn};

use super::decide::Decider;
use super::graph::{Content, DefinedState, Graph, Node};
#[cfg(feature = "script")]
use super::handle::time_in;
use super::hook::Hook;
use super::moment::tried_at;
use super::record::Unrecorded;
use crate::fsm::Fsm;
use crate::owner::{Label, Owner};
use crate::slice::FsmSlice;
use crate::state::{State, StateRef};
use crate::waiting::{Note, Noted};

impl<T: Owner> DefinedState<T> {
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
            let asked = script.run(hook, &self.fixed.name, owner, |cx| time_in(self, fsm, cx), cx);
            if let Some(to) = asked {
                fsm.change_state(graph.state(to, &self.shared));
            }
        }
        #[cfg(not(feature = "script"))]
        let _ = (self, hook, graph, content, owner, fsm, cx);
    }

    /// Tries the exits that wait for the end of a machine, of the state that runs it, when the state has been entered in
    /// which it ends.
    fn end(graph: &Graph<T>, of: usize, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let runs = fsm.path().find(|active| graph.index_of(active) == Some(of)).cloned();
        let Some(runs) = runs.as_ref().and_then(|runs| runs.downcast_ref::<Self>()) else { return };
        let waiting = graph.nodes[of].content.message_exits.iter().filter(|waiting| waiting.is_done);
        let decider = Decider { is_entry: true, ..Decider::new(runs, graph) };
        if let Some(to) = decider.decide(waiting.map(|waiting| &waiting.exit), owner, fsm, cx, &mut Unrecorded) {
            fsm.change_state(to);
        }
    }

    /// Tries the exits of a tick.
    fn try_exits(
        &self,
        graph: &Graph<T>,
        content: &Content<T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let decider = Decider::new(self, graph);
        if let Some(to) = decider.decide(&content.exits, owner, fsm, cx, &mut Unrecorded) {
            fsm.change_state(to);
        } else if content.has_rates && !fsm.asks_for_change() {
            fsm.note(Note { of: Noted::Tried, number: tried_at(self, fsm, T::now(cx)) });
        }
    }

    /// Asks for the change that an owner makes whose state is no longer in the file.
    #[cold]
    fn leave(&self, graph: &Graph<T>, to: usize, owner: &T, fsm: &mut Fsm<'_, T>) {
        if !fsm.is_in_state(self) || fsm.has_requests() {
            return;
        }
        let state = graph.state(to, &self.shared);
        let owner = Label(owner);
        let name = &self.fixed.name;
        if *name == graph.nodes[to].fixed.name {
            info!("{owner}: state {name} is nested differently in {} now: it is entered again", graph.file);
        } else {
            warn!("{owner}: state {name} is no longer in {}: changes to {state}", graph.file);
        }
        fsm.change_state(state);
    }
}

impl<T: Owner> State<T> for DefinedState<T> {
    #[inline]
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            let content = &node.content;
            if let Some(behaviour) = &content.behaviour {
                behaviour.enter(owner, fsm, cx);
            }
            self.run(Hook::Enter, graph, content, owner, fsm, cx);
            if content.has_always {
                let decider = Decider { is_entry: true, ..Decider::new(self, graph) };
                let always = content.exits.iter().filter(|exit| exit.is_always);
                if let Some(to) = decider.decide(always, owner, fsm, cx, &mut Unrecorded) {
                    // It is carried out when all have been entered.
                    fsm.change_state(to);
                }
            }
            if let Some(of) = content.ends {
                Self::end(graph, of, owner, fsm, cx);
            }
            if content.keeps {
                for kept in content.kept() {
                    fsm.note(kept.note(owner, cx));
                }
            }
            if node.waits() {
                self.wait_once_entered(graph, node, owner, fsm, cx);
            }
        });
    }

    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            let content = &node.content;
            if let Some(to) = node.gone_to {
                return self.leave(graph, to, owner, fsm);
            }
            if content.every.is_none() || fsm.takes_turn() {
                if let Some(behaviour) = content.behaviour.as_ref().filter(|_| content.has_update) {
                    behaviour.update(owner, fsm, cx);
                }
                self.run(Hook::Update, graph, content, owner, fsm, cx);
                self.try_exits(graph, content, owner, fsm, cx);
            }
            if node.waits() {
                self.wait(graph, node, owner, fsm, cx);
            }
        });
    }

    #[inline]
    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, Node { content, .. }| {
            if let Some(behaviour) = &content.behaviour {
                behaviour.exit(owner, fsm, cx);
            }
            self.run(Hook::Exit, graph, content, owner, fsm, cx);
        });
    }

    /// Offers the message to the behaviour; where that asks for no change, tries the exits that wait for such a message.
    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        self.with(|graph, Node { content, gone_to, .. }| {
            let behaviour = content.behaviour.as_ref();
            let is_handled = behaviour.is_some_and(|behaviour| behaviour.on_message(owner, message, fsm, cx));
            if gone_to.is_some() {
                return is_handled;
            }
            let waiting = content.message_exits.iter().filter(|waiting| (waiting.is)(message));
            let decider = Decider { message: Some(message), ..Decider::new(self, graph) };
            match decider.decide(waiting.map(|waiting| &waiting.exit), owner, fsm, cx, &mut Unrecorded) {
                Some(to) => {
                    fsm.change_state(to);
                    true
                }
                None => is_handled,
            }
        })
    }

    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, Node { content, .. }| {
            if let Some(behaviour) = &content.behaviour {
                behaviour.suspend(owner, fsm, cx);
            }
            self.run(Hook::Exit, graph, content, owner, fsm, cx);
        });
    }

    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            let content = &node.content;
            if let Some(behaviour) = &content.behaviour {
                behaviour.resume(owner, fsm, cx);
            }
            self.run(Hook::Enter, graph, content, owner, fsm, cx);
            if node.can_rest {
                self.rest_once_entered(graph, fsm, cx);
            }
        });
    }

    #[inline]
    fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.with(|_, node| node.content.can_enter(owner, fsm, cx, &mut Unrecorded))
    }

    #[inline]
    fn can_exit(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.with(|_, node| node.content.can_exit(owner, fsm, cx))
    }

    fn parent(&self) -> Option<StateRef<T>> {
        let parent = self.fixed.parent?;
        self.with(|graph, _| Some(graph.state(parent, &self.shared)))
    }

    fn initial(&self) -> Option<StateRef<T>> {
        let initial = self.fixed.initial?;
        self.with(|graph, _| Some(graph.state(initial, &self.shared)))
    }

    fn keeps_history(&self) -> bool {
        self.fixed.keeps_history
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.fixed.name)
    }

    fn revision(&self) -> usize {
        self.shared.version()
    }

    // `is_passive` stays false, whatever the file says now: it is constant for a state, and a reload may give this one
    // something to do.

    /// Updates the behaviour's owners in bulk, and puts each condition to 64 owners at a time.
    fn update_all(&self, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|graph, node| {
            let content = &node.content;
            if let Some(to) = node.gone_to {
                for (i, owner) in owners.iter().enumerate() {
                    self.leave(graph, to, owner, fsm.at(i));
                }
                return;
            }
            if content.every.is_some() {
                // Who has its turn is updated by itself, since a timer is due.
                return owners
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, owner)| self.wait(graph, node, owner, fsm.at(i), cx));
            }
            if let Some(behaviour) = content.behaviour.as_ref().filter(|_| content.has_update) {
                behaviour.update_all(owners, fsm, cx);
            }
            if content.has_script() {
                for (i, owner) in owners.iter_mut().enumerate() {
                    self.run(Hook::Update, graph, content, owner, fsm.at(i), cx);
                }
            }
            if content.has_rates {
                for (i, owner) in owners.iter_mut().enumerate() {
                    self.try_exits(graph, content, owner, fsm.at(i), cx);
                }
            } else if !content.exits.is_empty() {
                let decider = Decider::new(self, graph);
                decider.decide_each(&content.exits, owners, fsm, cx);
            }
            if node.can_rest {
                self.rest_each(&content.exits, owners.len(), graph, fsm, cx);
            }
        });
    }
}

impl<T: Owner> fmt::Debug for DefinedState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DefinedState").field(&self.fixed.name).finish()
    }
}
