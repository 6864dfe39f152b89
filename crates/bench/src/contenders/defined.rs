//! A machine of six states in a batch, written in Rust and read from a file. The conditions and the work of the states are the
//! same.
//!
//! Each state has two exits. The condition of the first exit is checked for every owner in every tick. In the machines with
//! time, the condition on `time_in_state` is, too; this time is a column of the batch.

use std::fmt::Write as _;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Fsm, State, StateRef};

use crate::contender::Contender;
use crate::workload::{Behaviour, Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// An owner whose states have conditions.
pub(crate) struct Asked<const PAD: usize>(Owner<PAD>);

/// The context of a tick: the share of owners that change, and the current time in seconds.
pub(crate) struct Tick {
    cx: Context,
    now: f64,
}

impl<const PAD: usize> demeanor::Owner for Asked<PAD> {
    type Context<'a> = Tick;
    type Message = ();

    fn now(tick: &Tick) -> f64 {
        tick.now
    }
}

impl<const PAD: usize> Asked<PAD> {
    /// Returns a random number. It is below 1 for the share of owners that change state in a tick.
    #[inline(always)]
    fn unrest(&self, tick: &Tick) -> f64 {
        f64::from(self.0.luck()) / tick.cx.threshold as f64
    }

    #[inline(always)]
    fn is_lucky(&self) -> bool {
        self.0.luck() & 0x1000 == 0
    }
}

/// The action of a state, which a file can name.
struct Act<B>(PhantomData<B>);

impl<B: Behaviour, const PAD: usize> State<Asked<PAD>> for Act<B> {
    fn enter(&self, owner: &mut Asked<PAD>, _: &mut Fsm<'_, Asked<PAD>>, _: &mut Tick) {
        owner.0.enter::<B>();
    }

    fn update(&self, owner: &mut Asked<PAD>, _: &mut Fsm<'_, Asked<PAD>>, tick: &mut Tick) {
        owner.0.act::<B>(&tick.cx);
    }

    fn exit(&self, owner: &mut Asked<PAD>, _: &mut Fsm<'_, Asked<PAD>>, _: &mut Tick) {
        owner.0.exit::<B>();
    }
}

/// A state written in Rust, with its action and its exits.
struct Written<B, const TIMED: bool>(PhantomData<B>);

impl<B: Behaviour, const TIMED: bool, const PAD: usize> State<Asked<PAD>> for Written<B, TIMED> {
    fn enter(&self, owner: &mut Asked<PAD>, _: &mut Fsm<'_, Asked<PAD>>, _: &mut Tick) {
        owner.0.enter::<B>();
    }

    fn update(&self, owner: &mut Asked<PAD>, fsm: &mut Fsm<'_, Asked<PAD>>, tick: &mut Tick) {
        owner.0.act::<B>(&tick.cx);
        let is_restless = owner.unrest(tick) < 1.0;
        if is_restless && owner.is_lucky() {
            fsm.change_state(written::<TIMED, PAD>(onward(B::NAME, 1)));
        } else if if TIMED { fsm.time_in_state(tick) >= 0.0 && is_restless } else { is_restless } {
            fsm.change_state(written::<TIMED, PAD>(onward(B::NAME, 2)));
        }
    }

    fn exit(&self, owner: &mut Asked<PAD>, _: &mut Fsm<'_, Asked<PAD>>, _: &mut Tick) {
        owner.0.exit::<B>();
    }
}

const fn onward(from: Name, by: usize) -> Name {
    Name::ALL[(from as usize + by) % 6]
}

#[inline(always)]
fn written<const TIMED: bool, const PAD: usize>(name: Name) -> &'static dyn State<Asked<PAD>> {
    match name {
        Name::Idle => &Written::<Idle, TIMED>(PhantomData),
        Name::Think => &Written::<Think, TIMED>(PhantomData),
        Name::Wander => &Written::<Wander, TIMED>(PhantomData),
        Name::Chase => &Written::<Chase, TIMED>(PhantomData),
        Name::Flee => &Written::<Flee, TIMED>(PhantomData),
        Name::Rest => &Written::<Rest, TIMED>(PhantomData),
    }
}

/// Returns the vocabulary of the file.
fn vocabulary<const PAD: usize>() -> Vocabulary<Asked<PAD>> {
    Vocabulary::new()
        .value("unrest", |owner: &Asked<PAD>, tick: &Tick| owner.unrest(tick))
        .flag("lucky", |owner: &Asked<PAD>, _: &Tick| owner.is_lucky())
        .behaviour("Idle", &Act::<Idle>(PhantomData))
        .behaviour("Think", &Act::<Think>(PhantomData))
        .behaviour("Wander", &Act::<Wander>(PhantomData))
        .behaviour("Chase", &Act::<Chase>(PhantomData))
        .behaviour("Flee", &Act::<Flee>(PhantomData))
        .behaviour("Rest", &Act::<Rest>(PhantomData))
}

/// Returns how long it takes to load a file of 1000 states with four exits each: the median of several measurements.
pub(crate) fn loading() -> Duration {
    let mut file = String::from("initial = 's0'\n");
    for i in 0..1000 {
        let _ = writeln!(file, "[states.s{i}]\nbehaviour = 'Wander'\nexits = [");
        for to in [7, 14, 21, 28].map(|by| (i + by) % 1000) {
            let when = format!("unrest < {i} and (unrest == 0 or not lucky) and time_in_state > 2.5");
            let _ = writeln!(file, "    {{ to = 's{to}', when = '{when}' }},");
        }
        file.push_str("]\n");
    }
    let vocabulary = vocabulary::<0>();
    let mut taken = [Duration::ZERO; 15];
    for taken in &mut taken {
        let start = Instant::now();
        let definition = Definition::parse(&file, &vocabulary);
        *taken = start.elapsed();
        assert!(definition.is_ok_and(|definition| definition.states().len() == 1000));
    }
    taken.sort_unstable();
    taken[taken.len() / 2]
}

/// A batch and its clock.
pub(crate) struct Conditions<const PAD: usize> {
    batch: Batch<Asked<PAD>>,
    states: Vec<StateRef<Asked<PAD>>>,
    tick: Tick,
}

impl<const PAD: usize> Conditions<PAD> {
    pub(crate) fn in_rust<const TIMED: bool>(owners: usize) -> Box<dyn Contender> {
        Self::boxed(owners, Name::ALL.map(|name| written::<TIMED, PAD>(name).into()).to_vec())
    }

    pub(crate) fn from_a_file<const TIMED: bool>(owners: usize) -> Box<dyn Contender> {
        let mut file = String::from("initial = 'Idle'\n");
        for name in Name::ALL {
            let (first, second) = (onward(name, 1), onward(name, 2));
            let when = if TIMED { "time_in_state >= 0 and unrest < 1" } else { "unrest < 1" };
            let _ = writeln!(
                file,
                "[states.{name:?}]\nbehaviour = '{name:?}'\nexits = [\n    \
                 {{ to = '{first:?}', when = 'unrest < 1 and lucky' }},\n    {{ to = '{second:?}', when = '{when}' }},\n]"
            );
        }
        match Definition::parse(&file, &vocabulary::<PAD>()) {
            Ok(definition) => Self::boxed(owners, definition.states()),
            Err(problems) => panic!("{problems}"),
        }
    }

    fn boxed(owners: usize, states: Vec<StateRef<Asked<PAD>>>) -> Box<dyn Contender> {
        let mut tick = Tick { cx: Context::with_churn(0.0), now: 0.0 };
        let mut batch = Batch::new();
        for n in 0..owners {
            batch.spawn(Asked(Owner::new(n)), states[0].clone(), &mut tick);
        }
        Box::new(Self { batch, states, tick })
    }
}

impl<const PAD: usize> Contender for Conditions<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.tick.cx = *cx;
        self.tick.now += f64::from(cx.seconds);
        self.batch.update(&mut self.tick);
    }

    fn checksum(&self) -> u64 {
        checksum(self.states.iter().flat_map(|state| self.batch.owners_in(&**state)).map(|owner| &owner.0))
    }
}
