//! The warning about a machine that is a field of its owner, and was taken out of this field for a call.
//!
//! `mem::take` leaves a machine made by `Default` in the field. If a callback calls the machine in the field, it calls the wrong
//! machine: the game replaces this one when the call is over, so the effect is lost. A game that creates its empty machines with
//! `idle()` gets no false warnings. Without debug assertions or without `std`, nothing is checked. `docs/porting.md` describes
//! the mistake.

use super::seat::Seat;
use crate::owner::Owner;

pub(crate) use self::watch::Running;

/// The `entered_at` of a machine that was made by `Default`. It is NaN, like [`NEVER`](crate::fsm::NEVER), but with other
/// bits. So the mark takes no memory, and disappears when a state is entered.
const LEFT_BEHIND: f64 = f64::from_bits(f64::NAN.to_bits() | 1);

impl<T: Owner> Seat<T> {
    /// Creates the seat of a machine made by `Default`.
    pub(crate) const fn left_behind() -> Self {
        let mut seat = Self::empty();
        seat.entered_at = LEFT_BEHIND;
        seat
    }
}

#[cfg(all(debug_assertions, feature = "std"))]
mod watch {
    use core::any::TypeId;
    use core::cell::Cell;
    use core::ptr;

    use super::LEFT_BEHIND;
    use crate::machine::seat::Seat;
    use crate::owner::{Label, Owner};

    /// Identifies an owner by its address and its type. While the owner is borrowed, no other owner of this type has this
    /// address.
    type Who = (usize, TypeId);

    std::thread_local! {
        /// The owner whose machine is running on this thread. If several are running, the innermost one.
        static RUNNING: Cell<Option<Who>> = const { Cell::new(None) };
    }

    /// The mark of the owner whose machine is running. Its `Drop` restores the earlier mark.
    pub(crate) struct Running {
        /// The owner that was marked before.
        around: Option<Who>,
    }

    impl Running {
        /// Marks the owner. Warns if `seat` belongs to a machine that `mem::take` may have left in a field of the owner, and
        /// if the owner's own machine is already running. `asked` names the call.
        pub(crate) fn begin<T: Owner>(seat: &Seat<T>, owner: &T, asked: impl core::fmt::Display) -> Self {
            // An owner of size zero contains no machine, and may share its address with other owners.
            let who = (size_of::<T>() > 0).then(|| (ptr::from_ref(owner).addr(), TypeId::of::<T>()));
            let around = RUNNING.replace(who);
            let running = Self { around };
            let is_left_behind = seat.current.is_none() && seat.entered_at.to_bits() == LEFT_BEHIND.to_bits();
            if is_left_behind && who.is_some() && who == around {
                log::warn!(
                    target: "demeanor",
                    "{}: {asked} went to an empty machine while this owner's own machine is running: if `mem::take` left it \
                    behind, the effect is lost. Ask `fsm` instead, and keep the machine beside its owner",
                    Label(owner)
                );
            }
            running
        }
    }

    /// Also runs after a panic.
    impl Drop for Running {
        fn drop(&mut self) {
            RUNNING.set(self.around);
        }
    }
}

#[cfg(not(all(debug_assertions, feature = "std")))]
mod watch {
    use crate::machine::seat::Seat;
    use crate::owner::Owner;

    pub(crate) struct Running;

    impl Running {
        #[inline(always)]
        #[expect(clippy::inline_always, reason = "nothing must be left of it")]
        pub(crate) fn begin<T: Owner>(_: &Seat<T>, _: &T, _: impl core::fmt::Display) -> Self {
            Self
        }
    }
}
