//! The batch of all enemies, updated tick by tick on one thread or many.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use demeanor::Batch;
use indicatif::{ProgressBar, ProgressStyle};

use super::enemy::{Enemy, Populations, Rest, View, populations};
use super::options::Options;
use super::world::{Phase, World};

/// The results of a run.
pub(crate) struct Record {
    pub(crate) owners: u32,
    pub(crate) threads: usize,
    pub(crate) ticks: Vec<Tick>,
}

pub(crate) struct Tick {
    pub(crate) phase: Phase,
    pub(crate) took: Duration,
    pub(crate) changes: u64,
    /// The number of enemies in each state after the tick.
    pub(crate) populations: Populations,
}

/// The largest number of threads per core. It is more than one, to show that the result does not depend on the number of
/// threads.
const MOST_PER_CORE: usize = 4;

/// Returns how many of the requested threads are worth starting.
///
/// A thread of rayon that has no work asks all other threads for work. So the cost of idle threads grows with the square of
/// their number: on two cores, 2000 of them took 7 seconds to start and stop, and 50 milliseconds for each tick.
pub(crate) fn useful_threads(asked: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    asked.min(MOST_PER_CORE * cores)
}

/// Runs the horde for the given number of ticks.
///
/// # Errors
///
/// When the threads cannot be started.
pub(crate) fn run(options: &Options, threads: usize) -> io::Result<Record> {
    let mut horde = Batch::new();
    for seed in 0..options.owners {
        horde.insert(Enemy::new(seed.into()), &Rest);
    }
    let pool = Threads::new(threads)?;
    // The progress bar is hidden unless the standard error output is a terminal.
    let progress = ProgressBar::new(options.ticks.into());
    let template = "{bar:40} {pos} of {len} ticks, {eta} left";
    progress.set_style(ProgressStyle::with_template(template).map_err(io::Error::other)?);

    let mut ticks = Vec::new();
    for tick in 0..options.ticks {
        let world = World::at(tick, options.churn);
        let start = Instant::now();
        let changes = pool.update(&mut horde, &world);
        let took = start.elapsed();
        ticks.push(Tick { phase: Phase::at(tick), took, changes, populations: populations(&horde) });
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(Record { owners: options.owners, threads, ticks })
}

/// The threads that update the batch: this thread, or a pool.
struct Threads {
    #[cfg(feature = "parallel")]
    pool: Option<rayon::ThreadPool>,
}

impl Threads {
    #[cfg(feature = "parallel")]
    fn new(threads: usize) -> io::Result<Self> {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other);
        Ok(Self { pool: if threads > 1 { Some(pool()?) } else { None } })
    }

    #[cfg(not(feature = "parallel"))]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    fn new(_: usize) -> io::Result<Self> {
        Ok(Self {})
    }

    /// Runs one tick, and returns how many changes there were.
    #[cfg_attr(not(feature = "parallel"), expect(clippy::unused_self, reason = "there is no pool"))]
    fn update(&self, horde: &mut Batch<Enemy>, world: &World) -> u64 {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            // Each chunk of the horde has its own view, in which it counts.
            let views = pool.install(|| horde.par_update(|_chunk| View { world, changes: 0 }));
            return views.iter().map(|view| view.changes).sum();
        }
        let mut view = View { world, changes: 0 };
        horde.update(&mut view);
        view.changes
    }
}
