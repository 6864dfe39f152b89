//! The place of one member: the member itself unless it is lent to a callback, and what is known of it meanwhile.

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
use crate::machine::seat::{Path, Seat};
use crate::owner::Owner;
use crate::state::{State, same};

pub(super) struct Slot<K, M, C> {
    pub(super) key: K,
    /// The type of the owner, whether or not the member is there.
    pub(super) owner: TypeId,
    pub(super) presence: Presence<K, M, C>,
    /// How many turns of the member are under way, one within the other.
    pub(super) turns: u32,
    /// Dismissed in its own turn: it is dropped when that is over.
    pub(super) is_dismissed: bool,
    sight: Sight,
    /// Where the machine was seen last. `None` until it was.
    seen: Option<Box<dyn AnySeen>>,
    /// Telegrams that have come while the member was acting.
    pub(super) put_off: VecDeque<PutOff<K, M>>,
}

pub(super) enum Presence<K, M, C> {
    Here(Box<AnyMember<K, M, C>>),
    /// Lent to a callback, with the agent's address, which tells which member is acting.
    Acting(usize),
}

/// Whether `seen` is where the machine is.
#[derive(Clone, Copy, PartialEq)]
enum Sight {
    /// It is not.
    Stale,
    /// It is, and stays so when the turn is over.
    Lasting,
    /// It is until the turn is over. Then it is forgotten, so that it keeps no owned state alive.
    Passing,
}

impl<K: 'static, M: 'static, C: 'static> Slot<K, M, C> {
    pub(super) fn new(key: K, owner: TypeId, member: Box<AnyMember<K, M, C>>) -> Self {
        Self {
            key,
            owner,
            presence: Presence::Here(member),
            turns: 0,
            is_dismissed: false,
            sight: Sight::Stale,
            seen: None,
            put_off: VecDeque::new(),
        }
    }

    /// The member, unless it is acting.
    pub(super) fn member(&self) -> Option<&AnyMember<K, M, C>> {
        match &self.presence {
            Presence::Here(member) => Some(&**member),
            Presence::Acting(_) => None,
        }
    }

    /// The key, and the member unless it is acting, to be changed without a callback.
    pub(super) fn key_and_member_mut(&mut self) -> (&K, Option<&mut AnyMember<K, M, C>>) {
        match &mut self.presence {
            Presence::Here(member) => {
                self.sight = Sight::Stale;
                (&self.key, Some(&mut **member))
            }
            Presence::Acting(_) => (&self.key, None),
        }
    }

    /// Drops the telegrams for a member that leaves, each with a warning.
    pub(super) fn drop_put_off(&mut self)
    where
        K: fmt::Debug,
    {
        for PutOff { telegram, .. } in self.put_off.drain(..) {
            warn!(target: TELEGRAMS, "{}", UnknownReceiver { telegram });
        }
    }

    pub(super) fn into_member(self) -> Option<Box<AnyMember<K, M, C>>> {
        match self.presence {
            Presence::Here(member) => Some(member),
            Presence::Acting(_) => None,
        }
    }

    pub(super) fn is_acting(&self) -> bool {
        matches!(self.presence, Presence::Acting(_))
    }

    /// Takes the member out for a turn, unless it is acting, or has been dismissed after it has rejoined.
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

    /// Notes where the machine of a member that is there is.
    #[cold]
    fn look(&mut self) {
        if let Presence::Here(member) = mem::replace(&mut self.presence, Presence::Acting(0)) {
            member.show(self);
            self.presence = Presence::Here(member);
        }
    }

    /// Notes where the machine is.
    pub(super) fn see<T: Owner>(&mut self, seat: &Seat<T>) {
        let is_lasting = seat.path().all(|state| state.as_singleton().is_some());
        self.sight = if is_lasting { Sight::Lasting } else { Sight::Passing };
        match self.seen.as_mut().and_then(|seen| seen.downcast_mut::<SeenStates<T>>()) {
            Some(SeenStates(path)) => {
                path.clear();
                path.extend(seat.path().cloned());
            }
            None => self.seen = Some(Box::new(SeenStates::<T>(seat.path().cloned().collect()))),
        }
    }

    /// Forgets the seen states at the end of the turn: code that does not report it may change the machine in the turn.
    pub(super) fn see_no_longer_than_this_turn(&mut self) {
        self.sight = Sight::Passing;
    }

    /// A turn has ended.
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

    /// The name of the current state; of a member that is acting, of the one that was seen last.
    pub(super) fn state_name(&self) -> Option<Cow<'_, str>> {
        match self.member() {
            Some(member) => member.state_name(),
            None => self.seen.as_ref()?.state_name(),
        }
    }

    /// Where the machine of a member that is acting was seen last.
    pub(super) fn seen<T: Owner>(&self) -> Option<&SeenStates<T>> {
        self.seen.as_ref()?.downcast_ref()
    }
}

/// The active states of a machine, outermost first, as they were seen last.
pub(super) struct SeenStates<T: Owner>(Path<T>);

/// A [`SeenStates`] of any owner.
trait AnySeen: Downcast + Send + Sync {
    fn state_name(&self) -> Option<Cow<'_, str>>;
    fn clear(&mut self);
}

impl_downcast!(AnySeen);

impl<T: Owner> SeenStates<T> {
    pub(super) fn is_in_state<S: State<T> + ?Sized>(&self, state: &S) -> bool {
        self.0.iter().any(|active| same(&**active, state))
    }
}

impl<T: Owner> AnySeen for SeenStates<T> {
    fn state_name(&self) -> Option<Cow<'_, str>> {
        self.0.last().map(|current| current.name())
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}
