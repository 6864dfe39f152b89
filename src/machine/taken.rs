//! The warning of a debug build about a machine that was a field of its owner, and was taken out of it for a call.
//!
//! `mem::take` leaves a machine made by `Default` in the field. A callback that makes a request to that machine makes it to
//! the wrong machine, which is replaced when the call is over. A game that creates its empty machines with `idle()` gets no
//! false warnings. A build without debug assertions contains no code of this file. `docs/porting.md` describes the mistake.

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

    /// Identifies an owner by its address and its type. While it is borrowed, no other owner of the type has this address.
    type Who = (usize, TypeId);

    std::thread_local! {
        /// The owner whose machine is running on this thread. If several are running, the innermost one.
        static RUNNING: Cell<Option<Who>> = const { Cell::new(None) };
    }

    /// Marks an owner as the one whose machine is running, until it is dropped.
    pub(crate) struct Running {
        around: Option<Who>,
    }

    impl Running {
        /// Marks the owner. Warns if `seat` is a machine that was left in the field of an owner whose machine is already
        /// running.
        pub(crate) fn begin<T: Owner>(seat: &Seat<T>, owner: &T, asked: impl core::fmt::Display) -> Self {
            // An owner of size zero has no fields, and may share its address with others.
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
