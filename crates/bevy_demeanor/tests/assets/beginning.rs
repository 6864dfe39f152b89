//! When machines begin whose files are loaded.

use bevy_demeanor::demeanor::definition::Definition;
use bevy_demeanor::prelude::*;

use crate::stage::{Guard, Moment, PATROL, Stage, Told, vocabulary};

#[test]
fn a_machine_from_a_file_makes_the_callbacks_that_it_makes_without_bevy() {
    let mut stage = Stage::new();
    stage.save("guard.fsm.toml", PATROL);
    let file = stage.load("guard.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    let definition = Definition::parse(PATROL, &vocabulary()).unwrap();
    let (mut alone, mut machine) = (Guard { health: 100.0, ..Guard::default() }, definition.machine());
    for tick in 1..12 {
        let mut now = Moment(f64::from(tick));
        if tick % 5 == 0 {
            stage.app.world_mut().commands().entity(guard).send::<Guard>(Told::Noise);
            stage.app.world_mut().flush();
        }
        if tick % 5 == 0 {
            machine.send(&mut alone, &Told::Noise, &mut Moment(f64::from(tick - 1)));
        }
        if tick == 1 {
            machine.start(&mut alone, &mut now);
        }
        machine.update(&mut alone, &mut now);
        stage.ticks(1);
        assert_eq!(stage.take_trace(guard), std::mem::take(&mut alone.trace), "tick {tick}");
    }
    assert_eq!(stage.state(guard), machine.current().unwrap().name());
}
