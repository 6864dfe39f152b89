//! A run in its own processes, and the costs that they report.

use std::env;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use demeanor::Batch;
use demeanor_world::{Local, World, WorldError};
use serde::{Deserialize, Serialize};

use crate::crowd::{Body, Turn, Walk, Work, book};
use crate::slow::SlowNetwork;

const TOLD: &str = "BENCH_WORLD";
/// The number of ticks before the measurement, in which buffers grow.
const WARM: u64 = 4;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) work: Work,
    pub(crate) ticks: u64,
    /// The number of processes; 0 for a plain batch.
    pub(crate) processes: usize,
    pub(crate) threads: usize,
    /// The folder for checkpoints, which are written after each tick.
    pub(crate) checkpoints: Option<PathBuf>,
    /// Whether the type of the citizens has `MOVES = false`.
    pub(crate) stays: bool,
    /// The simulated delay of the network between two processes.
    #[serde(skip)]
    pub(crate) latency: Duration,
}

/// The cost of one tick in one process.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Processor time, in nanoseconds.
    pub(crate) cpu: f64,
    /// Wall-clock time, in nanoseconds.
    pub(crate) wall: f64,
    /// Bytes sent to other processes.
    pub(crate) sent: f64,
}

impl Run {
    /// Runs the processes, and returns the cost of a tick for each of them.
    pub(crate) fn cost(&self) -> Result<Vec<Cost>, String> {
        let failed = |error: std::io::Error| format!("a run has failed: {error}");
        let told = serde_json::to_string(self).map_err(|error| error.to_string())?;
        let program = env::current_exe().map_err(failed)?;
        let network = SlowNetwork::new(self.latency);
        let command = |_| {
            let mut command = Command::new(&program);
            command.args(["-w", &self.threads.to_string()]).env(TOLD, &told).stdout(Stdio::piped());
            command
        };
        if self.processes == 0 {
            let output = command(0).output().map_err(failed)?;
            return Ok(vec![parse(&String::from_utf8_lossy(&output.stdout))?]);
        }
        let local = Local::start_by_way_of(self.processes, command, |process, all| network.addresses_for(process, all));
        let mut local = local.map_err(failed)?;
        let mut costs = Vec::new();
        for child in &mut local.children {
            let mut said = String::new();
            if let Some(output) = &mut child.stdout {
                output.read_to_string(&mut said).map_err(failed)?;
            }
            costs.push(parse(&said)?);
        }
        if local.wait().map_err(failed)? { Ok(costs) } else { Err("a process has failed".to_owned()) }
    }
}

fn parse(said: &str) -> Result<Cost, String> {
    serde_json::from_str(said).map_err(|error| format!("a process does not say what it has cost: {error}"))
}

pub(crate) fn is_one() -> bool {
    env::var_os(TOLD).is_some()
}

/// The times at which the measured ticks began and ended.
static MARKS: Mutex<Vec<(ProcessTime, Instant)>> = Mutex::new(Vec::new());

fn mark(tick: u64, ticks: u64) {
    // Only the first worker of the process that begins the tick notes the time.
    let mut marks = MARKS.lock().expect("nobody panics with it");
    let nth = usize::from(tick >= WARM) + usize::from(tick + 1 == ticks);
    if nth > marks.len() {
        marks.push((ProcessTime::now(), Instant::now()));
    }
}

pub(crate) fn be_one() -> ExitCode {
    let told = env::var(TOLD).unwrap_or_default();
    let Ok(run) = serde_json::from_str::<Run>(&told) else { return ExitCode::FAILURE };
    let lived = if run.stays { live::<false>(&run) } else { live::<true>(&run) };
    let sent = match lived {
        Ok(sent) => sent,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let marks = MARKS.lock().expect("nobody panics with it");
    let ((cpu, wall), (cpu_end, wall_end)) = (marks[0], marks[1]);
    let measured = (run.ticks - 1 - WARM) as f64;
    let cost = Cost {
        cpu: cpu_end.duration_since(cpu).as_nanos() as f64 / measured,
        wall: (wall_end - wall).as_nanos() as f64 / measured,
        sent: sent as f64 / run.ticks as f64,
    };
    println!("{}", serde_json::to_string(&cost).unwrap_or_default());
    ExitCode::SUCCESS
}

/// Runs a batch or a world. Returns how many bytes were sent to other processes.
fn live<const MOVES: bool>(run: &Run) -> Result<u64, WorldError> {
    let Run { work, ticks, processes, checkpoints, .. } = run.clone();
    let first = move |shard| Body::<MOVES>::first_of(shard, work).map(|body| (body, &Walk));
    if processes == 0 {
        let mut batch = Batch::new();
        for shard in 0..work.shards {
            batch.extend(first(shard));
        }
        for tick in 0..ticks {
            mark(tick, ticks);
            batch.update(&mut Turn { work, tick, post: None });
        }
        return Ok(0);
    }
    let world = World::new(book()).shards(work.shards).populate(first).context(move |tick, post| {
        mark(tick, ticks);
        Turn { work, tick, post: Some(post) }
    });
    let world = match checkpoints {
        Some(folder) => world.checkpoint(1, folder),
        None => world,
    };
    Ok(world.run(env::args().skip(1), ticks)?.bytes_sent)
}
