//! Owned states: each owner has its own state in a box.

use demeanor::{Fsm, State, StateRef};

use super::character::{Character, Scene};
use super::contenders::Corner;
use super::nested::Level;
use crate::workload::{Idle, Wander};

pub(crate) const CORNERS: [Corner; 3] = [
    Corner::new("owned states, nobody changes", patrol::<false>),
    Corner::new("owned states, 10 % change to a new one", patrol::<true>).with_share(0.1),
    Corner::new("owned states six deep, nobody changes", sentry),
];

/// A state with its own data. `CHANGES` is whether the chosen owners change to another patrol.
#[derive(Clone)]
struct Patrol<const CHANGES: bool> {
    route: [u32; 4],
}

impl<const CHANGES: bool> State<Character> for Patrol<CHANGES> {
    fn enter(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.enter::<Wander>();
        owner.heard = owner.heard.wrapping_add(self.route[3]);
    }

    fn update(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        let is_chosen = owner.act::<Wander>(cx);
        if CHANGES && is_chosen {
            fsm.change_state(patrol::<CHANGES>(owner.body.luck() as usize));
        }
    }

    fn exit(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.exit::<Wander>();
    }
}

fn patrol<const CHANGES: bool>(seed: usize) -> StateRef<Character> {
    Box::new(Patrol::<CHANGES> { route: [seed as u32; 4] }).into()
}

/// An owned state inside five others.
#[derive(Clone)]
struct Sentry {
    post: u32,
}

impl State<Character> for Sentry {
    fn update(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        owner.body.act::<Idle>(&cx.base);
        owner.heard = owner.heard.wrapping_add(self.post);
    }

    fn parent(&self) -> Option<StateRef<Character>> {
        Some(Level::fifth())
    }
}

fn sentry(number: usize) -> StateRef<Character> {
    Box::new(Sentry { post: number as u32 }).into()
}
