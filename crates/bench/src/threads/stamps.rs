//! Stamps: how the threads spend the processor time of a parallel tick.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cpu_time::ThreadTime;

/// The notes of the threads of a pool during a tick.
pub(super) struct Stamps(Vec<Mutex<Stamp>>);

/// The notes of one thread. Times are the thread's processor time since it started.
#[derive(Clone, Copy, Default)]
pub(super) struct Stamp {
    /// When the thread began its first chunk.
    first_chunk: Option<Duration>,
    /// The time at which the thread had updated the owners of its last chunk. Their changes came after that.
    last_update: Option<Duration>,
    /// How long the changes of its other chunks took, with the time between two chunks, and how many chunks these were.
    changes: Duration,
    gaps: u32,
}

/// Returns the processor time of the calling thread.
pub(super) fn now() -> Duration {
    ThreadTime::now().as_duration()
}

impl Stamps {
    /// Creates the stamps for a pool of `threads` threads.
    pub(super) fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::default()).collect())
    }

    /// Clears the notes of the previous tick.
    pub(super) fn clear(&self) {
        (0..self.0.len()).for_each(|thread| *self.of(thread) = Stamp::default());
    }

    /// Notes that the calling thread begins a chunk.
    pub(super) fn chunk_begins(&self) {
        self.note(|stamp, now| {
            stamp.first_chunk.get_or_insert(now);
            if let Some(last) = stamp.last_update {
                stamp.changes += now.saturating_sub(last);
                stamp.gaps += 1;
            }
        });
    }

    /// Notes that the calling thread has updated the owners of a chunk.
    pub(super) fn chunk_is_updated(&self) {
        self.note(|stamp, now| stamp.last_update = Some(now));
    }

    /// Returns the notes of a thread of the pool.
    pub(super) fn of(&self, thread: usize) -> MutexGuard<'_, Stamp> {
        self.0[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, write: impl FnOnce(&mut Stamp, Duration)) {
        if let Some(thread) = rayon::current_thread_index() {
            write(&mut self.of(thread), now());
        }
    }
}

impl Stamp {
    /// Returns the time from `start` to the first chunk.
    pub(super) fn before_chunks(&self, start: Duration) -> Duration {
        self.first_chunk.map_or(Duration::ZERO, |first| first.saturating_sub(start))
    }

    /// Returns the time from the last chunk to `end`; from `start`, for a thread without chunks.
    ///
    /// The end of the last chunk is not noted. Its changes are assumed to have taken as long as those of the other chunks on
    /// average.
    pub(super) fn after_chunks(&self, start: Duration, end: Duration) -> Duration {
        let changes = self.changes.checked_div(self.gaps).unwrap_or_default();
        end.saturating_sub(self.last_update.map_or(start, |last| last + changes))
    }
}
