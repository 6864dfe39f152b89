//! The server: one thread that waits for all connections and for news from the game.
//!
//! It has at most [`MOST_CONNECTIONS`], each with a small buffer and a deadline. A slow page misses pictures, and does not
//! affect the game.

mod answer;
mod connection;
mod events;
mod page;
mod request;
mod secret;

use std::collections::HashMap;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use self::answer::Answer;
use self::connection::{Connection, Progress};
use self::events::Latest;
use self::request::{Action, Rules};
use crate::shared::Shared;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const FIRST_CONNECTION: usize = 2;

const MOST_CONNECTIONS: usize = 64;
/// The largest number of open pages.
const MOST_PAGES: usize = 16;
/// The interval at which deadlines are checked while there are connections.
const BEAT: Duration = Duration::from_millis(250);
/// The time until the next attempt to accept connections, if there are more than are accepted at once, or after an error.
const SOON: Duration = Duration::from_millis(1);
/// How long a game stays paused when no page is open. Reloading the page takes less time.
const PAUSED_ALONE: Duration = Duration::from_secs(5);

/// Starts the server on its thread.
pub(crate) fn start(listener: StdListener) -> io::Result<(Arc<Shared>, JoinHandle<()>)> {
    let poll = Poll::new()?;
    let shared = Arc::new(Shared::new(Waker::new(poll.registry(), WAKER)?));
    let is_local = listener.local_addr()?.ip().is_loopback();
    let mut listener = TcpListener::from_std(listener);
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut server = Server {
        poll,
        listener,
        rules: Rules { is_local, token: secret::token()? },
        shared: Arc::clone(&shared),
        connections: HashMap::new(),
        next: FIRST_CONNECTION,
        has_more_to_accept: false,
        latest: Latest::new(),
        alone_since: None,
    };
    let thread = thread::Builder::new().name("demeanor-inspector".to_owned()).spawn(move || server.run())?;
    Ok((shared, thread))
}

struct Server {
    poll: Poll,
    listener: TcpListener,
    rules: Rules,
    shared: Arc<Shared>,
    connections: HashMap<Token, Connection>,
    next: usize,
    /// Whether more connections may wait to be accepted: more than are accepted at once, or accepting has failed.
    has_more_to_accept: bool,
    latest: Latest,
    /// The time since which no page is open.
    alone_since: Option<Instant>,
}

impl Server {
    fn run(&mut self) {
        let mut events = Events::with_capacity(128);
        while !self.shared.is_closing.load(Ordering::Relaxed) {
            let is_idle = self.connections.is_empty() && !self.has_more_to_accept && self.alone_since.is_none();
            let beat = if self.has_more_to_accept { SOON } else { BEAT };
            if let Err(why) = self.poll.poll(&mut events, (!is_idle).then_some(beat))
                && why.kind() != io::ErrorKind::Interrupted
            {
                log::error!(target: "demeanor_inspector", "the inspector's server has stopped: {why}");
                break;
            }
            let now = Instant::now();
            for event in &events {
                match event.token() {
                    LISTENER => self.has_more_to_accept = true,
                    WAKER => {}
                    token => self.go_on(token, event, now),
                }
            }
            if self.has_more_to_accept {
                self.accept(now);
            }
            self.tell(now);
            self.connections.retain(|_, connection| !connection.is_over(now));
            self.note_pages(now);
        }
        self.shared.set_listeners(0);
        self.shared.pause(false);
    }

    fn accept(&mut self, now: Instant) {
        // Further connections are accepted in the next round, so that the existing connections get their turn.
        for _ in 0..MOST_CONNECTIONS {
            match self.listener.accept() {
                Ok((mut socket, _)) => {
                    let token = Token(self.next);
                    self.next += 1;
                    if self.connections.len() >= MOST_CONNECTIONS {
                        self.drop_oldest();
                    }
                    let interest = Interest::READABLE | Interest::WRITABLE;
                    if self.poll.registry().register(&mut socket, token, interest).is_ok() {
                        self.connections.insert(token, Connection::new(socket, now));
                    }
                }
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    self.has_more_to_accept = false;
                    return;
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => {
                    log::debug!(target: "demeanor_inspector", "a connection was not accepted: {why}");
                    return;
                }
            }
        }
    }

    /// Makes room: closes the oldest connection that is not an open page.
    fn drop_oldest(&mut self) {
        let waiting = self.connections.iter().filter(|(_, connection)| !connection.is_page());
        if let Some(oldest) = waiting.map(|(token, _)| *token).min() {
            self.connections.remove(&oldest);
        }
    }

    fn go_on(&mut self, token: Token, event: &Event, now: Instant) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        let progress = if event.is_readable() { connection.read(now) } else { Progress::Waits };
        let progress = match progress {
            Progress::Asks(request) => {
                let action = self.rules.action(&request);
                self.carry_out(token, action, now)
            }
            progress => progress,
        };
        let Some(connection) = self.connections.get_mut(&token) else { return };
        if matches!(progress, Progress::Ends) || matches!(connection.write(&self.latest, now), Progress::Ends) {
            self.connections.remove(&token);
        }
    }

    fn carry_out(&mut self, token: Token, action: Action, now: Instant) -> Progress {
        let pages = self.connections.values().filter(|connection| connection.is_page()).count();
        let Some(connection) = self.connections.get_mut(&token) else { return Progress::Ends };
        let are_commands_allowed = self.shared.allows_commands.load(Ordering::Relaxed);
        match action {
            Action::Answer(answer) => connection.answer(&answer, now),
            Action::Events(_) if pages >= MOST_PAGES => {
                connection.answer(&Answer::text(503, format!("{MOST_PAGES} pages are open already")), now);
            }
            Action::Events(wanted) => {
                let wanted = wanted.map(|(crowd, wanted)| crate::shared::Watch { page: token.0 as u64, crowd, wanted });
                connection.open_page(wanted, &events::hello(&self.rules.token, are_commands_allowed), now);
            }
            Action::Command(_) if !are_commands_allowed => {
                connection.answer(&Answer::text(403, "the game does not allow commands"), now);
            }
            Action::Command(command) => match command.carry_out(&self.shared) {
                Ok(answer) => connection.answer(&answer, now),
                Err(number) => connection.ask(number, now),
            },
        }
        Progress::Waits
    }

    /// Sends the news to the pages.
    fn tell(&mut self, now: Instant) {
        let is_paused = self.shared.is_paused.load(Ordering::Relaxed);
        self.latest.set_status(is_paused);
        let news = self.shared.take_news();
        news.pictures.iter().for_each(|picture| self.latest.set_picture(picture));
        let personal = |page: u64| usize::try_from(page).map_or(LISTENER, Token);
        for (page, owner) in &news.owners {
            if let Some(connection) = self.connections.get_mut(&personal(*page)) {
                connection.tell_owner(events::event("owner", owner));
            }
        }
        for (page, found) in &news.found {
            if let Some(connection) = self.connections.get_mut(&personal(*page)) {
                connection.tell_found(events::event("found", found));
            }
        }
        for connection in self.connections.values_mut() {
            let Some((command, is_late)) = connection.asks(now) else { continue };
            let outcome = news.outcomes.iter().find(|(number, _)| *number == command);
            let answer = outcome.map(|(_, outcome)| request::done(outcome)).or_else(|| is_late.then(request::later));
            if let Some(answer) = answer {
                connection.answer(&answer, now);
            }
        }
        let latest = &self.latest;
        self.connections.retain(|_, connection| {
            !(connection.is_page() || connection.is_answering())
                || !matches!(connection.write(latest, now), Progress::Ends)
        });
    }

    /// Passes the number of open pages, and their wishes, to the game.
    fn note_pages(&mut self, now: Instant) {
        let mut watches: Vec<_> = self.connections.values().filter_map(Connection::watch).cloned().collect();
        watches.sort_by_key(|watch| watch.page);
        self.shared.set_watches(watches);
        let pages = self.connections.values().filter(|connection| connection.is_page()).count();
        self.shared.set_listeners(pages);
        if pages > 0 {
            self.alone_since = None;
            return;
        }
        // These data would be out of date when the next page connects.
        self.latest.forget_pictures();
        if self.shared.is_paused.load(Ordering::Relaxed) {
            let since = *self.alone_since.get_or_insert(now);
            if now.duration_since(since) >= PAUSED_ALONE {
                self.shared.pause(false);
            }
        } else {
            self.alone_since = None;
        }
    }
}
