//! Side-by-side tables: this crate, hand-written loops, and its peers, on one workload in one run.
//!
//! ```text
//! cargo run --release -p bench -- machines
//! cargo run --release -p bench -- definitions --only values
//! cargo run --release -p bench -- batch --owners 10000,1000000 --churn 1,100 --size 64
//! cargo run --release -p bench -- threads --owners 100000
//! ```
//!
//! Every contender does the same work (`workload.rs`), in interleaved rounds (`runner.rs`), and must come to the same
//! checksum. A time is the median over the rounds, in nanoseconds per owner and tick.
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

mod contender;
mod contenders;
mod runner;
mod workload;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use sysinfo::System;

use crate::contender::Entry;
use crate::runner::Race;

/// Measures state machines side by side.
#[derive(Parser)]
struct Options {
    /// Which table.
    #[arg(value_enum, default_value_t = Tables::Machines)]
    table: Tables,
    /// How many owners.
    #[arg(long, value_delimiter = ',', default_value = "10000,1000000", value_parser = clap::value_parser!(u32).range(1..))]
    owners: Vec<u32>,
    /// How many of them change state in a tick, in percent.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    churn: Vec<f64>,
    /// How large an owner is, in bytes.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "64")]
    size: Vec<Size>,
    /// How often each contender is timed.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Only contenders whose names contain one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tables {
    /// A machine with conditions, in Rust and from a file (`--only values` or `--only time` for their ratio), and a large file.
    Definitions,
    /// One machine per owner.
    Machines,
    /// Many owners, sorted by state or not.
    Batch,
    /// Many owners whose states compute, on one thread and on all.
    Threads,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    #[value(name = "32")]
    Small,
    #[value(name = "64")]
    Medium,
    #[value(name = "256")]
    Large,
}

impl Size {
    fn bytes(self) -> usize {
        match self {
            Self::Small => 32,
            Self::Medium => 64,
            Self::Large => 256,
        }
    }
}

impl Tables {
    fn entries(self, size: Size) -> &'static [Entry] {
        match (self, size) {
            (Self::Definitions, Size::Small) => contenders::definitions::<0>(),
            (Self::Definitions, Size::Medium) => contenders::definitions::<32>(),
            (Self::Definitions, Size::Large) => contenders::definitions::<224>(),
            (Self::Machines, Size::Small) => contenders::machines::<0>(),
            (Self::Machines, Size::Medium) => contenders::machines::<32>(),
            (Self::Machines, Size::Large) => contenders::machines::<224>(),
            (Self::Batch, Size::Small) => contenders::batch::<0>(),
            (Self::Batch, Size::Medium) => contenders::batch::<32>(),
            (Self::Batch, Size::Large) => contenders::batch::<224>(),
            (Self::Threads, Size::Small) => contenders::threads::<0>(),
            (Self::Threads, Size::Medium) => contenders::threads::<32>(),
            (Self::Threads, Size::Large) => contenders::threads::<224>(),
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    println!("{}", header());
    for &size in &options.size {
        let is_wanted =
            |entry: &&Entry| options.only.is_empty() || options.only.iter().any(|part| entry.name.contains(part));
        let entries: Vec<&Entry> = options.table.entries(size).iter().filter(is_wanted).collect();
        for &churn in &options.churn {
            println!("\n{}-byte owners, {churn} % changes a tick, {} rounds", size.bytes(), options.rounds);
            match table(&options, &entries, churn) {
                Ok(table) => println!("{table}"),
                Err(why) => {
                    eprintln!("{why}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    if matches!(options.table, Tables::Definitions) {
        println!("\na file of 1000 states with 4 exits each is loaded in {:.1?}", contenders::loading());
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
         Nanoseconds per owner and tick: median, fastest round, median of the ratios to the first line.",
        system.cpus().len(),
    )
}

fn table(options: &Options, entries: &[&Entry], churn: f64) -> Result<Table, String> {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    let mut header = vec![String::from("owners")];
    let mut rows: Vec<Vec<String>> = entries.iter().map(|entry| vec![entry.name.to_owned()]).collect();
    let mut sums = vec![String::from("checksum")];
    for &owners in &options.owners {
        let race = Race { owners: owners as usize, churn: churn / 100.0, rounds: options.rounds.into() };
        let (times, sum) = race.run(entries)?;
        header.extend([owners.to_string(), String::from("fastest"), String::from("ratio")]);
        for (row, time) in rows.iter_mut().zip(&times) {
            row.extend([format!("{:.2}", time.median), format!("{:.2}", time.fastest), format!("{:.2}", time.ratio)]);
        }
        sums.extend([format!("{sum:016x}"), String::new(), String::new()]);
    }
    table.set_header(header).add_rows(rows).add_row(sums);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    Ok(table)
}
