//! The character of the workloads, its states in Rust, and machines that begin in these states.

use std::hint::black_box;

use demeanor::{Fsm, Owner, State, StateMachine, StateRef};

use crate::OWNERS;

/// A character that draws a number in each update.
pub(crate) struct Character {
    random: u32,
    steps: u32,
}

impl Character {
    pub(crate) fn new(n: u32) -> Self {
        Self { random: n.wrapping_mul(7919) + 1, steps: 0 }
    }

    /// Counts the step, and draws a number. Returns whether the character must change its state: in `per_mille` of 1000 steps.
    fn steps(&mut self, per_mille: u32) -> bool {
        self.steps = self.steps.wrapping_add(1);
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random % 1000 < per_mille
    }
}

impl Owner for Character {
    /// How many of 1000 characters change their state in a tick, and the time in seconds.
    type Context<'a> = (u32, f64);
    type Message = ();

    fn now(cx: &(u32, f64)) -> f64 {
        cx.1
    }
}

/// A flat state. Its number tells it apart from the others.
pub(crate) struct Flat<const N: usize>;

pub(crate) static IDLE: Flat<0> = Flat;

impl<const N: usize> State<Character> for Flat<N> {
    fn update(&self, character: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut (u32, f64)) {
        if character.steps(cx.0) {
            let to: &'static dyn State<Character> = if N == 0 { &Flat::<1> } else { &Flat::<0> };
            fsm.change_state(to);
        }
    }
}

/// A state at a depth; the number tells apart two states at the same depth. Only the innermost states step.
pub(crate) struct Deep<const DEPTH: usize, const N: usize>;

pub(crate) static AIM: Deep<2, 0> = Deep;

impl<const DEPTH: usize, const N: usize> State<Character> for Deep<DEPTH, N> {
    fn update(&self, character: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut (u32, f64)) {
        if DEPTH == 2 && character.steps(cx.0) {
            let to: &'static dyn State<Character> = if N == 0 { &Deep::<2, 1> } else { &Deep::<2, 0> };
            fsm.change_state(to);
        }
    }

    fn parent(&self) -> Option<StateRef<Character>> {
        match DEPTH {
            0 => None,
            1 => Some((&Deep::<0, 0>).into()),
            _ => Some((&Deep::<1, 0>).into()),
        }
    }
}

/// A state with two regions.
pub(crate) struct Whole;

pub(crate) static WHOLE: Whole = Whole;

impl State<Character> for Whole {
    fn regions(&self) -> Vec<StateRef<Character>> {
        vec![(&Part::<0, 0>).into(), (&Part::<1, 0>).into()]
    }
}

struct Part<const REGION: usize, const N: usize>;

impl<const REGION: usize, const N: usize> State<Character> for Part<REGION, N> {
    fn update(&self, character: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut (u32, f64)) {
        if character.steps(cx.0) {
            let to: &'static dyn State<Character> = if N == 0 { &Part::<REGION, 1> } else { &Part::<REGION, 0> };
            fsm.change_state(to);
        }
    }

    fn parent(&self) -> Option<StateRef<Character>> {
        Some((&Whole).into())
    }

    fn region(&self) -> usize {
        REGION
    }
}

/// A state with a timer of so many seconds.
pub(crate) struct Wait<const SECONDS: u32>;

/// Its timer is not due while the workload runs.
pub(crate) static WAIT: Wait<1_000_000_000> = Wait;

/// Its timer is due in the first tick.
pub(crate) static SOON: Wait<0> = Wait;

impl<const SECONDS: u32> State<Character> for Wait<SECONDS> {
    fn enter(&self, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut (u32, f64)) {
        fsm.change_state_after(SECONDS.into(), &IDLE);
    }

    fn update(&self, character: &mut Character, _: &mut Fsm<'_, Character>, cx: &mut (u32, f64)) {
        character.steps(cx.0);
    }
}

/// A state that sleeps for 0.1 to 1.1 seconds. Then its owner is awake for one tick, and naps again.
pub(crate) struct Nap;

pub(crate) static NAP: Nap = Nap;

impl State<Character> for Nap {
    fn enter(&self, character: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut (u32, f64)) {
        character.steps(cx.0);
        fsm.change_state_after(0.1 + f64::from(character.random % 1000) / 1000.0, &Stretch);
        fsm.sleep();
    }
}

struct Stretch;

impl State<Character> for Stretch {
    fn update(&self, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut (u32, f64)) {
        fsm.change_state(&NAP);
    }
}

/// Updates machines that begin in the state `initial`.
pub(crate) fn machines(initial: &'static dyn State<Character>, per_mille: u32, ticks: u32) {
    several_machines([initial], per_mille, ticks);
}

/// A global state that does nothing in its update.
struct Watch;

impl State<Character> for Watch {
    fn update(&self, _: &mut Character, _: &mut Fsm<'_, Character>, _: &mut (u32, f64)) {}
}

/// Updates machines with a global state.
pub(crate) fn machines_with_global(ticks: u32) {
    update_all(&[StateMachine::new(&IDLE).with_global(&Watch)], 0, ticks);
}

/// Updates several machines of each owner, one after the other.
pub(crate) fn several_machines<const N: usize>(
    initial: [&'static dyn State<Character>; N],
    per_mille: u32,
    ticks: u32,
) {
    update_all(&initial.map(StateMachine::new), per_mille, ticks);
}

/// Updates a clone of each of these machines for each owner, one after the other.
fn update_all<const N: usize>(machines: &[StateMachine<Character>; N], per_mille: u32, ticks: u32) {
    let mut cx = (per_mille, 0.0);
    let mut characters: Vec<_> = (0..OWNERS)
        .map(|n| {
            let mut character = Character::new(n);
            let mut machines = machines.clone();
            for machine in &mut machines {
                machine.start(&mut character, &mut cx);
            }
            (character, machines)
        })
        .collect();
    for _ in 0..ticks {
        cx.1 += 1.0 / 64.0;
        for (character, machines) in &mut characters {
            for machine in machines {
                machine.update(character, &mut cx);
            }
        }
    }
    black_box(characters);
}
