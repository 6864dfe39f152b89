//! The rules, as plainly as they can be written: no cleverness, no speed, nothing shared with the crate.

mod waiting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::corner::Corner;
use crate::program::{Callback, Event, Guard, Id, Program, Read, Seen, Step, Verb, Wait};

/// A callback has panicked.
struct Panicked;

type Outcome<R> = Result<R, Panicked>;

#[derive(Default)]
struct Model {
    program: Program,
    current: Option<Id>,
    previous: Option<Id>,
    global: Option<Id>,
    /// Rule 18: when each active state was entered. Those that have not been are not here.
    entered_at: BTreeMap<Id, i64>,
    /// Rule 25: which stay in a state each active one is in. A timer belongs to one stay.
    stays: BTreeMap<Id, Stay>,
    last_stay: Stay,
    /// Rule 25: the running timers, in the order of asking.
    timers: Vec<Timer>,
    /// Rule 25: whose callback is running. `None`: the global's, or nobody's.
    asking: Option<(Id, Stay)>,
    /// Rule 26: until when it sleeps, if it does.
    sleeps_until: Option<f64>,
    /// Rule 26: for how many seconds a callback has asked to sleep, since the last change.
    wanted: Option<f64>,
    /// Whether that request has had its turn.
    is_due_to_sleep: bool,
    stack: Vec<Suspended>,
    history: BTreeMap<Id, Id>,
    /// Rule 10: one line of requests for the whole callback.
    requests: VecDeque<Request>,
    /// Rule 13: the changes and messages to oneself carried out for this callback.
    carried_out: u32,
    /// Rule 12: whether an `exit` or `suspend` is running.
    leaving: bool,
    /// How many `enter` and `resume` are running, one within the other.
    entering: u32,
    /// Rule 14: the states left since the message was offered.
    left: BTreeSet<Id>,
    /// How many messages are being offered, one within the other.
    offering: u32,
    /// All changes ever, to see whether one has happened meanwhile.
    changes: u32,
    counter: u32,
    /// What the clock shows, without the callbacks that it may count.
    seconds: i64,
    fuel: u32,
    /// After how many more events something panics. 0: nothing does.
    fuse: u32,
    events: Vec<Event>,
    corners: BTreeSet<Corner>,
}

/// What was pushed over, and how long each of its states had been active by then.
struct Suspended {
    current: Option<Id>,
    times: BTreeMap<Id, i64>,
    /// With what remains of each.
    timers: Vec<Timer>,
}

/// The number of one stay in a state, from an entry to the next exit, or from a resume to the next push.
type Stay = u32;

/// Rule 25.
#[derive(Clone, Copy)]
struct Timer {
    due: f64,
    /// The state's stay that it belongs to. `None`: it is the machine's.
    of: Option<(Id, Stay)>,
    then: Verb,
}

/// What waits in the line.
#[derive(Clone, Copy)]
enum Request {
    Verb(Verb),
    /// A timer to be set, due after so many seconds.
    After(Timer),
    /// A timer to be carried out.
    Due(Timer),
}

/// How a state is entered or resumed: since when it counts as active, and in which stay, if timers have been waiting for it.
#[derive(Clone, Copy)]
struct Entry {
    at: i64,
    stay: Option<Stay>,
}

/// One change: from where to where, and why.
struct Change {
    from: Option<Id>,
    to: Option<Id>,
    cause: &'static str,
}

/// Runs the program and returns what happens, and which corners it has led to.
pub(crate) fn run(program: &Program) -> (Vec<Event>, BTreeSet<Corner>) {
    let (current, global) = (program.current, program.global);
    let mut model = Model { program: program.clone(), current, global, ..Model::default() };
    for step in &program.steps {
        model.fuel = program.fuel;
        model.events.push(Event::Step(step.clone()));
        match model.step(step) {
            Ok(Some(returned)) => model.events.push(Event::Returned(returned)),
            Ok(None) => {}
            Err(Panicked) => {
                model.corners.insert(Corner::Panicked);
                model.events.push(Event::Panicked);
            }
        }
        model.begin();
        let (seen, wake) = (model.seen(None), model.next_wake());
        model.events.push(Event::At(seen, wake));
    }
    (model.events, model.corners)
}

impl Model {
    fn step(&mut self, step: &Step) -> Outcome<Option<bool>> {
        self.begin();
        match step {
            Step::Advance(seconds) => {
                self.seconds += seconds;
                if *seconds < 0 && !self.timers.is_empty() {
                    self.corners.insert(Corner::ClockWentBack);
                }
            }
            Step::Wake => {
                let was_asleep = self.wake(Corner::WokeFromOutside);
                return Ok(Some(was_asleep));
            }
            Step::Start => self.start()?,
            Step::Stop => self.stop()?,
            Step::Update => self.update()?,
            Step::Send => {
                // Rule 13: each callback has a count of its own.
                return self.offer(true).map(Some);
            }
            Step::Outside(verb) if verb.is_of_a_handle() => {}
            // They make no difference.
            Step::Clone | Step::Load => {}
            Step::Fuse(events) => self.fuse = *events,
            Step::Outside(Verb::Sleep(wait)) => self.sleep(wait.seconds()),
            Step::Outside(verb) => {
                let done = self.carry_out(self.request(*verb))?;
                self.settle()?;
                return Ok(Some(done));
            }
            Step::With(verbs) => {
                self.use_verbs(verbs, None)?;
                self.settle()?;
            }
            Step::SetCurrent(state) => self.set_current(*state),
            Step::SetPrevious(state) => self.previous = Some(*state),
            Step::SetGlobal(state) => self.global = Some(*state),
        }
        Ok(None)
    }

    /// An outermost callback begins: it has made no requests, and none of it has been carried out.
    fn begin(&mut self) {
        self.requests.clear();
        self.carried_out = 0;
        self.leaving = false;
        self.entering = 0;
        self.offering = 0;
        self.asking = None;
        self.wanted = None;
        self.is_due_to_sleep = false;
    }

    /// The outermost callback has returned: what it asked for is carried out, then the machine falls asleep if it is to
    /// (rules 10, 26).
    fn settle(&mut self) -> Outcome<()> {
        self.carry_out_all()?;
        if let Some(seconds) = self.wanted.take().filter(|_| self.is_due_to_sleep) {
            self.sleep(seconds);
        }
        Ok(())
    }

    fn now(&self) -> i64 {
        self.seconds + if self.program.clock_counts { self.counter.into() } else { 0 }
    }

    fn now_exact(&self) -> f64 {
        exact(self.now())
    }

    /// Rule 18: states that stay active keep their time, and those that come have that of current.
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
        let now = self.now();
        let entries = path.iter().map(|state| (*state, Entry { at: now, stay: None })).collect();
        self.entered_at.clear();
        self.stays.clear();
        self.leave_timers();
        self.enter_all(&path, &entries, Callback::Enter, None)?;
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

    /// Rule 4.
    fn update(&mut self) -> Outcome<()> {
        self.carry_out_due()?;
        if let Some(global) = self.global {
            self.begin();
            self.update_state(global, true)?;
        }
        let mut depth = 0;
        loop {
            let path = self.path(self.current);
            if depth >= path.len() {
                return Ok(());
            }
            // Rule 26.
            if self.sleeps_until.is_some() {
                self.corners.insert(Corner::NotUpdatedAsleep);
                return Ok(());
            }
            let was_innermost = depth == path.len() - 1;
            self.begin();
            self.update_state(path[depth], false)?;
            if was_innermost {
                return Ok(());
            }
            depth += 1;
        }
    }

    /// Rule 4: a passive state is not updated.
    fn update_state(&mut self, state: Id, is_global: bool) -> Outcome<()> {
        if self.program.states[usize::from(state)].is_passive {
            self.corners.insert(Corner::NotUpdated);
            return Ok(());
        }
        self.call(state, is_global, Callback::Update, None)?;
        self.settle()
    }

    /// Rule 14. From outside, each handler is an outermost callback.
    fn offer(&mut self, is_from_outside: bool) -> Outcome<bool> {
        let path = self.path(self.current);
        let left_before = std::mem::take(&mut self.left);
        for state in path.into_iter().rev() {
            if self.left.contains(&state) {
                if Some(state) != self.current {
                    self.corners.insert(Corner::LeftBeforeItsTurn);
                }
            } else if self.hear(state, false, is_from_outside)? {
                self.left.extend(left_before);
                return Ok(true);
            }
        }
        self.left.extend(left_before);
        match self.global {
            Some(global) => self.hear(global, true, is_from_outside),
            None => Ok(false),
        }
    }

    fn hear(&mut self, state: Id, is_global: bool, is_from_outside: bool) -> Outcome<bool> {
        if is_from_outside {
            self.begin();
        }
        if self.entering > 0 {
            self.corners.insert(Corner::HeardInEnter);
        }
        if self.offering > 0 {
            self.corners.insert(Corner::SentWithinMessage);
        }
        self.offering += 1;
        let handled = self.call(state, is_global, Callback::Message, None)?;
        // Rule 26.
        if handled {
            self.wake(Corner::WokeByAMessage);
        }
        if is_from_outside {
            self.settle()?;
        } else {
            self.carry_out_all()?;
        }
        self.offering -= 1;
        Ok(handled)
    }

    /// Rule 24.
    fn offer_to_oneself(&mut self) -> Outcome<bool> {
        self.carried_out += 1;
        self.offer(false)
    }

    /// Rules 10 and 12.
    fn carry_out_all(&mut self) -> Outcome<()> {
        while let Some(request) = self.requests.pop_front() {
            self.carry_out(request)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, request: Request) -> Outcome<bool> {
        let request = match request {
            Request::Verb(verb) => verb,
            Request::After(timer) => {
                self.set_timer(timer);
                return Ok(true);
            }
            Request::Due(timer) => return self.carry_out_timer(&timer),
        };
        // Rule 24.
        if let Verb::Ensure(target) = request
            && self.path(self.current).contains(&target)
        {
            self.corners.insert(Corner::EnsuredAlready);
            return Ok(true);
        }
        // Rule 26: when all else that the callback asked for has been carried out.
        if let Verb::Sleep(_) = request {
            self.is_due_to_sleep = true;
            return Ok(true);
        }
        // Rule 13.
        if self.carried_out == 64 {
            let is_message = matches!(request, Verb::Send | Verb::SendNow);
            self.corners.insert(if is_message { Corner::CycleOfMessages } else { Corner::Cycle });
            if self.requests.iter().any(|request| matches!(request, Request::Due(_))) {
                self.corners.insert(Corner::DueInACycle);
            }
            self.requests.clear();
            self.wanted = None;
            return Ok(false);
        }
        match request {
            Verb::Change(target) | Verb::ChangeNow(target) | Verb::Ensure(target) => {
                self.change(target, target, "change")
            }
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
            Verb::Send => {
                self.corners.insert(Corner::SentToOneself);
                self.offer_to_oneself()
            }
            Verb::SendNow => {
                self.corners.insert(Corner::SentNow);
                self.offer_to_oneself()
            }
            Verb::Panic
            | Verb::TryChangeNow(_)
            | Verb::TrySendNow
            | Verb::ChangeAfter(..)
            | Verb::SendAfter(_)
            | Verb::Sleep(_) => {
                unreachable!("it is no such request")
            }
        }
    }

    /// Rule 16.
    fn last_active_in(&mut self, composite: Id) -> Id {
        if !self.program.states[usize::from(composite)].keeps_history {
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

    /// Rules 5 to 8. `left` is left even if it is active around the target.
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
        if asked.is_empty()
            && leave.iter().any(|state| self.program.states[usize::from(*state)].refuses_exit == u8::MAX)
        {
            self.corners.insert(Corner::ForcedPastAGuard);
        }
        if !self.may(&change, asked, enter)? {
            return Ok(false);
        }
        self.leave_all(leave, Callback::Exit, change.to)?;
        self.entered_at.retain(|state, _| old[..common].contains(state));
        self.stays.retain(|state, _| old[..common].contains(state));
        self.leave_timers();
        let now = self.now();
        let entries = enter.iter().map(|state| (*state, Entry { at: now, stay: None })).collect();
        self.arrive(&change, enter, &entries)?;
        self.complete(&change, enter, &entries, Callback::Enter)
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
        // Rule 18: from here on, time stands still in it.
        let now = self.now();
        let times = old.iter().map(|state| (*state, self.time_in(*state))).collect();
        let waiting = self.suspend_timers();
        self.stays.clear();
        self.stack.push(Suspended { current: self.current, times, timers: waiting });
        self.entered_at.clear();
        self.leave_timers();
        let entries = new.iter().map(|state| (*state, Entry { at: now, stay: None })).collect();
        self.arrive(&change, &new, &entries)?;
        self.complete(&change, &new, &entries, Callback::Enter)
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
        let Suspended { times, timers, .. } = self.stack.pop().expect("it was there");
        if times.values().any(|time| *time > 0) {
            self.corners.insert(Corner::TimeWentOn);
        }
        self.entered_at.clear();
        self.stays.clear();
        self.leave_timers();
        // Rule 18: as if it had been entered later. For a callback that has run since before the push it is another stay.
        let now = self.now();
        let mut entries = BTreeMap::new();
        for (state, time) in times {
            self.last_stay += 1;
            entries.insert(state, Entry { at: now - time, stay: Some(self.last_stay) });
        }
        // Rule 25: they go on, behind those that run, each with its state.
        let now = self.now_exact();
        for Timer { due, of, then } in timers {
            let of = of.and_then(|(state, _)| Some((state, entries[&state].stay?)));
            self.timers.push(Timer { due: now + due, of, then });
        }
        let mut outcome = self.arrive(&change, &new, &entries).map(|()| true);
        if outcome.is_ok() {
            outcome = self.complete(&change, &new, &entries, Callback::Resume);
        }
        // Rules 15, 22: what has not been resumed by now never is.
        let before = self.timers.len();
        let stays = &self.stays;
        self.timers.retain(|timer| timer.of.is_none_or(|(state, stay)| stays.get(&state) == Some(&stay)));
        if self.timers.len() < before {
            self.corners.insert(Corner::NeverResumed);
        }
        outcome
    }

    /// Rule 8. The states come from the outermost to the innermost.
    fn may(&mut self, change: &Change, leave: &[Id], enter: &[Id]) -> Outcome<bool> {
        let exits = leave.iter().rev().map(|state| (Guard::CanExit, *state));
        let enters = enter.iter().map(|state| (Guard::CanEnter, *state));
        for (guard, state) in exits.chain(enters) {
            let seen = self.seen(change.to);
            let id = |state: Option<Id>| state.map_or(0, |state| u32::from(state) + 1);
            let (number, corner) = match self.program.states[usize::from(state)].reads {
                Read::Counter if guard == Guard::CanEnter => (self.counter, Corner::RefusedEnter),
                Read::Counter => (self.counter, Corner::RefusedExit),
                Read::Time => {
                    let time = seen.times.last().copied().unwrap_or(self.now());
                    (u32::try_from(time.rem_euclid(8)).expect("below 8"), Corner::RefusedByTime)
                }
                Read::Target => (id(change.to), Corner::RefusedByTarget),
                Read::Previous => (id(self.previous), Corner::RefusedByPrevious),
                Read::Requests => (u32::from(seen.has_requests), Corner::RefusedByRequests),
            };
            let allowed = self.program.allows(state, guard, number);
            self.record(Event::Asked(state, guard, seen, allowed))?;
            if !allowed {
                self.corners.insert(corner);
                self.told(change, Some((guard, state)))?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Rule 5: previous := current, then the exits, innermost first. Rule 16: who is left remembers who was in it.
    fn leave_all(&mut self, states: &[Id], callback: Callback, target: Option<Id>) -> Outcome<()> {
        if self.current.is_some() {
            self.previous = self.current;
        }
        for state in states.iter().rev() {
            self.leaving = true;
            self.call(*state, false, callback, target)?;
            self.leaving = false;
            if self.program.states[usize::from(*state)].keeps_history && Some(*state) != self.current {
                self.history.extend(self.current.map(|current| (*state, current)));
            }
        }
        self.left.extend(states);
        Ok(())
    }

    /// Rule 5: current := target, and the owner is told. Rule 22: if that panics, the outermost state has been entered.
    fn arrive(&mut self, change: &Change, states: &[Id], entries: &BTreeMap<Id, Entry>) -> Outcome<()> {
        self.carried_out += 1;
        self.changes += 1;
        self.current = None;
        if let Some(outermost) = states.first() {
            self.be_in(*outermost, entries[outermost]);
        }
        self.told(change, None)
    }

    fn be_in(&mut self, state: Id, entry: Entry) {
        self.current = Some(state);
        self.entered_at.insert(state, entry.at);
        self.stays.extend(entry.stay.map(|stay| (state, stay)));
    }

    fn told(&mut self, change: &Change, refused_by: Option<(Guard, Id)>) -> Outcome<()> {
        self.record(Event::Told(change.from, change.to, change.cause.to_owned(), refused_by))
    }

    /// Something of the game's is called, which may panic.
    fn record(&mut self, event: Event) -> Outcome<()> {
        self.events.push(event);
        let is_last = self.fuse == 1;
        self.fuse = self.fuse.saturating_sub(1);
        if is_last { Err(Panicked) } else { Ok(()) }
    }

    /// Rule 5: the owner is told that the change is complete, unless another was made meanwhile.
    fn complete(
        &mut self,
        change: &Change,
        states: &[Id],
        entries: &BTreeMap<Id, Entry>,
        callback: Callback,
    ) -> Outcome<bool> {
        if self.enter_all(states, entries, callback, change.to)? {
            self.record(Event::Completed(change.from, change.to, change.cause.to_owned()))?;
        }
        Ok(true)
    }

    /// Rule 5: each is current while it is entered; a change made meanwhile abandons the rest. Returns whether none was.
    fn enter_all(
        &mut self,
        states: &[Id],
        entries: &BTreeMap<Id, Entry>,
        callback: Callback,
        target: Option<Id>,
    ) -> Outcome<bool> {
        let changes = self.changes;
        for (i, state) in states.iter().enumerate() {
            self.be_in(*state, entries[state]);
            self.entering += 1;
            self.call(*state, false, callback, target)?;
            self.entering -= 1;
            if self.changes != changes {
                let is_last = i + 1 == states.len();
                self.corners.insert(match callback {
                    _ if is_last => Corner::NeverComplete,
                    Callback::Resume => Corner::AbandonedResume,
                    _ => Corner::Abandoned,
                });
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Calls a callback of a change to `target`, or one of no change. Returns whether it handles the message, if it is one.
    fn call(&mut self, state: Id, is_global: bool, callback: Callback, target: Option<Id>) -> Outcome<bool> {
        // Rule 15: by default `suspend` calls `exit` and `resume` calls `enter`.
        let callback = match callback {
            Callback::Suspend if !self.program.states[usize::from(state)].knows_stacks => Callback::Exit,
            Callback::Resume if !self.program.states[usize::from(state)].knows_stacks => Callback::Enter,
            other => other,
        };
        let seen = self.seen(target);
        if seen.times.first() > seen.times.last() {
            self.corners.insert(Corner::OlderParent);
        }
        self.record(Event::Called(state, callback, seen))?;
        let counter = self.counter;
        self.counter += 1;
        let asking = if is_global { None } else { Some((state, self.stay(state))) };
        let asked_before = std::mem::replace(&mut self.asking, asking);
        self.use_verbs(&self.program.verbs(state, callback, counter), target)?;
        self.asking = asked_before;
        Ok(self.program.handles(state, counter))
    }

    /// Uses verbs of the handle, in a callback of a change to `target`.
    fn use_verbs(&mut self, verbs: &[Verb], target: Option<Id>) -> Outcome<()> {
        let changes = self.changes;
        for verb in verbs {
            let outcome = self.use_verb(*verb)?;
            // Rule 8: a change made meanwhile has taken the place of the one under way.
            let target = if self.changes == changes { target } else { None };
            match outcome {
                None => {}
                Some(Ok(done)) => self.record(Event::Now(done, target))?,
                Some(Err(Panicked)) => self.record(Event::Caught(target))?,
            }
        }
        Ok(())
    }

    /// Uses a verb of the handle. Returns what it returns, if anything, or that the callback has caught a panic.
    fn use_verb(&mut self, verb: Verb) -> Outcome<Option<Outcome<bool>>> {
        if self.fuel == 0 {
            return Ok(None);
        }
        self.fuel -= 1;
        match verb {
            Verb::Panic => return Err(Panicked),
            Verb::ChangeNow(_) | Verb::SendNow => return self.carry_out_now(verb).map(Ok).map(Some),
            Verb::TryChangeNow(to) => return Ok(Some(self.try_now(Verb::ChangeNow(to)))),
            Verb::TrySendNow => return Ok(Some(self.try_now(Verb::SendNow))),
            // Rule 12.
            _ if self.leaving => {
                self.corners.insert(Corner::AskedInExit);
            }
            request => {
                if let Verb::Sleep(wait) = request {
                    self.wanted = Some(wait.seconds());
                }
                self.requests.push_back(self.request(request));
            }
        }
        Ok(None)
    }

    /// Rule 22: the machine is where a panic has left it, and the callback goes on.
    fn try_now(&mut self, request: Verb) -> Outcome<bool> {
        let Self { leaving, asking, entering, offering, .. } = *self;
        let left = self.left.clone();
        let outcome = self.carry_out_now(request);
        if outcome.is_err() {
            self.corners.insert(Corner::Caught);
            if !self.requests.is_empty() {
                self.corners.insert(Corner::CaughtWithRequests);
            }
            self.requests.clear();
            self.wanted = None;
            self.is_due_to_sleep = false;
            self.left.extend(left);
            (self.leaving, self.asking, self.entering, self.offering) = (leaving, asking, entering, offering);
        }
        outcome
    }

    fn request(&self, verb: Verb) -> Request {
        let after = |wait: Wait, then| Request::After(Timer { due: time(wait.seconds()), of: self.asking, then });
        match verb {
            Verb::ChangeAfter(wait, to) => after(wait, Verb::Change(to)),
            Verb::SendAfter(wait) => after(wait, Verb::Send),
            verb => Request::Verb(verb),
        }
    }

    /// Rules 11, 12 and 24.
    fn carry_out_now(&mut self, request: Verb) -> Outcome<bool> {
        if self.leaving {
            let is_message = request == Verb::SendNow;
            self.corners.insert(if is_message { Corner::SentNowInExit } else { Corner::NowInExit });
            return Ok(false);
        }
        if !self.requests.is_empty() {
            self.corners.insert(Corner::NowAfterRequests);
        }
        self.carry_out_all()?;
        if self.carried_out == 64 {
            self.corners.insert(Corner::CycleOfNow);
        }
        let done = self.carry_out(Request::Verb(request))?;
        self.carry_out_all()?;
        Ok(done)
    }

    /// From the outermost ancestor down to `state`.
    fn path(&self, state: Option<Id>) -> Vec<Id> {
        let mut path: Vec<_> =
            std::iter::successors(state, |state| self.program.states[usize::from(*state)].parent).collect();
        path.reverse();
        path
    }

    /// Rule 6: down through initial children.
    fn descend(&self, mut state: Id) -> Id {
        while let Some(initial) = self.program.states[usize::from(state)].initial {
            state = initial;
        }
        state
    }

    /// Rule 18: one that has not been entered counts from 0.
    fn time_in(&self, state: Id) -> i64 {
        self.now() - self.entered_at.get(&state).copied().unwrap_or(0)
    }

    fn seen(&self, target: Option<Id>) -> Seen {
        let path = self.path(self.current);
        let times = path.iter().map(|state| self.time_in(*state)).collect();
        Seen { previous: self.previous, path, times, target, has_requests: !self.requests.is_empty() }
    }
}

/// Rule 25: seconds that are no time count as none.
fn time(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "the clock shows fewer than 2^53 seconds")]
fn exact(seconds: i64) -> f64 {
    seconds as f64
}
