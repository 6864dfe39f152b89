//! No step takes time that is linear in the number of members or telegrams.

use std::cell::Cell;
use std::cmp::Ordering;
use std::time::Duration;

use crate::play::{Player, happened, with_many};
use demeanor::{Agent, Cast, Dispatcher, Fsm, Owner, State, StateMachine, Telegram};

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A number that counts its comparisons.
#[derive(Clone, Copy, Debug)]
struct Counted(u32);

impl Counted {
    fn compared<R>(act: impl FnOnce() -> R) -> (R, u64) {
        COMPARISONS.set(0);
        let result = act();
        (result, COMPARISONS.get())
    }
}

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Counted {}

const TELEGRAMS: u32 = 20_000;

/// More than the logarithm of any number here, for each of a few searches in a tree.
const A_FEW: u64 = 250;

#[test]
fn to_merge_telegrams_takes_a_few_steps_however_many_are_queued() {
    let mut post = Dispatcher::merging_within(0.25);
    let ((), compared) = Counted::compared(|| {
        for number in 0..TELEGRAMS {
            // One telegram to each of many receivers at one time, and many telegrams to one receiver at different times.
            assert!(post.send_at(1.0, Telegram::new(Counted(0), Counted(number), Counted(7))));
            assert!(post.send_at(f64::from(number), Telegram::new(Counted(1), Counted(0), Counted(7))));
            assert!(!post.send_at(f64::from(number) + 0.125, Telegram::new(Counted(1), Counted(0), Counted(7))));
        }
    });
    assert!(compared < u64::from(3 * TELEGRAMS) * A_FEW, "{compared}");
    let (count, compared) = Counted::compared(|| std::iter::from_fn(|| post.pop_due(f64::INFINITY)).count());
    assert_eq!(count, 2 * TELEGRAMS as usize);
    assert!(compared < u64::from(2 * TELEGRAMS) * A_FEW, "{compared}");
    assert!(post.send_at(1.0, Telegram::new(Counted(0), Counted(3), Counted(7))), "it has been delivered");
}

const MANY: u32 = 100_000;

/// A receiver that counts its telegrams.
struct Receiver;

type Office = Cast<Counted, u32, u32>;

impl Owner for Receiver {
    type Context<'a> = Office;
    type Message = Telegram<Counted, u32>;
}

struct Open;

impl State<Receiver> for Open {
    fn on_message(
        &self,
        _: &mut Receiver,
        telegram: &Telegram<Counted, u32>,
        _: &mut Fsm<'_, Receiver>,
        office: &mut Office,
    ) -> bool {
        assert_eq!(telegram.message, office.world, "in the order of sending");
        office.world += 1;
        true
    }
}

fn office(members: u32) -> Office {
    let mut office = Office::new(0);
    for key in 0..members {
        office.add(Counted(key), Agent::new(Receiver, StateMachine::new(&Open))).unwrap();
    }
    office
}

#[test]
fn a_receiver_is_looked_up_once() {
    let mut office = office(1000);
    let (_, compared) = Counted::compared(|| office.get::<Receiver>(&Counted(777)).map(drop));
    let (delivery, in_sending) = Counted::compared(|| office.send(Counted(1), Counted(777), 0));
    assert!(delivery.is_handled());
    assert_eq!(in_sending, compared);
}

#[test]
fn an_update_of_all_looks_nobody_up() {
    let mut office = office(1000);
    let ((), compared) = Counted::compared(|| office.update());
    assert_eq!(compared, 0);
}

#[test]
fn many_telegrams_with_one_due_time_arrive_in_order_with_one_look_up_each() {
    let mut office = office(100);
    let ((), compared) = Counted::compared(|| {
        for message in 0..TELEGRAMS {
            office.send_after(1.0, Counted(0), Counted(50), message);
        }
    });
    assert_eq!(compared, 0);
    office.advance(Duration::from_secs(1));
    let (unknown, compared) = Counted::compared(|| office.deliver_due());
    assert!(unknown.is_empty());
    assert_eq!(office.world, TELEGRAMS);
    let (_, one) = Counted::compared(|| office.contains(&Counted(50)));
    assert_eq!(compared, one * u64::from(TELEGRAMS));
}

#[test]
fn many_delayed_telegrams_arrive_in_order() {
    let mut office = office(1);
    for message in (0..MANY).rev() {
        office.send_after(1.0 + f64::from(message), Counted(0), Counted(0), message);
    }
    office.advance(Duration::from_secs(u64::from(MANY)));
    office.deliver_due();
    assert_eq!(office.world, MANY);
}

#[test]
fn what_many_are_told_and_answer_in_one_turn_all_arrives() {
    const SOLDIERS: usize = 100_000;
    let mut army = with_many(SOLDIERS, "Idle.report", |_| "send Ann here".to_owned());
    let told = army.with::<Player, _>(&"Ann", |_, army| {
        let everybody: Vec<_> = army.keys().copied().collect();
        for soldier in everybody {
            army.send("Ann", soldier, "report");
        }
    });
    assert_eq!(told, Ok(()));
    let heard = happened(&mut army);
    let of_ann = heard.iter().filter(|line| line.starts_with("Ann ")).collect::<Vec<_>>();
    assert_eq!(of_ann.len(), SOLDIERS + 1);
    assert_eq!(of_ann[..2], ["Ann Idle.report", "Ann Idle.here"]);
}
