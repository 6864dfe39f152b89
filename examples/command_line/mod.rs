//! What the examples' command lines have in common: exit codes, complaints, and a reader who stops early.
//!
//! Each example parses its own options.

use std::io::{self, ErrorKind, Write};

/// Plays an example with the options that were parsed from its command line. `None` asks for help: prints `usage`.
///
/// `play` is given the options, the output, and where to complain. Returns the exit code: 0 if all is well, 1 if `play`
/// fails, 2 if the command line is wrong. A reader who closes the pipe early, as `head` does, has seen enough: that is 0.
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
