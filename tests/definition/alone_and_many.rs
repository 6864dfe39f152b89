//! What a guard does on a machine of its own, and what many like it do in a batch: it has to be the same.

use demeanor::definition::Definition;
use demeanor::{Batch, StateMachine};

use crate::guard::{Guard, current};
use crate::trace::log::Trace;

/// A guard on a machine of its own, and many like it in a batch: so many that they are asked together.
pub(crate) struct AloneAndMany {
    pub(crate) alone: Guard,
    pub(crate) machine: StateMachine<Guard>,
    pub(crate) batch: Batch<Guard>,
}

/// Calls a method of each guard's machine, and notes what it returns: one of two words.
macro_rules! each {
    ($guards:expr, $verb:ident($($argument:expr),*), $clock:expr, [$done:literal, $not_done:literal]) => {{
        let guards = $guards;
        let word = |is_done: bool| if is_done { $done } else { $not_done };
        let is_done = guards.machine.$verb(&mut guards.alone, $($argument,)* &mut { $clock });
        guards.alone.note(word(is_done));
        for key in guards.batch.keys().collect::<Vec<_>>() {
            let is_done = guards.batch.$verb(key, $($argument,)* &mut { $clock });
            guards.batch[key].note(word(is_done));
        }
    }};
}
pub(crate) use each;

impl AloneAndMany {
    /// Starts them at 0 seconds.
    pub(crate) fn start(definition: &Definition<Guard>, guard: &Guard) -> Self {
        let (mut alone, mut machine) = (guard.clone(), definition.machine());
        machine.start(&mut alone, &mut 0.0);
        let mut batch = Batch::new();
        if let Some(global) = definition.global() {
            batch = batch.with_global(global);
        }
        for _ in 0..70 {
            batch.spawn(guard.clone(), definition.initial(), &mut 0.0);
        }
        Self { alone, machine, batch }
    }

    pub(crate) fn set(&mut self, set: impl Fn(&mut Guard)) {
        set(&mut self.alone);
        self.batch.iter_mut().for_each(|(_, guard)| set(guard));
    }

    /// Updates all of them, and returns the state that they are in.
    #[track_caller]
    pub(crate) fn update(&mut self, mut clock: f64) -> String {
        self.machine.update(&mut self.alone, &mut clock);
        self.batch.update(&mut clock);
        let is_there = |key| self.batch.state_of(key) == self.machine.current();
        assert!(self.batch.keys().all(is_there), "at {clock} s");
        current(&self.machine)
    }

    /// What has happened to each of them since this was last asked.
    #[track_caller]
    pub(crate) fn take_trace(&mut self) -> Trace {
        let trace = self.alone.take_trace();
        for key in self.batch.keys().collect::<Vec<_>>() {
            assert_eq!(self.batch[key].take_trace(), trace);
            assert_eq!(self.batch.state_of(key), self.machine.current());
        }
        trace
    }

    /// What has happened to each of them.
    #[track_caller]
    pub(crate) fn trace(mut self) -> Trace {
        self.take_trace()
    }
}
