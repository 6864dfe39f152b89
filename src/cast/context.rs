//! A game's own struct as the context of the members' callbacks.

use alloc::vec::Vec;
use core::fmt;

use log::{debug, warn};

use super::delivery::{Delivery, KeyTaken, UnknownReceiver};
use super::member::{LentMember, Member};
use super::members::Members;
use super::rejoin::Rejoined;
use super::unavailable::{NotActing, Unavailable};
use super::{TELEGRAMS, turn};
use crate::fsm::Fsm;
use crate::machine::agent::Agent;
use crate::message::Telegram;
use crate::owner::Owner;

/// The context of a cast's members: a struct of the game that contains the [`Members`] and has methods of its own.
///
/// A game implements the one method that returns the members. The other methods run callbacks, which get the whole
/// struct. Everything that runs no callback is a method of [`Members`]: adding and removing, reading, the clock, the
/// queue of delayed telegrams.
///
/// [`Cast`](crate::Cast) is the ready-made context: members, and a `world` beside them.
///
/// # Examples
///
/// ```
/// use demeanor::{Agent, CastContext, Fsm, Members, Owner, State, StateMachine, Telegram};
///
/// struct Game {
///     members: Members<&'static str, u32, Self>,
///     score: u32,
/// }
///
/// impl CastContext for Game {
///     type Key = &'static str;
///     type Message = u32;
///
///     fn members_mut(&mut self) -> &mut Members<&'static str, u32, Self> {
///         &mut self.members
///     }
/// }
///
/// impl Game {
///     fn score(&mut self, points: u32) {
///         self.score += points;
///     }
/// }
///
/// struct Player;
/// impl Owner for Player {
///     type Context<'a> = Game;
///     type Message = Telegram<&'static str, u32>;
/// }
///
/// struct Play;
/// impl State<Player> for Play {
///     fn update(&self, _: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Game) {
///         game.send("Ann", "Ben", 2);
///     }
///
///     fn on_message(
///         &self,
///         _: &mut Player,
///         telegram: &Telegram<&'static str, u32>,
///         _: &mut Fsm<'_, Player>,
///         game: &mut Game,
///     ) -> bool {
///         game.score(telegram.message);
///         true
///     }
/// }
///
/// let mut game = Game { members: Members::new(), score: 0 };
/// game.members.add("Ann", Agent::new(Player, StateMachine::new(&Play)))?;
/// game.members.add("Ben", Agent::new(Player, StateMachine::new(&Play)))?;
/// game.update_one(&"Ann");
/// assert_eq!(game.score, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a cast",
    label = "needs `impl CastContext for {Self}`",
    note = "write `impl CastContext for {Self}`, with `members_mut` that leads to a field of type `Members<K, M, Self>`"
)]
pub trait CastContext: Sized + 'static {
    /// The type of the members' keys.
    type Key: Clone + Ord + fmt::Debug + 'static;

    /// The type of the members' messages.
    type Message: 'static;

    /// Returns the members. It must return the same `Members` each time.
    fn members_mut(&mut self) -> &mut Members<Self::Key, Self::Message, Self>;

    /// Adds a member and starts its machine, as [`Cast::spawn`](crate::Cast::spawn) does.
    ///
    /// # Errors
    ///
    /// When there is a member with that key already. The error contains the agent; no callback has run.
    fn spawn<T>(&mut self, key: Self::Key, agent: Agent<T>) -> Result<(), KeyTaken<Self::Key, T>>
    where
        T: for<'a> Owner<Context<'a> = Self, Message = Telegram<Self::Key, Self::Message>>,
        Agent<T>: Send + Sync,
    {
        let index = self.members_mut().join(key, agent)?;
        turn::act_one(self, index, Member::start);
        Ok(())
    }

    /// Starts the machines of all members, as [`Cast::start`](crate::Cast::start) does.
    fn start(&mut self) {
        turn::act_each(self, Member::start);
    }

    /// Stops the machines of all members, as [`Cast::stop`](crate::Cast::stop) does.
    fn stop(&mut self) {
        turn::act_each(self, Member::stop);
    }

    /// Updates all members, as [`Cast::update`](crate::Cast::update) does.
    fn update(&mut self) {
        turn::act_each(self, Member::update);
    }

    /// Updates one member, as [`Cast::update_one`](crate::Cast::update_one) does. Returns whether it was updated.
    fn update_one(&mut self, key: &Self::Key) -> bool {
        match self.members_mut().index_of(key) {
            Some(index) => turn::act_one(self, index, Member::update),
            None => false,
        }
    }

    /// Sends a telegram, as [`Cast::send`](crate::Cast::send) does. Returns what has happened to the telegram.
    fn send(&mut self, sender: Self::Key, receiver: Self::Key, message: Self::Message) -> Delivery {
        self.deliver(Telegram::new(sender, receiver, message)).unwrap_or(Delivery::UnknownReceiver)
    }

    /// Sends a telegram that is due after `delay`, in seconds, as [`Cast::send_after`](crate::Cast::send_after) does.
    fn send_after(&mut self, delay: f64, sender: Self::Key, receiver: Self::Key, message: Self::Message) -> Delivery {
        if delay > 0.0 {
            debug!(target: TELEGRAMS, "{sender:?} sends to {receiver:?}, to arrive in {delay} s");
            let members = self.members_mut();
            members.dispatcher.send_after(delay, Telegram::new(sender, receiver, message), members.now());
            Delivery::Delayed
        } else {
            self.send(sender, receiver, message)
        }
    }

    /// Sends a telegram that is delivered when the outermost turn is over, as [`Cast::post`](crate::Cast::post) does.
    fn post(&mut self, sender: Self::Key, receiver: Self::Key, message: Self::Message) {
        turn::post(self, Telegram::new(sender, receiver, message));
    }

    /// Delivers a telegram at once, as [`Cast::deliver`](crate::Cast::deliver) does.
    ///
    /// # Errors
    ///
    /// When there is no such receiver. The error contains the telegram, and a warning is logged.
    fn deliver(
        &mut self,
        telegram: Telegram<Self::Key, Self::Message>,
    ) -> Result<Delivery, UnknownReceiver<Self::Key, Self::Message>> {
        if let Some(index) = self.members_mut().index_of(&telegram.receiver) {
            return Ok(turn::deliver_to(self, index, telegram));
        }
        let unknown = UnknownReceiver { telegram };
        warn!(target: TELEGRAMS, "{unknown}");
        Err(unknown)
    }

    /// Delivers all telegrams that are due, as [`Cast::deliver_due`](crate::Cast::deliver_due) does. Returns the
    /// telegrams whose receiver is unknown.
    fn deliver_due(&mut self) -> Vec<UnknownReceiver<Self::Key, Self::Message>> {
        let mut unknown = Vec::new();
        let members = self.members_mut();
        let mut due = members.dispatcher.due(members.now());
        while let Some(telegram) = self.members_mut().dispatcher.pop_next(&mut due) {
            unknown.extend(self.deliver(telegram).err());
        }
        unknown
    }

    /// Lends a member and the context to `act`, as [`Cast::with`](crate::Cast::with) does. Returns what `act` returns.
    ///
    /// # Errors
    ///
    /// When there is no such member, when its owner is of another type, or when it is acting.
    fn with<T: Owner, R>(
        &mut self,
        key: &Self::Key,
        act: impl FnOnce(&mut Agent<T>, &mut Self) -> R,
    ) -> Result<R, Unavailable> {
        let index = self.members_mut().find::<T>(key)?;
        let result = turn::act(self, index, |member, index, cx| {
            if let Some(slot) = cx.members_mut().slot_mut(index) {
                slot.see_no_longer_than_this_turn();
            }
            Some(act(LentMember::begin(member, index).agent()?, cx))
        });
        result.flatten().ok_or(Unavailable::WrongType)
    }

    /// Makes the acting member available for the length of a call, as [`Cast::rejoin`](crate::Cast::rejoin) does. Returns what
    /// `act` returns.
    ///
    /// # Errors
    ///
    /// When the member with that key is not acting, or when `owner` and `fsm` are not the arguments of its
    /// callback. Then nothing has happened, and `act` is not called.
    fn rejoin<T, R>(
        &mut self,
        key: &Self::Key,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        act: impl FnOnce(&mut Self) -> R,
    ) -> Result<R, NotActing>
    where
        T: for<'a> Owner<Context<'a> = Self, Message = Telegram<Self::Key, Self::Message>> + Default,
        Agent<T>: Send + Sync,
    {
        let index = self.members_mut().acting(key, owner, fsm)?;
        let mut act = Some(act);
        let mut result = None;
        fsm.lend(owner, self, &mut |owner, seat, settings, cx| {
            if let (Some(rejoined), Some(act)) = (Rejoined::begin(cx, index, owner, seat, settings), act.take()) {
                result = Some(act(rejoined.cx));
            }
        });
        result.ok_or(NotActing::AnotherOwner)
    }
}
