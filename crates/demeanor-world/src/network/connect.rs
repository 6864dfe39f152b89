//! How the processes of a world meet: each connects to those before it, and waits for those after it.

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

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

/// Connects this process with all others. Its own place is `None`.
pub(crate) fn connect(meeting: &Meeting) -> Result<Vec<Option<TcpStream>>, WorldError> {
    let Meeting { process, addresses, listener, patience, .. } = meeting;
    let mut streams: Vec<Option<TcpStream>> = addresses.iter().map(|_| None).collect();
    listener.set_nonblocking(true).map_err(|error| meeting.cannot_listen(&error))?;
    let deadline = Instant::now() + *patience;
    let mut wait = Duration::from_millis(1);
    loop {
        for to in 0..*process {
            if streams[to].is_none() {
                streams[to] = meeting.call(to)?;
            }
        }
        while let Some((from, stream)) = meeting.answer()? {
            streams[from] = Some(stream);
        }
        let missing: Vec<usize> = (0..streams.len()).filter(|&nth| nth != *process && streams[nth].is_none()).collect();
        if missing.is_empty() {
            return Ok(streams);
        }
        if Instant::now() > deadline {
            let names: Vec<_> = missing.iter().map(|&nth| format!("{nth} ({})", addresses[nth])).collect();
            let text = format!("after {} s there is no connection to process {}", patience.as_secs(), names.join(", "));
            return Err(WorldError::Connect(text));
        }
        thread::sleep(wait);
        wait = (wait * 2).min(Duration::from_millis(50));
    }
}

impl Meeting {
    pub(crate) fn cannot_listen(&self, error: &io::Error) -> WorldError {
        cannot_listen(self.process, &self.addresses[self.process], error)
    }

    fn hello(&self) -> Hello {
        Hello { process: self.process, settings: self.settings.clone() }
    }

    /// Connects to a process before this one. `None` if it does not listen yet.
    fn call(&self, to: usize) -> Result<Option<TcpStream>, WorldError> {
        let address = &self.addresses[to];
        // A name that is not known yet may be known in a second, where names come up with their hosts.
        let Ok(mut found) = address.to_socket_addrs() else { return Ok(None) };
        let Some(Ok(mut stream)) = found.next().map(|address| TcpStream::connect_timeout(&address, HELLO)) else {
            return Ok(None);
        };
        let greeted = (|| {
            prepare(&stream)?;
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
        Ok(Some(stream))
    }

    /// Takes one connection from a process after this one, if there is one. Strangers are ignored.
    fn answer(&self) -> Result<Option<(usize, TcpStream)>, WorldError> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(self.cannot_listen(&error)),
            };
            let greeted = (|| {
                stream.set_nonblocking(false)?;
                prepare(&stream)?;
                let hello = Hello::read(&mut stream)?;
                self.hello().write(&mut stream)?;
                Ok::<_, io::Error>(hello)
            })();
            let hello = match greeted {
                Ok(hello) => hello,
                Err(error) => {
                    log::warn!(target: "demeanor_world", "a connection is ignored: {error}");
                    continue;
                }
            };
            self.settings.compare(hello.process, &hello.settings)?;
            if hello.process <= self.process || hello.process >= self.addresses.len() {
                let text = format!("process {} has called process {}, which calls it", hello.process, self.process);
                return Err(WorldError::Connect(text));
            }
            let _ = stream.set_read_timeout(None);
            return Ok(Some((hello.process, stream)));
        }
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HELLO))
}

pub(crate) fn cannot_listen(process: usize, address: &str, error: &io::Error) -> WorldError {
    WorldError::Connect(format!("process {process} cannot listen at {address}: {error}"))
}
