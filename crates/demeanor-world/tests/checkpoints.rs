//! A world that is stopped goes on from its last checkpoint, on another number of processes, too.

mod village;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use village::process::{Run, be_one, digests, error_of, observed};
use village::reference;

/// Not a test: what the processes run that the tests start.
#[test]
fn a_process() {
    be_one();
}

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
    // As after a crash before the manifest was there.
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
fn what_a_crash_has_left_of_a_checkpoint_goes_with_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    for left in ["tick-000000000013", "tick-000000000033"] {
        fs::create_dir(folder.path().join(left)).unwrap();
        fs::write(folder.path().join(left).join("part-00000.tmp"), "half").unwrap();
    }
    digests(&Run { ticks: 30, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() });
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    // What is later than the checkpoint is none of its business.
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

/// A world that has run on four threads, with its last checkpoint, and another run that goes on from it.
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

#[test]
fn a_damaged_checkpoint_is_an_error_before_a_tick_has_run() {
    let (folder, last, run) = stopped();
    let (part, manifest) = (last.join("part-00002"), last.join("manifest.json"));
    let bytes = fs::read(&part).unwrap();
    let said = || error(&run, folder.path());

    fs::remove_file(&part).unwrap();
    assert_eq!(said(), "cannot resume: world/tick-000000000020/part-00002: No such file or directory (os error 2)");

    fs::write(&part, &bytes[..bytes.len() - 1]).unwrap();
    let (len, short) = (bytes.len(), bytes.len() - 1);
    let expected = format!("the file has {short} bytes, but was written with {len}");
    assert_eq!(said(), format!("cannot resume: world/tick-000000000020/part-00002: {expected}"));

    let with = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&part, changed).unwrap();
        said().rsplit_once("part-00002: ").unwrap().1.to_owned()
    };
    assert_eq!(with(0), "this is not a part of a checkpoint");
    assert_eq!(with(8), "it is of version 0; this program reads version 1");
    assert_eq!(with(len / 2), "the file has changed since it was written: its digest is different");
    fs::write(&part, &bytes).unwrap();

    let text = fs::read_to_string(&manifest).unwrap();
    let with = |text: &str| {
        fs::write(&manifest, text).unwrap();
        said().rsplit_once("manifest.json: ").unwrap().1.to_owned()
    };
    assert_eq!(with(&text[..30]), "EOF while parsing an object at line 3 column 12");
    let version = text.replace("\"version\": 1", "\"version\": 2");
    assert_eq!(with(&version), "it is of version 2; this program reads version 1");
    let shards = text.replace("\"shards\": 64", "\"shards\": 65");
    assert_eq!(with(&shards), "the number of shards is 65, but 64 here");
    fs::write(&manifest, &text).unwrap();
    assert_eq!(digests(&run).len(), 10);
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
        demeanor_world::World::new(demeanor::StateBook::new().with_messages()).shards(64).seed(village::SEED);
    let other_book = other_book.checkpoint(10, folder.path()).populate(|shard| village::first_of(shard, 64));
    let other_book =
        other_book.context(|tick, post| village::Day { tick, shards: 64, office: post, oddity: village::Oddity::None });
    let unknown = other_book.run(["--resume"], 30).unwrap_err().to_string();
    let unknown = unknown.replace(&folder.path().display().to_string(), "world");
    let why = "cannot resume: world/tick-000000000020: the book does not know the states `";
    assert!(unknown.starts_with(why), "{unknown}");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = Run { checkpoint: Some((10, empty)), ..run };
    assert_eq!(said(run), "cannot resume: world/empty: there is no checkpoint in this folder");
}

/// Writing to `/dev/full` fails as writing to a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_all_processes_and_leaves_the_last_whole_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { processes: 2, ticks: 40, checkpoint: Some((10, folder.path().to_owned())), ..Run::default() };
    let full = folder.path().join("tick-000000000030");
    fs::create_dir(&full).unwrap();
    std::os::unix::fs::symlink("/dev/full", full.join("part-00001.tmp")).unwrap();
    File::open(full.join("part-00001.tmp")).unwrap();
    let mut local = run.start();
    observed(&mut local).for_each(drop);
    for child in &mut local.children {
        let error = error_of(child).unwrap().replace(&full.display().to_string(), "world");
        let error = error.trim_start_matches("process 1: ");
        assert_eq!(error, "cannot write a checkpoint: world/part-00001: No space left on device (os error 28)");
    }
    assert_eq!(checkpoints(folder.path()), ["tick-000000000010", "tick-000000000020"]);
    fs::remove_dir_all(full).unwrap();
    let resumed = digests(&Run { processes: 3, resume: true, ..run.clone() });
    assert_eq!(resumed, reference::one_batch(run.shards, run.ticks)[20..]);
}
