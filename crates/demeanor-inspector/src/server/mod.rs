//! The inspector's part of its server: what it answers, and how news get from the game to the pages.
//!
//! A slow page misses pictures, and does not affect the game.

mod history;
mod news;
mod page;
mod routes;

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use demeanor_loopback::{Answer, Application, Client, Clients, Reply, Request, Rules, event, start as serve, token};

use self::history::History;
use self::news::Status;
use self::routes::Action;
use crate::shared::{Shared, Stop, Watch};

/// How long the server waits for an answer from the game: many ticks of a running game.
const GAME: Duration = Duration::from_secs(1);
/// The time between two samples while no page is open.
const SAMPLES: Duration = Duration::from_secs(1);
/// How long a game stays paused and keeps its breakpoints when no page is open. Reloading a page takes less time, and so does asking
/// for the news of another owner.
const ALONE: Duration = Duration::from_secs(5);

/// Starts the server on its thread.
pub(crate) fn start(listener: TcpListener) -> io::Result<(Arc<Shared>, JoinHandle<()>)> {
    let rules = Rules { is_local: listener.local_addr()?.ip().is_loopback(), token: token()? };
    let mut given = None;
    let thread = serve(listener, rules, "demeanor-inspector", |waker| {
        let shared = Arc::new(Shared::new(waker));
        given = Some(Arc::clone(&shared));
        Pages {
            shared,
            watches: HashMap::new(),
            asked: HashMap::new(),
            status: None,
            stop: None,
            alone_since: None,
            history: History::default(),
            sampled: None,
        }
    })?;
    given.map(|shared| (shared, thread)).ok_or_else(|| io::Error::other("the server has not been started"))
}

/// The open pages, and what they have asked of the game.
struct Pages {
    shared: Arc<Shared>,
    watches: HashMap<Client, Watch>,
    /// The command whose outcome each client waits for.
    asked: HashMap<Client, u64>,
    /// What the pages have been told of the game.
    status: Option<Status>,
    history: History,
    /// When the game was last asked for samples.
    sampled: Option<Instant>,
    /// Why the game has paused at a breakpoint, until the next command.
    stop: Option<Stop>,
    /// The time since which no page is open.
    alone_since: Option<Instant>,
}

impl Application for Pages {
    const LONGEST_BODY: usize = 4 << 10;

    fn reply(&mut self, request: &Request, rules: &Rules, client: Client) -> Reply {
        let are_commands_allowed = self.shared.allows_commands.load(Ordering::Relaxed);
        match routes::action(rules, request) {
            Action::Answer(answer) => Reply::Answer(answer),
            Action::Events(wanted) => {
                let watch = wanted.map(|(crowd, wanted)| Watch { page: client.0, crowd, wanted });
                self.watches.extend(watch.map(|watch| (client, watch)));
                Reply::Events(news::hello(&rules.token, are_commands_allowed))
            }
            Action::History(crowd) => Reply::Answer(self.history.answer(&crowd)),
            Action::Command(_) if !are_commands_allowed => {
                Reply::Answer(Answer::text(403, "the game does not allow commands"))
            }
            Action::Command(command) => match command.carry_out(&self.shared) {
                Ok(answer) => {
                    self.stop = None;
                    Reply::Answer(answer)
                }
                Err(number) => {
                    self.asked.insert(client, number);
                    Reply::Later(GAME, routes::later())
                }
            },
        }
    }

    fn turn(&mut self, clients: &mut Clients<'_>, now: Instant) {
        self.tell(clients);
        self.note_pages(clients, now);
    }

    fn needs_turns(&self) -> bool {
        // Without pages, the game is asked for samples.
        true
    }

    fn is_closing(&self) -> bool {
        self.shared.is_closing.load(Ordering::Relaxed)
    }

    fn close(&mut self) {
        self.shared.set_listeners(0);
        self.shared.pause(false);
    }
}

impl Pages {
    /// Sends the news to the pages.
    fn tell(&mut self, clients: &mut Clients<'_>) {
        let news = self.shared.take_news();
        let paused = self.shared.is_paused.load(Ordering::Relaxed);
        self.stop = news.stop.or(self.stop.take()).filter(|_| paused);
        let status = Status { paused, stop: self.stop.clone(), breakpoints: self.shared.breakpoints() };
        if self.status.as_ref() != Some(&status) {
            clients.publish(news::STATUS, news::status(&status));
            self.status = Some(status);
        }
        news.samples.iter().for_each(|sample| self.history.note(sample));
        for picture in &news.pictures {
            self.history.note(&picture.sample);
            clients.publish(&picture.sample.crowd, event("picture", picture));
        }
        for (page, owner) in &news.owners {
            clients.tell(Client(*page), "owner", event("owner", owner));
        }
        for (page, found) in &news.found {
            clients.tell(Client(*page), "found", event("found", found));
        }
        self.asked.retain(|client, command| {
            if let Some((_, outcome)) = news.outcomes.iter().find(|(number, _)| number == command) {
                clients.answer(*client, &routes::done(outcome));
            }
            clients.is_waiting(*client)
        });
    }

    /// Passes the number of open pages, and their wishes, to the game.
    fn note_pages(&mut self, clients: &mut Clients<'_>, now: Instant) {
        let pages: Vec<_> = clients.pages().collect();
        self.watches.retain(|client, _| pages.contains(client));
        let mut watches: Vec<_> = self.watches.values().cloned().collect();
        watches.sort_by_key(|watch| watch.page);
        self.shared.set_watches(watches);
        self.shared.set_listeners(pages.len());
        if !pages.is_empty() {
            self.alone_since = None;
            return;
        }
        if self.sampled.is_none_or(|last| now.duration_since(last) >= SAMPLES) {
            self.sampled = Some(now);
            self.shared.ask_for_samples();
        }
        // These data would be out of date when the next page connects.
        clients.retain(|name| name == news::STATUS);
        let since = *self.alone_since.get_or_insert(now);
        if now.duration_since(since) >= ALONE {
            self.shared.remove_breakpoints();
            self.shared.pause(false);
        }
    }
}
