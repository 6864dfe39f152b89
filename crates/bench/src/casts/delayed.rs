//! Delayed telegrams: one comes out of the queue, and another goes in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use demeanor::{Dispatcher, Telegram};

use super::players::calls;
use crate::contender::{Contender, Entrant};
use crate::workload::Context;

/// A queue that is always equally long, and what has come out of it.
struct Queue<Q> {
    waiting: Q,
    len: usize,
    random: fastrand::Rng,
    sum: u64,
}

/// What is needed of a queue.
trait Telegrams: Default {
    fn push(&mut self, due: u32, telegram: Telegram<u32, u64>);
    fn pop(&mut self) -> (u32, Telegram<u32, u64>);
}

/// When a telegram is due, its number by sending, and what is in it.
type Waiting = (u32, u64, u32, u32, u64);

/// By hand, in the order of due times and, of equal ones, of sending.
#[derive(Default)]
struct Heap {
    heap: BinaryHeap<Reverse<Waiting>>,
    sent: u64,
}

impl Telegrams for Heap {
    fn push(&mut self, due: u32, telegram: Telegram<u32, u64>) {
        self.sent += 1;
        self.heap.push(Reverse((due, self.sent, telegram.sender, telegram.receiver, telegram.message)));
    }

    fn pop(&mut self) -> (u32, Telegram<u32, u64>) {
        let Reverse((due, _, sender, receiver, message)) = self.heap.pop().expect("it is never empty");
        (due, Telegram::new(sender, receiver, message))
    }
}

impl Telegrams for Dispatcher<u32, u64> {
    fn push(&mut self, due: u32, telegram: Telegram<u32, u64>) {
        self.send_at(f64::from(due), telegram);
    }

    fn pop(&mut self) -> (u32, Telegram<u32, u64>) {
        let due = self.next_due().expect("it is never empty");
        (due as u32, self.pop_due(due).expect("it is due"))
    }
}

impl<Q: Telegrams> Queue<Q> {
    fn new(len: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(2);
        let mut queue = Q::default();
        for number in 0..len as u32 {
            queue.push(random.u32(..1_000_000), Telegram::new(number, 0, 1));
        }
        Self { waiting: queue, len, random, sum: 0 }
    }
}

impl<Q: Telegrams> Contender for Queue<Q> {
    fn tick(&mut self, _: &Context) {
        for _ in 0..calls(self.len) {
            let (due, telegram) = self.waiting.pop();
            self.sum = self.sum.wrapping_mul(3).wrapping_add(u64::from(due)).wrapping_add(u64::from(telegram.sender));
            self.waiting.push(due + self.random.u32(..1_000_000), telegram);
        }
    }

    fn checksum(&self) -> u64 {
        self.sum
    }
}

pub(super) fn telegrams(len: usize) -> Vec<Entrant> {
    vec![
        Entrant { name: "heap", contender: Box::new(Queue::<Heap>::new(len)) },
        Entrant { name: "dispatcher", contender: Box::new(Queue::<Dispatcher<u32, u64>>::new(len)) },
    ]
}
