//! Tables of rows. A row describes the acts of the owners' callbacks, the steps of the game, and everything that happens then.
//!
//! A row has a name after `#`, and its first line creates a player. A line such as `A.update: change B` sets the act of an
//! owner's callback; `A.update, 2x: change B` sets it for two calls. All other lines are steps, with the whole trace after
//! `=>`. Lines that are indented further continue the trace. Steps without `=>` only prepare the next ones. `64x B.exit,
//! B.enter` in a trace stands for this number of repetitions. Lines that begin with `//` are comments.

use std::fmt::{Debug, Write};
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A player of the rows of a table.
pub(crate) trait RowPlayer: Sized {
    /// The environment in which a row is played.
    type Home: Copy + Debug;

    /// The first word of the line that makes a player.
    const BEGIN: &'static str;

    fn new(home: Self::Home, line: &'static str) -> Self;

    /// Runs a line of steps, or sets the act of a callback. Returns the trace of each owner, or of all.
    fn take(&mut self, line: &'static str) -> Vec<Vec<String>>;
}

/// Plays all rows of a table in each home, and then panics if any of them failed.
#[track_caller]
pub(crate) fn play_rows<P: RowPlayer>(homes: &[P::Home], table: &'static str) {
    let (mut failures, mut count) = (String::new(), 0);
    for row in table.split("# ").skip(1) {
        count += 1;
        for home in homes {
            let mut line = "";
            let played = catch_unwind(AssertUnwindSafe(|| play_row::<P>(*home, row, &mut line, &mut failures)));
            if played.is_err() {
                writeln!(failures, "{}, {home:?}: `{line}` panics", name_of(row)).expect("a string takes it");
            }
        }
    }
    assert!(count > 0, "the table has no row");
    assert!(failures.is_empty(), "{failures}");
}

fn name_of(row: &'static str) -> &'static str {
    row.split_whitespace().next().expect("a row has a name")
}

fn play_row<P: RowPlayer>(home: P::Home, row: &'static str, at: &mut &'static str, failures: &mut String) {
    let mut player = None;
    let mut lines = lines_of(row);
    let outer = lines.peek().map_or(0, |line| margin(line));
    while let Some((steps, expected)) = next_steps(&mut lines, outer) {
        *at = steps;
        if steps.starts_with(P::BEGIN) {
            player = Some(P::new(home, steps));
            continue;
        }
        let player = player.as_mut().unwrap_or_else(|| panic!("a row begins with `{}`", P::BEGIN));
        for (owner, found) in player.take(steps).iter().enumerate() {
            let found: Vec<_> = found.iter().flat_map(|line| pieces(line)).collect();
            if let Some(expected) = expected.as_ref().filter(|expected| **expected != found) {
                let (name, expected) = (name_of(row), expected.join("; "));
                writeln!(failures, "{name}, {home:?}, owner {owner}: `{steps}`\n  expected {expected}")
                    .and_then(|()| writeln!(failures, "     found {}", found.join("; ")))
                    .expect("a string takes it");
            }
        }
    }
}

/// Returns the lines of a row, without its name and comments.
fn lines_of(row: &'static str) -> Peekable<impl Iterator<Item = &'static str>> {
    row.lines().skip(1).filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).peekable()
}

fn margin(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the next line, and the trace after its `=>`, which continues in lines that are indented further.
fn next_steps(
    lines: &mut Peekable<impl Iterator<Item = &'static str>>,
    outer: usize,
) -> Option<(&'static str, Option<Vec<String>>)> {
    let line = lines.next()?.trim();
    let (steps, expected) = line.split_once("=>").map_or((line, None), |(steps, trace)| (steps, Some(trace)));
    let mut expected = expected.map(pieces);
    while let Some(more) = lines.next_if(|line| margin(line) > outer) {
        expected.as_mut().expect("only a trace is continued").extend(pieces(more));
    }
    Some((steps.trim(), expected))
}

/// Returns the steps of a trace. `64x B.exit, B.enter` stands for this number of repetitions.
fn pieces(trace: &str) -> Vec<String> {
    let pieces = trace.split(';').map(str::trim).filter(|piece| !piece.is_empty());
    let repeated = pieces.flat_map(|piece| match piece.split_once("x ").map(|(times, what)| (times.parse(), what)) {
        Some((Ok(times), what)) => {
            // The comma within the report of a change separates no steps.
            let what = what.replace(", abandoned", "; abandoned");
            let steps = [&*what].repeat(times).join(", ");
            steps.split(", ").map(|step| step.replace("; ", ", ")).collect()
        }
        _ => vec![piece.to_owned()],
    });
    repeated.collect()
}

/// Returns the first word of a text, and the rest.
pub(crate) fn split(text: &'static str) -> (&'static str, &'static str) {
    text.split_once(' ').unwrap_or((text, ""))
}

pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// Returns the callback in `A.update, 2x`, and the number of times.
pub(crate) fn callback_and_times(callback: &'static str) -> (&'static str, u32) {
    match callback.split_once(", ") {
        Some((callback, times)) => (callback, times.trim_end_matches('x').parse().expect("a number")),
        None => (callback, u32::MAX),
    }
}
