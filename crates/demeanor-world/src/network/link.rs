//! A connection to another process, which timely reads and writes.
//!
//! The data of timely is divided into frames, so that between two frames a process can send the reason for its end.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use timely::communication::allocator::zero_copy::stream::Stream;

use super::frame;
use crate::alarm::Alarm;
use crate::error::WorldError;

/// The interval at which a process sends a sign of life, unless the limit of silence is less than four times as long.
const ALIVE: Duration = Duration::from_secs(2);
/// How long a process that ends tries to send its reason to a process that does not read.
const LAST: Duration = Duration::from_millis(500);

/// All connections of this process.
pub(crate) struct Links {
    process: usize,
    alarm: Arc<Alarm>,
    /// After this time without a sign of life, a process counts as gone: its computer may have lost power, or the cable may be
    /// unplugged.
    silence: Duration,
    writers: Vec<Arc<Writer>>,
    /// Number of connections that are open for reading.
    open: Mutex<usize>,
    closed: Condvar,
    /// Number of bytes that timely has written.
    pub(crate) sent: AtomicU64,
}

struct Writer {
    process: usize,
    /// Locked during a write, which takes forever if the other process is stopped.
    socket: Mutex<TcpStream>,
    /// The same socket without the lock, to end a write that takes too long.
    unlocked: TcpStream,
}

/// A connection in the form that timely needs.
pub(crate) struct Link {
    all: Arc<Links>,
    writer: Arc<Writer>,
    address: Arc<str>,
    reader: BufReader<TcpStream>,
    /// Number of bytes of the current frame that have not been read.
    remaining: usize,
}

impl Links {
    /// Prepares connected sockets for timely.
    pub(crate) fn new(
        process: usize,
        addresses: &[String],
        sockets: Vec<Option<TcpStream>>,
        alarm: &Arc<Alarm>,
        silence: Duration,
    ) -> io::Result<(Arc<Self>, Vec<Option<Link>>)> {
        let mut writers = Vec::new();
        for (process, socket) in sockets.iter().enumerate() {
            if let Some(socket) = socket {
                socket.set_read_timeout(Some(silence))?;
                let (locked, unlocked) = (Mutex::new(socket.try_clone()?), socket.try_clone()?);
                writers.push(Arc::new(Writer { process, socket: locked, unlocked }));
            }
        }
        let all = Arc::new(Self {
            process,
            alarm: Arc::clone(alarm),
            silence,
            open: Mutex::new(writers.len()),
            closed: Condvar::new(),
            writers,
            sent: AtomicU64::new(0),
        });
        let teller = Arc::clone(&all);
        alarm.tell(move |error| teller.tell(error));
        let mut writers = all.writers.iter();
        let links = sockets.into_iter().zip(addresses).map(|(socket, address)| {
            let (socket, writer) = (socket?, Arc::clone(writers.next()?));
            let address = address.as_str().into();
            let reader = BufReader::with_capacity(frame::SHORT, socket);
            Some(Link { all: Arc::clone(&all), writer, address, reader, remaining: 0 })
        });
        let links = links.collect();
        all.stay_alive()?;
        Ok((all, links))
    }

    /// Regularly sends signs of life to the other processes, however long the ticks of this process take.
    fn stay_alive(self: &Arc<Self>) -> io::Result<()> {
        let (all, often) = (Arc::downgrade(self), ALIVE.min(self.silence / 4));
        thread::Builder::new().name("world:alive".to_owned()).spawn(move || {
            loop {
                thread::park_timeout(often);
                let Some(all) = all.upgrade() else { return };
                for writer in &all.writers {
                    // A locked socket is being written to. A process that does not read must not block the signs of life to the
                    // others.
                    if let Ok(mut socket) = writer.socket.try_lock() {
                        // The error can be ignored: the reading side notices that the process is gone.
                        let _ = frame::write(&mut *socket, frame::ALIVE, &[]);
                    }
                }
            }
        })?;
        Ok(())
    }

    /// Tells all other processes why this process ends: with its own error, or with the error that another process has sent to
    /// it.
    fn tell(&self, error: &WorldError) {
        thread::scope(|scope| {
            for writer in &self.writers {
                // If no thread can be started, the other process sees that the connection is closed, but not why.
                let _ = thread::Builder::new().spawn_scoped(scope, || writer.write_last(self.process, error));
            }
        });
    }

    /// Waits until every other process has said that it has finished, or until one of them fails.
    pub(crate) fn finish(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while *open > 0 && !self.alarm.is_raised() {
            open = self.closed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the other processes have closed their side, so that the last bytes of this process are not lost.
    pub(crate) fn linger(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while *open > 0 {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            open = self.closed.wait_timeout(open, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.closed.notify_all();
    }
}

impl Writer {
    /// Writes why this process ends, as its last frame. A process that is stopped in the middle of a frame does not receive it.
    fn write_last(&self, process: usize, error: &WorldError) {
        let deadline = Instant::now() + LAST;
        while Instant::now() < deadline {
            if let Ok(mut socket) = self.socket.try_lock() {
                let _ = socket.set_write_timeout(Some(LAST));
                let _ = frame::write_error(&mut *socket, process, error);
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let _ = self.unlocked.shutdown(Shutdown::Write);
    }

    fn write(&self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        frame::write(&mut *self.socket.lock().unwrap_or_else(PoisonError::into_inner), kind, bytes)
    }

    /// Writes that this process has finished, as its last frame: a later sign of life would not be read, and a connection that
    /// is closed with unread bytes loses the last bytes of the other side.
    fn write_end(&self) -> io::Result<()> {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *socket, frame::END, &[])?;
        socket.shutdown(Shutdown::Write)
    }
}

impl Link {
    /// Reads frames up to the next data of timely. Returns whether there is any.
    fn next_data(&mut self) -> io::Result<bool> {
        while self.remaining == 0 {
            match frame::read_head(&mut self.reader)? {
                (frame::DATA, length) => self.remaining = length,
                (frame::ERROR, length) => {
                    let error = frame::read_error(&mut self.reader, length, self.writer.process)?;
                    self.all.alarm.raise(error);
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                (frame::END, _) => return Ok(false),
                // A sign of life.
                _ => {}
            }
        }
        Ok(true)
    }

    /// Ends the thread after the run has failed. Otherwise timely would panic with a message that does not help users.
    fn give_up(&mut self) -> ! {
        // Reads until the other side has received the last frame and closes the connection.
        let mut rest = [0; 4096];
        let _ = self.reader.get_ref().set_read_timeout(Some(Duration::from_secs(1)));
        while matches!(self.reader.read(&mut rest), Ok(read) if read > 0) {}
        self.all.close();
        loop {
            thread::park();
        }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.next_data() {
            Ok(false) => {
                self.all.close();
                return Ok(0);
            }
            Ok(true) => {
                let room = buffer.len().min(self.remaining);
                self.reader.read(&mut buffer[..room])
            }
            Err(error) => Err(error),
        };
        match read {
            Ok(read) if read > 0 => {
                self.remaining -= read;
                Ok(read)
            }
            read => {
                let (process, address) = (self.writer.process, self.address.to_string());
                let error = read.err();
                let lost = match error.as_ref().map(io::Error::kind) {
                    // The kind of error depends on the operating system.
                    Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                        WorldError::Silent { process, address, seconds: self.all.silence.as_secs() }
                    }
                    Some(io::ErrorKind::InvalidData) => {
                        let text = error.map_or_else(String::new, |error| error.to_string());
                        WorldError::Connect(format!("what process {process} ({address}) sends is damaged: {text}"))
                    }
                    _ => WorldError::Lost { process, address },
                };
                // This has no effect after an earlier error.
                self.all.alarm.raise(lost);
                self.give_up()
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(frame::LONGEST)];
        // After an error, and to a process that is gone, nothing is written. timely need not know: the reading side finds the
        // reason.
        if !self.all.alarm.is_raised() && self.writer.write(frame::DATA, bytes).is_ok() {
            self.all.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            all: Arc::clone(&self.all),
            writer: Arc::clone(&self.writer),
            address: Arc::clone(&self.address),
            reader: BufReader::with_capacity(frame::SHORT, self.reader.get_ref().try_clone()?),
            remaining: 0,
        })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.reader.get_ref().set_nonblocking(nonblocking)
    }

    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        // timely has finished writing.
        if !self.all.alarm.is_raised() {
            let _ = self.writer.write_end();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn one_who_does_not_read_keeps_nobody_else_from_hearing_the_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pair = || (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0);
        let ((to_stopped, stopped), (to_other, mut other)) = (pair(), pair());
        let (alarm, addresses) = (Arc::new(Alarm::default()), ["0", "1", "2"].map(str::to_owned));
        let sockets = vec![None, Some(to_stopped), Some(to_other)];
        let (all, _links) = Links::new(0, &addresses, sockets, &alarm, Duration::from_secs(30)).unwrap();
        let writer = Arc::clone(&all.writers[0]);
        // More bytes than the buffers of a connection hold.
        let blocked = thread::spawn(move || writer.write(frame::DATA, &vec![0; 1 << 26]));
        stopped.peek(&mut [0]).unwrap();
        alarm.raise(WorldError::Save("it is over".to_owned()));
        let (mut kind, mut length) = frame::read_head(&mut other).unwrap();
        while kind == frame::ALIVE {
            (kind, length) = frame::read_head(&mut other).unwrap();
        }
        let error = frame::read_error(&mut other, length, 0).unwrap();
        assert_eq!((kind, error), (frame::ERROR, WorldError::Elsewhere { process: 0, text: "it is over".to_owned() }));
        assert!(blocked.join().unwrap().is_err());
    }

    #[test]
    fn what_is_no_frame_ends_the_run_with_an_error_that_says_who_sent_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        let (alarm, addresses) = (Arc::new(Alarm::default()), ["here", "there"].map(str::to_owned));
        let (sender, raised) = std::sync::mpsc::channel();
        alarm.tell(move |error| sender.send(error.to_string()).unwrap());
        let sockets = vec![None, Some(ours)];
        let (_all, mut links) = Links::new(0, &addresses, sockets, &alarm, Duration::from_secs(30)).unwrap();
        let mut link = links.remove(1).unwrap();
        // `read` does not return, because timely would panic.
        thread::spawn(move || link.read(&mut [0; 16]));
        theirs.write_all(&[frame::DATA, 0xff, 0xff, 0xff, 0xff]).unwrap();
        let text = "a frame of kind 1 has 4294967295 bytes; at most 16777216 are sent";
        let expected = format!("what process 1 (there) sends is damaged: {text}");
        assert_eq!(raised.recv().unwrap(), expected);
    }
}
