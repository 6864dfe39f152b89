//! Server-sent events for the open pages.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::picture::Picture;

/// One event, ready to be sent to any number of pages.
pub(super) type Bytes = Arc<[u8]>;

/// Returns the head of the endless answer.
pub(super) fn head() -> Vec<u8> {
    let headers = super::answer::HEADERS;
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n{headers}\r\nretry: 500\n\n")
        .into_bytes()
}

/// Returns an event that shows that the connection is alive.
pub(super) fn heartbeat() -> Bytes {
    Arc::from(&b":\n\n"[..])
}

pub(super) fn event(name: &str, content: &impl Serialize) -> Bytes {
    let mut bytes = format!("event: {name}\ndata: ").into_bytes();
    if let Err(why) = serde_json::to_writer(&mut bytes, content) {
        // Serialization can fail only for a map whose keys are not texts.
        log::error!(target: "demeanor_inspector", "{name} is not written: {why}");
        return heartbeat();
    }
    bytes.extend_from_slice(b"\n\n");
    bytes.into()
}

/// Returns the first event of a page. It contains the token, because other origins cannot read it.
pub(super) fn hello(token: &str, are_commands_allowed: bool) -> Bytes {
    let version = env!("CARGO_PKG_VERSION");
    event("hello", &json!({ "version": version, "token": token, "commands": are_commands_allowed }))
}

/// The newest event of each kind for all pages. A slow page gets the events that are newest when its turn comes.
pub(super) struct Latest {
    /// By name: the version and the event.
    list: Vec<(String, u64, Bytes)>,
    count: u64,
    is_paused: Option<bool>,
}

/// The name of the event that does not belong to a crowd. No crowd can have it.
const STATUS: &str = "\0status";

impl Latest {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), count: 0, is_paused: None }
    }

    pub(super) fn set_picture(&mut self, picture: &Picture) {
        self.set(&picture.crowd, event("picture", picture));
    }

    pub(super) fn set_status(&mut self, is_paused: bool) {
        if self.is_paused.replace(is_paused) != Some(is_paused) {
            self.set(STATUS, event("status", &json!({ "paused": is_paused })));
        }
    }

    pub(super) fn forget_pictures(&mut self) {
        self.list.retain(|(name, ..)| name == STATUS);
    }

    fn set(&mut self, name: &str, bytes: Bytes) {
        self.count += 1;
        match self.list.iter_mut().find(|(other, ..)| other == name) {
            Some((_, version, old)) => (*version, *old) = (self.count, bytes),
            None => self.list.push((name.to_owned(), self.count, bytes)),
        }
    }

    /// Returns the oldest event that is newer than a version, with its own version.
    pub(super) fn next(&self, seen: u64) -> Option<(u64, Bytes)> {
        let newer = self.list.iter().filter(|(_, version, _)| *version > seen);
        newer.min_by_key(|(_, version, _)| *version).map(|(_, version, bytes)| (*version, Arc::clone(bytes)))
    }
}
