//! The web server of `demeanor`'s tools: it serves a page to the browser of the same computer.
//!
//! [`start`] runs an [`Application`] on a thread of its own. The server reads requests, refuses those from other origins, and passes
//! the others to the application, which answers at once, or later, or opens a stream of events.

mod answer;
mod connection;
mod events;
mod request;
mod rules;
mod secret;
mod server;

pub use answer::Answer;
pub use events::{Bytes, event};
/// The part of the pages that counts changes: a script with the class `Flow` and the function `way`.
pub const FLOW: &str = include_str!("../page/flow.js");

/// A script that keeps how many owners were in each state, for pages that show an inspector's pictures. It has the class `Past`.
pub const PAST: &str = include_str!("../page/past.js");

/// A script for pages that show the data of an owner. It has the function `linesOf`.
pub const DATA: &str = include_str!("../page/data.js");

/// A script for pages that list the messages of a crowd. It has the class `MessageList`.
pub const MESSAGES: &str = include_str!("../page/messages.js");

/// A script for pages that set breakpoints in a game. It has the class `Breakpoints`.
pub const BREAKPOINTS: &str = include_str!("../page/breakpoints.js");

#[doc(no_inline)]
pub use mio::Waker;
pub use request::{Read, Request, decoded};
pub use rules::Rules;
pub use secret::token;
pub use server::{Application, Client, Clients, Reply, start};
