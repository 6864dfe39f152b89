//! The directory: which worker each citizen lives on, for messages to it.

use rustc_hash::FxHashMap;

use crate::error::WorldError;
use crate::parcel::Notice;

/// A worker's part of the directory. It has the citizens that this worker is responsible for and that live on another worker.
///
/// Citizens that live on this worker have no entry, so that the directory of a single worker is empty.
#[derive(Default)]
pub(crate) struct Directory {
    elsewhere: FxHashMap<u64, u32>,
}

impl Directory {
    pub(crate) fn worker_of(&self, id: u64) -> Option<u32> {
        self.elsewhere.get(&id).copied()
    }

    /// Updates the entries. Deaths come first, so that an id can be used again in the tick in which its citizen ends.
    ///
    /// `me` is this worker, and `lives_here` returns whether a citizen lives on it.
    pub(crate) fn note(
        &mut self,
        mut notices: Vec<Notice>,
        me: u32,
        lives_here: impl Fn(u64) -> bool,
    ) -> Result<(), WorldError> {
        notices.sort_unstable_by_key(|notice| match *notice {
            Notice::Died { id } => (0, id, 0),
            Notice::Moved { id, to } => (1, id, to),
            Notice::Born { id, at, .. } => (2, id, at),
        });
        for notice in notices {
            match notice {
                Notice::Died { id } => {
                    self.elsewhere.remove(&id);
                }
                Notice::Moved { id, to } => {
                    if to == me {
                        self.elsewhere.remove(&id);
                    } else {
                        self.elsewhere.insert(id, to);
                    }
                }
                Notice::Born { id, at, shard } => {
                    let is_known = self.elsewhere.contains_key(&id) || at != me && lives_here(id);
                    if is_known {
                        return Err(WorldError::SameId { id, shard });
                    }
                    if at != me {
                        self.elsewhere.insert(id, at);
                    }
                }
            }
        }
        Ok(())
    }
}
