//! The studio's part of its server: the page, the events, and the requests, each of which is answered on a thread of its own.

use std::any::Any;
use std::io;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use demeanor_loopback::{
    Answer, Application, Client, Clients, Reply, Request, Rules, event, start as start_server, token,
};
use serde_json::json;

use super::folder::LONGEST;
use super::game::{self, Game};
use super::project::Project;
use super::shared::{Shared, lock};
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

/// Serves a project. `game` is the address of the game that each page watches first.
pub(super) fn serve(listener: TcpListener, project: Project, game: Option<String>) -> io::Result<Served> {
    let token = token()?;
    // The browser never sends the part after `#`, so that the token gets into no log.
    let url = format!("http://{}/#{token}", listener.local_addr()?);
    let shared = Arc::new(Shared::new(project));
    let application = Arc::clone(&shared);
    let rules = Rules { is_local: true, token };
    let thread = start_server(listener, rules, "demeanor-studio", move |waker| {
        let _ = application.waker.set(waker);
        Pages { shared: application, game }
    })?;
    watch::watch(&shared)?;
    Ok(Served { url, thread })
}

struct Pages {
    shared: Arc<Shared>,
    game: Option<String>,
}

impl Application for Pages {
    const LONGEST_BODY: usize = 2 * LONGEST;

    fn reply(&mut self, request: &Request, rules: &Rules, client: Client) -> Reply {
        self.route(request, rules, client).unwrap_or_else(Reply::Answer)
    }

    fn turn(&mut self, clients: &mut Clients<'_>, _: Instant) {
        let unsent = std::mem::take(&mut *lock(&self.shared.unsent));
        for (client, answer) in unsent.answers {
            clients.answer(client, &answer);
        }
        if let Some(files) = unsent.files {
            clients.publish("files", event("files", &files));
        }
        for (page, name, event) in unsent.news {
            clients.tell(page, &name, event);
        }
        *lock(&self.shared.pages) = clients.pages().collect();
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
            let (token, wish) = request.query().split_once('&').unwrap_or((request.query(), ""));
            if token.strip_prefix("token=") != Some(&rules.token) {
                return Err(Answer::text(403, "only this server's page may request this"));
            }
            if !wish.is_empty() {
                let game = Game::wished(wish).ok_or_else(|| Answer::text(400, "the query is not `game=..`"))?;
                // The page counts as open from now on. The next turn forgets it if it is not.
                lock(&self.shared.pages).insert(client);
                game::follow(&self.shared, client, game).map_err(|why| Answer::text(503, why.to_string()))?;
            }
            let hello = json!({ "version": env!("CARGO_PKG_VERSION"), "game": self.game });
            return Ok(Reply::Events(event("hello", &hello)));
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
