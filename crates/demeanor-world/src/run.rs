//! One process's part of a run: its arguments, its connections, its threads.

use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
#[cfg(feature = "inspector")]
use std::sync::Mutex;
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
use crate::checkpoint::{self, Found};
use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::exchange::Exchange;
use crate::local;
use crate::network::{Greeter, Links, Meeting, Secret, Settings, VARIABLE, connect, read_hosts};
use crate::parcel::Parcel;
use crate::program;
use crate::progress::Progress;
use crate::report::{Census, Report};
use crate::setup::{Checkpoints, Setup};
use crate::shards::Shards;
use crate::tick::{Failure, Place, Wanted, caught, text_of};

/// The arguments of a process.
#[derive(Debug)]
pub(crate) struct Arguments {
    threads: usize,
    process: usize,
    processes: usize,
    hosts: Option<PathBuf>,
    /// The address at which the processes of a launcher on this computer meet.
    meet: Option<String>,
    /// The secret with which the processes of the world identify each other.
    secret: Option<Secret>,
    /// Whether processes without a secret may meet over the network.
    trusts_network: bool,
    resume: bool,
    /// Whether to continue from a checkpoint if there is one.
    continues: bool,
    /// How long to wait for the other processes.
    patience: Duration,
    /// The time without a sign of life after which another process counts as gone.
    silence: Duration,
    worker: WorkerConfig,
}

impl Arguments {
    pub(crate) fn parse(args: Vec<String>) -> Result<Self, WorldError> {
        let mut options = getopts::Options::new();
        timely::Config::install_options(&mut options);
        options.optflag("", "resume", "go on from the last checkpoint");
        options.optflag("", "continue", "go on from the last checkpoint; begin if there is none");
        options.optopt("", "patience", "how long to wait for the other processes; 60 by default", "SECONDS");
        options.optopt("", "silence", "after how long a silence a process counts as gone; 30 by default", "SECONDS");
        options.optopt("", "secret", "a file with a secret that all processes of the world share", "FILE");
        options.optflag("", "trust-network", "without a secret, let every computer in the network take part");
        options.optopt("", "meet", "where a launcher tells the processes each other's addresses", "ADDRESS");
        let wrong = |text: String| WorldError::Arguments(text);
        let found = options.parse(args).map_err(|error| wrong(error.to_string()))?;
        if let Some(free) = found.free.first() {
            return Err(wrong(format!("`{free}` is not an argument of a world")));
        }
        let number = |name: &str, default: usize| {
            found.opt_get_default(name, default).map_err(|error| wrong(format!("-{name}: {error}")))
        };
        let (threads, process, processes) = (number("w", 1)?, number("p", 0)?, number("n", 1)?);
        if threads == 0 || processes == 0 {
            return Err(wrong("-n and -w must be at least 1".to_owned()));
        }
        if process >= processes {
            return Err(wrong(format!("-p {process}: of {processes} processes the last one is {}", processes - 1)));
        }
        let seconds = |name: &str, default: u32| {
            let found = found.opt_get_default(name, default).map(|seconds| Duration::from_secs(seconds.into()));
            found.map_err(|error| wrong(format!("--{name}: {error}")))
        };
        let (patience, silence) = (seconds("patience", 60)?, seconds("silence", 30)?);
        if silence.is_zero() {
            return Err(wrong("--silence is a number of seconds from 1 on".to_owned()));
        }
        let worker = WorkerConfig::from_matches(&found).map_err(wrong)?;
        let hosts = found.opt_str("h").map(PathBuf::from);
        let (meet, resume) = (found.opt_str("meet"), found.opt_present("resume"));
        let (continues, trusts_network) = (found.opt_present("continue"), found.opt_present("trust-network"));
        let secret = found.opt_str("secret").map(|file| {
            let secret = Secret::read(file.as_ref());
            secret.map_err(|error| wrong(format!("--secret: {file}: {error}")))
        });
        let secret = secret.transpose()?;
        if trusts_network && secret.is_some() {
            return Err(wrong("--secret and --trust-network contradict each other".to_owned()));
        }
        Ok(Self {
            threads,
            process,
            processes,
            hosts,
            meet,
            secret,
            trusts_network,
            resume,
            continues,
            patience,
            silence,
            worker,
        })
    }
}

/// The result of a run. The ticks, the census and the digest are the same in every process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of this process. Usually only process 0 prints the result.
    pub process: usize,
    /// Number of ticks since the world's beginning.
    pub ticks: u64,
    /// The number of citizens in each state after the last tick.
    pub census: Census,
    /// The digest of all citizens after the last tick.
    pub digest: u64,
    /// Number of bytes that this process has sent to others.
    pub bytes_sent: u64,
}

/// Runs this process's part of a world.
pub(crate) fn run<T: Citizen>(setup: Setup<T>, args: &Arguments, ticks: u64) -> Result<Outcome, WorldError> {
    let alarm = Arc::new(Alarm::default());
    let found = start(&setup, args, ticks)?;
    #[cfg(feature = "inspector")]
    let inspector = inspector(&setup, args)?;
    let settings = || complete_settings(&setup, args, found.as_ref(), ticks);
    let (builders, others, links) = allocators(args, settings, &alarm)?;
    let (done, results) = mpsc::channel();
    let run = Run {
        setup,
        found,
        ticks,
        threads: u32::try_from(args.threads).unwrap_or(u32::MAX),
        #[cfg(feature = "inspector")]
        inspector,
    };
    let in_worker = Arc::clone(&alarm);
    let guards = execute_from(builders, others, args.worker.clone(), move |worker| {
        let lived = catch_unwind(AssertUnwindSafe(|| live(worker, &run, &in_worker)));
        let result = match lived {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(Failure::Stopped)) => Err(()),
            Ok(Err(Failure::Error(error))) => {
                in_worker.raise(error);
                Err(())
            }
            Err(panic) => {
                in_worker.raise(WorldError::Setup(format!("a thread of the world panicked: {}", text_of(&*panic))));
                Err(())
            }
        };
        let _ = done.send(result);
        // After an error, or if another process is gone, the dataflow will never be complete.
        let dataflows = worker.installed_dataflows();
        for dataflow in dataflows {
            worker.drop_dataflow(dataflow);
        }
    })
    .map_err(WorldError::Setup)?;
    let results: Vec<_> = results.iter().take(args.threads).collect();
    if let Some(links) = &links {
        links.finish();
    }
    if let Some(error) = alarm.error() {
        if let Some(links) = &links {
            links.linger(Duration::from_millis(500));
        }
        // Dropping the guards would wait for timely's threads, which wait for connections that are not closed in order.
        std::mem::forget(guards);
        return Err(error.clone());
    }
    drop(guards);
    let total = results.into_iter().flatten().next().unwrap_or_default();
    let bytes_sent = links.map_or(0, |links| links.sent.load(Ordering::Relaxed));
    Ok(Outcome { process: args.process, ticks, census: total.census, digest: total.digest, bytes_sent })
}

/// The data that the workers of a process share.
struct Run<T: Citizen> {
    setup: Setup<T>,
    found: Option<Found>,
    ticks: u64,
    /// Number of workers of each process.
    threads: u32,
    /// Only in process 0.
    #[cfg(feature = "inspector")]
    inspector: Option<Mutex<demeanor_inspector::Inspector>>,
}

/// Opens the inspector in process 0.
#[cfg(feature = "inspector")]
fn inspector<T: Citizen>(
    setup: &Setup<T>,
    args: &Arguments,
) -> Result<Option<Mutex<demeanor_inspector::Inspector>>, WorldError> {
    let bind = setup.bind.lock().unwrap_or_else(PoisonError::into_inner).take();
    let bound = bind.filter(|_| args.process == 0).map(|bind| bind()).transpose();
    let bound = bound.map_err(|error| WorldError::Setup(format!("the inspector cannot be opened: {error}")))?;
    Ok(bound.map(Mutex::new))
}

/// Finds the checkpoint to continue from, if the arguments ask for it.
fn start<T: Citizen>(setup: &Setup<T>, args: &Arguments, ticks: u64) -> Result<Option<Found>, WorldError> {
    if ticks == 0 {
        return Err(WorldError::Setup("the world runs for 0 ticks: it needs at least 1".to_owned()));
    }
    let folder = setup.checkpoint.as_ref().map(|checkpoint| &checkpoint.folder);
    let has_any = folder.map_or(Ok(false), |folder| checkpoint::has_any(folder))?;
    let goes_on = args.resume || args.continues && has_any;
    if !goes_on {
        if let Some(folder) = folder.filter(|_| has_any) {
            let text = "there are checkpoints of an earlier run: go on with --resume, or remove them".to_owned();
            return Err(WorldError::Checkpoint { path: folder.display().to_string(), text });
        }
        return Ok(None);
    }
    let Some(folder) = folder else {
        return Err(WorldError::Arguments("--resume: the world has no folder for checkpoints".to_owned()));
    };
    let found = checkpoint::find(folder, setup)?;
    let passed = found.manifest.ticks;
    if passed >= ticks {
        let text = format!("{passed} ticks have passed in it, and the run ends after {ticks}");
        return Err(WorldError::Resume { path: folder.display().to_string(), text });
    }
    Ok(Some(found))
}

/// Returns the settings that must be the same in all processes.
fn complete_settings<T: Citizen>(setup: &Setup<T>, args: &Arguments, found: Option<&Found>, ticks: u64) -> Settings {
    let mut settings = Settings::default();
    match &setup.program {
        Some(program) => settings.add("the program", program),
        None => settings.add("the digest of the executable", &program::digest()),
    }
    settings.add("the version of demeanor-world", env!("CARGO_PKG_VERSION"));
    settings.add("the type of citizens", std::any::type_name::<T>());
    settings.add("the book", &format!("{:?}", setup.book));
    settings.add("-n", &args.processes);
    settings.add("-w", &args.threads);
    settings.add("--resume", &args.resume);
    settings.add("the number of shards", &setup.shards);
    settings.add("the seed", &setup.seed);
    settings.add("the number of ticks", &ticks);
    settings.add("how often it is observed", &if setup.observer.is_some() { setup.observe_every } else { 0 });
    settings.add("whether progress or an inspector is shown", &setup.is_watched());
    settings
        .add("how often a checkpoint is written", &setup.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.every));
    settings.add("--silence", &args.silence.as_secs());
    let found = found.map_or("none".to_owned(), |found| format!("{:016x}", found.manifest.digest));
    settings.add("the checkpoint to go on from", &found);
    setup.settings.iter().for_each(|(name, value)| settings.add(name, value));
    settings
}

type Allocators = (Vec<AllocatorBuilder>, Box<dyn std::any::Any + Send>, Option<Arc<Links>>);

fn allocators(args: &Arguments, settings: impl Fn() -> Settings, alarm: &Arc<Alarm>) -> Result<Allocators, WorldError> {
    if args.processes == 1 {
        let config =
            if args.threads == 1 { CommunicationConfig::Thread } else { CommunicationConfig::Process(args.threads) };
        let (builders, others) = config.try_build().map_err(WorldError::Setup)?;
        return Ok((builders, others, None));
    }
    let meeting = meeting(args, settings())?;
    let addresses = meeting.addresses.clone();
    let sockets = connect(meeting)?;
    let failed = |error: std::io::Error| WorldError::Connect(format!("the connections cannot be prepared: {error}"));
    let (all, links) = Links::new(args.process, &addresses, sockets, alarm, args.silence).map_err(failed)?;
    let hooks = Hooks::default();
    let threads = ProcessBuilder::new_typed_vector(args.threads, hooks.refill.clone(), None);
    let (builders, guard) =
        initialize_networking_from_sockets(threads, links, args.process, args.threads, hooks).map_err(failed)?;
    Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard), Some(all)))
}

fn meeting(args: &Arguments, settings: Settings) -> Result<Meeting, WorldError> {
    let process = args.process;
    let mut secret = args.secret.clone();
    let (listener, addresses) = if let Some(launcher) = &args.meet {
        let missing = || WorldError::Arguments(format!("--meet is for processes of a launcher: {VARIABLE} is not set"));
        let of_launcher = Secret::of_launcher().ok_or_else(missing)?;
        let met = local::meet(launcher, &of_launcher, args.patience, (process, args.processes))?;
        secret.get_or_insert(of_launcher);
        met
    } else {
        let addresses = match &args.hosts {
            Some(file) => read_hosts(file, args.processes)?,
            // timely has the same default.
            None => (0..args.processes).map(|nth| format!("localhost:{}", 2101 + nth)).collect(),
        };
        let address = &addresses[process];
        let listener =
            TcpListener::bind(address).map_err(|error| crate::network::cannot_listen(process, address, &error))?;
        (listener, addresses)
    };
    Ok(Meeting {
        process,
        addresses,
        listener,
        settings,
        secret: secret.unwrap_or_else(Secret::none),
        trusts_network: args.trusts_network,
        greeting: Greeter::TIME,
        patience: args.patience,
    })
}

/// Runs one worker. Returns the sum of all workers' last reports.
fn live<T: Citizen>(worker: &mut Worker, run: &Run<T>, alarm: &Arc<Alarm>) -> Result<Report, Failure> {
    let Run { setup, found, ticks, threads, .. } = run;
    let mut exchange = Exchange::new(worker, Arc::clone(alarm));
    let shards = Shards { count: setup.shards, workers: exchange.peers(), me: exchange.index() };
    if let Some(checkpoints) = &setup.checkpoint {
        check_folder(&checkpoints.folder, shards, *threads, &mut exchange)?;
    }
    let mut place = Place::new(setup, shards);
    let mut first = 0;
    if let Some(found) = found {
        let parts = found.manifest.parts.iter().skip(shards.me as usize).step_by(shards.workers as usize);
        let contents = parts.map(|part| found.read(part)).collect::<Result<Vec<_>, _>>()?;
        place.settle(contents, &mut exchange)?;
        first = found.manifest.ticks;
    } else {
        place.populate(&mut exchange)?;
    }
    let mut total = Report::default();
    let mut progress = Progress::new(*threads);
    for tick in first..*ticks {
        let (passed, is_last) = (tick + 1, tick + 1 == *ticks);
        let is_observed = is_last || setup.observer.is_some() && passed.is_multiple_of(setup.observe_every);
        let census = is_observed || setup.is_watched();
        // After the last tick, all workers get the reports, because every process returns the result of the run.
        let by = if is_last { 0..shards.workers } else { 0..1 };
        let reports = place.tick(tick, &Wanted { census, digest: is_observed, by }, &mut exchange)?;
        total = sum_up(&reports);
        if shards.me == 0 && is_observed {
            observe(setup, tick, &total)?;
        }
        if shards.me == 0 && setup.is_watched() {
            watch(run, passed, place.now, &reports, &total, &mut progress);
        }
        if let Some(Checkpoints { every, folder }) = &setup.checkpoint
            && passed.is_multiple_of(*every)
        {
            save(&place, folder, passed, &mut exchange)?;
        }
    }
    // No process ends before the last tick has been observed, so that all of them hear of an error in it.
    exchange.round([])?;
    Ok(total)
}

/// Checks that all processes write their parts of a checkpoint to the same folder.
fn check_folder<T: Citizen>(
    folder: &Path,
    shards: Shards,
    threads: u32,
    exchange: &mut Exchange<'_, T>,
) -> Result<(), Failure> {
    let (process, is_first) = (shards.me / threads, shards.me.is_multiple_of(threads));
    if is_first {
        checkpoint::sign(folder, process)?;
    }
    exchange.round([])?;
    if shards.me == 0 {
        checkpoint::check(folder, shards.workers / threads)?;
    }
    exchange.round([])?;
    if is_first {
        checkpoint::unsign(folder, process);
    }
    Ok(())
}

/// Writes a checkpoint. When this returns, the checkpoint is complete.
fn save<T: Citizen>(
    place: &Place<'_, T>,
    folder: &Path,
    ticks: u64,
    exchange: &mut Exchange<'_, T>,
) -> Result<(), Failure> {
    let (worker, citizens) = (place.shards.me, place.residents.len() as u64);
    let part = checkpoint::write_part(folder, ticks, worker, &place.content()?, citizens)?;
    let parts = exchange.round([(0, Parcel::Part(part))])?;
    if worker == 0 {
        let parts = parts.into_iter().filter_map(|parcel| match parcel {
            Parcel::Part(part) => Some(part),
            _ => None,
        });
        checkpoint::write_manifest(folder, place.setup, ticks, parts.collect())?;
    }
    exchange.round([])?;
    Ok(())
}

fn sum_up(reports: &[Report]) -> Report {
    let mut sum = Report::default();
    for report in reports {
        sum.add(report);
    }
    sum
}

/// Shows the progress of the run in process 0.
#[cfg_attr(not(feature = "inspector"), expect(unused_variables, reason = "the sums are for the inspector"))]
fn watch<T: Citizen>(run: &Run<T>, passed: u64, now: f64, reports: &[Report], total: &Report, progress: &mut Progress) {
    if run.setup.shows_progress
        && let Some(line) = progress.add(passed, reports)
    {
        eprintln!("{line}");
    }
    #[cfg(feature = "inspector")]
    if let Some(inspector) = &run.inspector {
        let mut inspector = inspector.lock().unwrap_or_else(PoisonError::into_inner);
        crate::inspect::show(&mut inspector, now, &total.census);
    }
}

fn observe<T: Citizen>(setup: &Setup<T>, tick: u64, sum: &Report) -> Result<(), WorldError> {
    let Some(observer) = &setup.observer else { return Ok(()) };
    let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
    caught("`observe`", || format!("in tick {tick}"), || observer(tick, &sum.census, sum.digest))
}
