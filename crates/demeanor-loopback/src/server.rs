//! The server: one thread that waits for all connections and for the application.
//!
//! It has at most [`MOST_CONNECTIONS`], each with a small buffer and a deadline. A slow page misses events, and does not affect the
//! application.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use crate::answer::Answer;
use crate::connection::{Connection, Progress};
use crate::events::{Bytes, Latest};
use crate::request::Request;
use crate::rules::Rules;

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

/// What a server serves.
pub trait Application: Send + 'static {
    /// The longest body of a request, in bytes.
    const LONGEST_BODY: usize;

    /// Answers a request of this origin, or says how it will be answered. It must not take long, because all clients wait.
    fn reply(&mut self, request: &Request, rules: &Rules, client: Client) -> Reply;

    /// Is called after each event, when the server is woken, and four times a second while there are connections.
    fn turn(&mut self, clients: &mut Clients<'_>, now: Instant);

    /// Returns whether turns are needed even without connections.
    fn needs_turns(&self) -> bool {
        false
    }

    /// Returns whether the server ends. Wake it when this changes.
    fn is_closing(&self) -> bool;

    /// Is called when the server has ended.
    fn close(&mut self) {}
}

/// A connection of a client. No two connections are the same client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client(pub u64);

/// The reply to a request.
#[derive(Debug)]
pub enum Reply {
    /// This answer, now.
    Answer(Answer),
    /// A stream of events, of which this is the first one.
    Events(Bytes),
    /// An answer by [`Clients::answer`]. If there is none in this time, the server sends this one.
    Later(Duration, Answer),
}

/// The connected clients.
pub struct Clients<'s> {
    connections: &'s mut HashMap<Token, Connection>,
    latest: &'s mut Latest,
    now: Instant,
}

impl Clients<'_> {
    /// Returns the open pages, which get events.
    pub fn pages(&self) -> impl Iterator<Item = Client> + '_ {
        self.connections.iter().filter(|(_, connection)| connection.is_page()).map(|(token, _)| Client(token.0 as u64))
    }

    /// Returns whether a client waits for its answer.
    #[must_use]
    pub fn is_waiting(&self, client: Client) -> bool {
        token_of(client).and_then(|token| self.connections.get(&token)).is_some_and(Connection::is_asking)
    }

    /// Answers a client that waits.
    pub fn answer(&mut self, client: Client, answer: &Answer) {
        let waiting = token_of(client).and_then(|token| self.connections.get_mut(&token));
        if let Some(connection) = waiting.filter(|connection| connection.is_asking()) {
            connection.answer(answer, self.now);
        }
    }

    /// Sets the news of a name for one page. It replaces unsent news of this name.
    pub fn tell(&mut self, client: Client, name: &str, event: Bytes) {
        if let Some(connection) = token_of(client).and_then(|token| self.connections.get_mut(&token)) {
            connection.tell(name, event);
        }
    }

    /// Sets the news of a name for all pages, also for those that will be opened.
    pub fn publish(&mut self, name: &str, event: Bytes) {
        self.latest.set(name, event);
    }

    /// Keeps only some of the news for all pages.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.latest.retain(is_kept);
    }
}

fn token_of(client: Client) -> Option<Token> {
    usize::try_from(client.0).ok().map(Token)
}

/// Starts a server on its thread, which has this name. `application` gets what wakes the server.
///
/// # Errors
///
/// When the operating system refuses it.
pub fn start<A: Application>(
    listener: StdListener,
    rules: Rules,
    name: &str,
    application: impl FnOnce(Arc<Waker>) -> A,
) -> io::Result<JoinHandle<()>> {
    listener.set_nonblocking(true)?;
    let poll = Poll::new()?;
    let application = application(Arc::new(Waker::new(poll.registry(), WAKER)?));
    let mut listener = TcpListener::from_std(listener);
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut server = Server {
        poll,
        listener,
        rules,
        application,
        connections: HashMap::new(),
        next: FIRST_CONNECTION,
        has_more_to_accept: false,
        has_lost: false,
        latest: Latest::default(),
    };
    thread::Builder::new().name(name.to_owned()).spawn(move || server.run())
}

struct Server<A> {
    poll: Poll,
    listener: TcpListener,
    rules: Rules,
    application: A,
    connections: HashMap<Token, Connection>,
    next: usize,
    /// Whether more connections may wait to be accepted: more than are accepted at once, or accepting has failed.
    has_more_to_accept: bool,
    /// Whether connections have ended since the application's last turn.
    has_lost: bool,
    latest: Latest,
}

impl<A: Application> Server<A> {
    fn run(&mut self) {
        let mut events = Events::with_capacity(128);
        while !self.application.is_closing() {
            let beat = if self.has_lost {
                Some(Duration::ZERO)
            } else if self.has_more_to_accept {
                Some(SOON)
            } else {
                (!self.connections.is_empty() || self.application.needs_turns()).then_some(BEAT)
            };
            if let Err(why) = self.poll.poll(&mut events, beat)
                && why.kind() != io::ErrorKind::Interrupted
            {
                log::error!("the server has stopped: {why}");
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
        }
        self.application.close();
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
                        self.connections.insert(token, Connection::new(socket, A::LONGEST_BODY, now));
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
            Progress::Asks(request) => self.reply(token, &request, now),
            progress => progress,
        };
        let Some(connection) = self.connections.get_mut(&token) else { return };
        if matches!(progress, Progress::Ends) || matches!(connection.write(&self.latest, now), Progress::Ends) {
            self.connections.remove(&token);
        }
    }

    fn reply(&mut self, token: Token, request: &Request, now: Instant) -> Progress {
        let pages = self.connections.values().filter(|connection| connection.is_page()).count();
        let Some(connection) = self.connections.get_mut(&token) else { return Progress::Ends };
        let reply = match self.rules.check_origin(request) {
            Ok(()) => self.application.reply(request, &self.rules, Client(token.0 as u64)),
            Err(answer) => Reply::Answer(answer),
        };
        match reply {
            Reply::Answer(answer) => connection.answer(&answer, now),
            Reply::Events(_) if pages >= MOST_PAGES => {
                connection.answer(&Answer::text(503, format!("{MOST_PAGES} pages are open already")), now);
            }
            Reply::Events(hello) => connection.open_page(hello, now),
            Reply::Later(most, late) => connection.ask(now + most, late),
        }
        Progress::Waits
    }

    /// Gives the application its turn to send events, and writes what waits.
    fn tell(&mut self, now: Instant) {
        let Self { connections, latest, .. } = self;
        self.application.turn(&mut Clients { connections, latest, now }, now);
        for connection in self.connections.values_mut() {
            connection.answer_late(now);
        }
        let (latest, before) = (&self.latest, self.connections.len());
        self.connections.retain(|_, connection| {
            let has_to_write = connection.is_page() || connection.is_answering();
            let ends = has_to_write && matches!(connection.write(latest, now), Progress::Ends);
            !ends && !connection.is_over(now)
        });
        self.has_lost = self.connections.len() < before;
    }
}
