//! The game has the same result with both versions of the level, on any number of threads, and if it is saved, paused or reloaded
//! in between.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use bevy_app::{App, FixedUpdate};
use bevy_asset::{AssetServer, Assets};
use bevy_demeanor::demeanor::definition::Files;
use bevy_demeanor::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_ecs::world::World;
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_time::{Fixed, Time, Virtual};
use guards::camera::CameraFile;
use guards::yard::{ASSETS, Character, Seen, play};
use guards::{by_hand, level};
use moonshine_save::prelude::*;

/// The environment variable with the number of threads, for a process that a test starts.
const THREADS: &str = "GUARDS_THREADS";

/// The output of the program.
const GOLDEN: &str = include_str!("guards.txt");

/// The file of the cameras.
const CAMERA: &str = include_str!("../assets/camera.fsm.toml");

/// One of the two versions.
struct Game {
    new: fn(assets: &str) -> App,
    begin: fn(&mut World),
    seen: fn(&mut App) -> Seen,
    /// Whether the clock is saved. The characters written by hand need it, because they store times of this clock.
    saves_clock: bool,
}

const WITH_MACHINES: Game = Game {
    new: |assets| level::level(StateMachinePlugin::new(), assets),
    begin: level::begin,
    seen: level::seen,
    saves_clock: false,
};

const IN_PARALLEL: Game =
    Game { new: |assets| level::level(StateMachinePlugin::new().in_parallel(), assets), ..WITH_MACHINES };

const BY_HAND: Game = Game { new: by_hand::level, begin: by_hand::begin, seen: by_hand::seen, saves_clock: true };

impl Game {
    /// Begins the game, and plays some ticks.
    fn at(&self, tick: u32) -> App {
        self.at_with(tick, ASSETS)
    }

    fn at_with(&self, tick: u32, assets: &str) -> App {
        let mut app = (self.new)(assets);
        (self.begin)(app.world_mut());
        (0..tick).for_each(|_| app.update());
        app
    }

    /// Returns the exact place and state of each character, in an order that does not depend on the entities.
    fn exactly(&self, app: &mut App) -> Seen {
        (self.seen)(app).sorted()
    }

    fn save(&self, app: &mut App, name: &str) -> PathBuf {
        let file = temporary(name);
        let mut world = SaveWorld::default_into_file(&file);
        if self.saves_clock {
            world = world.include_resource::<Time<Fixed>>();
        }
        app.world_mut().trigger_save(world);
        app.world_mut().flush();
        file
    }

    fn load(&self, file: PathBuf) -> App {
        let mut app = (self.new)(ASSETS);
        app.world_mut().trigger_load(LoadWorld::default_from_file(file));
        app.world_mut().flush();
        app
    }

    /// Saves a game at some ticks, loads it, and compares it with the game that was not saved, in each of the ticks that follow.
    fn check_saved(&self, name: &str) {
        let mut going_on = self.at(0);
        for _ in 0..4 {
            (0..467).for_each(|_| going_on.update());
            let file = self.save(&mut going_on, name);
            let mut loaded = self.load(file);
            self.check_equal(&mut loaded, &mut going_on, 200);
        }
    }

    /// Compares two games in this tick and in some that follow.
    #[track_caller]
    fn check_equal(&self, one: &mut App, other: &mut App, ticks: u32) {
        assert_eq!(self.exactly(one), self.exactly(other));
        for tick in 0..ticks {
            one.update();
            other.update();
            let (one, other) = (self.exactly(one), self.exactly(other));
            assert!(one == other, "{tick} ticks later: {:?}", differences(&one, &other));
        }
    }
}

/// Returns the characters that are not the same in two games.
fn differences<'s>(one: &'s Seen, other: &'s Seen) -> Vec<(&'s Character, &'s Character)> {
    let characters = |seen: &'s Seen| seen.guards.iter().chain(&seen.cameras).chain(&seen.player);
    characters(one).zip(characters(other)).filter(|(one, other)| one != other).collect()
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn the_program_prints_the_golden_game() {
    let program = env!("CARGO_BIN_EXE_guards");
    // The program saves the game in the folder `TMPDIR`.
    let output = Command::new(program).env("TMPDIR", env!("CARGO_TARGET_TMPDIR")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    if env::var_os("UPDATE").is_some() {
        fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guards.txt"), &printed).unwrap();
    }
    assert_eq!((printed, output.status.success()), (GOLDEN.to_owned(), true));
}

#[test]
fn machines_and_enums_play_the_same_game_in_each_tick() {
    let (mut machines, mut hand) = (WITH_MACHINES.at(0), BY_HAND.at(0));
    for tick in 0..60 * 64 {
        machines.update();
        hand.update();
        let (machines, hand) = (WITH_MACHINES.exactly(&mut machines), BY_HAND.exactly(&mut hand));
        assert!(machines == hand, "tick {tick}: {:?}", differences(&machines, &hand));
    }
    let Seen { guards, cameras, player } = WITH_MACHINES.exactly(&mut machines);
    for characters in [guards, cameras, player] {
        assert!(
            characters.iter().any(|(_, _, count)| *count > 0),
            "no guard died, no camera raised an alarm, or no player was caught"
        );
    }
}

#[test]
fn a_saved_game_goes_on_in_a_new_app_as_if_it_had_not_been_saved() {
    WITH_MACHINES.check_saved("machines.ron");
    BY_HAND.check_saved("by_hand.ron");
}

#[test]
fn machines_in_parallel_are_saved_as_well() {
    IN_PARALLEL.check_saved("parallel.ron");
}

#[test]
fn a_pause_holds_all_time() {
    for game in [WITH_MACHINES, BY_HAND] {
        let (mut paused, mut going_on) = (game.at(700), game.at(700));
        let before = game.exactly(&mut paused);
        paused.world_mut().resource_mut::<Time<Virtual>>().pause();
        (0..640).for_each(|_| paused.update());
        assert_eq!(game.exactly(&mut paused), before);
        paused.world_mut().resource_mut::<Time<Virtual>>().unpause();
        game.check_equal(&mut paused, &mut going_on, 640);
    }
}

/// A game whose file of the cameras can be edited.
struct Edited {
    app: App,
    folder: PathBuf,
}

impl Edited {
    fn at(tick: u32, folder: &str) -> Self {
        let folder = temporary(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("camera.fsm.toml"), CAMERA).unwrap();
        let app = WITH_MACHINES.at_with(tick, folder.to_str().unwrap());
        Self { app, folder }
    }

    /// Changes the file, and reloads it while the game is paused.
    fn reload(&mut self, text: &str) {
        fs::write(self.folder.join("camera.fsm.toml"), text).unwrap();
        self.app.world_mut().resource_mut::<Time<Virtual>>().pause();
        self.app.world().resource::<AssetServer>().reload("camera.fsm.toml");
        while !self.is_reloaded(text) {
            self.app.update();
            thread::yield_now();
        }
        self.app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    }

    fn is_reloaded(&self, text: &str) -> bool {
        let (world, file) = (self.app.world(), &self.app.world().resource::<CameraFile>().0);
        let file = world.resource::<Assets<DefinitionFile>>().get(file).unwrap();
        file.files() == &Files::new(file.files().name(), text)
    }
}

/// Returns how many alarms the cameras have raised.
fn alarms(app: &mut App) -> u32 {
    level::seen(app).cameras.iter().map(|(_, _, alarms)| alarms).sum()
}

#[test]
fn a_file_that_is_reloaded_changes_what_cameras_do_and_loses_nothing() {
    let (mut edited, mut going_on) = (Edited::at(700, "reloaded"), WITH_MACHINES.at(700));
    edited.reload(&format!("{CAMERA}# A comment.\n"));
    WITH_MACHINES.check_equal(&mut edited.app, &mut going_on, 640);

    edited.reload(&CAMERA.replace("after = 0.5", "after = 1000"));
    assert_eq!(WITH_MACHINES.exactly(&mut edited.app), WITH_MACHINES.exactly(&mut going_on));
    let before = alarms(&mut going_on);
    (0..640).for_each(|_| edited.app.update());
    (0..640).for_each(|_| going_on.update());
    assert_eq!(alarms(&mut edited.app), before);
    assert!(alarms(&mut going_on) > before);
}

#[test]
fn a_file_with_a_mistake_changes_nothing() {
    let (mut edited, mut going_on) = (Edited::at(700, "mistaken"), WITH_MACHINES.at(700));
    edited.reload(&CAMERA.replace("raise_alarm", "rise_alarm"));
    WITH_MACHINES.check_equal(&mut edited.app, &mut going_on, 640);
}

/// The next test runs this in separate processes, because a process has only one pool of threads.
#[test]
#[ignore = "it is a part of the next"]
fn a_process_writes_how_the_game_ends() {
    if let Ok(threads) = env::var(THREADS) {
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads.parse().unwrap()).build());
        let mut app = IN_PARALLEL.at(0);
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
