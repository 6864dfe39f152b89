//! The state that many owners are entering, out of all that their change enters, and what the owners see of it.

use crate::batch::known::states::KnownState;
use crate::batch::rows::columns::append_kept;
use crate::batch::rows::movers;
use crate::batch::rows::range::Rows;
use crate::fsm::View;
use crate::machine::seat::{DEEPEST, Seat};
use crate::owner::Owner;
use crate::state::{Mover, StateRef};

/// One step of the enters of some movers with one target.
pub(crate) struct Entering<'a, T: Owner> {
    /// The target, with the states around it.
    pub(crate) known: &'a KnownState<T>,
    /// How many active states, from the outermost, the change leaves alone.
    pub(crate) kept: usize,
    /// The depth of the state that is being entered.
    pub(crate) depth: usize,
    /// When the change was made, in seconds.
    pub(crate) at: f64,
    pub(crate) times: AncestorTimes<'a>,
}

impl<T: Owner> Clone for Entering<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Owner> Copy for Entering<'_, T> {}

impl<'a, T: Owner> Entering<'a, T> {
    /// The state that is being entered.
    pub(crate) fn state(&self) -> &'a StateRef<T> {
        self.known.at(self.depth)
    }

    /// Whether it is the last.
    pub(crate) fn is_innermost(&self) -> bool {
        self.depth == self.known.ancestors.len()
    }

    /// What can be asked of an owner that leaves `from`.
    pub(crate) fn view(&self, slot: usize, from: &'a StateRef<T>) -> View<'a, T> {
        View {
            current: self.state(),
            previous: from,
            target: self.known.state(),
            ancestors: &self.known.ancestors[..self.depth],
            entered_at: self.at,
            ancestors_entered_at: self.times.of(slot).get(..self.depth).unwrap_or_default(),
        }
    }

    /// Brings a seat from the state that the change leaves to the state that is being entered.
    pub(crate) fn enter_on(&self, seat: &mut Seat<T>) {
        seat.previous = seat.replace(self.kept, self.known.at(self.kept).clone(), self.at);
        for depth in self.kept + 1..=self.depth {
            seat.descend(self.known.at(depth).clone(), self.at);
        }
    }
}

/// When the states around the target of some movers count as entered.
#[derive(Clone, Copy)]
pub(crate) struct AncestorTimes<'a> {
    /// By slot.
    movers: &'a [Mover],
    /// For each mover, outermost first; or the same for all.
    list: &'a [f64],
    width: usize,
}

impl<'a> AncestorTimes<'a> {
    /// Of movers that change at a time to a state with `width` states around it, of which they stay in the outermost `kept`.
    /// `room` is where the times are written.
    pub(crate) fn new<T: Owner>(
        rows: &Rows<'_, T>,
        movers: &'a [Mover],
        (kept, width): (usize, usize),
        at: f64,
        room: &'a mut Vec<f64>,
    ) -> Self {
        room.clear();
        if kept == 0 || width == 0 {
            room.resize(width, at);
        } else {
            let depth = rows.known().ancestors.len();
            for (nth, mover) in (1..).zip(movers) {
                let slot = mover.slot();
                let before = rows.ancestors_entered_at(slot);
                // Where no times are kept, all count from 0.
                let before = if before.is_empty() { &[0.0; DEEPEST][..depth] } else { before };
                append_kept(before, rows.entered_at(slot), kept, room);
                room.resize(nth * width, at);
            }
        }
        Self { movers, list: room, width }
    }

    fn of(&self, slot: usize) -> &'a [f64] {
        if self.list.len() == self.width {
            return self.list;
        }
        let nth = movers::count_before(self.movers, slot);
        self.list.get(nth * self.width..(nth + 1) * self.width).unwrap_or_default()
    }
}
