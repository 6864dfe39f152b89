//! How an acting member rejoins its cast for the length of a call.

use alloc::boxed::Box;
use core::{mem, ptr};

use log::{error, warn};

use super::TELEGRAMS;
use super::context::CastContext;
use super::members::Members;
use super::slot::{Presence, PutOffQueue, drop_put_off};
use super::unavailable::NotActing;
use crate::fsm::Fsm;
use crate::machine::agent::Agent;
use crate::machine::regions::Tree;
use crate::machine::seat::Seat;
use crate::machine::settings::Settings;
use crate::machine::state_machine::StateMachine;
use crate::message::Telegram;
use crate::owner::Owner;

impl<K: Ord + 'static, M: 'static, C: 'static> Members<K, M, C> {
    /// Returns the index of the member whose callback got this owner and this handle.
    pub(super) fn acting<T: Owner>(&mut self, key: &K, owner: &T, fsm: &Fsm<'_, T>) -> Result<usize, NotActing> {
        let index = *self.indices.get(key).ok_or(NotActing::Unknown)? as usize;
        let slot = self.slot_mut(index).ok_or(NotActing::Unknown)?;
        let Presence::Acting(address) = slot.presence else { return Err(NotActing::NoCallback) };
        let (owner_at, seat_at) = Agent::<T>::OFFSETS;
        // An owner of size zero can have any address.
        let is_owner = size_of::<T>() == 0 || ptr::from_ref(owner).addr() == address + owner_at;
        let is_seat = fsm.seat().is_some_and(|seat| ptr::from_ref(seat).addr() == address + seat_at);
        if slot.is_of::<T>() && is_owner && is_seat { Ok(index) } else { Err(NotActing::AnotherOwner) }
    }
}

/// A member that has rejoined its cast. Its `Drop` gives owner and seat back to the callback, even after a panic.
pub(super) struct Rejoined<'r, C: CastContext, T: Owner> {
    pub(super) cx: &'r mut C,
    index: usize,
    owner: &'r mut T,
    seat: &'r mut Seat<T>,
    settings: &'r Settings<T>,
    /// The address of the agent from which the callback got its owner.
    address: usize,
    /// Telegrams that were put off until the end of the callback's turn.
    put_off: PutOffQueue<C::Key, C::Message>,
}

impl<'r, C, T> Rejoined<'r, C, T>
where
    C: CastContext,
    T: for<'a> Owner<Context<'a> = C, Message = Telegram<C::Key, C::Message>> + Default,
    Agent<T>: Send + Sync,
{
    pub(super) fn begin(
        cx: &'r mut C,
        index: usize,
        owner: &'r mut T,
        seat: &'r mut Seat<T>,
        settings: &'r Settings<T>,
    ) -> Option<Self> {
        let placeholder = T::default();
        let slot = cx.members_mut().slot_mut(index)?;
        let Presence::Acting(address) = slot.presence else { return None };
        let machine = StateMachine::from_seat(mem::replace(seat, Seat::empty()), settings.clone());
        let agent = Agent::new(mem::replace(owner, placeholder), machine);
        slot.presence = Presence::Here(Box::new(agent));
        slot.forget_sight();
        let put_off = slot.put_off.take();
        Some(Self { cx, index, owner, seat, settings, address, put_off })
    }
}

impl<C: CastContext, T: Owner> Drop for Rejoined<'_, C, T> {
    fn drop(&mut self) {
        let Some(slot) = self.cx.members_mut().slot_mut(self.index) else {
            error!(target: TELEGRAMS, "a member has rejoined, and the members have been replaced meanwhile: it is lost");
            return;
        };
        let member = match mem::replace(&mut slot.presence, Presence::Acting(self.address)) {
            Presence::Here(member) => member.into_any().downcast::<Agent<T>>().ok(),
            Presence::Acting(_) => None,
        };
        let Some(agent) = member else {
            error!(target: TELEGRAMS, "{:?} has rejoined, and the members have been replaced meanwhile: it is lost", slot.key);
            return;
        };
        let (owner, machine) = agent.into_parts();
        if machine.global().as_ref() != self.settings.global.as_option() {
            warn!(target: TELEGRAMS, "{:?} keeps its global state: one of its callbacks is running", slot.key);
        }
        *self.seat = machine.into_seat();
        slot.see(&Tree::new(None, self.seat));
        if let Some(meanwhile) = mem::replace(&mut slot.put_off, self.put_off.take()) {
            slot.put_off(*meanwhile);
        }
        let put_off = if slot.is_dismissed { slot.put_off.take() } else { None };
        // Done last: the placeholder and the messages may panic when they are dropped.
        let _placeholder = mem::replace(self.owner, owner);
        drop_put_off(put_off);
    }
}
