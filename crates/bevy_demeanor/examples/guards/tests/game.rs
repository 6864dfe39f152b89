//! The game has the same result with both versions of the guards, on any number of threads, and if it is saved in between.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use bevy_app::{App, FixedUpdate, Startup};
use bevy_demeanor::StateMachinePlugin;
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_time::{Fixed, Time};
use guards::yard::{Seen, play, spawn_intruders};
use guards::{by_hand, guards as with_machines};
use moonshine_save::prelude::*;

/// The environment variable with the number of threads, for a process that a test starts.
const THREADS: &str = "GUARDS_THREADS";

/// The output of the program.
const GOLDEN: &str = include_str!("guards.txt");

/// One of the two versions.
struct Game {
    new: fn() -> App,
    spawn: fn(&mut App),
    seen: fn(&mut App) -> Vec<Seen>,
    /// Whether the clock is saved. The guards written by hand need it, because they store times of this clock.
    saves_clock: bool,
}

const WITH_MACHINES: Game = Game {
    new: || with_machines::game(StateMachinePlugin::new()),
    spawn: |app| _ = app.add_systems(Startup, (with_machines::spawn, spawn_intruders)),
    seen: with_machines::seen,
    saves_clock: false,
};

const IN_PARALLEL: Game =
    Game { new: || with_machines::game(StateMachinePlugin::new().in_parallel()), ..WITH_MACHINES };

const BY_HAND: Game = Game {
    new: by_hand::game,
    spawn: |app| _ = app.add_systems(Startup, (by_hand::spawn, spawn_intruders)),
    seen: by_hand::seen,
    saves_clock: true,
};

impl Game {
    fn begin(&self) -> App {
        let mut app = (self.new)();
        (self.spawn)(&mut app);
        app
    }

    /// Returns the exact place and state of each guard, in an order that does not depend on the entities.
    fn exactly(&self, app: &mut App) -> Vec<String> {
        let mut seen: Vec<String> = (self.seen)(app).iter().map(|seen| format!("{seen:?}")).collect();
        seen.sort();
        seen
    }

    fn save(&self, app: &mut App, name: &str) -> PathBuf {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut world = SaveWorld::default_into_file(&file);
        if self.saves_clock {
            world = world.include_resource::<Time<Fixed>>();
        }
        app.world_mut().trigger_save(world);
        app.world_mut().flush();
        file
    }

    fn load(&self, file: PathBuf) -> App {
        let mut app = (self.new)();
        // In the first frame of an app, no time passes.
        app.update();
        app.world_mut().trigger_load(LoadWorld::default_from_file(file));
        app.world_mut().flush();
        app
    }

    /// Saves a game at a tick, loads it, and compares it with the game that was not saved.
    fn check_saved_at(&self, tick: u32, name: &str) {
        let mut going_on = self.begin();
        (0..tick).for_each(|_| going_on.update());
        let file = self.save(&mut going_on, name);
        let mut loaded = self.load(file);
        assert_eq!(self.exactly(&mut loaded), self.exactly(&mut going_on));
        let deaths = |app: &mut App| (self.seen)(app).iter().map(|(_, _, deaths)| deaths).sum::<u32>();
        let before = deaths(&mut loaded);
        for _ in 0..12 {
            (0..64).for_each(|_| going_on.update());
            (0..64).for_each(|_| loaded.update());
            assert_eq!(self.exactly(&mut loaded), self.exactly(&mut going_on), "{name}");
        }
        assert!(deaths(&mut loaded) > before, "guards die in a loaded game, too");
    }
}

#[test]
fn the_program_prints_the_golden_game() {
    let program = env!("CARGO_BIN_EXE_guards");
    // The program saves the game in the folder `TMPDIR`.
    let output = Command::new(program).env("TMPDIR", env!("CARGO_TARGET_TMPDIR")).output().unwrap();
    assert_eq!((String::from_utf8(output.stdout).unwrap(), output.status.success()), (GOLDEN.to_owned(), true));
}

#[test]
fn machines_and_an_enum_play_the_same_game() {
    let (mut machines, mut hand) = (WITH_MACHINES.begin(), BY_HAND.begin());
    let mut printed = String::new();
    for _ in 0..2 {
        printed += &play(&mut machines, 30, WITH_MACHINES.seen);
        play(&mut hand, 30, BY_HAND.seen);
        assert_eq!(WITH_MACHINES.exactly(&mut machines), BY_HAND.exactly(&mut hand));
    }
    assert_eq!(printed, GOLDEN);
}

#[test]
fn a_saved_game_goes_on_in_a_new_app_as_if_it_had_not_been_saved() {
    WITH_MACHINES.check_saved_at(1111, "machines.ron");
    BY_HAND.check_saved_at(1111, "by_hand.ron");
}

#[test]
fn machines_in_parallel_are_saved_as_well() {
    IN_PARALLEL.check_saved_at(1234, "parallel.ron");
}

/// The next test runs this in separate processes, because a process has only one pool of threads.
#[test]
#[ignore = "it is a part of the next"]
fn a_process_writes_how_the_game_ends() {
    if let Ok(threads) = env::var(THREADS) {
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads.parse().unwrap()).build());
        let mut app = IN_PARALLEL.begin();
        if threads == "1" {
            app.edit_schedule(FixedUpdate, |schedule| _ = schedule.set_executor(SingleThreadedExecutor::new()));
        }
        let end = play(&mut app, 30, IN_PARALLEL.seen);
        fs::write(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("threads_{threads}.txt")), end).unwrap();
    }
}

#[test]
fn the_game_ends_the_same_on_any_number_of_threads() {
    for threads in ["1", "2", "4"] {
        let status = Command::new(env::current_exe().unwrap())
            .args(["--exact", "a_process_writes_how_the_game_ends", "--ignored"])
            .env(THREADS, threads)
            .output()
            .unwrap()
            .status;
        assert!(status.success());
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("threads_{threads}.txt"));
        let end = fs::read_to_string(file).unwrap();
        assert!(GOLDEN.starts_with(&end), "on {threads} threads:\n{end}");
    }
}
