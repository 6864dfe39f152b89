//! Many owners, sorted by state.

mod changes;
mod columns;
#[cfg(feature = "parallel")]
mod parallel;
mod pass;
mod states;
mod store;

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use slotmap::DefaultKey;

use self::pass::{CHUNK, Part, Pass};
use self::store::Store;
use crate::fsm::Fsm;
use crate::machine::StateMachine;
use crate::owner::{NameOf, Owner};
use crate::request::Request;
use crate::seat::Seat;
use crate::state::{State, StateRef};

/// The key of an owner in a [`Batch`]. It stays the same while the owner moves, and is never given to another.
///
/// # Examples
///
/// ```
/// # use demeanor::{Batch, Owner, State};
/// # struct Enemy;
/// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
/// # struct Idle;
/// # struct Chase;
/// # impl State<Enemy> for Idle {}
/// # impl State<Enemy> for Chase {}
///
/// let mut batch = Batch::new();
/// let first = batch.insert(Enemy, &Idle);
/// batch.remove(first);
/// let second = batch.insert(Enemy, &Idle);
/// assert!(!batch.contains(first));
/// assert!(batch.contains(second));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key(DefaultKey);

/// Many owners with their machines, kept sorted by state, so that one call updates all owners of a state where they lie side
/// by side.
///
/// The states are those of a [`StateMachine`], and each owner's callbacks are the same, in the same order (rule 19). So a
/// game that has outgrown one machine per character changes the line that says where its characters are kept:
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
/// Each state has a *bucket*: the owners that are in it, in one vector. Beside them, in vectors of its own, the bucket has
/// what the batch notes of each: its key, its previous state and, once a clock is used, when it came. A tick in which nobody
/// changes reads and writes the owners, and nothing else. A state becomes known when its first owner arrives; there is no
/// list of states to keep.
///
/// A tick calls [`State::update_all`] once for a chunk of a couple of thousand owners: one virtual call, inside which the
/// state's own `update` is inlined into a loop. What they ask for is noted down; then those that change are exited, entered
/// and moved to their new bucket, where the last owner of the old one takes the free place. So an owner has no fixed address
/// and no fixed index; it has a [`Key`]. A key costs two look-ups, never goes to another owner, and is noticed when its
/// owner is gone.
///
/// # Batch or machines
///
/// | | a machine each | a batch |
/// |---|---|---|
/// | update | a virtual call for each owner | one for each chunk |
/// | states that are [passive](State::is_passive) | a call for each owner | nothing |
/// | a change | a few words are written | and the owner is copied to another bucket |
/// | reaching an owner from outside | a reference | two look-ups |
/// | bytes for each, beside the owner | 64 | 24, or 32 with a clock |
///
/// Machines are right for dozens of characters, for those that hold on to each other, and where each is updated in its own
/// turn among other things. A batch is right for thousands, most of whom stay in a state for many ticks. The larger an owner,
/// the more a change costs: what is seldom needed belongs in a `Box`.
///
/// Everything a machine can do, a batch can; not all of it in bulk. Changes between flat singletons or shared states, which
/// nearly all are, are made together. An owner that reverts, pushes, changes at once, or goes to or from a state with a
/// parent finishes its tick by itself, as on a machine. An owned state (a `Box`) lies in a bucket of its type with a reference
/// for each owner, 16 bytes, and what the box holds elsewhere; its owners are updated one by one, and cost no less than with
/// a machine each.
///
/// # Order
///
/// For one owner everything happens as on a machine. *Across* owners the order is: states as the batch first saw them;
/// inside a state, chunk by chunk, the updates, then the exits, then the enters. It depends on nothing but the calls made, so
/// that two runs are alike; but it is not the order of insertion, and it is another one after owners have moved. Let owners
/// affect each other through the context only in ways that do not depend on who is first: count, add up, collect commands
/// and sort them. [`update_in_key_order`](Self::update_in_key_order) is there to compare with.
///
/// # On all cores
///
/// `par_update`, with the feature `parallel`, gives each chunk a context of its own and hands all of them back in order. The
/// result is the same to the bit on any number of threads.
///
/// # Memory
///
/// Beside the owners a batch keeps 24 bytes for each, 32 once a clock is used, and something more for those with a
/// stack, a history, or an owned state as previous. The vectors keep their room: a bucket that once was full has the
/// capacity still, so that a horde that moves to and fro soon allocates nothing.
pub struct Batch<T: Owner> {
    store: Store<T>,
    pass: Pass<T>,
}

impl<T: Owner> Batch<T> {
    /// Creates an empty batch.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let batch = Batch::<Enemy>::new();
    /// assert!(batch.is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self { store: Store::new(), pass: Pass::new() }
    }

    /// Gives all owners a state that runs beside every other. It is never entered or exited (rule 3).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// /// Every owner's, beside Idle or Chase.
    /// struct Awareness;
    /// impl State<Enemy> for Awareness {}
    ///
    /// let batch = Batch::<Enemy>::new().with_global(&Awareness);
    /// assert_eq!(batch.global().unwrap().name(), "Awareness");
    /// ```
    #[must_use]
    pub fn with_global(mut self, global: impl Into<StateRef<T>>) -> Self {
        self.set_global(global);
        self
    }

    /// Adds an owner in `state`, without any callback, as [`StateMachine::new`] does.
    ///
    /// # Panics
    ///
    /// When the batch has 2^32 - 2 owners, or knows as many states.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { log: vec![] }, &Idle);
    /// assert!(batch.get(bob).unwrap().log.is_empty());
    /// assert!(batch.is_in_state(bob, &Idle));
    /// ```
    pub fn insert(&mut self, owner: T, state: impl Into<StateRef<T>>) -> Key {
        Key(self.store.insert(owner, Seat::new(state.into())))
    }

    /// Adds an owner in `state` and runs `enter` along its path, as [`StateMachine::start`] does.
    ///
    /// # Panics
    ///
    /// As [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.spawn(Enemy::default(), &Idle, &mut ());
    /// assert_eq!(batch.get(bob).unwrap().log, ["enters Idle"]);
    /// ```
    pub fn spawn(&mut self, owner: T, state: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> Key {
        let key = self.insert(owner, state);
        self.start(key, cx);
        key
    }

    /// Adds an owner with its machine, without any callback: whatever the machine remembers, it goes on from there.
    ///
    /// # Errors
    ///
    /// When the machine's global is not the batch's. The error gives both back.
    ///
    /// # Panics
    ///
    /// As [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
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
            return Err(ForeignGlobal { owner, machine, batch_global: self.store.global.clone() });
        }
        Ok(Key(self.store.insert(owner, machine.into_seat())))
    }

    /// Takes out an owner with its machine, whole and without any callback. `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Chase);
    /// let (enemy, machine) = batch.remove(bob).unwrap();
    /// assert_eq!(enemy, Enemy("Bob"));
    /// assert!(machine.is_in_state(&Chase));
    /// assert!(batch.remove(bob).is_none());
    /// ```
    pub fn remove(&mut self, key: Key) -> Option<(T, StateMachine<T>)> {
        let (owner, seat) = self.store.remove(key.0)?;
        Some((owner, StateMachine::from_seat(seat, self.store.global.clone())))
    }

    /// Takes the batch apart, by the order of keys, into its owners and their machines.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
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

    /// Runs one tick for every owner: what [`StateMachine::update`] does for one (rules 4, 19, 20).
    ///
    /// Across owners: states in the order in which the batch first saw them; inside a state by chunks, in each the updates,
    /// then the exits, then the enters. Owners that change are moved afterwards, so that none is updated twice or missed.
    ///
    /// # Panics
    ///
    /// When a callback panics, once the batch is in order: that owner keeps the state it was in, or had just come to; its
    /// own requests are dropped, those that were made before it are carried out, and the rest of the owners is left for the
    /// next tick (rule 22).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { patience: u32 }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {}
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
        self.update_those(Part::ALL, cx);
    }

    /// Runs one tick for the `k`-th of `n` parts of the owners, counted from 0: the classic "think every `n` frames".
    ///
    /// An owner stays in its part wherever it moves, so that `n` calls, one for each part, update every owner exactly once.
    /// A part that there is none of is an error in the log, and nothing is updated.
    ///
    /// # Panics
    ///
    /// As [`update`](Self::update).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { thoughts: u32 }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Think;
    /// # impl State<Enemy> for Think {
    /// #     fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.thoughts += 1; }
    /// # }
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
            (Ok(k), Ok(n)) if k < n => self.update_those(Part { k, n }, cx),
            _ => log::error!(target: "demeanor", "a batch has no part {k} of {n}: nothing is updated"),
        }
    }

    /// Runs one tick for every owner, one whole owner after the other, in the order of their keys.
    ///
    /// The reference that [`update`](Self::update) is held against: for each owner the same callbacks in the same order,
    /// without the speed.
    ///
    /// # Panics
    ///
    /// As [`update`](Self::update).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Clone)]
    /// # struct Enemy { patience: u32 }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {}
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
        for key in self.store.keys().collect::<Vec<_>>() {
            self.store.with_fsm(key, |owner, fsm| fsm.tick(owner, cx));
        }
    }

    fn update_those(&mut self, part: Part, cx: &mut T::Context<'_>) {
        let tick = catch_unwind(AssertUnwindSafe(|| self.update_chunks(part, cx)));
        self.store.settle_all();
        if let Err(panic) = tick {
            self.pass = Pass::new();
            resume_unwind(panic);
        }
    }

    fn update_chunks(&mut self, part: Part, cx: &mut T::Context<'_>) {
        for bucket in self.store.buckets() {
            // From the last chunk to the first: the row that takes a mover's place has had its turn.
            for start in (0..self.store.rows_in(bucket)).step_by(CHUNK).rev() {
                self.pass.run(&mut self.store.chunk(bucket, start, CHUNK, part), cx);
                if self.pass.upshot.is_empty() {
                    continue;
                }
                self.store.move_rows(bucket, start, &mut self.pass.upshot);
                if let Some(fault) = self.pass.upshot.fault.take() {
                    fault.resume();
                }
            }
        }
    }
}

/// What a [`StateMachine`] does, by key. For a stale key nothing is done.
impl<T: Owner> Batch<T> {
    /// Sets the state that runs beside every other, without any callback (rule 3).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Chase);
    /// batch.set_global(&Idle);
    /// assert_eq!(batch.global().unwrap().name(), "Idle");
    /// assert!(!batch.is_in_state(bob, &Idle));
    /// ```
    pub fn set_global(&mut self, global: impl Into<StateRef<T>>) {
        self.store.global = global.into();
    }

    /// Runs `enter` along an owner's active path, outermost first. Returns whether there is such an owner. See
    /// [`StateMachine::start`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.start(bob, &mut ()));
    /// assert_eq!(batch.get(bob).unwrap().log, ["enters Idle"]);
    /// ```
    pub fn start(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.start(owner, cx)).is_some()
    }

    /// Runs `exit` along an owner's active path, innermost first, and leaves it without a state. Returns whether there is
    /// such an owner. See [`StateMachine::stop`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.stop(bob, &mut ()));
    /// assert_eq!(batch.get(bob).unwrap().log, ["exits Idle"]);
    /// assert!(batch.state_of(bob).is_none());
    /// ```
    pub fn stop(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.stop(owner, cx)).is_some()
    }

    /// Offers a message to an owner's machine. Returns whether it was handled. See [`StateMachine::send`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # struct Enemy;
    /// # enum Told { Noise }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = Told; }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {
    /// #     fn on_message(&self, _: &mut Enemy, _: &Told, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
    /// #         fsm.change_state(&Chase);
    /// #         true
    /// #     }
    /// # }
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.send(bob, &Told::Noise, &mut ()));
    /// assert!(batch.is_in_state(bob, &Chase));
    /// // In Chase nobody listens.
    /// assert!(!batch.send(bob, &Told::Noise, &mut ()));
    /// ```
    pub fn send(&mut self, key: Key, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.send(owner, message, cx)).unwrap_or(false)
    }

    /// Offers a message to every owner's machine, in the order of their keys. Returns how many handled it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # struct Enemy;
    /// # enum Told { Noise }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = Told; }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {
    /// #     fn on_message(&self, _: &mut Enemy, _: &Told, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
    /// #         fsm.change_state(&Chase);
    /// #         true
    /// #     }
    /// # }
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Chase);
    /// batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Idle);
    /// assert_eq!(batch.broadcast(&Told::Noise, &mut ()), 2);
    /// assert_eq!(batch.owners_in(&Chase).len(), 3);
    /// ```
    pub fn broadcast(&mut self, message: &T::Message, cx: &mut T::Context<'_>) -> usize {
        let keys: Vec<_> = self.keys().collect();
        keys.into_iter().filter(|&key| self.send(key, message, cx)).count()
    }

    /// Changes an owner's state. Returns whether the change was made. See [`StateMachine::change_state`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.change_state(bob, &Chase, &mut ()));
    /// assert_eq!(batch.get(bob).unwrap().log, ["exits Idle", "enters Chase"]);
    /// ```
    pub fn change_state(&mut self, key: Key, to: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Change(to.into()), cx)
    }

    /// Changes an owner to its previous state. Returns whether the change was made. See [`StateMachine::revert_state`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(!batch.revert_state(bob, &mut ()), "there is no previous state");
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert!(batch.revert_state(bob, &mut ()));
    /// assert!(batch.is_in_state(bob, &Idle));
    /// ```
    pub fn revert_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Revert, cx)
    }

    /// Suspends an owner's state and enters `over`. Returns whether it was done. See [`StateMachine::push_state`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.push_state(bob, &Chase, &mut ()));
    /// assert!(batch.is_in_state(bob, &Chase));
    /// ```
    pub fn push_state(&mut self, key: Key, over: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Push(over.into()), cx)
    }

    /// Leaves an owner's state and resumes what it was pushed over. Returns whether it was done. See
    /// [`StateMachine::pop_state`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// batch.push_state(bob, &Chase, &mut ());
    /// assert!(batch.pop_state(bob, &mut ()));
    /// assert!(batch.is_in_state(bob, &Idle));
    /// assert!(!batch.pop_state(bob, &mut ()), "nothing is suspended");
    /// ```
    pub fn pop_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Pop, cx)
    }

    /// Changes an owner to where it left `composite`. Returns whether the change was made. See
    /// [`StateMachine::resume_state`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// use demeanor::StateRef;
    ///
    /// struct Patrol;
    /// struct North;
    /// struct South;
    /// impl State<Enemy> for Patrol {
    ///     fn initial(&self) -> Option<StateRef<Enemy>> { Some((&North).into()) }
    ///     fn keeps_history(&self) -> bool { true }
    /// }
    /// impl State<Enemy> for North {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Patrol).into()) }
    /// }
    /// impl State<Enemy> for South {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Patrol).into()) }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &South);
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert!(batch.resume_state(bob, &Patrol, &mut ()));
    /// assert!(batch.is_in_state(bob, &South));
    /// ```
    pub fn resume_state(&mut self, key: Key, composite: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Resume(composite.into()), cx)
    }

    /// Lends an owner and its machine to `act` as a callback has them, carries out what it asks for, and returns what it
    /// returns. `None` for a stale key. See [`StateMachine::with`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// let was_idle = batch.with(bob, &mut (), |_, fsm, ()| {
    ///     fsm.change_state(&Chase);
    ///     fsm.is_in_state(&Idle)
    /// });
    /// assert_eq!(was_idle, Some(true));
    /// assert_eq!(batch.get(bob).unwrap().log, ["exits Idle", "enters Chase"]);
    /// ```
    pub fn with<R>(
        &mut self,
        key: Key,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R> {
        self.store.with_fsm(key.0, |owner, fsm| {
            let result = act(owner, fsm, cx);
            fsm.settle(owner, cx);
            result
        })
    }

    /// Sets an owner's current state without any callback. Returns whether there is such an owner.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { log: Vec<&'static str> }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # impl State<Enemy> for Idle {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Idle"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Idle"); }
    /// # }
    /// # struct Chase;
    /// # impl State<Enemy> for Chase {
    /// #     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("enters Chase"); }
    /// #     fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.log.push("exits Chase"); }
    /// # }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.set_current(bob, &Chase));
    /// assert!(batch.is_in_state(bob, &Chase));
    /// assert!(batch.get(bob).unwrap().log.is_empty());
    /// ```
    pub fn set_current(&mut self, key: Key, current: impl Into<StateRef<T>>) -> bool {
        self.store.with_fsm(key.0, |_, fsm| fsm.seat.place(current.into())).is_some()
    }

    /// Sets an owner's previous state without any callback. Returns whether there is such an owner.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Chase);
    /// assert!(batch.set_previous(bob, &Idle));
    /// assert_eq!(batch.previous_of(bob).unwrap().name(), "Idle");
    /// ```
    pub fn set_previous(&mut self, key: Key, previous: impl Into<StateRef<T>>) -> bool {
        self.store.with_fsm(key.0, |_, fsm| fsm.seat.previous = previous.into()).is_some()
    }

    /// Returns an owner's current state for editing, if it is an owned one of type `S`. See
    /// [`StateMachine::current_mut`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// #[derive(Clone)]
    /// struct Patrol { stops: Vec<u32> }
    /// impl State<Enemy> for Patrol {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, Box::new(Patrol { stops: vec![1, 2] }));
    /// batch.current_mut::<Patrol>(bob).unwrap().stops.push(3);
    /// assert_eq!(batch.state_of(bob).unwrap().downcast_ref::<Patrol>().unwrap().stops, [1, 2, 3]);
    /// assert!(batch.current_mut::<Idle>(bob).is_none());
    /// ```
    pub fn current_mut<S: State<T>>(&mut self, key: Key) -> Option<&mut S> {
        self.store.own_state_mut(key.0)?.owned_mut()
    }

    fn execute(&mut self, key: Key, request: &Request<T>, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.execute_now(request, owner, cx)).unwrap_or(false)
    }
}

/// Reading a batch.
impl<T: Owner> Batch<T> {
    /// Returns the number of owners.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Chase);
    /// assert_eq!(batch.len(), 2);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether there are no owners.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(!batch.is_empty());
    /// batch.remove(bob);
    /// assert!(batch.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is an owner of this key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.contains(bob));
    /// batch.remove(bob);
    /// assert!(!batch.contains(bob));
    /// ```
    #[must_use]
    pub fn contains(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Returns an owner. `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Idle);
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert_eq!(batch.get(bob), Some(&Enemy("Bob")));
    /// ```
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&T> {
        self.store.owner(key.0)
    }

    /// Returns an owner. `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Idle);
    /// batch.get_mut(bob).unwrap().0 = "Miner Bob";
    /// assert_eq!(batch.get(bob), Some(&Enemy("Miner Bob")));
    /// ```
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.store.owner_mut(key.0)
    }

    /// Returns the keys, in their own order.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// let elsa = batch.insert(Enemy, &Chase);
    /// assert_eq!(batch.keys().collect::<Vec<_>>(), [bob, elsa]);
    /// ```
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.store.keys().map(Key)
    }

    /// Returns the owners with their keys, sorted by state as they are stored.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy("Bob"), &Idle);
    /// batch.insert(Enemy("Elsa"), &Chase);
    /// batch.insert(Enemy("Joe"), &Idle);
    /// let names: Vec<_> = batch.iter().map(|(_, enemy)| enemy.0).collect();
    /// assert_eq!(names, ["Bob", "Joe", "Elsa"]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.store.iter().map(|(key, owner)| (Key(key), owner))
    }

    /// Returns the owners with their keys, sorted by state as they are stored.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Idle);
    /// for (_, enemy) in batch.iter_mut() {
    ///     enemy.0 = "nobody";
    /// }
    /// assert_eq!(batch.get(bob), Some(&Enemy("nobody")));
    /// ```
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        self.store.iter_mut().map(|(key, owner)| (Key(key), owner))
    }

    /// Returns the state that runs beside every other.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let batch = Batch::<Enemy>::new();
    /// assert!(batch.global().is_none());
    /// ```
    #[must_use]
    pub fn global(&self) -> Option<&StateRef<T>> {
        self.store.global.as_option()
    }

    /// Returns an owner's current state. `None` for a stale key, or when it has none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert_eq!(batch.state_of(bob).unwrap().name(), "Idle");
    /// ```
    #[must_use]
    pub fn state_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.row(key.0)?.current(0).as_option()
    }

    /// Returns the state that an owner's current was before the last change. `None` for a stale key, or when there was none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.previous_of(bob).is_none());
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert_eq!(batch.previous_of(bob).unwrap().name(), "Idle");
    /// ```
    #[must_use]
    pub fn previous_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.row(key.0)?.previous(0).as_option()
    }

    /// Returns whether `state` is active for an owner: its current, or an ancestor of it. `false` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.is_in_state(bob, &Idle));
    /// assert!(!batch.is_in_state(bob, &Chase));
    /// ```
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, key: Key, state: &S) -> bool {
        self.store.row(key.0).is_some_and(|row| row.seat(0).is_in_state(state))
    }

    /// Returns whether any state of type `S` is active for an owner. `false` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// #[derive(Clone)]
    /// struct Patrol { stops: Vec<u32> }
    /// impl State<Enemy> for Patrol {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, Box::new(Patrol { stops: vec![1, 2] }));
    /// assert!(batch.is_in::<Patrol>(bob));
    /// ```
    #[must_use]
    pub fn is_in<S: State<T>>(&self, key: Key) -> bool {
        self.store.row(key.0).is_some_and(|row| row.seat(0).is_in::<S>())
    }

    /// Returns how long ago an owner's last change was, in seconds by [`Owner::now`]; before the first change, the time by
    /// that clock (rule 18). `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, GameTime, Owner, State};
    /// use std::time::Duration;
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = GameTime;
    ///     type Message = ();
    ///
    ///     fn now(time: &GameTime) -> f64 {
    ///         time.total().as_secs_f64()
    ///     }
    /// }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut time = GameTime::new();
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// time.advance(Duration::from_secs(2));
    /// batch.change_state(bob, &Chase, &mut time);
    /// time.advance(Duration::from_secs(3));
    /// assert_eq!(batch.time_in_state(bob, &time), Some(3.0));
    /// ```
    #[must_use]
    pub fn time_in_state(&self, key: Key, cx: &T::Context<'_>) -> Option<f64> {
        Some(T::now(cx) - self.store.row(key.0)?.seat(0).entered_at)
    }

    /// Returns the owners whose current state is `state`, side by side: for instanced drawing, for instance.
    ///
    /// An owned state has one owner.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Enemy(&'static str);
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy("Bob"), &Idle);
    /// batch.insert(Enemy("Elsa"), &Chase);
    /// batch.insert(Enemy("Joe"), &Idle);
    /// assert_eq!(batch.owners_in(&Idle), [Enemy("Bob"), Enemy("Joe")]);
    /// ```
    #[must_use]
    pub fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        self.store.owners_in(state)
    }

    /// Returns how many owners are in each state, in the order in which the batch first saw the states.
    ///
    /// Owned states of one type count as one, by the first of them; and are left out, like owners without a state, when there
    /// is nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Owner, State};
    /// # struct Enemy;
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Idle;
    /// # struct Chase;
    /// # impl State<Enemy> for Idle {}
    /// # impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Chase);
    /// batch.insert(Enemy, &Idle);
    /// let census: Vec<_> = batch.census().map(|(state, owners)| (state.name(), owners)).collect();
    /// assert_eq!(census, [("Idle".into(), 2), ("Chase".into(), 1)]);
    /// ```
    pub fn census(&self) -> impl Iterator<Item = (&StateRef<T>, usize)> {
        self.store.census()
    }
}

/// Why a machine could not be put into a batch: its global is another. Gives owner and machine back.
///
/// # Examples
///
/// ```
/// # use demeanor::{Batch, Owner, State};
/// # struct Enemy;
/// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
/// # struct Idle;
/// # struct Chase;
/// # impl State<Enemy> for Idle {}
/// # impl State<Enemy> for Chase {}
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
        write!(f, "the machine's global is {}, the batch's is {batch_global}", NameOf(self.machine.global()))
    }
}

impl<T: Owner> fmt::Debug for ForeignGlobal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Owner> Error for ForeignGlobal<T> {}

impl<T: Owner + Clone> Clone for Batch<T> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), pass: Pass::new() }
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
