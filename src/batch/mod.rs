//! Many owners, sorted by state.

mod asked;
mod by_key;
mod changes;
mod columns;
mod container;
mod individuals;
mod key;
mod machines;
mod moves;
mod numbers;
mod outcome;
mod panics;
#[cfg(feature = "parallel")]
mod parallel;
mod pass;
mod queries;
mod rows;
mod slots;
mod states;
mod store;
mod unused;

use std::error::Error;
use std::fmt;

pub use self::container::{Drain, Iter, IterMut, Keys};
pub use self::key::Key;
use self::panics::FirstPanic;
#[cfg(feature = "parallel")]
use self::parallel::Workers;
use self::pass::{CHUNK, Part, Pass};
use self::store::Store;
use crate::change::NameOf;
use crate::machine::StateMachine;
use crate::owner::Owner;
use crate::seat::Seat;
#[cfg(doc)]
use crate::state::State;
use crate::state::{IntoState, StateRef};

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
/// It pays where states compute: for some hundred nanoseconds each, two cores are nearly twice as fast as one from ten
/// thousand owners on. To wake the threads takes some ten microseconds, and it is one of them that moves the owners to their
/// new buckets; so where states do next to nothing, `update` is faster up to a hundred thousand owners, and little slower
/// beyond.
///
/// # Memory
///
/// Beside the owners a batch keeps 24 bytes for each, 32 once a clock is used, and something more for those with a
/// stack, a history, or an owned state as previous. The vectors keep their room: a bucket that once was full has the
/// capacity still, so that a horde that moves to and fro soon allocates nothing.
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
        Self::of(Store::with_capacity(0))
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
    pub fn with_global(mut self, global: impl IntoState<T>) -> Self {
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
    pub fn insert(&mut self, owner: T, state: impl IntoState<T>) -> Key {
        self.store.insert(owner, Seat::new(state.into_state()))
    }

    /// Adds an owner in `state` and runs `enter` along its path, as [`StateMachine::start`] does.
    ///
    /// # Panics
    ///
    /// As [`insert`](Self::insert), and when a callback panics: the owner is then dropped, since nobody has its key.
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
    pub fn spawn(&mut self, owner: T, state: impl IntoState<T>, cx: &mut T::Context<'_>) -> Key {
        let key = self.insert(owner, state);
        let mut panic = FirstPanic::new();
        if panic.catch(|| self.start(key, cx)).is_none() {
            panic.catch(|| drop(self.remove(key)));
        }
        panic.resume();
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
            return Err(ForeignGlobal { owner, machine, batch_global: self.store.global.state.clone() });
        }
        Ok(self.store.insert(owner, machine.into_seat()))
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
        let (owner, seat) = self.store.remove(key)?;
        Some((owner, StateMachine::from_seat(seat, self.store.global.state.clone())))
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
        for key in self.keys().collect::<Vec<_>>() {
            self.store.with_single(key, |owner, single| single.tick(owner, cx));
        }
    }

    fn of(store: Store<T>) -> Self {
        Self {
            store,
            pass: Pass::new(),
            #[cfg(feature = "parallel")]
            workers: Workers::new(),
        }
    }

    fn update_those(&mut self, part: Part, cx: &mut T::Context<'_>) {
        let mut panic = FirstPanic::new();
        for nth in 0..self.store.states.order().len() {
            let Some(&bucket) = self.store.states.order().get(nth) else { break };
            self.update_bucket(bucket, part, &mut panic, cx);
            if !panic.is_none() {
                break;
            }
        }
        self.store.settle_all();
        self.store.unused.pay(self.len());
        self.store.tidy(&mut panic);
        panic.resume();
    }

    fn update_bucket(&mut self, bucket: u32, part: Part, panic: &mut FirstPanic, cx: &mut T::Context<'_>) {
        // From the last chunk to the first: the row that takes a mover's place has had its turn.
        for start in (0..self.store.buckets[bucket as usize].len()).step_by(CHUNK).rev() {
            self.pass.run(&mut self.store.chunk(bucket, start, CHUNK, part), cx);
            let outcome = &mut self.pass.outcome;
            if !outcome.is_empty() {
                self.store.move_rows(bucket, start, outcome);
            }
            if !outcome.panic.is_none() {
                panic.keep_other(&mut outcome.panic);
                return;
            }
        }
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

/// A clone has the same owners, states, keys and order, so that what follows is the same. `clone_from` keeps the room that
/// there is; if the `Clone` or `Drop` of an owner or a state panics in it, the batch is empty afterwards.
impl<T: Owner + Clone> Clone for Batch<T> {
    fn clone(&self) -> Self {
        Self::of(self.store.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        // They remember the numbers of states, which are others now.
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
