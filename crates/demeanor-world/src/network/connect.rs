//! How the processes of a world meet: each process connects to the processes with lower numbers, and waits for the others.

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::door::{Door, Event, is_private, reason};
use super::frame;
use super::handshake::{Greeter, Hello, Settings};
use super::secret::Secret;
use crate::error::WorldError;

/// The data that a process has before it meets the others.
pub(crate) struct Meeting {
    pub(crate) process: usize,
    pub(crate) addresses: Vec<String>,
    pub(crate) listener: TcpListener,
    pub(crate) settings: Settings,
    pub(crate) secret: Secret,
    /// Whether processes without a secret may meet over the network.
    pub(crate) trusts_network: bool,
    /// How long a greeting may take.
    pub(crate) greeting: Duration,
    /// How long to wait for all processes.
    pub(crate) patience: Duration,
}

/// How long a process that ends during the meeting keeps telling late processes why.
const LATE: Duration = Duration::from_secs(1);
/// The shortest pause between two checks while waiting. Each pause is longer than the previous one.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(50);

/// Connects this process with all others. The entry of this process is `None`.
///
/// After an error, the processes that are already connected are told about it.
pub(crate) fn connect(meeting: Meeting) -> Result<Vec<Option<TcpStream>>, WorldError> {
    let Meeting { process, addresses, listener, settings, secret, trusts_network, greeting, patience } = meeting;
    let cannot = |error: io::Error| cannot_listen(process, &addresses[process], &error);
    let is_open = secret.is_none() && !trusts_network;
    let address = listener.local_addr().map_err(cannot)?;
    if is_open && !is_private(address.ip()) {
        return Err(open(&format!("process {process} listens at {address}")));
    }
    let hello = Hello { process, settings: settings.clone() };
    let greeter = Arc::new(Greeter::new(&hello, secret, greeting)?);
    let (sender, events) = mpsc::channel();
    let is_over = Arc::new(AtomicBool::new(false));
    for (to, address) in addresses.iter().enumerate().take(process) {
        let address = address.clone();
        let (greeter, events, is_over) = (Arc::clone(&greeter), sender.clone(), Arc::clone(&is_over));
        let call = Call { to, address, greeter, is_open, greeting, events, is_over };
        let cannot = |error| WorldError::Connect(format!("process {to} cannot be called: {error}"));
        thread::Builder::new().name("world:call".to_owned()).spawn(move || call.repeat()).map_err(cannot)?;
    }
    let door = Door::new(listener, greeter, sender).map_err(cannot)?;
    let streams = addresses.iter().map(|_| None).collect();
    let mut met =
        Met { process, addresses: &addresses, settings, patience, greeting, door, events, streams, ignored: None };
    let result = met.meet();
    if let Err(error) = &result {
        for stream in met.streams.iter_mut().flatten() {
            let _ = frame::write_error(stream, process, error);
        }
        met.tell_the_late(error);
    }
    is_over.store(true, Ordering::SeqCst);
    result.map(|()| met.streams)
}

/// The processes that have met this one so far.
struct Met<'a> {
    process: usize,
    addresses: &'a [String],
    settings: Settings,
    patience: Duration,
    greeting: Duration,
    door: Door,
    events: Receiver<Event>,
    streams: Vec<Option<TcpStream>>,
    /// Why the last ignored connection was ignored.
    ignored: Option<String>,
}

impl Met<'_> {
    fn meet(&mut self) -> Result<(), WorldError> {
        let deadline = Instant::now() + self.patience;
        let mut wait = SHORTEST;
        loop {
            if let Some(event) = self.next(wait) {
                wait = SHORTEST;
                if let Some((process, stream)) = self.check(event)? {
                    if let Some(first) = &mut self.streams[process] {
                        listen(process, first, &self.addresses[process], self.greeting)?;
                        return Err(WorldError::Connect(format!("two processes say that they are process {process}")));
                    }
                    self.streams[process] = Some(stream);
                }
            } else {
                wait = (wait * 2).min(LONGEST);
            }
            let missing = self.missing();
            if missing.is_empty() {
                return Ok(());
            }
            for (from, stream) in self.streams.iter_mut().enumerate() {
                if let Some(stream) = stream {
                    listen(from, stream, &self.addresses[from], self.greeting)?;
                }
            }
            if Instant::now() > deadline {
                let names: Vec<_> = missing.iter().map(|&nth| format!("{nth} ({})", self.addresses[nth])).collect();
                let (seconds, names) = (self.patience.as_secs(), names.join(", "));
                let ignored = self.ignored.as_ref().map_or_else(String::new, |text| format!("; {text}"));
                let text = format!("after {seconds} s there is no connection to process {names}{ignored}");
                return Err(WorldError::Connect(text));
            }
        }
    }

    /// Returns the processes that have not met this one.
    fn missing(&self) -> Vec<usize> {
        (0..self.streams.len()).filter(|&nth| nth != self.process && self.streams[nth].is_none()).collect()
    }

    /// Returns the result of the next greeting, if a greeting ends within this time.
    fn next(&mut self, mut wait: Duration) -> Option<Event> {
        if self.door.open() {
            wait = SHORTEST;
        }
        self.events.recv_timeout(wait).ok()
    }

    /// Returns the connection that a greeting has made, with the number of its process. Strangers are ignored.
    fn check(&mut self, event: Event) -> Result<Option<(usize, TcpStream)>, WorldError> {
        let (hello, stream, called) = match event {
            Event::Answered(hello, stream) => (hello, stream, None),
            Event::Called(to, hello, stream) => (hello, stream, Some(to)),
            Event::Failed(error) => return Err(error),
            Event::Ignored(text) => {
                log::warn!(target: "demeanor_world", "{text}");
                self.ignored = Some(text);
                return Ok(None);
            }
        };
        let from = hello.process;
        self.settings.compare(called.unwrap_or(from), &hello.settings)?;
        let text = match called {
            Some(to) if to != from => {
                format!("the process at {} is process {from}, not process {to}", self.addresses[to])
            }
            None if from <= self.process || from >= self.addresses.len() => {
                format!("process {from} has connected to process {}, which should connect to it", self.process)
            }
            _ => return Ok(Some((from, stream))),
        };
        Err(WorldError::Connect(text))
    }

    /// Tells the processes that meet this one too late why it ends, so that they do not wait for it.
    fn tell_the_late(&mut self, error: &WorldError) {
        let deadline = Instant::now() + LATE;
        let mut missing = self.missing().len();
        while missing > 0 && Instant::now() < deadline {
            match self.next(SHORTEST * 4) {
                Some(Event::Answered(_, mut stream) | Event::Called(_, _, mut stream)) => {
                    let _ = frame::write_error(&mut stream, self.process, error);
                    missing -= 1;
                }
                Some(Event::Failed(_)) => missing -= 1,
                Some(Event::Ignored(_)) | None => {}
            }
        }
    }
}

/// Reads from a process that is already connected, to notice whether it has ended.
fn listen(from: usize, stream: &mut TcpStream, address: &str, time: Duration) -> Result<(), WorldError> {
    let lost = || WorldError::Lost { process: from, address: address.to_owned() };
    let mut kind = [0];
    let _ = stream.set_nonblocking(true);
    let peeked = stream.peek(&mut kind);
    let _ = stream.set_nonblocking(false);
    match peeked {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        Ok(1) if kind == [frame::ERROR] => {
            let _ = stream.set_read_timeout(Some(time));
            let read = frame::read_head(stream).and_then(|(_, length)| frame::read_error(stream, length, from));
            Err(read.unwrap_or_else(|_| lost()))
        }
        Ok(1) => Ok(()),
        _ => Err(lost()),
    }
}

/// Calls one process until it answers.
struct Call {
    to: usize,
    address: String,
    greeter: Arc<Greeter>,
    is_open: bool,
    greeting: Duration,
    events: Sender<Event>,
    is_over: Arc<AtomicBool>,
}

impl Call {
    fn repeat(&self) {
        let (mut wait, mut said) = (SHORTEST, String::new());
        while !self.is_over.load(Ordering::SeqCst) {
            match self.once() {
                Ok(Some(event)) => {
                    let _ = self.events.send(event);
                    return;
                }
                Ok(None) => {}
                Err(error) => {
                    let (to, address, why) = (self.to, &self.address, reason(&error));
                    let text = format!("the answer of process {to} ({address}) is ignored: {why}");
                    if text != said {
                        said.clone_from(&text);
                        let _ = self.events.send(Event::Ignored(text));
                    }
                }
            }
            thread::sleep(wait);
            wait = (wait * 2).min(LONGEST);
        }
    }

    /// Calls once. Returns `None` if the process does not listen yet.
    fn once(&self) -> io::Result<Option<Event>> {
        // An unknown host name may become known in a second, if names are published when their hosts start.
        let Some(address) = self.address.to_socket_addrs().ok().and_then(|mut found| found.next()) else {
            return Ok(None);
        };
        if self.is_open && !is_private(address.ip()) {
            return Ok(Some(Event::Failed(open(&format!("process {} is at {address}", self.to)))));
        }
        let Ok(stream) = TcpStream::connect_timeout(&address, self.greeting) else { return Ok(None) };
        let hello = self.greeter.call(&stream)?;
        Ok(Some(Event::Called(self.to, hello, stream)))
    }
}

fn open(what: &str) -> WorldError {
    let how = "give all processes a secret with --secret FILE, or say with --trust-network that every computer in this \
               network may take part";
    WorldError::Connect(format!("{what}, which other computers can reach: {how}"))
}

pub(crate) fn cannot_listen(process: usize, address: &str, error: &io::Error) -> WorldError {
    WorldError::Connect(format!("process {process} cannot listen at {address}: {error}"))
}
