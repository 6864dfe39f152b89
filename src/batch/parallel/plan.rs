//! Decides which buckets have their rows moved by one thread, and which by several threads.

use std::ops::Range;

use super::chunks::{Extent, Ticked};
use crate::batch::rows::store::Store;
use crate::owner::Owner;

/// If the tick has at least this many movers, several threads move the rows.
const MANY_MOVERS: usize = 2048;

/// The number of groups of leavers for each thread: more than one, so that no thread waits long for the others.
const GROUPS_PER_THREAD: usize = 4;

/// The smallest and the largest number of movers that a group should have. The group of a bucket that cannot be divided may have
/// more movers, and other groups may have fewer.
const MOVERS_OF_GROUP: (usize, usize) = (512, 16_384);

/// Some buckets, and the groups that take up their leavers: one group for one or more short buckets, or several groups for a long
/// bucket.
pub(super) struct Job {
    /// The positions of the buckets in the order of the states. Some of these buckets may have no movers.
    pub(super) buckets: Range<usize>,
    pub(super) groups: Range<usize>,
    movers: usize,
}

#[derive(Default)]
pub(super) struct Jobs {
    /// In the order of the states.
    pub(super) list: Vec<Job>,
}

impl Jobs {
    /// Returns how many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.list.last().map_or(0, |job| job.groups.end)
    }

    /// Divides the moves of all buckets into jobs. Returns whether there are enough moves for several threads.
    pub(super) fn plan<T: Owner>(&mut self, store: &Store<T>, extents: &[Extent], ticked: &[Ticked<T>]) -> bool {
        self.list.clear();
        let movers = |nth: usize| {
            let ticked = &ticked[extents[nth].chunks..extents[nth + 1].chunks];
            let columns = &store.buckets[store.states.order()[nth] as usize];
            let ticked = ticked.iter().filter(|chunk| chunk.has_outcome);
            ticked.map(|chunk| chunk.outcome.movers.len()).sum::<usize>() + columns.leavers.list.len()
        };
        let buckets = 0..extents.len() - 1;
        let all: usize = buckets.clone().map(movers).sum();
        let threads = rayon::current_num_threads();
        if threads == 1 || all < MANY_MOVERS {
            return false;
        }
        let (least, most) = MOVERS_OF_GROUP;
        let whole_group = (all / (threads * GROUPS_PER_THREAD)).clamp(least, most);
        for (nth, movers) in buckets.map(|nth| (nth, movers(nth))).filter(|(_, movers)| *movers > 0) {
            let columns = &store.buckets[store.states.order()[nth] as usize];
            let ticked = &ticked[extents[nth].chunks..extents[nth + 1].chunks];
            let is_plain = columns.asleep == 0
                && !columns.leavers.are_mixed
                && !ticked.iter().any(|chunk| chunk.has_outcome && chunk.are_nested);
            let groups = if is_plain && movers > 2 * whole_group { movers / whole_group } else { 1 };
            let is_short = groups == 1;
            if let Some(job) =
                self.list.last_mut().filter(|job| is_short && job.groups.len() == 1 && job.movers < whole_group)
            {
                job.buckets.end = nth + 1;
                job.movers += movers;
            } else {
                let first = self.groups();
                self.list.push(Job { buckets: nth..nth + 1, groups: first..first + groups, movers });
            }
        }
        true
    }
}
