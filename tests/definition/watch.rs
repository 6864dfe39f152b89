//! A file that is read anew because the operating system tells that it was saved.
#![cfg(feature = "watch")]

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use demeanor::definition::{Definition, Vocabulary, Watch};

use crate::guard::Guard;

/// Only guards against a test without an end: what is waited for comes at once, or never.
const DEADLINE: Duration = Duration::from_secs(120);

fn poll_until(watch: &mut Watch<Guard>, is_done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_done() {
        assert!(begun.elapsed() < DEADLINE, "nothing was heard of the file");
        // Between two writes the file may be empty for a moment: then it is told, and read again.
        let _ = watch.poll();
        thread::yield_now();
    }
}

#[test]
fn a_saved_file_is_read_anew_however_it_is_saved() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("watch");
    fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name);
    let text = |initial: &str| format!("initial = '{initial}'\nstates.{initial}.final = true\n");
    fs::write(file("guard.toml"), text("first")).unwrap();
    let definition = Definition::load(file("guard.toml"), &Vocabulary::new()).unwrap();
    let mut watch = Watch::new(&definition, file("guard.toml")).unwrap();

    fs::write(file("guard.toml"), text("second")).unwrap();
    poll_until(&mut watch, || definition.state("second").is_some());

    fs::write(file("guard.toml.new"), text("third")).unwrap();
    fs::rename(file("guard.toml.new"), file("guard.toml")).unwrap();
    poll_until(&mut watch, || definition.state("third").is_some());
}

#[test]
fn a_folder_that_is_not_there_cannot_be_watched() {
    let definition = Definition::parse("initial = 'a'\nstates.a.final = true\n", &Vocabulary::<Guard>::new()).unwrap();
    assert!(Watch::new(&definition, "nowhere/at/all/guard.toml").is_err());
}

#[test]
fn a_linked_file_is_watched_although_its_folder_is_replaced() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("watch-replaced");
    let _ = fs::remove_dir_all(&folder);
    let inner = folder.join("below/inner.toml");
    let save = |initial: &str| {
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(&inner, format!("initial = '{initial}'\n[states.{initial}]\nfinal = true\n")).unwrap();
    };
    save("first");
    fs::write(folder.join("main.toml"), "initial = 'run'\n[states.run]\nmachine = 'below/inner.toml'\n").unwrap();
    let definition = Definition::load(folder.join("main.toml"), &Vocabulary::new()).unwrap();
    let mut watch = Watch::new(&definition, folder.join("main.toml")).unwrap();

    // Another folder takes the place of the old one, as when a version control system changes to another branch.
    fs::rename(folder.join("below"), folder.join("old")).unwrap();
    fs::create_dir(folder.join("new")).unwrap();
    fs::write(folder.join("new/inner.toml"), "initial = 'second'\n[states.second]\nfinal = true\n").unwrap();
    fs::rename(folder.join("new"), folder.join("below")).unwrap();
    poll_until(&mut watch, || definition.state("run.second").is_some());
    save("third");
    poll_until(&mut watch, || definition.state("run.third").is_some());
}

#[cfg(all(unix, feature = "script"))]
#[test]
fn a_file_that_is_a_link_and_scripts_in_folders_below_are_watched() {
    use std::os::unix::fs::symlink;

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("watch-links");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("game/scripts")).unwrap();
    fs::create_dir_all(folder.join("data")).unwrap();
    let text = |initial: &str| format!("initial = '{initial}'\n[states.{initial}]\nfinal = true\n");
    let (linked, own) = (folder.join("game/guard.toml"), folder.join("data/guard.toml"));
    fs::write(&own, text("first")).unwrap();
    symlink("../data/guard.toml", &linked).unwrap();
    let definition = Definition::load(&linked, &Vocabulary::new()).unwrap();
    let mut watch = Watch::new(&definition, &linked).unwrap();

    fs::write(&own, text("second")).unwrap();
    poll_until(&mut watch, || definition.state("second").is_some());

    // The link leads elsewhere, and what is there is saved.
    fs::create_dir_all(folder.join("later")).unwrap();
    fs::write(folder.join("later/guard.toml"), text("third")).unwrap();
    symlink("../later/guard.toml", folder.join("game/new")).unwrap();
    fs::rename(folder.join("game/new"), &linked).unwrap();
    poll_until(&mut watch, || definition.state("third").is_some());
    fs::write(folder.join("later/guard.toml"), text("fourth")).unwrap();
    poll_until(&mut watch, || definition.state("fourth").is_some());

    // A script in a folder below, which the file has come to name.
    fs::write(folder.join("game/scripts/a.rhai"), "fn update() { }").unwrap();
    fs::write(folder.join("later/guard.toml"), text("fifth") + "script = 'scripts/a.rhai'\n").unwrap();
    poll_until(&mut watch, || definition.state("fifth").is_some());
    while watch.poll().unwrap() {}
    fs::write(folder.join("game/scripts/a.rhai"), "fn update() { }").unwrap();
    let heard = std::cell::Cell::new(false);
    let begun = Instant::now();
    while !heard.get() {
        assert!(begun.elapsed() < DEADLINE, "nothing was heard of the script");
        heard.set(watch.poll().unwrap());
        thread::yield_now();
    }
}
