//! Which worker has which shard, and which worker has a citizen's entry in the directory.

use crate::random::mix;

/// The shards of a world, divided among the workers of all processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shards {
    pub(crate) count: u32,
    pub(crate) workers: u32,
    pub(crate) me: u32,
}

impl Shards {
    /// Returns the worker that has a shard.
    pub(crate) fn worker_of(self, shard: u32) -> u32 {
        shard % self.workers
    }

    /// Returns the worker that has the directory's entry of a citizen.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is less than a u32")]
    pub(crate) fn directory_of(self, id: u64) -> u32 {
        (mix(id) % u64::from(self.workers)) as u32
    }

    pub(crate) fn mine(self) -> impl Iterator<Item = u32> {
        (self.me..self.count).step_by(self.workers as usize)
    }
}
