//! The callbacks of a state from a file. A callback first runs the state's behavior, then its script, and then tries its exits.

use std::borrow::Cow;
use std::fmt;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{Level, log, warn};

use super::action::Hooks;
use super::block::{Block, each};
use super::decide::{Decider, Plans, Taken};
use super::graph::{DefinedState, Exit, Graph, Here, Node};
use super::handle::{ReadSeat, entered_at};
use super::moment::tried_at;
use super::record::Unrecorded;
use super::values::LANES;
use crate::change::Guard;
use crate::format::hook::Hook;
#[cfg(feature = "script")]
use crate::format::script::budget::Usage;
use crate::fsm::{Fsm, time_or_zero};
use crate::machine::seat::Seat;
use crate::machine::state_machine::Tick;
#[cfg(feature = "script")]
use crate::machine::waiting::Scope as NotedBy;
use crate::owner::{Label, Owner, now};
use crate::save::SavedNote;
use crate::slice::FsmSlice;
use crate::state::{Callback, Delegate, State, StateRef};

/// What a function of the state's script has used in a callback.
#[derive(Clone, Copy, Default)]
struct Used {
    is_cut_off: bool,
    #[cfg(feature = "script")]
    operations: u64,
}

impl<T: Owner> DefinedState<T> {
    /// Runs a function of the state's script, and actions, if the state has any. Returns what the function has used.
    #[inline]
    fn run(&self, at: Here<'_, T>, hook: Hook, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> Used {
        match &at.node.content.hooks {
            // In an update, only scripts run. Without the feature `script`, there are none.
            Some(hooks) if hook != Hook::Update || cfg!(feature = "script") => {
                self.run_hooks(hooks, at, hook, owner, fsm, cx)
            }
            _ => Used::default(),
        }
    }

    /// Runs a function of the state's script, and then the actions of the callback.
    #[inline(never)]
    fn run_hooks(
        &self,
        hooks: &Hooks<T>,
        at: Here<'_, T>,
        hook: Hook,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) -> Used {
        let used = Used::default();
        #[cfg(feature = "script")]
        let used = hooks.script.as_ref().map_or(used, |script| {
            let cut_offs = self.cut_offs(fsm);
            let ran = script.run(hook, owner, |cx| now::<T>(cx) - entered_at(self, fsm), cx, cut_offs);
            if let Some(to) = ran.to.filter(|_| self.may_ask(at, hook, fsm)) {
                fsm.change_state(at.graph.state(to, &self.shared));
            }
            Used { is_cut_off: ran.is_cut_off, operations: ran.operations }
        });
        #[cfg(not(feature = "script"))]
        let _ = at;
        if let Some(actions) = hooks.actions(hook) {
            actions.run_in(self, owner, fsm, cx);
        }
        used
    }

    /// Whether a script may request a change. If the behavior has requested or made a change, this change takes precedence, as
    /// it does over exits.
    #[cfg(feature = "script")]
    fn may_ask(&self, at: Here<'_, T>, hook: Hook, fsm: &Fsm<'_, T>) -> bool {
        // The script of a state that a reload has removed still runs, for example when an owner leaves the state. But the
        // script's state indices are those of an older graph, so its requests are ignored.
        at.node.gone.is_none()
            && !at.graph.asks_for_change(self.fixed.index, fsm)
            && !(hook == Hook::Update && self.is_left(fsm))
    }

    /// Returns how often the scripts of the state have been cut off for the owner.
    #[cfg(feature = "script")]
    fn cut_offs(&self, fsm: &Fsm<'_, T>) -> u32 {
        let by = fsm.view().depth_of_defined(self).map_or(NotedBy::Machine, NotedBy::state);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a `u32` when it was noted")]
        fsm.noted(by, SavedNote::CutOffs.key()).map_or(0, |cut_offs| cut_offs as u32)
    }

    /// Decides which of the exits is taken, and requests its change. Returns whether an exit is taken. If the owner stays, notes
    /// how often its scripts have been cut off: the function that ran before (`used`), and the scripts in conditions.
    #[inline]
    fn decide<'e>(
        &self,
        decider: &Decider<'_, T>,
        exits: impl IntoIterator<Item = &'e Exit<T>>,
        used: Used,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) -> bool {
        #[cfg(feature = "script")]
        if used.is_cut_off || decider.graph.nodes[self.fixed.index].content.asks_scripts {
            let before = self.cut_offs(fsm);
            let cut_offs = before + u32::from(used.is_cut_off);
            let usage = Usage { cut_offs: cut_offs.into(), operations: used.operations.into() };
            let decider = Decider { usage: Some(&usage), ..*decider };
            let taken = decider.decide(exits, owner, fsm, cx, &mut Unrecorded);
            let cut_offs = usage.cut_offs.get();
            if taken.is_none() && cut_offs != before && !decider.graph.asks_for_change(self.fixed.index, fsm) {
                fsm.note(SavedNote::CutOffs.key(), cut_offs.into());
            }
            return taken.map(|taken| taken.request(&decider, owner, fsm, cx)).is_some();
        }
        let _ = (self, used);
        let taken = decider.decide(exits, owner, fsm, cx, &mut Unrecorded);
        taken.map(|taken| taken.request(decider, owner, fsm, cx)).is_some()
    }

    /// Called when an owner has entered a final state of the machine that the state at index `of` runs. If the machine has ended
    /// (in each of the regions around the final state), tries the exits of this state for the end of its machine
    /// (`on = "done"`).
    fn end(graph: &Graph<T>, of: usize, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let runs = fsm.path().find(|active| graph.index_of(active) == Some(of)).cloned();
        let Some(runs) = runs.as_ref().and_then(|runs| runs.downcast_ref::<Self>()) else { return };
        let inside = fsm.path().skip_while(|active| !runs.is(active));
        if inside.filter(|active| active.has_regions()).any(|composite| !graph.have_ended(composite, fsm)) {
            return;
        }
        let content = &graph.nodes[of].content;
        let waiting = content.message_exits.iter().filter(|waiting| waiting.is_done);
        let decider = Decider { choice: content.choice.as_ref(), ..Decider::new(runs, graph) };
        let taken = decider.decide(waiting.map(|waiting| &waiting.exit), owner, fsm, cx, &mut Unrecorded);
        if let Some(taken) = taken {
            taken.request(&decider, owner, fsm, cx);
        }
    }

    /// Tries the exits of a tick.
    // It is not inlined. Then the caller, which usually calls only `is_closed`, needs fewer registers.
    #[inline(never)]
    fn try_exits(&self, at: Here<'_, T>, used: Used, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let content = &at.node.content;
        let decider = Decider { choice: content.choice.as_ref(), ..Decider::new(self, at.graph) };
        let is_taken = self.decide(&decider, &content.exits, used, owner, fsm, cx);
        if !is_taken && content.has_rates && !at.graph.asks_for_change(self.fixed.index, fsm) {
            fsm.note(SavedNote::Tried.key(), tried_at(self, fsm, now::<T>(cx)));
        }
    }

    /// Whether no exit can be open yet. This is the usual case, and checking it costs several times less than a decision.
    #[inline]
    fn is_closed(&self, at: Here<'_, T>, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        let content = &at.node.content;
        content.closed_for > f64::NEG_INFINITY && content.is_closed(entered_at(self, fsm), || now::<T>(cx))
    }

    /// Updates an owner: runs the behavior and the script, and tries the exits. With `every`, it does so only if the state's next
    /// turn has come.
    fn update_one(&self, at: Here<'_, T>, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let content = &at.node.content;
        if content.every.is_some() {
            return self.update_at_turn(at, owner, fsm, cx);
        }
        self.act(at, owner, fsm, cx);
        if at.node.can_rest {
            self.wait(at, None, owner, fsm, cx);
        }
    }

    #[inline(never)]
    fn update_at_turn(&self, at: Here<'_, T>, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let turn = self.turn(fsm);
        let has_turn = turn.is_some_and(|turn| turn.has_come(now::<T>(cx)));
        if has_turn {
            self.act(at, owner, fsm, cx);
        }
        self.wait(at, turn.filter(|_| !has_turn), owner, fsm, cx);
    }

    /// Runs the behavior and the script, and tries the exits.
    #[inline]
    fn act(&self, at: Here<'_, T>, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let content = &at.node.content;
        if let Some(behaviour) = content.behaviour.as_ref().filter(|_| content.has_update) {
            behaviour.update(owner, fsm, cx);
        }
        let used = self.run(at, Hook::Update, owner, fsm, cx);
        if used.is_cut_off || !self.is_closed(at, fsm, cx) {
            self.try_exits(at, used, owner, fsm, cx);
        } else if content.only_tries_exits() {
            self.be_quiet(at, content.closed_for, fsm);
        }
    }

    /// Updates the owners of a slice for which a state with `every` has its turn now. Usually these are few. If the state does
    /// more than try its exits, each turn is complete before the next one begins, so that a panic ends only one (rule 22).
    fn update_turns(&self, at: Here<'_, T>, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        let content = &at.node.content;
        let only_decides = !content.has_update && !content.decides_alone();
        let (decider, mut planned) = (Decider::new(self, at.graph), Plans::new());
        for (nth, owners) in owners.chunks_mut(LANES).enumerate() {
            let mut block = Block::new(self, fsm, nth * LANES, owners.len());
            let (due, unnoted) = self.turns(&mut block, now::<T>(cx));
            if only_decides && due != 0 {
                decider.decide_block(&content.exits, owners, (due, &mut block), &mut planned, cx);
            }
            if only_decides {
                self.wait_each(at, due | unnoted, owners, &mut block, cx);
                continue;
            }
            for lane in each(due | unnoted) {
                if due & 1 << lane != 0 {
                    self.act(at, &mut owners[lane], block.at(lane), cx);
                }
                self.wait(at, None, &mut owners[lane], block.at(lane), cx);
            }
        }
    }

    /// Requests the changes of an owner whose state is no longer in the file: from each innermost active state in it to the state
    /// with the same name, as far as these states can be active together. While a guard refuses the first change, the owner stays
    /// in the state.
    #[cold]
    fn leave(&self, at: Here<'_, T>, exit: &Exit<T>, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let graph = at.graph;
        if !fsm.is_in_state(self) || fsm.has_requests() {
            return;
        }
        let name = |index: usize| graph.nodes[index].fixed.name.as_str();
        let active: Vec<_> = fsm.active_states().filter_map(|active| graph.index_of(active)).collect();
        let has_inner = |of: usize| active.iter().any(|active| graph.nodes[*active].fixed.parent == Some(of));
        let lead = |inner: usize| {
            let path = graph.path_of(inner);
            let here = path.iter().position(|index| *index == self.fixed.index)?;
            let gone = |index: &usize| Some((name(*index), graph.nodes[*index].gone.as_deref()?));
            let named = path[here..].iter().rev().filter_map(gone).find(|(from, exit)| *from == name(exit.to));
            Some((name(inner), named.map_or(exit, |(_, exit)| exit)))
        };
        let innermost = active.iter().filter(|inner| !has_inner(**inner)).filter_map(|inner| lead(*inner));
        let (mut leads, others): (Vec<_>, Vec<_>) = innermost.partition(|(from, exit)| *from == name(exit.to));
        leads.extend(others);
        let (from, first) = leads.first().copied().unwrap_or((self.fixed.name.as_str(), exit));
        let taken = Decider::new(self, graph).decide([first], owner, fsm, cx, &mut Unrecorded);
        let (owner, file) = (Label(owner), &graph.file);
        let is_first = |told: &AtomicBool| !told.swap(true, Ordering::Relaxed);
        let Some(Taken { to: state, .. }) = taken else {
            // Otherwise each owner would log this in each tick.
            if is_first(&graph.told.is_refused) {
                let to = name(first.to);
                warn!(
                    "{owner}: state {from} is no longer in {file}, and the change to {to} is refused: the owner stays in it. \
                     The same may happen to other owners"
                );
            }
            return;
        };
        fsm.change_state(state);
        let (mut again, mut gone, mut taken) = (Vec::new(), Vec::new(), vec![first]);
        for (nth, (from, exit)) in iter::once((from, first)).chain(leads.into_iter().skip(1)).enumerate() {
            let is_beside = nth == 0 || taken.iter().all(|other| graph.are_beside(other.to, exit.to));
            let to = name(if is_beside { exit.to } else { first.to });
            if from == to {
                again.push(from);
            } else {
                let beside = if from == name(exit.to) { format!(" beside {to}") } else { String::new() };
                gone.push((from, beside, to));
            }
            if is_beside && nth > 0 && !taken.iter().any(|other| other.route.contains(&exit.to)) {
                fsm.change_state(graph.state(exit.to, &self.shared));
                taken.push(exit);
            }
        }
        let level = |told: &AtomicBool, level| if is_first(told) { level } else { Level::Debug };
        if !gone.is_empty() {
            let level = level(&graph.told.goes, Level::Warn);
            for (from, beside, to) in gone {
                log!(
                    level,
                    "{owner}: state {from}{beside} is no longer in {file}: changes to {to}. The same may happen to other owners"
                );
            }
        }
        if !again.is_empty() {
            let level = level(&graph.told.enters_again, Level::Info);
            for from in again {
                log!(level, "{owner}: state {from} is nested differently in {file} now: it is entered again");
            }
        }
    }
}

impl<T: Owner> DefinedState<T> {
    /// Returns the state at this index, if this state is still in the file: its parent or its initial child.
    #[inline(never)]
    fn related(&self, index: usize) -> Option<StateRef<T>> {
        self.with(|at| at.graph.has(&self.fixed).then(|| at.graph.state(index, &self.shared)))
    }

    #[inline(never)]
    fn initial_in_regions(&self) -> Vec<StateRef<T>> {
        self.fixed.regions.iter().filter_map(|initial| self.related(*initial)).collect()
    }
}

impl<T: Owner> Delegate<T> for DefinedState<T> {
    fn delegate(&self, callback: Callback) -> Option<StateRef<T>> {
        self.with(|Here { node, .. }| {
            let content = &node.content;
            let does_more = match callback {
                Callback::Guard(Guard::CanExit) => false,
                Callback::Guard(Guard::CanEnter) => content.enter_when.is_some(),
                Callback::Exit => content.hooks.is_some(),
                Callback::Enter => {
                    let waits = content.keeps || node.waits();
                    content.hooks.is_some() || content.has_always || content.ends.is_some() || waits
                }
            };
            (!does_more).then(|| content.behaviour.clone().unwrap_or(StateRef::NONE))
        })
    }

    fn decide(&self, seat: &Seat<T>, depth: usize, owner: &mut T, cx: &mut T::Context<'_>) -> Option<StateRef<T>> {
        let Here { graph, node } = self.here_unless_reloaded().filter(|here| here.node.only_decides)?;
        let entered_at = time_or_zero(seat.entered_at(depth));
        if node.content.is_closed(entered_at, || now::<T>(cx)) {
            return None;
        }
        let is_innermost = depth == seat.ancestors().len();
        let decider = Decider { entered_at: Some(entered_at), is_innermost, ..Decider::new(self, graph) };
        let mut machine = ReadSeat(seat);
        let taken = decider.take_first(&node.content.exits, owner, &Fsm::new(&mut machine, 0), cx, &mut Unrecorded);
        Some(taken.map_or(StateRef::NONE, |taken| taken.to))
    }

    fn tick(&self) -> Tick<T> {
        self.tick
    }
}

impl<T: Owner> State<T> for DefinedState<T> {
    #[inline]
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|at| {
            let content = &at.node.content;
            if let Some(behaviour) = &content.behaviour {
                behaviour.enter(owner, fsm, cx);
            }
            let used = self.run(at, Hook::Enter, owner, fsm, cx);
            if at.node.gone.is_some() {
                // The exits of the state contain indices of an older graph, so they cannot be used.
                return;
            }
            if content.has_always {
                let choice = content.choice.as_ref();
                let decider = Decider { choice, ..Decider::new(self, at.graph) };
                let always = content.exits.iter().filter(|exit| exit.is_always);
                // The change is carried out after all states of the current change have been entered.
                self.decide(&decider, always, used, owner, fsm, cx);
            } else if used.is_cut_off {
                #[cfg(feature = "script")]
                fsm.note(SavedNote::CutOffs.key(), (self.cut_offs(fsm) + 1).into());
            }
            if let Some(of) = content.ends {
                Self::end(at.graph, of, owner, fsm, cx);
            }
            if content.keeps {
                for kept in content.kept() {
                    kept.note(owner, fsm, cx);
                }
            }
            if at.node.waits() {
                self.wait_once_entered(at, owner, fsm, cx);
            }
            if content.closed_for > f64::NEG_INFINITY && content.only_tries_exits() {
                self.be_quiet(at, content.closed_for, fsm);
            }
        });
    }

    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|at| match &at.node.gone {
            Some(exit) => self.leave(at, exit, owner, fsm, cx),
            None => self.update_one(at, owner, fsm, cx),
        });
    }

    #[inline]
    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|at| {
            if let Some(behaviour) = &at.node.content.behaviour {
                behaviour.exit(owner, fsm, cx);
            }
            self.run(at, Hook::Exit, owner, fsm, cx);
        });
    }

    /// Offers the message to the behavior. Then tries the exits that wait for this message. None of them is taken if the behavior
    /// has requested or made a change.
    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        self.with(|at| {
            let Node { content, gone, .. } = at.node;
            let behaviour = content.behaviour.as_ref();
            let is_handled = behaviour.is_some_and(|behaviour| behaviour.on_message(owner, message, fsm, cx));
            if gone.is_some() {
                return is_handled;
            }
            let waiting = content.message_exits.iter().filter(|waiting| (waiting.is)(message));
            let choice = content.choice.as_ref();
            let decider = Decider { message: Some(message), choice, ..Decider::new(self, at.graph) };
            let exits = waiting.map(|waiting| &waiting.exit);
            let is_taken = self.decide(&decider, exits, Used::default(), owner, fsm, cx);
            is_taken || is_handled || content.ignores.iter().any(|(_, is)| is(message))
        })
    }

    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|at| {
            if let Some(behaviour) = &at.node.content.behaviour {
                behaviour.suspend(owner, fsm, cx);
            }
            self.run(at, Hook::Exit, owner, fsm, cx);
        });
    }

    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|at| {
            if let Some(behaviour) = &at.node.content.behaviour {
                behaviour.resume(owner, fsm, cx);
            }
            self.run(at, Hook::Enter, owner, fsm, cx);
            if at.node.can_rest && self.is_innermost_target(fsm) {
                self.rest(at, fsm, cx);
            }
        });
    }

    #[inline]
    fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.with(|at| at.node.content.can_enter(owner, fsm, cx, &mut Unrecorded))
    }

    #[inline]
    fn can_exit(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        self.with(|at| at.node.content.can_exit(owner, fsm, cx))
    }

    fn parent(&self) -> Option<StateRef<T>> {
        self.fixed.parent.and_then(|parent| self.related(parent))
    }

    fn initial(&self) -> Option<StateRef<T>> {
        self.fixed.initial.and_then(|initial| self.related(initial))
    }

    fn regions(&self) -> Vec<StateRef<T>> {
        if self.fixed.regions.is_empty() { Vec::new() } else { self.initial_in_regions() }
    }

    fn region(&self) -> usize {
        self.fixed.region
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

    // `is_passive` stays false for all states: its answer must not change, and a reload may give this state something to do.

    /// Calls the behavior's `update_all`, and then evaluates each condition for up to 64 owners at a time. States with scripts,
    /// with chances per second, with a choice, with `at`, or with an exit that does more than change to a state (a cooldown,
    /// actions, a way back) evaluate their conditions for one owner after another.
    fn update_all(&self, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        self.with(|at| {
            let Node { content, gone, can_rest, .. } = at.node;
            if let Some(exit) = gone {
                for (i, owner) in owners.iter_mut().enumerate() {
                    self.leave(at, exit, owner, fsm.at(i), cx);
                }
                return;
            }
            if content.every.is_some() {
                self.update_turns(at, owners, fsm, cx);
            } else {
                if let Some(behaviour) = content.behaviour.as_ref().filter(|_| content.has_update) {
                    behaviour.update_all(owners, fsm, cx);
                }
                if content.decides_alone() {
                    for (i, owner) in owners.iter_mut().enumerate() {
                        let used = self.run(at, Hook::Update, owner, fsm.at(i), cx);
                        self.try_exits(at, used, owner, fsm.at(i), cx);
                        // An owner for which a number was stored has acted, so `rest_each` would leave it awake.
                        if *can_rest {
                            self.rest(at, fsm.at(i), cx);
                        }
                    }
                    return;
                }
                if !content.exits.is_empty() {
                    Decider::new(self, at.graph).decide_each(&content.exits, owners, fsm, cx);
                }
            }
            if *can_rest {
                self.rest_each(at, owners.len(), fsm, cx);
            }
        });
    }
}

impl<T: Owner> fmt::Debug for DefinedState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DefinedState").field(&self.fixed.name).finish()
    }
}
