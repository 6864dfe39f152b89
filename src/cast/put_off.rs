//! Telegrams that wait for the end of a turn, and the detection of endless exchanges of telegrams.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use log::{debug, error};

use super::TELEGRAMS;
use crate::message::Telegram;

/// How often in a row the handling of a put-off telegram may put off another telegram. A longer chain is treated as a loop.
const MOST_ROUNDS: u32 = 1000;

/// The largest number of telegrams to which one telegram may lead in a cast without members. Each member adds
/// `MORE_FOR_EACH_MEMBER`.
const MOST_IN_EXCHANGE: u32 = 100_000;
const MORE_FOR_EACH_MEMBER: usize = 32;

/// The number of telegrams before the limit whose senders and receivers are recorded.
const NOTED_BEFORE_THE_END: u32 = 32;

/// A telegram that is delivered when a turn is over.
pub(super) struct PutOff<K, M> {
    pub(super) cause: TelegramCause,
    pub(super) telegram: Telegram<K, M>,
}

/// The chain of telegrams that led to a telegram: how many were put off in a row, and their exchange.
#[derive(Clone, Copy)]
pub(super) struct TelegramCause {
    /// How many telegrams in a row were put off. A telegram that is put off is one of them.
    pub(super) round: u32,
    /// The number of its exchange: the telegrams that one telegram has led to. `NO_EXCHANGE` while no telegram is being handled,
    /// and for telegrams of a loaded cast. After a panic, the exchange may have been forgotten.
    pub(super) exchange: usize,
}

impl TelegramCause {
    /// The cause while no telegram is being handled.
    pub(super) const NONE: Self = Self { round: 0, exchange: NO_EXCHANGE };
}

/// The exchange number while no telegram is being handled. A telegram that is sent then starts an exchange.
const NO_EXCHANGE: usize = usize::MAX;

/// The exchanges of the outermost turn, and how many telegrams each has had.
pub(super) struct Exchanges<K> {
    exchanges: Vec<Exchange>,
    /// The senders and receivers shortly before an exchange was stopped. Each pair is listed once; there are at most
    /// [`MOST_NAMED`].
    participants: Vec<(K, K)>,
}

#[derive(Clone, Copy)]
struct Exchange {
    count: u32,
    /// Whether an error about this exchange has been logged.
    is_told: bool,
}

/// The largest number of pairs of participants that an error names.
const MOST_NAMED: usize = 8;

impl<K> Exchanges<K> {
    pub(super) const fn new() -> Self {
        Self { exchanges: Vec::new(), participants: Vec::new() }
    }

    /// Forgets all exchanges, at the end of an outermost turn.
    #[inline]
    pub(super) fn clear(&mut self) {
        // Without an exchange there are no participants.
        if !self.exchanges.is_empty() {
            self.exchanges.clear();
            self.participants.clear();
        }
    }
}

impl<K: Clone + PartialEq + fmt::Debug> Exchanges<K> {
    /// Counts a telegram that is sent while a telegram with the cause `cause` is being handled. Returns the cause of the new
    /// telegram; `None` if the new telegram must be dropped, because its exchange is endless.
    ///
    /// A telegram that no other telegram caused starts an exchange, and so does a telegram whose exchange was forgotten after a
    /// panic. The exchange is recorded only when a second telegram follows.
    #[inline]
    pub(super) fn count<M>(
        &mut self,
        cause: TelegramCause,
        telegram: &Telegram<K, M>,
        members: usize,
    ) -> Option<TelegramCause> {
        if cause.exchange > self.exchanges.len() {
            return Some(TelegramCause { round: cause.round + 1, exchange: self.exchanges.len() });
        }
        self.count_another(cause, (&telegram.sender, &telegram.receiver), members)
    }

    fn count_another(&mut self, cause: TelegramCause, pair: (&K, &K), members: usize) -> Option<TelegramCause> {
        self.write_down(cause);
        let next = TelegramCause { round: cause.round + 1, exchange: cause.exchange };
        let exchange = &mut self.exchanges[cause.exchange];
        exchange.count += 1;
        let more = u32::try_from(members.saturating_mul(MORE_FOR_EACH_MEMBER)).unwrap_or(u32::MAX / 2);
        let most = MOST_IN_EXCHANGE.saturating_add(more);
        if exchange.count > most {
            exchange.count = most + 1;
            self.tell(cause.exchange, pair, format_args!("one telegram has led to {most} others"));
            return None;
        }
        if exchange.count > most - NOTED_BEFORE_THE_END || cause.round >= MOST_ROUNDS - NOTED_BEFORE_THE_END {
            self.note(pair);
        }
        Some(next)
    }

    /// Records an exchange that is not recorded yet. The next exchange then gets another number.
    pub(super) fn write_down(&mut self, cause: TelegramCause) {
        if cause.exchange == self.exchanges.len() {
            self.exchanges.push(Exchange { count: 1, is_told: false });
        }
    }

    /// Returns whether a telegram was put off too often in a row, so that it must be dropped.
    #[inline]
    pub(super) fn is_loop<M>(&mut self, PutOff { cause, telegram }: &PutOff<K, M>) -> bool {
        let is_loop = cause.round > MOST_ROUNDS;
        if is_loop {
            let pair = (&telegram.sender, &telegram.receiver);
            self.tell(cause.exchange, pair, format_args!("telegrams were put off {MOST_ROUNDS} times in a row"));
        }
        is_loop
    }

    /// Records a pair as the most recent one.
    #[cold]
    fn note(&mut self, (sender, receiver): (&K, &K)) {
        self.participants.retain(|(from, to)| from != sender || to != receiver);
        if self.participants.len() == MOST_NAMED {
            self.participants.remove(0);
        }
        self.participants.push((sender.clone(), receiver.clone()));
    }

    /// Logs that an exchange is endless, with its participants. This is logged as an error only once for each exchange.
    #[cold]
    fn tell(&mut self, number: usize, pair: (&K, &K), why: fmt::Arguments<'_>) {
        self.note(pair);
        let (sender, receiver) = pair;
        let exchange = self.exchanges.get_mut(number);
        if exchange.is_some_and(|exchange| core::mem::replace(&mut exchange.is_told, true)) {
            debug!(target: TELEGRAMS, "a telegram from {sender:?} to {receiver:?} is dropped: its exchange has no end");
            return;
        }
        let participants = self.participants.iter().map(|(sender, receiver)| format!("{sender:?} to {receiver:?}"));
        let participants = participants.collect::<Vec<_>>().join(", ");
        error!(
            target: TELEGRAMS,
            "an exchange of telegrams has no end: {why}, most recently {participants}; the next from {sender:?} to {receiver:?} is dropped"
        );
        self.participants.clear();
    }
}
