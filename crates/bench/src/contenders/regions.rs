//! Legs and arms: two machines on one owner, or one machine with two regions.

use std::marker::PhantomData;

use demeanor::{Batch, Fsm, State, StateMachine, StateRef};

use crate::contender::Contender;
use crate::workload::{Behaviour, Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// A state of the legs or of the arms (`PART` is [`LEGS`] or [`ARMS`]). It belongs to the region of this number in [`Whole`] or, if
/// `IN_REGION` is `false`, to a machine of its own.
struct Part<B, const PART: usize, const IN_REGION: bool>(PhantomData<B>);

const LEGS: usize = 0;
const ARMS: usize = 1;

/// The state with the two regions.
struct Whole;

impl<const PAD: usize> State<Owner<PAD>> for Whole {
    fn regions(&self) -> Vec<StateRef<Owner<PAD>>> {
        vec![part::<PAD, LEGS, true>(Name::Idle).into(), part::<PAD, ARMS, true>(Name::Idle).into()]
    }
}

impl<const PAD: usize, B: Behaviour, const PART: usize, const IN_REGION: bool> State<Owner<PAD>>
    for Part<B, PART, IN_REGION>
{
    fn enter(&self, owner: &mut Owner<PAD>, _: &mut Fsm<'_, Owner<PAD>>, _: &mut Context) {
        owner.enter::<B>();
    }

    fn update(&self, owner: &mut Owner<PAD>, fsm: &mut Fsm<'_, Owner<PAD>>, cx: &mut Context) {
        if let Some(to) = owner.update::<B>(cx) {
            fsm.change_state(part::<PAD, PART, IN_REGION>(to));
        }
    }

    fn exit(&self, owner: &mut Owner<PAD>, _: &mut Fsm<'_, Owner<PAD>>, _: &mut Context) {
        owner.exit::<B>();
    }

    fn parent(&self) -> Option<StateRef<Owner<PAD>>> {
        IN_REGION.then(|| (&Whole).into())
    }

    fn region(&self) -> usize {
        if IN_REGION { PART } else { 0 }
    }
}

fn part<const PAD: usize, const PART: usize, const IN_REGION: bool>(name: Name) -> &'static dyn State<Owner<PAD>> {
    match name {
        Name::Idle => &Part::<Idle, PART, IN_REGION>(PhantomData),
        Name::Think => &Part::<Think, PART, IN_REGION>(PhantomData),
        Name::Wander => &Part::<Wander, PART, IN_REGION>(PhantomData),
        Name::Chase => &Part::<Chase, PART, IN_REGION>(PhantomData),
        Name::Flee => &Part::<Flee, PART, IN_REGION>(PhantomData),
        Name::Rest => &Part::<Rest, PART, IN_REGION>(PhantomData),
    }
}

/// Two machines beside each owner, updated one after the other.
pub(crate) struct TwoMachines<const PAD: usize>(Vec<(Owner<PAD>, [StateMachine<Owner<PAD>>; 2])>);

impl<const PAD: usize> TwoMachines<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let characters = (0..owners).map(|n| {
            let mut owner = Owner::new(n);
            let mut machines = [
                StateMachine::new(part::<PAD, LEGS, false>(Name::Idle)),
                StateMachine::new(part::<PAD, ARMS, false>(Name::Idle)),
            ];
            for machine in &mut machines {
                machine.start(&mut owner, &mut Context::with_churn(0.0));
            }
            (owner, machines)
        });
        Box::new(Self(characters.collect()))
    }
}

impl<const PAD: usize> Contender for TwoMachines<PAD> {
    fn tick(&mut self, cx: &Context) {
        let mut cx = *cx;
        for (owner, [legs, arms]) in &mut self.0 {
            legs.update(owner, &mut cx);
            arms.update(owner, &mut cx);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(|(owner, _)| owner))
    }
}

/// One machine with two regions beside each owner.
pub(crate) struct OneMachine<const PAD: usize>(Vec<(Owner<PAD>, StateMachine<Owner<PAD>>)>);

impl<const PAD: usize> OneMachine<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let characters = (0..owners).map(|n| {
            let (mut owner, mut machine) = (Owner::new(n), StateMachine::new(&Whole));
            machine.start(&mut owner, &mut Context::with_churn(0.0));
            (owner, machine)
        });
        Box::new(Self(characters.collect()))
    }
}

impl<const PAD: usize> Contender for OneMachine<PAD> {
    fn tick(&mut self, cx: &Context) {
        let mut cx = *cx;
        for (owner, machine) in &mut self.0 {
            machine.update(owner, &mut cx);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(|(owner, _)| owner))
    }
}

/// A batch of owners in the state with two regions.
pub(crate) struct ManyWithRegions<const PAD: usize>(Batch<Owner<PAD>>);

impl<const PAD: usize> ManyWithRegions<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let mut batch = Batch::new();
        for n in 0..owners {
            batch.spawn(Owner::new(n), &Whole, &mut Context::with_churn(0.0));
        }
        Box::new(Self(batch))
    }
}

impl<const PAD: usize> Contender for ManyWithRegions<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.0.update(&mut { *cx });
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(|(_, owner)| owner))
    }
}
