//! A connection with one time limit for all its operations together.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection whose single operations can have a time limit.
pub(super) trait Limited: Read + Write {
    /// Sets the time limit of each following operation.
    fn limit(&mut self, time: Duration) -> io::Result<()>;
}

impl Limited for &TcpStream {
    fn limit(&mut self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

/// A connection that fails after a deadline, even if each single operation is short.
pub(super) struct Deadline<S, C> {
    stream: S,
    at: Instant,
    now: C,
}

impl<S: Limited, C: Fn() -> Instant> Deadline<S, C> {
    /// Sets the limit for everything that is done with `stream` from now on. `now` is the clock.
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
            // The kind of error depends on the operating system.
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
