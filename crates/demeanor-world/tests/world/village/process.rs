//! Worlds in separate processes: a test starts its own executable, and the process prints what it observes.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, io};

use demeanor_world::{Local, World};
use serde::{Deserialize, Serialize};

use super::{Oddity, Villager, world_with};

/// The environment variable with the description of a run.
const TOLD: &str = "DEMEANOR_WORLD_TEST";

/// The description of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) processes: usize,
    pub(crate) threads: usize,
    pub(crate) shards: u32,
    pub(crate) ticks: u64,
    /// The interval of checkpoints in ticks, and their folder.
    pub(crate) checkpoint: Option<(u64, PathBuf)>,
    pub(crate) resume: bool,
    pub(crate) continues: bool,
    pub(crate) oddity: Oddity,
    /// The seconds without a sign of life after which a process counts as gone.
    pub(crate) silence: u64,
    /// The seconds for which the processes wait for each other.
    pub(crate) patience: u64,
    /// The program's identity, if it is not the digest of the executable.
    pub(crate) program: Option<String>,
    /// The file with the secret, if it is not the secret of the launcher.
    pub(crate) secret: Option<PathBuf>,
}

impl Default for Run {
    fn default() -> Self {
        Self { processes: 1, threads: 1, shards: 64, ticks: 100, ..Self::SMALLEST }
    }
}

impl Run {
    pub(crate) const SMALLEST: Self = Self {
        processes: 1,
        threads: 1,
        shards: 1,
        ticks: 1,
        checkpoint: None,
        resume: false,
        continues: false,
        oddity: Oddity::None,
        silence: 30,
        patience: 60,
        program: None,
        secret: None,
    };

    pub(crate) fn world(&self) -> World<Villager> {
        let mut world = world_with(self.shards, self.oddity);
        if let Some(program) = &self.program {
            world = world.program(program);
        }
        match &self.checkpoint {
            Some((every, folder)) => world.checkpoint(*every, folder),
            None => world,
        }
    }

    pub(crate) fn args(&self) -> Vec<String> {
        let mut args = vec!["-w".to_owned(), self.threads.to_string()];
        args.extend(["--silence".to_owned(), self.silence.to_string()]);
        args.extend(["--patience".to_owned(), self.patience.to_string()]);
        args.extend(self.secret.iter().flat_map(|file| ["--secret".to_owned(), file.display().to_string()]));
        args.extend(self.resume.then(|| "--resume".to_owned()));
        args.extend(self.continues.then(|| "--continue".to_owned()));
        args
    }

    /// Starts the processes.
    pub(crate) fn start(&self) -> Local {
        self.try_start().unwrap()
    }

    /// Starts the processes. `told` can change the description for each of them.
    pub(crate) fn start_each(&self, told: impl Fn(usize, Self) -> Self) -> Local {
        let program = env::current_exe().unwrap();
        Local::start(self.processes, |process| told(process, self.clone()).command(&program)).unwrap()
    }

    /// Starts the processes, unless one of them ends before it meets the others.
    pub(crate) fn try_start(&self) -> io::Result<Local> {
        let program = env::current_exe()?;
        Local::start(self.processes, |_| self.command(&program))
    }

    /// Returns the command that starts one of the processes.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // For the test harness the arguments after `--` are names of tests that do not exist.
        command.args(["--exact", "a_process", "--nocapture", "--"]).args(self.args());
        command.env(TOLD, serde_json::to_string(self).unwrap());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Runs this process's part of the world if a test has started it; process 0 prints what it observes.
pub(crate) fn be_one() {
    let Ok(told) = env::var(TOLD) else { return };
    let run: Run = serde_json::from_str(&told).unwrap();
    let args: Vec<String> = env::args().skip_while(|arg| arg != "--").skip(1).collect();
    let oddity = run.oddity;
    let world = run.world().observe(move |tick, _, digest| {
        println!("tick {tick} {digest}");
        assert!(!matches!(oddity, Oddity::Blind(blind) if blind == tick), "it is dark");
    });
    if let Err(error) = world.run(args, run.ticks) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

/// Returns the output of process 0 as it is printed: ticks and digests.
pub(crate) fn observed(local: &mut Local) -> impl Iterator<Item = (u64, u64)> + use<> {
    let output: ChildStdout = local.children[0].stdout.take().unwrap();
    BufReader::new(output).lines().filter_map(|line| {
        let line = line.unwrap();
        // The test harness begins a line of its own.
        let (_, told) = line.split_once("tick ")?;
        let (tick, digest) = told.split_once(' ')?;
        Some((tick.parse().ok()?, digest.parse().ok()?))
    })
}

/// Returns the error with which a process has ended, or nothing.
pub(crate) fn error_of(child: &mut Child) -> io::Result<String> {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text)?;
    child.wait()?;
    let error = text.lines().find_map(|line| line.split_once("error: "));
    Ok(error.map_or_else(String::new, |(_, error)| error.to_owned()))
}

/// Returns the digests that a run observes, from its first tick on.
pub(crate) fn digests(run: &Run) -> Vec<(u64, u64)> {
    if run.processes == 1 {
        let (sender, observed) = std::sync::mpsc::channel();
        let world = run.world().observe(move |tick, _, digest| sender.send((tick, digest)).unwrap());
        assert_eq!(world.run(run.args(), run.ticks).unwrap().ticks, run.ticks);
        return observed.try_iter().collect();
    }
    let mut local = run.start();
    let digests = observed(&mut local).collect();
    let errors: Vec<_> = local.children.iter_mut().map(|child| error_of(child).unwrap()).collect();
    assert_eq!(errors, vec![String::new(); run.processes]);
    assert!(local.wait().unwrap());
    digests
}
