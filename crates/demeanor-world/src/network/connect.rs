//! How the processes of a world meet: each connects to those before it, and waits for those after it.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use super::frame;
use super::handshake::{Hello, Settings};
use crate::error::WorldError;

/// What a process knows before it meets the others.
pub(crate) struct Meeting {
    pub(crate) process: usize,
    pub(crate) addresses: Vec<String>,
    pub(crate) listener: TcpListener,
    pub(crate) settings: Settings,
    /// How long to wait for all of them.
    pub(crate) patience: Duration,
}

/// How long a process may take to say hello.
const HELLO: Duration = Duration::from_secs(5);
/// How long a process that ends while they meet stays to say so.
const LATE: Duration = Duration::from_secs(1);
/// What a caller says when it has heard the answer. If it has stopped waiting before, the connection does not count.
const HEARD: u8 = b'+';

/// Connects this process with all others. Its own place is `None`.
///
/// When something is wrong, those that are connected already are told.
pub(crate) fn connect(meeting: &Meeting) -> Result<Vec<Option<TcpStream>>, WorldError> {
    let mut streams: Vec<Option<TcpStream>> = meeting.addresses.iter().map(|_| None).collect();
    let met = meeting.meet(&mut streams);
    if let Err(error) = &met {
        for stream in streams.iter_mut().flatten() {
            let _ = frame::write_error(stream, meeting.process, error);
        }
        meeting.tell_the_late(&streams, error);
    }
    met.map(|()| streams)
}

impl Meeting {
    fn meet(&self, streams: &mut [Option<TcpStream>]) -> Result<(), WorldError> {
        let Self { process, addresses, listener, patience, .. } = self;
        listener.set_nonblocking(true).map_err(|error| self.cannot_listen(&error))?;
        let deadline = Instant::now() + *patience;
        let mut wait = Duration::from_millis(1);
        loop {
            for (to, stream) in streams.iter_mut().enumerate().take(*process) {
                if stream.is_none() {
                    *stream = self.call(to, HELLO)?;
                }
            }
            while let Some((from, stream)) = self.answer()? {
                if let Some(first) = &mut streams[from] {
                    self.listen(from, first)?;
                    return Err(WorldError::Connect(format!("two processes say that they are process {from}")));
                }
                streams[from] = Some(stream);
            }
            let missing: Vec<usize> =
                (0..streams.len()).filter(|&nth| nth != *process && streams[nth].is_none()).collect();
            if missing.is_empty() {
                return Ok(());
            }
            for (from, stream) in streams.iter_mut().enumerate() {
                if let Some(stream) = stream {
                    self.listen(from, stream)?;
                }
            }
            if Instant::now() > deadline {
                let names: Vec<_> = missing.iter().map(|&nth| format!("{nth} ({})", addresses[nth])).collect();
                let seconds = patience.as_secs();
                let text = format!("after {seconds} s there is no connection to process {}", names.join(", "));
                return Err(WorldError::Connect(text));
            }
            thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_millis(50));
        }
    }

    /// Tells those who listen or call only now why this process ends, rather than having them wait for it.
    fn tell_the_late(&self, streams: &[Option<TcpStream>], error: &WorldError) {
        let deadline = Instant::now() + LATE;
        let is_missing = |nth: &usize| streams[*nth].is_none();
        let mut to_call: Vec<usize> = (0..self.process).filter(is_missing).collect();
        let mut to_answer = (self.process + 1..streams.len()).filter(is_missing).count();
        let tell = |mut stream| drop(frame::write_error(&mut stream, self.process, error));
        while to_call.len() + to_answer > 0 && Instant::now() < deadline {
            to_call.retain(|&to| match self.call(to, LATE) {
                Ok(None) => true,
                Ok(Some(stream)) => {
                    tell(stream);
                    false
                }
                // It has heard how this process was started, and finds the difference by itself.
                Err(_) => false,
            });
            match self.answer() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Ok(Some((_, stream))) => {
                    tell(stream);
                    to_answer = to_answer.saturating_sub(1);
                }
                Err(_) => to_answer = to_answer.saturating_sub(1),
            }
        }
    }

    /// Hears whether a process that is connected already has ended meanwhile.
    fn listen(&self, from: usize, stream: &mut TcpStream) -> Result<(), WorldError> {
        let lost = || WorldError::Lost { process: from, address: self.addresses[from].clone() };
        let mut kind = [0];
        let _ = stream.set_nonblocking(true);
        let peeked = stream.peek(&mut kind);
        let _ = stream.set_nonblocking(false);
        match peeked {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Ok(1) if kind == [frame::ERROR] => {
                let read = frame::read_head(stream).and_then(|(_, length)| frame::read_error(stream, length, from));
                Err(read.unwrap_or_else(|_| lost()))
            }
            Ok(1) => Ok(()),
            _ => Err(lost()),
        }
    }

    pub(crate) fn cannot_listen(&self, error: &io::Error) -> WorldError {
        cannot_listen(self.process, &self.addresses[self.process], error)
    }

    fn hello(&self) -> Hello {
        Hello { process: self.process, settings: self.settings.clone() }
    }

    /// Connects to a process before this one. `None` if it does not listen yet, or does not answer for so long.
    fn call(&self, to: usize, patience: Duration) -> Result<Option<TcpStream>, WorldError> {
        let address = &self.addresses[to];
        // A name that is not known yet may be known in a second, where names come up with their hosts.
        let Ok(mut found) = address.to_socket_addrs() else { return Ok(None) };
        let Some(Ok(mut stream)) = found.next().map(|address| TcpStream::connect_timeout(&address, patience)) else {
            return Ok(None);
        };
        let greeted = (|| {
            prepare(&stream, patience)?;
            self.hello().write(&mut stream)?;
            Hello::read(&mut stream)
        })();
        let Ok(hello) = greeted else { return Ok(None) };
        self.settings.compare(to, &hello.settings)?;
        if hello.process != to {
            let text = format!("the process at {address} is process {}, not process {to}", hello.process);
            return Err(WorldError::Connect(text));
        }
        let _ = stream.set_read_timeout(None);
        Ok(stream.write_all(&[HEARD]).is_ok().then_some(stream))
    }

    /// Takes one connection from a process after this one, if there is one. Strangers are ignored.
    fn answer(&self) -> Result<Option<(usize, TcpStream)>, WorldError> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(self.cannot_listen(&error)),
            };
            let ignored = |error: &io::Error| log::warn!(target: "demeanor_world", "a connection is ignored: {error}");
            let greeted = (|| {
                stream.set_nonblocking(false)?;
                prepare(&stream, HELLO)?;
                let hello = Hello::read(&mut stream)?;
                self.hello().write(&mut stream)?;
                Ok::<_, io::Error>(hello)
            })();
            let hello = match greeted {
                Ok(hello) => hello,
                Err(error) => {
                    ignored(&error);
                    continue;
                }
            };
            self.settings.compare(hello.process, &hello.settings)?;
            if hello.process <= self.process || hello.process >= self.addresses.len() {
                let text = format!(
                    "process {} has connected to process {}, which should connect to it",
                    hello.process, self.process
                );
                return Err(WorldError::Connect(text));
            }
            let mut heard = [0];
            match stream.read_exact(&mut heard) {
                Ok(()) if heard == [HEARD] => {}
                Ok(()) => continue,
                // It did not wait for the answer, and calls again.
                Err(error) => {
                    ignored(&error);
                    continue;
                }
            }
            let _ = stream.set_read_timeout(None);
            return Ok(Some((hello.process, stream)));
        }
    }
}

fn prepare(stream: &TcpStream, patience: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))
}

pub(crate) fn cannot_listen(process: usize, address: &str, error: &io::Error) -> WorldError {
    WorldError::Connect(format!("process {process} cannot listen at {address}: {error}"))
}
