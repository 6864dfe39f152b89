//! rust-fsm, one machine per owner. It has states and transitions; the user writes the actions.

use rust_fsm::state_machine;

use self::enemy::{Input, State, StateMachine};
use super::matching;
use crate::contender::Contender;
use crate::workload::{Context, Idle, Name, Owner, checksum};

state_machine! {
    enemy(Idle)

    Idle => { ToThink => Think, ToWander => Wander, ToChase => Chase, ToFlee => Flee, ToRest => Rest },
    Think => { ToIdle => Idle, ToWander => Wander, ToChase => Chase, ToFlee => Flee, ToRest => Rest },
    Wander => { ToIdle => Idle, ToThink => Think, ToChase => Chase, ToFlee => Flee, ToRest => Rest },
    Chase => { ToIdle => Idle, ToThink => Think, ToWander => Wander, ToFlee => Flee, ToRest => Rest },
    Flee => { ToIdle => Idle, ToThink => Think, ToWander => Wander, ToChase => Chase, ToRest => Rest },
    Rest => { ToIdle => Idle, ToThink => Think, ToWander => Wander, ToChase => Chase, ToFlee => Flee }
}

/// Owner and machine side by side in one `Vec`.
pub(crate) struct RustFsm<const PAD: usize>(Vec<Enemy<PAD>>);

struct Enemy<const PAD: usize> {
    owner: Owner<PAD>,
    machine: StateMachine,
}

impl<const PAD: usize> RustFsm<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let enemies = (0..owners).map(|n| {
            let mut enemy = Enemy { owner: Owner::new(n), machine: StateMachine::new() };
            enemy.owner.enter::<Idle>();
            enemy
        });
        Box::new(Self(enemies.collect()))
    }
}

impl<const PAD: usize> Enemy<PAD> {
    fn update(&mut self, cx: &Context) {
        let from = name(self.machine.state());
        if let Some(to) = matching::update(&mut self.owner, from, cx) {
            matching::exit(&mut self.owner, from);
            if self.machine.consume(&input(to)).is_ok() {
                matching::enter(&mut self.owner, name(self.machine.state()));
            }
        }
    }
}

fn name(state: &State) -> Name {
    match state {
        State::Idle => Name::Idle,
        State::Think => Name::Think,
        State::Wander => Name::Wander,
        State::Chase => Name::Chase,
        State::Flee => Name::Flee,
        State::Rest => Name::Rest,
    }
}

fn input(to: Name) -> Input {
    match to {
        Name::Idle => Input::ToIdle,
        Name::Think => Input::ToThink,
        Name::Wander => Input::ToWander,
        Name::Chase => Input::ToChase,
        Name::Flee => Input::ToFlee,
        Name::Rest => Input::ToRest,
    }
}

impl<const PAD: usize> Contender for RustFsm<PAD> {
    fn tick(&mut self, cx: &Context) {
        for enemy in &mut self.0 {
            enemy.update(cx);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.0.iter().map(|enemy| &enemy.owner))
    }
}
