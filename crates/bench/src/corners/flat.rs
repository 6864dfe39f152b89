//! Flat states whose owners make requests that a batch cannot carry out as one plain change.

use std::marker::PhantomData;

use demeanor::{Fsm, State, StateRef};

use super::character::{Alarm, Character, Scene};
use super::contenders::Corner;
use crate::workload::{Behaviour, Chase, Flee, Idle, Name, Rest, Think, Wander};

pub(crate) const CORNERS: [Corner; 17] = [
    Corner::new("all change, once", scattered::<Change>),
    Corner::new("can_enter refuses, one target", known::<RefusedEntry>),
    Corner::new("can_enter refuses, five targets", known::<RefusedEntries>),
    Corner::new("can_enter refuses, a new target", idle::<RefusedEntry>),
    Corner::new("can_exit refuses", known::<RefusedExit>),
    Corner::new("half change, half revert", scattered::<HalfRevert>).with_share(0.5),
    Corner::new("change_state_now", scattered::<ChangeNow>),
    Corner::new("three requests each", scattered::<ThreeRequests>),
    Corner::new("replace_state, twice", scattered::<Replace>),
    Corner::new("change_state_next", scattered::<ChangeNext>),
    Corner::new("push, then pop in the next tick", idle::<PushAndPop>),
    Corner::new("push_state_now, then pop_state_now", idle::<PushAndPopNow>),
    Corner::new("send_ahead", idle::<SendAhead>),
    Corner::new("send_every, due in each tick", idle::<SendEvery>),
    Corner::new("a global asks for the active state", idle::<Nothing>).with_global(keep_idle),
    Corner::new("messages to all, counted", scattered::<Nothing>).with_messages(),
    Corner::new("messages to all, each a change", scattered::<ChangeOnAlarm>).with_messages(),
];

/// The additional work of an owner in a corner, besides the usual work in its state.
trait Deed: Sized + Send + Sync + 'static {
    /// The owner's requests in the state `from`. `is_chosen` is whether the owner belongs to the corner's share.
    fn ask(from: Name, is_chosen: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        let _ = (from, is_chosen, owner, fsm, cx);
    }

    /// The owner's requests in the state `from` when it gets an alarm.
    fn hear(from: Name, fsm: &mut Fsm<'_, Character>) {
        let _ = (from, fsm);
    }

    /// The result of each state's `can_enter`. A guard that returns `false` reads the owner first, as in a game.
    fn may_enter(_: &Character) -> bool {
        true
    }

    /// The result of each state's `can_exit`.
    fn may_exit(_: &Character) -> bool {
        true
    }
}

/// A state with the work of `B` and a deed.
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

/// Returns the state `onward` positions after `from`, in a circle of six.
fn behind<D: Deed>(from: Name, onward: usize) -> &'static dyn State<Character> {
    state::<D>(Name::ALL[(from as usize + onward) % 6])
}

/// Returns one of the five other states, chosen by the owner's random number.
fn other<D: Deed>(from: Name, owner: &Character) -> &'static dyn State<Character> {
    behind::<D>(from, 1 + (owner.body.luck() >> 8) as usize % 5)
}

/// All owners begin in the same state.
fn idle<D: Deed>(_: usize) -> StateRef<Character> {
    state::<D>(Name::Idle).into()
}

/// Almost all owners begin in the same state, but the batch knows all six: a change to a state that a batch does not know takes
/// a slower path.
fn known<D: Deed>(number: usize) -> StateRef<Character> {
    if number < 6 { scattered::<D>(number) } else { idle::<D>(number) }
}

/// The owners begin in all six states.
fn scattered<D: Deed>(number: usize) -> StateRef<Character> {
    state::<D>(Name::ALL[number % 6]).into()
}

/// The condition of every guard that refuses: no character has received so many messages.
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

/// In the ticks before the measurement, all owners are chosen, so that each has a previous state to return to.
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

struct PushAndPopNow;
impl Deed for PushAndPopNow {
    fn ask(from: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        fsm.push_state_now(owner, behind::<Self>(from, 1), cx);
        fsm.pop_state_now(owner, cx);
    }
}

struct Replace;
impl Deed for Replace {
    fn ask(from: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        fsm.replace_state(behind::<Self>(from, 1));
        fsm.replace_state(other::<Self>(from, owner));
    }
}

struct ChangeNext;
impl Deed for ChangeNext {
    fn ask(from: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        fsm.change_state_next(other::<Self>(from, owner));
    }
}

struct SendAhead;
impl Deed for SendAhead {
    fn ask(_: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        fsm.send_ahead(owner, &Alarm, cx);
    }
}

/// The timer is set in the first tick.
struct SendEvery;
impl Deed for SendEvery {
    fn ask(_: Name, _: bool, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        if owner.heard == 0 {
            fsm.send_every(0.0, Alarm);
        }
    }
}

struct ChangeOnAlarm;
impl Deed for ChangeOnAlarm {
    fn hear(from: Name, fsm: &mut Fsm<'_, Character>) {
        fsm.change_state(behind::<Self>(from, 1));
    }
}

/// A global state that requests a change to the state in which all owners already are.
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
