//! The warning of a debug build about a machine that was a field of its owner, and was taken out for a call.
//!
//! `mem::take` leaves a machine made by `Default` in the field. A callback that asks that one for something asks the wrong
//! machine: it is replaced when the call is over. There are no false alarms in a game that creates its empty machines with
//! `idle()`, and a build without debug assertions has nothing of this file. `docs/porting.md` describes the mistake.

use super::seat::Seat;
use crate::owner::Owner;

pub(crate) use self::watch::Running;

/// The `entered_at` of a machine that was made by `Default`. It is NaN, as [`NEVER`](crate::fsm::NEVER) is, with other bits. So the
/// mark takes no room, and disappears when a state is entered.
const LEFT_BEHIND: f64 = f64::from_bits(f64::NAN.to_bits() | 1);

impl<T: Owner> Seat<T> {
    /// The seat of a machine made by `Default`.
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

    /// An owner: its type, and its address, which no other owner of the type has as long as it is borrowed.
    type Who = (usize, TypeId);

    std::thread_local! {
        /// The owner whose machine is running on this thread; with several, the innermost.
        static RUNNING: Cell<Option<Who>> = const { Cell::new(None) };
    }

    /// Notes, as long as it lives, the owner whose machine is running.
    pub(crate) struct Running {
        around: Option<Who>,
    }

    impl Running {
        /// Warns if the machine is one that was left in the field of an owner whose machine is running already.
        pub(crate) fn begin<T: Owner>(seat: &Seat<T>, owner: &T, asked: impl core::fmt::Display) -> Self {
            // An owner without a size has no field. It may share its address with others, too.
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

    /// After a panic, too.
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
