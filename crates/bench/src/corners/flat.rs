//! Flat states whose owners ask for what a batch cannot carry out as one plain change.

use std::marker::PhantomData;

use demeanor::{Fsm, State, StateRef};

use super::character::{Alarm, Character, Scene};
use super::contenders::Corner;
use crate::workload::{Behaviour, Chase, Flee, Idle, Name, Rest, Think, Wander};

pub(crate) const CORNERS: [Corner; 12] = [
    Corner::new("all change, once", scattered::<Change>),
    Corner::new("can_enter refuses, one target", known::<RefusedEntry>),
    Corner::new("can_enter refuses, five targets", known::<RefusedEntries>),
    Corner::new("can_enter refuses, a new target", idle::<RefusedEntry>),
    Corner::new("can_exit refuses", known::<RefusedExit>),
    Corner::new("half change, half revert", scattered::<HalfRevert>).with_share(0.5),
    Corner::new("change_state_now", scattered::<ChangeNow>),
    Corner::new("three requests each", scattered::<ThreeRequests>),
    Corner::new("push, then pop in the next tick", idle::<PushAndPop>),
    Corner::new("a global asks for the active state", idle::<Nothing>).with_global(keep_idle),
    Corner::new("messages to all, counted", scattered::<Nothing>).with_messages(),
    Corner::new("messages to all, each a change", scattered::<ChangeOnAlarm>).with_messages(),
];

/// What the owners of a corner do besides what they do in their state anyway.
trait Deed: Sized + Send + Sync + 'static {
    /// What an owner asks for in the state `from`; `is_chosen` if it is one of the corner's share.
    fn ask(from: Name, is_chosen: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        let _ = (from, is_chosen, owner, fsm, cx);
    }

    /// What an owner asks for in the state `from` when it hears an alarm.
    fn hear(from: Name, fsm: &mut Fsm<'_, Character>) {
        let _ = (from, fsm);
    }

    /// What each state's `can_enter` says. A guard that refuses looks at the owner, as a game's does.
    fn may_enter(_: &Character) -> bool {
        true
    }

    /// What each state's `can_exit` says.
    fn may_exit(_: &Character) -> bool {
        true
    }
}

/// What is done in the state `B`, and a deed.
struct Busy<D, B>(PhantomData<(D, B)>);

impl<D: Deed, B: Behaviour> State<Character> for Busy<D, B> {
    fn enter(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.enter::<B>();
    }

    fn update(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        let is_chosen = owner.act::<B>(cx);
        D::ask(B::NAME, is_chosen, owner, fsm, cx);
    }

    fn exit(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.exit::<B>();
    }

    fn on_message(&self, owner: &mut Character, _: &Alarm, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) -> bool {
        owner.heard += 1;
        D::hear(B::NAME, fsm);
        true
    }

    fn can_enter(&self, owner: &Character, _: &Fsm<'_, Character>, _: &Scene<'_>) -> bool {
        D::may_enter(owner)
    }

    fn can_exit(&self, owner: &Character, _: &Fsm<'_, Character>, _: &Scene<'_>) -> bool {
        D::may_exit(owner)
    }
}

fn state<D: Deed>(name: Name) -> &'static dyn State<Character> {
    match name {
        Name::Idle => &Busy::<D, Idle>(PhantomData),
        Name::Think => &Busy::<D, Think>(PhantomData),
        Name::Wander => &Busy::<D, Wander>(PhantomData),
        Name::Chase => &Busy::<D, Chase>(PhantomData),
        Name::Flee => &Busy::<D, Flee>(PhantomData),
        Name::Rest => &Busy::<D, Rest>(PhantomData),
    }
}

/// The state `onward` places behind `from`, of six in a circle.
fn behind<D: Deed>(from: Name, onward: usize) -> &'static dyn State<Character> {
    state::<D>(Name::ALL[(from as usize + onward) % 6])
}

/// One of the five others, by the owner's random number.
fn other<D: Deed>(from: Name, owner: &Character) -> &'static dyn State<Character> {
    behind::<D>(from, 1 + (owner.body.luck() >> 8) as usize % 5)
}

/// Everybody begins in the same state.
fn idle<D: Deed>(_: usize) -> StateRef<Character> {
    state::<D>(Name::Idle).into()
}

/// Nearly everybody begins in the same state, but the batch has met all six: to a state that it has not met it changes an
/// owner in another way.
fn known<D: Deed>(number: usize) -> StateRef<Character> {
    if number < 6 { scattered::<D>(number) } else { idle::<D>(number) }
}

/// The owners begin in all six.
fn scattered<D: Deed>(number: usize) -> StateRef<Character> {
    state::<D>(Name::ALL[number % 6]).into()
}

/// What every guard that refuses asks: nobody has heard so much.
fn is_deafened(owner: &Character) -> bool {
    owner.heard == u32::MAX
}

struct Nothing;
impl Deed for Nothing {}

struct Change;
impl Deed for Change {
    fn ask(from: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        fsm.change_state(other::<Self>(from, owner));
    }
}

struct RefusedEntry;
impl Deed for RefusedEntry {
    fn ask(from: Name, _: bool, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        fsm.change_state(behind::<Self>(from, 1));
    }

    fn may_enter(owner: &Character) -> bool {
        is_deafened(owner)
    }
}

struct RefusedEntries;
impl Deed for RefusedEntries {
    fn ask(from: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        fsm.change_state(other::<Self>(from, owner));
    }

    fn may_enter(owner: &Character) -> bool {
        is_deafened(owner)
    }
}

struct RefusedExit;
impl Deed for RefusedExit {
    fn ask(from: Name, _: bool, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        fsm.change_state(behind::<Self>(from, 1));
    }

    fn may_exit(owner: &Character) -> bool {
        is_deafened(owner)
    }
}

/// The ticks before the measured ones choose everybody, so that all have a state to go back to.
struct HalfRevert;
impl Deed for HalfRevert {
    fn ask(from: Name, is_chosen: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        if is_chosen {
            fsm.change_state(other::<Self>(from, owner));
        } else {
            fsm.revert_state();
        }
    }
}

struct ChangeNow;
impl Deed for ChangeNow {
    fn ask(from: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        let to = other::<Self>(from, owner);
        fsm.change_state_now(owner, to, cx);
    }
}

struct ThreeRequests;
impl Deed for ThreeRequests {
    fn ask(from: Name, _: bool, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        for onward in 1..4 {
            fsm.change_state(behind::<Self>(from, onward));
        }
    }
}

struct PushAndPop;
impl Deed for PushAndPop {
    fn ask(from: Name, _: bool, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        if from == Name::Idle {
            fsm.push_state(behind::<Self>(from, 1));
        } else {
            fsm.pop_state();
        }
    }
}

struct ChangeOnAlarm;
impl Deed for ChangeOnAlarm {
    fn hear(from: Name, fsm: &mut Fsm<'_, Character>) {
        fsm.change_state(behind::<Self>(from, 1));
    }
}

/// A global that wants everybody in one state, where everybody is.
struct KeepIdle;
impl State<Character> for KeepIdle {
    fn update(&self, _: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        if !fsm.is_in_state(state::<Nothing>(Name::Idle)) {
            fsm.change_state(state::<Nothing>(Name::Idle));
        }
    }
}

fn keep_idle() -> StateRef<Character> {
    (&KeepIdle).into()
}
