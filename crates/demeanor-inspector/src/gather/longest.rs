//! Finds, in pieces, the owners that have been in their state longest.

use crate::crowd::Crowd;

/// The number of owners per tick. Each takes 2 ns in a batch.
const PIECE: usize = 8192;
/// The number of owners that are found.
const MOST: usize = 12;

/// A walk over all owners that continues from tick to tick, and starts again at the end.
pub(super) struct Sweep<K> {
    place: usize,
    /// The longest stays that this walk has found so far, the shortest of them first.
    so_far: Vec<(f64, K)>,
    /// The longest stays that the previous walk has found.
    last: Vec<(f64, K)>,
    /// Whether a walk has ended since the last picture. One walk per picture is enough.
    is_through: bool,
}

impl<K: Copy + Eq> Sweep<K> {
    pub(super) const fn new() -> Self {
        Self { place: 0, so_far: Vec::new(), last: Vec::new(), is_through: false }
    }

    /// Visits the next owners. `is_due` is whether a picture is made now.
    pub(super) fn go_on<C>(&mut self, crowd: &C, cx: &C::Context<'_>, is_due: bool)
    where
        C: Crowd<Key = K> + ?Sized,
    {
        if self.is_through && !is_due {
            return;
        }
        let end = self.place + PIECE;
        let so_far = &mut self.so_far;
        let mut shortest = if so_far.len() < MOST { f64::NEG_INFINITY } else { so_far[0].0 };
        crowd.stays(self.place..end, cx, &mut |key, seconds| {
            if seconds > shortest {
                so_far.retain(|(_, other)| *other != key);
                let place = so_far.partition_point(|(other, _)| *other < seconds);
                so_far.insert(place, (seconds, key));
                if so_far.len() > MOST {
                    so_far.remove(0);
                }
                if so_far.len() == MOST {
                    shortest = so_far[0].0;
                }
            }
        });
        self.place = end;
        self.is_through = end >= crowd.len();
        if self.is_through {
            self.place = 0;
            self.last = std::mem::take(so_far);
        }
    }

    /// Returns the owners that were found, with the lengths of their stays at that time.
    pub(super) fn found(&self) -> impl Iterator<Item = (f64, K)> {
        let stays = if self.last.is_empty() { &self.so_far } else { &self.last };
        stays.iter().copied()
    }
}
