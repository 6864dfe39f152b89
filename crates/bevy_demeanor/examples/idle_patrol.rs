//! An enemy that is idle or on patrol, written both ways.
//!
//! As states: `Idle` and `Patrol` themselves decide when the enemy leaves them. As systems: the work of patrolling enemies is a
//! query over `With<InState<Patrol>>`, like every other system of the game. Both work on the same enemies: the states decide,
//! and the systems do most of the work.
//!
//! `cargo run -p bevy_demeanor --example idle_patrol`

#![expect(clippy::needless_pass_by_value, reason = "a system's parameters are by value")]

use std::env;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::ExitCode;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

/// The number of the tick, for all systems and states.
#[derive(Resource, Default)]
struct Tick(u32);

/// Prints a line. `println!` would panic if the reader closes the pipe early, as `head` does.
fn print(line: Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

// ---- As states ----------------------------------------------------------------------------------------------------

/// An enemy. Its states can read its name and the tick.
#[derive(Component, Owner)]
#[owner(body = &Name, param = Res<Tick>, message = Noise)]
struct Enemy {
    /// Number of ticks for which it still rests or patrols.
    remaining: u32,
}

/// The message of an enemy.
struct Noise;

struct Idle;
struct Patrol;

impl MachineState<Enemy> for Idle {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut Cx<'_, Enemy>) {
        enemy.remaining = 2;
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut Cx<'_, Enemy>) {
        enemy.remaining -= 1;
        if enemy.remaining == 0 {
            fsm.change_state(&Patrol);
        }
    }

    fn on_message(&self, _: &mut Enemy, _: &Noise, fsm: &mut Fsm<'_, Enemy>, cx: &mut Cx<'_, Enemy>) -> bool {
        print(format_args!("  tick {}: {} hears a noise", cx.param.0, cx.body));
        fsm.change_state(&Patrol);
        true
    }
}

impl MachineState<Enemy> for Patrol {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut Cx<'_, Enemy>) {
        enemy.remaining = 3;
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut Cx<'_, Enemy>) {
        enemy.remaining -= 1;
        if enemy.remaining == 0 {
            fsm.change_state(&Idle);
        }
    }
}

// ---- As systems ---------------------------------------------------------------------------------------------------

#[derive(Component)]
struct Place(i32);

/// The work of each tick on patrol.
fn walk(mut patrolling: Query<&mut Place, With<InState<Patrol>>>) {
    for mut place in &mut patrolling {
        place.0 += 1;
    }
}

/// The work of going on patrol.
fn draw_weapon(entered: On<Entered<Patrol>>, names: Query<&Name>) {
    if let Ok(name) = names.get(entered.entity) {
        print(format_args!("  {name} draws a weapon"));
    }
}

/// Reports the changes of a tick.
fn report(tick: Res<Tick>, mut changes: MessageReader<StateChanged<Enemy>>, names: Query<&Name>) {
    for change in changes.read() {
        if let (Ok(name), Some(to)) = (names.get(change.entity), &change.to) {
            print(format_args!("  tick {}: {name} is now in {to}", tick.0));
        }
    }
}

/// Prepares the tick before the states run.
fn advance(mut tick: ResMut<Tick>, enemies: Query<(Entity, &Name)>, mut commands: Commands) {
    tick.0 += 1;
    if tick.0 == 1 {
        for (enemy, _) in enemies.iter().filter(|(_, name)| name.as_str() == "Bruno") {
            commands.entity(enemy).send::<Enemy>(Noise);
        }
    }
}

fn spawn(mut commands: Commands) {
    for name in ["Anna", "Bruno"] {
        commands.spawn((Name::new(name), Enemy { remaining: 0 }, Place(0), Machine::<Enemy>::new(&Idle)));
    }
}

fn main() -> ExitCode {
    if env::args_os().len() > 1 {
        let _ = writeln!(io::stderr(), "usage: idle_patrol");
        return ExitCode::from(2);
    }
    let mut app = App::new();
    app.init_resource::<Tick>();
    app.add_state_machine_with(
        StateMachinePlugin::<Enemy>::new().with_marker::<Patrol>().with_triggers::<Patrol>().with_change_messages(),
    );
    app.add_systems(Startup, spawn);
    app.add_systems(Update, advance.in_set(MachineSet::Enter));
    app.add_systems(Update, walk.in_set(MachineSet::Update));
    app.add_systems(Update, report.in_set(MachineSet::Exit));
    app.add_observer(draw_weapon);
    for _ in 0..6 {
        app.update();
    }
    let mut places = app.world_mut().query::<(&Name, &Place)>();
    for (name, place) in places.iter(app.world()) {
        print(format_args!("{name} has walked {} steps", place.0));
    }
    ExitCode::SUCCESS
}
