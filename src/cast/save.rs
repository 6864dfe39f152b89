//! Saving and loading a cast: its members with their machines, the waiting telegrams, and the clock.

use alloc::format;
use alloc::vec::Vec;
use core::{fmt, mem};

use super::Cast;
use super::context::CastContext;
use super::members::Members;
use super::put_off::{PutOff, TelegramCause};
use crate::message::Telegram;
use crate::save::{
    CastBook, CastContent, LoadError, SaveError, Saved, SavedCast, SavedMember, SavedTelegram, Seconds, borrowed, time,
};

impl<K: Clone + Ord + fmt::Debug + 'static, M: 'static, C: CastContext<Key = K, Message = M>> Members<K, M, C> {
    /// Saves the members with their machines, the telegrams that are waiting, and the clock
    /// ([rule 27](crate::docs::semantics#rule-27)). For a [`Cast`](crate::Cast), see [`Cast::save`](crate::Cast::save).
    ///
    /// # Errors
    ///
    /// When a member is acting or has rejoined. When the book does not know the type of a member, or one of its states, as for
    /// [`StateMachine::save`](crate::StateMachine::save).
    pub fn save(&self, book: &CastBook<C>) -> Result<SavedCast<K, &M>, SaveError> {
        book.check()?;
        let merging_within = self.dispatcher.merging_window().map(Seconds);
        if merging_within.is_some() && !book.can_merge() {
            return Err(SaveError::NoMerging);
        }
        let mut members = Vec::with_capacity(self.len());
        for slot in self.slots.iter().flatten() {
            let acting = || SaveError::Acting { member: format!("{:?}", slot.key) };
            let member = slot.member().filter(|_| slot.turns == 0).ok_or_else(acting)?;
            let (of, owner, machine) = book.save(member.owner(), member.as_any(), &slot.key, self.now())?;
            let put_off = slot.put_off.as_deref().into_iter().flatten();
            let put_off = put_off.map(|put_off| borrowed(&put_off.telegram)).collect();
            members.push(SavedMember { key: slot.key.clone(), of, owner, machine, put_off });
        }
        let after_turn = self.after_turn.iter().map(|put_off| borrowed(&put_off.telegram)).collect();
        let queue = self.dispatcher.saved();
        Ok(Saved::new(CastContent { time: self.time(), merging_within, queue, members, after_turn }))
    }

    /// Loads members that were saved, without calling any callback. For a [`Cast`](crate::Cast), see
    /// [`Cast::load`](crate::Cast::load).
    ///
    /// # Errors
    ///
    /// When the version of the saved data is unknown. When the book does not know a type or a state. When the saved data is
    /// invalid, as in a damaged file.
    pub fn load(saved: SavedCast<K, M>, book: &CastBook<C>) -> Result<Self, LoadError> {
        book.check()?;
        let CastContent { time: clock, merging_within, queue, members, after_turn } = saved.known()?;
        let mut loaded = Self::new().with_dispatcher(book.dispatcher(merging_within)?);
        loaded.time = clock;
        for SavedTelegram { due, telegram } in queue {
            loaded.dispatcher.send_at(time(due, "the due time of a telegram")?, telegram);
        }
        let wait = |telegram: Telegram<K, M>| PutOff { cause: TelegramCause::NONE, telegram };
        for (index, mut member) in members.into_iter().enumerate() {
            let put_off = mem::take(&mut member.put_off);
            book.load(&mut loaded, member)?;
            if let Some(slot) = loaded.slot_mut(index) {
                slot.put_off(put_off.into_iter().map(wait));
            }
        }
        loaded.after_turn.extend(after_turn.into_iter().map(wait));
        Ok(loaded)
    }
}

impl<K: Clone + Ord + fmt::Debug + 'static, M: 'static, W: 'static> Cast<K, M, W> {
    /// Saves the cast without its world: the members with their machines, the telegrams that are waiting, and the clock
    /// ([rule 27](crate::docs::semantics#rule-27)).
    ///
    /// [`CastBook`] has an example.
    ///
    /// # Errors
    ///
    /// When a member is acting or has rejoined. When the book does not know the type of a member, or one of its states, as for
    /// [`StateMachine::save`](crate::StateMachine::save).
    pub fn save(&self, book: &CastBook<Self>) -> Result<SavedCast<K, &M>, SaveError> {
        self.members.save(book)
    }

    /// Loads a cast that was saved, without calling any callback. The cast continues as if it had not been saved and loaded.
    ///
    /// # Errors
    ///
    /// When the version of the saved data is unknown. When the book does not know a type or a state. When the saved data is
    /// invalid, as in a damaged file.
    pub fn load(saved: SavedCast<K, M>, book: &CastBook<Self>, world: W) -> Result<Self, LoadError> {
        Ok(Self { world, members: Members::load(saved, book)? })
    }
}
