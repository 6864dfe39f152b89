//! What a chunk's part in a tick comes to: who moves where.

use super::panics::{Discarded, FirstPanic};
use crate::owner::Owner;
use crate::seat::Seat;
use crate::state::Mover;

pub(super) struct Outcome<T: Owner> {
    /// The owners that have changed in bulk, by ascending slot.
    pub(super) movers: Vec<Mover>,
    /// When they did, in seconds.
    pub(super) moved_at: f64,
    /// The owners that finished their tick on a seat, with their slots.
    pub(super) seated: Vec<(usize, Seat<T>)>,
    pub(super) panic: FirstPanic,
    /// Seats that nobody is on, empty but for their room.
    pub(super) spare: Vec<Seat<T>>,
    pub(super) discarded: Discarded<T>,
}

impl<T: Owner> Outcome<T> {
    pub(super) const fn new() -> Self {
        Self {
            movers: Vec::new(),
            moved_at: 0.0,
            seated: Vec::new(),
            panic: FirstPanic::new(),
            spare: Vec::new(),
            discarded: Discarded::new(),
        }
    }

    /// Gives back room that one odd tick has left.
    #[cfg(feature = "parallel")]
    pub(super) fn give_back(&mut self) {
        self.spare.truncate(1);
        self.spare.shrink_to(1);
        self.seated.shrink_to(1);
    }

    /// Whether nothing has come of it.
    pub(super) fn is_empty(&self) -> bool {
        self.movers.is_empty() && self.seated.is_empty() && self.panic.is_none()
    }
}
