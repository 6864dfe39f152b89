//! The slot of one member. It holds the member, unless the member is lent to a callback. Even then, the slot has the member's
//! key, the type of its owner, and the states that were active when the machine was last looked at.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::any::TypeId;
use core::{fmt, mem, ptr};

use downcast_rs::{Downcast, impl_downcast};
use log::warn;

use super::TELEGRAMS;
use super::delivery::UnknownReceiver;
use super::member::AnyMember;
use super::put_off::PutOff;
use crate::machine::regions::Tree;
use crate::machine::seat::Path;
use crate::owner::Owner;
use crate::state::{State, same};

pub(super) struct Slot<K, M, C> {
    pub(super) key: K,
    pub(super) presence: Presence<K, M, C>,
    /// How many turns of the member are under way, nested in each other.
    pub(super) turns: u32,
    /// Whether the member was dismissed in its own turn. It is dropped at the end of the turn.
    pub(super) is_dismissed: bool,
    sight: Sight,
    /// The active states when the machine was last looked at. `None` if it never was.
    seen: Option<Box<dyn AnySeen>>,
    /// Telegrams that have arrived while the member was acting.
    pub(super) put_off: PutOffQueue<K, M>,
}

/// Few members have telegrams that were put off. The queue is behind a pointer, so that slots are small, and more of them are in
/// the processor's cache.
pub(super) type PutOffQueue<K, M> = Option<Box<VecDeque<PutOff<K, M>>>>;

pub(super) enum Presence<K, M, C> {
    Here(Box<AnyMember<K, M, C>>),
    /// Lent to a callback. The agent's address identifies the member when it rejoins.
    Acting(usize),
}

/// Drops the telegrams that wait for a member that leaves, with a warning for each.
pub(super) fn drop_put_off<K: fmt::Debug, M>(put_off: PutOffQueue<K, M>) {
    for PutOff { telegram, .. } in put_off.into_iter().flat_map(|put_off| *put_off) {
        warn!(target: TELEGRAMS, "{}", UnknownReceiver { telegram });
    }
}

/// Whether `seen` is up to date.
#[derive(Clone, Copy, PartialEq)]
enum Sight {
    /// `seen` is out of date.
    Stale,
    /// `seen` is up to date, and stays so after the turn.
    Lasting,
    /// `seen` is up to date until the end of the turn. Then `seen` is cleared, so that it keeps no owned state alive.
    Passing,
}

impl<K, M, C> Slot<K, M, C> {
    /// Puts telegrams off after those that wait already.
    pub(super) fn put_off(&mut self, telegrams: impl IntoIterator<Item = PutOff<K, M>>) {
        self.put_off.get_or_insert_default().extend(telegrams);
    }

    #[inline]
    pub(super) fn has_put_off(&self) -> bool {
        self.put_off.as_ref().is_some_and(|put_off| !put_off.is_empty())
    }
}

impl<K: 'static, M: 'static, C: 'static> Slot<K, M, C> {
    pub(super) fn new(key: K, member: Box<AnyMember<K, M, C>>) -> Self {
        Self {
            key,
            presence: Presence::Here(member),
            turns: 0,
            is_dismissed: false,
            sight: Sight::Stale,
            seen: None,
            put_off: None,
        }
    }

    /// Returns the member, unless it is acting.
    pub(super) fn member(&self) -> Option<&AnyMember<K, M, C>> {
        match &self.presence {
            Presence::Here(member) => Some(&**member),
            Presence::Acting(_) => None,
        }
    }

    /// Returns the key and, unless the member is acting, the member, for changes without a callback.
    pub(super) fn key_and_member_mut(&mut self) -> (&K, Option<&mut AnyMember<K, M, C>>) {
        match &mut self.presence {
            Presence::Here(member) => {
                self.sight = Sight::Stale;
                (&self.key, Some(&mut **member))
            }
            Presence::Acting(_) => (&self.key, None),
        }
    }

    pub(super) fn into_member(self) -> Option<Box<AnyMember<K, M, C>>> {
        match self.presence {
            Presence::Here(member) => Some(member),
            Presence::Acting(_) => None,
        }
    }

    /// Returns whether the owner is a `T`. While the member is lent, `seen` has the type of the owner.
    pub(super) fn is_of<T: Owner>(&self) -> bool {
        match self.member() {
            Some(member) => member.owner() == TypeId::of::<T>(),
            None => self.seen::<T>().is_some(),
        }
    }

    pub(super) fn is_acting(&self) -> bool {
        matches!(self.presence, Presence::Acting(_))
    }

    /// Takes the member out for a turn. `None` if the member is acting, or if it was dismissed after it had rejoined.
    #[inline]
    pub(super) fn lend(&mut self) -> Option<Box<AnyMember<K, M, C>>> {
        let Presence::Here(member) = &self.presence else { return None };
        if self.is_dismissed {
            return None;
        }
        let address = ptr::from_ref(&**member).addr();
        if self.sight == Sight::Stale {
            self.look();
        }
        let Presence::Here(member) = mem::replace(&mut self.presence, Presence::Acting(address)) else { return None };
        self.turns += 1;
        Some(member)
    }

    /// Records the active states of a member that is not acting.
    #[cold]
    fn look(&mut self) {
        if let Presence::Here(member) = mem::replace(&mut self.presence, Presence::Acting(0)) {
            member.show(self);
            self.presence = Presence::Here(member);
        }
    }

    /// Records the active states of the machine.
    pub(super) fn see<T: Owner>(&mut self, seats: &Tree<'_, T>) {
        if self.seen::<T>().is_none() {
            self.seen = Some(Box::new(SeenStates::<T> { depth: 0, active: Path::new() }));
        }
        let Some(seen) = self.seen.as_mut().and_then(|seen| seen.downcast_mut::<SeenStates<T>>()) else { return };
        seen.active.clear();
        seats.each(&mut |seat, _| seen.active.extend(seat.path().cloned()));
        seen.depth = seats.root().depth();
        let is_lasting = seen.active.iter().all(|state| state.as_singleton().is_some());
        self.sight = if is_lasting { Sight::Lasting } else { Sight::Passing };
    }

    /// Makes `seen` valid only until the end of the turn: code in the turn may change the machine without reporting it.
    pub(super) fn see_no_longer_than_this_turn(&mut self) {
        self.sight = Sight::Passing;
    }

    /// Updates `seen` at the end of a turn. A turn is incomplete if it has panicked.
    #[inline]
    pub(super) fn end_sight(&mut self, is_complete: bool) {
        if self.sight != Sight::Lasting || !is_complete {
            self.forget_sight();
        }
    }

    #[cold]
    pub(super) fn forget_sight(&mut self) {
        self.sight = Sight::Stale;
        if let Some(seen) = &mut self.seen {
            seen.clear();
        }
    }

    /// Returns the name of the current state. For an acting member, this is the state that was seen last.
    pub(super) fn state_name(&self) -> Option<Cow<'_, str>> {
        match self.member() {
            Some(member) => member.state_name(),
            None => self.seen.as_ref()?.state_name(),
        }
    }

    /// Returns the active states that were last seen, for an acting member.
    pub(super) fn seen<T: Owner>(&self) -> Option<&SeenStates<T>> {
        self.seen.as_ref()?.downcast_ref()
    }
}

/// The active states of a machine, outermost first, region by region, as they were seen last.
pub(super) struct SeenStates<T: Owner> {
    /// How many of the states lie outside the regions. The last of these is the current state.
    depth: usize,
    active: Path<T>,
}

/// The [`SeenStates`] of any type of owner.
trait AnySeen: Downcast + Send + Sync {
    fn state_name(&self) -> Option<Cow<'_, str>>;
    fn clear(&mut self);
}

impl_downcast!(AnySeen);

impl<T: Owner> SeenStates<T> {
    pub(super) fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.active.iter().any(|active| same(&**active, state))
    }
}

impl<T: Owner> AnySeen for SeenStates<T> {
    fn state_name(&self) -> Option<Cow<'_, str>> {
        self.active[..self.depth].last().map(|current| current.name())
    }

    fn clear(&mut self) {
        self.depth = 0;
        self.active.clear();
    }
}
