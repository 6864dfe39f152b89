//! Runs the program on the simple [rules](crate::rules).

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use crate::corner::Corner;
use crate::program::{Callback, End, Event, Guard, Id, Program, Read, Seen, StateRow, Step, Verb, Wake};
use crate::rules::regions::{At, Regions as _};
use crate::rules::{Change, Descent, Machine, Offering, Outcome, Panicked, Request, Rules, Seat, Then};

#[derive(Default)]
struct Model {
    machine: Machine<()>,
    program: Program,
    counter: u32,
    /// The clock's time, without the callbacks that it may count.
    seconds: i64,
    fuel: u32,
    /// After how many more events an event panics; 0 if none does.
    fuse: u32,
    events: Vec<Event>,
}

impl Deref for Model {
    type Target = Machine<()>;

    fn deref(&self) -> &Machine<()> {
        &self.machine
    }
}

impl DerefMut for Model {
    fn deref_mut(&mut self) -> &mut Machine<()> {
        &mut self.machine
    }
}

/// Runs the program. Returns its events and the special cases that it has reached.
pub(crate) fn run(program: &Program) -> (Vec<Event>, BTreeSet<Corner>) {
    let machine = Machine::new(program.current, program.global);
    let mut model = Model { machine, program: program.clone(), ..Model::default() };
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
        model.move_to(&[]);
        let (seen, active, wake) = (model.seen(None), model.active_states(), model.next_wake());
        model.events.push(Event::At(seen, active, wake));
    }
    (model.events, model.machine.corners)
}

impl Rules for Model {
    type Word = ();

    fn row(&self, state: Id) -> &StateRow {
        &self.program.states[usize::from(state)]
    }

    fn now(&self) -> i64 {
        self.seconds + if self.program.clock_counts { self.counter.into() } else { 0 }
    }

    fn perform(&mut self, state: Id, callback: Callback, _: Option<()>, target: Option<Id>) -> Outcome<bool> {
        let seen = self.seen(target);
        if seen.times.first() > seen.times.last() {
            self.corners.insert(Corner::OlderParent);
        }
        self.record(Event::Called(state, callback, seen))?;
        let counter = self.counter;
        self.counter += 1;
        self.use_verbs(&self.program.verbs(state, callback, counter), target)?;
        Ok(self.program.handles(state, counter))
    }

    fn allows(&mut self, change: &Change, guard: Guard, state: Id) -> Outcome<bool> {
        let seen = self.seen(change.to);
        let id = |state: Option<Id>| state.map_or(0, |state| u32::from(state) + 1);
        let (number, corner) = match self.row(state).reads {
            Read::Counter if guard == Guard::CanEnter => (self.counter, Corner::RefusedEnter),
            Read::Counter => (self.counter, Corner::RefusedExit),
            Read::Time => {
                let time = self.current.map_or(self.now(), |current| self.time_in(current));
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
        }
        Ok(allowed)
    }

    fn told(&mut self, change: &Change, refused_by: Option<(Guard, Id)>) -> Outcome<()> {
        self.record(Event::Told(change.from, change.to, cause_of(change), refused_by))
    }

    fn ended(&mut self, change: &Change, end: End, state: Id) -> Outcome<()> {
        self.record(Event::Ended(change.from, change.to, cause_of(change), end, state))
    }

    fn completed(&mut self, change: &Change) -> Outcome<()> {
        self.record(Event::Completed(change.from, change.to, cause_of(change)))
    }

    fn updated(&mut self) -> Outcome<()> {
        let seen = self.seen(None);
        self.record(Event::Updated(seen)).inspect_err(|_| _ = self.corners.insert(Corner::EndPanicked))
    }
}

/// Returns the cause of a change, and the state in whose region it is made.
fn cause_of(change: &Change) -> String {
    change.within.map_or_else(|| change.cause.to_owned(), |within| format!("{} in {within}", change.cause))
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
                let is_asleep = |seat: &Seat<()>| seat.sleeps_until.is_some();
                let was_asleep =
                    self.all_seats().all(|(at, seat)| is_asleep(seat) || !at.is_empty() && seat.current.is_none());
                self.each_seat(|machine| _ = machine.wake(Corner::WokeFromOutside));
                return Ok(Some(was_asleep));
            }
            Step::Start => self.start()?,
            Step::Stop => self.stop()?,
            Step::Update => self.update()?,
            Step::Send => {
                // Rule 13: each callback has a count of its own.
                return self.offer((), Offering::FromOutside).map(Some);
            }
            Step::Outside(verb) if verb.is_of_a_handle() => {}
            // These steps make no difference.
            Step::Clone | Step::Load => {}
            Step::Fuse(events) => self.fuse = *events,
            Step::Outside(Verb::Sleep(wait)) => {
                let now = self.now_exact();
                self.each_seat(|machine| machine.sleep(wait.seconds(), now));
            }
            Step::Outside(verb) => {
                let request = self.request(*verb);
                let done = self.carry_out_at(&Vec::new(), request)?;
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

    /// Rule 26.
    fn next_wake(&self) -> Wake {
        let is_updated = |state: &Id| !self.row(*state).is_passive;
        let is_updating = |(at, seat): (&At, &Seat<()>)| {
            seat.next.is_some() || seat.sleeps_until.is_none() && self.path_in(at, seat).iter().any(is_updated)
        };
        if self.global.iter().any(is_updated) || self.all_seats().any(is_updating) {
            return Wake::EveryTick;
        }
        let sleeps = self.all_seats().filter_map(|(_, seat)| seat.sleeps_until);
        let next = self.timers.iter().map(|timer| timer.due).chain(sleeps).fold(f64::INFINITY, f64::min);
        if next < f64::INFINITY { Wake::At(next) } else { Wake::Never }
    }

    /// Records an event. Code of the game is called, which may panic.
    fn record(&mut self, event: Event) -> Outcome<()> {
        self.events.push(event);
        let is_last = self.fuse == 1;
        self.fuse = self.fuse.saturating_sub(1);
        if is_last { Err(Panicked) } else { Ok(()) }
    }

    /// Makes requests with the handle, in a callback during a change to `target` if there is one.
    fn use_verbs(&mut self, verbs: &[Verb], target: Option<Id>) -> Outcome<()> {
        let (made, at) = (self.made, self.at.clone());
        for verb in verbs {
            let outcome = self.use_verb(*verb)?;
            // Rule 8: a change made meanwhile has replaced the change under way. Rule 38: `stay` has moved its target here.
            let target = match self.descent {
                Some(Descent::Stayed) if target.is_some() => self.current,
                _ if self.made == made && self.at == at => target,
                _ => None,
            };
            match outcome {
                None => {}
                Some(Ok(done)) => self.record(Event::Now(done, target))?,
                Some(Err(Panicked)) => self.record(Event::Caught(target))?,
            }
        }
        Ok(())
    }

    /// Makes a request with the handle. Returns its result if it has one, or that the callback has caught a panic.
    fn use_verb(&mut self, verb: Verb) -> Outcome<Option<Outcome<bool>>> {
        if self.fuel == 0 {
            return Ok(None);
        }
        self.fuel -= 1;
        match verb {
            Verb::Panic => return Err(Panicked),
            Verb::ChangeNow(_) | Verb::PushNow(_) | Verb::PopNow | Verb::SendNow => {
                return self.carry_out_now(self.request(verb), false).map(Ok).map(Some);
            }
            Verb::ChangeAhead(_) | Verb::SendAhead => {
                return self.carry_out_now(self.request(verb), true).map(Ok).map(Some);
            }
            Verb::Replace(to) => self.replace(to),
            Verb::Clear => self.clear(),
            Verb::CancelTo(state) => {
                let path = self.seat_path();
                return Ok(Some(Ok(self.cancel(&path, |then| matches!(then, Then::Change(to) if *to == state)))));
            }
            Verb::CancelMessages => {
                let path = self.seat_path();
                return Ok(Some(Ok(self.cancel(&path, |then| matches!(then, Then::Tell(()))))));
            }
            Verb::Stay => self.stay_here(),
            Verb::TryChangeNow(to) => return Ok(Some(self.try_now(Verb::ChangeNow(to)))),
            Verb::TrySendNow => return Ok(Some(self.try_now(Verb::SendNow))),
            verb => self.ask(self.request(verb)),
        }
        Ok(None)
    }

    /// Rule 22: after a panic, the machine stays as the panic has left it, and the callback continues.
    fn try_now(&mut self, request: Verb) -> Outcome<bool> {
        let Machine { leaving, asking, entering, offering, changes, descent, .. } = self.machine;
        let left = self.left.clone();
        let outcome = self.carry_out_now(self.request(request), false);
        if outcome.is_err() {
            self.corners.insert(Corner::Caught);
            if !self.requests.is_empty() {
                self.corners.insert(Corner::CaughtWithRequests);
            }
            self.requests.clear();
            self.wanted = None;
            self.is_due_to_sleep = false;
            self.left.extend(left);
            self.descent = if self.changes == changes { descent } else { None };
            (self.leaving, self.asking, self.entering, self.offering) = (leaving, asking, entering, offering);
        }
        outcome
    }

    fn request(&self, verb: Verb) -> Request<()> {
        match verb {
            Verb::ChangeNow(to) | Verb::ChangeAhead(to) => Request::Verb(Verb::Change(to)),
            Verb::PushNow(over) => Request::Verb(Verb::Push(over)),
            Verb::PopNow => Request::Verb(Verb::Pop),
            Verb::Send | Verb::SendNow | Verb::SendAhead => Request::Tell(()),
            Verb::ChangeAfter(wait, to) => self.after(wait.seconds(), Then::Change(to)),
            Verb::SendAfter(wait) => self.after(wait.seconds(), Then::Tell(())),
            Verb::SendEvery(wait) => self.every(wait.seconds(), ()),
            Verb::PopAfter(wait) => self.after(wait.seconds(), Then::Pop),
            verb => Request::Verb(verb),
        }
    }

    fn seen(&self, target: Option<Id>) -> Seen {
        let path = [self.around(), self.seat_path()].concat();
        let times = path.iter().map(|state| self.time_in(*state)).collect();
        Seen { previous: self.previous, path, times, target, has_requests: !self.requests.is_empty() }
    }
}
