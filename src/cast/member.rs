//! The methods that a cast calls on each member, whatever the owner's type is.

use alloc::borrow::Cow;
use core::any::TypeId;

use downcast_rs::Downcast;

use super::context::CastContext;
use super::slot::Slot;
#[cfg(feature = "std")]
use crate::change::Change;
use crate::machine::agent::Agent;
use crate::machine::observer::MachineWatch;
use crate::machine::regions::Tree;
use crate::machine::report::MachineReport;
use crate::message::Telegram;
use crate::owner::{Owner, now};

/// The methods that a cast calls on a member.
///
/// A member is `Send` and `Sync`, so that a cast is `Send` and `Sync`, too, when its keys, messages and world are. Behind a trait
/// object, the compiler cannot see whether the owner is `Send`. The methods get the member's index, so that changes are recorded
/// in its slot.
pub(super) trait Member<K, M, C>: Downcast + Send + Sync {
    fn start(&mut self, index: usize, cx: &mut C);
    fn stop(&mut self, index: usize, cx: &mut C);
    fn update(&mut self, index: usize, cx: &mut C);
    /// Returns whether the telegram was handled.
    fn receive(&mut self, telegram: &Telegram<K, M>, index: usize, cx: &mut C) -> bool;
    /// Sets the index of the slot to which the changes of the lent agent are reported; `None` for no slot.
    fn set_watch(&mut self, index: Option<usize>);
    /// Records the machine's active states in the slot.
    fn show(&self, slot: &mut Slot<K, M, C>);
    /// Returns the type of the owner.
    fn owner(&self) -> TypeId;
    fn state_name(&self) -> Option<Cow<'_, str>>;
    fn report(&self, cx: &C) -> MachineReport;
}

/// A member with an owner of any type.
pub(super) type AnyMember<K, M, C> = dyn Member<K, M, C>;

impl<K: 'static, M: 'static, C, T> Member<K, M, C> for Agent<T>
where
    C: CastContext<Key = K, Message = M>,
    T: for<'a> Owner<Context<'a> = C, Message = Telegram<K, M>>,
    Self: Send + Sync,
{
    fn start(&mut self, index: usize, cx: &mut C) {
        let mut watch = watch(index);
        let (owner, mut machine) = self.watched(&mut watch);
        machine.start(owner, cx);
    }

    fn stop(&mut self, index: usize, cx: &mut C) {
        let mut watch = watch(index);
        let (owner, mut machine) = self.watched(&mut watch);
        machine.stop(owner, cx);
    }

    #[inline]
    fn update(&mut self, index: usize, cx: &mut C) {
        let mut watch = watch(index);
        let (owner, mut machine) = self.watched(&mut watch);
        machine.update(owner, cx);
    }

    fn receive(&mut self, telegram: &Telegram<K, M>, index: usize, cx: &mut C) -> bool {
        let mut watch = watch(index);
        let (owner, mut machine) = self.watched(&mut watch);
        machine.send(owner, telegram, cx)
    }

    fn set_watch(&mut self, index: Option<usize>) {
        Agent::set_watch(self, index.map(watch));
    }

    fn show(&self, slot: &mut Slot<K, M, C>) {
        slot.see(&Tree::new(None, self.machine().seat()));
    }

    fn owner(&self) -> TypeId {
        TypeId::of::<T>()
    }

    fn state_name(&self) -> Option<Cow<'_, str>> {
        self.machine().current().map(|current| current.name())
    }

    fn report(&self, cx: &C) -> MachineReport {
        Self::report(self, now::<T>(cx))
    }
}

fn watch<C: CastContext, T: for<'a> Owner<Context<'a> = C>>(index: usize) -> MachineWatch<T> {
    MachineWatch {
        index,
        moved: note::<C, T>,
        #[cfg(feature = "std")]
        changed: see::<C, T>,
        // A journal needs the standard library.
        #[cfg(not(feature = "std"))]
        changed: |_, _, _, _| {},
    }
}

fn note<C: CastContext, T: Owner>(index: usize, seats: &Tree<'_, T>, cx: &mut C) {
    // An agent that was lent and has been put elsewhere is not acting: its states do not belong to this member.
    if let Some(slot) = cx.members_mut().slot_mut(index).filter(|slot| slot.is_acting()) {
        slot.see(seats);
    }
}

/// Records a change of the member at an index.
#[cfg(feature = "std")]
#[inline]
fn see<C: CastContext, T: Owner>(index: usize, change: &Change<'_, T>, now: f64, cx: &mut C) {
    let members = cx.members_mut();
    if let (Some(journal), Some(Some(slot))) = (&mut members.journal, members.slots.get(index)) {
        // An agent that was lent and has been put elsewhere is not acting: its changes do not belong to this member.
        if slot.is_acting() {
            journal.note(slot.key.clone(), change, now);
        }
    }
}

/// A member whose agent is lent to the game. Meanwhile, its changes are reported to its slot.
pub(super) struct LentMember<'m, C: CastContext>(&'m mut AnyMember<C::Key, C::Message, C>);

impl<'m, C: CastContext> LentMember<'m, C> {
    pub(super) fn begin(member: &'m mut AnyMember<C::Key, C::Message, C>, index: usize) -> Self {
        member.set_watch(Some(index));
        Self(member)
    }

    pub(super) fn agent<T: Owner>(&mut self) -> Option<&mut Agent<T>> {
        self.0.as_any_mut().downcast_mut()
    }
}

impl<C: CastContext> Drop for LentMember<'_, C> {
    fn drop(&mut self) {
        self.0.set_watch(None);
    }
}
