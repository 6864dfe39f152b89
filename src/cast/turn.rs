//! How a member is lent to a callback together with the context that contains it, and what happens at the end of its turn.

use alloc::boxed::Box;
use core::{fmt, mem};

use log::{debug, error, trace, warn};

use super::TELEGRAMS;
use super::context::CastContext;
use super::delivery::{Delivery, UnknownReceiver};
use super::member::AnyMember;
use super::members::Members;
use super::put_off::{PutOff, TelegramCause};
use super::slot::Presence;
use crate::message::Telegram;

/// The most turns that can be nested. Telegrams that would be nested deeper are put off.
const MOST_NESTED: u32 = 64;

type MemberOf<C> = AnyMember<<C as CastContext>::Key, <C as CastContext>::Message, C>;
type TelegramOf<C> = Telegram<<C as CastContext>::Key, <C as CastContext>::Message>;
type PutOffOf<C> = PutOff<<C as CastContext>::Key, <C as CastContext>::Message>;

/// A turn of a member. The member is taken out of its slot, so that its callbacks can get the whole context.
///
/// `Drop` ends the turn after a panic in a callback, so that the member is not lost.
struct MemberTurn<'c, C: CastContext> {
    cx: &'c mut C,
    index: usize,
    /// `None` when the turn is over.
    member: Option<Box<MemberOf<C>>>,
    outer: TelegramCause,
}

impl<C: CastContext> MemberTurn<'_, C> {
    /// Puts the member back into its slot. Returns whether telegrams were put off until the end of the turn.
    #[inline]
    fn end(&mut self, member: Box<MemberOf<C>>, is_complete: bool) -> bool {
        let members = self.cx.members_mut();
        // Saturating, because a callback may have replaced the members.
        members.depth = members.depth.saturating_sub(1);
        members.cause = self.outer;
        let Some(slot) = members.slot_mut(self.index).filter(|slot| slot.is_acting()) else { return false };
        slot.turns = slot.turns.saturating_sub(1);
        slot.presence = Presence::Here(member);
        let has_put_off = slot.has_put_off();
        // Done last: either call may drop a state, which may panic.
        if slot.is_dismissed && slot.turns == 0 {
            members.empty_slot(self.index);
        } else {
            slot.end_sight(is_complete);
        }
        has_put_off
    }

    #[cold]
    fn end_after_panic(&mut self, member: Box<MemberOf<C>>) {
        self.end(member, false);
    }
}

impl<C: CastContext> Drop for MemberTurn<'_, C> {
    #[inline]
    fn drop(&mut self) {
        if let Some(member) = self.member.take() {
            self.end_after_panic(member);
        }
    }
}

/// Gives the member at an index a turn, caused by `cause`. Returns the result, and whether telegrams were put off until the end
/// of the turn. `None` if the member is acting or has left the cast.
#[inline]
fn take_turn<C: CastContext, R>(
    cx: &mut C,
    index: usize,
    cause: TelegramCause,
    act: impl FnOnce(&mut MemberOf<C>, usize, &mut C) -> R,
) -> Option<(R, bool)> {
    let members = cx.members_mut();
    let member = members.slot_mut(index)?.lend()?;
    members.depth += 1;
    let outer = mem::replace(&mut members.cause, cause);
    let mut turn = MemberTurn { cx, index, member: Some(member), outer };
    let result = act(turn.member.as_deref_mut()?, index, turn.cx);
    let member = turn.member.take()?;
    Some((result, turn.end(member, true)))
}

/// Gives the member at an index a turn, and then delivers the telegrams that were put off until the end of the turn. `None` if
/// the member is acting or has left the cast.
#[inline]
pub(super) fn act<C: CastContext, R>(
    cx: &mut C,
    index: usize,
    act: impl FnOnce(&mut MemberOf<C>, usize, &mut C) -> R,
) -> Option<R> {
    let cause = cx.members_mut().cause;
    act_because(cx, index, cause, act)
}

#[inline]
fn act_because<C: CastContext, R>(
    cx: &mut C,
    index: usize,
    cause: TelegramCause,
    act: impl FnOnce(&mut MemberOf<C>, usize, &mut C) -> R,
) -> Option<R> {
    let (result, has_put_off) = take_turn(cx, index, cause, act)?;
    let members = cx.members_mut();
    let is_outermost = members.depth == 0;
    if has_put_off || (is_outermost && !members.after_turn.is_empty()) {
        deliver_all_put_off(cx, index);
    } else if is_outermost {
        members.end_outermost_turn();
    }
    Some(result)
}

/// Gives a turn to each current member, in the order in which they joined.
pub(super) fn act_each<C: CastContext>(cx: &mut C, act: impl Fn(&mut MemberOf<C>, usize, &mut C)) {
    let walk = Walk::begin(cx);
    let members = walk.cx.members_mut();
    let end = members.slots.len();
    if members.depth >= MOST_NESTED {
        error!(target: TELEGRAMS, "an update of all members is skipped: {MOST_NESTED} turns are nested");
        return;
    }
    for index in 0..end {
        if self::act(walk.cx, index, &act).is_none() {
            leave_out(walk.cx.members_mut(), index);
        }
    }
}

/// Gives a turn to one member. Returns whether the member could take it.
pub(super) fn act_one<C: CastContext>(
    cx: &mut C,
    index: usize,
    act: impl FnOnce(&mut MemberOf<C>, usize, &mut C),
) -> bool {
    let members = cx.members_mut();
    if members.depth >= MOST_NESTED {
        if let Some(slot) = members.slot_mut(index) {
            error!(target: TELEGRAMS, "the turn of {:?} is skipped: {MOST_NESTED} turns are nested", slot.key);
        }
        return false;
    }
    let is_done = self::act(cx, index, act).is_some();
    if !is_done {
        leave_out(cx.members_mut(), index);
    }
    is_done
}

#[cold]
fn leave_out<K: fmt::Debug, M, C>(members: &mut Members<K, M, C>, index: usize) {
    if let Some(slot) = members.slot_mut(index).filter(|slot| !slot.is_dismissed) {
        warn!(target: TELEGRAMS, "the turn of {:?} is skipped: one of its callbacks is running", slot.key);
    }
}

/// A loop over all slots. While it runs, members keep their indices.
struct Walk<'c, C: CastContext> {
    cx: &'c mut C,
}

impl<'c, C: CastContext> Walk<'c, C> {
    fn begin(cx: &'c mut C) -> Self {
        cx.members_mut().walks += 1;
        Self { cx }
    }
}

impl<C: CastContext> Drop for Walk<'_, C> {
    fn drop(&mut self) {
        let members = self.cx.members_mut();
        members.walks = members.walks.saturating_sub(1);
        members.close_holes();
    }
}

/// Delivers a telegram within the call, or puts it off.
#[inline]
pub(super) fn deliver_to<C: CastContext>(cx: &mut C, index: usize, telegram: TelegramOf<C>) -> Delivery {
    let members = cx.members_mut();
    let Some(cause) = members.exchanges.count(members.cause, &telegram, members.indices.len()) else {
        return Delivery::Dropped;
    };
    let is_acting = members.slot_mut(index).is_some_and(|slot| slot.is_acting());
    if is_acting || members.depth >= MOST_NESTED {
        put_off(members, index, PutOff { cause, telegram }, is_acting);
        return Delivery::PutOff;
    }
    trace!(target: TELEGRAMS, "{:?} sends to {:?}", telegram.sender, telegram.receiver);
    let cause = TelegramCause { round: members.cause.round, ..cause };
    let is_handled = act_because(cx, index, cause, |member, index, cx| member.receive(&telegram, index, cx));
    let is_handled = is_handled == Some(true);
    tell_received(&telegram, is_handled);
    if is_handled { Delivery::Handled } else { Delivery::Declined }
}

/// Puts a telegram off until its receiver's turn ends. If the receiver is not acting, the telegram waits for the end of the
/// outermost turn.
fn put_off<K: Clone + PartialEq + fmt::Debug, M, C>(
    members: &mut Members<K, M, C>,
    index: usize,
    put_off: PutOff<K, M>,
    is_acting: bool,
) {
    let Telegram { sender, receiver, .. } = &put_off.telegram;
    members.exchanges.write_down(put_off.cause);
    match members.slots.get_mut(index) {
        Some(Some(slot)) if is_acting => {
            debug!(target: TELEGRAMS, "{sender:?} sends to {receiver:?}: put off, {receiver:?} is acting");
            slot.put_off([put_off]);
        }
        _ => {
            debug!(target: TELEGRAMS, "{sender:?} sends to {receiver:?}: put off, {MOST_NESTED} turns are nested");
            members.after_turn.push_back(put_off);
        }
    }
}

/// Delivers a telegram at the end of the outermost turn, or now if no turn is under way.
pub(super) fn post<C: CastContext>(cx: &mut C, telegram: TelegramOf<C>) {
    let members = cx.members_mut();
    let count = members.indices.len();
    let Some(cause) = members.exchanges.count(members.cause, &telegram, count) else { return };
    trace!(target: TELEGRAMS, "{:?} posts to {:?}", telegram.sender, telegram.receiver);
    members.exchanges.write_down(cause);
    members.after_turn.push_back(PutOff { cause, telegram });
    if members.depth == 0 {
        deliver_after_turn(cx);
    }
}

/// Delivers the telegrams that arrived for the member at an index while the member was acting, and the telegrams that are put off
/// for it meanwhile. After the outermost turn, also delivers the telegrams that wait for its end.
#[cold]
fn deliver_all_put_off<C: CastContext>(cx: &mut C, index: usize) {
    deliver_put_off(cx, index);
    if cx.members_mut().depth == 0 {
        deliver_after_turn(cx);
    }
}

fn deliver_put_off<C: CastContext>(cx: &mut C, index: usize) {
    while let Some(next) = cx.members_mut().next_put_off(index) {
        hand_over(cx, index, next);
    }
}

/// Delivers the telegrams that wait for the end of the outermost turn. No member is acting at this time.
fn deliver_after_turn<C: CastContext>(cx: &mut C) {
    while let Some(next) = cx.members_mut().after_turn.pop_front() {
        if let Some(&index) = cx.members_mut().indices.get(&next.telegram.receiver) {
            hand_over(cx, index as usize, next);
            deliver_put_off(cx, index as usize);
        } else {
            warn!(target: TELEGRAMS, "{}", UnknownReceiver { telegram: next.telegram });
        }
    }
    cx.members_mut().end_outermost_turn();
}

fn hand_over<C: CastContext>(cx: &mut C, index: usize, put_off: PutOffOf<C>) {
    if cx.members_mut().exchanges.is_loop(&put_off) {
        return;
    }
    let PutOff { cause, telegram } = put_off;
    let receive = |member: &mut MemberOf<C>, index, cx: &mut C| member.receive(&telegram, index, cx);
    let Some((is_handled, _)) = take_turn(cx, index, cause, receive) else { return };
    tell_received(&telegram, is_handled);
}

fn tell_received<K: fmt::Debug, M>(telegram: &Telegram<K, M>, is_handled: bool) {
    let Telegram { sender, receiver, .. } = telegram;
    if is_handled {
        trace!(target: TELEGRAMS, "{receiver:?} handles what {sender:?} has sent");
    } else {
        debug!(target: TELEGRAMS, "{receiver:?} declines what {sender:?} has sent");
    }
}
