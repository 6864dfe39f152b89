//! The events for the open pages that do not belong to a crowd.

use demeanor_loopback::{Bytes, event};
use serde_json::json;

/// The name of the news about the game. No crowd can have it.
pub(super) const STATUS: &str = "\0status";

/// `stop` is why the game has paused at a breakpoint.
pub(super) fn status(is_paused: bool, stop: Option<&str>) -> Bytes {
    event("status", &json!({ "paused": is_paused, "stop": stop }))
}

/// Returns the first event of a page. It contains the token, because other origins cannot read it.
pub(super) fn hello(token: &str, are_commands_allowed: bool) -> Bytes {
    let version = env!("CARGO_PKG_VERSION");
    event("hello", &json!({ "version": version, "token": token, "commands": are_commands_allowed }))
}
