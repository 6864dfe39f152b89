//! What the server's thread, the workers and the watchers share: the project, the run, and what the server has to send.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use demeanor_loopback::{Answer, Bytes, Client, Waker};
use serde_json::Value;

use super::project::Project;
use super::runner::Runner;

pub(super) struct Shared {
    pub(super) project: Project,
    /// The run that was played last: the next request usually continues it.
    pub(super) runner: Mutex<Option<Runner>>,
    pub(super) waker: OnceLock<Arc<Waker>>,
    pub(super) unsent: Mutex<Unsent>,
    /// The open pages.
    pub(super) pages: Mutex<BTreeSet<Client>>,
    /// The secrets of the games that pages have watched.
    pub(super) tokens: Mutex<BTreeMap<SocketAddr, String>>,
    pub(super) workers: AtomicUsize,
}

/// What the server has to send.
#[derive(Default)]
pub(super) struct Unsent {
    pub(super) answers: Vec<(Client, Answer)>,
    /// The newest list of the files.
    pub(super) files: Option<Value>,
    /// The newest news for one page, by name.
    pub(super) news: Vec<(Client, String, Bytes)>,
}

impl Shared {
    pub(super) fn new(project: Project) -> Self {
        Self {
            project,
            runner: Mutex::default(),
            waker: OnceLock::new(),
            unsent: Mutex::default(),
            pages: Mutex::default(),
            tokens: Mutex::default(),
            workers: AtomicUsize::new(0),
        }
    }

    pub(super) fn tell_files(&self, files: Value) {
        lock(&self.unsent).files = Some(files);
        self.wake();
    }

    pub(super) fn answer(&self, client: Client, answer: Answer) {
        lock(&self.unsent).answers.push((client, answer));
        self.wake();
    }

    /// Sends news to a page, in place of unsent news of the same name.
    pub(super) fn tell(&self, client: Client, name: &str, event: Bytes) {
        let mut unsent = lock(&self.unsent);
        unsent.news.retain(|(other, old, _)| *other != client || old != name);
        unsent.news.push((client, name.to_owned(), event));
        drop(unsent);
        self.wake();
    }

    pub(super) fn is_open(&self, page: Client) -> bool {
        lock(&self.pages).contains(&page)
    }

    fn wake(&self) {
        // If this fails, the server sees the news a quarter of a second later.
        let _ = self.waker.get().map(|waker| waker.wake());
    }
}

/// A panic while the lock was held leaves the data as it was before or after the work.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
