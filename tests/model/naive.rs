//! The rules, as plainly as they can be written: no cleverness, no speed, nothing shared with the crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::program::{Callback, Event, Guard, Id, Program, Seen, Step, Verb};

/// Something that a generator of programs should lead to now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Corner {
    /// Rule 5: a change made in an `enter` has abandoned the rest of the one under way, in a change, push, pop, start.
    Abandoned,
    AbandonedResume,
    /// Rule 8.
    RefusedExit,
    RefusedEnter,
    /// Rule 9.
    NothingToRevertTo,
    /// Rule 11: a change within the call had earlier requests to carry out.
    NowAfterRequests,
    /// Rule 12.
    AskedInExit,
    NowInExit,
    /// Rule 13.
    Cycle,
    CycleOfNow,
    /// Rule 14: a state was not offered a message that it would have been.
    LeftBeforeItsTurn,
    /// Rule 15.
    PopOfNothing,
    PopToNoState,
    StackFull,
    /// Rule 16.
    HistoryUsed,
    HistoryUsedFromInside,
    /// Rule 22.
    Panicked,
}

impl Corner {
    pub(crate) const ALL: [Self; 17] = [
        Self::Abandoned,
        Self::AbandonedResume,
        Self::RefusedExit,
        Self::RefusedEnter,
        Self::NothingToRevertTo,
        Self::NowAfterRequests,
        Self::AskedInExit,
        Self::NowInExit,
        Self::Cycle,
        Self::CycleOfNow,
        Self::LeftBeforeItsTurn,
        Self::PopOfNothing,
        Self::PopToNoState,
        Self::StackFull,
        Self::HistoryUsed,
        Self::HistoryUsedFromInside,
        Self::Panicked,
    ];
}

/// A callback has panicked.
struct Panicked;

type Outcome<R> = Result<R, Panicked>;

struct Model<'p> {
    program: &'p Program,
    current: Option<Id>,
    previous: Option<Id>,
    global: Option<Id>,
    stack: Vec<Option<Id>>,
    history: BTreeMap<Id, Id>,
    entered_at: u32,
    /// Rule 10: one line of requests for the whole callback.
    requests: VecDeque<Verb>,
    /// Rule 13: the changes carried out for this callback.
    carried_out: u32,
    /// Rule 12: whether an `exit` or `suspend` is running.
    leaving: bool,
    /// Rule 14: the states left since the message was offered.
    left: BTreeSet<Id>,
    /// All changes ever, to see whether one has happened meanwhile.
    changes: u32,
    counter: u32,
    fuel: u32,
    events: Vec<Event>,
    corners: BTreeSet<Corner>,
}

/// Runs the program and returns what happens, and which corners it has led to.
pub(crate) fn run(program: &Program) -> (Vec<Event>, BTreeSet<Corner>) {
    let mut model = Model {
        program,
        current: program.current,
        previous: None,
        global: program.global,
        stack: Vec::new(),
        history: BTreeMap::new(),
        entered_at: 0,
        requests: VecDeque::new(),
        carried_out: 0,
        leaving: false,
        left: BTreeSet::new(),
        changes: 0,
        counter: 0,
        fuel: 0,
        events: Vec::new(),
        corners: BTreeSet::new(),
    };
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
        let seen = model.seen();
        model.events.push(Event::At(seen));
    }
    (model.events, model.corners)
}

impl Model<'_> {
    fn step(&mut self, step: &Step) -> Outcome<Option<bool>> {
        self.begin();
        match step {
            Step::Start => self.start()?,
            Step::Stop => self.stop()?,
            Step::Update => self.update()?,
            Step::Send => return self.send().map(Some),
            Step::Outside(Verb::ChangeNow(_) | Verb::Panic) | Step::Clone => {}
            Step::Outside(verb) => {
                let done = self.carry_out(*verb)?;
                self.carry_out_all()?;
                return Ok(Some(done));
            }
            Step::With(verbs) => {
                for verb in verbs {
                    self.use_verb(*verb)?;
                }
                self.carry_out_all()?;
            }
            Step::SetCurrent(state) => self.current = Some(*state),
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
    }

    /// Rule 1.
    fn start(&mut self) -> Outcome<()> {
        let path = self.path(self.current);
        self.enter_all(&path, Callback::Enter)?;
        self.carry_out_all()
    }

    /// Rule 1.
    fn stop(&mut self) -> Outcome<()> {
        let path = self.path(self.current);
        self.leave_all(&path, Callback::Exit)?;
        self.current = None;
        self.stack.clear();
        Ok(())
    }

    /// Rule 4.
    fn update(&mut self) -> Outcome<()> {
        if let Some(global) = self.global {
            self.begin();
            self.call(global, Callback::Update)?;
            self.carry_out_all()?;
        }
        let mut depth = 0;
        loop {
            let path = self.path(self.current);
            if depth >= path.len() {
                return Ok(());
            }
            let was_innermost = depth == path.len() - 1;
            self.begin();
            self.call(path[depth], Callback::Update)?;
            self.carry_out_all()?;
            if was_innermost {
                return Ok(());
            }
            depth += 1;
        }
    }

    /// Rule 14.
    fn send(&mut self) -> Outcome<bool> {
        let path = self.path(self.current);
        self.left.clear();
        for state in path.into_iter().rev() {
            if self.left.contains(&state) {
                if Some(state) != self.current {
                    self.corners.insert(Corner::LeftBeforeItsTurn);
                }
                continue;
            }
            self.begin();
            let handled = self.call(state, Callback::Message)?;
            self.carry_out_all()?;
            if handled {
                return Ok(true);
            }
        }
        if let Some(global) = self.global {
            self.begin();
            let handled = self.call(global, Callback::Message)?;
            self.carry_out_all()?;
            return Ok(handled);
        }
        Ok(false)
    }

    /// Rules 10 and 12.
    fn carry_out_all(&mut self) -> Outcome<()> {
        while let Some(request) = self.requests.pop_front() {
            self.carry_out(request)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, request: Verb) -> Outcome<bool> {
        // Rule 13.
        if self.carried_out == 64 {
            self.corners.insert(Corner::Cycle);
            self.requests.clear();
            return Ok(false);
        }
        match request {
            Verb::Change(target) | Verb::ChangeNow(target) => self.change(target, "change"),
            // Rule 9.
            Verb::Revert => {
                let Some(previous) = self.previous else {
                    self.corners.insert(Corner::NothingToRevertTo);
                    return Ok(false);
                };
                self.change(previous, "revert")
            }
            // Rule 16.
            Verb::Resume(composite) => match self.history.get(&composite) {
                Some(descendant) => {
                    self.corners.insert(Corner::HistoryUsed);
                    if self.path(self.current).contains(&composite) {
                        self.corners.insert(Corner::HistoryUsedFromInside);
                    }
                    self.change(*descendant, "resume")
                }
                None => self.change(composite, "resume"),
            },
            Verb::Push(target) => self.push(target),
            Verb::Pop => self.pop(),
            Verb::Panic => unreachable!("a panic is no request"),
        }
    }

    /// Rules 5 to 8.
    fn change(&mut self, target: Id, cause: &'static str) -> Outcome<bool> {
        let old = self.path(self.current);
        let to = self.descend(target);
        let new = self.path(Some(to));
        let mut common = 0;
        while common < old.len() && common < new.len() && old[common] == new[common] && old[common] != target {
            common += 1;
        }
        let (leave, enter) = (&old[common..], &new[common..]);
        if !self.may(Some(to), cause, leave, enter) {
            return Ok(false);
        }
        let from = self.current;
        self.leave_all(leave, Callback::Exit)?;
        self.arrive(from, Some(to), cause);
        self.enter_all(enter, Callback::Enter)?;
        Ok(true)
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
        if !self.may(Some(to), "push", &[], &new) {
            return Ok(false);
        }
        let from = self.current;
        self.leave_all(&old, Callback::Suspend)?;
        self.stack.push(from);
        self.arrive(from, Some(to), "push");
        self.enter_all(&new, Callback::Enter)?;
        Ok(true)
    }

    /// Rule 15.
    fn pop(&mut self) -> Outcome<bool> {
        let Some(to) = self.stack.last().copied() else {
            self.corners.insert(Corner::PopOfNothing);
            return Ok(false);
        };
        if to.is_none() {
            self.corners.insert(Corner::PopToNoState);
        }
        let old = self.path(self.current);
        let new = self.path(to);
        if !self.may(to, "pop", &old, &[]) {
            return Ok(false);
        }
        let from = self.current;
        self.leave_all(&old, Callback::Exit)?;
        self.stack.pop();
        self.arrive(from, to, "pop");
        self.enter_all(&new, Callback::Resume)?;
        Ok(true)
    }

    /// Rule 8. The states come from the outermost to the innermost.
    fn may(&mut self, to: Option<Id>, cause: &'static str, leave: &[Id], enter: &[Id]) -> bool {
        let exits = leave.iter().rev().map(|state| (Guard::CanExit, *state));
        let enters = enter.iter().map(|state| (Guard::CanEnter, *state));
        for (guard, state) in exits.chain(enters) {
            let allowed = self.program.allows(state, guard, self.counter);
            self.events.push(Event::Asked(state, guard, allowed));
            if !allowed {
                self.corners.insert(match guard {
                    Guard::CanEnter => Corner::RefusedEnter,
                    Guard::CanExit => Corner::RefusedExit,
                });
                self.events.push(Event::Told(self.current, to, cause, Some((guard, state))));
                return false;
            }
        }
        true
    }

    /// Rule 5: previous := current, then the exits, innermost first. Rule 16: who is left remembers who was in it.
    fn leave_all(&mut self, states: &[Id], callback: Callback) -> Outcome<()> {
        if self.current.is_some() {
            self.previous = self.current;
        }
        for state in states.iter().rev() {
            self.leaving = true;
            self.left.insert(*state);
            self.call(*state, callback)?;
            self.leaving = false;
            if self.program.states[usize::from(*state)].keeps_history && Some(*state) != self.current {
                self.history.extend(self.current.map(|current| (*state, current)));
            }
        }
        Ok(())
    }

    /// Rule 5: current := target, and the owner is told. Rule 18: the time is recorded.
    fn arrive(&mut self, from: Option<Id>, to: Option<Id>, cause: &'static str) {
        self.carried_out += 1;
        self.changes += 1;
        self.current = to;
        self.entered_at = self.counter;
        self.events.push(Event::Told(from, to, cause, None));
    }

    /// Rule 5: each is current while it is entered; a change made meanwhile abandons the rest.
    fn enter_all(&mut self, states: &[Id], callback: Callback) -> Outcome<()> {
        let changes = self.changes;
        for (i, state) in states.iter().enumerate() {
            self.current = Some(*state);
            self.call(*state, callback)?;
            if self.changes != changes {
                if i + 1 < states.len() {
                    let is_resume = callback == Callback::Resume;
                    self.corners.insert(if is_resume { Corner::AbandonedResume } else { Corner::Abandoned });
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Calls a callback. Returns whether it handles the message, if it is one.
    fn call(&mut self, state: Id, callback: Callback) -> Outcome<bool> {
        // Rule 15: by default `suspend` calls `exit` and `resume` calls `enter`.
        let callback = match callback {
            Callback::Suspend if !self.program.states[usize::from(state)].knows_stacks => Callback::Exit,
            Callback::Resume if !self.program.states[usize::from(state)].knows_stacks => Callback::Enter,
            other => other,
        };
        let seen = self.seen();
        self.events.push(Event::Called(state, callback, seen));
        let counter = self.counter;
        self.counter += 1;
        for verb in self.program.verbs(state, callback, counter) {
            self.use_verb(verb)?;
        }
        Ok(self.program.handles(state, counter))
    }

    /// Uses a verb of the handle.
    fn use_verb(&mut self, verb: Verb) -> Outcome<()> {
        if self.fuel == 0 {
            return Ok(());
        }
        self.fuel -= 1;
        match verb {
            Verb::Panic => return Err(Panicked),
            Verb::ChangeNow(target) => {
                let done = self.change_now(target)?;
                self.events.push(Event::Now(done));
            }
            // Rule 12.
            _ if self.leaving => {
                self.corners.insert(Corner::AskedInExit);
            }
            request => self.requests.push_back(request),
        }
        Ok(())
    }

    /// Rules 11 and 12.
    fn change_now(&mut self, target: Id) -> Outcome<bool> {
        if self.leaving {
            self.corners.insert(Corner::NowInExit);
            return Ok(false);
        }
        if !self.requests.is_empty() {
            self.corners.insert(Corner::NowAfterRequests);
        }
        self.carry_out_all()?;
        if self.carried_out == 64 {
            self.corners.insert(Corner::CycleOfNow);
        }
        let done = self.carry_out(Verb::ChangeNow(target))?;
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

    fn seen(&self) -> Seen {
        Seen {
            current: self.current,
            previous: self.previous,
            path: self.path(self.current),
            entered_at: self.entered_at,
        }
    }
}
