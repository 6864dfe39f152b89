//! Delayed telegrams: in each step, one telegram is taken from the queue, and another is added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use demeanor::{Dispatcher, Telegram};

use super::players::calls;
use crate::contender::{Contender, Entrant};
use crate::workload::Context;

/// A queue whose length stays the same, and a checksum of the telegrams that were taken from it.
struct Queue<Q> {
    waiting: Q,
    len: usize,
    random: fastrand::Rng,
    sum: u64,
}

/// The operations of a queue that are measured.
trait Telegrams: Default {
    fn push(&mut self, due: u32, telegram: Telegram<u32, u64>);
    fn pop(&mut self) -> (u32, Telegram<u32, u64>);
}

/// A delayed telegram: its due time, its number in the order of sending, and its content.
type Waiting = (u32, u64, u32, u32, u64);

/// Written by hand: a queue sorted by due time, and by the order of sending where the due times are equal.
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
