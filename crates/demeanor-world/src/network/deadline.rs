//! A connection on which everything together may only take so long.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection whose operations can be limited in time.
pub(super) trait Limited: Read + Write {
    /// Sets how long each following operation may take.
    fn limit(&mut self, time: Duration) -> io::Result<()>;
}

impl Limited for &TcpStream {
    fn limit(&mut self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

/// A connection that fails once a deadline has passed, however little each operation takes.
pub(super) struct Deadline<S, C> {
    stream: S,
    at: Instant,
    now: C,
}

impl<S: Limited, C: Fn() -> Instant> Deadline<S, C> {
    /// Limits what is done on `stream` from now on. `now` is the clock.
    pub(super) fn new(stream: S, time: Duration, now: C) -> Self {
        Self { stream, at: now() + time, now }
    }

    fn before<R>(&mut self, operation: impl FnOnce(&mut S) -> io::Result<R>) -> io::Result<R> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the greeting takes too long");
        let left = self.at.saturating_duration_since((self.now)());
        if left.is_zero() {
            return Err(late());
        }
        self.stream.limit(left)?;
        operation(&mut self.stream).map_err(|error| match error.kind() {
            // Which of them it is depends on the operating system.
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
            _ => error,
        })
    }
}

impl<S: Limited, C: Fn() -> Instant> Read for Deadline<S, C> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.before(|stream| stream.read(bytes))
    }
}

impl<S: Limited, C: Fn() -> Instant> Write for Deadline<S, C> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.before(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.before(Write::flush)
    }
}
