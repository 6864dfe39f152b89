//! One process's part in a run: its arguments, its connections, its threads.

use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, mpsc};
use std::time::Duration;

use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::execute::execute_from;
use timely::worker::Worker;
use timely::{CommunicationConfig, WorkerConfig};

use crate::alarm::Alarm;
use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::exchange::Exchange;
use crate::local;
use crate::network::{Links, Meeting, Settings, connect, read_hosts};
use crate::parcel::Parcel;
use crate::report::{Census, Report};
use crate::setup::Setup;
use crate::shards::Shards;
use crate::tick::{Failure, Place, text_of};

/// The arguments of a process.
#[derive(Debug)]
pub(crate) struct Arguments {
    threads: usize,
    process: usize,
    processes: usize,
    hosts: Option<PathBuf>,
    /// Where the processes of a launcher on this machine meet.
    meet: Option<String>,
    resume: bool,
    worker: WorkerConfig,
}

impl Arguments {
    pub(crate) fn parse(args: Vec<String>) -> Result<Self, WorldError> {
        let mut options = getopts::Options::new();
        timely::Config::install_options(&mut options);
        options.optflag("", "resume", "go on from the last checkpoint");
        options.optopt("", "meet", "where a launcher tells the processes each other's addresses", "ADDRESS");
        let wrong = |text: String| WorldError::Arguments(text);
        let found = options.parse(args).map_err(|error| wrong(error.to_string()))?;
        if let Some(free) = found.free.first() {
            return Err(wrong(format!("`{free}` is no argument of a world")));
        }
        let number = |name: &str, default: usize| {
            found.opt_get_default(name, default).map_err(|error| wrong(format!("-{name}: {error}")))
        };
        let (threads, process, processes) = (number("w", 1)?, number("p", 0)?, number("n", 1)?);
        if threads == 0 || processes == 0 {
            return Err(wrong("-n and -w are numbers from 1 on".to_owned()));
        }
        if process >= processes {
            return Err(wrong(format!("-p {process}: of {processes} processes the last one is {}", processes - 1)));
        }
        let worker = WorkerConfig::from_matches(&found).map_err(wrong)?;
        let hosts = found.opt_str("h").map(PathBuf::from);
        let (meet, resume) = (found.opt_str("meet"), found.opt_present("resume"));
        Ok(Self { threads, process, processes, hosts, meet, resume, worker })
    }
}

/// How a run has ended. It is the same in every process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How many ticks have passed since the world's beginning.
    pub ticks: u64,
    /// Who is in which state after the last tick.
    pub census: Census,
    /// The digest of all citizens after the last tick.
    pub digest: u64,
    /// How many bytes this process has sent to others.
    pub bytes_sent: u64,
}

/// Runs this process's part of a world.
pub(crate) fn run<T: Citizen>(
    setup: Setup<T>,
    args: &Arguments,
    settings: Vec<(String, String)>,
    ticks: u64,
) -> Result<Outcome, WorldError> {
    let alarm = Arc::new(Alarm::default());
    let settings = complete_settings(&setup, args, settings, ticks);
    let (builders, others, links) = allocators(args, settings, &alarm)?;
    let (done, results) = mpsc::channel();
    let setup = Arc::new(setup);
    let in_worker = Arc::clone(&alarm);
    let guards = execute_from(builders, others, args.worker.clone(), move |worker| {
        let lived = catch_unwind(AssertUnwindSafe(|| live(worker, &setup, &in_worker, ticks)));
        let result = match lived {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(Failure::Stopped)) => Err(()),
            Ok(Err(Failure::Error(error))) => {
                in_worker.raise(error);
                Err(())
            }
            Err(panic) => {
                in_worker.raise(WorldError::Panicked { tick: 0, text: text_of(&*panic).to_owned() });
                Err(())
            }
        };
        let failed = result.is_err();
        let _ = done.send(result);
        if failed {
            // The dataflow will never be complete. The process ends by the error.
            let dataflows = worker.installed_dataflows();
            dataflows.into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
        }
    })
    .map_err(WorldError::Setup)?;
    let results: Vec<_> = results.iter().take(args.threads).collect();
    if let Some(error) = alarm.error() {
        if let Some(links) = &links {
            links.linger(Duration::from_millis(500));
        }
        // timely's threads wait for connections that will not be closed in order.
        std::mem::forget(guards);
        return Err(error.clone());
    }
    alarm.end();
    drop(guards);
    let total = results.into_iter().flatten().next().flatten().unwrap_or_default();
    let bytes_sent = links.map_or(0, |links| links.sent.load(Ordering::Relaxed));
    Ok(Outcome { ticks, census: total.census, digest: total.digest, bytes_sent })
}

/// What has to be the same in all processes.
fn complete_settings<T: Citizen>(
    setup: &Setup<T>,
    args: &Arguments,
    of_program: Vec<(String, String)>,
    ticks: u64,
) -> Settings {
    let mut settings = Settings::default();
    settings.add("the version of demeanor-world", env!("CARGO_PKG_VERSION"));
    settings.add("the type of citizens", std::any::type_name::<T>());
    settings.add("the book", format!("{:?}", setup.book));
    settings.add("-n", args.processes);
    settings.add("-w", args.threads);
    settings.add("--resume", args.resume);
    settings.add("the number of shards", setup.shards);
    settings.add("the seed", setup.seed);
    settings.add("the number of ticks", ticks);
    settings.add("how often it is observed", if setup.observer.is_some() { setup.observe_every } else { 0 });
    settings
        .add("how often a checkpoint is written", setup.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.every));
    settings.0.extend(of_program);
    settings
}

type Allocators = (Vec<AllocatorBuilder>, Box<dyn std::any::Any + Send>, Option<Arc<Links>>);

fn allocators(args: &Arguments, settings: Settings, alarm: &Arc<Alarm>) -> Result<Allocators, WorldError> {
    if args.processes == 1 {
        let config =
            if args.threads == 1 { CommunicationConfig::Thread } else { CommunicationConfig::Process(args.threads) };
        let (builders, others) = config.try_build().map_err(WorldError::Setup)?;
        return Ok((builders, others, None));
    }
    let meeting = meeting(args, settings)?;
    let sockets = connect(&meeting)?;
    let failed = |error: std::io::Error| WorldError::Connect(format!("the connections cannot be prepared: {error}"));
    let (all, links) = Links::new(args.process, &meeting.addresses, sockets, alarm).map_err(failed)?;
    let hooks = Hooks::default();
    let threads = ProcessBuilder::new_typed_vector(args.threads, hooks.refill.clone(), None);
    let (builders, guard) =
        initialize_networking_from_sockets(threads, links, args.process, args.threads, hooks).map_err(failed)?;
    Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard), Some(all)))
}

fn meeting(args: &Arguments, settings: Settings) -> Result<Meeting, WorldError> {
    let process = args.process;
    let (listener, addresses) = if let Some(launcher) = &args.meet {
        local::meet(launcher, process, args.processes)?
    } else {
        let addresses = match &args.hosts {
            Some(file) => read_hosts(file, args.processes)?,
            // As timely has it.
            None => (0..args.processes).map(|nth| format!("localhost:{}", 2101 + nth)).collect(),
        };
        let address = &addresses[process];
        let listener =
            TcpListener::bind(address).map_err(|error| crate::network::cannot_listen(process, address, &error))?;
        (listener, addresses)
    };
    Ok(Meeting { process, addresses, listener, settings, patience: Duration::from_secs(60) })
}

/// The life of one worker. Returns the sum of all workers' last reports.
fn live<T: Citizen>(
    worker: &mut Worker,
    setup: &Setup<T>,
    alarm: &Arc<Alarm>,
    ticks: u64,
) -> Result<Option<Report>, Failure> {
    let mut exchange = Exchange::new(worker, Arc::clone(alarm));
    let shards = Shards { count: setup.shards, workers: exchange.peers(), me: exchange.index() };
    let mut place = Place::new(setup, shards);
    place.populate(&mut exchange)?;
    let mut total = None;
    for tick in 0..ticks {
        let is_last = tick + 1 == ticks;
        let is_observed = is_last || setup.observer.is_some() && (tick + 1) % setup.observe_every == 0;
        let report = place.tick(tick, is_observed, &mut exchange)?;
        if is_observed {
            let to = if is_last { 0..shards.workers } else { 0..1 };
            let reports = exchange.round(to.map(|worker| (worker, Parcel::Report(report.clone()))))?;
            let sum = sum_up(reports);
            if shards.me == 0 {
                observe(setup, tick, &sum);
            }
            total = Some(sum);
        }
    }
    Ok(total)
}

fn sum_up<T: Citizen>(parcels: Vec<Parcel<T>>) -> Report {
    let mut sum = Report::default();
    for parcel in parcels {
        if let Parcel::Report(report) = parcel {
            sum.add(&report);
        }
    }
    sum
}

fn observe<T: Citizen>(setup: &Setup<T>, tick: u64, sum: &Report) {
    if let Some(observer) = &setup.observer {
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        observer(tick, &sum.census, sum.digest);
    }
}
