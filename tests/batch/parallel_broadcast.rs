//! A message to all owners on all cores comes to each as one sent by key does.
#![cfg(feature = "parallel")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use demeanor::{Batch, Fsm, Key, Owner, State, StateRef};
use rayon::{ThreadPool, ThreadPoolBuilder};

#[derive(Clone, Debug, PartialEq)]
struct Soldier {
    number: usize,
    log: Vec<&'static str>,
}

enum Order {
    March,
    Rest,
    /// Whoever has this number panics.
    Question(usize),
}

impl Owner for Soldier {
    type Context<'a> = f64;
    type Message = Order;

    fn now(clock: &f64) -> f64 {
        *clock
    }
}

/// What each kind of state does with an order: some change, some push, some pass it on outward, some handle nothing.
macro_rules! posts {
    ($($post:ident in $parent:expr, on march $march:expr, handles $handles:expr;)*) => {$(
        #[derive(Clone)]
        struct $post;
        impl State<Soldier> for $post {
            fn enter(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut f64) {
                soldier.log.push(concat!(stringify!($post), ".enter"));
            }

            fn exit(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut f64) {
                soldier.log.push(concat!(stringify!($post), ".exit"));
            }

            fn on_message(&self, soldier: &mut Soldier, order: &Order, fsm: &mut Fsm<'_, Soldier>, _: &mut f64) -> bool {
                soldier.log.push(concat!(stringify!($post), ".on_message"));
                match order {
                    Order::March => {
                        let march: fn(&Soldier, &mut Fsm<'_, Soldier>) = $march;
                        march(soldier, fsm);
                    }
                    Order::Rest => fsm.revert_state(),
                    Order::Question(number) => assert_ne!(soldier.number, *number, "no answer"),
                }
                $handles
            }

            fn parent(&self) -> Option<StateRef<Soldier>> {
                $parent
            }
        }
    )*};
}

posts! {
    Idle in None, on march |soldier, fsm| if soldier.number % 3 > 0 { fsm.change_state(&Guard) }, handles true;
    Guard in None, on march |_, fsm| { fsm.change_state(&Idle); fsm.push_state(&Guard) }, handles true;
    Camp in None, on march |soldier, fsm| if soldier.number % 2 == 0 { fsm.change_state(&Tent) }, handles true;
    Tent in Some((&Camp).into()), on march |_, fsm| fsm.change_state(&Idle), handles false;
    Deaf in None, on march |_, _| {}, handles false;
}

/// An owned state.
#[derive(Clone)]
struct Mission(u32);

impl State<Soldier> for Mission {
    fn on_message(&self, soldier: &mut Soldier, _: &Order, fsm: &mut Fsm<'_, Soldier>, _: &mut f64) -> bool {
        soldier.log.push("Mission.on_message");
        if self.0 == 0 {
            fsm.change_state(&Idle);
        } else {
            fsm.change_state(Box::new(Self(self.0 - 1)));
        }
        true
    }
}

fn army(soldiers: usize) -> (Batch<Soldier>, Vec<Key>) {
    let mut batch = Batch::new();
    let insert = |number| {
        let soldier = Soldier { number, log: Vec::new() };
        match number % 6 {
            0 => batch.insert(soldier, &Idle),
            1 => batch.insert(soldier, &Guard),
            2 => batch.insert(soldier, &Camp),
            3 => batch.insert(soldier, &Tent),
            4 => batch.insert(soldier, &Deaf),
            _ => batch.insert(soldier, Box::new(Mission(u32::try_from(number % 4).expect("a digit")))),
        }
    };
    let keys = (0..soldiers).map(insert).collect();
    (batch, keys)
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// What there is to know of an owner: itself, the names of its current and previous state, its time in the state.
type Seen = (Soldier, Option<String>, Option<String>, Option<f64>);

fn seen(batch: &Batch<Soldier>, keys: &[Key], now: f64) -> Vec<Seen> {
    let name = |state: Option<&StateRef<Soldier>>| state.map(|state| state.name().into_owned());
    let one = |key: &Key| {
        let soldier = batch.get(*key).expect("nobody has gone").clone();
        (soldier, name(batch.state_of(*key)), name(batch.previous_of(*key)), batch.time_in_state(*key, &now))
    };
    keys.iter().map(one).collect()
}

const ORDERS: [Order; 5] = [Order::March, Order::Rest, Order::March, Order::March, Order::Rest];

/// Rules 14 and 19.
#[test]
fn a_message_on_all_cores_comes_to_each_owner_as_on_one() {
    for soldiers in [0, 1, 5, 2048 * 6 + 7] {
        let (mut serial, keys) = army(soldiers);
        let mut clock = 0.0;
        let counts: Vec<usize> = ORDERS
            .iter()
            .map(|order| {
                clock += 1.0;
                serial.broadcast(order, &mut clock)
            })
            .collect();
        let mut orders_of_rows = vec![serial.iter().map(|(key, _)| key).collect::<Vec<_>>()];
        for threads in [1, 2, 4] {
            let (mut batch, same_keys) = army(soldiers);
            assert_eq!(keys, same_keys);
            let mut now = 0.0;
            for (order, expected) in ORDERS.iter().zip(&counts) {
                now += 1.0;
                let (handled, contexts) = pool(threads).install(|| batch.par_broadcast(order, |_| now));
                assert_eq!(handled, *expected, "{soldiers} soldiers, {threads} threads");
                assert!(contexts.iter().all(|context| context.total_cmp(&now).is_eq()));
            }
            assert_eq!(seen(&batch, &keys, 9.0), seen(&serial, &keys, 9.0));
            orders_of_rows.push(batch.iter().map(|(key, _)| key).collect::<Vec<_>>());
        }
        assert!(
            orders_of_rows.iter().all(|rows| *rows == orders_of_rows[0]),
            "the same order on any number of threads"
        );
    }
}

/// Rule 22.
#[test]
fn an_owner_that_panics_over_a_message_keeps_nobody_in_another_chunk_from_it() {
    let (mut batch, keys) = army(2048 * 6);
    let panicking = 2048 * 3;
    let told = catch_unwind(AssertUnwindSafe(|| {
        pool(2).install(|| batch.par_broadcast(&Order::Question(panicking), |_| 0.0));
    }));
    assert!(told.is_err());
    let bystanders = keys.iter().filter(|key| !batch.is_in_state(**key, &Idle));
    assert!(bystanders.clone().count() > 2048 * 4);
    assert!(bystanders.into_iter().all(|key| !batch[*key].log.is_empty() || batch.is_in::<Mission>(*key)));
    let (handled, _) = pool(2).install(|| batch.par_broadcast(&Order::March, |_| 1.0));
    // All but those in Deaf, and in Tent, who leave Camp before it is asked.
    assert_eq!(handled, 2048 * 4, "the batch goes on");
    assert_eq!(batch.len(), keys.len());
}
