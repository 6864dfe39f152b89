//! The owner of the corners: a character that can be sent messages, and what a tick tells it.

use demeanor::StateRef;

use crate::workload::{Behaviour, Context, Owner};

/// A character of 64 bytes.
pub(crate) struct Character {
    pub(crate) body: Owner<28>,
    /// How many messages it has heard.
    pub(crate) heard: u32,
}

/// What everybody is sent.
pub(crate) struct Alarm;

/// What a tick of a corner is told.
pub(crate) struct Scene<'a> {
    /// Holds the share of the owners that do what the corner is about.
    pub(crate) base: Context,
    /// States that did not exist in the tick before.
    pub(crate) fresh: &'a [StateRef<Character>],
}

impl demeanor::Owner for Character {
    type Context<'a> = Scene<'a>;
    type Message = Alarm;
}

impl Scene<'_> {
    /// A tick that brings no new states.
    pub(crate) fn of(base: Context) -> Self {
        Self { base, fresh: &[] }
    }
}

impl Character {
    /// The `number`-th character.
    pub(crate) fn new(number: usize) -> Self {
        Self { body: Owner::new(number), heard: 0 }
    }

    /// One tick in the state `B`. Returns whether the character is one of those who do what the corner is about.
    #[inline(always)]
    pub(crate) fn act<B: Behaviour>(&mut self, cx: &Scene<'_>) -> bool {
        self.body.act::<B>(&cx.base);
        u64::from(self.body.luck()) < cx.base.threshold
    }

    /// What this character adds to the sum by which batch and machines are held to the same work.
    pub(crate) fn checksum(&self) -> u64 {
        self.body.checksum().wrapping_add(u64::from(self.heard))
    }
}
