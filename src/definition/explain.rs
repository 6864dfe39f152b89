//! Explains why an owner leaves its state or stays in it: makes the same decision as a tick, and records its steps.

use std::collections::HashSet;
use std::fmt;
use std::mem;

use super::Definition;
use super::choice::Choice;
use super::decide::Decider;
use super::graph::{Content, Exit, Graph, MessageExit};
use super::handle::{in_region_of, machine_in};
use super::record::{Answered, Record, Trial, WrittenTest, rounded};
use crate::format::leads::Leads;
use crate::fsm::Fsm;
use crate::machine::regions::Branch;
use crate::machine::seat::Path;
use crate::machine::transition::path::{branch, descent};
use crate::machine::transition::regions::Memory;
use crate::owner::{Owner, now};
use crate::state::StateRef;

/// One exit for an owner: whether it is taken, and why. [`Definition::explain`] returns one for each exit.
///
/// It is displayed as `to flee: no: health < 20 (health = 35) does not hold`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExitReport {
    /// The name of the state in which the exit is written: the owner's current state, one of its ancestors, or the global state.
    pub of: String,
    /// The name of the state to which the exit leads. For an exit that leads back, this is the innermost state that it would
    /// enter or resume now, or `back`, `pop` or `resume` if there is none.
    pub to: String,
    /// The message that the exit waits for, if it waits for one.
    pub on: Option<String>,
    /// Whether the exit is taken, and if not, why not.
    pub verdict: Verdict,
    /// Whether the exit is open and its condition holds. `None` if this was not checked.
    pub holds: Option<bool>,
    /// Whether every state that the change would leave or enter allows the change. `None` if no state was asked.
    pub admits: Option<bool>,
    /// The exit's score, if its state chooses by the scores and its condition holds.
    pub score: Option<f64>,
    /// The exit's weight, if its state chooses by the weights and its condition holds.
    pub weight: Option<f64>,
    /// The parts of the condition that were checked, with their answers.
    pub questions: Vec<Question>,
}

/// Whether an exit is taken, and if not, why not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The exit is taken. If it waits for a message, it is taken if this message is sent now.
    Taken,
    /// The exit's condition does not hold, or its waiting time (`after`) has not passed.
    ConditionFails,
    /// The owner is already in the state to which the exit leads.
    AlreadyThere,
    /// The exit leads back, and there is no state to go back to; or it leads to a state on top of the active ones, and too many
    /// states are suspended.
    Nowhere,
    /// A state that would be left is final, and the exit is written in another state.
    Final(
        /// The state's name.
        String,
    ),
    /// A state that would be left refuses to be left.
    CannotExit(
        /// The state's name.
        String,
    ),
    /// A state that would be entered refuses to be entered: by its `enter_when`, or by its behavior.
    CannotEnter(
        /// The state's name.
        String,
    ),
    /// The exit's condition holds, but its state chooses another exit: by the score, or by a random number.
    NotChosen,
    /// The exit is not tried, because an exit before it is taken.
    NotTried,
    /// The exit is not tried, because its state has an `every` and waits for its next turn.
    NotItsTurn,
}

/// A part of a condition, and the answer to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The text as it is written: `health < 20`.
    pub text: String,
    /// The values that were read: `health = 35`. Empty if `text` and `answer` already say it, as for a flag.
    pub read: String,
    /// Whether this part of the condition holds.
    pub answer: Answer,
}

/// The answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The part of the condition holds.
    Yes,
    /// The part of the condition does not hold.
    No,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

impl ExitReport {
    /// Returns the number by which the state chooses the exit, as text: `score 14`, or `weight 3`.
    #[must_use]
    pub fn rank(&self) -> Option<String> {
        let score = self.score.map(|score| format!("score {}", rounded(score)));
        score.or_else(|| self.weight.map(|weight| format!("weight {}", rounded(weight))))
    }
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to {}", self.to)?;
        if let Some(on) = &self.on {
            write!(f, " on {on}")?;
        }
        match &self.verdict {
            Verdict::Taken if self.on.is_some() => f.write_str(": waits for the message")?,
            verdict => write!(f, ": {verdict}")?,
        }
        for (i, question) in self.questions.iter().enumerate() {
            f.write_str(if i == 0 { ": " } else { ", " })?;
            fmt::Display::fmt(question, f)?;
        }
        if let Some(rank) = self.rank() {
            write!(f, "{} {rank}", if self.questions.is_empty() { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("yes"),
            Self::ConditionFails => f.write_str("no"),
            Self::AlreadyThere => f.write_str("already there"),
            Self::Nowhere => f.write_str("nowhere to go"),
            Self::Final(state) => write!(f, "{state} is final"),
            Self::CannotExit(state) => write!(f, "{state} cannot be left"),
            Self::CannotEnter(state) => write!(f, "{state} cannot be entered"),
            Self::NotChosen => f.write_str("not chosen"),
            Self::NotTried => f.write_str("not tried"),
            Self::NotItsTurn => f.write_str("not its turn"),
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if !self.read.is_empty() {
            write!(f, " ({})", self.read)?;
        }
        f.write_str(match self.answer {
            Answer::Yes => " holds",
            Answer::No => " does not hold",
        })
    }
}

impl<T: Owner> Definition<T> {
    /// Makes the decision that the next tick would make, without carrying it out, and reports each exit: what was checked,
    /// which values were read, and whether the exit is taken. It treats the owner as if it had been in `state` and its ancestors
    /// for `time_in_state` seconds.
    ///
    /// The exits that are tried in each tick come first, in the order in which they are tried: those of the global state, then
    /// those of the outermost ancestor, and so on down to those of `state`. Exits after the one that is taken are not tried. The
    /// exits that wait for a message come last, in the order in which the states are offered a message: those of `state`, then
    /// those of its ancestors, then those of the global state.
    ///
    /// If `state` or an ancestor has an `every`, the exits of this state are reported as in one of its turns.
    ///
    /// Behaviors and the scripts of states do not run, although they would run before the exits are tried. The reports are
    /// empty if the state is not in the definition, or no longer in its file.
    ///
    /// This method is for tools and for the log, and it allocates memory. It draws a random number for each `chance`, as a tick
    /// does.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Verdict, Vocabulary};
    /// struct Guard { health: f64 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new().value("health", |guard: &Guard, _| guard.health);
    /// let file = "
    ///     initial = 'stand'
    ///     states.stand.exits = [{ to = 'rest', when = 'health < 50' }, { to = 'flee', when = 'health < 20' }]
    ///     states.rest.enter_when = 'health > 30'
    ///     states.flee.final = true
    /// ";
    /// let definition = Definition::parse(file, &vocabulary)?;
    /// let reports = definition.explain(&definition.initial(), &mut Guard { health: 10.0 }, 0.0, &mut ());
    /// assert_eq!(reports[0].verdict, Verdict::CannotEnter("rest".into()));
    /// assert_eq!(
    ///     reports[0].to_string(),
    ///     "to rest: rest cannot be entered: health < 50 (health = 10) holds, health > 30 (health = 10) does not hold"
    /// );
    /// assert_eq!(reports[1].verdict, Verdict::Taken);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn explain(
        &self,
        state: &StateRef<T>,
        owner: &mut T,
        time_in_state: f64,
        cx: &mut T::Context<'_>,
    ) -> Vec<ExitReport> {
        let mut machine = machine_in(state, self.global(), time_in_state, cx);
        machine.with(owner, cx, |owner, fsm, cx| self.explain_with(owner, fsm, cx))
    }

    /// Like [`explain`](Self::explain), for the current state of the owner's machine, with the real time in each active state.
    /// The exits of a state with `every` are not tried while the state waits for its turn, except those that wait for a message.
    ///
    /// The exits of states in [regions](crate::State::regions) are reported region by region. Each region can take an exit of
    /// its own, unless an exit before it leaves the state in this region.
    ///
    /// Outside of a callback, get the handle from [`StateMachine::with`](crate::StateMachine::with). If the random number
    /// generator is in the owner, each `chance` changes the owner. To avoid this, pass a clone of the owner.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let file = "initial = 'stand'\nstates.stand.exits = [{ to = 'rest' }]\nstates.rest.final = true\n";
    /// let definition = Definition::parse(file, &Vocabulary::<Guard>::new())?;
    /// let mut machine = definition.machine();
    /// let reports = machine.with(&mut Guard, &mut (), |guard, fsm, cx| definition.explain_with(guard, fsm, cx));
    /// assert_eq!(reports[0].to_string(), "to rest: yes");
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn explain_with(&self, owner: &mut T, fsm: &Fsm<'_, T>, cx: &mut T::Context<'_>) -> Vec<ExitReport> {
        let graph = self.inner.shared.load();
        let is_current = fsm.current().and_then(|current| graph.index_of(current));
        if is_current.is_none_or(|index| graph.nodes[index].gone.is_some()) {
            return Vec::new();
        }
        let mut explainer = Explainer { graph: &graph, owner, fsm, cx, reports: Vec::new(), left: Vec::new() };
        let mut is_taken = false;
        if let Some(global) = fsm.global() {
            is_taken = explainer.update(&global, is_taken);
        }
        for (at, state) in fsm.active_states().enumerate() {
            if state.parent().is_some_and(|parent| parent.has_regions()) {
                // An exit that was taken before ends the tick of a region only if it leaves the state in the region.
                is_taken = explainer.left.contains(&at);
            }
            is_taken = explainer.update(state, is_taken);
        }
        explainer.messages(None);
        explainer.reports
    }

    /// Reports the exits with `always` that would be tried if the owner entered `state` now, together with all ancestors and
    /// initial descendants of `state`. Each exit is tried when its own state is entered. The change of the first exit that is
    /// taken is carried out after all these states have been entered. A state that is no longer in its file has no reports.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard { health: f64 }
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new().value("health", |guard: &Guard, _| guard.health);
    /// let file = "
    ///     initial = 'choose'
    ///     states.choose.exits = [{ to = 'flee', always = true, when = 'health < 20' }, { to = 'fight', after = 1 }]
    ///     states.fight.final = true
    ///     states.flee.final = true
    /// ";
    /// let definition = Definition::parse(file, &vocabulary)?;
    /// let reports = definition.explain_entry(&definition.initial(), &mut Guard { health: 10.0 }, &mut ());
    /// let reports: Vec<_> = reports.iter().map(ToString::to_string).collect();
    /// assert_eq!(reports, ["to flee: yes: health < 20 (health = 10) holds"]);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn explain_entry(&self, state: &StateRef<T>, owner: &mut T, cx: &mut T::Context<'_>) -> Vec<ExitReport> {
        let graph = self.inner.shared.load();
        let (mut is_taken, mut reports) = (false, Vec::new());
        for state in &entered_with(state) {
            // While a state is being entered, it is the innermost active state.
            let mut machine = machine_in(state, self.global(), 0.0, cx);
            (is_taken, reports) = machine.with(owner, cx, |owner, fsm, cx| {
                let mut explainer = Explainer { graph: &graph, owner, fsm, cx, reports, left: Vec::new() };
                (explainer.entry(state, is_taken), explainer.reports)
            });
        }
        reports
    }

    /// Like [`explain_with`](Self::explain_with), but only for the exits that wait for this message: whether each of them would
    /// be taken if the message were sent now. Unlike in `explain_with`, conditions can read the fields of the message.
    ///
    /// The behaviors do not get the message, although a machine offers a message to them before it tries the exits. A state that
    /// is no longer in its file has no reports.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = f64; }
    ///
    /// let vocabulary =
    ///     Vocabulary::<Guard>::new().message("hit", |_| true).message_value("hit", "damage", |damage| *damage);
    /// let file = "
    ///     initial = 'stand'
    ///     states.stand.exits = [{ to = 'fall', on = 'hit', when = 'message.damage > 30' }]
    ///     states.fall.final = true
    /// ";
    /// let definition = Definition::parse(file, &vocabulary)?;
    /// let mut machine = definition.machine();
    /// let reports =
    ///     machine.with(&mut Guard, &mut (), |guard, fsm, cx| definition.explain_message(&10.0, guard, fsm, cx));
    /// assert_eq!(
    ///     reports[0].to_string(),
    ///     "to fall on hit: no: message.damage > 30 (message.damage = 10) does not hold"
    /// );
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn explain_message(
        &self,
        message: &T::Message,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) -> Vec<ExitReport> {
        let graph = self.inner.shared.load();
        let mut explainer = Explainer { graph: &graph, owner, fsm, cx, reports: Vec::new(), left: Vec::new() };
        explainer.messages(Some(message));
        explainer.reports
    }
}

/// Returns the states that are entered with a state if none of them is active, in the order in which they are entered.
fn entered_with<T: Owner>(state: &StateRef<T>) -> Path<T> {
    let entered = descent(state).and_then(|path| branch(path, 0, 0, &Memory::new()));
    entered.map_or_else(|_| Path::new(), Branch::into_states)
}

/// Makes the decisions of a graph's states for an owner, and reports them.
struct Explainer<'e, 'f, 'c, T: Owner> {
    graph: &'e Graph<T>,
    owner: &'e mut T,
    fsm: &'e Fsm<'f, T>,
    cx: &'e mut T::Context<'c>,
    reports: Vec<ExitReport>,
    /// The active states that the taken exits leave, as indices.
    left: Vec<usize>,
}

impl<'e, T: Owner> Explainer<'e, '_, '_, T> {
    /// Reports the exits that are tried in each update. Returns whether one is taken.
    fn update(&mut self, state: &StateRef<T>, is_taken: bool) -> bool {
        let Some((decider, Content { exits, every_written, .. })) = self.decider(state) else { return is_taken };
        let now = now::<T>(self.cx);
        let turn = in_region_of(state, self.fsm, |fsm| decider.state.turn(fsm))
            .filter(|turn| !is_taken && !turn.has_come(now));
        if let Some((every, turn)) = every_written.as_deref().zip(turn) {
            for exit in exits {
                let read = format!("{} s left", seconds(turn.comes_in(now)));
                let question = Question { text: format!("every {every}"), read, answer: Answer::No };
                let trial = Minute { trial: Trial::NotItsTurn, questions: vec![question], rank: None };
                self.report(&decider, exit, None, Some(trial));
            }
            return false;
        }
        self.exits(&decider, exits, None, is_taken)
    }

    /// Reports the exits that are tried when a state is entered. Returns whether one is taken.
    fn entry(&mut self, state: &StateRef<T>, is_taken: bool) -> bool {
        let Some((decider, content)) = self.decider(state) else { return is_taken };
        let exits = content.exits.iter().filter(|exit| exit.is_always);
        self.exits(&decider, exits, None, is_taken)
    }

    /// Reports the exits that wait for a message, or only the exits that wait for `message` if it is given.
    fn messages(&mut self, message: Option<&T::Message>) {
        let fsm = self.fsm;
        // The state that was visited last and its ancestors, each with the messages that have been handled inside it.
        let mut around: Vec<(&StateRef<T>, HashSet<&str>)> = Vec::new();
        let mut states = fsm.active_states();
        let mut handled = HashSet::new();
        loop {
            let state = states.next();
            let parent = state.and_then(|state| state.parent());
            while around.last().is_some_and(|(inner, _)| parent.as_ref() != Some(*inner)) {
                let Some((inner, mut taken)) = around.pop() else { break };
                self.messages_of(inner, message, &mut taken);
                around.last_mut().map_or(&mut handled, |(_, taken)| taken).extend(taken);
            }
            let Some(state) = state else { break };
            around.push((state, HashSet::new()));
        }
        if let Some(global) = fsm.global() {
            self.messages_of(&global, message, &mut handled);
        }
    }

    /// Reports the exits of a state that wait for a message. Adds the messages that the state handles, or ignores, to `taken`.
    fn messages_of(&mut self, state: &StateRef<T>, message: Option<&T::Message>, taken: &mut HashSet<&'e str>) {
        let Some((decider, content)) = self.decider(state) else { return };
        let decider = Decider { message, ..decider };
        let waits = |waiting: &&MessageExit<T>| message.is_none_or(|message| (waiting.is)(message));
        let mut seen = HashSet::new();
        for MessageExit { on, exit, .. } in content.message_exits.iter().filter(waits) {
            // In a state that chooses, the exits that wait for the same message are tried together.
            let same = content.message_exits.iter().filter(|same| same.on == *on).map(|same| &same.exit);
            let together = if decider.choice.is_some() { same.collect() } else { vec![exit] };
            let is_tried = decider.choice.is_none() || seen.insert(on);
            // One message may be of several kinds.
            let is_handled = if message.is_some() { !taken.is_empty() } else { taken.contains(&**on) };
            if is_tried && self.exits(&decider, together, Some(on), is_handled) {
                taken.insert(on);
            }
        }
        let ignores = content.ignores.iter().filter(|(_, is)| message.is_none_or(|message| is(message)));
        taken.extend(ignores.map(|(ignored, _)| &**ignored));
    }

    /// Returns the decider of a state, and the content of the state. `None` if the state is not in the file.
    fn decider<'s>(&self, state: &'s StateRef<T>) -> Option<(Decider<'s, T>, &'e Content<T>)>
    where
        'e: 's,
    {
        let node = &self.graph.nodes[self.graph.index_of(state)?];
        // The exits of a state that is gone contain indices of an older graph.
        let content = node.gone.is_none().then_some(&*node.content)?;
        let choice = content.choice.as_ref();
        Some((Decider { choice, ..Decider::new(state.downcast_ref()?, self.graph) }, content))
    }

    /// Reports exits. Tries them if no exit was taken before (`is_taken`). Returns whether an exit is taken now or was before.
    fn exits<'x, I>(&mut self, decider: &Decider<'_, T>, exits: I, on: Option<&str>, is_taken: bool) -> bool
    where
        I: IntoIterator<Item = &'x Exit<T>> + Clone,
    {
        let mut minutes = Minutes::default();
        let (state, owner, cx) = (self.state_of(decider), &mut *self.owner, &mut *self.cx);
        let left = in_region_of(&state, self.fsm, |fsm| {
            if is_taken {
                return None;
            }
            let taken = decider.decide(exits.clone(), owner, fsm, cx, &mut minutes)?;
            decider.full_change(taken.exit, fsm).map(|change| change.left)
        });
        let is_taken = is_taken || left.is_some();
        self.left.extend(left.into_iter().flatten());
        let mut trials = minutes.tried.into_iter();
        exits.into_iter().for_each(|exit| self.report(decider, exit, on, trials.next()));
        is_taken
    }

    /// Returns the state whose decision this is.
    fn state_of(&self, decider: &Decider<'_, T>) -> StateRef<T> {
        self.graph.state(decider.state.fixed.index, &decider.state.shared)
    }

    fn report(&mut self, of: &Decider<'_, T>, exit: &Exit<T>, on: Option<&str>, tried: Option<Minute>) {
        // A state to which an exit leads back may be defined in the game's code.
        let name =
            |index: usize| self.graph.nodes.get(index).map_or("a state".to_owned(), |node| node.fixed.name.clone());
        let active = |depth: usize| self.fsm.active_states().nth(depth).map(ToString::to_string).unwrap_or_default();
        let (verdict, holds, admits) = match tried.as_ref().map(|minute| minute.trial) {
            None => (Verdict::NotTried, None, None),
            Some(Trial::NotItsTurn) => (Verdict::NotItsTurn, None, None),
            Some(Trial::NoCondition) => (Verdict::ConditionFails, Some(false), None),
            Some(Trial::NotChosen) => (Verdict::NotChosen, Some(true), None),
            Some(Trial::AlreadyThere) => (Verdict::AlreadyThere, Some(true), None),
            // Explaining requests no change, so `Superseded` means the same as `Taken` here.
            Some(Trial::Taken | Trial::Superseded) => (Verdict::Taken, Some(true), Some(true)),
            Some(Trial::Nowhere) => (Verdict::Nowhere, Some(true), None),
            Some(Trial::Final(depth)) => (Verdict::Final(active(depth)), Some(true), Some(false)),
            Some(Trial::CannotExit(depth)) => (Verdict::CannotExit(active(depth)), Some(true), Some(false)),
            Some(Trial::CannotEnter(index)) => (Verdict::CannotEnter(name(index)), Some(true), Some(false)),
        };
        let rank = tried.as_ref().and_then(|minute| minute.rank);
        self.reports.push(ExitReport {
            of: of.state.fixed.name.clone(),
            to: match exit.leads {
                Leads::To | Leads::Push => name(exit.to),
                leads => in_region_of(&self.state_of(of), self.fsm, |fsm| of.full_change(exit, fsm))
                    .map_or(leads.to_string(), |change| change.target.to_string()),
            },
            on: on.map(str::to_owned),
            verdict,
            holds,
            admits,
            score: rank.filter(|_| matches!(of.choice, Some(Choice::Best))),
            weight: rank.filter(|_| matches!(of.choice, Some(Choice::Random(_)))),
            questions: tried.map(|minute| minute.questions).unwrap_or_default(),
        });
    }
}

/// A record of a decision: collects the questions and the result of each exit.
#[derive(Default)]
struct Minutes {
    /// The questions of the exit that is being tried, and its rank.
    questions: Vec<Question>,
    rank: Option<f64>,
    tried: Vec<Minute>,
}

/// The record of one exit.
struct Minute {
    trial: Trial,
    rank: Option<f64>,
    questions: Vec<Question>,
}

/// Rounds to a hundredth, which is exact enough for a waiting time.
fn seconds(left: f64) -> f64 {
    (left * 100.0).round() / 100.0
}

impl Record for Minutes {
    fn answered(&mut self, tests: &[WrittenTest], at: usize, answered: Answered, holds: bool) {
        let written = &tests[at];
        self.questions.push(Question {
            text: written.text.clone(),
            read: written.read(answered),
            answer: written.holds(holds).into(),
        });
    }

    fn waited(&mut self, written: &str, after: f64, time: f64, is_open: bool) {
        let read = if is_open {
            format!("time_in_state = {}", rounded(time))
        } else {
            format!("{} s left", seconds(after - time))
        };
        self.questions.push(Question { text: format!("after {written}"), read, answer: is_open.into() });
    }

    fn closed(&mut self, written: &str, left: f64) {
        let read = format!("{} s left", seconds(left));
        self.questions.push(Question { text: written.to_owned(), read, answer: Answer::No });
    }

    fn ranked(&mut self, rank: f64) {
        self.rank = Some(rank);
    }

    fn tried(&mut self, trial: Trial) {
        self.tried.push(Minute { trial, rank: self.rank.take(), questions: mem::take(&mut self.questions) });
    }

    fn tried_again(&mut self, nth: usize, trial: Trial) {
        self.tried[nth].trial = trial;
        self.tried[nth].questions.append(&mut self.questions);
    }
}
