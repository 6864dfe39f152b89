//! How a member of any type is lent to a callback, together with the cast that it is a member of.

use alloc::boxed::Box;

use downcast_rs::Downcast;

use super::Cast;
use crate::agent::Agent;
use crate::message::Telegram;
use crate::owner::Owner;

/// What a cast does with each member, regardless of the owner's type.
///
/// `Send` and `Sync`, so that a cast is both when its keys, messages and world are: behind a trait object the compiler no
/// longer sees the owner.
pub(super) trait Member<K, M, W>: Downcast + Send + Sync {
    fn start(&mut self, cast: &mut Cast<K, M, W>);
    fn stop(&mut self, cast: &mut Cast<K, M, W>);
    fn update(&mut self, cast: &mut Cast<K, M, W>);
    /// Returns whether the telegram was handled.
    fn receive(&mut self, telegram: &Telegram<K, M>, cast: &mut Cast<K, M, W>) -> bool;
}

/// A member with an owner of any type.
pub(super) type AnyMember<K, M, W> = dyn Member<K, M, W>;

impl<K, M, W, T> Member<K, M, W> for Agent<T>
where
    T: for<'a> Owner<Context<'a> = Cast<K, M, W>, Message = Telegram<K, M>>,
    Self: Send + Sync,
{
    fn start(&mut self, cast: &mut Cast<K, M, W>) {
        Agent::start(self, cast);
    }

    fn stop(&mut self, cast: &mut Cast<K, M, W>) {
        Agent::stop(self, cast);
    }

    fn update(&mut self, cast: &mut Cast<K, M, W>) {
        Agent::update(self, cast);
    }

    fn receive(&mut self, telegram: &Telegram<K, M>, cast: &mut Cast<K, M, W>) -> bool {
        self.send(telegram, cast)
    }
}

/// A member taken out of its slot, so that its callbacks can be given the whole cast.
///
/// Dropping it puts the member back, so that a panic in a callback does not lose it.
pub(super) struct Turn<'a, K, M, W> {
    cast: &'a mut Cast<K, M, W>,
    place: u64,
    /// `None` only within `drop`.
    member: Option<Box<AnyMember<K, M, W>>>,
    outer_round: u32,
}

impl<'a, K, M, W> Turn<'a, K, M, W> {
    /// Begins a turn of the member at `place`. `None` if it is acting, or not a member.
    pub(super) fn begin(cast: &'a mut Cast<K, M, W>, place: u64, round: u32) -> Option<Self> {
        let member = cast.members.get_mut(&place)?.member.take()?;
        let outer_round = cast.round;
        cast.depth += 1;
        cast.round = round;
        Some(Self { cast, place, member: Some(member), outer_round })
    }

    pub(super) fn run<R>(mut self, act: impl FnOnce(&mut AnyMember<K, M, W>, &mut Cast<K, M, W>) -> R) -> R {
        let Self { cast, member, .. } = &mut self;
        let member = member.as_mut().expect("a turn has its member until it ends");
        act(&mut **member, cast)
    }
}

impl<K, M, W> Drop for Turn<'_, K, M, W> {
    fn drop(&mut self) {
        // Saturating, as a callback may have put another cast in this one's place.
        self.cast.depth = self.cast.depth.saturating_sub(1);
        self.cast.round = self.outer_round;
        let member = self.member.take();
        match self.cast.members.get_mut(&self.place) {
            Some(slot) if slot.member.is_none() => slot.member = member,
            // The member was dismissed in its own turn.
            _ => drop(member),
        }
    }
}
