//! Server-sent events for the open pages.

use std::sync::Arc;

use serde::Serialize;

/// One event, ready to be sent to any number of pages.
pub type Bytes = Arc<[u8]>;

/// Returns the head of the endless answer.
pub(crate) fn head() -> Vec<u8> {
    let headers = crate::answer::HEADERS;
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n{headers}\r\nretry: 500\n\n")
        .into_bytes()
}

/// Returns an event that shows that the connection is alive.
pub(crate) fn heartbeat() -> Bytes {
    Arc::from(&b":\n\n"[..])
}

/// Returns an event with this name. Its content is JSON.
pub fn event(name: &str, content: &impl Serialize) -> Bytes {
    let mut bytes = format!("event: {name}\ndata: ").into_bytes();
    if let Err(why) = serde_json::to_writer(&mut bytes, content) {
        // Serialization can fail only for a map whose keys are not texts.
        log::error!(target: "demeanor_inspector", "{name} is not written: {why}");
        return heartbeat();
    }
    bytes.extend_from_slice(b"\n\n");
    bytes.into()
}

/// The newest event of each name for all pages. A slow page gets the events that are newest when its turn comes.
#[derive(Default)]
pub(crate) struct Latest {
    /// By name: the version and the event.
    list: Vec<(String, u64, Bytes)>,
    count: u64,
}

impl Latest {
    pub(crate) fn set(&mut self, name: &str, bytes: Bytes) {
        self.count += 1;
        match self.list.iter_mut().find(|(other, ..)| other == name) {
            Some((_, version, old)) => (*version, *old) = (self.count, bytes),
            None => self.list.push((name.to_owned(), self.count, bytes)),
        }
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.list.retain(|(name, ..)| is_kept(name));
    }

    /// Returns the oldest event that is newer than a version, with its own version.
    pub(crate) fn next(&self, seen: u64) -> Option<(u64, Bytes)> {
        let newer = self.list.iter().filter(|(_, version, _)| *version > seen);
        newer.min_by_key(|(_, version, _)| *version).map(|(_, version, bytes)| (*version, Arc::clone(bytes)))
    }
}
