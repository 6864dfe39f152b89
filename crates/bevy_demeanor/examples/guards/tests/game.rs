//! The game plays as it did, however it is written, saved and run.

use std::fs;
use std::path::{Path, PathBuf};

use bevy_app::{App, Startup};
use bevy_demeanor::StateMachinePlugin;
use bevy_ecs::prelude::*;
use guards::guards::Guard;
use guards::yard::{Seen, play, spawn_intruders};
use guards::{by_hand, guards as with_machines};
use moonshine_save::prelude::*;

fn by_hand() -> App {
    by_hand::game()
}

fn one_after_the_other() -> App {
    with_machines::game(StateMachinePlugin::new())
}

fn in_parallel() -> App {
    with_machines::game(StateMachinePlugin::new().in_parallel())
}

type See = fn(&mut App) -> Vec<Seen>;

#[test]
fn eq() {
    let mut one = one_after_the_other();
    one.add_systems(Startup, (with_machines::spawn, spawn_intruders));
    let mut other = by_hand();
    other.add_systems(Startup, (by_hand::spawn, spawn_intruders));
    for tick in 0..64 * 60 {
        one.update();
        other.update();
        let (a, b) = (with_machines::seen(&mut one), by_hand::seen(&mut other));
        let mut a: Vec<_> = a.iter().map(|a| format!("{a:?}")).collect();
        let mut b: Vec<_> = b.iter().map(|a| format!("{a:?}")).collect();
        a.sort();
        b.sort();
        assert_eq!(a, b, "{tick}");
    }
}
