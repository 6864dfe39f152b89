//! The progress of a long run, as a bar on a terminal.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A run of fewer ticks is too short to show progress.
const LONG: u64 = 100_000;

/// Returns a bar for a run of this number of ticks. It is invisible if the target is not a terminal.
pub(crate) fn bar(ticks: u64, target: ProgressDrawTarget) -> ProgressBar {
    if ticks < LONG {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(ticks), target);
    match ProgressStyle::with_template("{bar:40} {percent}% of {len} ticks, {eta} to go") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A writer of text above the bar, which may be on the same terminal.
pub(crate) struct Above<W> {
    pub(crate) bar: ProgressBar,
    pub(crate) out: W,
    /// Whether the run has another result than this text. It then goes on when the reader of the text has closed the pipe.
    pub(crate) has_result: bool,
}

impl<W: Write> Write for Above<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.bar.suspend(|| self.out.write(bytes)) {
            Err(error) if self.has_result && error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use indicatif::{InMemoryTerm, ProgressBar, ProgressDrawTarget, TermLike as _};

    use super::{Above, bar};

    /// Standard output, on the terminal of the bar.
    struct Output(InMemoryTerm);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write_str(&String::from_utf8_lossy(bytes))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    fn shown(ticks: u64) -> (ProgressBar, InMemoryTerm) {
        let term = InMemoryTerm::new(5, 80);
        (bar(ticks, ProgressDrawTarget::term_like(Box::new(term.clone()))), term)
    }

    #[test]
    fn a_long_run_shows_how_far_it_has_come() {
        let (bar, term) = shown(200_000);
        bar.set_position(100_000);
        let drawn = term.contents();
        assert!(drawn.starts_with("████████████████████░░░░░░░░░░░░░░░░░░░░ 50% of 200000 ticks"), "{drawn}");
        bar.finish_and_clear();
        assert_eq!(term.contents(), "");
    }

    #[test]
    fn a_short_run_shows_nothing() {
        let (bar, term) = shown(1000);
        bar.set_position(500);
        assert_eq!(term.contents(), "");
    }

    #[test]
    fn what_is_written_does_not_run_into_the_bar() {
        let (bar, term) = shown(200_000);
        bar.set_position(0);
        let mut above = Above { bar, out: Output(term.clone()), has_result: false };
        above.write_all(b"a -> b\r\n").unwrap();
        let drawn = term.contents();
        let lines: Vec<_> = drawn.lines().collect();
        assert_eq!(lines[0], "a -> b");
        assert!(lines[1].contains("0% of 200000 ticks"), "{drawn}");
    }
}
