//! The studio's part of its server: the page, the events, and the requests, each of which is answered on a thread of its own.

use std::any::Any;
use std::io;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use demeanor::definition::Words;
use demeanor_loopback::{
    Answer, Application, Client, Clients, Reply, Request, Rules, Waker, event, start as start_server, token,
};
use serde_json::{Value, json};

use super::folder::{Folder, LONGEST};
use super::runner::Runner;
use super::{assets, requests, watch};

/// How long the page waits for an answer. Proofs take longest.
const LONGEST_WORK: Duration = Duration::from_secs(300);
/// How many requests are worked on at the same time.
const MOST_WORKERS: usize = 16;
/// The layout of a large diagram is recursive.
const STACK: usize = 16 << 20;

/// A running server.
pub(super) struct Served {
    pub(super) url: String,
    pub(super) thread: JoinHandle<()>,
}

/// What the server's thread, the workers and the watch share.
pub(super) struct Shared {
    pub(super) folder: Folder,
    pub(super) words: Option<Words>,
    /// The run that was played last: the next request usually continues it.
    pub(super) runner: Mutex<Option<Runner>>,
    waker: OnceLock<Arc<Waker>>,
    answers: Mutex<Vec<(Client, Answer)>>,
    /// News about the files that have not been sent.
    files: Mutex<Option<Value>>,
    workers: AtomicUsize,
}

impl Shared {
    pub(super) fn new(folder: Folder, words: Option<Words>) -> Self {
        Self {
            folder,
            words,
            runner: Mutex::default(),
            waker: OnceLock::new(),
            answers: Mutex::default(),
            files: Mutex::default(),
            workers: AtomicUsize::new(0),
        }
    }

    pub(super) fn tell_files(&self, files: Value) {
        *lock(&self.files) = Some(files);
        self.wake();
    }

    fn answer(&self, client: Client, answer: Answer) {
        lock(&self.answers).push((client, answer));
        self.wake();
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

pub(super) fn serve(listener: TcpListener, folder: Folder, words: Option<Words>) -> io::Result<Served> {
    let token = token()?;
    // The browser never sends the part after `#`, so that the token gets into no log.
    let url = format!("http://{}/#{token}", listener.local_addr()?);
    let shared = Arc::new(Shared::new(folder, words));
    let application = Arc::clone(&shared);
    let rules = Rules { is_local: true, token };
    let thread = start_server(listener, rules, "demeanor-studio", move |waker| {
        let _ = application.waker.set(waker);
        Pages { shared: application }
    })?;
    watch::watch(&shared)?;
    Ok(Served { url, thread })
}

struct Pages {
    shared: Arc<Shared>,
}

impl Application for Pages {
    const LONGEST_BODY: usize = 2 * LONGEST;

    fn reply(&mut self, request: &Request, rules: &Rules, client: Client) -> Reply {
        self.route(request, rules, client).unwrap_or_else(Reply::Answer)
    }

    fn turn(&mut self, clients: &mut Clients<'_>, _: Instant) {
        for (client, answer) in std::mem::take(&mut *lock(&self.shared.answers)) {
            clients.answer(client, &answer);
        }
        if let Some(files) = lock(&self.shared.files).take() {
            clients.publish("files", event("files", &files));
        }
    }

    fn is_closing(&self) -> bool {
        false
    }
}

impl Pages {
    fn route(&self, request: &Request, rules: &Rules, client: Client) -> Result<Reply, Answer> {
        let is_get = matches!(request.method(), "GET" | "HEAD");
        if let Some(work) = request.path().strip_prefix("/api/") {
            if request.method() != "POST" {
                return Err(Answer::only("POST"));
            }
            rules.check_command(request)?;
            return self.work(work, request.body(), client);
        }
        if request.path() == "/events" {
            if request.method() != "GET" {
                return Err(Answer::only("GET"));
            }
            rules.check_site(request)?;
            if request.query().strip_prefix("token=") != Some(&rules.token) {
                return Err(Answer::text(403, "only this server's page may request this"));
            }
            return Ok(Reply::Events(event("hello", &json!({ "version": env!("CARGO_PKG_VERSION") }))));
        }
        let asset = assets::asset(request.path()).map_err(|why| Answer::text(503, why.to_string()))?;
        let asset = asset.ok_or_else(|| Answer::text(404, "there is nothing here"))?;
        if !is_get {
            return Err(Answer::only("GET"));
        }
        Ok(Reply::Answer(if request.method() == "HEAD" { asset.without_body() } else { asset }))
    }

    /// Starts the work for a request.
    fn work(&self, work: &str, body: &[u8], client: Client) -> Result<Reply, Answer> {
        let handler = requests::handler(work).ok_or_else(|| Answer::text(404, "there is nothing here"))?;
        let shared = Arc::clone(&self.shared);
        if shared.workers.fetch_add(1, Ordering::Relaxed) >= MOST_WORKERS {
            shared.workers.fetch_sub(1, Ordering::Relaxed);
            return Err(Answer::text(503, "too many requests are being worked on"));
        }
        let body = body.to_vec();
        let worker = thread::Builder::new().name("studio-work".into()).stack_size(STACK).spawn(move || {
            let answer = guarded(|| handler(&shared, &body));
            shared.workers.fetch_sub(1, Ordering::Relaxed);
            shared.answer(client, answer);
        });
        if let Err(why) = worker {
            self.shared.workers.fetch_sub(1, Ordering::Relaxed);
            return Err(Answer::text(503, why.to_string()));
        }
        Ok(Reply::Later(LONGEST_WORK, Answer::text(503, "it takes too long")))
    }
}

/// Returns the answer of some work. A panic is an answer, too: the page still has its text, and says what happened.
fn guarded(work: impl FnOnce() -> Answer) -> Answer {
    let told = |panic: &(dyn Any + Send)| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown").to_owned()
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = format!("this is a mistake in the studio, and nothing was saved: {}", told(&*panic));
        Answer::of(500, "application/json", json!({ "error": why }).to_string())
    })
}

#[cfg(test)]
mod tests {
    use demeanor_loopback::Answer;

    use super::guarded;

    #[test]
    fn a_panic_is_answered() {
        assert_eq!(guarded(|| Answer::text(200, "")).status(), 200);
        assert_eq!(guarded(|| panic!("of a test")).status(), 500);
    }
}
