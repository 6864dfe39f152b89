//! The contenders of each table. The others are compared with the first.

mod batch;
mod bevy;
mod by_hand;
mod classic;
mod defined;
mod hecs;
mod machines;
mod matching;
mod regions;
mod rust_fsm;
mod statig;
mod timed;

use self::batch::{AllThreads, OneThread};
use self::bevy::Bevy;
use self::by_hand::{Bare, Keyed};
use self::classic::Classic;
use self::defined::Conditions;
pub(crate) use self::defined::loading;
use self::hecs::Hecs;
use self::machines::{Agents, Machines};
use self::matching::Matching;
use self::regions::{ManyWithRegions, OneMachine, TwoMachines};
use self::rust_fsm::RustFsm;
use self::statig::Statig;
use self::timed::{ByHand, InBatch, OnMachines, SLOW, TURN, in_rust, machines_in_rust};
use crate::contender::Entry;

/// The same machine with conditions, written in Rust and read from a file.
pub(crate) const fn definitions<const PAD: usize>() -> &'static [Entry] {
    const {
        &[
            Entry::new("values, in Rust", Conditions::<PAD>::in_rust::<false>),
            Entry::new("values, from a file", Conditions::<PAD>::from_a_file::<false>),
            Entry::new("time in state, in Rust", Conditions::<PAD>::in_rust::<true>),
            Entry::new("time in state, from a file", Conditions::<PAD>::from_a_file::<true>),
        ]
    }
}

/// Two hundred states that last some ticks each, compared with a hand-written interpreter: flat states and nested states; both
/// with updates; nested states whose parents have turns; and flat states that last longer.
pub(crate) const fn timed<const PAD: usize>() -> &'static [&'static [Entry]] {
    const {
        &[
            &[
                Entry::new("flat: interpreter by hand", ByHand::<PAD, 0, false, 1>::boxed),
                Entry::new("flat: batch in Rust", in_rust::<PAD, false, false>),
                Entry::new("flat: batch from a file", InBatch::<PAD>::boxed::<0, false>),
                Entry::new("flat: machines in Rust", machines_in_rust::<PAD, false, false>),
                Entry::new("flat: machines from a file", OnMachines::<PAD>::boxed::<0, false>),
            ],
            &[
                Entry::new("nested: interpreter by hand", ByHand::<PAD, 1, false, 1>::boxed),
                Entry::new("nested: batch in Rust", in_rust::<PAD, true, false>),
                Entry::new("nested: batch from a file", InBatch::<PAD>::boxed::<1, false>),
                Entry::new("nested: machines in Rust", machines_in_rust::<PAD, true, false>),
                Entry::new("nested: machines from a file", OnMachines::<PAD>::boxed::<1, false>),
            ],
            &[
                Entry::new("acting flat: interpreter by hand", ByHand::<PAD, 0, true, 1>::boxed),
                Entry::new("acting flat: batch in Rust", in_rust::<PAD, false, true>),
                Entry::new("acting flat: batch from a file", InBatch::<PAD>::boxed::<0, true>),
                Entry::new("acting flat: machines in Rust", machines_in_rust::<PAD, false, true>),
                Entry::new("acting flat: machines from a file", OnMachines::<PAD>::boxed::<0, true>),
            ],
            &[
                Entry::new("acting nested: interpreter by hand", ByHand::<PAD, 1, true, 1>::boxed),
                Entry::new("acting nested: batch in Rust", in_rust::<PAD, true, true>),
                Entry::new("acting nested: batch from a file", InBatch::<PAD>::boxed::<1, true>),
                Entry::new("acting nested: machines in Rust", machines_in_rust::<PAD, true, true>),
                Entry::new("acting nested: machines from a file", OnMachines::<PAD>::boxed::<1, true>),
            ],
            &[
                Entry::new("turning nested: interpreter by hand", ByHand::<PAD, TURN, false, 1>::boxed),
                Entry::new("turning nested: batch from a file", InBatch::<PAD>::boxed::<TURN, false>),
                Entry::new("turning nested: machines from a file", OnMachines::<PAD>::boxed::<TURN, false>),
            ],
            &[
                Entry::new("slow flat: interpreter by hand", ByHand::<PAD, 0, false, SLOW>::boxed),
                Entry::new("slow flat: batch from a file, asked", InBatch::<PAD>::boxed_slow::<0>),
                Entry::new("slow flat: batch from a file, asleep", InBatch::<PAD>::boxed_asleep::<0>),
                Entry::new("slow flat: machines from a file, asleep", OnMachines::<PAD>::boxed_asleep::<0>),
            ],
        ]
    }
}

/// One machine per owner, compared with statig.
pub(crate) const fn machines<const PAD: usize>() -> &'static [Entry] {
    const {
        &[
            Entry::new("statig", Statig::<PAD>::boxed),
            Entry::new("demeanor StateMachine", Machines::<PAD>::boxed),
            Entry::new("demeanor Agent", Agents::<PAD>::boxed),
            Entry::new("demeanor StateMachine with a global", Machines::<PAD>::boxed_with_global),
            Entry::new("enum + match", Matching::<PAD>::boxed),
        ]
    }
}

/// Owners that are in two states at once, compared with two machines on one owner.
pub(crate) const fn regions<const PAD: usize>() -> &'static [Entry] {
    const {
        &[
            Entry::new("two StateMachines on one owner", TwoMachines::<PAD>::boxed),
            Entry::new("StateMachine with two regions", OneMachine::<PAD>::boxed),
            Entry::new("Batch, two regions", ManyWithRegions::<PAD>::boxed),
        ]
    }
}

/// Many owners, compared with loops written by hand.
pub(crate) const fn batch<const PAD: usize>() -> &'static [Entry] {
    const {
        &[
            Entry::new("loop by hand, keys and previous", Keyed::<PAD>::boxed),
            Entry::new("loop by hand, neither", Bare::<PAD>::boxed),
            Entry::new("demeanor Batch, 1 thread", OneThread::<PAD>::boxed),
            Entry::new("demeanor Batch, 1 thread, journal", OneThread::<PAD>::boxed_with_journal),
            Entry::new("demeanor Batch, all threads", AllThreads::<PAD>::boxed),
            Entry::new("demeanor StateMachine", Machines::<PAD>::boxed),
            Entry::new("objects and states on the heap", Classic::boxed::<PAD>),
            Entry::new("enum + match", Matching::<PAD>::boxed),
            Entry::new("statig", Statig::<PAD>::boxed),
            Entry::new("rust-fsm", RustFsm::<PAD>::boxed),
            Entry::new("bevy_ecs, tag components", Bevy::<PAD>::with_tags),
            Entry::new("bevy_ecs, enum component", Bevy::<PAD>::with_enum),
            Entry::new("hecs, tag components", Hecs::<PAD>::boxed),
        ]
    }
}
