//! The command line.

use std::path::PathBuf;

pub(crate) const HELP: &str = "\
A nation of villagers who trade by mail.

nation [--local PROCESSES] [--villagers NUMBER] [--days NUMBER] [--villages NUMBER] [--picture FILE]
       [--checkpoints FOLDER] [-n PROCESSES] [-p PROCESS] [-h HOSTS] [-w THREADS] [--resume | --continue]
       [--secret FILE | --trust-network] [--patience SECONDS] [--silence SECONDS]

--local starts this number of processes on this machine. For processes on several machines, start each with -n (how many there
are), -p (its own number, from 0) and -h (a file with the addresses). -w is the number of threads of each process. --resume goes on
from the last checkpoint; --continue does so if there is one.

--secret is a file with a secret, the same for all processes: who does not know it cannot take part. Without a secret, processes
meet only on one machine; --trust-network lets every machine in the network take part. --patience is how long a process waits for
the others (60 s by default), --silence how long a process may say nothing before it counts as gone (30 s by default).";

pub(crate) struct Options {
    pub(crate) local: Option<usize>,
    pub(crate) villagers: u64,
    pub(crate) days: u64,
    pub(crate) villages: u32,
    pub(crate) picture: Option<PathBuf>,
    pub(crate) checkpoints: Option<PathBuf>,
    /// The remaining arguments, for the world.
    pub(crate) world: Vec<String>,
    /// All arguments except `--local`, for the processes that it starts.
    pub(crate) passed_on: Vec<String>,
}

impl Options {
    /// Parses the arguments. Returns `None` if the user asks for help.
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Option<Self>, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = Self {
            local: None,
            villagers: 20_000,
            days: 1_000,
            villages: 512,
            picture: None,
            checkpoints: None,
            world: Vec::new(),
            passed_on: Vec::new(),
        };
        let mut parser = lexopt::Parser::from_args(args);
        while let Some(arg) = parser.next()? {
            let name = match arg {
                Long("help") => return Ok(None),
                Long(flag @ ("resume" | "continue" | "trust-network")) => {
                    let flag = format!("--{flag}");
                    options.world.push(flag.clone());
                    options.passed_on.push(flag);
                    continue;
                }
                Short(short @ ('n' | 'p' | 'h' | 'w')) => format!("-{short}"),
                Long(
                    long @ ("local" | "villagers" | "days" | "villages" | "picture" | "checkpoints" | "secret"
                    | "patience" | "silence" | "meet"),
                ) => format!("--{long}"),
                other => return Err(other.unexpected()),
            };
            let value = parser.value()?.string()?;
            let wrong = |error: std::num::ParseIntError| lexopt::Error::from(format!("{name} {value}: {error}"));
            match name.as_str() {
                "--local" => options.local = Some(value.parse().map_err(wrong)?),
                "--villagers" => options.villagers = value.parse().map_err(wrong)?,
                "--days" => options.days = value.parse().map_err(wrong)?,
                "--villages" => options.villages = value.parse().map_err(wrong)?,
                "--picture" => options.picture = Some(value.clone().into()),
                "--checkpoints" => options.checkpoints = Some(value.clone().into()),
                _ => options.world.extend([name.clone(), value.clone()]),
            }
            if name != "--local" {
                options.passed_on.extend([name, value]);
            }
        }
        Ok(Some(options))
    }
}
