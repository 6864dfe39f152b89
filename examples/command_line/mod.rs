//! The shared parts of the examples' command lines: exit codes, error messages, and a reader that closes the pipe early.
//!
//! Each example parses its own options.

use std::io::{self, ErrorKind, Write};

/// Runs an example with the options from its command line. `None` asks for help: this prints `usage`.
///
/// `play` gets the options, the output, and the error output. Returns the exit code: 0 for success, 1 if `play` fails, 2 if the
/// command line is wrong. If the reader closes the pipe early, as `head` does, the exit code is 0.
pub(crate) fn answer<O>(
    name: &str,
    usage: &str,
    options: Result<Option<O>, lexopt::Error>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    play: impl FnOnce(&O, &mut dyn Write, &mut dyn Write) -> io::Result<()>,
) -> u8 {
    let played = match options {
        Ok(Some(options)) => play(&options, out, err),
        Ok(None) => writeln!(out, "{usage}"),
        Err(error) => {
            let _ = writeln!(err, "{name}: {error}\n{usage}");
            return 2;
        }
    };
    match played.and_then(|()| out.flush()) {
        Ok(()) => 0,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(error) => {
            let _ = writeln!(err, "{name}: {error}");
            1
        }
    }
}
