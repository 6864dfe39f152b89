//! The owner in the table of threads, and the context of a tick.

use super::stamps::Stamps;
use crate::workload::{Behaviour, Context, Name, Owner};

/// An owner whose states may do long computations.
pub(super) struct Thinker<const PAD: usize>(pub(super) Owner<PAD>);

/// The context of the owners of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Mind<'a> {
    pub(super) base: Context,
    /// Whether each owner computes for some hundred nanoseconds in each tick.
    pub(super) computes: bool,
    /// The common target of all changes, if there is one.
    pub(super) target: Option<Name>,
    /// The stamps of the threads, if times are measured.
    pub(super) stamps: Option<&'a Stamps>,
}

impl<const PAD: usize> demeanor::Owner for Thinker<PAD> {
    type Context<'a> = Mind<'a>;
    type Message = ();
}

impl<const PAD: usize> Thinker<PAD> {
    /// Runs one tick in the state `B`. Returns the new state if the owner changes.
    #[inline(always)]
    pub(super) fn update<B: Behaviour>(&mut self, cx: &Mind<'_>) -> Option<Name> {
        if cx.computes {
            self.0.ponder(&cx.base);
        }
        self.0.update::<B>(&cx.base)
    }

    /// Runs one tick in which the state decides which owners change, and to which state.
    #[inline(always)]
    pub(super) fn act<B: Behaviour>(&mut self, cx: &Mind<'_>) -> u32 {
        if cx.computes {
            self.0.ponder(&cx.base);
        }
        self.0.act::<B>(&cx.base);
        self.0.luck()
    }
}
