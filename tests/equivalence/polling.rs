//! The same script on a machine that waits and on one that polls: there the owner keeps a list of timers, which the game goes
//! through before each tick, and each state asks whether it sleeps. For all other callbacks it makes no difference.

use std::iter::successors;

use demeanor::{Cause, Change, StateMachine};

use crate::lockstep::{self, Host};
use crate::program::{Callback, Id, Read, STATES, Verb, Wait};
use crate::puppet::{Forms, Origin, Puppet, Table, mark};
use crate::script::{Act, Deed, Script};

/// What an owner that polls keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Poll {
    timers: Vec<Timer>,
    sleeps_until: Option<f64>,
    /// For how many seconds it is to sleep once the callback has returned and nothing has changed.
    wanted: Option<f64>,
    /// How often each state has been left or pushed over.
    stays: [u32; STATES as usize],
    /// The states left since the last change.
    left: Vec<Id>,
    /// The states of the path last popped that have not been resumed.
    unresumed: Vec<Id>,
    /// How many paths are pushed over.
    pushed: usize,
    now: f64,
}

#[derive(Clone, Debug)]
struct Timer {
    /// When it is due; under a push, what remains.
    due: f64,
    of: Option<Id>,
    then: Then,
    /// Which push it stands still under.
    stands_still: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    Change(Id),
    Send,
}

/// Whose callback asks: a state, and how often it had been left when the callback began. `None`: nobody's.
pub(crate) type Asker = Option<(Id, u32)>;

impl Poll {
    pub(crate) fn asker(&self, state: Id) -> (Id, u32) {
        (state, self.stays[usize::from(state)])
    }

    /// Does what a verb asks for, if it is one of waiting. Returns whether it is.
    pub(crate) fn ask(&mut self, verb: Verb, asker: Asker) -> bool {
        match verb {
            Verb::ChangeAfter(wait, to) => self.after(wait, Then::Change(to), asker),
            Verb::SendAfter(wait) => self.after(wait, Then::Send, asker),
            Verb::Sleep(wait) => self.wanted = Some(wait.seconds().max(0.0)),
            _ => return false,
        }
        true
    }

    fn after(&mut self, wait: Wait, then: Then, asker: Asker) {
        if asker.is_none_or(|(state, stay)| self.stays[usize::from(state)] == stay) && wait != Wait::ForEver {
            let due = self.now + wait.seconds().max(0.0);
            self.timers.push(Timer { due, of: asker.map(|(state, _)| state), then, stands_still: None });
        }
    }

    /// All that a callback has asked for has been carried out.
    pub(crate) fn settle(&mut self) {
        if let Some(seconds) = self.wanted.take() {
            self.sleeps_until = Some(self.now + seconds);
        }
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.sleeps_until.is_some()
    }

    pub(crate) fn wake(&mut self) -> bool {
        self.sleeps_until.take().is_some()
    }

    /// A state is resumed.
    pub(crate) fn resume(&mut self, state: Id) {
        self.unresumed.retain(|unresumed| *unresumed != state);
    }

    pub(crate) fn leave(&mut self, state: Id, is_pushed_over: bool) {
        self.stays[usize::from(state)] += 1;
        if !is_pushed_over {
            self.left.push(state);
        }
    }

    pub(crate) fn changed(&mut self, change: &Change<'_, Puppet>) {
        self.wanted = None;
        self.wake();
        let Self { timers, left, unresumed, pushed, now, .. } = self;
        // A pop that this one cuts short has not resumed them.
        let never_resumed = |timer: &Timer| timer.of.is_some_and(|state| unresumed.contains(&state));
        timers.retain(|timer| timer.stands_still.is_some() || !never_resumed(timer));
        unresumed.clear();
        let path: Vec<_> =
            successors(change.to.cloned(), |state| state.parent()).map(|state| mark(&state).id).collect();
        let is_push = change.cause == Cause::Push;
        let goes_on = |state: &Id| !left.contains(state) && (is_push || path.contains(state));
        timers.retain(|timer| match &timer.of {
            Some(state) if timer.stands_still.is_none() => change.cause != Cause::Pop && goes_on(state),
            _ => true,
        });
        left.clear();
        match change.cause {
            Cause::Push => {
                *pushed += 1;
                for timer in timers.iter_mut().filter(|timer| timer.of.is_some() && timer.stands_still.is_none()) {
                    timer.stands_still = Some(*pushed);
                    timer.due -= *now;
                }
            }
            Cause::Pop => {
                for timer in timers.iter_mut().filter(|timer| timer.stands_still == Some(*pushed)) {
                    timer.stands_still = None;
                    timer.due += *now;
                }
                *pushed -= 1;
                *unresumed = path;
            }
            _ => {}
        }
    }

    /// Takes out what is due.
    fn take_due(&mut self) -> Vec<Then> {
        let now = self.now;
        let is_due = |timer: &Timer| timer.stands_still.is_none() && timer.due <= now;
        let (due, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.timers).into_iter().partition(is_due);
        self.timers = left;
        if !due.is_empty() || self.sleeps_until.is_some_and(|until| until <= now) {
            self.wake();
        }
        due.into_iter().map(|timer| timer.then).collect()
    }
}

/// How much of what is compared has come to pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) due_changes: u32,
    pub(crate) due_messages: u32,
    /// Ticks that somebody slept through.
    pub(crate) slept: u32,
}

/// One of the two machines, with its owner.
struct Half {
    puppet: Puppet,
    machine: StateMachine<Puppet>,
}

/// Runs what of a script concerns one owner, up to a tick in which two timers are due. Panics where the two part.
pub(crate) fn compare(script: &Script, seen: &mut Seen) {
    let mut program = script.program.clone();
    program.fuel = program.fuel.min(24);
    // A timer that waits to be set is a request; to poll asks for nothing.
    program.states.iter_mut().filter(|row| row.reads == Read::Requests).for_each(|row| row.reads = Read::Counter);
    let forms = Forms::of(&program, &script.passive, &script.orders);
    let mut halves = [None, Some(Box::<Poll>::default())].map(|poll| {
        let mut puppet = Puppet::new(0);
        puppet.poll = poll;
        Half { puppet, machine: StateMachine::new(forms.reference(0)) }
    });
    let mut now = 0.0;
    for deed in &script.deeds {
        let steps = match deed {
            Deed::Tick | Deed::Parts(_) => vec![Step::Tick],
            Deed::Advance(quarters) => {
                now += f64::from(*quarters) / 4.0;
                vec![Step::Tick]
            }
            Deed::Broadcast => vec![Step::Act(Act::Send)],
            // To set a state is no change that its owner is told of.
            Deed::To(_, Act::Start | Act::Stop | Act::SetCurrent(_)) => continue,
            Deed::To(_, act) => vec![Step::Act(act.clone()), Step::Tick],
            _ => continue,
        };
        for step in steps {
            let mut table = Table::new(&program, now).hiding_requests();
            let outcomes = halves.each_mut().map(|half| {
                half.puppet.fuel = program.fuel;
                half.take(&step, now, forms, &mut table, seen)
            });
            if outcomes[1] == Outcome::TwoAreDue {
                return;
            }
            assert_eq!(outcomes[0], outcomes[1], "{step:?}");
            let [waits, polls] = &mut halves;
            assert_eq!(waits.puppet.events(), polls.puppet.events(), "{step:?} at {now}");
            let is_asleep = polls.puppet.poll.as_ref().is_some_and(|poll| poll.is_asleep());
            assert_eq!(waits.machine.clone().wake(), is_asleep, "{step:?} at {now}: whether it sleeps");
            for half in &mut halves {
                half.puppet.forget_events();
            }
        }
    }
}

#[derive(Debug)]
enum Step {
    Tick,
    Act(Act),
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Done(Option<bool>),
    TwoAreDue,
}

impl Half {
    fn take(
        &mut self,
        step: &Step,
        now: f64,
        forms: &'static Forms,
        table: &mut Table<'_>,
        seen: &mut Seen,
    ) -> Outcome {
        let Self { puppet, machine } = self;
        if let Some(poll) = &mut puppet.poll {
            poll.now = now;
        }
        let outcome = match step {
            Step::Tick => {
                let due = puppet.poll.as_mut().map(|poll| poll.take_due()).unwrap_or_default();
                match due[..] {
                    [] => {}
                    [Then::Change(to)] => {
                        seen.due_changes += 1;
                        machine.with(puppet, table, |_, fsm, _| fsm.change_state(forms.reference(to)));
                    }
                    [Then::Send] => {
                        seen.due_messages += 1;
                        machine.with(puppet, table, |_, fsm, _| fsm.send(Origin::Own));
                    }
                    _ => return Outcome::TwoAreDue,
                }
                if let Some(poll) = &mut puppet.poll {
                    poll.settle();
                    seen.slept += u32::from(poll.is_asleep());
                }
                machine.update(puppet, table);
                None
            }
            Step::Act(act) => act_on(act, puppet, machine, forms, table),
        };
        if let Some(poll) = &mut puppet.poll {
            poll.settle();
        }
        Outcome::Done(outcome)
    }
}

fn act_on(
    act: &Act,
    puppet: &mut Puppet,
    machine: &mut StateMachine<Puppet>,
    forms: &'static Forms,
    table: &mut Table<'_>,
) -> Option<bool> {
    if let Some(poll) = &mut puppet.poll {
        match act {
            Act::Wake => return Some(poll.wake()),
            Act::Verb(verb) if poll.ask(*verb, None) => return (!matches!(verb, Verb::Sleep(_))).then_some(true),
            _ => {}
        }
    }
    lockstep::act_on(act, Host::Machine(puppet, machine), forms, table)
}

/// Whether what a callback asks for is refused (rule 12), so that who polls does not note it.
pub(crate) fn is_refused(verb: Verb, callback: Callback) -> bool {
    matches!(callback, Callback::Exit | Callback::Suspend)
        && matches!(verb, Verb::ChangeAfter(..) | Verb::SendAfter(_) | Verb::Sleep(_))
}
