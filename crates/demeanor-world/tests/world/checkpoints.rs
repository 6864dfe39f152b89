//! A world that is stopped continues from its last checkpoint, also on another number of processes.

use std::env::current_exe;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::village::process::{Run, digests, error_of, observed};
use crate::village::reference;
use demeanor_world::{Local, WorldError};

fn checkpoints(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let whole = names.filter(|entry| entry.path().join("manifest.json").exists());
    let mut names: Vec<_> = whole.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { assert!(fs::copy(entry.path(), to).is_ok()) }
    }
}

#[test]
fn a_world_that_is_killed_goes_on_to_the_same_digests_on_any_number_of_processes() {
    let (shards, ticks) = (32, 120);
    let expected = reference::one_batch(shards, ticks);
    let folder = tempfile::tempdir().unwrap();
    let killed = folder.path().join("killed");
    let run = Run { processes: 3, shards, checkpoint: Some((7, killed.clone())), ticks: 1_000_000, ..Run::default() };
    let mut local = run.start();
    let mut seen = observed(&mut local);
    seen.find(|(tick, _)| *tick == 50).unwrap();
    local.children[2].kill().unwrap();
    seen.for_each(drop);
    local.kill();
    let last = checkpoints(&killed).pop().unwrap();
    let last: usize = last.strip_prefix("tick-").unwrap().parse().unwrap();
    assert!((49..expected.len()).contains(&last), "{last}");
    for (processes, threads) in [(1, 1), (1, 4), (2, 1), (4, 1), (3, 2)] {
        let resumed = folder.path().join(format!("{processes}-{threads}"));
        copy(&killed, &resumed);
        let checkpoint = Some((7, resumed));
        let run = Run { processes, threads, shards, ticks, checkpoint, resume: true, ..Run::default() };
        assert_eq!(digests(&run), expected[last..], "{processes} processes of {threads} threads");
    }
}

#[test]
fn two_checkpoints_are_kept_and_a_folder_without_a_manifest_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { ticks: 50, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() };
    let all = digests(&run);
    assert_eq!(checkpoints(folder.path()), ["tick-000000000040", "tick-000000000050"]);
    // The same as after a crash before the manifest was written.
    fs::remove_file(folder.path().join("tick-000000000050/manifest.json")).unwrap();
    assert_eq!(digests(&Run { resume: true, ..run }), all[40..]);
}

#[test]
fn a_world_that_continues_begins_or_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { ticks: 30, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() };
    let continued = |ticks| {
        let (sender, observed) = std::sync::mpsc::channel();
        let world = run.world().observe(move |tick, _, digest| sender.send((tick, digest)).unwrap());
        world.run(["--continue"], ticks).unwrap();
        observed.try_iter().collect::<Vec<_>>()
    };
    let expected = reference::one_batch(run.shards, run.ticks);
    assert_eq!(continued(20), expected[..20]);
    assert_eq!(continued(30), expected[20..]);
}

#[test]
fn files_that_are_no_checkpoints_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tick-000000000005");
    fs::write(&file, "not a folder").unwrap();
    fs::create_dir(folder.path().join("tick-5")).unwrap();
    let run = Run { ticks: 50, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() };
    let all = digests(&run);
    assert_eq!(checkpoints(folder.path()), ["tick-000000000040", "tick-000000000050"]);
    assert!(file.is_file() && folder.path().join("tick-5").is_dir());
    fs::remove_file(folder.path().join("tick-000000000050/manifest.json")).unwrap();
    assert_eq!(digests(&Run { resume: true, ..run }), all[40..]);
}

#[test]
fn what_a_crash_has_left_of_a_checkpoint_goes_with_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    for left in ["tick-000000000013", "tick-000000000033"] {
        fs::create_dir(folder.path().join(left)).unwrap();
        fs::write(folder.path().join(left).join("part-00000.tmp"), "half").unwrap();
    }
    digests(&Run { ticks: 30, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() });
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    // Folders of later ticks are left alone.
    assert_eq!(names, ["tick-000000000020", "tick-000000000030", "tick-000000000033"]);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_an_error_before_a_tick_has_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let run = Run { checkpoint: Some((10, file.join("world"))), ..Run::default() };
    let said = error(&run, folder.path());
    assert_eq!(said.split(" (").next().unwrap(), "cannot write a checkpoint: world/file/world: Not a directory");
}

#[test]
fn processes_that_do_not_see_the_same_folder_are_told_before_a_tick_has_run() {
    let folder = tempfile::tempdir().unwrap();
    let own = |process: usize| folder.path().join(process.min(1).to_string());
    let run = Run { processes: 3, ..Run::default() };
    let mut local = run.start_each(|process, run| Run { checkpoint: Some((10, own(process))), ..run });
    assert_eq!(observed(&mut local).next(), None);
    for child in &mut local.children {
        let error = error_of(child).unwrap().replace(&own(0).display().to_string(), "folder");
        let error = error.trim_start_matches("process 0: ");
        let why = "process 1 has another folder: all processes need to see the same one";
        assert_eq!(error, format!("cannot write a checkpoint: folder: {why}"));
    }
}

/// Returns a world that has run on four threads, with its last checkpoint, and another run that continues from it.
fn stopped() -> (tempfile::TempDir, PathBuf, Run) {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { threads: 4, ticks: 20, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() };
    digests(&run);
    let last = folder.path().join("tick-000000000020");
    (folder, last, Run { threads: 2, ticks: 30, resume: true, ..run })
}

fn error(run: &Run, folder: &Path) -> String {
    let error = run.world().observe(|tick, _, _| panic!("tick {tick} has run")).run(run.args(), run.ticks).unwrap_err();
    error.to_string().replace(&folder.display().to_string(), "world")
}

/// Returns the file of a part.
fn part_of(checkpoint: &Path, number: usize) -> PathBuf {
    let mut files = fs::read_dir(checkpoint).unwrap().map(|entry| entry.unwrap());
    let begin = format!("part-{number:05}-");
    files.find(|file| file.file_name().to_str().unwrap().starts_with(&begin)).unwrap().path()
}

#[test]
fn what_is_wrong_with_a_damaged_checkpoint_is_said_before_a_tick_has_run() {
    let (folder, last, run) = stopped();
    let (part, manifest) = (part_of(&last, 2), last.join("manifest.json"));
    let file = part.file_name().unwrap().to_str().unwrap();
    let bytes = fs::read(&part).unwrap();
    let said = || error(&run, folder.path());

    fs::remove_file(&part).unwrap();
    let missing = "No such file or directory (os error 2)";
    assert_eq!(said(), format!("cannot resume: world/tick-000000000020/{file}: {missing}"));

    fs::write(&part, &bytes[..bytes.len() - 1]).unwrap();
    let (len, short) = (bytes.len(), bytes.len() - 1);
    let expected = format!("the file has {short} bytes, but was written with {len}");
    assert_eq!(said(), format!("cannot resume: world/tick-000000000020/{file}: {expected}"));

    let with = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&part, changed).unwrap();
        said().rsplit_once(&format!("{file}: ")).unwrap().1.to_owned()
    };
    let changed = "the file has changed since it was written: its digest is different";
    assert_eq!(with(0), "this is not a part of a checkpoint");
    assert_eq!(with(8), "it is of version 3; this program reads version 2");
    assert_eq!(with(len / 2), changed);
    fs::write(&part, &bytes).unwrap();

    let text = fs::read_to_string(&manifest).unwrap();
    let with = |text: &str| {
        fs::write(&manifest, text).unwrap();
        said().rsplit_once("manifest.json: ").unwrap().1.to_owned()
    };
    assert_eq!(with(&text[..30]), "EOF while parsing an object at line 3 column 12");
    assert_eq!(
        with(&text.replace("\"version\": 2", "\"version\": 1")),
        "it is of version 1; this program reads version 2"
    );
    let from = text.find("\"parts\": [").unwrap();
    let to = text.rfind(']').unwrap();
    let without_parts = format!("{}\"parts\": []{}", &text[..from], &text[to + 1..]);
    for other in [
        text.replace("\"ticks\": 20", "\"ticks\": 28"),
        text.replace("\"shards\": 64", "\"shards\": 65"),
        without_parts,
        text.clone() + "\n",
    ] {
        assert_ne!(other, text);
        assert_eq!(with(&other), changed, "{other}");
    }
    fs::write(&manifest, &text).unwrap();
    assert_eq!(digests(&run).len(), 10);
}

#[test]
fn a_checkpoint_in_a_folder_of_another_tick_is_refused_by_the_name_of_the_folder() {
    let (folder, last, run) = stopped();
    let why = "the name is not that of a checkpoint after 20 ticks, which this is";
    for name in ["tick-000000000028", "tick-30", "tick-+21"] {
        let other = folder.path().join(name);
        fs::rename(&last, &other).unwrap();
        assert_eq!(error(&run, folder.path()), format!("cannot resume: world/{name}: {why}"));
        fs::rename(&other, &last).unwrap();
    }
    let twice = folder.path().join("tick-000000000029");
    copy(&last, &twice);
    assert_eq!(error(&run, folder.path()), format!("cannot resume: world/tick-000000000029: {why}"));
}

#[test]
fn a_checkpoint_of_another_world_is_refused() {
    let (folder, _, run) = stopped();
    let (run, path) = (Run { shards: 65, ..run }, "world/tick-000000000020/manifest.json");
    assert_eq!(error(&run, folder.path()), format!("cannot resume: {path}: the number of shards is 64, but 65 here"));
}

/// A small world that has stopped after four ticks, on two threads, with its last two checkpoints.
struct Small {
    folder: tempfile::TempDir,
    last: PathBuf,
    run: Run,
    expected: Vec<(u64, u64)>,
}

impl Small {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Some((2, folder.path().to_owned()));
        let run = Run { threads: 2, shards: 3, ticks: 4, checkpoint, ..Run::SMALLEST };
        digests(&run);
        // No further checkpoints, which would replace the damaged ones.
        let checkpoint = Some((100, folder.path().to_owned()));
        let last = folder.path().join("tick-000000000004");
        let expected = reference::one_batch(3, 6);
        Self { last, run: Run { threads: 1, ticks: 6, resume: true, checkpoint, ..run }, folder, expected }
    }

    /// Continues from the last checkpoint. An error comes before the first tick; without an error, each tick has the right
    /// digest.
    fn resume(&self) -> Result<(), String> {
        let (sender, observed) = std::sync::mpsc::channel();
        let world = self.run.world().observe(move |tick, _, digest| sender.send((tick, digest)).unwrap());
        let result = world.run(self.run.args(), self.run.ticks);
        let observed: Vec<_> = observed.try_iter().collect();
        match result {
            Ok(outcome) => {
                assert_eq!(outcome.digest, self.expected[5].1);
                let first = usize::try_from(observed[0].0).unwrap();
                assert_eq!(observed, self.expected[first..]);
                Ok(())
            }
            Err(error) => {
                assert_eq!(observed, []);
                Err(error.to_string().replace(&self.folder.path().display().to_string(), "world"))
            }
        }
    }

    /// Continues from a checkpoint with one damaged file, and expects an error that names the file.
    fn refuses(&self, path: &Path, damage: &str) {
        let name = path.strip_prefix(self.folder.path()).unwrap().display().to_string();
        let error = self.resume().expect_err(damage);
        assert!(error.starts_with(&format!("cannot resume: world/{name}: ")), "{damage} {name}: {error}");
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(&self.last).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), 3, "{files:?}");
        files
    }
}

#[test]
fn a_change_of_any_byte_of_a_checkpoint_is_an_error_that_names_the_file() {
    let small = Small::new();
    for path in small.files() {
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            for change in [1, 0x80, bytes[at]] {
                if change != 0 {
                    let mut changed = bytes.clone();
                    changed[at] ^= change;
                    fs::write(&path, &changed).unwrap();
                    small.refuses(&path, &format!("byte {at} changed by {change}"));
                }
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    small.resume().unwrap();
}

#[test]
fn a_file_of_a_checkpoint_that_is_missing_cut_doubled_or_another_one_is_an_error_that_names_it() {
    let small = Small::new();
    let earlier = small.folder.path().join("tick-000000000002");
    let files = small.files();
    let others: Vec<_> = [&small.last, &earlier]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()))
        .collect();
    for path in &files {
        let bytes = fs::read(path).unwrap();
        let lengths = [0, 1, 11, 12, bytes.len() / 2, bytes.len() - 1];
        let mut damaged: Vec<_> = lengths.map(|length| bytes[..length].to_vec()).to_vec();
        damaged.push([bytes.clone(), bytes.clone()].concat());
        damaged.push([&bytes[..], b"\n"].concat());
        damaged.push([b"\n", &bytes[..]].concat());
        damaged.extend(others.iter().filter(|other| **other != bytes).cloned());
        for damaged in damaged {
            fs::write(path, &damaged).unwrap();
            // A manifest of another tick is complete, but in the wrong folder.
            let is_of_other_tick = path.ends_with("manifest.json") && others.contains(&damaged);
            let is_manifest = is_of_other_tick && damaged.starts_with(b"{");
            small.refuses(if is_manifest { &small.last } else { path }, &format!("{} bytes instead of", damaged.len()));
        }
        fs::write(path, &bytes).unwrap();
        // The file is missing, or has another name. Without a manifest the folder is not a checkpoint, and the previous one is
        // the last.
        let other = path.with_extension("old");
        fs::rename(path, &other).unwrap();
        if path.ends_with("manifest.json") {
            small.resume().unwrap();
        } else {
            small.refuses(path, "without");
        }
        fs::rename(&other, path).unwrap();
        // A second copy is ignored.
        fs::copy(path, &other).unwrap();
        small.resume().unwrap();
        fs::remove_file(&other).unwrap();
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
        small.refuses(path, "a folder instead of");
        fs::remove_dir(path).unwrap();
        fs::write(path, &bytes).unwrap();
    }
    small.resume().unwrap();
}

#[test]
fn checkpoints_that_cannot_be_gone_on_from_are_named() {
    let (folder, _, run) = stopped();
    let said = |run: Run| error(&run, folder.path());
    let passed = "20 ticks have passed in it, and the run ends after 20";
    assert_eq!(said(Run { ticks: 20, ..run.clone() }), format!("cannot resume: world: {passed}"));
    let earlier = "there are checkpoints of an earlier run: go on with --resume, or remove them";
    assert_eq!(said(Run { resume: false, ..run.clone() }), format!("cannot write a checkpoint: world: {earlier}"));
    let other_book =
        demeanor_world::World::new(demeanor::StateBook::new().with_messages()).shards(64).seed(crate::village::SEED);
    let other_book = other_book.checkpoint(10, folder.path()).populate(|shard| crate::village::first_of(shard, 64));
    let other_book = other_book.context(|tick, post| crate::village::Day {
        tick,
        shards: 64,
        office: post,
        oddity: crate::village::Oddity::None,
    });
    let unknown = other_book.run(["--resume"], 30).unwrap_err().to_string();
    let unknown = unknown.replace(&folder.path().display().to_string(), "world");
    let (part, why) = unknown.split_once(": the book does not know the states `").unwrap();
    assert!(part.starts_with("cannot resume: world/tick-000000000020/part-0000"), "{part}{why}");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = Run { checkpoint: Some((10, empty)), ..run };
    assert_eq!(said(run), "cannot resume: world/empty: there is no checkpoint in this folder");
}

/// A process with a limit on the length of files fails as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_error_ends_all_processes_with_the_error_of_the_system_and_leaves_the_last_whole_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (begin, program) =
        (Run { ticks: 10, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() }, current_exe().unwrap());
    digests(&begin);
    let run = Run { processes: 2, ticks: 40, resume: true, ..begin };
    // In blocks of 512 bytes, according to POSIX.
    let limited = |limit: &str| {
        let own = run.command(&program);
        let mut shell = Command::new("sh");
        let script = r#"trap '' XFSZ; ulimit -f "$0"; exec "$@""#;
        shell.args(["-c", script, limit]).arg(&program).args(own.get_args());
        shell.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        shell
    };
    let command = |process| if process == 1 { limited("1") } else { run.command(&program) };
    let mut local = Local::start(2, command).unwrap();
    observed(&mut local).for_each(drop);
    for child in &mut local.children {
        let error = error_of(child).unwrap().replace(&folder.path().display().to_string(), "world");
        let error = error.trim_start_matches("process 1: ");
        let what = "world/tick-000000000020/part-00001: File too large (os error 27)";
        assert_eq!(error, format!("cannot write a checkpoint: {what}"));
    }
    assert_eq!(checkpoints(folder.path()), ["tick-000000000010"]);
    let resumed = digests(&Run { processes: 3, ..run.clone() });
    assert_eq!(resumed, reference::one_batch(run.shards, run.ticks)[10..]);
}

#[test]
fn a_manifest_that_cannot_get_its_name_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { ticks: 10, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() };
    let manifest = folder.path().join("tick-000000000010/manifest.json");
    let taken = manifest.clone();
    let world = run.world().observe(move |tick, _, _| {
        if tick == 9 {
            fs::create_dir_all(&taken).unwrap();
        }
    });
    let WorldError::Checkpoint { path, .. } = world.run(run.args(), run.ticks).unwrap_err() else { panic!() };
    assert_eq!(Path::new(&path), manifest);
}
