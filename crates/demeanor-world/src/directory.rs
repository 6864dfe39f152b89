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

    /// Updates the entries. The death of a citizen comes first, so that it can leave its id to a child.
    ///
    /// `me` is this worker, and `lives_here` returns whether a citizen lives on it.
    pub(crate) fn note(
        &mut self,
        mut notices: Vec<Notice>,
        me: u32,
        lives_here: impl Fn(u64) -> bool,
    ) -> Result<(), WorldError> {
        notices.sort_unstable_by_key(|notice| match *notice {
            Notice::Died { id, .. } => (id, 0, 0),
            Notice::Moved { id, to } => (id, 1, to),
            Notice::Born { id, at, .. } => (id, 2, at),
        });
        let mut last_death = None;
        for notice in notices {
            match notice {
                Notice::Died { id, by } => {
                    self.elsewhere.remove(&id);
                    last_death = Some((id, by));
                }
                Notice::Moved { id, to } => {
                    if to == me {
                        self.elsewhere.remove(&id);
                    } else {
                        self.elsewhere.insert(id, to);
                    }
                }
                Notice::Born { id, at, shard, by } => {
                    let is_known = self.elsewhere.contains_key(&id) || at != me && lives_here(id);
                    // The mail of both has the same sender, and so no order.
                    let is_taken = last_death.is_some_and(|(dead, of)| dead == id && of != by);
                    if is_known || is_taken {
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
