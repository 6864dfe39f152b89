//! The handles of many owners that are in the same state.

use core::cell::Cell;
use core::mem;

use crate::fsm::{Fsm, Machines};
use crate::owner::Owner;
#[cfg(doc)]
use crate::state::State;

/// The handles of many owners that are in the same state, for [`State::update_all`].
pub struct FsmSlice<'a, T: Owner> {
    fsm: Fsm<'a, T>,
}

impl<'a, T: Owner> FsmSlice<'a, T> {
    #[cfg(feature = "std")]
    pub(crate) fn new(machines: &'a mut (dyn Machines<T> + 'a), entered_at: &'a [f64]) -> Self {
        Self { fsm: Fsm { machines, nth: Cell::new(0), entered_at } }
    }

    /// Lends the handle of the `i`-th owner to `act`. If `act` panics, `last` returns `i` afterward.
    ///
    /// If `act` does not panic, this method stores nothing, so that the compiler can remove a loop over methods that do nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as said")]
    pub(crate) fn with<R>(&mut self, i: usize, act: impl FnOnce(&mut Fsm<'_, T>) -> R) -> R {
        let Fsm { machines, nth: last, entered_at } = &mut self.fsm;
        let mut fsm = Fsm { machines: &mut **machines, nth: Cell::new(i), entered_at };
        let mark = MarkOnPanic { i, last: last.get_mut() };
        let result = act(&mut fsm);
        mem::forget(mark);
        result
    }

    /// Returns the index of the owner whose handle [`at`](Self::at) returned last. After a panic, this is the owner whose
    /// callback panicked.
    #[cfg(feature = "std")]
    pub(crate) fn last(&self) -> usize {
        self.fsm.nth()
    }

    /// Returns the machines, and a mutable reference to the index that [`at`](Self::at) sets.
    pub(crate) fn machines(&mut self) -> (&mut (dyn Machines<T> + 'a), &mut usize) {
        self.fsm.machines()
    }

    /// Returns the handle of the `i`-th owner of the slice. If there is no such owner, requests through the handle have no effect
    /// and an error is logged.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, FsmSlice, Owner, State};
    ///
    /// struct Boid {
    ///     x: f32,
    /// }
    ///
    /// impl Owner for Boid {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// struct Fly;
    /// struct Land;
    ///
    /// impl State<Boid> for Fly {
    ///     fn update(&self, boid: &mut Boid, fsm: &mut Fsm<'_, Boid>, _: &mut ()) {
    ///         boid.x += 1.0;
    ///         if boid.x > 2.0 {
    ///             fsm.change_state(&Land);
    ///         }
    ///     }
    ///
    ///     // The same for many owners: a loop without branches, then a loop that looks for the boids that have arrived.
    ///     fn update_all(&self, boids: &mut [Boid], fsm: &mut FsmSlice<'_, Boid>, _: &mut ()) {
    ///         for boid in boids.iter_mut() {
    ///             boid.x += 1.0;
    ///         }
    ///         for (i, boid) in boids.iter().enumerate() {
    ///             if boid.x > 2.0 {
    ///                 fsm.at(i).change_state(&Land);
    ///             }
    ///         }
    ///     }
    /// }
    /// impl State<Boid> for Land {}
    ///
    /// let mut flock = Batch::new();
    /// for i in 0..3_u8 {
    ///     flock.insert(Boid { x: f32::from(i) }, &Fly);
    /// }
    /// flock.update(&mut ());
    /// assert_eq!(flock.owners_in(&Land).len(), 1);
    /// ```
    #[inline]
    pub fn at(&mut self, i: usize) -> &mut Fsm<'a, T> {
        self.fsm.nth.set(i);
        &mut self.fsm
    }
}

/// Stores the index of the handle that is in use when a callback panics.
struct MarkOnPanic<'l> {
    i: usize,
    last: &'l mut usize,
}

impl Drop for MarkOnPanic<'_> {
    fn drop(&mut self) {
        *self.last = self.i;
    }
}
