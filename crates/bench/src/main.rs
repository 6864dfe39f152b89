//! Side-by-side tables: this crate, hand-written loops, and its peers, on one workload in one run.
//!
//! ```text
//! cargo run --release -p bench -- machines
//! cargo run --release -p bench -- definitions --only values
//! cargo run --release -p bench -- batch --owners 10000,1000000 --churn 1,100
//! cargo run --release -p bench --features sizes -- batch --size 32,256
//! cargo run --release -p bench -- corners --owners 2000,20000 --only refuses
//! cargo run --release -p bench -- waiting --owners 1000000
//! cargo run --release -p bench -- cast
//! cargo run --release -p bench -- compile --rounds 3
//! cargo run --release -p bench -- save
//! cargo run --release -p bench -- threads --owners 1000000 --churn 1,100 --only light
//! ```
//!
//! | table | shows |
//! |---|---|
//! | `machines` | one machine per owner, compared with other crates and an `enum`; owners in two states at once |
//! | `batch` | many owners in a batch, compared with hand-written loops and other crates |
//! | `definitions` | a machine with conditions, in Rust and from a file; a table of many states, compared with an interpreter |
//! | `corners` | tasks that a batch cannot do in its usual way, compared with one machine per owner (`corners/`) |
//! | `waiting` | owners that mostly sleep, each until a different time (`waiting/`) |
//! | `cast` | members that send each other telegrams, compared with agents in a `Vec` (`casts/`) |
//! | `save` | a batch that is saved and loaded, or cloned into an existing batch, compared with its owners alone in a `Vec` (`saving.rs`, `rolling_back.rs`) |
//! | `threads` | a batch on one thread and on all, and the serial share of its ticks (`threads/serial.rs`) |
//! | `compile` | what each further kind of character costs a game to compile (`compiling.rs`) |
//!
//! All contenders of a table or row do the same work (`workload.rs`), in interleaved rounds (`runner.rs`), and must have the
//! same checksum. A time is the median over the rounds, in nanoseconds per owner and tick.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "times and shares are rounded as they are shown, and the workload takes bits where it likes"
)]
#![expect(
    clippy::inline_always,
    reason = "the work must be compiled into every contender, or calls to it are measured"
)]

mod casts;
mod compiling;
mod contender;
mod contenders;
mod corners;
mod options;
mod rolling_back;
mod runner;
mod saving;
mod threads;
mod waiting;
mod workload;

use std::process::ExitCode;

use clap::Parser;
use comfy_table::Table;
use sysinfo::System;

use crate::contender::Entry;
use crate::options::{Options, Size, Tables, of_size};
use crate::runner::{Race, UPDATES_PER_ROUND};

fn main() -> ExitCode {
    let options = Options::parse();
    println!("{}", header());
    let tables = match options.table {
        Tables::Definitions => definitions(&options),
        Tables::Machines => contests(&options, Size::machines).and_then(|()| contests(&options, Size::regions)),
        Tables::Batch => contests(&options, Size::batch),
        Tables::Corners => corners(&options),
        Tables::Threads => threads(&options),
        Tables::Waiting => waiting(&options),
        Tables::Cast => casts(&options),
        Tables::Save => save(&options),
        Tables::Compile => compile(&options),
    };
    if let Err(why) = tables {
        eprintln!("{why}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn header() -> String {
    let system =
        System::new_with_specifics(sysinfo::RefreshKind::nothing().with_cpu(sysinfo::CpuRefreshKind::nothing()));
    let processor = system.cpus().first().map_or("unknown processor", |cpu| cpu.brand());
    let profile = if cfg!(debug_assertions) { "WITHOUT optimization" } else { "the ordinary release profile" };
    format!(
        "{processor}, {} cores; {profile} (opt-level 3, no LTO, codegen-units 16).\n\
         Times are nanoseconds per owner and tick, medians over the rounds.",
        system.cpus().len(),
    )
}

fn definitions(options: &Options) -> Result<(), String> {
    contests(options, Size::definitions)?;
    for &size in &options.size {
        for entries in size.timed() {
            let entries: Vec<&Entry> = entries.iter().filter(|entry| options.is_wanted(entry.name)).collect();
            if !entries.is_empty() {
                println!("\n{}-byte owners, about 13 % changes a tick, {} rounds", size.bytes(), options.rounds);
                println!("Median, fastest round, median of the ratios to the first line.");
                println!("{}", contest(options, &entries, 0.0)?);
            }
        }
    }
    if options.is_wanted("loading") {
        println!("\na file of 1000 states with 4 exits each is loaded in {:.1?}", contenders::loading());
    }
    Ok(())
}

/// Measures the tables in which contenders do the same work.
fn contests(options: &Options, entries: impl Fn(Size) -> &'static [Entry]) -> Result<(), String> {
    for &size in &options.size {
        let entries: Vec<&Entry> = entries(size).iter().filter(|entry| options.is_wanted(entry.name)).collect();
        if entries.is_empty() {
            continue;
        }
        for churn in options.churn() {
            println!("\n{}-byte owners, {churn} % changes a tick, {} rounds", size.bytes(), options.rounds);
            println!("Median, fastest round, median of the ratios to the first line.");
            println!("{}", contest(options, &entries, *churn)?);
        }
    }
    Ok(())
}

fn contest(options: &Options, entries: &[&Entry], churn: f64) -> Result<Table, String> {
    let mut header = vec![String::from("owners")];
    let mut rows: Vec<Vec<String>> = entries.iter().map(|entry| vec![entry.name.to_owned()]).collect();
    let mut sums = vec![String::from("checksum")];
    for &owners in options.owners() {
        let rounds = options.rounds.into();
        let race = Race { owners: owners as usize, churn: churn / 100.0, rounds, updates: UPDATES_PER_ROUND };
        let (times, sum) = race.run(entries.iter().map(|entry| entry.entrant(owners as usize)).collect())?;
        header.extend([owners.to_string(), String::from("fastest"), String::from("ratio")]);
        for (row, time) in rows.iter_mut().zip(&times) {
            row.extend([format!("{:.2}", time.median), format!("{:.2}", time.fastest), format!("{:.2}", time.ratio)]);
        }
        sums.extend([format!("{sum:016x}"), String::new(), String::new()]);
    }
    rows.push(sums);
    Ok(bench_runner::table(header, rows))
}

fn corners(options: &Options) -> Result<(), String> {
    let is_wanted = |name: &str| options.is_wanted(name);
    let table = corners::table(options.owners(), |owners| options.rounds_for(owners), is_wanted)?;
    if !table.is_empty() {
        println!("\n64-byte owners, which all take part unless the row says otherwise.");
        println!("The ratio is the median of the ratios of the batch to the machines.");
        println!("{table}");
    }
    if let Some(table) = corners::timers_of_one(is_wanted)? {
        println!("\nNanoseconds for each thing that happens to an owner: of a quarter of them, and of all.");
        println!("{table}");
    }
    if let Some(table) = corners::fresh_states(options.owners(), is_wanted)? {
        println!("\nIn each tick 10 % go to one of 16 new shared states: the second tenth of the run, and the last.");
        println!("{table}");
    }
    Ok(())
}

fn casts(options: &Options) -> Result<(), String> {
    let table = casts::table(options.rounds.into(), |name| options.is_wanted(name))?;
    println!("\nTimes are nanoseconds per callback, or per telegram; the ratio is the median of the rounds' ratios.");
    println!("{table}");
    Ok(())
}

fn compile(options: &Options) -> Result<(), String> {
    println!(
        "\nProcessor seconds of cargo, medians over the rounds: a package with one kind of character, and with eleven.\n\
         Each kind has a type of owner of its own, unless the row says otherwise."
    );
    println!("{}", compiling::table(options.rounds.into(), |name| options.is_wanted(name))?);
    Ok(())
}

fn save(options: &Options) -> Result<(), String> {
    for &owners in options.owners() {
        let (owners, rounds) = (owners as usize, options.rounds_for(owners as usize));
        println!("\n{owners} owners of 64 bytes, postcard, {rounds} rounds: milliseconds for all of them, medians.");
        println!("{}", saving::table(owners, rounds, |name| options.is_wanted(name))?);
        // A rollback game usually has few owners to copy in each tick.
        for owners in [10_000, owners] {
            println!(
                "\n{owners} owners of 64 bytes, clone_from into a batch with enough room, {rounds} rounds: microseconds, medians."
            );
            println!("The ratio is that of the fastest rounds.");
            println!("{}", rolling_back::table(owners, rounds, |name| options.is_wanted(name))?);
        }
    }
    Ok(())
}

fn threads(options: &Options) -> Result<(), String> {
    for &size in &options.size {
        for &owners in options.owners() {
            let (owners, rounds) = (owners as usize, options.rounds_for(owners as usize));
            let is_wanted = |name: &str| options.is_wanted(name);
            println!("\n{owners} {}-byte owners, {rounds} rounds.", size.bytes());
            println!(
                "The serial share of a tick as estimated, and at most; the speed-up by Amdahl that the estimate allows."
            );
            println!("{}", of_size!(size, threads::table(owners, options.churn(), rounds, is_wanted))?);
        }
    }
    Ok(())
}

fn waiting(options: &Options) -> Result<(), String> {
    for &owners in options.owners() {
        let (owners, rounds) = (owners as usize, options.rounds_for(owners as usize));
        for (least, most) in waiting::NAPS {
            println!("\n{owners} 64-byte owners, 60 ticks a second, naps of {least} to {most} s, {rounds} rounds.");
            println!("The ratio is the median of the ratios to the first line.");
            println!("{}", waiting::table(owners, (least, most), rounds, |name| options.is_wanted(name))?);
        }
    }
    Ok(())
}
