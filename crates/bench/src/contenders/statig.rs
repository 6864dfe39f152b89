//! statig, one machine per owner: the owner is the machine's shared storage, and each tick is an event.

use statig::prelude::*;

use crate::contender::Contender;
use crate::workload::{Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

/// The events of the machines. A game has other events beside the tick.
pub(crate) enum Event {
    Update,
    #[expect(dead_code, reason = "a machine with one event only could leave out the match on it")]
    Noise,
}

fn outcome(to: Option<Name>) -> Outcome<State> {
    match to {
        None => Handled,
        Some(Name::Idle) => Transition(State::idle()),
        Some(Name::Think) => Transition(State::think()),
        Some(Name::Wander) => Transition(State::wander()),
        Some(Name::Chase) => Transition(State::chase()),
        Some(Name::Flee) => Transition(State::flee()),
        Some(Name::Rest) => Transition(State::rest()),
    }
}

#[state_machine(initial = "State::idle()", state(derive(Debug)))]
impl<const PAD: usize> Owner<PAD> {
    #[state(entry_action = "enter_idle", exit_action = "exit_idle")]
    fn idle(&mut self, event: &Event, context: &mut Context) -> Outcome<State> {
        match event {
            Event::Update => outcome(self.update::<Idle>(context)),
            Event::Noise => Super,
        }
    }

    #[action]
    fn enter_idle(&mut self) {
        self.enter::<Idle>();
    }

    #[action]
    fn exit_idle(&mut self) {
        self.exit::<Idle>();
    }

    #[state(entry_action = "enter_think", exit_action = "exit_think")]
    fn think(&mut self, event: &Event, context: &mut Context) -> Outcome<State> {
        match event {
            Event::Update => outcome(self.update::<Think>(context)),
            Event::Noise => Super,
        }
    }

    #[action]
    fn enter_think(&mut self) {
        self.enter::<Think>();
    }

    #[action]
    fn exit_think(&mut self) {
        self.exit::<Think>();
    }

    #[state(entry_action = "enter_wander", exit_action = "exit_wander")]
    fn wander(&mut self, event: &Event, context: &mut Context) -> Outcome<State> {
        match event {
            Event::Update => outcome(self.update::<Wander>(context)),
            Event::Noise => Super,
        }
    }

    #[action]
    fn enter_wander(&mut self) {
        self.enter::<Wander>();
    }

    #[action]
    fn exit_wander(&mut self) {
        self.exit::<Wander>();
    }

    #[state(entry_action = "enter_chase", exit_action = "exit_chase")]
    fn chase(&mut self, event: &Event, context: &mut Context) -> Outcome<State> {
        match event {
            Event::Update => outcome(self.update::<Chase>(context)),
            Event::Noise => Super,
        }
    }

    #[action]
    fn enter_chase(&mut self) {
        self.enter::<Chase>();
    }

    #[action]
    fn exit_chase(&mut self) {
        self.exit::<Chase>();
    }

    #[state(entry_action = "enter_flee", exit_action = "exit_flee")]
    fn flee(&mut self, event: &Event, context: &mut Context) -> Outcome<State> {
        match event {
            Event::Update => outcome(self.update::<Flee>(context)),
            Event::Noise => Super,
        }
    }

    #[action]
    fn enter_flee(&mut self) {
        self.enter::<Flee>();
    }

    #[action]
    fn exit_flee(&mut self) {
        self.exit::<Flee>();
    }

    #[state(entry_action = "enter_rest", exit_action = "exit_rest")]
    fn rest(&mut self, event: &Event, context: &mut Context) -> Outcome<State> {
        match event {
            Event::Update => outcome(self.update::<Rest>(context)),
            Event::Noise => Super,
        }
    }

    #[action]
    fn enter_rest(&mut self) {
        self.enter::<Rest>();
    }

    #[action]
    fn exit_rest(&mut self) {
        self.exit::<Rest>();
    }
}

/// The machines in one `Vec`.
pub(crate) struct Statig<const PAD: usize>(Vec<statig::blocking::StateMachine<Owner<PAD>>>);

impl<const PAD: usize> Statig<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let mut machines: Vec<_> = (0..owners).map(|n| Owner::new(n).state_machine()).collect();
        for machine in &mut machines {
            machine.init_with_context(&mut Context::with_churn(0.0));
        }
        Box::new(Self(machines))
    }
}

impl<const PAD: usize> Contender for Statig<PAD> {
    fn tick(&mut self, cx: &Context) {
        let mut cx = *cx;
        for machine in &mut self.0 {
            machine.handle_with_context(&Event::Update, &mut cx);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(StateMachine::inner))
    }
}
