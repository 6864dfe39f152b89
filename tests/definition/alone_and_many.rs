//! What a guard does on a machine of its own, and what many like it do in a batch: it has to be the same.

use demeanor::definition::Definition;
use demeanor::{Batch, StateMachine};

use crate::guard::{Guard, Told, current};
use crate::trace::log::Trace;

/// A guard on a machine of its own, and many like it in a batch: more than are asked one by one.
pub(crate) struct AloneAndMany {
    alone: Guard,
    machine: StateMachine<Guard>,
    batch: Batch<Guard>,
}

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

    pub(crate) fn tell(&mut self, told: Told, mut clock: f64) {
        self.machine.send(&mut self.alone, &told, &mut clock);
        self.batch.broadcast(&told, &mut clock);
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

    /// What has happened to each of them.
    #[track_caller]
    pub(crate) fn trace(self) -> Trace {
        for (key, guard) in &self.batch {
            assert_eq!(guard.trace(), self.alone.trace());
            assert_eq!(self.batch.state_of(key), self.machine.current());
        }
        self.alone.log.lines
    }
}
