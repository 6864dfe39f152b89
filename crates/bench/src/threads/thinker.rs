//! The owner of the table of threads, and what a tick tells it.

use super::stamps::Stamps;
use crate::workload::{Behaviour, Context, Name, Owner};

/// An owner whose states may compute.
pub(super) struct Thinker<const PAD: usize>(pub(super) Owner<PAD>);

/// What the owners of a chunk are told.
#[derive(Clone, Copy)]
pub(super) struct Mind<'a> {
    pub(super) base: Context,
    /// Whether everybody thinks for some hundred nanoseconds in each tick.
    pub(super) computes: bool,
    /// Where all that change go, if there is such a place.
    pub(super) target: Option<Name>,
    /// Where threads note what takes how long, if that is measured.
    pub(super) stamps: Option<&'a Stamps>,
}

impl<const PAD: usize> demeanor::Owner for Thinker<PAD> {
    type Context<'a> = Mind<'a>;
    type Message = ();
}

impl<const PAD: usize> Thinker<PAD> {
    /// One tick in the state `B`. Returns one of the other states, if the owner changes.
    #[inline(always)]
    pub(super) fn update<B: Behaviour>(&mut self, cx: &Mind<'_>) -> Option<Name> {
        if cx.computes {
            self.0.ponder(&cx.base);
        }
        self.0.update::<B>(&cx.base)
    }

    /// The same, where the state itself decides who changes and where to.
    #[inline(always)]
    pub(super) fn act<B: Behaviour>(&mut self, cx: &Mind<'_>) -> u32 {
        if cx.computes {
            self.0.ponder(&cx.base);
        }
        self.0.act::<B>(&cx.base);
        self.0.luck()
    }
}
