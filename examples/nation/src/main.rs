//! A nation of villagers: farmers, bakers and smiths that trade by mail, move from village to village, are born and die.
//!
//! ```text
//! cargo run --release -p nation -- --local 2 --picture nation.svg
//! ```
//!
//! With the same numbers of villagers, villages and days, the last line is the same on any number of processes and threads.

mod options;
mod picture;
mod states;
mod villager;

use std::error::Error;
use std::process::{Command, ExitCode};

use demeanor::StateRef;
use demeanor_world::{Local, World};

use crate::options::{HELP, Options};
use crate::states::{Life, Office, Work, book};
use crate::villager::{Day, REGIONS, Villager};

fn main() -> ExitCode {
    match answer() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<ExitCode, Box<dyn Error>> {
    let Some(options) = Options::parse(std::env::args().skip(1))? else {
        println!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(processes) = options.local {
        let program = std::env::current_exe()?;
        let local = Local::start(processes, |_| {
            let mut command = Command::new(&program);
            command.args(&options.passed_on);
            command
        })?;
        return Ok(if local.wait()? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let Options { villagers, days, villages, picture, checkpoints, world: args, .. } = options;
    if villages < REGIONS {
        return Err(format!("--villages {villages}: there are {REGIONS} regions, each with a village at least").into());
    }
    let mut nation = World::new(book())
        .shards(villages)
        .seed(1)
        .global(&Life)
        .populate(move |village| {
            let ids = (u64::from(village)..villagers).step_by(villages as usize);
            let first = ids.map(move |id| (Villager::first(id, village, villagers), StateRef::from(&Work)));
            let office = Office { next_id: villagers + u64::from(village) };
            first.chain([(Villager::clerk(village), StateRef::from(Box::new(office)))])
        })
        .context(move |number, post| Day { number, villages, post })
        .tally(move |villager, state| format!("{} {}", villager.region(villages), state.name()))
        .setting("--villagers", villagers)
        .progress();
    if let Some(folder) = checkpoints {
        nation = nation.checkpoint(100, folder);
    }
    let outcome = nation.run(args, days)?;
    if outcome.process == 0 {
        if let Some(file) = picture {
            picture::draw(&outcome.census, days, &file).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        let census = &outcome.census;
        println!(
            "day {days}: {} villagers and {villages} clerks, {} letters today, {} to nobody, {} born, {} ended; digest {:016x}",
            census.citizens - u64::from(villages),
            census.sent,
            census.returned,
            census.born,
            census.died,
            outcome.digest,
        );
    }
    Ok(ExitCode::SUCCESS)
}
