//! The two contenders of every corner: one machine per owner, and a batch.

use demeanor::{Batch, StateMachine, StateRef};

use super::character::{Alarm, Character, Scene};
use crate::contender::{Contender, Entrant};
use crate::workload::Context;

/// A task that users have and that a batch cannot do in its usual way.
pub(crate) struct Corner {
    pub(crate) name: &'static str,
    /// The share of the owners that do it in a tick: 0.1 is one in ten.
    pub(crate) share: f64,
    /// Returns the first state of the `number`-th owner.
    pub(crate) begin: fn(usize) -> StateRef<Character>,
    pub(crate) global: Option<fn() -> StateRef<Character>>,
    pub(crate) tick: Tick,
}

/// The kind of work in a tick of a corner.
#[derive(Clone, Copy)]
pub(crate) enum Tick {
    /// Every owner is updated.
    Update,
    /// Every owner is sent an alarm, and no owner is updated.
    Send,
}

impl Corner {
    /// Creates a corner in which all owners take part and are updated.
    pub(crate) const fn new(name: &'static str, begin: fn(usize) -> StateRef<Character>) -> Self {
        Self { name, share: 1.0, begin, global: None, tick: Tick::Update }
    }

    /// Sets the share of owners that take part.
    pub(crate) const fn with_share(self, share: f64) -> Self {
        Self { share, ..self }
    }

    /// Adds a global state.
    pub(crate) const fn with_global(self, global: fn() -> StateRef<Character>) -> Self {
        Self { global: Some(global), ..self }
    }

    /// Makes a tick send messages instead of updating.
    pub(crate) const fn with_messages(self) -> Self {
        Self { tick: Tick::Send, ..self }
    }

    /// Creates the contenders. The batch is compared with the machines, which come first.
    pub(crate) fn contenders(&self, owners: usize) -> Vec<Entrant> {
        vec![
            Entrant { name: "machines", contender: Box::new(Machines::new(self, owners)) },
            Entrant { name: "batch", contender: Box::new(Many::new(self, owners)) },
        ]
    }
}

/// Owner and machine side by side in one `Vec`.
pub(crate) struct Machines {
    pairs: Vec<(Character, StateMachine<Character>)>,
    tick: Tick,
}

impl Machines {
    pub(crate) fn new(corner: &Corner, owners: usize) -> Self {
        let machine = |n| match corner.global {
            Some(global) => StateMachine::new((corner.begin)(n)).with_global(global()),
            None => StateMachine::new((corner.begin)(n)),
        };
        let mut pairs: Vec<_> = (0..owners).map(|n| (Character::new(n), machine(n))).collect();
        let mut cx = Scene::of(Context::with_churn(0.0));
        for (owner, machine) in &mut pairs {
            machine.start(owner, &mut cx);
        }
        Self { pairs, tick: corner.tick }
    }

    pub(crate) fn tick_in(&mut self, cx: &mut Scene<'_>) {
        for (owner, machine) in &mut self.pairs {
            match self.tick {
                Tick::Update => machine.update(owner, cx),
                Tick::Send => {
                    machine.send(owner, &Alarm, cx);
                }
            }
        }
    }
}

impl Contender for Machines {
    fn tick(&mut self, cx: &Context) {
        self.tick_in(&mut Scene::of(*cx));
    }

    fn checksum(&self) -> u64 {
        sum(self.pairs.iter().map(|(owner, _)| owner))
    }
}

/// A batch.
pub(crate) struct Many {
    batch: Batch<Character>,
    tick: Tick,
}

impl Many {
    pub(crate) fn new(corner: &Corner, owners: usize) -> Self {
        let mut batch = Batch::new();
        if let Some(global) = corner.global {
            batch.set_global(global());
        }
        let mut cx = Scene::of(Context::with_churn(0.0));
        for n in 0..owners {
            batch.spawn(Character::new(n), (corner.begin)(n), &mut cx);
        }
        Self { batch, tick: corner.tick }
    }

    pub(crate) fn tick_in(&mut self, cx: &mut Scene<'_>) {
        match self.tick {
            Tick::Update => self.batch.update(cx),
            Tick::Send => {
                self.batch.broadcast(&Alarm, cx);
            }
        }
    }
}

impl Contender for Many {
    fn tick(&mut self, cx: &Context) {
        self.tick_in(&mut Scene::of(*cx));
    }

    fn checksum(&self) -> u64 {
        sum(self.batch.iter().map(|(_, owner)| owner))
    }
}

fn sum<'a>(owners: impl Iterator<Item = &'a Character>) -> u64 {
    owners.fold(0, |sum, owner| sum.wrapping_add(owner.checksum()))
}
