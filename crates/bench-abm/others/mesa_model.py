"""The model with Mesa: agents in a grid of cells, and the grass as a property of the cells.

A program for `--program`; src/contender.rs says what it reads and writes.
"""

import sys
import time

import mesa
import numpy
from mesa.discrete_space import CellAgent, OrthogonalMooreGrid

GRASS_ENERGY = 5
SHEEP_ENERGY = 13


class Animal(CellAgent):
    def __init__(self, model, energy, cell):
        super().__init__(model)
        self.energy = energy
        self.cell = cell

    def step(self):
        self.cell = self.cell.neighborhood.select_random_cell()
        self.energy -= 1
        self.feed()
        if self.energy < self.least_energy:
            self.remove()
        elif self.random.random() < self.births():
            self.energy /= 2
            type(self)(self.model, self.energy, self.cell)


class Sheep(Animal):
    least_energy = 1

    def births(self):
        return self.model.sheep_births

    def feed(self):
        if self.cell.countdown == 0:
            self.cell.countdown = self.model.regrowth
            self.energy += GRASS_ENERGY


class Wolf(Animal):
    least_energy = 0

    def births(self):
        return self.model.wolf_births

    def feed(self):
        herd = [agent for agent in self.cell.agents if isinstance(agent, Sheep)]
        if herd:
            self.random.choice(herd).remove()
            self.energy += SHEEP_ENERGY


class Meadow(mesa.Model):
    def __init__(self, width, sheep, wolves, regrowth, sheep_births, wolf_births, seed):
        super().__init__(seed=seed)
        self.regrowth, self.sheep_births, self.wolf_births = regrowth, sheep_births, wolf_births
        self.grid = OrthogonalMooreGrid((width, width), random=self.random)
        # In how many steps the grass of a cell can be eaten.
        self.countdown = self.grid.create_property_layer("countdown", 0, dtype=int)
        is_grown = self.rng.random((width, width)) < 0.5
        self.countdown.data = numpy.where(is_grown, 0, self.rng.integers(1, regrowth + 1, (width, width)))
        for kind, number, meal in (Sheep, sheep, GRASS_ENERGY), (Wolf, wolves, SHEEP_ENERGY):
            for _ in range(number):
                kind(self, self.random.randint(1, 2 * meal), self.grid.all_cells.select_random_cell())

    def step(self):
        self.agents_by_type[Sheep].shuffle_do("step")
        self.agents_by_type[Wolf].shuffle_do("step")
        self.countdown.data = numpy.maximum(self.countdown.data - 1, 0)

    def counts(self):
        grass = numpy.count_nonzero(self.countdown.data == 0)
        return len(self.agents_by_type[Sheep]), len(self.agents_by_type[Wolf]), grass


for line in sys.stdin:
    width, sheep, wolves, regrowth, sheep_births, wolf_births, steps, seed = line.split()
    begin = time.process_time()
    meadow = Meadow(
        int(width), int(sheep), int(wolves), int(regrowth), float(sheep_births), float(wolf_births), int(seed)
    )
    counts = []
    for _ in range(int(steps)):
        meadow.step()
        counts.extend(meadow.counts())
    print(time.process_time() - begin, *counts, flush=True)
