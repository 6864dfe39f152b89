//! A world whose processes are stopped, continued and killed at random moments, and whose checkpoints are damaged between two
//! runs, ends with the right digest; and each run that fails before that reports what is wrong.
//!
//! `DEMEANOR_TRIAL_WORLDS` and `DEMEANOR_TRIAL_SEED` set the number of worlds, and the seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::str::FromStr;

use crate::village::process::{Run, error_of, observed};
use crate::village::reference;
use oorandom::Rand64;

const SHARDS: u32 = 16;
/// An odd number. Checkpoints are written after even ticks, so that at least one tick follows each of them.
const TICKS: u64 = 61;
const MANIFEST: &str = "manifest.json";
/// A tick without a checkpoint.
const OTHER: &str = "tick-000000000059";
/// After this number of runs of a world, no further mishap happens.
const RUNS: usize = 16;

fn from_environment<N: FromStr>(name: &str, default: N) -> N {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn whatever_stops_kills_or_damages_a_world_its_end_is_right_or_an_error_says_what_is_wrong() {
    let seed = from_environment("DEMEANOR_TRIAL_SEED", 26);
    let worlds = from_environment("DEMEANOR_TRIAL_WORLDS", 6);
    let mut trial = Trial {
        random: Rand64::new(seed),
        expected: reference::one_batch(SHARDS, TICKS),
        tried: Tried::default(),
        stopped: Vec::new(),
    };
    for nth in 1..=worlds {
        trial.world();
        eprintln!("{nth} worlds: {:?}", trial.tried);
    }
}

/// Counts of the mishaps.
#[derive(Debug, Default)]
struct Tried {
    runs: usize,
    most_processes: usize,
    kills: usize,
    stops: usize,
    /// Processes that were stopped until the others counted them as gone, and that continued during a later run.
    late: usize,
    damages: usize,
    /// How many of them led to an error, rather than to the previous checkpoint.
    refused: usize,
}

/// The mishap in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    Nothing,
    /// A process is stopped for a moment, several times.
    Stops,
    /// A process is killed, perhaps while another one is stopped.
    Kill,
    /// All processes are killed.
    KillAll,
    /// A process is stopped until the others count it as gone.
    Silence,
}

/// The processes of a run that were stopped or killed, by number.
#[derive(Default)]
struct Struck {
    killed: Vec<usize>,
    /// A process that was stopped and not continued.
    silent: Option<usize>,
}

struct Trial {
    random: Rand64,
    expected: Vec<(u64, u64)>,
    tried: Tried,
    /// Stopped processes of earlier runs of this world.
    stopped: Vec<Child>,
}

fn signal(name: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success(), "kill {name} {id}");
}

impl Trial {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.rand_range(0..end as u64)).unwrap()
    }

    /// Waits for a random moment, about as long as it takes to start some programs.
    fn moment(&mut self, child: &Child) {
        for _ in 0..self.below(8) {
            signal("-0", child);
        }
    }

    /// Runs a whole world, in as many runs as necessary.
    fn world(&mut self) {
        let folder = tempfile::tempdir().unwrap();
        for nth in 0.. {
            let mishap = match self.below(6) {
                _ if nth >= RUNS => Mishap::Nothing,
                0 => Mishap::Nothing,
                1 => Mishap::Stops,
                2 => Mishap::Silence,
                3 => Mishap::KillAll,
                _ => Mishap::Kill,
            };
            if self.run(folder.path(), mishap) {
                break;
            }
            if self.below(2) == 0 {
                self.damage(folder.path());
            }
        }
        for child in std::mem::take(&mut self.stopped) {
            self.go_on(child);
        }
    }

    /// Continues a process of an earlier run. It ends with an error.
    fn go_on(&mut self, mut child: Child) {
        signal("-CONT", &child);
        let error = error_of(&mut child).unwrap();
        assert!(child.wait().unwrap().success() == error.is_empty(), "{error}");
        self.tried.late += 1;
    }

    /// Starts or continues a world. Returns whether it has reached its end.
    fn run(&mut self, folder: &Path, mishap: Mishap) -> bool {
        let mut run = self.next_run(folder);
        let processes = run.processes;
        if mishap == Mishap::Silence {
            run.silence = 1;
        }
        let mut local = run.start();
        self.tried.runs += 1;
        self.tried.most_processes = self.tried.most_processes.max(processes);

        let after = self.below(12);
        let (mut seen, mut struck) = (Vec::new(), Struck::default());
        for tick in observed(&mut local) {
            seen.push(tick);
            if seen.len() == after + 1 || seen.len() > after && mishap == Mishap::Stops {
                if let Some(child) = self.stopped.pop() {
                    self.go_on(child);
                }
                self.strike(mishap, &mut local.children, &mut struck);
            }
        }
        if let Some((first, _)) = seen.first() {
            let first = usize::try_from(*first).unwrap();
            assert_eq!(seen, self.expected[first..first + seen.len()], "{mishap:?}");
        }
        let mut has_ended = true;
        let mut children = std::mem::take(&mut local.children);
        for nth in (0..children.len()).rev() {
            if struck.silent == Some(nth) {
                self.stopped.push(children.remove(nth));
                continue;
            }
            let error = error_of(&mut children[nth]).unwrap();
            let is_fine = children[nth].wait().unwrap().success();
            has_ended &= is_fine;
            let says_why = is_fine == error.is_empty() && (is_fine || error.contains(" is gone: "));
            let is_known = says_why || struck.killed.contains(&nth);
            assert!(is_known, "{mishap:?}, process {nth} of {processes}: {error}");
        }
        // Processes may have ended before one of them is killed or stopped.
        assert!(!has_ended || seen.last() == self.expected.last(), "{mishap:?}: {seen:?}");
        assert!(has_ended || !matches!(mishap, Mishap::Nothing | Mishap::Stops), "{mishap:?}");
        has_ended && struck.silent.is_none()
    }

    fn strike(&mut self, mishap: Mishap, children: &mut [Child], struck: &mut Struck) {
        let (victim, other) = (self.below(children.len()), self.below(children.len()));
        match mishap {
            Mishap::Stops => {
                signal("-STOP", &children[victim]);
                signal("-STOP", &children[other]);
                self.moment(&children[victim]);
                signal("-CONT", &children[victim]);
                signal("-CONT", &children[other]);
                self.tried.stops += 2;
            }
            Mishap::Kill => {
                signal("-STOP", &children[other]);
                self.moment(&children[victim]);
                children[victim].kill().unwrap();
                self.moment(&children[other]);
                signal("-CONT", &children[other]);
                struck.killed.push(victim);
                self.tried.kills += 1;
                self.tried.stops += 1;
            }
            Mishap::KillAll => {
                for (nth, child) in children.iter_mut().enumerate() {
                    self.moment(child);
                    child.kill().unwrap();
                    struck.killed.push(nth);
                    self.tried.kills += 1;
                }
            }
            // The test waits for the output of process 0.
            Mishap::Silence if victim > 0 => {
                signal("-STOP", &children[victim]);
                struck.silent = Some(victim);
                self.tried.stops += 1;
            }
            Mishap::Silence | Mishap::Nothing => {}
        }
    }

    /// Damages the last checkpoint. Either the run that continues from it fails, with the name of the damaged file, and the
    /// checkpoint is removed; or it continues from the previous checkpoint.
    fn damage(&mut self, folder: &Path) {
        let all = checkpoints(folder);
        let Some(last) = all.last() else { return };
        let files = files_of(last);
        let path = &files[self.below(files.len())];
        let bytes = fs::read(path).unwrap();
        let at = self.below(bytes.len());
        self.tried.damages += 1;
        let named = match self.below(6) {
            0 => {
                fs::remove_file(path).unwrap();
                if path.ends_with(MANIFEST) {
                    // Without this file, the folder is not a checkpoint.
                    return;
                }
                path.clone()
            }
            1 => {
                let other = folder.join(OTHER);
                fs::rename(last, &other).unwrap();
                other
            }
            kind => {
                let others: Vec<_> = all.iter().flat_map(|checkpoint| files_of(checkpoint)).collect();
                let other = fs::read(&others[self.below(others.len())]).unwrap();
                let mut changed = bytes.clone();
                changed[at] ^= 1 << self.below(8);
                let damaged = match kind {
                    2 => bytes[..at].to_vec(),
                    3 => [&bytes[..], &bytes[..]].concat(),
                    // Another file of this checkpoint or of the previous one.
                    4 if other != bytes => other,
                    _ => changed,
                };
                fs::write(path, &damaged).unwrap();
                // The manifest of another tick is complete, but in the wrong folder.
                let is_whole_manifest = path.ends_with(MANIFEST)
                    && others
                        .iter()
                        .any(|other| other != path && other.ends_with(MANIFEST) && fs::read(other).unwrap() == damaged);
                if is_whole_manifest { last.clone() } else { path.clone() }
            }
        };
        let processes = 1 + self.below(4);
        let run = Run { processes, threads: 1 + self.below(2), ..self.next_run(folder) };
        let is_known = |error: &str| error.contains(&format!("cannot resume: {}: ", named.display()));
        if processes > 1 {
            // Processes that find the damage before they meet end before the launcher has given them the addresses.
            if let Ok(mut local) = run.try_start() {
                assert_eq!(observed(&mut local).next(), None);
                for child in &mut local.children {
                    let error = error_of(child).unwrap();
                    assert!(is_known(&error) && !child.wait().unwrap().success(), "{}: {error}", named.display());
                }
            }
        }
        let run = Run { processes: 1, ..run };
        let world = run.world().observe(|tick, _, _| panic!("tick {tick} has run"));
        let error = world.run(run.args(), TICKS).unwrap_err().to_string();
        assert!(is_known(&error), "{}: {error}", named.display());
        self.tried.refused += 1;
        fs::remove_dir_all(if named.is_dir() { &named } else { last }).unwrap();
    }

    /// Returns a run that starts or continues the world.
    fn next_run(&mut self, folder: &Path) -> Run {
        let processes = if self.below(12) == 0 { 8 } else { 1 + self.below(4) };
        let threads = 1 + self.below(2);
        let checkpoint = Some((2, folder.to_owned()));
        // A process may be slow without being gone.
        let (continues, silence) = (true, 60);
        Run { processes, threads, shards: SHARDS, ticks: TICKS, checkpoint, continues, silence, ..Run::SMALLEST }
    }
}

/// Returns the checkpoints in a folder, the oldest first.
fn checkpoints(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> =
        fs::read_dir(folder).map_or_else(|_| Vec::new(), |all| all.map(|entry| entry.unwrap().path()).collect());
    all.retain(|path| path.join(MANIFEST).exists());
    all.sort();
    all
}

/// Returns the files of a checkpoint, from its manifest. A killed run may have left other files.
fn files_of(checkpoint: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(checkpoint.join(MANIFEST)).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let name = |part: &serde_json::Value| {
        format!("part-{:05}-{:016x}", part["number"].as_u64().unwrap(), part["digest"].as_u64().unwrap())
    };
    let parts = manifest["parts"].as_array().unwrap().iter().map(|part| checkpoint.join(name(part)));
    parts.chain([checkpoint.join(MANIFEST)]).collect()
}
