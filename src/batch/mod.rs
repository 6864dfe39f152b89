//! Many owners, sorted by state.

// This layer stands above `known`, `wait`, `rows` and `chunk`, which have folders here. It knows machines and the journal, but
// neither files nor casts. The folder `save` belongs to the layer of saving, above this one.

mod buckets;
mod by_key;
mod chunk;
mod container;
mod digest;
mod due;
mod journal;
pub(crate) mod known;
#[cfg(feature = "parallel")]
mod parallel;
mod queries;
mod rows;
#[cfg(feature = "serde")]
pub(crate) mod save;
mod wait;

use std::error::Error;
use std::fmt;
use std::ops::Range;

pub use self::buckets::Bucket;
use self::chunk::pass::Pass;
pub use self::container::{Drain, Iter, IterMut, Keys};
pub use self::known::key::Key;
use self::known::panics::FirstPanic;
use self::known::slots::CHUNK;
#[cfg(feature = "parallel")]
use self::parallel::Workers;
use self::rows::chunk::{Chunk, PassPart};
use self::rows::store::Store;
use crate::change::NameOf;
use crate::machine::seat::Seat;
use crate::machine::state_machine::StateMachine;
use crate::owner::{Owner, now};
#[cfg(doc)]
use crate::state::State;
use crate::state::{IntoState, StateRef};

/// Many owners with their machines, kept sorted by state: the owners of one state lie side by side, and one call updates
/// all of them.
///
/// It is a container with the methods of the standard library's containers: you insert owners, and find them by
/// [`Key`]. The states are those of a [`StateMachine`], and each owner gets the same callbacks in the same order ([rule
/// 19](crate::docs::semantics#rule-19)). So if a game replaces its characters' machines by a batch, only the lines that
/// store its characters change:
///
/// ```
/// use demeanor::{Agent, Batch, Fsm, Owner, State, StateMachine};
///
/// struct Enemy {
///     hunger: u32,
/// }
///
/// impl Owner for Enemy {
///     type Context<'a> = ();
///     type Message = ();
/// }
///
/// struct Graze;
/// struct Roam;
///
/// impl State<Enemy> for Graze {
///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
///         enemy.hunger = enemy.hunger.saturating_sub(3);
///         if enemy.hunger == 0 {
///             fsm.change_state(&Roam);
///         }
///     }
/// }
///
/// impl State<Enemy> for Roam {
///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
///         enemy.hunger += 1;
///         if enemy.hunger > 20 {
///             fsm.change_state(&Graze);
///         }
///     }
/// }
///
/// // One machine each:
/// let mut herd: Vec<_> = (0..1000).map(|i| Agent::new(Enemy { hunger: i % 20 }, StateMachine::new(&Roam))).collect();
/// for _ in 0..60 {
///     herd.iter_mut().for_each(|enemy| enemy.update(&mut ()));
/// }
///
/// // A batch:
/// let mut batch = Batch::new();
/// let keys: Vec<_> = (0..1000).map(|i| batch.insert(Enemy { hunger: i % 20 }, &Roam)).collect();
/// for _ in 0..60 {
///     batch.update(&mut ());
/// }
///
/// for (enemy, key) in herd.iter().zip(keys) {
///     assert_eq!(enemy.hunger, batch.get(key).unwrap().hunger);
///     assert_eq!(enemy.machine().current(), batch.state_of(key));
/// }
/// ```
///
/// # How owners are kept
///
/// Each state has a *bucket*: the owners that are in it, in one vector. In separate vectors, the bucket has each
/// owner's key, its previous state and, once a clock is used, the time at which it entered the state. A tick in which
/// no owner changes state reads and writes the owners, and nothing else. A state becomes known when its first owner
/// arrives, so there is no list of states to register. A shared state (an `Arc`) is forgotten when no owner is in it or
/// can go back to it. [`buckets_mut`](Self::buckets_mut) lends the buckets to the game, for work of its own that depends on
/// the state.
///
/// A tick calls [`State::update_all`] once for a chunk of 2048 owners: one virtual call, inside which the state's own
/// `update` is inlined into a loop. The requests are collected. Then the batch runs `exit` and `enter` for the owners
/// that change, and moves them to the end of their new bucket. The last owners that stay in the old bucket take the
/// free places. So an owner has no fixed address and no fixed index. Its [`Key`] finds it, with two look-ups. Once the
/// owner has been removed, its key finds nothing.
///
/// # Batch or machines
///
/// | | a machine each | a batch |
/// |---|---|---|
/// | update | a virtual call for each owner | one for each chunk |
/// | states that are [passive](State::is_passive) | a call for each owner | nothing |
/// | a change | writes a few words | also copies the owner to another bucket |
/// | reaching an owner from outside | by reference | two look-ups |
/// | bytes per owner, besides the owner | 56, in an [`Agent`](crate::Agent) 80 | 24, or 32 with a clock; in owned states 72 |
///
/// Use machines for dozens of characters, for characters that refer to each other, and if the game updates each
/// character in its own turn, between other work. Use a batch for thousands of characters, most of which stay in a
/// state for many ticks. The larger an owner is, the more a change costs, so put data that is rarely needed into a
/// `Box`.
///
/// A batch can do everything that a machine can. Some of it is done in bulk, for many owners at a time, and the rest
/// one by one:
///
/// | | how |
/// |---|---|
/// | `update` | in bulk, except in owned states |
/// | one change, forced change or revert in a tick, to a state that the batch has met | in bulk |
/// | sleep, or a timer for a change, if the owner requests nothing else; and the end of such a sleep or timer | in bulk |
/// | the turns of a state from a file, and the times and numbers that it keeps | in bulk |
/// | `ensure_state` | in bulk, as a change; if the state is already active, it costs next to nothing |
/// | several requests of one owner, a push, a pop, a resume, a message to oneself, and all requests within the call | one by one |
/// | requests of the global state, or of a parent; a change to a parent that is active | one by one |
/// | a change from or to a state with an ancestor that keeps a history | one by one |
/// | a change to a shared state (an `Arc`) with children, and `ensure_state` of a shared state that is not active | one by one |
/// | messages, and all methods that take a key | one by one |
/// | owned states | one by one |
///
/// *One by one* means that the owner finishes its tick as a machine of its own would. What this costs does not depend
/// on how many others do the same ([rule 31](crate::docs::semantics#rule-31)).
///
/// An owned state (a `Box` with data) is different for each owner. All owned states of one type share a bucket. In this
/// bucket, each owner takes 48 bytes for its machine.
///
/// # Order
///
/// For one owner everything happens as on a machine. *Across* owners the order is: states as the batch first saw them;
/// inside a state, chunk by chunk, the updates, then the exits, then the enters. The order depends only on the calls
/// made, so two runs with the same calls have the same order. But it is not the order of insertion, and it changes when
/// owners move. So owners should affect each other through the context only in ways that do not depend on the order:
/// count, add up, or collect commands and sort them. To check this, compare with
/// [`update_in_key_order`](Self::update_in_key_order). If the order has to be that of the game, call
/// [`update_one`](Self::update_one) for each owner.
///
/// All times are in seconds by [`Owner::now`].
///
/// # When a callback panics
///
/// The panic reaches the caller when the batch is consistent again, and no owner is lost: see [`update`](Self::update).
///
/// # On all cores
///
/// `par_update`, with the feature `parallel`, gives each chunk a context of its own and returns all of them in order. The
/// result is the same to the bit on any number of threads, and the same as that of `update`. `par_extend` inserts many
/// owners.
///
/// Waking the threads takes some ten microseconds. So the batch measures how long its owners take, and leaves all of them to the
/// calling thread if other threads would not save more time than that. Then `par_update` takes as long as `update`. When an
/// update takes some hundred nanoseconds, two cores are nearly twice as fast as one from two thousand owners on; if states do
/// next to nothing, from some fifty thousand owners on. The owners that change are moved on all cores, too, unless they are few.
/// When an owner of a bucket pushes, pops, or goes to or from a state with a parent, one thread moves the owners of that bucket
/// in that tick.
///
/// # Memory
///
/// Besides the owners themselves, a batch keeps 24 bytes for each owner. Once a clock is used, it keeps another 8 bytes
/// for the current state and for each of its ancestors. For an owner in an owned state it keeps 48 bytes instead of
/// times; the state itself is allocated separately, with 40 bytes that count the references to it. A batch keeps more for owners
/// with a stack or a history, and for owners whose previous state is an owned state.
///
/// The vectors do not shrink by themselves: a bucket that was once full keeps its capacity. So if the owners move back
/// and forth between the same states, nothing is allocated any more after a while. The same is true for the vectors in
/// which owners wait for their new bucket in a parallel tick. [`shrink_to_fit`](Self::shrink_to_fit) frees the unused
/// capacity of the buckets.
pub struct Batch<T: Owner> {
    store: Store<T>,
    pass: Pass<T>,
    #[cfg(feature = "parallel")]
    workers: Workers<T>,
}

impl<T: Owner> Batch<T> {
    /// Creates an empty batch.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let batch = Batch::<Enemy>::new();
    /// assert!(batch.is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::of(Store::with_capacity(0))
    }

    /// Sets the global state, which runs for every owner beside its own state. The global state is never entered or exited
    /// ([rule 3](crate::docs::semantics#rule-3)).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// /// The global state: it runs for every owner, beside `Idle` or `Chase`.
    /// struct Awareness;
    /// impl State<Enemy> for Awareness {}
    ///
    /// let batch = Batch::<Enemy>::new().with_global(&Awareness);
    /// assert_eq!(batch.global().unwrap().name(), "Awareness");
    /// ```
    #[must_use]
    pub fn with_global(mut self, global: impl IntoState<T>) -> Self {
        self.set_global(global);
        self
    }

    /// Sets the most changes and messages to oneself that one callback may lead to, as [`set_limit`](Self::set_limit) does.
    #[must_use]
    pub fn with_limit(mut self, changes: u32) -> Self {
        self.set_limit(changes);
        self
    }

    /// Adds an owner in `state`, without calling any callback, as [`StateMachine::new`] does. Until the first change,
    /// [`time_in_state`](Self::time_in_state) counts from the clock's 0. With [`spawn`](Self::spawn), it counts from the time of
    /// the call.
    ///
    /// # Panics
    ///
    /// When the batch has 2^32 - 2 owners or knows 2^30 - 2 states.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { log: vec![] }, &Idle);
    /// assert!(batch.get(bob).unwrap().log.is_empty());
    /// assert!(batch.is_in_state(bob, &Idle));
    /// ```
    pub fn insert(&mut self, owner: T, state: impl IntoState<T>) -> Key {
        self.store.insert(owner, Seat::new(state.into_state()))
    }

    /// Adds an owner in `state` and enters this state, down to the innermost initial child, as [`StateMachine::start`] does.
    ///
    /// # Panics
    ///
    /// As for [`insert`](Self::insert), and when a callback panics: the owner is then dropped, because the caller does not have
    /// its key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.spawn(Enemy::default(), &Idle, &mut ());
    /// assert_eq!(batch.get(bob).unwrap().log, ["enters Idle"]);
    /// ```
    pub fn spawn(&mut self, owner: T, state: impl IntoState<T>, cx: &mut T::Context<'_>) -> Key {
        let key = self.insert(owner, state);
        let mut panic = FirstPanic::new();
        if panic.catch(|| self.start(key, cx)).is_none() {
            panic.catch(|| drop(self.remove(key)));
        }
        panic.resume();
        key
    }

    /// Adds an owner with its machine, without calling any callback. The machine goes on where it was, with its
    /// previous state, stack, history and times.
    ///
    /// # Errors
    ///
    /// When the machine's global state is not the batch's. The error returns the owner and the machine.
    ///
    /// # Panics
    ///
    /// As for [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// use demeanor::StateMachine;
    ///
    /// let mut batch = Batch::new();
    /// let mut machine = StateMachine::new(&Chase);
    /// machine.set_previous(&Idle);
    /// let bob = batch.insert_machine(Enemy, machine)?;
    /// assert!(batch.revert_state(bob, &mut ()));
    /// assert!(batch.is_in_state(bob, &Idle));
    /// # Ok::<(), demeanor::ForeignGlobal<Enemy>>(())
    /// ```
    pub fn insert_machine(&mut self, owner: T, machine: StateMachine<T>) -> Result<Key, ForeignGlobal<T>> {
        if machine.global() != self.global() {
            return Err(ForeignGlobal { owner, machine, batch_global: self.store.global.settings.global.clone() });
        }
        Ok(self.store.insert(owner, machine.into_seat()))
    }

    /// Removes an owner and returns it with its machine, without calling any callback. Returns `None` for a stale key (a key
    /// whose owner has been removed).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/named_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Chase);
    /// let (enemy, machine) = batch.remove(bob).unwrap();
    /// assert_eq!(enemy, Enemy("Bob"));
    /// assert!(machine.is_in_state(&Chase));
    /// assert!(batch.remove(bob).is_none());
    /// ```
    pub fn remove(&mut self, key: Key) -> Option<(T, StateMachine<T>)> {
        let (owner, seat) = self.store.remove(key)?;
        Some((owner, StateMachine::from_seat(seat, self.store.global.settings.clone())))
    }

    /// Takes the batch apart into its owners and their machines, in the order of the keys.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/named_enemies.txt")]
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy("Bob"), &Chase);
    /// batch.insert(Enemy("Elsa"), &Idle);
    /// let names: Vec<_> = batch.into_machines().map(|(_, enemy, machine)| (enemy.0, machine.is_in_state(&Idle))).collect();
    /// assert_eq!(names, [("Bob", false), ("Elsa", true)]);
    /// ```
    pub fn into_machines(mut self) -> impl Iterator<Item = (Key, T, StateMachine<T>)> {
        let keys: Vec<_> = self.keys().collect();
        keys.into_iter().filter_map(move |key| self.remove(key).map(|(owner, machine)| (key, owner, machine)))
    }

    /// Runs one tick for every owner: it does what [`StateMachine::update`] does for one
    /// ([rules 4](crate::docs::semantics#rule-4), [19](crate::docs::semantics#rule-19),
    /// [20](crate::docs::semantics#rule-20)).
    ///
    /// Across owners, states come in the order in which the batch first saw them. Inside a state, owners come in
    /// chunks: in each chunk the updates, then the exits, then the enters. Owners that change are moved afterwards, so
    /// that none is updated twice or missed.
    ///
    /// # Panics
    ///
    /// When a callback panics. The panic reaches the caller when the batch is consistent again. The owner of that
    /// callback is in the state it was in, or in the one it has just entered, and its requests are dropped. The
    /// requests of all other owners are carried out, and owners that have not been updated by then are not updated in
    /// this tick ([rule 22](crate::docs::semantics#rule-22)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// #[derive(Default)]
    /// struct Enemy { patience: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Chase;
    /// impl State<Enemy> for Chase {}
    ///
    /// struct Idle;
    /// impl State<Enemy> for Idle {
    ///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         match enemy.patience.checked_sub(1) {
    ///             Some(patience) => enemy.patience = patience,
    ///             None => fsm.change_state(&Chase),
    ///         }
    ///     }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// for patience in 0..4 {
    ///     batch.insert(Enemy { patience }, &Idle);
    /// }
    /// batch.update(&mut ());
    /// assert_eq!(batch.owners_in(&Chase).len(), 1);
    /// batch.update(&mut ());
    /// assert_eq!(batch.owners_in(&Chase).len(), 2);
    /// ```
    pub fn update(&mut self, cx: &mut T::Context<'_>) {
        self.update_those(PassPart::ALL, cx);
    }

    /// Runs one tick for part `k` of the owners, which are split into `n` parts counted from 0: the classic "think
    /// every `n` frames".
    ///
    /// An owner stays in its part even if it is moved to another bucket, so `n` calls, one for each part, update every
    /// owner exactly once. When `k` is not less than `n`, nothing is updated, and an error is logged.
    ///
    /// # Panics
    ///
    /// As for [`update`](Self::update).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// #[derive(Default)]
    /// struct Enemy { thoughts: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Think;
    /// impl State<Enemy> for Think {
    ///     fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.thoughts += 1; }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// for _ in 0..100 {
    ///     batch.insert(Enemy::default(), &Think);
    /// }
    /// for frame in 0..8 {
    ///     batch.update_part(frame % 4, 4, &mut ());
    /// }
    /// assert!(batch.iter().all(|(_, enemy)| enemy.thoughts == 2));
    /// ```
    pub fn update_part(&mut self, k: usize, n: usize, cx: &mut T::Context<'_>) {
        match (u32::try_from(k), u32::try_from(n)) {
            (Ok(k), Ok(n)) if k < n => self.update_those(PassPart { k, n }, cx),
            _ => log::error!(target: "demeanor", "a batch has no part {k} of {n}: nothing is updated"),
        }
    }

    /// Runs one tick for every owner, in the order of their keys: each owner has its whole tick before the next one.
    ///
    /// It is slower than [`update`](Self::update), and is the reference for it: each owner gets the same callbacks in
    /// the same order.
    ///
    /// # Panics
    ///
    /// As for [`update`](Self::update).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// #[derive(Clone)]
    /// struct Enemy { patience: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Chase;
    /// impl State<Enemy> for Chase {}
    ///
    /// struct Idle;
    /// impl State<Enemy> for Idle {
    ///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
    ///         match enemy.patience.checked_sub(1) {
    ///             Some(patience) => enemy.patience = patience,
    ///             None => fsm.change_state(&Chase),
    ///         }
    ///     }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// for patience in 0..4 {
    ///     batch.insert(Enemy { patience }, &Idle);
    /// }
    /// let mut reference = batch.clone();
    /// for _ in 0..3 {
    ///     batch.update(&mut ());
    ///     reference.update_in_key_order(&mut ());
    /// }
    /// for key in batch.keys() {
    ///     assert_eq!(batch.state_of(key), reference.state_of(key));
    /// }
    /// ```
    pub fn update_in_key_order(&mut self, cx: &mut T::Context<'_>) {
        self.store.wake_all_outdated();
        let now = now::<T>(cx);
        let keys: Vec<_> = self.keys().filter(|key| self.store.has_turn(*key, now)).collect();
        self.store.with_each(&keys, |owner, single| single.tick(owner, cx));
    }

    fn of(store: Store<T>) -> Self {
        Self {
            store,
            pass: Pass::new(),
            #[cfg(feature = "parallel")]
            workers: Workers::new(),
        }
    }

    fn update_those(&mut self, part: PassPart, cx: &mut T::Context<'_>) {
        self.store.wake_all_outdated();
        if !self.store.timers.is_empty() {
            self.carry_out_due(part, cx);
        }
        // The global state is updated for sleeping owners, too.
        let with_sleepers = self.store.global.is_updating;
        self.go_over(part, with_sleepers, |pass, chunk| pass.run(chunk, cx));
    }

    /// Calls `act` for each chunk of owners, and then moves the owners that have changed. If `with_sleepers` is `false`, the
    /// chunks of sleeping owners for which nothing is due are left out.
    fn go_over(&mut self, part: PassPart, with_sleepers: bool, mut act: impl FnMut(&mut Pass<T>, &mut Chunk<'_, T>)) {
        let mut panic = FirstPanic::new();
        for nth in 0..self.store.states.order().len() {
            let Some(&bucket) = self.store.states.order().get(nth) else { break };
            self.go_over_bucket(bucket, (part, with_sleepers), &mut panic, &mut act);
            if !panic.is_none() {
                break;
            }
        }
        self.store.forget_due();
        self.store.settle_all();
        self.store.states.pay(self.len());
        self.store.tidy(&mut panic);
        panic.resume();
    }

    fn go_over_bucket(
        &mut self,
        bucket: u32,
        (part, with_sleepers): (PassPart, bool),
        panic: &mut FirstPanic,
        act: &mut impl FnMut(&mut Pass<T>, &mut Chunk<'_, T>),
    ) {
        let columns = &self.store.buckets[bucket as usize];
        let (asleep, len) = (columns.asleep, columns.len());
        let chunks = |rows: Range<usize>| rows.clone().step_by(CHUNK).map(move |start| (start, rows.end));
        for (start, end) in chunks(asleep..len).chain(chunks(0..asleep)) {
            let len = CHUNK.min(end - start);
            if start < asleep && !with_sleepers && !self.store.has_due(bucket, start..start + len) {
                continue;
            }
            act(&mut self.pass, &mut self.store.chunk(bucket, start, len, part));
            let outcome = &mut self.pass.outcome;
            self.store.take_up(bucket, start, outcome);
            self.store.discarded.drop_many(&mut outcome.panic);
            if !outcome.panic.is_none() {
                panic.keep_other(&mut outcome.panic);
                break;
            }
        }
        self.store.move_marked(bucket);
    }
}

/// The error of [`Batch::insert_machine`] when the machine's global state is not the batch's. It returns the owner and
/// the machine.
///
/// # Examples
///
/// ```
/// use demeanor::{Batch, Owner, State};
///
/// struct Enemy;
/// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
/// struct Idle;
/// struct Chase;
/// impl State<Enemy> for Idle {}
/// impl State<Enemy> for Chase {}
///
/// use demeanor::StateMachine;
///
/// let mut batch = Batch::<Enemy>::new();
/// let error = batch.insert_machine(Enemy, StateMachine::new(&Chase).with_global(&Idle)).unwrap_err();
/// assert_eq!(error.to_string(), "the machine's global is Idle, the batch's is (no state)");
/// assert!(error.machine.is_in_state(&Chase));
/// ```
pub struct ForeignGlobal<T: Owner> {
    /// The owner.
    pub owner: T,
    /// Its machine.
    pub machine: StateMachine<T>,
    batch_global: StateRef<T>,
}

impl<T: Owner> fmt::Display for ForeignGlobal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batch_global = NameOf(self.batch_global.as_option());
        write!(f, "the machine's global is {}, the batch's is {batch_global}", NameOf(self.machine.global().as_ref()))
    }
}

impl<T: Owner> fmt::Debug for ForeignGlobal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Owner> Error for ForeignGlobal<T> {}

/// A clone has the same owners, states, keys and order, so the same calls have the same effects on both. `clone_from`
/// reuses the memory that the batch has. If the `Clone` or `Drop` of an owner or a state panics in `clone_from`, the
/// batch is empty afterwards.
impl<T: Owner + Clone> Clone for Batch<T> {
    fn clone(&self) -> Self {
        Self::of(self.store.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        // The passes cache numbers of states, and these numbers now stand for other states.
        self.pass.forget_numbers();
        #[cfg(feature = "parallel")]
        {
            self.workers = Workers::new();
        }
        self.store.clone_from(&source.store);
    }
}

impl<T: Owner> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.census()).finish()
    }
}

impl<T: Owner> Default for Batch<T> {
    fn default() -> Self {
        Self::new()
    }
}
