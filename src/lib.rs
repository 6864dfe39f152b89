//! State machines for game characters.
//!
//! You write a state once, as a small type that implements [`State`] for your character. A [`StateMachine`] keeps which state
//! the character is in and calls `enter`, `update` and `exit` in an order that is written down rule by rule in
//! `docs/semantics.md`. States are shared and hold no character's data, so one state object serves them all.
//!
//! This page teaches the crate from top to bottom. Each step goes on where the last one ended.
//!
//! # An owner, its states, a machine
//!
//! The *owner* is whoever behaves: an enemy, a door, a menu. It says what its callbacks are given besides itself, the
//! *context*, and what can be sent to it. [`GameTime`] is a context made for the purpose: a clock that the game advances.
//!
//! ```
//! use demeanor::{Fsm, GameTime, Owner, State, StateMachine};
//! use std::time::Duration;
//!
//! struct Enemy {
//!     rethink: Duration,
//!     sees_player: bool,
//! }
//!
//! impl Owner for Enemy {
//!     type Context<'a> = GameTime;
//!     type Message = ();
//! }
//!
//! struct Idle;
//! struct Wander;
//!
//! impl State<Enemy> for Idle {
//!     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut GameTime) {
//!         enemy.rethink = Duration::from_secs(5);
//!     }
//!
//!     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, time: &mut GameTime) {
//!         enemy.rethink = enemy.rethink.saturating_sub(time.elapsed());
//!         if enemy.rethink.is_zero() {
//!             fsm.change_state(&Wander);
//!         }
//!     }
//! }
//!
//! impl State<Enemy> for Wander {}
//!
//! let mut enemy = Enemy { rethink: Duration::ZERO, sees_player: false };
//! let mut time = GameTime::new();
//! let mut machine = StateMachine::new(&Idle);
//!
//! machine.start(&mut enemy, &mut time); // enter
//! time.advance(Duration::from_secs(5));
//! machine.update(&mut enemy, &mut time); // one tick
//! assert!(machine.is_in_state(&Wander));
//! assert_eq!(machine.previous().unwrap().name(), "Idle");
//! ```
//!
//! `&Idle` is all there is to a singleton: a unit struct's every mention is the same state. The machine does not hold the
//! owner, so a state may borrow both; [`Agent`] keeps the two together where that is handier.
//!
//! # Requests
//!
//! [`Fsm`], the handle in a callback, answers questions (`current`, `previous`, `is_in_state`, `time_in_state`) and takes
//! *requests*: `change_state`, `revert_state`, `push_state`, `pop_state`, `resume_state`. A request is carried out when the
//! callback has returned, several in the order made. So code after `fsm.change_state(&Wander)` still runs in the old state. A
//! change is: old state's `exit`, swap, new state's `enter`. What `enter` asks for follows when the change is complete; in
//! `exit` nothing can be asked for.
//!
//! [`StateMachine`] has the same verbs for use from outside, where they act at once and return whether it was done.
//!
//! # A state beside every other
//!
//! What holds in any state goes into the *global* state. It is updated first in each tick, and never entered or left:
//!
//! ```
//! # use demeanor::{Fsm, Owner, State, StateMachine};
//! # struct Enemy { sees_player: bool }
//! # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
//! # struct Idle; struct Chase;
//! # impl State<Enemy> for Idle {}
//! # impl State<Enemy> for Chase {}
//! struct Awareness;
//!
//! impl State<Enemy> for Awareness {
//!     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) {
//!         if enemy.sees_player && !fsm.is_in_state(&Chase) {
//!             fsm.change_state(&Chase);
//!         } else if !enemy.sees_player && fsm.is_in_state(&Chase) {
//!             fsm.revert_state();
//!         }
//!     }
//! }
//!
//! let mut enemy = Enemy { sees_player: true };
//! let mut machine = StateMachine::new(&Idle).with_global(&Awareness);
//! machine.update(&mut enemy, &mut ());
//! assert!(machine.is_in_state(&Chase));
//!
//! enemy.sees_player = false;
//! machine.update(&mut enemy, &mut ());
//! assert!(machine.is_in_state(&Idle));
//! ```
//!
//! # A context that borrows
//!
//! A context lives for one call only, so it may borrow from the world: no `Rc`, no global variables.
//!
//! ```
//! use demeanor::{Fsm, Owner, State, StateMachine};
//!
//! struct Enemy {
//!     place: usize,
//! }
//!
//! struct Level<'a> {
//!     noise: &'a [f32],
//!     alarms: &'a mut u32,
//! }
//!
//! impl Owner for Enemy {
//!     type Context<'a> = Level<'a>;
//!     type Message = ();
//! }
//!
//! struct Listen;
//!
//! impl State<Enemy> for Listen {
//!     fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, level: &mut Level<'_>) {
//!         if level.noise[enemy.place] > 0.5 {
//!             *level.alarms += 1;
//!         }
//!     }
//! }
//!
//! let (noise, mut alarms) = (vec![0.1, 0.9], 0);
//! let mut machine = StateMachine::new(&Listen);
//! machine.update(&mut Enemy { place: 1 }, &mut Level { noise: &noise, alarms: &mut alarms });
//! assert_eq!(alarms, 1);
//! ```
//!
//! # Messages, and states inside states
//!
//! A state's [`parent`](State::parent) is the state around it, whose `update` and `on_message` run too. A change exits up to
//! the deepest common ancestor and enters down from there. A message is offered to the innermost state first, then outward,
//! last to the global, until one returns `true`.
//!
//! ```
//! use demeanor::{Fsm, Owner, State, StateMachine, StateRef};
//!
//! struct Enemy;
//!
//! enum Heard {
//!     Alarm,
//!     Whistle,
//! }
//!
//! impl Owner for Enemy {
//!     type Context<'a> = ();
//!     type Message = Heard;
//! }
//!
//! struct OffDuty;
//! struct Sleep;
//! struct Fight;
//!
//! impl State<Enemy> for OffDuty {
//!     fn on_message(&self, _: &mut Enemy, heard: &Heard, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
//!         match heard {
//!             Heard::Alarm => fsm.change_state(&Fight),
//!             Heard::Whistle => return false,
//!         }
//!         true
//!     }
//!
//!     fn initial(&self) -> Option<StateRef<Enemy>> {
//!         Some((&Sleep).into())
//!     }
//! }
//!
//! impl State<Enemy> for Sleep {
//!     fn parent(&self) -> Option<StateRef<Enemy>> {
//!         Some((&OffDuty).into())
//!     }
//! }
//!
//! impl State<Enemy> for Fight {}
//!
//! let mut machine = StateMachine::idle();
//! machine.change_state(&mut Enemy, &OffDuty, &mut ()); // and down to its initial state
//! assert!(machine.is_in_state(&Sleep) && machine.is_in_state(&OffDuty));
//!
//! assert!(!machine.send(&mut Enemy, &Heard::Whistle, &mut ()));
//! assert!(machine.send(&mut Enemy, &Heard::Alarm, &mut ()));
//! assert!(machine.is_in_state(&Fight) && !machine.is_in_state(&OffDuty));
//! ```
//!
//! [`Cast`] holds characters of different types who send each other [`Telegram`]s from within their callbacks;
//! [`Dispatcher`] is the queue of those that arrive later.
//!
//! # Guards, stack, history
//!
//! [`can_enter`](State::can_enter) and [`can_exit`](State::can_exit) may refuse a change before any of it happens.
//! `push_state` puts a state over the current one and `pop_state` goes back to it: a pause menu, a stagger. `resume_state`
//! goes back into a composite state where it was left, if [its history is kept](State::keeps_history).
//!
//! ```
//! use demeanor::{Owner, State, StateMachine};
//!
//! struct Game {
//!     is_online: bool,
//! }
//!
//! impl Owner for Game {
//!     type Context<'a> = ();
//!     type Message = ();
//! }
//!
//! struct Playing;
//! struct Paused;
//!
//! impl State<Game> for Playing {}
//!
//! impl State<Game> for Paused {
//!     fn can_enter(&self, game: &Game, _: &()) -> bool {
//!         !game.is_online
//!     }
//! }
//!
//! let mut machine = StateMachine::new(&Playing);
//! assert!(!machine.push_state(&mut Game { is_online: true }, &Paused, &mut ()));
//! assert!(machine.push_state(&mut Game { is_online: false }, &Paused, &mut ()));
//! assert!(machine.is_in_state(&Paused));
//! assert!(machine.pop_state(&mut Game { is_online: false }, &mut ()));
//! assert!(machine.is_in_state(&Playing));
//! ```
//!
//! # States with data
//!
//! What belongs to a character lives in the owner. Where a state needs data of its own, there are three ways, all of them a
//! [`StateRef`]: a `static` for what the program knows, an `Arc` for what many owners share, and a `Box` for an owner's own.
//!
//! ```
//! use demeanor::{Owner, State, StateMachine};
//! # struct Enemy;
//! # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
//!
//! #[derive(Clone)]
//! struct Patrol {
//!     route: Vec<(i32, i32)>,
//! }
//!
//! impl State<Enemy> for Patrol {}
//!
//! let mut machine = StateMachine::<Enemy>::new(Box::new(Patrol { route: vec![(0, 9)] }));
//! let before = machine.clone(); // cheap: shares the state until one of the two edits it
//!
//! machine.current_mut::<Patrol>().unwrap().route.push((4, 9));
//! let route = |machine: &StateMachine<Enemy>| machine.current().unwrap().downcast_ref::<Patrol>().unwrap().route.len();
//! assert_eq!((route(&machine), route(&before)), (2, 1));
//! ```
//!
//! # Many owners
//!
//! A [`Batch`] holds many owners with their machines, sorted by state, and updates those of one state where they lie side by
//! side. The states are the same, and so is what each owner sees; an owner goes by its key.
//!
//! ```
//! use demeanor::{Batch, Fsm, Owner, State};
//!
//! struct Zombie {
//!     health: u32,
//! }
//!
//! impl Owner for Zombie {
//!     type Context<'a> = ();
//!     type Message = ();
//! }
//!
//! struct Burn;
//! struct Dead;
//!
//! impl State<Zombie> for Burn {
//!     fn update(&self, zombie: &mut Zombie, fsm: &mut Fsm<'_, Zombie>, _: &mut ()) {
//!         zombie.health -= 1;
//!         if zombie.health == 0 {
//!             fsm.change_state(&Dead);
//!         }
//!     }
//! }
//!
//! impl State<Zombie> for Dead {}
//!
//! let mut horde = Batch::new();
//! let weak = horde.insert(Zombie { health: 1 }, &Burn);
//! horde.insert(Zombie { health: 9 }, &Burn);
//! horde.update(&mut ());
//! assert_eq!(horde.state_of(weak).unwrap().name(), "Dead");
//! assert_eq!(horde.owners_in(&Burn)[0].health, 8);
//! ```
//!
//! # Seeing what happens
//!
//! Each change is logged at debug with the owner's [`label`](Owner::label) and the states' names, misuse at warn, a cycle of
//! changes at error: `RUST_LOG=demeanor=debug` with a logger such as `env_logger`. [`Owner::on_change`] tells the owner
//! itself. Nothing a state can ask for panics.
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `std` (default) | `Batch`; without it the crate is `no_std` with `alloc` |
//! | `parallel` | `Batch::par_update`, on all cores |
//! | `mock` | `mock::MockState`, a state whose calls a test expects |
//! | `serde` | `Serialize` and `Deserialize` for [`GameTime`], [`Telegram`] and a batch's keys |
//!
//! # Further
//!
//! In the repository and in the package: `docs/semantics.md` (what happens in which order, and the test for each rule),
//! `docs/porting.md` (from C# and C++), `docs/testing.md` (states and machines in tests).
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod agent;
#[cfg(feature = "std")]
pub mod batch;
mod cast;
mod change;
#[cfg(feature = "definition")]
pub mod definition;
mod fsm;
mod machine;
mod machine_mut;
mod message;
#[cfg(feature = "mock")]
pub mod mock;
mod owner;
mod requests;
mod seat;
mod single;
mod slice;
mod state;
mod step;
mod time;
mod transition;

pub use agent::Agent;
#[cfg(feature = "std")]
pub use batch::{Batch, ForeignGlobal, Key};
pub use cast::{Cast, Delivery, KeyTaken, UnknownReceiver};
pub use change::{Cause, Change, Outcome, Refusal};
pub use fsm::Fsm;
pub use machine::StateMachine;
pub use machine_mut::MachineMut;
pub use message::{Dispatcher, Telegram};
pub use owner::Owner;
pub use slice::FsmSlice;
pub use state::{IntoState, State, StateRef};
pub use step::Step;
pub use time::GameTime;

/// Runs the code in the pages that are no Rust files.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    mod readme {}

    #[doc = include_str!("../docs/semantics.md")]
    mod semantics {}

    #[doc = include_str!("../docs/porting.md")]
    mod porting {}

    #[cfg(feature = "mock")]
    #[doc = include_str!("../docs/testing.md")]
    mod testing {}
}
