//! See the state machines of [`demeanor`] live in a browser.
//!
//! An [`Inspector`] serves a page. It shows, for any number of owners, how many are in each state over time, what flows from
//! state to state, who is in a state for long, refused often or changing back and forth; and of one owner its timeline, its
//! stack, its timers, and why it does not change.
//!
//! ```no_run
//! use demeanor::{Batch, Journal, Owner, State};
//!
//! struct Enemy;
//! impl Owner for Enemy { type Context<'a> = f64; type Message = (); fn now(seconds: &f64) -> f64 { *seconds } }
//! struct Idle;
//! impl State<Enemy> for Idle {}
//!
//! use demeanor_inspector::Inspector;
//!
//! let mut inspector = Inspector::bind("127.0.0.1:7878")?;
//! println!("{}", inspector.url());
//!
//! let mut batch = Batch::new();
//! batch.set_journal(Some(Journal::new(100_000))); // without one, there is no flow and no timeline
//! batch.insert(Enemy, &Idle);
//! let mut seconds = 0.0;
//! loop {
//!     seconds += 1.0 / 60.0;
//!     batch.update(&mut seconds);
//!     inspector.show("enemies", &batch, &seconds);
//! }
//! # #[expect(unreachable_code, reason = "the loop of a game")]
//! # Ok::<(), demeanor_inspector::BindError>(())
//! ```
//!
//! # What can be shown
//!
//! Whatever is a [`Crowd`]: a [`Batch`](demeanor::Batch), a slice or `Vec` of [`Agent`](demeanor::Agent)s, [`Machines`] for
//! machines kept anywhere, and the members of a [`Cast`](demeanor::Cast). All but a batch get their journal by
//! [`with_journal`](Crowd::with_journal). With the feature `definition`, [`with_definition`](Crowd::with_definition) adds the
//! exits that a file has, taken or not, and [`Inspector::explain`] says what becomes of each of them.
//!
//! With the feature `bevy`, `bevy::InspectorPlugin` shows the machines of Bevy's entities.
//!
//! # Pause, step, and changing a state by hand
//!
//! The page may only look, unless the game calls [`allow_commands`](Inspector::allow_commands). Then it asks
//! [`should_update`](Inspector::should_update) whether to update, and [`obey`](Inspector::obey) changes the owners that somebody
//! has asked for. In Bevy, `bevy::AppExtInspector::obey_machines` does both.
//!
//! # What it costs
//!
//! With no page open, [`show`](Inspector::show) is one look at a number. With one open, it collects counts four times a second;
//! of a batch, these are known without walking its owners. What takes longer, such as looking for who has been in a state
//! longest, is spread over ticks. A single owner is looked at only while a page watches it. The server has a thread of its own,
//! for which the game never waits.
//!
//! # Who can see it
//!
//! Programs on the same computer, unless the game says otherwise ([`Inspector::bind_anywhere`]). Pages of other origins can not,
//! not even by a name that leads to this computer.
// On docs.rs, each item says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
#[cfg(feature = "bevy")]
pub mod bevy;
mod command;
mod crowd;
mod gather;
mod guards;
mod inspector;
mod kinds;
mod picture;
mod server;
mod shared;
mod waiting;

pub use address::BindError;
pub use command::{Command, CommandKind};
#[cfg(feature = "definition")]
pub use crowd::WithDefinition;
pub use crowd::{Count, Crowd, CrowdMut, Exit, Machines, WithJournal};
pub use inspector::Inspector;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
