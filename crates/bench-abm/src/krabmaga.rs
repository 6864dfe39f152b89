//! The model with krABMaga: agents in its schedule, the sheep and the grass in its grids.

use std::any::Any;
use std::cell::Cell as Counter;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use krabmaga::engine::agent::Agent;
use krabmaga::engine::fields::dense_number_grid_2d::DenseNumberGrid2D;
use krabmaga::engine::fields::dense_object_grid_2d::DenseGrid2D;
use krabmaga::engine::fields::field::Field;
use krabmaga::engine::fields::grid_option::GridOption;
use krabmaga::engine::location::Int2D;
use krabmaga::engine::schedule::Schedule;
use krabmaga::engine::state::State;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::model::{Cell, Counts, GRASS_ENERGY, SHEEP_ENERGY, STEPS, World, first_energy};

/// Within a step, the schedule takes agents with a smaller number first.
const SHEEP_FIRST: i32 = 0;
const THEN_WOLVES: i32 = 1;

#[derive(Clone, Copy)]
struct Sheep {
    id: u32,
    cell: Cell,
    energy: f64,
    is_alive: bool,
}

impl PartialEq for Sheep {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Sheep {}

impl Hash for Sheep {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.id.hash(hasher);
    }
}

impl Agent for Sheep {
    fn step(&mut self, state: &mut dyn State) {
        let meadow = meadow(state);
        if meadow.eaten.remove(&self.id) {
            self.is_alive = false;
            return;
        }
        let world = meadow.world;
        self.cell = world.neighbor(self.cell, &mut meadow.rng);
        self.energy -= 1.0;
        let place = place(self.cell);
        // A sheep that acted before this one in the same step may have eaten the grass.
        let countdown = meadow.grass.get_value_unbuffered(&place).or_else(|| meadow.grass.get_value(&place));
        if countdown == Some(0) {
            meadow.grass.set_value_location(world.regrowth, &place);
            self.energy += GRASS_ENERGY;
        }
        if self.energy < 1.0 {
            self.is_alive = false;
            meadow.counts.sheep -= 1;
            return;
        }
        if meadow.rng.random_bool(world.sheep_births) {
            self.energy /= 2.0;
            let lamb = meadow.bear_sheep(self.cell, self.energy);
            meadow.lambs.push(lamb);
        }
        meadow.sheep.set_object_location(*self, &place);
    }

    fn is_stopped(&mut self, _: &mut dyn State) -> bool {
        !self.is_alive
    }
}

#[derive(Clone)]
struct Wolf {
    cell: Cell,
    energy: f64,
    is_alive: bool,
}

impl Agent for Wolf {
    fn step(&mut self, state: &mut dyn State) {
        let meadow = meadow(state);
        self.cell = meadow.world.neighbor(self.cell, &mut meadow.rng);
        self.energy -= 1.0;
        let place = place(self.cell);
        let herd = meadow.sheep.get_objects_unbuffered(&place).unwrap_or_default();
        if !herd.is_empty() {
            let prey = herd[meadow.rng.random_range(0..herd.len())];
            meadow.sheep.remove_object_location(prey, &place);
            meadow.eaten.insert(prey.id);
            meadow.counts.sheep -= 1;
            self.energy += SHEEP_ENERGY;
        }
        if self.energy < 0.0 {
            self.is_alive = false;
            meadow.counts.wolves -= 1;
        } else if meadow.rng.random_bool(meadow.world.wolf_births) {
            self.energy /= 2.0;
            meadow.counts.wolves += 1;
            meadow.cubs.push(self.clone());
        }
    }

    fn is_stopped(&mut self, _: &mut dyn State) -> bool {
        !self.is_alive
    }
}

struct Meadow {
    world: World,
    rng: SmallRng,
    sheep: DenseGrid2D<Sheep>,
    /// In how many steps the grass of each cell can be eaten.
    grass: DenseNumberGrid2D<u32>,
    next_id: u32,
    lambs: Vec<Sheep>,
    cubs: Vec<Wolf>,
    /// The sheep that have been eaten, until the schedule takes them for the next time.
    eaten: HashSet<u32>,
    counts: Counts,
}

impl Meadow {
    fn new(world: World, seed: u64) -> Self {
        let width = world.width.cast_signed();
        Self {
            world,
            rng: SmallRng::seed_from_u64(seed),
            sheep: DenseGrid2D::new(width, width),
            grass: DenseNumberGrid2D::new(width, width),
            next_id: 0,
            lambs: Vec::new(),
            cubs: Vec::new(),
            eaten: HashSet::new(),
            counts: Counts::default(),
        }
    }

    fn bear_sheep(&mut self, cell: Cell, energy: f64) -> Sheep {
        let sheep = Sheep { id: self.next_id, cell, energy, is_alive: true };
        self.next_id += 1;
        self.counts.sheep += 1;
        self.sheep.set_object_location(sheep, &place(cell));
        sheep
    }
}

impl State for Meadow {
    fn init(&mut self, schedule: &mut Schedule) {
        let world = self.world;
        for _ in 0..world.sheep {
            let (cell, energy) = (world.any_cell(&mut self.rng), first_energy(GRASS_ENERGY, &mut self.rng));
            let sheep = self.bear_sheep(cell, energy);
            schedule.schedule_repeating(Box::new(sheep), 0.0, SHEEP_FIRST);
        }
        for _ in 0..world.wolves {
            let (cell, energy) = (world.any_cell(&mut self.rng), first_energy(SHEEP_ENERGY, &mut self.rng));
            schedule.schedule_repeating(Box::new(Wolf { cell, energy, is_alive: true }), 0.0, THEN_WOLVES);
        }
        self.counts.wolves = world.wolves as usize;
        for x in 0..world.width {
            for y in 0..world.width {
                let countdown = world.first_regrowth(&mut self.rng);
                self.grass.set_value_location(countdown, &place(Cell { x, y }));
            }
        }
    }

    fn after_step(&mut self, schedule: &mut Schedule) {
        let next = schedule.time + 1.0;
        for lamb in self.lambs.drain(..) {
            schedule.schedule_repeating(Box::new(lamb), next, SHEEP_FIRST);
        }
        for cub in self.cubs.drain(..) {
            schedule.schedule_repeating(Box::new(cub), next, THEN_WOLVES);
        }
        let grown = Counter::new(0);
        let grow = |countdown: &u32| {
            let countdown = countdown.saturating_sub(1);
            grown.set(grown.get() + usize::from(countdown == 0));
            countdown
        };
        self.grass.apply_to_all_values(grow, GridOption::READWRITE);
        self.counts.grass = grown.get();
    }

    fn update(&mut self, _: u64) {
        self.sheep.lazy_update();
        self.grass.lazy_update();
    }

    fn reset(&mut self) {}

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn as_state(&self) -> &dyn State {
        self
    }

    fn as_state_mut(&mut self) -> &mut dyn State {
        self
    }
}

/// Runs the model, and returns what there is after each step.
pub fn run(world: &World, seed: u64) -> Vec<Counts> {
    let mut meadow = Meadow::new(*world, seed);
    let mut schedule = Schedule::new();
    meadow.init(&mut schedule);
    let step = |_| {
        schedule.step(&mut meadow);
        meadow.counts
    };
    (0..STEPS).map(step).collect()
}

fn meadow(state: &mut dyn State) -> &mut Meadow {
    state.as_any_mut().downcast_mut().expect("the schedule has no other state")
}

fn place(cell: Cell) -> Int2D {
    Int2D { x: cell.x.cast_signed(), y: cell.y.cast_signed() }
}
