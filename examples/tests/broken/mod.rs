//! A file or a pipe that cannot be written.

use std::io;

/// A writer that fails from the first line on.
pub(crate) struct Broken(pub(crate) io::ErrorKind);

impl io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
