//! This crate's `StateMachine`, one per owner.

use demeanor::{Agent, Fsm, State, StateMachine};

use crate::contender::Contender;
use crate::workload::{Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

impl<const PAD: usize> demeanor::Owner for Owner<PAD> {
    type Context<'a> = Context;
    type Message = ();
}

macro_rules! states {
    ($($state:ident)*) => {
        $(impl<const PAD: usize> State<Owner<PAD>> for $state {
            fn enter(&self, owner: &mut Owner<PAD>, _: &mut Fsm<'_, Owner<PAD>>, _: &mut Context) {
                owner.enter::<$state>();
            }

            fn update(&self, owner: &mut Owner<PAD>, fsm: &mut Fsm<'_, Owner<PAD>>, cx: &mut Context) {
                if let Some(to) = owner.update::<$state>(cx) {
                    fsm.change_state(state(to));
                }
            }

            fn exit(&self, owner: &mut Owner<PAD>, _: &mut Fsm<'_, Owner<PAD>>, _: &mut Context) {
                owner.exit::<$state>();
            }
        })*

        fn state<const PAD: usize>(name: Name) -> &'static dyn State<Owner<PAD>> {
            match name {
                $(Name::$state => &$state,)*
            }
        }
    };
}

states! { Idle Think Wander Chase Flee Rest }

struct Awareness;
impl<const PAD: usize> State<Owner<PAD>> for Awareness {}

/// Owner and machine side by side in one `Vec`.
pub(crate) struct Machines<const PAD: usize>(Vec<(Owner<PAD>, StateMachine<Owner<PAD>>)>);

impl<const PAD: usize> Machines<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        Box::new(Self::from_fn(owners, || StateMachine::new(&Idle)))
    }

    /// Every machine has a global state that does nothing: this measures the cost of a global state.
    pub(crate) fn boxed_with_global(owners: usize) -> Box<dyn Contender> {
        Box::new(Self::from_fn(owners, || StateMachine::new(&Idle).with_global(&Awareness)))
    }

    fn from_fn(owners: usize, machine: impl Fn() -> StateMachine<Owner<PAD>>) -> Self {
        let mut pairs: Vec<_> = (0..owners).map(|n| (Owner::new(n), machine())).collect();
        for (owner, machine) in &mut pairs {
            machine.start(owner, &mut Context::with_churn(0.0));
        }
        Self(pairs)
    }
}

impl<const PAD: usize> Contender for Machines<PAD> {
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

/// The same owners and machines as `Agent`s.
pub(crate) struct Agents<const PAD: usize>(Vec<Agent<Owner<PAD>>>);

impl<const PAD: usize> Agents<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let mut agents: Vec<_> = (0..owners).map(|n| Agent::new(Owner::new(n), StateMachine::new(&Idle))).collect();
        for agent in &mut agents {
            agent.start(&mut Context::with_churn(0.0));
        }
        Box::new(Self(agents))
    }
}

impl<const PAD: usize> Contender for Agents<PAD> {
    fn tick(&mut self, cx: &Context) {
        let mut cx = *cx;
        for agent in &mut self.0 {
            agent.update(&mut cx);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(|agent| &**agent))
    }
}
