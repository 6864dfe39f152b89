//! Random programs of a batch in which pieces of the game panic.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use demeanor::{Batch, Journal, Key, NextWake, StateMachine, StateRef};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{on_one_thread, par_update};
use crate::captured_log::{log_lines, on_record};
use crate::cases::cases;
use crate::game::{
    Clock, Explosive, Imp, Note, Room, arm, arm_payloads, assert_agrees, live_imps, live_notes, live_rooms, state, trip,
};

/// What can panic. With an asterisk, that of any state.
const PIECES: [&str; 29] = [
    "owner.drop",
    "owner.clone",
    "owner.debug",
    "message.drop",
    "logger.enabled",
    "logger.log",
    "label",
    "now",
    "on_change",
    "after_change",
    "after_update",
    "*.drop",
    "*.clone",
    "*.name",
    "*.parent",
    "*.initial",
    "*.keeps_history",
    "*.is_passive",
    "*.enter",
    "*.update",
    "*.exit",
    "*.on_message",
    "*.can_enter",
    "*.can_exit",
    "Shared.drop",
    "Owned.drop",
    "Valley.drop",
    "Tent.parent",
    "Hut.enter",
];

/// One operation: on the owner at a place, with a state of a kind.
#[derive(Clone, Copy, Debug)]
struct Operation {
    verb: u8,
    place: u8,
    kind: u8,
    /// What panics, and after how many calls.
    armed: [Option<(usize, u32)>; 2],
    has_explosive_payload: bool,
}

fn operation() -> impl Strategy<Value = Operation> {
    let armed = || proptest::option::weighted(0.4, (0..PIECES.len(), 0_u32..6));
    (0..44_u8, any::<u8>(), any::<u8>(), [armed(), armed()], proptest::bool::weighted(0.1)).prop_map(
        |(verb, place, kind, armed, has_explosive_payload)| Operation {
            verb,
            place,
            kind,
            armed,
            has_explosive_payload,
        },
    )
}

impl Operation {
    /// Does it, with what is armed. Only that may panic.
    fn attempt(self, act: impl FnOnce()) -> bool {
        let mut has_panicked = false;
        log_lines(|| {
            let armed: Vec<_> = self.armed.iter().flatten().map(|&(piece, nth)| (PIECES[piece], nth)).collect();
            on_record(trip);
            arm_payloads(self.has_explosive_payload);
            arm(&armed);
            let result = catch_unwind(AssertUnwindSafe(act));
            arm(&[]);
            if let Err(payload) = result {
                let is_ours = payload.is::<Explosive>() || payload.downcast_ref() == Some(&"tripped");
                assert!(is_ours, "the library itself panicked: {:?}", payload.downcast_ref::<String>());
                mem::forget(payload);
                has_panicked = true;
            }
        });
        has_panicked
    }
}

/// A batch, and who should be in it: the numbers of the imps, by key.
#[derive(Default)]
struct Program {
    batch: Batch<Imp>,
    there: BTreeMap<Key, u32>,
    snapshot: Option<(Batch<Imp>, BTreeMap<Key, u32>)>,
    next: u32,
    now: f64,
}

impl Program {
    fn run(&mut self, operation: Operation) {
        let Operation { verb, place, kind, .. } = operation;
        let key = self.there.keys().nth(usize::from(place) % self.there.len().max(1)).copied().unwrap_or_default();
        self.now += f64::from(place % 2);
        let clock = &mut Clock::at(self.now);
        let to = state(kind);
        match verb {
            0..=6 => self.insert(operation),
            7 => {
                let batch = &mut self.batch;
                operation.attempt(|| drop(batch.remove(key)));
                self.there.remove(&key);
            }
            8..=21 => {
                let batch = &mut self.batch;
                operation.attempt(|| by_key(batch, verb, key, to, clock));
            }
            22..=28 => {
                self.give_orders(kind);
                let (batch, now) = (&mut self.batch, self.now);
                operation.attempt(|| match verb {
                    22 | 23 => batch.update(clock),
                    24 => _ = batch.update_one(key, clock),
                    25 | 26 => par_update(batch, now),
                    27 => batch.update_part(usize::from(place % 3), 3, clock),
                    _ => batch.update_in_key_order(clock),
                });
            }
            29 => {
                let (batch, mut refused) = (&mut self.batch, Vec::new());
                operation.attempt(|| {
                    batch.retain(|key, imp| {
                        let is_kept = imp.number % 4 != u32::from(kind % 4);
                        refused.extend((!is_kept).then_some(key));
                        is_kept
                    });
                });
                self.there.retain(|key, _| !refused.contains(key));
            }
            30 => self.drain(operation),
            31 | 32 => {
                self.snapshot = None;
                let (batch, mut clone) = (&self.batch, None);
                operation.attempt(|| clone = Some(batch.clone()));
                self.snapshot = clone.map(|clone| (clone, self.there.clone()));
            }
            33 | 34 => {
                if let Some((snapshot, there)) = &self.snapshot {
                    let batch = &mut self.batch;
                    let has_panicked = operation.attempt(|| batch.clone_from(snapshot));
                    self.there = if has_panicked { BTreeMap::new() } else { there.clone() };
                }
            }
            36 => self.look(operation, key),
            37..=41 => {
                let batch = &mut self.batch;
                operation.attempt(|| wait(batch, verb, f64::from(kind % 4), key, to, clock));
            }
            42 => {
                let batch = &mut self.batch;
                let journal = (kind % 2 == 0).then(|| Journal::new(usize::from(kind)));
                operation.attempt(|| drop(batch.set_journal(journal)));
            }
            _ => {
                let batch = &mut self.batch;
                operation.attempt(|| {
                    batch.reserve(usize::from(place), to);
                    batch.shrink_to_fit();
                });
            }
        }
        self.check();
        if place % 4 == 1 {
            self.fares_like_others();
        }
        if place % 2 == 0 {
            self.goes_on();
        }
    }

    /// What only looks changes nothing, though it panics.
    fn look(&self, operation: Operation, key: Key) {
        let Self { batch, now, .. } = self;
        let digest = digest(batch);
        operation.attempt(|| {
            _ = batch.report(key, *now).map(|report| format!("{report:?}"));
            _ = format!("{batch:?} {:?} {:?}", batch.iter(), batch.journal());
            _ = batch.digest(|imp, _| trip(&format!("{imp:?}")));
            _ = batch.census().count();
        });
        assert_eq!(self::digest(batch), digest, "it was only looked at");
    }

    /// From now on, the batch fares as clones of it in other kinds of ticks, and as each owner's own machine: a panic has left
    /// nothing behind that one of them has and another has not.
    fn fares_like_others(&self) {
        let mut batches = [(); 4].map(|()| self.batch.clone());
        let mut machines: Vec<_> = self.batch.clone().into_machines().collect();
        machines.sort_by_key(|(key, ..)| *key);
        for (_, imp) in batches.iter_mut().flat_map(Batch::iter_mut) {
            imp.order = None;
        }
        for (_, imp, _) in &mut machines {
            imp.order = None;
        }
        for now in [self.now, self.now + 1.0, self.now + 4.0] {
            log_lines(|| {
                batches[0].update(&mut Clock::at(now));
                par_update(&mut batches[1], now);
                batches[2].update_in_key_order(&mut Clock::at(now));
                for (key, ..) in machines.iter().rev() {
                    batches[3].update_one(*key, &mut Clock::at(now));
                }
                for (_, imp, machine) in &mut machines {
                    machine.update(imp, &mut Clock::at(now));
                }
            });
            assert_eq!(digest(&batches[1]), digest(&batches[0]), "on all cores, at {now}");
            assert_eq!(digest(&batches[2]), digest(&batches[0]), "in the order of keys, at {now}");
            assert_eq!(digest(&batches[3]), digest(&batches[0]), "one by one, at {now}");
        }
        let mut of_batch: Vec<_> = { batches }.into_iter().next().unwrap().into_machines().collect();
        of_batch.sort_by_key(|(key, ..)| *key);
        let fates = |all: &[(Key, Imp, StateMachine<Imp>)]| -> Vec<_> {
            all.iter().map(|(key, imp, machine)| (*key, imp.ticks, format!("{machine:?}"), machine.digest())).collect()
        };
        assert_eq!(fates(&of_batch), fates(&machines), "on machines");
    }

    fn insert(&mut self, operation: Operation) {
        let (number, to) = (self.next, state(operation.kind));
        self.next += 1;
        let (imp, batch, now) = (Imp::new(number), &mut self.batch, self.now);
        let mut inserted = None;
        // What an operation has no use for is not to be dropped in it.
        let has_panicked = match operation.verb {
            0..=3 => operation.attempt(|| inserted = Some(batch.insert(imp, to))),
            4 | 5 => operation.attempt(|| inserted = Some(batch.spawn(imp, to, &mut Clock::at(now)))),
            _ => {
                let mut machine = StateMachine::new(state(operation.place));
                machine.set_previous(to);
                operation.attempt(|| inserted = batch.insert_machine(imp, machine).ok())
            }
        };
        assert_eq!(inserted.is_none(), has_panicked, "there is either a key or a panic");
        self.there.extend(inserted.map(|key| (key, number)));
    }

    fn drain(&mut self, operation: Operation) {
        let Operation { place, kind, .. } = operation;
        let (batch, mut taken, mut is_leaked) = (&mut self.batch, Vec::new(), false);
        operation.attempt(|| {
            if kind < 50 {
                return batch.clear();
            }
            let mut drain = batch.drain();
            for _ in 0..place % 4 {
                let Some((key, imp, machine)) = drain.next() else { break };
                taken.push(key);
                drop((imp, machine));
            }
            if kind < 150 {
                is_leaked = true;
                mem::forget(drain);
            }
        });
        self.there.retain(|key, _| is_leaked && !taken.contains(key));
    }

    /// Gives each owner something to ask for, or nothing.
    fn give_orders(&mut self, kind: u8) {
        for (_, imp) in &mut self.batch {
            let seed = imp.number.wrapping_mul(kind.into()).wrapping_add(imp.ticks);
            let [low, high, ..] = seed.wrapping_mul(0x9E37_79B9).to_be_bytes();
            imp.request = low;
            imp.order = (high % 3 > 0).then(|| state(high / 3));
        }
    }

    /// Everybody who should be there is there, and nobody else.
    fn check(&self) {
        let keys: Vec<_> = self.there.keys().copied().collect();
        assert_agrees(&self.batch, &keys);
        for (key, number) in &self.there {
            assert_eq!(self.batch[*key].number, *number);
        }
    }

    /// A tick in which nothing panics comes to everybody once.
    fn goes_on(&mut self) {
        let mut expected = Vec::new();
        for key in self.there.keys() {
            // Who is woken in the tick is updated in it, and who is in no state may be led to one.
            let (is_awake, is_woken) = match self.batch.next_wake(*key).expect("it is there") {
                NextWake::EveryTick => (true, false),
                NextWake::At(wakes) => (false, wakes <= self.now),
                NextWake::Never => (false, false),
            };
            let is_active = self.batch.state_of(*key).is_some();
            let imp = &mut self.batch[*key];
            imp.order = None;
            let fewest = imp.ticks + u32::from(is_active && (is_awake || is_woken));
            expected.push((*key, fewest..=fewest + u32::from(!is_active && is_woken)));
        }
        self.batch.update(&mut Clock::at(self.now));
        for (key, ticks) in expected {
            assert!(ticks.contains(&self.batch[key].ticks), "{ticks:?} of {key:?}: {}", self.batch[key].ticks);
        }
        self.check();
    }
}

fn by_key(batch: &mut Batch<Imp>, verb: u8, key: Key, to: StateRef<Imp>, clock: &mut Clock) {
    match verb {
        8 => _ = batch.set_current(key, to),
        9 => _ = batch.set_previous(key, to),
        10 => _ = batch.change_state(key, to, clock),
        11 => _ = batch.ensure_state(key, to, clock),
        12 => _ = batch.force_state(key, to, clock),
        13 => _ = batch.revert_state(key, clock),
        14 => _ = batch.push_state(key, to, clock),
        15 => _ = batch.pop_state(key, clock),
        16 => _ = batch.resume_state(key, to, clock),
        17 => _ = batch.start(key, clock),
        18 => _ = batch.stop(key, clock),
        19 => _ = batch.broadcast(&Note::new(), clock),
        20 => _ = batch.current_mut::<Room>(key).is_some(),
        _ => {
            batch.with(key, clock, |imp, fsm, clock| {
                fsm.push_state(to.clone());
                fsm.change_state_now(imp, to, clock);
                fsm.pop_state();
            });
        }
    }
}

fn wait(batch: &mut Batch<Imp>, verb: u8, seconds: f64, key: Key, to: StateRef<Imp>, clock: &mut Clock) {
    match verb {
        37 => _ = batch.change_state_after(key, seconds, to, clock),
        38 => _ = batch.send_after(key, seconds, Note::new(), clock),
        39 => _ = batch.sleep(key),
        40 => _ = batch.sleep_for(key, seconds, clock),
        _ => _ = batch.wake(key),
    }
}

fn digest(batch: &Batch<Imp>) -> u64 {
    batch.digest(|imp, hasher| hasher.write_u32(imp.ticks))
}

proptest! {
    // So many, because a panic in the middle of a move is rare among them.
    #![proptest_config(cases(512))]

    #[test]
    fn keys_owners_and_states_agree_after_each_panic_of_a_random_program(program in vec(operation(), 1..40)) {
        on_one_thread(|| {
            let mut running = Program::default();
            for operation in program {
                running.run(operation);
            }
            drop(running);
            assert_eq!((live_imps(), live_rooms(), live_notes()), (0, 0, 0), "nobody and nothing is kept or dropped twice");
        });
    }
}
