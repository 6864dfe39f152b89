//! The ways in which an owner of a batch loses a state.

use crate::game::{A, B, Clock, Hall, Imp};
use demeanor::{Batch, Key, StateRef};

pub(crate) fn update(batch: &mut Batch<Imp>) {
    batch.update(&mut Clock::default());
}

pub(crate) fn change(batch: &mut Batch<Imp>, key: Key, to: impl Into<StateRef<Imp>>) {
    assert!(batch.change_state(key, to.into(), &mut Clock::default()));
}

/// Has an imp ask for a change in a tick.
fn order(batch: &mut Batch<Imp>, key: Key, to: impl Into<StateRef<Imp>>) {
    let to = to.into();
    batch[key].order = Some(to.clone());
    update(batch);
    assert_eq!(batch.state_of(key), Some(&to));
}

fn push(batch: &mut Batch<Imp>, key: Key, over: StateRef<Imp>) {
    assert!(batch.push_state(key, over, &mut Clock::default()));
}

/// A way for the owner of a key to lose the state that it is in.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// What happens first, and lets the owner keep it.
    pub(crate) keep: fn(&mut Batch<Imp>, Key),
    pub(crate) lose: fn(&mut Batch<Imp>, Key),
    pub(crate) then: Then,
}

/// What has become of the owner.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Then {
    In(&'static str),
    Gone,
    AllGone,
}

const fn way(name: &'static str, keep: fn(&mut Batch<Imp>, Key), lose: fn(&mut Batch<Imp>, Key), then: Then) -> Way {
    Way { name, keep, lose, then }
}

pub(crate) const WAYS: [Way; 11] = [
    way("changed away twice", |batch, key| change(batch, key, &A), |batch, key| change(batch, key, &B), Then::In("B")),
    way(
        "changed away twice in bulk",
        |batch, key| order(batch, key, &A),
        |batch, key| order(batch, key, &B),
        Then::In("B"),
    ),
    way(
        "previous set",
        |batch, key| change(batch, key, &A),
        |batch, key| assert!(batch.set_previous(key, &B)),
        Then::In("A"),
    ),
    way("current set", |_, _| {}, |batch, key| assert!(batch.set_current(key, &B)), Then::In("B")),
    way(
        "pushed over, then stopped",
        |batch, key| {
            push(batch, key, (&A).into());
            change(batch, key, &B);
            assert_eq!(batch.previous_of(key).unwrap().name(), "A");
        },
        |batch, key| assert!(batch.stop(key, &mut Clock::default())),
        Then::In(""),
    ),
    way(
        "popped",
        |batch, key| {
            let state = batch.state_of(key).unwrap().clone();
            assert!(batch.set_current(key, &Hall));
            push(batch, key, state);
            assert!(batch.pop_state(key, &mut Clock::default()));
            assert!(batch.is_in_state(key, &Hall));
        },
        |batch, key| change(batch, key, &B),
        Then::In("B"),
    ),
    way("removed", |_, _| {}, |batch, key| drop(batch.remove(key)), Then::Gone),
    way(
        "not retained",
        |batch, _| batch.retain(|_, _| true),
        |batch, key| batch.retain(|other, _| other != key),
        Then::Gone,
    ),
    way("cleared", |_, _| {}, |batch, _| batch.clear(), Then::AllGone),
    way("drained", |_, _| {}, |batch, _| drop(batch.drain()), Then::AllGone),
    way("replaced by a clone of another batch", |_, _| {}, |batch, _| batch.clone_from(&Batch::new()), Then::AllGone),
];
