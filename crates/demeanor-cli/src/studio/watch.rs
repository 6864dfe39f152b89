//! Looks every half second whether a file in the folder has been changed outside.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::hash::hash;
use super::shared::Shared;

const PAUSE: Duration = Duration::from_millis(500);

/// When a file was changed, and its length.
type Stamp = (Option<SystemTime>, u64);

/// The files that were seen last.
#[derive(Default)]
pub(super) struct Seen {
    stamps: BTreeMap<String, Stamp>,
    hashes: BTreeMap<String, String>,
    version: u64,
}

impl Seen {
    /// Looks at the files again. Returns the list for the pages if anything has changed.
    pub(super) fn look(&mut self, shared: &Shared) -> Option<serde_json::Value> {
        let mut stamps = BTreeMap::new();
        shared.project.folder.search(&mut |path, name| {
            if let Ok(about) = fs::metadata(path) {
                stamps.insert(name.to_owned(), (about.modified().ok(), about.len()));
            }
        });
        if stamps == self.stamps && self.version > 0 {
            return None;
        }
        let files = shared.project.folder.files();
        let old = std::mem::replace(&mut self.stamps, stamps);
        self.hashes.retain(|name, _| old.get(name).is_some_and(|stamp| self.stamps.get(name) == Some(stamp)));
        for name in &files {
            if !self.hashes.contains_key(name)
                && let Some(bytes) = shared.project.folder.resolve(name).ok().and_then(|path| fs::read(path).ok())
            {
                self.hashes.insert(name.clone(), hash(&bytes));
            }
        }
        self.version += 1;
        let files: Vec<_> = files.iter().map(|name| json!({ "path": name, "hash": self.hashes.get(name) })).collect();
        Some(json!({ "version": self.version, "files": files }))
    }
}

/// Looks at the files until the process ends, and tells the pages.
pub(super) fn watch(shared: &Arc<Shared>) -> std::io::Result<()> {
    let shared = Arc::clone(shared);
    let mut seen = Seen::default();
    if let Some(files) = seen.look(&shared) {
        shared.tell_files(files);
    }
    thread::Builder::new().name("studio-watch".into()).spawn(move || {
        loop {
            thread::sleep(PAUSE);
            if let Some(files) = seen.look(&shared) {
                shared.tell_files(files);
            }
        }
    })?;
    Ok(())
}
