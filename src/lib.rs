//! State machines for game characters.
//!
//! You write a state once, as a small type that implements [`State`] for your character. A [`StateMachine`] knows which
//! state the character is in, and calls `enter`, `update` and `exit`. [The rules](docs::semantics) define the order of
//! these calls. A state usually holds no data of a character, so one state object serves all characters.
//!
//! The [tour](docs::tour) teaches the crate in eleven steps, with one character that learns something new in each step. This
//! page is an overview of the crate. Each of its examples is complete.
//!
//! # An owner, its states, a machine
//!
//! The *owner* is what a machine belongs to: an enemy, a door, a menu. Its [`Owner`] impl names two types: the
//! *context*, which every callback gets besides the owner, and the messages that can be sent to the owner. [`GameTime`]
//! is a ready-made context: a clock that the game advances.
//!
//! ```
//! use demeanor::{Fsm, GameTime, Owner, State, StateMachine};
//! use std::time::Duration;
//!
//! struct Enemy {
//!     rethink: Duration,
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
//! let mut enemy = Enemy { rethink: Duration::ZERO };
//! let mut time = GameTime::new();
//! let mut machine = StateMachine::new(&Idle);
//!
//! machine.start(&mut enemy, &mut time); // runs `enter`
//! time.advance(Duration::from_secs(5));
//! machine.update(&mut enemy, &mut time); // one tick
//! assert!(machine.is_in_state(&Wander));
//! assert_eq!(machine.previous().unwrap().name(), "Idle");
//! ```
//!
//! A state without data is a unit struct, and `&Idle` is the same state wherever it is written. The machine does not
//! contain the owner, so a callback can borrow both. If it is more convenient to keep them together, use an [`Agent`].
//!
//! # Requests
//!
//! A callback gets an [`Fsm`], the handle to its owner's machine. The handle has queries: `current`, `previous`,
//! `is_in_state`, `time_in_state`. The callback can also make *requests* with it:
//!
//! | request | what it asks for |
//! |---|---|
//! | `change_state(&Chase)` | the `exit` of the current state, then the `enter` of `Chase` |
//! | `ensure_state(&Chase)` | the same, unless `Chase` is active already |
//! | `force_state(&Dead)` | a change that the active states cannot refuse |
//! | `replace_state(&Chase)` | a change instead of those that are requested already |
//! | `revert_state()` | a change to the previous state |
//! | `push_state(&Paused)`, `pop_state()` | a state on top of the current one, and back |
//! | `resume_state(&Patrol)` | a change to the state inside `Patrol` that was active last |
//! | `stay()` | in an `enter`: the change ends here, and the states further inside are not entered |
//! | `send(message)` | a message to the owner itself |
//! | `change_state_after(2.5, &Patrol)`, `send_after(2.5, message)` | such a change or message after 2.5 seconds |
//! | `send_every(2.5, message)` | such a message every 2.5 seconds |
//! | `change_state_next(&Patrol)` | such a change at the beginning of the next tick |
//! | `sleep()`, `sleep_for(2.5)` | no updates until something wakes the machine, or for at most 2.5 seconds |
//!
//! A request is carried out when the callback has returned. Several requests are carried out in the order in which they
//! were made. So the code after `fsm.change_state(&Wander)` still runs in the old state. The requests of an `enter` are
//! carried out when the change is complete. A request made in `exit` is refused, because a change is already under way.
//!
//! These methods act within the call. The first two rows are for ports from C++ or C# that need this:
//!
//! | method | what it does |
//! |---|---|
//! | `change_state_now(owner, &Chase, cx)`, `send_now(owner, &message, cx)` | the earlier requests, then the change or message |
//! | `change_state_ahead(..)`, `send_ahead(..)` | the same, but before the earlier requests |
//! | `cancel(\|timer\| timer.is_to(&Patrol))` | ends the timers for which the closure returns `true` |
//! | `clear_requests()` | withdraws all requests that wait; timers that run go on |
//!
//! [`StateMachine`] has most of the requests as methods of the same names, for use from outside a callback. They act at
//! once. If a request can be refused, its method returns whether it was carried out.
//!
//! # The global state
//!
//! Put code that has to run in every state into the *global* state: `StateMachine::new(&Idle).with_global(&Awareness)`.
//! It runs beside the other states: it is updated first in each tick, and it is never entered or left. The tour has [an
//! example](docs::tour#4-a-global-state).
//!
//! # A context that borrows
//!
//! A context lives only for one call, so it can borrow from the world. You need no `Rc` and no global variable.
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
//! A state can lie inside another one, its [`parent`](State::parent). While the state is active, its parent is active
//! too, and the parent's `update` also runs. A state with children can name the child that is entered first, with
//! [`initial`](State::initial): a change to this state also enters that child, and so does [`start`](StateMachine::start).
//! A change between two children leaves their parent active.
//!
//! A state can have several [`regions`](State::regions) instead, with one active child in each: the legs walk while the
//! arms aim. [`active_states`](StateMachine::active_states) returns all active states. The tour has [an
//! example](docs::tour#7-two-states-at-once).
//!
//! A message is offered to the innermost state first, then to its ancestors, and last to the global state, until one of
//! them returns `true`.
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
//! let mut machine = StateMachine::new(&OffDuty);
//! machine.start(&mut Enemy, &mut ()); // enters `OffDuty`, then `Sleep`
//! assert!(machine.is_in_state(&Sleep) && machine.is_in_state(&OffDuty));
//!
//! assert!(!machine.send(&mut Enemy, &Heard::Whistle, &mut ()));
//! assert!(machine.send(&mut Enemy, &Heard::Alarm, &mut ()));
//! assert!(machine.is_in_state(&Fight) && !machine.is_in_state(&OffDuty));
//! ```
//!
//! A [`Cast`] holds characters of different types that send [`Telegram`]s to each other from within their callbacks. If
//! your game's own struct should be the context of these characters, implement [`CastContext`] for it. A [`Dispatcher`]
//! is the queue of telegrams that arrive later.
//!
//! # Guards and time
//!
//! [`can_exit`](State::can_exit) and [`can_enter`](State::can_enter) can refuse a change before any part of it happens.
//! They can read from the handle which states are active, [for how long](Fsm::time_in_state), and [where the change
//! leads](Fsm::target); they cannot make requests. The time comes from [`Owner::now`], in seconds. The tour has [an
//! example](docs::tour#3-a-guard-and-time): a chase that lasts at least two seconds. When a character has to leave such a
//! state anyway, because it dies, request this with [`force_state`](Fsm::force_state).
//!
//! Each active state has its own time: [`time_in(&Combat, cx)`](Fsm::time_in) is the time in `Combat`, which goes on
//! while the children of `Combat` change.
//!
//! # Stack and history
//!
//! `push_state` puts a state on top of the current one, for example a pause menu or a stagger, and `pop_state` goes
//! back. The state below is suspended, and its time is paused. `resume_state` goes back into a state with children, to
//! the innermost state that was active last in it, if [its history is kept](State::keeps_history).
//!
//! ```
//! use demeanor::{Fsm, Owner, State, StateMachine};
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
//!     fn can_enter(&self, game: &Game, _: &Fsm<'_, Game>, _: &()) -> bool {
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
//! The data of a character lives in the owner. If a state needs data of its own, there are three ways to keep it: a
//! `static` for data that is known at compile time, an `Arc` for data that many owners share, and a `Box` for data of
//! one owner alone. Everything that you can pass as a state implements [`IntoState`]; a machine keeps a [`StateRef`] to
//! it.
//!
//! ```
//! use demeanor::{Owner, State, StateMachine};
//! struct Enemy;
//! impl Owner for Enemy { type Context<'a> = (); type Message = (); }
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
//! A [`Batch`] holds many owners with their machines. It keeps them sorted by state, so that all owners in one state
//! lie side by side and are updated in one loop. You use the same states, and each owner gets its callbacks in the same
//! order as with a machine of its own. You find an owner by its key. The tour has [an example](docs::tour#8-many-dogs).
//!
//! # Seeing what happens
//!
//! Each change is logged at level debug, with the owner's [`label`](Owner::label) and the names of the states. Misuse
//! is logged at warn, and an endless cycle of changes at error. No request panics. You see the log only if the program
//! has a logger: add the crate `env_logger`, call `env_logger::init()` at the start of `main`, and run with
//! `RUST_LOG=demeanor=debug`.
//!
//! The owner itself can be told, too: [`Owner::on_change`] is called for each change before the new state's `enter`,
//! and for each change that a guard refuses. [`Owner::after_change`] is called when a change is complete.
//! [`Owner::after_update`] is called at the end of each tick in which a state was updated, and sees the machine as it is then.
//!
//! For many owners, a [`Journal`] lists the changes and a [`Flow`] counts them. A flow can be drawn as a [diagram]. It
//! also shows which exits in a definition file no test has taken. A journal can be written as a [trace](journal::Trace)
//! for Perfetto.
//! [A page of these docs](docs::journal) shows all of this.
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `std` (default) | [`Batch`], [`Journal`], [`Flow`], [`diagram`], [`DigestHasher`]; without it, `no_std` with `alloc` |
//! | `parallel` | `Batch::par_update`, `Batch::par_broadcast` and `Batch::par_extend`: on all cores |
//! | `definition` | module `definition`: machines from files that a designer edits; needs `std` |
//! | `script` | conditions and behaviors of such a file, written in Rhai |
//! | `watch` | `definition::Watch`, which reloads such a file when it is saved |
//! | `mock` | `mock::MockState`, a state whose calls a test expects; needs `std` |
//! | `tracing` | each change as an event of `tracing`, with fields |
//! | `serde` | module `save`: machines, casts and batches saved and loaded, and replays; `Serialize` and `Deserialize` for [`GameTime`], [`Telegram`], [`Dispatcher`] and a batch's keys |
//!
//! # Further reading
//!
//! The module [`docs`] has the pages: the [tour](docs::tour), a [cookbook](docs::cookbook), the
//! [rules](docs::semantics) with the tests for each, how to [port](docs::porting) from C#, C++ and other libraries,
//! [files](docs::definitions) that a designer edits, [saved games](docs::saving), [tests](docs::testing), and [why
//! nothing happens](docs::why).
#![cfg_attr(not(feature = "std"), no_std)]
// On docs.rs, each item says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The core contains functions that only definitions call. Because the core does not name the features that are built on it,
// these functions have no `cfg`. A build with definitions still finds functions that nothing calls.
#![cfg_attr(not(feature = "definition"), allow(dead_code, unused_imports))]

extern crate alloc;

#[cfg(feature = "std")]
pub mod batch;
mod boxed;
mod cast;
mod change;
#[cfg(feature = "definition")]
pub mod definition;
#[cfg(feature = "std")]
pub mod diagram;
#[cfg(feature = "std")]
mod digest;
#[cfg(any(doc, doctest))]
pub mod docs;
#[cfg(feature = "definition")]
mod format;
mod fsm;
#[cfg(feature = "std")]
pub mod journal;
mod machine;
mod message;
#[cfg(feature = "mock")]
pub mod mock;
mod owner;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod pace;
#[cfg(feature = "serde")]
pub mod save;
#[cfg(feature = "std")]
mod shown;
mod slice;
mod span;
mod state;
mod time;

#[cfg(feature = "std")]
pub use crate::batch::{Batch, ForeignGlobal, Key};
pub use crate::cast::{Cast, CastContext, Delivery, KeyTaken, Members, NotActing, Unavailable, UnknownReceiver};
pub use crate::change::{Cause, Change, End, Guard, Outcome, Refusal};
#[cfg(feature = "std")]
pub use crate::digest::DigestHasher;
pub use crate::fsm::Fsm;
#[cfg(feature = "std")]
pub use crate::journal::{Flow, Journal};
pub use crate::machine::agent::Agent;
pub use crate::machine::report::{MachineReport, RegionReport, StateReport, TimerReport};
pub use crate::machine::state_machine::{MachineMut, StateMachine};
pub use crate::machine::step::Step;
pub use crate::machine::waiting::{NextWake, Pending};
pub use crate::message::{Dispatcher, Telegram};
pub use crate::owner::Owner;
#[cfg(all(feature = "serde", feature = "std"))]
pub use crate::save::SavedBatch;
#[cfg(feature = "serde")]
pub use crate::save::{CastBook, LoadError, Missing, SaveError, SavedAgent, SavedCast, SavedMachine, StateBook};
pub use crate::slice::FsmSlice;
pub use crate::state::{IntoState, State, StateRef};
pub use crate::time::GameTime;

/// Runs the code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
