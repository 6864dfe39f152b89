//! Guards whose machines are in the file `guards.fsm.toml`, which Bevy's asset server loads, with scripts beside it.
//!
//! The game defines the words of the file. The file decides which guard chases the thief, and when: edit it, and run this
//! again. In a game with Bevy's feature `file_watcher`, the file is reloaded while the guards run.
//!
//! `cargo run -p bevy_demeanor --example guards_from_a_file --features script`

#![expect(clippy::needless_pass_by_value, reason = "a system's parameters are by value")]

use std::env;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use bevy_app::prelude::*;
use bevy_asset::{AssetPlugin, AssetServer, Handle};
use bevy_demeanor::demeanor::definition::Vocabulary;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};

/// Prints a line. `println!` would panic if the reader closes the pipe early, as `head` does.
fn print(line: Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

// ---- The words that the game offers to the file --------------------------------------------------------------------

#[derive(Component, Owner)]
#[owner(body = &mut Place, param = Res<Thief>, message = Noise)]
struct Guard {
    stamina: f64,
    /// The speed in meters per second.
    speed: f64,
}

/// The position on a street, in meters.
#[derive(Component)]
struct Place(f64);

#[derive(Resource)]
struct Thief {
    place: f64,
}

struct Noise;

/// The behavior `follow`.
struct Follow;

impl MachineState<Guard> for Follow {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        let way = cx.param.place - cx.body.0;
        cx.body.0 += way.signum() * (guard.speed * cx.time.delta_secs_f64()).min(way.abs());
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("distance", |_: &Guard, cx: &Cx<'_, Guard>| (cx.param.place - cx.body.0).abs())
        .field("stamina", |guard: &Guard, _| guard.stamina, |guard, stamina| guard.stamina = stamina)
        .field("speed", |guard: &Guard, _| guard.speed, |guard, speed| guard.speed = speed)
        .behavior("follow", &Follow)
        .message("noise", |_: &Noise| true)
}

// ---- The rest of the game ------------------------------------------------------------------------------------------

/// The marker type for the state `chase` of the file.
struct Chase;

#[derive(Resource, Default)]
struct Tick(u32);

fn flee(mut thief: ResMut<Thief>, mut tick: ResMut<Tick>) {
    tick.0 += 1;
    thief.place += 0.5;
}

fn report(change: On<StateChanged<Guard>>, tick: Res<Tick>, guards: Query<(&Name, &Place)>) {
    let (Ok((name, place)), Some(to)) = (guards.get(change.entity), &change.to) else { return };
    print(format_args!("{:>5.2} s  {name}, at {:.1} m: {to}", f64::from(tick.0) / 4.0, place.0));
}

fn shout(entered: On<Entered<Chase>>, names: Query<&Name>) {
    if let Ok(name) = names.get(entered.entity) {
        print(format_args!("         {name}: Stop, thief!"));
    }
}

fn count(tick: Res<Tick>, chasing: Query<(), With<InState<Chase>>>, mut before: Local<usize>) {
    let now = chasing.iter().count();
    if now != *before {
        print(format_args!("{:>5.2} s  in pursuit: {now}", f64::from(tick.0) / 4.0));
        *before = now;
    }
}

/// Loads the machines of the file, as a loading screen does. The log contains the mistakes in the file.
fn load(app: &mut App, paths: [&'static str; 2]) -> Option<[Handle<DefinitionFile>; 2]> {
    let files = paths.map(|path| app.world().resource::<AssetServer>().load(path));
    for file in &files {
        app.world_mut().resource_mut::<LoadedDefinitions<Guard>>().prepare(file.clone());
    }
    loop {
        app.update();
        let (server, loaded) =
            (app.world().resource::<AssetServer>(), app.world().resource::<LoadedDefinitions<Guard>>());
        if files.iter().all(|file| loaded.get(file).is_some()) {
            return Some(files);
        }
        if files.iter().any(|file| server.load_state(file).is_failed() || loaded.problems(file).is_some()) {
            return None;
        }
        thread::yield_now();
    }
}

fn main() -> ExitCode {
    if env::args_os().len() > 1 {
        let _ = writeln!(io::stderr(), "usage: guards_from_a_file");
        return ExitCode::from(2);
    }
    env_logger::init();
    let mut app = App::new();
    app.add_plugins((
        TaskPoolPlugin::default(),
        TimePlugin,
        AssetPlugin {
            file_path: concat!(env!("CARGO_MANIFEST_DIR"), "/examples/guards_from_a_file").into(),
            ..AssetPlugin::default()
        },
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
    app.insert_resource(Thief { place: 0.0 });
    app.add_state_machine_with(
        StateMachinePlugin::<Guard>::new()
            .with_definitions(vocabulary())
            .with_marker_named::<Chase>("chase")
            .with_triggers_named::<Chase>("chase")
            .with_change_events(),
    );
    app.add_observer(report);
    app.add_observer(shout);

    let Some([sentry, veteran]) = load(&mut app, ["guards.fsm.toml#sentry", "guards.fsm.toml#veteran"]) else {
        return ExitCode::FAILURE;
    };
    app.init_resource::<Tick>();
    app.add_systems(Update, (flee.in_set(MachineSet::Enter), count.in_set(MachineSet::Exit)));
    let [_, bruno, _] =
        [("Anna", 6.0, &sentry), ("Bruno", -6.0, &sentry), ("Vera", 12.0, &veteran)].map(|(name, place, file)| {
            let guard = (Guard { stamina: 4.0, speed: 0.0 }, DefinedMachine::<Guard>::new(file.clone()));
            app.world_mut().spawn((Name::new(name), Place(place), guard)).id()
        });
    for tick in 0..40 {
        if tick == 2 {
            app.world_mut().commands().entity(bruno).send::<Guard>(Noise);
        }
        app.update();
    }
    ExitCode::SUCCESS
}
