//! What the open pages are told, as server-sent events.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::picture::Picture;

/// One event, ready to be sent to any number of pages.
pub(super) type Bytes = Arc<[u8]>;

/// The head of the answer that never ends.
pub(super) fn head() -> Vec<u8> {
    let headers = super::answer::HEADERS;
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n{headers}\r\nretry: 500\n\n")
        .into_bytes()
}

/// What keeps a connection from looking dead.
pub(super) fn heartbeat() -> Bytes {
    Arc::from(&b":\n\n"[..])
}

pub(super) fn event(name: &str, content: &impl Serialize) -> Bytes {
    let mut bytes = format!("event: {name}\ndata: ").into_bytes();
    if let Err(why) = serde_json::to_writer(&mut bytes, content) {
        // Only a map whose keys are no text could do that.
        log::error!(target: "demeanor_inspector", "{name} is not written: {why}");
        return heartbeat();
    }
    bytes.extend_from_slice(b"\n\n");
    bytes.into()
}

/// What a page is told first. Other origins cannot read it, so it is where the token is.
pub(super) fn hello(token: &str, are_commands_allowed: bool) -> Bytes {
    let version = env!("CARGO_PKG_VERSION");
    event("hello", &json!({ "version": version, "token": token, "commands": are_commands_allowed }))
}

/// The newest of everything that all pages are told. A page that is slow gets what is newest when its turn comes.
pub(super) struct Latest {
    /// By name, each with how often it was set.
    list: Vec<(String, u64, Bytes)>,
    count: u64,
    is_paused: Option<bool>,
}

/// The name of what is no crowd. A crowd cannot have it.
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

    /// The oldest that is newer than a version, with its own.
    pub(super) fn next(&self, seen: u64) -> Option<(u64, Bytes)> {
        let newer = self.list.iter().filter(|(_, version, _)| *version > seen);
        newer.min_by_key(|(_, version, _)| *version).map(|(_, version, bytes)| (*version, Arc::clone(bytes)))
    }
}
