//! The table as a definition file, on one machine per owner and in a batch.

use std::fmt::Write as _;
use std::sync::Arc;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Fsm, IntoState, State, StateMachine};

use super::{CIRCLE, Creature, KINDS, RATE, SLOW, STATES, checksum, first, joining, next, next_kind, round, seconds};
use crate::contender::Contender;
use crate::workload::Context;

/// The current time, in seconds.
pub(super) struct Clock(pub(super) f64);

impl Clock {
    pub(super) fn advance(&mut self) {
        self.0 += 1.0 / RATE;
    }
}

impl<const PAD: usize> demeanor::Owner for Creature<PAD> {
    type Context<'a> = Clock;
    type Message = ();

    fn now(clock: &Clock) -> f64 {
        clock.0
    }
}

/// The action of a state.
struct Act<const ACTS: bool> {
    state: usize,
}

impl<const ACTS: bool, const PAD: usize> State<Creature<PAD>> for Act<ACTS> {
    fn enter(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.arrive(self.state);
    }

    fn update(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.act(self.state);
    }

    fn is_passive(&self) -> bool {
        !ACTS
    }
}

/// The action of a parent state.
struct Recover;

impl<const PAD: usize> State<Creature<PAD>> for Recover {
    fn enter(&self, creature: &mut Creature<PAD>, _: &mut Fsm<'_, Creature<PAD>>, _: &mut Clock) {
        creature.recover();
    }

    fn is_passive(&self) -> bool {
        true
    }
}

/// The way in which the file says how long a state lasts.
#[derive(Clone, Copy)]
enum Lasts {
    /// A condition, which is checked in each tick.
    Asked,
    /// `after`.
    After,
}

/// Returns the definition. The parent states check every `EVERY` ticks; if `EVERY` is 0, there are no parent states.
fn definition<const PAD: usize, const EVERY: u32, const ACTS: bool>(
    stretch: u32,
    lasts: Lasts,
) -> Definition<Creature<PAD>> {
    let mut file = String::from("initial = 's0'\n");
    for state in 0..STATES {
        let (next, seconds) = (next(state), seconds(state, stretch));
        let way = match lasts {
            Lasts::Asked => format!("when = 'time_in_state >= {seconds}'"),
            Lasts::After => format!("after = {seconds}"),
        };
        let _ = writeln!(file, "[states.s{state}]\nbehaviour = 'act{state}'\nexits = [{{ to = 's{next}', {way} }}]");
        if EVERY > 0 {
            let _ = writeln!(file, "parent = 'kind{}'", state / CIRCLE.len());
        }
    }
    for kind in (0..KINDS).filter(|_| EVERY > 0) {
        let (first, next) = (first(kind), next_kind(kind));
        let _ = writeln!(
            file,
            "[states.kind{kind}]\nbehaviour = 'recover'\ninitial = 's{first}'\n\
             exits = [{{ to = 'kind{next}', when = 'strength < 1' }}]"
        );
        if EVERY > 1 {
            let _ = writeln!(file, "every = {}", f64::from(EVERY) / RATE);
        }
    }
    let mut vocabulary = Vocabulary::new()
        .value("strength", |creature: &Creature<PAD>, _: &Clock| f64::from(creature.strength))
        .behaviour("recover", &Recover);
    for state in 0..STATES {
        vocabulary = vocabulary.behaviour(format!("act{state}"), Arc::new(Act::<ACTS> { state }));
    }
    match Definition::parse(&file, &vocabulary) {
        Ok(definition) => definition,
        Err(problems) => panic!("{problems}"),
    }
}

pub(crate) struct InBatch<const PAD: usize> {
    batch: Batch<Creature<PAD>>,
    clock: Clock,
}

impl<const PAD: usize> InBatch<PAD> {
    pub(crate) fn boxed<const EVERY: u32, const ACTS: bool>(owners: usize) -> Box<dyn Contender> {
        Self::from_file::<EVERY, ACTS>(owners, 1, Lasts::Asked)
    }

    /// The slow table, where conditions are checked for all owners.
    pub(crate) fn boxed_slow<const EVERY: u32>(owners: usize) -> Box<dyn Contender> {
        Self::from_file::<EVERY, false>(owners, SLOW, Lasts::Asked)
    }

    /// The slow table, where owners sleep.
    pub(crate) fn boxed_asleep<const EVERY: u32>(owners: usize) -> Box<dyn Contender> {
        Self::from_file::<EVERY, false>(owners, SLOW, Lasts::After)
    }

    fn from_file<const EVERY: u32, const ACTS: bool>(owners: usize, stretch: u32, lasts: Lasts) -> Box<dyn Contender> {
        let states = definition::<PAD, EVERY, ACTS>(stretch, lasts).states();
        Self::of(owners, stretch, |state| states[state].clone())
    }

    /// Creates a batch of creatures that begin in the states that `begin` returns.
    pub(super) fn of<S: IntoState<Creature<PAD>>>(
        owners: usize,
        stretch: u32,
        begin: impl Fn(usize) -> S,
    ) -> Box<dyn Contender> {
        let mut own = Self { batch: Batch::new(), clock: Clock(0.0) };
        for tick in 0..round(stretch) {
            for number in joining(tick, owners, stretch) {
                let creature = Creature::new(number);
                own.batch.spawn(creature, begin(Creature::<PAD>::begins_in(number)), &mut own.clock);
            }
            own.update();
        }
        Box::new(own)
    }

    fn update(&mut self) {
        self.clock.advance();
        self.batch.update(&mut self.clock);
    }
}

impl<const PAD: usize> Contender for InBatch<PAD> {
    fn tick(&mut self, _: &Context) {
        self.update();
    }

    fn checksum(&self) -> u64 {
        checksum(self.batch.iter().map(|(_, creature)| creature))
    }
}

pub(crate) struct OnMachines<const PAD: usize> {
    actors: Vec<(Creature<PAD>, StateMachine<Creature<PAD>>)>,
    clock: Clock,
}

impl<const PAD: usize> OnMachines<PAD> {
    pub(crate) fn boxed<const EVERY: u32, const ACTS: bool>(owners: usize) -> Box<dyn Contender> {
        Self::from_file::<EVERY, ACTS>(owners, 1, Lasts::Asked)
    }

    /// The slow table, where owners sleep.
    pub(crate) fn boxed_asleep<const EVERY: u32>(owners: usize) -> Box<dyn Contender> {
        Self::from_file::<EVERY, false>(owners, SLOW, Lasts::After)
    }

    fn from_file<const EVERY: u32, const ACTS: bool>(owners: usize, stretch: u32, lasts: Lasts) -> Box<dyn Contender> {
        let states = definition::<PAD, EVERY, ACTS>(stretch, lasts).states();
        Self::of(owners, stretch, |state| states[state].clone())
    }

    /// Creates creatures with a machine each, which begin in the states that `begin` returns.
    pub(super) fn of<S: IntoState<Creature<PAD>>>(
        owners: usize,
        stretch: u32,
        begin: impl Fn(usize) -> S,
    ) -> Box<dyn Contender> {
        let mut own = Self { actors: Vec::new(), clock: Clock(0.0) };
        for tick in 0..round(stretch) {
            for number in joining(tick, owners, stretch) {
                let mut creature = Creature::new(number);
                let mut machine = StateMachine::new(begin(Creature::<PAD>::begins_in(number)));
                machine.start(&mut creature, &mut own.clock);
                own.actors.push((creature, machine));
            }
            own.update();
        }
        Box::new(own)
    }

    fn update(&mut self) {
        self.clock.advance();
        for (creature, machine) in &mut self.actors {
            machine.update(creature, &mut self.clock);
        }
    }
}

impl<const PAD: usize> Contender for OnMachines<PAD> {
    fn tick(&mut self, _: &Context) {
        self.update();
    }

    fn checksum(&self) -> u64 {
        checksum(self.actors.iter().map(|(creature, _)| creature))
    }
}
