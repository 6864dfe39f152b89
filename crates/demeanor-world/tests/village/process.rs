//! Worlds in processes of their own: a test starts itself again, and the process writes down what it has observed.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::{env, fs};

use demeanor_world::{Local, WorldError};

use super::world;

/// What a process is told, in its environment.
const TOLD: &str = "DEMEANOR_WORLD_TEST";

/// What a run is.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub processes: usize,
    pub threads: usize,
    pub shards: u32,
    pub ticks: u64,
}

/// In a process that a test has started: runs its part of the world, and writes what process 0 has observed to a file.
pub fn be_one() {
    let Ok(told) = env::var(TOLD) else { return };
    let mut told = told.split(' ');
    let mut next = || told.next().unwrap();
    let (shards, ticks, file) = (next().parse().unwrap(), next().parse().unwrap(), next());
    let (sender, observed) = std::sync::mpsc::channel();
    let args: Vec<String> = env::args().skip_while(|arg| arg != "--").skip(1).collect();
    let world = world(shards).observe(move |tick, _, digest| sender.send((tick, digest)).unwrap());
    let ended = world.run(args, ticks);
    let mut text = String::new();
    for (_, digest) in observed.try_iter() {
        writeln!(text, "{digest}").unwrap();
    }
    if !text.is_empty() {
        fs::write(file, text).unwrap();
    }
    if let Err(error) = ended {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

/// The digests that a world observes which runs as described.
pub fn digests(run: Run) -> Vec<u64> {
    let Run { processes, threads, shards, ticks } = run;
    if processes == 1 {
        let (sender, observed) = std::sync::mpsc::channel();
        let world = world(shards).observe(move |_, _, digest| sender.send(digest).unwrap());
        let ended: Result<_, WorldError> = world.run(["-w", &threads.to_string()], ticks);
        assert_eq!(ended.unwrap().ticks, ticks);
        return observed.try_iter().collect();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("digests");
    let local = Local::start(processes, |_| {
        let mut command = Command::new(env::current_exe().unwrap());
        // To the test harness the arguments behind `--` are names of tests that do not exist.
        command.args(["--exact", "a_process", "--nocapture", "--", "-w", &threads.to_string()]);
        command.env(TOLD, format!("{shards} {ticks} {}", file.display())).stdout(Stdio::null());
        command
    });
    assert!(local.unwrap().wait().unwrap());
    fs::read_to_string(file).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}
