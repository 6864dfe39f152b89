//! The changes that individuals of a chunk have made, written down as movers: eight bytes of each, and not its seat.

use std::mem;

use crate::batch::known::panics::FirstPanic;
use crate::batch::rows::individuals::Individuals;
use crate::batch::rows::movers::{self, Kind};
use crate::batch::rows::outcome::ChunkOutcome;
use crate::batch::rows::range::Rows;
use crate::owner::Owner;
use crate::state::Mover;

/// Movers that have changed already, all at one time.
pub(crate) struct Made {
    movers: Vec<Mover>,
    /// When they have changed, in seconds.
    at: f64,
    /// The first one whose callback may still go on: by ascending slot.
    open_from: usize,
}

impl Made {
    pub(crate) const fn new() -> Self {
        Self { movers: Vec::new(), at: 0.0, open_from: 0 }
    }

    /// Begins with callbacks whose changes are not here yet.
    pub(crate) fn open(&mut self) {
        self.open_from = self.movers.len();
    }

    /// Whether the callbacks under way have made no changes that are here.
    pub(crate) fn is_empty(&self) -> bool {
        self.movers.len() == self.open_from
    }

    /// Adds a change, unless it was made at another time than the others.
    pub(crate) fn add(&mut self, mover: Mover, at: f64) -> bool {
        if self.movers.is_empty() {
            self.at = at;
        }
        let is_at_one_time = self.at.total_cmp(&at).is_eq();
        if is_at_one_time {
            self.movers.push(mover);
        }
        is_at_one_time
    }

    /// The change that the owner at a slot has made in a callback that may still go on, and when.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<(Mover, f64)> {
        let open = &self.movers[self.open_from..];
        if open.last()?.slot() < slot {
            return None;
        }
        let mover = movers::find(open, slot)?;
        (mover.kind() != Kind::Nothing).then_some((mover, self.at))
    }

    /// Takes that change out.
    pub(crate) fn take(&mut self, slot: usize) -> Option<(Mover, f64)> {
        let made = self.get(slot)?;
        let open = &mut self.movers[self.open_from..];
        if let Some(at) = movers::position(open, slot) {
            // To move up the ones behind it would take time for each of them.
            open[at] = Mover::new(slot, Kind::Nothing, 0);
        }
        Some(made)
    }

    /// Adds them to the movers that have changed in bulk; or, if those have changed at another time, to the individuals.
    pub(crate) fn join<T: Owner>(&mut self, outcome: &mut ChunkOutcome<T>, rows: &Rows<'_, T>) {
        if self.movers.is_empty() {
            return;
        }
        let made = &mut self.movers;
        movers::remove_idle(made);
        self.open_from = 0;
        let ChunkOutcome { movers, moved_at, individuals, panic, .. } = outcome;
        if movers.is_empty() {
            mem::swap(movers, made);
            *moved_at = self.at;
        } else if moved_at.total_cmp(&self.at).is_eq() {
            movers.append(made);
        } else {
            separate(made, self.at, individuals, panic, rows);
        }
        movers::sort(movers);
    }
}

/// Makes individuals of movers that have changed at a time.
fn separate<T: Owner>(
    made: &mut Vec<Mover>,
    at: f64,
    individuals: &mut Individuals<T>,
    panic: &mut FirstPanic,
    rows: &Rows<'_, T>,
) {
    // Movers with data beside their row are still individuals.
    let kept = individuals.by_slot();
    for individual in &mut *kept {
        individual.is_mover = false;
    }
    made.retain(|mover| kept.binary_search_by_key(&mover.slot(), |individual| individual.slot).is_err());
    for mover in made.drain(..) {
        individuals.add(mover.slot()).load_made(mover, at, rows);
    }
    individuals.finish_each(panic, |_, _| true);
}
