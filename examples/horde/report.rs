//! The table at the end: the cost of a tick.

use std::io::{self, Write};

use super::enemy::NAMES;
use super::options::Options;
use super::run::{Record, Tick};
use super::world::Phase;

pub(crate) fn write(record: &Record, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (threads, churn) = (record.threads, options.churn);
    let (owners, ticks) = (grouped(record.owners as usize), grouped(record.ticks.len()));
    let plural = if threads == 1 { "" } else { "s" };
    writeln!(out, "{owners} enemies, {ticks} ticks, {threads} thread{plural}, churn {churn} %\n")?;

    writeln!(out, "{:<10}{:>8}{:>24}{:>22}", "", "ticks", "ns per owner and tick", "changes per tick")?;
    for phase in Phase::ALL {
        write_costs(phase.name(), record, |tick| tick.phase == phase, out)?;
    }
    write_costs("all", record, |_| true, out)?;

    let Some(last) = record.ticks.last() else { return Ok(()) };
    writeln!(out, "\n{:<10}{:>12}", "at the end", "owners")?;
    for (name, population) in NAMES.iter().zip(last.populations) {
        writeln!(out, "{name:<10}{:>12}", grouped(population))?;
    }
    Ok(())
}

/// Writes the cost of the ticks that `is_counted` accepts, if there are any.
#[expect(clippy::cast_precision_loss, reason = "nobody reads that many digits")]
fn write_costs(
    name: &str,
    record: &Record,
    mut is_counted: impl FnMut(&Tick) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let ticks: Vec<_> = record.ticks.iter().filter(|tick| is_counted(tick)).collect();
    if ticks.is_empty() || record.owners == 0 {
        return Ok(());
    }
    let updates = ticks.len() as f64 * f64::from(record.owners);
    let nanoseconds = ticks.iter().map(|tick| tick.took.as_nanos()).sum::<u128>() as f64 / updates;
    let changes: u64 = ticks.iter().map(|tick| tick.changes).sum();
    let per_tick = usize::try_from(changes).unwrap_or(usize::MAX) / ticks.len();
    let percent = 100.0 * changes as f64 / updates;
    let changes = format!("{} ({percent:.1} %)", grouped(per_tick));
    writeln!(out, "{name:<10}{:>8}{nanoseconds:>24.2}{changes:>22}", ticks.len())
}

/// Formats a number with its digits in groups of three.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}
