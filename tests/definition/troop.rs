//! Some guards to whom anything may happen: each on a machine of its own, or all in a batch. They have to do the same.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use demeanor::definition::Definition;
use demeanor::{Batch, Fsm, Key, NextWake, StateBook, StateMachine, StateRef};

use crate::guard::{Guard, Told};
use crate::trace::log::Trace;

/// What the guards are updated by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Alone,
    InTurn,
    #[cfg(feature = "parallel")]
    Parallel,
    InKeyOrder,
}

pub(crate) const WAYS: &[Way] = &[
    Way::Alone,
    Way::InTurn,
    #[cfg(feature = "parallel")]
    Way::Parallel,
    Way::InKeyOrder,
];

/// The ways of a batch.
pub(crate) fn in_a_batch() -> impl Iterator<Item = Way> {
    WAYS.iter().copied().filter(|way| *way != Way::Alone)
}

/// What is asked of one guard's machine from outside.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Send(Told),
    Change(StateRef<Guard>),
    Push(StateRef<Guard>),
    Pop,
    Revert,
    Resume(StateRef<Guard>),
}

pub(crate) struct Troop {
    way: Way,
    alone: Vec<(Guard, StateMachine<Guard>)>,
    batch: Batch<Guard>,
    keys: Vec<Key>,
}

/// The limit of rule 13, so low that traces of cycles are short.
const LIMIT: u32 = 64;

impl Troop {
    /// Starts guards at 0 seconds.
    pub(crate) fn start(
        way: Way,
        guards: &[Guard],
        initial: &StateRef<Guard>,
        global: Option<StateRef<Guard>>,
    ) -> Self {
        let mut troop = Self { way, alone: Vec::new(), batch: Batch::new().with_limit(LIMIT), keys: Vec::new() };
        if way == Way::Alone {
            let start = |guard: &Guard| {
                let mut machine = StateMachine::new(initial.clone()).with_limit(LIMIT);
                if let Some(global) = &global {
                    machine.set_global(global.clone());
                }
                let mut guard = guard.clone();
                machine.start(&mut guard, &mut 0.0);
                (guard, machine)
            };
            troop.alone = guards.iter().map(start).collect();
        } else {
            if let Some(global) = global {
                troop.batch.set_global(global);
            }
            let spawn = |guard: &Guard| troop.batch.spawn(guard.clone(), initial.clone(), &mut 0.0);
            troop.keys = guards.iter().map(spawn).collect();
        }
        troop
    }

    pub(crate) fn len(&self) -> usize {
        self.alone.len() + self.keys.len()
    }

    pub(crate) fn guard(&mut self, who: usize) -> &mut Guard {
        if self.way == Way::Alone { &mut self.alone[who].0 } else { &mut self.batch[self.keys[who]] }
    }

    pub(crate) fn state(&self, who: usize) -> Option<&StateRef<Guard>> {
        if self.way == Way::Alone { self.alone[who].1.current() } else { self.batch.state_of(self.keys[who]) }
    }

    fn previous(&self, who: usize) -> Option<&StateRef<Guard>> {
        if self.way == Way::Alone { self.alone[who].1.previous() } else { self.batch.previous_of(self.keys[who]) }
    }

    pub(crate) fn next_wake(&self, who: usize) -> NextWake {
        match self.way {
            Way::Alone => self.alone[who].1.next_wake(),
            _ => self.batch.next_wake(self.keys[who]).expect("it is there"),
        }
    }

    pub(crate) fn wake(&mut self, who: usize) {
        _ = if self.way == Way::Alone { self.alone[who].1.wake() } else { self.batch.wake(self.keys[who]) };
    }

    /// Updates all. A panic of a guard on a machine of its own keeps no other from its tick.
    pub(crate) fn update(&mut self, mut clock: f64) {
        match self.way {
            Way::Alone => {
                let update = |(guard, machine): &mut (Guard, StateMachine<Guard>)| {
                    catch_unwind(AssertUnwindSafe(|| machine.update(guard, &mut clock))).err()
                };
                let panics: Vec<_> = self.alone.iter_mut().filter_map(update).collect();
                if let Some(panic) = panics.into_iter().next() {
                    resume_unwind(panic);
                }
            }
            Way::InTurn => self.batch.update(&mut clock),
            #[cfg(feature = "parallel")]
            Way::Parallel => drop(self.batch.par_update(|_| clock)),
            Way::InKeyOrder => self.batch.update_in_key_order(&mut clock),
        }
    }

    pub(crate) fn tell_all(&mut self, told: Told, mut clock: f64) {
        for (guard, machine) in &mut self.alone {
            machine.send(guard, &told, &mut clock);
        }
        self.batch.broadcast(&told, &mut clock);
    }

    /// Asks for something, and returns whether it was done.
    pub(crate) fn ask(&mut self, who: usize, request: Request, clock: f64) -> bool {
        let cx = &mut { clock };
        if self.way == Way::Alone {
            let (guard, machine) = &mut self.alone[who];
            return match request {
                Request::Send(told) => machine.send(guard, &told, cx),
                Request::Change(to) => machine.change_state(guard, to, cx),
                Request::Push(over) => machine.push_state(guard, over, cx),
                Request::Pop => machine.pop_state(guard, cx),
                Request::Revert => machine.revert_state(guard, cx),
                Request::Resume(state) => machine.resume_state(guard, state, cx),
            };
        }
        let (batch, key) = (&mut self.batch, self.keys[who]);
        match request {
            Request::Send(told) => batch.send(key, &told, cx),
            Request::Change(to) => batch.change_state(key, to, cx),
            Request::Push(over) => batch.push_state(key, over, cx),
            Request::Pop => batch.pop_state(key, cx),
            Request::Revert => batch.revert_state(key, cx),
            Request::Resume(state) => batch.resume_state(key, state, cx),
        }
    }

    /// Saves all and goes on with what is loaded.
    pub(crate) fn save_and_load(&mut self, book: &StateBook<Guard>, clock: f64) {
        for (_, machine) in &mut self.alone {
            *machine = book.load(machine.save(book, clock).unwrap(), clock).unwrap();
        }
        let saved = self.batch.save(book, clock).unwrap().map_owners(Guard::clone);
        self.batch = Batch::load(saved, book, clock).unwrap().with_limit(LIMIT);
    }

    pub(crate) fn with(&mut self, who: usize, clock: f64, act: impl FnOnce(&mut Guard, &mut Fsm<'_, Guard>, &mut f64)) {
        match self.way {
            Way::Alone => {
                let (guard, machine) = &mut self.alone[who];
                machine.with(guard, &mut { clock }, act);
            }
            _ => self.batch.with(self.keys[who], &mut { clock }, act).expect("it is there"),
        }
    }

    /// How many guards of a batch are in a state.
    pub(crate) fn count_in(&self, state: &StateRef<Guard>) -> usize {
        self.batch.owners_in(&**state).len()
    }

    /// The guards with their machines.
    pub(crate) fn end(mut self) -> Vec<(Guard, StateMachine<Guard>)> {
        let removed = self.keys.iter().map(|key| self.batch.remove(*key).expect("it is there"));
        self.alone.extend(removed);
        self.alone
    }
}

/// Lets guards have some ticks in each way, and returns what has become of each of them.
#[track_caller]
pub(crate) fn in_all_ways(
    definition: &Definition<Guard>,
    initial: &StateRef<Guard>,
    guards: &[Guard],
    ticks: &[f64],
) -> Vec<(Guard, StateMachine<Guard>)> {
    let run = |way: Way| {
        let mut troop = Troop::start(way, guards, initial, definition.global());
        for clock in ticks {
            troop.update(*clock);
        }
        troop.end()
    };
    let alone = run(Way::Alone);
    for way in in_a_batch() {
        for ((guard, machine), (expected, alone)) in run(way).iter().zip(&alone) {
            // As texts, so that what is no number is equal.
            assert_eq!(format!("{guard:?}"), format!("{expected:?}"), "{way:?}");
            assert_eq!(machine.current(), alone.current(), "{way:?}");
        }
    }
    alone
}

/// A guard alone, and in each way of a batch many like it: so many that they are asked together.
pub(crate) struct Alike(Vec<Troop>);

impl Alike {
    /// Starts them at 0 seconds.
    pub(crate) fn start(definition: &Definition<Guard>, guard: &Guard) -> Self {
        let many = vec![guard.clone(); 70];
        let start = |way: &Way| {
            let guards = if *way == Way::Alone { &many[..1] } else { &many };
            Troop::start(*way, guards, &definition.initial(), definition.global())
        };
        Self(WAYS.iter().map(start).collect())
    }

    /// Does something with each of them.
    pub(crate) fn each(&mut self, act: impl Fn(&mut Troop, usize)) {
        for troop in &mut self.0 {
            (0..troop.len()).for_each(|who| act(troop, who));
        }
    }

    /// The state in which all are. All were in the same one before it.
    #[track_caller]
    pub(crate) fn state(&self) -> StateRef<Guard> {
        let (state, previous) = (self.0[0].state(0), self.0[0].previous(0));
        for troop in &self.0 {
            let is_there = |who| troop.state(who) == state && troop.previous(who) == previous;
            assert!((0..troop.len()).all(is_there), "{:?}: not all are in {state:?}, from {previous:?}", troop.way);
        }
        state.expect("they have started").clone()
    }

    /// Updates all of them, and returns the state that they are in.
    #[track_caller]
    pub(crate) fn update(&mut self, clock: f64) -> String {
        self.0.iter_mut().for_each(|troop| troop.update(clock));
        self.state().to_string()
    }

    /// What has happened to each of them since this was last asked.
    #[track_caller]
    pub(crate) fn take_trace(&mut self) -> Trace {
        self.state();
        let trace = self.0[0].guard(0).take_trace();
        for troop in &mut self.0[1..] {
            for who in 0..troop.len() {
                assert_eq!(troop.guard(who).take_trace(), trace, "{:?}", troop.way);
            }
        }
        trace
    }
}
