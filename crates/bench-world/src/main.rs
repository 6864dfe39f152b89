//! Measures what a world costs: per owner and tick, compared with a plain batch; per telegram; per citizen that moves; per
//! checkpoint. It also measures how much faster two processes are than one.
//!
//! ```text
//! cargo run --release -p bench-world
//! cargo run --release -p bench-world -- --owners 200000 --rounds 3 --only telegrams
//! cargo run --release -p bench-world -- --only latency
//! ```
//!
//! Each run starts its own processes, which report how much processor time a tick has used. The runs of a table take turns, and
//! each figure is the median over the rounds.
#![expect(clippy::cast_precision_loss, reason = "figures are rounded as they are shown")]

mod crowd;
mod process;
mod slow;
mod tables;

use std::process::ExitCode;

use clap::Parser;

/// Measures a world.
#[derive(Parser)]
struct Options {
    /// Number of owners.
    #[arg(long, default_value_t = 1_000_000)]
    owners: u64,
    /// Number of rounds, in each of which each run is measured once.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Only the tables whose names begin like this: owners, telegrams, moves, processes, checkpoints, latency.
    #[arg(long, default_value = "")]
    only: String,
}

fn main() -> ExitCode {
    if process::is_one() {
        return process::be_one();
    }
    let Options { owners, rounds, only } = Options::parse();
    if cfg!(debug_assertions) {
        println!("WITHOUT optimization");
    }
    for (name, table) in tables::ALL {
        if !name.starts_with(&only) {
            continue;
        }
        println!("\n{name}");
        match table(owners, rounds.into()) {
            Ok(table) => println!("{table}"),
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
