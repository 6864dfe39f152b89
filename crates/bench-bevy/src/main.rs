//! Measures how long a tick takes per entity in Bevy: with this project, with code written by hand, and with other crates.
//!
//! `cargo run --release --features peers -- [waiting | visits | threads] [--entities N] [--period TICKS].. [--rounds N] [--only ROW]..`.
//! With `waiting`, some of the entities sleep; some rows poll, and the others use timers. With `visits`, a system goes through
//! the entities in one of the six states. With `threads`, which needs the feature `parallel`, updates take longer. All rows run in turns in one process, as in `bench`. The tables show the medians of
//! the times and of the ratios within a round, so that they are meaningful on a busy machine, too. `--only` takes a part of a
//! row's name; the first row is always measured.

mod body;
mod by_hand;
#[cfg(feature = "peers")]
mod moonshine;
mod ours;
#[cfg(feature = "peers")]
mod seldom;
#[cfg(feature = "parallel")]
mod threads;
mod visits;
mod waiting;

use std::num::NonZeroU32;
use std::time::Instant;

use bench_runner::{race, table};
use cpu_time::ThreadTime;

/// The largest number of entities for seldom_state: with 100 000 entities that all change state, it needs more than a second
/// for each tick.
#[cfg(feature = "peers")]
const SELDOM_BEARS: u32 = 5_000;

struct Row {
    name: &'static str,
    entities: u32,
    tick: Box<dyn FnMut()>,
    checksum: Box<dyn FnMut() -> u64>,
}

impl Row {
    /// Returns the nanoseconds that a tick takes per entity.
    fn time(&mut self, ticks: u32) -> f64 {
        let begin = (Instant::now(), ThreadTime::now());
        for _ in 0..ticks {
            (self.tick)();
        }
        // With several threads, the processor time of one thread is not the cost of the tick.
        let elapsed = if cfg!(feature = "parallel") { begin.0.elapsed() } else { begin.1.elapsed() };
        elapsed.as_secs_f64() * 1e9 / f64::from(ticks) / f64::from(self.entities)
    }
}

macro_rules! row {
    ($name:literal, $entities:expr, $app:expr, $checksum:path) => {{
        let app = std::rc::Rc::new(std::cell::RefCell::new($app));
        let same = app.clone();
        Row {
            name: $name,
            entities: $entities,
            tick: Box::new(move || app.borrow_mut().update()),
            checksum: Box::new(move || $checksum(&mut same.borrow_mut())),
        }
    }};
}

fn rows(entities: u32, period: u32) -> Vec<Row> {
    #[cfg_attr(not(any(feature = "peers", feature = "parallel")), expect(unused_mut, reason = "nothing is added"))]
    let mut rows = vec![
        row!("enum component by hand", entities, by_hand::with_enum(entities, period), by_hand::checksum),
        row!("machines in a Vec", entities, ours::Machines::new(entities, period), ours::Machines::checksum),
        row!("bevy_demeanor", entities, ours::plain(entities, period), ours::checksum),
        row!("  with a body beside it", entities, ours::with_body(entities, period), ours::checksum_beside),
        row!("  with change messages", entities, ours::with_messages(entities, period), ours::checksum),
        row!("  with six markers", entities, ours::with_markers(entities, period), ours::checksum),
        row!("  with six sparse markers", entities, ours::with_sparse_markers(entities, period), ours::checksum),
        row!("  with six indexes", entities, ours::with_indexes(entities, period), ours::checksum),
        row!("tag components by hand", entities, by_hand::with_tags(entities, period), by_hand::checksum),
        row!("sparse tags by hand", entities, by_hand::with_sparse_tags(entities, period), by_hand::checksum),
    ];
    #[cfg(feature = "parallel")]
    {
        rows.push(row!("bevy_demeanor in parallel", entities, ours::parallel(entities, period), ours::checksum));
        let beside = ours::with_body_in_parallel(entities, period);
        rows.push(row!("  with a body beside it", entities, beside, ours::checksum_beside));
    }
    #[cfg(feature = "peers")]
    {
        rows.push(row!("moonshine-behavior 0.6", entities, moonshine::app(entities, period), moonshine::checksum));
        rows.push(row!("  spared its observers", entities, moonshine::inline(entities, period), moonshine::checksum));
        let few = entities.min(SELDOM_BEARS);
        rows.push(row!("enum component, as few", few, by_hand::with_enum(few, period), by_hand::checksum));
        rows.push(row!("bevy_demeanor, as few", few, ours::plain(few, period), ours::checksum));
        rows.push(row!("seldom_state 0.16", few, seldom::app(few, period), seldom::checksum));
        rows.push(row!("  spared its commands", few, seldom::inline(few, period), seldom::checksum));
    }
    rows
}

fn visiting_rows(entities: u32, period: u32) -> Vec<Row> {
    vec![
        row!("no system", entities, ours::plain(entities, period), ours::checksum),
        row!("each machine asked", entities, visits::asking(entities, period), ours::checksum),
        row!("markers in tables", entities, visits::with_markers(entities, period), ours::checksum),
        row!("markers in sparse sets", entities, visits::with_sparse_markers(entities, period), ours::checksum),
        row!("indexes", entities, visits::with_indexes(entities, period), ours::checksum),
    ]
}

/// How many steps the updates in the tables of threads take: some nanoseconds, and some 50.
#[cfg(feature = "parallel")]
const STEPS: [u32; 3] = [0, 16, 64];

#[cfg(feature = "parallel")]
fn threads_rows(entities: u32, steps: u32) -> Vec<Row> {
    vec![
        row!("on one thread", entities, threads::guards(entities, steps, false), threads::checksum),
        row!("in parallel", entities, threads::guards(entities, steps, true), threads::checksum),
        row!(
            "on one thread, with a body",
            entities,
            threads::guards_with_body(entities, steps, false),
            threads::checksum
        ),
        row!("in parallel, with a body", entities, threads::guards_with_body(entities, steps, true), threads::checksum),
    ]
}

/// The percentages of sleeping entities in the tables of waiting.
const PERCENT_ASLEEP: [u32; 4] = [0, 50, 90, 99];

/// The shortest naps in the tables of waiting, in seconds.
const LEAST_SECONDS: [f32; 2] = [1.0, 10.0];

fn waiting_rows(crowd: waiting::Crowd) -> Vec<Row> {
    let entities = crowd.entities;
    vec![
        row!("timer component by hand, polled", entities, waiting::with_timer_component(crowd), waiting::checksum),
        row!("bevy_demeanor that polls", entities, waiting::polling(crowd), waiting::checksum),
        row!("bevy_demeanor with timers and sleep", entities, waiting::asleep(crowd), waiting::checksum),
    ]
}

/// Measures the rows. A round of a row is `ticks` ticks.
fn measure(heading: &str, mut rows: Vec<Row>, ticks: u32, rounds: usize, only: &[String]) {
    let mut is_first = true;
    rows.retain(|row| {
        std::mem::take(&mut is_first) || only.is_empty() || only.iter().any(|part| row.name.contains(part))
    });
    // Warm-up.
    for row in &mut rows {
        row.time(ticks);
    }
    let times = race(&mut rows, rounds, |row| row.time(ticks));
    let header = ["row", "entities", "ms per tick", "ns per entity", "fastest", "ratio", "checksum"];
    let cells = rows.iter_mut().zip(times).map(|(row, time)| {
        vec![
            row.name.to_owned(),
            row.entities.to_string(),
            format!("{:.3}", time.median * f64::from(row.entities) / 1e6),
            format!("{:.1}", time.median),
            format!("{:.1}", time.fastest),
            format!("{:.2}", time.ratio),
            format!("{:016x}", (row.checksum)()),
        ]
    });
    println!("{heading}");
    println!(
        "Medians over {rounds} rounds; the ratio is the median of the rounds' ratios to the first row, by the entity."
    );
    println!("{}", table(header.map(String::from).to_vec(), cells));
}

fn main() -> Result<(), lexopt::Error> {
    use lexopt::prelude::*;
    let (mut entities, mut rounds, mut periods, mut only) = (100_000, 15, Vec::new(), Vec::new());
    let (mut is_waiting, mut is_visiting) = (false, false);
    #[cfg(feature = "parallel")]
    let mut is_of_threads = false;
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(table) if table == "waiting" => is_waiting = true,
            Value(table) if table == "visits" => is_visiting = true,
            #[cfg(feature = "parallel")]
            Value(table) if table == "threads" => is_of_threads = true,
            Long("entities") => entities = arguments.value()?.parse()?,
            Long("rounds") => rounds = arguments.value()?.parse::<usize>()?.max(1),
            Long("period") => periods.push(arguments.value()?.parse::<NonZeroU32>()?.get()),
            Long("only") => only.push(arguments.value()?.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    if is_waiting {
        for least in LEAST_SECONDS {
            for percent_asleep in PERCENT_ASLEEP {
                let crowd = waiting::Crowd { entities, percent_asleep, least };
                let most = least * 10.0;
                let heading =
                    format!("{percent_asleep} % of the entities sleep, for {least} to {most} seconds at a time");
                measure(&heading, waiting_rows(crowd), 60, rounds, &only);
            }
        }
        return Ok(());
    }
    #[cfg(feature = "parallel")]
    if is_of_threads {
        for steps in STEPS {
            let heading = format!("{steps} steps in each update");
            // So many ticks that some are measured by the plugin, and most are not.
            measure(&heading, threads_rows(entities, steps), 128, rounds, &only);
        }
        return Ok(());
    }
    if periods.is_empty() {
        periods = if is_visiting { vec![10_000, 1_000, 100, 10, 1] } else { vec![100, 1] };
    }
    for period in periods {
        // The same share of the entities changes state in each round.
        let ticks = if period == 1 { 4 } else { 20 };
        let heading = format!("{} % of the entities change state in a tick", 100.0 / f64::from(period));
        let rows = if is_visiting { visiting_rows(entities, period) } else { rows(entities, period) };
        measure(&heading, rows, ticks, rounds, &only);
    }
    Ok(())
}
