//! A game of which every piece can panic: its owner, its clock, its states.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use demeanor::{Batch, Change, Fsm, Key, Owner, State, StateRef};

thread_local! {
    /// What panics, and after how many more calls.
    static ARMED: RefCell<Vec<(&'static str, u32)>> = const { RefCell::new(Vec::new()) };
    /// Whether what it panics with panics when it is dropped.
    static IS_EXPLOSIVE: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static ROOMS: Cell<u32> = const { Cell::new(0) };
    static IMPS: Cell<u32> = const { Cell::new(0) };
    static NOTES: Cell<u32> = const { Cell::new(0) };
    /// The numbers of the imps that have been dropped.
    static DROPPED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Arms pieces: each panics once, after so many more calls.
pub(crate) fn arm(pieces: &[(&'static str, u32)]) {
    ARMED.set(pieces.to_vec());
}

/// Whether what a piece panics with panics itself when it is dropped.
pub(crate) fn arm_payloads(is_explosive: bool) {
    IS_EXPLOSIVE.set(is_explosive);
}

/// How often any piece of the game has been called.
pub(crate) fn calls() -> u64 {
    CALLS.get()
}

/// How many rooms there are that are no singletons.
pub(crate) fn live_rooms() -> u32 {
    ROOMS.get()
}

/// How many imps there are.
pub(crate) fn live_imps() -> u32 {
    IMPS.get()
}

/// The numbers of the imps that have been dropped since the last call.
pub(crate) fn take_dropped() -> Vec<u32> {
    DROPPED.take()
}

/// How many notes there are.
pub(crate) fn live_notes() -> u32 {
    NOTES.get()
}

/// A payload.
pub(crate) struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            resume_unwind(Box::new("dropped"));
        }
    }
}

/// Panics if it is the turn of this piece, without the panic hook's message, because a test expects it. Does nothing while another
/// panic unwinds: a second one would end the process.
pub(crate) fn trip(piece: &str) {
    let (name, what) = piece.split_once('.').unwrap_or(("", piece));
    trip_of(name, what);
}

/// Likewise, for a piece of a state, and without an allocation.
fn trip_of(name: &str, what: &str) {
    CALLS.set(CALLS.get() + 1);
    if std::thread::panicking() {
        return;
    }
    let is_it =
        |of: &str| of.split_once('.').unwrap_or(("", of)) == (name, what) || of.strip_prefix("*.") == Some(what);
    let is_due = ARMED.with_borrow_mut(|armed| {
        let Some(at) = armed.iter().position(|(of, _)| is_it(of)) else { return false };
        let left = armed[at].1;
        armed[at].1 = left.saturating_sub(1);
        if left == 0 {
            armed.remove(at);
        }
        left == 0
    });
    if is_due {
        resume_unwind(if IS_EXPLOSIVE.get() { Box::new(Explosive) } else { Box::new("tripped") });
    }
}

/// An owner that asks in its next update for what it is ordered to do.
pub(crate) struct Imp {
    pub(crate) number: u32,
    pub(crate) ticks: u32,
    /// How many messages it has heard.
    pub(crate) heard: u32,
    pub(crate) order: Option<StateRef<Imp>>,
    pub(crate) request: u8,
}

impl Imp {
    pub(crate) fn new(number: u32) -> Self {
        IMPS.set(IMPS.get() + 1);
        Self { number, ticks: 0, heard: 0, order: None, request: 0 }
    }
}

impl Clone for Imp {
    fn clone(&self) -> Self {
        trip("owner.clone");
        let mut imp = Self::new(self.number);
        (imp.ticks, imp.heard) = (self.ticks, self.heard);
        imp.order.clone_from(&self.order);
        imp.request = self.request;
        imp
    }
}

impl Drop for Imp {
    fn drop(&mut self) {
        IMPS.set(IMPS.get() - 1);
        DROPPED.with_borrow_mut(|dropped| dropped.push(self.number));
        trip("owner.drop");
    }
}

impl fmt::Debug for Imp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trip("owner.debug");
        write!(f, "Imp({})", self.number)
    }
}

/// A message.
pub(crate) struct Note;

impl Note {
    pub(crate) fn new() -> Self {
        NOTES.set(NOTES.get() + 1);
        Self
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        NOTES.set(NOTES.get() - 1);
        trip("message.drop");
    }
}

#[derive(Default)]
pub(crate) struct Clock {
    pub(crate) now: f64,
    /// The states that have been updated, by name.
    pub(crate) updated: Vec<&'static str>,
}

impl Clock {
    pub(crate) fn at(now: f64) -> Self {
        Self { now, ..Self::default() }
    }
}

impl Owner for Imp {
    type Context<'a> = Clock;
    type Message = Note;

    fn now(clock: &Clock) -> f64 {
        trip("now");
        clock.now
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trip("label");
        write!(f, "imp {}", self.number)
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut Clock) {
        if change.is_taken() {
            trip("on_change");
        }
    }

    fn after_change(&mut self, _: &Change<'_, Self>, _: &mut Clock) {
        trip("after_change");
    }

    fn after_update(&mut self, _: &Fsm<'_, Self>, _: &mut Clock) {
        trip("after_update");
    }
}

/// A state each of whose methods can panic.
pub(crate) struct Room {
    name: &'static str,
    around: Option<StateRef<Imp>>,
    keeps_history: bool,
}

impl Room {
    pub(crate) fn new(name: &'static str) -> Self {
        ROOMS.set(ROOMS.get() + 1);
        Self { name, around: None, keeps_history: false }
    }

    pub(crate) fn inside(mut self, around: StateRef<Imp>) -> Self {
        self.around = Some(around);
        self
    }

    pub(crate) fn keeping_history(mut self) -> Self {
        self.keeps_history = true;
        self
    }
}

impl Clone for Room {
    fn clone(&self) -> Self {
        trip_of(self.name, "clone");
        let mut room = Self::new(self.name);
        room.around.clone_from(&self.around);
        room.keeps_history = self.keeps_history;
        room
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        ROOMS.set(ROOMS.get() - 1);
        trip_of(self.name, "drop");
    }
}

/// Singletons. The niche is in the hall, which keeps history.
pub(crate) struct A;
pub(crate) struct B;
pub(crate) struct Hall;
pub(crate) struct Niche;
/// It refuses all who want to enter it.
pub(crate) struct Closed;
/// All states refuse to be left for it.
pub(crate) struct Barred;
/// It is in B, which keeps no history.
pub(crate) struct Nook;

fn ask(imp: &mut Imp, fsm: &mut Fsm<'_, Imp>, clock: &mut Clock) {
    let Some(state) = imp.order.take() else { return };
    let seconds = f64::from(imp.request / 16 % 4);
    match imp.request % 16 {
        0 => fsm.change_state(state),
        1 => {
            fsm.change_state_now(imp, state, clock);
        }
        2 => fsm.push_state(state),
        3 => {
            fsm.push_state(state);
            fsm.pop_state();
        }
        4 => fsm.revert_state(),
        5 => {
            fsm.change_state(state);
            fsm.change_state(&A);
            fsm.force_state(&B);
        }
        6 => fsm.resume_state(state),
        7 => fsm.force_state(state),
        8 => {
            fsm.ensure_state(state);
            fsm.send(Note::new());
        }
        9 => {
            fsm.send_now(imp, &Note::new(), clock);
            fsm.pop_state();
        }
        10 => fsm.change_state_after(seconds, state),
        11 => fsm.send_after(seconds, Note::new()),
        12 => fsm.sleep(),
        13 => fsm.sleep_for(seconds),
        14 => {
            fsm.change_state_after(seconds, state.clone());
            fsm.push_state(state);
        }
        _ => {
            fsm.push_state(state.clone());
            fsm.change_state_after(seconds, state);
            fsm.send_after(seconds, Note::new());
            fsm.sleep_for(seconds);
        }
    }
}

macro_rules! rooms {
    ($($state:ty, $name:expr, $parent:expr, $keeps_history:expr;)*) => {$(
        impl State<Imp> for $state {
            fn enter(&self, _: &mut Imp, _: &mut Fsm<'_, Imp>, _: &mut Clock) {
                trip_of($name(self), "enter");
            }

            fn update(&self, imp: &mut Imp, fsm: &mut Fsm<'_, Imp>, clock: &mut Clock) {
                // Only the innermost counts.
                let current = fsm.current().and_then(|current| current.downcast_ref::<Self>());
                if current.is_some_and(|current| size_of::<Self>() == 0 || std::ptr::eq(current, self)) {
                    imp.ticks += 1;
                }
                clock.updated.push($name(self));
                ask(imp, fsm, clock);
                trip_of($name(self), "update");
            }

            fn exit(&self, _: &mut Imp, _: &mut Fsm<'_, Imp>, _: &mut Clock) {
                trip_of($name(self), "exit");
            }

            fn on_message(&self, imp: &mut Imp, _: &Note, _: &mut Fsm<'_, Imp>, _: &mut Clock) -> bool {
                imp.heard += 1;
                trip_of($name(self), "on_message");
                imp.request % 3 == 0
            }

            fn can_enter(&self, _: &Imp, _: &Fsm<'_, Imp>, _: &Clock) -> bool {
                trip_of($name(self), "can_enter");
                $name(self) != "Closed"
            }

            fn can_exit(&self, _: &Imp, fsm: &Fsm<'_, Imp>, _: &Clock) -> bool {
                trip_of($name(self), "can_exit");
                fsm.target().is_none_or(|target| !target.is::<Barred>())
            }

            fn parent(&self) -> Option<StateRef<Imp>> {
                trip_of($name(self), "parent");
                $parent(self)
            }

            fn initial(&self) -> Option<StateRef<Imp>> {
                trip_of($name(self), "initial");
                None
            }

            fn keeps_history(&self) -> bool {
                trip_of($name(self), "keeps_history");
                $keeps_history(self)
            }

            fn is_passive(&self) -> bool {
                trip_of($name(self), "is_passive");
                false
            }

            fn name(&self) -> Cow<'_, str> {
                trip_of($name(self), "name");
                $name(self).into()
            }
        }
    )*};
}

rooms! {
    Room, |room: &Self| room.name, |room: &Self| room.around.clone(), |room: &Self| room.keeps_history;
    A, |_: &Self| "A", |_: &Self| None, |_: &Self| false;
    B, |_: &Self| "B", |_: &Self| None, |_: &Self| false;
    Hall, |_: &Self| "Hall", |_: &Self| None, |_: &Self| true;
    Closed, |_: &Self| "Closed", |_: &Self| None, |_: &Self| false;
    Barred, |_: &Self| "Barred", |_: &Self| None, |_: &Self| false;
    Nook, |_: &Self| "Nook", |_: &Self| Some((&B).into()), |_: &Self| false;
    Niche, |_: &Self| "Niche", |_: &Self| Some((&Hall).into()), |_: &Self| false;
}

/// The states that random programs use: singletons, then such as are made at run time.
pub(crate) fn state(kind: u8) -> StateRef<Imp> {
    let valley = || -> StateRef<Imp> { Arc::new(Room::new("Valley").keeping_history()).into() };
    match kind % 8 {
        0 => (&A).into(),
        1 => (&B).into(),
        2 => (&Niche).into(),
        3 => (&Hall).into(),
        4 => Arc::new(Room::new("Shared")).into(),
        5 => Box::new(Room::new("Owned")).into(),
        6 => Arc::new(Room::new("Tent").inside(valley())).into(),
        _ => Box::new(Room::new("Hut").inside(valley())).into(),
    }
}

/// Lets `piece` panic at its `nth` call during `act`, counted from 0.
pub(crate) fn panicking(piece: &'static str, nth: u32, act: impl FnOnce()) {
    arm(&[(piece, nth)]);
    let result = catch_unwind(AssertUnwindSafe(act));
    arm(&[]);
    let payload = result.expect_err(piece);
    assert_eq!(payload.downcast_ref(), Some(&"tripped"), "{piece}");
}

pub(crate) fn owned(name: &'static str) -> StateRef<Imp> {
    Box::new(Room::new(name)).into()
}

pub(crate) fn shared(name: &'static str) -> StateRef<Imp> {
    Arc::new(Room::new(name)).into()
}

/// Inserts `count` imps, numbered from `first`, each in a state that `state` makes.
pub(crate) fn add(batch: &mut Batch<Imp>, first: u32, count: u32, state: impl Fn() -> StateRef<Imp>) -> Vec<Key> {
    (first..first + count).map(|number| batch.insert(Imp::new(number), state())).collect()
}

/// Asserts that the batch has the owners of these keys and no others, and that its queries agree about each of them.
#[track_caller]
pub(crate) fn assert_agrees(batch: &Batch<Imp>, keys: &[Key]) {
    let expected: BTreeSet<_> = keys.iter().copied().collect();
    assert_eq!(batch.keys().collect::<BTreeSet<_>>(), expected, "the keys");
    assert_eq!((batch.len(), batch.keys().len(), batch.iter().len()), (keys.len(), keys.len(), keys.len()));
    let in_rows: Vec<_> = batch.iter().map(|(key, imp)| (key, imp.number)).collect();
    assert_eq!(in_rows.len(), keys.len(), "the rows");
    for (key, number) in in_rows {
        assert_eq!(batch.get(key).map(|imp| imp.number), Some(number), "by key and by row");
    }
    let mut by_state = 0;
    for key in keys {
        let imp = batch.get(*key).expect("it is there");
        let path: Vec<_> = batch.path(*key).expect("it is there").cloned().collect();
        assert_eq!(batch.state_of(*key), path.last());
        let Some(current) = batch.state_of(*key) else { continue };
        let mut chain: Vec<_> = std::iter::successors(Some(current.clone()), |state| state.parent()).collect();
        chain.reverse();
        assert_eq!(path, chain, "the path is that of the state");
        assert!(path.iter().all(|active| batch.is_in_state(*key, &**active)));
        assert!(
            batch.owners_in(&**current).iter().any(|other| std::ptr::eq(other, imp)),
            "imp {} is among those in {current}",
            imp.number
        );
        by_state += 1;
    }
    assert_eq!(batch.census().map(|(_, count)| count).sum::<usize>(), by_state, "the census");
}
