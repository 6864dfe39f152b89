//! The rules of one machine in their simplest form: not optimized, and sharing no code with the crate. The implementor of
//! [`Rules`] decides what a callback does and what is reported.
#![allow(dead_code, reason = "the model of casts does not use everything that a machine can do")]

pub(crate) mod corner;
mod line;
#[path = "../program.rs"]
pub(crate) mod program;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::DerefMut;

use self::corner::Corner;
use self::line::Line;
use self::program::{Callback, End, Guard, Id, LIMIT, StateRow, Verb};

/// A callback has panicked.
pub(crate) struct Panicked;

pub(crate) type Outcome<R> = Result<R, Panicked>;

/// The state of one owner's machine. `W` is the type of messages to oneself.
#[derive(Default)]
pub(crate) struct Machine<W> {
    pub(crate) current: Option<Id>,
    pub(crate) previous: Option<Id>,
    pub(crate) global: Option<Id>,
    /// Rule 18: when each active state was entered. States that have not been entered are missing.
    entered_at: BTreeMap<Id, i64>,
    /// Rule 25: the current stay in each active state. A timer belongs to one stay.
    stays: BTreeMap<Id, Stay>,
    last_stay: Stay,
    /// Rule 25: the running timers, in the order in which they were set.
    pub(crate) timers: Vec<Timer<W>>,
    /// Rule 36: the target of the change that is made at the beginning of the next tick.
    pub(crate) next: Option<Id>,
    /// Rule 25: the state whose callback is running. `None` for the global state, or if no callback is running.
    pub(crate) asking: Option<(Id, Stay)>,
    /// Rule 26: until when the machine sleeps, if it does.
    pub(crate) sleeps_until: Option<f64>,
    /// Rule 26: how many seconds a callback has requested to sleep since the last change.
    pub(crate) wanted: Option<f64>,
    /// Whether this request has been carried out.
    pub(crate) is_due_to_sleep: bool,
    stack: Vec<Suspended<W>>,
    history: BTreeMap<Id, Id>,
    /// Rule 10: the queue of requests for the whole callback.
    pub(crate) requests: Line<Request<W>>,
    /// Rule 13: the changes and messages to oneself carried out for this callback.
    pub(crate) carried_out: u32,
    /// Rule 12: whether an `exit` or `suspend` is running.
    pub(crate) leaving: bool,
    /// Rule 30: whether the machine is lent in an `exit` or `suspend`.
    pub(crate) is_lent_in_exit: bool,
    /// How many `enter` and `resume` callbacks are running, nested in each other.
    pub(crate) entering: u32,
    /// Rule 38: whether a state is being entered, and whether its callback has stayed. `None` within a call of the callback.
    pub(crate) descent: Option<Descent>,
    /// Rule 14: the states left since the message was offered.
    pub(crate) left: BTreeSet<Id>,
    /// How many messages are being offered, nested in each other.
    pub(crate) offering: u32,
    /// The number of all changes, to detect a change in the meantime.
    pub(crate) changes: u32,
    pub(crate) corners: BTreeSet<Corner>,
}

impl<W: Default> Machine<W> {
    pub(crate) fn new(current: Option<Id>, global: Option<Id>) -> Self {
        Self { current, global, ..Self::default() }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Descent {
    Open,
    Stayed,
}

/// A suspended path, and how long each of its states had been active.
struct Suspended<W> {
    current: Option<Id>,
    times: BTreeMap<Id, i64>,
    /// Each timer with the seconds that remain.
    timers: Vec<Timer<W>>,
    /// Rule 36.
    next: Option<Id>,
}

/// The number of one stay in a state, from an entry to the next exit, or from a resume to the next push.
type Stay = u32;

/// Rule 25.
#[derive(Clone, Copy)]
pub(crate) struct Timer<W> {
    pub(crate) due: f64,
    /// The stay in a state that the timer belongs to. `None` if it belongs to the machine.
    of: Option<(Id, Stay)>,
    then: Then<W>,
    /// Rule 39: the seconds from one message to the next, and from the timer's start to its next message.
    every: Option<(f64, f64)>,
}

#[derive(Clone, Copy)]
pub(crate) enum Then<W> {
    Change(Id),
    Tell(W),
}

/// A pending request.
#[derive(Clone, Copy)]
pub(crate) enum Request<W> {
    Verb(Verb),
    /// A message to oneself.
    Tell(W),
    /// A timer to set, with the number of seconds as its due time.
    After(Timer<W>),
    /// A timer to be carried out.
    Due(Timer<W>),
}

/// How a message is offered: when the requests of its handlers are carried out.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Offering {
    /// After each handler, which is an outermost callback.
    FromOutside,
    /// After each handler that declines the message, except the last. The requests that wait are set aside meanwhile.
    InQueue,
    /// After the last handler.
    Ahead,
}

/// How a state is entered or resumed: since when it counts as active and, if it had timers, in which stay.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    state: Id,
    at: i64,
    stay: Option<Stay>,
    /// Rule 36: the change in the next tick that the state gets back.
    next: Option<Id>,
}

/// One change: its two states and its cause.
pub(crate) struct Change {
    pub(crate) from: Option<Id>,
    pub(crate) to: Option<Id>,
    pub(crate) cause: &'static str,
}

/// The owner of a machine to which the rules apply.
pub(crate) trait Rules: DerefMut<Target = Machine<Self::Word>> {
    /// The type of messages to oneself.
    type Word: Copy;

    fn row(&self, state: Id) -> &StateRow;
    fn now(&self) -> i64;

    /// Runs a callback, during a change to `target` if there is one. Returns whether it handles the message, if there is one.
    fn perform(&mut self, state: Id, callback: Callback, word: Option<Self::Word>, target: Option<Id>)
    -> Outcome<bool>;

    /// Rule 8.
    fn allows(&mut self, change: &Change, guard: Guard, state: Id) -> Outcome<bool>;

    /// Reports a change to the owner, or the guard that has refused it.
    fn told(&mut self, change: &Change, refused_by: Option<(Guard, Id)>) -> Outcome<()>;

    /// Reports to the owner that a change has ended early in a state.
    fn ended(&mut self, change: &Change, end: End, state: Id) -> Outcome<()>;

    fn completed(&mut self, change: &Change) -> Outcome<()>;

    /// Rule 35: reports the end of a tick to the owner.
    fn updated(&mut self) -> Outcome<()>;

    /// Begins an outermost callback: no requests have been made, and none have been carried out.
    fn begin(&mut self) {
        self.requests.clear();
        self.carried_out = 0;
        self.leaving = false;
        self.entering = 0;
        self.offering = 0;
        self.asking = None;
        self.descent = None;
        self.wanted = None;
        self.is_due_to_sleep = false;
    }

    /// Ends an outermost callback: its requests are carried out, and then the machine falls asleep if this was requested
    /// (rules 10, 26).
    fn settle(&mut self) -> Outcome<()> {
        self.carry_out_all()?;
        if let Some(seconds) = self.wanted.take().filter(|_| self.is_due_to_sleep) {
            let now = self.now_exact();
            self.sleep(seconds, now);
        }
        Ok(())
    }

    fn now_exact(&self) -> f64 {
        exact(self.now())
    }

    /// Rule 18: states that stay active keep their time; the new ones get the time of the current state.
    fn set_current(&mut self, state: Id) {
        let old = self.path(self.current);
        let new = self.path(Some(state));
        let old_parents = &old[..old.len().saturating_sub(1)];
        let new_parents = &new[..new.len() - 1];
        let kept = old_parents.iter().zip(new_parents).take_while(|(a, b)| a == b).count();
        let is_active = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        self.stays.retain(|state, _| new[..is_active].contains(state));
        let since = self.current.and_then(|current| self.entered_at.get(&current).copied());
        self.entered_at.retain(|state, _| old_parents[..kept].contains(state));
        for state in &new[kept..] {
            self.entered_at.extend(since.map(|since| (*state, since)));
        }
        self.current = Some(state);
        self.leave_timers();
    }

    /// Rule 1.
    fn start(&mut self) -> Outcome<()> {
        let Some(current) = self.current else { return Ok(()) };
        if self.entered_at.contains_key(&current) {
            self.corners.insert(Corner::StartRefused);
            return Ok(());
        }
        let innermost = self.descend(current);
        if innermost != current {
            self.corners.insert(Corner::WentDownInStart);
        }
        let path = self.path(Some(innermost));
        let entries = self.entries(&path);
        self.entered_at.clear();
        self.stays.clear();
        self.leave_timers();
        self.enter_all(&entries, Callback::Enter, None)?;
        self.settle()
    }

    /// Rule 1.
    fn stop(&mut self) -> Outcome<()> {
        let path = self.path(self.current);
        self.leave_all(&path, Callback::Exit, None)?;
        self.current = None;
        self.entered_at.clear();
        self.stays.clear();
        self.leave_timers();
        self.stack.clear();
        Ok(())
    }

    /// Rules 4 and 35.
    fn update(&mut self) -> Outcome<()> {
        self.begin();
        self.carry_out_due()?;
        let mut is_updated = false;
        if let Some(global) = self.global {
            self.begin();
            is_updated = self.update_state(global, true)?;
        }
        let is_global_updated = is_updated;
        let mut depth = 0;
        loop {
            let path = self.path(self.current);
            if depth >= path.len() {
                break;
            }
            // Rule 26.
            if self.sleeps_until.is_some() {
                self.corners.insert(Corner::NotUpdatedAsleep);
                if is_global_updated {
                    self.corners.insert(Corner::EndedAsleep);
                }
                break;
            }
            let was_innermost = depth == path.len() - 1;
            self.begin();
            is_updated |= self.update_state(path[depth], false)?;
            if was_innermost {
                break;
            }
            depth += 1;
        }
        if !is_updated {
            self.corners.insert(Corner::NothingUpdated);
            return Ok(());
        }
        self.begin();
        self.updated()
    }

    /// Rule 4: a passive state is not updated. Returns whether the state was updated.
    fn update_state(&mut self, state: Id, is_global: bool) -> Outcome<bool> {
        if self.row(state).is_passive {
            self.corners.insert(Corner::NotUpdated);
            return Ok(false);
        }
        self.call(state, is_global, Callback::Update, None, None)?;
        self.settle()?;
        Ok(true)
    }

    /// Rule 14. For a message from outside, each handler is an outermost callback.
    fn offer(&mut self, word: Self::Word, offering: Offering) -> Outcome<bool> {
        let path = self.path(self.current);
        let outermost = path.first().copied().filter(|_| self.global.is_none());
        let left_before = std::mem::take(&mut self.left);
        for state in path.into_iter().rev() {
            if self.left.contains(&state) {
                if Some(state) != self.current {
                    self.corners.insert(Corner::LeftBeforeItsTurn);
                }
            } else if self.hear(word, state, (false, Some(state) == outermost), offering)? {
                self.left.extend(left_before);
                return Ok(true);
            }
        }
        self.left.extend(left_before);
        match self.global {
            Some(global) => self.hear(word, global, (true, true), offering),
            None => Ok(false),
        }
    }

    fn hear(
        &mut self,
        word: Self::Word,
        state: Id,
        (is_global, is_last): (bool, bool),
        offering: Offering,
    ) -> Outcome<bool> {
        if offering == Offering::FromOutside {
            self.begin();
        }
        if self.entering > 0 {
            self.corners.insert(Corner::HeardInEnter);
        }
        if self.offering > 0 {
            self.corners.insert(Corner::SentWithinMessage);
        }
        self.offering += 1;
        let waiting = self.requests.len();
        let handled = self.call(state, is_global, Callback::Message, Some(word), None)?;
        // Rule 26.
        if handled {
            self.wake(Corner::WokeByAMessage);
        }
        match offering {
            Offering::FromOutside => self.settle()?,
            Offering::InQueue if handled || is_last => {}
            Offering::InQueue => {
                if waiting > 0 && self.requests.len() > waiting {
                    self.corners.insert(Corner::DeclinedBeforeOthers);
                }
                self.carry_out_all()?;
            }
            Offering::Ahead => {
                if !handled && !self.requests.is_empty() {
                    self.corners.insert(Corner::DeclinedAhead);
                }
            }
        }
        self.offering -= 1;
        Ok(handled)
    }

    /// Rules 10 and 12.
    fn carry_out_all(&mut self) -> Outcome<()> {
        while let Some(request) = self.requests.pop() {
            if matches!(request, Request::Tell(_)) {
                self.corners.insert(Corner::SentToOneself);
            }
            self.carry_out(request)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, request: Request<Self::Word>) -> Outcome<bool> {
        match request {
            Request::After(timer) => {
                let now = self.now_exact();
                self.set_timer(timer, now);
                return Ok(true);
            }
            Request::Due(timer) => return self.carry_out_timer(&timer),
            Request::Verb(_) | Request::Tell(_) => {}
        }
        // Rule 24.
        if let Request::Verb(Verb::Ensure(target)) = request
            && self.path(self.current).contains(&target)
        {
            self.corners.insert(Corner::EnsuredAlready);
            return Ok(true);
        }
        // Rule 26: the machine falls asleep when all other requests of the callback have been carried out.
        if let Request::Verb(Verb::Sleep(_)) = request {
            self.is_due_to_sleep = true;
            return Ok(true);
        }
        // Rule 36.
        if let Request::Verb(Verb::ChangeNext(to)) = request {
            if self.next.replace(to).is_some() {
                self.corners.insert(Corner::NextAskedAgain);
            }
            return Ok(true);
        }
        // Rule 38: no state was being entered.
        if let Request::Verb(Verb::Stay) = request {
            self.corners.insert(Corner::StayRefused);
            return Ok(false);
        }
        // Rule 13.
        if self.carried_out == LIMIT {
            let is_message = matches!(request, Request::Tell(_));
            self.corners.insert(if is_message { Corner::CycleOfMessages } else { Corner::Cycle });
            if self.requests.iter().any(|request| matches!(request, Request::Due(_))) {
                self.corners.insert(Corner::DueInACycle);
            }
            self.requests.clear();
            self.wanted = None;
            return Ok(false);
        }
        let verb = match request {
            // Rule 24.
            Request::Tell(word) => {
                self.carried_out += 1;
                self.requests.set_aside();
                let handled = self.offer(word, Offering::InQueue)?;
                self.requests.take_back();
                return Ok(handled);
            }
            // Rule 30.
            _ if self.is_lent_in_exit => return Ok(false),
            Request::Verb(verb) => verb,
            Request::After(_) | Request::Due(_) => unreachable!("it has been carried out"),
        };
        match verb {
            Verb::Change(target) | Verb::Ensure(target) => self.change(target, target, "change"),
            Verb::Force(target) => self.change(target, target, "force"),
            // Rule 9.
            Verb::Revert => {
                let Some(previous) = self.previous else {
                    self.corners.insert(Corner::NothingToRevertTo);
                    return Ok(false);
                };
                self.change(previous, previous, "revert")
            }
            Verb::Resume(composite) => {
                let target = self.last_active_in(composite);
                self.change(target, composite, "resume")
            }
            Verb::Push(target) => self.push(target),
            Verb::Pop => self.pop(),
            _ => unreachable!("it is no request"),
        }
    }

    /// Rule 16.
    fn last_active_in(&mut self, composite: Id) -> Id {
        if !self.row(composite).keeps_history {
            return composite;
        }
        let remembered = self.history.get(&composite).copied();
        match self.current {
            Some(current) if self.path(self.current).contains(&composite) => {
                if current != composite {
                    self.corners.insert(Corner::ResumedFromInside);
                }
                if remembered.is_some_and(|remembered| remembered != current) {
                    self.corners.insert(Corner::HistoryNotUsedFromInside);
                }
                current
            }
            _ => {
                self.corners.extend(remembered.map(|_| Corner::HistoryUsed));
                remembered.unwrap_or(composite)
            }
        }
    }

    /// Rules 5 to 8. `left` is exited even if it is active and contains the target.
    fn change(&mut self, target: Id, left: Id, cause: &'static str) -> Outcome<bool> {
        let old = self.path(self.current);
        let to = self.descend(target);
        let new = self.path(Some(to));
        let mut common = 0;
        while common < old.len() && common < new.len() && old[common] == new[common] && old[common] != left {
            common += 1;
        }
        let (leave, enter) = (&old[common..], &new[common..]);
        let change = Change { from: self.current, to: Some(to), cause };
        // Rule 24.
        let asked = if cause == "force" { &[] } else { leave };
        if asked.is_empty() && leave.iter().any(|state| self.row(*state).refuses_exit == u8::MAX) {
            self.corners.insert(Corner::ForcedPastAGuard);
        }
        if !self.may(&change, asked, enter)? {
            return Ok(false);
        }
        self.leave_all(leave, Callback::Exit, change.to)?;
        self.entered_at.retain(|state, _| old[..common].contains(state));
        self.stays.retain(|state, _| old[..common].contains(state));
        self.leave_timers();
        self.arrive(&change, &self.entries(enter), Callback::Enter)
    }

    /// Rule 15.
    fn push(&mut self, target: Id) -> Outcome<bool> {
        if self.stack.len() == 64 {
            self.corners.insert(Corner::StackFull);
            return Ok(false);
        }
        let old = self.path(self.current);
        let to = self.descend(target);
        let new = self.path(Some(to));
        let change = Change { from: self.current, to: Some(to), cause: "push" };
        if !self.may(&change, &[], &new)? {
            return Ok(false);
        }
        self.leave_all(&old, Callback::Suspend, change.to)?;
        // Rule 18: from now on, its time stands still.
        let now = self.now();
        let times = old.iter().map(|state| (*state, self.time_in(*state))).collect();
        let waiting = self.suspend_timers(exact(now));
        self.stays.clear();
        let next = self.suspend_next();
        let suspended = Suspended { current: self.current, times, timers: waiting, next };
        self.stack.push(suspended);
        self.entered_at.clear();
        self.leave_timers();
        self.arrive(&change, &self.entries(&new), Callback::Enter)
    }

    /// Rule 15.
    fn pop(&mut self) -> Outcome<bool> {
        let Some(to) = self.stack.last().map(|suspended| suspended.current) else {
            self.corners.insert(Corner::PopOfNothing);
            return Ok(false);
        };
        if to.is_none() {
            self.corners.insert(Corner::PopToNoState);
        }
        let old = self.path(self.current);
        let new = self.path(to);
        let change = Change { from: self.current, to, cause: "pop" };
        if !self.may(&change, &old, &[])? {
            return Ok(false);
        }
        self.leave_all(&old, Callback::Exit, change.to)?;
        let Suspended { times, timers, next, .. } = self.stack.pop().expect("it was there");
        if times.values().any(|time| *time > 0) {
            self.corners.insert(Corner::TimeWentOn);
        }
        self.entered_at.clear();
        self.stays.clear();
        self.leave_timers();
        // Rule 18: it counts as entered later. For a callback that has been running since before the push, it is another stay.
        let now = self.now();
        let mut entries = self.entries(&new);
        for Entry { state, at, stay, .. } in &mut entries {
            self.last_stay += 1;
            (*at, *stay) = (now - times[state], Some(self.last_stay));
        }
        if let Some(innermost) = entries.last_mut() {
            innermost.next = next;
        }
        // Rule 25: its timers continue, after the running ones, each with its state.
        let now = self.now_exact();
        for timer in timers {
            let entry = entries.iter().find(|entry| timer.of.is_some_and(|(state, _)| state == entry.state));
            let of = entry.and_then(|entry| Some((entry.state, entry.stay?)));
            self.timers.push(Timer { due: now + timer.due, of, ..timer });
        }
        let outcome = self.arrive(&change, &entries, Callback::Resume);
        // Rules 15, 22: states that have not been resumed by now never will be.
        let before = self.timers.len();
        let Machine { stays, timers, .. } = &mut **self;
        timers.retain(|timer| timer.of.is_none_or(|(state, stay)| stays.get(&state) == Some(&stay)));
        if self.timers.len() < before {
            self.corners.insert(Corner::NeverResumed);
        }
        outcome
    }

    /// Rule 8. The states are listed from the outermost to the innermost.
    fn may(&mut self, change: &Change, leave: &[Id], enter: &[Id]) -> Outcome<bool> {
        let exits = leave.iter().rev().map(|state| (Guard::CanExit, *state));
        let enters = enter.iter().map(|state| (Guard::CanEnter, *state));
        for (guard, state) in exits.chain(enters) {
            if !self.allows(change, guard, state)? {
                self.told(change, Some((guard, state)))?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Rule 5: sets the previous state, then runs the exits, innermost first. Rule 16: composite states record their last
    /// descendant.
    fn leave_all(&mut self, states: &[Id], callback: Callback, target: Option<Id>) -> Outcome<()> {
        if self.current.is_some() {
            self.previous = self.current;
        }
        for state in states.iter().rev() {
            self.leaving = true;
            self.call(*state, false, callback, None, target)?;
            self.leaving = false;
            if self.row(*state).keeps_history && Some(*state) != self.current {
                let remembered = self.current.map(|current| (*state, current));
                self.history.extend(remembered);
            }
        }
        self.left.extend(states);
        Ok(())
    }

    /// Returns how states are entered now.
    fn entries(&self, states: &[Id]) -> Vec<Entry> {
        let at = self.now();
        states.iter().map(|state| Entry { state: *state, at, stay: None, next: None }).collect()
    }

    /// Rule 5: sets the current state, and tells the owner. Rule 22: if that panics, the outermost state counts as entered.
    /// When all states are entered, the owner is told that the change is complete, unless another change was made meanwhile.
    fn arrive(&mut self, change: &Change, entries: &[Entry], callback: Callback) -> Outcome<bool> {
        self.carried_out += 1;
        self.changes += 1;
        self.current = None;
        if let Some(outermost) = entries.first() {
            self.be_in(*outermost);
        }
        self.told(change, None)?;
        let Some((end, state)) = self.enter_all(entries, callback, change.to)? else {
            self.completed(change)?;
            return Ok(true);
        };
        // Rule 38.
        self.ended(change, end, state)?;
        if end == End::Stayed {
            self.completed(&Change { to: Some(state), ..*change })?;
        }
        Ok(end == End::Stayed)
    }

    fn be_in(&mut self, Entry { state, at, stay, next }: Entry) {
        if self.next.is_none() {
            self.next = next;
        }
        self.current = Some(state);
        self.entered_at.insert(state, at);
        self.stays.extend(stay.map(|stay| (state, stay)));
    }

    /// Rule 5: each state is current while it is entered; a change made meanwhile abandons the rest. Rule 38: `stay` ends it.
    /// Returns in which state it has ended if not all were entered.
    fn enter_all(&mut self, entries: &[Entry], callback: Callback, target: Option<Id>) -> Outcome<Option<(End, Id)>> {
        let changes = self.changes;
        for (i, entry) in entries.iter().enumerate() {
            self.be_in(*entry);
            self.entering += 1;
            self.descent = Some(Descent::Open);
            self.call(entry.state, false, callback, None, target)?;
            let descent = self.descent.take();
            self.entering -= 1;
            let is_last = i + 1 == entries.len();
            if self.changes != changes {
                self.corners.insert(match callback {
                    _ if is_last => Corner::NeverComplete,
                    Callback::Resume => Corner::AbandonedResume,
                    _ => Corner::Abandoned,
                });
                return Ok(Some((End::Abandoned, entry.state)));
            }
            if descent == Some(Descent::Stayed) {
                self.corners.insert(match callback {
                    _ if is_last => Corner::StayedInTheTarget,
                    Callback::Resume => Corner::StayedInResume,
                    _ if target.is_none() => Corner::StayedInStart,
                    _ => Corner::Stayed,
                });
                if !is_last {
                    return Ok(Some((End::Stayed, entry.state)));
                }
            }
        }
        Ok(None)
    }

    /// Runs a callback, during a change to `target` if there is one. Returns whether it handles the message, if there is one.
    fn call(
        &mut self,
        state: Id,
        is_global: bool,
        callback: Callback,
        word: Option<Self::Word>,
        target: Option<Id>,
    ) -> Outcome<bool> {
        // Rule 15: by default `suspend` calls `exit` and `resume` calls `enter`.
        let callback = match callback {
            Callback::Suspend if !self.row(state).knows_stacks => Callback::Exit,
            Callback::Resume if !self.row(state).knows_stacks => Callback::Enter,
            other => other,
        };
        let asking = if is_global { None } else { Some((state, self.stay(state))) };
        let asked_before = std::mem::replace(&mut self.asking, asking);
        let is_handled = self.perform(state, callback, word, target)?;
        self.asking = asked_before;
        Ok(is_handled)
    }

    /// Queues a request of a handle.
    fn ask(&mut self, request: Request<Self::Word>) {
        // Rule 12.
        if self.leaving {
            self.corners.insert(Corner::AskedInExit);
            return;
        }
        if let Request::Verb(Verb::Sleep(wait)) = request {
            self.wanted = Some(wait.seconds());
        }
        self.requests.push(request);
    }

    /// Rule 37.
    fn replace(&mut self, to: Id) {
        if !self.leaving {
            let waiting = self.requests.len();
            self.requests.retain(|request| !matches!(request, Request::Verb(verb) if verb.is_change()));
            if self.requests.len() < waiting {
                self.corners.insert(Corner::Replaced);
                if self.requests.iter().any(|request| matches!(request, Request::Tell(_))) {
                    self.corners.insert(Corner::ReplacedBesideAMessage);
                }
            }
        }
        self.ask(Request::Verb(Verb::Change(to)));
    }

    /// Rule 38.
    fn stay_here(&mut self) {
        if self.descent.is_some() && !self.leaving {
            self.descent = Some(Descent::Stayed);
        } else {
            self.ask(Request::Verb(Verb::Stay));
        }
    }

    /// Rule 37.
    fn clear(&mut self) {
        if self.leaving {
            return;
        }
        if !self.requests.is_empty() {
            self.corners.insert(Corner::Cleared);
        }
        self.requests.clear();
        self.wanted = None;
        self.is_due_to_sleep = false;
    }

    /// Rule 25: what is due is asked for, the earliest first. Any of it wakes the machine (rule 26).
    fn carry_out_due(&mut self) -> Outcome<()> {
        let now = self.now_exact();
        let mut due: Vec<_> = self.timers.iter().copied().filter(|timer| timer.due <= now).collect();
        self.repeat_timers(now);
        // Times that differ only by the errors of sums are equal.
        let microseconds = |timer: &Timer<_>| (timer.due * 1e6).round();
        due.sort_by(|a, b| microseconds(a).total_cmp(&microseconds(b)));
        if !due.is_empty() {
            self.wake(Corner::WokeByATimer);
        }
        if self.sleeps_until.is_some_and(|until| until <= now) {
            self.wake(Corner::WokeByTheClock);
        }
        if due.len() > 1 {
            self.corners.insert(Corner::DueTogether);
        }
        // Rule 36.
        if let Some(to) = self.next.take() {
            self.corners.insert(Corner::Next);
            self.wake(Corner::WokeByATimer);
            self.requests.push(Request::Verb(Verb::Change(to)));
        }
        // Rule 39: what comes due is one message, and the timer that repeats is beside it.
        self.requests.extend(due.into_iter().map(|timer| Request::Due(Timer { every: None, ..timer })));
        self.settle()
    }

    /// Rule 25.
    fn carry_out_timer(&mut self, timer: &Timer<Self::Word>) -> Outcome<bool> {
        if timer.of.is_none() {
            self.corners.insert(Corner::OfTheMachine);
        }
        match timer.then {
            Then::Tell(word) => {
                self.corners.insert(Corner::DueMessage);
                self.carry_out(Request::Tell(word))
            }
            Then::Change(to) => {
                self.corners.insert(Corner::DueChange);
                let done = self.carry_out(Request::Verb(Verb::Change(to)))?;
                if !done {
                    self.corners.insert(Corner::DueRefused);
                }
                Ok(done)
            }
        }
    }

    /// Creates the request for a timer of the callback that is running.
    fn after(&self, seconds: f64, then: Then<Self::Word>) -> Request<Self::Word> {
        Request::After(Timer { due: time(seconds), of: self.asking, then, every: None })
    }

    /// Creates the request for a repeating timer of the callback that is running.
    fn every(&self, seconds: f64, word: Self::Word) -> Request<Self::Word> {
        let every = Some((time(seconds), time(seconds)));
        Request::After(Timer { due: time(seconds), of: self.asking, then: Then::Tell(word), every })
    }

    /// Rules 11, 12 and 24.
    fn carry_out_now(&mut self, request: Request<Self::Word>, is_ahead: bool) -> Outcome<bool> {
        let is_message = matches!(request, Request::Tell(_));
        if self.leaving {
            self.corners.insert(if is_message { Corner::SentNowInExit } else { Corner::NowInExit });
            return Ok(false);
        }
        if !self.requests.is_empty() {
            self.corners.insert(if is_ahead { Corner::Ahead } else { Corner::NowAfterRequests });
        }
        let (descent, changes) = (self.descent.take(), self.changes);
        if !is_ahead {
            self.carry_out_all()?;
        }
        if self.carried_out == LIMIT {
            self.corners.insert(Corner::CycleOfNow);
        } else if is_message {
            self.corners.insert(Corner::SentNow);
        }
        let done = match request {
            // Rule 24.
            Request::Tell(word) if is_ahead && self.carried_out < LIMIT => {
                self.carried_out += 1;
                self.offer(word, Offering::Ahead)?
            }
            request => self.carry_out(request)?,
        };
        self.carry_out_all()?;
        // Rule 38: a change made meanwhile has abandoned the change under way.
        self.descent = descent.filter(|_| self.changes == changes);
        Ok(done)
    }

    /// Returns the path from the outermost ancestor down to `state`.
    fn path(&self, state: Option<Id>) -> Vec<Id> {
        let mut path: Vec<_> = std::iter::successors(state, |state| self.row(*state).parent).collect();
        path.reverse();
        path
    }

    /// Rule 6: goes down through the initial children.
    fn descend(&self, mut state: Id) -> Id {
        while let Some(initial) = self.row(state).initial {
            state = initial;
        }
        state
    }

    /// Rule 18: the time of a state that has not been entered counts from 0.
    fn time_in(&self, state: Id) -> i64 {
        self.now() - self.entered_at.get(&state).copied().unwrap_or(0)
    }
}

/// Rule 25: invalid seconds count as 0.
pub(crate) fn time(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "the clock shows fewer than 2^53 seconds")]
fn exact(seconds: i64) -> f64 {
    seconds as f64
}
