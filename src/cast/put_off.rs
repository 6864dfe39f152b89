//! Telegrams that wait until a turn is over, and the end of loops of telegrams.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use log::{debug, error};

use super::TELEGRAMS;
use crate::message::Telegram;

/// How many times in a row a telegram may be put off by the handling of one that was itself put off; more is treated as a loop.
const MOST_ROUNDS: u32 = 1000;

/// How many telegrams one may lead to in a cast without members, and how many more for each member.
const MOST_IN_EXCHANGE: u32 = 100_000;
const MORE_FOR_EACH_MEMBER: usize = 32;

/// How many telegrams before the end the participants are noted.
const NOTED_BEFORE_THE_END: u32 = 32;

/// A telegram that is delivered when a turn is over.
pub(super) struct PutOff<K, M> {
    pub(super) cause: TelegramCause,
    pub(super) telegram: Telegram<K, M>,
}

/// The cause of a telegram: the call during which it was sent.
#[derive(Clone, Copy)]
pub(super) struct TelegramCause {
    /// How often in a row telegrams were put off to get to this one. 0 for a telegram that no other telegram caused.
    pub(super) round: u32,
    /// The number of its exchange: the telegrams that one telegram has led to. `NO_EXCHANGE` if no other telegram caused it.
    pub(super) exchange: usize,
}

impl TelegramCause {
    /// The cause of a telegram that no other telegram caused.
    pub(super) const NONE: Self = Self { round: 0, exchange: NO_EXCHANGE };
}

/// The number of no exchange.
const NO_EXCHANGE: usize = usize::MAX;

/// How many telegrams each exchange of the outermost turn has had.
pub(super) struct Exchanges<K> {
    exchanges: Vec<Exchange>,
    /// The senders and receivers shortly before an exchange was ended. Each pair once, at most [`MOST_NAMED`].
    participants: Vec<(K, K)>,
}

#[derive(Clone, Copy)]
struct Exchange {
    count: u32,
    /// Whether the log has an error of it.
    is_told: bool,
}

/// How many pairs of participants an error names.
const MOST_NAMED: usize = 8;

impl<K> Exchanges<K> {
    pub(super) const fn new() -> Self {
        Self { exchanges: Vec::new(), participants: Vec::new() }
    }

    /// Forgets all, at the end of an outermost turn.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.exchanges.clear();
    }
}

impl<K: Clone + PartialEq + fmt::Debug> Exchanges<K> {
    /// Counts a telegram that is sent while one with the cause `cause` is handled. Returns the cause of the new one; `None` if it is
    /// to be dropped, because its exchange has no end.
    ///
    /// A telegram that no other telegram caused is the first of an exchange, which is recorded only when there is a second.
    #[inline]
    pub(super) fn count<M>(
        &mut self,
        cause: TelegramCause,
        telegram: &Telegram<K, M>,
        members: usize,
    ) -> Option<TelegramCause> {
        if cause.exchange == NO_EXCHANGE {
            return Some(TelegramCause { round: cause.round + 1, exchange: self.exchanges.len() });
        }
        self.count_another(cause, (&telegram.sender, &telegram.receiver), members)
    }

    fn count_another(&mut self, cause: TelegramCause, pair: (&K, &K), members: usize) -> Option<TelegramCause> {
        self.write_down(cause);
        let next = TelegramCause { round: cause.round + 1, exchange: cause.exchange };
        // After a panic there may be telegrams of exchanges that are forgotten.
        let Some(exchange) = self.exchanges.get_mut(cause.exchange) else { return Some(next) };
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

    /// Writes an exchange down, if it is the next one: another that begins from now on has another number.
    pub(super) fn write_down(&mut self, cause: TelegramCause) {
        if cause.exchange == self.exchanges.len() {
            self.exchanges.push(Exchange { count: 1, is_told: false });
        }
    }

    /// Whether a telegram was put off too often in a row, so that it is dropped.
    #[inline]
    pub(super) fn is_loop<M>(&mut self, PutOff { cause, telegram }: &PutOff<K, M>) -> bool {
        let is_loop = cause.round > MOST_ROUNDS;
        if is_loop {
            let pair = (&telegram.sender, &telegram.receiver);
            self.tell(cause.exchange, pair, format_args!("telegrams were put off {MOST_ROUNDS} times in a row"));
        }
        is_loop
    }

    /// Notes a pair as the last.
    #[cold]
    fn note(&mut self, (sender, receiver): (&K, &K)) {
        self.participants.retain(|(from, to)| from != sender || to != receiver);
        if self.participants.len() == MOST_NAMED {
            self.participants.remove(0);
        }
        self.participants.push((sender.clone(), receiver.clone()));
    }

    /// Logs once for each exchange that it has no end, and its members.
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
