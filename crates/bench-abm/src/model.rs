//! What all implementations of the model share: its numbers, and what is counted.

use std::ops::Range;

use rand::Rng;
use rand::rngs::SmallRng;

/// The energy that a sheep gains from a patch of grass.
pub const GRASS_ENERGY: f64 = 5.0;
/// The energy that a wolf gains from a sheep.
pub const SHEEP_ENERGY: f64 = 13.0;
/// The steps of a run.
pub const STEPS: u32 = 100;

/// The numbers in which the small and the large world differ.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub name: &'static str,
    /// The width and the height, in cells.
    pub width: u32,
    pub sheep: u32,
    pub wolves: u32,
    /// The steps after which a patch that has been eaten can be eaten again.
    pub regrowth: u32,
    /// The probability with which a sheep reproduces in a step.
    pub sheep_births: f64,
    pub wolf_births: f64,
}

pub const SMALL: World =
    World { name: "small", width: 25, sheep: 60, wolves: 40, regrowth: 20, sheep_births: 0.2, wolf_births: 0.1 };

pub const LARGE: World =
    World { name: "large", width: 100, sheep: 1000, wolves: 500, regrowth: 10, sheep_births: 0.4, wolf_births: 0.2 };

/// What is counted at the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub sheep: usize,
    pub wolves: usize,
    /// The patches whose grass has grown.
    pub grass: usize,
}

/// A column and a row of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub x: u32,
    pub y: u32,
}

impl World {
    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.width as usize * self.width as usize
    }

    /// Returns the number of a cell, counted row by row.
    pub fn index(&self, cell: Cell) -> usize {
        cell.y as usize * self.width as usize + cell.x as usize
    }

    /// Draws any cell.
    pub fn any_cell(&self, rng: &mut SmallRng) -> Cell {
        Cell { x: rng.random_range(0..self.width), y: rng.random_range(0..self.width) }
    }

    /// Draws one of the eight cells around a cell. At the edge of the world there are fewer.
    pub fn neighbor(&self, cell: Cell, rng: &mut SmallRng) -> Cell {
        let around = |at: u32| -> Range<u32> { at.saturating_sub(1)..(at + 2).min(self.width) };
        loop {
            let neighbor = Cell { x: rng.random_range(around(cell.x)), y: rng.random_range(around(cell.y)) };
            if neighbor != cell {
                return neighbor;
            }
        }
    }

    /// Draws in how many steps a patch can be eaten in the beginning: 0 for half of them.
    pub fn first_regrowth(&self, rng: &mut SmallRng) -> u32 {
        if rng.random() { 0 } else { rng.random_range(1..=self.regrowth) }
    }
}

/// Draws the energy with which an animal begins, up to twice what a meal gives it.
pub fn first_energy(meal: f64, rng: &mut SmallRng) -> f64 {
    rng.random_range(1..=(2.0 * meal) as u32).into()
}
