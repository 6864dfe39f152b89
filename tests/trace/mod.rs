//! An actor that records every callback, places (states) that act as the actor's script says, and a stage that runs them.
//!
//! Each method of a [`Stage`] returns everything that happened during it, so that a test compares whole traces. A [`Trace`] is
//! compared with a text: `A.update; A.exit; A -> B (change); B.enter`, where `A -> B (change)` is the change that
//! `Owner::on_change` receives. A long text has a line for each change. A method that returns whether it succeeded ends its
//! trace with `done` or `not done`.
#![allow(dead_code, reason = "each test file takes the part it needs")]

pub(crate) mod log;
pub(crate) mod places;
pub(crate) mod table;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) use log::Trace;

use demeanor::{Change, Fsm, GameTime, IntoState, Owner, State, StateMachine, StateRef};

/// An act of a callback, apart from recording.
pub(crate) type Act = fn(&mut Actor, &mut Fsm<'_, Actor>, &mut GameTime);

/// The act of a line in an actor's script.
type ScriptedAct = dyn Fn(&mut Actor, &mut Fsm<'_, Actor>, &mut GameTime) + Send + Sync;

/// A line of an actor's script: the act of a callback, and how many more times it happens.
#[derive(Clone)]
struct ScriptLine {
    callback: &'static str,
    left: u32,
    act: Arc<ScriptedAct>,
}

/// Computes the answer of a guard.
pub(crate) type Question = fn(&Actor, &Fsm<'_, Actor>, &GameTime) -> bool;

/// The owner: its trace, and the script for its states.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that is recorded or not")]
pub(crate) struct Actor {
    trace: RefCell<Vec<String>>,
    /// If there are several actors: the number of this one, and the trace of all.
    pub(crate) in_squad: Option<(usize, Arc<Mutex<Vec<String>>>)>,
    script: Vec<ScriptLine>,
    questions: Vec<(&'static str, Question)>,
    handles: Vec<&'static str>,
    refuses: Vec<&'static str>,
    panics: Option<&'static str>,
    records_guards: bool,
    records_view: bool,
    records_target: bool,
    records_completion: bool,
    records_end: bool,
    /// A counter for tests, which can also identify actors.
    pub(crate) count: u32,
}

impl Actor {
    pub(crate) fn note(&self, line: impl Into<String>) {
        match &self.in_squad {
            Some((number, trace)) => trace.lock().expect("no note panics").push(format!("{} {number}", line.into())),
            None => self.trace.borrow_mut().push(line.into()),
        }
    }

    pub(crate) fn take_trace(&mut self) -> Trace {
        Trace(self.trace.take())
    }

    /// Returns the length of the trace.
    pub(crate) fn count_trace(&self) -> usize {
        self.trace.borrow().len()
    }

    /// Stops all further panics. Returns the callback that was to panic.
    pub(crate) fn stop_panicking(&mut self) -> Option<&'static str> {
        self.panics.take()
    }

    pub(crate) fn call(&mut self, state: &str, callback: &str, fsm: &mut Fsm<'_, Self>, time: &mut GameTime) {
        let key = format!("{state}.{callback}");
        self.note(self.line(&key, fsm));
        for nth in 0..self.script.len() {
            let line = &mut self.script[nth];
            if line.callback == key && line.left > 0 {
                line.left -= 1;
                let act = Arc::clone(&line.act);
                act(self, fsm, time);
            }
        }
        self.panic_if_told(&key);
    }

    fn guard(&self, state: &str, guard: &str, fsm: &Fsm<'_, Self>, time: &GameTime) -> bool {
        let key = format!("{state}.{guard}");
        if self.records_guards {
            self.note(self.line(&format!("{key}?"), fsm));
        }
        self.panic_if_told(&key);
        let mut questions = self.questions.iter().filter(|(when, _)| *when == key);
        questions.all(|(_, question)| question(self, fsm, time)) && !self.refuses.contains(&&*key)
    }

    /// Returns the record of a callback or a guard, with the observed data of the machine.
    fn line(&self, key: &str, fsm: &Fsm<'_, Self>) -> String {
        let mut words = vec![key.to_owned()];
        if self.records_view {
            words.push(format!("({})", view(fsm.current(), fsm.previous(), fsm.path())));
        }
        if self.records_target {
            words.extend(fsm.target().map(|target| format!("[to {target}]")));
        }
        words.join(" ")
    }

    /// Panics without calling the panic hook, because the tests expect it.
    fn panic_if_told(&self, key: &str) {
        if self.panics == Some(key) {
            resume_unwind(Box::new(key.to_owned()));
        }
    }
}

impl Owner for Actor {
    type Context<'a> = GameTime;
    type Message = &'static str;

    fn now(time: &GameTime) -> f64 {
        time.total().as_secs_f64()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elsa")
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut GameTime) {
        self.note(change.to_string());
        self.panic_if_told("on_change");
    }

    fn after_change(&mut self, change: &Change<'_, Self>, _: &mut GameTime) {
        if self.records_completion {
            self.note(format!("complete: {change}"));
        }
        self.panic_if_told("after_change");
    }

    fn after_update(&mut self, fsm: &Fsm<'_, Self>, _: &mut GameTime) {
        if self.records_end {
            assert!(!fsm.has_requests() && fsm.target().is_none(), "all requests of the tick are carried out");
            self.note(format!("end in {}", view(fsm.current(), fsm.previous(), fsm.path())));
        }
        self.panic_if_told("after_update");
    }
}

/// Returns when a timer of `seconds` that is set at `now` is due: the tolerance of rule 18 is subtracted.
pub(crate) fn due(seconds: f64, now: f64) -> f64 {
    now + (seconds - (1e-6 + 1e-6 * seconds))
}

/// Formats a view as `A, was B` or, with ancestors, `P/A, was P/B`.
pub(crate) fn view<'a>(
    current: Option<&StateRef<Actor>>,
    previous: Option<&StateRef<Actor>>,
    path: impl Iterator<Item = &'a StateRef<Actor>>,
) -> String {
    let path: Vec<_> = path.map(ToString::to_string).collect();
    assert_eq!(path.last().cloned(), current.map(ToString::to_string), "the path ends at current");
    let current = if path.is_empty() { "nowhere".to_owned() } else { path.join("/") };
    match previous {
        Some(previous) => format!("{current}, was {previous}"),
        None => current,
    }
}

/// A state that records its callbacks. Each `static` is one state.
#[derive(Clone)]
pub(crate) struct Place {
    name: &'static str,
    parent: Option<&'static Place>,
    initial: Option<&'static Place>,
    regions: &'static [&'static Place],
    region: usize,
    keeps_history: bool,
    is_passive: bool,
}

impl Place {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, parent: None, initial: None, regions: &[], region: 0, keeps_history: false, is_passive: false }
    }

    pub(crate) const fn inside(mut self, parent: &'static Self) -> Self {
        self.parent = Some(parent);
        self
    }

    pub(crate) const fn opening_on(mut self, initial: &'static Self) -> Self {
        self.initial = Some(initial);
        self
    }

    /// Gives it regions with these initial states.
    pub(crate) const fn with_regions(mut self, regions: &'static [&'static Self]) -> Self {
        self.regions = regions;
        self
    }

    /// Puts it into a region of its parent.
    pub(crate) const fn in_region(mut self, region: usize) -> Self {
        self.region = region;
        self
    }

    pub(crate) const fn keeping_history(mut self) -> Self {
        self.keeps_history = true;
        self
    }

    pub(crate) const fn passive(mut self) -> Self {
        self.is_passive = true;
        self
    }
}

impl State<Actor> for Place {
    fn enter(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call(self.name, "enter", fsm, time);
    }

    fn update(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call(self.name, "update", fsm, time);
    }

    fn exit(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call(self.name, "exit", fsm, time);
    }

    fn on_message(
        &self,
        actor: &mut Actor,
        word: &&'static str,
        fsm: &mut Fsm<'_, Actor>,
        time: &mut GameTime,
    ) -> bool {
        actor.call(self.name, word, fsm, time);
        actor.handles.contains(&self.name)
    }

    fn suspend(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call(self.name, "suspend", fsm, time);
    }

    fn resume(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call(self.name, "resume", fsm, time);
    }

    fn can_enter(&self, actor: &Actor, fsm: &Fsm<'_, Actor>, time: &GameTime) -> bool {
        actor.guard(self.name, "can_enter", fsm, time)
    }

    fn can_exit(&self, actor: &Actor, fsm: &Fsm<'_, Actor>, time: &GameTime) -> bool {
        actor.guard(self.name, "can_exit", fsm, time)
    }

    fn parent(&self) -> Option<StateRef<Actor>> {
        self.parent.map(Into::into)
    }

    fn initial(&self) -> Option<StateRef<Actor>> {
        self.initial.map(Into::into)
    }

    fn regions(&self) -> Vec<StateRef<Actor>> {
        self.regions.iter().map(|state| (*state).into()).collect()
    }

    fn region(&self) -> usize {
        self.region
    }

    fn keeps_history(&self) -> bool {
        self.keeps_history
    }

    fn is_passive(&self) -> bool {
        self.is_passive
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }
}

/// An actor, its machine, and the time.
pub(crate) struct Stage {
    pub(crate) actor: Actor,
    pub(crate) machine: StateMachine<Actor>,
    pub(crate) time: GameTime,
}

impl Stage {
    pub(crate) fn new(initial: impl IntoState<Actor>) -> Self {
        Self::with_machine(StateMachine::new(initial))
    }

    pub(crate) fn idle() -> Self {
        Self::with_machine(StateMachine::idle())
    }

    pub(crate) fn with_machine(machine: StateMachine<Actor>) -> Self {
        Self { actor: Actor::default(), machine, time: GameTime::new() }
    }

    pub(crate) fn global(mut self, global: impl IntoState<Actor>) -> Self {
        self.machine.set_global(global);
        self
    }

    /// Sets an act for each call of a callback, such as `A.update`, or `A.hit` for the message `hit`.
    pub(crate) fn when(
        self,
        callback: &'static str,
        act: impl Fn(&mut Actor, &mut Fsm<'_, Actor>, &mut GameTime) + Send + Sync + 'static,
    ) -> Self {
        self.at_most(u32::MAX, callback, act)
    }

    /// Sets an act for the first `times` calls of a callback.
    pub(crate) fn at_most(
        mut self,
        times: u32,
        callback: &'static str,
        act: impl Fn(&mut Actor, &mut Fsm<'_, Actor>, &mut GameTime) + Send + Sync + 'static,
    ) -> Self {
        self.actor.script.push(ScriptLine { callback, left: times, act: Arc::new(act) });
        self
    }

    /// Makes a state handle every message.
    pub(crate) fn handling(mut self, state: &'static str) -> Self {
        self.actor.handles.push(state);
        self
    }

    /// Makes a guard, such as `A.can_exit`, refuse.
    pub(crate) fn refusing(mut self, guard: &'static str) -> Self {
        self.actor.refuses.push(guard);
        self
    }

    /// Sets the question that a guard, such as `A.can_exit`, answers. It also refuses if [`refusing`](Self::refusing) says so.
    pub(crate) fn asking(mut self, guard: &'static str, question: Question) -> Self {
        self.actor.questions.push((guard, question));
        self
    }

    /// Also records the guards, as `A.can_exit?`.
    pub(crate) fn recording_guards(mut self) -> Self {
        self.actor.records_guards = true;
        self
    }

    /// Records the machine's path and previous state with each callback: `B.enter (P/B, was A)`.
    pub(crate) fn recording_view(mut self) -> Self {
        self.actor.records_view = true;
        self
    }

    /// Records the target of the change under way with each callback and guard: `A.exit [to B]`.
    pub(crate) fn recording_target(mut self) -> Self {
        self.actor.records_target = true;
        self
    }

    /// Records the changes that `Owner::after_change` receives: `complete: A -> B (change)`.
    pub(crate) fn recording_completion(mut self) -> Self {
        self.actor.records_completion = true;
        self
    }

    /// Records the calls of `Owner::after_update`, with what it sees of the machine: `end in P/B, was A`.
    pub(crate) fn recording_end(mut self) -> Self {
        self.actor.records_end = true;
        self
    }

    /// Makes a callback, a guard, `on_change`, `after_change` or `after_update` panic at each call.
    pub(crate) fn panicking_in(mut self, callback: &'static str) -> Self {
        self.actor.panics = Some(callback);
        self
    }

    pub(crate) fn start(&mut self) -> Trace {
        self.machine.start(&mut self.actor, &mut self.time);
        self.take_trace()
    }

    pub(crate) fn stop(&mut self) -> Trace {
        self.machine.stop(&mut self.actor, &mut self.time);
        self.take_trace()
    }

    pub(crate) fn update(&mut self) -> Trace {
        self.machine.update(&mut self.actor, &mut self.time);
        self.take_trace()
    }

    pub(crate) fn send(&mut self, word: &'static str) -> Trace {
        let handled = self.machine.send(&mut self.actor, &word, &mut self.time);
        self.actor.note(if handled { "handled" } else { "not handled" });
        self.take_trace()
    }

    pub(crate) fn change_state(&mut self, to: impl IntoState<Actor>) -> Trace {
        let done = self.machine.change_state(&mut self.actor, to, &mut self.time);
        self.end(done)
    }

    pub(crate) fn revert_state(&mut self) -> Trace {
        let done = self.machine.revert_state(&mut self.actor, &mut self.time);
        self.end(done)
    }

    pub(crate) fn push_state(&mut self, over: impl IntoState<Actor>) -> Trace {
        let done = self.machine.push_state(&mut self.actor, over, &mut self.time);
        self.end(done)
    }

    pub(crate) fn pop_state(&mut self) -> Trace {
        let done = self.machine.pop_state(&mut self.actor, &mut self.time);
        self.end(done)
    }

    pub(crate) fn resume_state(&mut self, composite: impl IntoState<Actor>) -> Trace {
        let done = self.machine.resume_state(&mut self.actor, composite, &mut self.time);
        self.end(done)
    }

    /// Runs `act` like a callback.
    pub(crate) fn with(&mut self, act: Act) -> Trace {
        self.machine.with(&mut self.actor, &mut self.time, act);
        self.take_trace()
    }

    /// Runs code that is expected to panic in the callback given to [`panicking_in`](Self::panicking_in), which panics only
    /// this once. The trace ends at the panic.
    pub(crate) fn catch<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> Trace {
        let payload = catch_unwind(AssertUnwindSafe(|| act(self))).err().expect("it should panic");
        let told = self.actor.panics.take().expect("only a callback that was told to panics");
        assert_eq!(payload.downcast_ref::<String>().map(String::as_str), Some(told), "the panic reaches the caller");
        self.take_trace()
    }

    /// Returns the machine's path and previous state: `P/B, was A`, or `nowhere`.
    pub(crate) fn view(&self) -> String {
        view(self.machine.current(), self.machine.previous(), self.machine.path())
    }

    pub(crate) fn advance(&mut self, seconds: u64) {
        self.time.advance(Duration::from_secs(seconds));
    }

    fn end(&mut self, done: bool) -> Trace {
        self.actor.note(if done { "done" } else { "not done" });
        self.take_trace()
    }

    fn take_trace(&mut self) -> Trace {
        self.actor.take_trace()
    }
}
