//! Which moves are made by one thread, and which by all together.

use std::ops::Range;

use super::chunks::{Extent, Ticked};
use crate::owner::Owner;

/// From how many leavers on, moves are made by several threads.
const MANY_LEAVERS: usize = 2048;

/// How many groups there are for each thread, so that none waits long for the others.
const GROUPS_PER_THREAD: usize = 4;

/// Between how many leavers a group has, as far as buckets can be divided so.
const LEAVERS_OF_GROUP: (usize, usize) = (512, 16_384);

/// How the owners of some buckets are moved.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MoveKind {
    /// By one thread with the whole batch: where more than rows is moved.
    Single,
    /// By one thread, while others move other buckets.
    Short,
    /// One bucket, by several threads.
    Long,
}

/// Some buckets and how their owners are moved.
pub(super) struct Job {
    pub(super) kind: MoveKind,
    /// By their places in the order of the states. Some of them may have no movers.
    pub(super) buckets: Range<usize>,
    /// The groups that their owners come to.
    pub(super) groups: Range<usize>,
    leavers: usize,
}

pub(super) struct Jobs {
    /// In the order of the states.
    pub(super) list: Vec<Job>,
}

impl Jobs {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// How many groups there are; none where one thread does it all.
    pub(super) fn groups(&self) -> Option<usize> {
        self.list.last().map(|job| job.groups.end).filter(|groups| *groups > 0)
    }

    /// Finds out what is to be done after the chunks' ticks.
    pub(super) fn plan<T: Owner>(&mut self, extents: &[Extent], ticked: &[Ticked<T>]) {
        self.list.clear();
        let (mut parallel, mut all) = (0, 0);
        for chunks in extents.windows(2).map(|pair| pair[0].chunks..pair[1].chunks) {
            let ticked = &ticked[chunks];
            let leavers = leavers(ticked);
            all += leavers;
            parallel += if ticked.iter().any(|chunk| chunk.is_intricate) { 0 } else { leavers };
        }
        let threads = rayon::current_num_threads();
        let are_many = threads > 1 && parallel >= MANY_LEAVERS;
        let (least, most) = LEAVERS_OF_GROUP;
        let whole_group = if are_many { (all / (threads * GROUPS_PER_THREAD)).clamp(least, most) } else { usize::MAX };
        for (nth, pair) in extents.windows(2).enumerate() {
            let ticked = &ticked[pair[0].chunks..pair[1].chunks];
            if ticked.iter().all(|chunk| chunk.outcome.is_empty()) {
                continue;
            }
            let leavers = leavers(ticked);
            let kind = if !are_many || ticked.iter().any(|chunk| chunk.is_intricate) {
                MoveKind::Single
            } else if leavers > 2 * whole_group {
                MoveKind::Long
            } else {
                MoveKind::Short
            };
            self.add(nth, kind, leavers, whole_group);
        }
        let mut groups = 0;
        for job in &mut self.list {
            let count = match job.kind {
                _ if !are_many => 0,
                MoveKind::Long => job.leavers / whole_group,
                MoveKind::Single | MoveKind::Short => 1,
            };
            job.groups = groups..groups + count;
            groups += count;
        }
    }

    /// Adds a bucket, to the job before if that has the same kind and is not yet long. A few leavers are moved by one thread
    /// with the ones before them, so that there are no more groups than necessary.
    fn add(&mut self, nth: usize, kind: MoveKind, leavers: usize, whole_group: usize) {
        if let Some(job) = self.list.last_mut() {
            let is_short = job.kind == MoveKind::Short && job.leavers < whole_group;
            let joined = match (job.kind, kind) {
                (MoveKind::Single, MoveKind::Single) => Some(MoveKind::Single),
                (MoveKind::Single, MoveKind::Short) if leavers < whole_group / 4 => Some(MoveKind::Single),
                (MoveKind::Short, MoveKind::Single) if job.leavers < whole_group / 4 => Some(MoveKind::Single),
                (MoveKind::Short, MoveKind::Short) if is_short => Some(MoveKind::Short),
                _ => None,
            };
            if let Some(kind) = joined {
                job.kind = kind;
                job.buckets.end = nth + 1;
                job.leavers += leavers;
                return;
            }
        }
        self.list.push(Job { kind, buckets: nth..nth + 1, groups: 0..0, leavers });
    }
}

fn leavers<T: Owner>(ticked: &[Ticked<T>]) -> usize {
    ticked.iter().map(|chunk| chunk.leavers).sum()
}
