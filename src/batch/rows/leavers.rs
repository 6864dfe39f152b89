//! The list of the rows that leave their bucket in the tick under way.

use super::place::Place;
use crate::batch::known::slots::CHUNK;
use crate::fsm::time_or_zero;
use crate::machine::seat::Seat;
use crate::owner::Owner;

/// For how many leavers a bucket keeps room from one tick to the next.
const MOST_ROOM: usize = 16 * CHUNK;

/// A row that leaves.
#[derive(Clone, Copy)]
pub(crate) struct Leaver {
    pub(crate) slot: u32,
    pub(crate) target: u32,
    /// The place of its data in `times` or `seats` of the list; `NOTHING` if its row has everything.
    pub(crate) beside: u32,
}

pub(crate) const NOTHING: u32 = u32::MAX;

/// The rows of a bucket that leave it. Empty between two ticks.
pub(crate) struct Leavers<T: Owner> {
    /// By slot, once they are sorted.
    pub(crate) list: Vec<Leaver>,
    /// Room for the list in another order.
    pub(crate) order: Vec<Leaver>,
    /// For each leaver from or to a nested state, or from an owned one: when its new state was entered, then its ancestors.
    pub(crate) times: Vec<f64>,
    /// The seat of each leaver that goes from a state with columns to an owned one.
    pub(crate) seats: Vec<Seat<T>>,
    /// Whether some leavers leave a nested or an owned state, or come to one.
    pub(crate) are_mixed: bool,
}

impl<T: Owner> Leavers<T> {
    pub(crate) const fn new() -> Self {
        Self { list: Vec::new(), order: Vec::new(), times: Vec::new(), seats: Vec::new(), are_mixed: false }
    }

    /// Adds a leaver whose row has everything.
    #[inline]
    pub(crate) fn add(&mut self, slot: usize, target: u32) {
        self.list.push(Leaver { slot: Place::new(target, slot).slot, target, beside: NOTHING });
    }

    /// Notes when the last leaver's states were entered: current, its outermost ancestors in `kept`, and the others at `rest`.
    pub(crate) fn add_times(&mut self, current: f64, kept: impl FnOnce(&mut Vec<f64>), (depth, rest): (usize, f64)) {
        let at = self.times.len();
        self.times.push(time_or_zero(current));
        kept(&mut self.times);
        self.times.resize(at + 1 + depth, rest);
        self.note_beside(at);
    }

    pub(crate) fn note_beside(&mut self, at: usize) {
        if let Some(last) = self.list.last_mut() {
            last.beside = Place::new(0, at).slot;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.times.clear();
        self.seats.clear();
        self.are_mixed = false;
        self.list.shrink_to(MOST_ROOM);
        self.order.shrink_to(MOST_ROOM);
        self.times.shrink_to(MOST_ROOM);
    }
}
