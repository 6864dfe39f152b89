//! The model as loops over vectors, without any library.

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

use crate::model::{Cell, Counts, GRASS_ENERGY, SHEEP_ENERGY, STEPS, World, first_energy};

#[derive(Clone)]
struct Sheep {
    cell: Cell,
    energy: f64,
    is_alive: bool,
}

#[derive(Clone)]
struct Wolf {
    cell: Cell,
    energy: f64,
}

/// Runs the model, and returns what there is after each step.
pub fn run(world: &World, seed: u64) -> Vec<Counts> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut flock: Vec<_> = (0..world.sheep)
        .map(|_| Sheep { cell: world.any_cell(&mut rng), energy: first_energy(GRASS_ENERGY, &mut rng), is_alive: true })
        .collect();
    let mut pack: Vec<_> = (0..world.wolves)
        .map(|_| Wolf { cell: world.any_cell(&mut rng), energy: first_energy(SHEEP_ENERGY, &mut rng) })
        .collect();
    // The first step in which the grass of each cell can be eaten.
    let mut ripe: Vec<u32> = (0..world.cells()).map(|_| world.first_regrowth(&mut rng)).collect();
    // The sheep in each cell.
    let mut herds = vec![Vec::new(); world.cells()];

    let step = |step| {
        graze(world, step, &mut flock, &mut ripe, &mut rng);
        herds.iter_mut().for_each(Vec::clear);
        for (nth, sheep) in flock.iter().enumerate() {
            herds[world.index(sheep.cell)].push(nth);
        }
        hunt(world, &mut pack, &mut flock, &mut herds, &mut rng);
        flock.retain(|sheep| sheep.is_alive);
        let grass = ripe.iter().filter(|ripe| **ripe <= step + 1).count();
        Counts { sheep: flock.len(), wolves: pack.len(), grass }
    };
    (0..STEPS).map(step).collect()
}

fn graze(world: &World, step: u32, flock: &mut Vec<Sheep>, ripe: &mut [u32], rng: &mut SmallRng) {
    flock.shuffle(rng);
    let mut lambs = Vec::new();
    for sheep in &mut *flock {
        sheep.cell = world.neighbor(sheep.cell, rng);
        sheep.energy -= 1.0;
        let patch = &mut ripe[world.index(sheep.cell)];
        if *patch <= step {
            *patch = step + world.regrowth;
            sheep.energy += GRASS_ENERGY;
        }
        if sheep.energy < 1.0 {
            sheep.is_alive = false;
        } else if rng.random_bool(world.sheep_births) {
            sheep.energy /= 2.0;
            lambs.push(sheep.clone());
        }
    }
    flock.retain(|sheep| sheep.is_alive);
    flock.append(&mut lambs);
}

fn hunt(world: &World, pack: &mut Vec<Wolf>, flock: &mut [Sheep], herds: &mut [Vec<usize>], rng: &mut SmallRng) {
    pack.shuffle(rng);
    let mut cubs = Vec::new();
    pack.retain_mut(|wolf| {
        wolf.cell = world.neighbor(wolf.cell, rng);
        wolf.energy -= 1.0;
        let herd = &mut herds[world.index(wolf.cell)];
        if !herd.is_empty() {
            let prey = herd.swap_remove(rng.random_range(0..herd.len()));
            flock[prey].is_alive = false;
            wolf.energy += SHEEP_ENERGY;
        }
        if wolf.energy < 0.0 {
            return false;
        }
        if rng.random_bool(world.wolf_births) {
            wolf.energy /= 2.0;
            cubs.push(wolf.clone());
        }
        true
    });
    pack.append(&mut cubs);
}
