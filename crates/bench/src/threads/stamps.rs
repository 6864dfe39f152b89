//! Where the processor time of a parallel tick goes, thread by thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cpu_time::ThreadTime;

/// What the threads of a pool note while a tick runs.
pub(super) struct Stamps(Vec<Mutex<Stamp>>);

/// What one thread has noted. Times are the processor time that the thread has had since it began.
#[derive(Clone, Copy, Default)]
pub(super) struct Stamp {
    /// When the thread began its first chunk.
    first_chunk: Option<Duration>,
    /// When the thread had updated the owners of its last chunk. Their changes came after that.
    last_update: Option<Duration>,
    /// How long the changes of its other chunks took, with going from one chunk to the next, and of how many.
    changes: Duration,
    gaps: u32,
}

/// The processor time that the calling thread has had.
pub(super) fn now() -> Duration {
    ThreadTime::now().as_duration()
}

impl Stamps {
    /// For a pool of so many threads.
    pub(super) fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::default()).collect())
    }

    /// Forgets the tick before.
    pub(super) fn clear(&self) {
        (0..self.0.len()).for_each(|thread| *self.of(thread) = Stamp::default());
    }

    /// The calling thread begins a chunk.
    pub(super) fn chunk_begins(&self) {
        self.note(|stamp, now| {
            stamp.first_chunk.get_or_insert(now);
            if let Some(last) = stamp.last_update {
                stamp.changes += now.saturating_sub(last);
                stamp.gaps += 1;
            }
        });
    }

    /// The calling thread has updated a chunk's owners.
    pub(super) fn chunk_is_updated(&self) {
        self.note(|stamp, now| stamp.last_update = Some(now));
    }

    /// What a thread of the pool has noted.
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
    /// The time from `start` to the first chunk.
    pub(super) fn before_chunks(&self, start: Duration) -> Duration {
        self.first_chunk.map_or(Duration::ZERO, |first| first.saturating_sub(start))
    }

    /// The time from the last chunk to `end`, or from `start` for a thread that has had no chunk.
    ///
    /// Where that chunk ended nobody says; its changes are taken to have lasted as long as those of the others did on average.
    pub(super) fn after_chunks(&self, start: Duration, end: Duration) -> Duration {
        let changes = self.changes.checked_div(self.gaps).unwrap_or_default();
        end.saturating_sub(self.last_update.map_or(start, |last| last + changes))
    }
}
