//! The members of a cast, by key and in the order of joining, with their telegrams and their clock.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::context::CastContext;
use super::delivery::KeyTaken;
use super::put_off::{Exchanges, PutOff, TelegramCause};
use super::slot::{Slot, drop_put_off};
use super::unavailable::Unavailable;
#[cfg(feature = "std")]
use crate::journal::Journal;
use crate::machine::agent::Agent;
use crate::machine::report::MachineReport;
use crate::message::{Dispatcher, Telegram};
use crate::owner::Owner;
use crate::state::State;
use crate::time::GameTime;

/// Characters of different types, found by their keys, with their telegrams and their clock.
///
/// They are part of a [`Cast`](crate::Cast), or of a struct of the game that is their [`CastContext`]: `C` is that
/// type. The methods here run no callback; the methods that run callbacks are methods of the context.
pub struct Members<K, M, C> {
    pub(super) time: GameTime,
    pub(super) dispatcher: Dispatcher<K, M>,
    /// In the order of joining. `None` where a member has left.
    pub(super) slots: Vec<Option<Slot<K, M, C>>>,
    pub(super) indices: BTreeMap<K, u32>,
    /// Telegrams that wait for the end of the outermost turn, because they were posted or were nested too deep.
    pub(super) after_turn: VecDeque<PutOff<K, M>>,
    pub(super) exchanges: Exchanges<K>,
    /// The cause of the telegrams that are being sent at the moment.
    pub(super) cause: TelegramCause,
    /// How many turns are nested at the moment.
    pub(super) depth: u32,
    /// How many loops over all slots are running.
    pub(super) walks: u32,
    #[cfg(feature = "std")]
    pub(super) journal: Option<Box<Journal<K>>>,
}

impl<K, M, C> Members<K, M, C> {
    /// Creates a `Members` that has no members yet, at time zero.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            time: GameTime::new(),
            dispatcher: Dispatcher::new(),
            slots: Vec::new(),
            indices: BTreeMap::new(),
            after_turn: VecDeque::new(),
            exchanges: Exchanges::new(),
            cause: TelegramCause::NONE,
            depth: 0,
            walks: 0,
            #[cfg(feature = "std")]
            journal: None,
        }
    }

    /// Replaces the queue of delayed telegrams, for example with a queue that [merges](Dispatcher::merging_within), or with the
    /// queue of a saved game.
    #[must_use]
    pub fn with_dispatcher(mut self, dispatcher: Dispatcher<K, M>) -> Self {
        self.dispatcher = dispatcher;
        self
    }

    /// Returns the queue of delayed telegrams.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher<K, M> {
        &self.dispatcher
    }

    /// Returns the queue of delayed telegrams, for removing telegrams or queueing others.
    pub fn dispatcher_mut(&mut self) -> &mut Dispatcher<K, M> {
        &mut self.dispatcher
    }

    /// Takes out the telegram that has been due the longest, if any is due by the members' clock. Use it if your code
    /// has to do something before or after each delivery; otherwise use [`deliver_due`](CastContext::deliver_due).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Cast;
    /// use std::time::Duration;
    ///
    /// let mut cast: Cast<&str, &str, ()> = Cast::new(());
    /// cast.send_after(1.5, "Elsa", "Elsa", "stew ready");
    /// cast.advance(Duration::from_secs(2));
    ///
    /// let mut unknown = 0;
    /// while let Some(telegram) = cast.pop_due() {
    ///     println!("for {}: {}", telegram.receiver, telegram.message);
    ///     unknown += usize::from(cast.deliver(telegram).is_err());
    /// }
    /// assert_eq!(unknown, 1);
    /// ```
    pub fn pop_due(&mut self) -> Option<Telegram<K, M>> {
        self.dispatcher.pop_due(self.now())
    }

    /// Advances the clock to the next tick, `elapsed` after the last one.
    pub fn advance(&mut self, elapsed: Duration) {
        self.time.advance(elapsed);
    }

    /// Returns the clock.
    #[must_use]
    pub fn time(&self) -> GameTime {
        self.time
    }

    /// Returns the time by the members' clock, in seconds. If [`Owner::now`] of the members returns this time, their states can
    /// query how long they have been active.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.time.total().as_secs_f64()
    }

    /// Visits the members' keys, in the order in which they joined.
    #[must_use = "iterators are lazy"]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        let members = self.slots.iter().flatten().filter(|slot| !slot.is_dismissed);
        MemberKeys { keys: members.map(|slot| &slot.key), left: self.len() }
    }

    /// Returns how many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, index: usize) -> Option<&mut Slot<K, M, C>> {
        self.slots.get_mut(index)?.as_mut()
    }

    /// Ends an outermost turn, after all telegrams that it led to.
    #[inline]
    pub(super) fn end_outermost_turn(&mut self) {
        self.exchanges.clear();
        if self.walks == 0 {
            self.close_holes();
        }
    }

    /// Removes the empty slots if there are many and no index is in use.
    #[inline]
    pub(super) fn close_holes(&mut self) {
        if self.slots.len() > 2 * self.indices.len() && self.depth == 0 && self.walks == 0 {
            self.close_all_holes();
        }
    }

    #[cold]
    fn close_all_holes(&mut self) {
        let mut kept = 0;
        let moved: Vec<u32> = self.slots.iter().map(|slot| (kept, kept += u32::from(slot.is_some())).0).collect();
        for index in self.indices.values_mut() {
            *index = moved[*index as usize];
        }
        self.slots.retain(Option::is_some);
        self.slots.shrink_to(2 * self.slots.len());
    }

    /// Empties the slot of a member that has left. Returns the slot. The other members keep their indices.
    #[cold]
    pub(super) fn empty_slot(&mut self, index: usize) -> Option<Slot<K, M, C>> {
        self.slots.get_mut(index)?.take()
    }
}

impl<K: Ord + 'static, M: 'static, C: 'static> Members<K, M, C> {
    /// Returns the next telegram that was put off for the member at an index. `None` while the member is acting.
    pub(super) fn next_put_off(&mut self, index: usize) -> Option<PutOff<K, M>> {
        let slot = self.slot_mut(index).filter(|slot| !slot.is_acting())?;
        slot.put_off.as_mut()?.pop_front()
    }

    /// Returns whether there is a member with that key, acting or not.
    #[must_use]
    pub fn contains(&self, key: &K) -> bool {
        self.indices.contains_key(key)
    }

    /// Returns whether a callback of that member is running, so that telegrams to it are put off.
    #[must_use]
    pub fn is_acting(&self, key: &K) -> bool {
        self.slot_of(key).is_some_and(Slot::is_acting)
    }

    /// Returns the name of the state that a member is in. This works for a member that is acting, too. `None` if there
    /// is no such member, or if it has no state.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    /// struct Goblin;
    /// impl Owner for Goblin { type Context<'a> = Cast<u32, (), ()>; type Message = Telegram<u32, ()>; }
    /// struct Lurk;
    /// impl State<Goblin> for Lurk {}
    ///
    /// let mut level: Cast<u32, (), ()> = Cast::new(());
    /// level.add(7, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    /// assert_eq!(level.state_of(&7).as_deref(), Some("Lurk"));
    /// assert!(level.is_in_state::<Goblin, _>(&7, &Lurk));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn state_of(&self, key: &K) -> Option<Cow<'_, str>> {
        self.slot_of(key)?.state_name()
    }

    /// Returns whether a state of a member is active: as the current state, as an ancestor of it, or in an open region. This works
    /// for a member that is acting, too. `false` if there is no such member, or if its owner is of another type.
    #[must_use]
    pub fn is_in_state<T: Owner, S: State<T> + ?Sized>(&self, key: &K, state: &S) -> bool {
        let Some(slot) = self.slot_of(key) else { return false };
        match slot.member() {
            Some(member) => {
                let agent = member.as_any().downcast_ref::<Agent<T>>();
                agent.is_some_and(|agent| agent.machine().is_in_state(state))
            }
            None => slot.seen::<T>().is_some_and(|seen| seen.is_in_state(state)),
        }
    }

    /// Returns what a member is doing, in words, whatever the type of its owner. `cx` is the context of the members'
    /// callbacks: the cast itself, or the game's struct. `None` if there is no such member, or if it is acting.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    ///
    /// struct Miner;
    /// impl Owner for Miner {
    ///     type Context<'a> = Cast<&'static str, (), ()>;
    ///     type Message = Telegram<&'static str, ()>;
    /// }
    /// struct Dig;
    /// impl State<Miner> for Dig {}
    ///
    /// let mut town = Cast::new(());
    /// town.spawn("Bob", Agent::new(Miner, StateMachine::new(&Dig))).unwrap();
    /// assert_eq!(town.report(&"Bob", &town).unwrap().path[0].name, "Dig");
    /// assert!(town.report(&"Elsa", &town).is_none());
    /// ```
    #[must_use]
    pub fn report(&self, key: &K, cx: &C) -> Option<MachineReport> {
        self.slot_of(key)?.member().map(|member| member.report(cx))
    }

    pub(super) fn index_of(&self, key: &K) -> Option<usize> {
        self.indices.get(key).map(|index| *index as usize)
    }

    fn slot_of(&self, key: &K) -> Option<&Slot<K, M, C>> {
        self.slots.get(self.index_of(key)?)?.as_ref()
    }
}

impl<K: Ord + 'static, M: 'static, C: 'static> Members<K, M, C> {
    /// Returns a member.
    ///
    /// # Errors
    ///
    /// When there is no member with that key, when its owner is of another type, or when it is
    /// [acting](crate::Cast#who-is-acting).
    pub fn get<T: Owner>(&self, key: &K) -> Result<&Agent<T>, Unavailable> {
        let slot = self.slot_of(key).ok_or(Unavailable::Unknown)?;
        if !slot.is_of::<T>() {
            return Err(Unavailable::WrongType);
        }
        let member = slot.member().ok_or(Unavailable::Acting)?;
        member.as_any().downcast_ref().ok_or(Unavailable::WrongType)
    }

    /// Returns a member mutably. To call methods of its machine that take the context, see [`with`](CastContext::with).
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_mut<T: Owner>(&mut self, key: &K) -> Result<&mut Agent<T>, Unavailable> {
        let index = self.find::<T>(key)?;
        let slot = self.slot_mut(index).ok_or(Unavailable::Unknown)?;
        let (_, member) = slot.key_and_member_mut();
        let member = member.ok_or(Unavailable::Acting)?;
        member.as_any_mut().downcast_mut().ok_or(Unavailable::WrongType)
    }

    /// Returns the index of a member that is not acting.
    pub(super) fn find<T: Owner>(&self, key: &K) -> Result<usize, Unavailable> {
        let index = self.index_of(key).ok_or(Unavailable::Unknown)?;
        self.get::<T>(key).map(|_| index)
    }

    /// Visits the members whose owners are of one type, with their keys, in the order in which they joined. It skips
    /// members that are [acting](crate::Cast#who-is-acting).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    /// struct Goblin { gold: u32 }
    /// impl Owner for Goblin { type Context<'a> = Cast<u32, (), ()>; type Message = Telegram<u32, ()>; }
    /// struct Lurk;
    /// impl State<Goblin> for Lurk {}
    ///
    /// let mut level: Cast<u32, (), ()> = Cast::new(());
    /// level.add(7, Agent::new(Goblin { gold: 3 }, StateMachine::new(&Lurk)))?;
    /// level.add(2, Agent::new(Goblin { gold: 4 }, StateMachine::new(&Lurk)))?;
    /// let gold: u32 = level.iter::<Goblin>().map(|(_, goblin)| goblin.gold).sum();
    /// assert_eq!(gold, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "iterators are lazy"]
    pub fn iter<T: Owner>(&self) -> impl DoubleEndedIterator<Item = (&K, &Agent<T>)> {
        let slots = self.slots.iter().flatten().filter(|slot| !slot.is_dismissed && slot.is_of::<T>());
        slots.filter_map(|slot| Some((&slot.key, slot.member()?.as_any().downcast_ref()?)))
    }

    /// Visits the members whose owners are of one type mutably, as [`iter`](Self::iter) does.
    #[must_use = "iterators are lazy"]
    pub fn iter_mut<T: Owner>(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut Agent<T>)> {
        let slots = self.slots.iter_mut().flatten();
        let slots = slots.filter(|slot| !slot.is_dismissed && slot.is_of::<T>());
        slots.filter_map(|slot| {
            let (key, member) = slot.key_and_member_mut();
            Some((key, member?.as_any_mut().downcast_mut()?))
        })
    }
}

impl<K: Clone + Ord + fmt::Debug + 'static, M: 'static, C: 'static> Members<K, M, C> {
    /// Adds a member without calling any callback: a machine made by `new` has its state without having entered it
    /// ([rule 1](crate::docs::semantics#rule-1)).
    ///
    /// A member that is added from within a callback can receive telegrams at once, and is first updated in the next
    /// [`update`](CastContext::update).
    ///
    /// # Errors
    ///
    /// When there is a member with that key already. The error contains the agent.
    pub fn add<T>(&mut self, key: K, agent: Agent<T>) -> Result<(), KeyTaken<K, T>>
    where
        C: CastContext<Key = K, Message = M>,
        T: for<'a> Owner<Context<'a> = C, Message = Telegram<K, M>>,
        Agent<T>: Send + Sync,
    {
        self.join(key, agent).map(|_| ())
    }

    /// Does what [`add`](Self::add) does. Returns the index of the member.
    pub(super) fn join<T>(&mut self, key: K, agent: Agent<T>) -> Result<usize, KeyTaken<K, T>>
    where
        C: CastContext<Key = K, Message = M>,
        T: for<'a> Owner<Context<'a> = C, Message = Telegram<K, M>>,
        Agent<T>: Send + Sync,
    {
        let index = self.slots.len();
        let Ok(number) = u32::try_from(index) else { return Err(KeyTaken { key, agent }) };
        if self.indices.contains_key(&key) {
            return Err(KeyTaken { key, agent });
        }
        self.indices.insert(key.clone(), number);
        self.slots.push(Some(Slot::new(key, Box::new(agent))));
        Ok(index)
    }

    /// Removes a member and returns it, without calling any callback.
    ///
    /// Telegrams that are queued for it stay in the queue: when they are due, their receiver is unknown, unless another
    /// member has that key by then. [`Dispatcher::retain`] removes them.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get). A member that has [rejoined](CastContext::rejoin) counts as acting. The member stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    /// struct Goblin { gold: u32 }
    /// impl Owner for Goblin { type Context<'a> = Cast<u32, (), ()>; type Message = Telegram<u32, ()>; }
    /// struct Lurk;
    /// impl State<Goblin> for Lurk {}
    ///
    /// let mut level: Cast<u32, (), ()> = Cast::new(());
    /// level.add(7, Agent::new(Goblin { gold: 3 }, StateMachine::new(&Lurk)))?;
    ///
    /// let goblin = level.remove::<Goblin>(&7)?;
    /// assert_eq!(goblin.gold, 3);
    /// assert!(level.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<T: Owner>(&mut self, key: &K) -> Result<Agent<T>, Unavailable> {
        let index = self.find::<T>(key)?;
        if self.slot_mut(index).is_none_or(|slot| slot.turns > 0) {
            return Err(Unavailable::Acting);
        }
        let member = self.leave(key, index).and_then(Slot::into_member).ok_or(Unavailable::Acting)?;
        member.into_any().downcast().map(|agent| *agent).map_err(|_| Unavailable::WrongType)
    }

    /// Drops a member of any type, without calling any callback. Returns whether there was such a member.
    ///
    /// This works from within the member's own callback, too: the member leaves at once, and is dropped when its turn is over.
    /// Telegrams that were put off for it are dropped, with a warning in the log. For telegrams that are queued for it, see
    /// [`remove`](Self::remove).
    pub fn dismiss(&mut self, key: &K) -> bool {
        let Some(index) = self.index_of(key) else { return false };
        drop(self.leave(key, index));
        true
    }

    /// Removes a member's key, and drops the telegrams that were put off for the member. Returns the member's slot, unless a turn
    /// of the member is under way.
    fn leave(&mut self, key: &K, index: usize) -> Option<Slot<K, M, C>> {
        self.indices.remove(key);
        let slot = self.slot_mut(index)?;
        slot.is_dismissed = true;
        let put_off = slot.put_off.take();
        let left = if slot.turns == 0 { self.empty_slot(index) } else { None };
        self.close_holes();
        // Done last: a message may panic when it is dropped.
        drop_put_off(put_off);
        left
    }
}

impl<K, M, C> Default for Members<K, M, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, M, C> fmt::Debug for Members<K, M, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members").field("keys", &self.indices.keys()).field("time", &self.time).finish_non_exhaustive()
    }
}

/// The keys of the members. The iterator knows how many are left.
struct MemberKeys<I> {
    keys: I,
    left: usize,
}

impl<I: Iterator> Iterator for MemberKeys<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let key = self.keys.next()?;
        self.left -= 1;
        Some(key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for MemberKeys<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        let key = self.keys.next_back()?;
        self.left -= 1;
        Some(key)
    }
}

impl<I: Iterator> ExactSizeIterator for MemberKeys<I> {}
