//! The model with this library: a batch each for the grass, the sheep and the wolves.

use std::mem;

use demeanor::batch::Bucket;
use demeanor::{Batch, Fsm, Key, Owner, State};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

use crate::model::{Cell, Counts, GRASS_ENERGY, SHEEP_ENERGY, STEPS, World, first_energy};

/// In which order the animals of a kind act within a step.
#[derive(Clone, Copy)]
pub enum Order {
    /// In another random order in each step, as the model wants it.
    Random,
    /// In the order in which the batch stores them.
    Stored,
}

/// The grass of one cell.
struct Patch {
    cell: usize,
}

#[derive(Clone)]
struct Sheep {
    cell: Cell,
    energy: f64,
}

/// What the sheep and the grass see.
struct Meadow<'w> {
    world: &'w World,
    rng: SmallRng,
    step: u32,
    /// Whether there is grass to eat, for each cell.
    has_grass: Vec<bool>,
    /// The sheep that are born in this step.
    lambs: Vec<Sheep>,
}

impl Owner for Patch {
    type Context<'a> = Meadow<'a>;
    type Message = ();

    fn now(meadow: &Meadow<'_>) -> f64 {
        meadow.step.into()
    }
}

impl Owner for Sheep {
    type Context<'a> = Meadow<'a>;
    type Message = ();
}

struct Grown;

impl State<Patch> for Grown {
    fn enter(&self, patch: &mut Patch, _: &mut Fsm<'_, Patch>, meadow: &mut Meadow<'_>) {
        meadow.has_grass[patch.cell] = true;
    }

    fn update(&self, patch: &mut Patch, fsm: &mut Fsm<'_, Patch>, meadow: &mut Meadow<'_>) {
        if !meadow.has_grass[patch.cell] {
            fsm.change_state(&Regrowing);
        }
    }
}

struct Regrowing;

impl State<Patch> for Regrowing {
    fn is_passive(&self) -> bool {
        true
    }

    fn enter(&self, _: &mut Patch, fsm: &mut Fsm<'_, Patch>, meadow: &mut Meadow<'_>) {
        // The step in which it has been eaten is the first.
        fsm.change_state_after((meadow.world.regrowth - 1).into(), &Grown);
    }
}

struct Graze;

impl State<Sheep> for Graze {
    fn update(&self, sheep: &mut Sheep, fsm: &mut Fsm<'_, Sheep>, meadow: &mut Meadow<'_>) {
        sheep.cell = meadow.world.neighbor(sheep.cell, &mut meadow.rng);
        sheep.energy -= 1.0;
        let has_grass = &mut meadow.has_grass[meadow.world.index(sheep.cell)];
        if mem::take(has_grass) {
            sheep.energy += GRASS_ENERGY;
        }
        if sheep.energy < 1.0 {
            fsm.change_state(&Dead);
        } else if meadow.rng.random_bool(meadow.world.sheep_births) {
            sheep.energy /= 2.0;
            meadow.lambs.push(sheep.clone());
        }
    }
}

#[derive(Clone)]
struct Wolf {
    cell: Cell,
    energy: f64,
}

/// What a wolf sees.
struct Prey<'a> {
    world: &'a World,
    rng: &'a mut SmallRng,
    flock: &'a mut Batch<Sheep>,
    /// The sheep in each cell.
    herds: &'a mut [Vec<Key>],
    cubs: Vec<Wolf>,
}

impl Owner for Wolf {
    type Context<'a> = Prey<'a>;
    type Message = ();
}

struct Hunt;

impl State<Wolf> for Hunt {
    fn update(&self, wolf: &mut Wolf, fsm: &mut Fsm<'_, Wolf>, prey: &mut Prey<'_>) {
        let world = prey.world;
        wolf.cell = world.neighbor(wolf.cell, prey.rng);
        wolf.energy -= 1.0;
        let herd = &mut prey.herds[world.index(wolf.cell)];
        if !herd.is_empty() {
            let sheep = herd.swap_remove(prey.rng.random_range(0..herd.len()));
            prey.flock.remove(sheep);
            wolf.energy += SHEEP_ENERGY;
        }
        if wolf.energy < 0.0 {
            fsm.change_state(&Dead);
        } else if prey.rng.random_bool(world.wolf_births) {
            wolf.energy /= 2.0;
            prey.cubs.push(wolf.clone());
        }
    }
}

/// The state of an animal that has starved, until the end of the tick.
struct Dead;
impl State<Sheep> for Dead {}
impl State<Wolf> for Dead {}

struct Model<'w> {
    order: Order,
    meadow: Meadow<'w>,
    grass: Batch<Patch>,
    flock: Batch<Sheep>,
    herds: Vec<Vec<Key>>,
    pack: Batch<Wolf>,
}

/// Runs the model, and returns what there is after each step.
pub fn run(world: &World, order: Order, seed: u64) -> Vec<Counts> {
    let mut model = Model::new(world, order, seed);
    (0..STEPS).map(|_| model.step()).collect()
}

impl<'w> Model<'w> {
    fn new(world: &'w World, order: Order, seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let flock = (0..world.sheep)
            .map(|_| Sheep { cell: world.any_cell(&mut rng), energy: first_energy(GRASS_ENERGY, &mut rng) })
            .map(|sheep| (sheep, &Graze))
            .collect();
        let pack = (0..world.wolves)
            .map(|_| Wolf { cell: world.any_cell(&mut rng), energy: first_energy(SHEEP_ENERGY, &mut rng) })
            .map(|wolf| (wolf, &Hunt))
            .collect();
        let mut meadow = Meadow { world, rng, step: 0, has_grass: vec![false; world.cells()], lambs: Vec::new() };
        let mut grass = Batch::new();
        for cell in 0..world.cells() {
            plant(&mut grass, cell, &mut meadow);
        }
        Self { order, meadow, grass, flock, herds: vec![Vec::new(); world.cells()], pack }
    }

    fn step(&mut self) -> Counts {
        self.graze();
        self.hunt();
        self.grass.update(&mut self.meadow);
        self.meadow.step += 1;
        Counts { sheep: self.flock.len(), wolves: self.pack.len(), grass: self.grass.owners_in(&Grown).len() }
    }

    fn graze(&mut self) {
        let turns = turns(&self.flock, self.order, &mut self.meadow.rng);
        act(&mut self.flock, turns, &mut self.meadow);
        bury(&mut self.flock);
        self.flock.extend(self.meadow.lambs.drain(..).map(|lamb| (lamb, &Graze)));
    }

    fn hunt(&mut self) {
        let Meadow { world, rng, .. } = &mut self.meadow;
        self.herds.iter_mut().for_each(Vec::clear);
        for (key, sheep) in &self.flock {
            self.herds[world.index(sheep.cell)].push(key);
        }
        let turns = turns(&self.pack, self.order, rng);
        let mut prey = Prey { world, rng, flock: &mut self.flock, herds: &mut self.herds, cubs: Vec::new() };
        act(&mut self.pack, turns, &mut prey);
        let cubs = prey.cubs;
        bury(&mut self.pack);
        self.pack.extend(cubs.into_iter().map(|cub| (cub, &Hunt)));
    }
}

/// Adds the patch of a cell. Half of the patches have grown, and the others need at most the time of regrowth.
fn plant(grass: &mut Batch<Patch>, cell: usize, meadow: &mut Meadow<'_>) {
    let patch = Patch { cell };
    match meadow.world.first_regrowth(&mut meadow.rng).checked_sub(1) {
        None => {
            grass.spawn(patch, &Grown, meadow);
        }
        Some(steps) => {
            let key = grass.insert(patch, &Regrowing);
            grass.change_state_after(key, steps.into(), &Grown, meadow);
        }
    }
}

/// Draws the order in which the animals act, or returns `None` for the order in which they are stored.
fn turns<T: Owner>(batch: &Batch<T>, order: Order, rng: &mut SmallRng) -> Option<Vec<Key>> {
    match order {
        Order::Stored => None,
        Order::Random => {
            let mut turns: Vec<_> = batch.keys().collect();
            turns.shuffle(rng);
            Some(turns)
        }
    }
}

/// Updates the animals, in the order of `turns` if there is one.
fn act<T: Owner>(batch: &mut Batch<T>, turns: Option<Vec<Key>>, cx: &mut T::Context<'_>) {
    match turns {
        None => batch.update(cx),
        Some(turns) => turns.into_iter().for_each(|key| assert!(batch.update_one(key, cx))),
    }
}

/// Removes the animals that are dead.
fn bury<T: Owner>(batch: &mut Batch<T>)
where
    Dead: State<T>,
{
    let is_dead = |bucket: &Bucket<'_, T>| bucket.state().is_some_and(|state| state.is::<Dead>());
    let dead: Vec<_> = batch.buckets_mut().filter(is_dead).flat_map(|bucket| bucket.keys()).collect();
    for key in dead {
        batch.remove(key);
    }
}
