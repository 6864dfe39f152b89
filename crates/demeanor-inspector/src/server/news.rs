//! The events for the open pages that do not belong to a crowd.

use demeanor_loopback::{Bytes, event};
use serde::Serialize;
use serde_json::json;

use crate::shared::{Breakpoint, Stop};

/// What the pages know of the game.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Status {
    pub(super) paused: bool,
    /// Why the game has paused at a breakpoint.
    pub(super) stop: Option<Stop>,
    pub(super) breakpoints: Vec<Breakpoint>,
}

/// The name of the news about the game. No crowd can have it.
pub(super) const STATUS: &str = "\0status";

pub(super) fn status(status: &Status) -> Bytes {
    event("status", status)
}

/// Returns the first event of a page. It contains the token, because other origins cannot read it.
pub(super) fn hello(token: &str, are_commands_allowed: bool) -> Bytes {
    let version = env!("CARGO_PKG_VERSION");
    event("hello", &json!({ "version": version, "token": token, "commands": are_commands_allowed }))
}
