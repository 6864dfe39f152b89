//! The progress of a run, as text on the terminal of process 0.

use std::fmt;
use std::time::{Duration, Instant};

use crate::report::Report;

/// The interval between two lines.
const EVERY: Duration = Duration::from_secs(1);

/// The ticks since the last line.
pub(crate) struct Progress {
    /// The number of workers of a process.
    threads: u32,
    since: Instant,
    line: Line,
}

/// A line of progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line {
    /// The number of ticks since the world's beginning.
    tick: u64,
    /// The number of ticks since the last line.
    ticks: u64,
    seconds: f64,
    citizens: u64,
    sent: u64,
    returned: u64,
    moved: u64,
    /// The busy time of each process's busiest worker, in microseconds.
    busy: Vec<u64>,
}

impl Progress {
    pub(crate) fn new(threads: u32) -> Self {
        Self { threads, since: Instant::now(), line: Line::default() }
    }

    /// Adds a tick. Returns a line if the interval has passed.
    pub(crate) fn add(&mut self, passed: u64, reports: &[Report]) -> Option<Line> {
        self.line.add(passed, self.threads, reports);
        let elapsed = self.since.elapsed();
        if elapsed < EVERY {
            return None;
        }
        self.since = Instant::now();
        Some(Line { seconds: elapsed.as_secs_f64(), ..std::mem::take(&mut self.line) })
    }
}

impl Line {
    fn add(&mut self, passed: u64, threads: u32, reports: &[Report]) {
        (self.tick, self.ticks, self.citizens) = (passed, self.ticks + 1, 0);
        let workers = reports.iter().map(|report| report.worker + 1).max().unwrap_or(0);
        let mut busy = vec![0; workers.div_ceil(threads) as usize];
        for report in reports {
            self.citizens += report.census.citizens;
            self.sent += report.census.sent;
            self.returned += report.census.returned;
            self.moved += report.moved;
            let of_process = &mut busy[(report.worker / threads) as usize];
            *of_process = report.busy.max(*of_process);
        }
        self.busy.resize(busy.len(), 0);
        self.busy.iter_mut().zip(busy).for_each(|(sum, busy)| *sum += busy);
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures are rounded as they are shown")]
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticks = self.ticks.max(1);
        let a_tick = |count: u64| count / ticks;
        let rate = self.ticks as f64 / self.seconds;
        let (tick, citizens, sent, moved) = (self.tick, self.citizens, a_tick(self.sent), a_tick(self.moved));
        write!(f, "tick {tick}: {rate:.1} ticks/s, {citizens} citizens; in a tick {sent} messages, {moved} moves")?;
        if self.returned > 0 {
            write!(f, ", {} messages to nobody", a_tick(self.returned))?;
        }
        let slowest = self.busy.iter().enumerate().max_by_key(|(_, busy)| **busy);
        if let Some((process, busy)) = slowest.filter(|_| self.busy.len() > 1) {
            write!(f, "; slowest is process {process}, busy {:.0} %", *busy as f64 / 1e4 / self.seconds)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Census;

    #[test]
    fn a_line_names_the_slowest_process() {
        let report = |worker, busy| {
            let census = Census { citizens: 10, sent: 4, returned: u64::from(worker), ..Census::default() };
            Report { worker, census, moved: 1, busy, ..Report::default() }
        };
        let mut line = Line { seconds: 2.0, ..Line::default() };
        line.add(7, 2, &[report(0, 100_000), report(1, 300_000), report(2, 400_000), report(3, 50_000)]);
        line.add(8, 2, &[report(0, 900_000), report(1, 300_000), report(2, 400_000), report(3, 50_000)]);
        assert_eq!(
            line.to_string(),
            "tick 8: 1.0 ticks/s, 40 citizens; in a tick 16 messages, 4 moves, 6 messages to nobody; \
             slowest is process 0, busy 60 %",
        );
    }
}
