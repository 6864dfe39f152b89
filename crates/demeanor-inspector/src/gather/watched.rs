//! One owner that a page watches.

use std::time::Instant;

#[cfg(feature = "definition")]
use demeanor::definition::{Answer, ExitReport, Verdict};
use demeanor::{Journal, MachineReport};

use super::{Moment, PICTURE};
use crate::crowd::Crowd;
use crate::picture::{EntryPicture, Explained, OwnerPicture};

/// The number of journal entries that are read for one picture. Each takes about 5 ns.
const ENTRIES: usize = 1 << 16;
/// The largest number of the owner's entries that are shown.
const MOST: usize = 300;

pub(crate) struct Watched<K> {
    pub(crate) page: u64,
    /// The text of its key in the page.
    pub(crate) text: String,
    key: Option<K>,
    next_picture: Option<Instant>,
    exits: Option<Vec<Explained>>,
    /// Whether these are the results of guards of states in code.
    are_guards: bool,
    next_exits: Option<Instant>,
}

impl<K: Copy + Eq> Watched<K> {
    pub(super) fn new(page: u64, text: &str) -> Self {
        Self {
            page,
            text: text.to_owned(),
            key: None,
            next_picture: None,
            exits: None,
            are_guards: false,
            next_exits: None,
        }
    }

    /// Returns a picture of the owner, if it is time to send one.
    pub(super) fn picture<C>(
        &mut self,
        name: &str,
        crowd: &C,
        cx: &C::Context<'_>,
        Moment { now, at }: Moment,
    ) -> Option<OwnerPicture>
    where
        C: Crowd<Key = K> + ?Sized,
    {
        if self.next_picture.is_some_and(|next| next > now) {
            return None;
        }
        self.next_picture = Some(now + PICTURE);
        self.key = crowd.find(&self.text);
        let report = self.key.and_then(|key| crowd.report(key, cx));
        Some(OwnerPicture {
            crowd: name.to_owned(),
            owner: self.text.clone(),
            at,
            seconds: crowd.now(cx),
            is_asleep: report.as_ref().is_some_and(MachineReport::is_asleep),
            report,
            entries: self.key.and_then(|key| Some(entries(crowd.journal()?, key))),
            data: self.key.and_then(|key| crowd.data(key)),
            exits: self.exits.clone(),
            are_guards: self.are_guards,
        })
    }

    /// Returns the owner whose exits must be explained now, if it is time.
    pub(crate) fn takes_explanation(&mut self, now: Instant, find: impl FnOnce(&str) -> Option<K>) -> Option<K> {
        if self.next_exits.is_some_and(|next| next > now) {
            return None;
        }
        self.next_exits = Some(now + PICTURE);
        find(&self.text)
    }

    /// Shows these exits. If there are none, another definition or the guards can explain the owner in the same tick.
    pub(crate) fn explain(&mut self, exits: Vec<Explained>, are_guards: bool) {
        if exits.is_empty() {
            self.next_exits = None;
        }
        (self.exits, self.are_guards) = (Some(exits), are_guards);
    }
}

/// Returns the last entries of an owner, the oldest first.
fn entries<K: Copy + Eq>(journal: &Journal<K>, owner: K) -> Vec<EntryPicture> {
    let own = journal.entries().rev().take(ENTRIES).filter(|entry| entry.owner == owner).take(MOST);
    let mut own: Vec<_> = own
        .map(|entry| EntryPicture {
            seconds: entry.time,
            from: entry.from.map(str::to_owned),
            to: entry.to.map(str::to_owned),
            cause: entry.cause,
            refused: entry.refused.map(|refused| refused.to_string()),
            ended: entry.ended.map(|ended| ended.to_string()),
            time_in_state: entry.time_in_state,
            within: entry.within.map(str::to_owned),
        })
        .collect();
    own.reverse();
    own
}

#[cfg(feature = "definition")]
impl From<ExitReport> for Explained {
    fn from(report: ExitReport) -> Self {
        let is_waiting = report.verdict == Verdict::Taken && report.on.is_some();
        let questions = report.questions.iter();
        Self {
            verdict: if is_waiting { "waits for the message".to_owned() } else { report.verdict.to_string() },
            is_taken: report.verdict == Verdict::Taken,
            questions: questions.map(|question| (question.to_string(), question.answer == Answer::Yes)).collect(),
            of: report.of,
            to: report.to,
            on: report.on,
        }
    }
}
