//! Characters of different types that send each other telegrams, from within their callbacks too.
//!
//! What can happen to a telegram is in [`delivery`], how a member is lent to a callback in [`turn`].

mod delivery;
mod turn;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use log::{debug, error, warn};

pub use self::delivery::{Delivery, KeyTaken, UnknownReceiver};
use self::turn::{AnyMember, Member, Turn};
use crate::agent::Agent;
use crate::message::{Dispatcher, Telegram};
use crate::owner::Owner;
use crate::time::GameTime;

/// How deep a telegram may be delivered within the handling of another; deeper ones are put off.
const MOST_NESTED: u32 = 64;

/// How many times in a row a telegram may be put off by the handling of one that was itself put off; more is treated as a loop.
const MOST_ROUNDS: u32 = 1000;

/// Characters of different types that send each other telegrams: the members, the queue of delayed telegrams, the clock, and
/// the world that they share.
///
/// The cast is the context of its members' callbacks, so that a state can send from within one:
///
/// ```text
/// type Town = Cast<Name, News, World>;
///
/// impl Owner for Miner {
///     type Context<'a> = Town;
///     type Message = Telegram<Name, News>;
///     fn now(town: &Town) -> f64 { town.now() }
/// }
/// ```
///
/// `K` is the type of the members' keys, `M` that of their messages, and `W` that of whatever else the callbacks need, in
/// [`world`](Self::world). It does the work of the entity manager and the message dispatcher in Buckland's *Programming Game
/// AI by Example*.
///
/// # Who is acting
///
/// A member is *acting* while a callback of it runs: in its turn of [`update`](Self::update), in handling a telegram, or in
/// [`with`](Self::with). Meanwhile it is lent to the callback, so [`get`](Self::get) does not find it, although it is still a
/// member.
///
/// # When a telegram arrives
///
/// - A telegram to a member that is not acting is delivered within the call of [`send`](Self::send), before the sender goes
///   on. So are those that its receiver sends in turn, depth first.
/// - A telegram to a member that is acting, such as the sender itself, is *put off*: it is delivered when that member's turn
///   is over, in the order of sending.
/// - So that long chains do not overflow the stack, a telegram within 64 others is put off until the outermost turn is over.
///   A chain of put-off telegrams that does not end after 1000 is treated as a loop: the next one is dropped, with an error
///   in the log.
/// - One sent with [`send_after`](Self::send_after) waits in the queue, and is delivered when the caller asks for what is
///   due, with [`deliver_due`](Self::deliver_due) or one by one with [`pop_due`](Self::pop_due).
///
/// # When a callback panics
///
/// The panic reaches the caller. No member is lost, and the cast goes on working. Telegrams that were put off for a member
/// are delivered after its next turn.
///
/// # On another thread
///
/// A cast is `Send` and `Sync` when `K`, `M` and `W` are, so it can be moved to a thread or be a resource of an engine. Its
/// owners have to be `Send` and `Sync` to join.
///
/// # Examples
///
/// Bob tells his wife that he is home; she answers that the stew will be ready.
///
/// ```
/// use demeanor::{Agent, Cast, Delivery, Fsm, Owner, State, StateMachine, Telegram};
/// use std::time::Duration;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
/// enum Name { Bob, Elsa }
///
/// #[derive(Debug, PartialEq)]
/// enum News { HiHoney, StewReady }
///
/// /// The world is what has been said so far.
/// type Town = Cast<Name, News, Vec<&'static str>>;
///
/// struct Miner;
/// struct Wife;
///
/// impl Owner for Miner {
///     type Context<'a> = Town;
///     type Message = Telegram<Name, News>;
/// }
///
/// impl Owner for Wife {
///     type Context<'a> = Town;
///     type Message = Telegram<Name, News>;
/// }
///
/// struct Home;
/// impl State<Miner> for Home {
///     fn update(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
///         assert_eq!(town.send(Name::Bob, Name::Elsa, News::HiHoney), Ok(Delivery::Handled));
///         town.world.push("Bob sits down");
///     }
///
///     fn on_message(
///         &self,
///         _: &mut Miner,
///         telegram: &Telegram<Name, News>,
///         _: &mut Fsm<'_, Miner>,
///         town: &mut Town,
///     ) -> bool {
///         town.world.push("Bob eats");
///         matches!(telegram.message, News::StewReady)
///     }
/// }
///
/// struct Housework;
/// impl State<Wife> for Housework {
///     fn on_message(
///         &self,
///         _: &mut Wife,
///         telegram: &Telegram<Name, News>,
///         _: &mut Fsm<'_, Wife>,
///         town: &mut Town,
///     ) -> bool {
///         town.world.push("Elsa puts the stew in the oven");
///         town.send_after(1.5, Name::Elsa, telegram.sender, News::StewReady).is_ok()
///     }
/// }
///
/// let mut town = Town::new(vec![]);
/// town.add(Name::Bob, Agent::new(Miner, StateMachine::new(&Home)))?;
/// town.add(Name::Elsa, Agent::new(Wife, StateMachine::new(&Housework)))?;
///
/// town.update();
/// town.deliver_due();
/// assert_eq!(town.world, ["Elsa puts the stew in the oven", "Bob sits down"]);
///
/// town.advance(Duration::from_secs(2));
/// town.deliver_due();
/// assert_eq!(town.world.last(), Some(&"Bob eats"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cast<K, M, W> {
    /// What the members share: a map, a score, a page to write on.
    pub world: W,
    time: GameTime,
    dispatcher: Dispatcher<K, M>,
    /// By place: a member that joined earlier has a lower one. Places are not used again.
    members: BTreeMap<u64, Slot<K, M, W>>,
    places: BTreeMap<K, u64>,
    /// The place of the next member that joins.
    next_place: u64,
    /// Telegrams that were nested too deep.
    too_deep: VecDeque<PutOff<K, M>>,
    /// How many turns are nested just now.
    depth: u32,
    /// The round of the telegram being handled; 0 if it was not put off.
    round: u32,
}

struct Slot<K, M, W> {
    key: K,
    /// `None` while the member is acting.
    member: Option<Box<AnyMember<K, M, W>>>,
    /// Telegrams that have come while the member was acting.
    put_off: VecDeque<PutOff<K, M>>,
}

/// A telegram that is delivered when a turn is over.
struct PutOff<K, M> {
    /// How often in a row telegrams were put off to get to this one.
    round: u32,
    telegram: Telegram<K, M>,
}

impl<K: Clone + Ord + fmt::Debug + 'static, M: 'static, W: 'static> Cast<K, M, W> {
    /// Creates a cast without members, at time zero.
    pub fn new(world: W) -> Self {
        Self {
            world,
            time: GameTime::new(),
            dispatcher: Dispatcher::new(),
            members: BTreeMap::new(),
            places: BTreeMap::new(),
            next_place: 0,
            too_deep: VecDeque::new(),
            depth: 0,
            round: 0,
        }
    }

    /// Replaces the queue of delayed telegrams: by one that [merges](Dispatcher::merging_within), or one from a saved game.
    #[must_use]
    pub fn with_dispatcher(mut self, dispatcher: Dispatcher<K, M>) -> Self {
        self.dispatcher = dispatcher;
        self
    }

    /// Adds a member without calling a callback: a machine made by `new` is in its state without having entered it (rule 1).
    ///
    /// A member that is added from within a callback can receive telegrams at once, and is first updated in the next
    /// [`update`](Self::update).
    ///
    /// # Errors
    ///
    /// When there is a member with that key already. The agent is in the error.
    pub fn add<T>(&mut self, key: K, agent: Agent<T>) -> Result<(), KeyTaken<K, T>>
    where
        T: for<'a> Owner<Context<'a> = Self, Message = Telegram<K, M>>,
        Agent<T>: Send + Sync,
    {
        if self.places.contains_key(&key) {
            return Err(KeyTaken { key, agent });
        }
        let place = self.next_place;
        self.next_place += 1;
        self.places.insert(key.clone(), place);
        self.members.insert(place, Slot { key, member: Some(Box::new(agent)), put_off: VecDeque::new() });
        Ok(())
    }

    /// Adds a member and starts its machine: `enter` runs along the active path, and may send.
    ///
    /// # Errors
    ///
    /// When there is a member with that key already. The agent is in the error; no callback has run.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};
    ///
    /// type Level = Cast<u32, (), Vec<&'static str>>;
    ///
    /// struct Goblin;
    /// impl Owner for Goblin {
    ///     type Context<'a> = Level;
    ///     type Message = Telegram<u32, ()>;
    /// }
    ///
    /// struct Lurk;
    /// impl State<Goblin> for Lurk {
    ///     fn enter(&self, _: &mut Goblin, _: &mut Fsm<'_, Goblin>, level: &mut Level) {
    ///         level.world.push("a goblin hides");
    ///     }
    /// }
    ///
    /// let mut level = Level::new(vec![]);
    /// level.spawn(7, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    /// assert_eq!(level.world, ["a goblin hides"]);
    ///
    /// let taken = level.spawn(7, Agent::new(Goblin, StateMachine::new(&Lurk))).unwrap_err();
    /// assert_eq!(taken.to_string(), "there is a member 7 already");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn<T>(&mut self, key: K, agent: Agent<T>) -> Result<(), KeyTaken<K, T>>
    where
        T: for<'a> Owner<Context<'a> = Self, Message = Telegram<K, M>>,
        Agent<T>: Send + Sync,
    {
        let place = self.next_place;
        self.add(key, agent)?;
        self.act(place, Member::start);
        Ok(())
    }

    /// Removes a member and returns it, without calling a callback.
    ///
    /// Returns `None` if there is no member with that key, if it is not an `Agent<T>`, or while it is acting; then it stays.
    /// Telegrams queued for it stay, too: when they are due, their receiver is unknown, unless another member has that key by
    /// then. [`Dispatcher::retain`] removes them.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    /// # struct Goblin { gold: u32 }
    /// # impl Owner for Goblin { type Context<'a> = Cast<u32, (), ()>; type Message = Telegram<u32, ()>; }
    /// # struct Lurk;
    /// # impl State<Goblin> for Lurk {}
    ///
    /// let mut level: Cast<u32, (), ()> = Cast::new(());
    /// level.add(7, Agent::new(Goblin { gold: 3 }, StateMachine::new(&Lurk)))?;
    ///
    /// let goblin = level.remove::<Goblin>(&7).unwrap();
    /// assert_eq!(goblin.gold, 3);
    /// assert!(level.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<T: Owner>(&mut self, key: &K) -> Option<Agent<T>> {
        self.get::<T>(key)?;
        let member = self.take(key)?.member?;
        member.into_any().downcast().ok().map(|agent| *agent)
    }

    /// Drops a member of any type, without calling a callback. Returns whether there was one.
    ///
    /// This works from within the member's own callback, too: it stops being a member at once, and is dropped when its turn is
    /// over. Telegrams that were put off for it are dropped, with a warning in the log. For those queued for it, see
    /// [`remove`](Self::remove).
    pub fn dismiss(&mut self, key: &K) -> bool {
        self.take(key).is_some()
    }

    /// Starts the machines of all members, in the order in which they joined. See [`Agent::start`].
    pub fn start(&mut self) {
        self.act_each(Member::start);
    }

    /// Stops the machines of all members, in the order in which they joined. See [`Agent::stop`].
    pub fn stop(&mut self) {
        self.act_each(Member::stop);
    }

    /// Updates all members, in the order in which they joined. See [`Agent::update`].
    ///
    /// A member that joins meanwhile is first updated in the next tick. `update` neither moves the clock nor delivers what is
    /// due: the game decides on the order of [`advance`](Self::advance), `update` and [`deliver_due`](Self::deliver_due).
    pub fn update(&mut self) {
        self.act_each(Member::update);
    }

    /// Sends a telegram. A member that is not acting receives it within the call; one that is, when its turn is over.
    ///
    /// # Errors
    ///
    /// When there is no such receiver. The telegram is in the error, and a warning in the log.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Cast, Telegram};
    ///
    /// let mut nobody: Cast<&str, &str, ()> = Cast::new(());
    /// let unknown = nobody.send("Bob", "Elsa", "hi honey").unwrap_err();
    /// assert_eq!(unknown.to_string(), r#"there is no "Elsa" to receive the telegram from "Bob""#);
    /// assert_eq!(unknown.telegram, Telegram::new("Bob", "Elsa", "hi honey"));
    /// ```
    pub fn send(&mut self, sender: K, receiver: K, message: M) -> Result<Delivery, UnknownReceiver<K, M>> {
        self.deliver(Telegram::new(sender, receiver, message))
    }

    /// Sends a telegram that is due after `delay`, in seconds. It is queued until then, and delivered by
    /// [`deliver_due`](Self::deliver_due). The receiver need not be a member before that.
    ///
    /// If `delay` is zero, negative or not a number, the telegram is [sent](Self::send) at once, as in Buckland's
    /// `DispatchMessage`.
    ///
    /// # Errors
    ///
    /// When there is no delay and no such receiver.
    pub fn send_after(
        &mut self,
        delay: f64,
        sender: K,
        receiver: K,
        message: M,
    ) -> Result<Delivery, UnknownReceiver<K, M>> {
        let telegram = Telegram::new(sender, receiver, message);
        if delay > 0.0 {
            self.dispatcher.send_after(delay, telegram, self.now());
            Ok(Delivery::Delayed)
        } else {
            self.deliver(telegram)
        }
    }

    /// Delivers a telegram at once, as [`send`](Self::send) does: the other half of [`pop_due`](Self::pop_due).
    ///
    /// # Errors
    ///
    /// When there is no such receiver. The telegram is in the error, and a warning in the log.
    pub fn deliver(&mut self, telegram: Telegram<K, M>) -> Result<Delivery, UnknownReceiver<K, M>> {
        let Some(&place) = self.places.get(&telegram.receiver) else {
            let unknown = UnknownReceiver { telegram };
            warn!("{unknown}");
            return Err(unknown);
        };
        let round = self.round + 1;
        match self.members.get_mut(&place) {
            Some(slot) if slot.member.is_none() => {
                slot.put_off.push_back(PutOff { round, telegram });
                return Ok(Delivery::PutOff);
            }
            _ if self.depth >= MOST_NESTED => {
                self.too_deep.push_back(PutOff { round, telegram });
                return Ok(Delivery::PutOff);
            }
            _ => {}
        }
        match self.act(place, |member, cast| member.receive(&telegram, cast)) {
            Some(true) => Ok(Delivery::Handled),
            _ => Ok(Delivery::Declined),
        }
    }

    /// Takes out the telegram that has been due the longest, if any is due by the cast's clock. For a caller that has to do
    /// something before or after each delivery; others use [`deliver_due`](Self::deliver_due).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Cast;
    /// use std::time::Duration;
    ///
    /// let mut cast: Cast<&str, &str, ()> = Cast::new(());
    /// cast.send_after(1.5, "Elsa", "Elsa", "stew ready").unwrap();
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

    /// Delivers all telegrams that are due by the cast's clock, in the order of their due times and then of sending.
    ///
    /// Returns those whose receiver is unknown; each has been logged, too.
    pub fn deliver_due(&mut self) -> Vec<UnknownReceiver<K, M>> {
        let mut unknown = Vec::new();
        while let Some(telegram) = self.pop_due() {
            unknown.extend(self.deliver(telegram).err());
        }
        unknown
    }

    /// Returns the queue of delayed telegrams.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher<K, M> {
        &self.dispatcher
    }

    /// Returns the queue of delayed telegrams, to remove some or to queue others.
    pub fn dispatcher_mut(&mut self) -> &mut Dispatcher<K, M> {
        &mut self.dispatcher
    }

    /// Moves the clock on to the next tick, `elapsed` after the last.
    pub fn advance(&mut self, elapsed: Duration) {
        self.time.advance(elapsed);
    }

    /// Returns the clock.
    #[must_use]
    pub fn time(&self) -> GameTime {
        self.time
    }

    /// Returns the time by the cast's clock, in seconds: what the members' [`Owner::now`] returns, so that states can ask how
    /// long they have been in.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.time.total().as_secs_f64()
    }

    /// Returns a member. `None` if there is none with that key, if it is not an `Agent<T>`, or while it is
    /// [acting](Self#who-is-acting).
    #[must_use]
    pub fn get<T: Owner>(&self, key: &K) -> Option<&Agent<T>> {
        let place = self.places.get(key)?;
        self.members.get(place)?.member.as_deref()?.as_any().downcast_ref()
    }

    /// Returns a member mutably. `None` as for [`get`](Self::get). To call methods of its machine that take the cast as their
    /// context, see [`with`](Self::with).
    pub fn get_mut<T: Owner>(&mut self, key: &K) -> Option<&mut Agent<T>> {
        let place = self.places.get(key)?;
        self.members.get_mut(place)?.member.as_deref_mut()?.as_any_mut().downcast_mut()
    }

    /// Lends a member and the cast to `act`: a turn of that member, in which the methods of its machine can be called.
    ///
    /// Returns what `act` returns; `None` as for [`get`](Self::get).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    ///
    /// type Level = Cast<u32, (), ()>;
    ///
    /// struct Goblin;
    /// impl Owner for Goblin {
    ///     type Context<'a> = Level;
    ///     type Message = Telegram<u32, ()>;
    /// }
    ///
    /// struct Lurk;
    /// struct Flee;
    /// impl State<Goblin> for Lurk {}
    /// impl State<Goblin> for Flee {}
    ///
    /// let mut level = Level::new(());
    /// level.add(7, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    ///
    /// let done = level.with::<Goblin, _>(&7, |goblin, level| goblin.change_state(&Flee, level));
    /// assert_eq!(done, Some(true));
    /// assert!(level.get::<Goblin>(&7).unwrap().machine().is_in_state(&Flee));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with<T: Owner, R>(&mut self, key: &K, act: impl FnOnce(&mut Agent<T>, &mut Self) -> R) -> Option<R> {
        self.get::<T>(key)?;
        let place = *self.places.get(key)?;
        self.act(place, |member, cast| member.as_any_mut().downcast_mut().map(|agent| act(agent, cast))).flatten()
    }

    /// Returns whether there is a member with that key, acting or not.
    #[must_use]
    pub fn contains(&self, key: &K) -> bool {
        self.places.contains_key(key)
    }

    /// Returns whether a callback of that member is running, so that telegrams to it are put off.
    #[must_use]
    pub fn is_acting(&self, key: &K) -> bool {
        let place = self.places.get(key);
        place.and_then(|place| self.members.get(place)).is_some_and(|slot| slot.member.is_none())
    }

    /// Visits the members' keys, in the order in which they joined.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.members.values().map(|slot| &slot.key)
    }

    /// Returns how many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Gives a turn to each current member.
    fn act_each(&mut self, act: fn(&mut AnyMember<K, M, W>, &mut Self)) {
        let end = self.next_place;
        let mut rest = 0;
        while let Some((&place, slot)) = self.members.range(rest..end).next() {
            if slot.member.is_none() {
                warn!("{:?} is left out: a callback of it is running", slot.key);
            }
            self.act(place, act);
            rest = place + 1;
        }
    }

    /// Gives the member at `place` a turn, and afterwards delivers what was put off until then. `None` when it is acting.
    fn act<R>(&mut self, place: u64, act: impl FnOnce(&mut AnyMember<K, M, W>, &mut Self) -> R) -> Option<R> {
        let result = Turn::begin(self, place, self.round)?.run(act);
        self.deliver_put_off(place);
        if self.depth == 0 {
            self.deliver_too_deep();
        }
        Some(result)
    }

    /// Delivers what has come for the member at `place` while it was acting, and what comes while it handles that.
    fn deliver_put_off(&mut self, place: u64) {
        while let Some(next) = self.members.get_mut(&place).and_then(|slot| slot.put_off.pop_front()) {
            self.hand_over(place, next);
        }
    }

    /// Delivers what was nested too deep, now that no member is acting.
    fn deliver_too_deep(&mut self) {
        while let Some(next) = self.too_deep.pop_front() {
            if let Some(&place) = self.places.get(&next.telegram.receiver) {
                self.hand_over(place, next);
                self.deliver_put_off(place);
            } else {
                warn!("{}", UnknownReceiver { telegram: next.telegram });
            }
        }
    }

    fn hand_over(&mut self, place: u64, PutOff { round, telegram }: PutOff<K, M>) {
        let Telegram { sender, receiver, .. } = &telegram;
        if round > MOST_ROUNDS {
            error!("the telegram from {sender:?} for {receiver:?} is dropped: telegrams are put off without end");
            return;
        }
        let Some(turn) = Turn::begin(self, place, round) else { return };
        if !turn.run(|member, cast| member.receive(&telegram, cast)) {
            debug!("{receiver:?} declines the telegram from {sender:?} that was put off");
        }
    }

    /// Takes a member out of the cast. Telegrams that were put off for it are dropped.
    fn take(&mut self, key: &K) -> Option<Slot<K, M, W>> {
        let place = self.places.remove(key)?;
        let mut slot = self.members.remove(&place)?;
        for PutOff { telegram, .. } in slot.put_off.drain(..) {
            warn!("{}", UnknownReceiver { telegram });
        }
        Some(slot)
    }
}

impl<K: fmt::Debug, M, W: fmt::Debug> fmt::Debug for Cast<K, M, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cast")
            .field("members", &self.places.keys())
            .field("time", &self.time)
            .field("world", &self.world)
            .finish_non_exhaustive()
    }
}
