//! The door: the place to which other processes connect. All callers are greeted at the same time, so that none delays another.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::handshake::{Greeter, Hello};
use crate::error::WorldError;

/// The number of connections that are greeted at the same time. If there are more, the oldest one is closed: a process of the
/// world finishes its greeting in a moment, so a silent stranger soon is the oldest.
pub(super) const MOST: usize = 128;
/// The number of connections that are accepted in one go. Otherwise strangers that call without end would keep this process from
/// everything else.
pub(super) const MOST_AT_ONCE: usize = 32;

/// The result of a greeting.
#[derive(Debug)]
pub(crate) enum Event {
    /// A process has called.
    Answered(Hello, TcpStream),
    /// This process has called the process with this number, and it has answered.
    Called(usize, Hello, TcpStream),
    /// A connection is ignored, for this reason.
    Ignored(String),
    /// The processes cannot meet.
    Failed(WorldError),
}

/// A connection that may be closed to make room, until it has proved that it knows the secret.
type Guest = Arc<Mutex<Option<TcpStream>>>;

/// Answers the processes that call.
pub(crate) struct Door {
    listener: TcpListener,
    greeter: Arc<Greeter>,
    guests: VecDeque<Guest>,
    events: Sender<Event>,
}

impl Door {
    pub(crate) fn new(listener: TcpListener, greeter: Arc<Greeter>, events: Sender<Event>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener, greeter, guests: VecDeque::new(), events })
    }

    /// Greets the next callers, on separate threads. Returns whether there were any.
    pub(crate) fn open(&mut self) -> bool {
        let mut any = false;
        for _ in 0..MOST_AT_ONCE {
            match self.listener.accept() {
                Ok((stream, from)) => {
                    any = true;
                    if let Err(error) = self.greet(stream, from) {
                        let _ = self.events.send(ignored(&from, &error));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return any,
                // A stranger may have closed its connection already, or there may be too many of them. The next connection can
                // be a process.
                Err(error) => {
                    let _ = self.events.send(Event::Ignored(format!("a connection is ignored: {error}")));
                    return any;
                }
            }
        }
        any
    }

    fn greet(&mut self, stream: TcpStream, from: SocketAddr) -> io::Result<()> {
        self.guests.retain(|guest| lock(guest).is_some());
        if self.guests.len() >= MOST
            && let Some(oldest) = self.guests.pop_front()
            && let Some(stream) = lock(&oldest).take()
        {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let guest = Arc::new(Mutex::new(Some(stream.try_clone()?)));
        self.guests.push_back(Arc::clone(&guest));
        let (greeter, events) = (Arc::clone(&self.greeter), self.events.clone());
        let greet = move || {
            let mut is_known = false;
            let answered = greeter.answer(&stream, || {
                is_known = lock(&guest).take().is_some();
                is_known
            });
            let made_room = !is_known && lock(&guest).take().is_none();
            let _ = events.send(match answered {
                Ok(hello) => Event::Answered(hello, stream),
                Err(_) if made_room => ignored(&from, &io::Error::other("there are too many connections")),
                Err(error) => ignored(&from, &error),
            });
        };
        thread::Builder::new().name("world:greeting".to_owned()).spawn(greet)?;
        Ok(())
    }
}

fn lock(guest: &Guest) -> std::sync::MutexGuard<'_, Option<TcpStream>> {
    guest.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ignored(from: &SocketAddr, error: &io::Error) -> Event {
    Event::Ignored(format!("a connection from {from} is ignored: {}", reason(error)))
}

/// Returns why a greeting has failed.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "it has closed the connection during the greeting, as a process with another secret does".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Returns whether an address can be reached only from this computer.
pub(super) fn is_private(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
