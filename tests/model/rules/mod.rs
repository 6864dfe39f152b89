//! The rules of one machine in their simplest form: not optimized, and sharing no code with the crate. The implementor of
//! [`Rules`] decides what a callback does and what is reported.
#![allow(dead_code, reason = "the model of casts does not use everything that a machine can do")]

pub(crate) mod corner;
mod line;
#[path = "../program.rs"]
pub(crate) mod program;
pub(crate) mod regions;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use self::corner::Corner;
use self::line::Line;
use self::program::{Callback, End, Guard, Id, LIMIT, StateRow, Verb};
use self::regions::{At, Branch, Memory, Regions as _};

pub(crate) use crate::told_panic::Panicked;

pub(crate) type Outcome<R> = Result<R, Panicked>;

/// What a machine, or one of its regions, has by itself (rule 32).
#[derive(Default)]
pub(crate) struct Seat<W> {
    pub(crate) current: Option<Id>,
    pub(crate) previous: Option<Id>,
    /// Rule 36: the target of the change that is made at the beginning of the next tick.
    pub(crate) next: Option<Id>,
    /// Rule 26: until when it sleeps, if it does.
    pub(crate) sleeps_until: Option<f64>,
    /// Rule 26: how many seconds a callback has requested to sleep since the last change.
    pub(crate) wanted: Option<f64>,
    stack: Vec<Suspended<W>>,
    /// The number of changes.
    pub(crate) made: u32,
}

/// The state of one owner's machine. `W` is the type of messages to oneself.
#[derive(Default)]
pub(crate) struct Machine<W> {
    /// The seat whose callback is running.
    seat: Seat<W>,
    /// Where this seat is.
    pub(crate) at: At,
    /// The other seats.
    others: BTreeMap<At, Seat<W>>,
    /// How often regions have been opened.
    openings: u32,
    pub(crate) global: Option<Id>,
    /// Rule 18: when each active state was entered. States that have not been entered are missing.
    entered_at: BTreeMap<Id, i64>,
    /// Rule 25: the current stay in each active state. A timer belongs to one stay.
    stays: BTreeMap<Id, Stay>,
    last_stay: Stay,
    /// Rule 25: the running timers, in the order in which they were set.
    pub(crate) timers: Vec<Timer<W>>,
    /// Rule 25: the state whose callback is running. `None` for the global state, or if no callback is running.
    pub(crate) asking: Option<(Id, Stay)>,
    /// Whether a request to sleep has been carried out.
    pub(crate) is_due_to_sleep: bool,
    /// Rule 16: what was active last in a composite state, or in one of its regions.
    history: BTreeMap<(Id, Option<usize>), Id>,
    /// Rule 10: the queue of requests for the whole callback, each with the place of the seat in which it was made.
    pub(crate) requests: Line<(At, Request<W>)>,
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
        let mut machine = Self { global, ..Self::default() };
        machine.current = current;
        machine
    }
}

impl<W> Deref for Machine<W> {
    type Target = Seat<W>;

    fn deref(&self) -> &Seat<W> {
        &self.seat
    }
}

impl<W> DerefMut for Machine<W> {
    fn deref_mut(&mut self) -> &mut Seat<W> {
        &mut self.seat
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Descent {
    Open,
    Stayed,
}

/// A suspended path, and how long each of its states had been active.
pub(crate) struct Suspended<W> {
    current: Option<Id>,
    times: BTreeMap<Id, i64>,
    /// Each timer with the seconds that remain.
    timers: Vec<Timer<W>>,
    /// Rule 36.
    next: Option<Id>,
    /// What is suspended in the regions of the current state. Each has its path on its stack.
    regions: Vec<Seat<W>>,
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
    Pop,
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
    /// The state in whose region it is made.
    pub(crate) within: Option<Id>,
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
        self.forget_sleep();
    }

    /// Ends an outermost callback: its requests are carried out, and then the machine falls asleep if this was requested
    /// (rules 10, 26).
    fn settle(&mut self) -> Outcome<()> {
        self.carry_out_all()?;
        let now = self.now_exact();
        if self.is_due_to_sleep {
            self.each_seat(|machine| {
                if let Some(seconds) = machine.wanted {
                    machine.sleep(seconds, now);
                }
            });
        }
        self.forget_sleep();
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
        self.close();
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
        // Rule 32: the machine may have been set to a state in a region.
        let current = self.placed().unwrap_or(current);
        let innermost = self.descend(current);
        if innermost != current {
            self.corners.insert(Corner::WentDownInStart);
        }
        let Branch { path, regions } = self.branch(&self.path(Some(innermost)), 0, &Memory::new());
        let entries = self.entries(&path);
        self.close();
        self.entered_at.clear();
        self.stays.clear();
        self.leave_timers();
        self.enter_all(&entries, (&regions, Vec::new()), Callback::Enter, None)?;
        self.settle()
    }

    /// Rule 1.
    fn stop(&mut self) -> Outcome<()> {
        let path = self.path(self.current);
        self.leave_all(&path, Callback::Exit, None)?;
        self.close();
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
        self.update_path(is_global_updated, &mut is_updated)?;
        if !is_updated {
            self.corners.insert(Corner::NothingUpdated);
            return Ok(());
        }
        self.begin();
        self.updated()
    }

    /// Updates the path of the seat, then its regions (rule 32).
    fn update_path(&mut self, is_global_updated: bool, is_updated: &mut bool) -> Outcome<()> {
        let (at, mut made, mut depth) = (self.at.clone(), self.made, 0);
        let mut regions = self.regions();
        loop {
            let path = self.seat_path();
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
            (made, regions) = (self.made, self.regions());
            *is_updated |= self.update_state(path[depth], false)?;
            if self.at != at {
                return Ok(());
            }
            if was_innermost {
                break;
            }
            depth += 1;
        }
        // The last callback has left the state whose regions were open, or has just opened them.
        if self.made != made {
            return Ok(());
        }
        for region in regions {
            self.move_to(&region);
            self.begin();
            self.carry_out_due()?;
            if self.at == region {
                self.update_path(is_global_updated, is_updated)?;
            }
            if self.at != region {
                self.corners.insert(Corner::RegionsLeftInATick);
                return Ok(());
            }
            self.move_to(&at);
        }
        Ok(())
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
        let here = self.at.clone();
        self.move_to(&At::new());
        let left_before = std::mem::take(&mut self.left);
        let handled = self.offer_on_the_path(word, offering);
        // What was left before also counts for a message around this one if a panic ends this one.
        self.left.extend(left_before);
        let mut handled = handled?;
        if let Some(global) = self.global.filter(|_| !handled) {
            handled = self.hear(word, global, (true, true), offering)?;
        }
        self.move_to(&here);
        Ok(handled)
    }

    /// Offers a message to all states except the global one. Returns whether it was handled.
    fn offer_on_the_path(&mut self, word: Self::Word, offering: Offering) -> Outcome<bool> {
        let path = self.path(self.current);
        let has_global = self.global.is_some();
        let mut left_before = Vec::new();
        let inside = self.offer_inside(word, offering, !path.is_empty() || has_global, &mut left_before);
        self.left.extend(left_before.into_iter().flatten());
        let mut handled = inside?;
        self.move_to(&At::new());
        let outermost = path.first().copied().filter(|_| !has_global);
        for state in path.into_iter().rev().filter(|_| !handled) {
            if self.left.contains(&state) {
                if Some(state) != self.current {
                    self.corners.insert(Corner::LeftBeforeItsTurn);
                }
            } else if self.hear(word, state, (false, Some(state) == outermost), offering)? {
                handled = true;
                break;
            }
        }
        Ok(handled)
    }

    /// Rule 32: offers a message in the open regions. `goes_on` says whether there are states around them. Returns whether it was
    /// handled. `left_before` has what was left before the regions were entered from which a panic leads out.
    fn offer_inside(
        &mut self,
        word: Self::Word,
        offering: Offering,
        goes_on: bool,
        left_before: &mut Vec<BTreeSet<Id>>,
    ) -> Outcome<bool> {
        let mut levels =
            vec![Level { at: self.at.clone(), regions: self.regions(), states: vec![], is_handled: false, goes_on }];
        while let Some(level) = levels.last_mut() {
            // Regions that have been closed meanwhile are skipped.
            if !self.move_to(&level.at.clone()) {
                levels.pop();
                self.left.extend(left_before.pop().unwrap_or_default());
                continue;
            }
            let is_outermost = levels.len() == 1;
            let level = levels.last_mut().expect("it is there");
            if let Some(region) = level.regions.first().cloned().filter(|region| self.regions().contains(region)) {
                level.regions.remove(0);
                self.move_to(&region);
                left_before.push(std::mem::take(&mut self.left));
                let (regions, states) = (self.regions(), self.seat_path());
                levels.push(Level { at: region, regions, states, is_handled: false, goes_on: false });
                continue;
            }
            level.states.retain(|state| !self.left.contains(state));
            let state = level.states.pop().filter(|_| !level.is_handled);
            let Some(state) = state.filter(|_| !is_outermost) else {
                let Level { is_handled, .. } = levels.pop().expect("it is there");
                if levels.is_empty() {
                    return Ok(is_handled);
                }
                self.left.extend(left_before.pop().unwrap_or_default());
                continue;
            };
            let goes_on = |is_handled: bool| {
                levels.iter().any(|level| {
                    !level.regions.is_empty()
                        || !(is_handled || level.is_handled) && (!level.states.is_empty() || level.goes_on)
                })
            };
            let (ends_handled, ends_declined) = (!goes_on(true), !goes_on(false));
            let handled = self.hear_inside(word, state, (ends_handled, ends_declined), offering)?;
            for level in &mut levels {
                level.is_handled |= handled;
            }
        }
        unreachable!("the first level is that of the machine")
    }

    fn hear_inside(
        &mut self,
        word: Self::Word,
        state: Id,
        (ends_handled, ends_declined): (bool, bool),
        offering: Offering,
    ) -> Outcome<bool> {
        self.corners.insert(Corner::HeardInARegion);
        self.hear_and(word, state, false, |handled| if handled { ends_handled } else { ends_declined }, offering)
    }

    fn hear(
        &mut self,
        word: Self::Word,
        state: Id,
        (is_global, is_last): (bool, bool),
        offering: Offering,
    ) -> Outcome<bool> {
        self.hear_and(word, state, is_global, |handled| handled || is_last, offering)
    }

    /// `ends` says whether no other state is offered the message if this one handles or declines it.
    fn hear_and(
        &mut self,
        word: Self::Word,
        state: Id,
        is_global: bool,
        ends: impl Fn(bool) -> bool,
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
        if handled && is_global {
            self.each_seat(|machine| _ = machine.wake(Corner::WokeByAMessage));
        }
        match offering {
            Offering::FromOutside => self.settle()?,
            Offering::InQueue if ends(handled) => {}
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
        while let Some((at, request)) = self.requests.pop() {
            if matches!(request, Request::Tell(_)) {
                self.corners.insert(Corner::SentToOneself);
            }
            self.carry_out_at(&at, request)?;
        }
        Ok(())
    }

    /// Rule 32: carries out a request in the seat in which it was made, or else in that of the machine.
    fn carry_out_at(&mut self, at: &At, request: Request<Self::Word>) -> Outcome<bool> {
        let here = self.at.clone();
        let depends = matches!(
            request,
            Request::Verb(Verb::Revert | Verb::Push(_) | Verb::Pop | Verb::ChangeNext(_) | Verb::Sleep(_))
                | Request::After(_)
                | Request::Due(_)
        );
        let is_open = self.move_to(if depends { at } else { &[] });
        let is_void = matches!(request, Request::Verb(Verb::Revert | Verb::Push(_) | Verb::Pop | Verb::ChangeNext(_)));
        let done = if !is_open && is_void {
            self.corners.insert(Corner::RegionOfARequestLeft);
            Ok(false)
        } else {
            self.carry_out(request)
        };
        self.move_to(&here);
        done
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
            && self.active_states().contains(&target)
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
            if self.requests.iter().any(|(_, request)| matches!(request, Request::Due(_))) {
                self.corners.insert(Corner::DueInACycle);
            }
            self.requests.clear();
            self.forget_sleep();
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
            Verb::Change(target) | Verb::Ensure(target) => self.change(target, target, &Memory::new(), "change"),
            Verb::Force(target) => self.change(target, target, &Memory::new(), "force"),
            // Rule 9.
            Verb::Revert => {
                let Some(previous) = self.previous else {
                    self.corners.insert(Corner::NothingToRevertTo);
                    return Ok(false);
                };
                self.change(previous, previous, &Memory::new(), "revert")
            }
            Verb::Resume(composite) => {
                let (target, memory) = self.last_active_in(composite);
                self.change(target, composite, &memory, "resume")
            }
            Verb::Push(target) => self.push(target),
            Verb::Pop => self.pop(),
            _ => unreachable!("it is no request"),
        }
    }

    /// Rule 16. Also returns what is or was active last in regions.
    fn last_active_in(&mut self, composite: Id) -> (Id, Memory) {
        if !self.row(composite).keeps_history {
            return (composite, Memory::new());
        }
        let memory = self.memory();
        let remembered = self.history.iter().find(|((of, _), _)| *of == composite).map(|(_, last)| *last);
        let Some(current) = self.current_around(composite) else {
            self.corners.extend(remembered.map(|_| Corner::HistoryUsed));
            return (remembered.unwrap_or(composite), memory);
        };
        if current != composite {
            self.corners.insert(Corner::ResumedFromInside);
        }
        if remembered.is_some_and(|remembered| remembered != current) {
            self.corners.insert(Corner::HistoryNotUsedFromInside);
        }
        (current, memory)
    }

    /// Rules 5 to 8 and 32. `left` is exited even if it is active and contains the target.
    fn change(&mut self, target: Id, left: Id, memory: &Memory, cause: &'static str) -> Outcome<bool> {
        let here = self.at.clone();
        self.move_to(&[]);
        let (kept, Branch { path: new, regions }) = self.route(self.descend(target), left, memory);
        let old = self.seat_path();
        let (leave, enter) = (&old[kept..], &new[kept..]);
        let change = Change { from: self.current, to: enter.last().copied(), cause, within: self.composite() };
        // Rule 24.
        let asked = if cause == "force" { &[] } else { leave };
        if asked.is_empty() && leave.iter().any(|state| self.row(*state).refuses_exit == u8::MAX) {
            self.corners.insert(Corner::ForcedPastAGuard);
        }
        let mut done = false;
        if self.may(&change, asked, enter, &regions)? {
            self.leave_all(leave, Callback::Exit, change.to)?;
            self.close();
            for state in leave {
                self.entered_at.remove(state);
                self.stays.remove(state);
            }
            self.leave_timers();
            done = self.arrive(&change, &self.entries(enter), (&regions, Vec::new()), Callback::Enter)?;
        }
        self.move_to(&here);
        Ok(done)
    }

    /// Rule 15.
    fn push(&mut self, target: Id) -> Outcome<bool> {
        if self.stack.len() == 64 {
            self.corners.insert(Corner::StackFull);
            return Ok(false);
        }
        let old = self.seat_path();
        let around = self.around().len();
        let new = self.path(Some(self.descend(target)));
        let region = self.at.last().map(|(composite, nth, _)| (*composite, *nth));
        // Rule 32.
        if region.is_some_and(|(composite, nth)| {
            new.len() <= around || new[around - 1] != composite || self.row(new[around]).region != nth
        }) {
            self.corners.insert(Corner::PushedElsewhere);
            return Ok(false);
        }
        let Branch { path: new, regions } = self.branch(&new[around..], 0, &Memory::new());
        let change = Change { from: self.current, to: new.last().copied(), cause: "push", within: self.composite() };
        if !self.may(&change, &[], &new, &regions)? {
            return Ok(false);
        }
        self.leave_all(&old, Callback::Suspend, change.to)?;
        let suspended = self.suspend(exact(self.now()));
        self.stack.push(suspended);
        self.leave_timers();
        self.arrive(&change, &self.entries(&new), (&regions, Vec::new()), Callback::Enter)
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
        let old = self.seat_path();
        let change = Change { from: self.current, to, cause: "pop", within: self.composite() };
        if !self.may(&change, &old, &[], &[])? {
            return Ok(false);
        }
        self.leave_all(&old, Callback::Exit, change.to)?;
        self.close();
        for state in old {
            self.entered_at.remove(&state);
            self.stays.remove(&state);
        }
        self.leave_timers();
        let (entries, suspended) = self.resumed();
        let outcome = self.arrive(&change, &entries, (&[], suspended), Callback::Resume);
        self.drop_timers_never_resumed();
        outcome
    }

    /// Rules 15, 22: drops the timers of states that have not been resumed by now: they never will be.
    fn drop_timers_never_resumed(&mut self) {
        let before = self.timers.len();
        let Machine { stays, timers, .. } = &mut **self;
        timers.retain(|timer| timer.of.is_none_or(|(state, stay)| stays.get(&state) == Some(&stay)));
        if self.timers.len() < before {
            self.corners.insert(Corner::NeverResumed);
        }
    }

    /// Takes the top path off the stack. Returns how its states are entered, and what is suspended in its regions.
    fn resumed(&mut self) -> (Vec<Entry>, Vec<Seat<Self::Word>>) {
        let Suspended { current, times, timers, next, regions } = self.stack.pop().expect("it was there");
        if times.values().any(|time| *time > 0) {
            self.corners.insert(Corner::TimeWentOn);
        }
        // Rule 18: it counts as entered later. For a callback that has been running since before the push, it is another stay.
        let now = self.now();
        let around = self.around().len();
        let path: Vec<_> = self.path(current).into_iter().skip(around).collect();
        let mut entries = self.entries(&path);
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
        (entries, regions)
    }

    /// Rule 8. The states are listed from the outermost to the innermost.
    fn may(&mut self, change: &Change, leave: &[Id], enter: &[Id], regions: &[Branch]) -> Outcome<bool> {
        let mut refused_by = if leave.is_empty() { None } else { self.refused_inside(change)? };
        let exits = leave.iter().rev().map(|state| (Guard::CanExit, *state));
        let mut entered = enter.to_vec();
        for branch in regions {
            branch.add_to(&mut entered);
        }
        let enters = entered.iter().map(|state| (Guard::CanEnter, *state));
        for (guard, state) in exits.chain(enters) {
            if refused_by.is_none() && !self.allows(change, guard, state)? {
                refused_by = Some((guard, state));
            }
        }
        if refused_by.is_some() {
            self.told(change, refused_by)?;
        }
        Ok(refused_by.is_none())
    }

    /// Rule 32: asks the states in the open regions whether they may be left. Returns the first that refuses.
    fn refused_inside(&mut self, change: &Change) -> Outcome<Option<(Guard, Id)>> {
        let at = self.at.clone();
        for region in self.regions().into_iter().rev() {
            self.move_to(&region);
            let mut refused_by = self.refused_inside(change)?;
            for state in self.seat_path().into_iter().rev() {
                if refused_by.is_none() && !self.allows(change, Guard::CanExit, state)? {
                    refused_by = Some((Guard::CanExit, state));
                }
            }
            self.move_to(&at);
            if refused_by.is_some() {
                self.corners.insert(Corner::RefusedInARegion);
                return Ok(refused_by);
            }
        }
        Ok(None)
    }

    /// Rule 5: sets the previous state, then runs the exits, innermost first. Rule 16: composite states record their last
    /// descendant.
    fn leave_all(&mut self, states: &[Id], callback: Callback, target: Option<Id>) -> Outcome<()> {
        if self.current.is_some() {
            self.previous = self.current;
        }
        // Rule 32.
        let at = self.at.clone();
        for region in self.regions().into_iter().rev().filter(|_| !states.is_empty()) {
            self.move_to(&region);
            let path = self.seat_path();
            self.leave_all(&path, callback, target)?;
            if self.around().into_iter().any(|state| self.row(state).keeps_history) {
                let (composite, nth, _) = region[region.len() - 1];
                let remembered = self.current.map(|current| ((composite, Some(nth)), current));
                self.history.extend(remembered);
            }
            self.move_to(&at);
        }
        for state in states.iter().rev() {
            self.leaving = true;
            self.call(*state, false, callback, None, target)?;
            self.leaving = false;
            if self.row(*state).keeps_history && Some(*state) != self.current {
                let remembered = self.current.map(|current| ((*state, None), current));
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
    fn arrive(
        &mut self,
        change: &Change,
        entries: &[Entry],
        inside: (&[Branch], Vec<Seat<Self::Word>>),
        callback: Callback,
    ) -> Outcome<bool> {
        self.carried_out += 1;
        self.changes += 1;
        self.made += 1;
        self.current = None;
        if let Some(outermost) = entries.first() {
            self.be_in(*outermost);
        }
        self.told(change, None)?;
        let Some((end, state)) = self.enter_all(entries, inside, callback, change.to)? else {
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
    fn enter_all(
        &mut self,
        entries: &[Entry],
        (branches, suspended): (&[Branch], Vec<Seat<Self::Word>>),
        callback: Callback,
        target: Option<Id>,
    ) -> Outcome<Option<(End, Id)>> {
        let (made, at) = (self.made, self.at.clone());
        for (i, entry) in entries.iter().enumerate() {
            self.be_in(*entry);
            self.entering += 1;
            self.descent = Some(Descent::Open);
            self.call(entry.state, false, callback, None, target)?;
            let descent = self.descent.take();
            self.entering -= 1;
            let is_last = i + 1 == entries.len() && branches.is_empty() && suspended.is_empty();
            if self.made != made || self.at != at {
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
        let Some(innermost) = entries.last().filter(|_| !branches.is_empty() || !suspended.is_empty()) else {
            return Ok(None);
        };
        // Rule 32.
        self.open(branches.len().max(suspended.len()));
        let mut suspended = suspended.into_iter();
        for (nth, region) in self.regions().into_iter().enumerate() {
            self.move_to(&region);
            let is_empty = self.current.is_none();
            let (branch, seat) = (branches.get(nth), suspended.next());
            if let Some(seat) = seat.filter(|_| is_empty) {
                let made = self.made;
                self.seat = Seat { made, ..seat };
                let (entries, suspended) = self.resumed();
                let outcome = self.enter_all(&entries, (&[], suspended), Callback::Resume, target);
                self.drop_timers_never_resumed();
                outcome?;
            } else if let Some(Branch { path, regions }) = branch.filter(|_| is_empty) {
                let entries = self.entries(path);
                self.enter_all(&entries, (regions, Vec::new()), Callback::Enter, target)?;
            }
            if self.at != region {
                self.corners.insert(Corner::RegionsNeverOpened);
                return Ok(Some((End::Abandoned, innermost.state)));
            }
            self.move_to(&at);
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
        let at = self.at.clone();
        self.requests.push((at, request));
    }

    /// Rule 37.
    fn replace(&mut self, to: Id) {
        if !self.leaving {
            let waiting = self.requests.len();
            self.requests.retain(|(_, request)| !matches!(request, Request::Verb(verb) if verb.is_change()));
            if self.requests.len() < waiting {
                self.corners.insert(Corner::Replaced);
                if self.requests.iter().any(|(_, request)| matches!(request, Request::Tell(_))) {
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
        self.forget_sleep();
    }

    /// Rule 25: what is due is asked for, the earliest first. Any of it wakes the machine (rule 26).
    fn carry_out_due(&mut self) -> Outcome<()> {
        let now = self.now_exact();
        let path = self.seat_path();
        let is_machine = self.at.is_empty();
        let is_here = |timer: &Timer<_>| timer.of.map_or(is_machine, |(state, _)| path.contains(&state));
        let due = self.timers.iter().copied().filter(|timer| timer.due <= now && is_here(timer));
        let mut due: Vec<_> = due.collect();
        self.repeat_timers(now, is_here);
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
            self.requests.push((At::new(), Request::Verb(Verb::Change(to))));
        }
        // Rule 39: what comes due is one message, and the timer that repeats is beside it.
        let at = self.at.clone();
        let due = due.into_iter().map(|timer| (at.clone(), Request::Due(Timer { every: None, ..timer })));
        self.requests.extend(due);
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
                let done = self.carry_out_at(&At::new(), Request::Verb(Verb::Change(to)))?;
                if !done {
                    self.corners.insert(Corner::DueRefused);
                }
                Ok(done)
            }
            Then::Pop => {
                self.corners.insert(Corner::DuePop);
                self.carry_out(Request::Verb(Verb::Pop))
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
        let (descent, made, at) = (self.descent.take(), self.made, self.at.clone());
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
            request => self.carry_out_at(&at, request)?,
        };
        self.carry_out_all()?;
        // Rule 38: a change made meanwhile has abandoned the change under way.
        self.descent = descent.filter(|_| self.made == made && self.at == at);
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

/// The states of one region to which a message is still to be offered (rule 32).
struct Level {
    at: At,
    /// The regions inside that are still to come.
    regions: Vec<At>,
    /// The states that were active when the turn of the region came and have not had theirs yet, outermost first.
    states: Vec<Id>,
    is_handled: bool,
    /// Whether there are states around the regions, to which a message is offered that no region has handled.
    goes_on: bool,
}

/// Rule 25: invalid seconds count as 0.
pub(crate) fn time(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "the clock shows fewer than 2^53 seconds")]
fn exact(seconds: i64) -> f64 {
    seconds as f64
}
