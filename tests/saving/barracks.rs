//! Guards, and their states, which write down what happens to them.
//!
//! The golden files and the fuzzer's seeds are of these guards as they are in tick 49, so that no name of a state, and nothing that a
//! guard does, may change here.

use demeanor::{Batch, Fsm, Key, Owner, State, StateBook, StateMachine, StateRef};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Guard {
    #[serde(with = "fragile::owner")]
    pub(crate) number: u32,
    pub(crate) log: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Told {
    Weary {
        #[serde(with = "fragile::message")]
        how: f64,
    },
    Bell,
}

/// Data whose writing and reading fail when a test says so.
pub(crate) mod fragile {
    use std::cell::Cell;
    use std::panic::resume_unwind;

    /// How a piece of the game's code fails.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum Way {
        Error,
        Panic,
    }

    thread_local! {
        /// Which piece fails, after how many more calls, and how.
        pub(crate) static ARMED: Cell<Option<(&'static str, u32, Way)>> = const { Cell::new(None) };
    }

    pub(crate) const SAYS: &str = "it is fragile";

    /// Fails if it is this piece's turn.
    fn trip(piece: &str) -> Result<(), &'static str> {
        let Some((armed, left, way)) = ARMED.get().filter(|(armed, ..)| *armed == piece) else { return Ok(()) };
        ARMED.set(left.checked_sub(1).map(|left| (armed, left, way)));
        match (left, way) {
            (0, Way::Error) => Err(SAYS),
            // Without the panic hook's message: it is expected.
            (0, Way::Panic) => resume_unwind(Box::new(SAYS)),
            _ => Ok(()),
        }
    }

    macro_rules! pieces {
        ($($piece:ident)*) => {$(
            pub(crate) mod $piece {
                use serde::de::Error as _;
                use serde::ser::Error as _;
                use serde::{Deserialize, Deserializer, Serialize, Serializer};

                pub(crate) fn serialize<T: Serialize, S: Serializer>(data: &T, to: S) -> Result<S::Ok, S::Error> {
                    super::trip(concat!(stringify!($piece), ".write")).map_err(S::Error::custom)?;
                    data.serialize(to)
                }

                pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
                    let data = T::deserialize(from)?;
                    super::trip(concat!(stringify!($piece), ".read")).map_err(D::Error::custom)?;
                    Ok(data)
                }
            }
        )*};
    }
    pieces! { owner state message }
}

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = Told;

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

impl Guard {
    pub(crate) fn new(number: u32) -> Self {
        Self { number, log: vec![] }
    }

    /// Notes a callback, and for how long the guard has been where it is.
    pub(crate) fn note(&mut self, what: &str, state: &dyn State<Self>, fsm: &Fsm<'_, Self>, now: f64) {
        let times: Vec<_> = fsm.path().map(|active| fsm.time_in(&**active, &now).unwrap().to_bits()).collect();
        let previous = fsm.previous().map(|previous| previous.name().into_owned());
        self.log.push(format!("{what} {} {times:x?} {previous:?}", state.name()));
    }
}

/// A state that notes its callbacks.
macro_rules! state {
    ($name:ident $({ $($more:item)* })?) => {
        state!($name, |_fsm| {}, $({ $($more)* })?);
    };
    ($name:ident, |$fsm:ident| $enter:expr, $({ $($more:item)* })?) => {
        pub(crate) struct $name;

        impl State<Guard> for $name {
            fn enter(&self, guard: &mut Guard, $fsm: &mut Fsm<'_, Guard>, now: &mut f64) {
                guard.note("enter", self, $fsm, *now);
                $enter;
            }

            fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, now: &mut f64) {
                guard.note("update", self, fsm, *now);
            }

            fn exit(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, now: &mut f64) {
                guard.note("exit", self, fsm, *now);
            }

            fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, now: &mut f64) -> bool {
                guard.note(&format!("{told:?}"), self, fsm, *now);
                true
            }

            $($($more)*)?
        }
    };
}
pub(crate) use state;

state!(Idle);
state!(Flee);
// Until a bell rings, or two seconds are over.
state!(Stunned, |fsm| {
    fsm.change_state_after(2.0, &Flee);
    fsm.sleep();
},);
state!(Nap, |fsm| fsm.sleep_for(1.3),);
// With children.
state!(Combat, |fsm| fsm.send_after(2.9, Told::Weary { how: 0.1 + 0.2 }), {
    fn initial(&self) -> Option<StateRef<Guard>> {
        Some((&Aim).into())
    }

    fn keeps_history(&self) -> bool {
        true
    }
});
state!(Aim, |fsm| fsm.change_state_after(0.7, &Shoot), {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Combat).into())
    }
});
state!(Shoot {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Combat).into())
    }
});

/// An owned state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Patrol {
    #[serde(with = "fragile::state")]
    pub(crate) route: Vec<(i32, i32)>,
    pub(crate) pace: f64,
}

impl State<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, now: &mut f64) {
        guard.note(&format!("{:?}", self.route), self, fsm, *now);
    }
}

impl Patrol {
    pub(crate) fn to(to: i32) -> Self {
        Self { route: vec![(0, to)], pace: f64::from(to) / 3.0 }
    }
}

pub(crate) fn patrol(to: i32) -> StateRef<Guard> {
    Box::new(Patrol::to(to)).into()
}

pub(crate) fn book() -> StateBook<Guard> {
    let book = StateBook::new().with(&Idle).with(&Flee).with(&Stunned).with(&Nap);
    book.with(&Combat).with(&Aim).with(&Shoot).with_owned::<Patrol>().with_messages()
}

/// The times at which everything here ticks: a tenth of a second is no number of binary digits.
pub(crate) fn clock(ticks: std::ops::Range<u32>) -> impl Iterator<Item = f64> {
    ticks.map(|tick| f64::from(tick) / 10.0)
}

/// Machines that have come as far as tick 50, with all that there is to save.
pub(crate) fn machines() -> Vec<(Guard, StateMachine<Guard>)> {
    let mut all: Vec<_> = (0..8).map(|number| (Guard::new(number), StateMachine::new(&Idle))).collect();
    for now in clock(0..50) {
        let now = &mut { now };
        for (guard, machine) in &mut all {
            act(guard, machine, (*now * 10.0).round(), now);
            machine.update(guard, now);
        }
    }
    for (guard, _) in &mut all {
        guard.log.clear();
    }
    all
}

/// What the game does with a guard in a tick.
fn act(guard: &mut Guard, machine: &mut StateMachine<Guard>, tick: f64, now: &mut f64) {
    let at = |tick_of: f64| (tick - tick_of).abs() < 0.5;
    match guard.number {
        // 0 is not started.
        // In the middle of combat, with timers of the state and of the one around it.
        1 if at(20.0) => _ = machine.change_state(guard, &Flee, now),
        1 if at(40.0) => _ = machine.change_state(guard, &Combat, now),
        // Combat is remembered, and asleep elsewhere.
        2 if at(20.0) => _ = machine.change_state(guard, &Combat, now),
        2 if at(47.0) => _ = machine.change_state(guard, &Nap, now),
        // Pushed over combat, and over that.
        3 if at(30.0) => _ = machine.change_state(guard, &Combat, now),
        3 if at(33.0) => _ = machine.push_state(guard, &Idle, now),
        3 if at(48.0) => _ = machine.push_state(guard, &Stunned, now),
        // On patrol, and before that on another.
        4 if at(10.0) => _ = machine.change_state(guard, patrol(3), now),
        4 if at(30.0) => _ = machine.change_state(guard, patrol(7), now),
        4 if at(31.0) => _ = machine.send_after(guard, 2.5, Told::Bell, now),
        // Asleep for good, unless a timer comes that lasts as long as the machine.
        5 if at(5.0) => machine.start(guard, now),
        5 if at(25.0) => machine.sleep(),
        5 if at(26.0) => _ = machine.change_state_after(guard, 4.0, &Combat, now),
        // Two timers at one time, in the order of asking.
        6 if at(31.0) => {
            machine.send_after(guard, 2.5, Told::Weary { how: -0.0 }, now);
            machine.send_after(guard, 2.5, Told::Bell, now);
            machine.change_state_after(guard, 2.5, &Nap, now);
        }
        // In no state.
        7 if at(3.0) => machine.stop(guard, now),
        _ => {}
    }
}

/// What happens to a guard in the ticks 50 to 120, the last of them full of verbs.
pub(crate) fn go_on(guard: &mut Guard, machine: &mut StateMachine<Guard>) -> Vec<String> {
    for now in clock(50..120) {
        machine.update(guard, &mut { now });
    }
    let now = &mut 12.0;
    machine.pop_state(guard, now);
    machine.update(guard, &mut 13.0);
    machine.pop_state(guard, now);
    machine.revert_state(guard, now);
    machine.resume_state(guard, &Combat, now);
    machine.update(guard, &mut 16.0);
    machine.stop(guard, now);
    guard.log.clone()
}

/// The same machines in a batch, in which some owners have come and gone.
pub(crate) fn batch() -> (Batch<Guard>, Vec<Key>) {
    let mut batch = Batch::new();
    let gone: Vec<_> = (0..5).map(|number| batch.insert(Guard::new(100 + number), &Flee)).collect();
    let mut keys: Vec<_> = Vec::new();
    for copy in 0..3 {
        for (mut guard, machine) in machines() {
            guard.number += 10 * copy;
            keys.push(batch.insert_machine(guard, machine).expect("no global"));
        }
    }
    for nth in [1, 4, 0] {
        batch.remove(gone[nth]);
    }
    batch.remove(keys.remove(3));
    (batch, keys)
}

/// What happens to all guards of a batch in the ticks 50 to 120, with some who join.
pub(crate) fn go_on_together(batch: &mut Batch<Guard>, update: impl Fn(&mut Batch<Guard>, f64)) -> Vec<(Key, Guard)> {
    for now in clock(50..120) {
        update(batch, now);
        if now.fract() == 0.0 {
            batch.insert(Guard::new(200), patrol(9));
        }
        if now > 8.0 && now < 8.2 {
            batch.broadcast(&Told::Bell, &mut { now });
        }
    }
    let keys: Vec<_> = batch.keys().collect();
    for key in keys {
        batch.pop_state(key, &mut 12.0);
        batch.revert_state(key, &mut 12.0);
        batch.resume_state(key, &Combat, &mut 12.0);
    }
    update(batch, 16.0);
    batch.iter().map(|(key, guard)| (key, guard.clone())).collect()
}
