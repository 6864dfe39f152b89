//! An interpreter written by hand for this one table: a loop over all owners, which have the index of their state.

use super::{CIRCLE, Creature, STATES, checksum, duration, first, joining, next, next_kind, round};
use crate::contender::Contender;
use crate::workload::Context;

/// The table's entry for a state.
#[derive(Clone, Copy)]
struct Row {
    duration: u32,
    next: u16,
    /// The next state of an exhausted owner.
    rest: u16,
}

struct Actor<const PAD: usize> {
    state: u16,
    /// The tick in which the owner entered its state.
    entered: u32,
    creature: Creature<PAD>,
}

/// An interpreter that checks every `EVERY` ticks whether an owner is exhausted; never, if `EVERY` is 0.
pub(crate) struct ByHand<const PAD: usize, const EVERY: u32, const ACTS: bool, const STRETCH: u32> {
    table: Vec<Row>,
    actors: Vec<Actor<PAD>>,
    /// The tick in which each owner entered its parent state.
    around_entered: Vec<u32>,
    tick: u32,
}

impl<const PAD: usize, const EVERY: u32, const ACTS: bool, const STRETCH: u32> ByHand<PAD, EVERY, ACTS, STRETCH> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let row = |state: usize| Row {
            duration: duration(state) * STRETCH,
            next: next(state) as u16,
            rest: first(next_kind(state / CIRCLE.len())) as u16,
        };
        let table = (0..STATES).map(row).collect();
        let mut by_hand = Self { table, actors: Vec::new(), around_entered: Vec::new(), tick: 0 };
        for tick in 0..round(STRETCH) {
            for number in joining(tick, owners, STRETCH) {
                let state = Creature::<PAD>::begins_in(number);
                let mut creature = Creature::new(number);
                creature.arrive(state);
                by_hand.actors.push(Actor { state: state as u16, entered: by_hand.tick, creature });
                by_hand.around_entered.push(by_hand.tick);
            }
            by_hand.update();
        }
        Box::new(by_hand)
    }

    fn update(&mut self) {
        let Self { table, actors, around_entered, tick } = self;
        *tick += 1;
        for (at, actor) in actors.iter_mut().enumerate() {
            let mut row = table[usize::from(actor.state)];
            let is_asked = match EVERY {
                0 => false,
                1 => true,
                _ => (*tick - around_entered[at]) % EVERY == 0,
            };
            if is_asked && actor.creature.is_exhausted() {
                actor.creature.recover();
                if EVERY > 1 {
                    around_entered[at] = *tick;
                }
                actor.enter(row.rest, *tick);
                row = table[usize::from(actor.state)];
            }
            if ACTS {
                actor.creature.act(actor.state.into());
            }
            if *tick - actor.entered >= row.duration {
                actor.enter(row.next, *tick);
            }
        }
    }
}

impl<const PAD: usize> Actor<PAD> {
    #[inline(always)]
    fn enter(&mut self, state: u16, tick: u32) {
        self.state = state;
        self.entered = tick;
        self.creature.arrive(usize::from(state));
    }
}

impl<const PAD: usize, const EVERY: u32, const ACTS: bool, const STRETCH: u32> Contender
    for ByHand<PAD, EVERY, ACTS, STRETCH>
{
    fn tick(&mut self, _: &Context) {
        self.update();
    }

    fn checksum(&self) -> u64 {
        checksum(self.actors.iter().map(|actor| &actor.creature))
    }
}
