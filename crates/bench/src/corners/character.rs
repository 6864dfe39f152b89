//! The owner in the table of corners: a character that gets messages, and the context of a tick.

use demeanor::StateRef;

use crate::workload::{Behaviour, Context, Owner};

/// A character of 64 bytes.
pub(crate) struct Character {
    pub(crate) body: Owner<28>,
    /// The number of messages that the character has received.
    pub(crate) heard: u32,
}

/// The message that every character is sent.
pub(crate) struct Alarm;

/// The context of a tick.
pub(crate) struct Scene<'a> {
    /// Contains the share of the owners that the corner concerns.
    pub(crate) base: Context,
    /// States that did not exist in the previous tick.
    pub(crate) fresh: &'a [StateRef<Character>],
}

impl demeanor::Owner for Character {
    type Context<'a> = Scene<'a>;
    type Message = Alarm;
}

impl Scene<'_> {
    /// Creates a tick without new states.
    pub(crate) fn of(base: Context) -> Self {
        Self { base, fresh: &[] }
    }
}

impl Character {
    /// Creates the `number`-th character.
    pub(crate) fn new(number: usize) -> Self {
        Self { body: Owner::new(number), heard: 0 }
    }

    /// Runs one tick in the state `B`. Returns whether the corner concerns this character in this tick.
    #[inline(always)]
    pub(crate) fn act<B: Behaviour>(&mut self, cx: &Scene<'_>) -> bool {
        self.body.act::<B>(&cx.base);
        u64::from(self.body.luck()) < cx.base.threshold
    }

    /// Returns the character's part of the checksum, which must be the same for batch and machines.
    pub(crate) fn checksum(&self) -> u64 {
        self.body.checksum().wrapping_add(u64::from(self.heard))
    }
}
