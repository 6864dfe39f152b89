//! A hundred thousand insects without a window, each with its own machine. Prints ticks per second.
//!
//! `cargo run --release -p bevy_demeanor --features multi_threaded --example swarm [INSECTS]`

use std::collections::BTreeMap;
use std::env;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

/// The places of the flowers and the time of day: everything that an insect knows of the world.
#[derive(Resource, Clone, Copy)]
struct Garden {
    flowers: [f32; 2],
    hour: f32,
}

#[derive(Component, Owner)]
#[owner(param = Res<Garden>)]
struct Insect {
    place: [f32; 2],
    velocity: [f32; 2],
    nectar: f32,
}

impl Insect {
    fn new(i: u16) -> Self {
        let around = f32::from(i) * 0.7;
        Self { place: [around.cos() * 40.0, around.sin() * 40.0], velocity: [0.0, 0.0], nectar: 0.0 }
    }

    /// Flies toward a place. Returns whether the insect has arrived.
    fn fly_to(&mut self, there: [f32; 2]) -> bool {
        let way = [there[0] - self.place[0], there[1] - self.place[1]];
        let far = way[0].hypot(way[1]);
        for ((velocity, place), way) in self.velocity.iter_mut().zip(&mut self.place).zip(way) {
            *velocity = *velocity * 0.9 + way / (far + 0.1) * 0.05;
            *place += *velocity;
        }
        far < 1.0
    }
}

/// The global state: at night all insects go home.
struct Daylight;
struct Forage;
struct Drink;
struct Return;
struct Sleep;

impl MachineState<Insect> for Daylight {
    fn update(&self, _: &mut Insect, fsm: &mut Fsm<'_, Insect>, cx: &mut Cx<'_, Insect>) {
        if cx.param.hour > 20.0 && !fsm.is_in_state(&Return) && !fsm.is_in_state(&Sleep) {
            fsm.change_state(&Return);
        }
    }
}

impl MachineState<Insect> for Forage {
    fn update(&self, insect: &mut Insect, fsm: &mut Fsm<'_, Insect>, cx: &mut Cx<'_, Insect>) {
        if insect.fly_to(cx.param.flowers) {
            fsm.change_state(&Drink);
        }
    }
}

impl MachineState<Insect> for Drink {
    fn update(&self, insect: &mut Insect, fsm: &mut Fsm<'_, Insect>, _: &mut Cx<'_, Insect>) {
        insect.nectar += 0.1;
        if insect.nectar >= 1.0 {
            fsm.change_state(&Return);
        }
    }
}

impl MachineState<Insect> for Return {
    fn update(&self, insect: &mut Insect, fsm: &mut Fsm<'_, Insect>, _: &mut Cx<'_, Insect>) {
        if insect.fly_to([0.0, 0.0]) {
            fsm.change_state(&Sleep);
        }
    }

    fn exit(&self, insect: &mut Insect, _: &mut Fsm<'_, Insect>, _: &mut Cx<'_, Insect>) {
        insect.nectar = 0.0;
    }
}

impl MachineState<Insect> for Sleep {
    fn update(&self, _: &mut Insect, fsm: &mut Fsm<'_, Insect>, cx: &mut Cx<'_, Insect>) {
        if (6.0..20.0).contains(&cx.param.hour) {
            fsm.change_state(&Forage);
        }
    }
}

fn pass_time(mut garden: ResMut<Garden>) {
    garden.hour = (garden.hour + 0.02) % 24.0;
}

/// Reads the command line. Returns `None` if it is wrong.
fn parse(mut arguments: impl Iterator<Item = String>) -> Option<u32> {
    let insects = arguments.next().map_or(Some(100_000), |insects| insects.parse().ok());
    if arguments.next().is_some() { None } else { insects }
}

fn fly(insects: u32, out: &mut impl Write) -> io::Result<()> {
    let mut app = App::new();
    app.add_plugins(TaskPoolPlugin::default());
    app.add_state_machine_with(StateMachinePlugin::<Insect>::new().in_parallel());
    app.insert_resource(Garden { flowers: [30.0, 12.0], hour: 5.5 });
    app.add_systems(Update, pass_time.in_set(MachineSet::Enter));
    let insect = |i: u32| {
        let machine = Machine::<Insect>::new(&Sleep).with_global(&Daylight);
        (Insect::new(u16::try_from(i % 50_000).unwrap_or_default()), machine)
    };
    app.world_mut().spawn_batch((0..insects).map(insect));

    let ticks = 500;
    app.update();
    let begin = Instant::now();
    for _ in 0..ticks {
        app.update();
    }
    let seconds = begin.elapsed().as_secs_f64();
    writeln!(out, "{insects} insects, {:.0} ticks per second", f64::from(ticks) / seconds)?;

    let mut machines = app.world_mut().query::<&Machine<Insect>>();
    let mut census = BTreeMap::new();
    for machine in machines.iter(app.world()) {
        *census.entry(machine.current().map_or("none".into(), |state| state.name().into_owned())).or_insert(0) += 1;
    }
    writeln!(out, "{:.1} h: {census:?}", app.world().resource::<Garden>().hour)
}

fn main() -> ExitCode {
    let Some(insects) = parse(env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned())) else {
        let _ = writeln!(io::stderr(), "usage: swarm [INSECTS]");
        return ExitCode::from(2);
    };
    match fly(insects, &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // If the reader closes the pipe early, as `head` does, this is not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "swarm: {error}");
            ExitCode::FAILURE
        }
    }
}
