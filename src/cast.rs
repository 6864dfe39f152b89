//! Characters of different types that send telegrams to each other, even from within their callbacks.
//!
//! [`members`] contains the members and the queries about them, and [`slot`] contains one member. [`turn`] lends a member to
//! its callbacks and delivers telegrams. [`put_off`] has the telegrams that wait for the end of a turn, and stops endless
//! exchanges. [`rejoin`] makes an acting member a normal member for the length of a call. [`context`] is for a game that has a
//! context of its own.

// The layer `cast` knows machines, telegrams and the journal. It does not know batches or files. `cast/save.rs` belongs to the
// layer of saving, which is above this one.

mod context;
mod delivery;
#[cfg(feature = "std")]
mod journaling;
mod member;
mod members;
mod put_off;
mod rejoin;
#[cfg(feature = "serde")]
mod save;
mod slot;
mod turn;
mod unavailable;

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};

pub use self::context::CastContext;
pub use self::delivery::{Delivery, KeyTaken, UnknownReceiver};
pub use self::members::Members;
pub use self::unavailable::{NotActing, Unavailable};
use crate::fsm::Fsm;
use crate::machine::agent::Agent;
use crate::message::{Dispatcher, Telegram};
use crate::owner::Owner;

/// The log target of a cast.
const TELEGRAMS: &str = "demeanor::cast";

/// Characters of different types that send telegrams to each other: the members, the queue of delayed telegrams, the
/// clock, and the world that they share.
///
/// The cast is the context of its members' callbacks, so that a state can send telegrams from within a callback:
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
/// `K` is the type of the members' keys, and `M` is the type of their messages. `W` is the type of everything else that
/// the callbacks need; it is in [`world`](Self::world). A cast does the work of the entity manager and the message
/// dispatcher in Buckland's *Programming Game AI by Example*.
///
/// The methods that run no callback, such as [`get`](Members::get), [`iter`](Members::iter),
/// [`state_of`](Members::state_of), [`add`](Members::add) and [`advance`](Members::advance), are methods of [`Members`],
/// to which a cast dereferences. If your game's own struct should be the context, with methods of its own, put the
/// `Members` into it and implement [`CastContext`]; then the methods here are methods of that struct.
///
/// # Who is acting
///
/// A member is *acting* while one of its callbacks runs: in its turn of [`update`](Self::update), `update_one`, `start` or
/// `stop`, while it handles a telegram, or in [`with`](Self::with). During this time it is lent to the callback:
/// [`get`](Members::get) returns [`Acting`](Unavailable::Acting), although it is still a member. Its state can still be queried.
/// [`rejoin`](Self::rejoin) makes it a member like the others for the length of a call, so that the others can send to it, read
/// it and change it, as they do in C++ and C#.
///
/// # When a telegram arrives
///
/// - A telegram to a member that is not acting is delivered within the call of [`send`](Self::send), before the sender
///   goes on. The same holds for the telegrams that its receiver then sends, depth first.
/// - A telegram to a member that is acting, such as the sender itself, is *put off*: it is delivered when that member's
///   turn is over, in the order of sending. To have it handled within the call, use [`rejoin`](Self::rejoin) first. For
///   a telegram to oneself, use [`Fsm::send_now`].
/// - So that long chains do not overflow the stack, a telegram that is nested within 64 others is put off until the
///   outermost turn is over. A [posted](Self::post) telegram is put off in the same way.
/// - A telegram sent with [`send_after`](Self::send_after) waits in the queue. The game delivers the telegrams that are due, with
///   [`deliver_due`](Self::deliver_due), or one by one with [`pop_due`](Members::pop_due).
///
/// # Exchanges without end
///
/// All telegrams of one outermost turn that one telegram leads to, directly or through others, are an *exchange*. An
/// exchange may have 100 000 telegrams, and 32 more for each member. At most 1000 of them in a row may each be put off
/// by the handling of the one before. Telegrams beyond that are [dropped](Delivery::Dropped), and an error in the log
/// names up to eight pairs of members that sent to each other last. All other telegrams are delivered.
///
/// # Where does the data live?
///
/// Put data that other members read or write into [`world`](Self::world): positions, scores, who has the ball. A callback can
/// read it there even while other members are acting. Put data that only a member's own states read into the owner. If members of
/// several types have much in common, as goalkeepers and field players do, put that part into a struct of its own in the world,
/// by key:
///
/// ```
/// use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};
/// use std::collections::BTreeMap;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
/// enum Name { Keeper, Striker }
///
/// /// What all players have, and all may see.
/// struct Body { x: f32, speed: f32 }
///
/// struct Pitch { bodies: BTreeMap<Name, Body> }
/// type Match = Cast<Name, (), Pitch>;
///
/// struct Keeper { goal: f32 }
/// struct Striker;
/// impl Owner for Keeper { type Context<'a> = Match; type Message = Telegram<Name, ()>; }
/// impl Owner for Striker { type Context<'a> = Match; type Message = Telegram<Name, ()>; }
///
/// struct TendGoal;
/// struct Dribble;
/// impl State<Keeper> for TendGoal {
///     fn update(&self, keeper: &mut Keeper, _: &mut Fsm<'_, Keeper>, game: &mut Match) {
///         let bodies = &mut game.world.bodies;
///         let threat = bodies[&Name::Striker].x; // the world has the bodies of all members
///         if let Some(own) = bodies.get_mut(&Name::Keeper) {
///             own.x = (keeper.goal + threat) / 2.0;
///         }
///     }
/// }
/// impl State<Striker> for Dribble {
///     fn update(&self, _: &mut Striker, _: &mut Fsm<'_, Striker>, game: &mut Match) {
///         if let Some(own) = game.world.bodies.get_mut(&Name::Striker) {
///             own.x += own.speed;
///         }
///     }
/// }
///
/// let bodies = BTreeMap::from([(Name::Keeper, Body { x: 0.0, speed: 1.0 }), (Name::Striker, Body { x: 8.0, speed: -2.0 })]);
/// let mut game = Match::new(Pitch { bodies });
/// game.add(Name::Striker, Agent::new(Striker, StateMachine::new(&Dribble)))?;
/// game.add(Name::Keeper, Agent::new(Keeper { goal: 0.0 }, StateMachine::new(&TendGoal)))?;
/// game.update();
/// assert_eq!(game.world.bodies[&Name::Keeper].x, 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Data in the owners can be read through a trait of the game, by a function that tries one type after the other. It
/// cannot see a member that is [acting](#who-is-acting):
///
/// ```
/// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram, Unavailable};
///
/// type Match = Cast<u8, (), ()>;
///
/// struct Keeper { saves: u32 }
/// struct Striker { goals: u32 }
/// impl Owner for Keeper { type Context<'a> = Match; type Message = Telegram<u8, ()>; }
/// impl Owner for Striker { type Context<'a> = Match; type Message = Telegram<u8, ()>; }
///
/// trait Player {
///     fn merits(&self) -> u32;
/// }
/// impl Player for Keeper {
///     fn merits(&self) -> u32 { self.saves }
/// }
/// impl Player for Striker {
///     fn merits(&self) -> u32 { 2 * self.goals }
/// }
///
/// fn player(game: &Match, key: u8) -> Result<&dyn Player, Unavailable> {
///     match game.get::<Keeper>(&key) {
///         Err(Unavailable::WrongType) => Ok(&**game.get::<Striker>(&key)?),
///         keeper => Ok(&**keeper?),
///     }
/// }
///
/// struct Wait;
/// impl State<Keeper> for Wait {}
/// impl State<Striker> for Wait {}
///
/// let mut game = Match::new(());
/// game.add(1, Agent::new(Keeper { saves: 3 }, StateMachine::new(&Wait)))?;
/// game.add(9, Agent::new(Striker { goals: 2 }, StateMachine::new(&Wait)))?;
/// let merits = |key| player(&game, key).map(|player| player.merits());
/// assert_eq!([merits(1), merits(9), merits(4)], [Ok(3), Ok(4), Err(Unavailable::Unknown)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # When a callback panics
///
/// The panic reaches the caller. No member is lost, and the cast goes on working. Telegrams that were put off for a member
/// are delivered after its next turn.
///
/// # On another thread
///
/// A cast is `Send` and `Sync` when `K`, `M` and `W` are, so it can be moved to a thread or be a resource of an engine.
/// Owners have to be `Send` and `Sync` to join.
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
///         assert_eq!(town.send(Name::Bob, Name::Elsa, News::HiHoney), Delivery::Handled);
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
///         town.send_after(1.5, Name::Elsa, telegram.sender, News::StewReady);
///         true
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
    /// The data that the members share, such as a map or a score.
    pub world: W,
    members: Members<K, M, Self>,
}

impl<K: Clone + Ord + fmt::Debug + 'static, M: 'static, W: 'static> CastContext for Cast<K, M, W> {
    type Key = K;
    type Message = M;

    #[inline]
    fn members_mut(&mut self) -> &mut Members<K, M, Self> {
        &mut self.members
    }
}

impl<K: Clone + Ord + fmt::Debug + 'static, M: 'static, W: 'static> Cast<K, M, W> {
    /// Creates a cast without members, at time zero.
    pub fn new(world: W) -> Self {
        Self { world, members: Members::new() }
    }

    /// Replaces the queue of delayed telegrams, for example with a queue that [merges](Dispatcher::merging_within), or with the
    /// queue of a saved game.
    #[must_use]
    pub fn with_dispatcher(mut self, dispatcher: Dispatcher<K, M>) -> Self {
        *self.members.dispatcher_mut() = dispatcher;
        self
    }

    /// Adds a member and starts its machine: `enter` runs along the active path, and may send telegrams. Within 64 nested turns,
    /// the start is skipped, with an error in the log: the member is added as by [`Members::add`].
    ///
    /// # Errors
    ///
    /// When there is a member with that key already. The error contains the agent; no callback has run.
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
        CastContext::spawn(self, key, agent)
    }

    /// Starts the machines of all members, in the order in which they joined. See [`Agent::start`].
    pub fn start(&mut self) {
        CastContext::start(self);
    }

    /// Stops the machines of all members, in the order in which they joined. See [`Agent::stop`].
    pub fn stop(&mut self) {
        CastContext::stop(self);
    }

    /// Updates all members, in the order in which they joined. See [`Agent::update`].
    ///
    /// A member that joins during the update is first updated in the next tick. `update` neither advances the clock nor delivers
    /// telegrams that are due: the game decides on the order of [`advance`](Members::advance), `update` and
    /// [`deliver_due`](Self::deliver_due).
    pub fn update(&mut self) {
        CastContext::update(self);
    }

    /// Updates one member. See [`Agent::update`]. Returns whether it was updated: `false` if there is no such member,
    /// or if it is acting.
    ///
    /// Use it for a game in which each character thinks and then moves, before the next one does.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};
    ///
    /// type Level = Cast<u32, (), Vec<String>>;
    ///
    /// struct Goblin;
    /// impl Owner for Goblin {
    ///     type Context<'a> = Level;
    ///     type Message = Telegram<u32, ()>;
    /// }
    ///
    /// struct Lurk;
    /// impl State<Goblin> for Lurk {
    ///     fn update(&self, _: &mut Goblin, _: &mut Fsm<'_, Goblin>, level: &mut Level) {
    ///         level.world.push("thinks".to_string());
    ///     }
    /// }
    ///
    /// let mut level = Level::new(vec![]);
    /// level.add(1, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    /// level.add(2, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    /// for goblin in [1, 2] {
    ///     level.update_one(&goblin);
    ///     level.world.push(format!("{goblin} moves"));
    /// }
    /// assert_eq!(level.world, ["thinks", "1 moves", "thinks", "2 moves"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_one(&mut self, key: &K) -> bool {
        CastContext::update_one(self, key)
    }

    /// Sends a telegram. A member that is not acting receives it within the call; a member that is acting receives it
    /// when its turn is over. Returns what has happened to the telegram; a sender that does not need this can ignore it.
    ///
    /// If there is no such receiver, the telegram is dropped with a warning in the log; [`deliver`](Self::deliver)
    /// returns it instead. To send the acting member itself a telegram that is handled within the call, as in
    /// Buckland's C++, use [`Fsm::send_now`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Cast, Delivery};
    ///
    /// let mut cast: Cast<&str, &str, ()> = Cast::new(());
    /// assert_eq!(cast.send("Bob", "Elsa", "hi honey"), Delivery::UnknownReceiver);
    /// ```
    pub fn send(&mut self, sender: K, receiver: K, message: M) -> Delivery {
        CastContext::send(self, sender, receiver, message)
    }

    /// Sends a telegram that is due after `delay`, in seconds. It is queued until then, and delivered by
    /// [`deliver_due`](Self::deliver_due). The receiver need not be a member before that.
    ///
    /// If `delay` is zero, negative or NaN, the telegram is [sent](Self::send) at once, as in Buckland's
    /// `DispatchMessage`.
    pub fn send_after(&mut self, delay: f64, sender: K, receiver: K, message: M) -> Delivery {
        CastContext::send_after(self, delay, sender, receiver, message)
    }

    /// Sends a telegram that is delivered when the outermost turn is over, so when no member is acting any more.
    /// Outside of any turn it is delivered within the call. If the receiver is unknown, a warning is logged.
    ///
    /// Use it for news that members get only when all of them have finished acting, such as "the round is over".
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};
    ///
    /// type Level = Cast<u32, &'static str, Vec<&'static str>>;
    ///
    /// struct Goblin;
    /// impl Owner for Goblin {
    ///     type Context<'a> = Level;
    ///     type Message = Telegram<u32, &'static str>;
    /// }
    ///
    /// struct Lurk;
    /// impl State<Goblin> for Lurk {
    ///     fn update(&self, _: &mut Goblin, _: &mut Fsm<'_, Goblin>, level: &mut Level) {
    ///         level.post(1, 2, "posted");
    ///         level.send(1, 2, "sent");
    ///     }
    ///
    ///     fn on_message(
    ///         &self,
    ///         _: &mut Goblin,
    ///         telegram: &Telegram<u32, &'static str>,
    ///         _: &mut Fsm<'_, Goblin>,
    ///         level: &mut Level,
    ///     ) -> bool {
    ///         level.world.push(telegram.message);
    ///         true
    ///     }
    /// }
    ///
    /// let mut level = Level::new(vec![]);
    /// level.add(1, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    /// level.add(2, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
    /// level.update_one(&1);
    /// assert_eq!(level.world, ["sent", "posted"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn post(&mut self, sender: K, receiver: K, message: M) {
        CastContext::post(self, sender, receiver, message);
    }

    /// Delivers a telegram at once, as [`send`](Self::send) does, and returns it if there is no receiver. Use
    /// it together with [`pop_due`](Members::pop_due).
    ///
    /// # Errors
    ///
    /// When there is no such receiver. The error contains the telegram, and a warning is logged.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Cast, Telegram};
    ///
    /// let mut cast: Cast<&str, &str, ()> = Cast::new(());
    /// let unknown = cast.deliver(Telegram::new("Bob", "Elsa", "hi honey")).unwrap_err();
    /// assert_eq!(unknown.to_string(), r#"there is no "Elsa" to receive the telegram from "Bob""#);
    /// assert_eq!(unknown.telegram, Telegram::new("Bob", "Elsa", "hi honey"));
    /// ```
    pub fn deliver(&mut self, telegram: Telegram<K, M>) -> Result<Delivery, UnknownReceiver<K, M>> {
        CastContext::deliver(self, telegram)
    }

    /// Delivers all telegrams that are due by the cast's clock, in the order of their due times and then in the order
    /// of sending. A telegram that is sent meanwhile waits for the next call, even if it is due already.
    ///
    /// Returns the telegrams whose receiver is unknown. A warning is logged for each.
    pub fn deliver_due(&mut self) -> Vec<UnknownReceiver<K, M>> {
        CastContext::deliver_due(self)
    }

    /// Lends a member and the cast to `act`. This is a turn of that member; `act` can call the methods of its machine.
    ///
    /// Returns what `act` returns.
    ///
    /// # Errors
    ///
    /// When there is no such member, when its owner is of another type, or when it is acting.
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
    /// let done = level.with::<Goblin, _>(&7, |goblin, level| goblin.change_state(&Flee, level))?;
    /// assert!(done);
    /// assert!(level.is_in_state::<Goblin, _>(&7, &Flee));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with<T: Owner, R>(
        &mut self,
        key: &K,
        act: impl FnOnce(&mut Agent<T>, &mut Self) -> R,
    ) -> Result<R, Unavailable> {
        CastContext::with(self, key, act)
    }

    /// Makes the acting member available for the length of `act`: other members can send to it, read it and change it, as deeply
    /// nested as in the code that you port. `owner` and `fsm` must be the arguments of the callback. Returns what `act` returns.
    ///
    /// The requests that the callback has made before are carried out first, as in
    /// [`change_state_now`](Fsm::change_state_now). Afterwards the callback goes on with its owner and its machine,
    /// including everything that has happened to them; the machine may be in another state by then. In `exit` the machine cannot
    /// change state during the call: a change is refused with a warning ([rule 12](crate::docs::semantics#rule-12)). Telegrams
    /// that were put off for the member before stay put off.
    ///
    /// While `act` runs, `owner` holds the [`Default::default`] of its type. Only the type's own `Drop` sees it.
    ///
    /// # Errors
    ///
    /// When the member with that key is not acting, or when `owner` and `fsm` are not the arguments of its
    /// callback. Then nothing has happened, and `act` is not called.
    ///
    /// # Examples
    ///
    /// The waiting player asks for the ball. The passer kicks it and tells him where to run, before the waiting player
    /// goes on.
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    /// enum Name { Waiting, Passer }
    /// enum News { PassToMe, ReceiveBall }
    /// type Match = Cast<Name, News, Vec<&'static str>>;
    ///
    /// #[derive(Default)]
    /// struct Player;
    /// impl Owner for Player {
    ///     type Context<'a> = Match;
    ///     type Message = Telegram<Name, News>;
    /// }
    ///
    /// struct Play;
    /// struct ReceiveBall;
    /// impl State<Player> for Play {
    ///     fn update(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, game: &mut Match) {
    ///         let asked = game.rejoin(&Name::Waiting, player, fsm, |game| {
    ///             game.send(Name::Waiting, Name::Passer, News::PassToMe);
    ///         });
    ///         assert!(asked.is_ok() && fsm.is_in_state(&ReceiveBall));
    ///         game.world.push("the asker goes on");
    ///     }
    ///
    ///     fn on_message(
    ///         &self,
    ///         player: &mut Player,
    ///         telegram: &Telegram<Name, News>,
    ///         fsm: &mut Fsm<'_, Player>,
    ///         game: &mut Match,
    ///     ) -> bool {
    ///         match telegram.message {
    ///             News::PassToMe => {
    ///                 game.world.push("the passer kicks");
    ///                 game.send(Name::Passer, telegram.sender, News::ReceiveBall);
    ///             }
    ///             News::ReceiveBall => {
    ///                 fsm.change_state_now(player, &ReceiveBall, game);
    ///             }
    ///         }
    ///         true
    ///     }
    /// }
    /// impl State<Player> for ReceiveBall {
    ///     fn enter(&self, _: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
    ///         game.world.push("the asker runs for the ball");
    ///     }
    /// }
    ///
    /// let mut game = Match::new(vec![]);
    /// game.add(Name::Waiting, Agent::new(Player, StateMachine::new(&Play)))?;
    /// game.add(Name::Passer, Agent::new(Player, StateMachine::new(&Play)))?;
    /// game.update_one(&Name::Waiting);
    /// assert_eq!(game.world, ["the passer kicks", "the asker runs for the ball", "the asker goes on"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rejoin<T, R>(
        &mut self,
        key: &K,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        act: impl FnOnce(&mut Self) -> R,
    ) -> Result<R, NotActing>
    where
        T: for<'a> Owner<Context<'a> = Self, Message = Telegram<K, M>> + Default,
        Agent<T>: Send + Sync,
    {
        CastContext::rejoin(self, key, owner, fsm, act)
    }
}

/// The methods that run no callback: adding and removing members, reading, the clock, the queue of delayed telegrams.
impl<K, M, W> Deref for Cast<K, M, W> {
    type Target = Members<K, M, Self>;

    fn deref(&self) -> &Members<K, M, Self> {
        &self.members
    }
}

impl<K, M, W> DerefMut for Cast<K, M, W> {
    fn deref_mut(&mut self) -> &mut Members<K, M, Self> {
        &mut self.members
    }
}

impl<K: fmt::Debug, M, W: fmt::Debug> fmt::Debug for Cast<K, M, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cast").field("world", &self.world).field("members", &self.members).finish()
    }
}
