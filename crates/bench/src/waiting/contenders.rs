//! The states, in a batch and on one machine per owner: with timers and sleep, and with polling.

use demeanor::{Batch, Fsm, Owner, State, StateMachine};

use super::sleeper::{Clock, Naps, Sleeper};
use crate::contender::Contender;
use crate::workload::Context;

/// The owners of a table.
#[derive(Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) owners: usize,
    /// The number of owners that take naps: the last ones.
    pub(crate) sleepers: usize,
    pub(crate) naps: Naps,
}

impl Crowd {
    pub(crate) fn owner(&self, number: usize) -> Sleeper {
        Sleeper::new(number, self.naps)
    }

    pub(crate) fn takes_naps(&self, number: usize) -> bool {
        number >= self.owners - self.sleepers
    }

    /// Returns how many owners wake up in a tick, on average.
    pub(crate) fn come_due(&self) -> f64 {
        let ticks = self.naps.least.midpoint(self.naps.most) * 60.0 + 0.5;
        self.sleepers as f64 / ticks
    }
}

impl Owner for Sleeper {
    type Context<'a> = Clock;
    type Message = ();

    fn now(clock: &Clock) -> f64 {
        clock.now()
    }
}

struct Work;
struct Nap;
struct Up;
struct PolledNap;

impl State<Sleeper> for Work {
    fn update(&self, owner: &mut Sleeper, _: &mut Fsm<'_, Sleeper>, _: &mut Clock) {
        owner.work();
    }
}

impl State<Sleeper> for Nap {
    fn enter(&self, owner: &mut Sleeper, fsm: &mut Fsm<'_, Sleeper>, _: &mut Clock) {
        fsm.change_state_after(owner.nap(), &Up);
        fsm.sleep();
    }
}

impl State<Sleeper> for Up {
    fn update(&self, owner: &mut Sleeper, fsm: &mut Fsm<'_, Sleeper>, _: &mut Clock) {
        owner.stretch();
        fsm.change_state(&Nap);
    }
}

impl State<Sleeper> for PolledNap {
    fn enter(&self, owner: &mut Sleeper, _: &mut Fsm<'_, Sleeper>, clock: &mut Clock) {
        owner.until = clock.now() + owner.nap();
    }

    fn update(&self, owner: &mut Sleeper, fsm: &mut Fsm<'_, Sleeper>, clock: &mut Clock) {
        if owner.until <= clock.now() {
            // This contender has one change less than those with timers, which have a separate state for the tick between two
            // naps.
            owner.stretch();
            fsm.change_state(&PolledNap);
        }
    }
}

/// A batch.
pub(crate) struct Many {
    batch: Batch<Sleeper>,
    clock: Clock,
}

impl Many {
    pub(crate) fn waiting(crowd: &Crowd) -> Self {
        Self::new(crowd, &Nap)
    }

    pub(crate) fn polling(crowd: &Crowd) -> Self {
        Self::new(crowd, &PolledNap)
    }

    fn new(crowd: &Crowd, nap: &'static dyn State<Sleeper>) -> Self {
        let mut batch = Batch::new();
        let mut clock = Clock::default();
        for number in 0..crowd.owners {
            let state: &'static dyn State<Sleeper> = if crowd.takes_naps(number) { nap } else { &Work };
            batch.spawn(crowd.owner(number), state, &mut clock);
        }
        Self { batch, clock }
    }
}

impl Contender for Many {
    fn tick(&mut self, _: &Context) {
        self.clock.tick();
        self.batch.update(&mut self.clock);
    }

    fn checksum(&self) -> u64 {
        self.batch.iter().fold(0, |sum, (_, owner)| sum.wrapping_add(owner.checksum()))
    }
}

/// Owner and machine side by side in one `Vec`.
pub(crate) struct Machines {
    pairs: Vec<(Sleeper, StateMachine<Sleeper>)>,
    clock: Clock,
}

impl Machines {
    pub(crate) fn polling(crowd: &Crowd) -> Self {
        let mut clock = Clock::default();
        let pairs = (0..crowd.owners).map(|number| {
            let mut owner = crowd.owner(number);
            let state: &'static dyn State<Sleeper> = if crowd.takes_naps(number) { &PolledNap } else { &Work };
            let mut machine = StateMachine::new(state);
            machine.start(&mut owner, &mut clock);
            (owner, machine)
        });
        Self { pairs: pairs.collect(), clock }
    }
}

impl Contender for Machines {
    fn tick(&mut self, _: &Context) {
        self.clock.tick();
        for (owner, machine) in &mut self.pairs {
            machine.update(owner, &mut self.clock);
        }
    }

    fn checksum(&self) -> u64 {
        self.pairs.iter().fold(0, |sum, (owner, _)| sum.wrapping_add(owner.checksum()))
    }
}
