//! Errors that end a world early, and the messages in all processes.

use std::time::{Duration, Instant};

use crate::village::process::{Run, error_of, observed};
use crate::village::{Oddity, Villager, id_of, world};
use demeanor::StateBook;
use demeanor_world::{World, WorldError};

#[test]
fn a_process_that_is_killed_ends_the_others_within_a_second_with_an_error_that_names_it() {
    let mut local = Run { processes: 3, ticks: 1_000_000, ..Run::default() }.start();
    let mut ticks = observed(&mut local);
    ticks.find(|(tick, _)| *tick == 5).unwrap();
    // On Unix by SIGKILL.
    local.children[1].kill().unwrap();
    let since = Instant::now();
    // The output must be read, or the process would wait for its reader.
    ticks.for_each(drop);
    for process in [0, 2] {
        let error = error_of(&mut local.children[process]).unwrap();
        let (who, rest) = error.split_once(" (127.0.0.1:").unwrap();
        let (_, what) = rest.split_once(") ").unwrap();
        // A process may get the error from the other one before it notices the end itself.
        let who = who.trim_start_matches("process 0: ").trim_start_matches("process 2: ");
        assert_eq!([who, what], ["process 1", "is gone: its connection was closed without an error message"]);
    }
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
}

#[test]
fn a_panic_in_a_callback_ends_all_processes_with_the_same_error() {
    let mut local = Run { processes: 3, oddity: Oddity::Panic(40), ..Run::default() }.start();
    observed(&mut local).for_each(drop);
    let errors: Vec<_> = local.children.iter_mut().map(|child| error_of(child).unwrap()).collect();
    let without_process = errors.iter().map(|error| &error[error.find("a callback").unwrap_or(0)..]);
    let expected = "a callback panicked in tick 40: 3007 falls ill";
    assert_eq!(without_process.collect::<Vec<_>>(), [expected; 3]);
    // All processes except the one with the error name that process.
    let named: Vec<_> = errors.iter().filter(|error| error.starts_with("process ")).collect();
    assert!(named.len() == 2 && named[0] == named[1], "{errors:?}");
}

#[test]
fn a_panic_in_the_observer_after_the_last_tick_ends_all_processes_with_the_same_error() {
    let mut local = Run { processes: 3, ticks: 5, oddity: Oddity::Blind(4), ..Run::default() }.start();
    observed(&mut local).for_each(drop);
    for child in &mut local.children {
        let error = error_of(child).unwrap();
        assert!(error.ends_with("`observe` panicked in tick 4: it is dark"), "{error}");
    }
}

#[test]
fn a_panic_in_a_callback_ends_all_threads_of_a_process() {
    let run = Run { threads: 3, oddity: Oddity::Panic(40), ..Run::default() };
    let error = run.world().run(run.args(), run.ticks).unwrap_err();
    let (when, text) = ("in tick 40".to_owned(), "3007 falls ill".to_owned());
    assert_eq!(error, WorldError::Panicked { what: "a callback", when, text });
}

#[test]
fn a_second_citizen_of_an_id_ends_the_run_wherever_it_is_born() {
    for threads in 1..=4 {
        let run = Run { threads, oddity: Oddity::SameId(20, id_of(9, 1)), ..Run::default() };
        let error = run.world().run(run.args(), run.ticks).unwrap_err();
        assert!(matches!(error, WorldError::SameId { id: 9001, .. }), "{error}");
    }
}

/// Returns the error with which a world with this oddity ends.
fn with_oddity(threads: usize, oddity: Oddity) -> String {
    let run = Run { threads, oddity, ..Run::default() };
    run.world().run(run.args(), run.ticks).unwrap_err().to_string()
}

#[test]
fn twins_of_one_id_end_the_run_wherever_they_are_born() {
    for threads in 1..=4 {
        let error = with_oddity(threads, Oddity::Twins(20));
        let (what, shard) = error.split_once(", besides the one in shard ").unwrap();
        assert_eq!(what, "there is another citizen 999999");
        assert!(["0", "1"].contains(&shard), "{error}");
    }
}

#[test]
fn an_id_that_another_citizen_uses_again_in_the_tick_in_which_its_citizen_ends_ends_the_run() {
    // In the first tick, no villager has moved, so the two villagers live on different threads.
    for threads in 2..=4 {
        let error = with_oddity(threads, Oddity::Reused(0));
        assert_eq!(error, "there is another citizen 3007, besides the one in shard 2");
    }
}

#[test]
fn a_callback_that_acts_for_another_citizen_ends_the_run() {
    for threads in 1..=3 {
        let removed = with_oddity(threads, Oddity::RemovedEarly(20));
        assert_eq!(removed, "a callback says that citizen 999999 is removed, but it is called for another one");
        if cfg!(debug_assertions) {
            let forged = with_oddity(threads, Oddity::Forged(20));
            assert_eq!(forged, "a callback says that citizen 999999 is the sender, but it is called for another one");
        }
    }
}

#[test]
fn a_citizen_that_has_another_id_ends_the_run_before_it_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = Some((21, folder.path().to_owned()));
    for threads in 1..=3 {
        let run = Run { threads, oddity: Oddity::Renamed(20), checkpoint: checkpoint.clone(), ..Run::default() };
        let error = run.world().run(run.args(), run.ticks).unwrap_err();
        assert_eq!(error, WorldError::OtherId { id: 999_999 });
    }
}

#[test]
fn a_panic_in_what_the_world_is_told_to_call_is_named() {
    let run = |world: World<Villager>| world.run(["-w", "2"], 5).unwrap_err().to_string();
    let nobody = |shard: u32| -> Vec<(Villager, demeanor::StateRef<Villager>)> { panic!("nobody lives in {shard}") };
    let error = run(world(4).populate(nobody));
    let in_shard = |shard| format!("`populate` panicked for shard {shard}: nobody lives in {shard}");
    assert!([in_shard(0), in_shard(1)].contains(&error), "{error}");
    let blind = world(4).observe(|tick, _, _| assert!(tick < 3, "it is dark"));
    assert_eq!(run(blind), "`observe` panicked in tick 3: it is dark");
    let late = world(4).context(|tick, post| {
        assert!(tick < 2, "there is no day {tick}");
        crate::village::Day { tick, shards: 4, office: post, oddity: Oddity::None }
    });
    assert_eq!(run(late), "a callback panicked in tick 2: there is no day 2");
}

#[test]
fn a_home_that_does_not_exist_ends_the_run() {
    for threads in 1..=2 {
        let run = Run { threads, oddity: Oddity::NoShard(20), ..Run::default() };
        let error = run.world().run(run.args(), run.ticks).unwrap_err();
        assert_eq!(error.to_string(), "the home of citizen 3007 is shard 64, but there are 64 shards, counted from 0");
    }
}

/// Runs a world in which each shard has these citizens in the beginning.
fn with_first(threads: usize, first: impl Fn(u32) -> Vec<Villager> + Send + Sync + 'static) -> String {
    let world =
        world(4).populate(move |shard| first(shard).into_iter().map(|villager| (villager, crate::village::idle())));
    world.run(["-w".to_owned(), threads.to_string()], 1).unwrap_err().to_string()
}

#[test]
fn wrong_first_citizens_are_named_before_the_first_tick() {
    for threads in 1..=3 {
        let same = with_first(threads, |shard| vec![Villager::new(if shard < 2 { 7 } else { shard.into() }, shard)]);
        assert!(
            ["shard 0", "shard 1"]
                .map(|shard| format!("there is another citizen 7, besides the one in {shard}"))
                .contains(&same),
            "{same}"
        );
        let nowhere = with_first(threads, |shard| vec![Villager::new(shard.into(), shard + u32::from(shard == 3))]);
        assert_eq!(nowhere, "the home of citizen 3 is shard 4, but there are 4 shards, counted from 0");
        let elsewhere =
            with_first(threads, |shard| vec![Villager::new(shard.into(), if shard == 3 { 1 } else { shard })]);
        assert_eq!(elsewhere, "the home of citizen 3 is shard 1, but it was made for shard 3");
    }
}

#[test]
fn a_world_that_is_incomplete_does_not_run() {
    let run = |world: World<Villager>, ticks| world.run([""; 0], ticks).unwrap_err().to_string();
    assert_eq!(run(World::new(StateBook::new()), 1), "the world has no populate: call `World::populate`");
    assert_eq!(run(world(4).shards(0), 1), "the world has 0 shards: citizens need at least one to live in");
    assert_eq!(run(world(4), 0), "the world runs for 0 ticks: it needs at least 1");
    assert_eq!(run(world(4).observe_every(0, |_, _, _| {}), 1), "the world is observed every 0 ticks: the least is 1");
    assert_eq!(run(world(4).checkpoint(0, "x"), 1), "checkpoints are written every 0 ticks: the least is 1");
}

#[test]
fn a_state_that_the_book_does_not_know_is_named_when_a_citizen_leaves() {
    let book = StateBook::new().with_name("Nothing", &crate::village::Other);
    let world = World::new(book).shards(2).global(crate::village::global());
    let world = world.populate(|shard| {
        crate::village::first_of(3 - shard, 4)
            .into_iter()
            .map(move |(villager, state)| (Villager { home: shard, ..villager }, state))
    });
    let world = world.context(|tick, post| crate::village::Day { tick, shards: 2, office: post, oddity: Oddity::None });
    let error = world.run(["-w", "2"], 100).unwrap_err().to_string();
    assert!(error.starts_with("citizens cannot be serialized: "), "{error}");
}

#[test]
fn processes_that_were_started_differently_say_what_differs() {
    let run = Run { processes: 3, ..Run::default() };
    let other = |process, run: Run| if process == 1 { Run { shards: 32, ticks: 7, ..run } } else { run };
    let mut local = run.start_each(other);
    let errors: Vec<_> = local.children.iter_mut().map(|child| error_of(child).unwrap()).collect();
    let differs = |here: [u32; 2], there: [u32; 2]| {
        format!(
            "was started differently: the number of shards is {} there and {} here; the number of ticks is {} there and {} here",
            there[0], here[0], there[1], here[1],
        )
    };
    let (usual, odd) = ([64, 100], [32, 7]);
    for error in errors {
        let (_, what) = error.rsplit_once("process ").unwrap();
        assert!([differs(usual, odd), differs(odd, usual)].contains(&what[2..].to_owned()), "{error}");
    }
}

fn with_args(args: &[&str]) -> String {
    world(4).run(args.iter().copied(), 1).unwrap_err().to_string()
}

#[test]
fn wrong_arguments_are_named() {
    assert_eq!(with_args(&["-n", "2", "-p", "2"]), "-p 2: of 2 processes the last one is 1");
    assert_eq!(with_args(&["-w", "0"]), "-n and -w must be at least 1");
    assert_eq!(with_args(&["-w", "many"]), "-w: invalid digit found in string");
    assert_eq!(with_args(&["--fast"]), "Unrecognized option: 'fast'");
    assert_eq!(with_args(&["village"]), "`village` is not an argument of a world");
    assert_eq!(with_args(&["--silence", "0"]), "--silence is a number of seconds from 1 on");
    assert_eq!(with_args(&["--patience", "long"]), "--patience: invalid digit found in string");
    assert_eq!(with_args(&["--patience", "99999999999"]), "--patience: number too large to fit in target type");
    assert_eq!(with_args(&["--resume"]), "--resume: the world has no folder for checkpoints");
    let missing = "--secret: nowhere/secret: No such file or directory (os error 2)";
    assert_eq!(with_args(&["--secret", "nowhere/secret"]), missing);
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().display().to_string();
    std::fs::write(&file, "\n").unwrap();
    assert_eq!(with_args(&["--secret", &path]), format!("--secret: {path}: the file is empty"));
    std::fs::write(&file, "open sesame").unwrap();
    let both = with_args(&["--secret", &path, "--trust-network"]);
    assert_eq!(both, "--secret and --trust-network contradict each other");
    let meet = "--meet is for processes of a launcher: DEMEANOR_WORLD_SECRET is not set";
    assert_eq!(with_args(&["-n", "2", "--meet", "127.0.0.1:1"]), meet);
}

#[test]
fn a_wrong_line_of_a_hosts_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts");
    let path = file.display().to_string();
    let error = |text: &str| {
        std::fs::write(&file, text).unwrap();
        with_args(&["-n", "3", "-p", "2", "-h", &path]).replace(&path, "hosts")
    };
    assert_eq!(error("a:1\nb\nc:3\n"), "hosts:2: `b` has no port: write `b:2101`");
    assert_eq!(
        error("# three\n\na:1\nb:2\nc:70000\n"),
        "hosts:5: `70000` is not a port: a port is a number from 1 to 65535"
    );
    assert_eq!(error("a:1\nb:2\na:1\n"), "hosts:3: `a:1` is the address of another process already, on line 1");
    assert_eq!(error("a:1\n:2\nc:3\n"), "hosts:2: `:2` has no host name before the port");
    assert_eq!(error("a:1\r\nB:2  \r\nb:2\r\n"), "hosts:3: `b:2` is the address of another process already, on line 2");
    let colons = "has more than one colon: write an IPv6 address in brackets, as in `[fd00::1]:2101`";
    assert_eq!(error("\u{feff}a:1\nfd00::1\nc:3\n"), format!("hosts:2: `fd00::1` {colons}"));
    assert_eq!(error("[fd00::1]:1\nb:2\n"), "hosts: there are 2 addresses, but 3 processes");
    assert_eq!(error("a:1\nb:2\n"), "hosts: there are 2 addresses, but 3 processes");
    let missing = with_args(&["-n", "2", "-h", "nowhere/hosts"]);
    assert_eq!(missing, "nowhere/hosts: No such file or directory (os error 2)");
    assert_eq!(
        error("a:1\nb:2\nno.such.host.invalid:3\n").split(": ").next().unwrap(),
        "process 2 cannot listen at no.such.host.invalid:3",
    );
}

#[test]
fn a_process_that_waits_in_vain_says_for_whom() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts");
    // The operating system gives a free port, and no process listens on it.
    let free = || std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (one, other) = (free(), free());
    std::fs::write(&file, format!("{one}\n{other}\n")).unwrap();
    let error = with_args(&["-n", "2", "-p", "0", "-h", &file.display().to_string(), "--patience", "0"]);
    assert_eq!(error, format!("after 0 s there is no connection to process 1 ({other})"));
}
