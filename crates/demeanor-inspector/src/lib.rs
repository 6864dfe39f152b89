//! Shows the state machines of [`demeanor`] live in a browser.
//!
//! An [`Inspector`] serves a page. For any number of owners, it shows the number of owners in each state over time, the changes
//! between states, and the owners that stay in a state long, are often refused, or change back and forth. For one owner it
//! shows the timeline, the stack, the timers, and why the owner does not change.
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
//! Every [`Crowd`] can be shown: a [`Batch`](demeanor::Batch), a slice or `Vec` of [`Agent`](demeanor::Agent)s, [`Machines`]
//! for machines that are stored anywhere, and the members of a [`Cast`](demeanor::Cast). Crowds other than a batch get their
//! journal by [`with_journal`](Crowd::with_journal). With the feature `definition`, [`with_definition`](Crowd::with_definition)
//! adds the exits from a file, taken or not, and [`Inspector::explain`] explains each of them.
//!
//! With the feature `bevy`, `bevy::InspectorPlugin` shows the machines of Bevy's entities.
//!
//! # Pause, step, and changing a state by hand
//!
//! The page is read-only, unless the game calls [`allow_commands`](Inspector::allow_commands). Then
//! [`should_update`](Inspector::should_update) tells the game whether to update, and [`obey`](Inspector::obey) carries out the
//! changes that a user has requested in the page. In Bevy, `bevy::AppExtInspector::obey_machines` does both.
//!
//! # What it costs
//!
//! With no page open, [`show`](Inspector::show) only reads a number, and once a second counts the owners in each state. With a
//! page open, it collects counts four times a second; a batch knows these without visiting its owners. Longer work, such as the
//! search for the longest stays, is spread over ticks. A single owner is inspected only while a page watches it. The server has its
//! own thread, for which the game never waits.
//!
//! # Who can see it
//!
//! Only programs on the same computer, unless the game allows others ([`Inspector::bind_anywhere`]). Pages of other origins
//! cannot see it, not even through a host name that resolves to this computer.
// On docs.rs, each item shows the feature that it needs.
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
pub use crowd::{Count, Crowd, CrowdMut, Data, Exit, Machines, WithData, WithJournal, WithMessages};
pub use inspector::Inspector;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
