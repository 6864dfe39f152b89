//! A system that goes through the entities in one of six states. The rows find these entities by the plugin's markers or
//! indexes.
//!
//! All six states are marked or indexed, so that a change costs as much as in a game that has systems for all of them.

use bevy_app::{App, Update};
use bevy_demeanor::{InSparseSet, InState, Machine, MachineSet, QueryInState};
use bevy_ecs::prelude::*;

use crate::ours::{self, Character, Mode};

/// Without markers and indexes: the system asks each machine for its state.
pub fn asking(entities: u32, period: u32) -> App {
    let mut app = ours::plain(entities, period);
    let visit = |mut characters: Query<(&mut Character, &Machine<Character>)>| {
        for (mut character, machine) in &mut characters {
            if machine.is_in::<Mode<2>>() {
                character.visit();
            }
        }
    };
    app.add_systems(Update, visit.in_set(MachineSet::Exit));
    app
}

pub fn with_markers(entities: u32, period: u32) -> App {
    let mut app = ours::with_markers(entities, period);
    let visit = |mut characters: Query<&mut Character, With<InState<Mode<2>>>>| {
        for mut character in &mut characters {
            character.visit();
        }
    };
    app.add_systems(Update, visit.in_set(MachineSet::Exit));
    app
}

pub fn with_sparse_markers(entities: u32, period: u32) -> App {
    let mut app = ours::with_sparse_markers(entities, period);
    let visit = |mut characters: Query<&mut Character, With<InState<Mode<2>, InSparseSet>>>| {
        for mut character in &mut characters {
            character.visit();
        }
    };
    app.add_systems(Update, visit.in_set(MachineSet::Exit));
    app
}

pub fn with_indexes(entities: u32, period: u32) -> App {
    let mut app = ours::with_indexes(entities, period);
    let visit = |mut characters: QueryInState<Mode<2>, &mut Character>| {
        for mut character in &mut characters {
            character.visit();
        }
    };
    app.add_systems(Update, visit.in_set(MachineSet::Exit));
    app
}
