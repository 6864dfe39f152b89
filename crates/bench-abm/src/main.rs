//! Wolves, sheep and grass, by several frameworks. `README.md` says what is measured, and how.
//!
//! `cargo run --release --features peers -- [--rounds N] [--world NAME] [--only ROW].. [--program "NAME=COMMAND"]..`.
//! All rows run in turns, with the same seeds, and the table shows the medians of their processor times and of the ratios within a
//! round. Then the numbers of sheep, wolves and patches are compared with those of the loops by hand; if a row differs by more than
//! chance explains, the exit status is 1. `--only` takes a part of a row's name; the first row is always measured. `--program` adds a
//! row whose runs are made by another program, which `contender.rs` describes.

mod by_hand;
mod contender;
#[cfg(feature = "peers")]
mod krabmaga;
mod model;
mod ours;
mod statistics;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use bench_runner::{race, table};

use self::contender::{Contender, Program};
use self::model::{LARGE, SMALL, World};
use self::ours::Order;
use self::statistics::TOLERANCE;

/// The runs of each row, if `--rounds` is not given. With fewer runs, a standard error says too little.
const LEAST_ROUNDS: usize = 20;

/// The further runs of the loops by hand for each round, whose time does not count.
const MORE_RUNS_BY_HAND: usize = 9;

struct Options {
    rounds: usize,
    world: Option<String>,
    only: Vec<String>,
    programs: Vec<String>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut contenders = contenders(&options);
    let mut is_alike = true;
    for world in [SMALL, LARGE] {
        if options.world.as_ref().is_none_or(|name| name == world.name) {
            is_alike &= compare(&mut contenders, &world, options.rounds);
        }
    }
    ExitCode::from(u8::from(!is_alike))
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { rounds: LEAST_ROUNDS, world: None, only: Vec::new(), programs: Vec::new() };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => options.rounds = arguments.value()?.parse()?,
            Long("world") => options.world = Some(arguments.value()?.string()?),
            Long("only") => options.only.push(arguments.value()?.string()?),
            Long("program") => options.programs.push(arguments.value()?.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    if options.rounds < LEAST_ROUNDS {
        return Err(format!("at least {LEAST_ROUNDS} rounds are needed to compare what is counted").into());
    }
    Ok(options)
}

fn contenders(options: &Options) -> Vec<Contender> {
    let mut contenders = vec![
        Contender::of("loops by hand", by_hand::run),
        Contender::of("demeanor, one by one", |world, seed| ours::run(world, Order::Random, seed)),
        Contender::of("demeanor, in bulk", |world, seed| ours::run(world, Order::Stored, seed)),
        #[cfg(feature = "peers")]
        Contender::of("krABMaga 0.6", krabmaga::run),
    ];
    for program in &options.programs {
        let (name, command) = program.split_once('=').unwrap_or((program, program));
        contenders.push(Contender::program(name, Program::start(command)));
    }
    let mut nth = 0;
    contenders.retain(|contender| {
        nth += 1;
        nth == 1 || options.only.is_empty() || options.only.iter().any(|part| contender.name.contains(part))
    });
    contenders
}

/// Measures the contenders in one world, and prints their times and counts. Returns whether all counts are alike.
fn compare(contenders: &mut [Contender], world: &World, rounds: usize) -> bool {
    contenders.iter_mut().for_each(Contender::reset);
    let times = race(contenders, rounds, |contender| contender.run(world));
    // All others are compared with the first, so its means should be the most exact.
    for _ in 0..rounds * MORE_RUNS_BY_HAND {
        contenders[0].run(world);
    }
    let header = ["ms per run", "ratio", "sheep", "wolves", "grass", "largest difference", "in errors", "1 error is"];
    let header = [world.name].into_iter().chain(header).map(Into::into).collect();
    let mut is_alike = true;
    let rows = contenders.iter().zip(times).enumerate().map(|(nth, (contender, time))| {
        let times = [contender.name.clone(), format!("{:.2}", time.median * 1e3), format!("{:.1}", time.ratio)];
        let means = contender.runs.means().map(|mean| format!("{mean:.1}"));
        let difference = (nth > 0).then(|| contender.runs.difference(&contenders[0].runs));
        is_alike &= difference.as_ref().is_none_or(|difference| difference.errors <= TOLERANCE);
        let difference = difference.map_or_else(Default::default, |difference| {
            [difference.of, format!("{:.1}", difference.errors), format!("{:.1} %", difference.resolution * 100.0)]
        });
        times.into_iter().chain(means).chain(difference).collect()
    });
    println!("{}\n", table(header, rows.collect::<Vec<_>>()));
    if !is_alike {
        println!("There is a difference of more than {TOLERANCE} standard errors: the rules are not the same.\n");
    }
    is_alike
}
